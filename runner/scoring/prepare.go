package scoring

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"rebench/internal/rebench"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
)

// prepareEntry is the trusted program that makes an attempt's own files, where
// an environment has one.
const prepareEntry = "scorer/prepare.py"

// PrepareRequest describes the preparation of one workspace.
type PrepareRequest struct {
	Attempt     string // as in the Requests of its scorings
	Environment *environment.Environment
	Profile     *environment.Profile
	AssetsDir   string
	Threads     int // 0: 1
}

// Prepared is what an attempt is given of its own.
type Prepared struct {
	// Key is the attempt key: the scorer gets it with every scoring of the
	// attempt. Secret until the attempt's end.
	Key [32]byte
	// SolutionDir is laid over the start in the solution directory, DataDir is
	// shown to the solver read-only. "" when the environment prepares nothing.
	SolutionDir, DataDir string
}

// AttemptKey derives the key of what is drawn once for a whole attempt, such as
// the relabelling of its tokens.
func AttemptKey(secret []byte, attempt string, env rebench.EnvironmentID) [32]byte {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "attempt key\n%d %s\n%d %s\n", len(attempt), attempt, len(env), env)
	return [32]byte(mac.Sum(nil))
}

// Prepare runs scorer/prepare.py in a scorer's sandbox and leaves what it makes
// in the new directory dst. Without that program only the key is returned.
func (s *Service) Prepare(ctx context.Context, req PrepareRequest, dst string) (Prepared, error) {
	if req.Environment == nil || req.Profile == nil || req.Attempt == "" {
		return Prepared{}, rebench.Errorf(rebench.CodeInvalid, "preparation: expected an attempt, an environment and a profile")
	}
	p := Prepared{Key: AttemptKey(s.cfg.Secret, req.Attempt, req.Environment.ID)}
	if _, err := os.Stat(filepath.Join(req.Environment.Dir, prepareEntry)); errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err := s.runPrepare(ctx, req, p.Key, dst); err != nil {
		return Prepared{}, fmt.Errorf("preparing a workspace of %s, profile %s: %w", req.Environment.ID, req.Profile.Name, err)
	}
	p.SolutionDir, p.DataDir = filepath.Join(dst, "solution"), filepath.Join(dst, "data")
	for _, dir := range []string{p.SolutionDir, p.DataDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return Prepared{}, rebench.Errorf(rebench.CodeInternal, "preparation: %w", err)
		}
	}
	return p, nil
}

func (s *Service) runPrepare(ctx context.Context, req PrepareRequest, key [32]byte, dst string) error {
	temp, err := os.MkdirTemp(s.cfg.TempDir, "rebench-prepare-")
	if err != nil {
		return rebench.Errorf(rebench.CodeInternal, "%w", err)
	}
	defer os.RemoveAll(temp)
	root, err := s.cfg.Executor.Root(ctx, req.Environment.RootSpec(req.Profile))
	if err != nil {
		return err
	}
	trusted, err := s.stage(ctx, req.Environment, temp)
	if err != nil {
		return err
	}
	id := make([]byte, 6)
	_, _ = rand.Read(id)
	space := req.Profile.Limits.Space()
	out, err := s.cfg.Executor.NewWorkspace(ctx, sandbox.WorkspaceSpec{
		Name: "prepare-" + hex.EncodeToString(id), Role: sandbox.RoleScorer,
		Space: sandbox.Space{Bytes: req.Environment.Scorer.MemoryMB << 19, Inodes: space.Inodes + 10_000},
	})
	if err != nil {
		return err
	}
	defer out.Close()
	spec, err := prepareSpec(req, key, root, trusted, out)
	if err != nil {
		return err
	}
	stderr := &tail{most: 16 << 10}
	spec.Stderr = stderr
	proc, err := s.cfg.Executor.Start(ctx, spec)
	if err != nil {
		return err
	}
	res, err := proc.Wait(context.WithoutCancel(ctx)) // it is killed when ctx ends
	if err != nil {
		return err
	}
	if res.Cause != sandbox.CauseExit || res.ExitCode != 0 {
		return rebench.Errorf(rebench.CodeInternal, "%s ended by %s %d %s: %s", prepareEntry, res.Cause, res.ExitCode, res.Detail, stderr.String())
	}
	_, err = out.Snapshot(ctx, ".", dst, sandbox.SnapshotLimits{Bytes: 8 << 30, FileBytes: 8 << 30, Files: 50_000})
	return err
}

func prepareSpec(req PrepareRequest, key [32]byte, root *sandbox.Root, trusted staged, out sandbox.Workspace) (sandbox.Spec, error) {
	spec, err := trustedSpec(req, key, root, trusted, prepareEntry)
	spec.Name, spec.Dir = "prepare", "/out"
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: "/out", Workspace: out, Writable: true})
	return spec, err
}

// trustedSpec is the sandbox of a trusted program that serves one attempt; its
// standard input says which.
func trustedSpec(req PrepareRequest, key [32]byte, root *sandbox.Root, trusted staged, entry string) (sandbox.Spec, error) {
	env := req.Environment
	id := string(env.ID)
	fields := map[string]any{
		"environment": id, "profile": req.Profile.Name, "params": req.Profile.Params, "attempt_key": hex.EncodeToString(key[:]),
		"assets_dir": nil, "out_dir": "/out", "threads": max(req.Threads, 1),
	}
	spec := sandbox.Spec{
		Role: sandbox.RoleScorer, Root: root,
		Argv: []string{root.Python, "-I", "-B", path.Join(packagesDir, id, entry)},
		Env:  sandbox.BaseEnv(root, req.Threads),
		Mounts: []sandbox.Mount{
			{Target: path.Join(packagesDir, id, "scorer"), Source: trusted.scorer.Path},
			{Target: path.Join(packagesDir, "common"), Source: trusted.common.Path},
			{Target: path.Join(packagesDir, id, "solutions/start"), Source: trusted.start.Path},
		},
		Limits: sandbox.Limits{
			Wall: time.Duration(env.Scorer.WallS * float64(time.Second)), MemoryBytes: env.Scorer.MemoryMB << 20,
			CPUs: max(req.Profile.Limits.CPUs, 1), OpenFiles: 1024,
		},
	}
	if req.AssetsDir != "" {
		fields["assets_dir"] = assetsDir
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: assetsDir, Source: req.AssetsDir})
	}
	input, err := json.Marshal(fields)
	if err != nil {
		return spec, rebench.Errorf(rebench.CodeInternal, "input: %w", err)
	}
	spec.Stdin = bytes.NewReader(input)
	return spec, nil
}
