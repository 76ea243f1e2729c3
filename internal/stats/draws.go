package stats

import (
	"fmt"
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
// The bootstrap mean E* that Centred subtracts is known exactly WithoutReplacement:
// it is the WithReplacement estimate for k <= n. WithReplacement it is no named
// estimate and the mean of the b replicates stands for it; the draws are then
// centred on the WithReplacement point, whose downward bias as an estimate of the
// expected best of k they therefore share.
//
// A single score gives constant draws, and a k < 1 gives NaN.
func (c *Cell) Draws(ks []int, b int, est Estimator, conv Convention) [][]float64 {
	out := make([][]float64, len(ks))
	flat := make([]float64, len(ks)*b)
	for i := range ks {
		out[i] = flat[i*b : (i+1)*b : (i+1)*b]
	}
	c.drawsInto(out, ks, est, conv)
	return out
}

func (c *Cell) drawsInto(out [][]float64, ks []int, est Estimator, conv Convention) {
	n := len(c.sorted)
	tables := make([][]float64, len(ks))
	for i, k := range ks {
		tables[i] = bestOfKTable(n, max(1, c.tableK(k, est)), est)
	}
	g := c.stream("resample")
	idx := make([]int, n)
	if len(out) > 0 && !c.Constant() {
		for r := range out[0] {
			clear(idx)
			for range n {
				idx[g.below(uint64(n))]++
			}
			for i, f := range tables {
				u, cum := c.sorted[n-1], 0
				for j := range n - 1 {
					cum += idx[j]
					u -= f[cum] * (c.sorted[j+1] - c.sorted[j])
				}
				out[i][r] = u
			}
		}
	}
	for i, k := range ks {
		c.finish(out[i], k, est, conv)
	}
}

// finish turns the replicates in d into draws.
func (c *Cell) finish(d []float64, k int, est Estimator, conv Convention) {
	point := c.ScoreAtK(k, est)
	if k < 1 || c.Constant() {
		for i := range d {
			d[i] = point
		}
		return
	}
	if conv == Metr || len(d) == 0 {
		return
	}
	var mean float64
	if est == WithoutReplacement {
		mean = c.ScoreAtK(c.EffectiveK(k), WithReplacement)
	} else {
		mean = meanOf(d)
	}
	factor := ExpansionFactor(len(c.sorted))
	shift := point - factor*mean
	for i := range d {
		d[i] = shift + factor*d[i]
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
