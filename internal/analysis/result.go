package analysis

import (
	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// The types of this file are the results that pages, API and exports share; their
// JSON form is the API's. Scores are normalized (0 = starting solution, 1 =
// reference). A nil interval end is unknown: degenerate, or open upwards.

// View describes what a result was computed from; every result carries it.
type View struct {
	Profile      rebench.Profile                  `json:"profile"`
	Environments []rebench.EnvironmentID          `json:"environments"`
	Estimator    string                           `json:"estimator"`  // without | with
	Convention   string                           `json:"convention"` // centred | metr
	Cohort       string                           `json:"cohort"`     // paper71 | all
	Flagged      string                           `json:"flagged"`    // exclude | include
	Scorers      map[rebench.EnvironmentID]string `json:"scorers"`
	Hardware     string                           `json:"hardware"` // class ranked, "all" when merged
	Cap          *float64                         `json:"cap,omitempty"`
	Replicates   int                              `json:"replicates"`
	Revision     rebench.DataRevision             `json:"-"`
	DataRevision int64                            `json:"data_revision"`
	Warnings     []string                         `json:"warnings,omitempty"` // what the reader must be told about this view
}

// AllocationResult is the allocation behind a score.
type AllocationResult struct {
	TimeLimitS int64 `json:"time_limit_s"`
	K          int   `json:"k"`
	Saturated  bool  `json:"saturated"` // k >= n in an environment
	// Truncated marks scores of longer attempts read at the budget.
	Truncated bool `json:"truncated,omitempty"`
	// TruncatedFromS is the time limit of those longer attempts, 0 where not truncated.
	TruncatedFromS int64 `json:"truncated_from_s,omitempty"`
}

// CellResult is one agent in one environment.
type CellResult struct {
	Score     float64  `json:"score"`
	CILow     *float64 `json:"ci_low"`
	CIHigh    *float64 `json:"ci_high"`
	N         int      `json:"n"`
	Zeros     int      `json:"zeros"`     // attempts at or below the starting solution (stats.AtStart)
	Saturated bool     `json:"saturated"` // k >= n
	Flagged   int      `json:"flagged"`   // suspected attempts left out, or counted when included
}

// Leaderboard ranks agents at one total time budget.
type Leaderboard struct {
	View
	BudgetS int64            `json:"budget_s"`
	Rows    []LeaderboardRow `json:"rows"`
	Hidden  []HiddenAgent    `json:"hidden"`
	// Coverage is the sentence on how often such intervals hold the truth.
	Coverage string `json:"coverage"`
	// FlaggedLeftOut lists suspected attempts that the view leaves out.
	FlaggedLeftOut []FlaggedAttempt `json:"flagged_left_out"`

	separated map[[2]string]bool // pairs of labels that the simultaneous test separates
}

// Contenders are the rows of agents that can lead, best first: those that are ranked,
// and where only one row has an interval, so that there was nothing to rank it
// against, that one. A row of unknown spread, with a single attempt in an
// environment, leads nobody, however high its point.
func (l *Leaderboard) Contenders() []LeaderboardRow {
	var out []LeaderboardRow
	for _, r := range l.Rows {
		if r.Kind != rebench.KindHuman && r.SpreadKnown() {
			out = append(out, r)
		}
	}
	return out
}

// SpreadKnown reports whether the row was ranked or has an interval.
func (r LeaderboardRow) SpreadKnown() bool { return r.RankLow > 0 || r.CILow != nil || r.CIHigh != nil }

// LeaderboardRow is one agent. Rows are ordered by score, best first.
type LeaderboardRow struct {
	Agent    string       `json:"agent"` // label
	Model    string       `json:"model"`
	Scaffold string       `json:"scaffold"`
	Kind     rebench.Kind `json:"kind"`
	Score    float64      `json:"score"`
	CILow    *float64     `json:"ci_low"`
	CIHigh   *float64     `json:"ci_high"`
	// ScoreHonest is the cross-fitted score of the best allocation: the one
	// without the winner's curse. nil when it cannot be estimated, HonestNote says why.
	ScoreHonest *float64          `json:"score_honest"`
	HonestNote  string            `json:"honest_note,omitempty"`
	RankLow     int               `json:"rank_low"`  // 1 + number of rows significantly above: the tie label
	RankHigh    int               `json:"rank_high"` // rows - number significantly below
	PRank1      float64           `json:"p_rank1"`
	Allocation  AllocationResult  `json:"allocation"`
	Allocations []AllocationScore `json:"allocations"` // every allocation that was considered
	// HumanPct is the matched human percentile, 1..100; 0 is below the first and
	// 101 above the hundredth. Low and High are its 95% interval.
	HumanPct     *stats.Percentile                    `json:"human_percentile"`
	HumanPctLow  *stats.Percentile                    `json:"human_percentile_low"`
	HumanPctHigh *stats.Percentile                    `json:"human_percentile_high"`
	NAttempts    int                                  `json:"n_attempts"`
	CostUSD      *float64                             `json:"cost_usd"` // mean cost of one allocation, nil when unknown
	Environments map[rebench.EnvironmentID]CellResult `json:"environments"`
	Missing      []rebench.EnvironmentID              `json:"missing"`
	// Badge is the weakest rung of the provenance ladder among the attempts behind the row.
	Badge rebench.Badge `json:"badge"`
	// ConstantCells counts environments whose attempts all have one score: they add no width.
	ConstantCells int `json:"constant_cells"`
	// NonZeroBound is 1 - 0.05^(1/n) when no attempt scored above the starting solution: P(non-zero) is at most that.
	NonZeroBound *float64 `json:"non_zero_bound,omitempty"`
	// WithFlagged is the score with suspected attempts counted, set when it differs.
	WithFlagged *float64 `json:"with_flagged,omitempty"`
	// OtherAllocation is the allocation of WithFlagged or WithoutFlagged where it is not
	// this row's, and OtherAllocationScore this view's score of that allocation, nil
	// where it has none: only the two of one allocation can be compared.
	OtherAllocation      *AllocationResult `json:"other_allocation,omitempty"`
	OtherAllocationScore *float64          `json:"other_allocation_score,omitempty"`
	// WithoutFlagged is the score without suspected attempts where they are counted,
	// set when it differs.
	WithoutFlagged *float64 `json:"without_flagged,omitempty"`
}

// AllocationScore is the score of one allocation of an agent.
type AllocationScore struct {
	AllocationResult
	Score float64 `json:"score"`
}

// HiddenAgent is an agent that a view cannot show, with the reason.
type HiddenAgent struct {
	Agent   string                  `json:"agent"`
	Reason  string                  `json:"reason"`
	Missing []rebench.EnvironmentID `json:"missing,omitempty"`
	// Common is a set of environments on which it could be ranked.
	Common []rebench.EnvironmentID `json:"common,omitempty"`
}

// FlaggedAttempt is a suspected attempt within a view.
type FlaggedAttempt struct {
	AttemptID   string                `json:"attempt_id"`
	Agent       string                `json:"agent"`
	Environment rebench.EnvironmentID `json:"environment"`
	Score       float64               `json:"score"`
}

// Curves is score against total time budget.
type Curves struct {
	View
	Statistic string          `json:"statistic"` // best_of_k | mean | median
	Series    []Series        `json:"series"`
	Published []PublishedMark `json:"published"` // digitised points of the paper's figures
	Hidden    []HiddenAgent   `json:"hidden"`
	Coverage  string          `json:"coverage"`
	Notes     []string        `json:"notes"`
}

// Series is one agent under one way of spending its time.
type Series struct {
	Agent      string       `json:"agent"`
	Kind       rebench.Kind `json:"kind"`
	Allocation string       `json:"allocation"` // "1800s" | "best"
	Label      string       `json:"label"`      // in words: "30 min attempts"
	Points     []CurvePoint `json:"points"`
}

// CurvePoint is the score at one total time.
type CurvePoint struct {
	TotalTimeS int64    `json:"total_time_s"`
	K          int      `json:"k"`
	TimeLimitS int64    `json:"time_limit_s"`
	Score      float64  `json:"score"`
	CILow      *float64 `json:"ci_low"`
	CIHigh     *float64 `json:"ci_high"`
	NMin       int      `json:"n_min"` // fewest attempts in an environment
	Saturated  bool     `json:"saturated"`
	Truncated  bool     `json:"truncated,omitempty"`
	// TruncatedFromS is the time limit of the longer attempts read, 0 where not truncated.
	TruncatedFromS int64    `json:"truncated_from_s,omitempty"`
	CostUSD        *float64 `json:"cost_usd"`
}

// PublishedMark is a digitised point of the paper's own curves.
type PublishedMark struct {
	Series     string       `json:"series"`
	Kind       rebench.Kind `json:"kind"`
	TotalTimeS int64        `json:"total_time_s"`
	Allocation string       `json:"allocation"`
	Score      float64      `json:"score"`
	CILow      *float64     `json:"ci_low"`
	CIHigh     *float64     `json:"ci_high"`
	CostUSD    *float64     `json:"cost_usd"`
	Figure     string       `json:"figure"`
	Note       string       `json:"note"`
}

// ScoreAtK is one agent's score@k in each environment and on average.
type ScoreAtK struct {
	View
	Agent      string           `json:"agent"`
	TimeLimitS int64            `json:"time_limit_s"`
	PerEnv     []EnvironmentAtK `json:"-"`
	Mean       []MeanAtK        `json:"mean"`
	Cells      []EnvironmentAtK `json:"environments"` // one element for each environment with attempts
}

// EnvironmentAtK is score@k in one environment.
type EnvironmentAtK struct {
	Environment rebench.EnvironmentID `json:"environment"`
	N           int                   `json:"n"`
	Points      []AtK                 `json:"points"`
}

// AtK is score@k for one k.
type AtK struct {
	K         int      `json:"k"`
	Score     float64  `json:"score"`
	CILow     *float64 `json:"ci_low"`
	CIHigh    *float64 `json:"ci_high"`
	Saturated bool     `json:"saturated"`
}

// MeanAtK is the mean score@k over environments.
type MeanAtK struct {
	K             int                     `json:"k"`
	Score         float64                 `json:"score"`
	CILow         *float64                `json:"ci_low"`
	CIHigh        *float64                `json:"ci_high"`
	Saturated     bool                    `json:"saturated"`
	NEnvironments int                     `json:"n_environments"`
	Missing       []rebench.EnvironmentID `json:"missing"`
}

// Difference compares two agents at one budget.
type Difference struct {
	A      float64  `json:"a"`
	B      float64  `json:"b"`
	D      float64  `json:"difference"` // A - B
	CILow  *float64 `json:"ci_low"`
	CIHigh *float64 `json:"ci_high"`
	// PAGreater is bootstrap support for A > B, not a probability of truth.
	PAGreater float64 `json:"p_a_greater"`
}

// Comparison is the difference of two agents at equal total time.
type Comparison struct {
	View
	BudgetS      int64             `json:"budget_s"`
	A            ComparedAgent     `json:"a"`
	B            ComparedAgent     `json:"b"`
	Overall      *Difference       `json:"overall"` // nil when an agent has no allocation, Empty says why
	Empty        string            `json:"empty,omitempty"`
	Environments []EnvironmentDiff `json:"environments_detail"`
	OverTime     []BudgetDiff      `json:"over_time"`
	Crossover    *CrossoverResult  `json:"crossover"`
	Coverage     string            `json:"coverage"`
}

// ComparedAgent is one side of a comparison.
type ComparedAgent struct {
	Agent      string            `json:"agent"`
	Kind       rebench.Kind      `json:"kind"`
	Allocation *AllocationResult `json:"allocation"`
	NAttempts  int               `json:"n_attempts"`
}

// EnvironmentDiff is the difference in one environment.
type EnvironmentDiff struct {
	Environment rebench.EnvironmentID `json:"environment"`
	NA          int                   `json:"n_a"`
	NB          int                   `json:"n_b"`
	Difference
}

// BudgetDiff is the overall difference at one budget.
type BudgetDiff struct {
	BudgetS int64 `json:"budget_s"`
	KA      int   `json:"k_a"`
	KB      int   `json:"k_b"`
	Difference
}

// CrossoverResult says where the curves of A and B cross.
type CrossoverResult struct {
	// Budgets are the total times in seconds at which the sign of A - B changes.
	Budgets []float64 `json:"budgets_s"`
	// Low and High bound the times whose 95% interval of A - B contains 0; nil
	// where that set meets an end of the common range.
	Low  *float64 `json:"low_s"`
	High *float64 `json:"high_s"`
	// Verdict is "crosses", "none in range" or "undetermined", with Words for the page.
	Verdict string `json:"verdict"`
	Words   string `json:"words"`
	FromS   int64  `json:"from_s"` // common unsaturated range
	ToS     int64  `json:"to_s"`
}

// Percentiles is the humans' percentile curve.
type Percentiles struct {
	View
	NAttempts    int                                 `json:"n_attempts"`
	NByEnv       map[rebench.EnvironmentID]int       `json:"n_by_environment"`
	Percentile   []int                               `json:"percentile"` // 1..100
	Mean         []float64                           `json:"mean"`       // H(p), averaged over environments
	CILow        []float64                           `json:"ci_low"`
	CIHigh       []float64                           `json:"ci_high"`
	Environments map[rebench.EnvironmentID][]float64 `json:"by_environment"`
}

// EnvironmentSummary is one environment with what is known of its results.
type EnvironmentSummary struct {
	ID           rebench.EnvironmentID `json:"id"`
	Title        string                `json:"title"`
	METRFamily   string                `json:"metr_family"`
	Direction    rebench.Direction     `json:"direction"`
	Selection    rebench.Selection     `json:"selection"`
	Formula      string                `json:"formula"`
	Task         string                `json:"task"`
	Rules        string                `json:"rules"`
	Hardware     string                `json:"hardware"`
	StartRaw     *float64              `json:"start_raw"`
	ReferenceRaw *float64              `json:"reference_raw"`
	Ceiling      *Ceiling              `json:"ceiling"` // nil where scores are not on the published scale
	NAttempts    int                   `json:"n_attempts"`
	NHuman       int                   `json:"n_human"`
	Scorers      []ScorerGroup         `json:"scorers"`
	Groups       []AttemptGroup        `json:"groups"` // by agent and time limit
}

// ScorerGroup counts attempts of one comparability group.
type ScorerGroup struct {
	Profile       rebench.Profile `json:"profile"`
	ScorerVersion string          `json:"scorer_version"`
	HardwareClass string          `json:"hardware_class"`
	N             int             `json:"n"`
}

// AttemptGroup is one agent's attempts at one time limit in one environment.
type AttemptGroup struct {
	Agent      string       `json:"agent"`
	Kind       rebench.Kind `json:"kind"`
	TimeLimitS int64        `json:"time_limit_s"`
	N          int          `json:"n"`
	Zeros      int          `json:"zeros"`
	Flagged    int          `json:"flagged"`
	Mean       float64      `json:"mean"`
	Median     float64      `json:"median"`
	Best       float64      `json:"best"`
	Scores     []float64    `json:"scores"`               // ascending
	AtK        []AtK        `json:"score_at_k,omitempty"` // of a single environment only
}

// Sensitivity shows how an agent's score moves with the choices behind it.
type Sensitivity struct {
	View
	BudgetS int64            `json:"budget_s"`
	Rows    []SensitivityRow `json:"rows"`
}

// SensitivityRow is one agent under the alternatives; nil where not available.
type SensitivityRow struct {
	Agent           string   `json:"agent"`
	Score           float64  `json:"score"`
	FlaggedIncluded *float64 `json:"flagged_included"`
	FlaggedExcluded *float64 `json:"flagged_excluded"`
	CappedAt1       *float64 `json:"capped_at_1"`
	OtherEstimator  *float64 `json:"other_estimator"`
	OtherCohort     *float64 `json:"other_cohort"` // humans only
	Hours7To9       *float64 `json:"hours_7_to_9"` // humans only
	ZeroShare       float64  `json:"zero_share"`
	Influence       float64  `json:"influence"`    // largest change of the score when one attempt is left out
	InfluenceOf     string   `json:"influence_of"` // that attempt's id
}
