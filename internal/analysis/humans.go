package analysis

import (
	"context"
	"time"

	"rebench/data"
	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// HumanPercentiles returns the percentiles of human final scores, in each
// environment and averaged over environments: H(p) of the matched percentile.
func (e *Engine) HumanPercentiles(ctx context.Context, q Query) (*Percentiles, error) {
	q.Agents, q.Budget = nil, 0
	return cached(ctx, e, "percentiles", q, func(ds *Dataset, q Query) (*Percentiles, error) {
		return ds.percentiles(q)
	})
}

func (ds *Dataset) percentiles(q Query) (*Percentiles, error) {
	fr := ds.frame(q)
	out := &Percentiles{View: ds.view(q, fr), NByEnv: map[rebench.EnvironmentID]int{}, Percentile: []int{}, Mean: []float64{},
		CILow: []float64{}, CIHigh: []float64{}, Environments: map[rebench.EnvironmentID][]float64{}}
	cells := ds.humanCells(q, fr)
	if cells == nil {
		out.Warnings = append(out.Warnings, "No human attempts cover all of these environments.")
		return out, nil
	}
	h, err := ds.humanCurve(q, fr)
	if err != nil {
		return nil, err
	}
	for p := 1; p <= 100; p++ {
		out.Percentile = append(out.Percentile, p)
	}
	out.Mean = h.curve[:]
	for i, env := range q.Environments {
		single, err := stats.HumanPercentiles(cells[i : i+1])
		if err != nil {
			return nil, err
		}
		out.Environments[env] = single[:]
		out.NByEnv[env] = cells[i].N()
		out.NAttempts += cells[i].N()
	}
	low, high := stats.PercentileBand(h.replicates, stats.Level)
	out.CILow, out.CIHigh = low[:], high[:]
	return out, nil
}

// Humans returns everything on record about the human attempts of a profile.
func (e *Engine) Humans(ctx context.Context, q Query) (*Humans, error) {
	percentiles, err := e.HumanPercentiles(ctx, q)
	if err != nil {
		return nil, err
	}
	return cached(ctx, e, "humans", q, func(ds *Dataset, q Query) (*Humans, error) {
		return ds.humans(q, percentiles)
	})
}

func (ds *Dataset) humans(q Query, percentiles *Percentiles) (*Humans, error) {
	out := &Humans{View: ds.view(q, ds.frame(q)), Percentiles: percentiles, Attempts: []AttemptRow{}, Cohorts: []CohortSummary{}}
	for i := range ds.attempts {
		a := &ds.attempts[i]
		if a.Profile != q.Profile || ds.agents[a.AgentID].Kind != rebench.KindHuman {
			continue
		}
		r := ds.attemptRow(a)
		out.Attempts = append(out.Attempts, r)
		if r.DurationS > int64(rebench.HumanTimeLimit.Seconds()) {
			out.Over8h++
		}
		if r.DurationS > 0 {
			if out.ShortestS == 0 || r.DurationS < out.ShortestS {
				out.ShortestS = r.DurationS
			}
			out.LongestS = max(out.LongestS, r.DurationS)
		}
	}
	if q.Profile == rebench.ProfilePaper {
		rows, err := data.Table("human_attempts.csv")
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r["status"] == "placeholder" {
				out.Placeholders++
			}
		}
	}
	for _, cohort := range []rebench.Cohort{rebench.CohortPaper71, rebench.CohortAll} {
		q.Cohort = cohort
		if s, ok := ds.cohort(q); ok {
			out.Cohorts = append(out.Cohorts, s)
		}
	}
	return out, nil
}

// cohort summarises the human attempts that the query's cohort keeps.
func (ds *Dataset) cohort(q Query) (CohortSummary, bool) {
	g := ds.frame(q).groups[rebench.HumanName]
	if g == nil || len(g.limits) == 0 {
		return CohortSummary{}, false
	}
	out := CohortSummary{Cohort: q.Cohort, Environments: map[rebench.EnvironmentID]CohortCell{}}
	sum := 0.0
	limit := g.limits[len(g.limits)-1]
	cells, missing := g.covers(limit, q.Environments)
	envs := without(q.Environments, missing)
	for i, c := range cells {
		scores := c.Scores()
		cc := CohortCell{N: c.N(), NonZero: c.N() - c.Zeros(), Mean: c.ScoreAtK(1, stats.WithoutReplacement), Median: c.Median(), Best: scores[len(scores)-1]}
		for _, x := range scores {
			sum += x
			if x >= 1 {
				cc.AtReference++
			}
		}
		out.Environments[envs[i]] = cc
		out.N, out.NonZero, out.AtReference = out.N+cc.N, out.NonZero+cc.NonZero, out.AtReference+cc.AtReference
	}
	out.RunWeightedMean = sum / float64(max(1, out.N))
	if len(missing) == 0 {
		s := ds.score(q, newOption(q, rebench.Allocation{TimeLimit: limit, K: 1}, cells, false))
		out.Score = s.Point
		out.CILow, out.CIHigh = ends(s.Interval, true)
	}
	return out, true
}

// attemptRow describes an attempt in a list.
func (ds *Dataset) attemptRow(a *rebench.AttemptSummary) AttemptRow {
	r := AttemptRow{
		ID: a.ID, Environment: a.Environment, Profile: a.Profile, ScorerVersion: a.ScorerVersion, Agent: ds.attemptLabel(a),
		Kind: ds.agents[a.AgentID].Kind, Cohort: a.Cohort, TimeLimitS: int64(a.TimeLimit / time.Second), DurationS: int64(a.Duration / time.Second),
		Raw: a.FinalRaw, CostUSD: a.CostUSD, Suspected: a.Suspected, Excluded: a.Excluded, Unranked: a.Unranked, HasLog: a.HasLog, Badge: a.Badge, RevisionID: a.RevisionID,
	}
	if a.Duration > 0 && r.DurationS == 0 {
		r.DurationS = 1 // 0 would be unknown
	}
	if a.FinalKnown {
		score := a.Final
		r.Score = &score
	}
	return r
}
