package view

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// finding is one question of the reader with its answer.
type finding struct {
	Question string
	Verdict  string // the answer in a few words
	Words    string // the numbers behind it
	URL      string // where the answer is looked into, "" for nowhere
}

// findings answers who leads, whether the lead is real and where humans stand, from
// the ranks and the bootstrap support that the engine computed. Only rows of known
// spread lead.
func (d LeaderboardData) findings(p Page) []finding {
	agents := d.Board.Contenders()
	if len(agents) == 0 {
		return d.nobodyLeads()
	}
	top := agents[0]
	out := []finding{{
		Question: "Which agent leads?",
		Verdict:  agentName(top.Agent),
		Words: fmt.Sprintf("%s %s, %s.%s", score(top.Score), interval(top.Score, top.CILow, top.CIHigh),
			allocationWords(top.Allocation.K, top.Allocation.TimeLimitS), d.higherUnranked(top)),
	}}
	if f, ok := d.leadFinding(p, agents); ok {
		out = append(out, f)
	}
	if f, ok := d.humanFinding(p, top); ok {
		out = append(out, f)
	}
	return out
}

// nobodyLeads says why no agent is named, where there are agents.
func (d LeaderboardData) nobodyLeads() []finding {
	agents := d.agents()
	if len(agents) == 0 {
		return nil
	}
	return []finding{{Question: "Which agent leads?", Verdict: "Not known",
		Words: "No agent has two attempts in every chosen environment, so the spread of none is known. The highest point is " + pointWords(agents[0]) + "."}}
}

// higherUnranked names the agents of unknown spread whose point is above the leader's.
func (d LeaderboardData) higherUnranked(top analysis.LeaderboardRow) string {
	var higher []string
	for _, r := range d.agents() {
		if !r.SpreadKnown() && r.Score > top.Score {
			higher = append(higher, pointWords(r))
		}
	}
	switch len(higher) {
	case 0:
		return ""
	case 1:
		return " Not ranked is a higher point, " + higher[0] + ": with a single attempt in an environment its spread is unknown."
	}
	return " Not ranked are higher points, " + list(higher) + ": with a single attempt in an environment their spread is unknown."
}

func pointWords(r analysis.LeaderboardRow) string {
	return fmt.Sprintf("%s of %s from %s", score(r.Score), agentName(r.Agent), things(r.NAttempts, "attempt", "attempts"))
}

// agents are the rows of everybody but humans.
func (d LeaderboardData) agents() []analysis.LeaderboardRow {
	return slices.DeleteFunc(slices.Clone(d.Board.Rows), func(r analysis.LeaderboardRow) bool { return r.Kind == rebench.KindHuman })
}

// humans are the rows of humans.
func (d LeaderboardData) humans() []analysis.LeaderboardRow {
	return slices.DeleteFunc(slices.Clone(d.Board.Rows), func(r analysis.LeaderboardRow) bool { return r.Kind != rebench.KindHuman })
}

func (d LeaderboardData) lead(a, b string) (analysis.Lead, bool) {
	i := slices.IndexFunc(d.Leads, func(l analysis.Lead) bool {
		return l.Above == a && l.Below == b || l.Above == b && l.Below == a
	})
	if i < 0 {
		return analysis.Lead{}, false
	}
	return d.Leads[i], true
}

// leadFinding says whether the first agent is told apart from the second, and who
// shares its tie group.
func (d LeaderboardData) leadFinding(p Page, agents []analysis.LeaderboardRow) (finding, bool) {
	f := finding{Question: "Is the lead real?"}
	if len(agents) == 1 {
		f.Verdict = "Nothing to compare"
		f.Words = "It is the only agent with attempts for this total time in every chosen environment."
		if len(d.agents()) > 1 {
			f.Words = "It is the only agent with two attempts or more for this total time in every chosen environment."
		}
		return f, true
	}
	lead, ok := d.lead(agents[0].Agent, agents[1].Agent)
	if !ok {
		return f, false
	}
	f.Verdict = "Not separated"
	if lead.Separated {
		f.Verdict = "Yes: separated"
	}
	f.URL = d.compareLink(p, agents[0].Agent, agents[1].Agent)
	f.Words = fmt.Sprintf("Ahead of %s by %s %s; bootstrap support %s.", lead.Below, number(lead.D, 3),
		signedInterval(lead.D, lead.CILow, lead.CIHigh), supportOf(lead.Difference))
	if !lead.Separated && (lead.CILow != nil && *lead.CILow > 0) {
		f.Words += " The interval of this pair alone excludes 0; allowing for all pairs at once, the two are not told apart."
	}
	if others := d.tied(agents); len(others) > 0 && !lead.Separated {
		f.Words += fmt.Sprintf(" %s %s first place.", capitalised(count(len(others)+1)), "agents may share")
	}
	return f, true
}

