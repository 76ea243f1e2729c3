package attempt

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseRequest(t *testing.T) {
	good := map[string]Op{
		`{"op":"score"}`:                OpScore,
		`{"op":"log"}`:                  OpLog,
		" {\t\"op\" : \"remaining\" } ": OpRemaining,
		`{"\u006fp":"\u0073core"}`:      OpScore, // the same JSON, written oddly
	}
	for in, want := range good {
		if got, err := parseRequest([]byte(in)); err != nil || got != want {
			t.Errorf("%s: %q, %v; expected %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		``, ` `, `null`, `[]`, `"score"`, `score`, `{}`, `{"op":"score"`, `{"op":"score"}}`, `{"op":"score"}{"op":"score"}`,
		`{"op":"score"} x`, `{"op":"score","op":"score"}`, `{"op":"score","seed":1}`, `{"seed":1,"op":"score"}`,
		`{"OP":"score"}`, `{"Op":"score"}`, `{"op":"SCORE"}`, `{"op":""}`, `{"op":null}`, `{"op":1}`, `{"op":["score"]}`,
		`{"op":{"op":"score"}}`, `{"op":"score",}`, `{'op':'score'}`, `{op:"score"}`, `{"op":"score"}#`, `{"op":"score"}/*c*/`,
		"{\"op\":\"score\x00\"}", `{"op":"stop"}`, strings.Repeat(`{"op":`, 1000),
	} {
		if got, err := parseRequest([]byte(in)); err == nil {
			t.Errorf("%s was taken as %q", in, got)
		}
	}
}

// What parses as a request must be JSON with exactly the one member, by an
// independent reading.
func FuzzParseRequest(f *testing.F) {
	for _, s := range []string{`{"op":"score"}`, `{"op":"log"} `, `{"op":"score","op":"log"}`, `{"x":1}`, `[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		op, err := parseRequest(line)
		if err != nil {
			return
		}
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("taken, but not JSON: %q", line)
		}
		if len(m) != 1 || m["op"] != string(op) {
			t.Fatalf("taken as %q, but holds %v", op, m)
		}
		if op != OpScore && op != OpLog && op != OpRemaining {
			t.Fatalf("unknown op %q", op)
		}
	})
}
