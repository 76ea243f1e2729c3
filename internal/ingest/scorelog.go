package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// scoreRow is one scoring of a score.log.
type scoreRow struct {
	line             int
	timestamp, score string
	message, details json.RawMessage
	notes            []string
}

// decodeScoreLog reads the score log that METR's task-protected-scoring writes:
// CSV, or JSON lines in later versions. It holds one attempt and no identity.
// Its rows are read one by one, so its size does not matter.
func (f *File) decodeScoreLog(src *source, emit emit) {
	a := &Attempt{File: src.name, Format: src.part.Format, Line: 1, Appendable: true, part: src.part}
	a.mapped(src.m, "", rebench.ClockWall)
	l := a.newLocal(src.m)
	if a.ZoneUnknown {
		a.warn(0, "timestamp", WarnZoneUnknown, "the times are local and their zone is unknown; they are kept as text")
	}
	var rows interface {
		next(a *Attempt) (*scoreRow, bool)
		error() error
	}
	if a.Format == FormatScoreLog {
		rows = newScoreCSV(contextReader{f.ctx, src.reader()})
	} else {
		rows = &scoreJSONL{in: newRowReader(contextReader{f.ctx, src.reader()})}
	}
	c := &scoreClock{a: a, local: l}
	line := 1
	a.encode(func() int { return line }, func() attemptlog.Event {
		for {
			row, ok := rows.next(a)
			if !ok {
				return nil
			}
			line = row.line
			if e := c.event(row); e != nil {
				return e
			}
			if len(a.faults) >= MaxFaults {
				return nil
			}
		}
	})
	emit(a)
	if err := rows.error(); err != nil {
		f.stop(err)
	}
}

// scoreClock places the rows of a score log in time.
type scoreClock struct {
	a     *Attempt
	local local
	clock clock
}

// event makes a row into a score entry, nil when it is faulty.
func (c *scoreClock) event(r *scoreRow) attemptlog.Event {
	s := &attemptlog.Score{Basis: rebench.BasisRaw, Message: r.message}
	at, sec, ok := c.place(r)
	if !ok {
		return nil
	}
	s.At = at
	back := false
	if s.T, back = c.clock.at(sec, &s.Extra); back {
		c.a.warn(r.line, "timestamp", WarnClockBack, "the clock went back to %s; the order of the file is kept", quote(r.timestamp))
	}
	if at == nil {
		s.Extra = append(s.Extra, attemptlog.Member{Key: "timestamp", Value: attemptlog.Text(r.timestamp)})
	}
	s.Score, s.Reason = parseScore(r.score)
	s.Valid = s.Score != nil
	if !s.Valid {
		s.Reason = reasonFrom(s.Message, s.Reason)
		s.Extra = append(s.Extra, attemptlog.Member{Key: "raw_text", Value: attemptlog.Text(cut(r.score))})
	}
	if r.details != nil {
		s.Extra = append(s.Extra, attemptlog.Member{Key: "details", Value: r.details})
	}
	if len(r.notes) > 0 {
		s.Extra = append(s.Extra, attemptlog.Member{Key: "altered", Value: jsonList(r.notes)})
		c.a.warn(r.line, "", WarnValueAltered, "%s", r.notes[0])
	}
	return s
}

// cut bounds text that is kept for the record.
func cut(s string) string {
	if len(s) > 1024 {
		return string(bytes.ToValidUTF8([]byte(s[:1024]), nil)) + "..."
	}
	return s
}

// place returns the instant of a row, nil when its zone is unknown, and its
// seconds since the start. A time before the start is refused, except within the
// second that whole-second timestamps cut off.
func (c *scoreClock) place(r *scoreRow) (at *time.Time, sec float64, ok bool) {
	st, ok := parseStamp(r.timestamp)
	if !ok {
		c.a.fault(r.line, "timestamp", CodeBadTime, "", "found %s, expected a time such as 2025-01-31T12:00:00", quote(r.timestamp))
		return nil, 0, false
	}
	l := &c.local
	var since time.Duration
	switch {
	case !st.naive:
		at = msOf(st.t)
	case l.zone.known:
		ts := l.zone.place(st.t)
		if len(ts) == 0 {
			c.a.fault(r.line, "timestamp", CodeBadTime, "is the zone right?", "the local time %s does not exist in the zone given: clocks were put forward over it", r.timestamp)
			return nil, 0, false
		}
		t := ts[0]
		if len(ts) == 2 {
			if t.Before(l.last) {
				t = ts[1]
			}
			c.a.warn(r.line, "timestamp", WarnAmbiguousTime, "the local time %s occurs twice in the zone given; %s is taken", r.timestamp, t.Format(time.RFC3339))
		}
		l.last, at = t, msOf(t)
	}
	switch {
	case at != nil && l.startAt != nil:
		since = at.Sub(*l.startAt)
	case st.naive && l.start.naive && !l.start.t.IsZero():
		since = st.t.Sub(l.start.t) // both in the same unknown zone
	case l.start.t.IsZero():
		return at, 0, true // the mapping lacks a start: nothing is stored
	default:
		c.a.fault(r.line, "timestamp", CodeBadTime, "give the zone, or the start in local time", "found the local time %s in an unknown zone, expected it to be comparable with the start", r.timestamp)
		return nil, 0, false
	}
	if since < 0 && since > -time.Second {
		since = 0
	}
	if since < 0 {
		c.a.fault(r.line, "timestamp", CodeBeforeStart, "is the start time, or the zone, right?", "found %s, %v before the attempt's start", quote(r.timestamp), -since)
		return nil, 0, false
	}
	return at, seconds(since), true
}

