package handler

import (
	"fmt"
	"maps"
	"strconv"

	"rebench/web/chart"
	"rebench/web/view"
)

// Charts of a page that has several; the first is its picture.
const (
	chartDistribution = "distribution"
	chartAtK          = "score-at-k"
)

// svgOf draws the picture of a view; the address inside is pinned like a citation.
func svgOf(p view.Page, f *chart.Figure) ([]byte, error) {
	return f.SVG(chart.SVGOptions{URL: p.Base + p.With("asof", strconv.FormatInt(p.Revision.ID, 10))})
}

// source is where the request's figures come from.
func (x *exchange) source() chart.Source { return chart.Source{Revision: x.revision.ID} }

// drawn is a figure as a page shows it; which names it among the page's pictures.
func drawn(p view.Page, id, which string, f *chart.Figure) (view.Chart, error) {
	c := view.Chart{ID: id, Title: f.Title, Subtitle: f.Subtitle, Alt: f.Alt, How: f.HowToRead, Notes: f.Notes, Missing: f.Empty}
	if f.Empty != "" {
		return c, nil
	}
	option, err := f.Option()
	if err != nil {
		return c, fmt.Errorf("chart %s: %w", id, err)
	}
	c.Option = string(option)
	c.SVG = p.As(formSVG)
	if which != "" {
		q := p
		q.Query = maps.Clone(p.Query)
		q.Query.Set("chart", which)
		c.SVG = q.As(formSVG)
	}
	return c, nil
}
