package chart

import (
	"fmt"
	"slices"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Environments plots the mean final score of single attempts: a row for each
// environment, a mark for each agent's attempts at its longest time limit there.
func Environments(items []analysis.EnvironmentSummary, src Source) *Figure {
	f := &Figure{Source: src}
	f.Title = "How well do single attempts do in each environment?"
	f.HowToRead = "Each mark is the mean of an agent's attempts at its longest time limit in that environment. 0 is the starting solution, 1 the reference."
	r := newRows(f, "attempts", "human attempts")
	r.hi = 1
	var labels []string
	for _, e := range items {
		for _, g := range longest(e.Groups) {
			labels = append(labels, g.Agent)
		}
	}
	slices.Sort(labels)
	styles := Styles(labels)
	n := 0
	for _, e := range items {
		n += e.NAttempts + e.NHuman
		y := r.row(environmentTitle(e.ID), fmt.Sprint(e.NAttempts), fmt.Sprint(e.NHuman))
		for _, g := range longest(e.Groups) {
			r.cover(&g.Mean)
			name := shownName(g.Agent)
			st := styles[g.Agent]
			t := &tip{title: name, rows: [][2]string{{"Environment", environmentTitle(e.ID)}, {"Mean", Score(g.Mean)}, {"Attempts", fmt.Sprint(g.N)}, {"Time limit", duration(g.TimeLimitS)}}}
			if r.f.add(r.p, mark{group: g.Agent, token: st.Token, marker: st.Marker, size: 9, x: g.Mean, y: y, tip: t, key: string(e.ID) + " " + g.Agent}) {
				r.alt = append(r.alt, fmt.Sprintf("%s: %s %s, n %d", environmentTitle(e.ID), name, Score(g.Mean), g.N))
			}
		}
	}
	f.Subtitle = sentence("; ", "Mean final normalized score", rebench.Count(n, "attempt"))
	if len(r.p.marks) == 0 {
		f.Empty = "No attempts at these environments yet."
		f.Alt = f.Empty
		return f.finish()
	}
	for _, l := range slices.Compact(labels) {
		f.key = append(f.key, keyEntry{group: l, text: shownName(l), token: styles[l].Token, marker: styles[l].Marker})
	}
	r.p.refs = scoreRefs(true)
	r.finish("Mean final normalized score")
	return f.finish()
}

// longest keeps of each agent the group with the longest time limit, humans first.
func longest(groups []analysis.AttemptGroup) []analysis.AttemptGroup {
	var out []analysis.AttemptGroup
	for _, g := range orderedGroups(groups) { // of one agent by ascending time limit
		if len(out) > 0 && out[len(out)-1].Agent == g.Agent {
			out[len(out)-1] = g
		} else {
			out = append(out, g)
		}
	}
	return out
}

// AttemptScores plots the scores of a list of attempts: a row for each
// environment with the median, the mean and the middle 90% of scores.
func AttemptScores(rows []analysis.AttemptRow, src Source) *Figure {
	f := &Figure{Source: src}
	f.Title = "What do these attempts score?"
	f.HowToRead = "The dot is the median, the stroke the mean; the bar holds the middle 90% of scores. 0 is the starting solution, 1 the reference."
	r := newRows(f, "median", "mean", "n", "at start")
	r.hi = 1
	scores := map[rebench.EnvironmentID][]float64{}
	unknown := 0
	for _, a := range rows {
		if s := known(a.Score); s != nil {
			scores[a.Environment] = append(scores[a.Environment], *s)
		} else {
			unknown++
		}
	}
	for _, id := range rebench.EnvironmentIDs() {
		if s := scores[id]; len(s) > 0 {
			slices.Sort(s)
			r.spread(environmentTitle(id), string(id), s)
		}
	}
	f.Subtitle = sentence("; ", "Final normalized scores", rebench.Count(len(rows), "attempt"))
	if unknown > 0 {
		f.Notes = append(f.Notes, rebench.Count(unknown, "attempt")+" without a normalized score left out.")
	}
	if len(r.labels) == 0 {
		f.Empty = "No attempt here has a normalized score."
		f.Alt = f.Empty
		return f.finish()
	}
	r.p.refs = scoreRefs(true)
	r.finish("Final normalized score")
	return f.finish()
}

// spread adds a row that sums up ascending scores.
func (r *rows) spread(name, key string, s []float64) {
	sum, zeros := 0.0, 0
	for _, v := range s {
		sum += v
		if stats.AtStart(v) {
			zeros++
		}
	}
	mean, median := sum/float64(len(s)), quantile(s, 0.5)
	low, high := quantile(s, 0.05), quantile(s, 0.95)
	r.cover(&low)
	r.cover(&high)
	r.cover(&mean)
	y := r.row(name, number(median, 2), number(mean, 2), fmt.Sprint(len(s)), fmt.Sprint(zeros))
	r.alt = append(r.alt, fmt.Sprintf("%s: median %s, mean %s, n %d", name, number(median, 2), number(mean, 2), len(s)))
	t := &tip{title: name, rows: [][2]string{{"Median", Score(median)}, {"Mean", Score(mean)}, {"Middle 90%", Interval(median, &low, &high)}, {"Attempts", fmt.Sprint(len(s))}, {"At or below the start", fmt.Sprint(zeros)}}}
	r.f.add(r.p, mark{token: TokenInk, marker: MarkerCircle, size: 9, x: median, y: y, low: &low, high: &high, whisker: true, tip: t, key: key})
	r.f.add(r.p, mark{token: TokenInk, marker: markerTick, size: 18, x: mean, y: y, tip: t, key: key + " mean"})
}

// quantile interpolates linearly between ascending values, as numpy does.
func quantile(s []float64, p float64) float64 {
	at := p * float64(len(s)-1)
	i := int(at)
	if i+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// FigureChecks plots the paper's digitised points beside the scores computed here.
func FigureChecks(m *analysis.Methodology) *Figure {
	f := &Figure{Source: Source{Revision: m.DataRevision}}
	f.Title = "Do the computed scores agree with the paper's figures?"
	f.Subtitle = "Digitised points of the paper's figures; computed from the published attempts where such attempts exist"
	f.HowToRead = "Hollow: read off the paper's figure. Filled: computed here, with its nominal 95% interval. A row without a filled mark has no attempts to compute from."
	r := newRows(f, "paper", "computed", "verdict")
	r.hi = 1
	for i, c := range m.Figures {
		if !finite(c.Score) {
			f.dropped++
			continue
		}
		name := plain(c.Series) + ", " + duration(c.TotalTimeS)
		computed := "–"
		if v := known(c.Computed); v != nil {
			computed = Score(*v)
		}
		for _, v := range []*float64{&c.Score, c.CILow, c.CIHigh, c.Computed, c.ComputedCILow, c.ComputedCIHigh} {
			r.cover(v)
		}
		y := r.row(name, Score(c.Score), computed, c.Verdict)
		r.alt = append(r.alt, fmt.Sprintf("%s: paper %s, computed %s, %s", name, Score(c.Score), computed, c.Verdict))
		st := publishedStyle(c.Series)
		t := &tip{title: name, rows: [][2]string{{"Paper", Score(c.Score)}, {"Source", "digitised, " + plain(c.Figure)}, {"Computed", computed}, {"Verdict", c.Verdict}}}
		f.add(r.p, mark{token: st.Token, marker: st.Marker, size: 10, hollow: true, x: c.Score, y: y, low: c.CILow, high: c.CIHigh, whisker: true, tip: t, key: fmt.Sprintf("paper %d", i)})
		if v := known(c.Computed); v != nil {
			f.add(r.p, mark{token: st.Token, marker: st.Marker, size: 8, x: *v, y: y, low: c.ComputedCILow, high: c.ComputedCIHigh, whisker: true, tip: t, key: fmt.Sprintf("computed %d", i)})
		}
	}
	if len(r.labels) == 0 {
		f.Empty = "No figure of the paper can be compared."
		f.Alt = f.Empty
		return f.finish()
	}
	f.key = []keyEntry{{text: "read off the paper's figure", token: TokenInk, marker: MarkerCircle, hollow: true}, {text: "computed here", token: TokenInk, marker: MarkerCircle}}
	r.p.refs = scoreRefs(true)
	r.finish("Normalized score")
	return f.finish()
}
