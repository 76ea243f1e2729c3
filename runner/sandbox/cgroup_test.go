package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseMounts(t *testing.T) {
	const text = `35 24 0:30 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro
36 35 0:31 /docker/abc /sys/fs/cgroup/memory rw,relatime shared:5 - cgroup cgroup rw,memory
37 35 0:32 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
38 35 0:33 / /sys/fs/cgroup/uni\040fied rw - cgroup2 cgroup2 rw,nsdelegate
39 24 8:1 / / rw - ext4 /dev/sda1 rw
broken line
`
	want := []cgroupMount{
		{root: "/docker/abc", dir: "/sys/fs/cgroup/memory", controllers: []string{"rw", "memory"}},
		{root: "/", dir: "/sys/fs/cgroup/cpu,cpuacct", controllers: []string{"rw", "cpu", "cpuacct"}},
		{root: "/", dir: "/sys/fs/cgroup/uni fied", v2: true},
	}
	if diff := cmp.Diff(want, parseMounts(text), cmp.AllowUnexported(cgroupMount{})); diff != "" {
		t.Errorf("(-expected +found):\n%s", diff)
	}
}

func TestParseOwn(t *testing.T) {
	got := parseOwn("9:name=systemd:/\n4:cpu,cpuacct:/a:b\n0::/user.slice/x\njunk\n")
	want := map[string]string{"name=systemd": "/", "cpu": "/a:b", "cpuacct": "/a:b", "": "/user.slice/x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-expected +found):\n%s", diff)
	}
}

func TestOwnBelowMount(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/x/y", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ root, path, want string }{
		{"/", "/x/y", dir + "/x/y"}, {"/", "/", dir}, {"/docker/1", "/docker/1/x", dir + "/x"},
		{"/docker/1", "/docker/1", dir}, {"/docker/1", "/elsewhere", dir}, {"/", "/gone", dir},
	} {
		m := cgroupMount{root: tc.root, dir: dir}
		if got := m.own(tc.path); filepath.Clean(got) != tc.want {
			t.Errorf("root %s, path %s: found %s, expected %s", tc.root, tc.path, got, tc.want)
		}
	}
}

