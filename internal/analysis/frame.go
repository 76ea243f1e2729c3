package analysis

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// frame is the sample that a query reads: of every agent the attempts of one
// comparability group, by time limit and environment.
type frame struct {
	groups   map[string]*group // by label
	scorers  map[rebench.EnvironmentID]string
	hardware string
	warnings []string
	flagged  []int // suspected attempts of the group, counted or not

	mu     sync.Mutex
	humans map[string]*humanCurve // by environments
}

// group is one agent's cells.
type group struct {
	label    string
	agent    rebench.Agent
	limits   []time.Duration // ascending
	cells    map[time.Duration]map[rebench.EnvironmentID]*cell
	unranked map[string]int // reason -> attempts left out
}

// cell is one (agent, environment, time limit) sample.
type cell struct {
	*stats.Cell
	attempts []int // indices into Dataset.attempts of the attempts that count
	flagged  int   // suspected attempts, counted or left out
	costUSD  *float64
	hasLog   int // attempts with a score log
}

func (ds *Dataset) frame(q Query) *frame {
	key := q.frameKey()
	ds.mu.Lock()
	s := ds.frames[key]
	if s == nil {
		if len(ds.frames) >= 32 {
			clear(ds.frames)
		}
		s = &frameSlot{}
		ds.frames[key] = s
	}
	ds.mu.Unlock()
	s.once.Do(func() { s.frame = ds.newFrame(q) })
	return s.frame
}

func (ds *Dataset) newFrame(q Query) *frame {
	fr := &frame{groups: map[string]*group{}, scorers: ds.scorers(q)}
	fr.hardware = ds.hardware(q, fr)
	for i := range ds.attempts {
		a := &ds.attempts[i]
		if a.Profile == q.Profile && ds.comparable(q, fr, a) {
			fr.add(ds, q, i)
		}
	}
	for _, g := range fr.groups {
		g.seal(ds, q)
	}
	return fr
}

// scorers chooses the scorer version of each environment.
func (ds *Dataset) scorers(q Query) map[rebench.EnvironmentID]string {
	out := map[rebench.EnvironmentID]string{}
	for i := range ds.attempts {
		a := &ds.attempts[i]
		if a.Profile != q.Profile {
			continue
		}
		switch {
		case q.Scorer != "":
			if a.ScorerVersion == q.Scorer {
				out[a.Environment] = q.Scorer
			}
		case q.Profile == rebench.ProfilePaper:
			if a.ScorerVersion == rebench.ScorerMETRPublished {
				out[a.Environment] = a.ScorerVersion
			}
		default: // the newest import decides
			out[a.Environment] = a.ScorerVersion
		}
	}
	return out
}

// hardware chooses the hardware class that is ranked: the reader's, or the most
// frequent one of the group.
func (ds *Dataset) hardware(q Query, fr *frame) string {
	count := map[string]int{}
	for i := range ds.attempts {
		a := &ds.attempts[i]
		if a.Profile == q.Profile && a.ScorerVersion == fr.scorers[a.Environment] {
			count[a.HardwareClass]++
		}
	}
	classes := slices.SortedFunc(maps.Keys(count), func(x, y string) int {
		if count[x] != count[y] {
			return count[y] - count[x]
		}
		return strings.Compare(x, y)
	})
	if len(classes) < 2 {
		if q.Hardware != "" || len(classes) == 0 {
			return q.Hardware
		}
		return classes[0]
	}
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = fmt.Sprintf("%s (%s)", className(c), rebench.Count(count[c], "attempt"))
	}
	if q.Hardware == "all" {
		fr.warnings = append(fr.warnings, "Hardware classes are merged: "+strings.Join(names, ", ")+". A faster machine does more within the same time limit.")
		return "all"
	}
	chosen := q.Hardware
	if chosen == "" {
		chosen = classes[0]
	}
	var others []string
	for i, c := range classes {
		if c != chosen {
			others = append(others, names[i])
		}
	}
	fr.warnings = append(fr.warnings, fmt.Sprintf("Only results on %s are shown. Left out: %s.", className(chosen), strings.Join(others, ", ")))
	return chosen
}

func className(c string) string {
	if c == "" {
		return "unknown hardware"
	}
	return c
}

// comparable reports whether an attempt belongs to the query's comparability group.
func (ds *Dataset) comparable(q Query, fr *frame, a *rebench.AttemptSummary) bool {
	scorer, ok := fr.scorers[a.Environment]
	if !ok || a.ScorerVersion != scorer {
		return false
	}
	if fr.hardware != "all" && a.HardwareClass != fr.hardware {
		return false
	}
	if ds.agents[a.AgentID].Kind != rebench.KindHuman {
		return true
	}
	if q.Profile == rebench.ProfilePaper && q.Cohort == rebench.CohortPaper71 && a.Cohort == rebench.CohortAll {
		return false
	}
	return !q.HumanHours7To9 || a.Duration >= 7*time.Hour && a.Duration <= 9*time.Hour
}

func (fr *frame) add(ds *Dataset, q Query, i int) {
	a := &ds.attempts[i]
	label := ds.attemptLabel(a)
	g := fr.groups[label]
	if g == nil {
		g = &group{label: label, agent: ds.agents[a.AgentID], cells: map[time.Duration]map[rebench.EnvironmentID]*cell{}, unranked: map[string]int{}}
		fr.groups[label] = g
	}
	switch {
	case a.Excluded:
		g.unranked["invalid or retracted"]++
		return
	case !a.Ranked:
		g.unranked[a.Unranked]++
		return
	case !a.FinalKnown:
		g.unranked["no normalized score"]++
		return
	case a.TimeLimit <= 0:
		g.unranked["time limit unknown"]++
		return
	}
	c := g.at(a.TimeLimit, a.Environment)
	if a.Suspected {
		c.flagged++
		fr.flagged = append(fr.flagged, i)
		if !q.Flagged {
			return
		}
	}
	c.attempts = append(c.attempts, i)
	if a.HasLog {
		c.hasLog++
	}
}

