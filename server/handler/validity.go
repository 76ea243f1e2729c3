package handler

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"rebench/internal/analysis"
	"rebench/web/view"
)

var validityResource = resource{path: "/validity", takes: []string{"environment", "state", "asof"}, build: buildValidity}

func buildValidity(s *Server, x *exchange) (*document, error) {
	v, err := s.engine.Validity(x.c.Request.Context(), x.query.AsOf, analysis.ValidityFilter{Environment: x.filter.Environment, State: x.state})
	if err != nil {
		return nil, err
	}
	return &document{
		title:       "What is done about gamed and wrong scores",
		description: "Each documented way in which scores of these tasks were gamed or wrong, our defence, its state and the tests that prove it.",
		axes:        []axis{{"mechanism", ""}, {"state", ""}},
		n:           v.Checked, data: v,
		table: func() table { return validityTable(v) },
		page: func(p view.Page) (templ.Component, error) {
			return view.Validity(p, view.ValidityData{Validity: v}), nil
		},
	}, nil
}

func validityTable(v *analysis.Validity) table {
	t := table{columns: []string{"mechanism", "title", "state", "environments", "what", "defence", "reason", "records", "tests"}}
	for _, m := range v.Mechanisms {
		names := make([]string, len(m.Tests))
		for i, x := range m.Tests {
			names[i] = x.Name
		}
		t.add(m.ID, m.Title, string(m.State), strings.Join(m.Environments, " "), m.Mechanism, m.Defence, m.Reason,
			strings.Join(slices.Sorted(slices.Values(m.Records)), " "), strings.Join(names, "; "))
	}
	return t
}
