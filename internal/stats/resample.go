package stats

import "math/bits"

// tile is how many resamples are drawn at a time, so that each step of the work
// is one loop over many of them.
const tile = 32

// resampler draws bootstrap resamples of a cell as cumulative multinomial counts
// over its distinct scores, which is all that an estimate needs: a resample is
// never sorted, and equal scores (often most of them are 0) are never told apart.
type resampler[T uint8 | uint32] interface {
	// next draws tile resamples: cum[r*stride()+j] becomes how many scores of
	// resample r are at most the j-th distinct score, for all but the highest.
	next(cum []T)
	stride() int
}

// multiplicity returns how often the j-th distinct score occurs.
func (c *Cell) multiplicity(j int) int {
	if j == 0 {
		return c.upTo[0]
	}
	return c.upTo[j] - c.upTo[j-1]
}

// peelAt is the multiplicity from which tallyResampler draws the count of the most
// frequent score from its binomial distribution, not one index for each copy.
const peelAt = 20

// tallyResampler serves cells of any size. It counts in memory, one counter per
// distinct score.
type tallyResampler struct {
	rng   generator
	n     int
	heavy int        // the score whose count is drawn first, -1 for none
	count aliasTable // distribution of that count
	light []uint32   // the other scores: index -> position among the distinct ones
	index batch
	tally []uint32
}

func newTallyResampler(c *Cell) *tallyResampler {
	s := &tallyResampler{rng: c.stream("resample"), n: c.N(), heavy: -1, tally: make([]uint32, len(c.value))}
	largest := 0
	for j := range c.value {
		if m := c.multiplicity(j); m >= peelAt && m > largest {
			s.heavy, largest = j, m
		}
	}
	if s.heavy >= 0 {
		s.count = newAliasTable(binomialPMF(s.n, float64(largest)/float64(s.n)))
	}
	for j := range c.value {
		if j == s.heavy {
			continue
		}
		for range c.multiplicity(j) {
			s.light = append(s.light, uint32(j))
		}
	}
	s.index = newBatch(uint64(len(s.light)))
	return s
}

func (s *tallyResampler) stride() int { return len(s.tally) - 1 }

func (s *tallyResampler) next(cum []uint32) {
	gaps := s.stride()
	for r := range tile {
		s.one()
		sum := uint32(0)
		row := cum[r*gaps : (r+1)*gaps]
		for j := range row {
			sum += s.tally[j]
			row[j] = sum
		}
	}
}

// one fills tally with the counts of one resample.
func (s *tallyResampler) one() {
	light, tally := s.light, s.tally
	clear(tally)
	todo := s.n
	if s.heavy >= 0 {
		k := s.count.draw(s.rng.next())
		tally[s.heavy] = k
		todo -= int(k)
	}
	bound := s.index.bound
	var i uint64
	for todo > 0 {
		j := min(todo, s.index.size)
		todo -= j
		r := s.index.word(&s.rng, j)
		for ; j >= 4; j -= 4 {
			i, r = bits.Mul64(r, bound)
			tally[light[i]]++
			i, r = bits.Mul64(r, bound)
			tally[light[i]]++
			i, r = bits.Mul64(r, bound)
			tally[light[i]]++
			i, r = bits.Mul64(r, bound)
			tally[light[i]]++
		}
		for ; j > 0; j-- {
			i, r = bits.Mul64(r, bound)
			tally[light[i]]++
		}
	}
}
