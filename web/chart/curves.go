package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// Axis is the horizontal axis of the curves.
type Axis string

// Axes of the curves.
const (
	AxisTime Axis = "time" // total time budget, log2
	AxisCost Axis = "cost" // US dollars, log10: only points whose cost is known
)

// Allocations says which of an agent's curves are drawn.
type Allocations string

// AllocationsAuto draws the best observed allocation and, with at most three
// agents, each time limit as well.
const (
	AllocationsAuto Allocations = ""
	AllocationsBest Allocations = "best"
	AllocationsEach Allocations = "each"
	AllocationsAll  Allocations = "all"
)

// CurvesOptions chooses how the curves are drawn; the zero value is the default.
type CurvesOptions struct {
	Axis        Axis
	Allocations Allocations
	// Link returns the address behind a point, starting with "/", or "" for none.
	Link func(agent string, p analysis.CurvePoint) string
}

// The most curves with bands behind all of them and with notes at the points.
const (
	maxBands = 12
	maxNotes = 9
)

// Curves plots score against total time or cost: for each agent its curves with
// 95% bands, the paper's own digitised points, and lines at 0 and 1.
func Curves(c *analysis.Curves, o CurvesOptions) *Figure {
	if o.Axis == "" {
		o.Axis = AxisTime
	}
	b := &curvesBuilder{c: c, o: o, f: &Figure{Source: Source{Revision: c.DataRevision}, zoom: true, Height: 520}, p: &panel{}}
	b.f.panels = []*panel{b.p}
	b.choose()
	b.axes()
	b.words()
	b.draw()
	b.published()
	b.f.key = append(b.orderedKey(), b.signs()...)
	b.f.Alt = b.alt()
	return b.f.finish()
}

type curvesBuilder struct {
	c      *analysis.Curves
	o      CurvesOptions
	f      *Figure
	p      *panel
	series []chosen
	agents []keyEntry
	styles map[string]Style
	marks  []analysis.PublishedMark

	hasBest map[string]bool // agents with a best observed curve
	major   int             // curves that are not minor

	saturated, open, truncated bool
}

// chosen is a series that is drawn.
type chosen struct {
	analysis.Series
	minor  bool // a time limit beside the best observed
	points []analysis.CurvePoint
}

func (b *curvesBuilder) x(totalS int64, cost *float64) (float64, bool) {
	if b.o.Axis == AxisCost {
		cost = known(cost)
		if cost == nil || *cost <= 0 {
			return 0, false
		}
		return *cost, true
	}
	return float64(totalS), totalS > 0
}

// choose selects series and marks: those asked for that have points on the axis.
func (b *curvesBuilder) choose() {
	var labels []string
	limits := map[string]int{}
	for _, s := range b.c.Series {
		if !slices.Contains(labels, s.Agent) {
			labels = append(labels, s.Agent)
		}
		if s.Allocation != "best" {
			limits[s.Agent]++
		}
	}
	b.styles = Styles(labels)
	hasBest := map[string]bool{}
	for _, s := range b.c.Series {
		hasBest[s.Agent] = hasBest[s.Agent] || s.Allocation == "best"
	}
	b.hasBest = hasBest
	mode := b.o.Allocations
	if mode == AllocationsAuto {
		mode = AllocationsBest
		if len(labels) <= 3 {
			mode = AllocationsAll
		}
	}
	for _, s := range b.c.Series {
		ch := chosen{Series: s}
		switch best := s.Allocation == "best"; {
		case best && mode == AllocationsEach, !best && hasBest[s.Agent] && mode == AllocationsBest:
			continue
		case !best && hasBest[s.Agent] && mode == AllocationsAll:
			if limits[s.Agent] == 1 { // the same as the best observed
				continue
			}
			ch.minor = true
		}
		for _, p := range s.Points {
			if _, ok := b.x(p.TotalTimeS, p.CostUSD); ok {
				ch.points = append(ch.points, p)
			}
		}
		if len(ch.points) > 0 {
			b.series = append(b.series, ch)
			if !ch.minor {
				b.major++
			}
		}
	}
	// Humans are drawn last, on top; before them the highest scores.
	slices.SortStableFunc(b.series, func(x, y chosen) int {
		if hx, hy := x.Kind == rebench.KindHuman, y.Kind == rebench.KindHuman; hx != hy {
			return cmp.Compare(fmt.Sprint(hx), fmt.Sprint(hy))
		}
		if x.minor != y.minor {
			return cmp.Compare(fmt.Sprint(y.minor), fmt.Sprint(x.minor))
		}
		return cmp.Compare(x.points[len(x.points)-1].Score, y.points[len(y.points)-1].Score)
	})
	for _, m := range b.c.Published {
		if _, ok := b.x(m.TotalTimeS, m.CostUSD); ok {
			b.marks = append(b.marks, m)
		}
	}
}

