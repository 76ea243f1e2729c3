package stats

import (
	"math"
	"slices"
	"testing"
)

// Reference values: tables of Student's t distribution (R: qt(0.975, df)).
func TestStudentQuantile(t *testing.T) {
	for df, want := range map[int]float64{
		1: 12.706204736432095, 2: 4.302652729911275, 3: 3.182446305284263, 4: 2.776445105197793,
		5: 2.570581835636197, 6: 2.446911851144969, 10: 2.2281388519649385, 30: 2.042272456301238,
		100: 1.983971518523552, 1000: 1.962339080826408,
	} {
		if got := studentQuantile975(df); math.Abs(got-want) > 1e-9 {
			t.Errorf("t(0.975, %d) = %.12f, want %.12f", df, got, want)
		}
	}
	// The series and the expansion must agree where one takes over from the other.
	for _, df := range []int{200, 399, 400} {
		if a, b := studentQuantile975(df), cornishFisher975(float64(df)); math.Abs(a-b) > 1e-9 {
			t.Errorf("df = %d: series %.12f, expansion %.12f", df, a, b)
		}
	}
}

func TestExpansionFactor(t *testing.T) {
	for n, want := range map[int]float64{
		0: 0, 1: 0,
		2:  12.706204736 / 1.959963985 * math.Sqrt2,
		7:  2.446911851 / 1.959963985 * math.Sqrt(7.0/6),
		36: 2.030107928 / 1.959963985 * math.Sqrt(36.0/35),
	} {
		if got := ExpansionFactor(n); math.Abs(got-want) > 1e-8 {
			t.Errorf("c(%d) = %.9f, want %.9f", n, got, want)
		}
	}
	if got := ExpansionFactor(1_000_000); math.Abs(got-1) > 1e-5 {
		t.Errorf("c(10^6) = %v, want about 1", got)
	}
}

func moments(x []float64) (mean, sd float64) {
	mean = meanOf(x)
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(x)))
}

// The mean of the centred draws is the estimate, that of METR's is the
// with-replacement value, both up to Monte Carlo error; and the spread of the
// former is c(n) times that of the latter.
func TestDrawsAreCentredAndWidened(t *testing.T) {
	const b = 20_000
	ks := []int{1, 2, 4, 8}
	for name, c := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			for _, last := range []bool{false, true} {
				c := *c
				c.last = last
				centred := c.Draws(ks, b, WithoutReplacement, Centred)
				plain := c.Draws(ks, b, WithoutReplacement, Metr)
				factor := ExpansionFactor(c.N())
				for i, k := range ks {
					mean, sd := moments(plain[i])
					v := c.ScoreAtK(c.EffectiveK(k), WithReplacement)
					if math.Abs(mean-v) > 5*sd/math.Sqrt(b) {
						t.Errorf("k = %d: mean of U* is %v, want V = %v within %v", k, mean, v, 5*sd/math.Sqrt(b))
					}
					cMean, cSD := moments(centred[i])
					u := c.ScoreAtK(k, WithoutReplacement)
					if math.Abs(cMean-u) > 5*cSD/math.Sqrt(b) {
						t.Errorf("k = %d: mean of the draws is %v, want U = %v", k, cMean, u)
					}
					for r := range b {
						if want := u + factor*(plain[i][r]-v); math.Abs(centred[i][r]-want) > 1e-9*(1+math.Abs(want)) {
							t.Fatalf("k = %d: draw %d = %v, want %v", k, r, centred[i][r], want)
						}
					}
					if last && !slices.Equal(centred[i], centred[0]) {
						t.Errorf("k = %d: draws differ from those of k = 1 though the score is hidden", k)
					}
				}
			}
		})
	}
}

func TestDrawsWithReplacementHaveThePointAsMean(t *testing.T) {
	for name, c := range kinds(t) {
		centred := c.Draws([]int{1, 4, 4, 300}, 1000, WithReplacement, Centred)
		plain := c.Draws([]int{1, 4, 4, 300}, 1000, WithReplacement, Metr)
		for i, k := range []int{1, 4, 4, 300} {
			mean, sd := moments(centred[i])
			if want := c.ScoreAtK(k, WithReplacement); math.Abs(mean-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("%s, k = %d: mean %v, want %v", name, k, mean, want)
			}
			if _, raw := moments(plain[i]); math.Abs(sd-ExpansionFactor(c.N())*raw) > 1e-9*(1+sd) {
				t.Errorf("%s, k = %d: sd %v, want c(n) * %v", name, k, sd, raw)
			}
		}
		if !slices.Equal(centred[1], centred[2]) {
			t.Errorf("%s: the same k twice gives different draws", name)
		}
	}
}

