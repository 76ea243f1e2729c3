package view

import (
	"time"

	"github.com/a-h/templ"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/stats"
	"rebench/internal/validity"
)

// Hand-built results. label and free stand where untrusted text can stand.

func sampleView() analysis.View {
	return analysis.View{Profile: rebench.ProfilePaper, Environments: rebench.EnvironmentIDs(), Estimator: "without", Convention: "centred",
		Cohort: "paper71", Flagged: "exclude", Hardware: "h100", Replicates: 10000, DataRevision: 7,
		Revision: rebench.DataRevision{ID: 7, At: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)}}
}

func sampleRow(label string, kind rebench.Kind, score float64, k int, limit int64) analysis.LeaderboardRow {
	r := analysis.LeaderboardRow{Agent: label, Kind: kind, Score: score, CILow: ptr(score - 0.1), CIHigh: ptr(score + 0.1), RankLow: 1, RankHigh: 2,
		PRank1: 0.5, Allocation: analysis.AllocationResult{TimeLimitS: limit, K: k}, NAttempts: 70, Environments: map[rebench.EnvironmentID]analysis.CellResult{}}
	for i, id := range rebench.EnvironmentIDs() {
		r.Environments[id] = analysis.CellResult{Score: score + float64(i)/100, CILow: ptr(0.1), CIHigh: ptr(0.9), N: 10 + i}
	}
	return r
}

func sampleBoard(label, free string) LeaderboardData {
	human := sampleRow(rebench.HumanName, rebench.KindHuman, 0.664, 1, 28800)
	first := sampleRow(label, rebench.KindAgent, 0.351, 4, 7200)
	first.HumanPct, first.ScoreHonest, first.WithFlagged, first.CostUSD = ptr(stats.Percentile(33)), ptr(0.338), ptr(0.627), ptr(117.74)
	first.RankLow, first.RankHigh, first.PRank1 = 2, 3, 0.0004
	first.Scaffold = free
	second := sampleRow("Second", rebench.KindAgent, 0.3, 16, 1800)
	second.RankLow, second.RankHigh, second.CIHigh, second.Allocation.Saturated = 2, 3, nil, true
	board := &analysis.Leaderboard{View: sampleView(), BudgetS: 28800, Rows: []analysis.LeaderboardRow{human, first, second}, Coverage: free,
		Hidden:         []analysis.HiddenAgent{{Agent: label + " hidden", Reason: free, Missing: rebench.EnvironmentIDs()[4:], Common: rebench.EnvironmentIDs()[:4]}},
		FlaggedLeftOut: []analysis.FlaggedAttempt{{AttemptID: "x:1", Agent: label, Environment: rebench.OptimizeLLMFoundry, Score: 4.05}}}
	board.Warnings = []string{free}
	lead := analysis.Lead{Above: label, Below: "Second", Difference: analysis.Difference{A: 0.351, B: 0.3, D: 0.051, CILow: ptr(-0.02), CIHigh: ptr(0.12), PAGreater: 0.87}}
	humans := analysis.Lead{Above: rebench.HumanName, Below: label, Difference: analysis.Difference{A: 0.664, B: 0.351, D: 0.313, CILow: ptr(0.1), CIHigh: ptr(0.5), PAGreater: 0.9999}, Separated: true}
	return LeaderboardData{Board: board, Leads: []analysis.Lead{lead, humans}, Choices: Choices{Agents: []string{rebench.HumanName, label}, Scorers: []string{"a", free}, Hardware: []string{"h100", "a100"}, Latest: 9},
		Sensitivity: &analysis.Sensitivity{Rows: []analysis.SensitivityRow{{Agent: label, Score: 0.351, FlaggedIncluded: ptr(0.627), Influence: 0.243, InfluenceOf: "x:" + free}}}}
}

func sampleChart(free string) Chart {
	return Chart{ID: "c1", Option: `{"series":[{"name":"</script><b>"}]}`, SVG: "/curves.svg", Title: free, Subtitle: free, Alt: free, How: free, Notes: []string{free}}
}

