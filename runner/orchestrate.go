package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/agent"
	"rebench/runner/attempt"
	"rebench/runner/calibration"
	"rebench/runner/client"
	"rebench/runner/environment"
	"rebench/runner/scoring"
)

// plan is a number of attempts alike.
type plan struct {
	env         *environment.Environment
	profile     *environment.Profile
	agent       agent.Spec
	names       agent.Names
	timeLimit   time.Duration
	attempts    int
	parallel    int
	seed        int64 // of the first attempt; the next has one more
	maxScorings int
	keep        bool
	server      *client.Client // nil: nothing is delivered
	patience    time.Duration  // how long delivery may take after an attempt's end
	began       func(id string)
}

func (p *plan) check() error {
	bad := func(format string, args ...any) error { return rebench.Errorf(rebench.CodeInvalid, format, args...) }
	switch {
	case p.attempts < 1 || p.attempts > 10_000:
		return bad("--attempts is %d, expected 1 to 10000", p.attempts)
	case p.parallel < 1:
		return bad("--parallel is %d, expected 1 or more", p.parallel)
	case p.timeLimit < time.Second || p.timeLimit > 10_000*time.Hour:
		return bad("--time-limit is %v, expected 1s to 10000h", p.timeLimit)
	case p.agent.Kind == agent.KindHuman && p.attempts > 1:
		return bad("a human makes one attempt at a time")
	}
	return nil
}

// outcome is how one attempt of a plan went.
type outcome struct {
	ID         string               `json:"attempt_id"`
	Seed       int64                `json:"seed"`
	EndReason  attemptlog.EndReason `json:"end_reason"`
	Entries    int                  `json:"entries"`
	Valid      int                  `json:"valid"`
	Raw        *float64             `json:"raw"`        // of the entry that counts; scored again where that was done
	Normalized *float64             `json:"normalized"` // floored at 0
	Rescored   bool                 `json:"rescored"`
	Log        string               `json:"log"` // path
	Delivered  bool                 `json:"delivered"`
	Error      string               `json:"error,omitempty"`

	err error
}

// attempts carries out a plan. The error says that nothing could begin; what
// went wrong within an attempt is in its outcome.
func (m *machine) attempts(ctx context.Context, p *plan) ([]outcome, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	ag, err := agent.Prepare(ctx, p.agent, p.names, m.exec, p.env)
	if err != nil {
		return nil, err
	}
	assets, err := m.assets(ctx, p.env, p.profile)
	if err != nil {
		return nil, err
	}
	cal, err := m.calibrated(ctx, p.env, p.profile, assets)
	if err != nil {
		return nil, err
	}
	if p.parallel > 1 && int(p.profile.Limits.CPUs)*p.parallel > len(m.pool.Cores) {
		m.progress.note("%d attempts of %g CPU cores each do not fit on %d cores at once; some wait for others", p.parallel, p.profile.Limits.CPUs, len(m.pool.Cores))
	}
	out := make([]outcome, p.attempts)
	slots := make(chan struct{}, p.parallel)
	var wg sync.WaitGroup
	for i := range p.attempts {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			out[i] = outcome{Seed: p.seed + int64(i), Error: "not begun: interrupted", err: ctx.Err()}
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			out[i] = m.attempt(ctx, p, ag, assets, cal, i)
		})
	}
	wg.Wait()
	return out, nil
}

// attempt runs one attempt of a plan and delivers its log.
func (m *machine) attempt(ctx context.Context, p *plan, ag *agent.Agent, assets scoring.Assets, cal *calibration.Calibration, i int) outcome {
	o := outcome{Seed: p.seed + int64(i)}
	fail := func(err error) outcome {
		o.err, o.Error = err, err.Error()
		return o
	}
	running, err := m.locks.Running(ctx, "attempt", m.waitingForCalibration)
	if err != nil {
		return fail(err)
	}
	defer running.Release()
	if o.ID, err = attempt.NewID(); err != nil {
		return fail(err)
	}
	lease, err := m.lease(ctx, p.profile, o.ID)
	if err != nil {
		return fail(err)
	}
	defer lease.Release()
	bar := m.progress.start("attempt %d of %d", i+1, p.attempts)
	defer bar.finish()
	dir, err := m.state.Create(p.meta(o.ID, o.Seed, ag))
	if err != nil {
		return fail(err)
	}
	o.Log = dir.LogPath()
	prepared, err := m.prepare(ctx, p.env, p.profile, assets, o.ID, filepath.Join(dir.Path, attempt.PreparedName))
	if err != nil {
		dir.Remove()
		return fail(err)
	}
	defer prepared.remove()
	d := m.startDelivery(ctx, p, dir)
	a, err := attempt.New(attempt.Config{
		Dir: dir, Environment: p.env, Profile: p.profile, Agent: ag, TimeLimit: p.timeLimit, Seed: o.Seed, Executor: m.exec, Scorer: m.scorer,
		Calibration: cal, Lease: lease, Inventory: m.inventory, Hardware: m.hardware, AssetsDir: assets.Dir, Prepared: prepared.Prepared, ToolVersion: version(),
		MaxScorings: p.maxScorings, KeepSubmissions: p.keep, Logger: m.logger, Synced: d.synced, Serve: m.service(p.env, p.profile, assets, o.ID),
	})
	if err == nil && ag.Human {
		var release func()
		if release, err = attachTerminal(ctx, ag, a); err == nil {
			defer release()
		}
	}
	if err != nil {
		dir.Remove()
		return fail(err)
	}
	if p.began != nil {
		p.began(o.ID)
	}
	unfollow := follow(a, bar)
	summary, err := a.Run(ctx)
	unfollow()
	o.fill(&summary, p.env.Selection, floored(cal))
	if err != nil {
		o.err, o.Error = err, err.Error()
	}
	o.Delivered, err = d.finish(ctx, p.patience)
	if err != nil {
		m.progress.note("attempt %s is not delivered: %v; `runner push %s` goes on", o.ID, err, o.ID)
	}
	return o
}

