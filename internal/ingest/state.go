package ingest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// stateType is the type of the line, or row, of an export that holds a State.
const stateType = "attempt-state"

// Limits of a State.
const (
	maxStateFlags = 1_000
	maxStateText  = 2_000 // characters of a reason or a name
)

// State is what a server says of an attempt beside its log: the flags, in the order
// in which they were raised and lifted, and why the attempt is in no ranking. In an
// export it stands before the log; it is no part of the log's chain.
type State struct {
	AttemptID string       // of the log's header
	Unranked  string       // "" when the attempt ranks
	Flags     []StatedFlag // oldest first
}

// StatedFlag is one statement about an attempt.
type StatedFlag struct {
	Kind   rebench.FlagKind `json:"kind"`
	Set    bool             `json:"set"` // false lifts the flag
	Author string           `json:"author"`
	Reason string           `json:"reason"`
	At     time.Time        `json:"at"`
}

// empty reports whether there is nothing to say.
func (s *State) empty() bool { return s == nil || s.Unranked == "" && len(s.Flags) == 0 }

// Excluding returns the statements that keep the attempt out of rankings: of each
// kind that does so, the latest, where that one sets the flag.
func (s *State) Excluding() []StatedFlag {
	if s == nil {
		return nil
	}
	var out []StatedFlag
	for _, kind := range []rebench.FlagKind{rebench.FlagSuspected, rebench.FlagInvalid, rebench.FlagRetracted} {
		for _, f := range slices.Backward(s.Flags) {
			if f.Kind == kind {
				if f.Set {
					out = append(out, f)
				}
				break
			}
		}
	}
	return out
}

type stateLine struct {
	Type      string       `json:"type"`
	AttemptID string       `json:"attempt_id"`
	Unranked  string       `json:"unranked"`
	Flags     []StatedFlag `json:"flags"`
}

// line is the state as one JSON object without a line end.
func (s *State) line() ([]byte, error) {
	flags := s.Flags
	if flags == nil {
		flags = []StatedFlag{}
	}
	return json.Marshal(stateLine{Type: stateType, AttemptID: s.AttemptID, Unranked: s.Unranked, Flags: flags})
}

// words say in a table's cell what excludes the attempt.
func (s *State) words() string {
	var words []string
	for _, f := range s.Excluding() {
		words = append(words, string(f.Kind))
	}
	if s.Unranked != "" {
		words = append(words, "not ranked: "+s.Unranked)
	}
	return strings.Join(words, "; ")
}

var statePrefix = []byte(`{"type":"` + stateType + `"`)

// isState tells the line of a state from those of logs.
func isState(line []byte) bool { return bytes.HasPrefix(line, statePrefix) }

// parseState reads a state and says what is wrong with it.
func parseState(line []byte) (*State, error) {
	var l stateLine
	line, _ = Redact(line)
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return nil, fmt.Errorf("the line is no state of an attempt: %w", err)
	}
	if l.AttemptID == "" || len(l.Flags) > maxStateFlags {
		return nil, fmt.Errorf("found %d flags and the attempt_id %s, expected an id and at most %d flags", len(l.Flags), quote(l.AttemptID), maxStateFlags)
	}
	if utf8.RuneCountInString(l.Unranked) > maxStateText {
		return nil, fmt.Errorf("unranked has more than %d characters", maxStateText)
	}
	kinds := []rebench.FlagKind{rebench.FlagSuspected, rebench.FlagInvalid, rebench.FlagRetracted, rebench.FlagAudited}
	for i, f := range l.Flags {
		switch {
		case !slices.Contains(kinds, f.Kind):
			return nil, fmt.Errorf("flags[%d].kind is %s, expected one of %v", i, quote(string(f.Kind)), kinds)
		case f.Author == "" || strings.TrimSpace(f.Reason) == "" || f.At.IsZero():
			return nil, fmt.Errorf("flags[%d] lacks its author, reason or time", i)
		case utf8.RuneCountInString(f.Author) > maxStateText || utf8.RuneCountInString(f.Reason) > maxStateText*2:
			return nil, fmt.Errorf("flags[%d] has an author or reason of more than %d characters", i, maxStateText)
		}
	}
	return &State{AttemptID: l.AttemptID, Unranked: l.Unranked, Flags: l.Flags}, nil
}

// states are those of one file that wait for their logs.
type states struct {
	f   *File
	src *source
	of  map[string]stateAt
}

type stateAt struct {
	*State
	line int
}

// add reads the state in one line of the file; a faulty one is reported.
func (s *states) add(number int, line []byte) *State {
	st, err := parseState(line)
	if err == nil {
		if _, twice := s.of[st.AttemptID]; twice {
			err = fmt.Errorf("attempt %s has a state already, expected one before its log", quote(st.AttemptID))
		}
	}
	if err == nil && len(s.of) >= MaxAttempts {
		err = fmt.Errorf("more than %d states wait for their logs", MaxAttempts)
	}
	if err != nil {
		s.fault(number, err.Error())
		return nil
	}
	if s.of == nil {
		s.of = map[string]stateAt{}
	}
	s.of[st.AttemptID] = stateAt{st, number}
	return st
}

func (s *states) fault(number int, detail string) {
	s.f.addFault(attemptlog.Fault{File: s.src.name, Line: number, Field: stateType, Code: CodeBadState, Detail: detail,
		Hint: "a state says what keeps the next log's attempt out of rankings; download the export again"})
}

// take returns the state of an attempt, nil when the file has none.
func (s *states) take(attemptID string) *State {
	at := s.of[attemptID]
	delete(s.of, attemptID)
	return at.State
}

// rest reports states whose logs did not follow: what they exclude would otherwise
// be lost.
func (s *states) rest() {
	var left []stateAt
	for _, at := range s.of {
		left = append(left, at)
	}
	slices.SortFunc(left, func(a, b stateAt) int { return cmp.Compare(a.line, b.line) })
	for _, at := range left {
		s.fault(at.line, fmt.Sprintf("found no log of attempt %s after its state", quote(at.AttemptID)))
	}
}
