package intake_test

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/intake"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

func ptr[T any](v T) *T { return &v }

// write builds a log of a 600 s kernel attempt (start ln 6.5, reference ln 1.75).
func write(t *testing.T, change func(*attemptlog.Header), events ...attemptlog.Event) []byte {
	t.Helper()
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := &attemptlog.Header{
		AttemptID:   "kernel-1",
		Environment: attemptlog.Environment{ID: "optimize_kernel", Version: "1.0.0", Profile: "cpu"},
		Agent:       &attemptlog.Agent{Name: "tuner"},
		TimeLimitS:  ptr(600.0), StartedAt: &started, Clock: rebench.ClockActive,
		Scoring: attemptlog.Scoring{Direction: rebench.Minimize, StartRaw: ptr(math.Log(6.5)), ReferenceRaw: ptr(math.Log(1.75)), CalibrationID: "cal-1"},
		Tool:    attemptlog.Tool{Name: "test"},
	}
	if change != nil {
		change(h)
	}
	var buf bytes.Buffer
	w := attemptlog.NewWriter(&buf)
	for _, e := range append([]attemptlog.Event{h}, events...) {
		if _, err := w.Append(e); err != nil {
			t.Fatalf("write %s: %v", e.Type(), err)
		}
	}
	return buf.Bytes()
}

func score(t, ms float64) *attemptlog.Score {
	return &attemptlog.Score{T: &t, Score: ptr(math.Log(ms)), Valid: true, Basis: rebench.BasisRaw}
}

var end = &attemptlog.End{T: ptr(600.0), Reason: attemptlog.EndTimeLimit}

func TestFinalScore(t *testing.T) {
	log2 := func(ms float64) float64 { return math.Log(6.5/ms) / math.Log(6.5/1.75) }
	invalid := &attemptlog.Score{T: ptr(30.0), Reason: attemptlog.ReasonWrongOutput}
	for name, tc := range map[string]struct {
		change   func(*attemptlog.Header)
		events   []attemptlog.Event
		final    float64
		known    bool
		unranked string
	}{
		"the best valid entry counts":             {nil, []attemptlog.Event{score(10, 3), score(20, 2), invalid, score(40, 4), end}, log2(2), true, ""},
		"slower than the start is 0":              {nil, []attemptlog.Event{score(10, 9), end}, 0, true, ""},
		"no valid entry is 0":                     {nil, []attemptlog.Event{invalid, end}, 0, true, ""},
		"an entry after the limit does not count": {nil, []attemptlog.Event{score(10, 3), score(601, 1), &attemptlog.End{T: ptr(602.0), Reason: attemptlog.EndTimeLimit}}, log2(3), true, ""},
		"the re-scored value counts": {nil, []attemptlog.Event{score(10, 2), score(20, 3),
			&attemptlog.Rescore{OfSeq: 1, Score: ptr(math.Log(2.5)), Trials: ptr(int64(15)), Reason: "end of attempt"}, end}, log2(2.5), true, ""},
		"a failed re-scoring is not ranked": {nil, []attemptlog.Event{score(10, 2),
			&attemptlog.Rescore{OfSeq: 1, Reason: "wrong_output"}, end}, 0, false, intake.UnrankedRescore},
		"an open log is not ranked":        {nil, []attemptlog.Event{score(10, 2)}, log2(2), true, intake.UnrankedOpen},
		"hidden scores are unknown, not 0": {nil, []attemptlog.Event{&attemptlog.Score{T: ptr(30.0), Reason: attemptlog.ReasonHidden}, end}, 0, false, intake.UnrankedHidden},
		"a converted log knows no end": {func(h *attemptlog.Header) { h.Imported = &attemptlog.Imported{Format: "score-log"} },
			[]attemptlog.Event{score(10, 2)}, log2(2), true, ""},
		"without calibration": {func(h *attemptlog.Header) { h.Scoring.CalibrationID = "" }, []attemptlog.Event{score(10, 2), end}, log2(2), true, intake.UnrankedCalibration},
		"raw only":            {func(h *attemptlog.Header) { h.Scoring.ReferenceRaw = nil }, []attemptlog.Event{score(10, 2), end}, 0, false, intake.UnrankedRawOnly},
		"last entry counts where the score is hidden": {func(h *attemptlog.Header) {
			h.Environment.ID = "scaling_law"
			h.Scoring = attemptlog.Scoring{Direction: rebench.Maximize, StartRaw: ptr(0.2), ReferenceRaw: ptr(0.7), CalibrationID: "c"}
		}, []attemptlog.Event{
			&attemptlog.Score{T: ptr(1.0), Score: ptr(0.7), Valid: true, Basis: rebench.BasisRaw},
			&attemptlog.Score{T: ptr(2.0), Score: ptr(0.45), Valid: true, Basis: rebench.BasisRaw}, end}, 0.5, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := imported(t, write(t, tc.change, tc.events...))
			if math.Abs(a.Final-tc.final) > 1e-12 || a.FinalKnown != tc.known || a.Unranked != tc.unranked {
				t.Errorf("final %v (known %t, unranked %q), want %v (%t, %q)", a.Final, a.FinalKnown, a.Unranked, tc.final, tc.known, tc.unranked)
			}
		})
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	for field, change := range map[string]func(*attemptlog.Header){
		"environment": func(h *attemptlog.Header) { h.Environment.ID = "optimise_kernel" },
		"profile":     func(h *attemptlog.Header) { h.Environment.Profile = "tpu" },
	} {
		if _, err := intake.NewItem(header(t, write(t, change, end)), intake.Meta{}, nil); rebench.ErrorCode(err) != rebench.CodeInvalid {
			t.Errorf("%s: %v, want an invalid error", field, err)
		}
	}
}

