package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/runner/client"
	"rebench/runner/device"
)

// testServer keeps the contract of a rebench server for logs and queued runs.
type testServer struct {
	*httptest.Server
	mu      sync.Mutex
	logs    map[string][]string
	away    bool
	jobs    []client.Job
	reports map[string][]client.JobStatus
	arrived map[string][]time.Time // of each line
}

const serverToken = "token-of-the-tests"

func newTestServer(t *testing.T) *testServer {
	s := &testServer{logs: map[string][]string{}, reports: map[string][]client.JobStatus{}, arrived: map[string][]time.Time{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/attempts/{id}/events/head", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(map[string]int{"acknowledged": len(s.logs[r.PathValue("id")]) - 1})
	})
	mux.HandleFunc("POST /api/v1/attempts/{id}/events", s.post)
	mux.HandleFunc("POST /api/v1/runs/claim", func(w http.ResponseWriter, _ *http.Request) {
		if len(s.jobs) == 0 {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"run": s.jobs[0]})
		s.jobs = s.jobs[1:]
	})
	mux.HandleFunc("POST /api/v1/runs/{id}/status", func(w http.ResponseWriter, r *http.Request) {
		var st client.JobStatus
		if err := json.NewDecoder(r.Body).Decode(&st); err != nil {
			t.Error(err)
		}
		s.reports[r.PathValue("id")] = append(s.reports[r.PathValue("id")], st)
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.away:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Header.Get("Authorization") != "Bearer "+serverToken:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *testServer) post(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		json.NewEncoder(w).Encode(map[string]any{"code": code, "expected": len(s.logs[id])})
	}
	sc := bufio.NewScanner(r.Body)
	sc.Buffer(nil, 2<<20)
	for sc.Scan() {
		var e struct{ Seq int }
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		switch have := s.logs[id]; {
		case e.Seq > len(have):
			refuse("gap")
			return
		case e.Seq < len(have):
			if have[e.Seq] != sc.Text() {
				refuse("fork")
				return
			}
		default:
			s.logs[id] = append(have, sc.Text())
			s.arrived[id] = append(s.arrived[id], time.Now())
		}
	}
	json.NewEncoder(w).Encode(map[string]any{"attempt_id": id, "acknowledged": len(s.logs[id]) - 1})
}

// holds says whether the server has exactly the log at path.
func (s *testServer) holds(t *testing.T, id, path string) bool {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(raw) > 0 && strings.Join(s.logs[id], "\n")+"\n" == string(raw)
}

func (s *testServer) setAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func TestRunDeliversLive(t *testing.T) {
	p, s := fresh(t), newTestServer(t)
	p.env = append(p.env, client.TokenVariable+"="+serverToken)
	o := p.run(0, "--server", s.URL, "--agent", script(t, "score; sleep 2; score"))[0]
	if !o.Delivered || !s.holds(t, o.ID, o.Log) {
		t.Fatalf("%+v, the server holds %d lines", o, len(s.logs[o.ID]))
	}
	_, _, events := logOf(t, o.Log)
	for i, e := range events { // each line is there within a second
		if sc, ok := e.(*attemptlog.Score); ok {
			if late := s.arrived[o.ID][i].Sub(*sc.At); late > 1500*time.Millisecond {
				t.Errorf("entry at %v arrived %v later", *sc.T, late)
			}
		}
	}
	if out := p.ok("push", "--server", s.URL); !strings.Contains(out, "nothing to deliver") {
		t.Error(out)
	}
	if out := p.ok("push", o.Log, "--server", s.URL); !strings.Contains(out, "delivered") {
		t.Error(out)
	}
}

