package attempt

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/agent"
	"rebench/runner/device"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
)

// agentLogBytes bounds what is kept of an agent's output. It comes through
// pipes: an agent could truncate a file it holds.
const agentLogBytes = 16 << 20

// reserveBytes are set aside on the log's file system, to be given up when it
// is full, so that even then the log can be closed.
const reserveBytes = 64 << 10

// deviceGrace is how long a GPU may take to become idle.
const deviceGrace = 10 * time.Second

// prepare does all that must not run on the clock.
func (a *Attempt) prepare(ctx context.Context) error {
	if err := device.CheckIdle(ctx, a.cfg.Inventory, a.cfg.Lease.UUIDs(), deviceGrace); err != nil {
		return err
	}
	if err := writeReserve(filepath.Join(a.cfg.Dir.Path, reserveName)); err != nil {
		return rebench.Errorf(rebench.CodeInternal, "attempt directory: %w", err)
	}
	var err error
	a.ws, err = a.cfg.Executor.NewWorkspace(ctx, sandbox.WorkspaceSpec{
		Name: WorkspaceName(a.ID()), Role: sandbox.RoleAgent, Space: a.cfg.Profile.Limits.Space(),
	})
	if err != nil {
		return err
	}
	if err := a.fillWorkspace(ctx); err != nil {
		return err
	}
	a.agentOut, err = newCappedFile(a.cfg.Dir.AgentLogPath(), agentLogBytes)
	return err
}

// fillWorkspace lays what was prepared for this attempt over the starting solution,
// and over both what the solver brings itself.
func (a *Attempt) fillWorkspace(ctx context.Context) error {
	own := a.cfg.Prepared.SolutionDir
	if own == "" {
		return a.ws.Fill(ctx, a.cfg.Agent.Solution)
	}
	merged := filepath.Join(a.cfg.Dir.Path, "begin")
	defer os.RemoveAll(merged)
	trees := []string{a.cfg.Environment.StartDir(), own}
	if a.cfg.Agent.Solution != a.cfg.Environment.StartDir() {
		trees = append(trees, a.cfg.Agent.Solution)
	}
	if err := Overlay(merged, trees...); err != nil {
		return err
	}
	return a.ws.Fill(ctx, merged)
}

// PreparedName is where an attempt's own files lie in its directory while it
// runs: they hold what the solver must not learn.
const PreparedName = "prepared"

// WorkspaceName is the name of an attempt's workspace.
func WorkspaceName(id string) string { return "a-" + id }

func writeReserve(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	// Written, not only allocated: not every file system can allocate.
	if _, err := f.Write(make([]byte, reserveBytes)); err != nil {
		return err
	}
	return f.Sync()
}

// openLog creates the log and writes its header. From here on the attempt exists.
func (a *Attempt) openLog() error {
	log, _, err := attemptlog.OpenAppend(a.cfg.Dir.LogPath())
	if err != nil {
		return err
	}
	a.log = log
	a.started = a.time.Wall()
	_, err = a.append(a.header())
	return err
}

// startAgent starts the solver's program in its sandbox.
func (a *Attempt) startAgent(ctx context.Context, socket string) (sandbox.Process, error) {
	ag := a.cfg.Agent
	spec, err := SolverSpec(ctx, Surroundings{
		Executor: a.cfg.Executor, Environment: a.cfg.Environment, Profile: a.cfg.Profile, Workspace: a.ws, Lease: a.cfg.Lease,
		AssetsDir: a.cfg.AssetsDir, DataDir: a.cfg.Prepared.DataDir, TimeLimit: a.cfg.TimeLimit, Seed: a.cfg.Seed, Threads: a.cfg.Calibration.Key.Threads,
	})
	if err != nil {
		return nil, err
	}
	spec.Argv, spec.Terminal, spec.Stdout, spec.Stderr = ag.Argv, ag.Terminal, a.agentOut, a.agentOut
	spec.Limits.Wall = -1             // the attempt's clock is the limit
	spec.Limits.OutputBytes = 1 << 40 // agentOut caps what is kept
	spec.Env["PATH"] = agent.BinDir + ":" + spec.Env["PATH"]
	spec.Env["REBENCH_SOCKET"] = agent.Socket
	if ag.Terminal != nil {
		maps.Copy(spec.Env, map[string]string{"TERM": "xterm", "PS1": `\w \$ `})
	}
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: agent.Socket, Source: socket})
	if a.service.socket != nil {
		a.service.socket.Show(&spec)
	}
	spec.Mounts = append(spec.Mounts, ag.Programs(spec.Root.Python)...)
	spec.Mounts = append(spec.Mounts, ag.Mounts...)
	// The sandbox outlives ctx: how it ends is decided in run and finish.
	return a.cfg.Executor.Start(context.WithoutCancel(ctx), spec)
}

