package browsertest

import (
	"strings"
	"testing"

	"rebench/internal/testutil"
)

const attemptPath = "/attempts/metr-rebench:mp4-server_204921"

// pages are all pages, in the states that differ in what they show.
var pages = []struct{ name, path string }{
	{"leaderboard", "/"},
	{"leaderboard-none", "/?budget=1m"},
	{"leaderboard-sensitivity", "/?show=sensitivity&cohort=all&flagged=include"},
	{"curves", "/curves"},
	{"curves-cost", "/curves?axis=cost"},
	{"curves-one", "/curves?agents=o1-preview,human&environments=optimize_kernel"},
	{"compare", "/compare?a=o1-preview&b=human"},
	{"compare-start", "/compare"},
	{"environments", "/environments"},
	{"environment", "/environments/optimize_kernel"},
	{"environment-hidden-score", "/environments/scaling_law"},
	{"humans", "/humans"},
	{"humans-none", "/humans?profile=cpu"},
	{"attempts", "/attempts"},
	{"attempts-filtered", "/attempts?environment=optimize_llm_foundry&flagged=only"},
	{"attempt", attemptPath},
	{"methodology", "/methodology"},
	{"validity", "/validity"},
	{"validity-filtered", "/validity?environment=rust_codecontests&state=detected"},
	{"search", "/search?text=o1"},
	{"error-parameter", "/?budget=8x&environments=kernel"},
	{"error-missing", "/attempts/204921"},
}

func TestPages(t *testing.T) {
	browser, site := newBrowser(t), publishedSite(t)
	for _, d := range devices {
		for _, p := range pages {
			t.Run(d.name+"/"+p.name, func(t *testing.T) {
				w := open(t, browser, site, p.path, d, true)
				w.chartsDrawn(t)
				w.screenshot(t, p.name+"-"+d.name)
				w.fits(t, d)
				w.accessible(t)
				w.check(t)
			})
		}
	}
}

// A database without a single attempt explains itself too.
func TestEmptyDatabase(t *testing.T) {
	browser, site := newBrowser(t), newSite(t, testutil.EmptyStore(t))
	for _, path := range []string{"/", "/curves", "/compare", "/environments", "/environments/gpt2_qa", "/humans", "/attempts", "/methodology", "/validity"} {
		t.Run(path, func(t *testing.T) {
			w := open(t, browser, site, path, devices[0], true)
			w.chartsDrawn(t)
			w.screenshot(t, "empty"+strings.ReplaceAll(path, "/", "-"))
			w.accessible(t)
			w.check(t)
		})
	}
}

// chartsDrawn waits until every chart of the page has content.
func (w *tab) chartsDrawn(t *testing.T) {
	t.Helper()
	w.until(t, `document.readyState === "complete" && [...document.querySelectorAll("[data-chart]")].every(e => e.querySelector("canvas, svg"))`)
	w.until(t, `document.fonts.status === "loaded"`)
}

// fits fails when the page scrolls sideways.
func (w *tab) fits(t *testing.T, d device) {
	t.Helper()
	width := eval[int64](t, w, `document.documentElement.scrollWidth`)
	if width <= d.width {
		return
	}
	wide := eval[string](t, w, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 &&
		!e.closest(".table-box, pre")).slice(0, 5).map(e => e.tagName + "." + e.className + " " + Math.round(e.getBoundingClientRect().right)).join("; ")`)
	t.Errorf("the page is %d px wide on a screen of %d: %s", width, d.width, wide)
}

// Without JavaScript every chart is a picture and the numbers are there.
func TestWithoutScripts(t *testing.T) {
	browser, site := newBrowser(t), publishedSite(t)
	for _, p := range []struct {
		path     string
		pictures bool
	}{{"/", false}, {"/curves", true}, {"/compare?a=o1-preview&b=human", true}, {"/environments/optimize_kernel", true}, {"/humans", true}, {"/validity", false}} {
		t.Run(p.path, func(t *testing.T) {
			w := open(t, browser, site, p.path, devices[0], false)
			w.screenshot(t, "noscript"+strings.NewReplacer("/", "-", "?", "-").Replace(p.path))
			// Evaluation from outside works where the page's own scripts do not run.
			w.until(t, `[...document.querySelectorAll("img.plot-still")].every(i => i.complete)`)
			pictures := eval[int](t, w, `[...document.querySelectorAll("img.plot-still")].filter(i => i.naturalWidth > 100).length`)
			rows := eval[int](t, w, `document.querySelectorAll("table tbody tr").length`)
			if p.pictures && pictures == 0 {
				t.Error("no picture is shown")
			}
			if rows == 0 {
				t.Error("no table is shown")
			}
			w.check(t)
		})
	}
}
