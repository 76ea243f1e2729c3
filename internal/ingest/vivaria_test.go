package ingest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

func vivaria(t testing.TB, in string) got {
	t.Helper()
	m := kernelMapping()
	m.StartedAt, m.Zone = "", ""
	return decode(t, "scores.json", []byte(in), Options{Mapping: m})
}

type vivEntry struct {
	t, score float64 // score NaN: none
	reason   attemptlog.Reason
	at       string
}

func checkViv(t *testing.T, a gotAttempt, want ...vivEntry) {
	t.Helper()
	if len(a.scores) != len(want) {
		t.Fatalf("%d entries, want %d", len(a.scores), len(want))
	}
	for i, w := range want {
		s := a.scores[i]
		at := ""
		if s.At != nil {
			at = s.At.Format(attemptlog.TimeLayout)
		}
		if *s.T != w.t || s.Valid != !math.IsNaN(w.score) || s.Valid && *s.Score != w.score || s.Reason != w.reason || at != w.at {
			t.Errorf("entry %d: t %v valid %v score %v reason %q at %s, want %+v", i+1, *s.T, s.Valid, s.Score, s.Reason, at, w)
		}
	}
}

var none = math.NaN()

func TestVivariaAgentView(t *testing.T) {
	rows := `[{"score":1,"message":{"message":"message 1"},"elapsedSeconds":10,"scoredAt":"2024-09-10T20:02:20.000Z"},
{"score":null,"message":{"message":"message 2"},"elapsedSeconds":20.5,"scoredAt":"2024-09-10T20:02:30.000Z"},
{"message":{},"elapsedSeconds":30,"scoredAt":"2024-09-10T20:02:40.000Z"}]`
	want := []vivEntry{{10, 1, "", "2024-09-10T20:02:20.000Z"}, {20.5, none, attemptlog.ReasonHidden, "2024-09-10T20:02:30.000Z"}, {30, none, attemptlog.ReasonHidden, "2024-09-10T20:02:40.000Z"}}
	for name, in := range map[string]string{
		"bare":      rows,
		"wrapped":   `{"result":{"data":` + rows + `}}`,
		"batch":     `[{"result":{"data":` + rows + `}}]`,
		"superjson": `{"result":{"data":{"json":` + rows + `,"meta":{"values":{"0.scoredAt":["Date"]}}}}}`,
		"BOM":       "\xef\xbb\xbf" + rows,
	} {
		t.Run(name, func(t *testing.T) {
			g := vivaria(t, in)
			wantPlaces(t, "faults", g.file.Faults())
			checkViv(t, g.attempts[0], want...)
			if string(g.attempts[0].scores[0].Message) != `{"message":"message 1"}` || g.attempts[0].Header.Clock != rebench.ClockActive {
				t.Errorf("message %s", g.attempts[0].scores[0].Message)
			}
		})
	}
}

func TestVivariaUsersView(t *testing.T) {
	g := vivaria(t, `[{"index":5,"score":0.5,"elapsedTime":61500,"createdAt":1725998550123,"scoredAt":"2024-09-10T20:02:20.000Z","message":{},"details":{"d":1}}]`)
	wantPlaces(t, "faults", g.file.Faults())
	checkViv(t, g.attempts[0], vivEntry{61.5, 0.5, "", "2024-09-10T20:02:20.000Z"}) // elapsedTime is in ms
	s := g.attempts[0].scores[0]
	if string(s.Extra.Get("index")) != "5" || string(s.Extra.Get("details")) != `{"d":1}` || string(s.Extra.Get("created_at")) != "1725998550123" {
		t.Errorf("extra %s", s.Extra)
	}
}

func TestVivariaRawView(t *testing.T) {
	g := vivaria(t, `[{"runId":17,"agentBranchNumber":0,"scoredAt":1725998540000,"elapsedTime":1000,"score":"NaN"},
{"runId":17,"agentBranchNumber":1,"scoredAt":1725998541000,"elapsedTime":2000,"score":2},
{"runId":17,"agentBranchNumber":0,"scoredAt":1725998542000,"elapsedTime":3000,"score":"-Infinity"}]`)
	wantPlaces(t, "faults", g.file.Faults())
	if len(g.attempts) != 2 {
		t.Fatalf("%d attempts, want two branches", len(g.attempts))
	}
	checkViv(t, g.attempts[0], vivEntry{1, none, attemptlog.ReasonNaN, "2024-09-10T20:02:20.000Z"}, vivEntry{3, none, attemptlog.ReasonNaN, "2024-09-10T20:02:22.000Z"})
	checkViv(t, g.attempts[1], vivEntry{2, 2, "", "2024-09-10T20:02:21.000Z"})
	if a := g.attempts[1]; a.Dataset != DatasetVivaria || a.NativeID != "17-1" || a.Header.AttemptID != "vivaria:17-1" {
		t.Errorf("identity %s %s", a.Dataset, a.NativeID)
	}
	if extra(t, g.attempts[0].scores[0].Extra, "raw_text") != "NaN" {
		t.Error("the raw text is lost")
	}
}

