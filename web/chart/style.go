package chart

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"rebench/internal/rebench"
)

// A Token names a colour by its role. Its value depends on the theme; in pages
// it is the CSS custom property "--chart-" + token, which charts.js reads.
type Token string

// Tokens of the page itself. The agents' tokens are the hues of the palette.
const (
	TokenInk   Token = "ink"   // text, axes and the humans
	TokenMuted Token = "muted" // secondary text, at least 4.5:1
	TokenRule  Token = "rule"  // grid lines
	TokenPaper Token = "paper" // background
)

// Property is the CSS custom property that carries the token's value.
func (t Token) Property() string { return "--chart-" + string(t) }

// Text is the token of the same hue for text, with a contrast of at least 4.5:1.
func (t Token) Text() Token {
	if slices.Contains(hues, t) {
		return t + "-text"
	}
	return t
}

// colour holds a token's values as CSS hex colours.
type colour struct{ light, dark string }

// palette is the one table of colours. The hues are those of Okabe and Ito
// (2008, "Color Universal Design"), darkened in the light theme and lightened in
// the dark one where the original has less than 3:1 contrast with the page (for
// lines and marks, WCAG 2.2 criterion 1.4.11) or 4.5:1 (for text, 1.4.3).
var palette = map[Token]colour{
	TokenInk:   {"#1a1b1a", "#e8e7e2"},
	TokenMuted: {"#5e605c", "#a3a49e"},
	TokenRule:  {"#dddcd5", "#33352f"},
	TokenPaper: {"#fcfcf9", "#131412"},

	"vermillion": {"#d55e00", "#e8701a"}, "vermillion-text": {"#b84f00", "#f0813a"},
	"blue": {"#0072b2", "#2a8bcb"}, "blue-text": {"#0072b2", "#4a9fd8"},
	"green": {"#009e73", "#009e73"}, "green-text": {"#007a58", "#1fb389"},
	"purple": {"#c46f9f", "#cc79a7"}, "purple-text": {"#a3487d", "#d68cb5"},
	"orange": {"#bf8400", "#e69f00"}, "orange-text": {"#8f6200", "#e69f00"},
	"sky": {"#3596cf", "#56b4e9"}, "sky-text": {"#1f78ac", "#6cc0ee"},
	"yellow": {"#9c9000", "#f0e442"}, "yellow-text": {"#6f6700", "#f0e442"},
	"grey": {"#8a8a85", "#9a9a95"}, "grey-text": {"#6b6b66", "#a8a8a3"},
}

// hues are the agents' colours in the order in which a clash moves on.
var hues = []Token{"vermillion", "blue", "green", "purple", "orange", "sky", "yellow", "grey"}

// Hex returns the token's value in a theme. An unknown token is ink.
func (t Token) Hex(dark bool) string {
	c, ok := palette[t]
	if !ok {
		c = palette[TokenInk]
	}
	if dark {
		return c.dark
	}
	return c.light
}

