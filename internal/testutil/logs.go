package testutil

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// GenerateLogs writes one attempt log after another to w, as a runner of this
// project writes them: g.Attempts logs with g.Entries score lines each, usage now
// and then, and an end. They are drawn from a fixed seed.
func GenerateLogs(w io.Writer, g Generated) error {
	out := bufio.NewWriterSize(w, 1<<20)
	log := attemptlog.NewWriter(out)
	random := rand.New(rand.NewPCG(2, generatorVersion))
	environments := rebench.Environments()
	for i := range g.Attempts {
		log.Reset(out)
		if err := g.log(log, random, i, environments[i%len(environments)]); err != nil {
			return fmt.Errorf("generate log %d: %w", i, err)
		}
	}
	return out.Flush()
}

// log writes one log: raw scores move from the starting towards the reference
// score, and every fifth entry is invalid.
func (g Generated) log(w *attemptlog.Writer, random *rand.Rand, i int, env rebench.Environment) error {
	agent := i / len(environmentsOnce) % max(1, g.Agents)
	limit := generatedLimits[i/len(environmentsOnce)%len(generatedLimits)].Seconds()
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute)
	cpus, ram, seed := int64(8), 64.0, int64(i)
	scorer := digest("scorer " + string(env.ID))
	level := math.Max(0, 0.1+0.02*float64(agent)+0.3*random.NormFloat64())
	header := &attemptlog.Header{
		AttemptID:   fmt.Sprintf("gen-%06d", i),
		Environment: attemptlog.Environment{ID: string(env.ID), Version: "1.0.0", Profile: string(rebench.ProfileGPU)},
		Agent:       &attemptlog.Agent{Name: fmt.Sprintf("agent-%02d", agent), Model: fmt.Sprintf("model-%02d", agent%13), Scaffold: "modular"},
		TimeLimitS:  &limit, Seed: &seed, StartedAt: &started, Clock: rebench.ClockActive,
		Hardware: &attemptlog.Hardware{GPU: "NVIDIA H100 80GB HBM3", GPUCount: ptr(int64(1)), CPUs: &cpus, RAMGB: &ram},
		Scoring: attemptlog.Scoring{Direction: env.Direction, StartRaw: ptr(env.PublishedStart), ReferenceRaw: ptr(env.PublishedReference),
			CalibrationID: "cal-" + string(env.ID)},
		Tool: attemptlog.Tool{Name: "generator", Version: "1"},
	}
	if _, err := w.Append(header); err != nil {
		return err
	}
	for k := range g.Entries {
		t := math.Round(1000*limit*float64(k+1)/float64(g.Entries+1)) / 1000
		at := started.Add(time.Duration(t * float64(time.Second)).Round(time.Millisecond))
		s := &attemptlog.Score{T: &t, At: &at, Basis: rebench.BasisRaw, Valid: k%5 != 4,
			SubmissionSHA256: digest(fmt.Sprintf("%d/%d", i, k)), ScorerSHA256: scorer}
		if s.Valid {
			raw := env.PublishedStart + level*float64(k+1)/float64(g.Entries)*(env.PublishedReference-env.PublishedStart)
			s.Score, s.Message = &raw, attemptlog.Text(fmt.Sprintf("score %.4f", raw))
		} else {
			s.Reason, s.Message = attemptlog.ReasonWrongOutput, attemptlog.Text("3 of 100 elements differ")
		}
		if _, err := w.Append(s); err != nil {
			return err
		}
	}
	end := started.Add(time.Duration(limit * float64(time.Second)))
	if _, err := w.Append(&attemptlog.Usage{T: &limit, At: &end, Tokens: []attemptlog.TokenCount{{Kind: "input", Count: 120_000}, {Kind: "output", Count: 8_000}}}); err != nil {
		return err
	}
	_, err := w.Append(&attemptlog.End{T: &limit, At: &end, Reason: attemptlog.EndTimeLimit})
	return err
}

var environmentsOnce = rebench.Environments()

func ptr[T any](v T) *T { return &v }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// GeneratedLogs returns the name of a file that GenerateLogs wrote, kept in .cache of
// the module's root: treat it as read-only.
func GeneratedLogs(tb testing.TB, g Generated) string {
	tb.Helper()
	dir := filepath.Join(moduleRoot(tb), ".cache", "bench")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("logs-v%d-%d-%d-%d.ndjson", generatorVersion, g.Attempts, g.Entries, g.Agents))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	fresh, err := os.CreateTemp(dir, "new-")
	if err != nil {
		tb.Fatal(err)
	}
	defer os.Remove(fresh.Name())
	tb.Logf("generating %d logs with %d score entries each", g.Attempts, g.Entries)
	if err := GenerateLogs(fresh, g); err != nil {
		tb.Fatal(err)
	}
	if err := fresh.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(fresh.Name(), path); err != nil {
		tb.Fatal(err)
	}
	return path
}
