package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
	"rebench/internal/store"
)

func open(t testing.TB, path string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func temp(t testing.TB) *store.Store { return open(t, filepath.Join(t.TempDir(), "rebench.db")) }

func ptr[T any](v T) *T { return &v }

func item(native string, score float64, content string) store.Item {
	return store.Item{
		ID: "test:" + native, Dataset: "test", NativeID: native, Environment: rebench.OptimizeKernel, Profile: rebench.ProfileCPU,
		Write: func(w *store.LogWriter) (store.Content, error) {
			var a rebench.Attempt
			a.ScorerVersion, a.Agent = "1", rebench.Agent{Name: "agent", Kind: rebench.KindAgent}
			a.TimeLimit, a.Final, a.FinalKnown, a.HasLog = 10*time.Minute, score, true, true
			err := w.Entry(rebench.ScoreEntry{Seq: 1, Elapsed: ptr(5 * time.Second), Raw: ptr(1.5), Normalized: &score, Basis: rebench.BasisRaw, Valid: true})
			return store.Content{Attempt: a, SHA256: content, LogHead: "h"}, errors.Join(err, w.Line([]byte("log of "+content)))
		},
	}
}

func items(all ...store.Item) iter.Seq2[store.Item, error] {
	return func(yield func(store.Item, error) bool) {
		for _, i := range all {
			if !yield(i, nil) {
				return
			}
		}
	}
}

func load(t testing.TB, s *store.Store, all ...store.Item) (rebench.DataRevision, []store.Outcome) {
	t.Helper()
	var out []store.Outcome
	rev, err := s.Import(t.Context(), store.Upload{Author: "tester", FileName: "f"}, "test", items(all...), func(r store.Result) error { out = append(out, r.Outcome); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return rev, out
}

func finals(t testing.TB, s *store.Store, asof int64) map[string]float64 {
	t.Helper()
	all, err := s.Summaries(t.Context(), asof)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, a := range all {
		out[a.ID] = a.Final
	}
	return out
}

func TestRevisionsAreAppendedAndCanBePinned(t *testing.T) {
	s := temp(t)
	first, out := load(t, s, item("1", 0.5, "a"), item("2", 0.6, "b"))
	if d := cmp.Diff([]store.Outcome{store.Created, store.Created}, out); d != "" {
		t.Error(d)
	}
	held := item("2", 0.9, "b2")
	held.Hold = true
	second, out := load(t, s, item("1", 0.7, "a2"), held, item("1", 0.7, "a2"))
	if d := cmp.Diff([]store.Outcome{store.Revised, store.Held, store.Unchanged}, out); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]float64{"test:1": 0.5, "test:2": 0.6}, finals(t, s, first.ID)); d != "" {
		t.Errorf("as of the first revision: %s", d)
	}
	if d := cmp.Diff(map[string]float64{"test:1": 0.7, "test:2": 0.6}, finals(t, s, second.ID)); d != "" {
		t.Errorf("as of the second revision: %s", d)
	}
	a, err := s.Attempt(t.Context(), "test:2", second.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Revisions) != 2 || !a.Revisions[0].Current || a.Revisions[1].Current || a.Final != 0.6 {
		t.Errorf("the held revision must be kept but not current: %+v", a.Revisions)
	}
	log, err := s.Log(t.Context(), a.RevisionID)
	if err != nil || string(log) != "log of b\n" {
		t.Errorf("log %q, %v", log, err)
	}
	third, out := load(t, s, item("1", 0.7, "a2"))
	if third != second || out[0] != store.Unchanged {
		t.Errorf("the same content again: revision %d, %v; want %d, unchanged", third.ID, out, second.ID)
	}
}

func TestAnImportIsWholeOrNothing(t *testing.T) {
	s := temp(t)
	before, _ := load(t, s, item("1", 0.5, "a"))
	failing := func(yield func(store.Item, error) bool) {
		if yield(item("2", 0.5, "b"), nil) {
			yield(store.Item{}, fmt.Errorf("torn file"))
		}
	}
	if _, err := s.Import(t.Context(), store.Upload{Author: "t", FileName: "f"}, "torn", failing, nil); err == nil {
		t.Fatal("a failing import succeeded")
	}
	after, err := s.LatestRevision(t.Context())
	if err != nil || after != before {
		t.Errorf("data revision moved from %d to %d (%v)", before.ID, after.ID, err)
	}
	if d := cmp.Diff(map[string]float64{"test:1": 0.5}, finals(t, s, after.ID)); d != "" {
		t.Error(d)
	}
}

func TestFlagsAreStatementsThatCanBeLifted(t *testing.T) {
	s := temp(t)
	load(t, s, item("1", 0.5, "a"))
	flag := rebench.Flag{AttemptID: "test:1", Kind: rebench.FlagSuspected, Set: true, Author: "admin", Reason: "too fast"}
	set, err := s.AddFlag(t.Context(), flag)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddFlag(t.Context(), flag); rebench.ErrorCode(err) != rebench.CodeConflict {
		t.Errorf("setting a set flag: %v, want a conflict", err)
	}
	flag.Set, flag.Reason = false, "checked"
	lifted, err := s.AddFlag(t.Context(), flag)
	if err != nil {
		t.Fatal(err)
	}
	for asof, want := range map[int64]bool{set.ID - 1: false, set.ID: true, lifted.ID: false} {
		all, err := s.Summaries(t.Context(), asof)
		if err != nil || all[0].Suspected != want {
			t.Errorf("as of %d: suspected %t (%v), want %t", asof, all[0].Suspected, err, want)
		}
	}
	a, err := s.Attempt(t.Context(), "test:1", lifted.ID)
	if err != nil || len(a.Flags) != 2 {
		t.Errorf("%d statements on record (%v), want 2", len(a.Flags), err)
	}
	flag.Set, flag.Reason = true, " "
	if _, err := s.AddFlag(t.Context(), flag); rebench.ErrorCode(err) != rebench.CodeInvalid {
		t.Errorf("a flag without a reason: %v, want invalid", err)
	}
	flag.AttemptID, flag.Reason = "test:9", "x"
	if _, err := s.AddFlag(t.Context(), flag); rebench.ErrorCode(err) != rebench.CodeNotFound {
		t.Errorf("a flag on nothing: %v, want not found", err)
	}
}

func TestOpenSaysWhatIsWrongInOneLine(t *testing.T) {
	dir := t.TempDir()
	served, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "served.db"), Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := filepath.Join(dir, "good.db")
	open(t, good).Close()
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte{}, b...)
	for i := 100; i < len(damaged); i++ {
		damaged[i] = 0xa5
	}
	for name, tc := range map[string]struct{ path, want string }{
		"second server": {served.Path(), "another server is using it"},
		"text file":     {write("text.db", "hello, this is text", 0o600), "not an SQLite file"},
		"read-only":     {write("ro.db", string(b), 0o400), "read-only"},
		"directory":     {dir, "directory"},
		"damaged":       {write("damaged.db", string(damaged), 0o600), "damaged"},
		"postgres":      {"postgres://localhost/x", "not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.Open(t.Context(), store.Options{Path: tc.path, Serve: true})
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line with %q", err, tc.want)
			}
		})
	}
}

