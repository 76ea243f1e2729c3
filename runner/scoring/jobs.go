package scoring

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"rebench/internal/rebench"
	"rebench/runner/sandbox"
)

func (ss *session) job(handle int) (*job, error) {
	j := ss.jobs[handle]
	if j == nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "handle: found %d, there are %d", handle, len(ss.jobs))
	}
	return j, nil
}

func (ss *session) signal(a *ask) error {
	j, err := ss.job(a.Handle)
	if err != nil {
		return err
	}
	switch a.Signal {
	case "STOP":
		if err := j.proc.Freeze(ss.ctx); err != nil {
			return err
		}
		ss.count(j, false)
		return nil
	case "CONT":
		ss.count(j, true)
		return j.proc.Thaw(ss.ctx)
	case "KILL":
		return j.proc.Kill(ss.ctx)
	}
	return rebench.Errorf(rebench.CodeInvalid, "signal: found %q, expected STOP, CONT or KILL", a.Signal)
}

// count keeps the time in which the submission's code runs: the union over its
// sandboxes. A sandbox that has ended never counts again.
func (ss *session) count(j *job, runs bool) {
	if !j.charge {
		return
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if runs {
		select {
		case <-j.proc.Done():
			runs = false
		default:
		}
	}
	if runs == j.counted {
		return
	}
	j.counted = runs
	if runs {
		if ss.running++; ss.running == 1 {
			ss.since = time.Now()
		}
		return
	}
	if ss.running--; ss.running == 0 {
		ss.spent += time.Since(ss.since)
	}
}

func (ss *session) charged() time.Duration {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.running > 0 {
		return ss.spent + time.Since(ss.since)
	}
	return ss.spent
}

func (ss *session) wait(a *ask) (waitReply, error) {
	j, err := ss.job(a.Handle)
	if err != nil {
		return waitReply{}, err
	}
	ctx := ss.ctx
	if a.TimeoutS != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(max(*a.TimeoutS, 0)*float64(time.Second)))
		defer cancel()
	}
	res, err := j.proc.Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) && ss.ctx.Err() == nil {
		return waitReply{OK: true, Running: true}, nil
	}
	if err != nil {
		return waitReply{}, err
	}
	r := waitReply{
		OK: true, Stdout: text(j.stdout.Bytes()), Stderr: text(j.stderr.Bytes()), StdoutBytes: res.StdoutBytes, StderrBytes: res.StderrBytes,
		WallS: res.Wall.Seconds(), OOM: res.Cause == sandbox.CauseOOM, TimedOut: res.Cause == sandbox.CauseTimeout,
	}
	if res.Usage.CPU >= 0 {
		cpu := res.Usage.CPU.Seconds()
		r.CPUS = &cpu
	}
	if res.Usage.MemoryPeakBytes >= 0 {
		r.MemoryPeakBytes = &res.Usage.MemoryPeakBytes
	}
	switch res.Cause {
	case sandbox.CauseExit:
		r.Exit = &res.ExitCode
	case sandbox.CauseSignal:
		n := int(res.Signal)
		r.Signal = &n
	case sandbox.CauseLimit:
		r.Limit = &res.Detail
	case sandbox.CauseKilled:
		n := 9
		r.Signal = &n
	}
	return r, nil
}

// text makes output fit for JSON.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

func (ss *session) collect(a *ask) (*os.File, error) {
	j, err := ss.job(a.Handle)
	if err != nil {
		return nil, err
	}
	if j.copy == nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "collect: the sandbox has no copy of the solution of its own")
	}
	if a.MaxBytes <= 0 || a.Path == "" {
		return nil, rebench.Errorf(rebench.CodeInvalid, "collect: expected a path, and max_bytes above 0")
	}
	return j.copy.Collect(ss.ctx, a.Path, a.MaxBytes)
}

// timed takes or gives back the machine-wide timing lock. The scorer is frozen
// while it waits: its wall limit is for its own work.
func (ss *session) timed(acquire bool) error {
	if !acquire {
		if ss.release == nil {
			return rebench.Errorf(rebench.CodeInvalid, "timed: the lock is not held")
		}
		ss.release()
		ss.release = nil
		return nil
	}
	if ss.release != nil {
		return rebench.Errorf(rebench.CodeInvalid, "timed: the lock is held already")
	}
	start := time.Now()
	if err := ss.scorer.Freeze(ss.ctx); err != nil {
		return err
	}
	if ss.req.Waiting != nil {
		ss.req.Waiting(true)
	}
	release, err := ss.s.cfg.Timing(ss.ctx)
	ss.lockWait += time.Since(start)
	if ss.req.Waiting != nil {
		ss.req.Waiting(false)
	}
	if terr := ss.scorer.Thaw(ss.ctx); err == nil {
		err = terr
	}
	if err != nil {
		if release != nil {
			release()
		}
		return err
	}
	ss.release = release
	switch ss.s.cfg.Executor.Tier().Name {
	case sandbox.TierCgroup1, sandbox.TierCgroup2:
		// A sandbox started meanwhile inherits the priority; in a control
		// group of its own that counts for nothing.
		restore, err := goFirst()
		if err != nil {
			ss.s.cfg.Logger.Debug("timing without priority", "error", err)
			break
		}
		ss.release = func() { restore(); release() }
	}
	return nil
}
