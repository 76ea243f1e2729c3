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
	tail := (1 - level) / 2
	if lo, hi, ok := tailQuantiles(draws, tail); ok {
		return lo, hi
	}
	s := slices.Clone(draws)
	slices.Sort(s)
	return sortedQuantile(s, tail), sortedQuantile(s, 1-tail)
}

// tailSample is how many draws tailQuantiles looks at to guess its thresholds.
const tailSample = 256

// tailQuantiles returns the q- and (1-q)-quantiles of draws without sorting them
// all: thresholds guessed from a few draws keep both tails with some room, one
// pass collects these, and only they are sorted. It reports false where that
// does not pay or a guess was too narrow, as it is when many draws are equal.
func tailQuantiles(draws []float64, q float64) (lo, hi float64, ok bool) {
	n := len(draws)
	if n < 8*tailSample || q > 0.1 {
		return 0, 0, false
	}
	var sample [tailSample]float64
	for i := range sample {
		sample[i] = draws[i*n/tailSample]
	}
	slices.Sort(sample[:])
	// Four standard deviations of the sample's count below the quantile.
	room := int(q*tailSample + 4*math.Sqrt(q*(1-q)*tailSample) + 1)
	below, above := sample[room], sample[tailSample-1-room]
	if !(below < above) {
		return 0, 0, false
	}
	var lows, highs []float64
	capacity := n*(room+1)/tailSample + n/16
	buffer := make([]float64, 2*capacity)
	lows, highs = buffer[:0:capacity], buffer[capacity:capacity]
	for _, x := range draws {
		if x < below {
			lows = append(lows, x)
		} else if x > above {
			highs = append(highs, x)
		}
	}
	i, j, frac := quantilePosition(n, q)
	if j >= len(lows) {
		return 0, 0, false
	}
	slices.Sort(lows)
	lo = lerp(lows[i], lows[j], frac)
	i, j, frac = quantilePosition(n, 1-q)
	offset := n - len(highs)
	if i < offset {
		return 0, 0, false
	}
	slices.Sort(highs)
	return lo, lerp(highs[i-offset], highs[j-offset], frac), true
}
