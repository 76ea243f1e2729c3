package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Figure is a chart that does not yet know how it will be drawn: [Figure.Option]
// gives it to the browser, [Figure.SVG] draws it on the server. Both show the
// same data. All text is plain text, never markup.
type Figure struct {
	Title     string // the finding's question
	Subtitle  string // what is plotted, n, cohort
	HowToRead string // one line
	Notes     []string
	Alt       string // text alternative
	// Empty says why there is nothing to draw, "" when there is something.
	Empty string
	// Height is the height in pixels that the drawing area wants on a wide page.
	Height int
	Source Source

	panels []*panel
	key    []keyEntry
	gutter float64 // width right of the plot for labels, pixels
	stub   float64 // width left of the plot for row labels, pixels
	// small marks small multiples: panels flow in as many columns as fit.
	small bool
	zoom  bool
	// dropped counts points without finite coordinates; Notes says so.
	dropped int
}

// Source is where a figure's numbers come from.
type Source struct {
	Revision int64 // data revision, 0 when unknown
}

// panel is one plot: two axes and what is drawn between them, back to front.
type panel struct {
	title  string
	x, y   axis
	spans  []span
	refs   []ref
	areas  []area
	lines  []line
	marks  []mark
	notes  []note
	ends   []end
	sides  []side
	cells  *cells
	values int // 0: intervals are vertical (y), 1: horizontal (x)
}

type xy struct{ x, y float64 }

// span is a shaded stretch of the x axis.
type span struct {
	from, to float64
	label    string
	group    string
	token    Token
	opacity  float64
}

// ref is a straight line across the plot.
type ref struct {
	vertical bool
	value    float64
	label    string
	token    Token
	width    float64
	dash     []float64
	opacity  float64
	atEnd    bool // label at half height, clear of those of horizontal lines
}

// area is a polygon of a band.
type area struct {
	group   string
	token   Token
	opacity float64
	strong  float64 // opacity when the reader singles the group out
	pts     []xy
}

type line struct {
	group   string
	token   Token
	width   float64
	dash    []float64
	opacity float64
	pts     []xy
	steps   bool // hold each value until the next point
}

// mark is a point with its interval and what its tooltip says.
type mark struct {
	group     string
	token     Token
	marker    Marker
	size      float64 // pixels
	hollow    bool
	opacity   float64
	x, y      float64
	low, high *float64 // interval along the panel's value axis, nil ends are open
	whisker   bool     // draw the interval
	tip       *tip
	key       string // names the mark to the page, for selection
	href      string
}

// tip is the content of a tooltip.
type tip struct {
	title string
	rows  [][2]string
}

// note is a small text near a point, left out where it would collide.
type note struct {
	group, text string
	token       Token
	x, y        float64
}

// end is a direct label in the gutter, beside the point at which a line ends.
type end struct {
	group, text string
	token       Token
	pts         []xy // of the line; the last one is where it ends
	minor       bool // dropped first where space lacks
}

func (e end) at() xy { return e.pts[len(e.pts)-1] }

// side names what lies above or below, in the gutter.
type side struct {
	text  string
	token Token
	y     float64
}

// cells are columns of text to the right of rows.
type cells struct {
	head []string
	rows [][]string
}

// widths are the columns' widths in pixels at a font size.
func (c *cells) widths(size float64) []float64 {
	out := make([]float64, len(c.head))
	for _, r := range append([][]string{c.head}, c.rows...) {
		for i, t := range r {
			out[i] = math.Max(out[i], textWidth(t, size)+16)
		}
	}
	return out
}

// keyEntry explains a sign.
type keyEntry struct {
	group  string // of the agent that it highlights, "" for a general sign
	text   string
	token  Token
	dash   []float64
	line   bool
	marker Marker
	hollow bool
	faded  bool
	area   bool
}

// add appends a mark unless a coordinate is not finite.
func (f *Figure) add(p *panel, m mark) bool {
	if !finite(m.x) || !finite(m.y) || p.x.base > 0 && m.x <= 0 {
		f.dropped++
		return false
	}
	if m.opacity == 0 {
		m.opacity = 1
	}
	p.marks = append(p.marks, m)
	return true
}

