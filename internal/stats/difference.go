package stats

import (
	"fmt"
	"strconv"
)

// Difference compares two suite scores at the same total time over the same
// environments.
type Difference struct {
	// Value is D = A - B of the point estimates.
	Value float64
	// Interval is the interval of D at Level. It has no ends when either score has
	// none; an end is open on the side where a saturated cell leaves it open.
	Interval Interval
	// Support is the share of draws with D > 0 plus half the ties, in [0, 1]:
	// bootstrap support for A being above B, not a probability that it is.
	Support float64
}

// Compare returns the difference a - b from draw by draw differences. Draws of
// different cells are independent, and a cell that occurs on both sides has the
// same draws on both. It returns ErrShape when the numbers of draws differ or are 0.
func Compare(a, b SuiteScore) (Difference, error) {
	if len(a.Draws) != len(b.Draws) || len(a.Draws) == 0 {
		return Difference{}, fmt.Errorf("compare: %w: %d and %d draws, want equal and positive numbers", ErrShape, len(a.Draws), len(b.Draws))
	}
	out := Difference{Value: a.Point - b.Point}
	d := make([]float64, len(a.Draws))
	above, ties := 0, 0
	for i, x := range a.Draws {
		d[i] = x - b.Draws[i]
		if d[i] > 0 {
			above++
		} else if d[i] == 0 {
			ties++
		}
	}
	out.Support = (float64(above) + float64(ties)/2) / float64(len(d))
	if a.Interval.Low != nil && b.Interval.Low != nil {
		lo, hi := PercentileInterval(d, Level)
		out.Interval = Interval{Low: &lo, High: &hi, OpenHigh: a.Interval.OpenHigh, OpenLow: b.Interval.OpenHigh}
	}
	return out, nil
}

// SupportText prints a share of bootstrap draws with three decimals, and shares
// that would print as 0 or 1 as "<0.001" and ">0.999", because a finite number of
// draws shows neither certainty.
func SupportText(p float64) string {
	switch {
	case p < 0.001:
		return "<0.001"
	case p > 0.999:
		return ">0.999"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
