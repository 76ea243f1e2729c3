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
	groups := orderedGroups(s.Groups)
	columns := []string{"mean", "median", "n", "at start"}
	if slices.ContainsFunc(groups, func(g analysis.AttemptGroup) bool { return g.Flagged > 0 }) {
		columns = append(columns, "flagged")
	}
	r := newRows(f, columns...)
	r.hi = 1
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
	f.Subtitle = sentence("; ", "Final normalized scores", rebench.Count(n, "attempt"))
	if len(r.labels) == 0 {
		f.Empty = "No attempts at this environment yet."
		f.Alt = f.Empty
		return f.finish()
	}
	if c := s.Ceiling; c != nil && c.High > c.Low && c.Low > 0 {
		r.p.spans = append(r.p.spans, span{from: c.Low, to: c.High, label: "authors' ceiling", token: TokenInk, opacity: 0.05})
		r.cover(&c.High)
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
	limit, short := "unknown limit", "?"
	if g.TimeLimitS > 0 {
		limit, short = duration(g.TimeLimitS), shortDuration(g.TimeLimitS)
	}
	name := shownName(g.Agent) + ", " + limit
	texts := []string{number(g.Mean, 2), number(g.Median, 2), fmt.Sprint(g.N), fmt.Sprint(g.Zeros), fmt.Sprint(g.Flagged)}
	y := r.row(name, texts[:len(r.p.cells.head)]...)
	r.shorts[int(y)] = fit(shownName(g.Agent), 11, 125) + ", " + short
	r.alt = append(r.alt, fmt.Sprintf("%s: mean %s, median %s, best %s, n %d", name, number(g.Mean, 2), number(g.Median, 2), number(g.Best, 2), g.N))
	for i, p := range swarm(g.Scores, (r.hi-r.lo)/110) {
		t := &tip{title: name, rows: [][2]string{{"Score of one attempt", Score(p.x)}, {"Rank in this row", fmt.Sprintf("%d of %d", len(g.Scores)-i, len(g.Scores))}}}
		r.f.add(r.p, mark{group: g.Agent, token: st.Token, marker: MarkerCircle, size: 5, opacity: 0.6, x: p.x, y: y + p.y, tip: t, key: fmt.Sprintf("%s %d %d", g.Agent, g.TimeLimitS, i)})
	}
	t := &tip{title: name, rows: [][2]string{{"Mean", Score(g.Mean)}, {"Median", Score(g.Median)}, {"Best", Score(g.Best)}, {"Attempts", fmt.Sprint(g.N)}, {"At or below the start", fmt.Sprint(g.Zeros)}}}
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
		step := math.Min(0.17, 0.8/float64(n))
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
