package attempt

import (
	"context"
	"errors"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/device"
	"rebench/runner/sandbox"
)

// ledger keeps account of the uncharged intervals and how they enter the log.
//
// An interval begins with the first hold and ends with the last release; what
// was charged within it (a submission's own run time) is moved to its front, so
// that pause and resume have the same t and their wall times differ by exactly
// the time that is not charged. Lines wait while a scoring is unlogged, because
// the score line carries the earlier t of the scoring's start.
type ledger struct {
	depth     int
	reason    string
	begin     time.Duration // monotonic
	charged   time.Duration // since begin
	announce  string        // the reason of a hold that is to show at once (a break); "" for none
	announced *time.Time    // the pause line is written or queued; when it began
	scoring   bool          // a scoring is unlogged: queue lines
	queue     []attemptlog.Event
}

// Reasons of pauses.
const (
	pauseStart   = "sandbox_start"  // between started_at and the solver's first instruction
	pauseScoring = "scoring"        // the scorer's own work, the solver being frozen
	pauseTiming  = "timing_lock"    // waiting for the machine's timing lock
	pauseBreak   = "break"          // asked for by `runner pause`
	pauseRestart = "runner_restart" // from the runner's last sign of life to its recovery
)

// slowStart is how long a sandbox may take to start before the log says so.
const slowStart = 200 * time.Millisecond

// startClock starts the clock for a solver that has just been started.
func (a *Attempt) startClock(proc sandbox.Process) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.proc, a.state = proc, "running"
	a.clock.Release()
	now := a.time.Wall()
	if now.Sub(a.started) < slowStart {
		return nil
	}
	zero := ptr(0.0)
	err := a.eventLocked(&attemptlog.Pause{T: zero, At: wallMS(a.started), Reason: pauseStart})
	if err == nil {
		err = a.eventLocked(&attemptlog.Resume{T: zero, At: wallMS(now)})
	}
	return err
}

// freezeLocked stops the solver; freezes nest. The caller holds a.mu.
func (a *Attempt) freezeLocked(ctx context.Context) error {
	if a.freezes == 0 && a.proc != nil {
		if err := a.proc.Freeze(ctx); err != nil && !ended(a.proc) {
			return err
		}
		a.freezeCount++
	}
	a.freezes++
	return nil
}

func (a *Attempt) thawLocked(ctx context.Context) error {
	a.freezes--
	if a.freezes == 0 && a.proc != nil {
		if err := a.proc.Thaw(ctx); err != nil && !ended(a.proc) {
			return err
		}
	}
	return nil
}

