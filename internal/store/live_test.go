package store_test

import (
	"errors"
	"testing"

	"rebench/internal/rebench"
	"rebench/internal/store"
)

func TestStreamedLines(t *testing.T) {
	s := temp(t)
	token := newToken(t, s, "runner", store.ScopeUpload)
	line := func(seq int64, prev, hash, raw string) store.LiveLine {
		return store.LiveLine{Seq: seq, Prev: prev, Hash: hash, Raw: []byte(raw)}
	}
	l0, l1, l2 := line(0, "z", "h0", "zero"), line(1, "h0", "h1", "one"), line(2, "h1", "h2", "two")
	steps := []struct {
		name  string
		lines []store.LiveLine
		ended bool
		seq   int64 // expected afterwards
		gap   *bool // expected refusal
	}{
		{"a gap at the start", []store.LiveLine{l1}, false, -1, ptr(true)},
		{"first lines", []store.LiveLine{l0, l1}, false, 1, nil},
		{"again, overlapping", []store.LiveLine{l1, l2}, false, 2, nil},
		{"a repeat alone", []store.LiveLine{l0}, false, 2, nil},
		{"a gap", []store.LiveLine{line(4, "h3", "h4", "four")}, false, 2, ptr(true)},
		{"a changed line", []store.LiveLine{line(1, "h0", "h1", "ONE")}, false, 2, ptr(false)},
		{"another chain", []store.LiveLine{line(3, "x", "h3", "three")}, false, 2, ptr(false)},
		{"the end", []store.LiveLine{line(3, "h2", "h3", "three")}, true, 3, nil},
		{"after the end", []store.LiveLine{line(4, "h3", "h4", "four")}, false, 3, ptr(false)},
		{"twice in one request", []store.LiveLine{l2, l2}, false, 3, nil},
	}
	for _, step := range steps {
		_, err := s.AppendLive(t.Context(), token, "a", step.lines, step.ended)
		var refused *store.StreamError
		if errors.As(err, &refused) != (step.gap != nil) || refused != nil && (refused.Gap != *step.gap || refused.Expected != step.seq+1) {
			t.Errorf("%s: %v", step.name, err)
		}
		got, ok, err := s.LiveAttempt(t.Context(), "a")
		if err != nil || ok && got.Seq != step.seq || !ok && step.seq >= 0 {
			t.Errorf("%s: seq %d (%v), want %d", step.name, got.Seq, err, step.seq)
		}
	}
	log, err := s.LiveLog(t.Context(), "a", 1)
	if err != nil || string(log) != "one\ntwo\nthree\n" {
		t.Errorf("log %q, %v", log, err)
	}
	other := newToken(t, s, "other", store.ScopeUpload)
	if _, err := s.AppendLive(t.Context(), other, "a", []store.LiveLine{l0}, false); rebench.ErrorCode(err) != rebench.CodeUnauthorized {
		t.Errorf("another token: %v, want unauthorized", err)
	}
}

func newToken(t *testing.T, s *store.Store, name string, scope store.Scope) store.Token {
	t.Helper()
	secret, err := s.CreateToken(t.Context(), name, scope)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestRunsAreClaimedOnceAndInOrder(t *testing.T) {
	s := temp(t)
	for range 2 {
		if _, err := s.QueueRun(t.Context(), rebench.Run{Author: "admin", Environment: "optimize_kernel", Profile: "cpu", Agent: "tuner", TimeLimitS: 60, Attempts: 1, Parallel: 1}); err != nil {
			t.Fatal(err)
		}
	}
	first, ok, err := s.ClaimRun(t.Context(), "w1")
	if err != nil || !ok || first.ID != 1 || first.State != rebench.RunClaimed {
		t.Errorf("first claim %+v %t %v", first, ok, err)
	}
	second, ok, _ := s.ClaimRun(t.Context(), "w2")
	if !ok || second.ID != 2 {
		t.Errorf("second claim %+v", second)
	}
	if _, ok, _ := s.ClaimRun(t.Context(), "w3"); ok {
		t.Error("a third run was claimed")
	}
	done, err := s.UpdateRun(t.Context(), 1, rebench.RunDone, "", []string{"a", "b"})
	if err != nil || len(done.AttemptIDs) != 2 {
		t.Errorf("done %+v, %v", done, err)
	}
	if _, err := s.UpdateRun(t.Context(), 1, rebench.RunRunning, "", nil); rebench.ErrorCode(err) != rebench.CodeConflict {
		t.Errorf("a run that is over moved on: %v", err)
	}
}
