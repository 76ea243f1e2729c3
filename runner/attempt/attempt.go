package attempt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/agent"
	"rebench/runner/calibration"
	"rebench/runner/device"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// Config is everything one attempt needs. All of it is decided before the clock starts.
type Config struct {
	Dir         *Dir // fresh and locked, from State.Create
	Environment *environment.Environment
	Profile     *environment.Profile
	Agent       *agent.Agent
	TimeLimit   time.Duration
	Seed        int64
	Executor    sandbox.Executor
	Scorer      scoring.Scorer
	Calibration *calibration.Calibration
	Lease       *device.Lease    // may hold no GPUs
	Inventory   device.Inventory // for the check that leased GPUs are idle; nil without GPUs
	Hardware    device.Hardware
	AssetsDir   string // "" when the environment has none
	Prepared    scoring.Prepared
	ToolVersion string
	// Serve starts the environment's service on a listening socket; nil when it
	// has none.
	Serve func(ctx context.Context, listener *os.File) (Servant, error)

	// MaxScorings bounds the scorings one solver may ask for; 0: DefaultMaxScorings.
	// Scoring is the runner's work, most of it uncharged.
	MaxScorings int
	// KeepSubmissions keeps every scored solution, not only the one that counts.
	KeepSubmissions bool

	Time   Source // nil: SystemTime
	Logger *slog.Logger
	// Synced is called after each event is on disk, with the size of the log.
	Synced func(size int64)
}

// DefaultMaxScorings is how many scorings one solver may ask for.
const DefaultMaxScorings = 2000

// Status is what a running attempt tells about itself.
type Status struct {
	ID          string               `json:"id"`
	State       string               `json:"state"` // preparing, running, paused, scoring, final, ended
	ElapsedS    float64              `json:"elapsed_s"`
	TimeLimitS  float64              `json:"time_limit_s"`
	Entries     int                  `json:"entries"`
	Valid       int                  `json:"valid"`
	Best        *float64             `json:"best"` // normalized, of the entry that counts so far; null when none
	EndReason   attemptlog.EndReason `json:"end_reason,omitempty"`
	Detail      string               `json:"detail,omitempty"`
	PausedSince *time.Time           `json:"paused_since,omitempty"`
}

// Attempt is a running attempt.
type Attempt struct {
	cfg    Config
	time   Source
	clock  *Clock
	logger *slog.Logger

	log  *attemptlog.Appender
	ws   sandbox.Workspace
	proc sandbox.Process

	service  service
	agentOut *cappedFile
	started  time.Time // wall time at which the clock started

	fatal    chan error    // capacity 1: the first fault that ends the attempt
	stop     chan struct{} // closed by Stop
	stopOnce sync.Once
	// scoringCtx ends a scoring in progress, when the attempt is cancelled.
	scoringCtx    context.Context
	cancelScoring context.CancelFunc

	scoreMu sync.Mutex // held while a scoring runs

	mu          sync.Mutex // guards what follows
	freezes     int        // how many hold the solver frozen
	freezeCount int        // how often it was frozen
	pause       ledger
	onBreak     bool
	over        ErrorWord // not "": no further score is taken, and why
	entries     []Entry
	kept        map[int64]submission // by seq of the score line
	nextIndex   uint64
	draws       []draw
	state       string
}

// submission is a scored solution that may be scored again.
type submission struct {
	dir string
}

// draw is what is needed to repeat a scoring; secret until the attempt's end.
type draw struct {
	Index   uint64 `json:"index"`
	Purpose string `json:"purpose"`
	Key     string `json:"draw_key"` // hex
}

// ID is the attempt's id.
func (a *Attempt) ID() string { return a.cfg.Dir.Meta.ID }

