package analysis

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rebench/data"
	"rebench/internal/rebench"
	"rebench/internal/stats"
	"rebench/internal/validity"
)

// Signals are facts of an attempt's score log that a reader may want to weigh. They
// are no verdicts.
type Signals struct {
	ScoreCalls int `json:"score_calls"` // entries of the log; 0 when there is no log
	Invalid    int `json:"invalid"`     // of them without a valid score
	// CallsPerHour is the calls of known time within the time limit by charged time; nil
	// without any, or where the time charged is below 10 minutes.
	CallsPerHour *float64 `json:"calls_per_hour"`
	// Peers are the rates that the paper prints.
	Peers []PeerRate `json:"paper_calls_per_hour"`
	// Chosen is the normalized score of the entry that counts when it was chosen,
	// Rescored what scoring it again gave, Regression their difference, Chosen - Rescored:
	// what selecting on noise had added. nil when nothing was scored again.
	Chosen     *float64 `json:"chosen"`
	Rescored   *float64 `json:"rescored"`
	Regression *float64 `json:"regression"`
	// LaterInvalid: after the valid entry that counts as the last one, an invalid
	// submission was handed in.
	LaterInvalid bool `json:"later_invalid"`
	// Peers of a score are the other attempts of its cell (same environment, profile,
	// scorer version, agent and time limit) that count; nil when there are fewer than
	// minPeers or the attempt has no score.
	Standing *Standing `json:"standing"`
	// Findings are what rules say of the attempt, quarantine and notes alike.
	Findings []validity.Finding `json:"findings"`
}

// Standing compares a score with those of its peers.
type Standing struct {
	N      int     `json:"n"` // peers
	Median float64 `json:"median"`
	Best   float64 `json:"best"`
	// FarOut: above the third quartile of the peers by more than three interquartile
	// ranges (Tukey's outer fence). Where most peers have one score, any other is far out.
	FarOut bool `json:"far_out"`
}

// minPeers is how many peers a comparison needs.
const minPeers = 8

// standing compares the attempt with its peers.
func (ds *Dataset) standing(a *rebench.AttemptSummary) *Standing {
	if !a.FinalKnown {
		return nil
	}
	label := ds.attemptLabel(a)
	var peers []float64
	for i := range ds.attempts {
		b := &ds.attempts[i]
		if b.ID != a.ID && ds.peer(a, b, label) && counts(b) {
			peers = append(peers, b.Final)
		}
	}
	if len(peers) < minPeers {
		return nil
	}
	low, high := stats.Quantile(peers, 0.25), stats.Quantile(peers, 0.75)
	return &Standing{N: len(peers), Median: stats.Quantile(peers, 0.5), Best: slices.Max(peers), FarOut: a.Final > high+3*(high-low)}
}

// PeerRate is a rate of score calls that the paper prints.
type PeerRate struct {
	Who     string  `json:"who"`
	PerHour float64 `json:"per_hour"`
}

// peerRates are the rates of the paper's section 5.1.
var peerRates = sync.OnceValues(func() ([]PeerRate, error) {
	rows, err := data.Table("paper_numbers.csv")
	if err != nil {
		return nil, err
	}
	var out []PeerRate
	for _, r := range rows {
		if who, ok := strings.CutPrefix(r["quantity"], "score calls per hour, "); ok {
			x, err := strconv.ParseFloat(r["value"], 64)
			if err != nil {
				return nil, err
			}
			out = append(out, PeerRate{Who: who, PerHour: x})
		}
	}
	return out, nil
})

// ratedTime is the shortest charged time from which a rate an hour is told: of less,
// one call more or fewer moves it by half a dozen.
const ratedTime = 10 * time.Minute

// signals reads an attempt's entries.
func signals(a *rebench.Attempt) (*Signals, error) {
	rules, err := validity.Rules()
	if err != nil {
		return nil, err
	}
	out := &Signals{Findings: rules.CheckAttempt(a)}
	if out.Findings == nil {
		out.Findings = []validity.Finding{}
	}
	if out.Peers, err = peerRates(); err != nil {
		return nil, err
	}
	if !a.HasLog {
		return out, nil
	}
	out.ScoreCalls = len(a.Entries)
	var last time.Duration
	within := 0 // calls within the time limit
	for i := range a.Entries {
		e := &a.Entries[i]
		if !e.Valid {
			out.Invalid++
		}
		if e.Elapsed != nil && (a.TimeLimit <= 0 || *e.Elapsed <= a.TimeLimit) {
			last, within = max(last, *e.Elapsed), within+1
		}
		if e.Rescored != nil && e.Normalized != nil {
			change := *e.Normalized - *e.Rescored
			out.Chosen, out.Rescored, out.Regression = e.Normalized, e.Rescored, &change
		}
	}
	if env, ok := rebench.EnvironmentByID(a.Environment); ok && env.Selection == rebench.SelectLast && out.ScoreCalls > 0 {
		out.LaterInvalid = !a.Entries[out.ScoreCalls-1].Valid && out.Invalid < out.ScoreCalls
	}
	spent := max(last, a.Duration)
	if a.TimeLimit > 0 {
		spent = min(spent, a.TimeLimit)
	}
	if spent >= ratedTime && within > 0 {
		rate := float64(within) / spent.Hours()
		out.CallsPerHour = &rate
	}
	return out, nil
}
