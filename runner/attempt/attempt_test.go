package attempt

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/device"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// A solver that scores three solutions: entries, times, selection of the best,
// the scoring again, the reveal, the end.
func TestAttemptScoresAndRescoresTheBest(t *testing.T) {
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		for _, text := range []string{"nine", "seven", "eight"} {
			b.time.Advance(10 * time.Second)
			s.write(text)
			s.score()
		}
		b.time.Advance(5 * time.Second)
		return exit(0)
	})
	raws := map[string]float64{"nine": 9, "seven": 7, "eight": 8}
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		text, err := os.ReadFile(filepath.Join(req.SnapshotDir, "solution.txt"))
		if err != nil {
			return scoring.Outcome{}, err
		}
		b.time.Advance(3 * time.Second) // 1 s of it is the submission's
		out := validOutcome(raws[string(text)], req)
		if req.Purpose == scoring.PurposeRescore {
			out = validOutcome(7.25, req) // luck regresses
		}
		out.SubmissionTime = time.Second
		return out, nil
	}
	l := b.mustRun()
	l.noWarnings(t)
	var ts, raw, norm []float64
	for _, s := range l.scores {
		ts, raw, norm = append(ts, *s.T), append(raw, *s.Score), append(norm, *s.Normalized)
		if !s.Valid || s.Basis != rebench.BasisRaw || s.ScorerSHA256 != hex64('a') || len(s.SubmissionSHA256) != 64 {
			t.Errorf("entry: %+v", s)
		}
	}
	// 10 s of work before each; every scoring charges its 1 s of submission time.
	if diff := cmp.Diff([]float64{10, 21, 32}, ts); diff != "" {
		t.Error("t", diff)
	}
	if diff := cmp.Diff([]float64{9, 7, 8}, raw); diff != "" {
		t.Error("raw", diff)
	}
	if diff := cmp.Diff([]float64{0.25, 0.75, 0.5}, norm); diff != "" {
		t.Error("normalized", diff)
	}
	if len(l.rescores) != 1 || l.rescores[0].OfSeq != l.seqs[1] || *l.rescores[0].Score != 7.25 || *l.rescores[0].Trials != 2 {
		t.Errorf("rescores: %+v", l.rescores)
	}
	if l.end == nil || l.end.Reason != attemptlog.EndSubmitted || *l.end.T != 38 {
		t.Errorf("end: %+v", l.end)
	}
	if !strings.Contains(l.detail(), "status 0") {
		t.Errorf("detail %q", l.detail())
	}
	want := []string{"header", "score", "pause", "resume", "score", "pause", "resume", "score", "pause", "resume", "rescore", "reveal", "end"}
	if diff := cmp.Diff(want, l.kinds); diff != "" {
		t.Error(diff)
	}
	for i, p := range l.pauses { // 2 of the 3 seconds are not the solver's
		if d := l.resumes[i].At.Sub(*p.At); d != 2*time.Second || *p.T != *l.resumes[i].T {
			t.Errorf("pause %d lasts %v at t %v to %v", i, d, *p.T, *l.resumes[i].T)
		}
	}
	checkReveal(t, b, l)
	left, err := os.ReadDir(filepath.Join(b.cfg.Dir.Path, submissions))
	if err != nil || len(left) != 1 {
		t.Errorf("submissions kept: %v, %v; expected the best only", left, err)
	}
}

// Every scoring has draws of its own, told after the end and not before.
func checkReveal(t *testing.T, b *bench, l *loggedAttempt) {
	t.Helper()
	var draws []draw
	for _, u := range l.unknown {
		if u.Kind == "reveal" {
			if err := json.Unmarshal(u.Extra.Get("draws"), &draws); err != nil {
				t.Fatal(err)
			}
		}
	}
	reqs := b.scorer.requests()
	if len(draws) != len(reqs) {
		t.Fatalf("%d draws revealed of %d scorings", len(draws), len(reqs))
	}
	seen := map[string]bool{}
	for i, d := range draws {
		if d.Index != reqs[i].Index || d.Purpose != string(reqs[i].Purpose) || len(d.Key) != 64 || seen[d.Key] {
			t.Errorf("draw %d: %+v", i, d)
		}
		seen[d.Key] = true
	}
	raw, err := os.ReadFile(b.cfg.Dir.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(raw), `"reveal"`)
	for key := range seen {
		if strings.Contains(before, key) {
			t.Error("a draw key stands in the log before the attempt's end")
		}
	}
}

func TestAgentEnds(t *testing.T) {
	cases := map[string]struct {
		result sandbox.Result
		detail string
	}{
		"at once":          {exit(0), "exited with status 0"},
		"at once, failing": {exit(3), "exited with status 3"},
		"by a signal":      {sandbox.Result{Cause: sandbox.CauseSignal, ExitCode: -1, Signal: 11}, "ended by signal 11"},
		"out of memory":    {sandbox.Result{Cause: sandbox.CauseOOM, ExitCode: -1}, "ran out of memory"},
		"by the watchdog":  {sandbox.Result{Cause: sandbox.CauseLimit, ExitCode: -1, Detail: "too many files"}, "too many files"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(context.Context, *solver) sandbox.Result { return c.result })
			l := b.mustRun()
			l.noWarnings(t)
			if l.end.Reason != attemptlog.EndSubmitted || !strings.Contains(l.detail(), c.detail) {
				t.Errorf("end %q, detail %q", l.end.Reason, l.detail())
			}
			if len(l.scores)+len(l.rescores) != 0 {
				t.Error("entries from nowhere")
			}
		})
	}
}

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

