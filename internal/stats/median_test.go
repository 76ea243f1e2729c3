package stats

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, tc := range []struct {
		scores []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{0, 1}, 0.5},
		{[]float64{5, 1, 2}, 2},
		{[]float64{0, 0, 1, 9}, 0.5},
	} {
		c, err := NewCell("m", tc.scores, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Median(); got != tc.want {
			t.Errorf("Median(%v) = %v, want %v", tc.scores, got, tc.want)
		}
	}
}

// The median of a resample of {0, 1, 2} is 1 with probability 13/27 and 0 or 2
// with 7/27 each (counted over all 27 resamples).
func TestMedianDrawsFollowTheExactDistribution(t *testing.T) {
	c, err := NewCell("m", []float64{0, 1, 2}, false)
	if err != nil {
		t.Fatal(err)
	}
	const b = 40_000
	count := map[float64]float64{}
	for _, d := range c.MedianDraws(b) {
		count[d]++
	}
	for value, p := range map[float64]float64{0: 7.0 / 27, 1: 13.0 / 27, 2: 7.0 / 27} {
		sd := math.Sqrt(p * (1 - p) / b)
		if got := count[value] / b; math.Abs(got-p) > 5*sd {
			t.Errorf("share of median %v is %v, want %v within %v", value, got, p, 5*sd)
		}
	}
}
