package sandbox

import (
	"os"
	"strings"
	"testing"
)

// TestUnprivileged runs the escapes, bombs and the rest as an ordinary user,
// whose tier is the weakest.
func TestUnprivileged(t *testing.T) {
	const pattern = "^(TestEscapes|TestBombs|TestForkBomb|TestDaemonsDie|TestOutputFlood|TestWorkspaceBounds|TestFreeze|TestFrozenTimeIsFree|TestKillFrozen|TestEnds|TestMounts|TestFiles|TestSandboxPlants|TestSnapshotOfFrozenAgent|TestSnapshotRefuses|TestRunnerKilled|TestStartingRunnerKilled|TestCloseEndsAll|TestTierTold)$"
	out := asUnprivileged(t, pattern)
	if os.Geteuid() != 0 {
		return
	}
	for _, want := range []string{"tier that runs: rlimit, separate users: false", "--- PASS: TestEscapes", "--- PASS: TestBombs/rlimit/memory", "--- PASS: TestRunnerKilled", "\nPASS\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("expected %q in what it printed", want)
		}
	}
	if strings.Contains(out, "--- SKIP") || strings.Contains(out, "no tests to run") {
		t.Error("something was skipped")
	}
	var kept []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "--- ") || strings.Contains(line, "cannot run here") || t.Failed() {
			kept = append(kept, line)
		}
	}
	t.Logf("as user %d:\n%s", unprivilegedUID, strings.Join(kept, ""))
}

// TestTierTold checks that every tier says what it does not contain.
func TestTierTold(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		tier := b.Tier()
		gaps := strings.Join(tier.Gaps, "\n")
		if tier.Name == TierRlimit {
			for _, want := range []string{"memory of all processes", "kernel memory", "processor time", "by signals"} {
				if !strings.Contains(gaps, want) {
					t.Errorf("gaps %q: expected %q", gaps, want)
				}
			}
		}
		if separate := os.Geteuid() == 0; tier.SeparateUsers != separate || strings.Contains(gaps, "the runner's own user") == separate {
			t.Errorf("found %+v, expected separate users: %v", tier, separate)
		}
	})
}

func TestUserBase(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       int
		fails      bool
	}{
		{"whole machine", "         0          0 4294967295\n", preferredUID, false},
		{"container", "         0     100000      65536\n", 65536 - 2 - 3*usersPerRole, false},
		{"two ranges", "0 1000 1\n1 100000 65535\n", 65536 - 2 - 3*usersPerRole, false},
		{"one user", "0 1000 1\n", 0, true},
		{"garbage", "a b c\n", 0, true},
		{"empty", "", 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := userBase(tc.text)
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("found %d, %v; expected %d", got, err, tc.want)
			}
		})
	}
}

// TestUsersAreSeparate checks that roles, and sandboxes of one role, run as
// different host users, that a workspace keeps its user, and that leases end.
func TestUsersAreSeparate(t *testing.T) {
	b := newExecutor(t, "")
	if !b.Tier().SeparateUsers {
		t.Logf("not root: all run as user %d, and the tier says so: %v", os.Geteuid(), b.Tier().Gaps)
		return
	}
	seen := map[int]string{}
	for _, role := range []Role{RoleAgent, RoleSubmission, RoleScorer, RoleAgent} {
		p := start(t, b, Spec{Role: role, Argv: []string{"sleep", "60"}}).(*process)
		if other, ok := seen[p.user.uid]; ok {
			t.Errorf("%s and %s share user %d", role, other, p.user.uid)
		}
		seen[p.user.uid] = string(role)
		pids, err := p.group.pids()
		if err != nil || len(pids) == 0 {
			t.Fatalf("processes %v, %v", pids, err)
		}
		for _, pid := range pids {
			if uid := realUID(pid); uid != p.user.uid {
				t.Errorf("process %d runs as %d, expected %d", pid, uid, p.user.uid)
			}
		}
		defer func() { _ = p.Kill(t.Context()) }()
	}
	w := newWorkspace(t, b, Space{Bytes: 1 << 20, Inodes: 10})
	mount := []Mount{{Target: "/solution", Workspace: w, Writable: true}}
	p := start(t, b, Spec{Argv: []string{"sleep", "60"}, Mounts: mount}).(*process)
	q := start(t, b, Spec{Argv: []string{"sleep", "60"}, Mounts: mount}).(*process)
	if p.user != q.user {
		t.Errorf("sandboxes of one workspace run as users %d and %d", p.user.uid, q.user.uid)
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if q.ended() {
		t.Error("the end of one sandbox of a workspace ended the other")
	}
	if err := q.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Start(t.Context(), completed(t, b, Spec{Role: RoleAgent, Argv: []string{"true"}, Mounts: mount})); err == nil {
		t.Error("an agent was given a submission's workspace to write")
	}
}

func TestParseLibraries(t *testing.T) {
	const text = `3 libs found in cache
	libz.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libz.so.1
	libz.so.1 (libc6) => /lib/i386-linux-gnu/libz.so.1
	libz.so.1 (libc6,x86-64) => /usr/local/lib/libz.so.1
	libm.so.6 (libc6,x86-64, OS ABI: Linux 3.2.0) => /lib/x86_64-linux-gnu/libm.so.6
	broken
`
	got := parseLibraries(text, "x86-64")
	if len(got) != 2 || got["libz.so.1"] != "/lib/x86_64-linux-gnu/libz.so.1" || got["libm.so.6"] != "/lib/x86_64-linux-gnu/libm.so.6" {
		t.Errorf("found %v", got)
	}
}

// TestRootIsReused checks that a root is built once and again after a change.
func TestRootIsReused(t *testing.T) {
	file := t.TempDir() + "/extra.txt"
	if err := os.WriteFile(file, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	spec := RootSpec{Extra: []string{file}}
	build := func() *Root {
		b := newExecutor(t, "")
		root, err := b.Root(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	first, second := build(), build()
	if first.Dir != second.Dir || first.SHA256 != second.SHA256 {
		t.Errorf("found %s, then %s; expected one root", first.Dir, second.Dir)
	}
	if err := os.WriteFile(file, []byte("three"), 0o644); err != nil {
		t.Fatal(err)
	}
	third := build()
	if third.SHA256 == first.SHA256 {
		t.Error("a changed source gave the same root")
	}
	if got, err := os.ReadFile(third.Dir + file); err != nil || string(got) != "three" {
		t.Errorf("found %q, %v", got, err)
	}
	b := newExecutor(t, "")
	for _, bad := range []RootSpec{{Tools: []string{"emacs"}}, {PythonModules: []string{"no_such_module"}}, {Python: "/usr/bin/python0"}, {Extra: []string{"/nonexistent"}}} {
		if _, err := b.Root(t.Context(), bad); err == nil {
			t.Errorf("%+v gave a root", bad)
		}
	}
}
