package ingest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

const scoreHeader = "timestamp,score,message,details\n"

func scoreLog(t testing.TB, m Mapping, rows ...string) got {
	t.Helper()
	return decode(t, "score.log", []byte(scoreHeader+strings.Join(rows, "")), Options{Mapping: m})
}

// row is one row as the writer ends it.
func row(timestamp, score string) string { return timestamp + "," + score + ",{},{}\r\n" }

// The mixed sample, entry by entry.
func TestScoreLogSample(t *testing.T) {
	m := kernelMapping()
	m.StartedAt = "2025-03-09T01:20:00"
	g := decode(t, "score.log", sample(t, "tps__score_v025_mixed.log"), Options{Mapping: m})
	wantPlaces(t, "faults", g.file.Faults())
	wantPlaces(t, "warnings", g.file.Warnings(), "8 value_altered ", "9 clock_went_back timestamp")
	a := g.attempts[0]
	if h := a.Header; h.AttemptID != "run-7" || a.Dataset != DatasetUploads || h.Clock != rebench.ClockWall || h.Scoring.Direction != rebench.Minimize || h.Scoring.StartRaw != nil {
		t.Errorf("header %+v", h)
	}
	if a.sum.Ended || !a.Appendable {
		t.Error("a score log records no end and may grow")
	}
	type entry struct {
		t       float64
		score   float64 // NaN: none
		reason  attemptlog.Reason
		message string
		text    string
	}
	nan := math.NaN()
	want := []entry{
		{600, 0.9917, "", `{"loss":0.9917}`, ""},
		{2400, nan, attemptlog.ReasonTimeout, `{"timeout":true}`, "nan"},
		{4200, nan, attemptlog.ReasonError, `{"error":"bad, \"quoted\"\nsecond line"}`, ""},
		{4200, 0.84, "", `{"loss":0.84,"sub":[null,1]}`, ""},
		{6000, nan, attemptlog.ReasonNaN, `{}`, "inf"},
		{6000, nan, attemptlog.ReasonError, `{}`, "not a number"},
		{7800, 1e-05, "", `{"unicode":"é—😀"}`, ""},
		{7800, 0.5, "", `{"note":"clock went back"}`, ""},
		{54594638, nan, attemptlog.ReasonNaN, `{}`, "nan"},
	}
	for i, w := range want {
		s := a.scores[i]
		if *s.T != w.t || s.Valid != !math.IsNaN(w.score) || s.Valid && *s.Score != w.score || s.Reason != w.reason ||
			string(s.Message) != w.message || extra(t, s.Extra, "raw_text") != w.text || s.Normalized != nil || s.Basis != rebench.BasisRaw {
			t.Errorf("entry %d: t %v score %v reason %q message %s text %q, want %+v", i+1, *s.T, s.Score, s.Reason, s.Message, extra(t, s.Extra, "raw_text"), w)
		}
	}
	if got := string(a.scores[6].Extra.Get("details")); got != `{"big":"12345678901234567890"}` {
		t.Errorf("details with a huge integer are %s", got)
	}
	back := a.scores[7]
	if got := string(back.Extra.Get("t_source")); got != "7600" || back.At.Format(attemptlog.TimeLayout) != "2025-03-09T03:26:40.000Z" {
		t.Errorf("the entry after the clock went back: t_source %s, at %v", got, back.At)
	}
}

func TestScoreLogTruncatedBranchSample(t *testing.T) {
	g := decode(t, "score.log", sample(t, "tps__score_truncbranch.log"), Options{Mapping: kernelMapping()})
	wantPlaces(t, "faults", g.file.Faults())
	s := g.attempts[0].scores
	if s[1].Reason != attemptlog.ReasonNaN || extra(t, s[1].Extra, "raw_text") != "-inf" || s[4].Reason != attemptlog.ReasonOOM {
		t.Errorf("reasons %q %q", s[1].Reason, s[4].Reason)
	}
	if *s[2].Score != 0.30000000000000004 || *s[3].Score != *s[2].Score || *s[2].T != *s[3].T {
		t.Error("identical rows are legitimate and both count")
	}
	if len(s[5].Message) < 20_000 {
		t.Errorf("a long message has %d bytes left", len(s[5].Message))
	}
}

