package handler

import (
	"github.com/a-h/templ"

	"rebench/internal/analysis"
	"rebench/web/chart"
	"rebench/web/view"
)

var compareResource = resource{path: "/compare", takes: takes("budget", "a", "b"), build: buildCompare}

func buildCompare(s *Server, x *exchange) (*document, error) {
	d := &document{
		title:       "Two agents at equal total time",
		description: "Difference of two agents on RE-Bench at equal total time, overall, by environment and over time.",
		axes:        []axis{{"difference of scores, A - B", "normalized"}, {"total time", "s"}},
		table:       func() table { return comparisonTable(nil) },
	}
	choices, err := s.choices(x)
	if err != nil {
		return nil, err
	}
	data := view.CompareData{Choices: choices}
	chosen := x.canonical.Has("a") && x.canonical.Has("b")
	if !chosen && x.form != formHTML {
		return nil, x.require("a", "b")
	}
	if chosen {
		c, err := s.engine.Compare(x.c.Request.Context(), x.query, x.a, x.b)
		if err != nil {
			return nil, err
		}
		data.Comparison, d.data = c, c
		d.title = x.a + " against " + x.b + " with " + budgetWords(c.BudgetS) + " in total"
		d.n = c.A.NAttempts + c.B.NAttempts
		d.table = func() table { return comparisonTable(c) }
		d.svg = func(p view.Page) ([]byte, error) { return svgOf(p, chart.Compare(c)) }
	}
	d.page = func(p view.Page) (templ.Component, error) {
		data := data
		var err error
		if data.Comparison != nil {
			data.Chart, err = drawn(p, "compare", "", chart.Compare(data.Comparison))
		}
		return view.Compare(p, data), err
	}
	return d, nil
}

func comparisonTable(c *analysis.Comparison) table {
	t := table{columns: []string{"scope", "environment", "budget_s", "agent_a", "agent_b", "k_a", "k_b", "n_a", "n_b", "score_a", "score_b",
		"difference", "ci_low", "ci_high", "p_a_greater"}}
	if c == nil {
		return t
	}
	a, b := c.A.Agent, c.B.Agent
	if d := c.Overall; d != nil {
		t.add("overall", "", c.BudgetS, a, b, c.A.Allocation.K, c.B.Allocation.K, c.A.NAttempts, c.B.NAttempts, d.A, d.B, d.D, d.CILow, d.CIHigh, d.PAGreater)
	}
	for _, d := range c.Environments {
		t.add("environment", string(d.Environment), c.BudgetS, a, b, nil, nil, d.NA, d.NB, d.A, d.B, d.D, d.CILow, d.CIHigh, d.PAGreater)
	}
	for _, d := range c.OverTime {
		t.add("over time", "", d.BudgetS, a, b, d.KA, d.KB, nil, nil, d.A, d.B, d.D, d.CILow, d.CIHigh, d.PAGreater)
	}
	return t
}
