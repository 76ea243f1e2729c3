package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"rebench/internal/rebench"
)

// process is a sandbox of a Bubblewrap.
type process struct {
	b     *Bubblewrap
	spec  Spec
	label string

	user           *user
	dir            *sandboxDir
	args           []string
	group          group
	cmd            *exec.Cmd
	stdout, stderr *boundedWriter
	started        time.Time
	gate           *os.File         // see starter; closing it ends what has not become the program yet
	status         chan bwrapStatus // the last word of bubblewrap
	born           chan struct{}    // closed when the first process inside is known

	ops sync.Mutex // one freeze or thaw at a time

	mu       sync.Mutex
	cause    Cause // why we end it; "" while it runs by itself
	detail   string
	frozen   bool
	frozenAt time.Time
	frozenIn time.Duration
	timer    *time.Timer
	exiting  bool // the first process is gone

	done   chan struct{}
	result Result
	err    error
}

func (p *process) weak() bool { return p.b.conf.tier().Name == TierRlimit }

// bwrapStatus is what bubblewrap reports on --json-status-fd.
type bwrapStatus struct {
	ChildPID int  `json:"child-pid"`
	ExitCode *int `json:"exit-code"`
}

// track follows the running launcher to its end.
func (p *process) track(status *os.File) {
	p.b.mu.Lock()
	p.b.procs[p] = true
	p.b.mu.Unlock()
	p.status = make(chan bwrapStatus, 1)
	p.born = make(chan struct{})
	go p.readStatus(status)
	go p.letRun()
	go p.reap()
}

// letRun answers the starter, once this side can find every process that it may
// start and unless the sandbox is to end. When the starter goes, so does the
// other end of the gate.
func (p *process) letRun() {
	defer p.gate.Close()
	if line, err := bufio.NewReader(p.gate).ReadString('\n'); err != nil || line != "up\n" {
		return
	}
	<-p.born
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == "" {
		_, _ = p.gate.WriteString("run\n")
	}
}

func (p *process) readStatus(status *os.File) {
	defer status.Close()
	var last bwrapStatus
	born := false
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		var s bwrapStatus
		if json.Unmarshal(lines.Bytes(), &s) != nil {
			continue
		}
		if s.ChildPID != 0 {
			last.ChildPID = s.ChildPID
			if g, ok := p.group.(*rlimitGroup); ok {
				g.setInit(s.ChildPID)
			}
			if !born {
				born = true
				close(p.born)
			}
		}
		if s.ExitCode != nil {
			last.ExitCode = s.ExitCode
		}
	}
	if !born {
		close(p.born)
	}
	p.status <- last
}

// watch enforces what runs beside the sandbox: its context, its wall limit, its
// memory events, and in tiers without better the watchdog.
func (p *process) watch(ctx context.Context) {
	p.mu.Lock()
	if p.spec.Limits.Wall > 0 && !p.frozen {
		p.timer = time.AfterFunc(p.spec.Limits.Wall, func() {
			p.end(CauseTimeout, fmt.Sprintf("wall limit of %v", p.spec.Limits.Wall))
		})
	}
	p.mu.Unlock()
	go func() {
		select {
		case <-ctx.Done():
			p.end(CauseKilled, context.Cause(ctx).Error())
		case <-p.done:
		}
	}()
	p.group.watchOOM(func() { p.end(CauseOOM, fmt.Sprintf("memory limit of %d bytes", p.spec.Limits.MemoryBytes)) })
	if g, ok := p.group.(*rlimitGroup); ok {
		<-p.born
		go g.watch(p.done, p.spec.Limits, p.watchedTmpfs(), p.watchedDirs(), func(c Cause, what string) { p.end(c, what) })
	} else if dirs := p.watchedDirs(); len(dirs) > 0 {
		go p.watchDirs(dirs)
	}
}

// watchedTmpfs are the tmpfs whose inodes nothing else limits.
func (p *process) watchedTmpfs() map[string]Space {
	out := map[string]Space{"/tmp": p.spec.Limits.Tmp, "/dev/shm": p.spec.Limits.Tmp}
	for _, m := range p.spec.Mounts {
		if m.Tmpfs != nil {
			out[m.Target] = *m.Tmpfs
		}
	}
	return out
}

// watchedDirs are the writable workspaces that are plain directories.
func (p *process) watchedDirs() map[string]Space {
	out := map[string]Space{}
	for _, m := range p.spec.Mounts {
		if w, ok := m.Workspace.(*workspace); ok && m.Writable && w.uid < 0 {
			out[w.path] = w.meta.Space
		}
	}
	return out
}

func (p *process) watchDirs(dirs map[string]Space) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
			if what := overDirs(dirs); what != "" {
				p.end(CauseLimit, what)
				return
			}
		}
	}
}

// end ends the sandbox for the given cause; the first cause stays.
func (p *process) end(cause Cause, detail string) {
	p.mu.Lock()
	first := p.cause == ""
	if first {
		p.cause, p.detail = cause, detail
	}
	p.mu.Unlock()
	p.gate.Close()
	_ = p.group.kill()
	if first {
		go p.keepKilling()
	}
}

