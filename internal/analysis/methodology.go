package analysis

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rebench/data"
	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Methodology compares the numbers printed in the paper, and the digitised points
// of its figures, with what is computed here from the published rows.
func (e *Engine) Methodology(ctx context.Context, asof int64) (*Methodology, error) {
	return cached(ctx, e, "methodology", Query{AsOf: asof}, func(ds *Dataset, q Query) (*Methodology, error) {
		out := &Methodology{View: ds.view(q, ds.frame(q))}
		if err := ds.countPublished(out); err != nil {
			return nil, err
		}
		c, err := newPaperChecker(ctx, ds, q)
		if err != nil {
			return nil, err
		}
		if out.Numbers, err = c.numbers(); err != nil {
			return nil, err
		}
		if out.Figures, err = c.figures(); err != nil {
			return nil, err
		}
		out.Coverage = coverageRows()
		return out, nil
	})
}

func (ds *Dataset) countPublished(out *Methodology) error {
	for i := range ds.attempts {
		a := &ds.attempts[i]
		if a.Profile != rebench.ProfilePaper || a.ScorerVersion != rebench.ScorerMETRPublished || !strings.HasPrefix(a.ID, "metr-rebench:") {
			continue
		}
		if ds.agents[a.AgentID].Kind == rebench.KindHuman {
			out.NHumans++
		} else {
			out.NAgents++
		}
	}
	rows, err := data.Table("human_attempts.csv")
	for _, r := range rows {
		if r["status"] == "placeholder" {
			out.NPlaceholders++
		}
	}
	return err
}

func coverageRows() []CoverageRow {
	var out []CoverageRow
	for _, class := range []stats.CoverageClass{stats.CoverageMean, stats.CoverageAmple, stats.CoverageScarce, stats.CoverageSaturated} {
		f := class.Figures()
		out = append(out, CoverageRow{Regime: f.Condition, Low: float64(f.MeanLow) / 100, High: float64(f.MeanHigh) / 100, Worst: float64(f.Worst) / 100})
	}
	return out
}

// paperChecker computes what the paper prints.
type paperChecker struct {
	ds          *Dataset
	q           Query
	cohort      map[rebench.Cohort]CohortSummary
	curves      map[rebench.Cohort]*Curves
	printed     map[string]map[string]string // rows of paper_numbers.csv by id
	order       []string
	humanFinals map[rebench.EnvironmentID][]float64 // paper71
	digitised   []PublishedMark
}

func newPaperChecker(ctx context.Context, ds *Dataset, q Query) (*paperChecker, error) {
	c := &paperChecker{ds: ds, q: q, cohort: map[rebench.Cohort]CohortSummary{}, curves: map[rebench.Cohort]*Curves{},
		printed: map[string]map[string]string{}, humanFinals: map[rebench.EnvironmentID][]float64{}}
	for _, cohort := range []rebench.Cohort{rebench.CohortPaper71, rebench.CohortAll} {
		of := q
		of.Cohort = cohort
		c.cohort[cohort], _ = ds.cohort(of)
		var err error
		if c.curves[cohort], err = ds.curves(ctx, of); err != nil {
			return nil, err
		}
	}
	if g := ds.frame(q).groups[rebench.HumanName]; g != nil {
		for env, cell := range g.cells[rebench.HumanTimeLimit] {
			c.humanFinals[env] = cell.Scores()
		}
	}
	rows, err := data.Table("paper_numbers.csv")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		c.printed[r["id"]] = r
		c.order = append(c.order, r["id"])
	}
	c.digitised, err = publishedMarks()
	return c, err
}

// computed is one number computed here; text is empty where that cannot be done.
type computed struct {
	text    string
	verdict string
	reason  string
}

