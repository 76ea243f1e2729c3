package analysis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// MaxK is the largest k that ScoreAtK accepts.
const MaxK = 1 << 20

// ScoreAtK returns an agent's score@k at one time limit: in each environment of the
// query and their mean. ks are positive; nil means 1, 2, 4 ... up to 128 or the
// first saturated one. Environments without attempts are listed as missing, never
// counted as 0.
func (e *Engine) ScoreAtK(ctx context.Context, q Query, agent string, limit time.Duration, ks []int) (*ScoreAtK, error) {
	for _, k := range ks {
		if k < 1 || k > MaxK {
			return nil, rebench.Errorf(rebench.CodeInvalid, "k is %d, expected 1 to %d", k, MaxK)
		}
	}
	q.Agents, q.Budget = nil, 0
	kind := fmt.Sprintf("score-at-k|%q|%d|%v", agent, limit, ks)
	return cached(ctx, e, kind, q, func(ds *Dataset, q Query) (*ScoreAtK, error) {
		if err := ds.checkAgent(agent); err != nil {
			return nil, err
		}
		return ds.scoreAtK(ctx, q, agent, limit, ks)
	})
}

func (ds *Dataset) scoreAtK(ctx context.Context, q Query, agent string, limit time.Duration, ks []int) (*ScoreAtK, error) {
	fr := ds.frame(q)
	out := &ScoreAtK{View: ds.view(q, fr), Agent: agent, TimeLimitS: int64(limit.Seconds()), Cells: []EnvironmentAtK{}, Mean: []MeanAtK{}}
	g := fr.groups[agent]
	if g == nil || g.cells[limit] == nil {
		var limits []time.Duration
		if g != nil {
			limits = g.limits
		}
		return nil, rebench.Errorf(rebench.CodeNotFound, "%s has no attempts with a time limit of %d s in this view; it has %s",
			agent, out.TimeLimitS, secondsList(limits))
	}
	cells, missing := g.covers(limit, q.Environments)
	if len(cells) == 0 {
		return nil, rebench.Errorf(rebench.CodeNotFound, "%s has no attempts with a time limit of %d s in these environments", agent, out.TimeLimitS)
	}
	if len(ks) == 0 {
		ks = doublings(cells)
	}
	if missing == nil {
		missing = []rebench.EnvironmentID{}
	}
	envs := without(q.Environments, missing)
	draws := make([][][]float64, len(cells))
	err := each(ctx, len(cells), func(i int) error {
		draws[i] = ds.draws.get(cells[i].Cell, ks, ds.replicates, q.Estimator, q.Convention)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, c := range cells {
		e := EnvironmentAtK{Environment: envs[i], N: c.N()}
		for _, k := range ks {
			s := ds.cellScore(q, c, k)
			p := AtK{K: k, Score: s.Point, Saturated: c.Saturated(k)}
			p.CILow, p.CIHigh = ends(s.Interval, true)
			e.Points = append(e.Points, p)
		}
		out.Cells = append(out.Cells, e)
	}
	for j, k := range ks {
		o := newOption(q, rebench.Allocation{TimeLimit: limit, K: k}, cells, false)
		at := make([][]float64, len(cells))
		for i := range cells {
			at[i] = draws[i][j]
		}
		iv := stats.SuiteInterval(o.statCells(), k, stats.SuiteMean(at), stats.Level)
		m := MeanAtK{K: k, Score: o.point, Saturated: o.saturated, NEnvironments: len(cells), Missing: missing}
		m.CILow, m.CIHigh = ends(iv, true)
		out.Mean = append(out.Mean, m)
	}
	return out, nil
}

// doublings returns 1, 2, 4 ... up to 128, ending with the first saturated k.
func doublings(cells []*cell) []int {
	var ks []int
	for k := 1; k <= 128; k *= 2 {
		ks = append(ks, k)
		if slices.ContainsFunc(cells, func(c *cell) bool { return c.Saturated(k) }) {
			break
		}
	}
	return ks
}

func secondsList(limits []time.Duration) string {
	if len(limits) == 0 {
		return "none"
	}
	words := make([]string, len(limits))
	for i, l := range limits {
		words[i] = fmt.Sprintf("%d s", int64(l.Seconds()))
	}
	return strings.Join(words, ", ")
}
