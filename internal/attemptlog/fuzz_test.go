package attemptlog

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func nan() float64 { return math.NaN() }

// FuzzReader feeds any bytes: no panic; and what is accepted can be written
// again to a log that reads back to the same events and summary.
func FuzzReader(f *testing.F) {
	var log bytes.Buffer
	w := NewWriter(&log)
	for _, e := range testEvents() {
		if _, err := w.Append(e); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(log.Bytes())
	f.Add(log.Bytes()[:log.Len()-10])
	f.Add(bytes.ReplaceAll(log.Bytes(), []byte("\n"), []byte("\r\n")))
	f.Add(chained(goodHeader, `score ,"t":1,"valid":true`, `pause ,"t":1`, `odd ,"x":{"y":[1e5,"\u00e9\n"]}`, `end ,"t":2,"reason":"error"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, r := readAll(t, data)
		if len(r.Faults()) > 0 {
			return
		}
		var again bytes.Buffer
		w := NewWriter(&again)
		for _, e := range events {
			if _, err := w.Append(e); err != nil {
				t.Fatalf("an accepted %s is refused when written: %v", e.Type(), err)
			}
		}
		events2, r2 := readAll(t, again.Bytes())
		if len(r2.Faults()) > 0 {
			t.Fatal(r2.Faults())
		}
		if diff := cmp.Diff(events, events2); diff != "" {
			t.Fatalf("events differ after a round trip:\n%s", diff)
		}
		a, b := r.Summary(), r2.Summary()
		a.Bytes, b.Bytes, a.Head, b.Head = 0, 0, Head{}, Head{}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("summary %+v after a round trip %+v", a, b)
		}
	})
}

// FuzzLine chains any object body onto a header, so that the fuzzer gets past
// the hash chain.
func FuzzLine(f *testing.F) {
	for _, e := range testEvents()[1:] {
		f.Add(e.Type() + " " + string(e.appendFields(nil)))
	}
	f.Add(`score ,"t":1e-300,"valid":true,"score":-0.0,"message":"\ud83d\ude00"`)
	f.Fuzz(func(t *testing.T, body string) {
		if strings.ContainsAny(body, "\n\r") {
			return
		}
		events, r := readAll(t, chained(goodHeader, body))
		if len(r.Faults()) > 0 {
			return
		}
		w := NewWriter(&bytes.Buffer{})
		for _, e := range events {
			if _, err := w.Append(e); err != nil {
				t.Fatalf("an accepted %s is refused when written: %v", e.Type(), err)
			}
		}
	})
}

// FuzzScanner compares the scanner's verdict on grammar with encoding/json.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,2.5e-3,{"b":null}],"c":"\u00e9\\"}`, `{"a":1,"a":2}`, `{"a":01}`, `{"a":"\ud800"}`,
		`{"a":9007199254740993}`, `{"a":1e400}`, "{\"a\":\"\xff\"}", `{"a":tru}`, `{"a":"` + strings.Repeat(`\"x`, 9) + `"}`, ` { "a" : -0 } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > MaxLineBytes || bytes.IndexByte(b, '\n') >= 0 {
			return
		}
		var s scanner
		members, err := s.line(b, nil)
		if err == nil {
			var m map[string]json.RawMessage
			if jerr := json.Unmarshal(b, &m); jerr != nil {
				t.Fatalf("accepted %q, encoding/json says %v", b, jerr)
			}
			if len(m) != len(members) {
				t.Fatalf("%d members of %q, encoding/json finds %d", len(members), b, len(m))
			}
			for _, x := range members {
				if string(m[string(x.key)]) != string(b[x.val.start:x.val.end]) {
					t.Fatalf("member %q is %q, encoding/json has %q", x.key, b[x.val.start:x.val.end], m[string(x.key)])
				}
			}
			return
		}
		if err.code == CodeBadJSON && json.Valid(b) && len(bytes.TrimSpace(b)) > 0 && bytes.TrimSpace(b)[0] == '{' {
			t.Fatalf("refused %q as bad JSON (%s), encoding/json accepts it", b, err.detail)
		}
	})
}
