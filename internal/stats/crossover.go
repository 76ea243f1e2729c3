package stats

import (
	"fmt"
	"math"
	"slices"
)

// Curve is a suite score against total time.
type Curve struct {
	// Hours are the total times of the knots, positive and strictly increasing.
	Hours []float64
	// Points and Draws hold the score and its bootstrap draws at each knot. Only
	// knots at which no cell is saturated belong here.
	Points []float64
	Draws  [][]float64
}

// CrossoverStatus says what can be told about where two curves cross.
type CrossoverStatus int

const (
	// CrossoverFound: the curves cross, and the times at which they may do so are
	// bounded on at least one side.
	CrossoverFound CrossoverStatus = iota
	// CrossoverNone: one curve is above throughout the range and no time's interval
	// of the difference contains 0.
	CrossoverNone
	// CrossoverPossible: the point curves do not cross, but some times' intervals
	// contain 0.
	CrossoverPossible
	// CrossoverUndetermined: the interval of the difference contains 0 at every time.
	CrossoverUndetermined
	// CrossoverNoRange: the curves have no common range of total times.
	CrossoverNoRange
)

// Span is a range of total times in hours.
type Span struct {
	Low, High float64
	// OpenLow and OpenHigh mark ends where the common range ends, not the span.
	OpenLow, OpenHigh bool
}

// CrossoverResult tells where two curves cross.
type CrossoverResult struct {
	Status CrossoverStatus
	// From and To bound the common range in hours; 0 without one.
	From, To float64
	// Hours are all sign changes of the difference of the points, ascending. A
	// difference that is 0 over a stretch and changes sign across it is listed at the
	// middle of the stretch; one that only touches 0 is not a crossing.
	Hours []float64
	// Spans are the times whose 95% interval of the difference contains 0.
	Spans []Span
}

// crossoverSteps is the number of times per segment between knots at which the
// interval of the difference is read before its ends are refined by bisection.
const crossoverSteps = 16

// Crossover compares two curves over the range that both cover. Scores and draws
// are interpolated linearly in log2 of total time between knots.
//
// It returns ErrShape when a curve's slices do not fit together, its times are
// not positive and increasing, or the numbers of draws differ.
func Crossover(a, b Curve) (CrossoverResult, error) {
	// A curve without knots has no draws either.
	draws := max(len(drawsOf(a)), len(drawsOf(b)))
	for i, c := range []Curve{a, b} {
		if err := c.check(draws); err != nil {
			return CrossoverResult{}, fmt.Errorf("crossover: curve %d: %w", i+1, err)
		}
	}
	if len(a.Hours) == 0 || len(b.Hours) == 0 {
		return CrossoverResult{Status: CrossoverNoRange}, nil
	}
	from := max(a.Hours[0], b.Hours[0])
	to := min(a.Hours[len(a.Hours)-1], b.Hours[len(b.Hours)-1])
	if !(from < to) {
		return CrossoverResult{Status: CrossoverNoRange}, nil
	}
	d := newGap(a, b, from, to)
	out := CrossoverResult{From: from, To: to, Hours: d.signChanges(), Spans: d.zeroSpans()}
	everywhere := len(out.Spans) == 1 && out.Spans[0].OpenLow && out.Spans[0].OpenHigh
	switch {
	case everywhere:
		out.Status = CrossoverUndetermined
	case len(out.Hours) > 0:
		out.Status = CrossoverFound
	case len(out.Spans) > 0:
		out.Status = CrossoverPossible
	default:
		out.Status = CrossoverNone
	}
	return out, nil
}

func drawsOf(c Curve) []float64 {
	if len(c.Draws) == 0 {
		return nil
	}
	return c.Draws[0]
}

func (c Curve) check(draws int) error {
	if len(c.Points) != len(c.Hours) || len(c.Draws) != len(c.Hours) {
		return fmt.Errorf("%w: %d times, %d points, %d rows of draws", ErrShape, len(c.Hours), len(c.Points), len(c.Draws))
	}
	for i, h := range c.Hours {
		if !(h > 0) || math.IsInf(h, 0) || i > 0 && h <= c.Hours[i-1] {
			return fmt.Errorf("%w: time %d is %v h, want positive increasing times", ErrShape, i+1, h)
		}
		if len(c.Draws[i]) != draws || draws == 0 {
			return fmt.Errorf("%w: %d draws at %v h, want %d (at least 1)", ErrShape, len(c.Draws[i]), h, draws)
		}
	}
	return nil
}

