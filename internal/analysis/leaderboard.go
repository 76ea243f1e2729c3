package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Leaderboard ranks the agents at the query's total time. An agent's row uses its
// highest-scoring allocation among those that cover all chosen environments
// (a saturated one only when there is no other); agents without one are hidden
// with the reason.
func (e *Engine) Leaderboard(ctx context.Context, q Query) (*Leaderboard, error) {
	return cached(ctx, e, "leaderboard", q, func(ds *Dataset, q Query) (*Leaderboard, error) {
		return ds.leaderboard(ctx, q)
	})
}

// entrant is one row in the making.
type entrant struct {
	group   *group
	options []option
	best    option
	score   stats.SuiteScore
	row     LeaderboardRow
}

func (ds *Dataset) leaderboard(ctx context.Context, q Query) (*Leaderboard, error) {
	fr := ds.frame(q)
	out := &Leaderboard{View: ds.view(q, fr), BudgetS: int64(q.Budget.Seconds()), Rows: []LeaderboardRow{}, Hidden: []HiddenAgent{}}
	var in []*entrant
	for _, label := range ds.Labels() {
		g := fr.groups[label]
		if g == nil || !q.wants(label) {
			continue
		}
		options, hidden, err := ds.options(ctx, q, g, q.Budget)
		if err != nil {
			return nil, err
		}
		if hidden != nil {
			out.Hidden = append(out.Hidden, *hidden)
			continue
		}
		in = append(in, &entrant{group: g, options: options, best: bestOption(options)})
	}
	humans, err := ds.humanCurve(q, fr)
	if err != nil {
		return nil, err
	}
	err = each(ctx, len(in), func(i int) error { return ds.fillEntrant(ctx, q, in[i], humans) })
	if err != nil {
		return nil, err
	}
	if out.separated, err = rank(in); err != nil {
		return nil, err
	}
	slices.SortStableFunc(in, func(a, b *entrant) int { return cmp.Compare(b.score.Point, a.score.Point) })
	for _, x := range in {
		out.Rows = append(out.Rows, x.row)
	}
	out.Coverage = coverage(in)
	out.FlaggedLeftOut = ds.flaggedLeftOut(q, fr)
	return out, nil
}

// coverage returns the sentence for the row whose interval covers worst.
func coverage(in []*entrant) string {
	text, worst := "", stats.CoverageClass(-1)
	for _, x := range in {
		if class := stats.Coverage(x.best.statCells(), x.best.allocation.K); class > worst {
			worst, text = class, stats.CoverageText(x.best.statCells(), x.best.allocation.K)
		}
	}
	return text
}

func (ds *Dataset) fillEntrant(ctx context.Context, q Query, x *entrant, humans *humanCurve) error {
	o := x.best
	x.score = ds.score(q, o)
	r := &x.row
	agent := x.group.agent
	*r = LeaderboardRow{
		Agent: x.group.label, Model: agent.Model, Scaffold: agent.Scaffold, Kind: agent.Kind, Score: x.score.Point,
		Allocation: o.result(), NAttempts: o.attempts(), CostUSD: o.costUSD(), Missing: []rebench.EnvironmentID{},
		Environments: map[rebench.EnvironmentID]CellResult{}, ConstantCells: stats.ConstantCells(o.statCells()), Badge: ds.weakestBadge(o),
	}
	r.CILow, r.CIHigh = ends(x.score.Interval, true)
	for _, c := range x.options {
		r.Allocations = append(r.Allocations, AllocationScore{c.result(), c.point})
	}
	zeros := 0
	for i, env := range q.Environments {
		r.Environments[env] = ds.cellResult(q, o.cells[i], o.allocation.K)
		zeros += o.cells[i].Zeros()
	}
	if n := o.attempts(); zeros == n {
		bound := stats.NonZeroBound(n)
		r.NonZeroBound = &bound
	}
	if humans != nil && agent.Kind != rebench.KindHuman {
		p := stats.MatchedPercentile(humans.curve, x.score.Point)
		r.HumanPct = &p
		if x.score.Interval.Low != nil {
			low, high := stats.MatchedInterval(humans.replicates, x.score.Draws)
			r.HumanPctLow, r.HumanPctHigh = &low, &high
		}
	}
	if err := honest(q, x); err != nil {
		return err
	}
	return ds.fillOtherFlagged(ctx, q, x)
}

// weakestBadge is the lowest rung among the attempts of an option.
func (ds *Dataset) weakestBadge(o option) rebench.Badge {
	var weakest rebench.Badge
	for _, c := range o.cells {
		for _, i := range c.attempts {
			weakest = weakest.Weaker(ds.attempts[i].Badge)
		}
	}
	return weakest
}

func (ds *Dataset) cellResult(q Query, c *cell, k int) CellResult {
	s := ds.cellScore(q, c, k)
	out := CellResult{Score: s.Point, N: c.N(), Zeros: c.Zeros(), Saturated: c.Saturated(k), Flagged: c.flagged}
	out.CILow, out.CIHigh = ends(s.Interval, true)
	return out
}

