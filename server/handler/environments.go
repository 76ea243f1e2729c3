package handler

import (
	"github.com/a-h/templ"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/web/chart"
	"rebench/web/view"
)

var environmentsResource = resource{path: "/environments", takes: takes(), build: buildEnvironments}

// environments is the API's form of the list, in which environments holds results
// rather than ids.
type environments struct {
	analysis.View
	Environments []analysis.EnvironmentSummary `json:"environments"`
}

func buildEnvironments(s *Server, x *exchange) (*document, error) {
	ctx := x.c.Request.Context()
	items, err := s.engine.Environments(ctx, x.query)
	if err != nil {
		return nil, err
	}
	v, err := s.engine.View(ctx, x.query)
	if err != nil {
		return nil, err
	}
	choices, err := s.choices(x)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, e := range items {
		n += e.NAttempts + e.NHuman
	}
	return &document{
		title:       "The seven environments",
		description: "What each RE-Bench environment asks for, how it is scored, and how agents and humans did.",
		axes:        []axis{{"score", scoreUnit}},
		n:           n, data: environments{View: *v, Environments: items},
		table: func() table { return environmentsTable(items) },
		svg:   func(p view.Page) ([]byte, error) { return svgOf(p, chart.Environments(items, x.source())) },
		page: func(p view.Page) (templ.Component, error) {
			return view.Environments(p, view.EnvironmentsData{View: *v, Environments: items, Choices: choices}), nil
		},
	}, nil
}

func environmentsTable(items []analysis.EnvironmentSummary) table {
	t := table{columns: []string{"id", "title", "metr_family", "direction", "selection", "formula", "hardware", "start_raw", "reference_raw",
		"ceiling_low", "ceiling_high", "n_attempts", "n_human", "task", "rules"}}
	for _, e := range items {
		var low, high *float64
		if e.Ceiling != nil {
			low, high = &e.Ceiling.Low, &e.Ceiling.High
		}
		t.add(string(e.ID), e.Title, e.METRFamily, string(e.Direction), string(e.Selection), e.Formula, e.Hardware, e.StartRaw, e.ReferenceRaw,
			low, high, e.NAttempts, e.NHuman, e.Task, e.Rules)
	}
	return t
}

var environmentResource = resource{path: "/environments/:id", takes: takes("chart"), build: buildEnvironment}

func buildEnvironment(s *Server, x *exchange) (*document, error) {
	id := rebench.EnvironmentID(x.c.GetString(idKey))
	env, ok := rebench.EnvironmentByID(id)
	if !ok {
		return nil, noEnvironment(string(id))
	}
	detail, err := s.engine.Environment(x.c.Request.Context(), x.query, id)
	if err != nil {
		return nil, err
	}
	figure := func(which string) *chart.Figure {
		if which == chartAtK {
			return chart.EnvironmentAtK(&detail.EnvironmentSummary, x.source())
		}
		return chart.Environment(&detail.EnvironmentSummary, x.source())
	}
	choices, err := s.choices(x)
	if err != nil {
		return nil, err
	}
	return &document{
		title: env.Title, description: env.Task,
		axes: []axis{{"score", scoreUnit}},
		n:    detail.NAttempts + detail.NHuman, data: detail,
		table: func() table { return environmentTable(detail) },
		svg:   func(p view.Page) ([]byte, error) { return svgOf(p, figure(x.chart)) },
		page: func(p view.Page) (templ.Component, error) {
			distribution, err := drawn(p, chartDistribution, "", figure(chartDistribution))
			if err != nil {
				return nil, err
			}
			atK, err := drawn(p, chartAtK, chartAtK, figure(chartAtK))
			return view.Environment(p, view.EnvironmentData{Detail: detail, Distribution: distribution, ScoreAtK: atK, Choices: choices}), err
		},
	}, nil
}

// noEnvironment says which environments there are. METR's family names lead to
// ours.
func noEnvironment(id string) error {
	hint := didYouMean(near(id, environmentNames()))
	if e, ok := rebench.EnvironmentByMETRFamily(id); ok {
		hint = didYouMean([]string{string(e.ID)})
	}
	f := ParamFault{Parameter: "id", Code: "unknown_value", Found: shorten(id), Expected: "an environment id", Allowed: environmentNames(), Hint: hint}
	return &notFoundError{kind: "environment", fault: f, base: "/environments/"}
}

func environmentTable(d *analysis.EnvironmentDetail) table {
	t := table{columns: []string{"environment", "agent", "kind", "time_limit_s", "n", "zeros", "flagged", "mean", "median", "best",
		"k", "score_at_k", "ci_low", "ci_high", "saturated"}}
	for _, g := range d.Groups {
		for _, p := range g.AtK {
			t.add(string(d.ID), g.Agent, string(g.Kind), g.TimeLimitS, g.N, g.Zeros, g.Flagged, g.Mean, g.Median, g.Best,
				p.K, p.Score, p.CILow, p.CIHigh, p.Saturated)
		}
	}
	return t
}
