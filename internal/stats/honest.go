package stats

import "fmt"

// honestSplits is the number of random splits per cell in HonestBest.
const honestSplits = 200

// Candidate is one suite-wide allocation: K attempts under one time limit, with
// one cell per environment. All candidates list the environments in one order.
type Candidate struct {
	K     int
	Cells []*Cell
}

// HonestScore is the score of the best observed allocation without the upward
// bias of reading it off the data that chose it (the winner's curse).
type HonestScore struct {
	// Estimable is false when some cell has fewer than two attempts beyond the
	// effective k, so that it can't be split. The other fields are zero then.
	Estimable bool
	// Score is the cross-fitted suite score.
	Score float64
	// Chosen is, per candidate, the share of splits in which it was chosen.
	Chosen []float64
}

// HonestBest estimates by cross-fitting the suite score of the allocation that
// looks best. Each of 200 times every cell's attempts are split at random into a
// selection part of size min(floor(n/2), n-ke), ke being EffectiveK, and the
// rest. The candidate with the highest suite mean of the WithReplacement estimate
// on the selection parts is chosen (ties: the first) and scored by the suite mean
// of the WithoutReplacement estimate on the rest; the result is the average. With
// a single candidate nothing is selected and only the Monte Carlo error of the
// splits separates the result from the plain score.
//
// Splits come from each cell's own stream. It returns ErrShape without candidates,
// without environments, for unequal numbers of cells or for K < 1.
func HonestBest(candidates []Candidate) (HonestScore, error) {
	if len(candidates) == 0 {
		return HonestScore{}, fmt.Errorf("honest best: %w: no candidates", ErrShape)
	}
	cells := len(candidates[0].Cells)
	estimable := true
	for i, a := range candidates {
		if len(a.Cells) != cells || cells == 0 || a.K < 1 {
			return HonestScore{}, fmt.Errorf("honest best: %w: candidate %d has k = %d and %d cells, want k >= 1 and %d cells (at least 1)", ErrShape, i, a.K, len(a.Cells), cells)
		}
		for _, c := range a.Cells {
			estimable = estimable && c.N()-c.EffectiveK(a.K) >= 2
		}
	}
	if !estimable {
		return HonestScore{}, nil
	}
	selection := make([][honestSplits]float64, len(candidates))
	rest := make([][honestSplits]float64, len(candidates))
	for i, a := range candidates {
		for _, c := range a.Cells {
			c.addSplits(a.K, &selection[i], &rest[i])
		}
	}
	out := HonestScore{Estimable: true, Chosen: make([]float64, len(candidates))}
	for s := range honestSplits {
		best := 0
		for i := range candidates {
			if selection[i][s] > selection[best][s] {
				best = i
			}
		}
		out.Chosen[best] += 1.0 / honestSplits
		out.Score += rest[best][s] / float64(cells) / honestSplits
	}
	return out, nil
}

// addSplits adds to selection and rest the two estimates of every split.
func (c *Cell) addSplits(k int, selection, rest *[honestSplits]float64) {
	n, ke := c.N(), c.EffectiveK(k)
	size := min(n/2, n-ke)
	sp := newSplitter(c, size)
	v := scoreWeights(bestOfKTable(size, ke, WithReplacement))
	u := scoreWeights(bestOfKTable(n-size, ke, WithoutReplacement))
	for s := range honestSplits {
		a, b := sp.split(v, u)
		selection[s] += a
		rest[s] += b
	}
}

// scoreWeights returns the weight of each ascending score in the estimate that a
// table of bestOfKTable gives, and a 0 for the place after the last.
func scoreWeights(f []float64) []float64 {
	w := make([]float64, len(f))
	for i := range len(f) - 1 {
		w[i] = f[i+1] - f[i]
	}
	return w
}

// splitter draws random subsets of a cell's attempts.
type splitter struct {
	rng    generator
	sorted []float64
	size   int
	order  []uint32 // a permutation; its first size elements are the subset
	inside []int    // per attempt 1 if it is in the subset, else 0
}

func newSplitter(c *Cell, size int) *splitter {
	n := c.N()
	s := &splitter{rng: c.stream("split"), sorted: c.sorted, size: size, order: make([]uint32, n), inside: make([]int, n)}
	for i := range s.order {
		s.order[i] = uint32(i)
	}
	return s
}

// split draws a subset and returns the weighted sums of its scores and of the
// others, each taken in ascending order, with weights v and u.
func (s *splitter) split(v, u []float64) (inside, outside float64) {
	// A partial Fisher-Yates shuffle, which may start from any permutation.
	clear(s.inside)
	n := len(s.order)
	for i := range s.size {
		j := i + int(s.rng.below(uint64(n-i)))
		s.order[i], s.order[j] = s.order[j], s.order[i]
		s.inside[s.order[i]] = 1
	}
	taken, left := 0, 0
	for i, x := range s.sorted {
		// Without a branch, which would be a coin toss.
		in := s.inside[i]
		share := float64(in)
		inside += share * v[taken] * x
		outside += (1 - share) * u[left] * x
		taken += in
		left += 1 - in
	}
	return inside, outside
}
