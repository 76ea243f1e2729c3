package testutil

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/store"
)

// Generated says how large a generated database is.
type Generated struct {
	Attempts int
	Entries  int // score entries of each attempt
	Agents   int
}

// Large is the size at which the server's speed is stated.
var Large = Generated{Attempts: 100_000, Entries: 20, Agents: 40}

// generatorVersion changes whenever the generator writes other rows.
const generatorVersion = 2

// generatedLimits are the time limits of generated attempts.
var generatedLimits = []time.Duration{30 * time.Minute, 2 * time.Hour}

// GeneratedFile returns the name of a database of attempts with score logs, drawn from a
// fixed seed and imported as uploads are. It is made once and kept in .cache of the
// module's root: treat it as read-only.
func GeneratedFile(tb testing.TB, g Generated) string {
	tb.Helper()
	dir := filepath.Join(moduleRoot(tb), ".cache", "bench")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("generated-v%d-%d-%d-%d.db", generatorVersion, g.Attempts, g.Entries, g.Agents))
	if g.complete(path) {
		return path
	}
	scratch, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		tb.Fatal(err)
	}
	defer os.RemoveAll(scratch)
	fresh := filepath.Join(scratch, "rebench.db")
	tb.Logf("generating %d attempts with %d score entries each", g.Attempts, g.Entries)
	if err := g.write(fresh); err != nil {
		tb.Fatalf("generate %s: %v", path, err)
	}
	for _, extra := range []string{"", "-wal", "-shm"} {
		os.Remove(path + extra)
	}
	if err := os.Rename(fresh, path); err != nil {
		tb.Fatal(err)
	}
	return path
}

// complete reports whether the file holds such a database under today's schema.
func (g Generated) complete(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Path: path})
	if err != nil {
		return false
	}
	defer s.Close()
	r, err := s.LatestRevision(ctx)
	if err != nil {
		return false
	}
	rows, err := s.Summaries(ctx, r.ID)
	if err != nil || len(rows) != g.Attempts {
		return false
	}
	entries, err := s.Entries(ctx, []int64{rows[0].RevisionID})
	return err == nil && len(entries[rows[0].RevisionID]) == g.Entries
}

func (g Generated) write(path string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Path: path})
	if err != nil {
		return err
	}
	_, err = s.Import(ctx, store.Upload{Author: "testutil", FileName: "generated", Format: "generated", At: time.Unix(1_750_000_000, 0)}, "generated", g.items(), nil)
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (g Generated) items() iter.Seq2[store.Item, error] {
	return func(yield func(store.Item, error) bool) {
		environments := rebench.Environments()
		random := rand.New(rand.NewPCG(1, generatorVersion))
		for i := range g.Attempts {
			env := environments[i%len(environments)]
			limit := generatedLimits[i/len(environments)%len(generatedLimits)]
			agent := i / (len(environments) * len(generatedLimits)) % g.Agents
			if !yield(g.item(random, i, agent, env, limit), nil) {
				return
			}
		}
	}
}

// item draws one attempt: scores rise with time towards a level of agent and
// environment, and every fifth entry is invalid.
func (g Generated) item(random *rand.Rand, i, agent int, env rebench.Environment, limit time.Duration) store.Item {
	native := fmt.Sprintf("run-%06d", i)
	level := math.Max(0, 0.1+0.02*float64(agent)+0.3*random.NormFloat64())
	entries := make([]rebench.ScoreEntry, g.Entries)
	best := 0.0
	for k := range entries {
		at := limit * time.Duration(k+1) / time.Duration(g.Entries+1)
		e := rebench.ScoreEntry{Seq: k + 1, Elapsed: &at, Basis: rebench.BasisRaw, Valid: k%5 != 4}
		if e.Valid {
			score := level * float64(k+1) / float64(g.Entries)
			raw := env.PublishedStart + score*(env.PublishedReference-env.PublishedStart)
			e.Normalized, e.Raw = &score, &raw
			best = max(best, score)
		} else {
			e.Reason, e.Message = "wrong_output", "3 of 100 elements differ"
		}
		entries[k] = e
	}
	a := rebench.Attempt{
		AttemptSummary: rebench.AttemptSummary{
			ID: "generated:" + native, Environment: env.ID, Profile: rebench.ProfilePaper, ScorerVersion: rebench.ScorerMETRPublished,
			HardwareClass: "h100", TimeLimit: limit, Duration: limit, Final: best, FinalKnown: true, HasLog: true, Badge: rebench.BadgeSelfReported,
		},
		Agent: rebench.Agent{Name: fmt.Sprintf("agent-%02d with a name of usual length", agent), Model: fmt.Sprintf("model-%02d", agent%13),
			Scaffold: []string{"modular", "aide", "plain"}[agent%3], Kind: rebench.KindAgent},
		Dataset: "generated", NativeID: native, EndReason: "time_limit", Clock: rebench.ClockActive, Basis: rebench.BasisRaw,
		StartRaw: &env.PublishedStart, ReferenceRaw: &env.PublishedReference,
	}
	sum := sha256.Sum256([]byte(native))
	return store.Item{ID: a.ID, Dataset: a.Dataset, NativeID: native, Environment: env.ID, Profile: a.Profile, Note: "generated",
		Write: func(w *store.LogWriter) (store.Content, error) {
			for _, e := range entries {
				if err := w.Entry(e); err != nil {
					return store.Content{}, err
				}
			}
			return store.Content{Attempt: a, SHA256: hex.EncodeToString(sum[:])}, nil
		}}
}

// moduleRoot is the directory of go.mod.
func moduleRoot(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}
