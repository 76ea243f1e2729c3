package analysis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"rebench/internal/rebench"
	"rebench/internal/stats"
	"runtime"
)

// option is one way in which an agent can spend a total time on the query's
// environments.
type option struct {
	allocation rebench.Allocation
	truncated  bool          // scores of longer attempts, read at the time limit
	from       time.Duration // the limit of those attempts
	cells      []*cell
	point      float64
	saturated  bool
}

func newOption(q Query, a rebench.Allocation, cells []*cell, truncated bool) option {
	o := option{allocation: a, cells: cells, truncated: truncated}
	o.point = stats.SuiteScoreAtK(o.statCells(), a.K, q.Estimator)
	o.saturated = slices.ContainsFunc(cells, func(c *cell) bool { return c.Saturated(a.K) })
	return o
}

func (o option) statCells() []*stats.Cell {
	out := make([]*stats.Cell, len(o.cells))
	for i, c := range o.cells {
		out[i] = c.Cell
	}
	return out
}

func (o option) result() AllocationResult {
	return AllocationResult{TimeLimitS: int64(o.allocation.TimeLimit.Seconds()), K: o.allocation.K, Saturated: o.saturated, Truncated: o.truncated,
		TruncatedFromS: int64(o.from.Seconds())}
}

func (o option) attempts() int {
	n := 0
	for _, c := range o.cells {
		n += c.N()
	}
	return n
}

// costUSD is the mean over environments of k attempts' mean cost.
func (o option) costUSD() *float64 {
	sum := 0.0
	for _, c := range o.cells {
		if c.costUSD == nil {
			return nil
		}
		sum += *c.costUSD
	}
	cost := sum / float64(len(o.cells)) * float64(o.allocation.K)
	return &cost
}

// nMin is the fewest attempts in an environment.
func (o option) nMin() int {
	n := o.cells[0].N()
	for _, c := range o.cells[1:] {
		n = min(n, c.N())
	}
	return n
}

// options returns the agent's allocations of the total time that cover every
// environment of the query. Where there is none, hidden says why.
func (ds *Dataset) options(ctx context.Context, q Query, g *group, total time.Duration) ([]option, *HiddenAgent, error) {
	hidden := &HiddenAgent{Agent: g.label}
	if len(g.limits) == 0 {
		hidden.Reason = g.unrankedReason()
		return nil, hidden, nil
	}
	var out []option
	var gaps []string
	for _, limit := range g.limits {
		a, ok := rebench.AllocationOf(total, limit)
		if !ok {
			continue
		}
		cells, missing := g.covers(limit, q.Environments)
		if len(missing) == 0 {
			out = append(out, newOption(q, a, cells, false))
			continue
		}
		gaps = append(gaps, fmt.Sprintf("%s attempts missing in %s", limitWords(limit), environmentWords(missing)))
		if common := without(q.Environments, missing); len(common) > len(hidden.Common) {
			hidden.Missing, hidden.Common = missing, common
		}
	}
	if len(out) > 0 {
		return out, nil, nil
	}
	cut, err := ds.truncatedOption(ctx, q, g, total)
	if err != nil || cut != nil {
		return []option{*orEmpty(cut)}, nil, err
	}
	switch {
	case len(gaps) > 0:
		hidden.Reason = strings.Join(gaps, "; ")
	case g.agent.Kind == rebench.KindHuman && total < g.limits[0]:
		hidden.Reason = fmt.Sprintf("the attempts are %s long and have no score log, so their score at %s is not known", limitWords(g.limits[0]), limitWords(total))
	default:
		hidden.Reason = fmt.Sprintf("no time limit divides %s: it has %s attempts", limitWords(total), limitList(g.limits))
	}
	return nil, hidden, nil
}

func orEmpty(o *option) *option {
	if o == nil {
		return &option{}
	}
	return o
}