// Surroundings is what a solver's sandbox is made from, whoever the solver is.
type Surroundings struct {
	Executor    sandbox.Executor
	Environment *environment.Environment
	Profile     *environment.Profile
	Workspace   sandbox.Workspace
	Lease       *device.Lease
	AssetsDir   string // "" when the environment has none
	DataDir     string // of scoring.Prepared; "" when there is none
	TimeLimit   time.Duration
	Seed        int64
	Threads     int
}

// SolverSpec describes the sandbox that a solver works in: the solution
// directory, the instructions, public assets, and what it may know as REBENCH_*
// variables. The caller adds the program; the wall limit is the time limit.
func SolverSpec(ctx context.Context, s Surroundings) (sandbox.Spec, error) {
	root, err := s.Executor.Root(ctx, s.Environment.RootSpec(s.Profile))
	if err != nil {
		return sandbox.Spec{}, err
	}
	told, err := s.Environment.Instructions(s.Profile, s.TimeLimit)
	if err != nil {
		return sandbox.Spec{}, err
	}
	limits := s.Profile.Limits.Sandboxed()
	limits.Wall, limits.CPUSet = s.TimeLimit, s.Lease.CPUSet()
	env := sandbox.BaseEnv(root, s.Threads)
	maps.Copy(env, map[string]string{
		"HOME":                 agent.Home,
		"REBENCH_ENVIRONMENT":  string(s.Environment.ID),
		"REBENCH_PROFILE":      string(s.Profile.Name),
		"REBENCH_DIRECTION":    string(s.Environment.Direction),
		"REBENCH_TIME_LIMIT_S": strconv.FormatFloat(s.TimeLimit.Seconds(), 'f', -1, 64),
		"REBENCH_SEED":         strconv.FormatInt(s.Seed, 10),
		"REBENCH_SOLUTION":     agent.SolutionDir,
		"REBENCH_INSTRUCTIONS": agent.InfoFile,
	})
	spec := sandbox.Spec{
		Name: "agent", Role: sandbox.RoleAgent, Root: root, Env: env, Dir: agent.SolutionDir, Limits: limits,
		Mounts: []sandbox.Mount{
			{Target: agent.Home, Tmpfs: &sandbox.Space{Bytes: 64 << 20, Inodes: 20_000}, Writable: true},
			{Target: agent.SolutionDir, Workspace: s.Workspace, Writable: true},
			{Target: agent.InfoFile, Data: []byte(told)},
		},
	}
	if s.AssetsDir != "" {
		env["REBENCH_ASSETS"] = "/assets"
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: "/assets", Source: filepath.Join(s.AssetsDir, "public")})
	}
	if s.DataDir != "" {
		env["REBENCH_DATA"] = agent.DataDir
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: agent.DataDir, Source: s.DataDir})
	}
	for _, g := range s.Lease.GPUs {
		spec.GPUs = append(spec.GPUs, g.Minor)
	}
	return spec, nil
}

// cappedFile keeps the first bytes written to it and drops the rest. Writing
// never fails: a full disk must not stop an agent's output from being read.
type cappedFile struct {
	mu   sync.Mutex
	f    *os.File
	left int64
}

func newCappedFile(path string, most int64) (*cappedFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "agent's output: %w", err)
	}
	return &cappedFile{f: f, left: most}, nil
}

// Write keeps what still fits of b.
func (c *cappedFile) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := min(c.left, int64(len(b))); k > 0 {
		n, err := c.f.Write(b[:k])
		if c.left -= int64(n); err != nil {
			c.left = 0
		}
	}
	return len(b), nil
}

// Close closes the file.
func (c *cappedFile) Close() error { return c.f.Close() }

var _ io.Writer = (*cappedFile)(nil)
