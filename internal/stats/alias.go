package stats

import (
	"math"
	"math/bits"
)

// aliasTable draws from a distribution on 0..n-1 in constant time (Walker's
// method with Vose's construction, IEEE Trans. Softw. Eng. 17(9), 1991).
type aliasTable struct{ columns []aliasColumn }

type aliasColumn struct {
	keep  uint64 // share of the column that stays, in units of 2^-64
	other uint32 // where the rest goes
}

func newAliasTable(p []float64) aliasTable {
	n := len(p)
	t := aliasTable{make([]aliasColumn, n)}
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
		t.columns[s] = aliasColumn{fraction64(scaled[s]), uint32(l)}
		scaled[l] -= 1 - scaled[s]
		if scaled[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, i := range append(small, large...) { // what is left is 1 up to rounding
		t.columns[i] = aliasColumn{math.MaxUint64, uint32(i)}
	}
	return t
}

// fraction64 returns x in [0, 1) as a multiple of 2^-64.
func fraction64(x float64) uint64 { return uint64(max(x, 0) * (1 << 63) * 2) }

// draw maps 64 uniform bits to an outcome.
func (t *aliasTable) draw(r uint64) uint32 {
	i, rest := bits.Mul64(r, uint64(len(t.columns)))
	c := &t.columns[i]
	out, other := uint32(i), c.other
	if rest >= c.keep { // compiled to a conditional move: it can't be predicted
		out = other
	}
	return out
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
