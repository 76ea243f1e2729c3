package ingest

import (
	"slices"
	"time"

	"rebench/internal/attemptlog"
)

// vivClock is the branch's clock: wall time less pauses.
type vivClock struct {
	start *time.Time
	spans []vivSpan
	left  []vivSpan // not yet written
}

type vivSpan struct {
	from, to time.Time // to is zero while the pause is open
	t        float64   // seconds on the branch's clock at which it begins
	reason   string
	resume   *time.Time
}

func (a *Attempt) vivPauses(b *vivBranch, start *time.Time) *vivClock {
	p := &vivClock{start: start}
	if start == nil {
		if len(b.pauses) > 0 {
			a.warn(b.line, "pauses", WarnUnscoredStart, "the branch's start is not known, so its %d pauses are left out", len(b.pauses))
		}
		return p
	}
	for _, x := range b.pauses {
		from, to := a.vivTime(b.line, "pauses.start", x.start), a.vivTime(b.line, "pauses.end", x.end)
		if from == nil || to != nil && to.Before(*from) || from.Before(*start) {
			a.fault(b.line, "pauses", CodeBadTime, "", "found a pause from %s to %s, expected it after the branch's start and ending after it starts", x.start.show(), x.end.show())
			continue
		}
		span := vivSpan{from: *from, reason: x.reason.text, resume: to}
		if to != nil {
			span.to = *to
		}
		p.spans = append(p.spans, span)
	}
	slices.SortStableFunc(p.spans, func(x, y vivSpan) int { return x.from.Compare(y.from) })
	for i := range p.spans {
		if i > 0 && (p.spans[i-1].resume == nil || p.spans[i].from.Before(p.spans[i-1].to)) {
			a.fault(b.line, "pauses", attemptlog.CodeUnbalancedPause, "", "found pauses that overlap, expected one after another")
			p.spans = p.spans[:i]
			break
		}
		p.spans[i].t = p.active(p.spans[i].from)
	}
	p.left = p.spans
	return p
}

// active is the branch's clock at an instant.
func (p *vivClock) active(at time.Time) float64 {
	d := at.Sub(*p.start)
	for _, s := range p.spans {
		if !s.from.Before(at) {
			break
		}
		to := at
		if s.resume != nil && s.to.Before(at) {
			to = s.to
		}
		d -= to.Sub(s.from)
	}
	return seconds(d)
}

// take makes the next pause into events.
func (p *vivClock) take(c *clock) []attemptlog.Event {
	s := p.left[0]
	p.left = p.left[1:]
	pause := &attemptlog.Pause{At: &s.from, Reason: s.reason}
	pause.T, _ = c.at(s.t, &pause.Extra)
	if s.resume == nil {
		return []attemptlog.Event{pause}
	}
	return []attemptlog.Event{pause, &attemptlog.Resume{T: pause.T, At: s.resume}}
}
