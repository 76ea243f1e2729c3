package chart

import (
	"time"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func ptr[T any](v T) *T { return &v }

func sampleView() analysis.View {
	return analysis.View{Profile: rebench.ProfilePaper, Environments: rebench.EnvironmentIDs(), Estimator: "without", Convention: "centred",
		Cohort: string(rebench.CohortPaper71), Flagged: "exclude", DataRevision: 3}
}

// sampleCurves has every kind of point: plain, saturated with an open end, without
// an interval, with a cost.
func sampleCurves() *analysis.Curves {
	o1 := analysis.Series{Agent: "o1-preview", Kind: rebench.KindAgent, Allocation: "best", Label: "best observed", Points: []analysis.CurvePoint{
		{TotalTimeS: 1800, K: 1, TimeLimitS: 1800, Score: 0.086, CILow: ptr(0.05), CIHigh: ptr(0.12), NMin: 9},
		{TotalTimeS: 28800, K: 4, TimeLimitS: 7200, Score: 0.351, CILow: ptr(0.26), CIHigh: ptr(0.44), NMin: 7},
		{TotalTimeS: 57600, K: 8, TimeLimitS: 7200, Score: 0.422, CILow: ptr(0.31), NMin: 7, Saturated: true},
		{TotalTimeS: 115200, K: 16, TimeLimitS: 7200, Score: 0.497, CILow: ptr(0.35), NMin: 7, Saturated: true},
	}}
	short, long := o1, o1
	short.Allocation, short.Label, short.Points = "1800s", "30 min attempts", o1.Points[:1]
	long.Allocation, long.Label, long.Points = "7200s", "2 h attempts", o1.Points[1:]
	gpt := analysis.Series{Agent: "GPT-4o", Kind: rebench.KindAgent, Allocation: "1800s", Label: "30 min attempts", Points: []analysis.CurvePoint{
		{TotalTimeS: 1800, K: 1, TimeLimitS: 1800, Score: 0.058, NMin: 1, CostUSD: ptr(2.5)},
		{TotalTimeS: 3600, K: 2, TimeLimitS: 1800, Score: 0.074, CILow: ptr(0.06), CIHigh: ptr(0.09), NMin: 24, CostUSD: ptr(5.0)},
		{TotalTimeS: 7200, K: 4, TimeLimitS: 1800, Score: 0.091, CILow: ptr(0.07), CIHigh: ptr(0.11), NMin: 24, CostUSD: ptr(10.0)},
	}}
	human := analysis.Series{Agent: rebench.HumanName, Kind: rebench.KindHuman, Allocation: "28800s", Label: "8 h attempts", Points: []analysis.CurvePoint{
		{TotalTimeS: 28800, K: 1, TimeLimitS: 28800, Score: 0.664, CILow: ptr(0.52), CIHigh: ptr(0.81), NMin: 8},
		{TotalTimeS: 57600, K: 2, TimeLimitS: 28800, Score: 0.915, CILow: ptr(0.74), CIHigh: ptr(1.07), NMin: 8},
	}}
	return &analysis.Curves{View: sampleView(), Statistic: "best_of_k", Series: []analysis.Series{o1, short, long, gpt, human},
		Published: []analysis.PublishedMark{
			{Series: "human experts", Kind: rebench.KindHuman, TotalTimeS: 7200, Allocation: "first 2 h of an 8 h attempt", Score: 0.077, CostUSD: ptr(467.82), Figure: "Figure 11"},
			{Series: "o1-preview / AIDE", Kind: rebench.KindAgent, TotalTimeS: 28800, Allocation: "2h@4", Score: 0.429, CILow: ptr(0.2), CIHigh: ptr(0.5), CostUSD: ptr(117.74), Figure: "Figure 8"},
		}}
}

func sampleComparison() *analysis.Comparison {
	d := func(a, b, low, high float64) analysis.Difference {
		return analysis.Difference{A: a, B: b, D: a - b, CILow: &low, CIHigh: &high, PAGreater: 0.97}
	}
	overall := d(0.351, 0.25, 0.02, 0.18)
	c := &analysis.Comparison{View: sampleView(), BudgetS: 28800, A: analysis.ComparedAgent{Agent: "o1-preview", Kind: rebench.KindAgent, NAttempts: 111},
		B: analysis.ComparedAgent{Agent: "GPT-4o", Kind: rebench.KindAgent}, Overall: &overall,
		OverTime:  []analysis.BudgetDiff{{BudgetS: 7200, KA: 1, KB: 4, Difference: d(0.1, 0.15, -0.1, 0.02)}, {BudgetS: 28800, KA: 4, KB: 16, Difference: overall}},
		Crossover: &analysis.CrossoverResult{Budgets: []float64{14400}, Low: ptr(9000.0), High: ptr(20000.0), Verdict: "crosses"}}
	for i, e := range rebench.EnvironmentIDs() {
		c.Environments = append(c.Environments, analysis.EnvironmentDiff{Environment: e, NA: 10 + i, NB: 20, Difference: d(0.3, 0.1*float64(i), -0.2, 0.4)})
	}
	return c
}

func sampleEnvironment() *analysis.EnvironmentSummary {
	return &analysis.EnvironmentSummary{ID: rebench.OptimizeKernel, Title: "Optimize a Kernel", Selection: rebench.SelectBest, Ceiling: &analysis.Ceiling{Low: 2.07, High: 2.53},
		Groups: []analysis.AttemptGroup{
			{Agent: "o1-preview", Kind: rebench.KindAgent, TimeLimitS: 7200, N: 5, Zeros: 3, Mean: 0.24, Median: 0, Best: 0.8, Scores: []float64{0, 0, 0, 0.4, 0.8},
				AtK: []analysis.AtK{{K: 1, Score: 0.24, CILow: ptr(0.05), CIHigh: ptr(0.5)}, {K: 2, Score: 0.4, CILow: ptr(0.1), CIHigh: ptr(0.7)}, {K: 8, Score: 0.8, CILow: ptr(0.3), Saturated: true}}},
			{Agent: rebench.HumanName, Kind: rebench.KindHuman, TimeLimitS: 28800, N: 2, Mean: 0.9, Median: 0.9, Best: 1.2, Scores: []float64{0.6, 1.2},
				AtK: []analysis.AtK{{K: 1, Score: 0.9, CILow: ptr(0.4), CIHigh: ptr(1.4)}, {K: 2, Score: 1.2, Saturated: true}}},
		}}
}

func samplePercentiles() *analysis.Percentiles {
	p := &analysis.Percentiles{View: sampleView(), NAttempts: 71, NByEnv: map[rebench.EnvironmentID]int{}, Environments: map[rebench.EnvironmentID][]float64{}}
	for i := 1; i <= 100; i++ {
		v := float64(i) / 80
		p.Percentile, p.Mean = append(p.Percentile, i), append(p.Mean, v)
		p.CILow, p.CIHigh = append(p.CILow, v-0.1), append(p.CIHigh, v+0.1)
		for _, e := range rebench.EnvironmentIDs() {
			p.Environments[e] = append(p.Environments[e], v*v)
			p.NByEnv[e] = 10
		}
	}
	return p
}

func sampleAttempt() *rebench.Attempt {
	at := func(m int) *time.Duration { return ptr(time.Duration(m) * time.Minute) }
	a := &rebench.Attempt{AttemptSummary: rebench.AttemptSummary{Environment: rebench.OptimizeKernel, TimeLimit: 2 * time.Hour, Duration: 100 * time.Minute, Final: 0.62, FinalKnown: true},
		Clock: rebench.ClockActive, EndedAt: ptr(time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)), EndReason: "submitted"}
	a.Entries = []rebench.ScoreEntry{
		{Seq: 1, Elapsed: at(10), Normalized: ptr(0.2), Raw: ptr(1.3), Valid: true},
		{Seq: 2, Elapsed: at(20), Valid: false, Reason: "wrong output"},
		{Seq: 3, Elapsed: at(40), Normalized: ptr(0.1), Valid: true},
		{Seq: 4, Elapsed: at(80), Normalized: ptr(0.65), Rescored: ptr(0.62), Valid: true},
	}
	return a
}

