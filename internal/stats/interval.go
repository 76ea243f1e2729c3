package stats

import (
	"math"
	"strconv"
)

// Level is the nominal coverage of the intervals of this project.
const Level = 0.95

// Interval is an interval for a score or a difference of scores. An end that
// can't be estimated is nil, which is not the same as 0.
type Interval struct {
	Low, High *float64
	// OpenHigh marks an upper end that is only a lower bound of the true upper end,
	// because some cell is saturated (k >= N): to be shown open.
	OpenHigh bool
	// OpenLow is the same for the lower end, as in a difference whose second term
	// has a saturated cell.
	OpenLow bool
}

// IsZero reports whether the interval has no ends at all.
func (iv Interval) IsZero() bool { return iv.Low == nil && iv.High == nil }

// SuiteMean returns draw by draw the mean over environments. draws holds one
// slice per environment, all of one length; the result has that length. Without
// environments the result is nil. It panics when lengths differ, since draws of
// different length were not made for one another.
func SuiteMean(draws [][]float64) []float64 {
	if len(draws) == 0 {
		return nil
	}
	out := make([]float64, len(draws[0]))
	suiteMeanInto(out, draws)
	return out
}

func suiteMeanInto(out []float64, draws [][]float64) {
	copy(out, draws[0])
	for _, d := range draws[1:] {
		if len(d) != len(out) {
			panic("stats: SuiteMean of draws of different length")
		}
		for i, x := range d {
			out[i] += x
		}
	}
	m := float64(len(draws))
	for i := range out {
		out[i] /= m
	}
}

// SuiteScoreAtK returns the plain mean over cells, one per environment, of their
// ScoreAtK; NaN without cells.
func SuiteScoreAtK(cells []*Cell, k int, est Estimator) float64 {
	sum := 0.0
	for _, c := range cells {
		sum += c.ScoreAtK(k, est)
	}
	if len(cells) == 0 {
		return math.NaN()
	}
	return sum / float64(len(cells))
}

// SuiteInterval returns the percentile interval of suite draws together with what
// the cells behind them (one per environment) allow to be said: no ends when a
// cell has a single attempt, whose spread is unknown, and an open upper end when
// a cell is saturated at k. level is the nominal coverage, such as Level.
//
// The interval is for a score: ends are not cut at 0; display may do that.
func SuiteInterval(cells []*Cell, k int, draws []float64, level float64) Interval {
	var iv Interval
	for _, c := range cells {
		if c.N() < 2 {
			return Interval{}
		}
		iv.OpenHigh = iv.OpenHigh || c.Saturated(k)
	}
	if len(cells) == 0 || len(draws) == 0 {
		return Interval{}
	}
	lo, hi := PercentileInterval(draws, level)
	iv.Low, iv.High = &lo, &hi
	return iv
}

// IntervalDecimals returns how many decimals to print an interval with, 2 to 5: as
// few as let the printed interval hold the point that it holds, printed with
// pointDecimals, and keep apart ends that differ. An end that is nil is open. An
// interval that does not hold its point, as METR's convention allows, takes 2.
func IntervalDecimals(point float64, pointDecimals int, low, high *float64) int {
	const fewest, most = 2, 5
	if low != nil && *low > point || high != nil && *high < point {
		return fewest
	}
	shown := rounded(point, pointDecimals)
	for d := fewest; d < most; d++ {
		holds := (low == nil || rounded(*low, d) <= shown || shown == 0 && point > 0) && // printed as <0.001
			(high == nil || rounded(*high, d) >= shown)
		apart := low == nil || high == nil || *low == *high || rounded(*low, d) != rounded(*high, d)
		if holds && apart {
			return d
		}
	}
	return most
}

// rounded is the value that x has when printed.
func rounded(x float64, decimals int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', decimals, 64), 64)
	return v
}
