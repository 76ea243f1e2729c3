package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// kinds are cells that between them use every path of the resamplers.
func kinds(tb testing.TB) map[string]*Cell {
	tb.Helper()
	repeat := func(counts ...int) []float64 {
		var x []float64
		for value, times := range counts {
			for range times {
				x = append(x, float64(value))
			}
		}
		return x
	}
	distinct := func(n int) []float64 { return repeat(slices.Repeat([]int{1}, n)...) }
	cells := map[string]*Cell{}
	for name, x := range map[string][]float64{
		"two":                   {0, 1},
		"three of two":          {0, 1, 1},
		"four distinct":         distinct(4),
		"eleven distinct":       distinct(11),
		"seventeen distinct":    distinct(17),
		"twenty distinct":       distinct(20),
		"thirty-nine distinct":  distinct(39),
		"forty-one distinct":    distinct(41),
		"forty-two distinct":    distinct(42), // the first too wide for packed counts
		"rare":                  repeat(38, 1),
		"three groups":          repeat(36, 1, 1),
		"heavy middle":          repeat(3, 30, 2, 1, 1),
		"many groups and zeros": repeat(append([]int{71}, slices.Repeat([]int{1}, 23)...)...),
		"255 in four":           repeat(200, 30, 20, 5),
		"256 in four":           repeat(200, 30, 20, 6), // the first too many for a byte
		"300 distinct":          distinct(300),
		"300 with zeros":        repeat(append([]int{100}, slices.Repeat([]int{1}, 200)...)...),
	} {
		c, err := NewCell(name, x, false)
		if err != nil {
			tb.Fatal(err)
		}
		cells[name] = c
	}
	return cells
}

// Resamples must be multinomial: mean and variance of every count, covariance of
// neighbours, and a chi-square test of every count's whole distribution.
func TestResamplesAreMultinomial(t *testing.T) {
	const b = 40_000
	for name, c := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			n, groups := c.N(), len(c.value)
			counts := make([][]int, groups)
			c.eachResample(b, func(r int, sorted []float64) {
				if !slices.IsSorted(sorted) {
					t.Fatalf("resample %d is not ascending", r)
				}
				at := 0
				for j, v := range c.value {
					start := at
					for at < n && sorted[at] == v {
						at++
					}
					counts[j] = append(counts[j], at-start)
				}
				if at != n {
					t.Fatalf("resample %d holds foreign scores: %v", r, sorted)
				}
			})
			for j := range groups {
				p := float64(c.multiplicity(j)) / float64(n)
				pmf := binomialPMF(n, p)
				if x, limit := chiSquare(counts[j], pmf, b); x > limit {
					t.Errorf("score %d: chi-square %.1f, want at most %.1f", j, x, limit)
				}
				if j == 0 {
					continue
				}
				// The covariance of two counts is -n p q, its standard error about n sqrt(pq/b).
				q := float64(c.multiplicity(j-1)) / float64(n)
				cov := 0.0
				for r := range b {
					cov += (float64(counts[j][r]) - float64(n)*p) * (float64(counts[j-1][r]) - float64(n)*q) / b
				}
				if want, se := -float64(n)*p*q, float64(n)*math.Sqrt(p*q/b); math.Abs(cov-want) > 5*se {
					t.Errorf("scores %d and %d: covariance %.4f, want %.4f within %.4f", j-1, j, cov, want, 5*se)
				}
			}
		})
	}
}

// chiSquare compares observed counts with a distribution, pooling cells that
// expect fewer than 5, and returns the statistic with a limit five and a half
// standard deviations above its mean (Wilson-Hilferty).
func chiSquare(observed []int, pmf []float64, total int) (x, limit float64) {
	seen := make([]int, len(pmf))
	for _, k := range observed {
		seen[k]++
	}
	var pooledSeen, pooledWant float64
	df := -1.0
	add := func(o, e float64) {
		x += (o - e) * (o - e) / e
		df++
	}
	for k, p := range pmf {
		pooledSeen += float64(seen[k])
		pooledWant += p * float64(total)
		if pooledWant >= 5 {
			add(pooledSeen, pooledWant)
			pooledSeen, pooledWant = 0, 0
		}
	}
	if pooledWant > 0 {
		x += (pooledSeen - pooledWant) * (pooledSeen - pooledWant) / (pooledWant + 5)
	}
	df = max(df, 1)
	h := 1 - 2/(9*df) + 5.5*math.Sqrt(2/(9*df))
	return x, df * h * h * h
}

