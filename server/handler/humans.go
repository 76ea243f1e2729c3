package handler

import (
	"github.com/a-h/templ"

	"rebench/internal/analysis"
	"rebench/web/chart"
	"rebench/web/view"
)

var humansResource = resource{path: "/humans", takes: takes(), build: buildHumans}

func buildHumans(s *Server, x *exchange) (*document, error) {
	h, err := s.engine.Humans(x.c.Request.Context(), x.query)
	if err != nil {
		return nil, err
	}
	choices, err := s.choices(x)
	if err != nil {
		return nil, err
	}
	return &document{
		title:       "The human experts",
		description: "The human attempts behind RE-Bench: cohorts, percentiles, and what is not known about them.",
		axes:        []axis{{"percentile of human attempts", "1 to 100"}, {"score", scoreUnit}},
		n:           h.Percentiles.NAttempts, data: h,
		table: func() table { return percentilesTable(h.Percentiles) },
		svg:   func(p view.Page) ([]byte, error) { return svgOf(p, chart.HumanPercentiles(h.Percentiles)) },
		page: func(p view.Page) (templ.Component, error) {
			c, err := drawn(p, "percentiles", "", chart.HumanPercentiles(h.Percentiles))
			return view.Humans(p, view.HumansData{Humans: h, Percentiles: c, Choices: choices}), err
		},
	}, nil
}

func percentilesTable(p *analysis.Percentiles) table {
	t := table{columns: []string{"percentile", "mean", "ci_low", "ci_high"}}
	t.columns = append(t.columns, idTexts(p.View.Environments)...)
	for i, percentile := range p.Percentile {
		row := []any{percentile, p.Mean[i], p.CILow[i], p.CIHigh[i]}
		for _, id := range p.View.Environments {
			if values := p.Environments[id]; i < len(values) {
				row = append(row, values[i])
			} else {
				row = append(row, nil)
			}
		}
		t.add(row...)
	}
	return t
}

var percentilesResource = resource{path: "/humans/percentiles", takes: takes(), build: func(s *Server, x *exchange) (*document, error) {
	p, err := s.engine.HumanPercentiles(x.c.Request.Context(), x.query)
	return &document{data: p}, err
}}