// finish completes the notes.
func (f *Figure) finish() *Figure {
	if f.dropped > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s without a finite value left out.", rebench.Count(f.dropped, "point")))
	}
	return f
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// known returns the pointer unless it is nil or not finite.
func known(p *float64) *float64 {
	if p == nil || !finite(*p) {
		return nil
	}
	return p
}

// ScoreDecimals are those of a written normalized score.
const ScoreDecimals = 3

// Score writes a normalized score. One that is above 0 never reads as 0.000, which is
// the starting solution's.
func Score(v float64) string {
	s := number(v, ScoreDecimals)
	if v > 0 && strings.Trim(s, "0.") == "" {
		return "<0.001"
	}
	return s
}

// Interval writes "[0.26, 0.44]", with an unknown upper end "[0.26, open]", and as many
// decimals as let it hold the score x.
func Interval(x float64, low, high *float64) string {
	low, high = known(low), known(high)
	d := stats.IntervalDecimals(x, ScoreDecimals, low, high)
	switch {
	case low == nil && high == nil:
		return "not available"
	case high == nil:
		return "[" + number(*low, d) + ", open]"
	case low == nil:
		return "[open, " + number(*high, d) + "]"
	}
	return "[" + number(*low, d) + ", " + number(*high, d) + "]"
}

// allocation writes "16 × 30 min".
func allocation(k int, limitS int64) string {
	return fmt.Sprintf("%d × %s", k, duration(limitS))
}

// shownName is an agent's name in a chart.
func shownName(label string) string {
	if label == rebench.HumanName {
		return "Human experts"
	}
	return plain(label)
}

// inSentence is an agent's name within a sentence, with the verb that it takes.
func inSentence(label string) (name, verb string) {
	if label == rebench.HumanName {
		return "human experts", "are"
	}
	return plain(label), "is"
}

// plain replaces characters that would not show as themselves: controls and the
// marks that reorder text.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case r < 0x20, r >= 0x7f && r <= 0x9f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '\uFFFD'
		}
		return r
	}, s)
}

// environmentsText says over which environments a view averages.
func environmentsText(ids []rebench.EnvironmentID) string {
	words := []string{"no environment", "one environment", "two environments", "three environments", "four environments", "five environments", "six environments", "seven environments"}
	if len(ids) == 1 {
		return environmentTitle(ids[0])
	}
	if len(ids) < len(words) {
		return words[len(ids)]
	}
	return fmt.Sprintf("%d environments", len(ids))
}

func environmentTitle(id rebench.EnvironmentID) string {
	if e, ok := rebench.EnvironmentByID(id); ok {
		return e.Title
	}
	return plain(string(id))
}

// viewText says which data a view uses, where that is not obvious; humans says
// whether their attempts are part of it.
func viewText(v analysis.View, humans bool) string {
	var parts []string
	if v.Profile != "" && v.Profile != rebench.ProfilePaper {
		parts = append(parts, "profile "+string(v.Profile))
	} else if humans {
		cohort := map[string]string{string(rebench.CohortPaper71): "71 human attempts", string(rebench.CohortAll): "all 86 human attempts"}[v.Cohort]
		if cohort != "" {
			parts = append(parts, cohort)
		}
	}
	if v.Estimator == "with" {
		parts = append(parts, "estimator with replacement")
	}
	if v.Convention == "metr" {
		parts = append(parts, "METR's intervals")
	}
	if v.Flagged == "include" {
		parts = append(parts, "suspected reward hacks counted")
	}
	if v.Cap != nil {
		parts = append(parts, "scores capped at "+number(*v.Cap, 2))
	}
	return strings.Join(parts, ", ")
}

// sentence joins non-empty parts with separators.
func sentence(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// groups lists the groups of the key in order.
func (f *Figure) groups() []string {
	var out []string
	for _, k := range f.key {
		if k.group != "" {
			out = append(out, k.group)
		}
	}
	return out
}
