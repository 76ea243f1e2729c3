package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// noValidScore is how METR's bridge says that a value of 0 is no score.
const noValidScore = "No valid score(s) generated."

// inspectEntry is a score of a sample before it is placed in time.
type inspectEntry struct {
	t       *float64 // on the attempt's clock, nil when unknown
	at      *time.Time
	value   scalar
	none    bool // the value is no score although it is a number
	message json.RawMessage
	extra   attemptlog.Extra
	notes   []string
}

// inspectAttempt turns a sample into an attempt.
func (f *File) inspectAttempt(src *source, l *inspectLog, s *inspectSample) *Attempt {
	a := &Attempt{File: src.name, Format: src.part.Format, Line: s.line, Sample: s.label(), SourceSHA256: s.sha256, part: src.part}
	m := src.m
	m.Dataset = m.dataset(DatasetInspect)
	if s.family != "" {
		if e, ok := rebench.EnvironmentByMETRFamily(s.family); ok && m.Environment == "" {
			m.Environment = string(e.ID)
		}
	}
	s.solver(a, l, &m)
	h := a.mapped(m, s.nativeID(l), rebench.ClockWorking)
	h.Imported.Format = "inspect" // .json and .eval say the same
	if s.isHuman && src.m.Human == nil {
		a.NeedsMapping = slices.DeleteFunc(a.NeedsMapping, func(n string) bool { return n == "agent" })
		a.need("human")
	}
	if strings.HasPrefix(s.family, "ai_rd_") && l.taskVersion.text != "" {
		h.Environment.Version = "metr-" + l.taskVersion.text
	}
	f.checkTask(src, l, s, a)
	a.inspectSource(l, s)
	h.StartedAt = s.start()
	b := &inspectBuilder{a: a, log: l, s: s, m: m}
	b.zone, _ = parseZone(m.Zone)
	entries := b.entries()
	events := b.events(entries)
	if a.judge(events); len(entries) == 0 {
		a.Unscored = UnscoredNone
	}
	a.encodeAll(events)
	return a
}

// solver names the agent after the log's model and solvers unless the mapping
// names one. A human agent is no AI system: its cohort must be given.
func (s *inspectSample) solver(a *Attempt, l *inspectLog, m *Mapping) {
	if m.Human != nil || m.Agent != nil && !s.isHuman {
		return
	}
	if s.isHuman {
		m.Agent = nil
		return
	}
	if l.model != "" && l.model != rebench.HumanName {
		scaffold := strings.Join(l.solvers, ",")
		m.Agent = &MappingAgent{Name: l.model, Model: l.model, Scaffold: cut(scaffold)}
	}
}

// inspectSource keeps facts of the log for the record.
func (a *Attempt) inspectSource(l *inspectLog, s *inspectSample) {
	add := func(key string, v scalar) {
		switch {
		case v.kind == 's':
			a.Source = append(a.Source, attemptlog.Member{Key: key, Value: attemptlog.Text(v.text)})
		case v.kind == '0' && logNumber(v.text):
			a.Source = append(a.Source, attemptlog.Member{Key: key, Value: json.RawMessage(v.text)})
		}
	}
	text := func(s string) scalar {
		if s == "" {
			return scalar{}
		}
		return scalar{kind: 's', text: s}
	}
	add("eval_id", text(l.evalID))
	add("task", text(l.task))
	add("task_version", l.taskVersion)
	add("model", text(l.model))
	add("status", text(l.status))
	add("sample_id", s.id)
	add("epoch", s.epoch)
	add("total_time", s.totalTime)
	add("working_time", s.workingTime)
	add("limit", text(s.limit))
	if n, ok := s.totalTime.number(); ok {
		a.DurationS = &n
	}
}

// start is when the sample really started: as recorded, else worked out from the
// first event whose working time begins, since earlier events may have waited in
// a queue for hours.
func (s *inspectSample) start() *time.Time {
	if st, ok := parseStamp(s.startedAt.text); ok && !st.naive {
		return msOf(st.t)
	}
	if st, ok := parseStamp(s.realStart.text); ok && !st.naive {
		return msOf(st.t.Add(-time.Duration(s.realStartWorking * float64(time.Second))))
	}
	return nil
}

// inspectBuilder makes the entries of one sample.
type inspectBuilder struct {
	a    *Attempt
	log  *inspectLog
	s    *inspectSample
	m    Mapping
	zone zone
}

// entries collects the sample's scores in order: the intermediate ones from the
// best source there is, then the final one.
func (b *inspectBuilder) entries() []inspectEntry {
	var out []inspectEntry
	switch {
	case len(b.s.bridge) > 0: // says more than the matching events, which are ignored
		out = b.bridgeEntries()
	case len(b.s.human) > 0:
		out = b.humanEntries()
	default:
		for i := range b.s.events {
			if e := &b.s.events[i]; e.intermediate {
				if v, ok := b.choose([]inspectScore{e.score}, false); ok {
					out = append(out, b.eventEntry(e, v))
				}
			}
		}
	}
	if e, ok := b.final(); ok {
		out = append(out, e)
	} else if len(out) == 0 {
		b.a.warn(0, "scores", WarnUnscored, "the sample was not scored; it is an attempt without a score")
	}
	return out
}

