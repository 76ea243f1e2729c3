package stats

import (
	"math"
	"slices"
)

// PercentileInterval returns the (1-level)/2 and (1+level)/2 quantiles of draws
// by numpy's linear rule: 2.5% and 97.5% for level 0.95. draws may be in any
// order, is left as it is, and must be finite. It returns NaN for empty draws or
// a level outside (0, 1).
func PercentileInterval(draws []float64, level float64) (lo, hi float64) {
	if len(draws) == 0 || !(level > 0 && level < 1) {
		return math.NaN(), math.NaN()
	}
	s := slices.Clone(draws)
	slices.Sort(s)
	return sortedQuantile(s, (1-level)/2), sortedQuantile(s, (1+level)/2)
}
