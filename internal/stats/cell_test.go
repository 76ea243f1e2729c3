package stats

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func mustCell(tb testing.TB, key string, scores []float64, last bool) *Cell {
	tb.Helper()
	c, err := NewCell(key, scores, last)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestNewCell(t *testing.T) {
	for _, tc := range []struct {
		name   string
		scores []float64
		want   error
	}{
		{"empty", nil, ErrNoScores},
		{"NaN", []float64{1, math.NaN()}, ErrNotFinite},
		{"infinite", []float64{math.Inf(-1)}, ErrNotFinite},
		{"too large", []float64{0, 1e101}, ErrNotFinite},
		{"largest", []float64{0, MaxMagnitude, -MaxMagnitude}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := NewCell("k", tc.scores, false)
			if !errors.Is(err, tc.want) || (c == nil) != (tc.want != nil) {
				t.Errorf("NewCell(%v) = %v, %v, want error %v", tc.scores, c, err, tc.want)
			}
		})
	}
	x := []float64{3, 1, 2}
	c := mustCell(t, "k", x, false)
	x[0] = 9
	c.Scores()[0] = 9
	if got := c.Scores(); !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("Scores = %v, want a sorted copy of the input", got)
	}
	if z := mustCell(t, "k", []float64{0, math.Copysign(0, -1), -1, 2}, false); z.Zeros() != 3 || len(z.value) != 3 {
		t.Errorf("%d at or below 0 among %d distinct scores, want 3 among 3", z.Zeros(), len(z.value))
	}
}

// bestOfSubsets is the mean of the best score over all subsets of size k.
func bestOfSubsets(x []float64, k int) float64 {
	sum, count := 0.0, 0
	for set := range 1 << len(x) {
		best, size := math.Inf(-1), 0
		for i, v := range x {
			if set>>i&1 == 1 {
				size++
				best = max(best, v)
			}
		}
		if size == k {
			sum += best
			count++
		}
	}
	return sum / float64(count)
}

// bestOfDraws is the mean of the best score over all n^k ordered draws.
func bestOfDraws(x []float64, k int) float64 {
	total := 1
	for range k {
		total *= len(x)
	}
	sum := 0.0
	for code := range total {
		best := math.Inf(-1)
		for range k {
			best = max(best, x[code%len(x)])
			code /= len(x)
		}
		sum += best
	}
	return sum / float64(total)
}

func TestScoreAtKEqualsEnumeration(t *testing.T) {
	for _, x := range [][]float64{
		{0.7}, {0, 1}, {0, 0, 0}, {3, 1, 2}, {0, 0, 0.5, 2}, {-1, 4, 0.1, 4, 0}, {1, 2, 3, 5, 8, 13}, {0, 0, 0, 0, 1, 1, 7},
	} {
		c := mustCell(t, "k", x, false)
		for k := 1; k <= len(x); k++ {
			if got, want := c.ScoreAtK(k, WithoutReplacement), bestOfSubsets(x, k); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v without replacement, k = %d: %v, want %v", x, k, got, want)
			}
		}
		for k := 1; k <= 6; k++ {
			if got, want := c.ScoreAtK(k, WithReplacement), bestOfDraws(x, k); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v with replacement, k = %d: %v, want %v", x, k, got, want)
			}
		}
	}
}