// chosen is the part of a score that counts.
type chosen struct {
	score *inspectScore
	value scalar
}

// choose picks one value out of several scorers or a dict by the mapping's
// score_key: a scorer's name, a key, or scorer/key. What cannot be decided is
// asked for.
func (b *inspectBuilder) choose(scores []inspectScore, named bool) (chosen, bool) {
	key := b.m.ScoreKey
	var options []string
	for i := range scores {
		s := &scores[i]
		if s.value.kind != '{' {
			options = append(options, s.name)
			if key == "" && len(scores) == 1 || key == s.name && named || !named && len(scores) == 1 {
				return chosen{s, s.value.scalar}, true
			}
			continue
		}
		for _, k := range s.value.order {
			full := k
			if named {
				full = s.name + "/" + k
			}
			options = append(options, full)
			if key == full || key != "" && len(scores) == 1 && key == k || !named && strings.HasSuffix(key, "/"+k) {
				return chosen{s, s.value.dict[k]}, true
			}
		}
		if len(scores) == 1 && len(s.value.order) == 1 && key == "" {
			return chosen{s, s.value.dict[s.value.order[0]]}, true
		}
	}
	if len(scores) > 0 && named {
		b.ask(key, options)
	}
	return chosen{}, false
}

func (b *inspectBuilder) ask(key string, options []string) {
	b.a.ScoreKeys = options
	b.a.need("score_key")
	if key != "" {
		b.a.fault(0, "scores", attemptlog.CodeBadValue, "choose one of these as score_key", "found no score %s, expected one of %s", quote(key), cut(strings.Join(options, ", ")))
	}
}

// final is the sample's own score, placed by the last event that recorded it.
func (b *inspectBuilder) final() (inspectEntry, bool) {
	s := b.s
	var event *scoreEvent
	for i := range s.events {
		if !s.events[i].intermediate {
			event = &s.events[i]
		}
	}
	c, ok := b.choose(s.scores, true)
	if !ok {
		if len(s.scores) > 0 || event == nil {
			return inspectEntry{}, false
		}
		// A crashed log has the event but not yet the sample's scores.
		if c, ok = b.choose([]inspectScore{event.score}, false); !ok {
			return inspectEntry{}, false
		}
	}
	e := b.scoreEntry(c)
	e.extra = append(attemptlog.Extra{{Key: "final", Value: json.RawMessage("true")}}, e.extra...)
	if c.score.name != "" {
		e.extra = append(e.extra, attemptlog.Member{Key: "scorer", Value: attemptlog.Text(c.score.name)})
	}
	if event != nil {
		e.t, e.at = b.eventTime(event)
	}
	if len(s.human) > 0 || s.isHuman {
		e.t = positiveOrZero(s.accumulated)
	}
	if e.t == nil {
		e.t = positiveOrZero(s.workingTime)
	}
	return e, true
}

func positiveOrZero(v scalar) *float64 {
	if n, ok := v.number(); ok && n >= 0 {
		return &n
	}
	return nil
}

// scoreEntry is what a Score object says, without its time.
func (b *inspectBuilder) scoreEntry(c chosen) inspectEntry {
	e := inspectEntry{value: c.value, notes: c.score.notes}
	n, isNumber := c.value.number()
	e.none = isNumber && n == 0 && strings.TrimSpace(c.score.explanation) == noValidScore
	if c.score.explanation != "" {
		e.message = attemptlog.Text(c.score.explanation)
	}
	if c.score.details != nil {
		e.extra = append(e.extra, attemptlog.Member{Key: "details", Value: c.score.details})
	}
	return e
}

func (b *inspectBuilder) eventEntry(ev *scoreEvent, c chosen) inspectEntry {
	e := b.scoreEntry(c)
	e.t, e.at = b.eventTime(ev)
	return e
}

// maxWorkingS is longer than any attempt: working_start beyond it, or below 0,
// counts from some other moment, such as the machine's start.
const maxWorkingS = 90 * 24 * 3600

// slackS is how far the clocks of one log may disagree.
const slackS = 60