func TestScoreLogNeedsMapping(t *testing.T) {
	f := scoreLog(t, Mapping{}, row("2025-03-09T01:30:00", "1")).file
	want := []string{"attempt_id", "environment", "profile", "agent", "zone", "started_at"}
	if got := f.NeedsMapping(); !slices.Equal(got, want) {
		t.Errorf("needs %q, want %q", got, want)
	}
	for i, x := range f.Faults() {
		if x.Code != CodeMissingMapping || x.Field != want[i] || x.Hint == "" {
			t.Errorf("fault %+v", x)
		}
	}
	m := kernelMapping()
	m.Agent, m.Human = nil, &MappingHuman{Cohort: "lab"}
	if g := scoreLog(t, m, row("2025-03-09T01:30:00", "1")); len(g.file.NeedsMapping()) > 0 || g.attempts[0].Header.Human.Cohort != "lab" {
		t.Error("a human attempt needs no agent")
	}
}

func TestScoreCells(t *testing.T) {
	for text, want := range map[string]float64{
		"1": 1, "-0.5": -0.5, "+2": 2, ".5": 0.5, "5.": 5, "1e-05": 1e-5, "1E3": 1000, " 7 ": 7, "1e-400": 0, "0.30000000000000004": 0.1 + 0.2 - 1e-17,
		"123456789012345678901234567890": 123456789012345678901234567890,
	} {
		s, reason := parseScore(text)
		if s == nil || math.Abs(*s-want) > 1e-12*math.Abs(want) || reason != "" {
			t.Errorf("%q gives %v, %q, want %v", text, s, reason, want)
		}
	}
	for text, want := range map[string]attemptlog.Reason{
		"nan": "nan", "NaN": "nan", "inf": "nan", "-inf": "nan", "+Infinity": "nan", "1e999": "nan", "-1e999": "nan",
		"": "error", "None": "error", "0x1p4": "error", "1_0": "error", "1,5": "error", "0x10": "error", "True": "error", "1e": "error", "--1": "error", "１": "error",
	} {
		if s, reason := parseScore(text); s != nil || reason != want {
			t.Errorf("%q gives %v, %q, want no score and %q", text, s, reason, want)
		}
	}
}

func TestScoreLogZones(t *testing.T) {
	first := func(zone, started, stamp string) (*attemptlog.Score, got) {
		m := kernelMapping()
		m.Zone, m.StartedAt = zone, started
		g := scoreLog(t, m, row(stamp, "1"))
		if len(g.attempts[0].scores) == 0 {
			return nil, g
		}
		return g.attempts[0].scores[0], g
	}
	t.Run("summer time", func(t *testing.T) {
		s, _ := first("America/Los_Angeles", "2025-03-09T01:30:00", "2025-03-09T03:30:00")
		if *s.T != 3600 || s.At.Format(attemptlog.TimeLayout) != "2025-03-09T10:30:00.000Z" {
			t.Errorf("t %v at %v, want one hour: clocks were put forward between", *s.T, s.At)
		}
	})
	t.Run("start with its own zone", func(t *testing.T) {
		s, _ := first("+02:00", "2025-03-09T09:00:00Z", "2025-03-09T12:00:00")
		if *s.T != 3600 {
			t.Errorf("t %v, want 3600", *s.T)
		}
	})
	t.Run("a time that does not exist", func(t *testing.T) {
		_, g := first("America/Los_Angeles", "2025-03-09T01:30:00", "2025-03-09T02:30:00")
		wantPlaces(t, "faults", g.file.Faults(), "2 bad_time timestamp")
	})
	t.Run("a time that occurs twice", func(t *testing.T) {
		m := kernelMapping()
		m.Zone, m.StartedAt = "America/Los_Angeles", "2025-11-02T00:30:00"
		g := scoreLog(t, m, row("2025-11-02T01:30:00", "1"), row("2025-11-02T01:45:00", "1"), row("2025-11-02T01:30:00", "1"))
		var ts []float64
		for _, s := range g.attempts[0].scores {
			ts = append(ts, *s.T)
		}
		// The second 01:30 cannot be before 01:45, so it is the later one.
		if !slices.Equal(ts, []float64{3600, 4500, 7200}) {
			t.Errorf("t = %v, want 3600 4500 7200", ts)
		}
		wantCodes(t, "warnings", g.file.Warnings(), WarnAmbiguousTime, WarnAmbiguousTime, WarnAmbiguousTime)
	})
	t.Run("unknown zone is not UTC", func(t *testing.T) {
		s, g := first("unknown", "2025-03-09T01:00:00", "2025-03-09T02:30:00")
		if *s.T != 5400 || s.At != nil || extra(t, s.Extra, "timestamp") != "2025-03-09T02:30:00" || !g.attempts[0].ZoneUnknown || g.attempts[0].Header.StartedAt != nil {
			t.Errorf("entry %+v", s)
		}
		wantCodes(t, "warnings", g.file.Warnings(), WarnZoneUnknown)
	})
	t.Run("unknown zone against a start in UTC", func(t *testing.T) {
		_, g := first("unknown", "2025-03-09T01:00:00Z", "2025-03-09T02:30:00")
		wantPlaces(t, "faults", g.file.Faults(), "2 bad_time timestamp")
	})
	t.Run("before the start", func(t *testing.T) {
		_, g := first("UTC", "2025-03-09T03:00:00", "2025-03-09T02:30:00")
		wantPlaces(t, "faults", g.file.Faults(), "2 before_start timestamp")
	})
	t.Run("within the second that was cut off", func(t *testing.T) {
		s, _ := first("UTC", "2025-03-09T02:30:00.900", "2025-03-09T02:30:00")
		if *s.T != 0 {
			t.Errorf("t %v, want 0", *s.T)
		}
	})
}

