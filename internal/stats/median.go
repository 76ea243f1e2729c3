package stats

// Median returns the sample median of the cell's scores by numpy's linear rule.
func (c *Cell) Median() float64 { return sortedQuantile(c.sorted, 0.5) }

// MedianDraws returns b plain bootstrap draws of the median: of resamples of N
// scores with replacement, neither centred nor widened. The median of a small
// sample takes few values, so its percentile interval is coarse.
func (c *Cell) MedianDraws(b int) []float64 {
	out := make([]float64, b)
	c.eachResample(b, func(r int, sorted []float64) { out[r] = sortedQuantile(sorted, 0.5) })
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