// The server is away while attempts run: they run on, and later runs and push
// deliver.
func TestServerAway(t *testing.T) {
	p, s := fresh(t), newTestServer(t)
	p.env = append(p.env, client.TokenVariable+"="+serverToken)
	s.setAway(true)
	a := script(t, "score; sleep 0.3; score")
	first := p.run(exitUndelivered, "--server", s.URL, "--agent", a, "--deliver-timeout", "1s")[0]
	second := p.run(exitUndelivered, "--server", s.URL, "--agent", a, "--deliver-timeout", "1s")[0]
	if first.EndReason != attemptlog.EndSubmitted || first.Entries != 2 || first.Delivered {
		t.Errorf("%+v", first)
	}
	if _, _, status := p.call("push", "--deliver-timeout", "1s"); status != exitUndelivered {
		t.Errorf("push to a server that is away: status %d", status)
	}
	s.setAway(false)
	p.ok("push", first.ID)
	if !s.holds(t, first.ID, first.Log) || s.holds(t, second.ID, second.Log) {
		t.Error("the first log, and only it, was to be delivered")
	}
	third := p.run(0, "--server", s.URL, "--agent", a)[0]
	for _, o := range []outcome{second, third} {
		if !s.holds(t, o.ID, o.Log) {
			t.Errorf("attempt %s is not delivered", o.ID)
		}
	}
}

