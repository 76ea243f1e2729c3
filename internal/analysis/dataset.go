package analysis

import (
	"fmt"
	"slices"
	"sync"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Dataset is all attempts as they stood at one data revision. It does not change.
type Dataset struct {
	Revision rebench.DataRevision
	attempts []rebench.AttemptSummary
	ranked   map[rebench.Profile][]rebench.EnvironmentID // environments with attempts that may rank
	label    map[int64]string                            // agent id -> label
	agents   map[int64]rebench.Agent
	byLabel  map[string]rebench.Agent // a label of several human cohorts keeps the first
	byID     map[string]int           // attempt id -> index

	replicates int
	source     Source

	mu      sync.Mutex
	frames  map[string]*frameSlot
	cells   map[string]*stats.Cell // by key and scores, so that views share draws
	draws   drawCache
	results map[string]*slot
	recent  []string // keys of results, least recently used first
}

type slot struct {
	mu    sync.Mutex
	value any
}

type frameSlot struct {
	once  sync.Once
	frame *frame
}

func newDataset(r rebench.DataRevision, attempts []rebench.AttemptSummary, agents map[int64]rebench.Agent, replicates int, source Source) *Dataset {
	ds := &Dataset{
		Revision: r, attempts: attempts, agents: agents, replicates: replicates, source: source,
		label: labels(agents), byLabel: map[string]rebench.Agent{}, byID: make(map[string]int, len(attempts)),
		ranked: map[rebench.Profile][]rebench.EnvironmentID{}, frames: map[string]*frameSlot{}, cells: map[string]*stats.Cell{}, results: map[string]*slot{},
	}
	for i, a := range attempts {
		ds.byID[a.ID] = i
		if a.Ranked && !slices.Contains(ds.ranked[a.Profile], a.Environment) {
			ds.ranked[a.Profile] = append(ds.ranked[a.Profile], a.Environment)
		}
		l := ds.attemptLabel(&attempts[i])
		if _, ok := ds.byLabel[l]; !ok {
			ds.byLabel[l] = agents[a.AgentID]
		}
	}
	return ds
}

// labels names every agent: its name, "name (scaffold)" where a name occurs with
// several scaffolds, and with the model where that is still not unique. An agent
// without a known scaffold keeps the plain name.
func labels(agents map[int64]rebench.Agent) map[int64]string {
	ids := make([]int64, 0, len(agents))
	scaffolds := map[string]map[string]bool{}
	for id, a := range agents {
		ids = append(ids, id)
		if scaffolds[a.Name] == nil {
			scaffolds[a.Name] = map[string]bool{}
		}
		scaffolds[a.Name][a.Scaffold] = true
	}
	slices.Sort(ids)
	out, taken := map[int64]string{}, map[string]bool{}
	for _, id := range ids {
		a := agents[id]
		l := a.Name
		if len(scaffolds[a.Name]) > 1 && a.Scaffold != "" {
			l = fmt.Sprintf("%s (%s)", a.Name, a.Scaffold)
		}
		if taken[l] {
			l = fmt.Sprintf("%s [%s]", l, a.Model)
		}
		if taken[l] {
			l = fmt.Sprintf("%s #%d", l, id)
		}
		taken[l] = true
		out[id] = l
	}
	return out
}

// attemptLabel is the label an attempt counts under. In the paper's conditions the
// published humans are one group and every uploaded cohort another; elsewhere all
// humans are one group.
func (ds *Dataset) attemptLabel(a *rebench.AttemptSummary) string {
	if ds.agents[a.AgentID].Kind != rebench.KindHuman {
		return ds.label[a.AgentID]
	}
	if a.Profile != rebench.ProfilePaper || a.Cohort == rebench.CohortPaper71 || a.Cohort == rebench.CohortAll {
		return rebench.HumanName
	}
	if a.Cohort == "" {
		return rebench.HumanName + " (uploaded)"
	}
	return fmt.Sprintf("%s (%s)", rebench.HumanName, a.Cohort)
}

// Labels returns every agent's label, sorted, humans last.
func (ds *Dataset) Labels() []string {
	out := make([]string, 0, len(ds.byLabel))
	for l := range ds.byLabel {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b string) int {
		ha, hb := ds.byLabel[a].Kind == rebench.KindHuman, ds.byLabel[b].Kind == rebench.KindHuman
		switch {
		case ha != hb && ha:
			return 1
		case ha != hb:
			return -1
		case a < b:
			return -1
		default:
			return 1
		}
	})
	return out
}

// check refuses names that do not exist, saying what does.
func (ds *Dataset) check(q Query) error {
	for _, env := range q.Environments {
		if _, ok := rebench.EnvironmentByID(env); !ok {
			return rebench.Errorf(rebench.CodeInvalid, "unknown environment %q; there are %v", env, rebench.EnvironmentIDs())
		}
	}
	for _, l := range q.Agents {
		if err := ds.checkAgent(l); err != nil {
			return err
		}
	}
	return nil
}

func (ds *Dataset) checkAgent(label string) error {
	if _, ok := ds.byLabel[label]; !ok {
		return rebench.Errorf(rebench.CodeNotFound, "unknown agent %q; there are %q", label, ds.Labels())
	}
	return nil
}

// slot returns the place of a cached result, dropping the least recently used.
func (ds *Dataset) slot(key string) *slot {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if i := slices.Index(ds.recent, key); i >= 0 {
		ds.recent = slices.Delete(ds.recent, i, i+1)
	} else if len(ds.recent) >= keptResults {
		delete(ds.results, ds.recent[0])
		ds.recent = slices.Delete(ds.recent, 0, 1)
	}
	ds.recent = append(ds.recent, key)
	s := ds.results[key]
	if s == nil {
		s = &slot{}
		ds.results[key] = s
	}
	return s
}
