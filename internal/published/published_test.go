package published_test

import (
	"path/filepath"
	"testing"

	"rebench/internal/published"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

func open(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "rebench.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestLoadIsCompleteAndIdempotent(t *testing.T) {
	s := open(t)
	first, err := published.Load(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (published.Stats{Created: 1801, Placeholders: 7}); first != want {
		t.Errorf("first load: %+v, want %+v", first, want)
	}
	before, err := s.LatestRevision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := published.Load(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (published.Stats{Unchanged: 1801, Placeholders: 7}); again != want {
		t.Errorf("second load: %+v, want %+v", again, want)
	}
	after, err := s.LatestRevision(t.Context())
	if err != nil || after != before {
		t.Errorf("loading again moved the data revision from %+v to %+v (%v)", before, after, err)
	}
	summaries, err := s.Summaries(t.Context(), after.ID)
	if err != nil {
		t.Fatal(err)
	}
	agents, humans, paper71, suspected := 0, 0, 0, 0
	for _, a := range summaries {
		switch {
		case a.Cohort == "":
			agents++
		default:
			humans++
		}
		if a.Cohort == rebench.CohortPaper71 {
			paper71++
		}
		if a.Suspected {
			suspected++
		}
	}
	if agents != 1715 || humans != 86 || paper71 != 71 || suspected != 2 {
		t.Errorf("agents, humans, paper71, suspected = %d, %d, %d, %d; want 1715, 86, 71, 2", agents, humans, paper71, suspected)
	}
}

func TestAttemptCanBeFollowedToItsSource(t *testing.T) {
	s := open(t)
	if _, err := published.Load(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	a, err := s.Attempt(t.Context(), "metr-rebench:mp4-server_204921", 1)
	if err != nil {
		t.Fatal(err)
	}
	if a.SourceFile != published.RunsFile || a.SourceLine == 0 || a.Agent.Name != "o1-preview" || !a.Suspected || len(a.Flags) != 1 {
		t.Errorf("attempt = %+v", a)
	}
	// Normalized 4.05 is a run of about 3.7 s: exp(start + 4.05 (reference - start)).
	if a.FinalRaw == nil || *a.FinalRaw < 1.29 || *a.FinalRaw > 1.32 {
		t.Errorf("raw score is %v, want about ln 3.7 = 1.31", a.FinalRaw)
	}
	log, err := s.Log(t.Context(), a.RevisionID)
	if err != nil || len(log) == 0 {
		t.Fatalf("log: %d bytes, %v", len(log), err)
	}
	clipped, err := s.Attempt(t.Context(), "metr-rebench:81", 1)
	if rebench.ErrorCode(err) != rebench.CodeNotFound {
		t.Errorf("placeholder row 81 is served: %+v, %v", clipped, err)
	}
}
