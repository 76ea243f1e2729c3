package ingest

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// obj is a JSON object in a test.
type obj map[string]any

func js(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	// Python writes what encoding/json cannot.
	return bytes.ReplaceAll(b, []byte(`"@NaN@"`), []byte("NaN"))
}

// inspectHeader is a log without samples.
func inspectHeader() obj {
	return obj{"version": 2, "status": "success",
		"eval": obj{"eval_id": "E1", "run_id": "R1", "task": "mtb", "model": "anthropic/claude", "task_version": "0.2.1", "config": obj{"working_limit": 1800, "time_limit": 3600}},
		"plan": obj{"steps": []obj{{"solver": "mtb/start"}, {"solver": "react"}}}}
}

// inspectSampleOf is a scored sample; fields of with replace or add to it.
func inspectSampleOf(with obj) obj {
	s := obj{"id": "x", "epoch": 1, "uuid": "U1", "started_at": "2025-01-01T10:00:00+00:00", "completed_at": "2025-01-01T10:20:00+00:00",
		"total_time": 1200.0, "working_time": 1000.0, "scores": obj{"score": obj{"value": 0.5}}, "events": []obj{}, "store": obj{}}
	for k, v := range with {
		if v == nil {
			delete(s, k)
		} else {
			s[k] = v
		}
	}
	return s
}

func inspectMapping() Mapping {
	return Mapping{Environment: "optimize_kernel", Profile: "gpu"}
}

// inspectJSON decodes a .json log with the samples.
func inspectJSON(t testing.TB, m Mapping, samples ...obj) got {
	t.Helper()
	log := inspectHeader()
	log["samples"] = samples
	return decode(t, "log.json", js(t, log), Options{Mapping: m})
}

// one decodes a log of one sample that must be without fault.
func one(t testing.TB, with obj) gotAttempt {
	t.Helper()
	g := inspectJSON(t, inspectMapping(), inspectSampleOf(with))
	wantPlaces(t, "faults", g.file.Faults())
	if len(g.attempts) != 1 {
		t.Fatalf("%d attempts, want 1", len(g.attempts))
	}
	return g.attempts[0]
}

func scoreEventOf(at string, working float64, value any, intermediate bool) obj {
	return obj{"event": "score", "timestamp": "2025-01-01T" + at + "+00:00", "working_start": working, "intermediate": intermediate,
		"score": obj{"value": value, "explanation": "said"}}
}

func checkInspect(t *testing.T, a gotAttempt, want ...vivEntry) {
	t.Helper()
	if len(a.scores) != len(want) {
		t.Fatalf("%d entries, want %d", len(a.scores), len(want))
	}
	for i, w := range want {
		s := a.scores[i]
		at, sec := "", math.NaN()
		if s.At != nil {
			at = s.At.Format(attemptlog.TimeLayout)
		}
		if s.T != nil {
			sec = *s.T
		}
		if sec != w.t && !(math.IsNaN(sec) && math.IsNaN(w.t)) || s.Valid != !math.IsNaN(w.score) || s.Valid && *s.Score != w.score || s.Reason != w.reason || at != w.at {
			t.Errorf("entry %d: t %v valid %v score %v reason %q at %s, want %+v", i+1, sec, s.Valid, s.Score, s.Reason, at, w)
		}
	}
}

