package live_test

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/live"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

func ptr[T any](v T) *T { return &v }

// lines is a log of a header, two scores and an end.
func lines(t *testing.T, id string, second float64) [][]byte {
	t.Helper()
	var buf bytes.Buffer
	w := attemptlog.NewWriter(&buf)
	for _, e := range []attemptlog.Event{
		&attemptlog.Header{AttemptID: id, Environment: attemptlog.Environment{ID: "optimize_kernel", Version: "1", Profile: "cpu"},
			Agent: &attemptlog.Agent{Name: "tuner"}, TimeLimitS: ptr(60.0), Clock: rebench.ClockActive,
			Scoring: attemptlog.Scoring{Direction: rebench.Minimize, StartRaw: ptr(2.0), ReferenceRaw: ptr(1.0), CalibrationID: "c"}, Tool: attemptlog.Tool{Name: "t"}},
		&attemptlog.Score{T: ptr(1.0), Score: ptr(1.8), Valid: true, Basis: rebench.BasisRaw},
		&attemptlog.Score{T: ptr(2.0), Score: ptr(second), Valid: true, Basis: rebench.BasisRaw},
		&attemptlog.End{T: ptr(3.0), Reason: attemptlog.EndSubmitted},
	} {
		if _, err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.SplitAfter(bytes.TrimSuffix(buf.Bytes(), []byte("\n")), []byte("\n"))
}

func token(t *testing.T, s *store.Store) store.Token {
	t.Helper()
	secret, err := s.CreateToken(t.Context(), "runner", store.ScopeUpload)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := s.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestAnAttemptIsStreamedWatchedAndImported(t *testing.T) {
	st := testutil.EmptyStore(t)
	s, tok := live.New(st, slog.New(slog.DiscardHandler)), token(t, st)
	log := lines(t, "a-1", 1.5)
	changed, stop := s.Watch("a-1")
	defer stop()
	for i, step := range []struct {
		body []byte
		ack  int64
	}{{bytes.Join(log[:2], nil), 1}, {log[1], 1}, {bytes.Join(log[1:3], nil), 2}} {
		ack, err := s.Append(t.Context(), tok, "a-1", step.body)
		if err != nil || ack != step.ack {
			t.Fatalf("step %d: acknowledged %d (%v), want %d", i, ack, err, step.ack)
		}
	}
	select {
	case <-changed:
	case <-time.After(5 * time.Second):
		t.Error("the watcher heard nothing")
	}
	a, raw, ok, err := s.Attempt(t.Context(), "a-1")
	if err != nil || !ok || len(a.Entries) != 2 || a.Final != 0.5 || a.EndReason != "" || len(raw) == 0 {
		t.Errorf("live attempt %+v, %t, %v; want two entries, 0.5 so far", a, ok, err)
	}
	if ack, err := s.Append(t.Context(), tok, "a-1", log[3]); err != nil || ack != 3 {
		t.Fatalf("the end: %d, %v", ack, err)
	}
	rev, _ := st.LatestRevision(t.Context())
	stored, err := st.Attempt(t.Context(), "a-1", rev.ID)
	if err != nil || stored.Final != 0.5 || !stored.Ranked || stored.EndReason != "submitted" {
		t.Errorf("stored %+v, %v", stored, err)
	}
	kept, err := st.Log(t.Context(), stored.RevisionID)
	if err != nil || !bytes.Equal(bytes.TrimSuffix(kept, []byte("\n")), bytes.Join(log, nil)) {
		t.Errorf("the stored log differs from the streamed one (%v)", err)
	}
	if ack, err := s.Append(t.Context(), tok, "a-1", bytes.Join(log, nil)); err != nil || ack != 3 {
		t.Errorf("everything again: %d, %v; want 3", ack, err)
	}
	if again, _ := st.LatestRevision(t.Context()); again != rev {
		t.Error("a repeat changed the data")
	}
}

func TestWrongLinesAreRefusedAndNothingIsStored(t *testing.T) {
	st := testutil.EmptyStore(t)
	s, tok := live.New(st, slog.New(slog.DiscardHandler)), token(t, st)
	log, other := lines(t, "a-1", 1.5), lines(t, "a-1", 1.4)
	if _, err := s.Append(t.Context(), tok, "a-1", bytes.Join(log[:3], nil)); err != nil {
		t.Fatal(err)
	}
	var refused *store.StreamError
	if _, err := s.Append(t.Context(), tok, "a-1", other[2]); !errors.As(err, &refused) || refused.Gap {
		t.Errorf("another second score: %v, want a fork", err)
	}
	if _, err := s.Append(t.Context(), tok, "a-1", other[3]); !errors.As(err, &refused) || refused.Gap {
		t.Errorf("the end of another log: %v, want a fork", err)
	}
	if _, err := s.Append(t.Context(), tok, "b-1", lines(t, "b-1", 1)[1]); !errors.As(err, &refused) || !refused.Gap || refused.Expected != 0 {
		t.Errorf("a stream without its header: %v, want a gap at 0", err)
	}
	for name, body := range map[string]string{
		"not JSON":       "{",
		"no seq":         `{"type":"score"}`,
		"another's name": string(lines(t, "c-2", 1)[0]),
		"unknown environment": `{"type":"header","seq":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","format":"attempt-log","version":1,` +
			`"attempt_id":"c-1","environment":{"id":"x","version":"1","profile":"cpu"},"agent":{"name":"a","model":null,"scaffold":null},"time_limit_s":1,` +
			`"hardware":null,"seed":null,"started_at":null,"clock":"active","scoring":{"direction":"min","start_raw":1,"reference_raw":2,"calibration_id":null},` +
			`"tool":{"name":"t","version":"1"},"imported":null}`,
		"empty": "\n\n",
	} {
		if _, err := s.Append(t.Context(), tok, "c-1", []byte(body)); rebench.ErrorCode(err) != rebench.CodeInvalid {
			t.Errorf("%s: %v, want an invalid error", name, err)
		}
	}
	if _, ok, _ := st.LiveAttempt(t.Context(), "c-1"); ok {
		t.Error("a refused stream left a trace")
	}
	if a, _, _ := st.LiveAttempt(t.Context(), "a-1"); a.Seq != 2 {
		t.Errorf("seq %d after refusals, want 2", a.Seq)
	}
}

func TestALogThatEndedBeforeACrashIsImportedAtTheNextStart(t *testing.T) {
	st := testutil.EmptyStore(t)
	s, tok := live.New(st, slog.New(slog.DiscardHandler)), token(t, st)
	log := lines(t, "a-1", 1.5)
	if _, err := s.Append(t.Context(), tok, "a-1", bytes.Join(log[:3], nil)); err != nil {
		t.Fatal(err)
	}
	// The lines of the end are stored, the server dies before the import.
	sum := attemptlog.Hash{}
	end := bytes.TrimSuffix(log[3], []byte("\n"))
	state, _, _ := st.LiveAttempt(t.Context(), "a-1")
	if _, err := st.AppendLive(t.Context(), tok, "a-1", []store.LiveLine{{Seq: 3, Prev: state.Head, Hash: sum.String(), Raw: end}}, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	rev, _ := st.LatestRevision(t.Context())
	if a, err := st.Attempt(t.Context(), "a-1", rev.ID); err != nil || a.Final != 0.5 {
		t.Errorf("after recovery: %+v, %v", a, err)
	}
}
