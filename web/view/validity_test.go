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
	for _, want := range []string{"below 0.24 ms", "no multiple of 1/165", "in quarantine", "Kernel: x", "2 of 3 mechanisms",
		"3 example solutions of 1 environment, harmless ones included, were scored last on 2026-12-01 (free)", "refused: wrong output"} {
		if !strings.Contains(d.raw, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestExampleRunWords(t *testing.T) {
	runs := []validity.ExampleRun{{Date: "2026-12-02", Machine: "a", Examples: make([]validity.ExampleOutcome, 2)},
		{Date: "2026-11-30", Machine: "b", Examples: make([]validity.ExampleOutcome, 1)}, {Date: "2026-12-01", Machine: "a"}}
	if got, want := exampleRunWords(runs), "3 example solutions of 3 environments, harmless ones included, were scored last from 2026-11-30 to 2026-12-02 (a; b)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for want, x := range map[string]validity.ExampleOutcome{"refused: no output": {Reason: "no_output"}, "valid": {Valid: true}, "flagged: a, b": {Valid: true, Flags: []string{"a", "b"}}} {
		if got := exampleVerdict(x); got != want {
			t.Errorf("%q, want %q", got, want)
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
