package ingest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rebench/internal/rebench"
)

// Prior is what one row of a METR file said before, or says now.
type Prior struct {
	Environment rebench.EnvironmentID
	Alias       string   // the agent's label
	Normalized  *float64 // nil when it has no valid score
}

// Restatement says how the rows of a METR file differ from those known before.
type Restatement struct {
	Rows         int // rows compared or new
	New          int // rows that were not known
	Unchanged    int // rows with the same score and alias
	ScoreChanged int
	AliasChanged int
	Environments []EnvironmentRestatement // those with changed scores, in the fixed order
	Aliases      []AliasChange            // most rows first
}

// EnvironmentRestatement is the change of one environment's scores.
type EnvironmentRestatement struct {
	Environment rebench.EnvironmentID
	Rows        int // known rows of the environment
	Changed     int // of which with another score
	// Ratio is new/old where most changed rows share one ratio, else 0. It means
	// that the file divides by another reference score.
	Ratio     float64
	RatioRows int // rows that fit it
	Clipped   int // rows now cut at 1 that were above it, or would be by Ratio
	Other     int // changed rows that neither explains
}

// AliasChange counts rows whose agent is named otherwise.
type AliasChange struct {
	From, To string
	Rows     int
}

// NormalizedDifferently reports whether some environment's scores were divided
// by another reference or newly clipped: such scores are not comparable with the
// known ones, whatever their names.
func (r *Restatement) NormalizedDifferently() bool {
	return r != nil && slices.ContainsFunc(r.Environments, EnvironmentRestatement.differs)
}

func (e EnvironmentRestatement) differs() bool { return e.Ratio != 0 || e.Clipped > 0 }

// Differs reports whether one environment's scores are normalized differently.
func (r *Restatement) Differs(id rebench.EnvironmentID) bool {
	return r != nil && slices.ContainsFunc(r.Environments, func(e EnvironmentRestatement) bool { return e.Environment == id && e.differs() })
}

// String says what the change means, for the preview.
func (e EnvironmentRestatement) String() string {
	s := fmt.Sprintf("%s: %d of %d scores differ", e.Environment, e.Changed, e.Rows)
	if e.Ratio != 0 {
		s += fmt.Sprintf("; %d of them by the constant ratio %.6g, so the file divides by another reference score", e.RatioRows, e.Ratio)
	}
	if e.Clipped > 0 {
		s += fmt.Sprintf("; %d are now cut at 1", e.Clipped)
	}
	if e.Other > 0 {
		s += fmt.Sprintf("; %d changed otherwise", e.Other)
	}
	return s
}

// CompareRows compares rows by their native ids. It is a pure function of the two
// maps; rows only in before are not looked at, since a file may be a part.
func CompareRows(before, now map[string]Prior) *Restatement {
	r := &Restatement{Rows: len(now)}
	byEnv := map[rebench.EnvironmentID][][2]float64{}
	known := map[rebench.EnvironmentID]int{}
	aliases := map[AliasChange]int{}
	for id, n := range now {
		b, ok := before[id]
		if !ok {
			r.New++
			continue
		}
		known[n.Environment]++
		sameScore := (b.Normalized == nil) == (n.Normalized == nil) && (b.Normalized == nil || *b.Normalized == *n.Normalized)
		if !sameScore {
			r.ScoreChanged++
			byEnv[n.Environment] = append(byEnv[n.Environment], [2]float64{orNaN(b.Normalized), orNaN(n.Normalized)})
		}
		if b.Alias != n.Alias {
			r.AliasChanged++
			aliases[AliasChange{From: b.Alias, To: n.Alias}]++
		}
		if sameScore && b.Alias == n.Alias {
			r.Unchanged++
		}
	}
	for _, id := range rebench.EnvironmentIDs() {
		if pairs := byEnv[id]; len(pairs) > 0 {
			r.Environments = append(r.Environments, restated(id, known[id], pairs))
		}
	}
	for a, n := range aliases {
		a.Rows = n
		r.Aliases = append(r.Aliases, a)
	}
	slices.SortFunc(r.Aliases, func(a, b AliasChange) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return r
}

func orNaN(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// minRatioRows is how many rows must share a ratio before it is called one.
const minRatioRows = 3

// restated explains the changed scores of one environment.
func restated(id rebench.EnvironmentID, rows int, pairs [][2]float64) EnvironmentRestatement {
	e := EnvironmentRestatement{Environment: id, Rows: rows, Changed: len(pairs)}
	e.Ratio = commonRatio(pairs)
	for _, p := range pairs {
		before, now := p[0], p[1]
		switch {
		case e.Ratio != 0 && near(now, before*e.Ratio):
			e.RatioRows++
		case now == 1 && (before > 1 || e.Ratio != 0 && before*e.Ratio > 1):
			e.Clipped++
		default:
			e.Other++
		}
	}
	return e
}

// near allows for the ten decimals that METR's files are rounded to.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9+1e-6*math.Abs(b) }

// commonRatio returns the ratio new/old shared by most of the scores that are
// neither 0 nor cut at 1, or 0 when there is none.
func commonRatio(pairs [][2]float64) float64 {
	var free [][2]float64
	for _, p := range pairs {
		if p[0] > 0 && p[1] > 0 && p[1] != 1 {
			free = append(free, p)
		}
	}
	// Large scores carry the most exact ratios.
	slices.SortFunc(free, func(a, b [2]float64) int { return cmp.Compare(b[0], a[0]) })
	best, bestRows := 0.0, 0
	for _, p := range free[:min(len(free), 64)] {
		ratio, fit := p[1]/p[0], 0
		for _, q := range free {
			if near(q[1], q[0]*ratio) {
				fit++
			}
		}
		if fit > bestRows {
			best, bestRows = ratio, fit
		}
	}
	if bestRows < minRatioRows || 2*bestRows < len(free) {
		return 0
	}
	return best
}