func (b *curvesBuilder) axes() {
	var xs, ys []float64
	for _, s := range b.series {
		for _, p := range s.points {
			x, _ := b.x(p.TotalTimeS, p.CostUSD)
			xs, ys = append(xs, x), append(ys, p.Score)
			for _, e := range []*float64{known(p.CILow), known(p.CIHigh)} {
				if e != nil && b.major <= maxBands && !s.minor {
					ys = append(ys, *e)
				}
			}
		}
	}
	for _, m := range b.marks {
		x, _ := b.x(m.TotalTimeS, m.CostUSD)
		xs, ys = append(xs, x), append(ys, m.Score)
		if h := known(m.CIHigh); h != nil {
			ys = append(ys, *h)
		}
	}
	ys = slices.DeleteFunc(append(ys, 0, 1), func(v float64) bool { return !finite(v) })
	if len(xs) == 0 {
		xs = []float64{1800, 230400}
	}
	low, high := slices.Min(xs), slices.Max(xs)
	b.p.y = scoreAxis("Normalized score", ys)
	b.p.refs = scoreRefs(false)
	if b.o.Axis == AxisCost {
		b.p.x = costAxis("Cost of the allocation, US dollars (log scale)", low, high)
	} else {
		b.p.x = timeAxis("Total time budget (log scale)", low, high)
	}
}

// scoreAxis is a vertical axis of scores with room below 0 for the label there.
func scoreAxis(title string, values []float64) axis {
	a := linearAxis(title, slices.Min(values), slices.Max(values), 7)
	if a.min == 0 {
		a.min = -0.05 * a.max
	}
	return a
}

// scoreRefs are the lines at 0 and 1.
func scoreRefs(vertical bool) []ref {
	return []ref{
		{value: 0, label: "starting solution", vertical: vertical, token: TokenInk, width: 1, opacity: 0.55},
		{value: 1, label: "reference solution", vertical: vertical, token: TokenInk, width: 1, opacity: 0.55},
	}
}

// words sets title, subtitle and the line on how to read the chart.
func (b *curvesBuilder) words() {
	f := b.f
	against := "total time"
	if b.o.Axis == AxisCost {
		against = "cost"
	}
	f.Title = "Score against " + against + ", " + environmentsText(b.c.Environments)
	what := map[string]string{"mean": "Mean score of single attempts", "median": "Median score of single attempts"}[b.c.Statistic]
	if what == "" {
		what = "Expected best of k attempts"
	}
	humans, least := false, 0
	for _, s := range b.series {
		humans = humans || s.Kind == rebench.KindHuman
		for _, p := range s.points {
			if least == 0 || p.NMin < least {
				least = p.NMin
			}
		}
	}
	n := ""
	if least > 0 {
		n = fmt.Sprintf("n ≥ %d attempts per environment", least)
	}
	f.Subtitle = sentence("; ", what+", mean over environments", viewText(b.c.View, humans), n)
	read := "Higher is better: 0 is the starting solution, 1 the reference."
	if len(b.series) > 0 {
		read += " Each point spends its total time on k attempts of one length."
		if b.major <= maxBands {
			read += " Shaded are nominal 95% intervals."
		}
	}
	f.HowToRead = read
	switch {
	case len(b.series) > 0:
	case b.o.Axis == AxisCost && len(b.marks) > 0:
		f.Notes = append(f.Notes, "No attempt in this view has a known cost: only the paper's own digitised points are shown.")
	case b.o.Axis == AxisCost:
		f.Empty = "No attempt in this view has a known cost. Show the time axis instead."
	case len(b.marks) == 0:
		f.Empty = "No agent has attempts in every chosen environment. Choose fewer environments."
	}
}

func (b *curvesBuilder) draw() {
	opacity := 0.14
	if b.major > 4 {
		opacity = 0.09
	}
	if b.major > maxBands {
		opacity = 0
		b.f.Notes = append(b.f.Notes, fmt.Sprintf("The bands of the 95%% intervals are left out: more than %d curves.", maxBands))
	}
	var names []string
	for _, s := range b.series {
		b.one(s, opacity, b.major <= maxNotes)
		if !s.minor {
			names = append(names, shownName(s.Agent))
		}
	}
	b.f.gutter = gutterWidth(names)
	b.f.Height = max(b.f.Height, 70+int(labelPitch*float64(len(b.p.ends))))
}

func path(pts []bandPoint) []xy {
	out := make([]xy, len(pts))
	for i, p := range pts {
		out[i] = xy{p.x, p.score}
	}
	return out
}

// gutterWidth is the room that direct labels need.
func gutterWidth(names []string) float64 {
	w := 60.0
	for _, n := range names {
		w = max(w, textWidth(n, labelSize)+30)
	}
	return min(w, 250)
}

