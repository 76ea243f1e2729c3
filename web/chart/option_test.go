package chart

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// drawn is what a test reads of an option.
type drawn struct {
	XAxis []struct {
		Type      string
		Min, Max  float64
		AxisLabel struct {
			CustomValues []float64
			RebenchTicks []tickData
		}
	}
	DataZoom []map[string]any
	Series   []struct {
		Type, Name, RenderItem string
		Step                   string
		LineStyle              struct {
			Type    []float64
			Opacity float64
			Color   string
		}
		Data         []json.RawMessage
		RebenchItems []map[string]any
	}
	Rebench meta
}

type point struct {
	Value     [2]float64
	Key, Href string
	Tip       tipData
	ItemStyle struct {
		Color, BorderColor string
		Opacity            float64
	}
}

func read(t *testing.T, f *Figure) (drawn, json.RawMessage) {
	t.Helper()
	raw, err := f.Option()
	if err != nil {
		t.Fatal(err)
	}
	var d drawn
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return d, raw
}

// marks returns the points of a group.
func (d drawn) marks(t *testing.T, group string) []point {
	t.Helper()
	var out []point
	for _, s := range d.Series {
		if s.Type != "scatter" || s.Name != group {
			continue
		}
		for _, raw := range s.Data {
			var p point
			if err := json.Unmarshal(raw, &p); err != nil {
				t.Fatal(err)
			}
			out = append(out, p)
		}
	}
	return out
}

func TestCurvesPutNumbersInTheirPlaces(t *testing.T) {
	d, _ := read(t, Curves(sampleCurves(), CurvesOptions{Allocations: AllocationsBest, Link: func(agent string, _ analysis.CurvePoint) string { return "/attempts" }}))
	got := d.marks(t, "o1-preview")
	want := []struct {
		seconds, score float64
		hollow         bool
	}{{1800, 0.086, false}, {28800, 0.351, false}, {57600, 0.422, true}, {115200, 0.497, true}, {28800, 0.429, true}} // the last is the paper's
	if len(got) != len(want) {
		t.Fatalf("%d points, want %d", len(got), len(want))
	}
	for i, w := range want {
		near(t, "x", got[i].Value[0], math.Log2(w.seconds))
		near(t, "y", got[i].Value[1], w.score)
		if hollow := got[i].ItemStyle.Color == "--chart-paper" && got[i].ItemStyle.BorderColor == "--chart-vermillion"; hollow != w.hollow {
			t.Errorf("point %d is %+v, want hollow = %t", i, got[i].ItemStyle, w.hollow)
		}
	}
	if got[2].ItemStyle.Opacity >= 1 || got[1].ItemStyle.Opacity != 1 {
		t.Error("saturated points must be fainter than the others")
	}
	if got[0].Href != "/attempts" || got[4].Href != "" {
		t.Errorf("links = %q and %q for the paper's point", got[0].Href, got[4].Href)
	}
	wantTip := [][2]string{{"Score", "0.351"}, {"95% interval", "[0.26, 0.44]"}, {"Total time", "8 h"}, {"Allocation (k × t)", "4 × 2 h"},
		{"Fewest attempts per environment", "n = 7"}, {"Curve", "best observed"}}
	if diff := cmp.Diff(wantTip, got[1].Tip.Rows); diff != "" {
		t.Errorf("tooltip (-want +got):\n%s", diff)
	}
	if last := got[2].Tip.Rows[len(got[2].Tip.Rows)-1]; last[0] != "Saturated" {
		t.Errorf("the saturated point's tooltip ends with %q", last)
	}
}

func TestCurvesLinesAndBands(t *testing.T) {
	d, _ := read(t, Curves(sampleCurves(), CurvesOptions{Allocations: AllocationsBest}))
	var plain, dots int
	for _, s := range d.Series {
		if s.Name != "o1-preview" {
			continue
		}
		switch {
		case s.Type == "line" && len(s.LineStyle.Type) == 0:
			plain++
			if len(s.Data) != 2 || s.LineStyle.Opacity != 1 {
				t.Errorf("the plain stretch has %d points, opacity %v", len(s.Data), s.LineStyle.Opacity)
			}
		case s.Type == "line":
			dots++
			if diff := cmp.Diff(dotted, s.LineStyle.Type); diff != "" || len(s.Data) != 3 {
				t.Errorf("the saturated stretch has %d points, dash %v", len(s.Data), s.LineStyle.Type)
			}
		case s.RenderItem == "@areas":
			// One polygon for the closed stretch, then the half below the score and the fading strips.
			if len(s.RebenchItems) != 2+fadeSteps {
				t.Errorf("%d polygons", len(s.RebenchItems))
			}
			raw, _ := json.Marshal(s.RebenchItems[0]["points"])
			var pts [][2]float64
			_ = json.Unmarshal(raw, &pts)
			want := [][2]float64{{math.Log2(1800), 0.05}, {math.Log2(28800), 0.26}, {math.Log2(28800), 0.44}, {math.Log2(1800), 0.12}}
			if diff := cmp.Diff(want, pts); diff != "" {
				t.Errorf("band (-want +got):\n%s", diff)
			}
		}
	}
	if plain != 1 || dots != 1 {
		t.Errorf("%d plain and %d dotted stretches, want one of each", plain, dots)
	}
	if x := d.XAxis[0]; x.AxisLabel.RebenchTicks[0].Label != "30 min" || x.AxisLabel.RebenchTicks[0].Short != "30m" || x.AxisLabel.CustomValues[0] != math.Log2(1800) {
		t.Errorf("first tick = %+v at %v", x.AxisLabel.RebenchTicks[0], x.AxisLabel.CustomValues[0])
	}
	if len(d.DataZoom) != 1 {
		t.Error("the curves cannot be zoomed")
	}
}

