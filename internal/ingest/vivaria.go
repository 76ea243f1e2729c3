package ingest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// vivRow is one scoring of a Vivaria branch.
type vivRow struct {
	line             int
	run, branch      scalar
	score            scalar
	elapsedS         scalar // seconds
	elapsedMs        scalar // milliseconds, the users' form
	scoredAt         scalar
	createdAt, index scalar
	message, details json.RawMessage
	notes            []string
	isRow            bool
}

// vivPause is a pause of a branch in epoch milliseconds.
type vivPause struct {
	start, end scalar
	reason     scalar
}

// vivBranch is one agent branch: an attempt.
type vivBranch struct {
	line        int
	run, branch scalar
	startedAt   scalar
	limits      map[string]scalar
	pauses      []vivPause
	rows        []vivRow
	source      attemptlog.Extra
}

func (b *vivBranch) named() bool { return b.run.present() || b.startedAt.present() || b.limits != nil }

// vivReader reads any of the shapes that Vivaria's score logs come in: a list of
// rows, rows wrapped in {"result":{"data":...}}, branches with a scoreLog, or
// rows that name their run and branch themselves.
type vivReader struct {
	j    *jsonReader
	held int // rows read
}

// vivLists are the keys under which rows or branches lie.
var vivLists = map[string]bool{"result": true, "data": true, "json": true, "rows": true, "scoreLog": true, "score_log": true}

// value reads one value and returns the branches and the loose rows in it. list
// reports whether it held a list of rows at all, be it empty.
func (v *vivReader) value() (branches []vivBranch, rows []vivRow, list bool) {
	switch v.j.peek() {
	case '[':
		list = true
		v.j.array(func(int) {
			if v.j.peek() != '{' {
				v.j.fail(attemptlog.CodeBadType, "found %s, expected a row of a score log", v.j.found())
				return
			}
			b, r, l := v.value()
			if len(b) == 0 && len(r) == 0 && !l {
				v.j.fail(attemptlog.CodeMissingField, "found an object without scoredAt, elapsedSeconds or elapsedTime, expected a row of a score log")
			}
			branches, rows = append(branches, b...), append(rows, r...)
		})
	case '{':
		branches, rows, list = v.object()
	default:
		v.j.skip()
	}
	return branches, rows, list
}

func (v *vivReader) object() ([]vivBranch, []vivRow, bool) {
	j := v.j
	own := vivBranch{}
	row := vivRow{}
	var branches []vivBranch
	var rows []vivRow
	list := false
	j.peek()
	own.line, row.line = j.line, j.line
	j.object(func(key string) {
		if vivLists[key] {
			b, r, l := v.value()
			branches, rows, list = append(branches, b...), append(rows, r...), list || l
			return
		}
		v.field(key, &own, &row)
	})
	row.notes = j.takeNotes()
	switch {
	case row.isRow && !list:
		if v.held++; v.held > MaxEntries {
			j.fail(CodeTooManyEntries, "found more than %d rows", MaxEntries)
		}
		row.run, row.branch = own.run, own.branch
		return nil, []vivRow{row}, true
	case list && own.named():
		own.rows = rows
		return append(branches, own), nil, true
	}
	return branches, rows, list
}

// field reads one key of a row or branch.
func (v *vivReader) field(key string, own *vivBranch, row *vivRow) {
	j := v.j
	into := func(dst *scalar, isRow bool) {
		*dst = j.scalar()
		row.isRow = row.isRow || isRow
	}
	switch key {
	case "runId":
		into(&own.run, false)
	case "agentBranchNumber":
		into(&own.branch, false)
	case "startedAt":
		into(&own.startedAt, false)
	case "score":
		into(&row.score, false)
	case "elapsedSeconds":
		into(&row.elapsedS, true)
	case "elapsedTime":
		into(&row.elapsedMs, true)
	case "scoredAt":
		into(&row.scoredAt, true)
	case "createdAt":
		into(&row.createdAt, false)
	case "index":
		into(&row.index, false)
	case "message":
		row.message = j.canonical(key)
	case "details":
		row.details = j.canonical(key)
	case "usageLimits":
		own.limits = map[string]scalar{}
		if j.peek() == '{' {
			j.object(func(k string) { own.limits[k] = j.scalar() })
		}
	case "pauses":
		v.pauses(own)
	}
}

