package stats

import (
	"fmt"
	"slices"
)

// Convention names how bootstrap replicates become draws.
type Convention int

const (
	// Centred is this project's recipe: draw = U + c(n) (U* - E*U*), with U the
	// estimate, U* its value in a bootstrap resample, E* the bootstrap mean and c
	// the ExpansionFactor. The draws so have the point estimate as their mean.
	Centred Convention = iota
	// Metr is METR's convention, the plain percentile bootstrap: draw = U*. Its
	// centre is E*U*, so without replacement, where E*U* is the with-replacement
	// value, the interval sits below the point it is drawn around.
	Metr
)

// String returns "centred" or "metr".
func (c Convention) String() string {
	switch c {
	case Centred:
		return "centred"
	case Metr:
		return "metr"
	}
	return fmt.Sprintf("Convention(%d)", int(c))
}

// Draws returns b bootstrap draws of ScoreAtK for every k in ks: one slice of
// length b per k. The n scores are resampled b times with replacement from the
// cell's own stream; all k, estimators and conventions see the same resamples,
// and a smaller b gives the first b of the same resamples.
//
// The bootstrap mean E* that Centred subtracts is known exactly for
// WithoutReplacement: it is the WithReplacement estimate at the effective k. For
// WithReplacement it is no named estimate and the mean of the b replicates stands
// for it; the draws are then centred on the WithReplacement point, whose downward
// bias as an estimate of the expected best of k they therefore share.
//
// Equal scores, and so a single one, give constant draws; k < 1 gives NaN.
func (c *Cell) Draws(ks []int, b int, est Estimator, conv Convention) [][]float64 {
	out := makeRows(len(ks), b)
	c.addDraws(out, ks, est, conv)
	return out
}

// SuiteDraws returns b draws of the suite score for every k in ks, one slice of
// length b per k: what SuiteMean makes of the Draws of cells, one per
// environment, without keeping those. Without cells it returns nil.
func SuiteDraws(cells []*Cell, ks []int, b int, est Estimator, conv Convention) [][]float64 {
	if len(cells) == 0 {
		return nil
	}
	out := makeRows(len(ks), b)
	for _, c := range cells {
		c.addDraws(out, ks, est, conv)
	}
	for _, row := range out {
		divide(row, float64(len(cells)))
	}
	return out
}

// makeRows returns rows slices of zeros of length b in one allocation.
func makeRows(rows, b int) [][]float64 {
	out := make([][]float64, rows)
	flat := make([]float64, rows*b)
	for i := range out {
		out[i] = flat[i*b : (i+1)*b : (i+1)*b]
	}
	return out
}

// addDraws adds one draw per element to the rows of out, one row per k.
func (c *Cell) addDraws(out [][]float64, ks []int, est Estimator, conv Convention) {
	if len(ks) == 0 || len(out[0]) == 0 {
		return
	}
	if c.Constant() {
		for i, k := range ks {
			addConstant(out[i], c.ScoreAtK(k, est))
		}
		return
	}
	// Different k can have the same estimate, as all do where the last entry counts.
	distinct, row := c.distinctEstimates(ks, est)
	afterwards := conv == Centred && est == WithReplacement // the mean is known only then
	if len(distinct) == len(ks) && !afterwards {
		c.addReplicates(out, c.lines(ks, est, conv))
		return
	}
	raw := makeRows(len(distinct), len(out[0]))
	if afterwards {
		c.addReplicates(raw, c.lines(distinct, est, Metr))
		for i, k := range distinct {
			c.centre(raw[i], c.ScoreAtK(k, est))
		}
	} else {
		c.addReplicates(raw, c.lines(distinct, est, conv))
	}
	for i := range out {
		for r, x := range raw[row[i]] {
			out[i][r] += x
		}
	}
}

// distinctEstimates returns one k for each estimate that differs, and for every k
// in ks the position of its own.
func (c *Cell) distinctEstimates(ks []int, est Estimator) (distinct, position []int) {
	position = make([]int, len(ks))
	for i, k := range ks {
		same := func(other int) bool { return c.tableK(other, est) == c.tableK(k, est) && (other < 1) == (k < 1) }
		if position[i] = slices.IndexFunc(distinct, same); position[i] < 0 {
			position[i] = len(distinct)
			distinct = append(distinct, k)
		}
	}
	return distinct, position
}

// centre moves replicates to the mean point and widens them.
func (c *Cell) centre(replicates []float64, point float64) {
	factor := ExpansionFactor(len(c.sorted))
	shift := point - factor*meanOf(replicates)
	for r := range replicates {
		replicates[r] = shift + factor*replicates[r]
	}
}

func addConstant(x []float64, v float64) {
	for i := range x {
		x[i] += v
	}
}

func divide(x []float64, by float64) {
	for i := range x {
		x[i] /= by
	}
}

// meanOf returns the mean of a non-empty x. It is exact for constant x.
func meanOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v - x[0]
	}
	return x[0] + sum/float64(len(x))
}
