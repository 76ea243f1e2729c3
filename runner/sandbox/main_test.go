package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The roots are the same for all tests: build them once.
var testDir string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "helper-runner" {
		os.Exit(helperRunner(os.Args[2:]))
	}
	var err error
	// Sandbox users must be able to pass through it, unlike t.TempDir.
	if testDir, err = os.MkdirTemp("", "rebench-sandbox-"); err == nil {
		err = os.Chmod(testDir, 0o711)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := removeTree(testDir); err != nil {
		fmt.Fprintln(os.Stderr, "clean up:", err)
		code = 1
	}
	os.Exit(code)
}

func newExecutor(tb testing.TB, tier TierName) *Bubblewrap {
	tb.Helper()
	b, err := New(Config{RunDir: filepath.Join(testDir, "run"), StateDir: filepath.Join(testDir, "state"), Tier: tier,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := b.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return b
}

var pythonSpec = RootSpec{PythonModules: []string{"numpy"}, Tools: []string{"cc"}}

func testRoot(tb testing.TB, b *Bubblewrap) *Root {
	tb.Helper()
	root, err := b.Root(context.Background(), pythonSpec)
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

// ran is a finished sandbox.
type ran struct {
	Result
	out, err string
}

func runIn(tb testing.TB, b *Bubblewrap, spec Spec) ran {
	tb.Helper()
	if spec.Name == "" {
		spec.Name = "test"
	}
	if spec.Role == "" {
		spec.Role = RoleSubmission
	}
	if spec.Root == nil {
		spec.Root = testRoot(tb, b)
	}
	if spec.Env == nil {
		spec.Env = BaseEnv(spec.Root, 1)
	}
	var stdout, stderr bytes.Buffer
	spec.Stdout, spec.Stderr = &stdout, &stderr
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	p, err := b.Start(ctx, spec)
	if err != nil {
		tb.Fatal(err)
	}
	res, err := p.Wait(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	return ran{res, strings.TrimSpace(stdout.String()), strings.TrimSpace(stderr.String())}
}

func sh(script string) []string { return []string{"/bin/sh", "-c", script} }
func helperRunner([]string) int { return 0 }

func TestSmoke(t *testing.T) {
	b := newExecutor(t, "")
	t.Logf("tier %+v", b.Tier())
	t0 := time.Now()
	root := testRoot(t, b)
	t.Logf("root %+v in %v", *root, time.Since(t0))
	r := runIn(t, b, Spec{Argv: sh("id; ls /; cat /proc/1/environ; ls -l /proc/self/fd; ls -l /dev /dev/shm; df -i /tmp; cat /proc/mounts; exit 3")})
	t.Logf("%+v\n%s\n%s", r.Result, r.out, r.err)
	r = runIn(t, b, Spec{Argv: []string{"python3", "-I", "-B", "-c", "import numpy; print(numpy.__version__, numpy.ones(3) @ numpy.ones(3))"}})
	t.Logf("%+v\n%s\n%s", r.Result, r.out, r.err)
	r = runIn(t, b, Spec{Argv: sh("cd /tmp; echo 'int puts(const char*); int main(){puts(\"hi\");return 0;}' > a.c; gcc -O3 -march=native -o a a.c -lm && ./a; echo '#include <stdio.h>\n#include <immintrin.h>\n#include <pthread.h>\nint main(){printf(\"x\");}' > b.c; gcc -fopenmp -shared -fPIC -o b.so b.c && ls")})
	t.Logf("%+v\n%s\n%s", r.Result, r.out, r.err)
}
