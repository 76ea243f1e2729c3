package chart

import (
	"fmt"
	"slices"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// HumanPercentiles plots H(p), the percentiles of the human experts' final scores
// averaged over environments, with a 95% band.
func HumanPercentiles(h *analysis.Percentiles) *Figure {
	f := &Figure{Source: Source{Revision: h.DataRevision}, Height: 420}
	f.Title = "How do the human experts' scores spread?"
	f.Subtitle = sentence("; ", "Percentiles of final scores after 8 h, mean over "+environmentsText(h.View.Environments), rebench.Count(h.NAttempts, "attempt"))
	f.HowToRead = "Read from a score across to the curve and down: the share of expert attempts that scored less. Shaded is the nominal 95% interval."
	p := &panel{}
	f.panels = []*panel{p}
	pts, ys := percentilePoints(f, h.Percentile, h.Mean, h.CILow, h.CIHigh)
	if len(pts) == 0 {
		f.Empty = "No human attempts in this view."
		f.Alt = f.Empty
		return f.finish()
	}
	p.x = percentAxis(25)
	p.y = scoreAxis("Normalized score", ys)
	p.refs = scoreRefs(false)
	p.areas = band{rebench.HumanName, TokenInk, 0.14, 0}.areas(pts)
	p.lines = strokes(rebench.HumanName, TokenInk, 2.25, nil, pts)
	alt := ""
	for _, q := range pts {
		t := &tip{title: fmt.Sprintf("Percentile %d of the human experts", int(q.x)), rows: [][2]string{{"Score", Score(q.score)}, {"95% interval", Interval(q.score, q.low, q.high)}}}
		m := mark{group: rebench.HumanName, token: TokenInk, marker: MarkerCircle, size: 0, x: q.x, y: q.score, tip: t, key: fmt.Sprintf("p%d", int(q.x))}
		if x := int(q.x); x == 25 || x == 50 || x == 75 || x == 90 {
			m.size = 8
			p.notes = append(p.notes, note{text: fmt.Sprintf("p%d: %s", x, number(q.score, 2)), token: TokenInk, x: q.x, y: q.score})
			alt += fmt.Sprintf(" Percentile %d: %s.", x, Score(q.score))
		}
		f.add(p, m)
	}
	f.Alt = "Line chart. " + f.Title + alt
	return f.finish()
}

// HumanEnvironments plots the percentile curve of every environment in a panel of
// its own, with the mean over environments in each for comparison.
func HumanEnvironments(h *analysis.Percentiles) *Figure {
	f := &Figure{Source: Source{Revision: h.DataRevision}, small: true}
	f.Title = "How do the human experts' scores spread in each environment?"
	f.Subtitle = "Across: percentile of expert attempts; up: normalized score after 8 h; " + rebench.Count(h.NAttempts, "attempt")
	f.HowToRead = "Thick: the environment. Thin: the mean over environments. 0 is the starting solution, 1 the reference."
	ys := []float64{0, 1}
	for _, env := range h.View.Environments {
		for _, v := range h.Environments[env] {
			if finite(v) {
				ys = append(ys, v)
			}
		}
	}
	alt := ""
	for _, env := range h.View.Environments {
		values := h.Environments[env]
		pts, _ := percentilePoints(f, h.Percentile, values, nil, nil)
		if len(pts) == 0 {
			continue
		}
		p := &panel{title: fmt.Sprintf("%s (n %d)", environmentTitle(env), h.NByEnv[env]), x: percentAxis(50), y: linearAxis("", slices.Min(ys), slices.Max(ys), 5)}
		p.x.title = ""
		p.refs = []ref{{value: 1, token: TokenInk, width: 1, opacity: 0.4}}
		mean, _ := percentilePoints(f, h.Percentile, h.Mean, nil, nil)
		p.lines = append(strokes("", TokenMuted, 1, nil, mean), strokes("", TokenInk, 2, nil, pts)...)
		for _, q := range pts {
			t := &tip{title: environmentTitle(env), rows: [][2]string{{"Percentile", fmt.Sprint(int(q.x))}, {"Score", Score(q.score)}}}
			f.add(p, mark{token: TokenInk, marker: MarkerCircle, size: 0, x: q.x, y: q.score, tip: t, key: fmt.Sprintf("%s p%d", env, int(q.x))})
			if int(q.x) == 50 {
				alt += fmt.Sprintf(" %s: median %s.", environmentTitle(env), Score(q.score))
			}
		}
		f.panels = append(f.panels, p)
	}
	if len(f.panels) == 0 {
		f.Empty = "No human attempts in this view."
		f.Alt = f.Empty
		return f.finish()
	}
	f.Height = 560
	f.Alt = "Small line charts. " + f.Title + alt
	return f.finish()
}

func percentAxis(step int) axis {
	a := axis{title: "Percentile of expert attempts", min: 0, max: 100}
	for v := 0; v <= 100; v += step {
		a.ticks = append(a.ticks, tick{value: float64(v), label: fmt.Sprint(v)})
	}
	return a
}

// percentilePoints pairs percentiles with values and interval ends, and lists all
// the finite values together with 0 and 1.
func percentilePoints(f *Figure, percentile []int, values, low, high []float64) ([]bandPoint, []float64) {
	var pts []bandPoint
	ys := []float64{0, 1}
	at := func(s []float64, i int) *float64 {
		if i >= len(s) {
			return nil
		}
		return known(&s[i])
	}
	for i, p := range percentile {
		v := at(values, i)
		if v == nil {
			if i < len(values) {
				f.dropped++
			}
			continue
		}
		q := bandPoint{x: float64(p), score: *v, low: at(low, i), high: at(high, i)}
		pts = append(pts, q)
		for _, e := range []*float64{&q.score, q.low, q.high} {
			if e != nil {
				ys = append(ys, *e)
			}
		}
	}
	return pts, ys
}
