package app

import (
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"testing"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/published"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

// A row that was imported before the rule existed is flagged at the next start, once: what
// a person releases stays released.
func TestRulesSpeakOfOlderAttemptsOnce(t *testing.T) {
	ctx := context.Background()
	db, err := store.Open(ctx, store.Options{Path: filepath.Join(t.TempDir(), "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := published.Load(ctx, db, nil); err != nil {
		t.Fatal(err)
	}
	// An attempt as a version without rules imported it.
	const id = "set:fast"
	raw := math.Log(0.2)
	item := store.Item{ID: id, Dataset: "set", NativeID: "fast", Environment: rebench.OptimizeKernel, Profile: rebench.ProfilePaper,
		Write: func(*store.LogWriter) (store.Content, error) {
			a := rebench.Attempt{Agent: rebench.Agent{Name: "a", Kind: rebench.KindAgent}}
			a.ScorerVersion, a.Final, a.FinalKnown, a.FinalRaw, a.TimeLimit = "1", 2.9, true, &raw, time.Hour
			return store.Content{Attempt: a, SHA256: "aa"}, nil
		}}
	if _, err := db.Import(ctx, store.Upload{Author: "t"}, "t", func(yield func(store.Item, error) bool) { yield(item, nil) }, nil); err != nil {
		t.Fatal(err)
	}
	sweep := func(id string) *rebench.Attempt {
		t.Helper()
		if err := quarantine(ctx, db, analysis.New(db, analysis.Options{Replicates: 200}), slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		latest, err := db.LatestRevision(ctx)
		if err != nil {
			t.Fatal(err)
		}
		a, err := db.Attempt(ctx, id, latest.ID)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := sweep(id); !a.Suspected || len(a.Flags) != 1 || a.Flags[0].Author != "rule:impossible" {
		t.Fatalf("flags %+v", a.Flags)
	}
	if a := sweep(id); len(a.Flags) != 1 {
		t.Errorf("the rule spoke twice: %+v", a.Flags)
	}
	if _, err := db.AddFlag(ctx, rebench.Flag{AttemptID: id, Kind: rebench.FlagSuspected, Author: "maintainer", Reason: "two devices"}); err != nil {
		t.Fatal(err)
	}
	if a := sweep(id); a.Suspected || len(a.Flags) != 2 {
		t.Errorf("a released attempt was flagged again: %+v", a.Flags)
	}
	// The published rows were flagged when they were loaded.
	if a := sweep("metr-rebench:mp4-server_204851"); !a.Suspected || len(a.Flags) != 1 {
		t.Errorf("flags %+v", a.Flags)
	}
}
