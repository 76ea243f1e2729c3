package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"rebench/internal/rebench"
	"rebench/runner/attempt"
	"rebench/runner/calibration"
	"rebench/runner/device"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// globals are the flags of every command.
type globals struct {
	environments string
	stateDir     string
	json         bool
	quiet        bool
	verbose      bool

	answered bool // a result is on standard output
}

func (g *globals) logger() *slog.Logger {
	level := slog.LevelWarn
	if g.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

func (g *globals) openState() (*attempt.State, error) {
	dir := g.stateDir
	if dir == "" {
		var err error
		if dir, err = attempt.DefaultStateDir(); err != nil {
			return nil, err
		}
	}
	return attempt.OpenState(dir)
}

// load finds an environment and one of its profiles.
func (g *globals) load(id, profile string) (*environment.Environment, *environment.Profile, error) {
	root, err := environment.Find(g.environments)
	if err != nil {
		return nil, nil, err
	}
	env, err := environment.LoadByID(root, id)
	if err != nil {
		return nil, nil, err
	}
	p, err := env.Profile(profile)
	return env, p, err
}

// machine is everything that scoring and attempts need of this machine.
type machine struct {
	state     *attempt.State
	locks     *device.Locks
	inventory device.Inventory
	pool      *device.Pool
	exec      sandbox.Executor
	scorer    *scoring.Service
	store     calibration.Store
	hardware  device.Hardware
	logger    *slog.Logger
	progress  *progress

	softwareMu sync.Mutex
}

// openMachine prepares this machine and closes the attempts of runners that died here.
func (g *globals) openMachine(ctx context.Context) (*machine, error) {
	m := &machine{inventory: device.System{}, logger: g.logger(), progress: newProgress(os.Stderr, g.quiet)}
	var err error
	if m.state, err = g.openState(); err != nil {
		return nil, err
	}
	if m.locks, err = device.OpenLocks(""); err != nil {
		return nil, err
	}
	secret, err := m.state.Secret()
	if err != nil {
		return nil, err
	}
	gpus, err := m.inventory.GPUs(ctx)
	if err != nil {
		return nil, err
	}
	if m.hardware, err = device.Describe(gpus); err != nil {
		return nil, err
	}
	cores, err := device.AllowedCores()
	if err != nil {
		return nil, err
	}
	m.pool = &device.Pool{Locks: m.locks, Inventory: m.inventory, Cores: cores}
	m.store = calibration.Store{Dir: filepath.Join(m.state.Dir, "calibrations")}
	if m.exec, err = sandbox.New(sandboxConfig(m.logger)); err != nil {
		return nil, &exitError{exitLacking, err}
	}
	m.scorer, err = scoring.New(scoring.Config{
		Executor: m.exec, Secret: secret, Logger: m.logger,
		Timing: func(ctx context.Context) (func(), error) {
			l, err := m.locks.Timing(ctx, "scoring")
			if err != nil {
				return nil, err
			}
			return l.Release, nil
		},
	})
	if err != nil {
		m.exec.Close()
		return nil, err
	}
	if err := m.recover(ctx); err != nil {
		m.exec.Close()
		return nil, err
	}
	return m, nil
}

// sandboxDirVariable names the environment variable that moves the sandboxes'
// built roots and mounts to one directory of the user's choice.
const sandboxDirVariable = "REBENCH_SANDBOX_DIR"

func sandboxConfig(logger *slog.Logger) sandbox.Config {
	cfg := sandbox.Config{Logger: logger}
	if dir := os.Getenv(sandboxDirVariable); dir != "" {
		cfg.RunDir, cfg.StateDir = filepath.Join(dir, "run"), filepath.Join(dir, "state")
	}
	return cfg
}

func (m *machine) close() {
	if err := m.exec.Close(); err != nil {
		m.logger.Warn("closing sandboxes", "error", err.Error())
	}
	m.progress.done()
}

// recover closes attempts whose runner died. One that cannot be closed does not
// keep new ones from running.
func (m *machine) recover(ctx context.Context) error {
	found, err := m.state.Recover(ctx, m.exec, m.logger)
	for _, d := range found.Closed {
		m.progress.note("recovered attempt %s of a runner that died: closed with the reason error", d.Meta.ID)
	}
	for _, id := range found.Dropped {
		m.progress.note("removed attempt %s, whose runner died before it began", id)
	}
	if err != nil && rebench.ErrorCode(err) == rebench.CodeInternal && ctx.Err() == nil {
		m.logger.Error("recovery is not complete", "error", err.Error())
		return nil
	}
	return err
}

func (m *machine) waitingForCalibration() {
	h, ok := m.locks.Holder()
	if !ok {
		m.progress.note("waiting for a calibration on this machine")
		return
	}
	m.progress.note("waiting for the %s on this machine, by the runner with process id %d, since %s", h.Owner, h.PID, h.Since.Local().Format(time.TimeOnly))
}

// lease takes the devices that a profile asks for.
func (m *machine) lease(ctx context.Context, p *environment.Profile, owner string) (*device.Lease, error) {
	want := device.Want{GPUs: p.GPUs, Cores: int(math.Ceil(p.Limits.CPUs)), Owner: owner}
	// A fraction of a machine smaller than the profile's share is all there is to lend.
	want.Cores = min(want.Cores, len(m.pool.Cores))
	return m.pool.Acquire(ctx, want, func(why string) { m.progress.note("waiting for devices: %s", why) })
}

// assets builds a profile's assets or finds them built.
func (m *machine) assets(ctx context.Context, env *environment.Environment, p *environment.Profile) (scoring.Assets, error) {
	bar := m.progress.start("assets of %s (%s)", env.ID, p.Name)
	defer bar.finish()
	return scoring.BuildAssets(ctx, m.exec, env, p, filepath.Join(m.state.Dir, "assets"))
}

// computeThreads is what scorer and submission are told to compute with: more
// threads change results slightly, and were slower at these sizes.
const computeThreads = 1

// calibrationKey says what a calibration of this profile here depends on.
func (m *machine) calibrationKey(ctx context.Context, env *environment.Environment, p *environment.Profile, assets scoring.Assets) (calibration.Key, error) {
	sum, err := env.ScorerHash()
	if err != nil {
		return calibration.Key{}, err
	}
	software, err := m.software(ctx, env, p)
	if err != nil {
		return calibration.Key{}, err
	}
	tier := m.exec.Tier()
	key := calibration.Key{
		Environment: env.ID, Version: env.Version, Profile: p.Name, ScorerSHA256: sum, AssetsSHA256: assets.SHA256,
		Hardware: m.hardware.Fingerprint(), Tier: string(tier.Name), Threads: computeThreads,
		Software: software, OpenBLAS: map[string]string{},
	}
	if !tier.SeparateUsers {
		key.Tier += ", one user"
	}
	if p.GPUs > 0 && len(m.hardware.GPUs) > 0 {
		key.GPU = m.hardware.GPUs[0]
	}
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OPENBLAS_") {
			key.OpenBLAS[name] = value
		}
	}
	return key, nil
}