// Tokens lists all tokens in alphabetical order.
func Tokens() []Token {
	out := make([]Token, 0, len(palette))
	for t := range palette {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

// CSSProperties returns the declarations of every token for one theme, one a
// line, to be put into the page's style sheet.
func CSSProperties(dark bool) string {
	var b strings.Builder
	for _, t := range Tokens() {
		fmt.Fprintf(&b, "%s: %s;\n", t.Property(), t.Hex(dark))
	}
	return b.String()
}

// A Dash is a named pattern of strokes and gaps. Dots belong to no agent: they
// mark saturated points.
type Dash string

// The agents' dashes.
const (
	DashSolid   Dash = "solid"
	DashShort   Dash = "dash"
	DashLong    Dash = "longdash"
	DashDotted  Dash = "dashdot"
	DashDensely Dash = "densedash"
)

var dashes = []Dash{DashSolid, DashShort, DashLong, DashDotted, DashDensely}

var dashPatterns = map[Dash][]float64{
	DashSolid: nil, DashShort: {7, 4}, DashLong: {14, 4}, DashDotted: {9, 3, 2, 3}, DashDensely: {4, 2},
}

// Pattern is the lengths of strokes and gaps in pixels at a line width of 2; nil is solid.
func (d Dash) Pattern() []float64 { return dashPatterns[d] }

// dotted is the pattern of saturated stretches.
var dotted = []float64{1.5, 3.5}

// A Marker is the shape of a point.
type Marker string

// The markers. MarkerCross is kept for invalid entries and no agent's.
const (
	MarkerCircle   Marker = "circle"
	MarkerSquare   Marker = "square"
	MarkerTriangle Marker = "triangle"
	MarkerDiamond  Marker = "diamond"
	MarkerInverted Marker = "inverted"
	MarkerPentagon Marker = "pentagon"
	MarkerStar     Marker = "star"
	MarkerCross    Marker = "cross"
	markerTick     Marker = "tick" // a short vertical stroke: means and medians
)

var markers = []Marker{MarkerCircle, MarkerSquare, MarkerTriangle, MarkerDiamond, MarkerInverted, MarkerPentagon, MarkerStar}

// markerPaths are SVG paths about the origin with a radius near 10. ECharts
// scales them to the symbol's size, the SVG writer multiplies by size/20.
var markerPaths = map[Marker]string{
	MarkerCircle:   "M10 0A10 10 0 1 1 -10 0A10 10 0 1 1 10 0Z",
	MarkerSquare:   "M-8.9 -8.9H8.9V8.9H-8.9Z",
	MarkerTriangle: "M0 -11L10.6 8.2H-10.6Z",
	MarkerDiamond:  "M0 -12L11 0L0 12L-11 0Z",
	MarkerInverted: "M0 11L10.6 -8.2H-10.6Z",
	MarkerPentagon: "M0 -11L10.5 -3.4L6.5 8.9H-6.5L-10.5 -3.4Z",
	MarkerStar:     "M0 -13L3.5 -4.9L12.4 -4L5.7 1.9L7.6 10.5L0 6L-7.6 10.5L-5.7 1.9L-12.4 -4L-3.5 -4.9Z",
	MarkerCross:    "M-10 -7L-7 -10L0 -3L7 -10L10 -7L3 0L10 7L7 10L0 3L-7 10L-10 7L-3 0Z",
	markerTick:     "M-1.6 -14H1.6V14H-1.6Z",
}

// Path returns the marker's SVG path about the origin, 20 units across.
func (m Marker) Path() string { return markerPaths[m] }

// Style is how one agent looks on every page: colour is never the only sign.
type Style struct {
	Token  Token // colour of lines and marks; Token.Text() for its name
	Dash   Dash
	Marker Marker
}

// humanStyle is ink: black on white, white on black.
var humanStyle = Style{Token: TokenInk, Dash: DashSolid, Marker: MarkerCircle}

// fixed is the assignment of the agents of the published data.
var fixed = map[string]Style{
	rebench.HumanName:         humanStyle,
	"human experts":           humanStyle,
	"o1-preview":              {"vermillion", DashSolid, MarkerSquare},
	"o1":                      {"orange", DashShort, MarkerDiamond},
	"Claude 3.5 Sonnet (New)": {"blue", DashSolid, MarkerDiamond},
	"Claude 3.5 Sonnet (Old)": {"sky", DashShort, MarkerTriangle},
	"Claude 3 Opus":           {"purple", DashDotted, MarkerInverted},
	"GPT-4o":                  {"green", DashSolid, MarkerTriangle},
	"GPT-4 Turbo":             {"yellow", DashLong, MarkerPentagon},
	"GPT-4 0314":              {"grey", DashDensely, MarkerStar},
}

// StyleOf returns the style of the agent with the given label: fixed for the
// humans and the published agents, else derived from a hash of the label, so
// that it is the same on every page and every server.
func StyleOf(label string) Style {
	if s, ok := fixed[label]; ok {
		return s
	}
	h := fnv.New64a()
	h.Write([]byte(label))
	n := h.Sum64()
	n ^= n >> 29 // FNV leaves the low bits of short labels close together
	pick := func(size int) int {
		i := n % uint64(size)
		n /= uint64(size)
		return int(i)
	}
	return Style{Token: hues[pick(len(hues))], Dash: dashes[pick(len(dashes))], Marker: markers[pick(len(markers))]}
}

// Styles returns the styles of the agents of one chart. Published agents keep
// theirs; of the others those whose hashed hue is taken move on to a free one,
// and when all hues are taken to a free combination of hue, dash and marker. The
// order of labels does not matter. Up to 280 agents stay distinct.
func Styles(labels []string) map[string]Style {
	out := make(map[string]Style, len(labels))
	taken := map[Style]bool{}
	used := map[Token]int{}
	rest := []string{}
	for _, l := range labels {
		if _, done := out[l]; done {
			continue
		}
		if s, ok := fixed[l]; ok {
			out[l], taken[s] = s, true
			used[s.Token]++
			continue
		}
		rest = append(rest, l)
	}
	slices.Sort(rest)
	for _, l := range slices.Compact(rest) {
		s := free(StyleOf(l), taken, used)
		out[l], taken[s] = s, true
		used[s.Token]++
	}
	return out
}

// free moves a style on to the least used hue and then to a combination that is
// not taken; s itself when all are.
func free(s Style, taken map[Style]bool, used map[Token]int) Style {
	hue := slices.Index(hues, s.Token)
	least := used[s.Token]
	for i := range hues {
		least = min(least, used[hues[i]])
	}
	for used[hues[hue]] > least {
		hue = (hue + 1) % len(hues)
	}
	marker, dash := slices.Index(markers, s.Marker), slices.Index(dashes, s.Dash)
	for i := range len(hues) * len(dashes) * len(markers) {
		c := Style{
			Token:  hues[(hue+i/(len(dashes)*len(markers)))%len(hues)],
			Dash:   dashes[(dash+i)%len(dashes)],
			Marker: markers[(marker+i/len(dashes))%len(markers)],
		}
		if !taken[c] {
			return c
		}
	}
	return s
}

// publishedStyle is the style of a series of the paper's figures, named
// "agent / scaffold": the agent's colour, and a marker for the scaffold.
func publishedStyle(series string) Style {
	name, scaffold, _ := strings.Cut(series, " / ")
	s := StyleOf(name)
	switch scaffold {
	case "Modular":
		s.Marker = MarkerCircle
	case "AIDE":
		s.Marker = MarkerSquare
	case "":
		s.Marker = MarkerDiamond
	default:
		s.Marker = StyleOf(scaffold).Marker
	}
	return s
}
