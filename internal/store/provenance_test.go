package store_test

import (
	"testing"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/store"
)

// scored is a re-scored attempt of one submission.
func scored(native, submission, scorer string, final float64, change func(*rebench.Attempt)) store.Item {
	i := item(native, final, native)
	i.Write = func(w *store.LogWriter) (store.Content, error) {
		var a rebench.Attempt
		a.ScorerVersion, a.Agent = "1", rebench.Agent{Name: "agent", Kind: rebench.KindAgent}
		a.TimeLimit, a.Final, a.FinalKnown = 10*time.Minute, final, true
		a.Badge, a.SubmissionSHA256 = rebench.BadgeRescored, submission
		if change != nil {
			change(&a)
		}
		err := w.Entry(rebench.ScoreEntry{Seq: 1, Raw: &final, Valid: true, SubmissionSHA256: submission, ScorerSHA256: scorer})
		return store.Content{Attempt: a, SHA256: native}, err
	}
	return i
}

func badges(t *testing.T, s *store.Store, asof int64) map[string]rebench.Badge {
	t.Helper()
	all, err := s.Summaries(t.Context(), asof)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]rebench.Badge{}
	for _, a := range all {
		out[a.ID] = a.Badge
		one, err := s.Attempt(t.Context(), a.ID, asof)
		if err != nil {
			t.Fatal(err)
		}
		if one.Badge != a.Badge {
			t.Errorf("%s: %q in the list, %q on its own", a.ID, a.Badge, one.Badge)
		}
	}
	return out
}

func by(t *testing.T, s *store.Store, author string, all ...store.Item) rebench.DataRevision {
	t.Helper()
	rev, err := s.Import(t.Context(), store.Upload{Author: author, FileName: "f"}, "test", items(all...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func TestReproducedNeedsAnIndependentAgreeingScoring(t *testing.T) {
	for name, tc := range map[string]struct {
		author string
		other  store.Item
		want   rebench.Badge
	}{
		"another token, same submission and scorer, 0.04 apart": {"b", scored("2", "s", "c", 0.54, nil), rebench.BadgeReproduced},
		"the same token":     {"a", scored("2", "s", "c", 0.5, nil), rebench.BadgeRescored},
		"another submission": {"b", scored("2", "t", "c", 0.5, nil), rebench.BadgeRescored},
		"another scorer":     {"b", scored("2", "s", "d", 0.5, nil), rebench.BadgeRescored},
		"0.06 apart":         {"b", scored("2", "s", "c", 0.56, nil), rebench.BadgeRescored},
		"not re-scored":      {"b", scored("2", "s", "c", 0.5, func(a *rebench.Attempt) { a.Badge = rebench.BadgeArtefacts }), rebench.BadgeRescored},
		"another version":    {"b", scored("2", "s", "c", 0.5, func(a *rebench.Attempt) { a.ScorerVersion = "2" }), rebench.BadgeRescored},
	} {
		t.Run(name, func(t *testing.T) {
			s := temp(t)
			before := by(t, s, "a", scored("1", "s", "c", 0.5, nil))
			after := by(t, s, tc.author, tc.other)
			if got := badges(t, s, after.ID)["test:1"]; got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			if got := badges(t, s, before.ID)["test:1"]; got != rebench.BadgeRescored {
				t.Errorf("as of before: %q", got)
			}
			if tc.want != rebench.BadgeReproduced {
				return
			}
			flagged, err := s.AddFlag(t.Context(), rebench.Flag{AttemptID: "test:2", Kind: rebench.FlagRetracted, Set: true, Author: "x", Reason: "y"})
			if err != nil {
				t.Fatal(err)
			}
			if got := badges(t, s, flagged.ID)["test:1"]; got != rebench.BadgeRescored {
				t.Errorf("by a retracted attempt: %q", got)
			}
		})
	}
}

func TestTheWeakerBadge(t *testing.T) {
	for _, tc := range []struct{ a, b, want rebench.Badge }{
		{"", "", ""}, {"", rebench.BadgeRescored, rebench.BadgeRescored}, {rebench.BadgeReproduced, rebench.BadgeArtefacts, rebench.BadgeArtefacts},
		{rebench.BadgeRescored, "made up", rebench.BadgeSelfReported}, {rebench.BadgeSelfReported, rebench.BadgeReproduced, rebench.BadgeSelfReported},
	} {
		if got := tc.a.Weaker(tc.b); got != tc.want || tc.b.Weaker(tc.a) != got {
			t.Errorf("%q and %q: %q, want %q", tc.a, tc.b, got, tc.want)
		}
	}
}

// An id that belongs to an attempt of another identity is refused, also within one
// import, and a refused item keeps no id.
func TestTakenIDsAreRefused(t *testing.T) {
	s := temp(t)
	load(t, s, item("1", 0.5, "a"))
	twin := item("other", 0.5, "b")
	twin.ID = "test:1"
	moved := item("1", 0.5, "c")
	moved.Environment = rebench.GPT2QA
	fresh, second := item("2", 0.5, "d"), item("3", 0.5, "e")
	second.ID = "test:2"
	_, out := load(t, s, twin, moved, fresh, second)
	want := []store.Outcome{store.Refused, store.Refused, store.Created, store.Refused}
	for i := range want {
		if out[i] != want[i] {
			t.Errorf("item %d: %s, want %s", i, out[i], want[i])
		}
	}
}
