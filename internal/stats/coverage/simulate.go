package main

import (
	"fmt"
	"math/rand/v2"

	"rebench/internal/stats"
)

// population is a truth to sample from: the published scores of one agent and
// time limit, taken as the whole distribution of each of the seven environments.
type population struct {
	name         string
	environments []*stats.Cell
}

// setting is one number of attempts n, the same in every environment, and the ks
// whose intervals are checked.
type setting struct {
	n  int
	ks []int
}

// settings covers n = 7 to 36 and k = 1 to 16, with k = n where n is a power of
// two.
var settings = []setting{
	{7, []int{1, 2, 4}},
	{8, []int{1, 2, 4, 8}},
	{12, []int{1, 2, 4, 8}},
	{16, []int{1, 2, 4, 8, 16}},
	{24, []int{1, 2, 4, 8, 16}},
	{36, []int{1, 2, 4, 8, 16}},
}

// result is how the intervals of one population and setting did, for one k.
type result struct {
	population string
	n, k       int
	covered    float64 // share of intervals that contain the truth
	above      float64 // share that lie wholly below it: the true value is above
	width      float64 // mean width, in units of normalized score
}

// class returns the coverage class of a result as the site words it.
func (r result) class() stats.CoverageClass {
	switch {
	case r.k >= r.n:
		return stats.CoverageSaturated
	case r.k == 1:
		return stats.CoverageMean
	case r.n >= 4*r.k:
		return stats.CoverageAmple
	}
	return stats.CoverageScarce
}

// simulate draws simulations samples of s.n attempts per environment from p,
// computes the suite interval from each with replicates bootstrap draws, and
// compares it with the true suite score@k: the exact expected best of k attempts
// drawn from the population.
func simulate(p population, s setting, conv stats.Convention, simulations, replicates int, rng *rand.Rand) ([]result, error) {
	results := make([]result, len(s.ks))
	truth := make([]float64, len(s.ks))
	for i, k := range s.ks {
		results[i] = result{population: p.name, n: s.n, k: k}
		truth[i] = stats.SuiteScoreAtK(p.environments, k, stats.WithReplacement)
	}
	pools := make([][]float64, len(p.environments))
	for e, c := range p.environments {
		pools[e] = c.Scores()
	}
	cells := make([]*stats.Cell, len(pools))
	sample := make([]float64, s.n)
	for run := range simulations {
		for e, pool := range pools {
			for i := range sample {
				sample[i] = pool[rng.IntN(len(pool))]
			}
			var err error
			// The key makes the streams of equal samples independent.
			if cells[e], err = stats.NewCell(fmt.Sprint(run, e, rng.Uint64()), sample, p.environments[e].Last()); err != nil {
				return nil, err
			}
		}
		for i, draws := range stats.SuiteDraws(cells, s.ks, replicates, stats.WithoutReplacement, conv) {
			lo, hi := stats.PercentileInterval(draws, stats.Level)
			r := &results[i]
			r.width += (hi - lo) / float64(simulations)
			switch {
			case hi < truth[i]:
				r.above += 1 / float64(simulations)
			case lo <= truth[i]:
				r.covered += 1 / float64(simulations)
			}
		}
	}
	return results, nil
}

// summary is a line of the table: one class and n, over populations and k.
type summary struct {
	class                         stats.CoverageClass
	n                             int // 0 for the class as a whole
	cases                         int
	mean, worst, above, meanWidth float64
	worstCase                     string
}

// summarize groups results by class, and within a class by n.
func summarize(results []result) []summary {
	var out []summary
	for class := stats.CoverageMean; class <= stats.CoverageSaturated; class++ {
		if s := summarizeWhere(results, class, 0); s.cases > 0 {
			out = append(out, s)
		}
		for _, set := range settings {
			if s := summarizeWhere(results, class, set.n); s.cases > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

func summarizeWhere(results []result, class stats.CoverageClass, n int) summary {
	s := summary{class: class, n: n, worst: 1}
	for _, r := range results {
		if r.class() != class || n > 0 && r.n != n {
			continue
		}
		s.cases++
		s.mean += r.covered
		s.above += r.above
		s.meanWidth += r.width
		if r.covered <= s.worst {
			s.worst = r.covered
			s.worstCase = fmt.Sprintf("%s, n = %d, k = %d", r.population, r.n, r.k)
		}
	}
	if s.cases > 0 {
		s.mean /= float64(s.cases)
		s.above /= float64(s.cases)
		s.meanWidth /= float64(s.cases)
	}
	return s
}