func TestDrawsBelongToTheCell(t *testing.T) {
	x := []float64{0, 0, 0.5, 1, 2, 0.1, 0.2}
	a := mustCell(t, "a|env|1800", x, false)
	again := mustCell(t, "a|env|1800", []float64{2, 1, 0.5, 0.2, 0.1, 0, 0}, false)
	b := mustCell(t, "b|env|1800", x, false)
	draw := func(c *Cell, ks []int, n int) [][]float64 { return c.Draws(ks, n, WithoutReplacement, Centred) }
	da, db := draw(a, []int{2}, 4000)[0], draw(b, []int{2}, 4000)[0]
	if !slices.Equal(da, draw(again, []int{2}, 4000)[0]) {
		t.Error("the same cell has different draws")
	}
	if !slices.Equal(da[:1001], draw(a, []int{2}, 1001)[0]) {
		t.Error("fewer draws are not the first of more")
	}
	if all := draw(a, []int{1, 2, 4, 5, 6, 7}, 4000); !slices.Equal(da, all[1]) {
		t.Error("draws depend on which other k are asked for")
	}
	// Two agents with equal scores need independent streams.
	ma, sa := moments(da)
	mb, sb := moments(db)
	r := 0.0
	for i := range da {
		r += (da[i] - ma) * (db[i] - mb) / (sa * sb) / float64(len(da))
	}
	if math.Abs(r) > 5/math.Sqrt(float64(len(da))) {
		t.Errorf("correlation %v between two agents with equal scores", r)
	}
}

func TestDegenerateDraws(t *testing.T) {
	for name, c := range map[string]*Cell{
		"single":   mustCell(t, "s", []float64{0.7}, false),
		"constant": mustCell(t, "c", []float64{0.7, 0.7, 0.7}, false),
	} {
		for _, est := range []Estimator{WithoutReplacement, WithReplacement} {
			for _, conv := range []Convention{Centred, Metr} {
				for _, d := range c.Draws([]int{1, 2, 9}, 50, est, conv) {
					for _, v := range d {
						if v != 0.7 {
							t.Fatalf("%s, %v, %v: draw %v, want 0.7", name, est, conv, v)
						}
					}
				}
			}
		}
	}
	c := mustCell(t, "k", []float64{1, 2}, false)
	if d := c.Draws([]int{0, 1}, 2, WithoutReplacement, Centred); !math.IsNaN(d[0][0]) || math.IsNaN(d[1][0]) {
		t.Errorf("draws of k = 0 and 1: %v, want NaN and numbers", d)
	}
	if d := c.Draws(nil, 5, WithoutReplacement, Centred); len(d) != 0 {
		t.Errorf("no k: %v", d)
	}
	if d := c.Draws([]int{1}, 0, WithoutReplacement, Centred); len(d) != 1 || len(d[0]) != 0 {
		t.Errorf("no draws: %v", d)
	}
	if SuiteDraws(nil, []int{1}, 5, WithoutReplacement, Centred) != nil || SuiteMean(nil) != nil {
		t.Error("draws without environments")
	}
}

func TestSuiteDrawsEqualSuiteMean(t *testing.T) {
	runs := readRuns(t)
	cells := append(agentCells(t, runs, "o1-preview", 1800, true), mustCell(t, "constant", []float64{1, 1}, false))
	ks := []int{1, 2, 4, 8, 16}
	for _, est := range []Estimator{WithoutReplacement, WithReplacement} {
		suite := SuiteDraws(cells, ks, 500, est, Centred)
		for i, k := range ks {
			var each [][]float64
			for _, c := range cells {
				each = append(each, c.Draws([]int{k}, 500, est, Centred)[0])
			}
			for r, want := range SuiteMean(each) {
				if math.Abs(suite[i][r]-want) > 1e-12 {
					t.Fatalf("%v, k = %d, draw %d: %v, want %v", est, k, r, suite[i][r], want)
				}
			}
		}
	}
}
