package chart

import (
	"math"
	"slices"
)

// bandPoint is one point of a curve with its interval. An end that is nil is open;
// when both are there is no interval.
type bandPoint struct {
	x, score  float64
	low, high *float64
	saturated bool
}

func (p bandPoint) has() bool { return p.low != nil || p.high != nil }

// middle is the score, cut to the interval.
func (p bandPoint) middle() float64 {
	m := p.score
	if p.low != nil {
		m = math.Max(m, *p.low)
	}
	if p.high != nil {
		m = math.Min(m, *p.high)
	}
	return m
}

// fadeSteps is the number of strips by which an open end fades out.
const fadeSteps = 6

// strongBand is the opacity of the band of the one agent that the reader singles out.
const strongBand = 0.22

// band is the style of a curve's band.
type band struct {
	group   string
	token   Token
	opacity float64
	fade    float64 // how far an open end fades, in units of the score
}

// areas returns the polygons of a curve's 95% band. Stretches between closed
// intervals are one polygon. Where an end is open the band reaches from the other
// end to the score and fades out beyond it: the fading says that the end is
// unknown, its length says nothing.
func (b band) areas(pts []bandPoint) []area {
	var out []area
	open := func(i int) [2]bool {
		return [2]bool{pts[i-1].low == nil || pts[i].low == nil, pts[i-1].high == nil || pts[i].high == nil}
	}
	for i := 1; i < len(pts); i++ {
		if !pts[i-1].has() || !pts[i].has() {
			continue
		}
		j := i
		for j+1 < len(pts) && pts[j+1].has() && open(j+1) == open(i) {
			j++
		}
		out = append(out, b.run(pts[i-1:j+1], open(i)[0], open(i)[1])...)
		i = j
	}
	return out
}

// run is a stretch whose ends are open or closed throughout.
func (b band) run(run []bandPoint, openLow, openHigh bool) []area {
	low := func(p bandPoint) float64 { return *p.low }
	high := func(p bandPoint) float64 { return *p.high }
	switch {
	case !openLow && !openHigh:
		return []area{b.ribbon(1, run, low, high)}
	case openLow && openHigh:
		return append(b.faded(run, -1), b.faded(run, 1)...)
	case openHigh:
		return append([]area{b.ribbon(1, run, low, bandPoint.middle)}, b.faded(run, 1)...)
	}
	return append([]area{b.ribbon(1, run, bandPoint.middle, high)}, b.faded(run, -1)...)
}

// faded is half a band that fades out upwards (sign 1) or downwards (-1).
func (b band) faded(run []bandPoint, sign float64) []area {
	// Where a point's end is known the strips share out its own half.
	reach := func(p bandPoint) float64 {
		end := p.high
		if sign < 0 {
			end = p.low
		}
		if end != nil {
			return *end - p.middle()
		}
		return sign * b.fade
	}
	var out []area
	for s := range fadeSteps {
		from, to := float64(s)/fadeSteps, float64(s+1)/fadeSteps
		out = append(out, b.ribbon((1-from)*(1-from), run,
			func(p bandPoint) float64 { return p.middle() + from*reach(p) },
			func(p bandPoint) float64 { return p.middle() + to*reach(p) }))
	}
	return out
}

// ribbon is the polygon between two curves: one forwards, the other back.
func (b band) ribbon(share float64, run []bandPoint, there, back func(bandPoint) float64) area {
	a := area{group: b.group, token: b.token, opacity: b.opacity * share, strong: strongBand * share}
	for _, p := range run {
		a.pts = append(a.pts, xy{p.x, there(p)})
	}
	for _, p := range slices.Backward(run) {
		a.pts = append(a.pts, xy{p.x, back(p)})
	}
	return a
}

// alone reports whether no band leads to or from the point, so that its interval
// needs a whisker.
func alone(pts []bandPoint, i int) bool {
	return !(i > 0 && pts[i-1].has()) && !(i+1 < len(pts) && pts[i+1].has())
}

// openEnds reports whether an interval has exactly one known end.
func openEnds(pts []bandPoint) bool {
	return slices.ContainsFunc(pts, func(p bandPoint) bool { return p.has() && (p.low == nil || p.high == nil) })
}

// strokes splits a curve into its plain stretches and its saturated ones, which are
// dotted: a stretch is saturated when the point at its right end is.
func strokes(group string, token Token, width float64, dash []float64, pts []bandPoint) []line {
	var out []line
	for i := 1; i < len(pts); i++ {
		sat := pts[i].saturated
		if n := len(out); n > 0 && i > 1 && pts[i-1].saturated == sat {
			out[n-1].pts = append(out[n-1].pts, xy{pts[i].x, pts[i].score})
			continue
		}
		l := line{group: group, token: token, width: width, dash: dash, opacity: 1, pts: []xy{{pts[i-1].x, pts[i-1].score}, {pts[i].x, pts[i].score}}}
		if sat {
			l.dash, l.opacity = dotted, 0.7
		}
		out = append(out, l)
	}
	return out
}
