package ingest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rebench/internal/attemptlog"
)

// fuzzDecode checks what must hold for any bytes: no panic, bounded output, valid
// logs for attempts without fault, and the same answer when asked again.
func fuzzDecode(t *testing.T, data []byte, format Format, m Mapping) {
	g := fuzzOnce(t, data, format, m)
	if g == nil {
		return
	}
	valid(t, g.attempts)
	if len(data)%8 != 0 { // a second look at some is enough
		return
	}
	again := fuzzOnce(t, data, format, m)
	if len(again.attempts) != len(g.attempts) || len(again.file.Faults()) != len(g.file.Faults()) {
		t.Fatal("decoding twice gives two answers")
	}
	for i, a := range g.attempts {
		if again.attempts[i].sum.Head != a.sum.Head {
			t.Fatal("decoding twice gives two heads")
		}
	}
}

// valid checks the entries of one attempt.
func valid(t *testing.T, attempts []gotAttempt) {
	for _, a := range attempts {
		for _, s := range a.scores {
			if s.Valid && s.Score == nil && s.Normalized == nil {
				t.Fatal("a valid entry without a score")
			}
		}
	}
}

// fuzzOnce decodes data as one format, whatever Detect would say of it.
func fuzzOnce(t *testing.T, data []byte, format Format, m Mapping) *got {
	f := Open(t.Context(), "fuzz", bytes.NewReader(data), int64(len(data)), Options{Mapping: m, Constants: PublishedConstants()})
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	if f.Format != format {
		switch f.Format {
		case FormatArchive, FormatInspectEval:
			return nil
		}
		f.faults.list, f.Format = nil, format
		f.Parts = []*Part{{Name: "fuzz", Format: format}}
	}
	g := &got{file: f}
	for a := range f.Attempts() {
		x := gotAttempt{Attempt: a}
		for l := range a.Lines() {
			x.log = append(append(x.log, l.Raw...), '\n')
			if s, ok := l.Event.(*attemptlog.Score); ok {
				x.scores = append(x.scores, s.Clone())
			}
		}
		x.sum = a.Summary()
		g.attempts = append(g.attempts, x)
		if len(a.Faults()) == 0 && len(x.log) > 0 {
			r := attemptlog.NewReader(bytes.NewReader(x.log), attemptlog.Options{})
			for r.Next() {
			}
			if fs := r.Faults(); len(fs) > 0 || r.Summary().Head != x.sum.Head {
				t.Fatalf("attempt without fault makes an invalid log: %v\n%s", fs, x.log)
			}
		}
	}
	if f.Err() != nil {
		t.Fatalf("an error of reading from memory: %v", f.Err())
	}
	if n := len(f.Faults()); n > MaxFaults+1 {
		t.Fatalf("%d faults", n)
	}
	for _, x := range append(f.Faults(), f.Warnings()...) {
		if _, err := json.Marshal(x); err != nil || x.Code == "" || x.Detail == "" || len(x.Detail) > 4096 {
			t.Fatalf("fault %+v", x)
		}
	}
	return g
}

func fuzzMapping() Mapping {
	m := kernelMapping()
	m.StartedAt, m.Zone = "2025-01-01T00:00:00", "America/Los_Angeles"
	return m
}

// seed adds samples that are small enough to mutate.
func seed(f *testing.F, pattern string, max int) {
	files, err := filepath.Glob(filepath.Join("testdata", "samples", pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no samples match %s: %v", pattern, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) <= max {
			f.Add(b)
		}
	}
}

func FuzzDetect(f *testing.F) {
	seed(f, "*", 4<<10)
	f.Fuzz(func(t *testing.T, b []byte) { Detect(b) })
}

func FuzzMETR(f *testing.F) {
	f.Add([]byte(early() + "\n" + later() + "\r\n"))
	f.Add([]byte(early(`"score":0.5`, `"score":NaN`)))
	f.Add([]byte(early(`"mp4-server_1"`, `81`, `"alias":"o1"`, `"alias":"human"`)))
	seed(f, "transcribed__later*", 4<<10)
	f.Fuzz(func(t *testing.T, b []byte) { fuzzDecode(t, b, FormatMETRRuns, Mapping{}) })
}

