package analysis

import (
	"context"
	"slices"
	"strings"
	"time"

	"rebench/data"
	"rebench/internal/rebench"
	"rebench/internal/stats"
	"rebench/internal/validity"
)

// Environments returns every environment of the query with its results.
func (e *Engine) Environments(ctx context.Context, q Query) ([]EnvironmentSummary, error) {
	q.Budget = 0
	if len(q.Environments) == 0 {
		q.Environments = rebench.EnvironmentIDs() // with or without attempts
	}
	out, err := cached(ctx, e, "environments", q, func(ds *Dataset, q Query) (*[]EnvironmentSummary, error) {
		fr := ds.frame(q)
		out := make([]EnvironmentSummary, len(q.Environments))
		for i, id := range q.Environments {
			env, _ := rebench.EnvironmentByID(id)
			out[i] = ds.environment(q, fr, env)
		}
		return &out, nil
	})
	if err != nil {
		return nil, err
	}
	return *out, nil
}

// Environment returns one environment with its results and what is on record
// about its official scorer.
func (e *Engine) Environment(ctx context.Context, q Query, id rebench.EnvironmentID) (*EnvironmentDetail, error) {
	if _, ok := rebench.EnvironmentByID(id); !ok {
		return nil, rebench.Errorf(rebench.CodeNotFound, "unknown environment %q; there are %v", id, rebench.EnvironmentIDs())
	}
	q.Environments, q.Budget = []rebench.EnvironmentID{id}, 0
	return cached(ctx, e, "environment", q, func(ds *Dataset, q Query) (*EnvironmentDetail, error) {
		env, _ := rebench.EnvironmentByID(id)
		fr := ds.frame(q)
		out := &EnvironmentDetail{EnvironmentSummary: ds.environment(q, fr, env), View: ds.view(q, fr), Flaws: []KnownFlaw{}, Hacks: []KnownHack{}, Repeatability: []validity.Measurement{}, ExampleRuns: []validity.ExampleRun{}}
		if err := out.fillMeasured(); err != nil {
			return nil, err
		}
		for i := range out.Groups {
			ds.fillScoreAtK(q, fr, id, &out.Groups[i])
		}
		return out, fillRecords(out, env)
	})
}

// fillMeasured adds what was measured of the scorer of this project.
func (d *EnvironmentDetail) fillMeasured() error {
	measured, err := validity.Measurements()
	if err != nil {
		return err
	}
	for _, m := range measured {
		if m.Environment == d.ID {
			d.Repeatability = append(d.Repeatability, m)
		}
	}
	runs, err := validity.ExampleRuns()
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Environment == d.ID {
			d.ExampleRuns = append(d.ExampleRuns, r)
		}
	}
	return nil
}

func (ds *Dataset) environment(q Query, fr *frame, env rebench.Environment) EnvironmentSummary {
	out := EnvironmentSummary{
		ID: env.ID, Title: env.Title, METRFamily: env.METRFamily, Direction: env.Direction, Selection: env.Selection, Formula: env.Formula,
		Task: env.Task, Rules: env.Rules, Hardware: env.Hardware,
		Scorers: ds.scorerGroups(env.ID), Groups: []AttemptGroup{},
	}
	if q.Profile == rebench.ProfilePaper {
		out.StartRaw, out.ReferenceRaw = &env.PublishedStart, &env.PublishedReference
	}
	// Scores of other scorers are normalized with constants of their own.
	if fr.scorers[env.ID] == rebench.ScorerMETRPublished {
		if all, err := ceilings(); err == nil {
			if c, ok := all[env.ID]; ok {
				out.Ceiling = &c
			}
		}
	}
	for _, label := range ds.Labels() {
		g := fr.groups[label]
		if g == nil || !q.wants(label) {
			continue
		}
		for _, limit := range g.limits {
			c := g.cells[limit][env.ID]
			if c == nil {
				continue
			}
			scores := c.Scores()
			out.Groups = append(out.Groups, AttemptGroup{
				Agent: label, Kind: g.agent.Kind, TimeLimitS: int64(limit / time.Second), N: c.N(), Zeros: c.Zeros(), Flagged: c.flagged,
				Mean: c.ScoreAtK(1, stats.WithoutReplacement), Median: c.Median(), Best: scores[len(scores)-1], Scores: scores,
			})
			if g.agent.Kind == rebench.KindHuman {
				out.NHuman += c.N()
			} else {
				out.NAttempts += c.N()
			}
		}
	}
	return out
}

