package stats

import (
	"math"
	"slices"
)

// Median is the middle of x, or the mean of the two in the middle; 0 of nothing.
func Median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// SampleSD is the standard deviation of x with n - 1 in the denominator; 0 of fewer
// than two values.
func SampleSD(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	// From the first value, so that equal values have exactly 0.
	var mean, squares float64
	for _, v := range x {
		mean += (v - x[0]) / float64(len(x))
	}
	for _, v := range x {
		d := v - x[0] - mean
		squares += d * d
	}
	return math.Sqrt(squares / float64(len(x)-1))
}
