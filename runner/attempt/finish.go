package attempt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/device"
	"rebench/runner/scoring"
)

// killTimeout is how long the solver's sandbox may take to die.
const killTimeout = 30 * time.Second

// finish stops the solver, completes what was begun in time, scores again the
// entry that counts, and closes the log.
func (a *Attempt) finish(ctx context.Context, end ending, socket *scoreSocket) (attemptlog.Summary, error) {
	ctx = context.WithoutCancel(ctx)
	paused, stopT, stopAt := a.stopClock(end)
	complete := end.reason == attemptlog.EndSubmitted || end.reason == attemptlog.EndTimeLimit
	if !complete {
		a.cancelScoring()
	}
	if err := a.killSolver(ctx); err != nil {
		a.logger.Error("the solver's sandbox does not die", "error", err.Error())
		end.err = errors.Join(end.err, err)
	}
	end.service, end.serviceErr = a.stopService()
	if end.serviceErr != nil {
		a.logger.Error("the environment's service", "error", end.serviceErr.Error())
	}
	if socket != nil {
		socket.close() // a scoring whose solution was taken in time ends first
	}
	err := a.endPauses()
	if paused {
		stopAt = a.time.Wall()
	}
	if complete && err == nil {
		err = a.finalScorings(stopT, stopAt)
	}
	if err == nil {
		select {
		case err = <-a.fatal: // the log failed while a last scoring was written
		default:
		}
	}
	if err != nil && end.err == nil {
		end = ending{reason: attemptlog.EndError, detail: err.Error(), err: err}
	}
	return a.closeLog(ctx, end, stopAt)
}

// stopClock ends the charged time. It says whether a pause was on.
func (a *Attempt) stopClock(end ending) (paused bool, t time.Duration, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over, a.state = ErrEnded, "final"
	if end.reason == attemptlog.EndTimeLimit {
		a.over = ErrTimeLimit
	}
	a.clock.Hold()
	return a.pause.depth > 0, a.clock.Elapsed(), a.time.Wall()
}

func (a *Attempt) killSolver(ctx context.Context) error {
	a.mu.Lock()
	proc := a.proc
	a.mu.Unlock()
	if proc == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, killTimeout)
	defer cancel()
	return proc.Kill(ctx)
}

// finalScorings scores the submission where the last one counts, and scores the
// entry that counts again on fresh draws: what a solver picked for its luck
// regresses here, and this value ranks.
func (a *Attempt) finalScorings(stopT time.Duration, stopAt time.Time) error {
	a.scoreMu.Lock()
	defer a.scoreMu.Unlock()
	ctx := a.scoringCtx
	if a.cfg.Environment.Selection == rebench.SelectLast && a.proc != nil {
		tk := &taken{t: min(stopT, a.cfg.TimeLimit), at: stopAt, release: func(context.Context) error { return nil }}
		if err := a.snapshot(ctx, tk); err != nil {
			return err
		}
		a.scoreTaken(ctx, tk)
	}
	return a.rescore(ctx)
}

// rescoreWaits are the waits before the scorer is tried again at the end of an attempt,
// which without that score ranks nowhere: a machine that drifted may be quiet later.
var rescoreWaits = []time.Duration{time.Minute, 5 * time.Minute}

func (a *Attempt) rescore(ctx context.Context) error {
	sum := a.log.Summary()
	counts := sum.Final(a.cfg.Environment.Selection)
	if counts == nil {
		return nil
	}
	a.setState("final")
	a.mu.Lock()
	sub, ok := a.kept[counts.Seq]
	a.mu.Unlock()
	if !ok {
		return errors.New("the solution of the entry that counts was not kept")
	}
	out, err := a.scoreWithRetries(ctx, scoring.PurposeRescore, sub.dir)
	for _, wait := range rescoreWaits {
		var fault *scoring.Fault
		if !errors.As(err, &fault) || a.time.SleepUntil(ctx, a.time.Now()+wait) != nil {
			break
		}
		out, err = a.scoreWithRetries(ctx, scoring.PurposeRescore, sub.dir)
	}
	ev := rescoreEvent(counts.Seq, out)
	if err != nil {
		a.logger.Error("scoring again failed", "error", err.Error())
		ev = &attemptlog.Rescore{OfSeq: counts.Seq, Reason: string(attemptlog.ReasonError)}
		var x extra
		x.add("message", cut("the scorer failed: "+err.Error(), 4<<10))
		ev.Extra = x.members
	}
	_, err = a.append(ev)
	return err
}

// closeLog writes the last lines. When the log's disk is full, the space set
// aside for this is given up and the log read again.
func (a *Attempt) closeLog(ctx context.Context, end ending, stopAt time.Time) (attemptlog.Summary, error) {
	final := a.endEvent(ctx, end, stopAt)
	a.mu.Lock()
	draws := a.draws
	a.mu.Unlock()
	_, err := a.log.Append(a.revealEvent(draws))
	if err == nil {
		_, err = a.log.Append(final)
	}
	if err != nil {
		a.logger.Error("the log cannot be written; closing it with the space set aside", "error", err.Error())
		err = a.closeFull(final, err)
	}
	if err != nil {
		return a.log.Summary(), errors.Join(end.err, err)
	}
	a.synced()
	return a.log.Summary(), end.err
}

func (a *Attempt) endEvent(ctx context.Context, end ending, stopAt time.Time) *attemptlog.End {
	var x extra
	if end.detail != "" {
		x.add("detail", cut(end.detail, 4<<10))
	}
	if r := end.result; r != nil {
		x.add("exit_code", r.ExitCode)
		if r.Signal != 0 {
			x.add("signal", int(r.Signal))
		}
	}
	x.addRaw("service", end.service)
	if end.serviceErr != nil {
		x.add("service_error", cut(end.serviceErr.Error(), 4<<10))
	}
	if err := device.CheckIdle(ctx, a.cfg.Inventory, a.cfg.Lease.UUIDs(), deviceGrace); err != nil {
		x.add("gpu_after", err.Error())
		a.logger.Error("a leased GPU is not idle after the attempt", "error", err.Error())
	}
	return &attemptlog.End{T: ptr(seconds(a.clock.Elapsed())), At: wallMS(stopAt), Reason: end.reason, Extra: x.members}
}

// closeFull closes a log whose last append failed.
func (a *Attempt) closeFull(final *attemptlog.End, cause error) error {
	a.log.Close()
	if err := os.Remove(filepath.Join(a.cfg.Dir.Path, reserveName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		a.logger.Error("the space set aside cannot be freed", "error", err.Error())
	}
	log, _, err := attemptlog.OpenAppend(a.cfg.Dir.LogPath())
	if err != nil {
		return errors.Join(cause, err)
	}
	a.log = log
	if log.Summary().Ended {
		return nil
	}
	if log.Summary().Paused {
		if _, err := log.Append(&attemptlog.Resume{T: final.T, At: final.At}); err != nil {
			return errors.Join(cause, err)
		}
	}
	if final.Reason != attemptlog.EndError {
		var x extra
		x.add("detail", "the log could not be written: "+cut(cause.Error(), 2<<10))
		x.add("stopped_by", final.Reason)
		final = &attemptlog.End{T: final.T, At: final.At, Reason: attemptlog.EndError, Extra: x.members}
	}
	if _, err := log.Append(final); err != nil {
		return errors.Join(cause, err)
	}
	return nil
}
