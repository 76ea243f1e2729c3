package stats

import (
	"math"
	"math/bits"
)

// peelAt is the multiplicity from which the most frequent score gets its count
// from one binomial draw instead of one index draw for each of its copies. It
// changes speed and the stream, not the distribution.
const peelAt = 10

// resampler draws bootstrap resamples of a cell as cumulative multinomial counts
// over its distinct scores, which is all that an estimate needs: a resample is
// never sorted, and equal scores (often most of them are 0) are never told apart.
type resampler struct {
	rng generator

	n     int
	heavy int        // distinct score whose count is drawn first, -1 for none
	count aliasTable // distribution of that count

	light  []uint32 // the other scores: index -> position among the distinct ones
	power  []uint64 // power[j] = len(light)^j
	reject []uint64 // bound below which j indices would be biased
	tally  []uint32
}

// newResampler prepares the stream of a cell with at least two distinct scores.
func newResampler(c *Cell) *resampler {
	s := &resampler{rng: c.stream("resample"), n: c.N(), heavy: -1, tally: make([]uint32, len(c.value))}
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
	s.power, s.reject = batchBounds(uint64(len(s.light)))
	return s
}

// multiplicity returns how often the j-th distinct score occurs.
func (c *Cell) multiplicity(j int) int {
	if j == 0 {
		return c.upTo[0]
	}
	return c.upTo[j] - c.upTo[j-1]
}

// batchBounds returns, for j = 0..len-1, n^j and 2^64 mod n^j: see next.
func batchBounds(n uint64) (power, reject []uint64) {
	power, reject = []uint64{1}, []uint64{0}
	for p := n; ; p *= n {
		power = append(power, p)
		reject = append(reject, -p%p)
		// Up to 2^60 a batch is rejected with probability below 1/16.
		if hi, lo := bits.Mul64(p, n); hi > 0 || lo > 1<<60 || len(power) > 60 {
			return power, reject
		}
	}
}

// next draws one resample: cum[j] becomes the number of its scores that are at
// most the j-th distinct score, for j = 0..len(cum)-1.
//
// Several indices come from one 64-bit word r: read as a fraction, r*n has the
// first index as its integer part, the rest times n the second, and so on. All
// n^j outcomes are equally likely once words with r*n^j mod 2^64 < 2^64 mod n^j
// are rejected (Brackett-Rozinsky and Lemire, "Batched Ranged Random Integer
// Generation", 2024, arXiv 2408.06213).
func (s *resampler) next(cum []uint32) {
	todo := s.n
	if s.heavy >= 0 {
		k := s.count.draw(s.rng.next())
		s.tally[s.heavy] = k
		todo -= int(k)
	}
	light, tally := s.light, s.tally
	bound := uint64(len(light))
	batch := len(s.power) - 1
	for todo > 0 {
		j := min(todo, batch)
		r := s.rng.next()
		for r*s.power[j] < s.reject[j] {
			r = s.rng.next()
		}
		todo -= j
		for ; j > 0; j-- {
			var i uint64
			i, r = bits.Mul64(r, bound)
			tally[light[i]]++
		}
	}
	sum := uint32(0)
	for j := range cum {
		sum += tally[j]
		tally[j] = 0
		cum[j] = sum
	}
	tally[len(tally)-1] = 0
}

// aliasTable draws from a distribution on 0..n-1 in constant time (Walker's
// method with Vose's construction, IEEE Trans. Softw. Eng. 17(9), 1991).
type aliasTable struct {
	keep  []uint64 // share of a column that stays, in units of 2^-64
	other []uint32
}

func newAliasTable(p []float64) aliasTable {
	n := len(p)
	t := aliasTable{keep: make([]uint64, n), other: make([]uint32, n)}
	scaled := make([]float64, n)
	var small, large []int
	for i, x := range p {
		scaled[i] = x * float64(n)
		if scaled[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.keep[s], t.other[s] = fraction64(scaled[s]), uint32(l)
		scaled[l] -= 1 - scaled[s]
		if scaled[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, i := range append(small, large...) { // what is left is 1 up to rounding
		t.keep[i], t.other[i] = math.MaxUint64, uint32(i)
	}
	return t
}

// fraction64 returns x in [0, 1) as a multiple of 2^-64.
func fraction64(x float64) uint64 { return uint64(max(x, 0) * (1 << 63) * 2) }

// draw maps 64 uniform bits to an outcome.
func (t *aliasTable) draw(r uint64) uint32 {
	column, rest := bits.Mul64(r, uint64(len(t.keep)))
	if rest < t.keep[column] {
		return uint32(column)
	}
	return t.other[column]
}

// binomialPMF returns the probabilities of 0..n successes at probability p in
// (0, 1), by ratios from the mode outwards so that nothing underflows early.
func binomialPMF(n int, p float64) []float64 {
	f := make([]float64, n+1)
	mode := min(int(float64(n+1)*p), n)
	odds := p / (1 - p)
	f[mode] = 1
	sum := 1.0
	for k := mode; k < n; k++ {
		f[k+1] = f[k] * odds * float64(n-k) / float64(k+1)
		sum += f[k+1]
	}
	for k := mode; k > 0; k-- {
		f[k-1] = f[k] / odds * float64(k) / float64(n-k+1)
		sum += f[k-1]
	}
	for k := range f {
		f[k] /= sum
	}
	return f
}