// New checks the configuration of an attempt.
func New(cfg Config) (*Attempt, error) {
	if cfg.TimeLimit <= 0 {
		return nil, rebench.Errorf(rebench.CodeInvalid, "attempt: the time limit is %v, expected more than 0", cfg.TimeLimit)
	}
	if cfg.Time == nil {
		cfg.Time = SystemTime{}
	}
	if cfg.MaxScorings == 0 {
		cfg.MaxScorings = DefaultMaxScorings
	}
	if cfg.Lease == nil {
		cfg.Lease = &device.Lease{}
	}
	a := &Attempt{
		cfg: cfg, time: cfg.Time, clock: NewClock(cfg.Time, cfg.TimeLimit),
		logger: cfg.Logger.With("attempt", cfg.Dir.Meta.ID),
		fatal:  make(chan error, 1), stop: make(chan struct{}),
		kept: map[int64]submission{}, state: "preparing",
	}
	return a, nil
}

// Run runs the attempt to its end. The error says that there was no attempt (it
// could not be prepared) or that the runner failed it; in the latter case, and
// whenever the solver ended it, the log says how it ended and the summary is set.
func (a *Attempt) Run(ctx context.Context) (attemptlog.Summary, error) {
	a.scoringCtx, a.cancelScoring = context.WithCancel(context.WithoutCancel(ctx))
	defer a.cancelScoring()
	if err := a.prepare(ctx); err != nil {
		a.discard()
		return attemptlog.Summary{}, err
	}
	defer a.cleanup()
	if err := a.openLog(); err != nil {
		a.discard()
		return attemptlog.Summary{}, err
	}
	socket, err := a.listenScores()
	if err != nil {
		return a.finish(ctx, ending{reason: attemptlog.EndError, detail: err.Error(), err: err}, nil)
	}
	control, err := a.listenControl()
	if err != nil {
		return a.finish(ctx, ending{reason: attemptlog.EndError, detail: err.Error(), err: err}, socket)
	}
	defer control.close()
	defer a.startHeartbeat()()
	return a.finish(ctx, a.run(ctx, socket), socket)
}

// ending is how the solver's part of the attempt ended.
type ending struct {
	reason attemptlog.EndReason
	detail string
	result *sandbox.Result // of the agent, when it ended by itself
	err    error           // set when the runner failed

	service    json.RawMessage // what the service said last of what it did; nil without one
	serviceErr error
}

