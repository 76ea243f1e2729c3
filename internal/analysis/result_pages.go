package analysis

import (
	"time"

	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// The types of this file are results that pages need beyond those of result.go.

// Lead says how well two rows of a leaderboard are told apart.
type Lead struct {
	Above string `json:"above"` // label of the row with the higher score
	Below string `json:"below"`
	Difference
	// Separated is the verdict of the simultaneous test behind the tie labels.
	Separated bool `json:"separated"`
}

// NotHuman is a kind of filters only: everybody but humans.
const NotHuman = "nonhuman"

// AttemptFilter chooses attempts; zero fields do not restrict.
type AttemptFilter struct {
	Environment rebench.EnvironmentID `json:"environment,omitempty"`
	Agent       string                `json:"agent,omitempty"` // label
	Kind        rebench.Kind          `json:"kind,omitempty"`
	Cohort      rebench.Cohort        `json:"cohort,omitempty"` // paper71 keeps the humans of that cohort and every agent
	TimeLimitS  int64                 `json:"time_limit_s,omitempty"`
	Text        string                `json:"text,omitempty"` // part of the id or of the agent's label, in any case
	// Environments keeps those of several environments.
	Environments []rebench.EnvironmentID `json:"environments,omitempty"`
	// Flagged is "" (all), "only" (with a flag that stands) or "none". The others keep
	// what results are computed from: "exclude" and "include" the attempts that count
	// when suspected ones are left out or counted, "suspected" those suspected ones.
	Flagged string `json:"flagged,omitempty"`
	// WithLog keeps attempts with a score log.
	WithLog bool `json:"with_log,omitempty"`
	// Sort is "" (order of import) or one of AttemptOrders.
	Sort string `json:"sort,omitempty"`
}

// AttemptRow is one attempt in a list.
type AttemptRow struct {
	ID            string                `json:"id"`
	Environment   rebench.EnvironmentID `json:"environment"`
	Profile       rebench.Profile       `json:"profile"`
	ScorerVersion string                `json:"scorer_version"`
	Agent         string                `json:"agent"` // label
	Kind          rebench.Kind          `json:"kind"`
	Cohort        rebench.Cohort        `json:"cohort,omitempty"` // humans only
	TimeLimitS    int64                 `json:"time_limit_s"`     // 0 when unknown
	DurationS     int64                 `json:"duration_s"`       // 0 when unknown
	Score         *float64              `json:"score"`            // nil when it cannot be normalized
	Raw           *float64              `json:"raw"`              // nil when unknown
	CostUSD       *float64              `json:"cost_usd"`
	Suspected     bool                  `json:"suspected"`
	Excluded      bool                  `json:"excluded"` // invalid or retracted
	Unranked      string                `json:"unranked,omitempty"`
	HasLog        bool                  `json:"has_log"`
	Badge         rebench.Badge         `json:"badge"` // rung of the provenance ladder
	RevisionID    int64                 `json:"-"`
}

// AttemptList is one page of attempts.
type AttemptList struct {
	View
	Filter        AttemptFilter `json:"filter"`
	Attempts      []AttemptRow  `json:"attempts"`
	Total         int           `json:"total"` // attempts that match the filter, on all pages
	NextPageToken string        `json:"next_page_token,omitempty"`
	// Agents and TimeLimitsS are what the filter can be set to.
	Agents      []string `json:"-"`
	TimeLimitsS []int64  `json:"-"`
}

// Pause is a stretch of an attempt that does not count.
type Pause struct {
	AtS    float64       `json:"at_s"` // elapsed time at which it began
	Length time.Duration `json:"length"`
	Reason string        `json:"reason"`
}

// AttemptDetail is an attempt with its surroundings.
type AttemptDetail struct {
	Attempt *rebench.Attempt
	Label   string // the agent's label
	Pauses  []Pause
	// Rank is the place of its score among the N attempts of its cell (same
	// environment, profile, scorer version, agent and time limit); 0 when unranked.
	Rank, N  int
	LogBytes int    // size of the raw log, 0 when there is none
	LogHead  string // hash of the log's last line
	Signals  *Signals
	Revision rebench.DataRevision
}

// Humans is what is known about the human attempts.
type Humans struct {
	View
	Attempts     []AttemptRow    `json:"attempts"` // of every cohort
	Cohorts      []CohortSummary `json:"cohorts"`
	Percentiles  *Percentiles    `json:"percentiles"`
	Placeholders int             `json:"placeholders"` // rows of the file that are not attempts
	Over8h       int             `json:"over_8h"`      // attempts that ran longer than 8 h
	ShortestS    int64           `json:"shortest_s"`
	LongestS     int64           `json:"longest_s"`
}

// CohortSummary is one set of human attempts.
type CohortSummary struct {
	Cohort          rebench.Cohort                       `json:"cohort"`
	N               int                                  `json:"n"`
	Score           float64                              `json:"score"` // mean over environments
	CILow           *float64                             `json:"ci_low"`
	CIHigh          *float64                             `json:"ci_high"`
	RunWeightedMean float64                              `json:"run_weighted_mean"`
	NonZero         int                                  `json:"non_zero"`     // attempts above 0
	AtReference     int                                  `json:"at_reference"` // attempts at 1 or above
	Environments    map[rebench.EnvironmentID]CohortCell `json:"by_environment"`
}

// CohortCell is one environment of a cohort.
type CohortCell struct {
	N           int     `json:"n"`
	NonZero     int     `json:"non_zero"`
	AtReference int     `json:"at_reference"`
	Mean        float64 `json:"mean"`
	Median      float64 `json:"median"`
	Best        float64 `json:"best"`
}

// EnvironmentDetail is an environment with what is on record about its scorer.
type EnvironmentDetail struct {
	EnvironmentSummary
	View  View        `json:"view"`
	Flaws []KnownFlaw `json:"known_flaws"`
	Hacks []KnownHack `json:"reward_hacks"`
	// Repeatability is how much one scoring of ours varies, where it was measured.
	Repeatability []validity.Measurement `json:"repeatability"`
	// ExampleRuns are scorings of all its example solutions by our scorer.
	ExampleRuns []validity.ExampleRun `json:"example_runs"`
}

// KnownFlaw is a documented defect of an official task, scorer, document or data.
type KnownFlaw struct {
	ID     string `json:"id"`
	Flaw   string `json:"flaw"`
	Kind   string `json:"kind"` // data, docs, package, scorer, security
	Source string `json:"source"`
	Ours   string `json:"ours,omitempty"` // how far our defence goes and what it is, "" when nothing is recorded
}

// KnownHack is a documented way in which a solver gamed a task.
type KnownHack struct {
	ID        string `json:"id"`
	Model     string `json:"model"`
	Kind      string `json:"kind"`
	Count     string `json:"count"`
	Mechanism string `json:"mechanism"`
	Status    string `json:"status"`
	Source    string `json:"source"`
	Ours      string `json:"ours,omitempty"`
}

// Methodology compares printed numbers with those computed here.
type Methodology struct {
	View
	Numbers  []PaperCheck  `json:"numbers"`
	Figures  []FigureCheck `json:"figures"`
	Coverage []CoverageRow `json:"coverage"`
	// NAgents, NHumans and NPlaceholders count the published rows.
	NAgents       int `json:"n_agent_attempts"`
	NHumans       int `json:"n_human_attempts"`
	NPlaceholders int `json:"n_placeholders"`
}

// Verdicts of a check.
const (
	CheckAgrees  = "agrees"
	CheckDiffers = "differs"
	CheckCannot  = "cannot be checked"
)

// PaperCheck is one number printed in the paper beside the one computed here.
type PaperCheck struct {
	ID          string `json:"id"`
	Environment string `json:"environment"` // as the paper calls it, "ALL" for the suite
	Quantity    string `json:"quantity"`
	Printed     string `json:"printed"`
	Unit        string `json:"unit"`
	Locator     string `json:"locator"`  // where in the paper
	Computed    string `json:"computed"` // "" when it cannot be computed
	Verdict     string `json:"verdict"`  // agrees | differs | cannot be checked
	Reason      string `json:"reason"`   // why it differs or cannot be checked
}

// FigureCheck is one digitised point of the paper's figures beside ours.
type FigureCheck struct {
	PublishedMark
	Computed       *float64 `json:"computed"` // nil when no attempts of that agent and allocation exist
	ComputedCILow  *float64 `json:"computed_ci_low"`
	ComputedCIHigh *float64 `json:"computed_ci_high"`
	Verdict        string   `json:"verdict"`
	Reason         string   `json:"reason"`
}

// CoverageRow is how often nominal 95% intervals held the truth in simulations.
type CoverageRow struct {
	Regime string  `json:"regime"` // in words: "k = 1", "n >= 4k"
	Low    float64 `json:"low"`    // average coverage, its range over simulated data sets
	High   float64 `json:"high"`
	Worst  float64 `json:"worst"`
	Runs   int     `json:"runs"` // simulated data sets behind the row, 0 when not recorded
}
