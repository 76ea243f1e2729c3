package attempt

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// A solver that sends garbage is told so, and nothing of it is scored.
func TestMalformedRequests(t *testing.T) {
	bad := []string{
		"\n", "{}\n", "score\n", `{"op":"score","op":"score"}` + "\n", `{"op":"nonsense"}` + "\n", `{"OP":"score"}` + "\n",
		`{"op":"score","score":1.0}` + "\n", "\x00\xff\xfe\n", `{"op":"score"}{"op":"score"}` + "\n", `{"op":"` + strings.Repeat("x", 3000) + "\"}\n",
		strings.Repeat("x", maxRequestBytes+1), strings.Repeat(" ", maxRequestBytes) + `{"op":"score"}` + "\n",
	}
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		for _, line := range bad {
			a, err := askRaw(s.socket, line)
			if err != nil || a.OK || a.Error != ErrMalformed || a.Message == "" {
				t.Errorf("%.40q: answer %+v, %v", line, a, err)
			}
		}
		if a := s.score(); !a.OK {
			t.Errorf("a good request after the bad ones: %+v", a)
		}
		return exit(0)
	})
	if l := b.mustRun(); len(l.scores) != 1 {
		t.Errorf("%d entries", len(l.scores))
	}
}

// A request that does not come, or not whole, is given up after the deadline.
func TestSlowRequests(t *testing.T) {
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		for _, part := range []string{"", `{"op":"sco`} {
			begin := time.Now()
			a, err := askRaw(s.socket, part)
			if err != nil || a.Error != ErrMalformed || time.Since(begin) < requestDeadline {
				t.Errorf("%q: %+v, %v after %v", part, a, err, time.Since(begin))
			}
		}
		return exit(0)
	})
	b.mustRun()
}

// A request line that was cut by a freeze has its whole deadline afterwards.
func TestRequestAcrossAFreeze(t *testing.T) {
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		conn, err := dialIn(filepath.Dir(s.socket), filepath.Base(s.socket))
		if err != nil {
			t.Error(err)
			return exit(1)
		}
		defer conn.Close()
		io.WriteString(conn, `{"op":`)
		b.a.Pause(context.Background())
		time.Sleep(requestDeadline + 500*time.Millisecond)
		b.a.Resume(context.Background())
		io.WriteString(conn, `"remaining"}`+"\n")
		if a, err := readAnswer(conn); err != nil || !a.OK || *a.RemainingS != 60 {
			t.Errorf("answer %+v, %v", a, err)
		}
		return exit(0)
	})
	b.mustRun()
}

// A flood of connections is bounded, answered or refused, and does not keep a
// scoring from being logged.
func TestFloodedSocket(t *testing.T) {
	entered, release := make(chan bool), make(chan bool)
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		var first, flood sync.WaitGroup
		first.Go(func() {
			if a, err := s.ask("score"); err != nil || !a.OK {
				t.Errorf("the scoring under the flood: %+v, %v", a, err)
			}
		})
		<-entered
		var mu sync.Mutex
		words := map[ErrorWord]int{}
		for range 300 {
			flood.Go(func() {
				a, err := s.ask("score")
				mu.Lock()
				defer mu.Unlock()
				if err != nil || a.OK {
					t.Errorf("%+v, %v", a, err)
				}
				words[a.Error]++
			})
		}
		for range 60 { // and some that hold a slot and say nothing
			flood.Go(func() {
				if conn, err := dialIn(filepath.Dir(s.socket), filepath.Base(s.socket)); err == nil {
					io.Copy(io.Discard, conn)
					conn.Close()
				}
			})
		}
		flood.Wait()
		release <- true
		first.Wait()
		if words[ErrBusy] != 300 {
			t.Errorf("answers: %v", words)
		}
		return exit(0)
	})
	b.cfg.Environment.FreezeAgentWhileScoring = false // a frozen solver floods nothing
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		if req.Purpose == scoring.PurposeScore {
			entered <- true
			<-release
		}
		return validOutcome(8, req), nil
	}
	if l := b.mustRun(); len(l.scores) != 1 || l.end.Reason != attemptlog.EndSubmitted {
		t.Errorf("%d entries, end %v", len(l.scores), l.end.Reason)
	}
}

func TestPeerOfAnotherUserIsRefused(t *testing.T) {
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		_, err := s.ask("score")
		if err == nil {
			t.Error("served")
		}
		return exit(0)
	})
	a := b.new()
	if err := a.prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer a.cleanup()
	s, err := a.listenScores()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.uid = os.Getuid() + 1
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.wg.Go(func() { s.serve(ctx) })
	if got, err := askRaw(s.path, "{\"op\":\"remaining\"}\n"); err == nil {
		t.Errorf("another user was answered %+v", got)
	}
}

// fullDisk mounts a tmpfs of the given size at dir; tests that need it run as root.
func fullDisk(t *testing.T, dir string, kb int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.Itoa(kb)+"k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// The log's disk fills up: what was answered is in the log, the solver is
// stopped, and the log says why.
func TestDiskFullOnTheLog(t *testing.T) {
	var answered int
	b := newBench(t, func(ctx context.Context, s *solver) sandbox.Result {
		for {
			a, err := s.ask("score")
			if err != nil || !a.OK {
				break
			}
			answered++
		}
		<-ctx.Done()
		return sandbox.Result{}
	})
	fullDisk(t, filepath.Join(b.state.Dir, "attempts"), 256)
	id, _ := NewID()
	var err error
	if b.cfg.Dir, err = b.state.Create(Meta{ID: id}); err != nil {
		t.Fatal(err)
	}
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		out := validOutcome(8, req)
		out.Verdict.Message = strings.Repeat("long ", 2000)
		return out, nil
	}
	l, err := b.run()
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	if l.end == nil || l.end.Reason != attemptlog.EndError || !strings.Contains(l.detail(), "no space left") {
		t.Fatalf("end %+v, detail %q", l.end, l.detail())
	}
	if answered == 0 || len(l.scores) < answered {
		t.Errorf("%d entries were answered, %d are in the log", answered, len(l.scores))
	}
}