// gap is the difference of two curves, linear in x = log2 hours between knots.
type gap struct {
	x       []float64
	point   []float64
	draws   [][]float64
	scratch []float64
}

func newGap(a, b Curve, from, to float64) *gap {
	hours := []float64{from, to}
	for _, h := range slices.Concat(a.Hours, b.Hours) {
		if h > from && h < to {
			hours = append(hours, h)
		}
	}
	slices.Sort(hours)
	hours = slices.Compact(hours)
	g := &gap{scratch: make([]float64, len(drawsOf(a)))}
	for _, h := range hours {
		pa, da := a.at(h)
		pb, db := b.at(h)
		for i := range da {
			da[i] -= db[i]
		}
		g.x = append(g.x, math.Log2(h))
		g.point = append(g.point, pa-pb)
		g.draws = append(g.draws, da)
	}
	return g
}

// at returns point and draws, newly allocated, at a time within the curve's range.
func (c Curve) at(hours float64) (float64, []float64) {
	i, exact := slices.BinarySearch(c.Hours, hours)
	if exact {
		return c.Points[i], slices.Clone(c.Draws[i])
	}
	lo, hi := math.Log2(c.Hours[i-1]), math.Log2(c.Hours[i])
	t := (math.Log2(hours) - lo) / (hi - lo)
	draws := make([]float64, len(c.Draws[i]))
	for r := range draws {
		draws[r] = lerp(c.Draws[i-1][r], c.Draws[i][r], t)
	}
	return lerp(c.Points[i-1], c.Points[i], t), draws
}

// signChanges returns, in hours, where the point difference changes sign.
func (g *gap) signChanges() []float64 {
	var out []float64
	last := -1 // the last knot with a difference other than 0
	for i, d := range g.point {
		if d == 0 {
			continue
		}
		if last >= 0 && (d > 0) != (g.point[last] > 0) {
			var x float64
			if i == last+1 {
				x = g.x[last] + (g.x[i]-g.x[last])*g.point[last]/(g.point[last]-d)
			} else {
				x = (g.x[last+1] + g.x[i-1]) / 2
			}
			out = append(out, math.Exp2(x))
		}
		last = i
	}
	return out
}

// containsZero reports whether the interval of the difference contains 0 at the
// position t in [0, 1] of segment i.
func (g *gap) containsZero(i int, t float64) bool {
	for r, d := range g.draws[i] {
		g.scratch[r] = lerp(d, g.draws[i+1][r], t)
	}
	lo, hi := PercentileInterval(g.scratch, Level)
	return lo <= 0 && hi >= 0
}

// zeroSpans returns the spans of times whose interval contains 0. It reads the
// interval on a grid and refines the ends, so a span that lies between two
// neighbouring grid times (1/16 of a segment) can be missed.
func (g *gap) zeroSpans() []Span {
	var spans []Span
	inside := g.containsZero(0, 0)
	if inside {
		spans = append(spans, Span{Low: math.Exp2(g.x[0]), OpenLow: true})
	}
	for i := range len(g.x) - 1 {
		for s := range crossoverSteps {
			lo, hi := float64(s)/crossoverSteps, float64(s+1)/crossoverSteps
			if g.containsZero(i, hi) == inside {
				continue
			}
			edge := math.Exp2(g.edge(i, lo, hi, inside))
			if inside {
				spans[len(spans)-1].High = edge
			} else {
				spans = append(spans, Span{Low: edge})
			}
			inside = !inside
		}
	}
	if inside {
		end := &spans[len(spans)-1]
		end.High, end.OpenHigh = math.Exp2(g.x[len(g.x)-1]), true
	}
	return spans
}

// edge bisects for the position, in log2 hours, where containsZero changes from
// its value at lo to the opposite at hi.
func (g *gap) edge(i int, lo, hi float64, atLo bool) float64 {
	for range 12 {
		mid := (lo + hi) / 2
		if g.containsZero(i, mid) == atLo {
			lo = mid
		} else {
			hi = mid
		}
	}
	return g.x[i] + (g.x[i+1]-g.x[i])*(lo+hi)/2
}