func FuzzScoreLog(f *testing.F) {
	seed(f, "tps__score_v025*", 4<<10)
	f.Add([]byte(scoreHeader + "2025-11-02T01:30:00,1e5,\"{\"\"a\"\": NaN}\",\r\n2025-03-09T02:30:00Z,.5,,\"x"))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzDecode(t, b, FormatScoreLog, fuzzMapping()) })
}

func FuzzScoreLogJSONL(f *testing.F) {
	f.Add([]byte(`{"timestamp":"2025-03-09T01:30:00","score":0.5,"message":{"a":[1,null,"\ud83d"]},"details":{}}` + "\n" + `{"timestamp":"2025-03-09T01:30:00+01:00","score":"1"}`))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzDecode(t, b, FormatScoreLogNew, fuzzMapping()) })
}

func FuzzVivaria(f *testing.F) {
	seed(f, "transcribed__vivaria*", 4<<10)
	f.Add([]byte(`{"runId":17,"agentBranchNumber":2,"startedAt":1725998400000,"usageLimits":{"total_seconds":28800},"pauses":[{"start":1725998460000,"end":1725999060000,"reason":"x"},{"start":1725999200000,"end":null}],"scoreLog":[{"scoredAt":1725998430000,"score":"NaN"},{"elapsedTime":1e5,"score":2}]}`))
	f.Add([]byte(`[{"result":{"data":{"json":[{"runId":1,"score":1,"elapsedSeconds":3.5,"index":4,"createdAt":5,"details":[]}]}}}]`))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzDecode(t, b, FormatVivaria, fuzzMapping()) })
}

