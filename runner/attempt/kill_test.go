package attempt

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// kills is how often the runner is killed; go test ./runner/attempt -run Kill9 -kills 200
// is the long form.
var kills = flag.Int("kills", 40, "number of times TestKill9 kills a runner")

// The helper process: a runner whose solver scores as fast as it can and prints
// the number of every entry that it has been answered.
func killHelper(t *testing.T, state string) {
	st, err := OpenState(state)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	exec := fakeExecutor(t, filepath.Join(dir, "sandbox"), func(ctx context.Context, s *solver) sandbox.Result {
		for range 12 {
			s.write(fmt.Sprint(rand.Int()))
			a, err := s.ask("score")
			s.proc.Gate()
			if err != nil || !a.OK {
				break
			}
			fmt.Println("answered", a.Entry.Number)
			time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		}
		return exit(0)
	})
	scorer := &fakeScorer{Func: func(_ context.Context, n int, req scoring.Request) (scoring.Outcome, error) {
		time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond)
		out := validOutcome(8-float64(n)/100, req)
		out.Verdict.Message = strings.Repeat("x", rand.IntN(20_000)) // lines of many pages
		return out, nil
	}}
	cfg := testConfig(t, st, exec, scorer, filepath.Join(dir, "env"))
	fmt.Println("attempt", cfg.Dir.Meta.ID)
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	fmt.Println("ended")
}

// TestKill9 kills runners at random moments, from before the attempt begins to
// after its end. No answered entry may be lost, and every attempt must end
// closed: by its runner, or by the recovery with the reason error.
func TestKill9(t *testing.T) {
	if state := os.Getenv("REBENCH_TEST_KILL_STATE"); state != "" {
		killHelper(t, state)
		return
	}
	counts := map[string]int{}
	for i := range *kills {
		state := filepath.Join(t.TempDir(), strconv.Itoa(i))
		counts[killOnce(t, state)]++
	}
	t.Logf("%d kills: %v", *kills, counts)
	if *kills >= 20 && counts["closed by recovery"] == 0 {
		t.Error("no kill met a running attempt")
	}
}

// killOnce returns what became of the attempt.
func killOnce(t *testing.T, state string) string {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKill9$")
	cmd.Env = append(os.Environ(), "REBENCH_TEST_KILL_STATE="+state)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Half of the kills in the first 60 ms after start-up, half over the whole life.
	delay := time.Duration(rand.Int64N(int64(60 * time.Millisecond)))
	if rand.IntN(2) == 0 {
		delay = time.Duration(rand.Int64N(int64(400 * time.Millisecond)))
	}
	timer := time.AfterFunc(delay, func() { cmd.Process.Kill() })
	defer timer.Stop()
	answered := 0
	id, ended := "", false
	for sc := bufio.NewScanner(out); sc.Scan(); {
		switch word, rest, _ := strings.Cut(sc.Text(), " "); word {
		case "attempt":
			id = rest
		case "answered":
			answered++
		case "ended":
			ended = true
		}
	}
	io.Copy(io.Discard, out)
	cmd.Wait()
	return afterKill(t, state, id, answered, ended)
}

func afterKill(t *testing.T, state, id string, answered int, ended bool) string {
	t.Helper()
	if _, err := os.Stat(state); err != nil {
		return "killed before anything"
	}
	st, err := OpenState(state)
	if err != nil {
		t.Fatal(err)
	}
	fake := &sandbox.Fake{Dir: t.TempDir()}
	logger := slog.New(slog.DiscardHandler)
	rec, err := st.Recover(context.Background(), fake, logger)
	if err != nil {
		t.Fatalf("recovery: %v", err)
	}
	if again, err := st.Recover(context.Background(), fake, logger); err != nil || len(again.Closed)+len(again.Dropped) != 0 {
		t.Errorf("recovering twice: %+v, %v", again, err)
	}
	path := filepath.Join(state, "attempts", id, logName)
	if id == "" || len(rec.Dropped) > 0 {
		if answered > 0 {
			t.Errorf("attempt %s was dropped with %d answered entries", id, answered)
		}
		return "killed before the attempt began"
	}
	if _, err := os.Stat(path); err != nil {
		if answered > 0 {
			t.Errorf("no log of %s, %d entries were answered", id, answered)
		}
		return "killed before the attempt began"
	}
	l := readLog(t, path)
	if len(l.scores) < answered {
		t.Errorf("attempt %s: %d entries were answered, %d are in the log", id, answered, len(l.scores))
	}
	if l.end == nil {
		t.Fatalf("attempt %s is open after recovery", id)
	}
	for _, w := range l.warnings {
		t.Errorf("attempt %s: %v", id, w)
	}
	if ended || len(rec.Closed) == 0 {
		if l.end.Reason != attemptlog.EndSubmitted {
			t.Errorf("attempt %s ended by itself with %v", id, l.end.Reason)
		}
		return "ended by itself"
	}
	if l.end.Reason != attemptlog.EndError || !strings.Contains(l.detail(), "runner stopped") {
		t.Errorf("attempt %s: end %v, detail %q", id, l.end.Reason, l.detail())
	}
	return "closed by recovery"
}

