package ingest

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// decimalPattern is what a score may look like in text. strconv.ParseFloat takes
// more: hexadecimal floats, underscores, nan and inf.
var decimalPattern = regexp.MustCompile(`^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// parseScore reads a score in text. Anything that is not a finite decimal number
// is no score, with a reason; it never becomes 0.
func parseScore(text string) (score *float64, reason attemptlog.Reason) {
	t := strings.TrimSpace(text)
	if decimalPattern.MatchString(t) {
		if f, err := strconv.ParseFloat(t, 64); err == nil && !math.IsInf(f, 0) {
			return &f, ""
		}
		return nil, attemptlog.ReasonNaN // overflow
	}
	switch strings.ToLower(strings.TrimLeft(t, "+-")) {
	case "nan", "inf", "infinity":
		return nil, attemptlog.ReasonNaN
	}
	return nil, attemptlog.ReasonError
}

// scoreOf turns a JSON value into a score: finite numbers, and strings that hold
// one or the NaN and Infinity of Vivaria's raw view.
func scoreOf(v scalar) (score *float64, reason attemptlog.Reason) {
	switch v.kind {
	case '0', 's':
		return parseScore(v.text)
	case 'x':
		return nil, attemptlog.ReasonNaN
	case 0, 'n':
		return nil, attemptlog.ReasonHidden
	}
	return nil, attemptlog.ReasonError
}

// reasonFrom looks into the message of an invalid entry for METR's words.
func reasonFrom(message json.RawMessage, other attemptlog.Reason) attemptlog.Reason {
	var m map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil {
		return other
	}
	for _, w := range []struct {
		reason attemptlog.Reason
		keys   []string
	}{
		{attemptlog.ReasonTimeout, []string{"timeout", "timed_out", "timeout_error"}},
		{attemptlog.ReasonOOM, []string{"out_of_memory", "oom"}},
	} {
		for _, key := range w.keys {
			if v, ok := m[key]; ok && string(v) != "false" && string(v) != "null" {
				return w.reason
			}
		}
	}
	return other
}

// clock turns the times of entries into the log's t, which never falls. Where
// the source's clock goes back, t stays and the entry says what the clock gave.
type clock struct {
	last float64
	any  bool
}

// at returns t for an entry that its source puts at sec seconds.
func (c *clock) at(sec float64, x *attemptlog.Extra) (t *float64, back bool) {
	if c.any && sec < c.last {
		*x = append(*x, attemptlog.Member{Key: "t_source", Value: jsonFloat(sec)})
		last := c.last
		return &last, true
	}
	c.last, c.any = sec, true
	return &sec, false
}

func jsonFloat(f float64) json.RawMessage {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs > attemptlog.MaxInteger) {
		return strconv.AppendFloat(nil, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(nil, f, 'f', -1, 64)
}

// jsonList writes strings as a JSON array.
func jsonList(ss []string) json.RawMessage {
	out := json.RawMessage{'['}
	for i, s := range ss {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, attemptlog.Text(s)...)
	}
	return append(out, ']')
}

// mapped fills an attempt's identity and header from the mapping, for formats
// that name neither. What is missing is noted, and a placeholder stands in.
func (a *Attempt) mapped(m Mapping, native string, clock rebench.Clock) *attemptlog.Header {
	a.Dataset = m.dataset(DatasetUploads)
	if native == "" {
		if native = m.AttemptID; native == "" {
			a.need("attempt_id")
			native = unmapped
		}
	}
	a.NativeID = native
	h := &attemptlog.Header{
		AttemptID: attemptID(a.Dataset, native), Clock: clock, Tool: converter,
		Imported: &attemptlog.Imported{Format: string(a.Format), NativeID: native}, TimeLimitS: m.TimeLimitS,
	}
	a.Header = h
	h.Environment = attemptlog.Environment{ID: m.Environment, Profile: m.Profile}
	if m.Environment == "" {
		a.need("environment")
		h.Environment.ID = unmapped
	}
	if m.Profile == "" {
		a.need("profile")
		h.Environment.Profile = unmapped
	}
	a.solver(m)
	a.scoring(m)
	return h
}

// solver fills the agent or the human from the mapping.
func (a *Attempt) solver(m Mapping) {
	h := a.Header
	switch {
	case m.Human != nil:
		h.Human = &attemptlog.Human{Cohort: m.Human.Cohort, Source: m.Human.Source}
	case m.Agent != nil:
		h.Agent = &attemptlog.Agent{Name: m.Agent.Name, Model: m.Agent.Model, Scaffold: m.Agent.Scaffold}
	default:
		a.need("agent")
		h.Agent = &attemptlog.Agent{Name: unmapped}
	}
}

// scoring takes the direction from the environment and the starting and
// reference scores from the mapping only: they are never guessed.
func (a *Attempt) scoring(m Mapping) {
	s := &a.Header.Scoring
	if e, ok := rebench.EnvironmentByID(rebench.EnvironmentID(a.Header.Environment.ID)); ok {
		s.Direction = e.Direction
	}
	if m.Scoring != nil {
		s.StartRaw, s.ReferenceRaw = m.Scoring.StartRaw, m.Scoring.ReferenceRaw
		if m.Scoring.Direction != "" {
			s.Direction = rebench.Direction(m.Scoring.Direction)
		} else if s.StartRaw != nil {
			s.Direction = rebench.Maximize
			if *s.ReferenceRaw < *s.StartRaw {
				s.Direction = rebench.Minimize
			}
		}
	}
}

// local places naive times in the uploader's zone.
type local struct {
	zone    zone
	start   stamp // the attempt's start, as mapped
	startAt *time.Time
	last    time.Time
}

// newLocal reads start time and zone from the mapping; what is missing is noted.
func (a *Attempt) newLocal(m Mapping) local {
	var l local
	l.zone, _ = parseZone(m.Zone) // the mapping has been checked
	if !l.zone.given {
		a.need("zone")
	}
	var ok bool
	if l.start, ok = parseStamp(m.StartedAt); !ok {
		a.need("started_at")
		return l
	}
	if !l.start.naive {
		l.startAt = msOf(l.start.t)
	} else if l.zone.known {
		if ts := l.zone.place(l.start.t); len(ts) > 0 {
			l.startAt = msOf(ts[0])
			l.last = ts[0]
		} else {
			a.fault(0, "started_at", CodeBadTime, "is the zone right?", "the local time %s does not exist in zone %s: clocks were put forward over it", m.StartedAt, m.Zone)
		}
	}
	a.Header.StartedAt = l.startAt
	a.ZoneUnknown = l.zone.given && !l.zone.known
	return l
}

// msOf cuts a time to the milliseconds that logs hold.
func msOf(t time.Time) *time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}
