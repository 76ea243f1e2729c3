package handler

import (
	"context"
	"slices"
	"strings"

	"rebench/internal/analysis"
	"rebench/web/view"
)

// resolveAgents checks the agents that a request names against those there are.
func (r *request) resolveAgents(labels []string) error {
	var faults []ParamFault
	check := func(name, label string) {
		if label != "" && !slices.Contains(labels, label) {
			faults = append(faults, unknownAgent(name, label, labels))
		}
	}
	r.query.Agents = joinLabels(r.query.Agents, labels)
	for _, label := range r.query.Agents {
		check("agents", label)
	}
	check("a", r.a)
	check("b", r.b)
	check("agent", r.agent)
	if len(faults) > 0 {
		return &ParamError{Faults: faults}
	}
	return nil
}

// checkGroups checks the scorer version and the hardware class that a request names
// against those of its profile.
func (s *Server) checkGroups(ctx context.Context, r *request) error {
	if r.query.Scorer == "" && (r.query.Hardware == "" || r.query.Hardware == allHardware) {
		return nil
	}
	c, err := s.engine.Choices(ctx, r.query)
	if err != nil {
		return err
	}
	var faults []ParamFault
	check := func(name, value string, allowed []string) {
		if value != "" && !slices.Contains(allowed, value) {
			faults = append(faults, ParamFault{Parameter: name, Code: "unknown_value", Found: value, Expected: parameters[name].expected,
				Allowed: allowed, Hint: didYouMean(near(value, allowed))})
		}
	}
	check("scorer", r.query.Scorer, c.Scorers)
	check("hardware", r.query.Hardware, append([]string{allHardware}, c.Hardware...))
	if len(faults) > 0 {
		return &ParamError{Faults: faults}
	}
	return nil
}

// allHardware merges the hardware classes.
const allHardware = "all"

// maxAllowed bounds the names that an error lists.
const maxAllowed = 60

func unknownAgent(name, label string, labels []string) ParamFault {
	f := ParamFault{Parameter: name, Code: "unknown_value", Found: shorten(label), Expected: "the name of an agent", Hint: didYouMean(near(label, labels))}
	if len(labels) <= maxAllowed {
		f.Allowed = labels
	} else {
		f.Allowed = near(label, labels)
	}
	return f
}

// joinLabels puts labels together again that hold a comma themselves and were
// split at it: the longest run of parts that is a label counts.
func joinLabels(parts, labels []string) []string {
	var out []string
	for len(parts) > 0 {
		n := 1
		label := parts[0]
		for end := len(parts); end > 1; end-- {
			for _, sep := range []string{",", ", "} {
				if l := strings.Join(parts[:end], sep); n == 1 && slices.Contains(labels, l) {
					n, label = end, l
				}
			}
		}
		out = append(out, label)
		parts = parts[n:]
	}
	return out
}

// choices are the values that a page's settings can take.
func (s *Server) choices(x *exchange) (view.Choices, error) {
	c, err := s.engine.Choices(x.c.Request.Context(), x.query)
	if err != nil {
		return view.Choices{}, err
	}
	return view.Choices{Agents: c.Agents, Scorers: c.Scorers, Hardware: c.Hardware, Latest: c.Latest}, nil
}

// shown counts the attempts behind a leaderboard.
func shown(b *analysis.Leaderboard) int {
	n := 0
	for _, r := range b.Rows {
		n += r.NAttempts
	}
	return n
}