// Worked by hand for the scores 0, 1, 2, 6: of the six pairs the best is 1 once,
// 2 twice and 6 three times; of the sixteen ordered draws of two it is 0, 1, 2
// and 6 in 1, 3, 5 and 7 of them.
func TestScoreAtKByHand(t *testing.T) {
	c := mustCell(t, "k", []float64{6, 0, 2, 1}, false)
	hidden := mustCell(t, "k", []float64{6, 0, 2, 1}, true)
	for _, tc := range []struct {
		name string
		cell *Cell
		k    int
		est  Estimator
		want float64
	}{
		{"mean", c, 1, WithoutReplacement, 9.0 / 4},
		{"pairs", c, 2, WithoutReplacement, 23.0 / 6},
		{"triples", c, 3, WithoutReplacement, (2 + 3*6.0) / 4},
		{"all", c, 4, WithoutReplacement, 6},
		{"more than all", c, 5, WithoutReplacement, 6},
		{"mean with replacement", c, 1, WithReplacement, 9.0 / 4},
		{"two with replacement", c, 2, WithReplacement, (3 + 10 + 42.0) / 16},
		{"many with replacement", c, 1 << 40, WithReplacement, 6},
		{"hidden", hidden, 3, WithoutReplacement, 9.0 / 4},
		{"hidden with replacement", hidden, 3, WithReplacement, 9.0 / 4},
	} {
		if got := tc.cell.ScoreAtK(tc.k, tc.est); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	if got := c.ScoreAtK(0, WithoutReplacement); !math.IsNaN(got) {
		t.Errorf("k = 0: %v, want NaN", got)
	}
	for k, want := range map[int]bool{1: false, 3: false, 4: true, 5: true} {
		if c.Saturated(k) != want || hidden.Saturated(k) {
			t.Errorf("k = %d: saturated %v and %v, want %v and false", k, c.Saturated(k), hidden.Saturated(k), want)
		}
	}
}

// A sample too large for factorials: the best of k = 500 out of 1000 scores 1..1000
// has the mean k(n+1)/(k+1), a textbook result for the maximum of a sample.
func TestScoreAtKIsStable(t *testing.T) {
	n := 1000
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	c := mustCell(t, "k", x, false)
	for _, k := range []int{1, 2, 10, 500, 999, 1000} {
		want := float64(k) * float64(n+1) / float64(k+1)
		if got := c.ScoreAtK(k, WithoutReplacement); math.Abs(got-want) > 1e-9*want {
			t.Errorf("k = %d: %v, want %v", k, got, want)
		}
	}
}

// checkCell asserts what holds for every sample.
func checkCell(t *testing.T, x []float64, last bool) {
	t.Helper()
	c := mustCell(t, "k", x, last)
	lo, hi := slices.Min(x), slices.Max(x)
	tolerance := 1e-12 * max(math.Abs(lo), math.Abs(hi))
	before := map[Estimator]float64{WithoutReplacement: lo, WithReplacement: lo}
	for k := 1; k <= len(x)+3; k++ {
		without, with := c.ScoreAtK(k, WithoutReplacement), c.ScoreAtK(k, WithReplacement)
		if with > without+tolerance && k <= len(x) {
			t.Errorf("%v, k = %d: with replacement %v above without %v", x, k, with, without)
		}
		for est, got := range map[Estimator]float64{WithoutReplacement: without, WithReplacement: with} {
			if !(got >= lo && got <= hi) {
				t.Errorf("%v, k = %d, %v: %v is outside [%v, %v]", x, k, est, got, lo, hi)
			}
			if got < before[est]-tolerance {
				t.Errorf("%v, k = %d, %v: %v falls from %v", x, k, est, got, before[est])
			}
			before[est] = got
		}
		if !last && k >= len(x) && math.Abs(without-hi) > tolerance {
			t.Errorf("%v, k = %d: %v, want the maximum", x, k, without)
		}
	}
	shuffled := slices.Clone(x)
	slices.Reverse(shuffled)
	d := mustCell(t, "k", shuffled, last)
	if d.digest != c.digest || d.ScoreAtK(2, WithoutReplacement) != c.ScoreAtK(2, WithoutReplacement) {
		t.Errorf("%v: the order of the scores matters", x)
	}
}

func TestScoreAtKProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		x := make([]float64, 1+rng.IntN(40))
		for i := range x {
			if rng.IntN(3) > 0 {
				x[i] = rng.NormFloat64()
			}
		}
		checkCell(t, x, rng.IntN(2) == 0)
	}
}

func FuzzCell(f *testing.F) {
	bytes := func(x ...float64) (raw []byte) {
		for _, v := range x {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
		return raw
	}
	f.Add("key", bytes(0, 1, 0.5), 2, false)
	f.Add("", bytes(math.NaN()), 1, true)
	f.Add("x", bytes(1e100, -1e100, 5e-324), -1, false)
	f.Add("x", bytes(), math.MinInt, false)
	f.Fuzz(func(t *testing.T, key string, raw []byte, k int, last bool) {
		var x []float64
		for ; len(raw) >= 8 && len(x) < 100; raw = raw[8:] {
			x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
		c, err := NewCell(key, x, last)
		if err != nil {
			if !errors.Is(err, ErrNoScores) && !errors.Is(err, ErrNotFinite) {
				t.Fatal(err)
			}
			return
		}
		for _, est := range []Estimator{WithoutReplacement, WithReplacement} {
			got := c.ScoreAtK(k, est)
			if (k < 1) != math.IsNaN(got) {
				t.Errorf("ScoreAtK(%d, %v) = %v", k, est, got)
			}
			for _, conv := range []Convention{Centred, Metr} {
				for _, d := range c.Draws([]int{k, 1, 2}, 3, est, conv)[1:] {
					for _, v := range d {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Errorf("draw %v", v)
						}
					}
				}
			}
		}
		checkCell(t, x, last)
	})
}