func (v *vivReader) pauses(own *vivBranch) {
	if v.j.peek() != '[' {
		return
	}
	v.j.array(func(int) {
		var p vivPause
		if v.j.peek() != '{' {
			return
		}
		v.j.object(func(k string) {
			switch k {
			case "start":
				p.start = v.j.scalar()
			case "end":
				p.end = v.j.scalar()
			case "reason":
				p.reason = v.j.scalar()
			}
		})
		if v.held++; v.held > MaxEntries {
			v.j.fail(CodeTooManyEntries, "found more than %d rows and pauses", MaxEntries)
		}
		own.pauses = append(own.pauses, p)
	})
}

// decodeVivaria reads a Vivaria score log.
func (f *File) decodeVivaria(src *source, emit emit) {
	in := &countingReader{r: contextReader{f.ctx, src.reader()}, left: MaxHeldBytes}
	v := &vivReader{j: newJSONReader(in)}
	var branches []vivBranch
	var rows []vivRow
	for first := true; first || v.j.err == nil && v.j.peek() == '{'; first = false {
		b, r, _ := v.value()
		branches, rows = append(branches, b...), append(rows, r...)
	}
	v.j.end()
	if errors.Is(v.j.err, errTooLarge) {
		f.addFault(attemptlog.Fault{File: src.name, Code: CodeTooManyEntries, Detail: fmt.Sprintf("found a score log of more than %d bytes", MaxHeldBytes)})
		return
	}
	if v.j.err != nil {
		f.jsonFailed(src, v.j.err)
		return
	}
	branches = append(branches, byBranch(rows)...)
	if len(branches) == 0 { // the log of a branch that has no scores yet
		branches = []vivBranch{{line: 1}}
	}
	for i := range branches {
		if !emit(f.vivAttempt(src, &branches[i])) {
			return
		}
	}
}

// jsonFailed reports a JSON text that could not be read: the file's fault, or an
// I/O error.
func (f *File) jsonFailed(src *source, err error) {
	if _, ok := err.(*jsonError); ok {
		f.addFault(jsonFault(src.name, err))
		return
	}
	f.readFailed(src, err)
}

// byBranch groups loose rows by the branch that they name, in order.
func byBranch(rows []vivRow) []vivBranch {
	var out []vivBranch
	at := map[[2]string]int{}
	for _, r := range rows {
		k := [2]string{r.run.text, r.branch.text}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, vivBranch{line: r.line, run: r.run, branch: r.branch})
		}
		out[i].rows = append(out[i].rows, r)
	}
	return out
}

// vivAttempt turns a branch into an attempt.
func (f *File) vivAttempt(src *source, b *vivBranch) *Attempt {
	a := &Attempt{File: src.name, Format: FormatVivaria, Line: b.line, Appendable: true, Source: b.source, part: src.part}
	m := src.m
	native := ""
	if b.run.kind == '0' || b.run.kind == 's' && b.run.text != "" {
		native = b.run.text + "-" + cmp.Or(b.branch.text, "0")
		if !validID(native) {
			a.fault(b.line, "runId", attemptlog.CodeBadValue, "", "found %s, expected a run number", b.run.show())
			native = unmapped
		}
		m.Dataset = m.dataset(DatasetVivaria)
	}
	h := a.mapped(m, native, rebench.ClockActive)
	if limit, ok := b.limits["total_seconds"].number(); ok && limit > 0 && h.TimeLimitS == nil { // -1 is no limit
		h.TimeLimitS = &limit
	}
	h.StartedAt = a.vivTime(b.line, "startedAt", b.startedAt)
	if st, ok := parseStamp(m.StartedAt); h.StartedAt == nil && ok && !st.naive {
		h.StartedAt = msOf(st.t)
	}
	pauses := a.vivPauses(b, h.StartedAt)
	var events []attemptlog.Event
	var c clock
	for i := range b.rows {
		s, sec, ok := a.vivScore(&b.rows[i], h.StartedAt, pauses)
		if !ok {
			continue
		}
		for len(pauses.left) > 0 && pauses.left[0].t <= sec && pauses.left[0].resume != nil {
			events = append(events, pauses.take(&c)...)
		}
		var back bool
		if s.T, back = c.at(sec, &s.Extra); back {
			a.warn(b.rows[i].line, "elapsedSeconds", WarnClockBack, "the time %s is before the entry above; the order of the file is kept", span(sec))
		}
		events = append(events, s)
	}
	for len(pauses.left) > 0 {
		events = append(events, pauses.take(&c)...)
	}
	a.judge(events)
	a.encodeAll(events)
	return a
}

