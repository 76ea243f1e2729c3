package analysis

import (
	"context"
	"math"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Sensitivity shows how each agent's score at the query's budget moves with the
// choices behind it: suspected attempts, a cap at 1, the estimator, the human
// cohort, and any single attempt.
func (e *Engine) Sensitivity(ctx context.Context, q Query) (*Sensitivity, error) {
	board, err := e.Leaderboard(ctx, q)
	if err != nil {
		return nil, err
	}
	return cached(ctx, e, "sensitivity", q, func(ds *Dataset, q Query) (*Sensitivity, error) {
		out := &Sensitivity{View: board.View, BudgetS: board.BudgetS, Rows: make([]SensitivityRow, len(board.Rows))}
		err := each(ctx, len(board.Rows), func(i int) error {
			row, err := ds.sensitivity(ctx, q, board.Rows[i])
			out.Rows[i] = row
			return err
		})
		return out, err
	})
}

func (ds *Dataset) sensitivity(ctx context.Context, q Query, r LeaderboardRow) (SensitivityRow, error) {
	out := SensitivityRow{Agent: r.Agent, Score: r.Score}
	variants := []struct {
		into   **float64
		human  bool
		change func(*Query)
	}{
		{&out.FlaggedIncluded, false, func(q *Query) { q.Flagged = true }},
		{&out.FlaggedExcluded, false, func(q *Query) { q.Flagged = false }},
		{&out.CappedAt1, false, func(q *Query) { one := 1.0; q.Cap = &one }},
		{&out.OtherEstimator, false, func(q *Query) { q.Estimator = stats.WithReplacement - q.Estimator }},
		{&out.OtherCohort, true, func(q *Query) {
			if q.Cohort == rebench.CohortPaper71 {
				q.Cohort = rebench.CohortAll
			} else {
				q.Cohort = rebench.CohortPaper71
			}
		}},
		{&out.Hours7To9, true, func(q *Query) { q.HumanHours7To9 = true }},
	}
	for _, v := range variants {
		if v.human && r.Kind != rebench.KindHuman {
			continue
		}
		changed := q
		v.change(&changed)
		point, err := ds.bestPoint(ctx, changed, r.Agent)
		if err != nil {
			return out, err
		}
		*v.into = point
	}
	ds.fillInfluence(q, r, &out)
	return out, nil
}

// bestPoint is an agent's score under a query, nil when it has none.
func (ds *Dataset) bestPoint(ctx context.Context, q Query, label string) (*float64, error) {
	g := ds.frame(q).groups[label]
	if g == nil {
		return nil, nil
	}
	options, hidden, err := ds.options(ctx, q, g, q.Budget)
	if err != nil || hidden != nil {
		return nil, err
	}
	point := bestOption(options).point
	return &point, nil
}

// fillInfluence finds the attempt whose removal changes the score most, keeping
// the allocation. A cell of one attempt cannot lose it.
func (ds *Dataset) fillInfluence(q Query, r LeaderboardRow, out *SensitivityRow) {
	limit := time.Duration(r.Allocation.TimeLimitS) * time.Second
	cells, missing := ds.frame(q).groups[r.Agent].covers(limit, q.Environments)
	if len(missing) > 0 { // read from score logs of longer attempts
		return
	}
	zeros, n := 0, 0
	for _, c := range cells {
		zeros, n = zeros+c.Zeros(), n+c.N()
		if c.N() < 2 {
			continue
		}
		whole := c.ScoreAtK(r.Allocation.K, q.Estimator)
		for at, index := range c.attempts {
			rest := make([]float64, 0, c.N()-1)
			for other, j := range c.attempts {
				if other != at {
					rest = append(rest, capped(ds.attempts[j].Final, q.Cap))
				}
			}
			without, err := stats.NewCell("influence", rest, c.Last())
			if err != nil {
				continue
			}
			change := math.Abs(whole-without.ScoreAtK(r.Allocation.K, q.Estimator)) / float64(len(cells))
			if change > out.Influence {
				out.Influence, out.InfluenceOf = change, ds.attempts[index].ID
			}
		}
	}
	out.ZeroShare = float64(zeros) / float64(n)
}
