package analysis_test

import (
	"math"
	"path/filepath"
	"testing"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/published"
	"rebench/internal/rebench"
	"rebench/internal/stats"
	"rebench/internal/store"
)

// publishedEngine returns an engine over the published data alone.
func publishedEngine(t testing.TB) *analysis.Engine {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "rebench.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := published.Load(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	return analysis.New(s, analysis.Options{})
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tolerance)
	}
}

func row(t *testing.T, l *analysis.Leaderboard, agent string) analysis.LeaderboardRow {
	t.Helper()
	for _, r := range l.Rows {
		if r.Agent == agent {
			return r
		}
	}
	t.Fatalf("no row for %q; hidden: %+v", agent, l.Hidden)
	return analysis.LeaderboardRow{}
}

func point(t *testing.T, c *analysis.Curves, agent, allocation string, total time.Duration) analysis.CurvePoint {
	t.Helper()
	for _, s := range c.Series {
		if s.Agent != agent || s.Allocation != allocation {
			continue
		}
		for _, p := range s.Points {
			if p.TotalTimeS == int64(total.Seconds()) {
				return p
			}
		}
	}
	t.Fatalf("no point for %q %s at %v", agent, allocation, total)
	return analysis.CurvePoint{}
}

// The values of the design's list, each checked there against METR's own analysis.
func TestPublishedValues(t *testing.T) {
	e := publishedEngine(t)
	curves := func(q analysis.Query) *analysis.Curves {
		t.Helper()
		c, err := e.Curves(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	all := curves(analysis.Query{Cohort: rebench.CohortAll, Flagged: true})
	near(t, "o1-preview 2 h x 4", point(t, all, "o1-preview", "7200s", 8*time.Hour).Score, 0.351, 5e-4)
	near(t, "o1-preview 30 min x 16 with flagged", point(t, all, "o1-preview", "1800s", 8*time.Hour).Score, 0.627, 5e-4)
	near(t, "Claude 3 Opus 30 min x 16", point(t, all, "Claude 3 Opus", "1800s", 8*time.Hour).Score, 0.153, 5e-4)
	near(t, "GPT-4o 30 min x 16", point(t, all, "GPT-4o", "1800s", 8*time.Hour).Score, 0.132, 5e-4)
	for hours, want := range map[time.Duration]float64{8: 0.658, 16: 0.903, 32: 1.114, 64: 1.256} {
		near(t, "86 humans", point(t, all, "human", "28800s", hours*time.Hour).Score, want, 5e-4)
	}
	with := curves(analysis.Query{Cohort: rebench.CohortAll, Flagged: true, Estimator: stats.WithReplacement})
	for hours, want := range map[time.Duration]float64{8: 0.658, 16: 0.8815, 32: 1.072, 64: 1.199} {
		near(t, "86 humans with replacement", point(t, with, "human", "28800s", hours*time.Hour).Score, want, 5e-4)
	}
	standard := curves(analysis.Query{})
	near(t, "o1-preview 30 min x 16 without flagged", point(t, standard, "o1-preview", "1800s", 8*time.Hour).Score, 0.260, 5e-4)
	for hours, want := range map[time.Duration]float64{8: 0.664, 16: 0.915, 32: 1.133, 64: 1.274} {
		near(t, "71 humans", point(t, standard, "human", "28800s", hours*time.Hour).Score, want, 5e-4)
	}
}

func TestDefaultLeaderboard(t *testing.T) {
	e := publishedEngine(t)
	l, err := e.Leaderboard(t.Context(), analysis.Query{})
	if err != nil {
		t.Fatal(err)
	}
	h := row(t, l, "human")
	near(t, "human", h.Score, 0.664, 5e-4)
	if h.RankLow != 1 || h.NAttempts != 71 || h.Allocation.K != 1 || h.Allocation.TimeLimitS != 28800 {
		t.Errorf("human row = %+v", h)
	}
	o := row(t, l, "o1-preview")
	near(t, "o1-preview", o.Score, 0.351, 5e-4)
	if o.WithFlagged == nil {
		t.Error("o1-preview has suspected attempts, so the score with them must be shown")
	} else {
		near(t, "o1-preview with flagged", *o.WithFlagged, 0.627, 5e-4)
	}
	counted, err := e.Leaderboard(t.Context(), analysis.Query{Flagged: true})
	if err != nil {
		t.Fatal(err)
	}
	if c := row(t, counted, "o1-preview"); c.WithoutFlagged == nil || c.WithFlagged != nil {
		t.Error("where suspected attempts count, the score without them must be shown")
	} else {
		near(t, "o1-preview without flagged", *c.WithoutFlagged, 0.351, 5e-4)
		near(t, "o1-preview counted", c.Score, 0.627, 5e-4)
	}
	if len(l.FlaggedLeftOut) != 2 {
		t.Errorf("flagged left out = %+v, want the two known rows", l.FlaggedLeftOut)
	}
	total := 0.0
	for _, r := range l.Rows {
		total += r.PRank1
		if r.RankLow < 1 || r.RankHigh < r.RankLow || r.RankHigh > len(l.Rows) {
			t.Errorf("%s: ranks %d-%d of %d", r.Agent, r.RankLow, r.RankHigh, len(l.Rows))
		}
	}
	near(t, "sum of P(rank 1)", total, 1, 1e-9)
	for i, r := range l.Rows {
		t.Logf("%d %-26s %.3f [%v %v] rank %d-%d p1 %.3f %+v pct %v honest %v %s", i, r.Agent, r.Score, deref(r.CILow), deref(r.CIHigh), r.RankLow, r.RankHigh, r.PRank1, r.Allocation, r.HumanPct, deref(r.ScoreHonest), r.HonestNote)
	}
	t.Logf("hidden %+v", l.Hidden)
}

func deref(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

func TestChosenAgentsKeepOnlyTheirDigitisedMarks(t *testing.T) {
	e := publishedEngine(t)
	for agent, want := range map[string]int{"human": 3, "o1-preview": 3, "GPT-4o": 0} {
		c, err := e.Curves(t.Context(), analysis.Query{Agents: []string{agent}})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Published) != want {
			t.Errorf("%s: %d marks, want %d", agent, len(c.Published), want)
		}
	}
}
