// Package analysis computes what pages, API and exports show: leaderboards,
// curves, comparisons, percentiles. It joins the data (package store) with the
// mathematics (package stats) and decides nothing about presentation.
//
// A Dataset is the immutable state of all attempts at one data revision. Every
// result is cached under the data revision and the whole query, so a cached result
// can never be stale.
package analysis

import (
	"context"
	"slices"
	"sync"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Source is the part of the store that the engine reads.
type Source interface {
	LatestRevision(ctx context.Context) (rebench.DataRevision, error)
	DataRevision(ctx context.Context, id int64) (rebench.DataRevision, error)
	Summaries(ctx context.Context, asof int64) ([]rebench.AttemptSummary, error)
	Agents(ctx context.Context) (map[int64]rebench.Agent, error)
	Entries(ctx context.Context, revisions []int64) (map[int64][]rebench.ScoreEntry, error)
	Attempt(ctx context.Context, id string, asof int64) (*rebench.Attempt, error)
}

// Options of an Engine.
type Options struct {
	// Replicates is the number of bootstrap draws; 0 chooses DefaultReplicates, or
	// LargeReplicates above LargeDataset attempts.
	Replicates int
}

// Numbers of bootstrap draws (02: B = 10,000; 2,000 for large databases).
const (
	DefaultReplicates = 10_000
	LargeReplicates   = 2_000
	LargeDataset      = 20_000
)

const (
	keptDatasets = 3
	keptResults  = 512
)

// Engine computes results. It is safe for concurrent use.
type Engine struct {
	source  Source
	options Options

	mu       sync.Mutex
	datasets []*Dataset // most recently used last
	loading  map[int64]*sync.Mutex
}

// New returns an engine that reads from source.
func New(source Source, o Options) *Engine {
	return &Engine{source: source, options: o, loading: map[int64]*sync.Mutex{}}
}

// Dataset returns the state at data revision asof, or the latest for 0.
func (e *Engine) Dataset(ctx context.Context, asof int64) (*Dataset, error) {
	var revision rebench.DataRevision
	var err error
	if asof == 0 {
		revision, err = e.source.LatestRevision(ctx)
	} else {
		revision, err = e.source.DataRevision(ctx, asof)
	}
	if err != nil {
		return nil, err
	}
	if ds := e.known(revision.ID); ds != nil {
		return ds, nil
	}
	// One goroutine loads; others wait for it.
	e.mu.Lock()
	loading := e.loading[revision.ID]
	if loading == nil {
		loading = &sync.Mutex{}
		e.loading[revision.ID] = loading
	}
	e.mu.Unlock()
	loading.Lock()
	defer loading.Unlock()
	if ds := e.known(revision.ID); ds != nil {
		return ds, nil
	}
	ds, err := e.load(ctx, revision)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.loading, revision.ID)
	e.datasets = append(e.datasets, ds)
	if len(e.datasets) > keptDatasets {
		e.datasets = slices.Delete(e.datasets, 0, 1)
	}
	return ds, nil
}

func (e *Engine) known(id int64) *Dataset {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.datasets, func(d *Dataset) bool { return d.Revision.ID == id })
	if i < 0 {
		return nil
	}
	ds := e.datasets[i]
	e.datasets = append(slices.Delete(e.datasets, i, i+1), ds)
	return ds
}

func (e *Engine) load(ctx context.Context, revision rebench.DataRevision) (*Dataset, error) {
	attempts, err := e.source.Summaries(ctx, revision.ID)
	if err != nil {
		return nil, err
	}
	agents, err := e.source.Agents(ctx)
	if err != nil {
		return nil, err
	}
	replicates := e.options.Replicates
	if replicates == 0 {
		replicates = DefaultReplicates
		if len(attempts) > LargeDataset {
			replicates = LargeReplicates
		}
	}
	return newDataset(revision, attempts, agents, replicates, e.source), nil
}

// Attempt returns one attempt with its log at data revision asof (0 for the latest).
func (e *Engine) Attempt(ctx context.Context, id string, asof int64) (*rebench.Attempt, error) {
	ds, err := e.Dataset(ctx, asof)
	if err != nil {
		return nil, err
	}
	return e.source.Attempt(ctx, id, ds.Revision.ID)
}

// cached returns the result of f for the query, computing it once for each
// data revision, kind of result and query.
func cached[T any](ctx context.Context, e *Engine, kind string, q Query, f func(*Dataset, Query) (*T, error)) (*T, error) {
	ds, err := e.Dataset(ctx, q.AsOf)
	if err != nil {
		return nil, err
	}
	q = ds.complete(q)
	key := kind + "|" + q.key()
	slot := ds.slot(key)
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if slot.value != nil {
		return slot.value.(*T), nil
	}
	if err := ds.check(q); err != nil {
		return nil, err
	}
	value, err := f(ds, q)
	if err != nil {
		return nil, err
	}
	slot.value = value
	return value, nil
}

// complete fills in what the query leaves to defaults.
func (ds *Dataset) complete(q Query) Query {
	if p := q.Profile; len(q.Environments) == 0 && p != "" && p != rebench.ProfilePaper {
		q.Environments = ds.ranked[p]
	}
	return q.normalize()
}

// view describes the query for the result that carries it.
func (ds *Dataset) view(q Query, fr *frame) View {
	v := View{
		Profile: q.Profile, Environments: q.Environments, Estimator: estimatorName(q.Estimator), Convention: q.Convention.String(),
		Cohort: string(q.Cohort), Flagged: "exclude", Hardware: fr.hardware, Cap: q.Cap, Replicates: ds.replicates,
		Revision: ds.Revision, DataRevision: ds.Revision.ID, Scorers: map[rebench.EnvironmentID]string{}, Warnings: fr.warnings,
	}
	if q.Flagged {
		v.Flagged = "include"
	}
	for _, env := range q.Environments {
		if s, ok := fr.scorers[env]; ok {
			v.Scorers[env] = s
		}
	}
	return v
}

func estimatorName(e stats.Estimator) string {
	if e == stats.WithReplacement {
		return "with"
	}
	return "without"
}
