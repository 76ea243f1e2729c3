package scoring

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
)

// Where things are inside the scorer's sandbox.
const (
	packagesDir = "/rebench/environments"
	snapshotDir = "/snapshot"
	assetsDir   = "/assets"
	workDir     = "/work"
)

// scorerOutput bounds the scorer's standard output, in bytes.
const scorerOutput = 4 << 20

// Config configures a Service.
type Config struct {
	Executor sandbox.Executor
	// Secret is the runner's, at least 16 bytes; draw keys derive from it.
	Secret []byte
	// Timing takes the machine-wide timing lock, waiting as long as ctx lasts.
	Timing func(ctx context.Context) (release func(), err error)
	// TempDir holds copies that last for one scoring; os.TempDir when empty.
	TempDir string
	Logger  *slog.Logger
}

// Service is the Scorer that runs scorers in sandboxes.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Executor == nil || cfg.Timing == nil || len(cfg.Secret) < 16 {
		return nil, rebench.Errorf(rebench.CodeInvalid, "scoring: expected an executor, a timing lock and a secret of at least 16 bytes")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Service{cfg}, nil
}

// NewSecret returns a fresh secret of 32 bytes.
func NewSecret() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b)
	return b
}

// staged is the trusted side of an environment, where sandboxes can read it.
type staged struct {
	scorer, common, start, reference sandbox.Staged
	sha256                           string // environment.ScorerHash of exactly these
}

// stage copies the trusted code so that what runs is what is hashed.
func (s *Service) stage(ctx context.Context, env *environment.Environment, temp string) (staged, error) {
	common := filepath.Join(temp, "common")
	if err := env.CopyCommon(common); err != nil {
		return staged{}, err
	}
	var out staged
	for _, part := range []struct {
		src string
		dst *sandbox.Staged
	}{
		{filepath.Join(env.Dir, "scorer"), &out.scorer}, {common, &out.common},
		{env.StartDir(), &out.start}, {env.ReferenceDir(), &out.reference},
	} {
		var err error
		if *part.dst, err = s.cfg.Executor.Stage(ctx, part.src); err != nil {
			return staged{}, err
		}
	}
	declaration, err := os.ReadFile(filepath.Join(env.Dir, "environment.yaml"))
	if err != nil {
		return staged{}, rebench.Errorf(rebench.CodeInvalid, "environment %s: %w", env.ID, err)
	}
	out.sha256 = environment.CombineHashes(declaration, out.scorer.SHA256, out.common.SHA256, out.start.SHA256, out.reference.SHA256)
	return out, nil
}

func (r *Request) check() error {
	switch {
	case r.Environment == nil || r.Profile == nil || r.Attempt == "":
		return rebench.Errorf(rebench.CodeInvalid, "scoring: expected an attempt, an environment and a profile")
	case r.Target == TargetSubmission && r.SnapshotDir == "":
		return rebench.Errorf(rebench.CodeInvalid, "scoring: expected a snapshot of the submission")
	case r.Target != TargetSubmission && r.Target != TargetStart && r.Target != TargetReference:
		return rebench.Errorf(rebench.CodeInvalid, "scoring: target: found %q", r.Target)
	case r.Purpose != PurposeScore && r.Purpose != PurposeCalibrate && r.Purpose != PurposeRescore:
		return rebench.Errorf(rebench.CodeInvalid, "scoring: purpose: found %q", r.Purpose)
	}
	return nil
}

// Score runs one scoring; see Scorer.
func (s *Service) Score(ctx context.Context, req Request) (Outcome, error) {
	if err := req.check(); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Started: time.Now(), DrawKey: DrawKey(s.cfg.Secret, req.Attempt, req.Environment.ID, req.Index)}
	if req.DrawKey != nil {
		out.DrawKey = *req.DrawKey
	}
	temp, err := os.MkdirTemp(s.cfg.TempDir, "rebench-scoring-")
	if err != nil {
		return out, rebench.Errorf(rebench.CodeInternal, "scoring: %w", err)
	}
	defer os.RemoveAll(temp)
	sess := &session{s: s, req: req, temp: temp, jobs: map[int]*job{}, kept: map[string]*keptCopy{}}
	sess.ctx, sess.cancel = context.WithCancel(ctx)
	defer sess.close()
	if err := sess.prepare(); err != nil {
		return out, fmt.Errorf("scoring %s: %w", req.Environment.ID, err)
	}
	out.ScorerSHA256 = sess.staged.sha256
	verdict, stderr, err := sess.run(&out)
	out.Wall = time.Since(out.Started)
	out.LockWait, out.SubmissionTime = sess.lockWait, sess.charged()
	out.Verdict, out.ScorerStderr = verdict, stderr
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return out, fmt.Errorf("scoring %s: %w", req.Environment.ID, err)
	}
	return out, nil
}

