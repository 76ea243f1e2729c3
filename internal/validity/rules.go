package validity

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rebench/internal/rebench"
)

// Action is what a rule does.
type Action string

// Quarantine flags the attempt as suspected until a person decides; Note is a fact on
// its page.
const (
	Quarantine Action = "quarantine"
	Note       Action = "note"
)

// Beyond says on which side of a bound a score is too good.
type Beyond string

// Sides of a bound.
const (
	Below Beyond = "below"
	Above Beyond = "above"
)

// Bound is a value that a ranked score of an environment should not pass.
type Bound struct {
	Name        string                `yaml:"name" json:"name"`
	Environment rebench.EnvironmentID `yaml:"environment" json:"environment"`
	Beyond      Beyond                `yaml:"beyond" json:"beyond"`
	Value       float64               `yaml:"value" json:"value"` // of the environment's quantity
	Unit        string                `yaml:"unit" json:"unit"`
	Profiles    []rebench.Profile     `yaml:"profiles" json:"profiles"` // empty: every profile
	Action      Action                `yaml:"action" json:"action"`
	Derivation  string                `yaml:"derivation" json:"derivation"`
	Source      string                `yaml:"source" json:"source"`
	Paper       string                `yaml:"paper" json:"paper,omitempty"` // id in paper_numbers.csv
}

// passed reports whether a quantity is beyond the bound by more than rounding.
func (b Bound) passed(quantity float64) bool {
	slack := 1e-9 * max(1, math.Abs(b.Value))
	if b.Beyond == Below {
		return quantity < b.Value-slack
	}
	return quantity > b.Value+slack
}

// Step says that raw scores are whole multiples of 1/Denominator.
type Step struct {
	Name        string                `yaml:"name" json:"name"`
	Environment rebench.EnvironmentID `yaml:"environment" json:"environment"`
	Scorers     []string              `yaml:"scorers" json:"scorers"` // scorer versions
	Denominator float64               `yaml:"denominator" json:"denominator"`
	Action      Action                `yaml:"action" json:"action"`
	Derivation  string                `yaml:"derivation" json:"derivation"`
	Source      string                `yaml:"source" json:"source"`
}

// broken reports whether a raw score is neither a multiple nor a value that was
// rounded to two decimals.
func (s Step) broken(raw float64) bool {
	off := func(x float64) float64 { return math.Abs(x - math.Round(x)) }
	return off(raw*s.Denominator) > 1e-3 && off(raw*100) > 1e-6
}

// Scale says that attempts of a scorer version are normalized with the published
// starting and reference scores.
type Scale struct {
	Name       string          `yaml:"name" json:"name"`
	Scorer     string          `yaml:"scorer" json:"scorer"`
	Profile    rebench.Profile `yaml:"profile" json:"profile"`
	Tolerance  float64         `yaml:"tolerance" json:"tolerance"` // of reference - start
	Action     Action          `yaml:"action" json:"action"`
	Derivation string          `yaml:"derivation" json:"derivation"`
	Source     string          `yaml:"source" json:"source"`
}

// broken reports whether an attempt that claims the scorer has another scale. Without
// starting and reference scores nothing can be said.
func (s Scale) broken(a *rebench.Attempt, env rebench.Environment) bool {
	if a.ScorerVersion != s.Scorer || a.Profile != s.Profile || a.StartRaw == nil || a.ReferenceRaw == nil {
		return false
	}
	most := s.Tolerance * math.Abs(env.PublishedReference-env.PublishedStart)
	return math.Abs(*a.StartRaw-env.PublishedStart) > most || math.Abs(*a.ReferenceRaw-env.PublishedReference) > most
}

// ScorerFlag says what a flag of a scorer means and does.
type ScorerFlag struct {
	Action Action `yaml:"action" json:"action"`
	Means  string `yaml:"means" json:"means"`
}

// RuleSet is data/validity/rules.yaml.
type RuleSet struct {
	Bounds      []Bound               `yaml:"bounds" json:"bounds"`
	Steps       []Step                `yaml:"steps" json:"steps"`
	Scales      []Scale               `yaml:"scales" json:"scales"`
	ScorerFlags map[string]ScorerFlag `yaml:"scorer_flags" json:"scorer_flags"`
}