// compareLink leads to the comparison of two rows of the board.
func (d LeaderboardData) compareLink(p Page, a, b string) string {
	return p.To("/compare", "a", a, "b", b, "budget", budget(d.Board.BudgetS))
}

// tied returns the agents whose ranks include the first agent's.
func (d LeaderboardData) tied(agents []analysis.LeaderboardRow) []string {
	var out []string
	for _, r := range agents[1:] {
		if r.RankLow > 0 && r.RankLow <= agents[0].RankLow {
			out = append(out, r.Agent)
		}
	}
	return out
}

// humanFinding places the first agent among the humans.
func (d LeaderboardData) humanFinding(p Page, top analysis.LeaderboardRow) (finding, bool) {
	humans := d.humans()
	f := finding{Question: "Against human experts?"}
	matched := ""
	if top.HumanPct != nil {
		matched = fmt.Sprintf("It matches the %s percentile of single eight-hour human attempts.", percentile(*top.HumanPct))
	}
	if len(humans) == 0 {
		if matched == "" {
			return f, false
		}
		f.Verdict = percentile(*top.HumanPct) + " percentile"
		f.Words = matched + " Humans have no score at this total time."
		return f, true
	}
	if !humans[0].SpreadKnown() {
		f.Verdict = "Not known"
		f.Words = strings.TrimSpace(fmt.Sprintf("Humans reach %s, with a single attempt in an environment, so their spread is unknown. %s", score(humans[0].Score), matched))
		return f, true
	}
	lead, ok := d.lead(humans[0].Agent, top.Agent)
	if !ok {
		return f, false
	}
	f.URL = d.compareLink(p, humans[0].Agent, top.Agent)
	who := "humans being"
	f.Verdict = "Humans ahead"
	if lead.Above == top.Agent {
		who = agentName(top.Agent) + " being"
		f.Verdict = agentName(top.Agent) + " ahead"
	}
	if !lead.Separated {
		f.Verdict += ", not separated"
	}
	f.Words = strings.TrimSpace(fmt.Sprintf("Humans reach %s %s; bootstrap support for %s ahead %s. %s", score(humans[0].Score),
		interval(humans[0].Score, humans[0].CILow, humans[0].CIHigh), who, supportOf(lead.Difference), matched))
	return f, true
}

// scale covers every interval of the board.
func (d LeaderboardData) scale() scale {
	var values []float64
	for _, r := range d.Board.Rows {
		values = append(values, r.Score)
		if r.CIHigh != nil {
			values = append(values, *r.CIHigh)
		}
	}
	return scoreScale(values)
}

// cellScale covers the board's cells, for the bars in them.
func (d LeaderboardData) cellScale() scale {
	var values []float64
	for _, r := range d.Board.Rows {
		for _, c := range r.Environments {
			values = append(values, c.Score)
		}
	}
	return scoreScale(values)
}

func (d LeaderboardData) title() string {
	return fmt.Sprintf("Who is ahead with %s in total?", totalTime(d.Board.BudgetS))
}

func (d LeaderboardData) lede() string {
	who := "Every agent gets"
	if hasHumans(d.Choices) {
		who = "Every agent and the human experts get"
	}
	return fmt.Sprintf("Mean normalized score over %s: 0 is the starting solution, 1 the reference solution. %s the same total time.",
		suite(d.Board.Environments), who)
}

// attemptsLink leads to exactly the attempts that a number of the view was computed
// from: of an agent, in one environment ("" for all of the view) and with one time
// limit (0 for any).
func attemptsLink(p Page, v analysis.View, agent string, env rebench.EnvironmentID, limitS int64) string {
	pairs := []string{"agent", agent}
	if limitS > 0 {
		pairs = append(pairs, "time_limit", budget(limitS))
	}
	return countedLink(p, v, env, pairs...)
}

// allocationLink leads to the attempts behind an allocation's score.
func allocationLink(p Page, v analysis.View, agent string, env rebench.EnvironmentID, a analysis.AllocationResult) string {
	if a.Truncated {
		return attemptsLink(p, v, agent, env, a.TruncatedFromS) + "&log=yes"
	}
	return attemptsLink(p, v, agent, env, a.TimeLimitS)
}