// fakeCgroup2 is a directory that looks like a delegated group. Kernel files of
// new groups are made by hand, and the kernel's answers played by play.
func fakeCgroup2(t *testing.T, controllers, subtree string) (*cgroup2, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"cgroup.controllers": controllers, "cgroup.subtree_control": subtree, "cgroup.procs": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := openCgroup2(dir, neededV2)
	if err == nil {
		c.groupFile = func(dir string) error {
			for name, content := range map[string]string{
				"memory.max": "max", "memory.swap.max": "max", "memory.oom.group": "0", "memory.events": "oom 0\noom_kill 0", "memory.peak": "0",
				"pids.max": "max", "pids.current": "0", "cpu.max": "max 100000", "cpu.weight": "100", "cpu.stat": "usage_usec 0", "cpuset.cpus": "",
				"cgroup.procs": "", "cgroup.freeze": "0", "cgroup.events": "populated 0\nfrozen 0", "cgroup.kill": "",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content+"\n"), 0o644); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return c, err
}

func TestCgroup2Settings(t *testing.T) {
	c, err := fakeCgroup2(t, "cpuset cpu io memory pids", "cpu memory pids cpuset")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"memory", "pids", "cpu", "cpuset", "freezer"}, c.tier().Controllers); diff != "" {
		t.Errorf("controllers (-expected +found):\n%s", diff)
	}
	g, err := c.group("rebench-x-1", Limits{MemoryBytes: 1 << 30, PIDs: 77, CPUs: 1.5, CPUSet: "0-1", CPUWeight: 300}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(c.base, "rebench-x-1")
	for file, want := range map[string]string{
		"memory.max": "1073741824", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "77", "cpu.max": "150000 100000", "cpuset.cpus": "0-1", "cpu.weight": "300",
	} {
		raw, err := os.ReadFile(filepath.Join(dir, file))
		// A plain file keeps what was there behind a shorter value.
		if err != nil || !strings.HasPrefix(string(raw), want) {
			t.Errorf("%s: found %q, %v, expected %q", file, raw, err, want)
		}
	}
	write := func(file, content string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if g.oomKilled() {
		t.Error("reports a memory kill that was none")
	}
	write("memory.events", "low 0\noom 1\noom_kill 2\noom_group_kill 1\n")
	write("memory.peak", "12345\n")
	write("pids.current", "7\n")
	write("cpu.stat", "usage_usec 1500000\nuser_usec 1\n")
	if u := g.usage(); !g.oomKilled() || u != (Usage{CPU: 1500 * time.Millisecond, MemoryPeakBytes: 12345, PIDs: 7}) {
		t.Errorf("found %+v, killed %v", u, g.oomKilled())
	}
	write("cgroup.procs", "12\n34\n0\n")
	if pids, err := g.pids(); err != nil || !slices.Equal(pids, []int{12, 34}) {
		t.Errorf("found processes %v, %v", pids, err)
	}
	if err := g.kill(); err != nil {
		t.Error(err)
	}
	if got, _ := readControl(dir, "cgroup.kill"); got != "1" {
		t.Errorf("cgroup.kill holds %q", got)
	}
}

// TestCgroup2Freeze checks that Freeze waits for the kernel's word.
func TestCgroup2Freeze(t *testing.T) {
	c, err := fakeCgroup2(t, "cpu memory pids", "cpu memory pids")
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.group("rebench-x-1", DefaultLimits, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(c.base, "rebench-x-1")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := g.freeze(ctx); err != context.DeadlineExceeded {
		t.Errorf("found %v though the group never froze", err)
	}
	go func() {
		time.Sleep(20 * time.Millisecond)
		_ = os.WriteFile(filepath.Join(dir, "cgroup.events"), []byte("populated 1\nfrozen 1\n"), 0o644)
	}()
	if err := g.freeze(t.Context()); err != nil {
		t.Error(err)
	}
	if got, _ := readControl(dir, "cgroup.freeze"); got != "1" {
		t.Errorf("cgroup.freeze holds %q", got)
	}
	if err := g.thaw(); err != nil {
		t.Error(err)
	}
	if got, _ := readControl(dir, "cgroup.freeze"); got != "0" {
		t.Errorf("cgroup.freeze holds %q", got)
	}
}

func TestCgroup2Refused(t *testing.T) {
	if _, err := fakeCgroup2(t, "cpu pids", ""); err == nil || !strings.Contains(err.Error(), "no memory controller") {
		t.Errorf("found %v, expected the missing controller", err)
	}
}

// realCgroup2 is a real version 2 hierarchy in which this process may make
// groups, with whatever controllers it has: starting into a group, stopping and
// killing need none.
func realCgroup2(t *testing.T) *cgroup2 {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range parseMounts(string(raw)) {
		if !m.v2 {
			continue
		}
		c, err := openCgroup2(m.own(parseOwn(string(own))[""]), nil)
		if err == nil {
			probe := filepath.Join(c.base, groupPrefix+"test-probe")
			if err = os.Mkdir(probe, 0o755); err == nil {
				if err := removeGroup(probe); err != nil {
					t.Fatal(err)
				}
				return c
			}
		}
		t.Logf("no groups below %s: %v", m.dir, err)
	}
	t.Log("NOT RUN: no writable version 2 hierarchy on this machine")
	return nil
}

// TestCgroup2Kernel runs sandboxes in groups of version 2 against the kernel,
// also where another version has the controllers.
func TestCgroup2Kernel(t *testing.T) {
	c := realCgroup2(t)
	if c == nil {
		return
	}
	b := newExecutor(t, TierRlimit)
	b.conf = c
	t.Logf("controllers: %v", c.controllers)
	marker := "version2-" + b.id
	run(t, b, Spec{Argv: sh("(setsid sleep 100 &); grep -q " + groupPrefix + b.id + " /proc/self/cgroup && exit 4; : " + marker)}).wantExit(t, 0)
	var out lines
	p := start(t, b, Spec{Stdout: &out, Argv: sh("(setsid sleep 100 &); echo run; while :; do :; done; : " + marker)})
	out.until(t, p, 1)
	dir := filepath.Join(c.base, groupPrefix+b.id+"-2-test")
	pids, err := groupPIDs(dir)
	for deadline := time.Now().Add(5 * time.Second); err == nil && len(pids) < 3 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		pids, err = groupPIDs(dir) // the daemon may need a moment to start
	}
	if err != nil || len(pids) < 3 {
		t.Errorf("found processes %v, %v; expected the first process, the shell and a daemon", pids, err)
	}
	for range 5 {
		if err := p.Freeze(t.Context()); err != nil {
			t.Fatal(err)
		}
		if readKey(dir, "cgroup.events", "frozen") != 1 {
			t.Error("not frozen though Freeze returned")
		}
		if err := p.Thaw(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNone(t, marker)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("group left: %v", err)
	}
	if killed, groups, err := c.reap(groupPrefix + b.id + "-"); killed != 0 || groups != 0 || err != nil {
		t.Errorf("found %d processes and %d groups left, %v", killed, groups, err)
	}
}
