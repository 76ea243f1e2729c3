package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func (d CurvesData) lede() string {
	what := "The expected best of k attempts"
	switch d.Curves.Statistic {
	case string(analysis.StatMean):
		what = "The mean of single attempts, at their time limit"
	case string(analysis.StatMedian):
		what = "The median of single attempts, at their time limit"
	}
	return fmt.Sprintf("%s, averaged over %s: 0 is the starting solution, 1 the reference solution. Bands are nominal 95%% intervals.",
		what, suite(d.Curves.Environments))
}

func (d CurvesData) facts() string { return viewFacts(d.Curves.View) }

// budgets lists the total times at which any series has a point, ascending.
func (d CurvesData) budgets() []int64 {
	var out []int64
	for _, s := range d.Curves.Series {
		for _, p := range s.Points {
			if !slices.Contains(out, p.TotalTimeS) {
				out = append(out, p.TotalTimeS)
			}
		}
	}
	slices.Sort(out)
	return out
}

func pointAt(s analysis.Series, budgetS int64) (analysis.CurvePoint, bool) {
	i := slices.IndexFunc(s.Points, func(p analysis.CurvePoint) bool { return p.TotalTimeS == budgetS })
	if i < 0 {
		return analysis.CurvePoint{}, false
	}
	return s.Points[i], true
}

// dollars prints a cost: cents below $100, whole dollars above.
func dollars(x float64) string {
	if x < 100 {
		return number(x, 2)
	}
	return grouped(int(x + 0.5))
}

// series orders the rows of the table: humans first, then agents by their best
// observed score at the total time shared by most, best first. An agent with one
// allocation has no row of its own for the best observed one, which is the same.
func (d CurvesData) series() []analysis.Series {
	kinds := map[string]int{}
	rank := map[string]float64{}
	for _, s := range d.Curves.Series {
		kinds[s.Agent]++
		for _, p := range s.Points {
			if p.TotalTimeS <= int64(rebench.DefaultBudget(d.Curves.Profile).Seconds()) {
				rank[s.Agent] = math.Max(rank[s.Agent], p.Score)
			}
		}
		if s.Kind == rebench.KindHuman {
			rank[s.Agent] = math.Inf(1)
		}
	}
	var out []analysis.Series
	for _, s := range d.Curves.Series {
		if s.Allocation != "best" || kinds[s.Agent] > 2 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b analysis.Series) int { return cmp.Compare(rank[b.Agent], rank[a.Agent]) })
	return out
}

// PointLink leads to the attempts behind a point of a curve.
func PointLink(p Page, v analysis.View, agent string, x analysis.CurvePoint) string {
	return allocationLink(p, v, agent, "", analysis.AllocationResult{TimeLimitS: x.TimeLimitS, K: x.K, Truncated: x.Truncated, TruncatedFromS: x.TruncatedFromS})
}
