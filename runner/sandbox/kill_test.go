package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// helperRunner is a runner to be killed: it makes a workspace and keeps starting
// sandboxes that leave daemons and fill the workspace. Arguments: directory,
// tier, marker.
func helperRunner(args []string) int {
	b, err := New(testConfig(args[0], TierName(args[1])))
	if err == nil {
		err = runForEver(b, args[2])
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func runForEver(b *Bubblewrap, marker string) error {
	ctx := context.Background()
	root, err := b.Root(ctx, bareRoot)
	if err != nil {
		return err
	}
	w, err := b.NewWorkspace(ctx, WorkspaceSpec{Name: "kept-" + marker, Role: RoleAgent, Space: Space{Bytes: 1 << 20, Inodes: 100}})
	if err != nil {
		return err
	}
	agent := Spec{
		Name: "agent", Role: RoleAgent, Root: root, Env: BaseEnv(root, 1), Dir: "/solution", Limits: Limits{Wall: -1}, Stdout: os.Stdout,
		Mounts: []Mount{{Target: "/solution", Workspace: w, Writable: true}},
		Argv:   sh("echo " + marker + " > work; (setsid sleep 1000 &) ; echo ready; while :; do sleep 1000; done"),
	}
	p, err := b.Start(ctx, agent)
	if err != nil {
		return err
	}
	if err := p.Freeze(ctx); err != nil {
		return err
	}
	if err := p.Thaw(ctx); err != nil {
		return err
	}
	for {
		q, err := b.Start(ctx, Spec{Name: "sub", Role: RoleSubmission, Root: root, Env: BaseEnv(root, 1), Argv: sh("(setsid sleep 1000 &) ; sleep 0.01; : " + marker)})
		if err != nil {
			return err
		}
		if _, err := q.Wait(ctx); err != nil {
			return err
		}
	}
}

// TestRunnerKilled kills the runner at random moments: every process of its
// sandboxes must die with it, and Recover must find and remove
// all else, but keep the workspace with what is in it.
func TestRunnerKilled(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		testRoot(t, b) // the runners to be killed find it built
		for i := range 8 {
			marker := fmt.Sprintf("killed-%s-%d", b.id, i)
			killRunner(t, b, marker)
			wantNothingRuns(t, marker)
			got, err := b.Recover(t.Context(), func(name string) bool { return strings.HasSuffix(name, marker) })
			if err != nil {
				t.Fatal(err)
			}
			wantNone(t, marker)
			if len(got.Workspaces) != 1 || got.Workspaces[0] != "kept-"+marker {
				t.Fatalf("found workspaces %v, expected kept-%s", got.Workspaces, marker)
			}
			wantOneRunner(t, b)
			w, err := b.OpenWorkspace(t.Context(), "kept-"+marker)
			if err != nil {
				t.Fatal(err)
			}
			snap, err := w.Snapshot(t.Context(), ".", filepath.Join(t.TempDir(), "snap"), SnapshotLimits{})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(snap.Dir + "/work"); err != nil || strings.TrimSpace(string(got)) != marker {
				t.Errorf("workspace holds %q, %v; expected %q", got, err, marker)
			}
			run(t, b, Spec{Role: RoleAgent, Dir: "/solution", Mounts: []Mount{{Target: "/solution", Workspace: w, Writable: true}},
				Argv: sh("echo more >> work && grep -q more work")}).wantExit(t, 0)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// killRunner starts a runner and kills it a random while after its agent works.
func killRunner(t *testing.T, b *Bubblewrap, marker string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "helper-runner", testDir, string(b.Tier().Name), marker)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "ready\n" {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("runner said %q: %s", line, stderr.String())
	}
	time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// wantOneRunner checks that nothing of dead runners is left in any place.
func wantOneRunner(t *testing.T, b *Bubblewrap) {
	t.Helper()
	runners, err := os.ReadDir(filepath.Join(b.cfg.RunDir, "runners"))
	if err != nil || len(runners) != 1 || runners[0].Name() != b.id {
		t.Errorf("found runners %v, %v; expected only %s", runners, err, b.id)
	}
	if c, ok := b.conf.(*cgroup1); ok {
		for _, base := range c.bases {
			groups, _ := filepath.Glob(filepath.Join(base, groupPrefix+"*-sub"))
			if len(groups) > 0 {
				t.Errorf("found control groups %v", groups)
			}
		}
	}
	raw, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, filepath.Join(b.cfg.RunDir, "runners")) {
			t.Errorf("mount left: %s", line)
		}
	}
}

// TestStartingRunnerKilled kills runners that do nothing but start sandboxes, so
// that many die between two steps of a start. Nothing may run on, though nobody
// recovers anything, and after Recover nothing may be left.
func TestStartingRunnerKilled(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		testRoot(t, b)
		marker := "starting-" + b.id
		for i := range 40 {
			cmd := exec.Command("/proc/self/exe", "helper-starter", testDir, string(b.Tier().Name), marker)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, _ := bufio.NewReader(out).ReadString('\n'); line != "looping\n" {
				t.Fatalf("runner %d said %q", i, line)
			}
			time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
		}
		wantNothingRuns(t, marker)
		if _, err := b.Recover(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		wantNone(t, marker)
		wantOneRunner(t, b)
	})
}

// helperStarter starts sandboxes in four goroutines until it is killed.
func helperStarter(args []string) int {
	b, err := New(testConfig(args[0], TierName(args[1])))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx := context.Background()
	root, err := b.Root(ctx, bareRoot)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("looping")
	for range 4 {
		go func() {
			for {
				if p, err := b.Start(ctx, Spec{Name: "sub", Role: RoleSubmission, Root: root, Env: BaseEnv(root, 1), Argv: sh("sleep 0.002; : " + args[2])}); err == nil {
					_, _ = p.Wait(ctx)
				}
			}
		}()
	}
	select {}
}

// TestRecoverSparesTheLiving checks that Recover leaves a living runner alone.
func TestRecoverSparesTheLiving(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		other := newExecutor(t, b.Tier().Name)
		w := newWorkspace(t, other, Space{Bytes: 1 << 20, Inodes: 10})
		marker := "living-" + other.id
		p := start(t, other, Spec{Argv: sh("sleep 60; : " + marker), Mounts: []Mount{{Target: "/solution", Workspace: w, Writable: true}}})
		got, err := b.Recover(t.Context(), nil)
		if err != nil || got.Killed != 0 || len(got.Workspaces) != 0 {
			t.Errorf("found %+v, %v; expected nothing", got, err)
		}
		if len(marked(marker)) == 0 {
			t.Error("the living sandbox was killed")
		}
		if _, err := os.Stat(w.Path()); err != nil {
			t.Errorf("the living workspace is gone: %v", err)
		}
		if _, err := b.OpenWorkspace(t.Context(), w.Name()); err == nil {
			t.Error("took over a workspace of a living runner")
		}
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCloseEndsAll checks that Close leaves nothing, whatever runs.
func TestCloseEndsAll(t *testing.T) {
	for _, tier := range tiers(t) {
		t.Run(string(tier), func(t *testing.T) {
			b, err := New(testConfig(testDir, tier))
			if err != nil {
				t.Fatal(err)
			}
			marker := "closed-" + b.id
			w := newWorkspace(t, b, Space{Bytes: 1 << 20, Inodes: 10})
			p := start(t, b, Spec{Argv: sh("sleep 60; : " + marker), Mounts: []Mount{{Target: "/solution", Workspace: w, Writable: true}}})
			q := start(t, b, Spec{Argv: sh("sleep 60; : " + marker)})
			if err := q.Freeze(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			wantNone(t, marker)
			wantNoTrace(t, b)
			if res := wait(t, p); res.Cause != CauseKilled {
				t.Errorf("found %+v, expected killed", res)
			}
			if _, err := b.Start(t.Context(), completed(t, b, Spec{Root: &Root{}, Argv: []string{"true"}})); err == nil {
				t.Error("a closed executor starts sandboxes")
			}
		})
	}
}
