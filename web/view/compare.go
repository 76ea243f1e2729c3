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
	if d.Comparison.A.Kind == rebench.KindHuman {
		return fmt.Sprintf("Are human experts ahead of %s?", d.Comparison.B.Agent)
	}
	return fmt.Sprintf("Is %s ahead of %s?", d.Comparison.A.Agent, nameInSentence(d.Comparison.B.Agent))
}

func (d CompareData) lede() string {
	if d.Comparison == nil {
		return "Two agents, or an agent and the human experts, at equal total time."
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
// are any, else the first agents of the list among themselves.
func (d CompareData) suggestions(p Page) []Link {
	agents := slices.DeleteFunc(slices.Clone(d.Choices.Agents), func(a string) bool { return a == rebench.HumanName })
	var pairs [][2]string
	if len(agents) < len(d.Choices.Agents) {
		for _, a := range agents {
			pairs = append(pairs, [2]string{a, rebench.HumanName})
		}
	} else {
		for i := 1; i < len(agents); i++ {
			pairs = append(pairs, [2]string{agents[0], agents[i]})
		}
	}
	var out []Link
	for _, x := range pairs[:min(len(pairs), 12)] {
		out = append(out, Link{agentName(x[0]) + " and " + nameInSentence(x[1]), p.With("a", x[0], "b", x[1])})
	}
	return out
}

// findings says who is ahead, how sure that is, and where the curves cross.
func (d CompareData) findings() []finding {
	c := d.Comparison
	o := c.Overall
	first := finding{Question: "Difference", Verdict: fmt.Sprintf("%s %s", signed(o.D, 3), signedInterval(o.D, o.CILow, o.CIHigh))}
	first.Words = fmt.Sprintf("%s %s (%s) against %s %s (%s).", agentName(c.A.Agent), score(o.A), sideWords(c.A),
		agentName(c.B.Agent), score(o.B), sideWords(c.B))
	second := finding{Question: "Is it real?", Verdict: differenceVerdict(c),
		Words: fmt.Sprintf("Bootstrap support for %s being ahead: %s.", agentName(c.A.Agent), supportOf(*o))}
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

func limitOf(s analysis.ComparedAgent) int64 {
	if s.Allocation == nil {
		return 0
	}
	return s.Allocation.TimeLimitS
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
