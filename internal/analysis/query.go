package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Statistic says what a curve shows of the attempts of one time limit.
type Statistic string

// Statistics of a curve. StatBestOfK is score@k at k*t; StatMean and StatMedian
// describe single attempts, so their points stand at the time limits.
const (
	StatBestOfK Statistic = "best_of_k"
	StatMean    Statistic = "mean"
	StatMedian  Statistic = "median"
)

// Query selects the data and the method of a result. The zero value is the
// default view except Budget, which leaderboards and comparisons need.
type Query struct {
	Profile      rebench.Profile         // "" is paper
	Environments []rebench.EnvironmentID // nil is all seven in the paper's profile, else those with attempts
	Agents       []string                // labels; nil is all
	Budget       time.Duration           // total time; 0 is rebench.DefaultBudget
	Estimator    stats.Estimator
	Convention   stats.Convention
	Cohort       rebench.Cohort // "" is paper71
	Flagged      bool           // count suspected attempts
	Scorer       string         // version; "" is metr-published in paper, else each environment's newest
	Hardware     string         // class; "" is the most frequent, "all" merges
	Cap          *float64       // scores above are cut to it
	// HumanHours7To9 keeps only human attempts that lasted 7 to 9 hours.
	HumanHours7To9 bool
	// Truncate also reads agents' longer attempts at shorter budgets where a
	// full score log exists. Humans' are always read so.
	Truncate  bool
	Statistic Statistic // "" is best_of_k
	AsOf      int64     // data revision; 0 is the latest
}

// normalize fills in defaults and puts lists in a canonical order.
func (q Query) normalize() Query {
	if q.Profile == "" {
		q.Profile = rebench.ProfilePaper
	}
	if len(q.Environments) == 0 {
		q.Environments = rebench.EnvironmentIDs()
	} else {
		order := rebench.EnvironmentIDs()
		q.Environments = slices.Clone(q.Environments)
		slices.SortFunc(q.Environments, func(a, b rebench.EnvironmentID) int { return slices.Index(order, a) - slices.Index(order, b) })
		q.Environments = slices.Compact(q.Environments)
	}
	if len(q.Agents) > 0 {
		q.Agents = slices.Clone(q.Agents)
		slices.Sort(q.Agents)
		q.Agents = slices.Compact(q.Agents)
	}
	if q.Budget == 0 {
		q.Budget = rebench.DefaultBudget(q.Profile)
	}
	if q.Cohort == "" {
		q.Cohort = rebench.CohortPaper71
	}
	if q.Statistic == "" {
		q.Statistic = StatBestOfK
	}
	return q
}

// frameKey names the set of cells that the query reads.
func (q Query) frameKey() string {
	limit := "-"
	if q.Cap != nil {
		limit = fmt.Sprint(*q.Cap)
	}
	return fmt.Sprintf("%s|%s|%t|%q|%q|%s|%t", q.Profile, q.Cohort, q.Flagged, q.Scorer, q.Hardware, limit, q.HumanHours7To9)
}

// key names everything that the query's results depend on besides the data.
func (q Query) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s|%d|%s|%s|%t|%s|", q.frameKey(), q.Budget, q.Estimator, q.Convention, q.Truncate, q.Statistic)
	for _, e := range q.Environments {
		b.WriteString(string(e))
		b.WriteByte(',')
	}
	for _, a := range q.Agents {
		fmt.Fprintf(&b, "|%q", a)
	}
	return b.String()
}

// wants reports whether the reader chose to see the agent.
func (q Query) wants(label string) bool {
	return len(q.Agents) == 0 || slices.Contains(q.Agents, label)
}
