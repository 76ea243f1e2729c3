package stats

import "math/bits"

// generator is SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014): period 2^64, and consecutive numbers do not
// wait for one another. The state comes from a hash, so that two of a thousand
// streams of a million numbers overlap with a probability below one in a million.
type generator struct{ state uint64 }

// next returns 64 uniform bits.
func (g *generator) next() uint64 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a uniform integer in [0, n), n >= 1, without bias (Lemire, "Fast
// Random Integer Generation in an Interval", ACM TOMACS 29, 2019).
func (g *generator) below(n uint64) uint64 {
	hi, lo := bits.Mul64(g.next(), n)
	if lo < n {
		for t := -n % n; lo < t; {
			hi, lo = bits.Mul64(g.next(), n)
		}
	}
	return hi
}

// batch draws several indices in [0, bound) from one 64-bit word r: read as a
// fraction, r*bound has the first index as its integer part, the rest times bound
// the second, and so on. All bound^j outcomes are equally likely once words with
// r*bound^j mod 2^64 < 2^64 mod bound^j are rejected (Brackett-Rozinsky and
// Lemire, "Batched Ranged Random Integer Generation", 2024, arXiv 2408.06213).
type batch struct {
	bound  uint64
	size   int      // most indices per word
	power  []uint64 // power[j] = bound^j, j = 0..size
	reject []uint64 // reject[j] = 2^64 mod bound^j
}

func newBatch(bound uint64) batch {
	b := batch{bound: bound, power: []uint64{1}, reject: []uint64{0}}
	for p := bound; b.size < 60; p *= bound {
		b.size++
		b.power = append(b.power, p)
		b.reject = append(b.reject, -p%p)
		// Up to 2^60 a word is rejected with probability below 1/16.
		if hi, lo := bits.Mul64(p, bound); hi > 0 || lo > 1<<60 {
			break
		}
	}
	return b
}

// word returns a word that j indices may be drawn from, 1 <= j <= size.
func (b *batch) word(g *generator, j int) uint64 {
	r := g.next()
	for r*b.power[j] < b.reject[j] {
		r = g.next()
	}
	return r
}

// fillFours draws one index per element, four from each word. The length of index
// is a multiple of 4 and size is at least 4.
func (b *batch) fillFours(g *generator, index []uint32) {
	local, bound, power, reject := *g, b.bound, b.power[4], b.reject[4]
	for ; len(index) >= 4; index = index[4:] {
		r := local.next()
		for r*power < reject {
			r = local.next()
		}
		var x uint64
		x, r = bits.Mul64(r, bound)
		index[0] = uint32(x)
		x, r = bits.Mul64(r, bound)
		index[1] = uint32(x)
		x, r = bits.Mul64(r, bound)
		index[2] = uint32(x)
		x, _ = bits.Mul64(r, bound)
		index[3] = uint32(x)
	}
	*g = local
}
