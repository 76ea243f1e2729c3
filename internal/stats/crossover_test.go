package stats

import (
	"errors"
	"math"
	"testing"
)

// spreadCurve has draws at the points plus fixed offsets.
func spreadCurve(hours, points, offsets []float64) Curve {
	c := Curve{Hours: hours, Points: points}
	for _, p := range points {
		draws := make([]float64, len(offsets))
		for i, o := range offsets {
			draws[i] = p + o
		}
		c.Draws = append(c.Draws, draws)
	}
	return c
}

func flat(hours []float64, offsets []float64) Curve {
	return spreadCurve(hours, make([]float64, len(hours)), make([]float64, len(offsets)))
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

func TestCrossover(t *testing.T) {
	grid := []float64{1, 2, 4, 8, 16}
	tight := []float64{-0.1, 0, 0.1} // the interval is D -0.095 to D +0.095
	for _, tc := range []struct {
		name   string
		points []float64
		offs   []float64
		status CrossoverStatus
		hours  []float64
		spans  []Span
	}{
		// D is linear in log2 T: -2 -1 0 1 2, so D contains 0 for |log2 T - 2| <= 0.095.
		{"one crossing at a knot", []float64{-2, -1, 0, 1, 2}, tight, CrossoverFound, []float64{4},
			[]Span{{Low: 4 * math.Exp2(-0.095), High: 4 * math.Exp2(0.095)}}},
		{"one between knots", []float64{-1, -1, -1, 3, 3}, tight, CrossoverFound, []float64{4 * math.Exp2(0.25)},
			[]Span{{Low: 4 * math.Exp2((1-0.095)/4), High: 4 * math.Exp2((1+0.095)/4)}}},
		{"two crossings", []float64{-1, 1, 1, 1, -1}, tight, CrossoverFound, []float64{math.Sqrt2, 8 * math.Sqrt2},
			[]Span{{Low: math.Exp2(0.4525), High: math.Exp2(0.5475)}, {Low: 8 * math.Exp2(0.4525), High: 8 * math.Exp2(0.5475)}}},
		{"none", []float64{1, 1, 2, 2, 2}, tight, CrossoverNone, nil, nil},
		{"touches zero", []float64{1, 1, 0, 1, 1}, tight, CrossoverPossible, nil,
			[]Span{{Low: 4 * math.Exp2(-0.095), High: 4 * math.Exp2(0.095)}}},
		{"possible at the start", []float64{0.05, 1, 1, 1, 1}, tight, CrossoverPossible, nil,
			[]Span{{Low: 1, OpenLow: true, High: math.Exp2(0.045 / 0.95)}}},
		{"open to the right", []float64{-1, -1, -1, -1, 0.05}, tight, CrossoverFound, []float64{8 * math.Exp2(1/1.05)},
			[]Span{{Low: 8 * math.Exp2(0.905/1.05), High: 16, OpenHigh: true}}},
		{"undetermined", []float64{-1, -1, 0, 1, 1}, []float64{-9, 0, 9}, CrossoverUndetermined, []float64{4},
			[]Span{{Low: 1, High: 16, OpenLow: true, OpenHigh: true}}},
		{"zero over a stretch", []float64{-1, 0, 0, 0, 1}, tight, CrossoverFound, []float64{4},
			[]Span{{Low: math.Exp2(0.905), High: 8 * math.Exp2(0.095)}}},
		{"zero at the ends only", []float64{0, 1, 1, 1, 0}, tight, CrossoverPossible, nil,
			[]Span{{Low: 1, High: math.Exp2(0.095), OpenLow: true}, {Low: 8 * math.Exp2(0.905), High: 16, OpenHigh: true}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Crossover(spreadCurve(grid, tc.points, tc.offs), flat(grid, tc.offs))
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != tc.status || got.From != 1 || got.To != 16 || len(got.Hours) != len(tc.hours) || len(got.Spans) != len(tc.spans) {
				t.Fatalf("got %+v, want status %v, hours %v, spans %+v", got, tc.status, tc.hours, tc.spans)
			}
			for i, h := range tc.hours {
				if !near(got.Hours[i], h) {
					t.Errorf("crossing %d at %v h, want %v", i, got.Hours[i], h)
				}
			}
			for i, s := range tc.spans {
				g := got.Spans[i]
				if !near(g.Low, s.Low) || !near(g.High, s.High) || g.OpenLow != s.OpenLow || g.OpenHigh != s.OpenHigh {
					t.Errorf("span %d is %+v, want %+v", i, g, s)
				}
			}
		})
	}
}

// Curves with different knots are compared over what both cover, each
// interpolated on its own: a over 1..16 h, b over 4..64 h.
func TestCrossoverOfDifferentGrids(t *testing.T) {
	offs := []float64{-0.01, 0, 0.01}
	a := spreadCurve([]float64{1, 16}, []float64{0, 4}, offs)                           // log2 T
	b := spreadCurve([]float64{4, 8, 64}, []float64{2.5, 2.5, 2.5}, []float64{0, 0, 0}) // 2.5
	got, err := Crossover(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != CrossoverFound || got.From != 4 || got.To != 16 || len(got.Hours) != 1 || !near(got.Hours[0], math.Exp2(2.5)) {
		t.Errorf("got %+v, want one crossing at %v h in 4..16 h", got, math.Exp2(2.5))
	}
	for name, c := range map[string]Curve{
		"empty":    {},
		"disjoint": spreadCurve([]float64{32, 64}, []float64{0, 0}, offs),
		"touching": spreadCurve([]float64{16, 64}, []float64{0, 0}, offs),
	} {
		if got, err := Crossover(a, c); err != nil || got.Status != CrossoverNoRange {
			t.Errorf("%s: %+v, %v, want no common range", name, got, err)
		}
		if got, err := Crossover(c, a); err != nil || got.Status != CrossoverNoRange {
			t.Errorf("%s, the other way round: %+v, %v, want no common range", name, got, err)
		}
	}
	for name, bad := range map[string]Curve{
		"no points":  {Hours: []float64{1, 2}, Draws: [][]float64{{1, 1, 1}, {1, 1, 1}}},
		"descending": spreadCurve([]float64{2, 1}, []float64{0, 0}, offs),
		"zero time":  spreadCurve([]float64{0, 1}, []float64{0, 0}, offs),
		"few draws":  spreadCurve([]float64{1, 2}, []float64{0, 0}, offs[:2]),
	} {
		if _, err := Crossover(a, bad); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
}
