package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"rebench/internal/attemptlog"
)

// BenchmarkScoreCall measures what a score call costs beyond the submission's
// own time, in real sandboxes: freeze, snapshot, scorer, log, answer, and the
// start of the agent's `score` program. One attempt makes b.N calls.
func BenchmarkScoreCall(b *testing.B) {
	t := &testing.T{}
	p := shared(t)
	agent := scriptIn(b.TempDir(), fmt.Sprintf("i=0; while [ $i -lt %d ]; do score >/dev/null; i=$((i+1)); done", b.N))
	cmd := p.command("run", "toy", "--profile", "test", "--json", "-q", "--agent", agent, "--time-limit", "1h")
	b.ResetTimer()
	out, err := cmd.Output()
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
	o := decodeOutcomes(t, string(out))[0]
	if o.Entries != b.N {
		b.Fatalf("%+v", o)
	}
	_, _, events := logOf(t, o.Log)
	var first, last time.Time
	var submission, trusted float64
	n := 0
	for _, e := range events {
		s, ok := e.(*attemptlog.Score)
		if !ok {
			continue
		}
		if n == 0 {
			first = *s.At
		}
		last = *s.At
		n++
		submission += extraNumber(s.Extra, "submission_s")
		trusted += extraNumber(s.Extra, "wall_s")
	}
	if n > 1 {
		interval := last.Sub(first).Seconds() / float64(n-1)
		b.ReportMetric(1e3*interval, "ms/interval")
		b.ReportMetric(1e3*submission/float64(n), "ms/submission")
		b.ReportMetric(1e3*trusted/float64(n), "ms/scorer")
		b.ReportMetric(1e3*(interval-submission/float64(n)), "ms/overhead")
	}
}

func extraNumber(x attemptlog.Extra, key string) float64 {
	var f float64
	if json.Unmarshal(x.Get(key), &f) != nil {
		return 0
	}
	return f
}

// BenchmarkRun measures a whole `runner run` of one attempt without delivery.
func BenchmarkRun(b *testing.B) {
	p := shared(&testing.T{})
	for b.Loop() {
		if err := p.command("run", "toy", "--profile", "test", "-q", "--agent", "starter").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
