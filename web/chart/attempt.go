package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"rebench/internal/rebench"
)

// Pause is a stretch of an attempt that does not count. AtS is the elapsed time in
// seconds at which it began; the elapsed clock stands still for Length unless the
// attempt's clock is the wall's. Length is 0 where it is unknown.
type Pause struct {
	AtS    float64
	Length time.Duration
}

// Attempt plots one attempt: the score it would have been given at each moment as
// a step curve, every valid entry as a dot, invalid entries below the axis, pauses,
// the time limit and the end. Call it again as entries arrive.
func Attempt(a *rebench.Attempt, label string, pauses []Pause, src Source) *Figure {
	env, _ := rebench.EnvironmentByID(a.Environment)
	b := attemptBuilder{a: a, label: label, style: StyleOf(label), selection: env.Selection,
		f: &Figure{Source: src, zoom: true, Height: 380}, p: &panel{}}
	b.f.panels = []*panel{b.p}
	b.f.Title = "How did the score grow over the attempt?"
	b.f.Subtitle = sentence(", ", shownName(label), environmentTitle(a.Environment), b.limitText())
	b.split()
	if n, last := b.dropBeyond(); n > 0 {
		verb := "lie"
		if n == 1 {
			verb = "lies"
		}
		b.f.Notes = append(b.f.Notes, fmt.Sprintf("%s %s beyond the axis, which ends at %g times the time limit; the last is at %s. The table lists all.",
			rebench.Count(n, "entry"), verb, beyondLimit, duration(int64(last))))
	}
	b.axes()
	b.curve()
	b.entries()
	b.frame(pauses)
	b.words()
	return b.f.finish()
}

type attemptBuilder struct {
	a         *rebench.Attempt
	label     string
	style     Style
	selection rebench.Selection
	f         *Figure
	p         *panel

	valid, invalid []rebench.ScoreEntry // with known elapsed time, in order of it
	untimed        []rebench.ScoreEntry
	strip          float64 // y of invalid entries, below 0
	last           float64 // latest known elapsed time in seconds
}

func (b *attemptBuilder) limitText() string {
	if b.a.TimeLimit <= 0 {
		return "time limit unknown"
	}
	return "limit " + duration(int64(b.a.TimeLimit.Seconds()))
}

// split sorts entries by what is known of them.
func (b *attemptBuilder) split() {
	for _, e := range b.a.Entries {
		switch {
		case e.Valid && known(e.Normalized) == nil:
			b.f.dropped++
		case e.Elapsed == nil:
			b.untimed = append(b.untimed, e)
		case e.Valid:
			b.valid = append(b.valid, e)
		default:
			b.invalid = append(b.invalid, e)
		}
		if e.Elapsed != nil {
			b.last = math.Max(b.last, e.Elapsed.Seconds())
		}
	}
	byTime := func(x, y rebench.ScoreEntry) int {
		return cmp.Or(cmp.Compare(*x.Elapsed, *y.Elapsed), cmp.Compare(x.Seq, y.Seq))
	}
	slices.SortStableFunc(b.valid, byTime)
	slices.SortStableFunc(b.invalid, byTime)
	b.last = math.Max(b.last, b.a.Duration.Seconds())
}

func (b *attemptBuilder) axes() {
	ys := []float64{0, 1}
	for _, e := range b.a.Entries {
		for _, v := range []*float64{known(e.Normalized), known(e.Rescored)} {
			if v != nil && e.Valid {
				ys = append(ys, *v)
			}
		}
	}
	high := slices.Max(ys)
	b.p.y = linearAxis("Normalized score", 0, high*1.04, 6)
	if len(b.invalid) > 0 {
		b.strip = -0.07 * b.p.y.max
		b.p.y.min = 2 * b.strip
		b.p.y.ticks = append(b.p.y.ticks, tick{value: b.strip, label: "invalid", minor: true})
	}
	b.p.x = elapsedAxis("Elapsed time"+b.clockText(), b.axisEnd()*1.02)
	b.p.refs = scoreRefs(false)
}

