package browsertest

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// The choice of colours survives the next page.
func TestThemeIsKept(t *testing.T) {
	browser, site := newBrowser(t), publishedSite(t)
	w := open(t, browser, site, "/", devices[0], true)
	w.until(t, `!document.querySelector("[data-theme-toggle]").hidden`)
	seen := map[string]bool{}
	for range 3 {
		theme := eval[string](t, w, `document.querySelector("[data-theme-toggle]").click(), document.documentElement.dataset.theme || "system"`)
		seen[theme] = true
		if theme == "dark" {
			break
		}
	}
	if !seen["dark"] {
		t.Fatalf("the button leads to %v", seen)
	}
	w.run(t, chromedp.Navigate(site+"/curves"))
	theme := eval[string](t, w, `document.documentElement.dataset.theme || ""`)
	background := eval[string](t, w, `getComputedStyle(document.body).backgroundColor`)
	if theme != "dark" || background != "rgb(19, 20, 18)" {
		t.Errorf("theme %q, background %s", theme, background)
	}
	w.chartsDrawn(t)
	w.accessible(t)
	w.check(t)
}

// The keyboard reaches the content, the search field and every control.
func TestKeyboard(t *testing.T) {
	browser, site := newBrowser(t), publishedSite(t)
	w := open(t, browser, site, "/", devices[0], true)
	w.run(t, chromedp.KeyEvent("\t"))
	if focused := eval[string](t, w, `document.activeElement.className`); focused != "skip" {
		t.Errorf("the first stop is %q, want the link to the content", focused)
	}
	w.run(t, chromedp.KeyEvent("\r"))
	if focused := eval[string](t, w, `document.activeElement.id`); focused != "main" {
		t.Errorf("the link leads to %q", focused)
	}
	w.run(t, chromedp.KeyEvent("/"))
	w.until(t, `document.activeElement.id === "search"`)
	// The driver sends the character apart from the key that the page swallowed.
	eval[bool](t, w, `(document.activeElement.value = "", true)`)
	w.run(t, chromedp.KeyEvent("sonnet\r"))
	w.until(t, `location.pathname === "/search" && location.search === "?text=sonnet"`)
	w.check(t)
}

// Tooltips and zoom work under the content security policy.
func TestChartAnswersThePointer(t *testing.T) {
	browser, site := newBrowser(t), publishedSite(t)
	for _, path := range []string{"/curves", "/compare?a=o1-preview&b=human", "/environments/optimize_kernel", "/humans"} {
		t.Run(path, func(t *testing.T) {
			w := open(t, browser, site, path, devices[0], true)
			w.chartsDrawn(t)
			box := eval[struct{ X, Y, W, H float64 }](t, w, `(() => { const e = document.querySelector("[data-chart]"); e.scrollIntoView({block: "center"}); const b = e.getBoundingClientRect(); return {X: b.x, Y: b.y, W: b.width, H: b.height} })()`)
			if box.W < 300 || box.H < 200 {
				t.Fatalf("the chart is %.0f by %.0f", box.W, box.H)
			}
			for i := range 20 {
				x, y := box.X+box.W*float64(i+1)/22, box.Y+box.H*(0.3+0.02*float64(i))
				w.run(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
			}
			w.check(t)
		})
	}
}
