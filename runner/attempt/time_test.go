package attempt

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/attemptlog"
	"rebench/runner/device"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

func TestAgentThatNeverEnds(t *testing.T) {
	var b *bench
	b = newBench(t, func(ctx context.Context, s *solver) sandbox.Result {
		s.score()
		b.time.Advance(60 * time.Second)
		<-ctx.Done()
		return sandbox.Result{}
	})
	l := b.mustRun()
	l.noWarnings(t)
	if l.end.Reason != attemptlog.EndTimeLimit || *l.end.T != 60 || len(l.rescores) != 1 {
		t.Errorf("end %+v, rescores %d", l.end, len(l.rescores))
	}
	if p := b.exec.Processes()[0]; p == nil {
		t.Fatal("no process")
	} else if res, err := p.Wait(context.Background()); err != nil || res.Cause != sandbox.CauseKilled {
		t.Errorf("solver ended by %v, %v; expected to be killed", res.Cause, err)
	}
}

// The limit's edge: a request at exactly the limit is refused, one a
// millisecond before it is scored although the scoring passes the limit.
func TestLimitEdge(t *testing.T) {
	for _, frozen := range []bool{true, false} {
		for _, c := range []struct {
			name  string
			at    time.Duration
			taken bool
		}{
			{"1 ms before", 60*time.Second - time.Millisecond, true},
			{"exactly at", 60 * time.Second, false},
			{"1 ms after", 60*time.Second + time.Millisecond, false},
		} {
			name := c.name + map[bool]string{true: ", frozen", false: ", running on"}[frozen]
			t.Run(name, func(t *testing.T) {
				var b *bench
				b = newBench(t, func(ctx context.Context, s *solver) sandbox.Result {
					b.time.Advance(c.at)
					go askRaw(s.socket, "{\"op\":\"score\"}\n") // the kill may come first
					<-ctx.Done()
					return sandbox.Result{}
				})
				b.cfg.Environment.FreezeAgentWhileScoring = frozen
				b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
					if req.Purpose == scoring.PurposeScore {
						b.time.Advance(30 * time.Second) // past the limit
					}
					out := validOutcome(8, req)
					out.SubmissionTime = 30 * time.Second
					return out, nil
				}
				l := b.mustRun()
				l.noWarnings(t)
				if l.end.Reason != attemptlog.EndTimeLimit {
					t.Errorf("end %v", l.end.Reason)
				}
				if !c.taken {
					if len(l.scores) != 0 {
						t.Fatalf("scored at t = %v", *l.scores[0].T)
					}
					return
				}
				if len(l.scores) != 1 || *l.scores[0].T != 59.999 || !l.scores[0].Valid || len(l.rescores) != 1 {
					t.Fatalf("scores %+v, rescores %+v", l.scores, l.rescores)
				}
				if frozen && *l.end.T != 60 { // charging stops at the limit
					t.Errorf("end at t = %v", *l.end.T)
				}
			})
		}
	}
}

// In an environment that scores while the agent runs on, all time is the
// agent's but the wait for the timing lock, during which it is frozen.
func TestScoringWhileTheAgentRuns(t *testing.T) {
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		b.time.Advance(5 * time.Second)
		s.score()
		b.time.Advance(time.Second)
		return exit(0)
	})
	b.cfg.Environment.FreezeAgentWhileScoring = false
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		if req.Purpose == scoring.PurposeScore {
			agent := b.exec.Processes()[0]
			if agent.Frozen() {
				t.Error("frozen while scored")
			}
			b.time.Advance(2 * time.Second)
			req.Waiting(true)
			if !agent.Frozen() {
				t.Error("not frozen while uncharged")
			}
			b.time.Advance(100 * time.Second)
			req.Waiting(false)
			if agent.Frozen() {
				t.Error("frozen after the wait")
			}
			b.time.Advance(3 * time.Second)
		} else if req.Waiting != nil {
			t.Error("a scoring after the end has nobody to pause")
		}
		return validOutcome(8, req), nil
	}
	l := b.mustRun()
	l.noWarnings(t)
	if got := *l.scores[0].T; got != 5 {
		t.Errorf("entry at %v", got)
	}
	if got := *l.end.T; got != 11 {
		t.Errorf("end at %v, expected 5 + 2 + 3 + 1", got)
	}
	if len(l.pauses) != 1 || l.pauses[0].Reason != pauseTiming || *l.pauses[0].T != 7 || l.resumes[0].At.Sub(*l.pauses[0].At) != 100*time.Second {
		t.Errorf("pauses %+v", l.pauses)
	}
	// The pause lies within the scoring, but its line comes after the entry's.
	if diff := cmp.Diff([]string{"header", "score", "pause", "resume", "rescore", "reveal", "end"}, l.kinds); diff != "" {
		t.Error(diff)
	}
}