// keepKilling kills until the end: in the middle of a start there may be nothing
// to kill yet. Bubblewrap itself goes when its child has gone; it is killed only
// if that fails, because its child might then stay.
func (p *process) keepKilling() {
	begin := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		select {
		case <-p.done:
			return
		case <-time.After(pause):
		}
		_ = p.group.kill()
		if time.Since(begin) > 5*time.Second {
			_ = p.cmd.Process.Kill()
		}
	}
}

// reap waits for the end, removes every trace, and publishes the result.
func (p *process) reap() {
	waitErr := p.cmd.Wait()
	wall := time.Since(p.started)
	errs := []error{killEmpty(p.group, 10*time.Second)}
	status := <-p.status
	p.mu.Lock()
	p.exiting = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.frozen {
		p.frozenIn += time.Since(p.frozenAt)
	}
	res := Result{Cause: p.cause, Detail: p.detail, ExitCode: -1, Wall: wall - p.frozenIn, Frozen: p.frozenIn, Usage: p.group.usage()}
	p.mu.Unlock()
	if p.stdout != nil {
		res.StdoutBytes, res.StderrBytes = p.stdout.count, p.stderr.count
	}
	oom := p.group.oomKilled()
	errs = append(errs, p.cleanUp())
	p.err = p.conclude(&res, status, oom, waitErr)
	if err := errors.Join(errs...); err != nil {
		p.b.cfg.Logger.Error("sandbox left something behind", "sandbox", p.spec.Name, "error", err)
	}
	p.result = res
	p.b.mu.Lock()
	delete(p.b.procs, p)
	p.b.mu.Unlock()
	close(p.done)
}

// conclude names the cause of an end.
func (p *process) conclude(res *Result, status bwrapStatus, oom bool, waitErr error) error {
	if oom && (res.Cause == "" || res.Cause == CauseOOM) {
		res.Cause = CauseOOM
		res.Detail = fmt.Sprintf("memory limit of %d bytes", p.spec.Limits.MemoryBytes)
	}
	if res.Cause != "" {
		return nil
	}
	if status.ExitCode == nil {
		head := ""
		if p.stderr != nil {
			head = strings.TrimSpace(string(p.stderr.head))
		}
		return rebench.Errorf(rebench.CodeInternal, "sandbox %s did not come to run its program (%v): %s", p.spec.Name, waitErr, head)
	}
	code := *status.ExitCode
	// Like a shell, bubblewrap reports death by signal n as 128+n.
	if code > 128 && code <= 128+64 {
		res.Cause, res.Signal = CauseSignal, syscall.Signal(code-128)
		res.Detail = res.Signal.String()
		return nil
	}
	res.Cause, res.ExitCode = CauseExit, code
	return nil
}

// cleanUp removes what prepare made.
func (p *process) cleanUp() error {
	var errs []error
	if p.group != nil {
		errs = append(errs, p.group.remove())
	}
	if p.user != nil {
		errs = append(errs, p.user.release())
	}
	if p.dir != nil {
		errs = append(errs, removeTree(p.dir.path))
	}
	return errors.Join(errs...)
}

// Freeze stops the sandbox; see Process.
func (p *process) Freeze(ctx context.Context) error {
	p.ops.Lock()
	defer p.ops.Unlock()
	if p.ended() {
		return nil
	}
	if err := p.group.freeze(ctx); err != nil {
		if p.ended() || p.ending() {
			return nil
		}
		_ = p.group.thaw()
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.frozen {
		p.frozen, p.frozenAt = true, time.Now()
		if p.timer != nil {
			p.timer.Stop()
		}
	}
	// A kill that came meanwhile must not find its victims frozen.
	if p.cause != "" {
		_ = p.group.kill()
	}
	return nil
}

// Thaw lets the sandbox run on; see Process.
func (p *process) Thaw(context.Context) error {
	p.ops.Lock()
	defer p.ops.Unlock()
	if !p.resume() {
		return nil
	}
	if err := p.group.thaw(); err != nil && !p.ending() && !p.ended() {
		return rebench.Errorf(rebench.CodeInternal, "thaw %s: %w", p.spec.Name, err)
	}
	return nil
}

// resume starts the clock of a frozen sandbox again, and says whether it was one.
func (p *process) resume() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.frozen || p.ended() {
		return false
	}
	p.frozen = false
	p.frozenIn += time.Since(p.frozenAt)
	if p.timer != nil {
		p.timer.Reset(max(0, p.spec.Limits.Wall-(time.Since(p.started)-p.frozenIn)))
	}
	return true
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) ending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause != "" || p.exiting
}

// Kill ends the sandbox; see Process.
func (p *process) Kill(ctx context.Context) error {
	p.end(CauseKilled, "killed")
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done is closed at the end; see Process.
func (p *process) Done() <-chan struct{} { return p.done }

// Wait waits for the end; see Process.
func (p *process) Wait(ctx context.Context) (Result, error) {
	select {
	case <-p.done:
		return p.result, p.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Usage reads the counters; after the end those of the result.
func (p *process) Usage() Usage {
	if p.ended() {
		return p.result.Usage
	}
	return p.group.usage()
}
