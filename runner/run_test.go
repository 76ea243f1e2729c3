package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/runner/attempt"
)

func TestRunBuiltInAgents(t *testing.T) {
	p := shared(t)
	for agent, want := range map[string]float64{"starter": 0, "reference": 1, "tuner": 2} {
		o := p.run(0, "--agent", agent, "--seed", "3")[0]
		if o.EndReason != attemptlog.EndSubmitted || o.Normalized == nil || *o.Normalized != want || !o.Rescored || o.Seed != 3 {
			t.Errorf("%s: %+v", agent, o)
		}
		h, sum, _ := logOf(t, o.Log)
		if got := string(h.Agent.Extra.Get("rankable")); got != map[bool]string{true: "false", false: "true"}[agent == "reference"] {
			t.Errorf("%s: rankable %s", agent, got)
		}
		if agent == "tuner" && sum.Scores != 8 { // 4 choices of x, 2 of y
			t.Errorf("tuner made %d entries", sum.Scores)
		}
		if h.Extra.Get("limits") == nil || h.Environment.ID != "toy" || h.Scoring.CalibrationID == "" {
			t.Errorf("%s: header %+v", agent, h)
		}
	}
}

// A command agent, with what it finds, what it may do and what it may not.
func TestRunCommandAgent(t *testing.T) {
	p := shared(t)
	o := p.run(0, "--name", "My Agent", "--model", "m-1", "--scaffold", "sh", "--agent", script(t, `
set -e
test "$(pwd)" = /home/agent/solution
grep -q 'higher is better. You have 1 minute' "$REBENCH_INSTRUCTIONS"
test "$REBENCH_TIME_LIMIT_S" = 60
score
echo 'print(1.25)' > solution.py
score --json | grep -q '"score": 1.25'
score-log | grep -q 'entry 1 .* score 1.25'
score --remaining | grep -q 'of 60 seconds remain'
mkfifo pipe; status=0; score || status=$?; test $status = 1; rm pipe
status=0; score --nonsense 2>/dev/null || status=$?; test $status = 64
! touch /usr/x 2>/dev/null
! test -e `+testRoot+`
! test -e /rebench
echo scratch > /home/agent/notes; echo scratch > /tmp/notes
env | grep -c TOKEN && exit 1
exit 0
`))[0]
	h, sum, events := logOf(t, o.Log)
	printed, _ := os.ReadFile(filepath.Join(filepath.Dir(o.Log), "agent.log"))
	if o.EndReason != attemptlog.EndSubmitted || endDetail(events) != "the solver's program exited with status 0" {
		t.Fatalf("end %s: %s\n%s", o.EndReason, endDetail(events), printed)
	}
	if o.Entries != 3 || o.Valid != 2 || *o.Normalized != 1.25 || sum.Rescores != 1 {
		t.Errorf("%+v", o)
	}
	if h.Agent.Name != "My Agent" || h.Agent.Model != "m-1" || h.Agent.Scaffold != "sh" || h.Agent.Extra.Get("sha256") == nil {
		t.Errorf("agent %+v", h.Agent)
	}
}

func TestRunAtTheLimit(t *testing.T) {
	o := shared(t).run(0, "--time-limit", "2s", "--agent", script(t, "score; sleep 1000 & while :; do sleep 1; done"))[0]
	_, sum, _ := logOf(t, o.Log)
	if o.EndReason != attemptlog.EndTimeLimit || *sum.EndT < 2 || *sum.EndT > 3 || !o.Rescored {
		t.Errorf("%+v, end at %v", o, *sum.EndT)
	}
}

