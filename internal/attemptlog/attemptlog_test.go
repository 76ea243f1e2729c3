package attemptlog

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
)

func ptr[T any](v T) *T { return &v }

var start = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

func at(sec float64) *time.Time {
	return ptr(start.Add(time.Duration(sec * float64(time.Second))))
}

func testHeader() *Header {
	return &Header{
		AttemptID:   "a-1",
		Environment: Environment{ID: "optimize_kernel", Version: "1", Profile: "gpu"},
		Agent:       &Agent{Name: "tester", Model: "m", Scaffold: "modular", Extra: Extra{{"temperature", json.RawMessage("0.7")}}},
		TimeLimitS:  ptr(1800.0),
		Hardware:    &Hardware{GPU: "H100", GPUCount: ptr(int64(1)), CPUs: ptr(int64(16)), RAMGB: ptr(128.5)},
		Seed:        ptr(int64(7)),
		StartedAt:   at(0),
		Clock:       rebench.ClockActive,
		Scoring:     Scoring{Direction: rebench.Minimize, StartRaw: ptr(1.5), ReferenceRaw: ptr(0.5), CalibrationID: "c1"},
		Tool:        Tool{Name: "runner", Version: "0.1"},
		Extra:       Extra{{"note", json.RawMessage(`{"a":[1,null,"x"]}`)}},
	}
}

// testEvents is one log with every type of event.
func testEvents() []Event {
	digest := strings.Repeat("ab", 32)
	return []Event{
		testHeader(),
		&Score{T: ptr(0.0), At: at(0), Score: ptr(1.5), Normalized: ptr(0.0), Basis: rebench.BasisRaw, Valid: true, Message: Text("1.5"), SubmissionSHA256: digest, ScorerSHA256: digest},
		&Score{T: ptr(60.25), At: at(60.25), Basis: rebench.BasisRaw, Reason: ReasonTimeout, Message: json.RawMessage(`{"timeout":true}`)},
		&Usage{T: ptr(90.0), At: at(90), Tokens: []TokenCount{{"input", 1000}, {"output", 50}}, CostUSD: ptr(0.25)},
		&Pause{T: ptr(100.0), At: at(100), Reason: "api"},
		&Resume{T: ptr(100.0), At: at(400)},
		&Score{T: ptr(200.0), At: at(500), Score: ptr(0.75), Basis: rebench.BasisRaw, Valid: true, Extra: Extra{{"details", json.RawMessage(`{"k":1}`)}}},
		&Unknown{Kind: "gpu_sample", Extra: Extra{{"t", json.RawMessage("201")}, {"util", json.RawMessage("[0.5,1e3]")}}},
		&Score{T: ptr(300.0), At: at(600), Score: ptr(1.0), Basis: rebench.BasisRaw, Valid: true},
		&Score{T: ptr(1800.5), At: at(2100.5), Score: ptr(0.1), Basis: rebench.BasisRaw, Valid: true},
		&Rescore{OfSeq: 6, Score: ptr(0.8), Trials: ptr(int64(5)), Reason: "final"},
		&Usage{T: ptr(1800.5), Tokens: []TokenCount{{"input", 2000}, {"output", 80}}},
		&End{T: ptr(1800.5), At: at(2100.5), Reason: EndTimeLimit},
		&Rescore{OfSeq: 8, Score: nil, Reason: "later"},
	}
}

func write(t testing.TB, events ...Event) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, e := range events {
		if _, err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func readAll(t testing.TB, log []byte) ([]Event, *Reader) {
	t.Helper()
	r := NewReader(bytes.NewReader(log), Options{File: "x.jsonl"})
	var out []Event
	for r.Next() {
		e := r.Line().Event
		if s, ok := e.(*Score); ok {
			e = s.Clone()
		}
		out = append(out, e)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out, r
}

func TestRoundTrip(t *testing.T) {
	want := testEvents()
	log := write(t, want...)
	got, r := readAll(t, log)
	if len(r.Faults()) > 0 {
		t.Fatal(r.Faults())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events differ after a round trip (-want +got):\n%s", diff)
	}
	if again := write(t, got...); !bytes.Equal(log, again) {
		t.Errorf("writing again gives\n%s\nwant\n%s", again, log)
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n")) {
		if !json.Valid(line) {
			t.Errorf("line %d is not JSON: %s", i+1, line)
		}
	}
}

func TestSummary(t *testing.T) {
	_, r := readAll(t, write(t, testEvents()...))
	s := r.Summary()
	want := Summary{
		Lines: 14, Bytes: s.Bytes, Head: s.Head,
		Scores: 5, ValidScores: 4, LateScores: 1, Rescores: 2, FirstT: ptr(0.0), LastT: ptr(1800.5),
		// Lower is better: 0.75 at 200 s, re-scored as 0.8. (0.75-1.5)/(0.5-1.5) = 0.75.
		Best: &Result{Seq: 6, T: ptr(200.0), Raw: ptr(0.75), Normalized: ptr(0.75), Basis: rebench.BasisRaw,
			Rescore: &Rescore{OfSeq: 6, Score: ptr(0.8), Trials: ptr(int64(5)), Reason: "final"}},
		Last: &Result{Seq: 8, T: ptr(300.0), Raw: ptr(1.0), Normalized: ptr(0.5), Basis: rebench.BasisRaw,
			Rescore: &Rescore{OfSeq: 8, Reason: "later"}},
		Pauses: 1, PausedFor: 300 * time.Second,
		Ended: true, EndReason: EndTimeLimit, EndT: ptr(1800.5), EndAt: at(2100.5),
		Tokens: []TokenCount{{"input", 2000}, {"output", 80}}, CostUSD: ptr(0.25),
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if s.Final(rebench.SelectBest) != s.Best || s.Final(rebench.SelectLast) != s.Last {
		t.Error("Final picks the wrong entry")
	}
	if n, ok := s.TotalTokens(); n != 2080 || !ok {
		t.Errorf("TotalTokens = %d, %v, want 2080, true", n, ok)
	}
}

func TestDecodeLine(t *testing.T) {
	log := write(t, testEvents()...)
	for i, raw := range bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n")) {
		l, faults := DecodeLine(raw)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		if diff := cmp.Diff(testEvents()[i], l.Event); diff != "" || l.Seq != int64(i) {
			t.Errorf("line %d: seq %d, event (-want +got):\n%s", i+1, l.Seq, diff)
		}
	}
	if _, faults := DecodeLine([]byte(`{"type":"score"}`)); len(faults) == 0 {
		t.Error("a line without its fields is accepted")
	}
}
