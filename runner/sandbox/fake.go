package sandbox

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rebench/internal/rebench"
)

// FakeFunc plays a sandboxed program. proc lets it see freezes; it must return
// when ctx ends. The host paths of the mounts are reached through spec.
type FakeFunc func(ctx context.Context, spec Spec, proc *FakeProcess) Result

// Fake is an Executor for tests: programs are Go functions, nothing is
// confined. Workspaces are plain directories under Dir.
type Fake struct {
	Dir  string   // e.g. t.TempDir()
	Func FakeFunc // nil: every program exits 0 at once

	mu         sync.Mutex
	specs      []Spec
	procs      []*FakeProcess
	workspaces map[string]*fakeWorkspace
}

// Tier is TierFake.
func (f *Fake) Tier() Tier {
	return Tier{Name: TierFake, Gaps: []string{"a fake contains nothing"}}
}

// Specs returns all specs started so far.
func (f *Fake) Specs() []Spec {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Spec(nil), f.specs...)
}

// Processes returns all processes started so far, in order.
func (f *Fake) Processes() []*FakeProcess {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*FakeProcess(nil), f.procs...)
}

// Root returns an empty root.
func (f *Fake) Root(context.Context, RootSpec) (*Root, error) {
	return &Root{Dir: f.Dir, Python: "/usr/bin/python3", Path: "/usr/bin"}, nil
}

// Stage hashes src and returns it in place.
func (f *Fake) Stage(_ context.Context, src string) (Staged, error) {
	sum, err := TreeHash(src)
	return Staged{Path: src, SHA256: sum}, err
}

// NewWorkspace makes a directory under Dir; its limits are not enforced.
func (f *Fake) NewWorkspace(_ context.Context, spec WorkspaceSpec) (Workspace, error) {
	if err := checkName(spec.Name); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, taken := f.workspaces[spec.Name]; taken {
		return nil, rebench.Errorf(rebench.CodeConflict, "workspace %s exists", spec.Name)
	}
	w := &fakeWorkspace{tree: tree{name: spec.Name, path: filepath.Join(f.Dir, "workspaces", spec.Name), uid: -1}}
	if err := os.MkdirAll(w.path, 0o755); err != nil {
		return nil, err
	}
	if f.workspaces == nil {
		f.workspaces = map[string]*fakeWorkspace{}
	}
	f.workspaces[spec.Name] = w
	return w, nil
}

// OpenWorkspace opens a workspace whose directory exists.
func (f *Fake) OpenWorkspace(_ context.Context, name string) (Workspace, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	path := filepath.Join(f.Dir, "workspaces", name)
	if _, err := os.Stat(path); err != nil {
		return nil, rebench.Errorf(rebench.CodeNotFound, "no workspace %s", name)
	}
	return &fakeWorkspace{tree: tree{name: name, path: path, uid: -1}}, nil
}

// Start runs Func in a goroutine.
func (f *Fake) Start(ctx context.Context, spec Spec) (Process, error) {
	ctx, cancel := context.WithCancel(ctx)
	if spec.Limits.Wall > 0 {
		ctx, cancel = context.WithTimeout(ctx, spec.Limits.Wall)
	}
	p := &FakeProcess{Spec: spec, done: make(chan struct{}), cancel: cancel}
	p.cond = sync.NewCond(&p.mu)
	f.mu.Lock()
	f.specs = append(f.specs, spec)
	f.procs = append(f.procs, p)
	f.mu.Unlock()
	run := f.Func
	if run == nil {
		run = func(context.Context, Spec, *FakeProcess) Result { return Result{Cause: CauseExit} }
	}
	start := time.Now()
	go func() {
		res := run(ctx, spec, p)
		switch {
		case p.killed():
			res.Cause, res.ExitCode = CauseKilled, -1
		case ctx.Err() == context.DeadlineExceeded:
			res.Cause, res.ExitCode = CauseTimeout, -1
		case ctx.Err() != nil:
			res.Cause, res.ExitCode = CauseKilled, -1
		}
		res.Wall = time.Since(start)
		p.mu.Lock()
		p.result = res
		p.mu.Unlock()
		cancel()
		close(p.done)
	}()
	return p, nil
}

// Recover finds nothing but kept workspaces.
func (f *Fake) Recover(_ context.Context, keep func(string) bool) (Recovered, error) {
	var out Recovered
	entries, _ := os.ReadDir(filepath.Join(f.Dir, "workspaces"))
	for _, e := range entries {
		if keep != nil && keep(e.Name()) {
			out.Workspaces = append(out.Workspaces, e.Name())
		}
	}
	return out, nil
}

// Close kills all processes.
func (f *Fake) Close() error {
	for _, p := range f.Processes() {
		_ = p.Kill(context.Background())
	}
	return nil
}

// FakeProcess is a Process of a Fake.
type FakeProcess struct {
	Spec Spec

	mu      sync.Mutex
	cond    *sync.Cond
	frozen  bool
	kill    bool
	freezes int
	result  Result
	done    chan struct{}
	cancel  context.CancelFunc
}

// Gate blocks while the process is frozen: a FakeFunc calls it where a real
// program would be stopped.
func (p *FakeProcess) Gate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.frozen && !p.kill {
		p.cond.Wait()
	}
}

// Frozen says whether the process is frozen, Freezes how often it has been.
func (p *FakeProcess) Frozen() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.frozen }

// Freezes counts the calls of Freeze that froze.
func (p *FakeProcess) Freezes() int { p.mu.Lock(); defer p.mu.Unlock(); return p.freezes }

func (p *FakeProcess) killed() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.kill }

// Freeze makes Gate block.
func (p *FakeProcess) Freeze(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.frozen {
		p.frozen = true
		p.freezes++
	}
	return nil
}

// Thaw lets Gate pass.
func (p *FakeProcess) Thaw(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = false
	p.cond.Broadcast()
	return nil
}

// Kill ends the function's context and waits for it.
func (p *FakeProcess) Kill(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	p.mu.Lock()
	p.kill = true
	p.cond.Broadcast()
	p.mu.Unlock()
	p.cancel()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done is closed when the function has returned.
func (p *FakeProcess) Done() <-chan struct{} { return p.done }

// Wait waits for the function.
func (p *FakeProcess) Wait(ctx context.Context) (Result, error) {
	select {
	case <-p.done:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.result, nil
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Usage is unknown.
func (p *FakeProcess) Usage() Usage { return Usage{CPU: -1, MemoryPeakBytes: -1, PIDs: -1} }

// Write writes to the program's standard output, as a FakeFunc may.
func (p *FakeProcess) Write(b []byte) (int, error) {
	if p.Spec.Stdout == nil {
		return len(b), nil
	}
	return p.Spec.Stdout.Write(b)
}

var (
	_ Executor  = (*Fake)(nil)
	_ Process   = (*FakeProcess)(nil)
	_ io.Writer = (*FakeProcess)(nil)
)

type fakeWorkspace struct{ tree }

func (w *fakeWorkspace) Close() error { return os.RemoveAll(w.path) }
