package stats

import (
	"fmt"
	"math"
)

// ConstantCells returns how many cells have all scores equal. Such cells add no
// width to a suite interval, which a reader must be told.
func ConstantCells(cells []*Cell) int {
	n := 0
	for _, c := range cells {
		if c.Constant() {
			n++
		}
	}
	return n
}

// NonZeroBound returns 1 - 0.05^(1/n): the upper end of the exact one-sided 95%
// interval for the probability of a non-zero score after n >= 1 attempts that all
// scored 0. It returns 1 for n < 1.
func NonZeroBound(n int) float64 {
	if n < 1 {
		return 1
	}
	return -math.Expm1(math.Log(0.05) / float64(n))
}

// CoverageClass groups suite scores by how well their intervals cover.
type CoverageClass int

const (
	// CoverageMean: k = 1 (or the last entry counts) in every cell.
	CoverageMean CoverageClass = iota
	// CoverageAmple: n >= 4k in every cell.
	CoverageAmple
	// CoverageScarce: k < n < 4k in the cell with the smallest n/k.
	CoverageScarce
	// CoverageSaturated: k >= n in some cell.
	CoverageSaturated
)

// CoverageFigures are percentages as the program in ./coverage measures them, to
// about two points; its test holds them to the simulation.
type CoverageFigures struct {
	// Condition says which suite scores the figures hold for.
	Condition string
	// MeanLow and MeanHigh bound the average coverage; Worst is the worst case.
	MeanLow, MeanHigh, Worst int
}

// Figures returns the measured coverage of the Centred intervals of a class.
func (c CoverageClass) Figures() CoverageFigures {
	switch c {
	case CoverageMean:
		return CoverageFigures{"k = 1", 92, 93, 85}
	case CoverageAmple:
		return CoverageFigures{"n >= 4k", 88, 92, 69}
	case CoverageScarce:
		return CoverageFigures{"k < n < 4k", 81, 86, 52}
	}
	return CoverageFigures{"k = n", 72, 75, 45}
}

// Coverage returns the class of a suite score of k attempts: that of the cell
// with the smallest n/k. Cells where the last entry counts behave as k = 1.
func Coverage(cells []*Cell, k int) CoverageClass {
	worst := CoverageMean
	for _, c := range cells {
		class := CoverageMean
		switch ke, n := c.EffectiveK(k), c.N(); {
		case c.Saturated(k):
			class = CoverageSaturated
		case ke == 1:
		case n >= 4*ke:
			class = CoverageAmple
		default:
			class = CoverageScarce
		}
		worst = max(worst, class)
	}
	return worst
}

// CoverageText is the sentence that belongs beside an interval of k attempts over
// cells, one per environment.
func CoverageText(cells []*Cell, k int) string {
	f := Coverage(cells, k).Figures()
	these := "this one environment"
	if len(cells) != 1 {
		these = fmt.Sprintf("these %d environments", len(cells))
	}
	return fmt.Sprintf("Nominal 95%%, conditional on %s. In simulations based on these data it covered on average %d-%d%% for %s (worst %d%%). Misses are mostly a true value above the interval: attempts cannot reveal a rarer, better result.", these, f.MeanLow, f.MeanHigh, f.Condition, f.Worst)
}
