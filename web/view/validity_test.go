package view

import (
	"strings"
	"testing"

	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// A row of the catalogue names its state, its tests and its records, each a link to a
// place on the page.
func TestValidityRow(t *testing.T) {
	d := render(t, Validity(testPage("/validity", ""), sampleValidity("Agent", "free")))
	links := map[string]bool{}
	for _, a := range d.all("a") {
		links[attr(a, "href")] = true
	}
	for _, to := range []string{"#r-H01", "#t-runner-sandbox-TestEscapes", "#t-optimize_kernel-invalid-x", "#t-tests-test_x-py--test_y", "#m-scorer-answer"} {
		if !links[to] {
			t.Errorf("no link to %s", to)
		}
	}
	if links["#m-filtered-out"] {
		t.Error("a link to a mechanism that is not shown")
	}
	for _, want := range []string{"below 0.24 ms", "no multiple of 1/165", "in quarantine", "Kernel: x", "2 of 3 mechanisms"} {
		if !strings.Contains(d.raw, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestWordsOfBounds(t *testing.T) {
	for want, b := range map[string]validity.Bound{
		"below 0.24 ms": {Beyond: validity.Below, Value: 0.24, Unit: "ms"}, "above 1 win rate": {Beyond: validity.Above, Value: 1, Unit: "win rate"},
		"below 80 s": {Beyond: validity.Below, Value: 80, Unit: "s"},
	} {
		if got := boundWords(b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := concernWords([]string{"optimize_kernel", "rust_codecontests"}); got != "Kernel, Rust" {
		t.Error(got)
	}
	if got := profilesWords([]rebench.Profile{rebench.ProfilePaper}); got != "paper" {
		t.Error(got)
	}
	if anchor("t-", `a/b.c:<x>"`) != "t-a-b-c--x--" {
		t.Errorf("anchor %q", anchor("t-", `a/b.c:<x>"`))
	}
}