// Agents that go wrong, each with a clear end and nothing left behind.
func TestRunBadAgents(t *testing.T) {
	p := shared(t)
	for name, c := range map[string]struct{ text, detail string }{
		"exits at once":     {"exit 5", "exited with status 5"},
		"killed itself":     {"kill -9 $$", "signal 9"},
		"fork bomb":         {"score; sh -c 'f() { f | f & }; f' 2>/dev/null; sleep 1; exit 4", "status 4"},
		"leaves daemons":    {"score; for i in 1 2 3; do setsid sh -c 'setsid sleep 7654321 & ' & done; sleep 0.3; exit 0", "status 0"},
		"fills the disk":    {"score; dd if=/dev/zero of=big bs=1M count=100 2>/dev/null; rm -f big; dd if=/dev/zero of=/tmp/big bs=1M count=2000 2>/dev/null; exit 0", ""},
		"eats memory":       {"score; exec python3 -c 'x = [bytearray(1 << 24) for i in range(1000)]'", ""},
		"uses up inodes":    {"score; i=0; while : > f$i; do i=$((i+1)); done 2>/dev/null; exit 6", "status"},
		"floods its output": {"score; yes | head -c 40000000; exit 0", "status 0"},
	} {
		t.Run(name, func(t *testing.T) {
			q := *p
			q.t = t
			o := q.run(0, "--agent", script(t, c.text), "--time-limit", "20s")[0]
			_, _, events := logOf(t, o.Log)
			if o.EndReason != attemptlog.EndSubmitted && !(name == "fork bomb" && o.EndReason == attemptlog.EndTimeLimit) {
				t.Errorf("end %s", o.EndReason)
			}
			if detail := endDetail(events); o.EndReason == attemptlog.EndSubmitted && !strings.Contains(detail, c.detail) {
				t.Errorf("detail %q, expected %q", detail, c.detail)
			}
			if strings.Contains(c.text, "score;") && (o.Valid != 1 || !o.Rescored) {
				t.Errorf("%+v", o)
			}
			if left := processesWith(t, "7654321"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if st, err := os.Stat(filepath.Join(filepath.Dir(o.Log), "agent.log")); err != nil || st.Size() > 17<<20 {
				t.Errorf("agent.log: %v, %v", st.Size(), err)
			}
		})
	}
}

func TestRunInParallel(t *testing.T) {
	p := fresh(t)
	out := p.run(0, "--agent", script(t, "score; sleep 0.2; score"), "--attempts", "4", "--parallel", "2", "--seed", "10")
	var seeds []int64
	ids := map[string]bool{}
	for _, o := range out {
		seeds = append(seeds, o.Seed)
		ids[o.ID] = true
		h, sum, _ := logOf(t, o.Log)
		if o.EndReason != attemptlog.EndSubmitted || sum.Scores != 2 || *h.Seed != o.Seed || h.AttemptID != o.ID {
			t.Errorf("%+v", o)
		}
	}
	if !slices.Equal(seeds, []int64{10, 11, 12, 13}) || len(ids) != 4 {
		t.Errorf("seeds %v, %d ids", seeds, len(ids))
	}
	var list struct{ Attempts []listed }
	if err := json.Unmarshal([]byte(p.ok("status", "--json")), &list); err != nil || len(list.Attempts) != 4 || list.Attempts[0].Status.State != "ended" {
		t.Errorf("%+v, %v", list, err)
	}
}

// Break, resumption and stop from another terminal.
func TestPauseResumeStop(t *testing.T) {
	p := fresh(t)
	cmd := p.command("run", "toy", "--profile", "test", "--json", "--agent", script(t, "score; i=0; while :; do i=$((i+1)); echo $i > count; sleep 0.05; done"))
	var stdout strings.Builder
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var id string
	eventually(t, "an entry", func() bool {
		for _, d := range p.attempts() {
			if st, err := d.Control(attempt.ControlStatus); err == nil && st.Entries == 1 && st.State == "running" {
				id = d.Meta.ID
			}
		}
		return id != ""
	})
	status := func(args ...string) (st attempt.Status) {
		if err := json.Unmarshal([]byte(p.ok(append(args, id, "--json")...)), &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	paused := status("pause")
	time.Sleep(1500 * time.Millisecond)
	resumed := status("resume")
	if paused.State != "paused" || resumed.State != "running" || resumed.ElapsedS-paused.ElapsedS > 0.5 {
		t.Errorf("paused %+v, resumed %+v", paused, resumed)
	}
	time.Sleep(300 * time.Millisecond)
	if st := status("stop"); st.ID != id {
		t.Errorf("%+v", st)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("run ended with %v", err)
	}
	o := decodeOutcomes(t, stdout.String())[0]
	_, sum, events := logOf(t, o.Log)
	if o.EndReason != attemptlog.EndCancelled || !strings.Contains(endDetail(events), "runner stop") || sum.PausedFor < 1500*time.Millisecond {
		t.Errorf("%+v, paused for %v", o, sum.PausedFor)
	}
	if _, stderr, st := p.call("pause", id); st != exitLacking || !strings.Contains(stderr, "not running") {
		t.Errorf("pausing an ended attempt: %d %s", st, stderr)
	}
}

func (p *place) attempts() []*attempt.Dir {
	st, err := attempt.OpenState(p.state)
	if err != nil {
		p.t.Fatal(err)
	}
	dirs, err := st.List()
	if err != nil {
		p.t.Fatal(err)
	}
	return dirs
}

// Ctrl-C ends attempts as cancelled, with their logs closed.
func TestInterrupt(t *testing.T) {
	p := fresh(t)
	cmd := p.command("run", "toy", "--profile", "test", "--agent", script(t, "score; sleep 5432123"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	eventually(t, "an entry", func() bool {
		for _, d := range p.attempts() {
			if st, err := d.Control(attempt.ControlStatus); err == nil && st.Entries == 1 {
				return true
			}
		}
		return false
	})
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != exitInterrupted {
		t.Errorf("exit status %d", status)
	}
	_, sum, events := logOf(t, p.attempts()[0].LogPath())
	if sum.EndReason != attemptlog.EndCancelled || sum.Scores != 1 || !strings.Contains(endDetail(events), "interrupted") {
		t.Errorf("%+v", sum)
	}
	if left := processesWith(t, "5432123"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A person at a terminal: what they type, the break key, the end.
func TestHumanAttempt(t *testing.T) {
	p := fresh(t)
	master, slave, err := openPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	cmd := p.command("run", "toy", "--profile", "test", "--agent", "human", "--cohort", "testers")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	slave.Close()
	screen := make(chan string, 1000)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				close(screen)
				return
			}
			screen <- string(buf[:n])
		}
	}()
	seen := ""
	expect := func(text string) {
		t.Helper()
		deadline := time.After(30 * time.Second)
		for !strings.Contains(seen, text) {
			select {
			case s := <-screen:
				seen += s
			case <-deadline:
				t.Fatalf("%q does not appear; the screen shows %q", text, seen)
			}
		}
		_, seen, _ = strings.Cut(seen, text)
	}
	expect("$ ")
	master.WriteString("echo 'print(0.75)' > solution.py; score\n")
	expect("score 0.75")
	master.WriteString("\x1dp")
	expect("frozen")
	time.Sleep(1200 * time.Millisecond)
	master.WriteString("\x1dr")
	expect("going on")
	master.WriteString("\x1dt")
	expect("1 entries")
	master.WriteString("exit\n")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v; the screen shows %q", err, seen)
	}
	h, sum, _ := logOf(t, p.attempts()[0].LogPath())
	if h.Human == nil || h.Human.Cohort != "testers" || h.Agent != nil || sum.Scores != 1 || sum.PausedFor < 1200*time.Millisecond || sum.EndReason != attemptlog.EndSubmitted {
		t.Errorf("human %+v, %+v", h.Human, sum)
	}
}

// A human needs a terminal.
func TestHumanWithoutTerminal(t *testing.T) {
	p := shared(t)
	cmd := p.command("run", "toy", "--profile", "test", "--agent", "human")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "needs a terminal") {
		t.Errorf("%v: %s", err, out)
	}
}
