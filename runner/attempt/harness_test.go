package attempt

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/agent"
	"rebench/runner/calibration"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// fakeScorer answers with Func; by default raw 5 and valid.
type fakeScorer struct {
	mu   sync.Mutex
	reqs []scoring.Request
	Func func(ctx context.Context, n int, req scoring.Request) (scoring.Outcome, error)
}

func (f *fakeScorer) Score(ctx context.Context, req scoring.Request) (scoring.Outcome, error) {
	f.mu.Lock()
	n := len(f.reqs)
	f.reqs = append(f.reqs, req)
	f.mu.Unlock()
	if f.Func == nil {
		return validOutcome(5, req), nil
	}
	return f.Func(ctx, n, req)
}

func (f *fakeScorer) requests() []scoring.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]scoring.Request(nil), f.reqs...)
}

func validOutcome(raw float64, req scoring.Request) scoring.Outcome {
	return scoring.Outcome{
		Verdict: scoring.Verdict{Valid: true, Raw: &raw, Message: "fine", Flags: []string{"odd"},
			Trials: json.RawMessage(`[{"ms":1.5},{"ms":1.25}]`), PairedReferenceRaw: ptr(6.5), Details: json.RawMessage(`{"n":3}`)}, ScorerSHA256: hex64('a'),
		DrawKey: scoring.DrawKey([]byte("secret"), req.Attempt, req.Environment.ID, req.Index),
	}
}

func invalidOutcome(reason scoring.Reason, message string) scoring.Outcome {
	return scoring.Outcome{Verdict: scoring.Verdict{Reason: &reason, Message: message}, ScorerSHA256: hex64('a')}
}

func hex64(c byte) string { return string(bytes.Repeat([]byte{c}, 64)) }

// bench is one attempt in a fake sandbox.
type bench struct {
	t      *testing.T
	time   *fakeTime
	exec   *sandbox.Fake
	scorer *fakeScorer
	cfg    Config
	a      *Attempt
	state  *State
}

// player is a solver's program.
type player func(ctx context.Context, s *solver) sandbox.Result

// solver is what a player can do.
type solver struct {
	t         *testing.T
	spec      sandbox.Spec
	proc      *sandbox.FakeProcess
	socket    string
	workspace string
}

func exit(code int) sandbox.Result {
	return sandbox.Result{Cause: sandbox.CauseExit, ExitCode: code}
}

func newBench(t *testing.T, play player) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t: t, time: newFakeTime(), scorer: &fakeScorer{}}
	b.exec = fakeExecutor(t, filepath.Join(dir, "sandbox"), func(ctx context.Context, s *solver) sandbox.Result {
		for b.a.Status().State == "preparing" { // a fake starts in no time, before the clock
			time.Sleep(time.Millisecond)
		}
		return play(ctx, s)
	})
	var err error
	if b.state, err = OpenState(filepath.Join(dir, "state")); err != nil {
		t.Fatal(err)
	}
	b.cfg = testConfig(t, b.state, b.exec, b.scorer, filepath.Join(dir, "env"))
	b.cfg.Time = b.time
	return b
}

func fakeExecutor(t *testing.T, dir string, play player) *sandbox.Fake {
	return &sandbox.Fake{Dir: dir, Func: func(ctx context.Context, spec sandbox.Spec, proc *sandbox.FakeProcess) sandbox.Result {
		s := &solver{t: t, spec: spec, proc: proc}
		for _, m := range spec.Mounts {
			switch m.Target {
			case agent.Socket:
				s.socket = m.Source
			case agent.SolutionDir:
				s.workspace = m.Workspace.Path()
			}
		}
		return play(ctx, s)
	}}
}

func testConfig(t testing.TB, state *State, exec sandbox.Executor, scorer scoring.Scorer, envDir string) Config {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	start := filepath.Join(envDir, "solutions", "start")
	must(os.MkdirAll(start, 0o755))
	must(os.WriteFile(filepath.Join(start, "solution.txt"), []byte("start"), 0o644))
	must(os.WriteFile(filepath.Join(envDir, "INSTRUCTIONS.md"), []byte("Do well within {{.TimeLimit}}."), 0o644))
	prof := &environment.Profile{Name: rebench.ProfileTest, TimeLimitS: 60, Params: map[string]any{}, Limits: environment.DefaultLimits}
	env := &environment.Environment{
		ID: rebench.OptimizeKernel, Version: "1", Title: "Test", Direction: rebench.Minimize, Selection: rebench.SelectBest,
		ScoreVisible: true, FreezeAgentWhileScoring: true, Dir: envDir, Profiles: map[rebench.Profile]*environment.Profile{rebench.ProfileTest: prof},
	}
	id, err := NewID()
	must(err)
	dir, err := state.Create(Meta{ID: id, Environment: string(env.ID), Profile: "test", Agent: "tester", TimeLimitS: 60})
	must(err)
	cal := &calibration.Calibration{
		ID: "cal-1", Direction: rebench.Minimize, Key: calibration.Key{ScorerSHA256: hex64('a'), Threads: 1},
		Start:     calibration.Side{Median: 10, SD: 0.1, N: 5, Runs: []float64{10, 10, 10, 10, 10}},
		Reference: calibration.Side{Median: 6, SD: 0.1, N: 5, Runs: []float64{6, 6, 6, 6, 6}},
	}
	return Config{
		Dir: dir, Environment: env, Profile: prof, TimeLimit: 60 * time.Second, Seed: 7, Executor: exec, Scorer: scorer, Calibration: cal,
		Agent:       &agent.Agent{Kind: agent.KindCommand, Names: agent.Names{Name: "tester"}, Rankable: true, Argv: []string{"x"}, Solution: start},
		ToolVersion: "test", Logger: slog.New(slog.DiscardHandler),
	}
}

