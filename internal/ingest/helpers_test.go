package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rebench/internal/attemptlog"
)

func ptr[T any](v T) *T { return &v }

// got is what decoding a file gave, copied so that it outlives the iteration.
type got struct {
	file     *File
	attempts []gotAttempt
}

type gotAttempt struct {
	*Attempt
	log    []byte
	events []attemptlog.Event
	scores []*attemptlog.Score
	sum    attemptlog.Summary
}

// decode reads a file and checks what holds for every file: each attempt's lines
// form a valid log with the summary's head.
func decode(t testing.TB, name string, data []byte, opt Options) got {
	t.Helper()
	f := Open(context.Background(), name, bytes.NewReader(data), int64(len(data)), opt)
	g := got{file: f}
	for a := range f.Attempts() {
		x := gotAttempt{Attempt: a}
		for l := range a.Lines() {
			x.log = append(append(x.log, l.Raw...), '\n')
			e := l.Event
			if s, ok := e.(*attemptlog.Score); ok {
				s = s.Clone()
				x.scores = append(x.scores, s)
				e = s
			}
			x.events = append(x.events, e)
		}
		x.sum = a.Summary()
		g.attempts = append(g.attempts, x)
		if len(a.Faults()) > 0 || len(x.log) == 0 {
			continue
		}
		r := attemptlog.NewReader(bytes.NewReader(x.log), attemptlog.Options{})
		for r.Next() {
		}
		if fs := r.Faults(); len(fs) > 0 {
			t.Fatalf("%s: attempt %s makes an invalid log: %v\n%s", name, a.NativeID, fs, x.log)
		}
		if r.Summary().Head != x.sum.Head {
			t.Fatalf("%s: attempt %s: the summary's head %v is not that of its lines %v", name, a.NativeID, x.sum.Head, r.Summary().Head)
		}
	}
	return g
}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func codes(fs []attemptlog.Fault) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Code)
	}
	return out
}

// places are line, code and field of faults.
func places(fs []attemptlog.Fault) []string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%d %s %s", f.Line, f.Code, f.Field))
	}
	return out
}

func wantPlaces(t testing.TB, what string, fs []attemptlog.Fault, want ...string) {
	t.Helper()
	if got := places(fs); !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q\n%v", what, got, want, attemptlog.Faults(fs))
	}
}

func wantCodes(t testing.TB, what string, fs []attemptlog.Fault, want ...string) {
	t.Helper()
	if got := codes(fs); !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q\n%v", what, got, want, attemptlog.Faults(fs))
	}
}

// kernelMapping says all that a file without identity needs.
func kernelMapping() Mapping {
	return Mapping{AttemptID: "run-7", Environment: "optimize_kernel", Profile: "gpu",
		Agent: &MappingAgent{Name: "tester", Model: "m-1", Scaffold: "modular"}, StartedAt: "2025-03-09T01:00:00", Zone: "UTC"}
}

func extra(t testing.TB, x attemptlog.Extra, key string) string {
	t.Helper()
	v := x.Get(key)
	if v == nil {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}
