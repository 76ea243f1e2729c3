package handler

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/web/chart"
	"rebench/web/view"
)

var curvesResource = resource{path: "/curves", takes: takes("statistic", "axis", "scale"), build: buildCurves}

func buildCurves(s *Server, x *exchange) (*document, error) {
	ctx := x.c.Request.Context()
	curves, err := s.engine.Curves(ctx, x.query)
	if err != nil {
		return nil, err
	}
	choices, err := s.choices(x)
	if err != nil {
		return nil, err
	}
	environments, err := s.engine.Environments(ctx, x.query)
	if err != nil {
		return nil, err
	}
	figure := func(p view.Page) *chart.Figure {
		link := func(agent string, at analysis.CurvePoint) string { return view.PointLink(p, curves.View, agent, at) }
		return chart.Curves(curves, chart.CurvesOptions{Axis: chart.Axis(x.axis), Link: link})
	}
	d := &document{
		title:       "Score against " + map[string]string{"time": "total time", "cost": "cost"}[x.axis],
		description: "How RE-Bench scores of agents and human experts grow with the total time budget.",
		axes:        []axis{{"score", scoreUnit}, {"total time", "s"}},
		n:           drawnAttempts(curves, environments), data: curves,
		table: func() table { return curvesTable(curves) },
		svg:   func(p view.Page) ([]byte, error) { return svgOf(p, figure(p)) },
	}
	if x.axis == "cost" {
		d.axes[1] = axis{"cost", "US dollars"}
	}
	d.page = func(p view.Page) (templ.Component, error) {
		c, err := drawn(p, "curves", "", figure(p))
		return view.Curves(p, view.CurvesData{Curves: curves, Chart: c, Choices: choices}), err
	}
	return d, nil
}

// drawnAttempts counts the attempts of the agents that have a curve.
func drawnAttempts(c *analysis.Curves, environments []analysis.EnvironmentSummary) int {
	agents := map[string]bool{}
	for _, s := range c.Series {
		agents[s.Agent] = true
	}
	n := 0
	for _, e := range environments {
		for _, g := range e.Groups {
			if agents[g.Agent] {
				n += g.N
			}
		}
	}
	return n
}

func curvesTable(c *analysis.Curves) table {
	t := table{columns: []string{"source", "agent", "kind", "allocation", "total_time_s", "k", "time_limit_s", "score", "ci_low", "ci_high",
		"n_min", "saturated", "truncated", "cost_usd", "note"}}
	for _, s := range c.Series {
		for _, p := range s.Points {
			t.add("computed", s.Agent, string(s.Kind), s.Allocation, p.TotalTimeS, p.K, p.TimeLimitS, p.Score, p.CILow, p.CIHigh,
				p.NMin, p.Saturated, p.Truncated, p.CostUSD, s.Label)
		}
	}
	for _, p := range c.Published {
		t.add("digitised: "+p.Figure, p.Series, string(p.Kind), p.Allocation, p.TotalTimeS, nil, nil, p.Score, p.CILow, p.CIHigh,
			nil, nil, nil, p.CostUSD, p.Note)
	}
	for _, h := range c.Hidden {
		t.add("not drawn", h.Agent, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, h.Reason)
	}
	return t
}

var scoreAtKResource = resource{path: "/score-at-k", takes: takes("agent", "time_limit", "k"), build: buildScoreAtK}

// scoreAtK is the API's form of the result, in which environments holds results
// rather than ids.
type scoreAtK struct {
	analysis.ScoreAtK
	Environments []analysis.EnvironmentAtK `json:"environments"`
	Detail       any                       `json:"environments_detail,omitempty"` // replaces the embedded member
}

func buildScoreAtK(s *Server, x *exchange) (*document, error) {
	if err := x.require("agent", "time_limit"); err != nil {
		return nil, err
	}
	r, err := s.engine.ScoreAtK(x.c.Request.Context(), x.query, x.agent, x.timeLimit, x.ks)
	if err != nil {
		return nil, err
	}
	return &document{data: scoreAtK{ScoreAtK: *r, Environments: r.Cells}}, nil
}

// require refuses a request that lacks a parameter.
func (r *request) require(names ...string) error {
	var faults []ParamFault
	for _, name := range names {
		if !r.canonical.Has(name) {
			faults = append(faults, ParamFault{Parameter: name, Code: "missing", Expected: parameters[name].expected, Allowed: parameters[name].allowed})
		}
	}
	if len(faults) > 0 {
		return &ParamError{Faults: faults}
	}
	return nil
}

// budgetWords says seconds as a reader does: 8 h, 30 min, 90 s.
func budgetWords(seconds int64) string {
	text := rebench.FormatBudget(time.Duration(seconds) * time.Second)
	unit := map[byte]string{'h': " h", 'm': " min", 's': " s"}[text[len(text)-1]]
	if n, err := strconv.Atoi(strings.TrimRight(text, "hms")); err == nil {
		return strconv.Itoa(n) + unit
	}
	return text
}
