package view

import (
	"math"
	"testing"
	"time"

	"rebench/internal/rebench"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"score", score(0.35149), "0.351"},
		{"negative", number(-0.4, 2), "−0.40"},
		{"no sign on a rounded zero", number(-0.0004, 3), "0.000"},
		{"difference", signed(0.198, 3), "+0.198"},
		{"difference below 0", signed(-0.02, 3), "−0.020"},
		{"no difference", signed(0.0001, 3), "0.000"},
		{"tick of a doubling of minutes", budgetTick(80 * time.Minute), "80 min"},
		{"tick of more than an hour", budgetTick(320 * time.Minute), "320 min"},
		{"tick of hours", budgetTick(8 * time.Hour), "8 h"},
		{"interval", interval(0.351, ptr(0.264), ptr(0.436)), "[0.26, 0.44]"},
		{"interval that two decimals would put beside its score", interval(0.0071, ptr(0.0062), ptr(0.0083)), "[0.006, 0.008]"},
		{"a score above 0", score(7.28e-6), "<0.001"},
		{"the starting solution", score(0), "0.000"},
		{"open interval", interval(0.3, ptr(0.264), nil), "[0.26, open]"},
		{"no interval", interval(0.3, nil, nil), "no interval"},
		{"interval of a difference", signedInterval(0.051, ptr(-0.02), ptr(0.12)), "[−0.02, +0.12]"},
		{"support is never 0", support(0), "<0.001"},
		{"support is never 1", support(1), ">0.999"},
		{"support near 1", support(0.9952), "0.995"},
		{"support", support(0.871), "0.87"},
		{"unknown", optional(nil, 3), "–"},
		{"share", share(63, 71), "89%"},
		{"half an hour", span(1800), "30 min"},
		{"hours and minutes", span(15120), "4 h 12 min"},
		{"seconds", span(90), "1 min 30 s"},
		{"clock", clock(5400 * time.Second), "1:30:00"},
		{"budget in a sentence", totalTime(28800), "8 hours"},
		{"one hour", totalTime(3600), "1 hour"},
		{"minutes", totalTime(1800), "30 minutes"},
		{"allocation", allocationWords(16, 1800), "best of 16 half-hour attempts"},
		{"allocation of hours", allocationWords(4, 7200), "best of 4 two-hour attempts"},
		{"single attempt", allocationWords(1, 28800), "one eight-hour attempt"},
		{"odd limit", allocationWords(2, 2700), "best of 2 45-minute attempts"},
		{"formal", allocationFormal(4, 7200), "score@4 of 2 h attempts (4 × 2 h)"},
		{"percentile", percentile(33), "33rd"},
		{"below the first", percentile(0), "<1st"},
		{"above the last", percentile(101), ">100th"},
		{"11th", percentile(11), "11th"},
		{"rank", rankLabel(2, 4), "2–4"},
		{"rank alone", rankLabel(1, 1), "1"},
		{"thousands", grouped(1234567), "1,234,567"},
		{"hundreds", grouped(999), "999"},
		{"start of a sentence", capitalised("élan vital"), "Élan vital"},
		{"list", list([]string{"a", "b", "c"}), "a, b and c"},
		{"suite", suite(rebench.EnvironmentIDs()), "seven environments"},
		{"one environment", suite([]rebench.EnvironmentID{rebench.GPT2QA}), "Finetune GPT-2 for QA"},
		{"short id", shortID("metr-rebench:mp4-server_1"), "mp4-server_1"},
		{"tick", tickLabel(0.25), "0.25"},
		{"whole tick", tickLabel(2), "2"},
		{"half tick", tickLabel(0.5), "0.5"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// A scale always holds 0 and 1, keeps places within its width, and never breaks on
// values that are not finite.
func TestScales(t *testing.T) {
	s := scoreScale([]float64{0.3, 1.6, math.Inf(1), math.NaN()})
	if s.at(0) != "0.00%" || s.high < 1.6 || s.high > 1.7 {
		t.Errorf("scale = %+v", s)
	}
	if got := s.at(99); got != "100.00%" {
		t.Errorf("beyond = %q", got)
	}
	if !s.beyond(99) || s.beyond(1.6) {
		t.Error("beyond")
	}
	if s := scoreScale(nil); s.high < 1 {
		t.Errorf("empty scale = %+v", s)
	}
	d := differenceScale([]float64{-0.4, 0.1})
	if d.at(0) != "50.00%" || d.low > -0.4 || d.low != -d.high {
		t.Errorf("difference scale = %+v", d)
	}
	for _, tick := range d.ticks {
		if tick < d.low || tick > d.high {
			t.Errorf("tick %v outside %v..%v", tick, d.low, d.high)
		}
	}
}
