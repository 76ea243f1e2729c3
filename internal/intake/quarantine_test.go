package intake_test

import (
	"math"
	"path/filepath"
	"testing"

	"rebench/internal/attemptlog"
	"rebench/internal/intake"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/validity"
)

func flagged(e *attemptlog.Score, flags string) *attemptlog.Score {
	e.Extra = attemptlog.Extra{{Key: "flags", Value: []byte(flags)}}
	return e
}

func paper(h *attemptlog.Header) { h.Environment.Profile = "paper" }

// Results beyond a bound, and entries that the scorer flagged, are imported, visible,
// flagged by the rule and out of rankings; others are not.
func TestQuarantine(t *testing.T) {
	rescored := func(flags string) *attemptlog.Rescore {
		r := &attemptlog.Rescore{OfSeq: 1, Score: ptr(math.Log(2))}
		if flags != "" {
			r.Extra = attemptlog.Extra{{Key: "flags", Value: []byte(flags)}}
		}
		return r
	}
	for name, tc := range map[string]struct {
		change func(*attemptlog.Header)
		events []attemptlog.Event
		author string // of the flag, "" for none
		kept   string // scorer flags
	}{
		"plain":                         {nil, []attemptlog.Event{score(10, 2), rescored(""), end}, "", ""},
		"impossibly fast":               {paper, []attemptlog.Event{score(10, 0.2), end}, "rule:impossible", ""},
		"the re-scored value decides":   {paper, []attemptlog.Event{score(10, 0.2), rescored(""), end}, "", ""},
		"flag of the entry":             {nil, []attemptlog.Event{flagged(score(10, 2), `["below_memory_floor"]`), rescored(""), end}, "rule:scorer_flag", "below_memory_floor"},
		"flag of the re-scoring":        {nil, []attemptlog.Event{score(10, 2), rescored(`["source_patches_clock","noisy_timing"]`), end}, "rule:scorer_flag", "noisy_timing, source_patches_clock"},
		"flag of an entry that loses":   {nil, []attemptlog.Event{flagged(score(10, 3), `["below_memory_floor"]`), score(20, 2), end}, "", ""},
		"a note":                        {nil, []attemptlog.Event{flagged(score(10, 2), `["noisy_timing"]`), end}, "", "noisy_timing"},
		"no list of names":              {nil, []attemptlog.Event{flagged(score(10, 2), `{"a":1}`), end}, "", ""},
		"names that are none":           {nil, []attemptlog.Event{flagged(score(10, 2), `["<b>", "below_memory_floor"]`), end}, "rule:scorer_flag", "below_memory_floor"},
		"the same twice":                {nil, []attemptlog.Event{flagged(score(10, 2), `["noisy_timing"]`), rescored(`["noisy_timing"]`), end}, "", "noisy_timing"},
		"impossible in another profile": {nil, []attemptlog.Event{score(10, 0.2), end}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := imported(t, write(t, tc.change, tc.events...))
			if got := a.Extra[validity.ExtraScorerFlags]; got != tc.kept {
				t.Errorf("scorer flags %q, expected %q", got, tc.kept)
			}
			if a.Suspected != (tc.author != "") || !a.Ranked && tc.change == nil {
				t.Errorf("suspected %v, ranked %v (%s)", a.Suspected, a.Ranked, a.Unranked)
			}
			if tc.author != "" && (len(a.Flags) != 1 || a.Flags[0].Author != tc.author || a.Flags[0].Kind != rebench.FlagSuspected) {
				t.Errorf("flags %+v", a.Flags)
			}
		})
	}
}

// A person's release stands until the content changes; then the rules speak again.
func TestReleaseFromQuarantine(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add := func(log []byte) rebench.Attempt {
		t.Helper()
		item, err := intake.NewItem(header(t, log), intake.Meta{Dataset: "uploads", NativeID: "kernel-1"}, intake.FromBytes("f", log))
		if err != nil {
			t.Fatal(err)
		}
		rev, err := s.Import(t.Context(), store.Upload{Author: "t"}, "t", func(yield func(store.Item, error) bool) { yield(item, nil) }, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.Attempt(t.Context(), "kernel-1", rev.ID)
		if err != nil {
			t.Fatal(err)
		}
		return *a
	}
	first := write(t, paper, score(10, 0.2), end)
	if a := add(first); !a.Suspected || len(a.Flags) != 1 {
		t.Fatalf("%+v", a.Flags)
	}
	if _, err := s.AddFlag(t.Context(), rebench.Flag{AttemptID: "kernel-1", Kind: rebench.FlagSuspected, Author: "maintainer", Reason: "two devices"}); err != nil {
		t.Fatal(err)
	}
	if a := add(first); a.Suspected || len(a.Flags) != 2 {
		t.Errorf("the same content again: suspected %v, flags %+v", a.Suspected, a.Flags)
	}
	if a := add(write(t, paper, score(10, 0.19), end)); !a.Suspected || len(a.Flags) != 3 {
		t.Errorf("other content: suspected %v, flags %+v", a.Suspected, a.Flags)
	}
	if a := add(write(t, paper, score(10, 0.18), end)); !a.Suspected || len(a.Flags) != 3 {
		t.Errorf("a flag that stands is raised again: %+v", a.Flags)
	}
}
