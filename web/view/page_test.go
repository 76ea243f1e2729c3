package view

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
)

func TestCanonical(t *testing.T) {
	all := "optimize_llm_foundry,optimize_kernel,fix_embedding,scaling_law,restricted_mlm,gpt2_qa,rust_codecontests"
	for _, c := range []struct{ name, path, in, want string }{
		{"defaults are left out", "/", "budget=8h&cohort=paper71&estimator=without&flagged=exclude&profile=paper&convention=centred", ""},
		{"empty values are left out", "/", "cap=&agents=&asof=", ""},
		{"others stay", "/", "budget=2h&flagged=include", "budget=2h&flagged=include"},
		{"a form's list is joined", "/", "environments=gpt2_qa&environments=scaling_law", "environments=gpt2_qa,scaling_law"},
		{"all environments are the default", "/", "environments=" + all, ""},
		{"the last of repeated values counts", "/", "budget=2h&budget=4h", "budget=4h"},
		{"unknown ones stay", "/", "foo=bar", "foo=bar"},
		{"attempts have other defaults", "/attempts", "cohort=paper71&profile=paper&flagged=only", "cohort=paper71&flagged=only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, err := url.ParseQuery(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := encode(Canonical(c.path, q)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	p := testPage("/curves", "flagged=include&agents=a,b&page_token=x")
	for _, c := range []struct{ name, got, want string }{
		{"one parameter changed", p.With("flagged", "exclude"), "/curves?agents=a,b"},
		{"another added", p.With("axis", "cost"), "/curves?agents=a,b&axis=cost&flagged=include"},
		{"reserved characters", p.With("agents", "a&b=c d"), "/curves?agents=a%26b%3Dc+d&flagged=include"},
		{"another page keeps the data chosen, not the agents", p.To("/humans"), "/humans?flagged=include"},
		{"a suffix", p.As("json"), "/curves.json?agents=a,b&flagged=include&page_token=x"},
		{"the leaderboard's suffix", testPage("/", "").As("csv"), "/leaderboard.csv"},
		{"an id is one segment", AttemptPath("set:a/b c?d"), "/attempts/set:a%2Fb%20c%3Fd"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	if got := p.Value("estimator"); got != "without" {
		t.Errorf("default estimator = %q", got)
	}
}

func TestFormKeepsTheRest(t *testing.T) {
	p := testPage("/", "budget=2h&flagged=include&environments=gpt2_qa&cap=1")
	want := []keyValue{{"budget", "2h"}, {"flagged", "include"}}
	if diff := cmp.Diff(want, p.kept(), cmp.AllowUnexported(keyValue{})); diff != "" {
		t.Error(diff)
	}
	if got := p.reset(); got != "/?budget=2h&flagged=include" {
		t.Errorf("reset = %q", got)
	}
}

func TestCiteIsPinnedAndSafe(t *testing.T) {
	p := testPage("/compare", "a=x{}%5C&b=y")
	p.Title = `x{}\ & 50% of_#$ ahead`
	p.Revision = rebench.DataRevision{ID: 7, At: time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)}
	c := p.Cite()
	for _, want := range []string{"data revision 7 of 4 March 2026", "asof=7", "rebench 1.2.3", "arXiv:2411.15114", "http://127.0.0.1:8080/compare?"} {
		if !strings.Contains(c.Text, want) || !strings.Contains(c.BibTeX, want) {
			t.Errorf("%q is missing in\n%s\n%s", want, c.Text, c.BibTeX)
		}
	}
	if !strings.Contains(c.BibTeX, `title        = {{x\{\}\textbackslash  \& 50\% of\_\#\$ ahead}}`) {
		t.Errorf("BibTeX title is not escaped:\n%s", c.BibTeX)
	}
	if open, shut := strings.Count(strings.ReplaceAll(c.BibTeX, `\{`, ""), "{"), strings.Count(strings.ReplaceAll(c.BibTeX, `\}`, ""), "}"); open != shut {
		t.Errorf("BibTeX braces: %d open, %d shut", open, shut)
	}
}

func TestNavigationMarksThePage(t *testing.T) {
	for path, want := range map[string]string{"/": "Leaderboard", "/environments/gpt2_qa": "Environments", "/attempts/x:1": "Attempts", "/methodology": "Method"} {
		d := render(t, Error(testPage(path, ""), ErrorData{Status: 404}))
		var marked []string
		for _, a := range d.all("a") {
			if attr(a, "aria-current") == "page" {
				marked = append(marked, text(a))
			}
		}
		if diff := cmp.Diff([]string{want}, marked); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestPinnedViewSaysSo(t *testing.T) {
	d := render(t, Compare(testPage("/compare", "a=x&b=y&asof=3"), CompareData{Comparison: sampleComparison("x", "text").Comparison, Choices: Choices{Latest: 9}}))
	d.says(t, "Pinned to data revision 3; the newest is 9.")
	if got := d.link(t, "Show the newest"); got != "/compare?a=x&b=y" {
		t.Errorf("link = %q", got)
	}
}

// Every view names its shortest address; an error has none.
func TestCanonicalLink(t *testing.T) {
	find := func(d document) string {
		for _, l := range d.all("link") {
			if attr(l, "rel") == "canonical" {
				return attr(l, "href")
			}
		}
		return ""
	}
	d := render(t, Curves(testPage("/curves", "flagged=include&budget=8h&cohort=paper71&cap="), sampleCurves("Agent", "text")))
	if got := find(d); got != "/curves?flagged=include" {
		t.Errorf("canonical = %q", got)
	}
	p := testPage("/", "")
	p.Suffixes = nil
	if got := find(render(t, Error(p, ErrorData{Status: 400}))); got != "" {
		t.Errorf("canonical of an error = %q", got)
	}
}
