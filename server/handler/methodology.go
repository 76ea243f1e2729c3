package handler

import (
	"github.com/a-h/templ"

	"rebench/internal/analysis"
	"rebench/web/chart"
	"rebench/web/view"
)

var methodologyResource = resource{path: "/methodology", takes: []string{"asof"}, build: buildMethodology}

func buildMethodology(s *Server, x *exchange) (*document, error) {
	m, err := s.engine.Methodology(x.c.Request.Context(), x.query.AsOf)
	if err != nil {
		return nil, err
	}
	files, err := publishedFiles()
	if err != nil {
		return nil, err
	}
	return &document{
		title:       "How the numbers are made",
		description: "Definitions, provenance of the data, and the numbers printed in the paper against those computed here.",
		axes:        []axis{{"printed value", "as printed"}, {"computed value", "as printed"}},
		n:           m.NAgents + m.NHumans, data: m,
		table: func() table { return methodologyTable(m) },
		svg:   func(p view.Page) ([]byte, error) { return svgOf(p, chart.FigureChecks(m)) },
		page: func(p view.Page) (templ.Component, error) {
			return view.Methodology(p, view.MethodologyData{Methodology: m, Published: files}), nil
		},
	}, nil
}

func methodologyTable(m *analysis.Methodology) table {
	t := table{columns: []string{"check", "id", "environment", "quantity", "printed", "unit", "locator", "computed", "verdict", "reason"}}
	for _, n := range m.Numbers {
		t.add("printed number", n.ID, n.Environment, n.Quantity, n.Printed, n.Unit, n.Locator, n.Computed, n.Verdict, n.Reason)
	}
	for _, f := range m.Figures {
		t.add("digitised point", f.Series+" "+f.Allocation, "ALL", "score at "+budgetWords(f.TotalTimeS), cellText(f.Score), "normalized score",
			f.Figure, cellText(f.Computed), f.Verdict, f.Reason)
	}
	return t
}
