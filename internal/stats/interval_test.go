package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Values of numpy.percentile with its default method.
func TestQuantile(t *testing.T) {
	for _, tc := range []struct {
		x    []float64
		q    float64
		want float64
	}{
		{[]float64{5}, 0.3, 5},
		{[]float64{4, 1, 3, 2}, 0, 1},
		{[]float64{4, 1, 3, 2}, 1, 4},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{4, 1, 3, 2}, 0.25, 1.75},
		{[]float64{1, 2, 4, 8, 16}, 0.9, 12.8},
		{[]float64{0, 10}, 0.975, 9.75},
	} {
		before := slices.Clone(tc.x)
		if got := Quantile(tc.x, tc.q); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("Quantile(%v, %v) = %v, want %v", tc.x, tc.q, got, tc.want)
		}
		if !slices.Equal(before, tc.x) {
			t.Errorf("Quantile changed its argument to %v", tc.x)
		}
	}
	for _, x := range [][]float64{nil, {1, math.NaN()}} {
		if got := Quantile(x, 0.5); !math.IsNaN(got) {
			t.Errorf("Quantile(%v, 0.5) = %v, want NaN", x, got)
		}
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		if got := Quantile([]float64{1, 2}, q); !math.IsNaN(got) {
			t.Errorf("Quantile at %v = %v, want NaN", q, got)
		}
	}
}

// The selection must give the sorted quantiles, whatever the draws look like.
func TestPercentileIntervalEqualsSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	shapes := map[string]func(i int) float64{
		"normal":     func(int) float64 { return rng.NormFloat64() },
		"heavy tail": func(int) float64 { return math.Exp(4 * rng.NormFloat64()) },
		"few values": func(int) float64 { return float64(rng.IntN(3)) },
		"mostly one": func(int) float64 { return float64(rng.IntN(200) / 199) },
		"constant":   func(int) float64 { return 1 },
		"ascending":  func(i int) float64 { return float64(i) },
		"descending": func(i int) float64 { return float64(-i) },
		"periodic":   func(i int) float64 { return float64(i % 39) },
	}
	for name, shape := range shapes {
		for _, n := range []int{1, 2, 3, 40, 1023, 1024, 2000, 5000, 10_000, 100_000} {
			x := make([]float64, n)
			for i := range x {
				x[i] = shape(i)
			}
			before := slices.Clone(x)
			sorted := slices.Sorted(slices.Values(x))
			for _, level := range []float64{0.95, 0.5, 0.999} {
				lo, hi := PercentileInterval(x, level)
				wantLo, wantHi := sortedQuantile(sorted, (1-level)/2), sortedQuantile(sorted, 1-(1-level)/2)
				if lo != wantLo || hi != wantHi {
					t.Errorf("%s, n = %d, level %v: [%v, %v], want [%v, %v]", name, n, level, lo, hi, wantLo, wantHi)
				}
			}
			if !slices.Equal(before, x) {
				t.Fatalf("%s: the draws were changed", name)
			}
		}
	}
	for _, bad := range []float64{0, 1, -1, math.NaN()} {
		if lo, hi := PercentileInterval([]float64{1, 2}, bad); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("level %v: [%v, %v], want NaN", bad, lo, hi)
		}
	}
	if lo, _ := PercentileInterval(nil, 0.95); !math.IsNaN(lo) {
		t.Errorf("no draws: %v, want NaN", lo)
	}
}

func FuzzSelectRank(f *testing.F) {
	f.Add([]byte{3, 1, 2, 2, 9}, 2)
	f.Fuzz(func(t *testing.T, raw []byte, rank int) {
		if len(raw) == 0 {
			return
		}
		rank = int(uint(rank) % uint(len(raw)))
		x := make([]float64, len(raw))
		for i, b := range raw {
			x[i] = float64(b)
		}
		sorted := slices.Sorted(slices.Values(x))
		got := selectRank(x, rank)
		if got != sorted[rank] || slices.Max(x[:rank+1]) != got || slices.Min(x[rank:]) != got {
			t.Errorf("rank %d of %v: %v and order %v", rank, raw, got, x)
		}
		slices.Sort(x)
		if !slices.Equal(x, sorted) {
			t.Errorf("elements were lost: %v, want %v", x, sorted)
		}
	})
}

func TestSuiteInterval(t *testing.T) {
	many := mustCell(t, "m", []float64{0, 1, 2, 3}, false)
	hidden := mustCell(t, "h", []float64{0, 1, 2, 3}, true)
	single := mustCell(t, "s", []float64{1}, false)
	draws := []float64{1, 2, 3}
	for _, tc := range []struct {
		name  string
		cells []*Cell
		k     int
		draws []float64
		ends  bool
		open  bool
	}{
		{"plain", []*Cell{many, hidden}, 2, draws, true, false},
		{"saturated", []*Cell{many, hidden}, 4, draws, true, true},
		{"hidden is never saturated", []*Cell{hidden}, 4, draws, true, false},
		{"single attempt", []*Cell{many, single}, 1, draws, false, false},
		{"no cells", nil, 1, draws, false, false},
		{"no draws", []*Cell{many}, 1, nil, false, false},
	} {
		iv := SuiteInterval(tc.cells, tc.k, tc.draws, Level)
		if (iv.Low != nil) != tc.ends || (iv.High != nil) != tc.ends || iv.OpenHigh != tc.open || iv.OpenLow || iv.IsZero() == tc.ends {
			t.Errorf("%s: %+v, want ends %v, open %v", tc.name, iv, tc.ends, tc.open)
		}
		if tc.ends && (math.Abs(*iv.Low-1.05) > 1e-12 || math.Abs(*iv.High-2.95) > 1e-12) {
			t.Errorf("%s: [%v, %v], want [1.05, 2.95]", tc.name, *iv.Low, *iv.High)
		}
	}
}