// countedLink leads to the attempts that the view counts, under more filters. The
// cohort restricts humans only.
func countedLink(p Page, v analysis.View, env rebench.EnvironmentID, pairs ...string) string {
	to := Page{Path: "/attempts", Query: url.Values{}}
	for _, key := range []string{"scorer", "hardware", "hours", "asof"} {
		if x := p.Query.Get(key); x != "" {
			to.Query.Set(key, x)
		}
	}
	if slices.Contains(pairs, string(rebench.KindHuman)) && v.Cohort != string(rebench.CohortAll) {
		to.Query.Set("cohort", v.Cohort)
	} else if !slices.Contains(pairs, string(rebench.KindHuman)) {
		to.Query.Del("hours")
	}
	if env != "" {
		to.Query.Set("environment", string(env))
	} else {
		to.Query.Set("environments", idList(v.Environments))
	}
	return to.With(append(pairs, "profile", string(v.Profile), "flagged", v.Flagged)...)
}

// hiddenReason is one reason with the agents that it keeps out.
type hiddenReason struct {
	Agents []analysis.HiddenAgent
	Common []rebench.EnvironmentID // where they could be ranked
}

// commonSets groups the hidden agents by the environments on which they could be ranked.
func commonSets(hidden []analysis.HiddenAgent) []hiddenReason {
	var out []hiddenReason
	for _, h := range hidden {
		if len(h.Common) == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(r hiddenReason) bool { return slices.Equal(r.Common, h.Common) })
		if i < 0 {
			out = append(out, hiddenReason{Common: h.Common})
			i = len(out) - 1
		}
		out[i].Agents = append(out[i].Agents, h)
	}
	return out
}

func idList(ids []rebench.EnvironmentID) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = string(id)
	}
	return strings.Join(parts, ",")
}

func hiddenNames(hidden []analysis.HiddenAgent) string {
	var names []string
	for _, h := range hidden {
		names = append(names, agentName(h.Agent))
	}
	return list(names)
}

// flaggedWords sums up the suspected attempts that a view leaves out.
func flaggedWords(b *analysis.Leaderboard) string {
	n := len(b.FlaggedLeftOut)
	var where []string
	for _, f := range b.FlaggedLeftOut {
		w := agentName(f.Agent) + ", " + environmentTitle(f.Environment)
		if !slices.Contains(where, w) {
			where = append(where, w)
		}
	}
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s flagged as %s %s left out (%s)", things(n, "attempt", "attempts"), suspectedNoun(n), verb, strings.Join(where, "; "))
}

func suspectedNoun(n int) string {
	if n == 1 {
		return "a suspected reward hack"
	}
	return "suspected reward hacks"
}

// bothFigures lists the rows whose score moves when suspected attempts count.
func bothFigures(b *analysis.Leaderboard) []analysis.LeaderboardRow {
	var out []analysis.LeaderboardRow
	for _, r := range b.Rows {
		if r.WithFlagged != nil || r.WithoutFlagged != nil {
			out = append(out, r)
		}
	}
	return out
}

// otherScore is a row's score under the other treatment of suspected attempts.
type otherScore struct {
	score         float64
	allocation    analysis.AllocationResult
	how, opposite string // with or without suspected attempts
	view          analysis.View
}

// rowAllocation names the allocation of the row's own score where it is another.
func (x otherScore) rowAllocation(r analysis.LeaderboardRow) string {
	if r.OtherAllocation == nil {
		return "."
	}
	return " (" + allocationWords(r.Allocation.K, r.Allocation.TimeLimitS) + ")."
}

// otherFigure requires a row of bothFigures.
func otherFigure(b *analysis.Leaderboard, r analysis.LeaderboardRow) otherScore {
	x := otherScore{allocation: r.Allocation, view: b.View}
	if r.OtherAllocation != nil {
		x.allocation = *r.OtherAllocation
	}
	if r.WithFlagged != nil {
		x.score, x.how, x.opposite, x.view.Flagged = *r.WithFlagged, "with", "without", "include"
	} else {
		x.score, x.how, x.opposite, x.view.Flagged = *r.WithoutFlagged, "without", "with", "exclude"
	}
	return x
}

