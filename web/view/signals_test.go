package view

import (
	"slices"
	"strings"
	"testing"

	"rebench/internal/rebench"
)

func TestSignalsOfAnAttempt(t *testing.T) {
	d := sampleAttempt("Agent", "free")
	page := render(t, Attempt(testPage("/attempts/set:1", ""), d)).raw
	for _, want := range []string{"4 calls of the scorer, 2.0 an hour within the time limit", "free 36.8", "1 of 4", "0.800 when chosen, 0.750 scored again: " + minus + "0.050", "drawn in December 2026", "an earlier valid one counts", "near_best", "the best of 25 other attempts has 0.267, their median is 0.200", "stands out"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	d.Detail.Signals, d.Draw = nil, nil
	if page := render(t, Attempt(testPage("/attempts/set:1", ""), d)).raw; strings.Contains(page, `id="signals"`) {
		t.Error("signals of an attempt that has none")
	}
}

// A rule's flag reads as quarantine, a person's as suspicion; what may be stated next
// always includes a note of an audit.
func TestQuarantineOnTheAttemptPage(t *testing.T) {
	d := sampleAttempt("Agent", "free")
	if w := d.warnings(); len(w) == 0 || !strings.HasPrefix(w[0], "Suspected reward hack") {
		t.Errorf("warnings %q", w)
	}
	d.Detail.Attempt.Flags = append(d.Detail.Attempt.Flags, rebench.Flag{Kind: rebench.FlagSuspected, Set: true, Author: "rule:impossible", Reason: "too fast"})
	if w := d.warnings(); len(w) == 0 || w[0] != "In quarantine until a person decides: left out of rankings unless the reader counts it. too fast (rule:impossible)" {
		t.Errorf("warnings %q", w)
	}
	var values []string
	for _, o := range d.statements() {
		values = append(values, o.value)
	}
	if want := []string{"lift:suspected", "set:invalid", "set:retracted", "set:audited"}; !slices.Equal(values, want) {
		t.Errorf("statements %q, want %q", values, want)
	}
	d.Detail.Attempt.Flags = append(d.Detail.Attempt.Flags, rebench.Flag{Kind: rebench.FlagSuspected, Author: "me", Reason: "released"})
	if d.quarantined() != nil {
		t.Error("a released attempt is in quarantine")
	}
}