// Rules returns the rules. They are read once; callers do not change them.
var Rules = sync.OnceValues(func() (*RuleSet, error) {
	var r RuleSet
	if err := read("rules.yaml", &r); err != nil {
		return nil, err
	}
	for _, b := range r.Bounds {
		if _, ok := rebench.EnvironmentByID(b.Environment); !ok || b.Beyond != Below && b.Beyond != Above ||
			b.Action != Quarantine && b.Action != Note || b.Name == "" || b.Derivation == "" || b.Source == "" {
			return nil, fmt.Errorf("data/validity/rules.yaml: incomplete bound %+v", b)
		}
	}
	return &r, nil
})

// ExtraScorerFlags is the key in Attempt.Extra under which an attempt keeps the flags
// of its ranked entry, separated by ", ".
const ExtraScorerFlags = "scorer_flags"

// RuleScorerFlag is the rule that reads scorer flags.
const RuleScorerFlag = "scorer_flag"

// IsRule reports whether a flag's author is a rule.
func IsRule(author string) bool { return strings.HasPrefix(author, rebench.RuleAuthor) }

// Finding is what a rule says of an attempt.
type Finding struct {
	Rule   string `json:"rule"`
	Action Action `json:"action"`
	Reason string `json:"reason"`
}

// Check applies bounds and steps to the ranked raw score of an attempt. An attempt
// whose raw score is unknown has none to check.
func (r *RuleSet) Check(a *rebench.AttemptSummary) []Finding {
	env, ok := rebench.EnvironmentByID(a.Environment)
	if !ok || a.FinalRaw == nil {
		return nil
	}
	raw, quantity := *a.FinalRaw, *a.FinalRaw
	if env.Log {
		quantity = math.Exp(raw) + env.LogFloor
	}
	var out []Finding
	for _, b := range r.Bounds {
		if b.Environment == a.Environment && (len(b.Profiles) == 0 || slices.Contains(b.Profiles, a.Profile)) && b.passed(quantity) {
			out = append(out, Finding{b.Name, b.Action, fmt.Sprintf("%s %s is %s %s %s: %s (%s)",
				digits(quantity), b.Unit, b.Beyond, digits(b.Value), b.Unit, b.Derivation, b.Source)})
		}
	}
	for _, s := range r.Steps {
		if s.Environment == a.Environment && slices.Contains(s.Scorers, a.ScorerVersion) && s.broken(raw) {
			out = append(out, Finding{s.Name, s.Action, fmt.Sprintf("%s is no multiple of 1/%s: %s", digits(raw), digits(s.Denominator), s.Derivation)})
		}
	}
	return out
}

// CheckFlags says what the scorer's flags of the ranked entry mean.
func (r *RuleSet) CheckFlags(flags []string) []Finding {
	var out []Finding
	for _, name := range flags {
		f, ok := r.ScorerFlags[name]
		if !ok {
			f = ScorerFlag{Action: Note, Means: "not described here"}
		}
		out = append(out, Finding{RuleScorerFlag, f.Action, fmt.Sprintf("the scorer says %s: %s", name, f.Means)})
	}
	return out
}

// CheckAttempt applies every rule.
func (r *RuleSet) CheckAttempt(a *rebench.Attempt) []Finding {
	out := r.Check(&a.AttemptSummary)
	if env, ok := rebench.EnvironmentByID(a.Environment); ok {
		for _, s := range r.Scales {
			if s.broken(a, env) {
				out = append(out, Finding{s.Name, s.Action, fmt.Sprintf("normalized with start %s and reference %s, rows of %s with %s and %s: %s",
					digits(*a.StartRaw), digits(*a.ReferenceRaw), s.Scorer, digits(env.PublishedStart), digits(env.PublishedReference), s.Derivation)})
			}
		}
	}
	if text := a.Extra[ExtraScorerFlags]; text != "" {
		out = append(out, r.CheckFlags(strings.Split(text, ", "))...)
	}
	return out
}

// Flag is the statement that puts an attempt with these findings in quarantine; ok is
// false when none asks for it. Its author is the first rule that does.
func Flag(findings []Finding) (f rebench.Flag, ok bool) {
	var reasons []string
	for _, x := range findings {
		if x.Action != Quarantine {
			continue
		}
		if f.Author == "" {
			f.Author = rebench.RuleAuthor + x.Rule
		}
		reasons = append(reasons, x.Reason)
	}
	f.Kind, f.Set, f.Reason = rebench.FlagSuspected, true, capitalised(strings.Join(reasons, "; "))
	return f, len(reasons) > 0
}

func capitalised(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
