package stats

import "math/bits"

// generator is xoshiro256++ 1.0 of Blackman and Vigna ("Scrambled linear
// pseudorandom number generators", ACM TOMS 47, 2021): period 2^256-1. The state
// comes from a hash, so two streams overlap with negligible probability.
type generator struct{ s0, s1, s2, s3 uint64 }

func newGenerator(seed [4]uint64) generator {
	if seed == ([4]uint64{}) {
		seed[0] = 1 // the one state that is not allowed
	}
	return generator{seed[0], seed[1], seed[2], seed[3]}
}

// next returns 64 uniform bits.
func (g *generator) next() uint64 {
	r := bits.RotateLeft64(g.s0+g.s3, 23) + g.s0
	t := g.s1 << 17
	g.s2 ^= g.s0
	g.s3 ^= g.s1
	g.s1 ^= g.s2
	g.s0 ^= g.s3
	g.s2 ^= t
	g.s3 = bits.RotateLeft64(g.s3, 45)
	return r
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
