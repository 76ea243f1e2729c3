package scoring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"rebench/internal/rebench"
	"rebench/runner/sandbox"
)

// Bounds on what one scoring may ask for.
const (
	maxJobs      = 100_000 // in all
	maxRunning   = 64      // at once
	maxFileBytes = 8 << 20 // of "files" of one spawn, together
)

// session is one scoring in progress. Requests are served one after another.
type session struct {
	s        *Service
	ctx      context.Context
	cancel   context.CancelFunc
	req      Request
	temp, id string
	root     *sandbox.Root
	staged   staged
	snapshot string // of the solution, on the host
	work     sandbox.Workspace
	scorer   sandbox.Process

	jobs   map[int]*job
	kept   map[string]*keptCopy
	copies []sandbox.Workspace
	made   int // names used up

	release  func() // of the timing lock, when held
	lockWait time.Duration

	mu      sync.Mutex
	running int // sandboxes with the submission's code that are not stopped
	since   time.Time
	spent   time.Duration
}

// job is one sandbox that the scorer has started.
type job struct {
	proc           sandbox.Process
	stdout, stderr *bytes.Buffer
	copy           sandbox.Workspace // writable /solution, or nil
	charge         bool              // its running time is the submission's
	counted        bool              // it is in session.running
}

// keptCopy is a solution directory that outlives the sandbox that wrote it.
type keptCopy struct {
	dir    sandbox.Workspace
	charge bool
}

// serve answers the scorer until it goes. Its error is a breach of the protocol.
func (ss *session) serve(w *wire) error {
	for {
		a, err := w.read()
		if errors.Is(err, errGone) {
			return nil
		}
		if err != nil {
			_ = w.write(errorReply{Error: err.Error()}, nil)
			return err
		}
		reply, file := ss.answer(&a)
		err = w.write(reply, file)
		if file != nil {
			file.Close()
		}
		if err != nil {
			return nil // gone; how it ended says the rest
		}
	}
}

// answer serves one request. The descriptor it returns goes with the reply.
func (ss *session) answer(a *ask) (reply any, file *os.File) {
	var err error
	switch a.Op {
	case "spawn":
		var handle int
		if handle, file, err = ss.spawn(a); err == nil {
			return handleReply{OK: true, Handle: handle}, file
		}
	case "signal":
		err = ss.signal(a)
	case "wait":
		var w waitReply
		if w, err = ss.wait(a); err == nil {
			return w, nil
		}
	case "collect":
		if file, err = ss.collect(a); err == nil {
			return okReply{OK: true}, file
		}
		var refused *sandbox.RefusedError
		if errors.As(err, &refused) {
			return errorReply{Refused: refused.Path + ": " + refused.Reason}, nil
		}
	case "timed":
		err = ss.timed(a.Acquire)
	default:
		err = rebench.Errorf(rebench.CodeInvalid, "op: found %q, expected spawn, signal, wait, collect or timed", a.Op)
	}
	if err != nil {
		return errorReply{Error: err.Error()}, nil
	}
	return okReply{OK: true}, nil
}

var keptName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// spawn starts a sandbox for a solution's code.
func (ss *session) spawn(a *ask) (int, *os.File, error) {
	if err := ss.checkSpawn(a); err != nil {
		return 0, nil, err
	}
	j := &job{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	spec := ss.submissionSpec(a, j)
	solution, err := ss.solution(a, j)
	if err != nil {
		return 0, nil, err
	}
	spec.Mounts = append(spec.Mounts, solution)
	if a.Data != "" {
		dir, err := ss.fromWork(a.Data)
		if err != nil {
			return 0, nil, err
		}
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: "/data", Source: dir})
	}
	var ours, theirs *os.File
	if a.Socket {
		if ours, theirs, err = socketPair(); err != nil {
			return 0, nil, rebench.Errorf(rebench.CodeInternal, "socket: %w", err)
		}
		defer theirs.Close()
		spec.Files = []*os.File{theirs}
	}
	j.proc, err = ss.s.cfg.Executor.Start(ss.ctx, spec)
	if err != nil {
		if ours != nil {
			ours.Close()
		}
		return 0, nil, err
	}
	handle := len(ss.jobs) + 1
	ss.jobs[handle] = j
	ss.count(j, true)
	go func() {
		<-j.proc.Done()
		ss.count(j, false)
	}()
	return handle, ours, nil
}

func (ss *session) checkSpawn(a *ask) error {
	fault := func(format string, args ...any) error {
		return rebench.Errorf(rebench.CodeInvalid, "spawn: "+format, args...)
	}
	if a.Stage != "build" && a.Stage != "run" {
		return fault("stage: found %q, expected build or run", a.Stage)
	}
	if len(a.Argv) == 0 {
		return fault("argv: expected a command")
	}
	if l := a.Limits; l.WallS < 0 || l.MemoryMB < 0 || l.PIDs < 0 || l.CPUs < 0 {
		return fault("limits: found %+v, expected no negative value", l)
	}
	if a.Keep != "" && (!a.Writable || !keptName.MatchString(a.Keep) || ss.kept[a.Keep] != nil) {
		return fault("keep: found %q, expected a new name of letters, digits, _ . - with writable", a.Keep)
	}
	if a.Keep != "" && strings.HasPrefix(a.Source, "work:") && ss.kept[a.Source[len("work:"):]] != nil {
		return fault("keep: %s is kept already", a.Source)
	}
	total := 0
	for name, content := range a.Files {
		if !keptName.MatchString(name) {
			return fault("files: found the name %q, expected letters, digits, _ . -", name)
		}
		total += len(content)
	}
	if total > maxFileBytes {
		return fault("files: %d bytes, at most %d", total, maxFileBytes)
	}
	if a.Device && len(ss.req.GPUs) == 0 {
		return fault("device: no GPU is leased")
	}
	alive := 0
	for _, j := range ss.jobs {
		select {
		case <-j.proc.Done():
		default:
			alive++
		}
	}
	if alive >= maxRunning || len(ss.jobs) >= maxJobs {
		return fault("%d sandboxes run and %d were started, at most %d and %d", alive, len(ss.jobs), maxRunning, maxJobs)
	}
	return nil
}