// ended says whether nothing is left to freeze.
func ended(p sandbox.Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

func (a *Attempt) freeze(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.freezeLocked(ctx)
}

func (a *Attempt) thaw(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.thawLocked(ctx)
}

// hold freezes the solver and then stops the clock. announce writes the pause
// line now instead of when the interval is over.
func (a *Attempt) hold(ctx context.Context, reason string, announce bool) error {
	if err := a.freeze(ctx); err != nil {
		return err
	}
	// What a frozen solver has queued on its GPUs runs on: until that is done
	// the clock does too.
	if err := device.WaitQuiet(ctx, a.cfg.Inventory, a.cfg.Lease.UUIDs()); err != nil {
		return errors.Join(err, a.thaw(ctx))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clock.Hold()
	p := &a.pause
	if p.depth++; p.depth == 1 {
		p.begin, p.charged, p.reason, p.announce, p.announced = a.time.Now(), 0, reason, "", nil
	}
	if announce {
		p.announce = reason
		if p.depth == 1 {
			return a.announceLocked(reason)
		}
	}
	return nil
}

// charge counts d of the current hold as the solver's time.
func (a *Attempt) charge(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d = min(d, a.time.Now()-a.pause.begin-a.pause.charged) // never more than has passed
	a.pause.charged += a.clock.Charge(d)
}

// release undoes one hold: log, clock, solver, in this order, so that neither
// the log's sync is charged nor the solver runs for free.
func (a *Attempt) release(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.releaseLocked()
	a.clock.Release()
	if terr := a.thawLocked(ctx); err == nil {
		err = terr
	}
	return err
}

func (a *Attempt) releaseLocked() error {
	p := &a.pause
	p.depth--
	if p.depth > 0 {
		if p.announce != "" && p.announced == nil {
			return a.announceLocked(p.announce)
		}
		return nil
	}
	return a.closePauseLocked()
}

// announceLocked writes the pause line of an interval that goes on.
func (a *Attempt) announceLocked(reason string) error {
	p := &a.pause
	now := a.time.Wall()
	p.announced = wallMS(now.Add(-(a.time.Now() - p.begin - p.charged)))
	return a.eventLocked(&attemptlog.Pause{T: ptr(seconds(a.clock.Elapsed())), At: p.announced, Reason: reason})
}

// closePauseLocked writes what is missing of the interval's two lines.
func (a *Attempt) closePauseLocked() error {
	p := &a.pause
	now, t := a.time.Wall(), ptr(seconds(a.clock.Elapsed()))
	uncharged := a.time.Now() - p.begin - p.charged
	if p.announced == nil {
		if uncharged < time.Millisecond {
			return nil
		}
		at := wallMS(now.Add(-uncharged))
		if err := a.eventLocked(&attemptlog.Pause{T: t, At: at, Reason: p.reason}); err != nil {
			return err
		}
	}
	p.announced = nil
	return a.eventLocked(&attemptlog.Resume{T: t, At: wallMS(now)})
}

// eventLocked logs an event, or queues it behind an unlogged scoring.
func (a *Attempt) eventLocked(e attemptlog.Event) error {
	if a.pause.scoring {
		a.pause.queue = append(a.pause.queue, e)
		return nil
	}
	if _, err := a.log.Append(e); err != nil {
		a.fail(err)
		return err
	}
	if a.cfg.Synced != nil {
		a.cfg.Synced(a.log.Summary().Bytes)
	}
	return nil
}

// scoringBegins makes pause lines wait; scoringLogged lets them go.
func (a *Attempt) scoringBegins() {
	a.mu.Lock()
	a.pause.scoring = true
	a.mu.Unlock()
}

func (a *Attempt) scoringLogged() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	queue := a.pause.queue
	a.pause.scoring, a.pause.queue = false, nil
	for _, e := range queue {
		if err := a.eventLocked(e); err != nil {
			return err
		}
	}
	return nil
}

// endPauses closes an interval that the attempt's end cuts short.
func (a *Attempt) endPauses() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pause.depth == 0 {
		return nil
	}
	a.pause.depth = 0
	return a.closePauseLocked()
}

var errNotRunning = rebench.Errorf(rebench.CodeConflict, "the attempt has no running solver to pause")

// Pause begins a break: the solver is frozen and nothing is charged until
// Resume. Pausing twice is no error.
func (a *Attempt) Pause(ctx context.Context) error {
	a.mu.Lock()
	if a.onBreak || a.over != "" || a.proc == nil {
		on := a.onBreak
		a.mu.Unlock()
		if on {
			return nil
		}
		return errNotRunning
	}
	a.onBreak = true
	a.mu.Unlock()
	if err := a.hold(ctx, pauseBreak, true); err != nil {
		a.mu.Lock()
		a.onBreak = false
		a.mu.Unlock()
		return err
	}
	a.setState("paused")
	return nil
}

// Resume ends a break.
func (a *Attempt) Resume(ctx context.Context) error {
	a.mu.Lock()
	if !a.onBreak {
		a.mu.Unlock()
		return nil
	}
	a.onBreak = false
	a.state = "running"
	a.mu.Unlock()
	return a.release(ctx)
}

// Uncharged begins a pause that is not the solver's doing, such as waiting for a
// model's API that is over its rate: the solver is frozen until the returned
// function is called. The reason stands in the log.
func (a *Attempt) Uncharged(ctx context.Context, reason string) (resume func(context.Context) error, err error) {
	if err := a.hold(ctx, reason, true); err != nil {
		return nil, err
	}
	return a.release, nil
}
