package stats

import (
	"math"
	"slices"
	"testing"
)

func TestMedianAndSampleSD(t *testing.T) {
	for _, tc := range []struct {
		x          []float64
		median, sd float64
	}{
		{nil, 0, 0},
		{[]float64{7}, 7, 0},
		{[]float64{3, 1, 2}, 2, 1},
		{[]float64{4, 1, 3, 2}, 2.5, math.Sqrt(5.0 / 3)},
		{[]float64{2, 2, 2}, 2, 0},
		{[]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 0.1, 0},
	} {
		before := slices.Clone(tc.x)
		if m, sd := Median(tc.x), SampleSD(tc.x); m != tc.median || math.Abs(sd-tc.sd) > 1e-15*tc.sd {
			t.Errorf("%v: median %v, sd %v; want %v, %v", tc.x, m, sd, tc.median, tc.sd)
		}
		if !slices.Equal(tc.x, before) {
			t.Errorf("%v became %v", before, tc.x)
		}
	}
}