func TestFrozenWhileScoredAndThawedAfter(t *testing.T) {
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		s.score()
		if s.proc.Frozen() {
			t.Error("still frozen after the answer")
		}
		return exit(0)
	})
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		if req.Purpose == scoring.PurposeScore && !b.exec.Processes()[0].Frozen() {
			t.Error("not frozen while scored")
		}
		return validOutcome(8, req), nil
	}
	b.mustRun()
}

// A break freezes the solver, is logged at once and is not charged.
func TestBreak(t *testing.T) {
	var b *bench
	onBreak, goOn := make(chan bool), make(chan bool)
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		b.time.Advance(4 * time.Second)
		onBreak <- true
		<-goOn
		s.proc.Gate()
		b.time.Advance(2 * time.Second)
		return exit(0)
	})
	b.new()
	go func() {
		<-onBreak
		dir, err := b.state.Open(b.cfg.Dir.Meta.ID[:30])
		if err != nil {
			t.Error(err)
		}
		st, err := dir.Control(ControlPause)
		if err != nil || st.State != "paused" || st.PausedSince == nil {
			t.Errorf("status %+v, %v", st, err)
		}
		if !b.exec.Processes()[0].Frozen() {
			t.Error("not frozen during a break")
		}
		if l := readLog(t, b.cfg.Dir.LogPath()); len(l.pauses) != 1 || len(l.resumes) != 0 {
			t.Error("the break is not in the log while it lasts")
		}
		b.time.Advance(time.Hour)
		if _, err := dir.Control(ControlPause); err != nil {
			t.Errorf("pausing twice: %v", err)
		}
		if st, err = dir.Control(ControlResume); err != nil || st.ElapsedS != 4 {
			t.Errorf("status %+v, %v", st, err)
		}
		goOn <- true
	}()
	l := b.mustRun()
	l.noWarnings(t)
	if *l.end.T != 6 || len(l.pauses) != 1 || l.pauses[0].Reason != pauseBreak || l.resumes[0].At.Sub(*l.pauses[0].At) != time.Hour {
		t.Errorf("end %v, pauses %+v", *l.end.T, l.pauses)
	}
}

// A break that begins during a scoring goes on after it.
func TestBreakDuringScoring(t *testing.T) {
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		b.time.Advance(4 * time.Second)
		s.score()
		b.time.Advance(2 * time.Second)
		return exit(0)
	})
	b.scorer.Func = func(ctx context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		if req.Purpose == scoring.PurposeScore {
			b.time.Advance(3 * time.Second)
			if err := b.a.Pause(ctx); err != nil {
				t.Error(err)
			}
			b.time.Advance(7 * time.Second)
			go func() {
				for b.a.Status().Entries == 0 || !b.exec.Processes()[0].Frozen() {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(20 * time.Millisecond) // let the scoring's own hold go
				b.time.Advance(time.Minute)
				b.a.Resume(context.Background())
			}()
		}
		out := validOutcome(8, req)
		out.SubmissionTime = 2 * time.Second
		return out, nil
	}
	l := b.mustRun()
	l.noWarnings(t)
	// 4 + 2 of the submission + 2; the pause is all the rest: 8 + 60.
	if *l.end.T != 8 || len(l.pauses) != 1 || l.resumes[0].At.Sub(*l.pauses[0].At) != 68*time.Second {
		t.Errorf("end at %v, pauses %d", *l.end.T, len(l.pauses))
	}
}

