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
	if err := a.ws.Fill(ctx, a.cfg.Agent.Solution); err != nil {
		return err
	}
	a.agentOut, err = newCappedFile(a.cfg.Dir.AgentLogPath(), agentLogBytes)
	return err
}

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
	root, err := a.cfg.Executor.Root(ctx, a.cfg.Environment.RootSpec(a.cfg.Profile))
	if err != nil {
		return nil, err
	}
	told, err := a.cfg.Environment.Instructions(a.cfg.Profile, a.cfg.TimeLimit)
	if err != nil {
		return nil, err
	}
	ag := a.cfg.Agent
	limits := a.cfg.Profile.Limits.Sandboxed()
	limits.Wall = -1 // the attempt's clock is the limit
	limits.CPUSet = cpuSet(a.cfg.Lease.Cores)
	limits.OutputBytes = 1 << 40 // agentOut caps what is kept
	spec := sandbox.Spec{
		Name: "agent", Role: sandbox.RoleAgent, Root: root, Argv: ag.Argv, Env: a.agentEnv(root), Dir: agent.SolutionDir,
		Limits: limits, Stdout: a.agentOut, Stderr: a.agentOut, Terminal: ag.Terminal,
		Mounts: []sandbox.Mount{
			{Target: agent.Home, Tmpfs: &sandbox.Space{Bytes: 64 << 20, Inodes: 20_000}, Writable: true},
			{Target: agent.SolutionDir, Workspace: a.ws, Writable: true},
			{Target: agent.InfoFile, Data: []byte(told)},
			{Target: agent.Socket, Source: socket},
		},
	}
	spec.Mounts = append(spec.Mounts, ag.Programs(root.Python)...)
	spec.Mounts = append(spec.Mounts, ag.Mounts...)
	if a.cfg.AssetsDir != "" {
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: "/assets", Source: filepath.Join(a.cfg.AssetsDir, "public")})
	}
	for _, g := range a.cfg.Lease.GPUs {
		spec.GPUs = append(spec.GPUs, g.Minor)
	}
	// The sandbox outlives ctx: how it ends is decided in run and finish.
	return a.cfg.Executor.Start(context.WithoutCancel(ctx), spec)
}

// agentEnv is what the solver may know.
func (a *Attempt) agentEnv(root *sandbox.Root) map[string]string {
	env := sandbox.BaseEnv(root, a.cfg.Calibration.Key.Threads)
	maps.Copy(env, map[string]string{
		"PATH":                 agent.BinDir + ":" + root.Path,
		"HOME":                 agent.Home,
		"REBENCH_ENVIRONMENT":  string(a.cfg.Environment.ID),
		"REBENCH_PROFILE":      string(a.cfg.Profile.Name),
		"REBENCH_DIRECTION":    string(a.cfg.Environment.Direction),
		"REBENCH_TIME_LIMIT_S": strconv.FormatFloat(a.cfg.TimeLimit.Seconds(), 'f', -1, 64),
		"REBENCH_SEED":         strconv.FormatInt(a.cfg.Seed, 10),
		"REBENCH_SOCKET":       agent.Socket,
		"REBENCH_SOLUTION":     agent.SolutionDir,
		"REBENCH_INSTRUCTIONS": agent.InfoFile,
	})
	if a.cfg.Agent.Terminal != nil {
		maps.Copy(env, map[string]string{"TERM": "xterm", "PS1": `\w \$ `})
	}
	return env
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
