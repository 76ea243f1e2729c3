package chart

import "slices"

// bandPoint is one point of a curve with its interval. A nil high end is open
// upwards; a nil low end means that there is no interval.
type bandPoint struct {
	x, score  float64
	low, high *float64
	saturated bool
}

// fadeSteps is the number of strips by which an open upper end fades out.
const fadeSteps = 6

// strongBand is the opacity of the band of the one agent that the reader singles out.
const strongBand = 0.22

// bands returns the polygons of a curve's 95% band. Stretches between two closed
// intervals are one polygon. Where an end is open the band reaches up to the
// score and fades out above it over the height fade, in the units of the score:
// the fading says that the end is unknown, its height says nothing.
func bands(group string, token Token, opacity float64, pts []bandPoint, fade float64) []area {
	var out []area
	for i := 0; i < len(pts); {
		if pts[i].low == nil {
			i++
			continue
		}
		j := i
		for j+1 < len(pts) && pts[j+1].low != nil && (pts[j+1].high == nil) == (pts[i].high == nil) {
			j++
		}
		run := pts[i : j+1]
		if pts[i].high != nil {
			if len(run) > 1 {
				out = append(out, ribbon(group, token, opacity, strongBand, run, func(p bandPoint) float64 { return *p.low }, func(p bandPoint) float64 { return *p.high }))
			}
		} else {
			if i > 0 && pts[i-1].low != nil { // join on to the closed part
				run = pts[i-1 : j+1]
			}
			out = append(out, faded(group, token, opacity, run, fade)...)
		}
		i = j + 1
		if i < len(pts) && pts[i].low != nil && pts[i-1].high == nil { // a closed stretch after an open one starts at the open point
			out = append(out, faded(group, token, opacity, pts[i-1:i+1], fade)...)
		}
	}
	return out
}

// faded is a band that is open upwards.
func faded(group string, token Token, opacity float64, run []bandPoint, fade float64) []area {
	if len(run) < 2 {
		return nil
	}
	low := func(p bandPoint) float64 { return *p.low }
	// Where the first point is closed the strips share out its own interval.
	height := func(p bandPoint) float64 {
		if p.high != nil {
			return max(*p.high-p.score, 0)
		}
		return fade
	}
	out := []area{ribbon(group, token, opacity, strongBand, run, low, func(p bandPoint) float64 { return max(p.score, *p.low) })}
	for s := range fadeSteps {
		from, to := float64(s)/fadeSteps, float64(s+1)/fadeSteps
		share := (1 - from) * (1 - from)
		out = append(out, ribbon(group, token, opacity*share, strongBand*share, run,
			func(p bandPoint) float64 { return max(p.score, *p.low) + from*height(p) },
			func(p bandPoint) float64 { return max(p.score, *p.low) + to*height(p) }))
	}
	return out
}

// ribbon is the polygon between two curves: the lower one forwards, the upper back.
func ribbon(group string, token Token, opacity, strong float64, run []bandPoint, low, high func(bandPoint) float64) area {
	a := area{group: group, token: token, opacity: opacity, strong: strong}
	for _, p := range run {
		a.pts = append(a.pts, xy{p.x, low(p)})
	}
	for _, p := range slices.Backward(run) {
		a.pts = append(a.pts, xy{p.x, high(p)})
	}
	return a
}

// strokes splits a curve into its plain stretch and its saturated ones, which are
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