func FuzzInspectJSON(f *testing.F) {
	seed(f, "inspect_ai__*.json", 8<<10)
	for _, with := range []obj{
		{"store": obj{"TaskDriverStore:intermediate_scores": []obj{{"score": 1, "elapsed_seconds": 5, "scored_at": "2025-01-01T00:00:00", "message": obj{}}}}},
		{"store": obj{"HumanAgentState:accumulated_time": 9, "HumanAgentState:scorings": []obj{{"time": 3, "scores": []obj{{"value": 1}}}}}},
		{"scores": obj{"a": obj{"value": obj{"x": 1, "y": 2}}, "b": obj{"value": "C"}}, "events": []obj{scoreEventOf("10:05:00", 250, 0.25, true)}, "limit": obj{"type": "time"},
			"model_usage": obj{"m": obj{"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}}},
	} {
		log := inspectHeader()
		log["samples"] = []obj{inspectSampleOf(with)}
		f.Add(js(f, log))
	}
	f.Fuzz(func(t *testing.T, b []byte) { fuzzDecode(t, b, FormatInspectJSON, inspectMapping()) })
}

// FuzzZip feeds whole archives, Inspect logs among them.
func FuzzZip(f *testing.F) {
	seed(f, "*.eval", 8<<10)
	f.Add(zipOf(f, member{"a.jsonl", []byte(early()), 8}, member{"b/score.log", []byte(scoreHeader + row("2025-01-01T01:00:00", "1")), 93}))
	f.Fuzz(func(t *testing.T, b []byte) {
		file := Open(t.Context(), "fuzz.zip", bytes.NewReader(b), int64(len(b)), Options{Mapping: fuzzMapping()})
		for a := range file.Attempts() {
			a.Summary()
		}
		if file.Err() != nil {
			t.Fatalf("an error of reading from memory: %v", file.Err())
		}
	})
}

// FuzzEvalSample puts any bytes into a sample of a .eval log.
func FuzzEvalSample(f *testing.F) {
	f.Add(js(f, inspectSampleOf(obj{"events": []obj{scoreEventOf("10:05:00", 250, 0.25, true)}})), []byte(`[{"event":"score","score":{"value":1}}]`), "a/b_epoch_1")
	f.Fuzz(func(t *testing.T, sample, events []byte, key string) {
		if len(key) > 1000 {
			return
		}
		data := zipOf(t, member{"header.json", []byte(`{"eval":{"model":"m"}}`), 0}, member{"samples/" + key + "/sample.json", sample, 0}, member{"samples/" + key + "/events/0.json", events, 0})
		file := Open(t.Context(), "x.eval", bytes.NewReader(data), int64(len(data)), Options{Mapping: inspectMapping()})
		for a := range file.Attempts() {
			a.Summary()
		}
		if file.Err() != nil {
			t.Fatal(file.Err())
		}
	})
}

func FuzzAttemptLogs(f *testing.F) {
	logs := ownLogs(f)
	f.Add(bytes.Join(logs[:2], nil))
	f.Add(logs[7][:len(logs[7])-20])
	jsonl, _, _ := exportStated(f)
	f.Add(jsonl)
	f.Fuzz(func(t *testing.T, b []byte) { fuzzDecode(t, b, FormatAttemptLog, Mapping{}) })
}

// FuzzAttemptCSV feeds tables: what is accepted exports to a table that imports
// to the same logs.
func FuzzAttemptCSV(f *testing.F) {
	logs := ownLogs(f)
	f.Add(exportCSV(f, logs[0]))
	f.Add(exportCSV(f, logs[1], logs[8]))
	_, table, _ := exportStated(f)
	f.Add(table)
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzDecode(t, b, FormatAttemptCSV, Mapping{})
		g := fuzzOnce(t, b, FormatAttemptCSV, Mapping{})
		if g == nil || len(g.file.Faults()) > 0 {
			return
		}
		for _, a := range g.attempts {
			back := decode(t, "x", exportCSV(t, a.log), Options{})
			if len(back.attempts) != 1 || !bytes.Equal(back.attempts[0].log, a.log) {
				t.Fatalf("the export of an accepted log comes back otherwise: %v", back.file.Faults())
			}
		}
	})
}

// FuzzJSON compares the reader with encoding/json: what encoding/json accepts, by
// its rules of UTF-8, depth and keys, is read, and canonical output is valid.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,{"b":null}],"c":"\u00e9\\"}`, `[NaN,-Infinity]`, `{"a":1,"a":2}`, `"\ud83d"`, `[[]]`, ` 1 `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		j := newJSONReader(bytes.NewReader(b))
		out := j.canonical("v")
		j.end()
		if j.err == nil && out != nil && !json.Valid(out) {
			t.Fatalf("%q becomes %q", b, out)
		}
		if j.err == nil && len(out) > MaxMessageBytes+64 {
			t.Fatalf("%d bytes", len(out))
		}
		k := newJSONReader(bytes.NewReader(b))
		k.skip()
		k.end()
		if json.Valid(b) && k.err != nil {
			if e, ok := k.err.(*jsonError); !ok || e.code != attemptlog.CodeTooDeep && e.code != CodeValueTooLong && !strings.HasPrefix(string(b), "\xef") {
				t.Fatalf("valid JSON %q is not skipped: %v", b, k.err)
			}
		}
		if json.Valid(b) && j.err != nil {
			if e, ok := j.err.(*jsonError); !ok || e.code == attemptlog.CodeBadJSON {
				t.Fatalf("valid JSON %q is not read: %v", b, j.err)
			}
		}
	})
}

func FuzzRedact(f *testing.F) {
	for _, s := range secretsOf() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		in, err := json.Marshal(s)
		if err != nil {
			return
		}
		out, n := Redact(in)
		if !json.Valid(out) || len(out) > len(in) || n == 0 && !bytes.Equal(in, out) {
			t.Fatalf("%q becomes %q", in, out)
		}
		if _, again := Redact(out); again > 0 && n == 0 {
			t.Fatal("a second look finds more than the first")
		}
	})
}