func TestHumanPercentiles(t *testing.T) {
	// H(p) is the mean of p/100 and of 2p/100: 0.015 p.
	a := mustCell(t, "a", []float64{0, 1}, false)
	b := mustCell(t, "b", []float64{2, 0}, false)
	h, err := HumanPercentiles([]*Cell{a, b})
	if err != nil {
		t.Fatal(err)
	}
	for p := 1; p <= 100; p++ {
		if want := 0.015 * float64(p); math.Abs(h[p-1]-want) > 1e-12 {
			t.Errorf("H(%d) = %v, want %v", p, h[p-1], want)
		}
	}
	for _, tc := range []struct {
		score float64
		want  Percentile
		text  string
	}{
		{0, 0, "<1"}, {0.0149, 0, "<1"}, {0.0151, 1, "1"}, {0.7501, 50, "50"}, {1.49, 99, "99"},
		{h[99], 100, "100"}, {1.5001, 101, ">100"}, {math.Inf(1), 101, ">100"}, {math.Inf(-1), 0, "<1"},
	} {
		if got := MatchedPercentile(h, tc.score); got != tc.want || got.String() != tc.text {
			t.Errorf("score %v: percentile %d (%s), want %d (%s)", tc.score, int(got), got, int(tc.want), tc.text)
		}
	}
	if _, err := HumanPercentiles(nil); err == nil {
		t.Error("no environments: no error")
	}
	// Ties: the largest p counts.
	flat, _ := HumanPercentiles([]*Cell{mustCell(t, "c", []float64{1, 1}, false)})
	if got := MatchedPercentile(flat, 1); got != 100 {
		t.Errorf("flat curve: %v, want 100", got)
	}
}

// The published curve, checked against numpy: mean over environments of
// numpy.percentile of the 71 attempts of the default cohort.
func TestPublishedHumanPercentiles(t *testing.T) {
	cells := humanCells(t, true)
	h, err := HumanPercentiles(cells)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[int]float64{
		1: 0.03312401605871428, 10: 0.14217364227285714, 25: 0.21585879566785718, 36: 0.4039775994142857,
		50: 0.6570976749785714, 75: 1.0616588452428573, 90: 1.2285740488971428, 99: 1.375499687939714,
	} {
		if math.Abs(h[p-1]-want) > 1e-12 {
			t.Errorf("H(%d) = %v, want %v", p, h[p-1], want)
		}
	}
	if !slices.IsSorted(h[:]) {
		t.Errorf("H is not increasing: %v", h)
	}
	highest := 0.0
	for _, c := range cells {
		highest += c.sorted[c.N()-1] / 7
	}
	if math.Abs(h[99]-highest) > 1e-12 {
		t.Errorf("H(100) = %v, want the mean of the maxima %v", h[99], highest)
	}
}

func TestIntervalDecimals(t *testing.T) {
	for _, c := range []struct {
		point     float64
		low, high float64 // NaN is open
		want      int
	}{
		{0.351, 0.263, 0.441, 2},
		{0.0071, 0.0062, 0.0083, 3}, // [0.01, 0.01] would leave out 0.007
		{0.007, math.NaN(), 0.0083, 2},
		{0.0126, 0.0124, 0.0131, 3}, // [0.01, 0.01]
		{0.0002, 0.0001, 0.0004, 4},
		{0.004, 0.0048, 0.02, 2}, // holds no point: nothing to keep
		{0.5, 0.5, 0.5, 2},
		{0.9996, 0.991, 0.9999, 2}, // 1.000 within [0.99, 1.00]
		{-0.0071, -0.0083, -0.0062, 3},
	} {
		end := func(x float64) *float64 {
			if math.IsNaN(x) {
				return nil
			}
			return &x
		}
		if got := IntervalDecimals(c.point, 3, end(c.low), end(c.high)); got != c.want {
			t.Errorf("IntervalDecimals(%v, [%v, %v]) = %d, want %d", c.point, c.low, c.high, got, c.want)
		}
	}
}

// Whatever the numbers, a printed interval holds the printed point that it holds.
func FuzzIntervalDecimals(f *testing.F) {
	f.Add(0.0071, 0.0009, 0.0012)
	f.Add(0.35, 0.1, 0.1)
	f.Fuzz(func(t *testing.T, point, below, above float64) {
		if !(math.Abs(point) < 1e6) || !(below >= 0 && below < 1e6) || !(above >= 0 && above < 1e6) {
			t.Skip()
		}
		low, high := point-below, point+above
		d := IntervalDecimals(point, 3, &low, &high)
		if shown := rounded(point, 3); rounded(low, d) > shown+5e-4 || rounded(high, d) < shown-5e-4 {
			t.Errorf("%v in [%v, %v] with %d decimals", point, low, high, d)
		} else if d < 5 && (rounded(low, d) > shown && !(shown == 0 && point > 0) || rounded(high, d) < shown) {
			t.Errorf("%v outside [%v, %v] with %d decimals", shown, rounded(low, d), rounded(high, d), d)
		}
	})
}
