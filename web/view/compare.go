package view

import (
	"fmt"
	"math"
	"slices"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func (d CompareData) title() string {
	if d.Comparison == nil {
		return "Is one agent ahead of another?"
	}
	if d.same() {
		return "Both are the same"
	}
	if d.Comparison.A.Kind == rebench.KindHuman {
		return fmt.Sprintf("Are human experts ahead of %s?", d.Comparison.B.Agent)
	}
	return fmt.Sprintf("Is %s ahead of %s?", d.Comparison.A.Agent, nameInSentence(d.Comparison.B.Agent))
}

func (d CompareData) lede() string {
	if d.Comparison == nil {
		return "Two agents, or an agent and the human experts, at equal total time."
	}
	if d.same() {
		return fmt.Sprintf("First and second are %s: there is nothing to compare.", nameInSentence(d.Comparison.A.Agent))
	}
	return fmt.Sprintf("Difference of normalized scores at %s in total, first minus second.", totalTime(d.Comparison.BudgetS))
}

func nameInSentence(label string) string {
	if label == rebench.HumanName {
		return "human experts"
	}
	return label
}

// budgetS is the total time shown, in seconds.
func (d CompareData) budgetS(p Page) int64 {
	if d.Comparison != nil {
		return d.Comparison.BudgetS
	}
	b, err := rebench.ParseBudget(p.Value("budget"))
	if err != nil {
		return 0
	}
	return int64(b / time.Second)
}

// suggestions are a few pairs to start with: agents against the humans where there
// are any, and neighbours in the list of agents among themselves.
func (d CompareData) suggestions(p Page) []Link {
	agents := slices.DeleteFunc(slices.Clone(d.Choices.Agents), func(a string) bool { return a == rebench.HumanName })
	var human, among []Link
	pair := func(a, b string) Link {
		return Link{agentName(a) + " and " + nameInSentence(b), p.With("a", a, "b", b)}
	}
	for i, a := range agents {
		if len(agents) < len(d.Choices.Agents) {
			human = append(human, pair(a, rebench.HumanName))
		}
		if i > 0 {
			among = append(among, pair(agents[i-1], a))
		}
	}
	return append(among[:min(len(among), 8)], human[:min(len(human), 8)]...)
}

// same reports whether both sides are one agent.
func (d CompareData) same() bool {
	return d.Comparison != nil && d.Comparison.A.Agent == d.Comparison.B.Agent
}

// findings says who is ahead, how sure that is, and where the curves cross.
func (d CompareData) findings() []finding {
	c := d.Comparison
	o := c.Overall
	first := finding{Question: "Difference", Verdict: fmt.Sprintf("%s %s", signed(o.D, 3), signedInterval(o.D, o.CILow, o.CIHigh))}
	first.Words = fmt.Sprintf("%s %s (%s) against %s %s (%s).", agentName(c.A.Agent), score(o.A), sideWords(c.A),
		agentName(c.B.Agent), score(o.B), sideWords(c.B))
	second := finding{Question: "Is it real?", Verdict: differenceVerdict(c),
		Words: fmt.Sprintf("Bootstrap support for %s being ahead: %s.%s", agentName(c.A.Agent), supportOf(*o), noIntervalWords(c))}
	out := []finding{first, second}
	if c.Crossover != nil {
		verdict := map[string]string{"crosses": "They cross", "none in range": "None in range", "undetermined": "Undetermined"}[c.Crossover.Verdict]
		if verdict == "" {
			verdict = capitalised(c.Crossover.Verdict)
		}
		out = append(out, finding{Question: "Do the curves cross?", Verdict: verdict, Words: c.Crossover.Words})
	}
	return out
}

// noIntervalWords says why the difference has no interval, where it has none.
func noIntervalWords(c *analysis.Comparison) string {
	if c.Overall.CILow != nil || c.Overall.CIHigh != nil {
		return ""
	}
	var single []string
	for _, e := range c.Environments {
		if e.NA == 1 {
			single = append(single, agentName(c.A.Agent)+" in "+environmentTitle(e.Environment))
		}
		if e.NB == 1 {
			single = append(single, agentName(c.B.Agent)+" in "+environmentTitle(e.Environment))
		}
	}
	if len(single) == 0 {
		return " Resampling shows no spread: the attempts of either side all have one score."
	}
	return " A single attempt shows no spread, and there is one only of " + list(single) + "."
}

func sideWords(s analysis.ComparedAgent) string {
	if s.Allocation == nil {
		return "no allocation"
	}
	return allocationWords(s.Allocation.K, s.Allocation.TimeLimitS)
}

// differenceVerdict reads the interval of the difference.
func differenceVerdict(c *analysis.Comparison) string {
	o := c.Overall
	switch {
	case o.CILow != nil && *o.CILow > 0:
		return "Yes: " + agentName(c.A.Agent) + " ahead"
	case o.CIHigh != nil && *o.CIHigh < 0:
		return "Yes: " + agentName(c.B.Agent) + " ahead"
	case o.CILow == nil && o.CIHigh == nil:
		return "Unknown: no interval"
	}
	return "Not shown by these data"
}

func differencesScale(c *analysis.Comparison) scale {
	values := []float64{c.Overall.D}
	add := func(d analysis.Difference) {
		values = append(values, d.D)
		for _, x := range []*float64{d.CILow, d.CIHigh} {
			if x != nil {
				values = append(values, *x)
			}
		}
	}
	add(*c.Overall)
	for _, e := range c.Environments {
		add(e.Difference)
	}
	return differenceScale(values)
}

// sideLink leads to the attempts of one side, in an environment or ("") in all.
func sideLink(p Page, c *analysis.Comparison, s analysis.ComparedAgent, env rebench.EnvironmentID) string {
	if s.Allocation == nil {
		return attemptsLink(p, c.View, s.Agent, env, 0)
	}
	return allocationLink(p, c.View, s.Agent, env, *s.Allocation)
}

func isZero(x float64) bool { return math.Abs(x) < 1e-9 }

// end is the place of an interval's end, or of the scale's where it is open.
func (s scale) end(x *float64, open string) string {
	if x == nil {
		return open
	}
	return s.at(*x)
}

// without returns the page's parameters less some, for a form that holds those itself.
func (p Page) without(keys ...string) []keyValue {
	var out []keyValue
	for _, kv := range p.all() {
		skip := kv.key == "page_token"
		for _, k := range keys {
			skip = skip || kv.key == k
		}
		if !skip {
			out = append(out, kv)
		}
	}
	return out
}
