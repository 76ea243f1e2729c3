package view

import (
	"math"
	"strconv"
)

// scale maps numbers to the width of a small graphic, in percent.
type scale struct {
	low, high float64
	ticks     []float64
}

// maxScale is where a score's graphic ends; what lies beyond gets an arrow.
const maxScale = 5

// scoreScale covers 0 and 1 and every given value, up to maxScale.
func scoreScale(values []float64) scale {
	high := 1.1
	for _, v := range values {
		if v > high && !math.IsInf(v, 0) {
			high = v
		}
	}
	s := scale{high: math.Min(high*1.02, maxScale)}
	step := 0.5
	if s.high > 2 {
		step = 1
	}
	for t := 0.0; t <= s.high; t += step {
		s.ticks = append(s.ticks, t)
	}
	return s
}

// differenceScale is symmetric around 0 and covers every given value.
func differenceScale(values []float64) scale {
	most := 0.2
	for _, v := range values {
		if a := math.Abs(v); a > most && !math.IsInf(a, 0) {
			most = a
		}
	}
	most = math.Min(most*1.04, maxScale)
	s := scale{low: -most, high: most}
	step := 0.1
	for _, candidate := range []float64{0.25, 0.5, 1} {
		if most/step > 3.5 {
			step = candidate
		}
	}
	for i := -math.Floor(most / step); i*step <= most; i++ {
		s.ticks = append(s.ticks, i*step)
	}
	return s
}

// at returns the place of x as a percentage, cut to the scale.
func (s scale) at(x float64) string {
	f := 100 * (x - s.low) / (s.high - s.low)
	return strconv.FormatFloat(math.Max(0, math.Min(100, f)), 'f', 2, 64) + "%"
}

// width returns the length from low to x as a percentage.
func (s scale) width(x float64) string { return s.at(x) }

// beyond reports whether x lies above the scale.
func (s scale) beyond(x float64) bool { return x > s.high }

// tickLabel prints a tick without trailing zeros.
func tickLabel(t float64) string {
	s := number(t, 2)
	for len(s) > 3 && s[len(s)-1] == '0' && s[len(s)-2] != '.' {
		s = s[:len(s)-1]
	}
	if t == math.Trunc(t) {
		return number(t, 0)
	}
	return s
}