// beyondLimit is how far past the time limit the axis may reach, in limits: one late
// entry with a broken clock would else squeeze the attempt into a line.
const beyondLimit = 1.25

// axisEnd is the last moment that is drawn, in seconds.
func (b *attemptBuilder) axisEnd() float64 {
	limit := b.a.TimeLimit.Seconds()
	if limit <= 0 {
		return b.last
	}
	return math.Max(math.Min(b.last, beyondLimit*limit), limit)
}

// dropBeyond takes out the entries past the axis and returns their number and the
// time of the last.
func (b *attemptBuilder) dropBeyond() (n int, last float64) {
	end := b.axisEnd()
	past := func(e rebench.ScoreEntry) bool {
		if e.Elapsed.Seconds() <= end {
			return false
		}
		n, last = n+1, math.Max(last, e.Elapsed.Seconds())
		return true
	}
	b.valid, b.invalid = slices.DeleteFunc(b.valid, past), slices.DeleteFunc(b.invalid, past)
	return n, last
}

func (b *attemptBuilder) clockText() string {
	switch b.a.Clock {
	case rebench.ClockActive, rebench.ClockWorking:
		return " without pauses"
	case rebench.ClockWall:
		return " on the wall clock"
	}
	return ""
}

// curve is the score the attempt has at each moment, from 0 for the starting solution.
func (b *attemptBuilder) curve() {
	if len(b.valid) == 0 && len(b.invalid) == 0 {
		return
	}
	now := 0.0
	pts := []xy{{0, 0}}
	for _, e := range b.valid {
		if b.a.TimeLimit > 0 && *e.Elapsed > b.a.TimeLimit {
			continue // began after the limit: does not count
		}
		if b.selection == rebench.SelectLast {
			now = *e.Normalized
		} else {
			now = math.Max(now, *e.Normalized)
		}
		pts = append(pts, xy{e.Elapsed.Seconds(), now})
	}
	end := b.last
	if b.a.TimeLimit > 0 {
		end = math.Min(end, b.a.TimeLimit.Seconds())
	}
	pts = append(pts, xy{math.Max(end, pts[len(pts)-1].x), now})
	b.p.lines = append(b.p.lines, line{group: b.label, token: b.style.Token, width: 2, opacity: 1, pts: pts, steps: true})
}

func (b *attemptBuilder) entries() {
	for _, e := range b.valid {
		m := b.mark(e, e.Elapsed.Seconds(), *e.Normalized)
		if b.a.TimeLimit > 0 && *e.Elapsed > b.a.TimeLimit {
			m.hollow, m.opacity = true, 0.7
			m.tip.rows = append(m.tip.rows, [2]string{"Does not count", "scored after the time limit"})
		}
		b.f.add(b.p, m)
		if r := known(e.Rescored); r != nil {
			t := &tip{title: "Re-scored on fresh draws", rows: [][2]string{{"Score", Score(*r)}, {"First scored", Score(*e.Normalized)}}}
			b.f.add(b.p, mark{group: b.label, token: TokenInk, marker: MarkerDiamond, size: 12, hollow: true, x: e.Elapsed.Seconds(), y: *r, tip: t, key: fmt.Sprintf("rescore %d", e.Seq)})
			if !slices.ContainsFunc(b.f.key, func(k keyEntry) bool { return k.marker == MarkerDiamond }) {
				b.f.key = append(b.f.key, keyEntry{text: "re-scored on fresh draws", token: TokenInk, marker: MarkerDiamond, hollow: true})
			}
		}
	}
	for _, e := range b.invalid {
		m := b.mark(e, e.Elapsed.Seconds(), b.strip)
		m.marker, m.token, m.size = MarkerCross, "vermillion", 9
		b.f.add(b.p, m)
	}
	at := b.a.TimeLimit.Seconds()
	if at <= 0 {
		at = b.p.x.max
	}
	for _, e := range b.untimed {
		if !e.Valid {
			continue
		}
		b.p.lines = append(b.p.lines, line{group: b.label, token: b.style.Token, width: 1.5, dash: dotted, opacity: 0.8, pts: []xy{{0, *e.Normalized}, {at, *e.Normalized}}})
		m := b.mark(e, at, *e.Normalized)
		m.hollow = true
		m.tip.rows = append(m.tip.rows, [2]string{"Time", "unknown; counts at the time limit"})
		b.f.add(b.p, m)
	}
}

