package analysis

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// Worked by hand: four calls in two hours, one invalid, the best one 0.05 luckier
// than when it was scored again.
func TestSignals(t *testing.T) {
	at := func(m int) *time.Duration { d := time.Duration(m) * time.Minute; return &d }
	num := func(x float64) *float64 { return &x }
	a := &rebench.Attempt{Entries: []rebench.ScoreEntry{
		{Seq: 1, Elapsed: at(10), Normalized: num(0.1), Valid: true},
		{Seq: 2, Elapsed: at(60), Normalized: num(0.8), Rescored: num(0.75), Valid: true},
		{Seq: 3, Elapsed: at(70), Reason: "wrong_output"},
		{Seq: 4, Elapsed: at(90), Normalized: num(0.2), Valid: true},
	}, Extra: map[string]string{validity.ExtraScorerFlags: "noisy_timing"}}
	a.Environment, a.Profile, a.HasLog, a.Duration = rebench.OptimizeKernel, rebench.ProfileCPU, true, 2*time.Hour
	s, err := signals(a)
	if err != nil {
		t.Fatal(err)
	}
	if s.ScoreCalls != 4 || s.Invalid != 1 || *s.CallsPerHour != 2 || *s.Chosen != 0.8 || *s.Rescored != 0.75 || math.Abs(*s.Regression-0.05) > 1e-12 || s.LaterInvalid {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff([]PeerRate{{"AIDE", 36.8}, {"Modular", 25.3}, {"humans", 3.4}}, s.Peers); diff != "" {
		t.Errorf("the paper's rates (-expected +found):\n%s", diff)
	}
	if len(s.Findings) != 1 || s.Findings[0].Action != validity.Note {
		t.Errorf("findings %+v", s.Findings)
	}
	// An invalid submission after the last valid one, where the last counts.
	a.Environment, a.Entries = rebench.ScalingLaw, a.Entries[:3]
	if s, err = signals(a); err != nil || !s.LaterInvalid {
		t.Errorf("%+v, %v", s, err)
	}
	// A published row has one entry without a time: nothing is known of its calls.
	a.HasLog = false
	if s, err = signals(a); err != nil || s.ScoreCalls != 0 || s.CallsPerHour != nil || s.Regression != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// Nine calls, one of them 15,360 h after the start on a broken clock, are eight
// within the limit; of a few seconds no rate is told.
func TestRatesOfCallsNeedTimeAndKeepToTheLimit(t *testing.T) {
	attempt := func(limit, spent time.Duration, at ...time.Duration) *rebench.Attempt {
		a := &rebench.Attempt{}
		a.Environment, a.Profile, a.HasLog, a.TimeLimit, a.Duration = rebench.OptimizeKernel, rebench.ProfileCPU, true, limit, spent
		for i := range at {
			a.Entries = append(a.Entries, rebench.ScoreEntry{Seq: i + 1, Elapsed: &at[i], Reason: "wrong_output"})
		}
		return a
	}
	m := time.Minute
	for _, c := range []struct {
		a    *rebench.Attempt
		want float64 // 0 for none
	}{
		{attempt(2*time.Hour, 15360*time.Hour, m, 2*m, 3*m, 4*m, 5*m, 6*m, 7*m, 8*m, 15360*time.Hour), 4},
		{attempt(2*time.Hour, time.Second, time.Second), 0},
		{attempt(2*time.Hour, 0, 20*m, 30*m), 4},
		{attempt(0, 0), 0},
	} {
		s, err := signals(c.a)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.CallsPerHour; (got == nil) != (c.want == 0) || got != nil && math.Abs(*got-c.want) > 1e-12 {
			t.Errorf("%d calls: rate %v, want %v", s.ScoreCalls, got, c.want)
		}
	}
}
