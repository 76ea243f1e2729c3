package stats

import (
	"math"
	"slices"
)

// Quantile returns the q-quantile, 0 <= q <= 1, of x by numpy's default "linear"
// rule: linear interpolation between the order statistics around the position
// q*(len(x)-1). x may be in any order and is left as it is. It returns NaN for an
// empty x, for q outside [0, 1] and when x contains NaN.
func Quantile(x []float64, q float64) float64 {
	if len(x) == 0 || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	for _, v := range x {
		if math.IsNaN(v) {
			return v
		}
	}
	i, j, frac := quantilePosition(len(x), q)
	a, b := selectPair(slices.Clone(x), i, j)
	return lerp(a, b, frac)
}

// sortedQuantile is Quantile for ascending, non-empty x.
func sortedQuantile(x []float64, q float64) float64 {
	lo, hi, frac := quantilePosition(len(x), q)
	return lerp(x[lo], x[hi], frac)
}

// quantilePosition returns the two neighbouring ranks (0-based) around the
// position q*(n-1) and the weight of the upper one.
func quantilePosition(n int, q float64) (lo, hi int, frac float64) {
	pos := q * float64(n-1)
	lo = int(pos)
	return lo, min(lo+1, n-1), pos - float64(lo)
}

// lerp interpolates from the nearer end, as numpy does, so that it is exact at
// both ends and monotone in t.
func lerp(a, b, t float64) float64 {
	if t >= 0.5 {
		return b - (b-a)*(1-t)
	}
	return a + (b-a)*t
}
