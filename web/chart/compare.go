package chart

import (
	"fmt"
	"slices"
	"strings"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// Compare plots the difference of two agents' scores, A - B, over total time with
// its 95% band, the line at 0, and the times at which the curves may cross.
func Compare(c *analysis.Comparison) *Figure {
	f := &Figure{Source: Source{Revision: c.DataRevision}, zoom: true, Height: 420}
	p := &panel{}
	f.panels = []*panel{p}
	a, verb := inSentence(c.A.Agent)
	b, _ := inSentence(c.B.Agent)
	f.Title = fmt.Sprintf("%s %s ahead of %s at equal total time?", strings.ToUpper(verb[:1])+verb[1:], a, b)
	f.Subtitle = sentence("; ", "Difference of mean scores over "+environmentsText(c.View.Environments), viewText(c.View, withHumans(c)), attemptsText(c))
	f.HowToRead = fmt.Sprintf("Above the line: %s ahead; below it: %s ahead. Shaded is the nominal 95%% interval: where it holds 0, either may be ahead.", a, b)

	var pts []bandPoint
	var xs []float64
	ys := []float64{0}
	for _, d := range c.OverTime {
		if !finite(d.D) || d.BudgetS <= 0 {
			f.dropped++
			continue
		}
		x := float64(d.BudgetS)
		pts = append(pts, bandPoint{x: x, score: d.D, low: known(d.CILow), high: known(d.CIHigh)})
		pts[len(pts)-1].saturated = !pts[len(pts)-1].has() // no interval: dotted
		xs, ys = append(xs, x), append(ys, d.D)
		for _, e := range []*float64{known(d.CILow), known(d.CIHigh)} {
			if e != nil {
				ys = append(ys, *e)
			}
		}
	}
	if len(pts) == 0 {
		f.Empty = c.Empty
		if f.Empty == "" {
			f.Empty = "There is no total time at which both agents have attempts in every chosen environment."
		}
		f.Alt = f.Empty
		return f.finish()
	}
	p.x = timeAxis("Total time budget of each (log scale)", slices.Min(xs), slices.Max(xs))
	p.y = linearAxis("Difference in normalized score, A − B", slices.Min(ys), slices.Max(ys), 6)
	p.refs = append(p.refs, ref{value: 0, label: "equal", token: TokenInk, width: 1, opacity: 0.7})
	styles := Styles([]string{c.A.Agent, c.B.Agent})
	compareSides(p, c, styles)
	crossover(p, c.Crossover)
	compareCurve(f, p, c, pts)
	f.Alt = compareAlt(f, c)
	return f.finish()
}

// attemptsText says how many attempts each side has at the budget shown.
func attemptsText(c *analysis.Comparison) string {
	if c.A.NAttempts == 0 && c.B.NAttempts == 0 {
		return ""
	}
	return fmt.Sprintf("n = %d and %d attempts at %s", c.A.NAttempts, c.B.NAttempts, duration(c.BudgetS))
}

func withHumans(c *analysis.Comparison) bool {
	return c.A.Kind == rebench.KindHuman || c.B.Kind == rebench.KindHuman
}

// compareSides names the side on which each agent is ahead.
func compareSides(p *panel, c *analysis.Comparison, styles map[string]Style) {
	if p.y.max > 0 {
		p.sides = append(p.sides, side{text: "↑ " + shownName(c.A.Agent), token: styles[c.A.Agent].Token.Text(), y: p.y.max * 0.75})
	}
	if p.y.min < 0 {
		p.sides = append(p.sides, side{text: "↓ " + shownName(c.B.Agent), token: styles[c.B.Agent].Token.Text(), y: p.y.min * 0.75})
	}
}

// crossover marks where the sign changes and where it might.
func crossover(p *panel, c *analysis.CrossoverResult) {
	if c == nil {
		return
	}
	for _, s := range c.Budgets {
		if finite(s) && s > p.x.min && s < p.x.max {
			p.refs = append(p.refs, ref{vertical: true, value: s, label: "cross at " + aboutHours(s), token: TokenInk, width: 1, dash: []float64{4, 3}, opacity: 0.7})
		}
	}
	if c.Verdict != "crosses" {
		return
	}
	from, to := p.x.min, p.x.max
	if l := known(c.Low); l != nil {
		from = *l
	}
	if h := known(c.High); h != nil {
		to = *h
	}
	if from < to {
		p.spans = append(p.spans, span{from: from, to: to, label: "may cross here", token: TokenInk, opacity: 0.05})
	}
}

// aboutHours writes a time in seconds with two digits: 45 min, 5.3 h.
func aboutHours(s float64) string {
	if s < 3600 {
		return number(s/60, 0) + " min"
	}
	if s < 36000 {
		return number(s/3600, 1) + " h"
	}
	return number(s/3600, 0) + " h"
}

func compareCurve(f *Figure, p *panel, c *analysis.Comparison, pts []bandPoint) {
	p.areas = band{"", TokenInk, 0.13, (p.y.max - p.y.min) * 0.09}.areas(pts)
	p.lines = strokes("", TokenInk, 2, nil, pts)
	i := -1
	for _, d := range c.OverTime {
		if !finite(d.D) || d.BudgetS <= 0 {
			continue
		}
		i++
		t := &tip{title: "At " + duration(d.BudgetS) + " in total", rows: [][2]string{
			{"A − B", Score(d.D)}, {"95% interval", Interval(d.D, d.CILow, d.CIHigh)},
			{"A: " + shownName(c.A.Agent), Score(d.A) + ", best of " + fmt.Sprint(d.KA)},
			{"B: " + shownName(c.B.Agent), Score(d.B) + ", best of " + fmt.Sprint(d.KB)},
			{"Bootstrap support for A > B", support(d.PAGreater)},
		}}
		m := mark{token: TokenInk, marker: MarkerCircle, size: 8, x: float64(d.BudgetS), y: d.D, low: d.CILow, high: d.CIHigh,
			whisker: alone(pts, i), tip: t, key: fmt.Sprintf("budget %d", d.BudgetS)}
		if d.BudgetS == c.BudgetS {
			m.size = 12
		}
		if pts[i].saturated {
			m.hollow, m.opacity = true, 0.7
		}
		f.add(p, m)
	}
	names := []string{"↑ " + shownName(c.A.Agent), "↓ " + shownName(c.B.Agent)}
	f.gutter = gutterWidth(names)
	if slices.ContainsFunc(pts, func(q bandPoint) bool { return q.saturated }) {
		f.key = append(f.key, keyEntry{text: "no interval: too few attempts", token: TokenMuted, line: true, dash: dotted, marker: MarkerCircle, hollow: true, faded: true})
	}
	if openEnds(pts) {
		f.key = append(f.key, keyEntry{text: "end of the interval unknown", token: TokenMuted, area: true, faded: true})
	}
}

// support writes bootstrap support, never as certainty.
func support(p float64) string {
	switch {
	case !finite(p):
		return "not available"
	case p < 0.001:
		return "<0.001"
	case p > 0.999:
		return ">0.999"
	}
	return number(p, 3)
}

func compareAlt(f *Figure, c *analysis.Comparison) string {
	s := "Line chart. " + f.Title
	for _, d := range c.OverTime {
		s += fmt.Sprintf(" %s: %s %s;", duration(d.BudgetS), Score(d.D), Interval(d.D, d.CILow, d.CIHigh))
	}
	return s[:len(s)-1] + "."
}

// CompareEnvironments plots the difference A - B at one total time, overall and in
// each environment, as dots with 95% intervals.
func CompareEnvironments(c *analysis.Comparison) *Figure {
	a, verb := inSentence(c.A.Agent)
	b, _ := inSentence(c.B.Agent)
	f := &Figure{Source: Source{Revision: c.DataRevision}}
	f.Title = fmt.Sprintf("Where %s %s ahead of %s?", verb, a, b)
	f.Subtitle = sentence("; ", "Difference of scores in each environment at "+duration(c.BudgetS)+" in total", viewText(c.View, withHumans(c)), attemptsText(c))
	f.HowToRead = fmt.Sprintf("Right of the line: %s ahead; left of it: %s ahead. Bars are nominal 95%% intervals.", a, b)
	r := newRows(f, "difference [95% interval]", "n of A, B")
	if c.Overall != nil {
		r.difference("Overall", *c.Overall, "", true)
	}
	for _, e := range c.Environments {
		r.difference(environmentTitle(e.Environment), e.Difference, fmt.Sprintf("%d, %d", e.NA, e.NB), false)
	}
	if len(r.labels) == 0 {
		f.Empty = c.Empty
		if f.Empty == "" {
			f.Empty = "The two agents have no environment in common at this total time."
		}
		f.Alt = f.Empty
		return f
	}
	r.p.refs = []ref{{vertical: true, value: 0, label: "equal", token: TokenInk, width: 1, opacity: 0.7}}
	r.finish("Difference in normalized score, A − B")
	return f.finish()
}

func (r *rows) difference(label string, d analysis.Difference, n string, strong bool) {
	if !finite(d.D) {
		r.f.dropped++
		return
	}
	r.cover(&d.D)
	r.cover(d.CILow)
	r.cover(d.CIHigh)
	y := r.row(label, Score(d.D)+" "+Interval(d.D, d.CILow, d.CIHigh), n)
	size := 8.0
	if strong {
		size = 12
	}
	r.alt = append(r.alt, label+" "+Score(d.D)+" "+Interval(d.D, d.CILow, d.CIHigh))
	t := &tip{title: label, rows: [][2]string{{"A − B", Score(d.D)}, {"95% interval", Interval(d.D, d.CILow, d.CIHigh)}, {"A", Score(d.A)}, {"B", Score(d.B)},
		{"Bootstrap support for A > B", support(d.PAGreater)}}}
	if n != "" {
		t.rows = append(t.rows, [2]string{"Attempts of A, B", n})
	}
	r.f.add(r.p, mark{token: TokenInk, marker: MarkerCircle, size: size, x: d.D, y: y, low: d.CILow, high: d.CIHigh, whisker: true, tip: t, key: label})
}