// vivTime reads ISO times and epoch milliseconds; nil for null or absent.
func (a *Attempt) vivTime(line int, field string, v scalar) *time.Time {
	switch {
	case v.kind == 's':
		if st, ok := parseStamp(v.text); ok && !st.naive {
			return msOf(st.t)
		}
	case v.kind == '0':
		if ms, ok := v.number(); ok {
			if ms == 0 {
				return nil // the raw view's way of saying that the branch did not start
			}
			if t, ok := epochMillis(ms); ok {
				return msOf(t)
			}
		}
	case v.kind == 'n' || !v.present():
		return nil
	}
	a.fault(line, field, CodeBadTime, "", "found %s, expected an ISO time with Z or milliseconds since 1970", v.show())
	return nil
}

// vivScore turns a row into an entry and its seconds on the branch's clock.
func (a *Attempt) vivScore(r *vivRow, start *time.Time, p *vivClock) (s *attemptlog.Score, sec float64, ok bool) {
	s = &attemptlog.Score{Basis: rebench.BasisRaw, Message: r.message, At: a.vivTime(r.line, "scoredAt", r.scoredAt)}
	switch n, isS := r.elapsedS.number(); {
	case isS:
		sec = n
	default:
		ms, isMs := r.elapsedMs.number()
		switch {
		case isMs:
			sec = ms / 1000
		case s.At != nil && start != nil: // called time minus branch start minus pauses
			sec = p.active(*s.At)
		case s.At != nil:
			a.need("started_at")
		default:
			a.fault(r.line, "elapsedSeconds", attemptlog.CodeMissingField, "", "found neither elapsedSeconds, elapsedTime nor scoredAt, expected one")
			return nil, 0, false
		}
	}
	if sec < 0 {
		a.fault(r.line, "elapsedSeconds", CodeBeforeStart, "", "found %s, expected a time after the branch started", span(sec))
		return nil, 0, false
	}
	s.Score, s.Reason = scoreOf(r.score)
	s.Valid = s.Score != nil
	if !s.Valid {
		s.Reason = reasonFrom(s.Message, s.Reason)
		if r.score.present() && r.score.kind != 'n' {
			s.Extra = append(s.Extra, attemptlog.Member{Key: "raw_text", Value: attemptlog.Text(cut(r.score.text))})
		}
	}
	if r.details != nil {
		s.Extra = append(s.Extra, attemptlog.Member{Key: "details", Value: r.details})
	}
	for _, x := range []struct {
		key string
		v   scalar
	}{{"index", r.index}, {"created_at", r.createdAt}} {
		if x.v.kind == '0' && logNumber(x.v.text) {
			s.Extra = append(s.Extra, attemptlog.Member{Key: x.key, Value: json.RawMessage(x.v.text)})
		} else if x.v.kind == 's' {
			s.Extra = append(s.Extra, attemptlog.Member{Key: x.key, Value: attemptlog.Text(x.v.text)})
		}
	}
	if len(r.notes) > 0 {
		s.Extra = append(s.Extra, attemptlog.Member{Key: "altered", Value: jsonList(r.notes)})
		a.warn(r.line, "", WarnValueAltered, "%s", r.notes[0])
	}
	return s, sec, true
}

// errTooLarge ends the reading of a text that would be held in memory.
var errTooLarge = errors.New("too large to be held in memory")

// countingReader fails after so many bytes.
type countingReader struct {
	r    io.Reader
	left int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
