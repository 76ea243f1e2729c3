package attemptlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"rebench/internal/rebench"
)

// chained joins line bodies into a log with a right chain: the part after
// `"prev":"...",` of each line is given.
func chained(bodies ...string) []byte {
	var b bytes.Buffer
	var prev Hash
	for i, body := range bodies {
		typ, rest, _ := strings.Cut(body, " ")
		line := fmt.Sprintf(`{"type":%q,"seq":%d,"prev":"%s"%s}`, typ, i, prev, rest)
		prev = Hash(sha256.Sum256([]byte(line)))
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

const goodHeader = `header ,"format":"attempt-log","version":1,"attempt_id":"a","environment":{"id":"optimize_kernel","profile":"gpu"},"agent":{"name":"x"},"time_limit_s":1800,"started_at":"2025-01-31T12:00:00.000Z","clock":"active","scoring":{"direction":"max","start_raw":0,"reference_raw":1}`

func codes(fs []Fault) []string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%d %s %s", f.Line, f.Code, f.Field))
	}
	return out
}

func checkCodes(t *testing.T, log []byte, faults, warnings []string) {
	t.Helper()
	_, r := readAll(t, log)
	if got := codes(r.Faults()); fmt.Sprint(got) != fmt.Sprint(faults) {
		t.Errorf("faults = %q, want %q\n%v", got, faults, Faults(r.Faults()))
	}
	if got := codes(r.Warnings()); warnings != nil && fmt.Sprint(got) != fmt.Sprint(warnings) {
		t.Errorf("warnings = %q, want %q", got, warnings)
	}
}