func TestVivariaBranch(t *testing.T) {
	// Started at 20:00:00; paused from 20:01 to 20:11. A score called at 20:12 is at 120 s.
	g := vivaria(t, `{"runId":17,"agentBranchNumber":2,"startedAt":1725998400000,
"usageLimits":{"tokens":-1,"actions":1000,"total_seconds":28800,"cost":-1},
"pauses":[{"start":1725998460000,"end":1725999060000,"reason":"humanIntervention"},{"start":1725999200000,"end":null,"reason":"pyhooksRetry"}],
"scoreLog":[{"scoredAt":1725998430000,"score":1},{"scoredAt":1725999120000,"score":2}]}`)
	wantPlaces(t, "faults", g.file.Faults())
	wantPlaces(t, "warnings", g.file.Warnings())
	a := g.attempts[0]
	checkViv(t, a, vivEntry{30, 1, "", "2024-09-10T20:00:30.000Z"}, vivEntry{120, 2, "", "2024-09-10T20:12:00.000Z"})
	var types []string
	for _, e := range a.events {
		types = append(types, e.Type())
	}
	if want := []string{"header", "score", "pause", "resume", "score", "pause"}; !slices.Equal(types, want) {
		t.Errorf("events %q, want %q", types, want)
	}
	if *a.Header.TimeLimitS != 28800 || a.sum.PausedFor.Seconds() != 600 || !a.sum.Paused {
		t.Errorf("limit %v, paused %v", *a.Header.TimeLimitS, a.sum.PausedFor)
	}
	if p := a.events[5].(*attemptlog.Pause); *p.T != 200 || p.Reason != "pyhooksRetry" {
		t.Errorf("second pause %+v at %v, want 200 s", p, *p.T)
	}
	unlimited := vivaria(t, `{"runId":1,"usageLimits":{"total_seconds":-1},"scoreLog":[]}`)
	if unlimited.attempts[0].Header.TimeLimitS != nil {
		t.Error("-1 is no limit")
	}
}

func TestVivariaEmpty(t *testing.T) {
	for _, in := range []string{`[]`, `{"result":{"data":[]}}`} {
		g := vivaria(t, in)
		if len(g.file.Faults()) > 0 || len(g.attempts) != 1 || g.attempts[0].sum.Scores != 0 {
			t.Errorf("%s: faults %v, %d attempts", in, g.file.Faults(), len(g.attempts))
		}
	}
}

func TestVivariaHiddenScores(t *testing.T) {
	for in, want := range map[string]string{
		`[{"score":null,"elapsedSeconds":10},{"elapsedSeconds":20}]`:           UnscoredHidden,
		`[{"score":null,"elapsedSeconds":10},{"score":3,"elapsedSeconds":20}]`: "",
		`[{"score":"NaN","elapsedSeconds":10}]`:                                "",
	} {
		a := vivaria(t, in).attempts[0]
		if a.Unscored != want || (a.sum.HiddenScores > 0) != strings.Contains(in, "null") {
			t.Errorf("%s: unscored %q, %d hidden", in, a.Unscored, a.sum.HiddenScores)
		}
	}
}

func TestVivariaOrder(t *testing.T) {
	g := vivaria(t, `[{"score":1,"elapsedSeconds":10},{"score":2,"elapsedSeconds":5},{"score":3,"elapsedSeconds":11}]`)
	wantCodes(t, "warnings", g.file.Warnings(), WarnClockBack)
	checkViv(t, g.attempts[0], vivEntry{10, 1, "", ""}, vivEntry{10, 2, "", ""}, vivEntry{11, 3, "", ""})
}

func TestVivariaNeeds(t *testing.T) {
	f := decode(t, "x", []byte(`[{"score":1,"scoredAt":"2024-09-10T20:02:20.000Z"}]`), Options{}).file
	if got, want := f.NeedsMapping(), []string{"attempt_id", "environment", "profile", "agent", "started_at"}; !slices.Equal(got, want) {
		t.Errorf("needs %q, want %q", got, want)
	}
	m := kernelMapping()
	m.StartedAt = "2024-09-10T20:00:00Z"
	a := decode(t, "x", []byte(`[{"score":1,"scoredAt":"2024-09-10T20:02:20.000Z"}]`), Options{Mapping: m}).attempts[0]
	if *a.scores[0].T != 140 {
		t.Errorf("t %v, want 140", *a.scores[0].T)
	}
}

func TestVivariaFaults(t *testing.T) {
	for in, want := range map[string]string{
		`[{"score":1,"message":{}}]`:                                                         "1 missing_field ",
		`[{"score":1,"elapsedSeconds":-5}]`:                                                  "1 before_start elapsedSeconds",
		`[{"score":1,"elapsedSeconds":5,"scoredAt":"2024-09-10 20:02"}]`:                     "1 bad_time scoredAt",
		`[{"score":1,"elapsedSeconds":5,"scoredAt":"2024-09-10T20:02:20"}]`:                  "1 bad_time scoredAt",
		"[{\"score\":1,\"elapsedSeconds\":5},\n7]":                                           "2 bad_type ",
		`[{"score":1,"elapsedSeconds":5}`:                                                    "1 bad_json ",
		`[{"score":1,"elapsedSeconds":5}] x`:                                                 "1 bad_json ",
		`[{"score":1,"elapsedSeconds":5,"score":2}]`:                                         "1 duplicate_key ",
		`[{"elapsedSeconds":1,"x":` + strings.Repeat("[", 1_000_000):                         "1 too_deep ",
		`{"runId":1,"startedAt":1725998400000,"pauses":[{"start":1,"end":2}],"scoreLog":[]}`: "1 bad_time pauses",
		`{"runId":1,"startedAt":1725998400000,"pauses":[{"start":1725998401000,"end":null},{"start":1725998402000,"end":null}],"scoreLog":[]}`: "1 unbalanced_pause pauses",
	} {
		t.Run(in[:min(len(in), 60)], func(t *testing.T) {
			wantPlaces(t, "faults", vivaria(t, in).file.Faults(), want)
		})
	}
	if s := vivaria(t, `[{"score":{"a":1},"elapsedSeconds":5}]`).attempts[0].scores[0]; s.Valid || s.Reason != attemptlog.ReasonError {
		t.Errorf("a score that is an object gives %+v", s)
	}
}
