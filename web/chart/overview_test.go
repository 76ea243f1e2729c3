package chart

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func num(v float64) *float64 { return &v }

func TestAttemptScores(t *testing.T) {
	rows := []analysis.AttemptRow{
		{ID: "a", Environment: rebench.GPT2QA, Score: num(0)}, {ID: "b", Environment: rebench.GPT2QA, Score: num(1)},
		{ID: "c", Environment: rebench.GPT2QA, Score: num(0.2)}, {ID: "d", Environment: rebench.ScalingLaw}, {ID: "e", Environment: rebench.ScalingLaw, Score: num(math.NaN())},
	}
	f := AttemptScores(rows, Source{Revision: 3})
	if len(f.panels) != 1 || len(f.panels[0].marks) != 2 {
		t.Fatalf("panels %+v", f.panels)
	}
	median, mean := f.panels[0].marks[0], f.panels[0].marks[1]
	near(t, "median", median.x, 0.2)
	near(t, "mean", mean.x, 0.4)
	near(t, "low end", *median.low, 0.02)
	near(t, "high end", *median.high, 0.92)
	if !strings.Contains(strings.Join(f.Notes, " "), "2 attempts without a normalized score") {
		t.Errorf("notes %q", f.Notes)
	}
	if e := AttemptScores(rows[3:], Source{}); e.Empty == "" {
		t.Error("nothing to draw is not explained")
	}
}

func TestLongest(t *testing.T) {
	g := func(agent string, limit int64) analysis.AttemptGroup {
		return analysis.AttemptGroup{Agent: agent, Kind: rebench.KindAgent, TimeLimitS: limit, Scores: []float64{1}}
	}
	got := longest([]analysis.AttemptGroup{g("b", 7200), g("a", 1800), g("b", 1800), {Agent: "c"}})
	if len(got) != 2 || got[0].Agent != "a" || got[1].Agent != "b" || got[1].TimeLimitS != 7200 {
		t.Errorf("groups %+v", got)
	}
}

func TestOverviewsDraw(t *testing.T) {
	items := []analysis.EnvironmentSummary{{ID: rebench.GPT2QA, NAttempts: 2, Groups: []analysis.AttemptGroup{
		{Agent: "</svg><script>", Kind: rebench.KindAgent, TimeLimitS: 1800, N: 2, Mean: 0.25, Scores: []float64{0, 0.5}}}}}
	m := &analysis.Methodology{Figures: []analysis.FigureCheck{
		{PublishedMark: analysis.PublishedMark{Series: "human experts", Kind: rebench.KindHuman, TotalTimeS: 28800, Score: 0.657, Figure: "Figure 2"}, Computed: num(0.658), Verdict: analysis.CheckAgrees},
		{PublishedMark: analysis.PublishedMark{Series: "x / AIDE", TotalTimeS: 7200, Score: 0.1}, Verdict: analysis.CheckCannot}}}
	for name, f := range map[string]*Figure{"environments": Environments(items, Source{Revision: 1}), "checks": FigureChecks(m),
		"no environments": Environments(nil, Source{}), "no checks": FigureChecks(&analysis.Methodology{})} {
		t.Run(name, func(t *testing.T) {
			b, err := f.SVG(SVGOptions{URL: "http://x/"})
			if err != nil {
				t.Fatal(err)
			}
			parse(t, b)
			if bytes.Contains(b, []byte("<script")) {
				t.Error("a label became markup")
			}
			if strings.HasPrefix(name, "no ") != (f.Empty != "") {
				t.Errorf("empty: %q", f.Empty)
			}
		})
	}
	if marks := FigureChecks(m).panels[0].marks; len(marks) != 3 || !marks[0].hollow || marks[1].x != 0.658 {
		t.Errorf("marks %+v", marks)
	}
}