func TestFaultsOfLines(t *testing.T) {
	end := `end ,"t":100,"at":null,"reason":"submitted"`
	for _, c := range []struct {
		name string
		line string // second line of a log
		want string
	}{
		{"valid without score", `score ,"t":1,"valid":true`, "2 bad_value valid"},
		{"valid with reason", `score ,"t":1,"valid":true,"score":1,"reason":"nan"`, "2 bad_value reason"},
		{"unknown reason", `score ,"t":1,"valid":false,"reason":"bored"`, "2 bad_value reason"},
		{"negative normalized", `score ,"t":1,"valid":true,"normalized":-0.5,"basis":"normalized"`, "2 bad_value normalized"},
		{"basis raw without raw", `score ,"t":1,"valid":true,"normalized":0.5`, "2 bad_value basis"},
		{"basis normalized with raw", `score ,"t":1,"valid":true,"normalized":0.5,"score":3,"basis":"normalized"`, "2 bad_value basis"},
		{"basis derived without raw", `score ,"t":1,"valid":true,"normalized":0.5,"basis":"derived"`, "2 bad_value basis"},
		{"no t", `score ,"valid":true,"score":1`, "2 missing_field t"},
		{"t null", `score ,"t":null,"valid":true,"score":1`, "2 bad_value t"},
		{"t negative", `score ,"t":-1,"valid":true,"score":1`, "2 bad_value t"},
		{"t text", `score ,"t":"1","valid":true,"score":1`, "2 bad_type t"},
		{"score bool", `score ,"t":1,"valid":true,"score":true`, "2 bad_type score"},
		{"valid number", `score ,"t":1,"valid":1,"score":1`, "2 bad_type valid"},
		{"score overflow", `score ,"t":1,"valid":true,"score":1e999`, "2 number_range "},
		{"big integer", `score ,"t":1,"valid":true,"score":9007199254740992`, "2 number_range "},
		{"big nested integer", `score ,"t":1,"valid":true,"score":1,"x":[-9007199254740992]`, "2 number_range "},
		{"NaN", `score ,"t":1,"valid":true,"score":NaN`, "2 bad_json "},
		{"hex number", `score ,"t":1,"valid":true,"score":0x10`, "2 bad_json "},
		{"leading zero", `score ,"t":01,"valid":true,"score":1`, "2 bad_json "},
		{"duplicate key", `score ,"t":1,"valid":true,"score":1,"t":2`, "2 duplicate_key "},
		{"duplicate escaped key", `score ,"t":1,"valid":true,"score":1,"\u0074":2`, "2 duplicate_key "},
		{"duplicate nested key", `score ,"t":1,"valid":true,"score":1,"x":{"a":1,"b":2,"a":3}`, "2 duplicate_key "},
		{"lone surrogate", `score ,"t":1,"valid":true,"score":1,"message":"\ud800"`, "2 bad_unicode "},
		{"invalid UTF-8", "score ,\"t\":1,\"valid\":true,\"score\":1,\"message\":\"\xff\"", "2 invalid_utf8 "},
		{"control character", "score ,\"t\":1,\"valid\":true,\"score\":1,\"message\":\"\x01\"", "2 bad_json "},
		{"too deep", `score ,"t":1,"valid":true,"score":1,"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64), "2 too_deep "},
		{"time with offset", `score ,"t":1,"at":"2025-01-31T12:00:01.000+00:00","valid":true,"score":1`, "2 bad_value at"},
		{"time without ms", `score ,"t":1,"at":"2025-01-31T12:00:01Z","valid":true,"score":1`, "2 bad_value at"},
		{"30 February", `score ,"t":1,"at":"2025-02-30T12:00:01.000Z","valid":true,"score":1`, "2 bad_value at"},
		{"short digest", `score ,"t":1,"valid":true,"score":1,"scorer_sha256":"abc"`, "2 bad_value scorer_sha256"},
		{"rescore of nothing", `rescore ,"of_seq":0,"score":1`, "2 bad_reference of_seq"},
		{"rescore of itself", `rescore ,"of_seq":1,"score":1`, "2 bad_reference of_seq"},
		{"resume alone", `resume ,"t":1`, "2 unbalanced_pause type"},
		{"second header", goodHeader, "2 header_repeated type"},
		{"usage fraction", `usage ,"t":1,"tokens":{"input":1.5}`, "2 bad_type tokens.input"},
		{"usage negative", `usage ,"t":1,"tokens":{"input":-1}`, "2 bad_value tokens.input"},
		{"negative cost", `usage ,"t":1,"tokens":{},"cost_usd":-1`, "2 bad_value cost_usd"},
		{"empty type", ` ,"t":1`, "2 bad_value type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkCodes(t, chained(goodHeader, c.line, end), []string{c.want}, []string{})
		})
	}
}

func TestFaultsOfHeader(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"version", `"version":1`, `"version":2`, "1 unsupported_version version"},
		{"format", `attempt-log`, `attempt_log`, "1 bad_value format"},
		{"no attempt id", `"attempt_id":"a",`, ``, "1 missing_field attempt_id"},
		{"empty attempt id", `"attempt_id":"a"`, `"attempt_id":""`, "1 bad_value attempt_id"},
		{"no profile", `,"profile":"gpu"`, ``, "1 missing_field environment.profile"},
		{"no solver", `"agent":{"name":"x"},`, ``, "1 missing_field agent"},
		{"two solvers", `"agent":{"name":"x"},`, `"agent":{"name":"x"},"human":{"cohort":"c"},`, "1 missing_field agent"},
		{"agent text", `{"name":"x"}`, `"x"`, "1 bad_type agent"},
		{"clock", `"clock":"active"`, `"clock":"cpu"`, "1 bad_value clock"},
		{"direction", `"direction":"max"`, `"direction":"up"`, "1 bad_value scoring.direction"},
		{"same scores", `"reference_raw":1`, `"reference_raw":0`, "1 bad_value scoring.reference_raw"},
		{"negative limit", `"time_limit_s":1800`, `"time_limit_s":-1`, "1 bad_value time_limit_s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := strings.Replace(goodHeader, c.old, c.new, 1)
			if h == goodHeader {
				t.Fatal("the case changes nothing")
			}
			checkCodes(t, chained(h, `end ,"t":1,"reason":"unknown"`), []string{c.want}, nil)
		})
	}
}

func TestEveryFaultAtOnce(t *testing.T) {
	checkCodes(t, chained(goodHeader,
		`score ,"t":5,"valid":true`,
		`score ,"t":"x","valid":3,"basis":"odd","at":7`,
		`pause ,"t":10`,
		`pause ,"t":11`,
		`resume ,"t":10`,
		`score ,"t":9,"valid":true,"score":1`,
		`pause ,"t":12`,
		`end ,"t":12,"reason":"bored"`,
		`end ,"t":12,"reason":"error"`,
		`score ,"t":13,"valid":true,"score":1`,
	), []string{
		"2 bad_value valid",
		"3 bad_type t", "3 bad_type valid", "3 bad_value basis", "3 bad_type at",
		"5 unbalanced_pause type",
		"6 time_backwards t",
		"7 time_backwards t",
		"9 bad_value reason",
		"10 unbalanced_pause type",
		"11 after_end type",
	}, nil)
}

func TestChain(t *testing.T) {
	log := write(t, testEvents()...)
	lines := bytes.SplitAfter(log, []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(ls ...[]byte) []byte { return bytes.Join(ls, nil) }

	t.Run("edited line", func(t *testing.T) {
		edited := append([][]byte(nil), lines...)
		edited[6] = bytes.Replace(lines[6], []byte("0.75"), []byte("0.55"), 1)
		checkCodes(t, join(edited...), []string{"8 chain_broken prev"}, nil)
	})
	t.Run("removed line", func(t *testing.T) {
		checkCodes(t, join(join(lines[:7]...), join(lines[8:]...)), []string{"8 bad_seq seq", "8 chain_broken prev"}, nil)
	})
	t.Run("repeated line", func(t *testing.T) {
		checkCodes(t, join(join(lines[:8]...), join(lines[7:]...)), []string{"9 bad_seq seq", "9 chain_broken prev"}, nil)
	})
	t.Run("first prev not zero", func(t *testing.T) {
		bad := bytes.Replace(log, bytes.Repeat([]byte("0"), 64), bytes.Repeat([]byte("1"), 64), 1)
		_, r := readAll(t, bad)
		if got := codes(r.Faults()); len(got) != 2 || got[0] != "1 chain_broken prev" || got[1] != "2 chain_broken prev" {
			t.Errorf("faults = %q", got)
		}
	})
	t.Run("no header", func(t *testing.T) {
		checkCodes(t, chained(`score ,"t":1,"valid":true,"score":1`, `end ,"t":1,"reason":"error"`), []string{"1 header_missing type"}, nil)
	})
	t.Run("PrevAt points at prev", func(t *testing.T) {
		r := NewReader(bytes.NewReader(log), Options{})
		var prev Hash
		for r.Next() {
			l := r.Line()
			if got := string(l.Raw[l.PrevAt : l.PrevAt+64]); got != prev.String() {
				t.Fatalf("line %d: PrevAt gives %q, want %s", l.Number, got, prev)
			}
			prev = l.Hash
		}
	})
	t.Run("head is the last line's hash", func(t *testing.T) {
		_, r := readAll(t, log)
		want := sha256.Sum256(bytes.TrimSuffix(lines[len(lines)-1], []byte("\n")))
		if r.Summary().Head != (Head{13, Hash(want)}) {
			t.Errorf("head = %v", r.Summary().Head)
		}
	})
}

func TestLineEnds(t *testing.T) {
	log := write(t, testEvents()...)
	wantHead := func(t *testing.T, r *Reader) {
		t.Helper()
		_, whole := readAll(t, log)
		if r.Summary().Head != whole.Summary().Head {
			t.Error("head differs from that of the plain file")
		}
	}
	t.Run("CRLF and BOM", func(t *testing.T) {
		odd := append([]byte("\xef\xbb\xbf"), bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n"))...)
		_, r := readAll(t, odd)
		if len(r.Faults()) > 0 || fmt.Sprint(codes(r.Warnings())) != "[1 bom  1 crlf  10 after_time_limit t]" {
			t.Errorf("faults %v, warnings %v", r.Faults(), r.Warnings())
		}
		wantHead(t, r)
	})
	t.Run("no final line feed", func(t *testing.T) {
		_, r := readAll(t, log[:len(log)-1])
		if len(r.Faults()) > 0 || fmt.Sprint(codes(r.Warnings())) != "[10 after_time_limit t 14 no_final_newline ]" {
			t.Errorf("faults %v, warnings %v", r.Faults(), r.Warnings())
		}
		wantHead(t, r)
	})
	t.Run("every cut of the last line is torn", func(t *testing.T) {
		last := bytes.LastIndexByte(log[:len(log)-1], '\n') + 1
		for cut := last + 1; cut < len(log)-1; cut++ {
			_, r := readAll(t, log[:cut])
			if got := codes(r.Faults()); len(got) != 1 || got[0] != "14 torn_line " {
				t.Fatalf("cut at %d: %q", cut, got)
			}
		}
	})
	t.Run("empty line", func(t *testing.T) {
		checkCodes(t, append(log, "\n \n"...), []string{"15 empty_line ", "16 empty_line "}, nil)
	})
	t.Run("empty file", func(t *testing.T) {
		checkCodes(t, nil, []string{"0 empty_file "}, []string{})
	})
}

func TestClockWarning(t *testing.T) {
	score := func(t float64, at string) string {
		return fmt.Sprintf(`score ,"t":%v,"at":"2025-01-31T12:%s.000Z","valid":true,"score":1`, t, at)
	}
	pause := `pause ,"t":60,"at":"2025-01-31T12:01:00.000Z"`
	resume := `resume ,"t":60,"at":"2025-01-31T12:11:00.000Z"`
	end := `end ,"t":100,"reason":"submitted"`
	checkCodes(t, chained(goodHeader, score(62, "01:00"), score(62, "01:04"), end), nil, []string{})
	checkCodes(t, chained(goodHeader, score(62.001, "01:00"), score(90, "01:00"), end), nil, []string{"2 clock_drift t"})
	checkCodes(t, chained(goodHeader, pause, resume, score(70, "11:10"), end), nil, []string{})
	checkCodes(t, chained(goodHeader, pause, resume, score(80, "11:10"), end), nil, []string{"4 clock_drift t"})
	// at may go back as long as t does not.
	checkCodes(t, chained(goodHeader, score(61, "01:01"), score(61, "01:00"), end), nil, []string{})
	// With another clock nothing can be said.
	wall := strings.Replace(goodHeader, `"active"`, `"wall"`, 1)
	checkCodes(t, chained(wall, score(500, "01:00"), `end ,"t":600,"reason":"submitted"`), nil, []string{})
}

func TestUnknownClockAllowsNoTimes(t *testing.T) {
	h := strings.Replace(goodHeader, `"active"`, `"unknown"`, 1)
	log := chained(h, `score ,"t":null,"valid":true,"score":2`, `end ,"t":null,"reason":"unknown"`)
	_, r := readAll(t, log)
	if len(r.Faults()) > 0 {
		t.Fatal(r.Faults())
	}
	if s := r.Summary(); s.FirstT != nil || *s.Best.Raw != 2 || *s.Best.Normalized != 2 {
		t.Errorf("summary = %+v", s)
	}
}

func TestOpenLogWarns(t *testing.T) {
	checkCodes(t, chained(goodHeader, `pause ,"t":1`), nil, []string{"2 no_end "})
}

func TestRankingOfEntries(t *testing.T) {
	score := func(raw, normalized string) string {
		basis := "raw"
		if raw == "null" {
			basis = "normalized"
		}
		return fmt.Sprintf(`score ,"t":1,"valid":true,"score":%s,"normalized":%s,"basis":%q`, raw, normalized, basis)
	}
	none := strings.Replace(goodHeader, `,"scoring":{"direction":"max","start_raw":0,"reference_raw":1}`, ``, 1)
	min := strings.Replace(goodHeader, `"direction":"max","start_raw":0,"reference_raw":1`, `"direction":"min"`, 1)
	flip := strings.Replace(goodHeader, `"start_raw":0,"reference_raw":1`, `"start_raw":2,"reference_raw":1`, 1)
	for _, c := range []struct {
		name, header string
		entries      []string
		best         int64
	}{
		{"higher raw", goodHeader, []string{score("0.5", "null"), score("0.7", "null"), score("0.6", "null")}, 2},
		{"tie goes to the earlier", goodHeader, []string{score("0.7", "null"), score("0.7", "null")}, 1},
		{"below the start, both clip to 0", goodHeader, []string{score("-2", "null"), score("-1", "null"), score("-3", "null")}, 2},
		{"lower raw", min, []string{score("5", "null"), score("3", "null"), score("4", "null")}, 2},
		{"the two scores decide over direction", flip, []string{score("1.9", "null"), score("1.1", "null"), score("1.5", "null")}, 2},
		{"direction unknown, normalized known", none, []string{score("1", "0.2"), score("2", "0.1")}, 1},
		{"normalized beside raw with known start", goodHeader, []string{score("0.5", "null"), score("null", "0.6")}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, r := readAll(t, chained(append([]string{c.header}, c.entries...)...))
			if len(r.Faults()) > 0 {
				t.Fatal(r.Faults())
			}
			if s := r.Summary(); s.Best.Seq != c.best || s.Last.Seq != int64(len(c.entries)) {
				t.Errorf("best %d, last %d, want %d, %d", s.Best.Seq, s.Last.Seq, c.best, len(c.entries))
			}
		})
	}
}

func TestLastInvalid(t *testing.T) {
	_, r := readAll(t, chained(goodHeader, `score ,"t":1,"valid":true,"score":1`, `score ,"t":2,"valid":false,"reason":"nan"`))
	if s := r.Summary(); !s.LastInvalid || s.Last.Seq != 1 {
		t.Errorf("LastInvalid = %v, last = %+v", s.LastInvalid, s.Last)
	}
}

func TestConcatenated(t *testing.T) {
	a, b := write(t, testEvents()...), write(t, testHeader())
	bad := chained(goodHeader, `score ,"t":1,"valid":true`)
	// A header whose prev is missing still starts a log, and its fault is that log's.
	noPrev := []byte(`{"type":"header","seq":0` + strings.TrimPrefix(goodHeader, "header ") + "}\n")
	stream := bytes.Join([][]byte{a, b, bad, noPrev, a}, nil)
	r := NewReader(bytes.NewReader(stream), Options{Concatenated: true})
	var got []string
	for r.NextLog() {
		n := 0
		for r.Next() {
			n++
		}
		got = append(got, fmt.Sprintf("%d lines, head %d, faults %q", n, r.Summary().Head.Seq, codes(r.Faults())))
	}
	want := []string{
		`14 lines, head 13, faults []`,
		`1 lines, head 0, faults []`,
		`1 lines, head 1, faults ["17 bad_value valid"]`,
		`0 lines, head 0, faults ["18 missing_field prev"]`,
		`14 lines, head 13, faults []`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	skip := NewReader(bytes.NewReader(stream), Options{Concatenated: true})
	logs := 0
	for skip.NextLog() {
		logs++
	}
	if logs != 5 {
		t.Errorf("NextLog alone finds %d logs, want 5", logs)
	}
	if NewReader(strings.NewReader(""), Options{Concatenated: true}).NextLog() {
		t.Error("an empty stream has a log")
	}
}

func TestExtends(t *testing.T) {
	events := testEvents()
	head := func(n int) Head {
		_, r := readAll(t, write(t, events[:n]...))
		return r.Summary().Head
	}
	log := write(t, events...)
	fork := append([]Event(nil), events...)
	fork[2] = &Score{T: ptr(61.0), At: at(61), Basis: rebench.BasisRaw, Reason: ReasonOOM}
	for _, c := range []struct {
		name string
		old  Head
		log  []byte
		want Relation
	}{
		{"nothing known", NoHead, log, RelationNew},
		{"same", head(len(events)), log, RelationSame},
		{"append", head(5), log, RelationExtends},
		{"fork in the middle", head(5), write(t, fork...), RelationFork},
		{"fork after the old head", head(2), write(t, fork...), RelationExtends},
		{"shorter", head(len(events)), write(t, events[:5]...), RelationShorter},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := Extends(c.old, bytes.NewReader(c.log))
			if got != c.want || err != nil {
				t.Errorf("Extends = %v, %v, want %v", got, err, c.want)
			}
		})
	}
	var faults Faults
	if _, _, err := Extends(NoHead, strings.NewReader("{}\n")); !errors.As(err, &faults) {
		t.Errorf("a faulty log gives %v, want Faults", err)
	}
}

func TestFaultCap(t *testing.T) {
	bodies := []string{goodHeader}
	for range 3 * MaxFaults {
		bodies = append(bodies, `score ,"t":1,"valid":true`)
	}
	_, r := readAll(t, chained(bodies...))
	f := r.Faults()
	if len(f) != MaxFaults+1 || f[MaxFaults].Code != CodeTooManyFaults {
		t.Errorf("%d faults, last %v", len(f), f[len(f)-1])
	}
}

// endless is a line of n bytes without an end, made as it is read.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	for i := range p[:n] {
		p[i] = '['
	}
	e.left -= n
	return int(n), nil
}

func TestLongLine(t *testing.T) {
	fill := func(n int) string {
		return `score ,"t":1,"valid":true,"score":1,"message":"` + strings.Repeat("x", n) + `"`
	}
	base := len(chained(goodHeader, fill(0))) - len(chained(goodHeader)) - 1
	rest := `end ,"t":1,"reason":"submitted"`
	checkCodes(t, chained(goodHeader, fill(MaxLineBytes-base), rest), nil, []string{})
	checkCodes(t, bytes.ReplaceAll(chained(goodHeader, fill(MaxLineBytes-base), rest), []byte("\n"), []byte("\r\n")), nil, []string{"1 crlf "})
	// The chain over a line that was not held cannot be checked, the rest can.
	checkCodes(t, chained(goodHeader, fill(MaxLineBytes-base+1), rest), []string{"2 line_too_long "}, []string{})

	r := NewReader(&endless{1 << 30}, Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for r.Next() {
	}
	runtime.ReadMemStats(&after)
	if got := codes(r.Faults()); len(got) != 1 || got[0] != "1 line_too_long " {
		t.Errorf("a line of 1 GiB gives %q", got)
	}
	if d := after.TotalAlloc - before.TotalAlloc; d > 16<<20 {
		t.Errorf("a line of 1 GiB allocates %d bytes", d)
	}
}

func TestReadError(t *testing.T) {
	broken := io.MultiReader(bytes.NewReader(write(t, testHeader())), iotestErr{})
	r := NewReader(broken, Options{})
	for r.Next() {
	}
	if r.Err() == nil {
		t.Error("a read error is lost")
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errors.New("disk gone") }

func TestFaultText(t *testing.T) {
	f := Fault{File: "a.log", Line: 3, Column: 9, Field: "t", Code: CodeBadType, Detail: "found x", Hint: "y"}
	if got := f.Error(); got != "a.log:3:9: t: found x (bad_type)" {
		t.Errorf("Error() = %q", got)
	}
	js, _ := json.Marshal(f)
	if want := `{"file":"a.log","line":3,"column":9,"field":"t","code":"bad_type","detail":"found x","hint":"y"}`; string(js) != want {
		t.Errorf("JSON = %s, want %s", js, want)
	}
	if got := (Faults{f, f}).Error(); !strings.HasSuffix(got, "(and 1 more)") {
		t.Errorf("Faults.Error() = %q", got)
	}
}
