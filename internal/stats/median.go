package stats

import "slices"

// Median returns the sample median of the cell's scores by numpy's linear rule.
func (c *Cell) Median() float64 { return sortedQuantile(c.sorted, 0.5) }

// MedianDraws returns b plain bootstrap draws of the median: of resamples of N
// scores with replacement, neither centred nor widened. The median of a small
// sample takes few values, so its percentile interval is coarse.
func (c *Cell) MedianDraws(b int) []float64 {
	n := len(c.sorted)
	g := c.stream("median")
	out := make([]float64, b)
	picks := make([]int, n)
	resample := make([]float64, n)
	for r := range out {
		for i := range picks {
			picks[i] = int(g.below(uint64(n)))
		}
		slices.Sort(picks)
		for i, at := range picks {
			resample[i] = c.sorted[at]
		}
		out[r] = sortedQuantile(resample, 0.5)
	}
	return out
}

// SuiteMedian returns the mean over cells, one per environment, of the median
// score of single attempts, with the draws and interval of MedianDraws.
func SuiteMedian(cells []*Cell, b int) SuiteScore {
	var s SuiteScore
	draws := make([][]float64, len(cells))
	for i, c := range cells {
		s.Point += c.Median() / float64(len(cells))
		draws[i] = c.MedianDraws(b)
	}
	s.Draws = SuiteMean(draws)
	s.Interval = SuiteInterval(cells, 1, s.Draws, Level)
	s.Interval.OpenHigh = false
	return s
}