func TestInspectSampleFacts(t *testing.T) {
	a := one(t, obj{"model_usage": obj{"m": obj{"input_tokens": 104, "output_tokens": 1951, "total_tokens": 48095, "input_tokens_cache_write": 3934, "input_tokens_cache_read": 42106, "reasoning_tokens": 680}}})
	h := a.Header
	if a.Dataset != DatasetInspect || a.NativeID != "U1" || h.AttemptID != "inspect:U1" || a.Sample != "x epoch 1" {
		t.Errorf("identity %s %s %s %s", a.Dataset, a.NativeID, h.AttemptID, a.Sample)
	}
	if h.Agent.Name != "anthropic/claude" || h.Agent.Scaffold != "mtb/start,react" || *h.TimeLimitS != 1800 || h.Clock != rebench.ClockWorking {
		t.Errorf("header %+v agent %+v", h, h.Agent)
	}
	if got := h.StartedAt.Format(attemptlog.TimeLayout); got != "2025-01-01T10:00:00.000Z" {
		t.Errorf("started at %s", got)
	}
	checkInspect(t, a, vivEntry{1000, 0.5, "", ""})
	if n, _ := a.sum.TotalTokens(); n != 48095 {
		t.Errorf("%d tokens, want total_tokens: reasoning is part of the output", n)
	}
	if a.sum.EndReason != attemptlog.EndSubmitted || *a.sum.EndT != 1000 || *a.DurationS != 1200 || a.scores[0].Normalized != nil {
		t.Errorf("summary %+v", a.sum)
	}
	cached := one(t, obj{"model_usage": obj{"m": obj{"input_tokens": 15235, "output_tokens": 281, "total_tokens": 15516, "input_tokens_cache_read": 9088}}})
	if n, _ := cached.sum.TotalTokens(); n != 15516 {
		t.Errorf("%d tokens, want 15516: cached ones are part of the input here", n)
	}
}

func TestInspectValues(t *testing.T) {
	for name, tc := range map[string]struct {
		score  obj
		want   float64
		reason attemptlog.Reason
	}{
		"number":                      {obj{"value": -3.25}, -3.25, ""},
		"integer":                     {obj{"value": 7}, 7, ""},
		"number in a string":          {obj{"value": "0.75"}, 0.75, ""},
		"zero":                        {obj{"value": 0, "explanation": "Received submission: 0"}, 0, ""},
		"zero that is no score":       {obj{"value": 0, "explanation": "No valid score(s) generated."}, none, attemptlog.ReasonNaN},
		"NaN":                         {obj{"value": "@NaN@"}, none, attemptlog.ReasonNaN},
		"letter":                      {obj{"value": "C"}, none, attemptlog.ReasonError},
		"true is no number":           {obj{"value": true}, none, attemptlog.ReasonError},
		"list":                        {obj{"value": []int{1, 2}}, none, attemptlog.ReasonError},
		"dict with one key":           {obj{"value": obj{"acc": 0.25}}, 0.25, ""},
		"null":                        {obj{"value": json.RawMessage("null")}, none, attemptlog.ReasonHidden},
		"a number beyond 64 bits":     {obj{"value": json.RawMessage("1e400")}, none, attemptlog.ReasonNaN},
		"an integer above 2^63":       {obj{"value": json.RawMessage("18446744073709551616")}, 18446744073709551616, ""},
		"an explanation with a score": {obj{"value": 2, "explanation": "No valid score(s) generated."}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := one(t, obj{"scores": obj{"score": tc.score}})
			checkInspect(t, a, vivEntry{1000, tc.want, tc.reason, ""})
			unscored := map[attemptlog.Reason]string{attemptlog.ReasonError: UnscoredValue, attemptlog.ReasonHidden: UnscoredHidden}[tc.reason]
			if a.Unscored != unscored {
				t.Errorf("unscored %q, want %q", a.Unscored, unscored)
			}
		})
	}
}