func TestCurvesAllocations(t *testing.T) {
	count := func(o CurvesOptions) (lines, labels int) {
		f := Curves(sampleCurves(), o)
		groups := map[string]bool{}
		for _, l := range f.panels[0].lines {
			if l.group == "o1-preview" {
				lines++
			}
			groups[l.group] = true
		}
		for _, e := range f.panels[0].ends {
			if e.group == "o1-preview" {
				labels++
			}
		}
		if len(groups) != 3 {
			t.Errorf("%+v: %d agents drawn, want 3", o, len(groups))
		}
		return lines, labels
	}
	// o1-preview: best in two strokes; of 30 min one point, no line; 2 h in one
	// stretch, all saturated after its first point.
	for _, c := range []struct {
		mode          Allocations
		lines, labels int
	}{{AllocationsBest, 2, 1}, {AllocationsEach, 1, 2}, {AllocationsAll, 3, 3}, {AllocationsAuto, 3, 3}} {
		if lines, labels := count(CurvesOptions{Allocations: c.mode}); lines != c.lines || labels != c.labels {
			t.Errorf("%q: %d lines and %d labels, want %d and %d", c.mode, lines, labels, c.lines, c.labels)
		}
	}
}

func TestCostAxisShowsOnlyKnownCosts(t *testing.T) {
	d, _ := read(t, Curves(sampleCurves(), CurvesOptions{Axis: AxisCost}))
	if n := len(d.marks(t, "o1-preview")); n != 1 { // the paper's
		t.Errorf("o1-preview has %d points with a cost, want the paper's one", n)
	}
	got := d.marks(t, "GPT-4o")
	if len(got) != 3 {
		t.Fatalf("%d points", len(got))
	}
	near(t, "x of $5", got[1].Value[0], math.Log10(5))
	c := sampleCurves()
	c.Published = nil
	for i := range c.Series {
		for j := range c.Series[i].Points {
			c.Series[i].Points[j].CostUSD = nil
		}
	}
	f := Curves(c, CurvesOptions{Axis: AxisCost})
	if f.Empty == "" || f.Alt != f.Empty {
		t.Errorf("without costs: empty = %q, alt = %q", f.Empty, f.Alt)
	}
	if d, _ := read(t, f); len(d.Series) != 0 || d.Rebench.Empty == "" {
		t.Error("an empty chart draws something")
	}
}

func TestNotFiniteValuesAreLeftOutAndCounted(t *testing.T) {
	c := sampleCurves()
	c.Series[0].Points[1].Score = math.NaN()
	c.Series[0].Points[0].CIHigh = ptr(math.Inf(1))
	c.Published[0].Score = math.Inf(1)
	f := Curves(c, CurvesOptions{Allocations: AllocationsBest})
	if _, err := f.Option(); err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.HasPrefix(n, "2 points without a finite value") }) {
		t.Errorf("notes = %q", f.Notes)
	}
	if _, err := f.SVG(SVGOptions{}); err != nil {
		t.Error(err)
	}
}

// Every option is JSON that cannot end its script element, uses known names only
// and takes colours from the palette.
func TestOptionsAreSafe(t *testing.T) {
	renderers := []string{"@spans", "@refs", "@areas", "@whiskers", "@notes", "@ends", "@sides", "@cells"}
	figures := sampleFigures()
	c := sampleCurves()
	c.Series[0].Agent = hostile
	figures["hostile"] = Curves(c, CurvesOptions{})
	colour := regexp.MustCompile(`"(?:color|borderColor|backgroundColor)":"([^"]*)"`)
	for name, f := range figures {
		d, raw := read(t, f)
		if bytes.ContainsAny(raw, "<>&") || bytes.Contains(raw, []byte("NaN")) {
			t.Errorf("%s: the JSON holds <, > or &", name)
		}
		for _, m := range colour.FindAllSubmatch(raw, -1) {
			if token := Token(strings.TrimPrefix(string(m[1]), "--chart-")); !slices.Contains(Tokens(), token) {
				t.Errorf("%s: colour %q", name, m[1])
			}
		}
		for _, s := range d.Series {
			if s.Type == "custom" && !slices.Contains(renderers, s.RenderItem) {
				t.Errorf("%s: renderer %q", name, s.RenderItem)
			}
		}
		if f.Alt == "" || f.Title == "" || f.Subtitle == "" || f.HowToRead == "" {
			t.Errorf("%s lacks words: %+v", name, []string{f.Title, f.Subtitle, f.HowToRead, f.Alt})
		}
		again, _ := f.Option()
		if !bytes.Equal(raw, again) {
			t.Errorf("%s: two options differ", name)
		}
	}
}

