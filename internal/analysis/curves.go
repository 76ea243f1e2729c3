package analysis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rebench/data"
	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Curves returns score against total time, one series for each agent and time
// limit and one for its best observed allocation.
func (e *Engine) Curves(ctx context.Context, q Query) (*Curves, error) {
	q.Budget = 0
	return cached(ctx, e, "curves", q, func(ds *Dataset, q Query) (*Curves, error) {
		return ds.curves(ctx, q)
	})
}

func (ds *Dataset) curves(ctx context.Context, q Query) (*Curves, error) {
	fr := ds.frame(q)
	out := &Curves{View: ds.view(q, fr), Statistic: string(q.Statistic), Series: []Series{}, Published: []PublishedMark{}, Hidden: []HiddenAgent{}, Notes: []string{}}
	var groups []*group
	for _, label := range ds.Labels() {
		if g := fr.groups[label]; g != nil && q.wants(label) {
			groups = append(groups, g)
		}
	}
	series := make([][]Series, len(groups))
	hidden := make([]*HiddenAgent, len(groups))
	classes := make([]stats.CoverageClass, len(groups))
	texts := make([]string, len(groups))
	err := each(ctx, len(groups), func(i int) error {
		var err error
		series[i], hidden[i], err = ds.groupCurves(ctx, q, groups[i])
		classes[i], texts[i] = ds.curveCoverage(q, groups[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	worst := stats.CoverageClass(-1)
	for i := range groups {
		out.Series = append(out.Series, series[i]...)
		if hidden[i] != nil {
			out.Hidden = append(out.Hidden, *hidden[i])
		} else if classes[i] > worst {
			worst, out.Coverage = classes[i], texts[i]
		}
	}
	if q.Profile == rebench.ProfilePaper && len(q.Environments) == len(rebench.EnvironmentIDs()) {
		marks, err := publishedMarks()
		if err != nil {
			return nil, err
		}
		out.Published = slices.DeleteFunc(marks, func(m PublishedMark) bool { return !q.wants(m.agent()) })
	}
	if g := fr.groups[rebench.HumanName]; q.Profile == rebench.ProfilePaper && g != nil && q.wants(rebench.HumanName) {
		out.Notes = append(out.Notes, "No line is drawn for the humans below 8 h: the published human attempts have only a final score. The hollow mark at 2 h is the one aggregate that was read off the paper's figure.")
	}
	return out, nil
}

// groupCurves returns the series of one agent, or why it has none.
func (ds *Dataset) groupCurves(ctx context.Context, q Query, g *group) ([]Series, *HiddenAgent, error) {
	if len(g.limits) == 0 {
		return nil, &HiddenAgent{Agent: g.label, Reason: g.unrankedReason()}, nil
	}
	var out []Series
	var hidden *HiddenAgent
	for _, limit := range g.limits {
		cells, missing := g.covers(limit, q.Environments)
		if len(missing) > 0 {
			if hidden == nil || len(missing) < len(hidden.Missing) {
				hidden = &HiddenAgent{Agent: g.label, Missing: missing, Common: without(q.Environments, missing),
					Reason: fmt.Sprintf("%s attempts missing in %s", limitWords(limit), environmentWords(missing))}
			}
			continue
		}
		points, err := ds.limitPoints(ctx, q, g, limit, cells)
		if err != nil {
			return nil, nil, err
		}
		if len(points) > 0 {
			out = append(out, Series{Agent: g.label, Kind: g.agent.Kind, Allocation: strconv.FormatInt(int64(limit.Seconds()), 10) + "s",
				Label: limitWords(limit) + " attempts", Points: points})
		}
	}
	if len(out) == 0 {
		return nil, hidden, nil
	}
	if q.Statistic == StatBestOfK {
		out = append(out, bestSeries(g, out))
	}
	return out, nil, nil
}

// limitPoints returns the points of one time limit: at every offered budget that
// it divides and, from score logs, at shorter ones.
func (ds *Dataset) limitPoints(ctx context.Context, q Query, g *group, limit time.Duration, cells []*cell) ([]CurvePoint, error) {
	if q.Statistic != StatBestOfK {
		return []CurvePoint{ds.singlePoint(q, limit, cells)}, nil
	}
	var out []CurvePoint
	for _, total := range rebench.Budgets(q.Profile) {
		a, ok := rebench.AllocationOf(total, limit)
		if ok {
			out = append(out, ds.point(q, newOption(q, a, cells, false)))
			continue
		}
		if total < limit {
			o, err := ds.truncatedOption(ctx, q, g, total)
			if err != nil {
				return nil, err
			}
			if o != nil {
				out = append(out, ds.point(q, *o))
			}
		}
	}
	if len(out) == 0 { // a limit beside the offered budgets still has its own point
		out = append(out, ds.point(q, newOption(q, rebench.Allocation{TimeLimit: limit, K: 1}, cells, false)))
	}
	return out, nil
}

func (ds *Dataset) point(q Query, o option) CurvePoint {
	s := ds.score(q, o)
	p := CurvePoint{TotalTimeS: int64(o.allocation.Total().Seconds()), K: o.allocation.K, TimeLimitS: int64(o.allocation.TimeLimit.Seconds()),
		Score: s.Point, NMin: o.nMin(), Saturated: o.saturated, Truncated: o.truncated, TruncatedFromS: int64(o.from.Seconds()), CostUSD: o.costUSD()}
	p.CILow, p.CIHigh = ends(s.Interval, true)
	return p
}

// singlePoint is the mean or median of single attempts at their own time limit.
func (ds *Dataset) singlePoint(q Query, limit time.Duration, cells []*cell) CurvePoint {
	o := newOption(q, rebench.Allocation{TimeLimit: limit, K: 1}, cells, false)
	if q.Statistic == StatMean {
		return ds.point(q, o)
	}
	s := stats.SuiteMedian(o.statCells(), ds.replicates)
	p := CurvePoint{TotalTimeS: int64(limit.Seconds()), K: 1, TimeLimitS: int64(limit.Seconds()), Score: s.Point, NMin: o.nMin(), CostUSD: o.costUSD()}
	p.CILow, p.CIHigh = ends(s.Interval, true)
	return p
}

// bestSeries is, at every total time, the best of the agent's allocations; a
// saturated one only where there is no other.
func bestSeries(g *group, all []Series) Series {
	best := map[int64]CurvePoint{}
	for _, s := range all {
		for _, p := range s.Points {
			old, ok := best[p.TotalTimeS]
			if !ok || old.Saturated && !p.Saturated || old.Saturated == p.Saturated && p.Score > old.Score {
				best[p.TotalTimeS] = p
			}
		}
	}
	out := Series{Agent: g.label, Kind: g.agent.Kind, Allocation: "best", Label: "best observed"}
	for _, p := range best {
		out.Points = append(out.Points, p)
	}
	slices.SortFunc(out.Points, func(a, b CurvePoint) int { return int(a.TotalTimeS - b.TotalTimeS) })
	return out
}

// curveCoverage returns the class and words of the agent's unsaturated points,
// those of the saturated ones when there are no others.
func (ds *Dataset) curveCoverage(q Query, g *group) (stats.CoverageClass, string) {
	worst, text := stats.CoverageClass(-1), ""
	for _, limit := range g.limits {
		cells, missing := g.covers(limit, q.Environments)
		if len(missing) > 0 {
			continue
		}
		for _, total := range rebench.Budgets(q.Profile) {
			a, ok := rebench.AllocationOf(total, limit)
			if !ok {
				continue
			}
			o := newOption(q, a, cells, false)
			if class := stats.Coverage(o.statCells(), a.K); class > worst && (!o.saturated || worst < 0) {
				worst, text = class, stats.CoverageText(o.statCells(), a.K)
			}
		}
	}
	return worst, text
}

// agent is the label of the agent that a mark belongs to: the published series are
// named "agent / scaffold".
func (m PublishedMark) agent() string {
	if m.Kind == rebench.KindHuman {
		return rebench.HumanName
	}
	name, _, _ := strings.Cut(m.Series, " / ")
	return name
}

// publishedMarks reads the digitised points of the paper's own figures.
func publishedMarks() ([]PublishedMark, error) {
	rows, err := data.Table("paper_figures.csv")
	if err != nil {
		return nil, err
	}
	var out []PublishedMark
	for _, r := range rows {
		m := PublishedMark{Series: r["series"], Kind: rebench.Kind(r["kind"]), Allocation: r["allocation"], Figure: r["figure"], Note: r["note"],
			CILow: number(r["ci_low"]), CIHigh: number(r["ci_high"]), CostUSD: number(r["cost_usd"])}
		hours, score := number(r["total_time_h"]), number(r["score"])
		if hours == nil || score == nil {
			return nil, fmt.Errorf("paper_figures.csv: series %s: time %q and score %q must be numbers", r["series"], r["total_time_h"], r["score"])
		}
		m.TotalTimeS, m.Score = int64(*hours*3600), *score
		out = append(out, m)
	}
	return out, nil
}

func number(s string) *float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil
	}
	return &x
}