// truncatedOption reads attempts longer than the total time at that time: for
// humans always, for agents when the reader asks.
func (ds *Dataset) truncatedOption(ctx context.Context, q Query, g *group, total time.Duration) (*option, error) {
	if g.agent.Kind != rebench.KindHuman && !q.Truncate {
		return nil, nil
	}
	for _, limit := range g.limits {
		if limit <= total {
			continue
		}
		byEnv, err := ds.truncated(ctx, q, g, limit, total)
		if err != nil {
			return nil, err
		}
		var cells []*cell
		for _, env := range q.Environments {
			if c := byEnv[env]; c != nil {
				cells = append(cells, c)
			}
		}
		if len(cells) == len(q.Environments) {
			o := newOption(q, rebench.Allocation{TimeLimit: total, K: 1}, cells, true)
			o.from = limit
			return &o, nil
		}
	}
	return nil, nil
}

func (g *group) unrankedReason() string {
	if len(g.unranked) == 0 {
		return "all its attempts are flagged as suspected"
	}
	var parts []string
	for reason, n := range g.unranked {
		parts = append(parts, reason+": "+rebench.Count(n, "attempt"))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// bestOption returns the highest-scoring option, a saturated one only when there is
// no other.
func bestOption(options []option) option {
	best := options[0]
	for _, o := range options[1:] {
		if best.saturated != o.saturated {
			if best.saturated {
				best = o
			}
			continue
		}
		if o.point > best.point {
			best = o
		}
	}
	return best
}

// score returns the suite score of an option with its draws.
func (ds *Dataset) score(q Query, o option) stats.SuiteScore {
	draws := make([][]float64, len(o.cells))
	for i, c := range o.cells {
		draws[i] = ds.draws.get(c.Cell, []int{o.allocation.K}, ds.replicates, q.Estimator, q.Convention)[0]
	}
	s := stats.SuiteScore{Point: o.point, Draws: stats.SuiteMean(draws)}
	s.Interval = stats.SuiteInterval(o.statCells(), o.allocation.K, s.Draws, stats.Level)
	return s
}

// cellScore returns one environment's score with its draws.
func (ds *Dataset) cellScore(q Query, c *cell, k int) stats.SuiteScore {
	d := ds.draws.get(c.Cell, []int{k}, ds.replicates, q.Estimator, q.Convention)[0]
	s := stats.SuiteScore{Point: c.ScoreAtK(k, q.Estimator), Draws: d}
	s.Interval = stats.SuiteInterval([]*stats.Cell{c.Cell}, k, d, stats.Level)
	return s
}

// ends returns an interval as results carry it: nil for a degenerate interval and
// for an open end, the lower end cut at 0 when it is a score's.
func ends(iv stats.Interval, cutAtZero bool) (low, high *float64) {
	if iv.Low == nil || iv.High == nil || *iv.Low == *iv.High {
		return nil, nil
	}
	low, high = iv.Low, iv.High
	if cutAtZero && *low < 0 {
		zero := 0.0
		low = &zero
	}
	if iv.OpenHigh {
		high = nil
	}
	if iv.OpenLow {
		low = nil
	}
	return low, high
}

// each runs f for 0..n-1 on all processors.
func each(ctx context.Context, n int, f func(i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(i)
		})
	}
	return g.Wait()
}

func without(envs, remove []rebench.EnvironmentID) []rebench.EnvironmentID {
	var out []rebench.EnvironmentID
	for _, e := range envs {
		if !slices.Contains(remove, e) {
			out = append(out, e)
		}
	}
	return out
}

// limitWords writes a time as "30 min", "8 h" or "90 s".
func limitWords(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	default:
		return fmt.Sprintf("%g s", d.Seconds())
	}
}

func limitList(limits []time.Duration) string {
	words := make([]string, len(limits))
	for i, l := range limits {
		words[i] = limitWords(l)
	}
	return strings.Join(words, ", ")
}

func environmentWords(ids []rebench.EnvironmentID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		e, _ := rebench.EnvironmentByID(id)
		words[i] = e.Title
	}
	return strings.Join(words, ", ")
}