func (c *paperChecker) numbers() ([]PaperCheck, error) {
	var out []PaperCheck
	for _, id := range c.order {
		r := c.printed[id]
		got, ok := c.compute(id, r)
		if !ok {
			continue
		}
		printed := r["value"]
		if printed == "" {
			printed = r["low"] + "-" + r["high"]
		}
		out = append(out, PaperCheck{ID: id, Environment: r["environment"], Quantity: r["quantity"], Printed: printed, Unit: r["unit"],
			Locator: r["locator"], Computed: got.text, Verdict: got.verdict, Reason: got.reason})
	}
	return out, nil
}

const (
	reasonCohort    = "the paper's 71 attempts are not identified in the published file; this is our reconstruction, which has the paper's count in every environment"
	reasonAgentRows = "most published agent rows date from December 2024, after the preprint: they are not the paper's runs"
	reasonLowBudget = "no source publishes human scores of single attempts below 8 h"
)

// compute returns the check of one printed number; ok is false for numbers that
// are context only.
func (c *paperChecker) compute(id string, r map[string]string) (computed, bool) {
	paper := c.cohort[rebench.CohortPaper71]
	switch id {
	case "P001":
		return agree(r, float64(paper.N), strconv.Itoa(paper.N), reasonCohort), true
	case "P002":
		return computed{verdict: CheckCannot, reason: "the published file carries no ids of people; clustering by person would widen the 8 h interval by 6-12%"}, true
	case "P004":
		return c.share(r, paper.NonZero, paper.N, "; the paper's own Table 6 counts 60 attempts above 0.05, more than the 58 that 82% makes"), true
	case "P005":
		return c.share(r, paper.AtReference, paper.N, ""), true
	case "P006":
		return c.ratioAtTwoHours(), true
	case "P007":
		return c.humansAhead(), true
	case "P008":
		return c.ratioAt32Hours(r), true
	case "P040", "P043", "P046":
		return computed{verdict: CheckCannot, reason: "the published file does not say how a person was recruited"}, true
	case "P049":
		return agree(r, paper.RunWeightedMean, fmt.Sprintf("%.3f", paper.RunWeightedMean),
			"run-weighted mean; "+reasonCohort+", and no subset of the file reproduces all of the paper's counts. The mean over environments is "+fmt.Sprintf("%.3f", paper.Score)), true
	}
	env, ok := environmentByTitle(r["environment"])
	if !ok {
		return computed{}, false
	}
	switch r["quantity"] {
	case "experts scoring >0.05 at 8h":
		return c.above(id, r, env), true
	case "estimated ceiling (normalized)":
		return c.ceiling(r, env), true
	case "best achieved (normalized)":
		return c.bestAchieved(id, r, env), true
	}
	return computed{}, false
}

func environmentByTitle(title string) (rebench.Environment, bool) {
	for _, e := range rebench.Environments() {
		if e.Title == title {
			return e, true
		}
	}
	return rebench.Environment{}, false
}

// agree compares a number with the printed one within the printed rounding.
func agree(r map[string]string, got float64, text, reason string) computed {
	want, err := strconv.ParseFloat(r["value"], 64)
	if err != nil {
		return computed{text: text, verdict: CheckCannot, reason: reason}
	}
	if math.Abs(got-want) <= halfUnit(r["value"])+1e-9 {
		return computed{text: text, verdict: CheckAgrees}
	}
	return computed{text: text, verdict: CheckDiffers, reason: reason}
}

// halfUnit is half a unit in the last printed digit.
func halfUnit(printed string) float64 {
	_, decimals, ok := strings.Cut(printed, ".")
	if !ok {
		return 0.5
	}
	return 0.5 * math.Pow(10, -float64(len(decimals)))
}

func (c *paperChecker) share(r map[string]string, part, whole int, more string) computed {
	if whole == 0 {
		return computed{verdict: CheckCannot, reason: "no human attempts in this database"}
	}
	pct := 100 * float64(part) / float64(whole)
	return agree(r, pct, fmt.Sprintf("%d/%d = %.1f%%", part, whole, pct), reasonCohort+more)
}