// mark is one entry; its key is the "t=5400" of the page's address.
func (b *attemptBuilder) mark(e rebench.ScoreEntry, x, y float64) mark {
	t := &tip{title: fmt.Sprintf("Entry %d", e.Seq)}
	key := fmt.Sprintf("seq=%d", e.Seq)
	if e.Elapsed != nil {
		t.rows = append(t.rows, [2]string{"Elapsed", duration(int64(e.Elapsed.Seconds()))})
		key = fmt.Sprintf("t=%d", int64(e.Elapsed.Seconds()))
	}
	if e.Valid {
		t.rows = append(t.rows, [2]string{"Score", Score(*e.Normalized)})
	} else {
		t.rows = append(t.rows, [2]string{"Invalid", fit(plain(e.Reason), 12, 420)})
	}
	if r := known(e.Raw); r != nil {
		t.rows = append(t.rows, [2]string{"Raw score", fmt.Sprintf("%.6g", *r)})
	}
	if e.Message != "" {
		t.rows = append(t.rows, [2]string{"Message", fit(plain(e.Message), 12, 420)})
	}
	return mark{group: b.label, token: b.style.Token, marker: b.style.Marker, size: 8, x: x, y: y, tip: t, key: key}
}

// frame draws pauses, time limit and end. Names of pauses that would run into each
// other are left out; the page lists them.
func (b *attemptBuilder) frame(pauses []Pause) {
	crowded := false
	for i := 1; i < len(pauses); i++ {
		crowded = crowded || pauses[i].AtS-pauses[i-1].AtS < 0.15*b.p.x.max
	}
	for _, p := range pauses {
		if !finite(p.AtS) || p.AtS < 0 || p.AtS > b.p.x.max {
			continue
		}
		s := span{from: p.AtS, to: p.AtS, label: "paused", token: TokenInk, opacity: 0.1}
		if crowded {
			s.label = ""
		} else if p.Length >= time.Second {
			s.label += " " + duration(int64(p.Length.Seconds()))
		}
		if b.a.Clock == rebench.ClockWall {
			s.to = math.Min(p.AtS+p.Length.Seconds(), b.p.x.max)
		}
		b.p.spans = append(b.p.spans, s)
	}
	if l := b.a.TimeLimit.Seconds(); l > 0 {
		b.p.refs = append(b.p.refs, ref{vertical: true, value: l, label: "time limit", token: TokenInk, width: 1, dash: []float64{4, 3}, opacity: 0.6})
	}
	if b.a.EndedAt != nil && b.a.Duration > 0 && b.a.Duration.Seconds() <= b.p.x.max {
		text := "end"
		if b.a.EndReason != "" {
			text = "end: " + plain(b.a.EndReason)
		}
		b.p.refs = append(b.p.refs, ref{vertical: true, value: b.a.Duration.Seconds(), label: text, token: TokenInk, width: 1, opacity: 0.8, atEnd: true})
	}
}

func (b *attemptBuilder) words() {
	f := b.f
	rule := "the best valid entry so far"
	if b.selection == rebench.SelectLast {
		rule = "the last valid entry so far"
	}
	f.HowToRead = "The line is the score that would count at each moment: " + rule + ". Dots are valid entries, crosses invalid ones."
	if len(b.a.Entries) == 0 {
		f.Empty = "No score entries yet."
		f.Alt = f.Empty
		return
	}
	if len(b.untimed) > 0 && len(b.valid)+len(b.invalid) == 0 {
		f.HowToRead = "Only the final score is known, not when it was reached: the dotted line says no more than that."
	}
	f.Alt = fmt.Sprintf("Step chart of the score over elapsed time: %d timed valid, %d invalid and %d untimed entries.", len(b.valid), len(b.invalid), len(b.untimed))
	if b.a.FinalKnown {
		f.Alt += " Final score " + Score(b.a.Final) + "."
	}
}
