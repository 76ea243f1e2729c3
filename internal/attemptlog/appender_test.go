package attemptlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rebench/internal/rebench"
)

func openAppend(t *testing.T, path string) (*Appender, Recovery) {
	t.Helper()
	a, rec, err := OpenAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a, rec
}

func TestAppenderResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	events := testEvents()
	for i, e := range events { // a new process for every event
		a, rec := openAppend(t, path)
		if rec.Created != (i == 0) || rec.Lines != int64(i) || rec.TruncatedBytes != 0 {
			t.Fatalf("event %d: recovery = %+v", i, rec)
		}
		if head, err := a.Append(e); err != nil || head.Seq != int64(i) || a.Head() != head {
			t.Fatalf("event %d: head %v, %v", i, head, err)
		}
		a.Close()
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := write(t, events...); !bytes.Equal(got, want) {
		t.Errorf("file is\n%s\nwant\n%s", got, want)
	}
	a, _ := openAppend(t, path)
	if s := a.Summary(); s.Scores != 5 || s.Best.Seq != 6 || a.Header().AttemptID != "a-1" {
		t.Errorf("summary after reopening = %+v", s)
	}
}

// A crash may leave any prefix of the last line; whatever was acknowledged stays.
func TestAppenderCutsEveryTornTail(t *testing.T) {
	events := testEvents()
	acked := write(t, events[:6]...)
	whole := write(t, events[:7]...)
	path := filepath.Join(t.TempDir(), "a.jsonl")
	for cut := len(acked) + 1; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		a, rec, err := OpenAppend(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if rec.TruncatedBytes != int64(cut-len(acked)) || !bytes.Equal(rec.Torn, whole[len(acked):cut]) || rec.Lines != 6 {
			t.Fatalf("cut at %d: recovery = %+v", cut, rec)
		}
		if _, err := a.Append(events[6]); err != nil {
			t.Fatal(err)
		}
		a.Close()
		if got, _ := os.ReadFile(path); !bytes.Equal(got, whole) {
			t.Fatalf("cut at %d: the log did not recover", cut)
		}
	}
}

func TestAppenderTornByFileSystem(t *testing.T) {
	acked := write(t, testEvents()[:6]...)
	path := filepath.Join(t.TempDir(), "a.jsonl")
	for name, tail := range map[string]string{
		"zeros without line feed":   strings.Repeat("\x00", 5000),
		"zeros in a whole line":     `{"type":"score",` + strings.Repeat("\x00", 100) + "}\n",
		"torn before the first LF":  "",
		"longer than a line may be": strings.Repeat("x", 100),
	} {
		t.Run(name, func(t *testing.T) {
			data := append(append([]byte(nil), acked...), tail...)
			want := acked
			if tail == "" {
				data, want = []byte(`{"type":"hea`), nil
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			a, rec := openAppend(t, path)
			defer a.Close()
			if rec.TruncatedBytes != int64(len(data)-len(want)) {
				t.Errorf("recovery = %+v", rec)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
				t.Errorf("file is %q", got)
			}
		})
	}
}

// Damage that a crash cannot explain is never repaired by cutting.
func TestAppenderRefusesDamage(t *testing.T) {
	log := write(t, testEvents()...)
	for name, damage := range map[string]func([]byte) []byte{
		"edited in the middle":    func(b []byte) []byte { return bytes.Replace(b, []byte("0.75"), []byte("0.55"), 1) },
		"last line not an object": func(b []byte) []byte { return append(b, "garbage\n"...) },
		"no line feed for 2 MiB":  func(b []byte) []byte { return append(b, bytes.Repeat([]byte("x"), 2<<20)...) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.jsonl")
			data := damage(append([]byte(nil), log...))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := OpenAppend(path)
			var faults Faults
			if rebench.ErrorCode(err) != rebench.CodeInvalid || !errors.As(err, &faults) {
				t.Errorf("error = %v, want invalid with faults", err)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, data) {
				t.Error("a damaged file was changed")
			}
		})
	}
}

func TestAppenderLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	openAppend(t, path)
	if _, _, err := OpenAppend(path); rebench.ErrorCode(err) != rebench.CodeConflict {
		t.Errorf("second opening gives %v, want conflict", err)
	}
}

func TestAppenderRefusesWithoutTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	a, _ := openAppend(t, path)
	refuse := func(e Event) {
		t.Helper()
		before, _ := os.ReadFile(path)
		if _, err := a.Append(e); rebench.ErrorCode(err) != rebench.CodeInvalid {
			t.Errorf("%s gives %v, want invalid", e.Type(), err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("a refused %s changed the file", e.Type())
		}
	}
	refuse(&Score{T: ptr(1.0), Score: ptr(1.0), Valid: true})
	for _, e := range testEvents()[:3] {
		if _, err := a.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	refuse(testHeader())
	refuse(&Score{T: ptr(10.0), Score: ptr(1.0), Valid: true}) // time goes back
	refuse(&Score{T: ptr(70.0), Valid: true})
	refuse(&Score{T: ptr(70.0), Score: ptr(nan()), Valid: true})
	refuse(&Score{T: ptr(70.0), Score: ptr(1.0), Valid: true, Message: Text("\xff")})
	refuse(&Score{T: ptr(70.0), Score: ptr(1.0), Valid: true, Message: Text(strings.Repeat("x", MaxLineBytes))})
	refuse(&Score{T: ptr(70.0), Score: ptr(1.0), Valid: true, Extra: Extra{{"t", []byte("1")}}})
	refuse(&Resume{T: ptr(70.0)})
	refuse(&Rescore{OfSeq: 3}) // a refused score line is no score line
	if _, err := a.Append(&Score{T: ptr(70.0), Score: ptr(1.0), Valid: true, Message: []byte("{\n\"a\":1}")}); err != nil {
		t.Errorf("a message over several lines is refused: %v", err)
	}
	data, _ := os.ReadFile(path)
	if _, r := readAll(t, data); len(r.Faults()) > 0 || r.Summary().Lines != 4 {
		t.Errorf("log after refusals: %v", r.Faults())
	}
}

func TestAppenderConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	a, _ := openAppend(t, path)
	if _, err := a.Append(testHeader()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 10 {
				if _, err := a.Append(&Score{T: ptr(1.0), Score: ptr(1.0), Valid: true, Message: Text(fmt.Sprint(g, i))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	data, _ := os.ReadFile(path)
	if _, r := readAll(t, data); len(r.Faults()) > 0 || r.Summary().Scores != 40 {
		t.Errorf("faults %v, %d scores", r.Faults(), r.Summary().Scores)
	}
}

func TestAppenderAfterClose(t *testing.T) {
	a, _ := openAppend(t, filepath.Join(t.TempDir(), "a.jsonl"))
	a.Close()
	if _, err := a.Append(testHeader()); err == nil {
		t.Error("a closed log accepts events")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriterStopsAfterFailure(t *testing.T) {
	w := NewWriter(brokenWriter{})
	if _, err := w.Append(testHeader()); rebench.ErrorCode(err) != rebench.CodeInternal {
		t.Errorf("error = %v", err)
	}
	w.out = &bytes.Buffer{}
	if _, err := w.Append(testHeader()); err == nil {
		t.Error("the writer goes on after a lost line")
	}
}