func TestStop(t *testing.T) {
	scored := make(chan bool)
	b := newBench(t, func(ctx context.Context, s *solver) sandbox.Result {
		s.score()
		scored <- true
		<-ctx.Done()
		return sandbox.Result{}
	})
	b.new()
	go func() {
		<-scored
		dir, err := b.state.Open(b.cfg.Dir.Meta.ID)
		if err == nil {
			_, err = dir.Control(ControlStop)
		}
		if err != nil {
			t.Error(err)
		}
	}()
	l := b.mustRun()
	if l.end.Reason != attemptlog.EndCancelled || !strings.Contains(l.detail(), "stop") || len(l.scores) != 1 || len(l.rescores) != 0 {
		t.Errorf("end %v %q, %d scores, %d rescores", l.end.Reason, l.detail(), len(l.scores), len(l.rescores))
	}
}

// Interrupting the runner aborts a scoring, which then leaves no entry.
func TestInterruptedWhileScoring(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := newBench(t, func(ctx context.Context, s *solver) sandbox.Result {
		s.ask("score")
		<-ctx.Done()
		return sandbox.Result{}
	})
	b.scorer.Func = func(ctx context.Context, _ int, _ scoring.Request) (scoring.Outcome, error) {
		cancel()
		<-ctx.Done()
		return scoring.Outcome{}, ctx.Err()
	}
	_, err := b.new().Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	l := readLog(t, b.cfg.Dir.LogPath())
	if l.end.Reason != attemptlog.EndCancelled || len(l.scores) != 0 {
		t.Errorf("end %v, %d scores", l.end.Reason, len(l.scores))
	}
}

// Hidden scores: the solver is told nothing, the log everything; the last valid
// entry counts, and the submission at the end is scored once.
func TestHiddenScoresAndLastSelection(t *testing.T) {
	var b *bench
	var told []Answer
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		b.time.Advance(time.Second)
		told = append(told, s.score())
		a, _ := s.ask("log")
		told = append(told, a)
		s.write("later")
		b.time.Advance(time.Second)
		return exit(0)
	})
	b.cfg.Environment.Selection, b.cfg.Environment.ScoreVisible = rebench.SelectLast, false
	b.scorer.Func = func(_ context.Context, n int, req scoring.Request) (scoring.Outcome, error) {
		return validOutcome([]float64{7, 8, 8.5}[n], req), nil
	}
	l := b.mustRun()
	l.noWarnings(t)
	for _, a := range told {
		for _, e := range append(a.Entries, Entry{}) {
			if a.Entry != nil && a.Entry.Score != nil || e.Score != nil {
				t.Errorf("the solver was told %+v", a)
			}
		}
	}
	if len(l.scores) != 2 || *l.scores[0].Score != 7 || *l.scores[1].Score != 8 || *l.scores[1].T != 2 {
		t.Fatalf("scores %+v", l.scores)
	}
	if len(l.rescores) != 1 || l.rescores[0].OfSeq != l.seqs[1] || *l.rescores[0].Score != 8.5 {
		t.Errorf("rescores %+v", l.rescores)
	}
	if l.scores[0].SubmissionSHA256 == l.scores[1].SubmissionSHA256 {
		t.Error("two solutions with one hash")
	}
}