func (p *plan) meta(id string, seed int64, ag *agent.Agent) attempt.Meta {
	m := attempt.Meta{
		ID: id, Environment: string(p.env.ID), Profile: string(p.profile.Name), Agent: ag.Name,
		TimeLimitS: p.timeLimit.Seconds(), Seed: seed,
	}
	if p.server != nil {
		m.Server = p.server.Server()
	}
	return m
}

// fill takes the result from a log's summary.
func (o *outcome) fill(s *attemptlog.Summary, sel rebench.Selection, normalize func(float64) *float64) {
	o.EndReason, o.Entries, o.Valid = s.EndReason, s.Scores, s.ValidScores
	o.Raw, o.Normalized, o.Rescored = counting(s.Final(sel), normalize)
}

// counting is the score of the entry that counts: that of its scoring again on
// fresh draws, where there was one, even where that gave none.
func counting(r *attemptlog.Result, normalize func(float64) *float64) (raw, normalized *float64, rescored bool) {
	if r == nil {
		return nil, nil, false
	}
	if r.Rescore == nil {
		return r.Raw, r.Normalized, false
	}
	if r.Rescore.Score == nil {
		return nil, nil, true
	}
	return r.Rescore.Score, normalize(*r.Rescore.Score), true
}

// floored normalizes as results are shown.
func floored(cal *calibration.Calibration) func(float64) *float64 {
	return func(raw float64) *float64 {
		n, err := cal.Normalize(raw)
		if err != nil {
			return nil
		}
		n = max(0, n)
		return &n
	}
}

// follow shows a running attempt until the returned function is called.
func follow(a *attempt.Attempt, b *bar) (stop func()) {
	show := showStatus(b)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				show(a.Status())
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func showStatus(b *bar) func(attempt.Status) {
	return func(s attempt.Status) {
		best := "no valid entry"
		if s.Best != nil {
			best = fmt.Sprintf("best %.3f", *s.Best)
		}
		b.set(s.ElapsedS/s.TimeLimitS, "%s, %d entries, %s", s.State, s.Entries, best)
	}
}

// deliverer connects an attempt's log with its delivery; a nil delivery goes nowhere.
type deliverer struct {
	d      *client.Delivery
	once   sync.Once
	start  func()
	done   chan error
	cancel context.CancelFunc
	mu     sync.Mutex
	size   int64
	dir    *attempt.Dir
}

func (m *machine) startDelivery(ctx context.Context, p *plan, dir *attempt.Dir) *deliverer {
	v := &deliverer{dir: dir}
	if p.server == nil {
		return v
	}
	// Interrupting the runner ends the attempt, whose last lines still go out.
	ctx, v.cancel = context.WithCancel(context.WithoutCancel(ctx))
	v.d = client.NewDelivery(p.server, dir.Meta.ID, dir.LogPath(), m.logger)
	v.done = make(chan error, 1)
	v.start = func() { go func() { v.done <- v.d.Run(ctx) }() }
	return v
}

// synced is told of every event on disk; the first one starts the delivery.
func (v *deliverer) synced(size int64) {
	if v.d == nil {
		return
	}
	v.d.Synced(size)
	v.mu.Lock()
	v.size = max(v.size, size)
	v.mu.Unlock()
	v.once.Do(v.start)
}

// finish waits until the closed log is delivered, at most for patience.
func (v *deliverer) finish(ctx context.Context, patience time.Duration) (bool, error) {
	if v.d == nil {
		return false, nil
	}
	defer v.cancel()
	v.mu.Lock()
	size := v.size
	v.mu.Unlock()
	if size == 0 {
		return false, nil // the attempt never began
	}
	if st, err := os.Stat(v.dir.LogPath()); err == nil {
		size = st.Size() // the log is closed: all of it counts
	}
	v.d.Finish(size)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-v.done:
		if err == nil {
			markDelivered(v.dir)
		}
		return err == nil, err
	case <-timer.C:
	case <-ctx.Done():
		select { // what is under way may still arrive
		case err := <-v.done:
			return err == nil, err
		case <-time.After(2 * time.Second):
		}
	}
	if err := v.d.Err(); err != nil {
		return false, err
	}
	return false, errors.New("the server did not take all of it in time")
}

// deliveredName marks an attempt whose whole log its server has acknowledged.
const deliveredName = "delivered"

func markDelivered(d *attempt.Dir) {
	// Without the mark the log is only sent once more, which the server ignores.
	os.WriteFile(filepath.Join(d.Path, deliveredName), []byte(d.Meta.Server+"\n"), 0o600)
}

func isDelivered(d *attempt.Dir) bool {
	_, err := os.Stat(filepath.Join(d.Path, deliveredName))
	return err == nil
}