func (c *paperChecker) above(id string, r map[string]string, env rebench.Environment) computed {
	n := 0
	scores := c.humanFinals[env.ID]
	for _, x := range scores {
		if x > 0.05 {
			n++
		}
	}
	text := fmt.Sprintf("%d/%d", n, len(scores))
	if text == r["value"] {
		return computed{text: text, verdict: CheckAgrees}
	}
	return computed{text: text, verdict: CheckDiffers, reason: joinReasons(reasonCohort, paperReasons[id])}
}

// ceiling compares the printed ceiling with the raw one normalized here.
func (c *paperChecker) ceiling(r map[string]string, env rebench.Environment) computed {
	all, err := ceilings()
	got, ok := all[env.ID]
	if err != nil || !ok {
		return computed{verdict: CheckCannot, reason: "the raw ceiling is not printed as a range that has a score"}
	}
	text := fmt.Sprintf("%.2f-%.2f", got.Low, got.High)
	if text == r["value"] {
		return computed{text: text, verdict: CheckAgrees}
	}
	reason := "the printed ends are not the raw ones normalized as the published file was"
	switch env.ID {
	case rebench.GPT2QA:
		reason = "the published file uses 0.8149 as the reference, the paper's table 0.85 (with which it is 1.45-1.48)"
	case rebench.OptimizeKernel:
		reason = "the printed upper end fits a starting time of 4.76 ms (README); the file was normalized with 4.728 ms"
	case rebench.RestrictedMLM:
		reason = fmt.Sprintf("the upper end is %.3f here, which the paper seems to have cut instead of rounded", got.High)
	}
	return computed{text: text, verdict: CheckDiffers, reason: reason}
}

// normalizedQuantity normalizes a quantity such as a loss or a time.
func normalizedQuantity(env rebench.Environment, quantity, reference float64) (float64, error) {
	raw := quantity
	if env.Log {
		raw = math.Log(quantity - env.LogFloor)
	}
	return stats.NormalizedScore(raw, env.PublishedStart, reference)
}

func (c *paperChecker) bestAchieved(id string, r map[string]string, env rebench.Environment) computed {
	scores := c.humanFinals[env.ID]
	if len(scores) == 0 {
		return computed{verdict: CheckCannot, reason: "no human attempts in this database"}
	}
	best := scores[len(scores)-1]
	return agree(r, best, fmt.Sprintf("%.2f", best), joinReasons("best human of the reconstructed 71", paperReasons[id]))
}

// bestAgentAt returns the highest agent score at a total time with the agent's
// label; a saturated score, marked so, only where there is no other.
func (c *paperChecker) bestAgentAt(total time.Duration) (float64, string) {
	var best CurvePoint
	label := ""
	for _, s := range c.curves[rebench.CohortPaper71].Series {
		if s.Kind != rebench.KindAgent || s.Allocation != "best" {
			continue
		}
		for _, p := range s.Points {
			if p.TotalTimeS != int64(total.Seconds()) {
				continue
			}
			if label == "" || best.Saturated && !p.Saturated || best.Saturated == p.Saturated && p.Score > best.Score {
				best, label = p, s.Agent
			}
		}
	}
	if best.Saturated {
		label += ", saturated"
	}
	return best.Score, label
}

func (c *paperChecker) humanAt(cohort rebench.Cohort, total time.Duration) (CurvePoint, bool) {
	return findPoint(c.curves[cohort], rebench.HumanName, "28800s", total)
}

func findPoint(curves *Curves, agent, allocation string, total time.Duration) (CurvePoint, bool) {
	for _, s := range curves.Series {
		if s.Agent != agent || s.Allocation != allocation {
			continue
		}
		for _, p := range s.Points {
			if p.TotalTimeS == int64(total.Seconds()) {
				return p, true
			}
		}
	}
	return CurvePoint{}, false
}

