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

// tailQuantiles returns the q- and (1-q)-quantiles of draws without sorting them:
// thresholds guessed from a few draws keep both tails with some room, one pass
// collects these, and only they are searched. It reports false where that does
// not pay or a guess was too narrow, as it can be when many draws are equal.
func tailQuantiles(draws []float64, q float64) (lo, hi float64, ok bool) {
	n := len(draws)
	if n < 4*tailSample || q > 0.1 {
		return 0, 0, false
	}
	var sample [tailSample]float64
	for i := range sample {
		sample[i] = draws[i*n/tailSample]
	}
	// Three standard deviations of the sample's count beyond the quantile.
	room := int(q*tailSample + 3*math.Sqrt(q*(1-q)*tailSample) + 1)
	below := selectRank(sample[:], room)
	above := selectRank(sample[:], tailSample-1-room)
	var room1, room2 [1024]float64
	lows, highs := room1[:0], room2[:0]
	for _, x := range draws {
		if x < below {
			lows = append(lows, x)
		} else if x > above {
			highs = append(highs, x)
		}
	}
	i, j, frac := quantilePosition(n, q)
	k, l, frac2 := quantilePosition(n, 1-q)
	offset := n - len(highs)
	if j >= len(lows) || k < offset {
		return 0, 0, false
	}
	a, b := selectPair(lows, i, j)
	c, d := selectPair(highs, k-offset, l-offset)
	return lerp(a, b, frac), lerp(c, d, frac2), true
}

// selectPair returns the elements of rank i and j, which is i or i+1.
func selectPair(x []float64, i, j int) (a, b float64) {
	a = selectRank(x, i)
	if i == j {
		return a, a
	}
	return a, slices.Min(x[j:])
}

// selectRank returns the element of the given 0-based rank and moves it to that
// place, smaller ones before and larger ones after it (Hoare's quickselect with
// the median of three as pivot).
func selectRank(x []float64, rank int) float64 {
	lo, hi := 0, len(x)-1
	for hi-lo > 12 {
		mid := lo + (hi-lo)/2
		pivot := max(min(x[lo], x[mid]), min(max(x[lo], x[mid]), x[hi]))
		i, j := lo, hi
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case rank <= j:
			hi = j
		case rank >= i:
			lo = i
		default:
			return x[rank]
		}
	}
	for i := lo + 1; i <= hi; i++ {
		v, j := x[i], i
		for ; j > lo && x[j-1] > v; j-- {
			x[j] = x[j-1]
		}
		x[j] = v
	}
	return x[rank]
}
