package view

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// option is one value of a setting.
type option struct{ value, text string }

type keyValue struct{ key, value string }

// formKeys are the parameters that the form of further settings holds itself.
var formKeys = []string{"environments", "agents", "convention", "cap", "hours", "profile", "scorer", "hardware", "asof"}

// kept returns the parameters that the form must carry along.
func (p Page) kept() []keyValue { return p.without(formKeys...) }

// all returns the page's parameters in alphabetical order.
func (p Page) all() []keyValue {
	var out []keyValue
	for key := range p.Query {
		out = append(out, keyValue{key, p.Query.Get(key)})
	}
	slices.SortFunc(out, func(a, b keyValue) int { return strings.Compare(a.key, b.key) })
	return out
}

// reset returns the page with the form's settings back at their defaults.
func (p Page) reset() string {
	q := url.Values{}
	for _, kv := range p.kept() {
		q.Set(kv.key, kv.value)
	}
	return address(p.Path, q)
}

// changedWords counts the form's settings that differ from their defaults.
func changedWords(p Page) string {
	n := 0
	for _, key := range formKeys {
		if p.Query.Get(key) != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("(%d set)", n)
}

// takesAgents reports whether the page can be limited to some agents.
func (p Page) takesAgents() bool { return p.Path == "/" || p.Path == "/curves" }

// lists reports whether a list parameter holds the value.
func (p Page) lists(key, value string) bool {
	return slices.Contains(strings.Split(p.Query.Get(key), ","), value)
}

// hasHumans reports whether the profile holds attempts of humans.
func hasHumans(c Choices) bool { return slices.Contains(c.Agents, rebench.HumanName) }

func chosen(ids []rebench.EnvironmentID, id rebench.EnvironmentID) bool {
	return len(ids) == 0 || slices.Contains(ids, id)
}

// profile is the one that the page shows.
func (p Page) profile() rebench.Profile {
	return cmp.Or(rebench.Profile(p.Query.Get("profile")), rebench.ProfilePaper)
}

// offered reports whether a budget is on the ruler.
func (p Page) offered(seconds int64) bool {
	return slices.Contains(rebench.Budgets(p.profile()), time.Duration(seconds)*time.Second)
}

func withAny(text string, values []string) []option {
	out := []option{{"", text}}
	for _, v := range values {
		out = append(out, option{v, v})
	}
	return out
}

// capOptions keeps a cap that was given in the address.
func capOptions(p Page) []option {
	out := []option{{"", "as they are"}, {"1", "cut to 1"}}
	if c := p.Query.Get("cap"); c != "" && c != "1" {
		out = append(out, option{c, "cut to " + c})
	}
	return out
}

func latestWords(c Choices) string {
	if c.Latest == 0 {
		return "newest"
	}
	return fmt.Sprintf("newest (%d)", c.Latest)
}

// settingsState sums the settings up in one line.
func settingsState(p Page, v analysis.View, humans bool) string {
	words := []string{suite(v.Environments)}
	if v.Cohort == string(rebench.CohortAll) && humans {
		words = append(words, "all human attempts")
	}
	if v.Flagged == "include" {
		words = append(words, "suspected hacks counted")
	}
	if v.Estimator == "with" {
		words = append(words, "with replacement")
	}
	if w := changedWords(p); w != "" {
		words = append(words, strings.Trim(w, "()"))
	}
	return strings.Join(words, ", ")
}