// scorerGroups counts the attempts of an environment by comparability group.
func (ds *Dataset) scorerGroups(id rebench.EnvironmentID) []ScorerGroup {
	count := map[ScorerGroup]int{}
	for i := range ds.attempts {
		if a := &ds.attempts[i]; a.Environment == id {
			count[ScorerGroup{Profile: a.Profile, ScorerVersion: a.ScorerVersion, HardwareClass: a.HardwareClass}]++
		}
	}
	out := []ScorerGroup{}
	for g, n := range count {
		g.N = n
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b ScorerGroup) int {
		if c := strings.Compare(string(b.Profile), string(a.Profile)); c != 0 {
			return c // paper first
		}
		if c := strings.Compare(a.ScorerVersion, b.ScorerVersion); c != 0 {
			return c
		}
		return strings.Compare(a.HardwareClass, b.HardwareClass)
	})
	return out
}

func (ds *Dataset) fillScoreAtK(q Query, fr *frame, id rebench.EnvironmentID, g *AttemptGroup) {
	c := fr.groups[g.Agent].cells[time.Duration(g.TimeLimitS)*time.Second][id]
	if c == nil {
		return
	}
	ks := doublings([]*cell{c})
	ds.draws.get(c.Cell, ks, ds.replicates, q.Estimator, q.Convention)
	for _, k := range ks {
		s := ds.cellScore(q, c, k)
		p := AtK{K: k, Score: s.Point, Saturated: c.Saturated(k)}
		p.CILow, p.CIHigh = ends(s.Interval, true)
		g.AtK = append(g.AtK, p)
	}
}

// fillRecords adds the documented flaws and hacks that concern the environment.
func fillRecords(out *EnvironmentDetail, env rebench.Environment) error {
	concerns := func(task string) bool {
		switch task {
		case "ALL", "any", "RE-Bench (unspecified)", "RE-Bench total (6 families)", "HCAST+RE-Bench", "HCAST+RE-Bench+SWAA":
			return true
		}
		for name := range strings.SplitSeq(task, " / ") {
			if name == env.Title || strings.HasPrefix(env.Title, name) || name == "Restricted MLM" && env.ID == rebench.RestrictedMLM ||
				name == "Rust" && env.ID == rebench.RustCodecontests {
				return true
			}
		}
		return false
	}
	flaws, err := data.Table("known_scorer_flaws.csv")
	if err != nil {
		return err
	}
	for _, r := range flaws {
		if concerns(r["task"]) {
			out.Flaws = append(out.Flaws, KnownFlaw{ID: r["id"], Flaw: r["flaw"], Kind: r["kind"], Source: r["source"]})
		}
	}
	hacks, err := data.Table("reward_hacks.csv")
	if err != nil {
		return err
	}
	for _, r := range hacks {
		if concerns(r["task"]) {
			out.Hacks = append(out.Hacks, KnownHack{ID: r["id"], Model: r["model"], Kind: r["hack_kind"], Count: r["count"],
				Mechanism: r["mechanism"], Status: r["status"], Source: r["source"]})
		}
	}
	return out.fillOurs()
}

// Choices lists what a query's settings can take in its profile.
type Choices struct {
	Agents   []string `json:"agents"`
	Scorers  []string `json:"scorers"`
	Hardware []string `json:"hardware"`
	Latest   int64    `json:"latest_data_revision"`
}

// Choices returns what can be chosen in the query's profile.
func (e *Engine) Choices(ctx context.Context, q Query) (*Choices, error) {
	latest, err := e.source.LatestRevision(ctx)
	if err != nil {
		return nil, err
	}
	known, err := cached(ctx, e, "choices", Query{Profile: q.Profile, AsOf: q.AsOf}, func(ds *Dataset, q Query) (*Choices, error) {
		out := &Choices{Agents: []string{}, Scorers: []string{}, Hardware: []string{}}
		present := map[string]bool{}
		for i := range ds.attempts {
			a := &ds.attempts[i]
			if a.Profile != q.Profile {
				continue
			}
			present[ds.attemptLabel(a)] = true
			if !slices.Contains(out.Scorers, a.ScorerVersion) {
				out.Scorers = append(out.Scorers, a.ScorerVersion)
			}
			if !slices.Contains(out.Hardware, a.HardwareClass) {
				out.Hardware = append(out.Hardware, a.HardwareClass)
			}
		}
		for _, l := range ds.Labels() {
			if present[l] {
				out.Agents = append(out.Agents, l)
			}
		}
		slices.Sort(out.Scorers)
		slices.Sort(out.Hardware)
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	out := *known
	out.Latest = latest.ID
	return &out, nil
}