// suspectedLink leads to the suspected attempts of a view, counted or not.
func suspectedLink(p Page, v analysis.View) string {
	return countedLink(p, suspectedView(v), "")
}

// facts is the line under the table: what it rests on.
func (d LeaderboardData) facts() string {
	attempts := 0
	for _, r := range d.Board.Rows {
		attempts += r.NAttempts
	}
	return fmt.Sprintf("%s behind the rows shown. %s", things(attempts, "attempt", "attempts"), viewFacts(d.Board.View))
}

// viewFacts states method and data of a result.
func viewFacts(v analysis.View) string {
	estimator := "without replacement"
	if v.Estimator == "with" {
		estimator = "with replacement"
	}
	convention := "centred bootstrap"
	if v.Convention == "metr" {
		convention = "METR's percentile bootstrap"
	}
	words := fmt.Sprintf("Score@k %s; nominal 95%% intervals, %s, %s draws; profile %s", estimator, convention, grouped(v.Replicates), v.Profile)
	if v.Cap != nil {
		words += fmt.Sprintf("; scores cut at %s", tickLabel(*v.Cap))
	}
	if v.Hardware == "all" {
		words += "; hardware classes mixed"
	} else if v.Hardware != "" {
		words += "; hardware " + v.Hardware
	}
	words += fmt.Sprintf("; data revision %d%s.", v.DataRevision, dated(v.Revision.At))
	return words
}

// longerBudgets are the ruler's steps further up, for an empty board.
func (p Page) longerBudgets(seconds int64) []time.Duration {
	var out []time.Duration
	for _, b := range rebench.Budgets(p.profile()) {
		if int64(b/time.Second) > seconds {
			out = append(out, b)
		}
	}
	return out
}

// costs reports whether any row's cost is known; the column is left out otherwise.
func (d LeaderboardData) costs() bool {
	return slices.ContainsFunc(d.Board.Rows, func(r analysis.LeaderboardRow) bool { return r.CostUSD != nil })
}

func cellTitle(id rebench.EnvironmentID, c analysis.CellResult) string {
	return fmt.Sprintf("%s: %s %s, %s, %d of them at or below the starting solution", environmentTitle(id), score(c.Score),
		interval(c.Score, c.CILow, c.CIHigh), things(c.N, "attempt", "attempts"), c.Zeros)
}

func flaggedVerb(flagged string) string {
	if flagged == "include" {
		return "are counted"
	}
	return "are left out"
}

func flaggedCell(flagged string, n int) string {
	return things(n, "suspected attempt", "suspected attempts") + " " + strings.TrimPrefix(flaggedVerb(flagged), "are ")
}

// signs tells which signs occur on the board, and words the degenerate rows.
func signs(b *analysis.Leaderboard) (saturated, flagged bool, constant, zero []string) {
	for _, r := range b.Rows {
		saturated = saturated || r.Allocation.Saturated
		for _, c := range r.Environments {
			saturated, flagged = saturated || c.Saturated, flagged || c.Flagged > 0
		}
		if r.ConstantCells > 0 {
			constant = append(constant, fmt.Sprintf("%s %d of %d", agentName(r.Agent), r.ConstantCells, len(b.Environments)))
		}
		if r.NonZeroBound != nil {
			zero = append(zero, fmt.Sprintf("%s: no attempt scored above the starting solution. The chance of one that does is at most %s%% with 95%% confidence.",
				agentName(r.Agent), number(100**r.NonZeroBound, 0)))
		}
	}
	return saturated, flagged, constant, zero
}

// commonWords names the environments on which hidden agents could be ranked.
func commonWords(r hiddenReason) string {
	if len(r.Common) == 1 {
		return environmentTitle(r.Common[0]) + ", with " + hiddenNames(r.Agents)
	}
	return fmt.Sprintf("the common %s environments, with %s", count(len(r.Common)), hiddenNames(r.Agents))
}

func (d LeaderboardData) leftOutTitle() string {
	if len(d.Board.Hidden) == 0 && d.Board.Flagged == "include" {
		return "What this view counts"
	}
	return "What this view leaves out"
}

// labels returns the agents of the board as a list parameter, and whether humans
// are on the board.
func (d LeaderboardData) labels() (agents string, humans bool) {
	var names []string
	for _, r := range d.Board.Rows {
		if r.Kind == rebench.KindHuman {
			humans = true
		} else {
			names = append(names, r.Agent)
		}
	}
	return strings.Join(names, ","), humans
}
