package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"rebench/internal/attemptlog"
)

// Attempt is one attempt of a file, as a canonical attempt log and an identity.
type Attempt struct {
	File   string // name of the file, archive/member for members of archives
	Format Format
	Line   int    // line of the file at which the attempt starts, 0 where lines mean nothing
	Sample string // the Inspect sample

	// Identity: (Dataset, NativeID) names the attempt for good; uploading it
	// again with other content makes a revision. Header.AttemptID follows from it.
	Dataset  string
	NativeID string

	// Header is the log's header. Where NeedsMapping is not empty it holds
	// placeholders and must not be stored.
	Header       *attemptlog.Header
	NeedsMapping []string // fields of Mapping that are missing
	ScoreKeys    []string // what score_key may be, where it is missing

	// Unscored, if not "", says why the attempt's score is unknown: it was not
	// scored, its scores are hidden, or they are no numbers. Unknown is not 0.
	Unscored string

	// Unranked, if not "", keeps the attempt out of rankings; the log says so too.
	Unranked string

	ZoneUnknown bool     // the source's times are local and their zone is unknown
	DurationS   *float64 // seconds from start to end as the source has it, pauses included, nil when unknown
	// Appendable formats grow: a log with the same beginning is the same attempt
	// further on. Others are whole.
	Appendable bool
	// NormalizationUnknown marks a row of METR's later form: its normalized score
	// may rest on other reference scores than the published rows'.
	NormalizationUnknown bool
	// Source holds facts of the source that are not part of the log.
	Source attemptlog.Extra
	// SourceSHA256 is the digest of the part of the file that the attempt came
	// from, "" where it is the whole file.
	SourceSHA256 string
	Redactions   int // secrets replaced in this attempt
	// State is what the server that exported the attempt said of it, nil where the
	// file says nothing.
	State *State

	part     *Part
	run      func(yield func(*attemptlog.Line))
	drained  bool
	summary  attemptlog.Summary
	warnings []attemptlog.Fault
	faults   []attemptlog.Fault
}

// Lines yields the lines of the canonical log, once. A line and a *Score in it
// are valid until the next; their Raw bytes, one LF after each, are the log to
// store.
func (a *Attempt) Lines() iter.Seq[*attemptlog.Line] {
	return func(yield func(*attemptlog.Line) bool) {
		if a.drained {
			return
		}
		a.drained = true
		more := true
		a.run(func(l *attemptlog.Line) {
			if more {
				more = yield(l)
			}
		})
	}
}

func (a *Attempt) drain() {
	for range a.Lines() {
	}
}

// Summary of the canonical log; its Head is the identity of the content: two
// uploads of one attempt with equal heads are the same.
func (a *Attempt) Summary() attemptlog.Summary {
	a.drain()
	return a.summary
}

// Faults of the attempt. What is missing from the mapping is not among them.
func (a *Attempt) Faults() []attemptlog.Fault {
	a.drain()
	return a.faults
}

// Warnings about the attempt.
func (a *Attempt) Warnings() []attemptlog.Fault {
	a.drain()
	return a.warnings
}

func (a *Attempt) warn(line int, field, code, format string, args ...any) {
	if len(a.warnings) < MaxFaults {
		a.warnings = append(a.warnings, attemptlog.Fault{File: a.File, Line: line, Field: a.field(field), Code: code, Detail: fmt.Sprintf(format, args...)})
	}
}

func (a *Attempt) fault(line int, field, code, hint, format string, args ...any) {
	if len(a.faults) < MaxFaults {
		a.faults = append(a.faults, attemptlog.Fault{File: a.File, Line: line, Field: a.field(field), Code: code, Detail: fmt.Sprintf(format, args...), Hint: hint})
	}
}

// field prefixes a field with the sample it belongs to.
func (a *Attempt) field(field string) string {
	if a.Sample == "" {
		return field
	}
	if field == "" {
		return "sample " + a.Sample
	}
	return "sample " + a.Sample + ": " + field
}

// warnCodes of a log that say nothing about a converted one.
var expectedOfConverted = map[string]bool{attemptlog.WarnNoEnd: true}

