package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// Environment plots the final scores of single attempts in one environment: a row
// for each agent and time limit, a dot for each attempt, strokes at the mean.
func Environment(s *analysis.EnvironmentSummary, src Source) *Figure {
	f := &Figure{Source: src}
	f.Title = "What do single attempts at " + plain(s.Title) + " score?"
	f.HowToRead = "Each dot is one attempt; dots are stacked where they would overlap. The stroke is the mean. 0 is the starting solution, 1 the reference."
	r := newRows(f, "mean", "median", "n", "at 0", "flagged")
	r.hi = 1
	groups := orderedGroups(s.Groups)
	labels := make([]string, len(groups))
	for i, g := range groups {
		labels[i] = g.Agent
		for _, v := range g.Scores {
			r.cover(&v)
		}
	}
	styles := Styles(labels)
	n := 0
	for _, g := range groups {
		n += len(g.Scores)
		r.strip(g, styles[g.Agent])
	}
	f.Subtitle = sentence("; ", "Final normalized scores", count(n, "attempt"))
	if len(r.labels) == 0 {
		f.Empty = "No attempts at this environment yet."
		f.Alt = f.Empty
		return f.finish()
	}
	if s.CeilingHigh > s.CeilingLow && s.CeilingLow > 0 {
		r.p.spans = append(r.p.spans, span{from: s.CeilingLow, to: s.CeilingHigh, label: "authors' ceiling", token: TokenInk, opacity: 0.05})
		r.cover(&s.CeilingHigh)
	}
	r.p.refs = scoreRefs(true)
	r.finish("Final normalized score")
	return f.finish()
}

// orderedGroups puts humans first, then agents by name and time limit.
func orderedGroups(groups []analysis.AttemptGroup) []analysis.AttemptGroup {
	out := slices.DeleteFunc(slices.Clone(groups), func(g analysis.AttemptGroup) bool { return len(g.Scores) == 0 })
	slices.SortStableFunc(out, func(a, b analysis.AttemptGroup) int {
		if ha, hb := a.Kind == rebench.KindHuman, b.Kind == rebench.KindHuman; ha != hb {
			if ha {
				return -1
			}
			return 1
		}
		if c := cmp.Compare(a.Agent, b.Agent); c != 0 {
			return c
		}
		return cmp.Compare(a.TimeLimitS, b.TimeLimitS)
	})
	return out
}

func (r *rows) strip(g analysis.AttemptGroup, st Style) {
	limit := "unknown limit"
	if g.TimeLimitS > 0 {
		limit = duration(g.TimeLimitS)
	}
	name := shownName(g.Agent) + ", " + limit
	flagged := ""
	if g.Flagged > 0 {
		flagged = fmt.Sprint(g.Flagged)
	}
	y := r.row(name, number(g.Mean, 2), number(g.Median, 2), fmt.Sprint(g.N), fmt.Sprint(g.Zeros), flagged)
	r.alt = append(r.alt, fmt.Sprintf("%s: mean %s, median %s, best %s, n %d", name, number(g.Mean, 2), number(g.Median, 2), number(g.Best, 2), g.N))
	for i, p := range swarm(g.Scores, (r.hi-r.lo)/110) {
		t := &tip{title: name, rows: [][2]string{{"Score of one attempt", score(p.x)}, {"Rank in this row", fmt.Sprintf("%d of %d", len(g.Scores)-i, len(g.Scores))}}}
		r.f.add(r.p, mark{group: g.Agent, token: st.Token, marker: MarkerCircle, size: 5, opacity: 0.6, x: p.x, y: y + p.y, tip: t, key: fmt.Sprintf("%s %d %d", g.Agent, g.TimeLimitS, i)})
	}
	t := &tip{title: name, rows: [][2]string{{"Mean", score(g.Mean)}, {"Median", score(g.Median)}, {"Best", score(g.Best)}, {"Attempts", fmt.Sprint(g.N)}, {"At or below the start", fmt.Sprint(g.Zeros)}}}
	r.f.add(r.p, mark{group: g.Agent, token: TokenInk, marker: markerTick, size: 20, x: g.Mean, y: y, tip: t, key: fmt.Sprintf("%s %d mean", g.Agent, g.TimeLimitS)})
}

