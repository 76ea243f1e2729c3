package stats

// SuiteScore is the score of one agent under one allocation, averaged over a set
// of environments.
type SuiteScore struct {
	// Point is the mean over environments of ScoreAtK.
	Point float64
	// Draws are the suite's bootstrap draws. Two scores that are compared need the
	// same number of draws, made under the same Convention.
	Draws []float64
	// Interval is the interval of the draws at Level, with the marks of
	// SuiteInterval.
	Interval Interval
}

// NewSuiteScore computes the score of k attempts over cells, one per
// environment, with b bootstrap draws. To read several k from the same cells,
// Cell.Draws, SuiteMean and SuiteInterval need only one pass over the resamples.
func NewSuiteScore(cells []*Cell, k, b int, est Estimator, conv Convention) SuiteScore {
	draws := make([][]float64, len(cells))
	for i, c := range cells {
		draws[i] = c.Draws([]int{k}, b, est, conv)[0]
	}
	s := SuiteScore{Point: SuiteScoreAtK(cells, k, est), Draws: SuiteMean(draws)}
	s.Interval = SuiteInterval(cells, k, s.Draws, Level)
	return s
}