func TestInspectScoreKey(t *testing.T) {
	several := obj{"scores": obj{"a": obj{"value": 1}, "b": obj{"value": obj{"x": 2, "y": 3}}}}
	for key, want := range map[string]float64{"a": 1, "b/x": 2, "b/y": 3} {
		m := inspectMapping()
		m.ScoreKey = key
		g := inspectJSON(t, m, inspectSampleOf(several))
		wantPlaces(t, "faults", g.file.Faults())
		checkInspect(t, g.attempts[0], vivEntry{1000, want, "", ""})
	}
	g := inspectJSON(t, inspectMapping(), inspectSampleOf(several))
	if got := g.file.NeedsMapping(); !slices.Equal(got, []string{"score_key"}) || !slices.Equal(g.attempts[0].ScoreKeys, []string{"a", "b/x", "b/y"}) {
		t.Errorf("needs %q, offers %q", got, g.attempts[0].ScoreKeys)
	}
	m := inspectMapping()
	m.ScoreKey = "c"
	wantCodes(t, "faults", inspectJSON(t, m, inspectSampleOf(several)).file.Faults(), attemptlog.CodeBadValue, CodeMissingMapping)
	m.ScoreKey = "y" // the key alone is enough with one scorer
	checkInspect(t, inspectJSON(t, m, inspectSampleOf(obj{"scores": obj{"b": obj{"value": obj{"x": 2, "y": 3}}}})).attempts[0], vivEntry{1000, 3, "", ""})
}

func TestInspectIntermediateEvents(t *testing.T) {
	a := one(t, obj{"events": []obj{
		scoreEventOf("10:05:00", 250, 0.25, true), scoreEventOf("10:10:00", 550, "@NaN@", true), scoreEventOf("10:20:00", 990, 0.5, false)}})
	checkInspect(t, a, vivEntry{250, 0.25, "", "2025-01-01T10:05:00.000Z"}, vivEntry{550, none, attemptlog.ReasonNaN, "2025-01-01T10:10:00.000Z"}, vivEntry{990, 0.5, "", "2025-01-01T10:20:00.000Z"})
	if extra(t, a.scores[2].Extra, "final") != "true" || string(a.scores[0].Message) != `"said"` {
		t.Errorf("entries %+v", a.scores)
	}
}

func TestInspectBridgeStore(t *testing.T) {
	entry := func(score any, elapsed any, at string) obj {
		return obj{"score": score, "elapsed_seconds": elapsed, "scored_at": at, "created_at": at, "message": obj{"m": 1}, "details": obj{"d": 2}}
	}
	store := func(entries ...obj) obj { return obj{"TaskDriverStore:intermediate_scores": entries} }
	t.Run("is preferred to the events", func(t *testing.T) {
		a := one(t, obj{"store": store(entry(0.1, 100.5, "2025-01-01T02:05:00"), entry("@NaN@", 200, "2025-01-01T02:10:00")),
			"events": []obj{scoreEventOf("10:05:00", 101, 0.1, true), scoreEventOf("10:10:00", 201, "@NaN@", true), scoreEventOf("10:20:00", 990, 0.5, false)}})
		checkInspect(t, a, vivEntry{100.5, 0.1, "", ""}, vivEntry{200, none, attemptlog.ReasonNaN, ""}, vivEntry{990, 0.5, "", "2025-01-01T10:20:00.000Z"})
		if !a.ZoneUnknown || extra(t, a.scores[0].Extra, "scored_at") != "2025-01-01T02:05:00" || string(a.scores[0].Message) != `{"m":1}` {
			t.Errorf("naive time: %+v", a.scores[0])
		}
	})
	t.Run("with a zone", func(t *testing.T) {
		m := inspectMapping()
		m.Zone = "-08:00"
		g := inspectJSON(t, m, inspectSampleOf(obj{"store": store(entry(0.1, 100, "2025-01-01T02:05:00"))}))
		if a := g.attempts[0]; a.ZoneUnknown || a.scores[0].At.Format(attemptlog.TimeLayout) != "2025-01-01T10:05:00.000Z" {
			t.Errorf("at %v", a.scores[0].At)
		}
	})
	t.Run("the event tells a missing time", func(t *testing.T) {
		a := one(t, obj{"store": store(entry(0.1, json.RawMessage("null"), "2025-01-01T02:05:00")), "events": []obj{scoreEventOf("10:05:00", 101, 0.1, true)}})
		if *a.scores[0].T != 101 {
			t.Errorf("t %v, want 101", *a.scores[0].T)
		}
	})
	t.Run("without any time the clock is unknown", func(t *testing.T) {
		a := one(t, obj{"store": store(entry(0.1, 50, "2025-01-01T02:05:00"), entry(0.2, json.RawMessage("null"), "2025-01-01T02:06:00"))})
		if a.Header.Clock != rebench.ClockUnknown || a.scores[0].T != nil || string(a.scores[0].Extra.Get("elapsed_s")) != "50" {
			t.Errorf("clock %s, entry %+v", a.Header.Clock, a.scores[0])
		}
	})
	t.Run("METR's task family names the environment", func(t *testing.T) {
		s := store(entry(1.2, 10, "2025-01-01T02:05:00"))
		s["TaskDriverStore:task_family"] = "ai_rd_small_scaling_law"
		g := inspectJSON(t, Mapping{Profile: "paper"}, inspectSampleOf(obj{"store": s}))
		if h := g.attempts[0].Header; h.Environment.ID != "scaling_law" || h.Environment.Version != "metr-0.2.1" || len(g.file.NeedsMapping()) > 0 {
			t.Errorf("environment %+v, needs %q", h.Environment, g.file.NeedsMapping())
		}
	})
}