func sampleCurves(label, free string) CurvesData {
	c := &analysis.Curves{View: sampleView(), Statistic: "best_of_k", Coverage: free, Notes: []string{free},
		Series: []analysis.Series{
			{Agent: label, Kind: rebench.KindAgent, Allocation: "7200s", Label: "2 h attempts", Points: []analysis.CurvePoint{
				{TotalTimeS: 7200, K: 1, TimeLimitS: 7200, Score: 0.235, CILow: ptr(0.19), CIHigh: ptr(0.29), NMin: 12},
				{TotalTimeS: 28800, K: 4, TimeLimitS: 7200, Score: 0.351, CILow: ptr(0.27), NMin: 3, Saturated: true}}},
			{Agent: label, Kind: rebench.KindAgent, Allocation: "best", Label: "best observed", Points: []analysis.CurvePoint{{TotalTimeS: 7200, K: 1, TimeLimitS: 7200, Score: 0.235}}},
		},
		Published: []analysis.PublishedMark{{Series: free, TotalTimeS: 28800, Allocation: "2h@4", Score: 0.429, CostUSD: ptr(117.74), Figure: "Figure 8", Note: free}},
		Hidden:    []analysis.HiddenAgent{{Agent: label + " hidden", Reason: free}}}
	return CurvesData{Curves: c, Chart: sampleChart(free), Choices: Choices{Agents: []string{label}}}
}

func sampleComparison(label, free string) CompareData {
	d := analysis.Difference{A: 0.351, B: 0.153, D: 0.198, CILow: ptr(0.11), CIHigh: ptr(0.29), PAGreater: 0.9999}
	alloc := &analysis.AllocationResult{TimeLimitS: 7200, K: 4}
	c := &analysis.Comparison{View: sampleView(), BudgetS: 28800, A: analysis.ComparedAgent{Agent: label, Kind: rebench.KindAgent, Allocation: alloc, NAttempts: 111},
		B: analysis.ComparedAgent{Agent: "Second", Kind: rebench.KindAgent, Allocation: alloc, NAttempts: 262}, Overall: &d, Coverage: free,
		Environments: []analysis.EnvironmentDiff{{Environment: rebench.GPT2QA, NA: 16, NB: 37, Difference: analysis.Difference{A: 0.2, B: 0.3, D: -0.1, CIHigh: ptr(0.05), PAGreater: 0.06}}},
		OverTime:     []analysis.BudgetDiff{{BudgetS: 28800, KA: 4, KB: 16, Difference: d}}, Crossover: &analysis.CrossoverResult{Verdict: "none in range", Words: free}}
	return CompareData{Comparison: c, Chart: sampleChart(free), Choices: Choices{Agents: []string{label, "Second"}}}
}

func sampleEnvironment(label, free string) EnvironmentData {
	g := analysis.AttemptGroup{Agent: label, Kind: rebench.KindAgent, TimeLimitS: 1800, N: 4, Zeros: 1, Flagged: 2, Mean: 0.25, Median: 0.2, Best: 0.6,
		Scores: []float64{0, 0.1, 0.3, 0.6}, AtK: []analysis.AtK{{K: 1, Score: 0.25, CILow: ptr(0.1), CIHigh: ptr(0.4)}, {K: 4, Score: 0.6, CILow: ptr(0.3), Saturated: true}}}
	e := &analysis.EnvironmentDetail{EnvironmentSummary: analysis.EnvironmentSummary{ID: rebench.OptimizeKernel, Title: "Optimize a Kernel", METRFamily: free, Direction: rebench.Minimize,
		Selection: rebench.SelectBest, Formula: "ln(loss - 1.5)", Task: free, Rules: free, Hardware: free, StartRaw: ptr(1.5535), ReferenceRaw: ptr(0.47), Ceiling: &analysis.Ceiling{Low: 2.073, High: 2.545, Raw: "0.3-0.5 ms", Printed: "2.07-2.53"},
		NAttempts: 308, NHuman: 9, Scorers: []analysis.ScorerGroup{{Profile: rebench.ProfilePaper, ScorerVersion: free, N: 308}}, Groups: []analysis.AttemptGroup{g}},
		View: sampleView(), Flaws: []analysis.KnownFlaw{{ID: "F05", Flaw: free, Kind: "scorer", Source: free, Ours: free}},
		Repeatability: []validity.Measurement{{Environment: "fix_embedding", Profile: "cpu", Solution: free, Date: free, Machine: free, Start: 2, Reference: -1, Raw: []float64{4, 1, 3, 2}}},
		ExampleRuns:   sampleExampleRuns(free),
		Hacks:         []analysis.KnownHack{{ID: "H01", Model: free, Kind: free, Count: "6/24", Mechanism: free, Source: free}}}
	return EnvironmentData{Detail: e, Distribution: sampleChart(free), ScoreAtK: Chart{ID: "c2", Title: "t", Missing: free}}
}

func sampleAttemptRow(label, free string) analysis.AttemptRow {
	return analysis.AttemptRow{ID: "set:" + free, Environment: rebench.FixEmbedding, Profile: rebench.ProfilePaper, Agent: label, Kind: rebench.KindAgent,
		TimeLimitS: 1800, DurationS: 2193, Score: ptr(0.436), Raw: ptr(1.3527), Suspected: true, Unranked: free, HasLog: true}
}

