package analysis

import (
	"context"
	"slices"

	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// ValidityFilter chooses mechanisms; zero fields do not restrict.
type ValidityFilter struct {
	Environment rebench.EnvironmentID `json:"environment,omitempty"`
	State       validity.State        `json:"state,omitempty"`
}

// MechanismRow is one way in which scores were or could be gamed or wrong.
type MechanismRow struct {
	ID           string          `json:"id"`
	Title        string          `json:"title"`
	Mechanism    string          `json:"mechanism"`
	Environments []string        `json:"environments"` // ids, or "all"; empty where none of ours can have it
	State        validity.State  `json:"state"`
	Defence      string          `json:"defence"`
	Reason       string          `json:"reason"` // why it is accepted, not applicable or open
	Records      []string        `json:"records"`
	Tests        []validity.Test `json:"tests"`
}

// RecordRow is one public record with the mechanism that covers it.
type RecordRow struct {
	validity.Record
	Mechanism string `json:"mechanism"`
}

// StateCount counts the mechanisms of a state and the records that they cover.
type StateCount struct {
	State      validity.State `json:"state"`
	Mechanisms int            `json:"mechanisms"`
	Records    int            `json:"records"`
}

// ReachedAttempt is an attempt of which a rule says something.
type ReachedAttempt struct {
	AttemptID   string                `json:"attempt_id"`
	Environment rebench.EnvironmentID `json:"environment"`
	Profile     rebench.Profile       `json:"profile"`
	Agent       string                `json:"agent"` // label
	Score       *float64              `json:"score"`
	Raw         *float64              `json:"raw"`
	Suspected   bool                  `json:"suspected"` // the flag stands
	Excluded    bool                  `json:"excluded"`
	validity.Finding
}

// Validity is what is done about gamed and wrong scores.
type Validity struct {
	View
	Filter     ValidityFilter `json:"filter"`
	Mechanisms []MechanismRow `json:"mechanisms"` // that match the filter
	Total      int            `json:"total"`      // mechanisms without the filter
	States     []StateCount   `json:"states"`     // of all mechanisms
	Records    []RecordRow    `json:"records"`    // all, in the order of their files
	Attacks    int            `json:"attacks"`    // example solutions that attack a scorer
	// ExampleRuns are the last scorings of all example solutions outside the test suite.
	ExampleRuns []validity.ExampleRun `json:"example_runs"`
	Rules       *validity.RuleSet     `json:"rules"`
	// Reached are the ranked attempts of this revision that bounds and steps say something of.
	// Flags of scorers stand with their attempts.
	Reached []ReachedAttempt `json:"reached"`
	Checked int              `json:"attempts_checked"`
}

// Validity returns the catalogue of defences and what the rules reach at data revision
// asof, 0 for the latest.
func (e *Engine) Validity(ctx context.Context, asof int64, f ValidityFilter) (*Validity, error) {
	kind := "validity|" + string(f.Environment) + "|" + string(f.State)
	return cached(ctx, e, kind, Query{AsOf: asof}, func(ds *Dataset, q Query) (*Validity, error) {
		c, err := validity.Load()
		if err != nil {
			return nil, err
		}
		out := &Validity{View: ds.view(q, ds.frame(q)), Filter: f, Mechanisms: []MechanismRow{}, Total: len(c.Mechanisms)}
		if err := out.fillCatalogue(c); err != nil {
			return nil, err
		}
		records, err := validity.Records()
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			row := RecordRow{Record: r}
			if m := c.Of(r.ID); m != nil {
				row.Mechanism = m.ID
			}
			out.Records = append(out.Records, row)
		}
		if out.ExampleRuns, err = validity.ExampleRuns(); err != nil {
			return nil, err
		}
		if out.Rules, err = validity.Rules(); err != nil {
			return nil, err
		}
		out.Reached, out.Checked = ds.reached(out.Rules), len(ds.attempts)
		return out, nil
	})
}

func (v *Validity) fillCatalogue(c *validity.Catalogue) error {
	count := map[validity.State]*StateCount{}
	for _, s := range validity.States() {
		count[s] = &StateCount{State: s}
	}
	attacks := map[string]bool{}
	for _, m := range c.Mechanisms {
		tests, err := m.Tests()
		if err != nil {
			return err
		}
		for _, t := range tests {
			if t.Kind == validity.Example {
				attacks[t.Name] = true
			}
		}
		count[m.State].Mechanisms++
		count[m.State].Records += len(m.RecordIDs)
		if v.Filter.State != "" && m.State != v.Filter.State || v.Filter.Environment != "" && !m.Concerns(v.Filter.Environment) {
			continue
		}
		v.Mechanisms = append(v.Mechanisms, MechanismRow{ID: m.ID, Title: m.Title, Mechanism: m.What, Environments: notNil(m.Environments), State: m.State,
			Defence: m.Defence, Reason: m.Reason, Records: notNil(m.RecordIDs), Tests: tests})
	}
	for _, s := range validity.States() {
		v.States = append(v.States, *count[s])
	}
	v.Attacks = len(attacks)
	return nil
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// reached applies bounds and steps to every attempt, in the order of environments.
func (ds *Dataset) reached(rules *validity.RuleSet) []ReachedAttempt {
	out := []ReachedAttempt{}
	for i := range ds.attempts {
		a := &ds.attempts[i]
		if !a.Ranked {
			continue // its score may be on another scale, and is in no ranking
		}
		for _, f := range rules.Check(a) {
			r := ReachedAttempt{AttemptID: a.ID, Environment: a.Environment, Profile: a.Profile, Agent: ds.attemptLabel(a), Raw: a.FinalRaw,
				Suspected: a.Suspected, Excluded: a.Excluded, Finding: f}
			if a.FinalKnown {
				r.Score = &a.Final
			}
			out = append(out, r)
		}
	}
	order := rebench.EnvironmentIDs()
	slices.SortStableFunc(out, func(a, b ReachedAttempt) int {
		return slices.Index(order, a.Environment) - slices.Index(order, b.Environment)
	})
	return out
}

// fillOurs says of each documented flaw and hack what is done about it.
func (d *EnvironmentDetail) fillOurs() error {
	c, err := validity.Load()
	if err != nil {
		return err
	}
	ours := func(record string) string {
		m := c.Of(record)
		if m == nil {
			return ""
		}
		return stateWords[m.State] + ". " + m.Answer()
	}
	for i := range d.Flaws {
		d.Flaws[i].Ours = ours(d.Flaws[i].ID)
	}
	for i := range d.Hacks {
		d.Hacks[i].Ours = ours(d.Hacks[i].ID)
	}
	return nil
}

var stateWords = map[validity.State]string{
	validity.Prevented: "Prevented", validity.Detected: "Detected and flagged", validity.Accepted: "Accepted",
	validity.NotApplicable: "Not applicable", validity.Open: "Open",
}
