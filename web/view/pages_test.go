package view

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)> "quoted" 'single' & {{x}}`

// What a strict Content-Security-Policy forbids must not be on any page, whatever
// the names and messages in the data are.
func TestPagesHoldNoActiveContent(t *testing.T) {
	for name, c := range everyPage(hostile, hostile) {
		t.Run(name, func(t *testing.T) {
			d := render(t, c)
			if strings.Contains(d.raw, "<script>alert") || strings.Contains(d.raw, "<img src=x") {
				t.Error("untrusted text became markup")
			}
			for _, n := range d.all("") {
				for _, a := range n.Attr {
					if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
						t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
					}
					if (a.Key == "href" || a.Key == "src" || a.Key == "action") && strings.Contains(strings.ToLower(a.Val), "javascript:") {
						t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
					}
				}
				if n.Data == "style" {
					t.Error("a style element")
				}
				if n.Data == "script" && attr(n, "src") == "" && attr(n, "type") != "application/json" {
					t.Error("an inline script")
				}
			}
		})
	}
}

// The pages themselves lead to this host only, but for the paper.
func TestPagesStayOnTheHost(t *testing.T) {
	for name, c := range everyPage("Agent", "text") {
		t.Run(name, func(t *testing.T) {
			for _, n := range render(t, c).all("") {
				for _, key := range []string{"href", "src", "action", "srcset"} {
					v := attr(n, key)
					if v == "" || strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "//") || strings.HasPrefix(v, "#") ||
						v == "https://arxiv.org/abs/2411.15114" || v == string("about:invalid#TemplFailedSanitizationURL") {
						continue
					}
					t.Errorf("<%s %s=%q>", n.Data, key, v)
				}
			}
		})
	}
}

func TestPagesAreWellFormed(t *testing.T) {
	for name, c := range everyPage("Agent", "text") {
		t.Run(name, func(t *testing.T) {
			d := render(t, c)
			checkHeadings(t, d)
			ids := checkIDs(t, d)
			for _, n := range d.all("") {
				checkNames(t, n, ids)
			}
			if !strings.HasPrefix(d.raw, "<!doctype html>") && !strings.HasPrefix(d.raw, "<!DOCTYPE html>") {
				t.Error("no doctype")
			}
			if len(d.all("main")) != 1 || len(d.all("title")) != 1 {
				t.Error("a page has one main and one title")
			}
		})
	}
}

// checkHeadings wants one h1 and no level left out.
func checkHeadings(t *testing.T, d document) {
	t.Helper()
	level, ones := 0, 0
	for _, n := range d.all("") {
		if len(n.Data) != 2 || n.Data[0] != 'h' || n.Data[1] < '1' || n.Data[1] > '6' {
			continue
		}
		l := int(n.Data[1] - '0')
		if l == 1 {
			ones++
		}
		if l > level+1 {
			t.Errorf("h%d %q follows h%d", l, text(n), level)
		}
		if text(n) == "" {
			t.Errorf("an empty h%d", l)
		}
		level = l
	}
	if ones != 1 {
		t.Errorf("%d h1, want 1", ones)
	}
}

// checkIDs wants every id once and returns them.
func checkIDs(t *testing.T, d document) []string {
	t.Helper()
	var ids []string
	for _, n := range d.all("") {
		id := attr(n, "id")
		if id == "" {
			continue
		}
		if slices.Contains(ids, id) {
			t.Errorf("id %q stands twice", id)
		}
		ids = append(ids, id)
	}
	return ids
}

// checkNames wants labels, texts and scopes where assistive technology needs them.
func checkNames(t *testing.T, n *html.Node, ids []string) {
	t.Helper()
	switch n.Data {
	case "th":
		if attr(n, "scope") == "" {
			t.Errorf("th %q without scope", text(n))
		}
	case "img":
		if !hasAttr(n, "alt") {
			t.Error("img without alt")
		}
	case "a", "button", "summary", "option":
		if text(n) == "" && attr(n, "aria-label") == "" {
			t.Errorf("<%s %s> has no text", n.Data, attr(n, "href"))
		}
	case "input", "select":
		if attr(n, "type") == "hidden" {
			return
		}
		labelled := attr(n, "id") != ""
		for p := n.Parent; p != nil; p = p.Parent {
			labelled = labelled || p.Data == "label"
		}
		if !labelled {
			t.Errorf("%s %q without label", n.Data, attr(n, "name"))
		}
	case "svg":
		if attr(n, "aria-hidden") == "" && n.Parent.Data != "svg" {
			t.Error("svg is neither hidden nor named")
		}
	}
	if by := attr(n, "aria-labelledby"); by != "" && !slices.Contains(ids, by) {
		t.Errorf("aria-labelledby=%q leads nowhere", by)
	}
	if to := attr(n, "href"); strings.HasPrefix(to, "#") && !slices.Contains(ids, to[1:]) {
		t.Errorf("href=%q leads nowhere", to)
	}
}

// The option of a chart must come through whole, and unable to end its script.
func TestChartOptionIsEmbeddedAsJSON(t *testing.T) {
	d := render(t, Curves(testPage("/curves", ""), sampleCurves("Agent", "text")))
	for _, s := range d.all("script") {
		if attr(s, "type") == "application/json" {
			if got, want := strings.TrimSpace(s.FirstChild.Data), `{"series":[{"name":"\u003c/script\u003e\u003cb\u003e"}]}`; got != want {
				t.Errorf("option = %s, want %s", got, want)
			}
			if attr(s, "id") != "chart-c1" {
				t.Errorf("id = %q", attr(s, "id"))
			}
			return
		}
	}
	t.Error("no option on the page")
}

// Without JavaScript a chart is its picture, and its numbers are in a table.
func TestChartWithoutScript(t *testing.T) {
	d := render(t, Curves(testPage("/curves", ""), sampleCurves("Agent", "text")))
	noscript := d.all("noscript")
	if len(noscript) != 1 || !strings.Contains(text(noscript[0])+d.raw, `<img class="plot-still" src="/curves.svg"`) {
		t.Error("no picture for readers without JavaScript")
	}
	if got := d.row(t, "Agent", "2 h attempts"); !slices.Contains(got, "0.235 [0.19, 0.29] 1 × 2 h") || !slices.Contains(got, "0.351 † [0.27, open] 4 × 2 h") {
		t.Errorf("row = %q", got)
	}
}