func sampleHumans(label, free string) HumansData {
	h := &analysis.Humans{View: sampleView(), Placeholders: 7, Over8h: 16, ShortestS: 14400, LongestS: 491400}
	r := sampleAttemptRow(rebench.HumanName, free)
	r.Kind, r.Cohort = rebench.KindHuman, rebench.CohortPaper71
	h.Attempts = []analysis.AttemptRow{r}
	h.Cohorts = []analysis.CohortSummary{{Cohort: rebench.CohortPaper71, N: 71, Score: 0.664, CILow: ptr(0.52), CIHigh: ptr(0.81), RunWeightedMean: 0.669, NonZero: 63, AtReference: 18,
		Environments: map[rebench.EnvironmentID]analysis.CohortCell{rebench.FixEmbedding: {N: 13, Mean: 0.62}}}}
	h.Percentiles = &analysis.Percentiles{View: sampleView(), Mean: make([]float64, 100), Environments: map[rebench.EnvironmentID][]float64{}}
	for i := range h.Percentiles.Mean {
		h.Percentiles.Mean[i] = float64(i+1) / 50
	}
	return HumansData{Humans: h, Percentiles: sampleChart(free)}
}

func sampleAttempt(label, free string) AttemptData {
	at := func(s float64) *time.Duration { return ptr(time.Duration(s * float64(time.Second))) }
	a := &rebench.Attempt{AttemptSummary: rebench.AttemptSummary{ID: "set:1", Environment: rebench.OptimizeKernel, Profile: rebench.ProfileCPU, ScorerVersion: free, TimeLimit: 2 * time.Hour,
		Duration: 2 * time.Hour, Final: 0.8, FinalKnown: true, FinalRaw: ptr(0.7), Suspected: true, HasLog: true, Badge: rebench.BadgeRescored},
		Agent: rebench.Agent{Name: label, Model: free, Scaffold: free}, EndReason: "time_limit", Clock: rebench.ClockActive, Hardware: free, Calibration: free,
		SourceFile: free, SourceLine: 3, SourceSHA256: "ab", Extra: map[string]string{free: free}, StartedAt: ptr(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), ZoneUnknown: true,
		Entries: []rebench.ScoreEntry{
			{Seq: 1, Elapsed: at(600), Raw: ptr(1.5), Normalized: ptr(0.1), Valid: true, Message: free, SubmissionSHA256: "0123456789abcdef"},
			{Seq: 2, Elapsed: at(5400), Raw: ptr(0.7), Normalized: ptr(0.8), Valid: true, Rescored: ptr(0.75)},
			{Seq: 3, Elapsed: at(5400), Valid: false, Reason: "wrong_output", Message: free},
			{Seq: 4, Elapsed: at(7300), Raw: ptr(0.1), Normalized: ptr(1.5), Valid: true},
		},
		Flags:     []rebench.Flag{{Kind: rebench.FlagSuspected, Set: true, Author: free, Reason: free}},
		Revisions: []rebench.Revision{{Number: 1, ContentSHA256: "aa", Author: free, Note: free, Final: ptr(0.7)}, {Number: 2, Current: true, Final: ptr(0.8)}}}
	d := &analysis.AttemptDetail{Attempt: a, Label: label, Pauses: []analysis.Pause{{AtS: 3600, Length: 90 * time.Second, Reason: free}}, Rank: 2, N: 5, LogBytes: 2048, LogHead: "ff",
		Revision: rebench.DataRevision{ID: 7},
		Signals: &analysis.Signals{ScoreCalls: 4, Invalid: 1, CallsPerHour: ptr(2.0), Peers: []analysis.PeerRate{{Who: free, PerHour: 36.8}}, Chosen: ptr(0.8), Rescored: ptr(0.75), Regression: ptr(0.05),
			LaterInvalid: true, Standing: &analysis.Standing{N: 25, Median: 0.2, Best: 0.267, FarOut: true}, Findings: []validity.Finding{{Rule: "near_best", Action: validity.Note, Reason: free}}}}
	return AttemptData{Draw: &Draw{Month: "2026-12", Outcome: &analysis.DrawOutcome{Author: free, Note: free}}, Detail: d, Chart: sampleChart(free), LogURL: "/api/v1/attempts/set:1/log", Log: free, LogTruncated: true}
}