func TestInspectHumanAgent(t *testing.T) {
	sample := inspectSampleOf(obj{"store": obj{"HumanAgentState:accumulated_time": 900.5, "HumanAgentState:scorings": []obj{
		{"time": 300.0, "scores": []obj{{"value": 0.2}}}, {"time": 600.0, "scores": []obj{{"value": "@NaN@"}}}}}})
	g := inspectJSON(t, inspectMapping(), sample)
	if got := g.file.NeedsMapping(); !slices.Equal(got, []string{"human"}) {
		t.Errorf("needs %q, want the cohort", got)
	}
	m := inspectMapping()
	m.Human = &MappingHuman{Cohort: "lab"}
	a := inspectJSON(t, m, sample).attempts[0]
	checkInspect(t, a, vivEntry{300, 0.2, "", ""}, vivEntry{600, none, attemptlog.ReasonNaN, ""}, vivEntry{900.5, 0.5, "", ""})
	if a.Header.Clock != rebench.ClockActive || a.Header.Human.Cohort != "lab" || a.Header.Agent != nil {
		t.Errorf("header %+v", a.Header)
	}
}

func TestInspectTimes(t *testing.T) {
	t.Run("events before the start", func(t *testing.T) {
		// As in METR's logs: hours in a queue, and working times that count from boot.
		a := one(t, obj{"started_at": nil, "events": []obj{
			{"event": "sample_init", "timestamp": "2025-01-01T01:00:00+00:00", "working_start": 128651.3},
			{"event": "span_end", "timestamp": "2025-01-01T10:00:00+00:00", "working_start": -202332412.6},
			{"event": "state", "timestamp": "2025-01-01T10:00:00.500+00:00", "working_start": 0.25},
			scoreEventOf("10:05:00", -202332000, 0.25, true), scoreEventOf("10:20:00", 990, 0.5, false)}})
		if got := a.Header.StartedAt.Format(attemptlog.TimeLayout); got != "2025-01-01T10:00:00.250Z" {
			t.Errorf("started at %s, want when it left the queue", got)
		}
		if a.Header.Clock != rebench.ClockUnknown {
			t.Errorf("clock %s although one entry has no usable time", a.Header.Clock)
		}
	})
	t.Run("a working_start that counts from boot is not used", func(t *testing.T) {
		a := one(t, obj{"total_time": nil, "working_time": nil, "events": []obj{
			{"event": "sample_init", "timestamp": "2025-01-01T10:19:59+00:00", "working_start": 413636.1}, scoreEventOf("10:20:00", 413636.9, 0.5, false)}})
		checkInspect(t, a, vivEntry{none, 0.5, "", "2025-01-01T10:20:00.000Z"})
	})
	t.Run("events out of order", func(t *testing.T) {
		g := inspectJSON(t, inspectMapping(), inspectSampleOf(obj{"events": []obj{scoreEventOf("10:10:00", 550, 0.3, true), scoreEventOf("10:05:00", 250, 0.25, true)}}))
		wantCodes(t, "warnings", g.file.Warnings(), WarnClockBack)
		checkInspect(t, g.attempts[0], vivEntry{550, 0.3, "", "2025-01-01T10:10:00.000Z"}, vivEntry{550, 0.25, "", "2025-01-01T10:05:00.000Z"}, vivEntry{1000, 0.5, "", ""})
	})
	t.Run("no times at all", func(t *testing.T) {
		a := one(t, obj{"total_time": nil, "working_time": nil, "started_at": nil, "completed_at": nil})
		checkInspect(t, a, vivEntry{none, 0.5, "", ""})
	})
}