func header(t *testing.T, log []byte) *attemptlog.Header {
	t.Helper()
	r := attemptlog.NewReader(bytes.NewReader(log), attemptlog.Options{})
	for r.Next() {
	}
	if faults := r.Faults(); len(faults) > 0 {
		t.Fatal(faults)
	}
	return r.Header()
}

// imported stores a log and returns what the store made of it.
func imported(t *testing.T, log []byte) rebench.Attempt {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	item, err := intake.NewItem(header(t, log), intake.Meta{Dataset: "uploads", NativeID: "kernel-1"}, intake.FromBytes("f", log))
	if err != nil {
		t.Fatal(err)
	}
	one := func(yield func(store.Item, error) bool) { yield(item, nil) }
	rev, err := s.Import(t.Context(), store.Upload{Author: "t"}, "t", one, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Attempt(t.Context(), "kernel-1", rev.ID)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Log(t.Context(), a.RevisionID)
	if err != nil || !bytes.Equal(kept, log) {
		t.Errorf("the log kept differs from the one imported (%v)", err)
	}
	return *a
}

func TestPublicIDIsSafeInAnAddress(t *testing.T) {
	for id, want := range map[string]string{"kernel-1": "kernel-1", "metr-rebench:mp4-server_1": "metr-rebench:mp4-server_1", "vivaria:12.0": "vivaria:12.0"} {
		if got := intake.PublicID(id); got != want {
			t.Errorf("PublicID(%q) = %q", id, got)
		}
	}
	for _, id := range []string{"", "../../etc/passwd", ".hidden", "a b", "a/b", "<script>", strings.Repeat("x", 300)} {
		if got := intake.PublicID(id); len(got) != 26 || got[:2] != "a-" {
			t.Errorf("PublicID(%q) = %q, want a digest", id, got)
		}
	}
}

// A log's own evidence decides its badge; an uploader's word never makes it
// re-scored.
func TestBadge(t *testing.T) {
	hashed := func(t, ms float64) *attemptlog.Score {
		s := score(t, ms)
		s.SubmissionSHA256, s.ScorerSHA256 = strings.Repeat("a", 64), strings.Repeat("b", 64)
		return s
	}
	again := func(of int64, ms *float64) *attemptlog.Rescore {
		r := &attemptlog.Rescore{OfSeq: of, Trials: ptr(int64(15)), Reason: "end of attempt"}
		if ms != nil {
			r.Score = ptr(math.Log(*ms))
		}
		return r
	}
	for name, tc := range map[string]struct {
		trusted bool
		change  func(*attemptlog.Header)
		events  []attemptlog.Event
		want    rebench.Badge
	}{
		"no hashes":                          {true, nil, []attemptlog.Event{score(10, 2), end}, rebench.BadgeSelfReported},
		"no score":                           {true, nil, []attemptlog.Event{end}, rebench.BadgeSelfReported},
		"the entry that counts has hashes":   {false, nil, []attemptlog.Event{hashed(10, 2), score(20, 3), end}, rebench.BadgeArtefacts},
		"another entry has hashes":           {false, nil, []attemptlog.Event{hashed(10, 3), score(20, 2), end}, rebench.BadgeSelfReported},
		"a converted log":                    {true, func(h *attemptlog.Header) { h.Imported = &attemptlog.Imported{Format: "score-log"} }, []attemptlog.Event{hashed(10, 2), again(1, ptr(2.1)), end}, rebench.BadgeSelfReported},
		"re-scored by whoever uploaded":      {false, nil, []attemptlog.Event{hashed(10, 2), again(1, ptr(2.1)), end}, rebench.BadgeArtefacts},
		"re-scored by ours":                  {true, nil, []attemptlog.Event{hashed(10, 2), again(1, ptr(2.1)), end}, rebench.BadgeRescored},
		"ours, another entry re-scored":      {true, nil, []attemptlog.Event{hashed(10, 3), hashed(20, 2), again(1, ptr(3.1)), end}, rebench.BadgeArtefacts},
		"ours, the re-scoring did not go on": {true, nil, []attemptlog.Event{hashed(10, 2), again(1, nil), end}, rebench.BadgeArtefacts},
	} {
		t.Run(name, func(t *testing.T) {
			log := write(t, tc.change, tc.events...)
			r := attemptlog.NewReader(bytes.NewReader(log), attemptlog.Options{})
			r.Next()
			it, err := intake.NewItem(r.Header(), intake.Meta{Dataset: "d", NativeID: "n", Trusted: tc.trusted}, intake.FromBytes("f", log))
			if err != nil {
				t.Fatal(err)
			}
			a, err := store.Read(it)
			if err != nil {
				t.Fatal(err)
			}
			if a.Badge != tc.want {
				t.Errorf("badge %q, want %q", a.Badge, tc.want)
			}
			if hashes := a.SubmissionSHA256 != ""; hashes != (tc.want != rebench.BadgeSelfReported || name == "a converted log") {
				t.Errorf("submission %q", a.SubmissionSHA256)
			}
		})
	}
}

func TestMessageText(t *testing.T) {
	for raw, want := range map[string]string{"": "", `""`: "", `"plain"`: "plain", `"a\nb \"c\""`: "a\nb \"c\"", `{"a":1}`: `{"a":1}`, "null": "null", `7`: "7", `"é"`: "é"} {
		if got := intake.MessageText([]byte(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}
