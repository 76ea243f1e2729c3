package chart

import (
	"fmt"
	"slices"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// EnvironmentAtK plots score@k in one environment against k for every agent and
// time limit, with 95% bands.
func EnvironmentAtK(s *analysis.EnvironmentSummary, src Source) *Figure {
	b := atK{f: &Figure{Source: src, zoom: true, Height: 460}, p: &panel{}}
	b.f.Title = "How does the best of k attempts at " + plain(s.Title) + " grow with k?"
	b.f.Subtitle = "Expected best of k attempts of one time limit (score@k)"
	if s.Selection == rebench.SelectLast {
		b.f.Notes = append(b.f.Notes, "The score is hidden from the solver, so nobody can pick the best: score@k is the mean for every k.")
	}
	groups := orderedGroups(s.Groups)
	n := 0
	for _, g := range groups {
		b.labels = append(b.labels, g.Agent)
		n += g.N
	}
	b.f.Subtitle += "; " + rebench.Count(n, "attempt")
	b.start()
	for _, g := range groups {
		limit := duration(g.TimeLimitS)
		b.curve(g.Agent, shownName(g.Agent)+", "+limit, g.N, g.AtK)
	}
	return b.finish("No score@k to show: no attempts with a known time limit.")
}

// ScoreAtK plots one agent's mean score@k over the environments against k, and its
// score@k in each environment where they are given.
func ScoreAtK(s *analysis.ScoreAtK) *Figure {
	b := atK{f: &Figure{Source: Source{Revision: s.DataRevision}, zoom: true, Height: 460}, p: &panel{}}
	name := shownName(s.Agent)
	b.f.Title = fmt.Sprintf("How does the best of k attempts of %s grow with k?", name)
	b.f.Subtitle = sentence("; ", "Attempts of "+duration(s.TimeLimitS)+", mean over "+environmentsText(s.View.Environments), viewText(s.View, s.Agent == rebench.HumanName))
	b.labels = []string{s.Agent}
	cells := s.Cells
	if len(cells) == 0 {
		cells = s.PerEnv
	}
	n := 0
	for _, c := range cells {
		b.labels = append(b.labels, string(c.Environment))
		n += c.N
	}
	if n > 0 {
		b.f.Subtitle += "; " + rebench.Count(n, "attempt")
	}
	b.start()
	for _, c := range cells {
		b.thin = true
		b.curve(string(c.Environment), environmentTitle(c.Environment), c.N, c.Points)
	}
	b.thin = false
	mean := make([]analysis.AtK, len(s.Mean))
	for i, m := range s.Mean {
		mean[i] = analysis.AtK{K: m.K, Score: m.Score, CILow: m.CILow, CIHigh: m.CIHigh, Saturated: m.Saturated}
	}
	b.curve(s.Agent, "Mean", 0, mean)
	return b.finish("No environment has attempts of this agent at this time limit.")
}

// atK builds charts of score@k.
type atK struct {
	f      *Figure
	p      *panel
	labels []string
	styles map[string]Style
	thin   bool
	curves []atKCurve

	saturated, open bool
}

type atKCurve struct {
	group, name string
	n           int
	thin        bool
	points      []analysis.AtK
}

func (b *atK) start() { b.styles = Styles(b.labels) }

func (b *atK) curve(group, name string, n int, points []analysis.AtK) {
	points = slices.DeleteFunc(slices.Clone(points), func(p analysis.AtK) bool { return p.K < 1 })
	if len(points) > 0 {
		b.curves = append(b.curves, atKCurve{group, name, n, b.thin, points})
	}
}

func (b *atK) finish(empty string) *Figure {
	f, p := b.f, b.p
	f.panels = []*panel{p}
	f.HowToRead = "k on a log scale. 0 is the starting solution, 1 the reference. Shaded are nominal 95% intervals."
	if len(b.curves) == 0 {
		f.Empty, f.Alt = empty, empty
		return f.finish()
	}
	maxK := 1
	ys := []float64{0, 1}
	for _, c := range b.curves {
		for _, q := range c.points {
			maxK = max(maxK, q.K)
			for _, v := range []*float64{&q.Score, q.CILow, q.CIHigh} {
				if v = known(v); v != nil && (!c.thin || v == &q.Score) {
					ys = append(ys, *v)
				}
			}
		}
	}
	p.x = powerAxis("k, number of attempts (log scale)", 1, float64(maxK))
	p.y = scoreAxis("score@k", ys)
	p.refs = scoreRefs(false)
	opacity := 0.14
	if len(b.curves) > 4 {
		opacity = 0.06
	}
	if len(b.curves) > maxBands {
		opacity = 0
		f.Notes = append(f.Notes, fmt.Sprintf("Bands are left out: more than %d curves.", maxBands))
	}
	var names, alt []string
	for _, c := range b.curves {
		b.draw(c, opacity)
		names = append(names, c.name)
		last := c.points[len(c.points)-1]
		alt = append(alt, fmt.Sprintf("%s %s at k = %d", c.name, Score(last.Score), last.K))
	}
	f.gutter = gutterWidth(names)
	if b.saturated {
		f.key = append(f.key, keyEntry{text: "saturated: k ≥ n", token: TokenMuted, line: true, dash: dotted, marker: MarkerCircle, hollow: true, faded: true})
	}
	if b.open {
		f.key = append(f.key, keyEntry{text: "end of the interval unknown", token: TokenMuted, area: true, faded: true})
	}
	f.Alt = "Line chart. " + f.Title + " " + sentence("; ", alt...) + "."
	return f.finish()
}

func (b *atK) draw(c atKCurve, opacity float64) {
	st := b.styles[c.group]
	if c.name == "Mean" && c.n == 0 {
		st = Style{Token: TokenInk, Dash: DashSolid, Marker: MarkerCircle}
	}
	var pts []bandPoint
	var kept []analysis.AtK
	for _, q := range c.points {
		if !finite(q.Score) {
			b.f.dropped++
			continue
		}
		pts = append(pts, bandPoint{x: float64(q.K), score: q.Score, low: known(q.CILow), high: known(q.CIHigh), saturated: q.Saturated})
		kept = append(kept, q)
		b.saturated = b.saturated || q.Saturated
	}
	if len(pts) == 0 {
		return
	}
	width, size := 1.75, 6.0
	if c.thin {
		width, size = 1, 5
	} else {
		style := band{c.group, st.Token, opacity, (b.p.y.max - b.p.y.min) * 0.09}
		b.p.areas = append(b.p.areas, style.areas(pts)...)
		b.open = b.open || openEnds(pts)
	}
	b.p.lines = append(b.p.lines, strokes(c.group, st.Token, width, st.Dash.Pattern(), pts)...)
	for i, q := range kept {
		t := &tip{title: c.name, rows: [][2]string{{"score@k", Score(q.Score)}, {"95% interval", Interval(q.Score, q.CILow, q.CIHigh)}, {"k", fmt.Sprint(q.K)}}}
		if c.n > 0 {
			t.rows = append(t.rows, [2]string{"Attempts", fmt.Sprintf("n = %d", c.n)})
		}
		if q.Saturated {
			t.rows = append(t.rows, [2]string{"Saturated", "k ≥ n: the best of all attempts, not of k"})
		}
		m := mark{group: c.group, token: st.Token, marker: st.Marker, size: size, x: float64(q.K), y: q.Score, low: q.CILow, high: q.CIHigh,
			hollow: q.Saturated, whisker: !c.thin && alone(pts, i), tip: t, key: fmt.Sprintf("%s k=%d", c.name, q.K)}
		if q.Saturated {
			m.opacity = 0.7
		}
		b.f.add(b.p, m)
	}
	b.p.ends = append(b.p.ends, end{group: c.group, text: c.name, token: st.Token.Text(), pts: path(pts)})
	if !slices.ContainsFunc(b.f.key, func(k keyEntry) bool { return k.group == c.group }) {
		text := shownName(c.group)
		if c.thin || c.name == "Mean" {
			text = c.name
		}
		b.f.key = append(b.f.key, keyEntry{group: c.group, text: text, token: st.Token, dash: st.Dash.Pattern(), line: true, marker: st.Marker})
	}
}
