package scoring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rebench/runner/environment"
	"rebench/runner/sandbox"
)

// testDir is where sandbox users can pass, unlike t.TempDir.
var testDir string

func TestMain(m *testing.M) {
	var err error
	if testDir, err = os.MkdirTemp("", "rebench-scoring-test-"); err == nil {
		err = os.Chmod(testDir, 0o711)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(testDir); err != nil {
		fmt.Fprintln(os.Stderr, "clean up:", err)
		code = 1
	}
	os.Exit(code)
}

const toyDeclaration = `# ` + environment.Canary + `
id: toy
version: "1"
title: A toy
direction: min
selection: best
scorer: {entry: scorer/score.py, wall_s: 20, memory_mb: 256}
limits: {memory_mb: 128, pids: 32, wall_s: 10, files: 100, bytes: 1048576}
profiles:
  test: {time_limit_s: 10, params: {n: 3}}
`

// toy is an environment whose scorer is the given Python, run after
// "import scoring" and friends.
func toy(tb testing.TB, scorer string) *environment.Environment {
	tb.Helper()
	root, err := os.MkdirTemp(testDir, "env-")
	if err != nil {
		tb.Fatal(err)
	}
	lib, err := os.ReadFile("../../environments/common/scoring.py")
	if err != nil {
		tb.Fatal(err)
	}
	const head = `import json, os, pathlib, sys, time
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "common"))
import scoring
`
	for name, content := range map[string]string{
		"common/scoring.py":                  string(lib),
		"toy/environment.yaml":               toyDeclaration,
		"toy/INSTRUCTIONS.md":                "Do it in {{.TimeLimit}}.",
		"toy/scorer/score.py":                head + scorer,
		"toy/solutions/start/solution.py":    "print('start', 6 * 7)\n",
		"toy/solutions/reference/answer.txt": "the secret reference\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	env, err := environment.Load(filepath.Join(root, "toy"))
	if err != nil {
		tb.Fatal(err)
	}
	return env
}

// service returns a Service on a real executor of the given tier.
func service(tb testing.TB, tier sandbox.TierName) *Service {
	tb.Helper()
	exec, err := sandbox.New(sandbox.Config{RunDir: filepath.Join(testDir, "run"), StateDir: filepath.Join(testDir, "state"), Tier: tier,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := exec.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	tb.Logf("tier that ran: %s, separate users: %v", exec.Tier().Name, exec.Tier().SeparateUsers)
	s, err := New(Config{Executor: exec, Secret: []byte("0123456789abcdef"), Timing: fileLock(filepath.Join(testDir, "timing.lock"))})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestUnprivileged runs the heart of the others as an ordinary user, whose tier
// is the weakest.
func TestUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("running as an ordinary user already: the other tests cover the unprivileged tier")
		return
	}
	const uid = 64_999 // owns nothing on any machine
	home := filepath.Join(testDir, "unprivileged")
	dir := filepath.Join(home, "runner", "scoring")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(dir, 0o755), os.CopyFS(filepath.Join(home, "environments", "common"), os.DirFS("../../environments/common")),
		os.WriteFile(filepath.Join(dir, "scoring.test"), self, 0o755), os.Chown(home, uid, uid), os.Chown(dir, uid, uid),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("./scoring.test", "-test.v", "-test.run", "^(TestScoreWholeContract|TestScorerFaults|TestStopFromScorer|TestHiddenFromSubmission|TestTargets)$")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"tier that ran: rlimit, separate users: false", "--- PASS: TestScoreWholeContract", "--- PASS: TestHiddenFromSubmission", "\nPASS\n"} {
		if err != nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "--- SKIP") {
			t.Fatalf("as user %d: %v; expected %q in\n%s", uid, err, want, out)
		}
	}
}

func fileLock(path string) func(context.Context) (func(), error) {
	return func(ctx context.Context) (func(), error) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		for unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			if ctx.Err() != nil {
				f.Close()
				return nil, ctx.Err()
			}
			time.Sleep(time.Millisecond)
		}
		return func() { f.Close() }, nil
	}
}

// solution writes a snapshot to score.
func solution(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir, err := os.MkdirTemp(testDir, "solution-")
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func request(env *environment.Environment, dir string) Request {
	return Request{Attempt: "attempt-1", Index: 7, Environment: env, Profile: env.Profiles["test"], Purpose: PurposeScore, Target: TargetSubmission, SnapshotDir: dir}
}

func score(tb testing.TB, s *Service, env *environment.Environment, dir string) (Outcome, error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	return s.Score(ctx, request(env, dir))
}

// mustScore fails the test on a scorer's fault.
func mustScore(tb testing.TB, s *Service, env *environment.Environment, dir string) Outcome {
	tb.Helper()
	out, err := score(tb, s, env, dir)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func wantFault(tb testing.TB, err error, stage, text string) {
	tb.Helper()
	var fault *Fault
	if !errors.As(err, &fault) {
		tb.Fatalf("found error %v, expected a scorer fault", err)
	}
	if fault.Stage != stage || !strings.Contains(fault.Error(), text) {
		tb.Errorf("found stage %q in %v, expected %q with %q", fault.Stage, fault, stage, text)
	}
}
