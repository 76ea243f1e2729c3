package stats

import (
	"fmt"
	"strconv"
)

// PercentileCurve is H(p): H[p-1] is the p-th percentile, p = 1..100, of human
// final scores by numpy's linear rule, averaged over environments. It does not
// decrease with p.
type PercentileCurve [100]float64

// HumanPercentiles returns H(p) over cells, one per environment, of single human
// attempts. It returns ErrNoScores without cells.
func HumanPercentiles(humans []*Cell) (PercentileCurve, error) {
	var h PercentileCurve
	if len(humans) == 0 {
		return h, fmt.Errorf("human percentiles: %w: no environments", ErrNoScores)
	}
	for p := range h {
		h[p] = humanPercentile(humans, p+1)
	}
	return h, nil
}

func humanPercentile(humans []*Cell, p int) float64 {
	sum := 0.0
	for _, c := range humans {
		sum += sortedQuantile(c.sorted, float64(p)/100)
	}
	return sum / float64(len(humans))
}

// Percentile is a matched human percentile: 1 to 100, 0 for below the first and
// 101 for above the hundredth.
type Percentile int

// String returns "<1", ">100" or the number.
func (p Percentile) String() string {
	switch {
	case p < 1:
		return "<1"
	case p > 100:
		return ">100"
	}
	return strconv.Itoa(int(p))
}

// MatchedPercentile returns the largest p with H(p) <= score, where score is a
// suite score over the same environments as the curve: 0 when the score is below
// H(1) and 101 when it is above H(100). The comparison is with single human
// attempts of 8 hours. Source: arXiv 2411.15114, section 4.2.
func MatchedPercentile(h PercentileCurve, score float64) Percentile {
	return matchPercentile(score, func(p int) float64 { return h[p-1] })
}

// matchPercentile finds the largest p with at(p) <= score by bisection over the
// non-decreasing at.
func matchPercentile(score float64, at func(p int) float64) Percentile {
	if score > at(100) {
		return 101
	}
	lo, hi := 0, 101 // at(lo) <= score < at(hi), with at(0) = -inf, at(101) = inf
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; at(mid) <= score {
			lo = mid
		} else {
			hi = mid
		}
	}
	return Percentile(lo)
}