// A torn last line, as a crash of the machine leaves it, is cut off.
func TestRecoverTornLine(t *testing.T) {
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result { s.score(); return exit(0) })
	b.mustRun()
	path := b.cfg.Dir.LogPath()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(raw), "\n")
	for cutAt := 1; cutAt < len(lines[2]); cutAt += 7 {
		if err := os.WriteFile(path, []byte(lines[0]+lines[1]+lines[2][:cutAt]), 0o600); err != nil {
			t.Fatal(err)
		}
		rec, err := b.state.Recover(context.Background(), b.exec, slog.New(slog.DiscardHandler))
		if err != nil || len(rec.Closed) != 1 {
			t.Fatalf("%+v, %v", rec, err)
		}
		l := readLog(t, path)
		if len(l.scores) != 1 || l.end.Reason != attemptlog.EndError || l.end.Extra.Get("unacknowledged_bytes_cut") == nil {
			t.Errorf("cut at %d: %d scores, end %+v", cutAt, len(l.scores), l.end)
		}
	}
}

// A log that was damaged in its middle is left as it is, and said to be.
func TestRecoverDamagedLog(t *testing.T) {
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result { s.score(); return exit(0) })
	b.mustRun()
	path := b.cfg.Dir.LogPath()
	raw, _ := os.ReadFile(path)
	bad := strings.Replace(string(raw), `"valid":true`, `"valid":TRUE`, 1)
	if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := b.state.Recover(context.Background(), b.exec, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), b.cfg.Dir.Meta.ID) {
		t.Errorf("error %v", err)
	}
	if after, _ := os.ReadFile(path); string(after) != bad {
		t.Error("a damaged log was changed")
	}
}

// A running attempt is none of the recovery's business.
func TestRecoverLeavesRunningAttempts(t *testing.T) {
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		rec, err := b.state.Recover(context.Background(), b.exec, slog.New(slog.DiscardHandler))
		if err != nil || len(rec.Closed)+len(rec.Dropped) != 0 {
			t.Errorf("%+v, %v", rec, err)
		}
		if a := s.score(); !a.OK {
			t.Errorf("%+v", a)
		}
		return exit(0)
	})
	if l := b.mustRun(); len(l.scores) != 1 || l.end.Reason != attemptlog.EndSubmitted {
		t.Errorf("%d scores, end %v", len(l.scores), l.end.Reason)
	}
}

func TestSecretIsDrawnOnce(t *testing.T) {
	st, err := OpenState(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan string, 20)
	for range 20 {
		go func() {
			b, err := st.Secret()
			if err != nil {
				t.Error(err)
			}
			results <- string(b)
		}()
	}
	first := <-results
	for range 19 {
		if <-results != first {
			t.Fatal("two secrets")
		}
	}
	path := filepath.Join(st.Dir, "secret")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || len(first) != 32 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if other, _ := OpenState(t.TempDir()); other != nil {
		if b, _ := other.Secret(); string(b) == first {
			t.Error("two machines with one secret")
		}
	}
	os.WriteFile(path, []byte("short"), 0o600)
	if _, err := st.Secret(); err == nil {
		t.Error("a secret of 5 bytes was taken")
	}
}
