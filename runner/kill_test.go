package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rebench/internal/attemptlog"
)

// kills is how often TestKill9 kills the runner; the long form is
// go test ./runner -run Kill9 -kills 200 -timeout 1h.
var kills = flag.Int("kills", 8, "number of times TestKill9 kills a runner with real sandboxes")

// TestKill9 kills -9 the real runner, two attempts running in real sandboxes, at
// random moments. Then the next command finds: no answered entry lost, every
// attempt closed, no process, mount or control group of it left.
func TestKill9(t *testing.T) {
	p := fresh(t)
	p.t = t
	counts := map[string]int{}
	for i := range *kills {
		before := len(p.attempts())
		marker := fmt.Sprintf("9%08d", rand.IntN(1e8))
		// The agent's own account of what it was answered goes to its log, which
		// the runner writes without syncing: what is there was answered.
		agent := script(t, `sleep `+marker+` &
setsid sleep `+marker+` &
for i in 1 2 3 4 5 6; do score >/dev/null && echo answered; done; exit 0`)
		var out bytes.Buffer
		cmd := p.command("run", "toy", "--profile", "test", "--agent", agent, "--attempts", "2", "--parallel", "2", "-q")
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(2500 * time.Millisecond))))
		cmd.Process.Kill()
		cmd.Wait()
		p.ok("status")
		after := p.attempts()
		for _, d := range after[before:] {
			_, sum, events := logOf(t, d.LogPath())
			printed, _ := os.ReadFile(d.AgentLogPath())
			if n := strings.Count(string(printed), "answered"); sum.Scores < n {
				t.Errorf("kill %d: %d entries were answered, %d are in the log", i, n, sum.Scores)
			}
			switch {
			case !sum.Ended:
				t.Errorf("kill %d: attempt %s is open", i, d.Meta.ID)
			case sum.EndReason == attemptlog.EndError:
				counts["closed by recovery"]++
				if !strings.Contains(endDetail(events), "runner stopped") {
					t.Errorf("kill %d: detail %q", i, endDetail(events))
				}
			default:
				counts[string(sum.EndReason)]++
			}
			checkNothingLeft(t, d.Meta.ID, marker)
		}
		if len(after) == before {
			counts["before any attempt"]++
		}
	}
	t.Logf("%d kills of runners with 2 attempts each: %v", *kills, counts)
	if *kills >= 8 && counts["closed by recovery"] == 0 {
		t.Error("no kill met a running attempt")
	}
}

func checkNothingLeft(t *testing.T, id, marker string) {
	t.Helper()
	if left := processesWith(t, marker); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), id) {
		t.Errorf("mounts of attempt %s are left", id)
	}
	if left, _ := filepath.Glob(filepath.Join(testRoot, "sandbox", "run", "workspaces", "*"+id+"*")); len(left) > 0 {
		t.Errorf("workspaces left: %v", left)
	}
}

// A stopped (not killed) runner is not recovered: it may go on.
func TestStoppedRunnerIsLeftAlone(t *testing.T) {
	p := fresh(t)
	cmd := p.command("run", "toy", "--profile", "test", "--json", "-q", "--agent", script(t, "score; sleep 1; score"))
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	eventually(t, "an open log", func() bool {
		dirs := p.attempts()
		if len(dirs) == 0 {
			return false
		}
		_, err := os.Stat(dirs[0].LogPath())
		return err == nil
	})
	cmd.Process.Signal(syscall.SIGSTOP)
	// status asks the stopped runner's control socket, which does not answer;
	// recovery must not touch its attempt. So recover with another command.
	p.ok("score", "toy", solution("start"), "--profile", "test")
	cmd.Process.Signal(syscall.SIGCONT)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	var got struct{ Attempts []outcome }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Attempts[0].EndReason != attemptlog.EndSubmitted || got.Attempts[0].Entries != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}