// swarm places sorted scores as dots: the x are exact, the y are offsets within
// ±0.4 of a row that keep dots nearer than width apart; dense stacks are squeezed.
func swarm(scores []float64, width float64) []xy {
	out := make([]xy, len(scores))
	for i := 0; i < len(scores); {
		j := i + 1
		for j < len(scores) && scores[j]-scores[i] < width {
			j++
		}
		n := j - i
		step := math.Min(0.17, 0.8/math.Max(1, float64(n-1)))
		for k := i; k < j; k++ {
			// The middle of the stack first, then alternately below and above.
			side := float64((k-i+1)/2) * step
			if (k-i)%2 == 1 {
				side = -side
			}
			out[k] = xy{scores[k], side}
		}
		i = j
	}
	return out
}

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
	for _, g := range groups {
		b.labels = append(b.labels, g.Agent)
	}
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
	b.f.Subtitle = sentence("; ", "Attempts of "+duration(s.TimeLimitS)+", mean over "+environmentsText(s.View.Environments), viewText(s.View))
	b.labels = []string{s.Agent}
	cells := s.Cells
	if len(cells) == 0 {
		cells = s.PerEnv
	}
	for _, c := range cells {
		b.labels = append(b.labels, string(c.Environment))
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
		alt = append(alt, fmt.Sprintf("%s %s at k = %d", c.name, score(last.Score), last.K))
	}
	f.gutter = gutterWidth(names)
	if b.saturated {
		f.key = append(f.key, keyEntry{text: "saturated: k ≥ n", token: TokenMuted, line: true, dash: dotted, marker: MarkerCircle, hollow: true, faded: true})
	}
	if b.open {
		f.key = append(f.key, keyEntry{text: "upper end unknown", token: TokenMuted, area: true, faded: true})
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
	for _, q := range c.points {
		if !finite(q.Score) {
			b.f.dropped++
			continue
		}
		pts = append(pts, bandPoint{x: float64(q.K), score: q.Score, low: known(q.CILow), high: known(q.CIHigh), saturated: q.Saturated})
		b.saturated = b.saturated || q.Saturated
	}
	if len(pts) == 0 {
		return
	}
	width, size := 1.75, 6.0
	var band []area
	if c.thin {
		width, size = 1, 4
	} else {
		band = bands(c.group, st.Token, opacity, pts, (b.p.y.max-b.p.y.min)*0.09)
		b.p.areas = append(b.p.areas, band...)
		b.open = b.open || slices.ContainsFunc(pts, func(p bandPoint) bool { return p.low != nil && p.high == nil })
	}
	b.p.lines = append(b.p.lines, strokes(c.group, st.Token, width, st.Dash.Pattern(), pts)...)
	for _, q := range c.points {
		t := &tip{title: c.name, rows: [][2]string{{"score@k", score(q.Score)}, {"95% interval", interval(q.CILow, q.CIHigh)}, {"k", fmt.Sprint(q.K)}}}
		if c.n > 0 {
			t.rows = append(t.rows, [2]string{"Attempts", fmt.Sprintf("n = %d", c.n)})
		}
		if q.Saturated {
			t.rows = append(t.rows, [2]string{"Saturated", "k ≥ n: the best of all attempts, not of k"})
		}
		m := mark{group: c.group, token: st.Token, marker: st.Marker, size: size, x: float64(q.K), y: q.Score, low: q.CILow, high: q.CIHigh,
			hollow: q.Saturated, whisker: !c.thin && len(band) == 0, tip: t, key: fmt.Sprintf("%s k=%d", c.name, q.K)}
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