// submissionSpec is a submission's sandbox without its /solution.
func (ss *session) submissionSpec(a *ask, j *job) sandbox.Spec {
	spec := sandbox.Spec{
		Name: a.Stage + "-" + ss.id, Role: sandbox.RoleSubmission, Root: ss.root, Argv: a.Argv, Dir: "/solution",
		Env: sandbox.BaseEnv(ss.root, ss.req.Threads), Limits: ss.req.Profile.Limits.Sandboxed(),
		Stdout: j.stdout, Stderr: j.stderr,
		// Timed in turn with another: what the kernel does for it while it is stopped slows the other.
		NoInternet: a.Socket && ss.req.Environment.ExclusiveTiming,
	}
	for name, value := range a.Env {
		spec.Env[name] = value
	}
	spec.Limits.CPUSet, spec.Limits.CPUWeight = ss.req.CPUSet, ss.cpuWeight()
	if a.Limits.WallS > 0 {
		spec.Limits.Wall = time.Duration(a.Limits.WallS * float64(time.Second))
	}
	if a.Limits.MemoryMB > 0 {
		spec.Limits.MemoryBytes = a.Limits.MemoryMB << 20
	}
	if a.Limits.PIDs > 0 {
		spec.Limits.PIDs = a.Limits.PIDs
	}
	if a.Limits.CPUs > 0 {
		spec.Limits.CPUs = a.Limits.CPUs
	}
	for name, content := range a.Files {
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: path.Join("/harness", name), Data: append([]byte{}, content...)})
	}
	if public := filepath.Join(ss.req.AssetsDir, "public"); ss.req.AssetsDir != "" {
		if st, err := os.Stat(public); err == nil && st.IsDir() {
			spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: assetsDir, Source: public})
		}
	}
	if a.Device {
		spec.GPUs = ss.req.GPUs
	}
	return spec
}

// cpuWeight puts timed work before whatever else the machine does: with other
// programs busy on every core, run times then vary by some percent, not by
// their multiple.
func (ss *session) cpuWeight() int64 {
	if ss.req.Environment.ExclusiveTiming {
		return 10_000
	}
	return 0
}

// solution resolves the source and makes /solution of it.
func (ss *session) solution(a *ask, j *job) (sandbox.Mount, error) {
	m := sandbox.Mount{Target: "/solution", Writable: a.Writable}
	j.charge = ss.req.Target == TargetSubmission
	name, isWork := strings.CutPrefix(a.Source, "work:")
	var src string
	switch {
	case isWork && ss.kept[name] != nil:
		k := ss.kept[name]
		j.charge, j.copy, m.Workspace = k.charge, k.dir, k.dir
		return m, nil
	case isWork:
		dir, err := ss.fromWork(name)
		if err != nil {
			return m, err
		}
		src = dir
	case a.Source == "snapshot":
		src = ss.snapshot
	case a.Source == "start":
		src, j.charge = ss.staged.start.Path, false
	case a.Source == "reference":
		src, j.charge = ss.staged.reference.Path, false
	default:
		return m, rebench.Errorf(rebench.CodeInvalid, "spawn: source: found %q, expected snapshot, start, reference or work:NAME", a.Source)
	}
	if !a.Writable {
		m.Source = src
		return m, nil
	}
	ss.made++
	space := ss.req.Profile.Limits.Space()
	// Room for what is built beside a solution that is as large as it may be.
	w, err := ss.s.cfg.Executor.NewWorkspace(ss.ctx, sandbox.WorkspaceSpec{
		Name: fmt.Sprintf("copy-%s-%d", ss.id, ss.made), Role: sandbox.RoleSubmission,
		Space: sandbox.Space{Bytes: 2*space.Bytes + 1<<20, Inodes: 2*space.Inodes + 100},
	})
	if err != nil {
		return m, err
	}
	ss.copies = append(ss.copies, w)
	if err := w.Fill(ss.ctx, src); err != nil {
		return m, err
	}
	j.copy, m.Workspace = w, w
	if a.Keep != "" {
		ss.kept[a.Keep] = &keptCopy{dir: w, charge: j.charge}
	}
	return m, nil
}

// fromWork copies a directory that the scorer made, under the snapshot's rules:
// what is in it may come from a submission.
func (ss *session) fromWork(name string) (string, error) {
	if !keptName.MatchString(name) {
		return "", rebench.Errorf(rebench.CodeInvalid, "spawn: work directory %q: expected a name of letters, digits, _ . -", name)
	}
	ss.made++
	dst := filepath.Join(ss.temp, fmt.Sprintf("work-%d", ss.made))
	snap, err := ss.work.Snapshot(ss.ctx, name, dst, sandbox.SnapshotLimits{Bytes: 8 << 30, FileBytes: 8 << 30, Files: 50_000})
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInvalid, "spawn: work directory %q: %w", name, err)
	}
	return snap.Dir, nil
}