// run starts the solver and waits for what ends the attempt.
func (a *Attempt) run(ctx context.Context, socket *scoreSocket) ending {
	if err := a.startService(ctx); err != nil {
		return ending{reason: attemptlog.EndError, detail: "the environment's service did not start: " + err.Error(), err: err}
	}
	proc, err := a.startAgent(ctx, socket.path)
	if err != nil {
		return ending{reason: attemptlog.EndError, detail: "the solver's sandbox did not start: " + err.Error(), err: err}
	}
	if err := a.startClock(proc); err != nil {
		return ending{reason: attemptlog.EndError, detail: err.Error(), err: err}
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := make(chan struct{})
	go func() {
		if a.clock.WaitLimit(watching) == nil {
			close(limit)
		}
	}()
	socket.wg.Go(func() { socket.serve(watching) })
	var end ending
	select {
	case <-proc.Done():
		end = a.exited(ctx, proc)
	case <-limit:
		end = ending{reason: attemptlog.EndTimeLimit}
	case <-a.stop:
		end = ending{reason: attemptlog.EndCancelled, detail: "stopped by `runner stop`"}
	case <-ctx.Done():
		end = ending{reason: attemptlog.EndCancelled, detail: "the runner was interrupted"}
	case err := <-a.fatal:
		end = ending{reason: attemptlog.EndError, detail: err.Error(), err: err}
	}
	return end
}

// exited explains the end of the agent's own program. Whatever an agent does to
// itself is its own end, not a fault: an agent could else void a bad attempt.
func (a *Attempt) exited(ctx context.Context, proc sandbox.Process) ending {
	res, err := proc.Wait(ctx)
	if err != nil {
		return ending{reason: attemptlog.EndError, detail: "the solver's sandbox failed: " + err.Error(), err: err}
	}
	end := ending{reason: attemptlog.EndSubmitted, result: &res}
	switch res.Cause {
	case sandbox.CauseExit:
		end.detail = fmt.Sprintf("the solver's program exited with status %d", res.ExitCode)
	case sandbox.CauseSignal:
		end.detail = fmt.Sprintf("the solver's program was ended by signal %d (%v)", int(res.Signal), res.Signal)
	case sandbox.CauseOOM:
		end.detail = "the solver's sandbox ran out of memory"
	default:
		end.detail = fmt.Sprintf("the solver's sandbox ended (%s)", res.Cause)
	}
	if res.Detail != "" {
		end.detail += ": " + res.Detail
	}
	return end
}

// Stop ends the attempt with the reason cancelled.
func (a *Attempt) Stop() { a.stopOnce.Do(func() { close(a.stop) }) }

// fail ends the attempt with the reason error.
func (a *Attempt) fail(err error) {
	select {
	case a.fatal <- err:
	default: // an earlier fault already does
	}
}

// append writes one event to the log. A failure ends the attempt.
func (a *Attempt) append(e attemptlog.Event) (int64, error) {
	head, err := a.log.Append(e)
	if err != nil {
		a.fail(err)
		return 0, err
	}
	a.synced()
	return head.Seq, nil
}

func (a *Attempt) synced() {
	if a.cfg.Synced != nil {
		a.cfg.Synced(a.log.Summary().Bytes)
	}
}

// Status describes the attempt at this moment.
func (a *Attempt) Status() Status {
	a.mu.Lock()
	state, since := a.state, a.pause.announced
	a.mu.Unlock()
	st := Status{ID: a.ID(), State: state, ElapsedS: seconds(a.clock.Elapsed()), TimeLimitS: a.cfg.TimeLimit.Seconds(), PausedSince: since}
	if a.log == nil {
		return st
	}
	sum := a.log.Summary()
	st.Entries, st.Valid = sum.Scores, sum.ValidScores
	if r := sum.Final(a.cfg.Environment.Selection); r != nil {
		st.Best = r.Normalized
	}
	if sum.Ended {
		st.State, st.EndReason = "ended", sum.EndReason
	}
	return st
}

func (a *Attempt) setState(s string) {
	a.mu.Lock()
	a.state = s
	a.mu.Unlock()
}

// heartbeat is what a later runner learns from about the moment of a crash.
type heartbeat struct {
	ElapsedS float64   `json:"elapsed_s"`
	At       time.Time `json:"at"`
}

// heartbeatEvery is how precisely the time of a crash is known.
const heartbeatEvery = time.Second

func (a *Attempt) startHeartbeat() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	path := filepath.Join(a.cfg.Dir.Path, aliveName)
	go func() {
		defer close(done)
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			b, err := json.Marshal(heartbeat{seconds(a.clock.Elapsed()), a.time.Wall().UTC()})
			if err == nil {
				// By rename, so that a crash leaves the old or the new one. A
				// failure only costs precision.
				tmp := path + ".new"
				if os.WriteFile(tmp, b, 0o600) == nil {
					os.Rename(tmp, path)
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-done }
}

// discard removes what an attempt that never began has left.
func (a *Attempt) discard() {
	a.cleanup()
	if err := os.RemoveAll(a.cfg.Dir.Path); err != nil {
		a.logger.Warn("the directory of an attempt that never began stays", "error", err.Error())
	}
}

func (a *Attempt) cleanup() {
	var errs []error
	if a.ws != nil {
		errs = append(errs, a.ws.Close())
	}
	if a.log != nil {
		errs = append(errs, a.log.Close())
	}
	if a.agentOut != nil {
		errs = append(errs, a.agentOut.Close())
	}
	os.Remove(filepath.Join(a.cfg.Dir.Path, reserveName))
	a.cfg.Dir.Close()
	if err := errors.Join(errs...); err != nil {
		a.logger.Warn("cleaning up after the attempt", "error", err.Error())
	}
}

// seconds rounds to milliseconds, the precision of a log.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

func wallMS(t time.Time) *time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}

func ptr[T any](v T) *T { return &v }