func TestForkedLogIsRefused(t *testing.T) {
	p, s := fresh(t), newTestServer(t)
	p.env = append(p.env, client.TokenVariable+"="+serverToken)
	o := p.run(0, "--server", s.URL, "--agent", "starter")[0]
	s.mu.Lock()
	held := s.logs[o.ID]
	held[len(held)-1] = strings.Replace(held[len(held)-1], "submitted", "time_limit", 1)
	s.mu.Unlock()
	if _, stderr, status := p.call("push", o.ID, "--server", s.URL); status != exitUndelivered || !strings.Contains(stderr, "fork") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if _, stderr, status := p.call("push", o.ID, "--server", s.URL, "--token", "wrong"); status != exitUndelivered || !strings.Contains(stderr, "401") {
		t.Errorf("status %d: %s", status, stderr)
	}
	damaged := filepath.Join(t.TempDir(), "log.ndjson")
	raw, _ := os.ReadFile(o.Log)
	os.WriteFile(damaged, []byte(strings.Replace(string(raw), `"seq":1`, `"seq":7`, 1)), 0o600)
	if _, stderr, status := p.call("push", damaged, "--server", s.URL); status != exitUsage || !strings.Contains(stderr, "expected 1") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestWork(t *testing.T) {
	p, s := fresh(t), newTestServer(t)
	p.env = append(p.env, client.TokenVariable+"="+serverToken)
	job := client.Job{ID: "good", Environment: "toy", Profile: "test", Agent: "tuner", TimeLimitS: 30, Attempts: 2, Parallel: 2, Seed: 5}
	bad := func(id string, change func(*client.Job)) client.Job {
		j := job
		j.ID = id
		change(&j)
		return j
	}
	s.jobs = []client.Job{
		job,
		bad("no such environment", func(j *client.Job) { j.Environment = "../../etc" }),
		bad("no such profile", func(j *client.Job) { j.Profile = "huge" }),
		bad("a human", func(j *client.Job) { j.Agent = "human" }),
		bad("a command", func(j *client.Job) { j.Agent = "command:/bin/true" }),
		bad("no attempts", func(j *client.Job) { j.Attempts = 0 }),
	}
	p.ok("work", "--server", s.URL, "--once", "--poll", "100ms")
	reports := s.reports["good"]
	last := reports[len(reports)-1]
	if reports[0].State != client.JobRunning || last.State != client.JobDone || len(last.AttemptIDs) != 2 {
		t.Errorf("%+v", reports)
	}
	for _, id := range last.AttemptIDs {
		d := filepath.Join(p.state, "attempts", id, "log.ndjson")
		if h, _, _ := logOf(t, d); !s.holds(t, id, d) || *h.TimeLimitS != 30 {
			t.Errorf("attempt %s", id)
		}
	}
	for _, j := range []string{"no such environment", "no such profile", "a human", "a command", "no attempts"} {
		r := s.reports[j]
		if len(r) != 1 || r[0].State != client.JobFailed || r[0].Message == "" || len(r[0].AttemptIDs) != 0 {
			t.Errorf("%s: %+v", j, r)
		}
	}
}

// A worker that is stopped before an attempt began gives its run back, and says what it
// waited for.
func TestWorkGivesBack(t *testing.T) {
	p, s := fresh(t), newTestServer(t)
	p.env = append(p.env, client.TokenVariable+"="+serverToken)
	locks, err := device.OpenLocks(filepath.Join(testRoot, "locks"))
	if err != nil {
		t.Fatal(err)
	}
	held, err := locks.Calibrating(t.Context(), "calibration of toy (test)", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	s.jobs = []client.Job{{ID: "r", Environment: "toy", Profile: "test", Agent: "starter", Attempts: 2}}
	logged := filepath.Join(t.TempDir(), "stderr")
	stderr, err := os.Create(logged)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	cmd := p.command("work", "--server", s.URL, "--poll", "100ms")
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	want := fmt.Sprintf("waiting for the calibration of toy (test) on this machine, by the runner with process id %d, since ", os.Getpid())
	eventually(t, "it waits for the calibration", func() bool {
		b, _ := os.ReadFile(logged)
		return strings.Contains(string(b), want)
	})
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted worker: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.reports["r"]
	if last := r[len(r)-1]; last.State != client.JobQueued || len(last.AttemptIDs) != 0 || !strings.Contains(last.Message, "before an attempt began") {
		t.Errorf("%+v", r)
	}
}

// What a stopped run is reported to have come to, in words.
func TestJobError(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		ctx  context.Context
		out  []outcome
		want string
	}{
		{t.Context(), []outcome{{ID: "a", EndReason: attemptlog.EndSubmitted, Delivered: true}}, ""},
		{t.Context(), []outcome{{Error: "no GPU is free", err: errors.New("x")}}, "an attempt could not begin: no GPU is free"},
		{t.Context(), []outcome{{ID: "a", EndReason: attemptlog.EndSubmitted}}, "attempt a is not delivered yet"},
		{stopped, []outcome{{ID: "a", EndReason: attemptlog.EndCancelled, Error: "context canceled", err: context.Canceled}, {Error: "not begun: interrupted", err: context.Canceled},
			{ID: "c", Error: "context canceled", err: context.Canceled}}, "the runner was stopped; attempt a was cancelled; 2 attempts did not begin"},
	} {
		got := ""
		if err := jobError(c.ctx, c.out); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A worker waits for a server that is away, and ends when interrupted.
func TestWorkWaits(t *testing.T) {
	p, s := fresh(t), newTestServer(t)
	p.env = append(p.env, client.TokenVariable+"="+serverToken)
	s.setAway(true)
	s.jobs = []client.Job{{ID: "r", Environment: "toy", Profile: "test", Agent: "starter", Attempts: 1}}
	cmd := p.command("work", "--server", s.URL, "--poll", "100ms")
	cmd.Stderr = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	time.Sleep(500 * time.Millisecond)
	s.setAway(false)
	eventually(t, "the run is done", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.reports["r"]
		return len(r) > 0 && r[len(r)-1].State == client.JobDone
	})
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted worker: %v", err)
	}
	if _, _, status := p.call("work", "--server", s.URL, "--token", "wrong", "--once"); status != exitUndelivered {
		t.Errorf("a refused token: status %d", status)
	}
}

// A server that cannot be resolved or reached at all.
func TestUnreachableServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	p := fresh(t)
	o := p.run(exitUndelivered, "--server", "http://"+address, "--agent", "starter", "--deliver-timeout", "500ms")[0]
	if o.EndReason != attemptlog.EndSubmitted || o.Delivered {
		t.Errorf("%+v", o)
	}
}