func sampleMethodology(free string) MethodologyData {
	m := &analysis.Methodology{View: sampleView(), NAgents: 1715, NHumans: 86, NPlaceholders: 7,
		Numbers: []analysis.PaperCheck{
			{ID: "P004", Environment: "ALL", Quantity: "share above 0", Printed: "82", Unit: "%", Locator: "Abstract", Computed: "63/71 = 88.7%", Verdict: analysis.CheckDiffers, Reason: free},
			{ID: "P001", Environment: "Fix Embedding", Quantity: free, Printed: "71", Computed: "71", Verdict: analysis.CheckAgrees}},
		Figures:  []analysis.FigureCheck{{PublishedMark: analysis.PublishedMark{Series: free, TotalTimeS: 28800, Score: 0.657}, Computed: ptr(0.658), Verdict: analysis.CheckAgrees, Reason: free}},
		Coverage: []analysis.CoverageRow{{Regime: "n >= 4k", Low: 0.88, High: 0.92, Worst: 0.69}}}
	return MethodologyData{Methodology: m, Published: []PublishedFile{{Name: free, What: free, Source: free, SHA256: "aa"}}}
}

func sampleExampleRuns(free string) []validity.ExampleRun {
	return []validity.ExampleRun{{Environment: rebench.OptimizeKernel, Profile: rebench.ProfileCPU, Date: "2026-12-01", Machine: free, ScorerSHA256: free, Examples: []validity.ExampleOutcome{
		{Name: "start", Valid: true, Raw: ptr(2.3), Normalized: ptr(0.012), Message: free, WallS: 3},
		{Name: "invalid/x", Reason: "wrong_output", Message: free, WallS: 2.5},
		{Name: "flagged/" + free, Valid: true, Raw: ptr(1.2), Normalized: ptr(1.04), Flags: []string{free}}}}}
}

func sampleValidity(label, free string) ValidityData {
	v := &analysis.Validity{View: sampleView(), ExampleRuns: sampleExampleRuns(free), Total: 3, Attacks: 75, Checked: 1801, States: []analysis.StateCount{{State: validity.Prevented, Mechanisms: 1, Records: 2}, {State: validity.Open, Mechanisms: 2}},
		Mechanisms: []analysis.MechanismRow{
			{ID: "scorer-answer", Title: free, Mechanism: free, Environments: []string{"optimize_kernel"}, State: validity.Prevented, Defence: free, Records: []string{"H01"},
				Tests: []validity.Test{
					{Name: "runner/sandbox.TestEscapes", Kind: validity.GoTest, Path: "runner/sandbox", Function: "TestEscapes", Command: free},
					{Name: "optimize_kernel/invalid/x", Kind: validity.Example, Path: "environments/optimize_kernel/solutions/invalid/x", Function: "invalid", Command: free},
					{Name: "tests/test_x.py::test_y", Kind: validity.PythonTest, Path: "environments/tests/test_x.py", Function: "test_y", Command: free}}},
			{ID: "other", Title: free, Mechanism: free, Environments: []string{"all"}, State: validity.Open, Reason: free}},
		Records: []analysis.RecordRow{{Record: validity.Record{ID: "H01", Task: free, Kind: free, What: free, Source: free}, Mechanism: "scorer-answer"},
			{Record: validity.Record{ID: "F01"}, Mechanism: "filtered out"}},
		Rules: &validity.RuleSet{Bounds: []validity.Bound{{Name: "impossible", Environment: rebench.OptimizeKernel, Beyond: validity.Below, Value: 0.24, Unit: "ms", Action: validity.Quarantine, Derivation: free, Source: free}},
			Steps:       []validity.Step{{Name: "not_a_fraction", Environment: rebench.RustCodecontests, Scorers: []string{free}, Denominator: 165, Action: validity.Note, Derivation: free, Source: free}},
			Scales:      []validity.Scale{{Name: "other_scale", Scorer: free, Profile: rebench.ProfilePaper, Tolerance: 0.001, Action: validity.Quarantine, Derivation: free, Source: free}},
			ScorerFlags: map[string]validity.ScorerFlag{"noisy_timing": {Action: validity.Note, Means: free}}},
		Reached: []analysis.ReachedAttempt{{AttemptID: "set:" + free, Environment: rebench.OptimizeLLMFoundry, Agent: label, Score: ptr(4.05), Raw: ptr(1.3), Suspected: true,
			Finding: validity.Finding{Rule: "beyond_estimate", Action: validity.Quarantine, Reason: free}}}}
	return ValidityData{Validity: v}
}