func TestInspectEnds(t *testing.T) {
	for want, with := range map[attemptlog.EndReason]obj{
		attemptlog.EndTimeLimit:  {"limit": obj{"type": "working", "limit": 1800}},
		attemptlog.EndTokenLimit: {"limit": obj{"type": "token", "limit": 5}},
		attemptlog.EndCostLimit:  {"limit": obj{"type": "cost", "limit": 5}},
		attemptlog.EndUnknown:    {"limit": obj{"type": "operator", "limit": 1}},
		attemptlog.EndError:      {"error": obj{"message": "boom"}},
		attemptlog.EndSubmitted:  {"error": json.RawMessage("null")},
	} {
		if a := one(t, with); a.sum.EndReason != want {
			t.Errorf("%v ends with %s, want %s", with, a.sum.EndReason, want)
		}
	}
}

func TestInspectSamplesNullEmptyUnscored(t *testing.T) {
	for _, samples := range []string{`null`, `[]`} {
		in := strings.TrimSuffix(string(js(t, inspectHeader())), "}") + `,"samples":` + samples + `}`
		wantCodes(t, samples, decode(t, "x", []byte(in), Options{Mapping: inspectMapping()}).file.Faults(), CodeNoAttempts)
	}
	g := inspectJSON(t, inspectMapping(), inspectSampleOf(obj{"scores": json.RawMessage("null")}))
	wantCodes(t, "warnings", g.file.Warnings(), WarnUnscored)
	if a := g.attempts[0]; a.sum.Scores != 0 || a.sum.EndReason != attemptlog.EndUnknown || a.Unscored != UnscoredNone {
		t.Errorf("summary %+v", a.sum)
	}
}

func TestInspectIdentity(t *testing.T) {
	for _, tc := range []struct {
		with obj
		want string
	}{
		{obj{"uuid": nil, "id": "task-1", "epoch": 3}, "E1-task-1-3"},
		{obj{"uuid": nil, "id": 12}, "E1-12-1"},
		{obj{"uuid": nil, "id": "a/../b:c"}, fmt.Sprintf("E1-%x-1", key16("a/../b:c"))},
		{obj{"uuid": "../etc"}, "E1-x-1"},
	} {
		a := one(t, tc.with)
		if a.NativeID != tc.want || !validID(a.Header.AttemptID) {
			t.Errorf("%v gives %s, want %s", tc.with, a.NativeID, tc.want)
		}
	}
}

// The header fields may stand after the samples.
func TestInspectHeaderAfterSamples(t *testing.T) {
	head := string(js(t, inspectHeader()))
	in := `{"samples":[` + string(js(t, inspectSampleOf(nil))) + `],` + head[1:]
	g := decode(t, "x", []byte(in), Options{Mapping: inspectMapping()})
	if len(g.attempts) != 1 || g.attempts[0].Header.Agent.Model != "anthropic/claude" {
		t.Errorf("faults %v", g.file.Faults())
	}
}

func TestInspectVersion(t *testing.T) {
	log := inspectHeader()
	log["version"], log["status"], log["samples"] = 3, "cancelled", []obj{inspectSampleOf(nil)}
	g := decode(t, "x", js(t, log), Options{Mapping: inspectMapping()})
	wantCodes(t, "warnings", g.file.Warnings(), WarnNewerVersion, WarnUnfinished)
	if len(g.attempts) != 1 {
		t.Error("a cancelled log's valid sample is lost")
	}
}