// one draws one series.
func (b *curvesBuilder) one(s chosen, opacity float64, notes bool) {
	st := b.styles[s.Agent]
	width, size := 2.0, 8.0
	if s.Kind == rebench.KindHuman {
		width = 2.5
	}
	if s.minor {
		width, size = 1, 4
	}
	var pts []bandPoint
	var kept []analysis.CurvePoint
	for _, p := range s.points {
		x, _ := b.x(p.TotalTimeS, p.CostUSD)
		if !finite(p.Score) {
			b.f.dropped++
			continue
		}
		pts = append(pts, bandPoint{x: x, score: p.Score, low: known(p.CILow), high: known(p.CIHigh), saturated: p.Saturated})
		b.saturated = b.saturated || p.Saturated
		kept = append(kept, p)
		b.truncated = b.truncated || p.Truncated
	}
	if len(pts) == 0 {
		return
	}
	b.open = b.open || !s.minor && openEnds(pts)
	if !s.minor {
		style := band{s.Agent, st.Token, opacity, (b.p.y.max - b.p.y.min) * 0.09}
		b.p.areas = append(b.p.areas, style.areas(pts)...)
	}
	b.p.lines = append(b.p.lines, strokes(s.Agent, st.Token, width, st.Dash.Pattern(), pts)...)
	for i, p := range kept {
		x := pts[i].x
		m := mark{group: s.Agent, token: st.Token, marker: st.Marker, size: size, x: x, y: p.Score, low: p.CILow, high: p.CIHigh,
			hollow: p.Saturated, whisker: !s.minor && alone(pts, i), tip: b.pointTip(s, p), key: fmt.Sprintf("%s %s %d", s.Agent, s.Allocation, i)}
		if p.Saturated {
			m.opacity = 0.7
		}
		if b.o.Link != nil {
			m.href = local(b.o.Link(s.Agent, p))
		}
		b.f.add(b.p, m)
		if notes && !s.minor {
			b.p.notes = append(b.p.notes, note{group: s.Agent, text: allocation(p.K, p.TimeLimitS), token: st.Token.Text(), x: x, y: p.Score})
		}
	}
	b.label(s, st, pts)
}

// label puts the name at the line's end and into the key.
func (b *curvesBuilder) label(s chosen, st Style, pts []bandPoint) {
	e := end{group: s.Agent, text: shownName(s.Agent), token: st.Token.Text(), pts: path(pts), minor: s.minor}
	switch {
	case s.minor:
		e.text = strings.TrimSuffix(s.Label, " attempts") + " each"
	case s.Allocation != "best" && b.hasBest[s.Agent]: // one of several time limits
		e.text += ", " + strings.TrimSuffix(s.Label, " attempts")
	}
	b.p.ends = append(b.p.ends, e)
	if !slices.ContainsFunc(b.agents, func(k keyEntry) bool { return k.group == s.Agent }) {
		b.agents = append(b.agents, keyEntry{group: s.Agent, text: shownName(s.Agent), token: st.Token, dash: st.Dash.Pattern(), line: true, marker: st.Marker})
	}
}

// orderedKey lists the agents as they stand at the right of the chart, highest first,
// and then those that only the paper has.
func (b *curvesBuilder) orderedKey() []keyEntry {
	var drawn, paper []keyEntry
	for _, k := range b.agents {
		if k.marker == "" {
			paper = append(paper, k)
		} else {
			drawn = append(drawn, k)
		}
	}
	slices.Reverse(drawn)
	return append(drawn, paper...)
}

func (b *curvesBuilder) pointTip(s chosen, p analysis.CurvePoint) *tip {
	t := &tip{title: shownName(s.Agent), rows: [][2]string{
		{"Score", Score(p.Score)},
		{"95% interval", Interval(p.Score, p.CILow, p.CIHigh)},
		{"Total time", duration(p.TotalTimeS)},
		{"Allocation (k × t)", allocation(p.K, p.TimeLimitS)},
		{"Fewest attempts per environment", fmt.Sprintf("n = %d", p.NMin)},
	}}
	if s.Label != "" {
		t.rows = append(t.rows, [2]string{"Curve", plain(s.Label)})
	}
	if c := known(p.CostUSD); c != nil {
		t.rows = append(t.rows, [2]string{"Mean cost", dollars(*c)})
	}
	if p.Saturated {
		t.rows = append(t.rows, [2]string{"Saturated", fmt.Sprintf("k ≥ n: the best of all %d attempts, not of k", p.NMin)})
	}
	if p.Truncated {
		t.rows = append(t.rows, [2]string{"Truncated", "longer attempts read at this time"})
	}
	return t
}

// local returns an address on this server, "" for any other.
func local(href string) string {
	if !strings.HasPrefix(href, "/") || strings.HasPrefix(href, "//") || strings.HasPrefix(href, "/\\") {
		return ""
	}
	return href
}