func sampleLeaderboard() *analysis.Leaderboard {
	return &analysis.Leaderboard{View: sampleView(), BudgetS: 28800, Rows: []analysis.LeaderboardRow{
		{Agent: rebench.HumanName, Kind: rebench.KindHuman, Score: 0.664, CILow: ptr(0.52), CIHigh: ptr(0.81), RankLow: 1, RankHigh: 1, Allocation: analysis.AllocationResult{TimeLimitS: 28800, K: 1}, NAttempts: 71},
		{Agent: "o1-preview", Kind: rebench.KindAgent, Score: 0.351, CILow: ptr(0.26), RankLow: 2, RankHigh: 3, Allocation: analysis.AllocationResult{TimeLimitS: 7200, K: 4, Saturated: true}, NAttempts: 111},
	}, Hidden: []analysis.HiddenAgent{{Agent: "x"}}}
}

// sampleFigures is one figure of every kind.
func sampleFigures() map[string]*Figure {
	return map[string]*Figure{
		"curves":              Curves(sampleCurves(), CurvesOptions{}),
		"cost":                Curves(sampleCurves(), CurvesOptions{Axis: AxisCost}),
		"compare":             Compare(sampleComparison()),
		"compare-environment": CompareEnvironments(sampleComparison()),
		"environment":         Environment(sampleEnvironment(), Source{Revision: 3}),
		"environment-at-k":    EnvironmentAtK(sampleEnvironment(), Source{Revision: 3}),
		"score-at-k": ScoreAtK(&analysis.ScoreAtK{View: sampleView(), Agent: "o1-preview", TimeLimitS: 7200,
			Mean:  []analysis.MeanAtK{{K: 1, Score: 0.2, CILow: ptr(0.1), CIHigh: ptr(0.3)}, {K: 2, Score: 0.3, CILow: ptr(0.2), CIHigh: ptr(0.4)}},
			Cells: []analysis.EnvironmentAtK{{Environment: rebench.FixEmbedding, N: 12, Points: []analysis.AtK{{K: 1, Score: 0.1}, {K: 2, Score: 0.2}}}}}),
		"attempt":            Attempt(sampleAttempt(), "o1-preview", []Pause{{AtS: 1800, Length: 90 * time.Second}}, Source{Revision: 3}),
		"humans":             HumanPercentiles(samplePercentiles()),
		"human-environments": HumanEnvironments(samplePercentiles()),
		"leaderboard":        Leaderboard(sampleLeaderboard()),
	}
}
