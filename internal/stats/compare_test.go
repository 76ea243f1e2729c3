package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// fakeScore makes a suite score with an interval from its draws.
func fakeScore(point float64, draws ...float64) SuiteScore {
	lo, hi := PercentileInterval(draws, Level)
	return SuiteScore{Point: point, Draws: draws, Interval: Interval{Low: &lo, High: &hi}}
}

func TestCompareByHand(t *testing.T) {
	a := fakeScore(2, 1, 2, 3, 4, 2)
	b := fakeScore(1, 1, 1, 4, 1, 1)
	d, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	// Differences 0, 1, -1, 3, 1: three above, one tie.
	if d.Value != 1 || math.Abs(d.Support-0.7) > 1e-12 {
		t.Errorf("D = %v, support %v, want 1 and 0.7", d.Value, d.Support)
	}
	if math.Abs(*d.Interval.Low+0.9) > 1e-12 || math.Abs(*d.Interval.High-2.8) > 1e-12 {
		t.Errorf("interval [%v, %v], want [-0.9, 2.8]", *d.Interval.Low, *d.Interval.High)
	}
	reverse, _ := Compare(b, a)
	if reverse.Value != -1 || math.Abs(reverse.Support-0.3) > 1e-12 {
		t.Errorf("reversed: %+v", reverse)
	}
	if same, _ := Compare(a, a); same.Value != 0 || same.Support != 0.5 || *same.Interval.Low != 0 || *same.Interval.High != 0 {
		t.Errorf("a cell with itself: %+v, want 0 and half support", same)
	}
	a.Interval.OpenHigh = true
	if d, _ := Compare(a, b); !d.Interval.OpenHigh || d.Interval.OpenLow {
		t.Errorf("first saturated: %+v", d.Interval)
	}
	if d, _ := Compare(b, a); d.Interval.OpenHigh || !d.Interval.OpenLow {
		t.Errorf("second saturated: %+v", d.Interval)
	}
	b.Interval = Interval{}
	if d, _ := Compare(a, b); !d.Interval.IsZero() {
		t.Errorf("one side without interval: %+v", d.Interval)
	}
	for _, pair := range [][2]SuiteScore{{a, fakeScore(1, 1)}, {{}, {}}} {
		if _, err := Compare(pair[0], pair[1]); !errors.Is(err, ErrShape) {
			t.Errorf("Compare of %d and %d draws: %v, want ErrShape", len(pair[0].Draws), len(pair[1].Draws), err)
		}
	}
}

func TestSupportText(t *testing.T) {
	for p, want := range map[float64]string{0: "<0.001", 0.0009: "<0.001", 0.001: "0.001", 0.5: "0.500", 0.999: "0.999", 0.9991: ">0.999", 1: ">0.999"} {
		if got := SupportText(p); got != want {
			t.Errorf("SupportText(%v) = %q, want %q", p, got, want)
		}
	}
}

// Two agents: D* - D is -1, 0, 1, 0 and sd = sqrt(2/3), so the largest deviation
// is 1/sd or 0 and c, the 95th percentile of {0, 0, 1/sd, 1/sd}, is 1/sd: scores
// are separated when |D| > 1.
func TestRanksByHand(t *testing.T) {
	for _, tc := range []struct {
		d    float64
		want []Rank
	}{
		{1.5, []Rank{{true, 1, 1, 1}, {true, 2, 2, 0}}},
		{0.5, []Rank{{true, 1, 2, 0.75}, {true, 1, 2, 0.25}}},
		{-1.5, []Rank{{true, 2, 2, 0}, {true, 1, 1, 1}}},
	} {
		a := fakeScore(tc.d, tc.d-1, tc.d, tc.d+1, tc.d)
		b := fakeScore(0, 0, 0, 0, 0)
		got, err := Ranks([]SuiteScore{a, b})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Critical-math.Sqrt(1.5)) > 1e-12 {
			t.Errorf("c = %v, want %v", got.Critical, math.Sqrt(1.5))
		}
		if !slices.Equal(got.Ranks, tc.want) || got.Compared != 2 {
			t.Errorf("D = %v: %+v, want %+v", tc.d, got, tc.want)
		}
	}
}