func (b *bench) new() *Attempt {
	b.t.Helper()
	a, err := New(b.cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.a = a
	return a
}

// run runs the attempt to its end and returns its log, verified.
func (b *bench) run() (*loggedAttempt, error) {
	b.t.Helper()
	if b.a == nil {
		b.new()
	}
	_, err := b.a.Run(context.Background())
	return readLog(b.t, b.cfg.Dir.LogPath()), err
}

// mustRun is run for attempts in which the runner has no fault.
func (b *bench) mustRun() *loggedAttempt {
	b.t.Helper()
	l, err := b.run()
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// loggedAttempt is a log that was read back.
type loggedAttempt struct {
	header   *attemptlog.Header
	scores   []*attemptlog.Score
	seqs     []int64 // of scores
	rescores []*attemptlog.Rescore
	pauses   []*attemptlog.Pause
	resumes  []*attemptlog.Resume
	unknown  []*attemptlog.Unknown
	end      *attemptlog.End
	kinds    []string
	warnings []attemptlog.Fault
}

// readLog reads and verifies a log; any fault fails the test.
func readLog(t testing.TB, path string) *loggedAttempt {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := attemptlog.NewReader(f, attemptlog.Options{File: filepath.Base(path)})
	l := &loggedAttempt{}
	for r.Next() {
		line := r.Line()
		l.kinds = append(l.kinds, line.Event.Type())
		switch e := line.Event.(type) {
		case *attemptlog.Header:
			c := *e
			l.header = &c
		case *attemptlog.Score:
			l.scores, l.seqs = append(l.scores, e.Clone()), append(l.seqs, line.Seq)
		case *attemptlog.Rescore:
			c := *e
			l.rescores = append(l.rescores, &c)
		case *attemptlog.Pause:
			c := *e
			l.pauses = append(l.pauses, &c)
		case *attemptlog.Resume:
			c := *e
			l.resumes = append(l.resumes, &c)
		case *attemptlog.End:
			c := *e
			l.end = &c
		case *attemptlog.Unknown:
			c := *e
			l.unknown = append(l.unknown, &c)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	for _, fault := range r.Faults() {
		t.Errorf("log fault: %v", fault)
	}
	l.warnings = r.Warnings()
	return l
}

func (l *loggedAttempt) detail() string {
	var s string
	if l.end != nil {
		json.Unmarshal(l.end.Extra.Get("detail"), &s)
	}
	return s
}

func (l *loggedAttempt) noWarnings(t testing.TB) {
	t.Helper()
	for _, w := range l.warnings {
		t.Errorf("log warning: %v", w)
	}
}

// ask sends one request as a solver would and returns the answer.
func (s *solver) ask(op string) (Answer, error) { return askRaw(s.socket, `{"op":"`+op+`"}`+"\n") }

func askRaw(socket, line string) (Answer, error) {
	conn, err := dialIn(filepath.Dir(socket), filepath.Base(socket))
	if err != nil {
		return Answer{}, err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(line)); err != nil {
		return Answer{}, err
	}
	return readAnswer(conn)
}

func readAnswer(conn *net.UnixConn) (Answer, error) {
	var a Answer
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("no answer: %w (got %q)", err, line)
	}
	return a, json.Unmarshal(line, &a)
}

// score asks for a scoring and waits where a real program would stand frozen.
func (s *solver) score() Answer {
	a, err := s.ask("score")
	if err != nil {
		s.t.Error(err)
	}
	s.proc.Gate()
	return a
}

func (s *solver) write(text string) {
	if err := os.WriteFile(filepath.Join(s.workspace, "solution.txt"), []byte(text), 0o644); err != nil {
		s.t.Error(err)
	}
}
