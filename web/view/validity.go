package view

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// ValidityData is what /validity shows.
type ValidityData struct{ Validity *analysis.Validity }

var validityStates = map[validity.State]struct{ word, means string }{
	validity.Prevented:     {"prevented", "the attempt gains nothing, or the flaw cannot occur; the tests show it"},
	validity.Detected:      {"detected", "it may gain something, and is flagged; the tests show the flag"},
	validity.Accepted:      {"accepted", "not solved, for the reason given"},
	validity.NotApplicable: {"not applicable", "nothing of ours can have it"},
	validity.Open:          {"open", "it applies, and nothing here proves a defence yet"},
}

func stateWord(s validity.State) string { return validityStates[s].word }

func validityStateOptions() []option {
	out := []option{{"", "any"}}
	for _, s := range validity.States() {
		out = append(out, option{string(s), stateWord(s)})
	}
	return out
}

// concernWords names the environments that a mechanism could apply to.
func concernWords(list []string) string {
	if len(list) == 0 {
		return "none of ours"
	}
	var out []string
	for _, id := range list {
		if id == "all" {
			return "all seven"
		}
		out = append(out, environmentShort(rebench.EnvironmentID(id)))
	}
	return strings.Join(out, ", ")
}

// anchor makes an id of a name: letters, digits and hyphens.
func anchor(prefix, name string) string {
	return prefix + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, name)
}

// namedTest is a test with the mechanisms that rest on it.
type namedTest struct {
	validity.Test
	usedBy []analysis.MechanismRow
}

// tests are the tests behind the mechanisms that are shown, in the order in which they
// are named, of one kind.
func (d ValidityData) tests(kind validity.TestKind) []namedTest {
	var out []namedTest
	at := map[string]int{}
	for _, m := range d.Validity.Mechanisms {
		for _, t := range m.Tests {
			if t.Kind != kind {
				continue
			}
			i, ok := at[t.Name]
			if !ok {
				i = len(out)
				at[t.Name] = i
				out = append(out, namedTest{Test: t})
			}
			out[i].usedBy = append(out[i].usedBy, m)
		}
	}
	return out
}

// shown reports whether the mechanism passes the filter, so that links lead somewhere.
func (d ValidityData) shown(id string) bool {
	for _, m := range d.Validity.Mechanisms {
		if m.ID == id {
			return true
		}
	}
	return false
}

var testKinds = []struct {
	kind  validity.TestKind
	title string
}{
	{validity.Example, "Example solutions that attack a scorer"},
	{validity.GoTest, "Go tests"},
	{validity.PythonTest, "Python tests"},
}

// testWords is a test's name as the table shows it.
func testWords(t validity.Test) string {
	switch t.Kind {
	case validity.PythonTest:
		return t.Function
	case validity.Example:
		env, _, _ := strings.Cut(t.Name, "/")
		return environmentShort(rebench.EnvironmentID(env)) + ": " + path.Base(t.Path)
	}
	if t.Subtest != "" {
		return t.Function + ": " + t.Subtest
	}
	return t.Function
}

// outcome is the verdict on an attack when all examples were scored last; nil when it was not.
func (d ValidityData) outcome(t validity.Test) *validity.ExampleOutcome {
	env, name, _ := strings.Cut(t.Name, "/")
	for i := range d.Validity.ExampleRuns {
		if r := &d.Validity.ExampleRuns[i]; string(r.Environment) == env {
			return r.Outcome(name)
		}
	}
	return nil
}

// exampleRunWords says when and where all examples were scored last.
func exampleRunWords(runs []validity.ExampleRun) string {
	var n int
	var first, last string
	var machines []string
	for _, r := range runs {
		n += len(r.Examples)
		if first == "" || r.Date < first {
			first = r.Date
		}
		last = max(last, r.Date)
		if !slices.Contains(machines, r.Machine) {
			machines = append(machines, r.Machine)
		}
	}
	when := "on " + last
	if first != last {
		when = "from " + first + " to " + last
	}
	return fmt.Sprintf("%s of %s, harmless ones included, were scored last %s (%s)",
		things(n, "example solution", "example solutions"), things(len(runs), "environment", "environments"), when, strings.Join(machines, "; "))
}

// exampleVerdict is what a scorer makes of an example.
func exampleVerdict(x validity.ExampleOutcome) string {
	switch {
	case !x.Valid:
		return "refused" + reasonWords(x.Reason)
	case len(x.Flags) > 0:
		return "flagged: " + strings.Join(x.Flags, ", ")
	}
	return "valid"
}

func (d ValidityData) stateCount(s validity.State) analysis.StateCount {
	for _, c := range d.Validity.States {
		if c.State == s {
			return c
		}
	}
	return analysis.StateCount{State: s}
}

func countOf(c analysis.StateCount) string { return fmt.Sprint(c.Mechanisms) }

func (d ValidityData) matchWords() string {
	v := d.Validity
	if len(v.Mechanisms) == v.Total {
		return things(v.Total, "mechanism", "mechanisms")
	}
	return fmt.Sprintf("%d of %s", len(v.Mechanisms), things(v.Total, "mechanism", "mechanisms"))
}

// boundWords is a bound as a reader says it.
func boundWords(b validity.Bound) string {
	return fmt.Sprintf("%s %s %s", b.Beyond, strconv.FormatFloat(b.Value, 'f', -1, 64), b.Unit)
}

func profilesWords(list []rebench.Profile) string {
	if len(list) == 0 {
		return "every profile"
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = string(p)
	}
	return strings.Join(out, ", ")
}

func actionWords(a validity.Action) string {
	if a == validity.Quarantine {
		return "quarantine"
	}
	return "note"
}

// reachedWords says what came of a finding.
func reachedWords(r analysis.ReachedAttempt) string {
	switch {
	case r.Excluded:
		return "excluded"
	case r.Suspected:
		return "in quarantine"
	case r.Action == validity.Quarantine:
		return "released"
	}
	return "noted"
}