// honest sets the cross-fitted score beside the best observed one.
func honest(q Query, x *entrant) error {
	var candidates []stats.Candidate
	for _, o := range x.options {
		if o.saturated == x.best.saturated {
			candidates = append(candidates, stats.Candidate{K: o.allocation.K, Cells: o.statCells()})
		}
	}
	if len(candidates) == 1 {
		point := x.best.point
		x.row.ScoreHonest, x.row.HonestNote = &point, "one allocation: nothing was selected"
		return nil
	}
	h, err := stats.HonestBest(candidates)
	if err != nil {
		return err
	}
	if !h.Estimable {
		x.row.HonestNote = "not estimable: an environment has fewer than two attempts more than k"
		return nil
	}
	x.row.ScoreHonest = &h.Score
	return nil
}

// fillOtherFlagged adds the score under the other treatment of suspected attempts,
// where there are any, so that both figures can be shown.
func (ds *Dataset) fillOtherFlagged(ctx context.Context, q Query, x *entrant) error {
	other := q
	other.Flagged = !q.Flagged
	g := ds.frame(other).groups[x.group.label]
	if g == nil {
		return nil
	}
	flagged := false
	for _, frame := range []map[time.Duration]map[rebench.EnvironmentID]*cell{x.group.cells, g.cells} {
		for _, cells := range frame {
			for _, env := range q.Environments {
				flagged = flagged || cells[env] != nil && cells[env].flagged > 0
			}
		}
	}
	if !flagged {
		return nil
	}
	options, hidden, err := ds.options(ctx, other, g, q.Budget)
	if err != nil || hidden != nil {
		return err
	}
	best := bestOption(options)
	if point := best.point; point != x.score.Point {
		if a := best.result(); best.allocation != x.best.allocation {
			x.row.OtherAllocation = &a
			if i := slices.IndexFunc(x.options, func(o option) bool { return o.allocation == best.allocation }); i >= 0 {
				x.row.OtherAllocationScore = &x.options[i].point
			}
		}
		if other.Flagged {
			x.row.WithFlagged = &point
		} else {
			x.row.WithoutFlagged = &point
		}
	}
	return nil
}

// rank sets ranks and returns which pairs of labels are separated, in both orders.
func rank(in []*entrant) (map[[2]string]bool, error) {
	if len(in) == 0 {
		return nil, nil
	}
	scores := make([]stats.SuiteScore, len(in))
	for i, x := range in {
		scores[i] = x.score
	}
	ranking, err := stats.Ranks(scores)
	if err != nil {
		return nil, fmt.Errorf("leaderboard: %w", err)
	}
	separated := map[[2]string]bool{}
	for i, r := range ranking.Ranks {
		in[i].row.RankLow, in[i].row.RankHigh, in[i].row.PRank1 = r.Low, r.High, r.PFirst
		for j := range in {
			if i != j && ranking.Separated(i, j) {
				separated[[2]string{in[i].group.label, in[j].group.label}] = true
			}
		}
	}
	return separated, nil
}

// flaggedLeftOut lists the suspected attempts that the view does not count.
func (ds *Dataset) flaggedLeftOut(q Query, fr *frame) []FlaggedAttempt {
	out := []FlaggedAttempt{}
	if q.Flagged {
		return out
	}
	for _, i := range fr.flagged {
		a := &ds.attempts[i]
		label := ds.attemptLabel(a)
		if slices.Contains(q.Environments, a.Environment) && q.wants(label) {
			out = append(out, FlaggedAttempt{AttemptID: a.ID, Agent: label, Environment: a.Environment, Score: a.Final})
		}
	}
	return out
}

// humanCells returns the human cells of single 8-hour attempts over the query's
// environments, nil when one lacks them.
func (ds *Dataset) humanCells(q Query, fr *frame) []*stats.Cell {
	g := fr.groups[rebench.HumanName]
	if g == nil {
		return nil
	}
	for _, limit := range slices.Backward(g.limits) {
		if q.Profile == rebench.ProfilePaper && limit != rebench.HumanTimeLimit {
			continue
		}
		if cells, missing := g.covers(limit, q.Environments); len(missing) == 0 {
			return option{cells: cells}.statCells()
		}
	}
	return nil
}

// humanReplicates bounds the replicates of the percentile curve: a percentile is a
// whole number, so that more would not move its interval.
const humanReplicates = 2_000

// humanCurve is H(p) of the query's humans with its bootstrap replicates.
type humanCurve struct {
	curve      stats.PercentileCurve
	replicates []stats.PercentileCurve
}

// humanCurve returns nil where the humans do not cover the query's environments.
func (ds *Dataset) humanCurve(q Query, fr *frame) (*humanCurve, error) {
	cells := ds.humanCells(q, fr)
	if cells == nil {
		return nil, nil
	}
	fr.mu.Lock()
	defer fr.mu.Unlock()
	key := fmt.Sprint(q.Environments)
	if h := fr.humans[key]; h != nil {
		return h, nil
	}
	curve, err := stats.HumanPercentiles(cells)
	if err != nil {
		return nil, err
	}
	h := &humanCurve{curve: curve, replicates: stats.ResampleHumans(cells, min(ds.replicates, humanReplicates))}
	fr.humans = map[string]*humanCurve{key: h} // the last environment set only: replicates are large
	return h, nil
}