// prepare makes what scorer and submissions are given.
func (ss *session) prepare() error {
	env := ss.req.Environment
	var err error
	if ss.root, err = ss.s.cfg.Executor.Root(ss.ctx, env.RootSpec(ss.req.Profile)); err != nil {
		return err
	}
	if ss.staged, err = ss.s.stage(ss.ctx, env, ss.temp); err != nil {
		return err
	}
	switch ss.req.Target {
	case TargetStart:
		ss.snapshot = ss.staged.start.Path
	case TargetReference:
		ss.snapshot = ss.staged.reference.Path
	default:
		ss.snapshot = ss.req.SnapshotDir
	}
	id := make([]byte, 6)
	_, _ = rand.Read(id)
	ss.id = hex.EncodeToString(id)
	ss.work, err = ss.s.cfg.Executor.NewWorkspace(ss.ctx, sandbox.WorkspaceSpec{
		Name: "scoring-" + ss.id, Role: sandbox.RoleScorer,
		Space: sandbox.Space{Bytes: env.Scorer.MemoryMB << 19, Inodes: 50_000},
	})
	return err
}

// input is what the scorer reads.
func (ss *session) input(key, attemptKey [32]byte) ([]byte, error) {
	calibration := ss.req.Calibration
	if calibration == nil {
		calibration = json.RawMessage("null")
	}
	id := string(ss.req.Environment.ID)
	fields := map[string]any{
		"environment": id, "profile": ss.req.Profile.Name, "params": ss.req.Profile.Params,
		"draw_key": hex.EncodeToString(key[:]), "attempt_key": hex.EncodeToString(attemptKey[:]), "snapshot_dir": snapshotDir,
		"reference_dir": path.Join(packagesDir, id, "solutions/reference"), "start_dir": path.Join(packagesDir, id, "solutions/start"),
		"assets_dir": nil, "work_dir": workDir, "purpose": ss.req.Purpose, "target": ss.req.Target,
		"calibration": calibration, "threads": max(ss.req.Threads, 1), "gpus": len(ss.req.GPUs),
	}
	if ss.req.AssetsDir != "" {
		fields["assets_dir"] = assetsDir
	}
	return json.Marshal(fields)
}

// scorerSpec describes the scorer's sandbox.
func (ss *session) scorerSpec() sandbox.Spec {
	env := ss.req.Environment
	id := string(env.ID)
	spec := sandbox.Spec{
		Name: "scorer-" + ss.id, Role: sandbox.RoleScorer, Root: ss.root,
		Argv: []string{ss.root.Python, "-I", "-B", path.Join(packagesDir, id, env.Scorer.Entry)},
		Env:  sandbox.BaseEnv(ss.root, ss.req.Threads), Dir: workDir, GPUs: ss.req.GPUs,
		Mounts: []sandbox.Mount{
			{Target: path.Join(packagesDir, id, "scorer"), Source: ss.staged.scorer.Path},
			{Target: path.Join(packagesDir, "common"), Source: ss.staged.common.Path},
			{Target: path.Join(packagesDir, id, "solutions/start"), Source: ss.staged.start.Path},
			{Target: path.Join(packagesDir, id, "solutions/reference"), Source: ss.staged.reference.Path},
			{Target: snapshotDir, Source: ss.snapshot},
			{Target: workDir, Workspace: ss.work, Writable: true},
		},
		Limits: sandbox.Limits{
			Wall:        time.Duration(env.Scorer.WallS * float64(time.Second)),
			MemoryBytes: env.Scorer.MemoryMB << 20, CPUs: max(ss.req.Profile.Limits.CPUs, 1), CPUSet: ss.req.CPUSet, CPUWeight: ss.cpuWeight(),
			OpenFiles: 1024, OutputBytes: scorerOutput,
		},
	}
	if ss.req.AssetsDir != "" {
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: assetsDir, Source: ss.req.AssetsDir})
	}
	return spec
}

