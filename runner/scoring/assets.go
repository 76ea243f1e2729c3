package scoring

import (
	"bytes"
	"context"
	"crypto/rand"
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

// Assets are what assets.py of an environment made for one profile.
type Assets struct {
	Dir    string          `json:"dir"` // holds public and private; "" when the environment has no assets.py
	SHA256 string          `json:"sha256"`
	Facts  json.RawMessage `json:"facts"` // the builder's last line
}

const assetsRecord = "assets.json"

// assetsWall is how long one build may take.
const assetsWall = time.Hour

// assetsSpace bounds what one build may write.
var assetsSpace = sandbox.Space{Bytes: 16 << 30, Inodes: 50_000}

// BuildAssets returns the assets of a profile, below dir, building them in a
// scorer's sandbox unless the same builder has made them from the same input
// before. The build is deterministic by contract; SHA256 shows whether it was.
func BuildAssets(ctx context.Context, exec sandbox.Executor, env *environment.Environment, p *environment.Profile, dir string) (Assets, error) {
	builder := filepath.Join(env.Dir, "assets.py")
	if _, err := os.Stat(builder); errors.Is(err, os.ErrNotExist) {
		return Assets{}, nil
	}
	b := &assetBuild{exec: exec, env: env, profile: p}
	key, err := b.key()
	if err != nil {
		return Assets{}, err
	}
	dst := filepath.Join(dir, string(env.ID)+"-"+string(p.Name)+"-"+key[:16])
	if a, err := readAssets(dst); err == nil {
		return a, nil
	}
	a, err := b.run(ctx, dst)
	if err != nil {
		return Assets{}, fmt.Errorf("assets of %s, profile %s: %w", env.ID, p.Name, err)
	}
	return a, nil
}

func readAssets(dst string) (Assets, error) {
	var a Assets
	raw, err := os.ReadFile(filepath.Join(dst, assetsRecord))
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, err
	}
	sum, err := sandbox.TreeHash(filepath.Join(dst, "files"))
	if err != nil || sum != a.SHA256 {
		return a, rebench.Errorf(rebench.CodeConflict, "assets in %s are damaged", dst)
	}
	a.Dir = filepath.Join(dst, "files")
	return a, nil
}

type assetBuild struct {
	exec    sandbox.Executor
	env     *environment.Environment
	profile *environment.Profile
}

func (b *assetBuild) input() ([]byte, error) {
	raw, err := json.Marshal(map[string]any{
		"profile": b.profile.Name, "params": b.profile.Params, "assets": b.profile.Assets, "out_dir": "/out",
	})
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "assets' input: %w", err)
	}
	return raw, nil
}

// key identifies builder and input.
func (b *assetBuild) key() (string, error) {
	in, err := b.input()
	if err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp("", "rebench-assets-")
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInternal, "assets: %w", err)
	}
	defer os.RemoveAll(temp)
	if err := b.sources(filepath.Join(temp, "src")); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(temp, "src", "input.json"), in, 0o600); err != nil {
		return "", rebench.Errorf(rebench.CodeInternal, "assets: %w", err)
	}
	return sandbox.TreeHash(filepath.Join(temp, "src"))
}

// sources copies what a build may read: the builder, and the files that its
// package names.
func (b *assetBuild) sources(dst string) error {
	pkg := filepath.Join(dst, string(b.env.ID))
	if err := os.MkdirAll(pkg, 0o755); err != nil {
		return rebench.Errorf(rebench.CodeInternal, "assets: %w", err)
	}
	if err := b.env.CopyCommon(filepath.Join(dst, "common")); err != nil {
		return err
	}
	if err := b.env.CopyAssetsSources(pkg); err != nil {
		return err
	}
	builder, err := os.ReadFile(filepath.Join(b.env.Dir, "assets.py"))
	if err == nil {
		err = os.WriteFile(filepath.Join(pkg, "assets.py"), builder, 0o644)
	}
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "assets.py: %w", err)
	}
	return nil
}