// eventTime reads an event's times. An implausible working_start is unknown.
func (b *inspectBuilder) eventTime(ev *scoreEvent) (*float64, *time.Time) {
	var at *time.Time
	if st, ok := parseStamp(ev.at.text); ok && !st.naive {
		at = msOf(st.t)
	}
	w, ok := ev.workingStart.number()
	if !ok {
		return nil, at
	}
	limit := float64(maxWorkingS)
	first := b.s.firstAt
	if st, ok := parseStamp(b.s.startedAt.text); ok && !st.naive && (first.IsZero() || st.t.Before(first)) {
		first = st.t
	}
	if at != nil && !first.IsZero() { // less time was worked than has passed
		limit = at.Sub(first).Seconds() + slackS
	}
	for _, total := range []scalar{b.s.workingTime, b.s.totalTime} {
		if n, ok := total.number(); ok {
			limit = min(limit, n+slackS)
		}
	}
	if w < 0 || w > limit {
		b.a.warn(0, "events.working_start", WarnWorkingStart, "found %s, which does not count from the start of the sample; it is not used", span(w))
		return nil, at
	}
	return &w, at
}

// events turns the entries into the log's events. Without a time for every entry
// the log's clock is unknown: times are not made up.
func (b *inspectBuilder) events(entries []inspectEntry) []attemptlog.Event {
	h := b.a.Header
	if b.s.isHuman {
		h.Clock = rebench.ClockActive
		h.StartedAt = nil // the human agent's clock can be stopped, and the log does not say when
	}
	if slices.ContainsFunc(entries, func(e inspectEntry) bool { return e.t == nil }) {
		h.Clock = rebench.ClockUnknown
	}
	if h.TimeLimitS == nil {
		if h.TimeLimitS = b.log.workingLimit; h.TimeLimitS == nil {
			h.TimeLimitS = b.log.timeLimit
		}
	}
	var out []attemptlog.Event
	var c clock
	for i := range entries {
		out = append(out, b.scoreEvent(&entries[i], &c))
	}
	if u := b.usage(); u != nil {
		if h.Clock != rebench.ClockUnknown {
			u.T = &c.last
		}
		out = append(out, u)
	}
	end := &attemptlog.End{Reason: b.endReason()}
	if h.Clock != rebench.ClockUnknown {
		t := max(c.last, orZero(positiveOrZero(b.s.workingTime)))
		if b.s.isHuman {
			t = max(c.last, orZero(positiveOrZero(b.s.accumulated)))
		}
		end.T = &t
	}
	if st, ok := parseStamp(b.s.completedAt.text); ok && !st.naive {
		end.At = msOf(st.t)
	}
	return append(out, end)
}

func orZero(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

func (b *inspectBuilder) scoreEvent(e *inspectEntry, c *clock) *attemptlog.Score {
	s := &attemptlog.Score{At: e.at, Basis: rebench.BasisRaw, Message: e.message, Extra: e.extra}
	if e.t != nil {
		t, back := c.at(*e.t, &s.Extra)
		if back {
			b.a.warn(0, "scores", WarnClockBack, "a score's time %s is before the one above; the order of the log is kept", span(*e.t))
		}
		if b.a.Header.Clock != rebench.ClockUnknown {
			s.T = t
		} else {
			s.Extra = append(s.Extra, attemptlog.Member{Key: "elapsed_s", Value: jsonFloat(*e.t)})
		}
	}
	switch {
	case e.none:
		s.Reason = attemptlog.ReasonNaN
	default:
		s.Score, s.Reason = scoreOf(e.value)
	}
	s.Valid = s.Score != nil
	if !s.Valid {
		s.Reason = reasonFrom(s.Message, s.Reason)
		s.Extra = append(s.Extra, attemptlog.Member{Key: "raw_text", Value: attemptlog.Text(cut(cmp.Or(e.value.text, e.value.show())))})
		if s.Reason == attemptlog.ReasonError {
			b.a.warn(0, "scores", WarnNotANumber, "the score is %s, expected a number; it is kept as an entry without a score", e.value.show())
		}
	}
	if len(e.notes) > 0 {
		s.Extra = append(s.Extra, attemptlog.Member{Key: "altered", Value: jsonList(e.notes)})
		b.a.warn(0, "", WarnValueAltered, "%s", e.notes[0])
	}
	return s
}

func (b *inspectBuilder) endReason() attemptlog.EndReason {
	switch b.s.limit {
	case "time", "working":
		return attemptlog.EndTimeLimit
	case "token":
		return attemptlog.EndTokenLimit
	case "cost":
		return attemptlog.EndCostLimit
	case "":
	default:
		return attemptlog.EndUnknown
	}
	switch {
	case b.s.failed:
		return attemptlog.EndError
	case len(b.s.scores) == 0 && b.log.status == "cancelled":
		return attemptlog.EndCancelled
	case len(b.s.scores) == 0:
		return attemptlog.EndUnknown
	}
	return attemptlog.EndSubmitted
}

// sampleFault reports a sample that could not be read.
func (f *File) sampleFault(src *source, member string, err error) {
	if e, ok := err.(*jsonError); ok {
		f.addFault(attemptlog.Fault{File: src.name, Line: e.line, Column: e.column, Field: displayName(member), Code: e.code, Detail: e.detail})
		return
	}
	f.readFailed(src, fmt.Errorf("%s: %w", displayName(member), err))
}