// encode makes the attempt's lines from events. next is called until it returns
// nil; it reports what is wrong with the source itself.
func (a *Attempt) encode(line func() int, next func() attemptlog.Event) {
	a.run = func(yield func(*attemptlog.Line)) {
		var buf bytes.Buffer
		w := attemptlog.NewWriter(&buf)
		number := 0
		put := func(e attemptlog.Event) {
			if n := redactEvent(e); n > 0 {
				a.Redactions += n
			}
			buf.Reset()
			head, err := w.Append(e)
			if err != nil {
				a.refused(line(), err)
				return
			}
			number++
			yield(&attemptlog.Line{Number: number, Seq: head.Seq, Hash: head.Hash, Raw: bytes.TrimSuffix(buf.Bytes(), []byte("\n")), Event: e})
		}
		a.tellSource()
		put(a.Header)
		for e := next(); e != nil; e = next() {
			put(e)
		}
		a.summary = w.Summary()
		for _, x := range w.Warnings() {
			if !expectedOfConverted[x.Code] {
				a.warn(0, x.Field, x.Code, "%s", x.Detail)
			}
		}
		a.tellRedactions()
	}
}

// tellSource puts into the log what its lines cannot say, so that an export of it
// makes the same attempt.
func (a *Attempt) tellSource() {
	i := a.Header.Imported
	if i == nil {
		return
	}
	if a.Unscored != "" {
		i.Extra = append(i.Extra, attemptlog.Member{Key: attemptlog.ExtraUnscored, Value: attemptlog.Text(a.Unscored)})
	}
	if a.Unranked != "" {
		i.Extra = append(i.Extra, attemptlog.Member{Key: attemptlog.ExtraUnranked, Value: attemptlog.Text(a.Unranked)})
	}
	if a.DurationS != nil && a.Header.StartedAt == nil {
		i.Extra = append(i.Extra, attemptlog.Member{Key: attemptlog.ExtraDuration, Value: jsonFloat(*a.DurationS)})
	}
}

// encodeAll is encode for events in memory.
func (a *Attempt) encodeAll(events []attemptlog.Event) {
	i := 0
	a.encode(func() int { return a.Line }, func() attemptlog.Event {
		if i == len(events) {
			return nil
		}
		i++
		return events[i-1]
	})
}

// refused reports an event that the log's rules forbid.
func (a *Attempt) refused(line int, err error) {
	var faults attemptlog.Faults
	if !errors.As(err, &faults) {
		a.fault(line, "", CodeBadRow, "", "%v", err)
		return
	}
	for _, x := range faults {
		a.fault(line, x.Field, x.Code, x.Hint, "%s", x.Detail)
	}
}

func (a *Attempt) tellRedactions() {
	if a.Redactions > 0 {
		a.warn(0, "", WarnRedacted, "%d secrets such as API keys or tokens were replaced by [redacted]", a.Redactions)
	}
}

// Reasons of Attempt.Unscored.
const (
	UnscoredNone   = "it was not scored"
	UnscoredHidden = "its scores are hidden"
	UnscoredValue  = "its score is not a number"
)

// judge sets Unscored from the attempt's entries: an invalid submission leaves an
// attempt at its starting solution, but an unreadable score says nothing.
func (a *Attempt) judge(events []attemptlog.Event) {
	a.Unscored = ""
	for _, e := range events {
		s, ok := e.(*attemptlog.Score)
		switch {
		case !ok:
		case s.Valid:
			a.Unscored = ""
			return
		case s.Reason == attemptlog.ReasonHidden:
			a.Unscored = UnscoredHidden
		case s.Reason == attemptlog.ReasonError && a.Unscored == "":
			a.Unscored = UnscoredValue
		}
	}
}

// unmapped stands in a header for what the mapping must say.
const unmapped = "unmapped"

// need notes that a mapping field is missing.
func (a *Attempt) need(field string) {
	for _, n := range a.NeedsMapping {
		if n == field {
			return
		}
	}
	a.NeedsMapping = append(a.NeedsMapping, field)
}