func (c *paperChecker) ratioAtTwoHours() computed {
	human, agent := 0.0, 0.0
	for _, m := range c.digitised {
		if m.TotalTimeS != 7200 {
			continue
		}
		if m.Kind == rebench.KindHuman {
			human = m.Score
		} else {
			agent = max(agent, m.Score)
		}
	}
	return computed{verdict: CheckCannot, reason: fmt.Sprintf("%s; the paper's digitised points give %.3f / %.3f = %.1f", reasonLowBudget, agent, human, agent/human)}
}

// narrowLead is the lead that the paper calls narrow, in its digitised Figures 7 and
// 11: humans at 0.657, the best agent at 0.444.
const narrowLead = 0.213

func (c *paperChecker) humansAhead() computed {
	h, ok := c.humanAt(rebench.CohortPaper71, 8*time.Hour)
	agent, label := c.bestAgentAt(8 * time.Hour)
	if !ok || agent == 0 {
		return computed{verdict: CheckCannot, reason: "no attempts to compare"}
	}
	text := fmt.Sprintf("%.3f against %.3f (%s)", h.Score, agent, label)
	switch ahead := h.Score - agent; {
	case ahead <= 0:
		return computed{text: text, verdict: CheckDiffers, reason: "humans are not ahead here; " + reasonAgentRows}
	case ahead > narrowLead+1e-9:
		return computed{text: text, verdict: CheckDiffers, reason: fmt.Sprintf("humans are ahead here too, but not narrowly: by %.3f, in the paper's figures by %.3f (0.657 against 0.444, digitised); %s", ahead, narrowLead, reasonAgentRows)}
	}
	return computed{text: text, verdict: CheckAgrees}
}

func (c *paperChecker) ratioAt32Hours(r map[string]string) computed {
	h, ok := c.humanAt(rebench.CohortPaper71, 32*time.Hour)
	agent, label := c.bestAgentAt(32 * time.Hour)
	if !ok || agent == 0 {
		return computed{verdict: CheckCannot, reason: "no attempts to compare at 32 h"}
	}
	return agree(r, h.Score/agent, fmt.Sprintf("%.3f / %.3f (%s) = %.1f", h.Score, agent, label, h.Score/agent), reasonAgentRows)
}

// figureTolerance is how far a digitised point may lie from the computed one.
const figureTolerance = 0.02

// figures compares digitised points with the same allocation computed here.
func (c *paperChecker) figures() ([]FigureCheck, error) {
	var out []FigureCheck
	for _, m := range c.digitised {
		f := FigureCheck{PublishedMark: m, Verdict: CheckCannot}
		total := time.Duration(m.TotalTimeS) * time.Second
		var p CurvePoint
		var ok bool
		switch {
		case m.Kind == rebench.KindHuman && total < rebench.HumanTimeLimit:
			f.Reason = reasonLowBudget
		case m.Kind == rebench.KindHuman:
			// The figure's humans agree with all 86 attempts, not with the reconstructed 71.
			p, ok = c.humanAt(rebench.CohortAll, total)
			f.Reason = "computed from all 86 attempts"
		default:
			p, ok = findPoint(c.curves[rebench.CohortPaper71], m.agent(), allocationSeconds(m.Allocation), total)
			f.Reason = reasonAgentRows
			if !ok {
				f.Reason = "no published rows of this agent and time limit cover all seven environments"
			}
		}
		if ok {
			score := p.Score
			f.Computed, f.ComputedCILow, f.ComputedCIHigh = &score, p.CILow, p.CIHigh
			f.Verdict = CheckDiffers
			if math.Abs(score-m.Score) <= figureTolerance {
				f.Verdict = CheckAgrees
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// allocationSeconds turns "30min@16" into the series name "1800s".
func allocationSeconds(allocation string) string {
	limit, _, _ := strings.Cut(allocation, "@")
	d, err := time.ParseDuration(strings.TrimSuffix(limit, "in")) // 30min -> 30m
	if err != nil {
		return ""
	}
	return strconv.FormatInt(int64(d.Seconds()), 10) + "s"
}
