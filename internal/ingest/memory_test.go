package ingest

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// repeated is a file of head, block over and over, and tail, made as it is read.
type repeated struct {
	head, block, tail []byte
	blocks            int64
	number            int // bytes of block that hold the block's number, 0 for none
}

func (r *repeated) size() int64 {
	return int64(len(r.head)) + r.blocks*int64(len(r.block)) + int64(len(r.tail))
}

func (r *repeated) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		at := off + int64(n)
		inBlocks := at - int64(len(r.head))
		switch body := r.blocks * int64(len(r.block)); {
		case at < int64(len(r.head)):
			n += copy(p[n:], r.head[at:])
		case inBlocks < body:
			b := r.block
			if r.number > 0 {
				b = bytes.Clone(b)
				i := bytes.IndexByte(b, '#')
				copy(b[i:], fmt.Sprintf("%0*d", r.number, inBlocks/int64(len(b))))
			}
			n += copy(p[n:], b[inBlocks%int64(len(b)):])
		case inBlocks-body < int64(len(r.tail)):
			n += copy(p[n:], r.tail[inBlocks-body:])
		default:
			return n, io.EOF
		}
	}
	return n, nil
}

// Memory does not grow with the file: 48 MiB of each streaming format are decoded
// while the heap stays below 32 MiB more.
func TestMemoryIsBounded(t *testing.T) {
	const size, bound = 48 << 20, 32 << 20
	blocks := func(b []byte) int64 { return size / int64(len(b)) }
	rows := []byte(early("mp4-server_1", "run########", `"human_source":"baseline"`, `"human_source":"`+strings.Repeat("x", 4000)+`"`) + "\n")
	scores := []byte("2025-03-09T01:30:00,0.5,\"{\"\"m\"\": \"\"" + strings.Repeat("x", 500) + "\"\"}\",{}\r\n")
	sample := string(js(t, inspectSampleOf(obj{"messages": "@@"})))
	before, after, _ := strings.Cut(sample, `"@@"`)
	message := []byte(`{"role":"user","content":"` + strings.Repeat("y", 4000) + `"},`)
	log := string(js(t, inspectHeader()))
	for name, r := range map[string]*repeated{
		"METR rows":    {block: rows, blocks: blocks(rows), number: 8},
		"score.log":    {head: []byte(scoreHeader), block: scores, blocks: blocks(scores)},
		"Inspect JSON": {head: []byte(log[:len(log)-1] + `,"samples":[` + before + "["), block: message, blocks: blocks(message), tail: []byte("{}]" + after + "]}")},
		"long line":    {head: []byte(early() + "\n"), block: []byte("["), blocks: size},
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			base, peak := m.HeapAlloc, uint64(0)
			watch := func() { // what is held, not what waits to be collected
				runtime.GC()
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
			stop := make(chan struct{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-stop:
						return
					case <-time.After(50 * time.Millisecond):
						watch()
					}
				}
			}()
			f := Open(t.Context(), "big", r, r.size(), Options{Mapping: kernelMapping(), Constants: PublishedConstants()})
			attempts, entries := 0, 0
			for a := range f.Attempts() {
				attempts++
				entries += a.Summary().Scores
			}
			close(stop)
			<-done
			if f.Err() != nil || attempts == 0 || entries == 0 || (name == "long line") == (len(f.Faults()) == 0) {
				t.Errorf("%d attempts, %d entries, faults %v, error %v", attempts, entries, f.Faults(), f.Err())
			}
			t.Logf("%d KiB held at most beside the test", (int64(peak)-int64(base))>>10)
			if peak > base+bound {
				t.Errorf("the heap grew by %d MiB over %d MiB of file", (peak-base)>>20, r.size()>>20)
			}
		})
	}
}

// One own log with many entries streams as well.
func TestMemoryOfOwnLog(t *testing.T) {
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	pr, pw := io.Pipe()
	go func() {
		w := attemptlog.NewWriter(pw)
		if _, err := w.Append(&attemptlog.Header{AttemptID: "a", Environment: attemptlog.Environment{ID: "optimize_kernel", Profile: "gpu"},
			Agent: &attemptlog.Agent{Name: "x"}, StartedAt: &start, Clock: rebench.ClockWall}); err != nil {
			pw.CloseWithError(err)
			return
		}
		for i := range 100_000 {
			if _, err := w.Append(&attemptlog.Score{T: ptr(float64(i)), Score: ptr(1.0), Basis: rebench.BasisRaw, Valid: true, Message: attemptlog.Text("m")}); err != nil {
				pw.CloseWithError(err)
				return
			}
		}
		pw.Close()
	}()
	r := attemptlog.NewReader(pr, attemptlog.Options{Concatenated: true})
	f := &File{ctx: t.Context(), seen: map[uint64]uint64{}}
	f.faults.max, f.warnings.max = MaxFaults, MaxFaults
	src := &source{name: "x", part: &Part{Name: "x", Format: FormatAttemptLog}}
	var m runtime.MemStats
	var held uint64
	n := 0
	for r.NextLog() {
		f.ownLog(src, r, &states{f: f, src: src}, f.emitter(func(a *Attempt) bool {
			for range a.Lines() {
				if n++; n%20_000 == 0 {
					runtime.GC()
					runtime.ReadMemStats(&m)
					held = max(held, m.HeapAlloc)
				}
			}
			return true
		}))
	}
	if n != 100_001 || held > 32<<20 {
		t.Errorf("%d lines, %d MiB held", n, held>>20)
	}
}
