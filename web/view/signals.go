package view

import (
	"fmt"
	"strings"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// Draw says that an attempt was drawn for audit in a month such as 2026-12.
type Draw struct {
	Month   string
	Outcome *analysis.DrawOutcome // nil for nothing noted yet
}

// monthWords writes 2026-12 as December 2026.
func monthWords(month string) string {
	at, err := time.Parse("2006-01", month)
	if err != nil {
		return month
	}
	return at.Format("January 2006")
}

// peerWords are the paper's rates of score calls.
func peerWords(peers []analysis.PeerRate) string {
	var out []string
	for _, p := range peers {
		out = append(out, fmt.Sprintf("%s %s", p.Who, number(p.PerHour, 1)))
	}
	return strings.Join(out, ", ")
}

// callWords is how often the score was asked for.
func callWords(s *analysis.Signals) string {
	words := things(s.ScoreCalls, "call", "calls") + " of the scorer"
	if s.CallsPerHour == nil {
		return words
	}
	return words + ", " + number(*s.CallsPerHour, 1) + " an hour within the time limit"
}

// standingWords compares with the other attempts of the same agent, environment and limit.
func standingWords(s *analysis.Standing) string {
	return fmt.Sprintf("the best of %s has %s, their median is %s", things(s.N, "other attempt", "other attempts"), score(s.Best), score(s.Median))
}

// regressionWords says what scoring again took away or added.
func regressionWords(s *analysis.Signals) string {
	return fmt.Sprintf("%s when chosen, %s scored again: %s", score(*s.Chosen), score(*s.Rescored), signed(-*s.Regression, 3))
}

// quarantined returns the flag of a rule that stands, nil when none does.
func (d AttemptData) quarantined() *rebench.Flag {
	flags := d.Detail.Attempt.Flags
	for i := len(flags) - 1; i >= 0; i-- {
		if f := &flags[i]; f.Kind == rebench.FlagSuspected {
			if f.Set && validity.IsRule(f.Author) {
				return f
			}
			return nil
		}
	}
	return nil
}

// notes are the findings that change nothing.
func notes(s *analysis.Signals) []validity.Finding {
	var out []validity.Finding
	for _, f := range s.Findings {
		if f.Action == validity.Note {
			out = append(out, f)
		}
	}
	return out
}