// everyPage renders each page with label as an agent's name and free in every
// other text that comes from outside.
func everyPage(label, free string) map[string]templ.Component {
	list := &analysis.AttemptList{View: sampleView(), Filter: analysis.AttemptFilter{Agent: label, Environment: rebench.FixEmbedding}, Total: 250,
		Attempts: []analysis.AttemptRow{sampleAttemptRow(label, free)}, NextPageToken: "tok", Agents: []string{label}, TimeLimitsS: []int64{1800}}
	emptyBoard := LeaderboardData{Board: &analysis.Leaderboard{View: sampleView(), BudgetS: 60, Hidden: []analysis.HiddenAgent{{Agent: label, Reason: free}}}}
	noCurves := CurvesData{Curves: &analysis.Curves{View: sampleView()}}
	noHumans := HumansData{Humans: &analysis.Humans{View: sampleView()}}
	cannot := sampleComparison(label, free)
	cannot.Comparison = &analysis.Comparison{View: sampleView(), BudgetS: 60, A: analysis.ComparedAgent{Agent: label}, B: analysis.ComparedAgent{Agent: "b"}, Empty: free}
	env := sampleEnvironment(label, free)
	noEnv := env
	noEnv.Detail = &analysis.EnvironmentDetail{EnvironmentSummary: analysis.EnvironmentSummary{ID: rebench.GPT2QA, Title: "Finetune GPT-2 for QA"}, View: sampleView()}
	single := sampleAttempt(label, free)
	one := *single.Detail.Attempt
	one.Entries = []rebench.ScoreEntry{{Seq: 1, Normalized: ptr(0.8), Basis: rebench.BasisNormalized, Valid: true}}
	single.Detail = &analysis.AttemptDetail{Attempt: &one, Label: label}
	hostile := "budget=2h&agents=" + label
	return map[string]templ.Component{
		"leaderboard":       Leaderboard(testPage("/", "budget=8h"), sampleBoard(label, free)),
		"leaderboard empty": Leaderboard(testPage("/", hostile), emptyBoard),
		"curves":            Curves(testPage("/curves", ""), sampleCurves(label, free)),
		"curves empty":      Curves(testPage("/curves", ""), noCurves),
		"compare":           Compare(testPage("/compare", "a=x&b=y&asof=3"), sampleComparison(label, free)),
		"compare cannot":    Compare(testPage("/compare", "a=x&b=y"), cannot),
		"compare choose":    Compare(testPage("/compare", ""), CompareData{Choices: Choices{Agents: []string{label, "b"}}}),
		"environments":      Environments(testPage("/environments", ""), EnvironmentsData{View: sampleView(), Environments: []analysis.EnvironmentSummary{env.Detail.EnvironmentSummary}}),
		"environment":       Environment(testPage("/environments/optimize_kernel", ""), env),
		"environment empty": Environment(testPage("/environments/gpt2_qa", "profile=cpu"), noEnv),
		"humans":            Humans(testPage("/humans", ""), sampleHumans(label, free)),
		"humans empty":      Humans(testPage("/humans", "profile=cpu"), noHumans),
		"attempts":          Attempts(testPage("/attempts", "agent=x"), AttemptsData{List: list}),
		"attempts empty":    Attempts(testPage("/attempts", ""), AttemptsData{List: &analysis.AttemptList{View: sampleView()}}),
		"attempt":           Attempt(testPage("/attempts/set:1", ""), sampleAttempt(label, free)),
		"attempt single":    Attempt(testPage("/attempts/set:1", ""), single),
		"methodology":       Methodology(testPage("/methodology", ""), sampleMethodology(free)),
		"audit": Audit(testPage("/audit", ""), AuditData{Events: []rebench.AuditEvent{{ID: 1, Actor: free, Action: "flag audited", Object: free, Detail: free}}, Month: "2026-12", Share: 0.2,
			Drawn: []analysis.DrawnAttempt{{AttemptID: "set:" + free, Environment: rebench.FixEmbedding, Agent: label, ScorerVersion: free, Place: 1, Score: 1.05}}}),
		"validity":       Validity(testPage("/validity", "state=open"), sampleValidity(label, free)),
		"validity empty": Validity(testPage("/validity", "environment=gpt2_qa"), ValidityData{Validity: &analysis.Validity{View: sampleView(), Rules: &validity.RuleSet{}}}),
		"search":         Search(testPage("/search", ""), SearchData{Text: free, Agents: []string{label}, Environments: rebench.Environments()[:1], Attempts: []analysis.AttemptRow{sampleAttemptRow(label, free)}, Total: 3}),
		"search empty":   Search(testPage("/search", ""), SearchData{Text: free}),
		"error":          Error(testPage("/nothing", ""), ErrorData{Status: 400, Detail: free, Allowed: []Link{{free, "javascript:alert(1)"}}}),
	}
}
