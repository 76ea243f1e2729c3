package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

var shownPercentiles = []int{1, 10, 25, 50, 75, 90, 99, 100}

func (d HumansData) lede() string {
	return "Final scores of experts' attempts, meant to take eight hours, in the same environments and with the same scorers as the agents."
}

// cohort returns the summary of the cohort shown.
func (d HumansData) cohort() (analysis.CohortSummary, bool) {
	i := slices.IndexFunc(d.Humans.Cohorts, func(c analysis.CohortSummary) bool { return string(c.Cohort) == d.Humans.Cohort })
	if i < 0 {
		return analysis.CohortSummary{}, false
	}
	return d.Humans.Cohorts[i], true
}

func (d HumansData) findings() []finding {
	c, ok := d.cohort()
	if !ok {
		return nil
	}
	printed := func(text string) string {
		if c.Cohort != rebench.CohortPaper71 {
			return "."
		}
		return "; the paper prints " + text + "."
	}
	return []finding{
		{Question: "Mean after 8 hours", Verdict: fmt.Sprintf("%s %s", score(c.Score), interval(c.Score, c.CILow, c.CIHigh)),
			Words: fmt.Sprintf("Over %s, %s.", suite(d.Humans.Environments), things(c.N, "attempt", "attempts"))},
		{Question: "Better than the start", Verdict: share(c.NonZero, c.N), Words: fmt.Sprintf("%d of %d attempts score above 0%s", c.NonZero, c.N, printed("82%"))},
		{Question: "As good as the reference", Verdict: share(c.AtReference, c.N), Words: fmt.Sprintf("%d of %d attempts score 1 or more%s", c.AtReference, c.N, printed("24%"))},
	}
}

func memberShort(c rebench.Cohort) string {
	if c == rebench.CohortPaper71 {
		return "in the 71"
	}
	return "not in the 71"
}

func cohortName(c rebench.Cohort) string {
	switch c {
	case rebench.CohortPaper71:
		return "the paper's 71"
	case rebench.CohortAll:
		return "all attempts"
	case "":
		return "–"
	}
	return string(c)
}

func cohortView(v analysis.View, c rebench.Cohort) analysis.View {
	v.Cohort = string(c)
	return v
}

// attempts orders the attempts by environment and score, best first.
func (d HumansData) attempts() []analysis.AttemptRow {
	order := rebench.EnvironmentIDs()
	out := slices.Clone(d.Humans.Attempts)
	slices.SortStableFunc(out, func(a, b analysis.AttemptRow) int {
		if c := slices.Index(order, a.Environment) - slices.Index(order, b.Environment); c != 0 {
			return c
		}
		return cmp.Compare(orZero(b.Score), orZero(a.Score))
	})
	return out
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

func (d HumansData) scale() scale {
	var values []float64
	for _, a := range d.Humans.Attempts {
		values = append(values, orZero(a.Score))
	}
	return scoreScale(values)
}

// shortID is an attempt's id without the name of its data set.
func shortID(id string) string {
	if _, native, ok := strings.Cut(id, ":"); ok && native != "" {
		return native
	}
	return id
}
