package stats

// ResampleHumans returns b bootstrap replicates of HumanPercentiles: in each,
// every cell is replaced by a resample with replacement of its own attempts.
// Replicate r of two sets of cells shares the resamples of the cells in both.
func ResampleHumans(humans []*Cell, b int) []PercentileCurve {
	out := make([]PercentileCurve, b)
	for _, c := range humans {
		c.eachResample(b, func(r int, sorted []float64) {
			for p := range out[r] {
				out[r][p] += sortedQuantile(sorted, float64(p+1)/100) / float64(len(humans))
			}
		})
	}
	return out
}

// PercentileBand returns pointwise the interval at the given level of replicates
// of a percentile curve: a plain percentile bootstrap.
func PercentileBand(replicates []PercentileCurve, level float64) (low, high PercentileCurve) {
	column := make([]float64, len(replicates))
	for p := range low {
		for r := range replicates {
			column[r] = replicates[r][p]
		}
		low[p], high[p] = PercentileInterval(column, level)
	}
	return low, high
}

// MatchedInterval returns the interval at Level of the matched percentile when
// both the score (its draws) and the humans (replicates, as many as draws) vary.
func MatchedInterval(replicates []PercentileCurve, draws []float64) (low, high Percentile) {
	matched := make([]float64, min(len(draws), len(replicates)))
	for r := range matched {
		matched[r] = float64(MatchedPercentile(replicates[r], draws[r]))
	}
	lo, hi := PercentileInterval(matched, Level)
	return Percentile(lo), Percentile(hi)
}
