package ingest

import (
	"bytes"
	"crypto/sha256"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// decodeAttemptLog reads one attempt log v1, or several one after another.
func (f *File) decodeAttemptLog(src *source, emit emit) {
	stated := &states{f: f, src: src}
	r := attemptlog.NewReader(contextReader{f.ctx, src.reader()}, attemptlog.Options{File: src.name, Concatenated: true,
		Aside: func(number int, line []byte) bool {
			if !isState(line) {
				return false
			}
			stated.add(number, line)
			return true
		}})
	none := true
	for r.NextLog() {
		none = false
		if !f.ownLog(src, r, stated, emit) {
			return
		}
	}
	stated.rest()
	if none { // not one line could be read: the faults are of no log
		for _, x := range r.Faults() {
			f.addFault(x)
		}
	}
	if err := r.Err(); err != nil {
		f.stop(err)
	}
}

// lineReader yields the lines of one log; attemptlog.Reader is one.
type lineReader interface {
	Next() bool
	Line() *attemptlog.Line
	Header() *attemptlog.Header
	Err() error
	Faults() []attemptlog.Fault
	Warnings() []attemptlog.Fault
	Summary() attemptlog.Summary
}

// ownLog hands on one attempt log; false means to stop.
func (f *File) ownLog(src *source, r lineReader, stated *states, emit emit) bool {
	var h *attemptlog.Header
	if r.Next() {
		h, _ = r.Line().Event.(*attemptlog.Header)
	}
	if h == nil { // without a header there is no attempt, only what is wrong with it
		for r.Next() {
		}
		for _, x := range r.Faults() {
			f.addFault(x)
		}
		if err := r.Err(); err != nil {
			f.stop(err)
		}
		return f.err == nil && len(f.faults.list) < MaxFaults
	}
	a := &Attempt{File: src.name, Format: src.part.Format, Line: r.Line().Number, Header: h, Appendable: true, part: src.part}
	a.Dataset, a.NativeID = identity(h)
	a.State = stated.take(h.AttemptID)
	a.run = func(yield func(*attemptlog.Line)) { a.passThrough(r, yield) }
	if !emit(a) {
		return false
	}
	if err := r.Err(); err != nil {
		f.stop(err)
	}
	return f.err == nil
}

// passThrough yields a log's own lines. From the first line with a secret on,
// lines are chained anew, since redacting one changes its hash.
func (a *Attempt) passThrough(r lineReader, yield func(*attemptlog.Line)) {
	var chain rechain
	a.checkHeader()
	n := redactHeader(a.Header)
	for more := true; more; more = r.Next() {
		l := r.Line()
		if s, ok := l.Event.(*attemptlog.Score); ok {
			if hinted(s) {
				n = redactEvent(s)
			}
		} else if _, ok := l.Event.(*attemptlog.Header); !ok {
			n = redactEvent(l.Event)
		}
		a.Redactions += n
		yield(chain.next(l, n > 0))
		n = 0
	}
	a.faults = append(a.faults, r.Faults()...)
	a.warnings = append(a.warnings, r.Warnings()...)
	a.summary = r.Summary()
	if chain.on {
		a.summary.Head.Hash = chain.prev
	}
	a.tellRedactions()
}

// hinted is a cheap test for entries that may hold a secret.
func hinted(s *attemptlog.Score) bool {
	if suspicious(s.Message) {
		return true
	}
	for _, m := range s.Extra {
		if suspicious(m.Value) {
			return true
		}
	}
	return false
}

// suspicious reports whether text is long enough for a secret and has a part of
// one.
func suspicious(b []byte) bool {
	if len(b) < minSecretBytes {
		return false
	}
	for i := range secrets {
		if bytes.Contains(b, secrets[i].hint) {
			return true
		}
	}
	return false
}

// rechain rewrites the chain from a changed line on.
type rechain struct {
	on   bool
	prev attemptlog.Hash
	line attemptlog.Line
}

func (c *rechain) next(l *attemptlog.Line, changed bool) *attemptlog.Line {
	if !c.on && !changed {
		c.prev = l.Hash
		return l
	}
	raw := bytes.Clone(l.Raw)
	copy(raw[l.PrevAt:], c.prev.String())
	if changed {
		raw, _ = Redact(raw)
	}
	c.on = true
	c.prev = attemptlog.Hash(sha256.Sum256(raw))
	c.line = *l
	c.line.Raw, c.line.Hash = raw, c.prev
	return &c.line
}

// checkHeader applies the rules that this server has for logs beyond the format.
func (a *Attempt) checkHeader() {
	h := a.Header
	if !validID(h.AttemptID) {
		a.fault(a.Line, "attempt_id", attemptlog.CodeBadValue, "", "found %s, expected %s", quote(h.AttemptID), idRule)
	}
	if _, ok := rebench.EnvironmentByID(rebench.EnvironmentID(h.Environment.ID)); !ok {
		a.fault(a.Line, "environment.id", CodeUnknownEnvironment, "", "found %s, expected one of %s", quote(h.Environment.ID), environmentNames())
	}
	if !validProfile(h.Environment.Profile) {
		a.fault(a.Line, "environment.profile", attemptlog.CodeBadValue, "", "found %s, expected paper, gpu or cpu", quote(h.Environment.Profile))
	}
	if h.Agent != nil && h.Agent.Name == rebench.HumanName {
		a.fault(a.Line, "agent.name", attemptlog.CodeBadValue, "give people in human", "found human, expected the name of an AI agent")
	}
}