func TestManyWritersAndReadersNeverSeeALockedDatabase(t *testing.T) {
	s := temp(t)
	load(t, s, item("0", 0.5, "0"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for g := range 32 {
		wg.Go(func() {
			for i := range 5 {
				n := fmt.Sprintf("%d-%d", g, i)
				if _, err := s.Import(ctx, store.Upload{Author: "t", FileName: "f"}, "t", items(item(n, 0.1, n)), nil); err != nil {
					t.Errorf("import: %v", err)
				}
				if _, err := s.Summaries(ctx, 1); err != nil {
					t.Errorf("read: %v", err)
				}
			}
		})
	}
	wg.Wait()
	rev, err := s.LatestRevision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(finals(t, s, rev.ID)); n != 161 {
		t.Errorf("%d attempts, want 161", n)
	}
}

func TestTokens(t *testing.T) {
	s := temp(t)
	secret, err := s.CreateToken(t.Context(), "ci", store.ScopeUpload)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Authenticate(t.Context(), secret)
	if err != nil || got.Name != "ci" || got.Scope != store.ScopeUpload {
		t.Errorf("authenticated as %+v, %v", got, err)
	}
	if got.Scope.Allows(store.ScopeAdmin) || !store.ScopeAdmin.Allows(store.ScopeUpload) {
		t.Error("upload must not allow admin; admin must allow upload")
	}
	if _, err := s.Authenticate(t.Context(), secret+"x"); rebench.ErrorCode(err) != rebench.CodeUnauthorized {
		t.Errorf("a wrong token: %v, want unauthorized", err)
	}
	if _, err := s.CreateToken(t.Context(), "ci", store.ScopeAdmin); rebench.ErrorCode(err) != rebench.CodeConflict {
		t.Errorf("a second token of that name: %v, want a conflict", err)
	}
	if err := s.RevokeToken(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), secret); rebench.ErrorCode(err) != rebench.CodeUnauthorized {
		t.Errorf("a revoked token: %v, want unauthorized", err)
	}
	b, err := os.ReadFile(s.Path())
	if err == nil && strings.Contains(string(b), secret) {
		t.Error("the secret is in the database file")
	}
	events, err := s.AuditEvents(t.Context(), 0, 10)
	if err != nil || len(events) != 2 || events[0].Action != "revoke token" {
		t.Errorf("audit trail %+v, %v", events, err)
	}
}

// long is a log of several chunks, longer than a LogWriter holds in memory.
func long(native, content string, lines int) store.Item {
	i := item(native, 0.5, content)
	write := i.Write
	i.Write = func(w *store.LogWriter) (store.Content, error) {
		for n := range lines {
			score := float64(n)
			// Digests do not compress, so that the memory bound is reached.
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", content, n))
			err := w.Entry(rebench.ScoreEntry{Seq: n + 2, Elapsed: ptr(time.Second), Normalized: &score, Valid: true, SubmissionSHA256: fmt.Sprintf("%x", sum)})
			if err := errors.Join(err, w.Line(fmt.Appendf(nil, "%x", sum))); err != nil {
				return store.Content{}, err
			}
		}
		c, err := write(w)
		return c, errors.Join(err, w.Rescore(2, ptr(7.0), ptr(8.0)))
	}
	return i
}

func TestALongLogIsStreamedAndTakenBackWhenKnown(t *testing.T) {
	s := temp(t)
	const lines = 60_000
	first, out := load(t, s, item("0", 0.1, "0"), long("1", "a", lines), item("2", 0.2, "2"))
	if d := cmp.Diff([]store.Outcome{store.Created, store.Created, store.Created}, out); d != "" {
		t.Fatal(d)
	}
	check := func(asof int64) {
		t.Helper()
		a, err := s.Attempt(t.Context(), "test:1", asof)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Entries) != lines+1 || a.Entries[1].Rescored == nil || *a.Entries[1].Rescored != 8 || *a.Entries[lines].Normalized != lines-1 {
			t.Errorf("%d entries, want %d with the re-scored one", len(a.Entries), lines+1)
		}
		log, err := s.Log(t.Context(), a.RevisionID)
		if err != nil || int64(len(log)) != a.LogBytes || strings.Count(string(log), "\n") != lines+1 {
			t.Errorf("log of %d bytes, %d lines (%v)", len(log), strings.Count(string(log), "\n"), err)
		}
	}
	check(first.ID)
	again, out := load(t, s, long("1", "a", lines))
	if out[0] != store.Unchanged || again != first {
		t.Errorf("known content: %v at %d, want unchanged at %d", out, again.ID, first.ID)
	}
	second, out := load(t, s, item("3", 0.3, "3"), long("1", "a", lines), long("1", "b", lines))
	if d := cmp.Diff([]store.Outcome{store.Created, store.Unchanged, store.Revised}, out); d != "" {
		t.Fatal(d)
	}
	check(first.ID)
	check(second.ID)
	if got := finals(t, s, second.ID); len(got) != 4 {
		t.Errorf("attempts %v, want 4", got)
	}
}

func TestPreviewTellsWhatAnImportWouldDo(t *testing.T) {
	s := temp(t)
	before, _ := load(t, s, item("1", 0.5, "a"))
	held := item("1", 0.7, "c")
	held.Hold = true
	all := []store.Item{item("1", 0.5, "a"), item("1", 0.6, "b"), held, item("2", 0.1, "x"), item("2", 0.1, "x")}
	var preview []store.Outcome
	err := s.Preview(t.Context(), items(all...), func(r store.Result) error { preview = append(preview, r.Outcome); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if after, _ := s.LatestRevision(t.Context()); after != before {
		t.Error("a preview changed the database")
	}
	_, done := load(t, s, all...)
	if d := cmp.Diff(done, preview); d != "" {
		t.Errorf("import and preview differ: %s", d)
	}
	if d := cmp.Diff([]store.Outcome{store.Unchanged, store.Revised, store.Held, store.Created, store.Unchanged}, done); d != "" {
		t.Error(d)
	}
}
