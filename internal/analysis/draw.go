package analysis

import (
	"cmp"
	"context"
	"slices"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// DrawnAttempt is a winner that was drawn for audit.
type DrawnAttempt struct {
	AttemptID     string                `json:"attempt_id"`
	Environment   rebench.EnvironmentID `json:"environment"`
	Profile       rebench.Profile       `json:"profile"`
	ScorerVersion string                `json:"scorer_version"`
	Agent         string                `json:"agent"` // label
	Place         int                   `json:"place"` // among the attempts that are comparable, 1 is the best
	Score         float64               `json:"score"`
	// Outcome is what a person noted since the month began, nil for nothing yet.
	Outcome *DrawOutcome `json:"outcome"`
}

// DrawOutcome is the note of a person who looked at an attempt.
type DrawOutcome struct {
	Author string    `json:"author"`
	Note   string    `json:"note"`
	At     time.Time `json:"at"`
}

// winner is an attempt that can be drawn.
type winner struct {
	DrawnAttempt
	content string // SHA-256 of its current revision
	notes   []rebench.Flag
}

// Drawn returns the winners of the latest data that are drawn for audit in the month of
// at, in the order of environments. share is the part of winners that is drawn, 0 to 1.
// Winners are the validity.Winners best attempts of agents, and of humans, in each
// environment, profile, scorer version and hardware class that rank, score above 0 and
// carry no flag.
func (e *Engine) Drawn(ctx context.Context, at time.Time, share float64) ([]DrawnAttempt, error) {
	all, err := cached(ctx, e, "winners", Query{}, func(ds *Dataset, _ Query) (*[]winner, error) { return ds.winners(ctx) })
	if err != nil {
		return nil, err
	}
	month := validity.Month(at)
	out := []DrawnAttempt{}
	for _, w := range *all {
		if !validity.Drawn(month, w.content, share) {
			continue
		}
		d := w.DrawnAttempt
		for _, f := range w.notes {
			if validity.Month(f.At) == month {
				d.Outcome = &DrawOutcome{Author: f.Author, Note: f.Reason, At: f.At}
			}
		}
		out = append(out, d)
	}
	return out, nil
}

func (ds *Dataset) winners(ctx context.Context) (*[]winner, error) {
	type group struct {
		env      rebench.EnvironmentID
		profile  rebench.Profile
		scorer   string
		hardware string
		human    bool
	}
	groups := map[group][]int{}
	var order []group
	for i := range ds.attempts {
		a := &ds.attempts[i]
		if !a.Ranked || !a.FinalKnown || a.Suspected || a.Excluded || a.Final <= 0 {
			continue
		}
		g := group{a.Environment, a.Profile, a.ScorerVersion, a.HardwareClass, ds.agents[a.AgentID].Kind == rebench.KindHuman}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], i)
	}
	ids := rebench.EnvironmentIDs()
	slices.SortStableFunc(order, func(a, b group) int { return slices.Index(ids, a.env) - slices.Index(ids, b.env) })
	out := []winner{}
	for _, g := range order {
		best := groups[g]
		slices.SortFunc(best, func(i, j int) int {
			a, b := &ds.attempts[i], &ds.attempts[j]
			return cmp.Or(cmp.Compare(b.Final, a.Final), cmp.Compare(a.ID, b.ID))
		})
		for place, i := range best[:min(len(best), validity.Winners)] {
			w, err := ds.winner(ctx, i, place+1)
			if err != nil {
				return nil, err
			}
			out = append(out, w)
		}
	}
	return &out, nil
}

func (ds *Dataset) winner(ctx context.Context, i, place int) (winner, error) {
	a, err := ds.source.Attempt(ctx, ds.attempts[i].ID, ds.Revision.ID)
	if err != nil {
		return winner{}, err
	}
	w := winner{DrawnAttempt: DrawnAttempt{AttemptID: a.ID, Environment: a.Environment, Profile: a.Profile, ScorerVersion: a.ScorerVersion,
		Agent: ds.attemptLabel(&ds.attempts[i]), Place: place, Score: a.Final}}
	for _, r := range a.Revisions {
		if r.Current {
			w.content = r.ContentSHA256
		}
	}
	for _, f := range a.Flags {
		if f.Kind == rebench.FlagAudited && f.Set {
			w.notes = append(w.notes, f)
		}
	}
	return w, nil
}
