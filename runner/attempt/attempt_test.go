package attempt

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
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

// What was prepared for an attempt lies over the start, under what the solver brings,
// and is gone after it.
func TestPreparedFilesLieOverTheStart(t *testing.T) {
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		for name, want := range map[string]string{"solution.txt": "own", "sub/more.txt": "brought", "kept.txt": "start", "solve.sh": "brought"} {
			if got, err := os.ReadFile(filepath.Join(s.workspace, name)); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v; expected %q", name, got, err, want)
			}
		}
		return exit(0)
	})
	own, brought := filepath.Join(b.cfg.Dir.Path, PreparedName, "solution"), t.TempDir()
	b.cfg.Agent.Solution = brought
	for path, text := range map[string]string{
		filepath.Join(own, "solution.txt"): "own", filepath.Join(own, "sub", "more.txt"): "more",
		filepath.Join(b.cfg.Environment.StartDir(), "kept.txt"): "start",
		filepath.Join(brought, "sub", "more.txt"):               "brought", filepath.Join(brought, "solve.sh"): "brought",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.cfg.Prepared = scoring.Prepared{SolutionDir: own, DataDir: filepath.Join(b.cfg.Dir.Path, PreparedName, "data")}
	b.mustRun()
	if spec := b.exec.Specs()[0]; spec.Env["REBENCH_DATA"] == "" {
		t.Error("the solver is not told where its data are")
	}
	// Of a runner that died, the recovery removes them.
	raw, err := os.ReadFile(b.cfg.Dir.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	open := raw[:strings.LastIndex(strings.TrimSpace(string(raw)), "\n")+1] // without the end
	if err := os.WriteFile(b.cfg.Dir.LogPath(), open, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.state.Recover(context.Background(), b.exec, b.cfg.Logger); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b.cfg.Dir.Path, PreparedName)); err == nil {
		t.Error("what was prepared for a dead attempt stays on the disk")
	}
}