// For three distinct scores all 27 resamples are equally likely, so the joint
// distribution of the counts can be counted out.
func TestResamplesOfThreeScores(t *testing.T) {
	c, err := NewCell("x", []float64{1, 2, 4}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	for i := range 27 {
		x := []float64{c.sorted[i%3], c.sorted[i/3%3], c.sorted[i/9]}
		slices.Sort(x)
		want[fmt.Sprint(x)] += 1.0 / 27
	}
	const b = 50_000
	got := map[string]float64{}
	c.eachResample(b, func(_ int, sorted []float64) { got[fmt.Sprint(sorted)] += 1.0 / b })
	if len(got) != 10 {
		t.Fatalf("%d different resamples, want 10", len(got))
	}
	for x, p := range want {
		if se := math.Sqrt(p * (1 - p) / b); math.Abs(got[x]-p) > 5*se {
			t.Errorf("resample %s has share %.4f, want %.4f within %.4f", x, got[x], p, 5*se)
		}
	}
}

// Draws must be what a plain bootstrap makes of the same resamples: the estimator
// applied to each as to a sample of its own.
func TestDrawsEqualPlainBootstrap(t *testing.T) {
	ks := []int{1, 2, 3, 4, 5, 7, 8, 16, 100}
	for name, c := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			for _, last := range []bool{false, true} {
				c := *c
				c.last = last
				for _, est := range []Estimator{WithoutReplacement, WithReplacement} {
					const b = 3*tile + 5
					draws := c.Draws(ks, b, est, Metr)
					c.eachResample(b, func(r int, sorted []float64) {
						re, err := NewCell("", sorted, last)
						if err != nil {
							t.Fatal(err)
						}
						for i, k := range ks {
							if want := re.ScoreAtK(k, est); math.Abs(draws[i][r]-want) > 1e-9 {
								t.Fatalf("last %v, %v, k = %d, draw %d = %v, want %v", last, est, k, r, draws[i][r], want)
							}
						}
					})
				}
			}
		})
	}
}

func TestAliasTableHasItsDistribution(t *testing.T) {
	for _, p := range [][]float64{
		{1}, {0.5, 0.5}, {0.1, 0.2, 0.7}, {0, 1, 0}, binomialPMF(37, 12.0/37), binomialPMF(255, 0.999),
	} {
		table := newAliasTable(p)
		got := make([]float64, len(p))
		for i, c := range table.columns {
			keep := float64(c.keep) / (1 << 63) / 2
			got[i] += keep / float64(len(p))
			got[c.other] += (1 - keep) / float64(len(p))
		}
		for i := range p {
			if math.Abs(got[i]-p[i]) > 1e-13 {
				t.Errorf("outcome %d of %d has probability %v, want %v", i, len(p), got[i], p[i])
			}
		}
	}
}

func TestBinomialPMF(t *testing.T) {
	for _, n := range []int{1, 2, 9, 40} {
		for _, p := range []float64{1.0 / 40, 0.3, 0.5, 0.975} {
			choose := 1.0
			for k, got := range binomialPMF(n, p) {
				want := choose * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
				if math.Abs(got-want) > 1e-13 {
					t.Errorf("P(%d of %d at %v) = %v, want %v", k, n, p, got, want)
				}
				choose *= float64(n-k) / float64(k+1)
			}
		}
	}
}

// The reference numbers are the first five of SplitMix64 from state 1234567, as
// printed in many descriptions of it.
func TestGenerator(t *testing.T) {
	g := generator{1234567}
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := g.next(); got != want {
			t.Errorf("number %d = %d, want %d", i, got, want)
		}
	}
}

func TestBelowAndBatchesAreUniform(t *testing.T) {
	const b = 60_000
	g := generator{1}
	for _, n := range []int{1, 2, 3, 7, 36, 39} {
		pmf := slices.Repeat([]float64{1 / float64(n)}, n)
		var x []int
		for range b {
			x = append(x, int(g.below(uint64(n))))
		}
		if n > 1 {
			if got, limit := chiSquare(x, pmf, b); got > limit {
				t.Errorf("below(%d): chi-square %.1f, want at most %.1f", n, got, limit)
			}
		}
		index := make([]uint32, b)
		batch := newBatch(uint64(n))
		batch.fillFours(&g, index)
		// Pairs within a word must be independent: test the joint distribution.
		var pairs []int
		for i := 0; i < b; i += 2 {
			pairs = append(pairs, int(index[i])*n+int(index[i+1]))
		}
		if n > 1 {
			if got, limit := chiSquare(pairs, slices.Repeat([]float64{1 / float64(n*n)}, n*n), b/2); got > limit {
				t.Errorf("pairs below %d: chi-square %.1f, want at most %.1f", n, got, limit)
			}
		}
	}
}

func TestBatchBounds(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 39, 300, 1 << 20} {
		b := newBatch(n)
		if len(b.power) != b.size+1 || len(b.reject) != b.size+1 || b.size < 1 {
			t.Fatalf("n = %d: size %d, %d powers", n, b.size, len(b.power))
		}
		for j := 1; j <= b.size; j++ {
			if b.power[j] != b.power[j-1]*n || b.power[j]/n != b.power[j-1] {
				t.Errorf("n = %d: power %d overflows", n, j)
			}
			// 2^64 mod m = ((2^64-1) mod m + 1) mod m.
			if want := (math.MaxUint64%b.power[j] + 1) % b.power[j]; b.reject[j] != want {
				t.Errorf("n = %d: reject[%d] = %d, want %d", n, j, b.reject[j], want)
			}
		}
	}
}