func (b *assetBuild) run(ctx context.Context, dst string) (Assets, error) {
	in, err := b.input()
	if err != nil {
		return Assets{}, err
	}
	temp, err := os.MkdirTemp("", "rebench-assets-")
	if err != nil {
		return Assets{}, rebench.Errorf(rebench.CodeInternal, "build: %w", err)
	}
	defer os.RemoveAll(temp)
	if err := b.sources(filepath.Join(temp, "src")); err != nil {
		return Assets{}, err
	}
	src, err := b.exec.Stage(ctx, filepath.Join(temp, "src"))
	if err != nil {
		return Assets{}, err
	}
	root, err := b.exec.Root(ctx, b.env.RootSpec(b.profile))
	if err != nil {
		return Assets{}, err
	}
	id := make([]byte, 6)
	_, _ = rand.Read(id)
	out, err := b.exec.NewWorkspace(ctx, sandbox.WorkspaceSpec{Name: "assets-" + hex.EncodeToString(id), Role: sandbox.RoleScorer, Space: assetsSpace})
	if err != nil {
		return Assets{}, err
	}
	defer out.Close()
	facts, err := b.execute(ctx, root, src.Path, out, in)
	if err != nil {
		return Assets{}, err
	}
	return b.keep(ctx, out, dst, facts)
}

// execute runs the builder and returns its last line.
func (b *assetBuild) execute(ctx context.Context, root *sandbox.Root, src string, out sandbox.Workspace, in []byte) (json.RawMessage, error) {
	var stdout bytes.Buffer
	stderr := &tail{most: 16 << 10}
	proc, err := b.exec.Start(ctx, sandbox.Spec{
		Name: "assets", Role: sandbox.RoleScorer, Root: root,
		Argv: []string{root.Python, "-I", "-B", path.Join(packagesDir, string(b.env.ID), "assets.py")},
		Env:  sandbox.BaseEnv(root, 1), Dir: "/out", Stdin: bytes.NewReader(in), Stdout: &stdout, Stderr: stderr,
		Mounts: []sandbox.Mount{{Target: packagesDir, Source: src}, {Target: "/out", Workspace: out, Writable: true}},
		Limits: sandbox.Limits{
			Wall: assetsWall, MemoryBytes: max(b.env.Scorer.MemoryMB<<20, 4<<30) + assetsSpace.Bytes/4,
			CPUs: max(b.profile.Limits.CPUs, 1), FileBytes: assetsSpace.Bytes, OpenFiles: 1024, OutputBytes: 1 << 20,
		},
	})
	if err != nil {
		return nil, err
	}
	res, err := proc.Wait(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	if res.Cause != sandbox.CauseExit || res.ExitCode != 0 {
		return nil, rebench.Errorf(rebench.CodeInternal, "assets.py ended by %s %d %s: %s", res.Cause, res.ExitCode, res.Detail, stderr.String())
	}
	lines := bytes.Split(bytes.TrimSpace(stdout.Bytes()), []byte("\n"))
	facts := lines[len(lines)-1]
	var object map[string]any
	if err := json.Unmarshal(facts, &object); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "assets.py: last line: expected a JSON object, found %.200q", facts)
	}
	return json.Marshal(json.RawMessage(facts)) // as the record will have them, without spaces
}

// keep copies the result out and records it, the record last.
func (b *assetBuild) keep(ctx context.Context, out sandbox.Workspace, dst string, facts json.RawMessage) (Assets, error) {
	if err := os.RemoveAll(dst); err != nil {
		return Assets{}, rebench.Errorf(rebench.CodeInternal, "keep: %w", err)
	}
	if err := os.MkdirAll(dst, 0o755); err != nil {
		return Assets{}, rebench.Errorf(rebench.CodeInternal, "keep: %w", err)
	}
	limits := sandbox.SnapshotLimits{Bytes: assetsSpace.Bytes, FileBytes: assetsSpace.Bytes, Files: int(assetsSpace.Inodes)}
	snap, err := out.Snapshot(ctx, ".", filepath.Join(dst, "files"), limits)
	if err != nil {
		return Assets{}, err
	}
	a := Assets{Dir: snap.Dir, SHA256: snap.SHA256, Facts: facts}
	for _, sub := range []string{"public", "private"} {
		if err := os.MkdirAll(filepath.Join(snap.Dir, sub), 0o755); err != nil {
			return Assets{}, rebench.Errorf(rebench.CodeInternal, "keep: %w", err)
		}
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return Assets{}, rebench.Errorf(rebench.CodeInternal, "keep: %w", err)
	}
	tmp := filepath.Join(dst, assetsRecord+".new")
	if err := os.WriteFile(tmp, raw, 0o644); err != nil {
		return Assets{}, rebench.Errorf(rebench.CodeInternal, "keep: %w", err)
	}
	if err := os.Rename(tmp, filepath.Join(dst, assetsRecord)); err != nil {
		return Assets{}, rebench.Errorf(rebench.CodeInternal, "keep: %w", err)
	}
	return a, nil
}