func TestCompareByHand(t *testing.T) {
	d, _ := read(t, Compare(sampleComparison()))
	got := d.marks(t, "")
	if len(got) != 2 {
		t.Fatalf("%d points", len(got))
	}
	near(t, "x", got[1].Value[0], math.Log2(28800))
	near(t, "difference", got[1].Value[1], 0.101)
	near(t, "difference at 2 h", got[0].Value[1], -0.05)
	f := CompareEnvironments(sampleComparison())
	d, _ = read(t, f)
	got = d.marks(t, "")
	if len(got) != 8 {
		t.Fatalf("%d rows, want overall and seven environments", len(got))
	}
	for i, p := range got {
		near(t, "row", p.Value[1], float64(i))
	}
	near(t, "Fix Embedding", got[3].Value[0], 0.3-0.2)
	if f.panels[0].cells.rows[3][1] != "12, 20" {
		t.Errorf("attempts of row 3 = %q", f.panels[0].cells.rows[3])
	}
	var spans, refs int
	p := Compare(sampleComparison()).panels[0]
	for _, s := range p.spans {
		near(t, "from", s.from, 9000)
		near(t, "to", s.to, 20000)
		spans++
	}
	for _, r := range p.refs {
		if r.vertical {
			near(t, "crossing", r.value, 14400)
			refs++
		}
	}
	if spans != 1 || refs != 1 {
		t.Errorf("%d spans and %d crossings", spans, refs)
	}
	c := sampleComparison()
	c.OverTime, c.Overall, c.Environments, c.Empty = nil, nil, nil, "because"
	if Compare(c).Empty != "because" || CompareEnvironments(c).Empty != "because" {
		t.Error("an empty comparison does not say why")
	}
}

func TestSwarmKeepsScores(t *testing.T) {
	scores := []float64{0, 0, 0, 0, 0, 0.5, 0.505, 1}
	got := swarm(scores, 0.01)
	seen := map[xy]bool{}
	for i, p := range got {
		if p.x != scores[i] || math.Abs(p.y) > 0.4+1e-9 {
			t.Errorf("dot %d = %v, want x = %v within the row", i, p, scores[i])
		}
		if seen[p] {
			t.Errorf("two dots at %v", p)
		}
		seen[p] = true
	}
	for _, n := range []int{1, 2, 30, 500} {
		for _, p := range swarm(make([]float64, n), 0.01) {
			if math.Abs(p.y) > 0.4+1e-9 {
				t.Errorf("%d zeros: offset %v", n, p.y)
			}
		}
	}
}

func TestEnvironmentRows(t *testing.T) {
	f := Environment(sampleEnvironment(), Source{Revision: 3})
	p := f.panels[0]
	if p.y.ticks[0].label != "Human experts, 8 h" || p.y.ticks[1].label != "o1-preview, 2 h" || p.y.ticks[1].short != "o1-preview, 2h" {
		t.Errorf("rows = %+v", p.y.ticks)
	}
	if diff := cmp.Diff([]string{"0.24", "0.00", "5", "3"}, p.cells.rows[1]); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if n := len(p.marks); n != 2+1+5+1 {
		t.Errorf("%d marks, want every attempt and two means", n)
	}
	if p.spans[0].from != 2.07 || p.x.max < 2.53 {
		t.Errorf("ceiling %v on an axis to %v", p.spans[0], p.x.max)
	}
	if Environment(&analysis.EnvironmentSummary{Title: "X"}, Source{}).Empty == "" {
		t.Error("an environment without attempts does not say so")
	}
}

func TestHumanPercentiles(t *testing.T) {
	d, _ := read(t, HumanPercentiles(samplePercentiles()))
	got := d.marks(t, rebench.HumanName)
	if len(got) != 100 || got[49].Value != [2]float64{50, 0.625} {
		t.Fatalf("%d points, the median at %v", len(got), got[49].Value)
	}
	d, _ = read(t, HumanEnvironments(samplePercentiles()))
	if len(d.XAxis) != 7 || !d.Rebench.Small {
		t.Errorf("%d panels", len(d.XAxis))
	}
	if HumanPercentiles(&analysis.Percentiles{}).Empty == "" || HumanEnvironments(&analysis.Percentiles{}).Empty == "" {
		t.Error("no humans, and nothing says so")
	}
}

func TestLinksStayOnThisServer(t *testing.T) {
	for href, want := range map[string]string{"/attempts?agent=x": "/attempts?agent=x", "//evil.example": "", "https://evil.example": "", "javascript:alert(1)": "", `/\evil.example`: "", "": ""} {
		if got := local(href); got != want {
			t.Errorf("local(%q) = %q, want %q", href, got, want)
		}
	}
}