func (g *group) at(limit time.Duration, env rebench.EnvironmentID) *cell {
	byEnv := g.cells[limit]
	if byEnv == nil {
		byEnv = map[rebench.EnvironmentID]*cell{}
		g.cells[limit] = byEnv
	}
	c := byEnv[env]
	if c == nil {
		c = &cell{}
		byEnv[env] = c
	}
	return c
}

// seal builds the samples once all attempts are in; cells without any go.
func (g *group) seal(ds *Dataset, q Query) {
	for limit, byEnv := range g.cells {
		for env, c := range byEnv {
			if len(c.attempts) == 0 {
				delete(byEnv, env)
				continue
			}
			scores := make([]float64, len(c.attempts))
			for i, at := range c.attempts {
				scores[i] = capped(ds.attempts[at].Final, q.Cap)
			}
			c.Cell = ds.cell(g.label, env, limit, scores)
			c.costUSD = ds.meanCost(c.attempts)
		}
		if len(byEnv) == 0 {
			delete(g.cells, limit)
		}
	}
	g.limits = slices.Sorted(maps.Keys(g.cells))
}

func capped(x float64, limit *float64) float64 {
	if limit != nil {
		return min(x, *limit)
	}
	return x
}

// meanCost is the mean cost of attempts, nil unless every one is known.
func (ds *Dataset) meanCost(attempts []int) *float64 {
	sum := 0.0
	for _, i := range attempts {
		c := ds.attempts[i].CostUSD
		if c == nil {
			return nil
		}
		sum += *c
	}
	mean := sum / float64(len(attempts))
	return &mean
}

// cell returns the sample of a cell, the same one for equal scores.
func (ds *Dataset) cell(label string, env rebench.EnvironmentID, limit time.Duration, scores []float64) *stats.Cell {
	slices.Sort(scores)
	name := fmt.Sprintf("%s|%s|%d", label, env, int64(limit.Seconds()))
	key := make([]byte, 0, len(name)+8*len(scores))
	key = append(key, name...)
	for _, s := range scores {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(s))
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if c := ds.cells[string(key)]; c != nil {
		return c
	}
	e, _ := rebench.EnvironmentByID(env)
	c, err := stats.NewCell(name, scores, e.Selection == rebench.SelectLast)
	if err != nil {
		// The store holds finite scores only and the sample is not empty.
		panic(fmt.Sprintf("analysis: %v", err))
	}
	ds.cells[string(key)] = c
	return c
}

// covers returns the agent's cells at a time limit in the order of envs, and the
// environments it lacks there.
func (g *group) covers(limit time.Duration, envs []rebench.EnvironmentID) (cells []*cell, missing []rebench.EnvironmentID) {
	for _, env := range envs {
		if c := g.cells[limit][env]; c != nil {
			cells = append(cells, c)
		} else {
			missing = append(missing, env)
		}
	}
	return cells, missing
}

// truncated returns the agent's cells read at a total time below the attempts'
// limit, from attempts of the given limit that carry a score log.
func (ds *Dataset) truncated(ctx context.Context, q Query, g *group, limit, at time.Duration) (map[rebench.EnvironmentID]*cell, error) {
	out := map[rebench.EnvironmentID]*cell{}
	for env, c := range g.cells[limit] {
		if c.hasLog == 0 {
			continue
		}
		var revisions []int64
		var attempts []int
		for _, i := range c.attempts {
			if ds.attempts[i].HasLog {
				attempts = append(attempts, i)
				revisions = append(revisions, ds.attempts[i].RevisionID)
			}
		}
		logs, err := ds.source.Entries(ctx, revisions)
		if err != nil {
			return nil, err
		}
		scores := make([]float64, len(attempts))
		for i, r := range revisions {
			scores[i] = capped(scoreAt(env, logs[r], limit, at), q.Cap)
		}
		label := fmt.Sprintf("%s truncated from %d", g.label, int64(limit.Seconds()))
		out[env] = &cell{Cell: ds.cell(label, env, at, scores), attempts: attempts, flagged: c.flagged, hasLog: len(attempts)}
	}
	return out, nil
}

// scoreAt reads one attempt's score log at a time (stats.ScoreAt).
func scoreAt(env rebench.EnvironmentID, log []rebench.ScoreEntry, limit, at time.Duration) float64 {
	e, _ := rebench.EnvironmentByID(env)
	return stats.ScoreAt(StatEntries(log), limit, at, AggregationOf(e)).Score
}

// AggregationOf returns how an environment's entries make up an attempt's score.
func AggregationOf(e rebench.Environment) stats.Aggregation {
	if e.Selection == rebench.SelectLast {
		return stats.LastEntry
	}
	return stats.BestEntry
}

// StatEntries turns a score log into the form that stats.ScoreAt reads.
func StatEntries(log []rebench.ScoreEntry) []stats.Entry {
	out := make([]stats.Entry, len(log))
	for i, e := range log {
		out[i] = stats.Entry{Valid: e.Valid && e.Normalized != nil, TimeUnknown: e.Elapsed == nil}
		if e.Elapsed != nil {
			out[i].Elapsed = *e.Elapsed
		}
		if e.Normalized != nil {
			out[i].Score = *e.Normalized
		}
	}
	return out
}
