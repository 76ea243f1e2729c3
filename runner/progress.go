package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// progress shows long work on standard error: bars that are redrawn on a
// terminal, else one line whenever a tenth more is done.
type progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	quiet    bool
	bars     []*bar
	drawn    int // lines of bars on the terminal now
}

// bar is one piece of work.
type bar struct {
	p        *progress
	title    string
	fraction float64 // 0..1; negative: unknown
	text     string
	begin    time.Time
	tenth    int
	shown    bool
}

func newProgress(f *os.File, quiet bool) *progress {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return &progress{w: f, terminal: err == nil && os.Getenv("TERM") != "dumb", quiet: quiet}
}

// start shows a new piece of work.
func (p *progress) start(format string, args ...any) *bar {
	b := &bar{p: p, title: fmt.Sprintf(format, args...), fraction: -1, begin: time.Now(), tenth: -1}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bars = append(p.bars, b)
	p.redraw()
	return b
}

// set says how far the work is, as a fraction of 1 and in words.
func (b *bar) set(fraction float64, format string, args ...any) {
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	b.fraction, b.text = fraction, fmt.Sprintf(format, args...)
	if b.p.terminal {
		b.p.redraw()
		return
	}
	if t := int(fraction * 10); t != b.tenth {
		b.tenth = t
		b.p.line(b.String())
	}
}

// finish takes the work off the display.
func (b *bar) finish() {
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	for i, other := range b.p.bars {
		if other == b {
			b.p.bars = append(b.p.bars[:i], b.p.bars[i+1:]...)
			break
		}
	}
	b.p.redraw()
}

// note prints a line that stays.
func (p *progress) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.line(fmt.Sprintf(format, args...))
	p.redraw()
}

func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bars = nil
	p.redraw()
}

func (p *progress) line(s string) {
	if !p.quiet {
		fmt.Fprintln(p.w, s)
	}
}

func (p *progress) erase() {
	if p.drawn > 0 {
		fmt.Fprintf(p.w, "\x1b[%dA\x1b[J", p.drawn)
		p.drawn = 0
	}
}

func (p *progress) redraw() {
	if !p.terminal || p.quiet {
		return
	}
	p.erase()
	for _, b := range p.bars {
		fmt.Fprintln(p.w, cutLine(b.String(), 100))
		p.drawn++
	}
}

// barWidth is the number of cells of a bar.
const barWidth = 20

func (b *bar) String() string {
	passed := time.Since(b.begin).Round(time.Second)
	if b.fraction < 0 {
		return fmt.Sprintf("%s ... %v %s", b.title, passed, b.text)
	}
	full := min(barWidth, int(b.fraction*barWidth))
	return fmt.Sprintf("[%s%s] %3.0f%% %s %s (%v)", strings.Repeat("#", full), strings.Repeat(".", barWidth-full),
		min(1, b.fraction)*100, b.title, b.text, passed)
}

func cutLine(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