// askSoftware prints the versions of what computes, one JSON object.
const askSoftware = `
import importlib, importlib.metadata, json, platform, shutil, subprocess, sys
out = {"python": platform.python_version()}
for m in sys.argv[1:]:
    try:
        out[m] = importlib.metadata.version(m)
    except importlib.metadata.PackageNotFoundError:
        out[m] = str(getattr(importlib.import_module(m), "__version__", "unknown"))
for tool in ("gcc", "rustc"):
    if shutil.which(tool):
        out[tool] = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
print(json.dumps(out))
`

// software asks the sandbox itself, whose root is what scoring runs on. The
// answer is kept per root.
func (m *machine) software(ctx context.Context, env *environment.Environment, p *environment.Profile) (map[string]string, error) {
	m.softwareMu.Lock()
	defer m.softwareMu.Unlock()
	spec := env.RootSpec(p)
	root, err := m.exec.Root(ctx, spec)
	if err != nil {
		return nil, err
	}
	cache := filepath.Join(m.state.Dir, "software-"+root.SHA256+".json")
	var out map[string]string
	if b, err := os.ReadFile(cache); err == nil && json.Unmarshal(b, &out) == nil {
		return out, nil
	}
	var stdout, stderr bytes.Buffer
	proc, err := m.exec.Start(ctx, sandbox.Spec{
		Name: "software", Role: sandbox.RoleScorer, Root: root, Env: sandbox.BaseEnv(root, 1), Stdout: &stdout, Stderr: &stderr,
		Argv:   append([]string{root.Python, "-I", "-B", "-c", askSoftware}, spec.PythonModules...),
		Limits: sandbox.Limits{Wall: 2 * time.Minute, MemoryBytes: 4 << 30, CPUs: float64(runtime.NumCPU())},
	})
	if err != nil {
		return nil, err
	}
	res, err := proc.Wait(ctx)
	if err != nil {
		return nil, err
	}
	if res.Cause != sandbox.CauseExit || res.ExitCode != 0 || json.Unmarshal(stdout.Bytes(), &out) != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "asking the sandbox for its software versions failed (%s %d): %s", res.Cause, res.ExitCode, stderr.String())
	}
	if err := os.WriteFile(cache, stdout.Bytes(), 0o600); err != nil {
		m.logger.Warn("software versions are not kept", "error", err.Error())
	}
	return out, nil
}

// preparation is what was made for one workspace; it lasts until remove.
type preparation struct {
	scoring.Prepared
	dir string
}

// service returns what starts the service of an attempt; nil when the
// environment has none.
func (m *machine) service(env *environment.Environment, p *environment.Profile, assets scoring.Assets, label string) func(context.Context, *os.File) (attempt.Servant, error) {
	if !scoring.HasService(env) {
		return nil
	}
	return func(ctx context.Context, listener *os.File) (attempt.Servant, error) {
		return m.scorer.Serve(ctx, scoring.PrepareRequest{
			Attempt: label, Environment: env, Profile: p, AssetsDir: assets.Dir, Threads: computeThreads,
		}, listener)
	}
}

// prepare makes, in the new directory dir, what the workspace of an attempt
// begins with beyond the start.
func (m *machine) prepare(ctx context.Context, env *environment.Environment, p *environment.Profile, assets scoring.Assets, label, dir string) (*preparation, error) {
	out := &preparation{dir: dir}
	var err error
	out.Prepared, err = m.scorer.Prepare(ctx, scoring.PrepareRequest{
		Attempt: label, Environment: env, Profile: p, AssetsDir: assets.Dir, Threads: computeThreads,
	}, dir)
	if err != nil {
		out.remove()
		return nil, err
	}
	return out, nil
}

func (p *preparation) remove() { _ = os.RemoveAll(p.dir) }