// quietAfter is an inventory whose GPU works until it was asked n times.
type quietAfter struct {
	n    int
	time *fakeTime
}

func (q *quietAfter) GPUs(context.Context) ([]device.GPU, error) {
	g := device.GPU{UUID: "GPU-00000000-test", Name: "Test GPU", Minor: 3}
	if q.n--; q.n >= 0 {
		g.Utilization = 90
		q.time.Advance(2 * time.Second)
	}
	return []device.GPU{g}, nil
}

// Kernels that were queued before a score call run on while their process is
// frozen: until the GPU is quiet, time is charged.
func TestQueuedGPUWorkIsCharged(t *testing.T) {
	inv := &quietAfter{}
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		inv.n = 2
		s.score()
		return exit(0)
	})
	inv.time = b.time
	b.cfg.Inventory = inv
	b.cfg.Lease = &device.Lease{GPUs: []device.GPU{{UUID: "GPU-00000000-test", Name: "Test GPU", Minor: 3}}}
	l := b.mustRun()
	l.noWarnings(t)
	if *l.scores[0].T != 4 || *l.end.T != 4 {
		t.Errorf("entry at %v, end at %v; expected 2 readings of 2 s to be charged", *l.scores[0].T, *l.end.T)
	}
	if l.header.Hardware.GPU != "Test GPU" || *l.header.Hardware.GPUCount != 1 || !slices.Equal(b.exec.Specs()[0].GPUs, []int{3}) || !slices.Equal(b.scorer.requests()[0].GPUs, []int{3}) {
		t.Errorf("hardware %+v, device minors %v", l.header.Hardware, b.exec.Specs()[0].GPUs)
	}
}

// The seam for scaffolds: trouble of a model's API is not the solver's time.
func TestUncharged(t *testing.T) {
	var b *bench
	b = newBench(t, func(ctx context.Context, s *solver) sandbox.Result {
		b.time.Advance(time.Second)
		resume, err := b.a.Uncharged(ctx, "api_rate_limit")
		if err != nil || !s.proc.Frozen() {
			t.Errorf("frozen %v, %v", s.proc.Frozen(), err)
		}
		b.time.Advance(time.Minute)
		if err := resume(ctx); err != nil || s.proc.Frozen() {
			t.Errorf("frozen %v, %v", s.proc.Frozen(), err)
		}
		return exit(0)
	})
	l := b.mustRun()
	l.noWarnings(t)
	if *l.end.T != 1 || len(l.pauses) != 1 || l.pauses[0].Reason != "api_rate_limit" {
		t.Errorf("end at %v, pauses %+v", *l.end.T, l.pauses)
	}
}

func TestClockSetBack(t *testing.T) {
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		b.time.Advance(10 * time.Second)
		s.score()
		b.time.Jump(-3 * time.Hour)
		b.time.Advance(10 * time.Second)
		s.score()
		return exit(0)
	})
	l := b.mustRun()
	if *l.scores[0].T != 10 || *l.scores[1].T != 20 || !l.scores[1].At.Before(*l.scores[0].At) {
		t.Errorf("scores %+v", l.scores)
	}
	if l.end.Reason != attemptlog.EndSubmitted {
		t.Errorf("end %v", l.end.Reason)
	}
	if !slices.ContainsFunc(l.warnings, func(f attemptlog.Fault) bool { return f.Code == attemptlog.WarnClockDrift }) {
		t.Error("the log does not tell that the calendar moved")
	}
}

func TestAnswersComeOnAGrid(t *testing.T) {
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		s.score()
		if got := b.time.Now(); got != 10*time.Second {
			t.Errorf("answered after %v, expected 10 s", got)
		}
		return exit(0)
	})
	b.cfg.Environment.AnswerStepS = 5
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		if req.Purpose == scoring.PurposeScore {
			b.time.Advance(6200 * time.Millisecond)
			go func() { // the rest of the grid's step, once the attempt waits for it
				for b.a.Status().Entries == 0 {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(50 * time.Millisecond)
				b.time.Advance(3800 * time.Millisecond)
			}()
		}
		return validOutcome(7, req), nil
	}
	l := b.mustRun()
	l.noWarnings(t)
}
