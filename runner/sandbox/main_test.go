package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// testDir is where sandbox users can pass, unlike t.TempDir. The roots are the
// same for all tests and built once.
var testDir string

// Programs that the test binary is when started with these arguments.
var helpers = map[string]func(args []string) int{"helper-runner": helperRunner, "helper-starter": helperStarter}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && helpers[os.Args[1]] != nil {
		os.Exit(helpers[os.Args[1]](os.Args[2:]))
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if testDir, err = os.MkdirTemp("", "rebench-sandbox-"); err == nil {
		err = os.Chmod(testDir, 0o711)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := removeTree(testDir); err != nil {
		fmt.Fprintln(os.Stderr, "clean up:", err)
		return 1
	}
	return code
}

// bareRoot is enough for most tests.
var bareRoot = RootSpec{}

// fullRoot is what an environment with a C compiler declares.
var fullRoot = RootSpec{PythonModules: []string{"numpy"}, Tools: []string{"cc"}}

func newExecutor(tb testing.TB, tier TierName) *Bubblewrap {
	tb.Helper()
	cfg := testConfig(testDir, tier)
	var complaints lines
	cfg.Logger = slog.New(slog.NewTextHandler(&complaints, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if complaints.count() > 0 {
			tb.Errorf("the executor complains: %s", complaints.buf.String())
		}
		if err := b.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
		wantNoTrace(tb, b)
	})
	return b
}

func testConfig(dir string, tier TierName) Config {
	return Config{RunDir: filepath.Join(dir, "run"), StateDir: filepath.Join(dir, "state"), Tier: tier,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// wantNoTrace checks that a closed executor has left no process, group or mount.
func wantNoTrace(tb testing.TB, b *Bubblewrap) {
	tb.Helper()
	if c, ok := b.conf.(*cgroup1); ok {
		for _, base := range c.bases {
			left, _ := filepath.Glob(filepath.Join(base, groupPrefix+b.id+"*"))
			if len(left) > 0 {
				tb.Errorf("control groups left: %v", left)
			}
		}
	}
	raw, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		tb.Fatal(err)
	}
	if strings.Contains(string(raw), b.dir) {
		tb.Errorf("mounts left below %s", b.dir)
	}
	for uid := range b.users.held {
		tb.Errorf("host user %d still held", uid)
	}
}

// eachTier runs f in every tier that can run here, and says which those are.
func eachTier(t *testing.T, f func(t *testing.T, b *Bubblewrap)) {
	for _, tier := range tiers(t) {
		t.Run(string(tier), func(t *testing.T) {
			b := newExecutor(t, tier)
			t.Logf("tier that runs: %s, separate users: %v", b.Tier().Name, b.Tier().SeparateUsers)
			f(t, b)
		})
	}
}

// tiers lists the tiers that can run here; one always can. The others are told
// once.
func tiers(tb testing.TB) []TierName {
	tb.Helper()
	found, why := probeTiers()
	toldTiers.Do(func() { tb.Log(strings.Join(why, "\n")) })
	return found
}

var toldTiers sync.Once

var probeTiers = sync.OnceValues(func() (found []TierName, why []string) {
	for _, tier := range []TierName{TierCgroup2, TierCgroup1, TierRlimit} {
		c, err := newConfiner(tier, "probe"+strconv.Itoa(os.Getpid()))
		if err == nil {
			err = c.close()
		}
		if err != nil {
			why = append(why, fmt.Sprintf("tier %s cannot run here: %v", tier, err))
			continue
		}
		found = append(found, tier)
	}
	return found, why
})

func testRoot(tb testing.TB, b *Bubblewrap) *Root {
	tb.Helper()
	root, err := b.Root(context.Background(), bareRoot)
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

// completed fills what tests leave out of a spec.
func completed(tb testing.TB, b *Bubblewrap, spec Spec) Spec {
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
	return spec
}

// start starts a sandbox that ends with the test.
func start(tb testing.TB, b *Bubblewrap, spec Spec) Process {
	tb.Helper()
	p, err := b.Start(context.Background(), completed(tb, b, spec))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = p.Kill(context.Background()) })
	return p
}

// ran is a finished sandbox.
type ran struct {
	Result
	out, err string
}

// run runs a sandbox to its end.
func run(tb testing.TB, b *Bubblewrap, spec Spec) ran {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	spec.Stdout, spec.Stderr = &stdout, &stderr
	res := wait(tb, start(tb, b, spec))
	return ran{res, strings.TrimSpace(stdout.String()), strings.TrimSpace(stderr.String())}
}

func wait(tb testing.TB, p Process) Result {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	res, err := p.Wait(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

// wantExit checks that the program ended by itself with the given status.
func (r ran) wantExit(tb testing.TB, code int) {
	tb.Helper()
	if r.Cause != CauseExit || r.ExitCode != code {
		tb.Errorf("found %s %d (%s), expected exit %d; stdout %q, stderr %q", r.Cause, r.ExitCode, r.Detail, code, r.out, r.err)
	}
}

func (r ran) wantCause(tb testing.TB, causes ...Cause) {
	tb.Helper()
	if !slices.Contains(causes, r.Cause) {
		tb.Errorf("found %s %d (%s), expected %v; stdout %q, stderr %q", r.Cause, r.ExitCode, r.Detail, causes, r.out, r.err)
	}
}

func sh(script string) []string { return []string{"/bin/sh", "-c", script} }

func python(script string) []string { return []string{"python3", "-I", "-B", "-c", script} }

// marked lists living host processes with the marker in their command line.
func marked(marker string) []int {
	var out []int
	for _, pid := range allPIDs() {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && pid != os.Getpid() && bytes.Contains(raw, []byte(marker)) && !allDead(pid) {
			out = append(out, pid)
		}
	}
	return out
}

// wantNone waits until no process with the marker lives.
func wantNone(tb testing.TB, marker string) {
	tb.Helper()
	var left []int
	for range 200 {
		if left = marked(marker); len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	tb.Errorf("processes %v with %q survive", left, marker)
}

// wantNothingRuns waits until no process with the marker lives but children of
// bubblewrap that wait for a parent that was killed; see starter.
func wantNothingRuns(tb testing.TB, marker string) {
	tb.Helper()
	var left []int
	for range 200 {
		if left = marked(marker); len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, pid := range left {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		wchan, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
		if !bytes.HasPrefix(status, []byte("Name:\tbwrap\n")) || !bytes.Contains(status, []byte("State:\tS")) || !bytes.Contains(status, []byte("Seccomp:\t0\n")) {
			tb.Errorf("process %d with %q survives: %s", pid, marker, status)
			continue
		}
		tb.Logf("process %d waits for ever in %s, before anything ran in its sandbox", pid, wchan)
	}
}

// unprivilegedUID owns nothing on any machine.
const unprivilegedUID = 64_999

// asUnprivileged runs tests of this binary as an ordinary user and returns what
// they printed.
func asUnprivileged(t *testing.T, pattern string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Logf("running as an ordinary user already: the other tests cover the unprivileged tier")
		return ""
	}
	home := filepath.Join(testDir, "unprivileged")
	binary := filepath.Join(home, "sandbox.test")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Mkdir(home, 0o755), os.CopyFS(filepath.Join(home, "testdata"), os.DirFS("testdata")), os.WriteFile(binary, self, 0o755), os.Chown(home, unprivilegedUID, unprivilegedUID)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, "-test.v", "-test.count=1", "-test.run", pattern)
	cmd.Dir = home
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivilegedUID, Gid: unprivilegedUID}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as user %d: %v", unprivilegedUID, err)
	}
	return string(out)
}