func TestParseZone(t *testing.T) {
	for _, ok := range []string{"UTC", "Z", "GMT", "+02:00", "-0530", "UTC+2", "Europe/Berlin", "unknown"} {
		if z, err := parseZone(ok); err != nil || !z.given {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"Local", "PST", "../../etc/passwd", "/etc/localtime", "+15:00", "+02:60", "Mars/Base"} {
		if _, err := parseZone(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestScoreLogTornRow(t *testing.T) {
	whole := scoreHeader + row("2025-03-09T01:30:00", "1") + "2025-03-09T01:40:00,0.5,\"{\"\"a\"\": {\"\"b\"\": 1}}\",{}\r\n"
	first := len(scoreHeader + row("2025-03-09T01:30:00", "1"))
	for cut := first + 1; cut < len(whole)-1; cut++ {
		g := decode(t, "score.log", []byte(whole[:cut]), Options{Mapping: kernelMapping()})
		if len(g.file.Faults()) > 0 {
			t.Fatalf("cut at %d: faults %v", cut, g.file.Faults())
		}
		want, n := WarnTornRow, 1
		if strings.HasSuffix(whole[:cut], ",{}") || strings.HasSuffix(whole[:cut], ",{}\r") {
			want, n = attemptlog.WarnNoFinalLF, 2
		}
		wantCodes(t, fmt.Sprintf("cut at %d: warnings", cut), g.file.Warnings(), want)
		if len(g.attempts[0].scores) != n {
			t.Fatalf("cut at %d (%q): %d entries, want %d", cut, whole[first:cut], len(g.attempts[0].scores), n)
		}
	}
}

func TestScoreLogShapes(t *testing.T) {
	t.Run("header only", func(t *testing.T) {
		g := scoreLog(t, kernelMapping())
		if len(g.file.Faults()) > 0 || len(g.attempts) != 1 || g.attempts[0].sum.Scores != 0 {
			t.Errorf("faults %v, %d attempts", g.file.Faults(), len(g.attempts))
		}
	})
	t.Run("header without line end, with BOM and CRLF", func(t *testing.T) {
		for _, s := range []string{"timestamp,score,message,details", "\xef\xbb\xbftimestamp,score,message,details\r\n"} {
			if g := decode(t, "x", []byte(s), Options{Mapping: kernelMapping()}); len(g.file.Faults()) > 0 || g.file.Format != FormatScoreLog {
				t.Errorf("%q: %v", s, g.file.Faults())
			}
		}
	})
	t.Run("bare NaN and missing cells", func(t *testing.T) {
		g := scoreLog(t, kernelMapping(), "2025-03-09T01:30:00,1,\"{\"\"a\"\": NaN, \"\"b\"\": [-Infinity]}\",\r\n", "2025-03-09T01:31:00,2\r\n")
		wantPlaces(t, "faults", g.file.Faults())
		s := g.attempts[0].scores[0]
		if string(s.Message) != `{"a":null,"b":[null]}` || string(s.Extra.Get("details")) != "{}" || extra(t, s.Extra, "altered") != `["message.a: NaN was read as null","message.b[0]: -Infinity was read as null"]` {
			t.Errorf("message %s, altered %s", s.Message, s.Extra.Get("altered"))
		}
	})
	t.Run("a cell over 131,072 characters", func(t *testing.T) {
		g := scoreLog(t, kernelMapping(), "2025-03-09T01:30:00,1,\"{\"\"a\"\": \"\""+strings.Repeat("x", 200_000)+"\"\"}\",{}\r\n")
		if s := g.attempts[0].scores[0]; len(s.Message) != 200_008 {
			t.Errorf("message of %d bytes, want 200,008", len(s.Message))
		}
	})
	t.Run("a cell over the limit of a log line", func(t *testing.T) {
		g := scoreLog(t, kernelMapping(), "2025-03-09T01:30:00,1,\"{\"\"a\"\": \"\""+strings.Repeat("x", 2<<20)+"\"\"}\",{}\r\n")
		wantCodes(t, "warnings", g.file.Warnings(), WarnValueAltered)
		if s := g.attempts[0].scores[0]; *s.Score != 1 || !strings.Contains(string(s.Message), "left out") {
			t.Errorf("message %s", s.Message)
		}
	})
	t.Run("message that is no JSON", func(t *testing.T) {
		g := scoreLog(t, kernelMapping(), "2025-03-09T01:30:00,1,oops,{}\r\n")
		wantPlaces(t, "warnings", g.file.Warnings(), "2 not_json message")
		if s := g.attempts[0].scores[0]; string(s.Message) != `"oops"` {
			t.Errorf("message %s", s.Message)
		}
	})
	t.Run("faults", func(t *testing.T) {
		g := scoreLog(t, kernelMapping(), "yesterday,1,{},{}\r\n", row("2025-03-09T01:30:00", "1"), "1\r\n", "a,b,c,d,e\r\n", "2025-03-09T01:30:00,1,\"a\"x,{}\r\n", "2025-03-09T01:30:00,\xff,{},{}\r\n")
		wantPlaces(t, "faults", g.file.Faults(), "2 bad_time timestamp", "4 bad_row ", "5 bad_row ", "6 bad_row ", "7 bad_row ")
	})
	t.Run("a line number counts lines within cells", func(t *testing.T) {
		g := scoreLog(t, kernelMapping(), "2025-03-09T01:30:00,1,\"{\"\"a\"\":\n\n1}\",{}\r\n", "yesterday,1,{},{}\r\n")
		wantPlaces(t, "faults", g.file.Faults(), "5 bad_time timestamp")
	})
}

// A longer file with the same beginning extends the canonical log.
func TestScoreLogGrows(t *testing.T) {
	rows := []string{row("2025-03-09T01:30:00", "1"), row("2025-03-09T01:40:00", "nan"), row("2025-03-09T01:35:00", "3"), row("2025-03-09T02:00:00", "4")}
	last := attemptlog.NoHead
	for n := range rows {
		a := scoreLog(t, kernelMapping(), rows[:n+1]...).attempts[0]
		rel, sum, err := attemptlog.Extends(last, strings.NewReader(string(a.log)))
		if err != nil || n > 0 && rel != attemptlog.RelationExtends {
			t.Errorf("%d rows: %s, %v", n+1, rel, err)
		}
		last = sum.Head
	}
	changed := scoreLog(t, kernelMapping(), append([]string{row("2025-03-09T01:30:00", "9")}, rows[1:]...)...).attempts[0]
	if rel, _, _ := attemptlog.Extends(last, strings.NewReader(string(changed.log))); rel != attemptlog.RelationFork {
		t.Errorf("a changed row gives %s, want a fork", rel)
	}
}

func TestScoreLogJSONLines(t *testing.T) {
	in := `{"timestamp":"2025-03-09T01:30:00","score":0.5,"message":{"a":1},"details":{}}
{"timestamp":"2025-03-09T01:31:00","score":NaN,"message":{"out_of_memory":true},"details":{}}
{"timestamp":"2025-03-09T01:32:00","score":null}
{"timestamp":"2025-03-09T01:33:00","sc`
	g := decode(t, "score.log", []byte(in), Options{Mapping: kernelMapping()})
	wantPlaces(t, "faults", g.file.Faults())
	wantPlaces(t, "warnings", g.file.Warnings(), "4 torn_row ")
	s := g.attempts[0].scores
	if len(s) != 3 || *s[0].Score != 0.5 || s[1].Reason != attemptlog.ReasonOOM || s[2].Valid || g.file.Format != FormatScoreLogNew {
		t.Errorf("entries %+v", s)
	}
}

func TestRawStaysRaw(t *testing.T) {
	m := kernelMapping()
	if s := scoreLog(t, m, row("2025-03-09T01:30:00", "1")).attempts[0]; s.sum.Best.Normalized != nil {
		t.Error("a raw score was normalized by guess")
	}
	m.Scoring = &MappingScoring{StartRaw: ptr(2.0), ReferenceRaw: ptr(1.0)}
	a := scoreLog(t, m, row("2025-03-09T01:30:00", "1.5")).attempts[0]
	if *a.sum.Best.Normalized != 0.5 || a.Header.Scoring.Direction != rebench.Minimize {
		t.Errorf("normalized %v, direction %s", *a.sum.Best.Normalized, a.Header.Scoring.Direction)
	}
}