// scoreCSV reads the CSV form.
type scoreCSV struct {
	in     *csvReader
	header bool
	json   jsonReader
}

func newScoreCSV(r interface{ Read([]byte) (int, error) }) *scoreCSV {
	return &scoreCSV{in: newCSVReader(r)}
}

func (s *scoreCSV) error() error { return s.in.err }

func (s *scoreCSV) next(a *Attempt) (*scoreRow, bool) {
	for {
		cells, ok := s.in.next()
		if !ok {
			return nil, false
		}
		if !s.header { // Detect has seen it
			s.header = true
			continue
		}
		if blank(cells) && s.in.problem == "" {
			continue
		}
		if row := s.row(a, cells); row != nil {
			return row, true
		}
		if len(a.faults) >= MaxFaults {
			return nil, false
		}
	}
}

// row checks a row's shape. A last row that breaks off was being written when
// the file was copied; it is left out and said to be.
func (s *scoreCSV) row(a *Attempt, cells [][]byte) *scoreRow {
	line := s.in.row
	r := &scoreRow{line: line}
	if len(cells) > 0 {
		r.timestamp = string(cells[0])
	}
	torn := s.in.problem == csvTorn
	last := torn || s.in.problem == csvNoLF
	_, timeOK := parseStamp(r.timestamp)
	switch {
	case last && (torn || len(cells) < 4 || !timeOK || !wholeCell(cells[3])):
		a.warn(line, "", WarnTornRow, "the last row breaks off; it is left out")
		return nil
	case last:
		a.warn(line, "", attemptlog.WarnNoFinalLF, "the last row has no line end")
	case s.in.problem != "":
		a.fault(line, "", CodeBadRow, "", "%s", s.in.problem)
		return nil
	}
	if len(cells) < 2 || len(cells) > 4 {
		a.fault(line, "", CodeBadRow, "", "found %d cells, expected timestamp, score, message and details", len(cells))
		return nil
	}
	r.score = string(cells[1])
	if len(cells) > 2 {
		r.message = s.cell(a, r, "message", cells[2])
	}
	if len(cells) > 3 {
		r.details = s.cell(a, r, "details", cells[3])
	}
	return r
}

// wholeCell reports whether the last cell of a row without a line end can be
// all of it: JSON objects end with a brace.
func wholeCell(b []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(b), []byte("}")) }

// cell reads a JSON cell; a missing one is {}.
func (s *scoreCSV) cell(a *Attempt, r *scoreRow, name string, b []byte) json.RawMessage {
	if len(bytes.TrimSpace(b)) == 0 {
		return json.RawMessage("{}")
	}
	s.json.resetBytes(b, r.line)
	v := s.json.canonical(name)
	s.json.end()
	if s.json.err != nil {
		a.warn(r.line, name, WarnNotJSON, "found text that is not JSON; it is kept as text")
		if len(b) > MaxMessageBytes {
			r.notes = append(r.notes, name+": left out, longer than "+strconv.Itoa(MaxMessageBytes)+" bytes")
			return nil
		}
		return attemptlog.Text(string(b))
	}
	r.notes = append(r.notes, s.json.takeNotes()...)
	return v
}

// scoreJSONL reads the JSON lines form.
type scoreJSONL struct {
	in   *rowReader
	json jsonReader
}

func (s *scoreJSONL) error() error { return s.in.err }

func (s *scoreJSONL) next(a *Attempt) (*scoreRow, bool) {
	for len(a.faults) < MaxFaults {
		b, ok := s.in.next()
		if !ok {
			return nil, false
		}
		if s.in.tooLong {
			a.fault(s.in.number, "", attemptlog.CodeLineTooLong, "", "found a line longer than %d bytes", MaxRowBytes)
			continue
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		if row := s.row(a, b); row != nil {
			return row, true
		}
	}
	return nil, false
}

func (s *scoreJSONL) row(a *Attempt, b []byte) *scoreRow {
	j := &s.json
	j.resetBytes(b, s.in.number)
	r := &scoreRow{line: s.in.number, message: json.RawMessage("{}")}
	var stamp, score scalar
	j.object(func(key string) {
		switch key {
		case "timestamp":
			stamp = j.scalar()
		case "score":
			score = j.scalar()
		case "message":
			r.message = j.canonical(key)
		case "details":
			r.details = j.canonical(key)
		}
	})
	j.end()
	if j.err != nil {
		if s.in.torn {
			a.warn(r.line, "", WarnTornRow, "the last row breaks off; it is left out")
			return nil
		}
		x := jsonFault(a.File, j.err)
		a.fault(x.Line, "", x.Code, "", "%s", x.Detail)
		return nil
	}
	if stamp.kind != 's' {
		a.fault(r.line, "timestamp", attemptlog.CodeBadType, "", "found %s, expected a time in a string", stamp.show())
		return nil
	}
	r.timestamp, r.score, r.notes = stamp.text, score.text, j.takeNotes()
	if score.kind == 'b' || score.kind == '{' || score.kind == '[' {
		r.score = fmt.Sprintf("(%s)", score.show())
	}
	return r
}
