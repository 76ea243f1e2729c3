package analysis

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Compare returns the difference of two agents at equal total time: overall, in
// each environment, over time, and where their curves cross. Either agent uses
// the allocation that the leaderboard uses.
func (e *Engine) Compare(ctx context.Context, q Query, a, b string) (*Comparison, error) {
	q.Agents = nil
	kind := fmt.Sprintf("compare|%q|%q", a, b)
	return cached(ctx, e, kind, q, func(ds *Dataset, q Query) (*Comparison, error) {
		for _, label := range []string{a, b} {
			if err := ds.checkAgent(label); err != nil {
				return nil, err
			}
		}
		return ds.compare(ctx, q, a, b)
	})
}

func (ds *Dataset) compare(ctx context.Context, q Query, a, b string) (*Comparison, error) {
	out, err := ds.compareAtBudget(ctx, q, a, b)
	if err != nil {
		return nil, err
	}
	return out, ds.compareOverTime(ctx, q, ds.frame(q), out)
}

// compareAtBudget leaves out how the difference moves with the total time.
func (ds *Dataset) compareAtBudget(ctx context.Context, q Query, a, b string) (*Comparison, error) {
	fr := ds.frame(q)
	out := &Comparison{View: ds.view(q, fr), BudgetS: int64(q.Budget.Seconds()), Environments: []EnvironmentDiff{}, OverTime: []BudgetDiff{}}
	sides := [2]*ComparedAgent{&out.A, &out.B}
	var best [2]*option
	for i, label := range []string{a, b} {
		*sides[i] = ComparedAgent{Agent: label, Kind: ds.byLabel[label].Kind}
		g := fr.groups[label]
		if g == nil {
			out.Empty = fmt.Sprintf("%s has no attempts in this view", label)
			continue
		}
		options, hidden, err := ds.options(ctx, q, g, q.Budget)
		if err != nil {
			return nil, err
		}
		if hidden != nil {
			out.Empty = fmt.Sprintf("%s has no score at %s: %s", label, limitWords(q.Budget), hidden.Reason)
			continue
		}
		o := bestOption(options)
		best[i] = &o
		r := o.result()
		sides[i].Allocation, sides[i].NAttempts = &r, o.attempts()
	}
	if best[0] != nil && best[1] != nil {
		if err := ds.compareAt(q, out, *best[0], *best[1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compareAt fills in the differences at the query's budget.
func (ds *Dataset) compareAt(q Query, out *Comparison, a, b option) error {
	overall, err := difference(ds.score(q, a), ds.score(q, b))
	if err != nil {
		return err
	}
	out.Overall = &overall
	worse := a
	if stats.Coverage(b.statCells(), b.allocation.K) > stats.Coverage(a.statCells(), a.allocation.K) {
		worse = b
	}
	out.Coverage = stats.CoverageText(worse.statCells(), worse.allocation.K)
	for i, env := range q.Environments {
		ca, cb := a.cells[i], b.cells[i]
		d, err := difference(ds.cellScore(q, ca, a.allocation.K), ds.cellScore(q, cb, b.allocation.K))
		if err != nil {
			return err
		}
		out.Environments = append(out.Environments, EnvironmentDiff{Environment: env, NA: ca.N(), NB: cb.N(), Difference: d})
	}
	return nil
}

func difference(a, b stats.SuiteScore) (Difference, error) {
	d, err := stats.Compare(a, b)
	if err != nil {
		return Difference{}, err
	}
	out := Difference{A: a.Point, B: b.Point, D: d.Value, PAGreater: d.Support}
	out.CILow, out.CIHigh = ends(d.Interval, false)
	return out, nil
}

// compareOverTime fills in the difference at every offered budget at which both
// agents have a score, and the crossover over the unsaturated ones.
func (ds *Dataset) compareOverTime(ctx context.Context, q Query, fr *frame, out *Comparison) error {
	ga, gb := fr.groups[out.A.Agent], fr.groups[out.B.Agent]
	if ga == nil || gb == nil {
		return nil
	}
	var curves [2]stats.Curve
	for _, total := range rebench.Budgets(q.Profile) {
		var best [2]option
		ok := true
		for i, g := range []*group{ga, gb} {
			options, hidden, err := ds.options(ctx, q, g, total)
			if err != nil {
				return err
			}
			if hidden != nil {
				ok = false
				continue
			}
			best[i] = bestOption(options)
			// A point of unknown spread shows no crossing.
			if s := ds.score(q, best[i]); !best[i].saturated && s.Interval.Low != nil {
				curves[i].Hours = append(curves[i].Hours, total.Hours())
				curves[i].Points = append(curves[i].Points, s.Point)
				curves[i].Draws = append(curves[i].Draws, s.Draws)
			}
		}
		if !ok {
			continue
		}
		d, err := difference(ds.score(q, best[0]), ds.score(q, best[1]))
		if err != nil {
			return err
		}
		out.OverTime = append(out.OverTime, BudgetDiff{BudgetS: int64(total.Seconds()), KA: best[0].allocation.K, KB: best[1].allocation.K, Difference: d})
	}
	c, err := stats.Crossover(curves[0], curves[1])
	if err != nil {
		return err
	}
	out.Crossover = crossover(out.A.Agent, out.B.Agent, c)
	return nil
}

func crossover(a, b string, c stats.CrossoverResult) *CrossoverResult {
	seconds := func(hours float64) float64 { return hours * 3600 }
	out := &CrossoverResult{Budgets: []float64{}, FromS: int64(seconds(c.From)), ToS: int64(seconds(c.To))}
	var at []string
	for _, h := range c.Hours {
		out.Budgets = append(out.Budgets, seconds(h))
		at = append(at, hoursWords(h))
	}
	if len(c.Spans) > 0 {
		first, last := c.Spans[0], c.Spans[len(c.Spans)-1]
		if !first.OpenLow {
			low := seconds(first.Low)
			out.Low = &low
		}
		if !last.OpenHigh {
			high := seconds(last.High)
			out.High = &high
		}
	}
	between := fmt.Sprintf("between %s and %s", hoursWords(c.From), hoursWords(c.To))
	switch c.Status {
	case stats.CrossoverFound:
		out.Verdict = "crosses"
		out.Words = fmt.Sprintf("The curves of %s and %s cross at %s of total time.", a, b, joinAnd(at))
	case stats.CrossoverNone:
		out.Verdict = "none in range"
		out.Words = fmt.Sprintf("The curves do not cross %s.", between)
	case stats.CrossoverPossible:
		out.Verdict = "none in range"
		out.Words = fmt.Sprintf("The curves do not cross %s, though at some times the interval of the difference contains 0.", between)
	case stats.CrossoverUndetermined:
		out.Verdict = "undetermined"
		out.Words = fmt.Sprintf("Undetermined: the interval of the difference contains 0 everywhere %s.", between)
	default:
		out.Verdict = "none in range"
		out.Words = "There is no range of total times at which both have an unsaturated score of known spread."
	}
	return out
}

func hoursWords(h float64) string {
	d := time.Duration(h * float64(time.Hour)).Round(time.Second)
	if d%time.Hour == 0 || d < time.Hour && d%time.Minute == 0 {
		return limitWords(d)
	}
	return fmt.Sprintf("%.1f h", h)
}

func joinAnd(words []string) string {
	switch len(words) {
	case 0:
		return "no time"
	case 1:
		return words[0]
	}
	out := words[0]
	for _, w := range words[1 : len(words)-1] {
		out += ", " + w
	}
	return out + " and " + words[len(words)-1]
}

// Leads returns how well the leading rows of the query's leaderboard are told
// apart: the first two agents among themselves, and the first against the humans;
// rows of unknown spread take no part.
func (e *Engine) Leads(ctx context.Context, q Query) ([]Lead, error) {
	board, err := e.Leaderboard(ctx, q)
	if err != nil {
		return nil, err
	}
	out, err := cached(ctx, e, "leads", q, func(ds *Dataset, q Query) (*[]Lead, error) {
		return ds.leads(ctx, q, board)
	})
	if err != nil {
		return nil, err
	}
	return *out, nil
}

func (ds *Dataset) leads(ctx context.Context, q Query, board *Leaderboard) (*[]Lead, error) {
	out := &[]Lead{}
	agents := board.Contenders()
	var pairs [][2]LeaderboardRow
	if len(agents) >= 2 {
		pairs = append(pairs, [2]LeaderboardRow{agents[0], agents[1]})
	}
	if h := slices.IndexFunc(board.Rows, func(r LeaderboardRow) bool { return r.Kind == rebench.KindHuman && r.SpreadKnown() }); h >= 0 && len(agents) > 0 {
		pair := [2]LeaderboardRow{board.Rows[h], agents[0]}
		if pair[0].Score < pair[1].Score {
			pair[0], pair[1] = pair[1], pair[0]
		}
		pairs = append(pairs, pair)
	}
	for _, p := range pairs {
		c, err := ds.compareAtBudget(ctx, q, p[0].Agent, p[1].Agent)
		if err != nil {
			return nil, err
		}
		if c.Overall == nil {
			continue
		}
		*out = append(*out, Lead{Above: p[0].Agent, Below: p[1].Agent, Difference: *c.Overall,
			Separated: board.separated[[2]string{p[0].Agent, p[1].Agent}]})
	}
	return out, nil
}
