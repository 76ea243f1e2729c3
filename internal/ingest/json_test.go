package ingest

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"rebench/internal/attemptlog"
)

func canonicalOf(in string) (string, []string, error) {
	j := newJSONReader(strings.NewReader(in))
	out := j.canonical("v")
	j.end()
	return string(out), j.takeNotes(), j.err
}

func TestCanonicalJSON(t *testing.T) {
	for in, want := range map[string]string{
		` {"a" : [1, 2.50, -0, 1e5, "x\u00e9\n"] , "b":null} `: `{"a":[1,2.50,-0,1e5,"xé\n"],"b":null}`,
		`null`:                     ``, /* nil */
		`[NaN,Infinity,-Infinity]`: `[null,null,null]`,
		`9007199254740991`:         `9007199254740991`,
		`9007199254740992`:         `"9007199254740992"`,
		`-12345678901234567890`:    `"-12345678901234567890"`,
		`1e999`:                    `"1e999"`,
		`"\ud83d\ude00"`:           `"😀"`,
		`"\ud83d"`:                 "\"\uFFFD\"",
		strings.Repeat("[", 61) + strings.Repeat("]", 61): strings.Repeat("[", 60) + `"[left out: nested too deep]"` + strings.Repeat("]", 60),
		`"` + strings.Repeat("x", MaxMessageBytes) + `"`:  `"[left out: longer than 262144 bytes]"`,
	} {
		got, notes, err := canonicalOf(in)
		if err != nil || got != want {
			t.Errorf("%.60q gives %.80q, %v, want %.80q", in, got, err, want)
		}
		if altered := strings.Contains(want, "null,") || strings.HasPrefix(want, `"9`) || strings.Contains(want, "left out") || strings.Contains(want, "\uFFFD"); altered && len(notes) == 0 {
			t.Errorf("%.60q is altered without a note", in)
		}
	}
}

func TestJSONErrorsTellThePlace(t *testing.T) {
	for in, want := range map[string]struct {
		line, column int
		code         string
	}{
		"{\n \"a\": tru}":        {2, 10, attemptlog.CodeBadJSON},
		"{\"a\":1,\n\"a\":2}":    {2, 4, attemptlog.CodeDuplicateKey},
		"[1,]":                   {1, 4, attemptlog.CodeBadJSON},
		"[1 2]":                  {1, 4, attemptlog.CodeBadJSON},
		"{\"a\" 1}":              {1, 6, attemptlog.CodeBadJSON},
		"{1:2}":                  {1, 2, attemptlog.CodeBadJSON},
		"\"abc":                  {1, 5, attemptlog.CodeBadJSON},
		"\"a\x01\"":              {1, 3, attemptlog.CodeBadJSON},
		"\"\\x\"":                {1, 2, attemptlog.CodeBadJSON},
		"\"\xff\"":               {1, 4, attemptlog.CodeInvalidUTF8},
		"1 2":                    {1, 3, attemptlog.CodeBadJSON},
		"":                       {1, 1, attemptlog.CodeBadJSON},
		strings.Repeat("[", 600): {1, 514, attemptlog.CodeTooDeep},
	} {
		j := newJSONReader(strings.NewReader(in))
		j.walk()
		j.end()
		e, ok := j.err.(*jsonError)
		if !ok || e.code != want.code || e.line != want.line || e.column != want.column {
			t.Errorf("%.40q gives %v, want %s at %d:%d", in, j.err, want.code, want.line, want.column)
		}
	}
}

// walk reads any value key by key.
func (j *jsonReader) walk() {
	switch j.peek() {
	case '{':
		j.object(func(string) { j.walk() })
	case '[':
		j.array(func(int) { j.walk() })
	default:
		j.scalar()
	}
}

// Reading byte by byte, in blocks, from memory, and skipping agree.
func TestJSONReadersAgree(t *testing.T) {
	in := `{"a":[1,{"b":"x\"\\\ud83d\ude00y"},NaN],"c":{"d":[[],{}]},"e":"` + strings.Repeat("long ", 40_000) + `"}`
	want, _, err := canonicalOf(in)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{"one byte": iotest.OneByteReader(strings.NewReader(in)), "half": iotest.HalfReader(strings.NewReader(in)), "data with EOF": iotest.DataErrReader(strings.NewReader(in))} {
		j := newJSONReader(r)
		if got := string(j.canonical("v")); got != want || j.err != nil {
			t.Errorf("%s: %v", name, j.err)
		}
	}
	for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(in)), strings.NewReader(in)} {
		j := newJSONReader(r)
		j.skip()
		if j.end(); j.err != nil {
			t.Errorf("skip: %v", j.err)
		}
	}
}

func TestCSVReader(t *testing.T) {
	read := func(in string) (rows [][]string, problems []csvProblem) {
		c := newCSVReader(iotest.OneByteReader(strings.NewReader(in)))
		for {
			cells, ok := c.next()
			if !ok {
				return rows, problems
			}
			var row []string
			for _, b := range cells {
				row = append(row, string(b))
			}
			rows, problems = append(rows, row), append(problems, c.problem)
		}
	}
	rows, problems := read("\xef\xbb\xbfa,b\r\n\"x\"\"y\",\"l\r\nm\",\r\n\"\",\n,\nlast,\"q\"")
	want := [][]string{{"a", "b"}, {`x"y`, "l\r\nm", ""}, {"", ""}, {"", ""}, {"last", "q"}}
	if a, b := toJSON(rows), toJSON(want); a != b {
		t.Errorf("rows %s, want %s", a, b)
	}
	if problems[4] != csvNoLF || problems[1] != "" {
		t.Errorf("problems %q", problems)
	}
	for in, want := range map[string]csvProblem{"a\"b\n": csvQuote, "\"a\"b\n": csvQuote, "\"ab": csvTorn, "\xff\n": csvUTF8, "a": csvNoLF,
		"\"" + strings.Repeat("x", MaxCellBytes+1) + "\"\n": csvTooLong, strings.Repeat(",", MaxCells) + "\n": csvTooMany} {
		if _, p := read(in); len(p) != 1 || p[0] != want {
			t.Errorf("%.20q gives %q, want %q", in, p, want)
		}
	}
}

func toJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestRowReader(t *testing.T) {
	long := strings.Repeat("y", MaxRowBytes)
	in := "\xef\xbb\xbfone\r\n\n" + long + "\n" + long + "y\r\n" + long + "yyy\nlast"
	r := newRowReader(iotest.HalfReader(bytes.NewReader([]byte(in))))
	var got []int
	torn := false
	for {
		row, ok := r.next()
		if !ok {
			break
		}
		if r.tooLong {
			got = append(got, -1)
			continue
		}
		got, torn = append(got, len(row)), r.torn
	}
	if want := []int{3, 0, MaxRowBytes, -1, -1, 4}; toJSON(got) != toJSON(want) || !torn {
		t.Errorf("rows of %v bytes, want %v", got, want)
	}
}
