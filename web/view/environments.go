package view

import (
	"math"
	"slices"
	"strings"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func directionWords(d rebench.Direction) string {
	if d == rebench.Maximize {
		return "higher is better"
	}
	return "lower is better"
}

func selectionWords(s rebench.Selection) string {
	if s == rebench.SelectLast {
		return "the last valid entry"
	}
	return "the best entry"
}

// formulaSigns sets hyphens between spaces as minus signs.
func formulaSigns(s string) string { return strings.ReplaceAll(s, " - ", " "+minus+" ") }

func ceiling(c *analysis.Ceiling) string {
	if c == nil {
		return "–"
	}
	return number(c.Low, 2) + "–" + number(c.High, 2)
}

// ceilingWords gives the ceiling with what the paper prints.
func ceilingWords(c *analysis.Ceiling) string {
	if c == nil {
		return "unknown on the scale of these scores"
	}
	words := ceiling(c) + " normalized, the authors' estimate: Table 8 of the paper gives " + ranges(c.Raw) + " raw"
	if printed := ranges(c.Printed); printed != ceiling(c) {
		words += ", which it normalizes to " + printed + "; the band here is on the scale of the published scores"
	}
	return words
}

// ranges sets the hyphen of a printed range as a dash.
func ranges(s string) string { return strings.ReplaceAll(s, "-", "–") }

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// listLink leads to the list of attempts in the page's profile.
func listLink(p Page, pairs ...string) string {
	return Page{Path: "/attempts"}.With(append(pairs, "profile", p.Value("profile"))...)
}

// suspectedView is the view with its suspected attempts alone, for links.
func suspectedView(v analysis.View) analysis.View {
	v.Flagged = "suspected"
	return v
}

// scale covers the scores of every environment.
func (d EnvironmentsData) scale() scale {
	var values []float64
	for _, e := range d.Environments {
		if _, high, ok := groupsRange(e.Groups); ok {
			values = append(values, high)
		}
	}
	return scoreScale(values)
}

// groupsRange returns the lowest and highest score of all groups.
func groupsRange(groups []analysis.AttemptGroup) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, g := range groups {
		for _, x := range g.Scores {
			low, high, ok = math.Min(low, x), math.Max(high, x), true
		}
	}
	return low, high, ok
}

// ksOf lists the k of any group's score@k, ascending.
func ksOf(groups []analysis.AttemptGroup) []int {
	var out []int
	for _, g := range groups {
		for _, x := range g.AtK {
			if !slices.Contains(out, x.K) {
				out = append(out, x.K)
			}
		}
	}
	slices.Sort(out)
	return out
}

func atK(g analysis.AttemptGroup, k int) (analysis.AtK, bool) {
	i := slices.IndexFunc(g.AtK, func(x analysis.AtK) bool { return x.K == k })
	if i < 0 {
		return analysis.AtK{}, false
	}
	return g.AtK[i], true
}

// oursRecorded reports whether anything is on record about what our scorer does.
func oursRecorded(e *analysis.EnvironmentDetail) bool {
	return slices.ContainsFunc(e.Flaws, func(f analysis.KnownFlaw) bool { return f.Ours != "" }) ||
		slices.ContainsFunc(e.Hacks, func(h analysis.KnownHack) bool { return h.Ours != "" })
}