func TestRanksEdges(t *testing.T) {
	constant := func(v float64) SuiteScore { return fakeScore(v, v, v, v) }
	unknown := SuiteScore{Point: 9, Draws: []float64{9, 9, 9}}
	got, err := Ranks([]SuiteScore{constant(1), constant(1), unknown, constant(2), constant(0)})
	if err != nil {
		t.Fatal(err)
	}
	want := []Rank{{true, 2, 3, 0}, {true, 2, 3, 0}, {}, {true, 1, 1, 1}, {true, 4, 4, 0}}
	if !slices.Equal(got.Ranks, want) || got.Compared != 4 || got.Critical != 0 {
		t.Errorf("constant scores: %+v, want %+v", got, want)
	}
	tied, _ := Ranks([]SuiteScore{constant(1), constant(1)})
	if tied.Ranks[0] != (Rank{true, 1, 2, 0.5}) || tied.Ranks[1] != tied.Ranks[0] {
		t.Errorf("equal constants: %+v", tied)
	}
	if none, err := Ranks(nil); err != nil || len(none.Ranks) != 0 || none.Compared != 0 {
		t.Errorf("no scores: %+v, %v", none, err)
	}
	if alone, _ := Ranks([]SuiteScore{constant(1)}); alone.Ranks[0] != (Rank{true, 1, 1, 1}) {
		t.Errorf("one score: %+v", alone)
	}
	if one, _ := Ranks([]SuiteScore{constant(1), unknown}); one.Ranks[0] != (Rank{}) || one.Ranks[1] != (Rank{}) {
		t.Errorf("nothing to compare the only known spread with: %+v", one)
	}
	if _, err := Ranks([]SuiteScore{constant(1), fakeScore(1, 1)}); !errors.Is(err, ErrShape) {
		t.Errorf("unequal draws: %v, want ErrShape", err)
	}
}

// Ten agents with equal true scores: the simultaneous rule must separate some pair
// far less often than pairwise 95% intervals do.
func TestRanksOfEqualAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("simulation")
	}
	humans := humanCells(t, false)
	rng := rand.New(rand.NewPCG(7, 8))
	const simulations, agents, n, b = 150, 10, 12, 400
	pairwise, simultaneous := 0, 0
	for s := range simulations {
		var scores []SuiteScore
		for a := range agents {
			cells := make([]*Cell, len(humans))
			for e, pool := range humans {
				x := make([]float64, n)
				for i := range x {
					x[i] = pool.sorted[rng.IntN(pool.N())]
				}
				cells[e] = mustCell(t, fmt.Sprint(s, a, e), x, pool.last)
			}
			scores = append(scores, NewSuiteScore(cells, 1, b, WithoutReplacement, Centred))
		}
		if apart(t, scores) {
			pairwise++
		}
		ranking, err := Ranks(scores)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range ranking.Ranks {
			if r.Low > 1 {
				simultaneous++
				break
			}
		}
	}
	t.Logf("someone separated: pairwise %.2f, simultaneously %.2f", float64(pairwise)/simulations, float64(simultaneous)/simulations)
	if float64(pairwise)/simulations < 0.4 {
		t.Errorf("pairwise intervals separated someone in %d of %d simulations, expected most", pairwise, simulations)
	}
	if float64(simultaneous)/simulations > 0.2 {
		t.Errorf("the simultaneous rule separated someone in %d of %d simulations, want about 5-12%%", simultaneous, simulations)
	}
}

func apart(t *testing.T, scores []SuiteScore) bool {
	for i, a := range scores {
		for _, b := range scores[:i] {
			d, err := Compare(a, b)
			if err != nil {
				t.Fatal(err)
			}
			if *d.Interval.Low > 0 || *d.Interval.High < 0 {
				return true
			}
		}
	}
	return false
}

// Agents that differ by far must be ranked in order.
func TestRanksSeparateUnequalAgents(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var scores []SuiteScore
	for a := range 4 {
		var cells []*Cell
		for e := range 7 {
			x := make([]float64, 12)
			for i := range x {
				x[i] = float64(a) + rng.Float64()
			}
			cells = append(cells, mustCell(t, fmt.Sprint(a, e), x, false))
		}
		scores = append(scores, NewSuiteScore(cells, 2, 2000, WithoutReplacement, Centred))
	}
	got, err := Ranks(scores)
	if err != nil {
		t.Fatal(err)
	}
	for a, r := range got.Ranks {
		if r.Low != 4-a || r.High != 4-a {
			t.Errorf("agent %d: %+v, want rank %d", a, r, 4-a)
		}
	}
}