func TestScoresAreRoundedToTheNoise(t *testing.T) {
	var a Answer
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result { a = s.score(); return exit(0) })
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		return validOutcome(7.123456, req), nil // the calibration's noise is 0.1
	}
	l := b.mustRun()
	if a.Entry == nil || *a.Entry.Score != 7.1 || *l.scores[0].Score != 7.123456 {
		t.Errorf("told %+v, logged %v", a.Entry, *l.scores[0].Score)
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

// A fault of the scorer is no verdict on the submission.
func TestScorerFaults(t *testing.T) {
	t.Run("passing", func(t *testing.T) {
		b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
			if a := s.score(); !a.OK {
				t.Errorf("answer %+v", a)
			}
			return exit(0)
		})
		b.scorer.Func = func(_ context.Context, n int, req scoring.Request) (scoring.Outcome, error) {
			if n == 0 {
				return scoring.Outcome{}, &scoring.Fault{Stage: "exit", Detail: "status 1"}
			}
			return validOutcome(8, req), nil
		}
		l := b.mustRun()
		if len(l.scores) != 1 || !l.scores[0].Valid {
			t.Errorf("scores %+v", l.scores)
		}
		reqs := b.scorer.requests()
		if reqs[0].Index == reqs[1].Index {
			t.Error("a scoring index was used twice")
		}
	})
	t.Run("lasting", func(t *testing.T) {
		b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
			if a := s.score(); a.OK || a.Error != ErrRunner {
				t.Errorf("answer %+v", a)
			}
			return exit(0)
		})
		b.scorer.Func = func(context.Context, int, scoring.Request) (scoring.Outcome, error) {
			return scoring.Outcome{}, &scoring.Fault{Stage: "exit", Detail: "status 1"}
		}
		l := b.mustRun()
		if len(l.scores) != 0 || l.end.Reason != attemptlog.EndSubmitted {
			t.Errorf("scores %d, end %v", len(l.scores), l.end.Reason)
		}
		if l.kinds[1] != "scorer_fault" {
			t.Errorf("kinds %v", l.kinds)
		}
	})
	t.Run("when scored again", func(t *testing.T) {
		b := newBench(t, func(_ context.Context, s *solver) sandbox.Result { s.score(); return exit(0) })
		b.scorer.Func = func(_ context.Context, n int, req scoring.Request) (scoring.Outcome, error) {
			if req.Purpose == scoring.PurposeRescore {
				return scoring.Outcome{}, errors.New("broken")
			}
			return validOutcome(8, req), nil
		}
		l := b.mustRun()
		if len(l.rescores) != 1 || l.rescores[0].Score != nil || l.rescores[0].Reason != "error" {
			t.Errorf("rescores %+v", l.rescores)
		}
	})
}

func TestInvalidSubmissions(t *testing.T) {
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		if err := os.Symlink("/etc/passwd", filepath.Join(s.workspace, "link")); err != nil {
			t.Error(err)
		}
		if a := s.score(); !a.OK || a.Entry.Valid || a.Entry.Reason != "rule_broken" || !strings.Contains(a.Entry.Message, "link") {
			t.Errorf("answer %+v", a)
		}
		os.Remove(filepath.Join(s.workspace, "link"))
		if a := s.score(); !a.OK || a.Entry.Valid || a.Entry.Reason != "wrong_output" {
			t.Errorf("answer %+v", a)
		}
		return exit(0)
	})
	b.scorer.Func = func(context.Context, int, scoring.Request) (scoring.Outcome, error) {
		return invalidOutcome(scoring.ReasonWrongOutput, "element 3 differs"), nil
	}
	l := b.mustRun()
	l.noWarnings(t)
	if len(l.scores) != 2 || l.scores[0].Valid || l.scores[0].Reason != attemptlog.ReasonRuleBroken || l.scores[1].Reason != attemptlog.ReasonWrongOutput {
		t.Errorf("scores %+v", l.scores)
	}
	if len(b.scorer.requests()) != 1 || len(l.rescores) != 0 {
		t.Error("a refused snapshot was scored, or an invalid entry scored again")
	}
}

func TestTooManyScorings(t *testing.T) {
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		for i := range 5 {
			a := s.score()
			if a.OK != (i < 3) || !a.OK && a.Error != ErrTooMany {
				t.Errorf("scoring %d: %+v", i, a)
			}
		}
		return exit(0)
	})
	b.cfg.MaxScorings = 3
	if l := b.mustRun(); len(l.scores) != 3 {
		t.Errorf("%d entries", len(l.scores))
	}
}

func TestOneScoringAtATime(t *testing.T) {
	var s2 Answer
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result { s.score(); return exit(0) })
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		if req.Purpose == scoring.PurposeScore {
			s2, _ = askRaw(filepath.Join(b.cfg.Dir.Path, socketName), "{\"op\":\"score\"}\n")
		}
		return validOutcome(8, req), nil
	}
	if l := b.mustRun(); len(l.scores) != 1 || s2.OK || s2.Error != ErrBusy {
		t.Errorf("%d scores, second request %+v", len(l.scores), s2)
	}
}

func TestHeaderSaysWhatBearsOnTheScore(t *testing.T) {
	b := newBench(t, func(context.Context, *solver) sandbox.Result { return exit(0) })
	l := b.mustRun()
	h := l.header
	if h.Environment.Profile != "test" || h.Scoring.CalibrationID != "cal-1" || *h.Scoring.StartRaw != 10 || *h.Scoring.ReferenceRaw != 6 ||
		h.Agent.Name != "tester" || *h.TimeLimitS != 60 || *h.Seed != 7 || h.Clock != rebench.ClockActive || h.StartedAt == nil {
		t.Errorf("header %+v", h)
	}
	for _, key := range []string{"fingerprint", "cpu_model"} {
		if h.Hardware.Extra.Get(key) == nil {
			t.Errorf("no %s", key)
		}
	}
	if !strings.Contains(string(h.Extra.Get("limits")), "fake contains nothing") {
		t.Errorf("limits %s", h.Extra.Get("limits"))
	}
	env := b.exec.Specs()[0].Env
	for _, key := range []string{"REBENCH_TIME_LIMIT_S", "REBENCH_SEED", "REBENCH_SOCKET", "REBENCH_DIRECTION"} {
		if env[key] == "" {
			t.Errorf("the solver is not told %s", key)
		}
	}
}