// member is an entry of a zip archive in a test.
type member struct {
	name   string
	data   []byte
	method uint16
}

func zipOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zipMethodZstd, func(out io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(out) })
	for _, m := range members {
		e, err := w.CreateHeader(&zip.FileHeader{Name: m.name, Method: m.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write(m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestInspectEval(t *testing.T) {
	head, s := js(t, inspectHeader()), js(t, inspectSampleOf(nil))
	for _, method := range []uint16{zip.Store, zip.Deflate, zipMethodZstd} {
		g := decode(t, "x.eval", zipOf(t, member{"_journal/start.json", head, method}, member{"samples/x_epoch_1.json", s, method}, member{"header.json", head, method}), Options{Mapping: inspectMapping()})
		wantPlaces(t, "faults", g.file.Faults())
		if len(g.attempts) != 1 || *g.attempts[0].scores[0].Score != 0.5 {
			t.Errorf("method %d: %d attempts", method, len(g.attempts))
		}
	}
}

// A .eval and a .json log of one sample have the same content.
func TestInspectSameContent(t *testing.T) {
	s := inspectSampleOf(obj{"events": []obj{scoreEventOf("10:05:00", 250, 0.25, true)}})
	eval := decode(t, "x", zipOf(t, member{"header.json", js(t, inspectHeader()), 8}, member{"samples/x_epoch_1.json", js(t, s), 8}), Options{Mapping: inspectMapping()})
	plain := inspectJSON(t, inspectMapping(), s)
	if a, b := eval.attempts[0], plain.attempts[0]; a.sum.Head != b.sum.Head {
		t.Errorf("%s and %s", a.log, b.log)
	}
}

func TestInspectCrashedEval(t *testing.T) {
	s := inspectSampleOf(obj{"scores": json.RawMessage("null"), "events": []obj{scoreEventOf("10:05:00", 250, 0.25, true), scoreEventOf("10:20:00", 990, 0.5, false)}})
	g := decode(t, "x.eval", zipOf(t, member{"_journal/start.json", js(t, inspectHeader()), 8}, member{"samples/x_epoch_1.json", js(t, s), 8}), Options{Mapping: inspectMapping()})
	wantPlaces(t, "faults", g.file.Faults())
	wantCodes(t, "warnings", g.file.Warnings(), WarnUnfinished)
	checkInspect(t, g.attempts[0], vivEntry{250, 0.25, "", "2025-01-01T10:05:00.000Z"}, vivEntry{990, 0.5, "", "2025-01-01T10:20:00.000Z"})
}

func TestInspectDuplicateNamesLastWins(t *testing.T) {
	first, second := inspectSampleOf(nil), inspectSampleOf(obj{"scores": obj{"score": obj{"value": 0.75}}})
	g := decode(t, "x.eval", zipOf(t, member{"header.json", js(t, inspectHeader()), 8}, member{"samples/x_epoch_1.json", js(t, first), 8}, member{"samples/x_epoch_1.json", js(t, second), 8}), Options{Mapping: inspectMapping()})
	wantCodes(t, "warnings", g.file.Warnings(), WarnDuplicateEntry)
	checkInspect(t, g.attempts[0], vivEntry{1000, 0.75, "", ""})
}

func TestInspectChunks(t *testing.T) {
	ev := func(at string, w, v float64) []byte { return js(t, []obj{scoreEventOf(at, w, v, true)}) }
	g := decode(t, "x.eval", zipOf(t, member{"header.json", js(t, inspectHeader()), 93},
		member{"samples/a/b:c_epoch_1/events/100.json", ev("10:10:00", 500, 0.3), 93}, // sorted as numbers, not as text
		member{"samples/a/b:c_epoch_1/events/20.json", ev("10:05:00", 250, 0.2), 93},
		member{"samples/a/b:c_epoch_1/events/3.json", ev("10:01:00", 50, 0.1), 93},
		member{"samples/a/b:c_epoch_1/events/stats.json", []byte("{}"), 93}, member{"samples/a/b:c_epoch_1/messages/0.json", []byte("[]"), 93},
		member{"samples/a/b:c_epoch_1/sample.json", js(t, inspectSampleOf(obj{"id": "a/b:c", "events": nil})), 93}), Options{Mapping: inspectMapping()})
	wantPlaces(t, "faults", g.file.Faults())
	checkInspect(t, g.attempts[0], vivEntry{50, 0.1, "", "2025-01-01T10:01:00.000Z"}, vivEntry{250, 0.2, "", "2025-01-01T10:05:00.000Z"}, vivEntry{500, 0.3, "", "2025-01-01T10:10:00.000Z"}, vivEntry{1000, 0.5, "", ""})
}

func TestInspectBadSamples(t *testing.T) {
	good := js(t, inspectSampleOf(nil))
	head := member{"header.json", js(t, inspectHeader()), 8}
	for name, bad := range map[string][]byte{"torn": good[:100], "not an object": []byte("7"), "deep": []byte(`{"x":` + strings.Repeat("[", 1_000_000)), "duplicate key": []byte(`{"id":1,"id":2}`)} {
		g := decode(t, "x.eval", zipOf(t, head, member{"samples/bad_epoch_1.json", bad, 8}, member{"samples/x_epoch_1.json", good, 8}), Options{Mapping: inspectMapping()})
		if f := g.file.Faults(); len(f) != 1 || f[0].Field != "samples/bad_epoch_1.json" || len(g.attempts) != 1 {
			t.Errorf("%s: %d attempts, faults %v", name, len(g.attempts), f)
		}
	}
}

// What one sample may hold in memory is bounded.
func TestInspectSampleTooLarge(t *testing.T) {
	score := `"s%d":{"value":1,"explanation":"` + strings.Repeat("x", MaxTextBytes) + `"}`
	var b strings.Builder
	for i := range MaxHeldBytes/MaxTextBytes + 1 {
		fmt.Fprintf(&b, score+",", i)
	}
	in := `{"version":2,"status":"success","eval":{"model":"m"},"samples":[{"id":1,"scores":{` + b.String() + `"z":{"value":1}}}]}`
	wantCodes(t, "faults", decode(t, "x", []byte(in), Options{Mapping: inspectMapping()}).file.Faults(), CodeTooManyEntries)
	b.Reset()
	for i := range MaxKeys + 1 {
		fmt.Fprintf(&b, `"k%d":0,`, i)
	}
	in = `{"version":2,"status":"success","eval":{"model":"m"},"samples":[{"id":1,"store":{` + b.String() + `"z":0}}]}`
	wantCodes(t, "faults", decode(t, "x", []byte(in), Options{Mapping: inspectMapping()}).file.Faults(), CodeTooManyEntries)
}

// The sample really ran 43 hours after it was created.
func TestInspectHawkSample(t *testing.T) {
	g := decode(t, "small.eval", sample(t, "hawk__importer_small.eval"), Options{Mapping: inspectMapping()})
	for _, a := range g.attempts {
		if a.Sample != "default epoch 1" {
			continue
		}
		if got := a.Header.StartedAt.Format(attemptlog.TimeLayout); got != "2025-09-14T21:23:49.737Z" {
			t.Errorf("started at %s, want 2025-09-14T21:23:49.737Z", got)
		}
		checkInspect(t, a, vivEntry{71.46749300899683, 1, "", "2025-09-14T21:25:03.346Z"})
		if n, _ := a.sum.TotalTokens(); n != 48095 || a.NativeID != "kEYWZcQZjPfmcVt9sijMyd" {
			t.Errorf("%d tokens, id %s", n, a.NativeID)
		}
		return
	}
	t.Error("the sample is missing")
}
