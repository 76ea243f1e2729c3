package analysis_test

import (
	"math"
	"testing"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// With share 1 every winner is drawn: the ten best of agents and of humans in each
// environment, the suspected ones left out. A smaller share draws some of them, others
// in another month.
func TestWinnersAndDraw(t *testing.T) {
	e := publishedEngine(t)
	december, november := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC)
	draw := func(at time.Time, share float64) map[string]analysis.DrawnAttempt {
		t.Helper()
		list, err := e.Drawn(t.Context(), at, share)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]analysis.DrawnAttempt{}
		for _, d := range list {
			out[d.AttemptID] = d
		}
		return out
	}
	all := draw(december, 1)
	for _, id := range rebench.EnvironmentIDs() {
		for _, kind := range []rebench.Kind{rebench.KindAgent, rebench.KindHuman} {
			list, err := e.Attempts(t.Context(), analysis.Query{}, analysis.AttemptFilter{Environment: id, Kind: kind, Flagged: "none", Sort: "-score"}, "")
			if err != nil {
				t.Fatal(err)
			}
			want, worst := 0, math.Inf(1)
			for _, a := range list.Attempts {
				if *a.Score > 0 && want < validity.Winners {
					want, worst = want+1, *a.Score
				}
			}
			got := 0
			for _, d := range all {
				if d.Environment == id && (d.Agent == rebench.HumanName) == (kind == rebench.KindHuman) {
					if got++; d.Score < worst || d.Place < 1 || d.Place > validity.Winners {
						t.Errorf("%s %s: %+v is drawn, the last winner has %v", id, kind, d, worst)
					}
				}
			}
			if got != want {
				t.Errorf("%s %s: %d winners, want %d", id, kind, got, want)
			}
		}
	}
	if _, ok := all["metr-rebench:mp4-server_204921"]; ok {
		t.Error("a suspected attempt is a winner")
	}
	some, others := draw(december, 0.2), draw(november, 0.2)
	same := 0
	for id := range some {
		if _, ok := all[id]; !ok {
			t.Errorf("%s is drawn and no winner", id)
		}
		if _, ok := others[id]; ok {
			same++
		}
	}
	if len(some) == 0 || len(some) > len(all)/2 || same == len(some) {
		t.Errorf("%d of %d drawn, %d of them in the month before, too", len(some), len(all), same)
	}
}

// The suspected row of 46 s stands far above its peers; by hand from the file.
func TestStanding(t *testing.T) {
	e := publishedEngine(t)
	d, err := e.AttemptDetail(t.Context(), "metr-rebench:mp4-server_204851", 0)
	if err != nil {
		t.Fatal(err)
	}
	list, err := e.Attempts(t.Context(), analysis.Query{}, analysis.AttemptFilter{Environment: rebench.OptimizeLLMFoundry, Agent: "o1-preview", TimeLimitS: 1800, Flagged: "none", Sort: "score"}, "")
	if err != nil {
		t.Fatal(err)
	}
	var scores []float64
	for _, a := range list.Attempts {
		scores = append(scores, *a.Score)
	}
	n := len(scores)
	median := (scores[(n-1)/2] + scores[n/2]) / 2
	s := d.Signals.Standing
	if s == nil || s.N != n || s.Best != scores[n-1] || math.Abs(s.Median-median) > 1e-12 || !s.FarOut {
		t.Errorf("%+v, want %d peers, median %v, best %v, far out", s, n, median, scores[n-1])
	}
	d, err = e.AttemptDetail(t.Context(), list.Attempts[n-1].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if s := d.Signals.Standing; s == nil || s.N != n-1 || s.FarOut {
		t.Errorf("the best of the rest: %+v", s)
	}
}
