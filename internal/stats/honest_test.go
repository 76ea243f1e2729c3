package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestSplitIsUniform(t *testing.T) {
	c := mustCell(t, "k", []float64{1, 10, 100, 1000}, false)
	sp := newSplitter(c, 2)
	// With k = 1 the inside is a mean of two: the sum names the pair.
	mean := scoreWeights(bestOfKTable(2, 1, WithReplacement))
	const b = 60_000
	var sets []int
	names := map[float64]int{11: 0, 101: 1, 1001: 2, 110: 3, 1010: 4, 1100: 5}
	for range b {
		inside, outside := sp.split(mean, mean)
		set, known := names[math.Round(2*inside)]
		if !known || math.Abs(2*inside+2*outside-1111) > 1e-9 {
			t.Fatalf("split into %v and %v", inside, outside)
		}
		sets = append(sets, set)
	}
	sixth := 1.0 / 6
	if x, limit := chiSquare(sets, []float64{sixth, sixth, sixth, sixth, sixth, sixth}, b); x > limit {
		t.Errorf("chi-square of the six pairs is %.1f, want at most %.1f", x, limit)
	}
}

func TestHonestBestEdges(t *testing.T) {
	cell := func(n int, last bool) *Cell {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		return mustCell(t, fmt.Sprint(n, last), x, last)
	}
	for _, tc := range []struct {
		name      string
		cells     []*Cell
		k         int
		estimable bool
	}{
		{"n - k = 2", []*Cell{cell(6, false), cell(9, false)}, 4, true},
		{"n - k = 1", []*Cell{cell(5, false), cell(9, false)}, 4, false},
		{"saturated", []*Cell{cell(3, false)}, 4, false},
		{"hidden needs three", []*Cell{cell(3, true)}, 64, true},
		{"hidden with two", []*Cell{cell(2, true)}, 1, false},
	} {
		got, err := HonestBest([]Candidate{{K: tc.k, Cells: tc.cells}})
		if err != nil || got.Estimable != tc.estimable {
			t.Errorf("%s: %+v, %v, want estimable %v", tc.name, got, err, tc.estimable)
		}
		if !tc.estimable && (got.Score != 0 || got.Chosen != nil) {
			t.Errorf("%s: %+v, want zero fields", tc.name, got)
		}
	}
	for name, bad := range map[string][]Candidate{
		"no candidates":  nil,
		"no cells":       {{K: 1}},
		"unequal suites": {{K: 1, Cells: []*Cell{cell(4, false)}}, {K: 1, Cells: []*Cell{cell(4, false), cell(5, false)}}},
		"k of 0":         {{K: 0, Cells: []*Cell{cell(4, false)}}},
	} {
		if _, err := HonestBest(bad); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
}

// Two candidates with constant scores leave no doubt which is chosen, and the
// score is then exact.
func TestHonestBestOfClearWinner(t *testing.T) {
	constant := func(v float64, n int) *Cell {
		x := make([]float64, n)
		for i := range x {
			x[i] = v
		}
		return mustCell(t, fmt.Sprint(v, n), x, false)
	}
	got, err := HonestBest([]Candidate{
		{K: 4, Cells: []*Cell{constant(0.2, 8), constant(0.4, 10)}},
		{K: 2, Cells: []*Cell{constant(0.5, 5), constant(0.7, 6)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Score-0.6) > 1e-9 || got.Chosen[0] != 0 || math.Abs(got.Chosen[1]-1) > 1e-9 {
		t.Errorf("%+v, want 0.6 by the second candidate", got)
	}
}

// Eight allocations that are equally good: picking the best observed one
// overstates the score, cross-fitting does not.
func TestHonestBestRemovesTheWinnersCurse(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const simulations = 400
	naive, honest := 0.0, 0.0
	for s := range simulations {
		var candidates []Candidate
		best := math.Inf(-1)
		for a := range 8 {
			var cells []*Cell
			for e := range 3 {
				x := make([]float64, 10)
				for i := range x {
					x[i] = rng.Float64()
				}
				cells = append(cells, mustCell(t, fmt.Sprint(s, a, e), x, false))
			}
			candidates = append(candidates, Candidate{K: 2, Cells: cells})
			best = max(best, SuiteScoreAtK(cells, 2, WithoutReplacement))
		}
		got, err := HonestBest(candidates)
		if err != nil || !got.Estimable {
			t.Fatalf("%+v, %v", got, err)
		}
		naive += best / simulations
		honest += got.Score / simulations
	}
	// The expected best of two uniform numbers is 2/3.
	t.Logf("best observed %.4f, honest %.4f, truth %.4f", naive, honest, 2.0/3)
	if naive < 2.0/3+0.05 {
		t.Errorf("best observed is %.4f, expected clearly above 0.667", naive)
	}
	if math.Abs(honest-2.0/3) > 0.01 {
		t.Errorf("honest score is %.4f, want 0.667 within 0.01", honest)
	}
}

// Both estimates of a split must be those of the two parts as cells of their own.
func TestSplitEstimatesEqualThoseOfTheParts(t *testing.T) {
	x := []float64{0, 0, 0.1, 0.4, 0.4, 1.5, 2, 7, 0.3}
	c := mustCell(t, "k", x, false)
	for _, k := range []int{1, 2, 4, 7} {
		size := min(len(x)/2, len(x)-k)
		sp := newSplitter(c, size)
		v := scoreWeights(bestOfKTable(size, k, WithReplacement))
		u := scoreWeights(bestOfKTable(len(x)-size, k, WithoutReplacement))
		for range 50 {
			a, b := sp.split(v, u)
			var in, out []float64
			for i, s := range c.sorted {
				if sp.inside[i] == 1 {
					in = append(in, s)
				} else {
					out = append(out, s)
				}
			}
			if len(in) != size {
				t.Fatalf("k = %d: %d attempts selected, want %d", k, len(in), size)
			}
			wantA := mustCell(t, "", in, false).ScoreAtK(k, WithReplacement)
			wantB := mustCell(t, "", out, false).ScoreAtK(k, WithoutReplacement)
			if math.Abs(a-wantA) > 1e-12 || math.Abs(b-wantB) > 1e-12 {
				t.Errorf("k = %d: estimates %v and %v of %v and %v, want %v and %v", k, a, b, in, out, wantA, wantB)
			}
		}
	}
}