// run starts the scorer, serves it to its end, and judges how it ended.
func (ss *session) run(out *Outcome) (Verdict, string, error) {
	input, err := ss.input(out.DrawKey, AttemptKey(ss.s.cfg.Secret, ss.req.Attempt, ss.req.Environment.ID))
	if err != nil {
		return Verdict{}, "", rebench.Errorf(rebench.CodeInternal, "scorer's input: %w", err)
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return Verdict{}, "", rebench.Errorf(rebench.CodeInternal, "control socket: %w", err)
	}
	conn, err := newWire(ours)
	if err != nil {
		theirs.Close()
		return Verdict{}, "", rebench.Errorf(rebench.CodeInternal, "control socket: %w", err)
	}
	defer conn.close()
	var stdout bytes.Buffer
	stderr := &tail{most: 64 << 10}
	spec := ss.scorerSpec()
	spec.Stdin, spec.Stdout, spec.Stderr, spec.Files = bytes.NewReader(input), &stdout, stderr, []*os.File{theirs}
	ss.scorer, err = ss.s.cfg.Executor.Start(ss.ctx, spec)
	theirs.Close()
	if err != nil {
		return Verdict{}, "", rebench.Errorf(rebench.CodeInternal, "%w", &Fault{Stage: "start", Detail: err.Error()})
	}
	served := make(chan error, 1)
	go func() { served <- ss.serve(conn) }()
	<-ss.scorer.Done()
	// Requests of a scorer that is gone need no answer.
	ss.cancel()
	conn.close()
	serveErr := <-served
	res, err := ss.scorer.Wait(context.Background())
	if err != nil {
		return Verdict{}, stderr.String(), rebench.Errorf(rebench.CodeInternal, "%w", &Fault{Stage: "start", Detail: err.Error(), Stderr: stderr.String()})
	}
	v, fault := judge(res, stdout.Bytes(), serveErr)
	if fault != nil {
		fault.Stderr = stderr.String()
		return Verdict{}, fault.Stderr, rebench.Errorf(rebench.CodeInternal, "%w", fault)
	}
	return v, stderr.String(), nil
}

// judge turns the scorer's end into a verdict or a fault of the scorer.
func judge(res sandbox.Result, stdout []byte, serveErr error) (Verdict, *Fault) {
	switch {
	case res.Cause == sandbox.CauseTimeout:
		return Verdict{}, &Fault{Stage: "timeout", Detail: "the scorer passed its " + res.Detail}
	case res.Cause == sandbox.CauseOOM:
		return Verdict{}, &Fault{Stage: "memory", Detail: "the scorer passed its " + res.Detail}
	case res.Cause != sandbox.CauseExit:
		return Verdict{}, &Fault{Stage: "exit", Detail: fmt.Sprintf("the scorer ended by %s: %s", res.Cause, res.Detail)}
	case res.ExitCode != 0:
		return Verdict{}, &Fault{Stage: "exit", Detail: fmt.Sprintf("the scorer exited with status %d", res.ExitCode)}
	case serveErr != nil:
		return Verdict{}, &Fault{Stage: "protocol", Detail: serveErr.Error()}
	case res.StdoutBytes > scorerOutput:
		return Verdict{}, &Fault{Stage: "output", Detail: fmt.Sprintf("the scorer printed %d bytes, at most %d are read", res.StdoutBytes, scorerOutput)}
	}
	v, err := ParseVerdict(stdout)
	if err != nil {
		return Verdict{}, &Fault{Stage: "output", Detail: err.Error()}
	}
	return v, nil
}

// close ends every sandbox of the scoring and removes its places.
func (ss *session) close() {
	ss.cancel()
	var errs []error
	if ss.scorer != nil {
		errs = append(errs, ss.scorer.Kill(context.Background()))
	}
	for _, j := range ss.jobs {
		errs = append(errs, j.proc.Kill(context.Background()))
	}
	if ss.release != nil {
		ss.release()
		ss.release = nil
	}
	for _, w := range ss.copies {
		errs = append(errs, w.Close())
	}
	if ss.work != nil {
		errs = append(errs, ss.work.Close())
	}
	if err := errors.Join(errs...); err != nil {
		ss.s.cfg.Logger.Error("scoring left something behind", "environment", ss.req.Environment.ID, "error", err)
	}
}

// socketPair returns two connected stream sockets.
func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control"), nil
}

// tail keeps the last bytes written to it.
type tail struct {
	most int
	buf  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*t.most {
		t.buf = append([]byte(nil), t.buf[len(t.buf)-t.most:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return string(t.buf[max(0, len(t.buf)-t.most):]) }
