package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rebench/internal/attemptlog"
)

// These tests run the real binary with real sandboxes (bubblewrap must be
// installed) on the environment in testdata/toy, which scores the number that a
// solution prints: start 0, reference 1.

var (
	runnerBinary string
	testRoot     string // environments, state, locks and sandboxes of all tests
)

func TestMain(m *testing.M) {
	code, err := setUp(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "set-up:", err)
		code = 1
	}
	os.Exit(code)
}

func setUp(m *testing.M) (code int, err error) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return 1, fmt.Errorf("these tests need bubblewrap: %w", err)
	}
	// Sandbox users must be able to pass through it, unlike t.TempDir.
	if testRoot, err = os.MkdirTemp("", "rebench-runner-"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(testRoot)) }()
	if err := os.Chmod(testRoot, 0o711); err != nil {
		return 1, err
	}
	runnerBinary = filepath.Join(testRoot, "runner")
	if out, err := exec.Command("go", "build", "-o", runnerBinary, ".").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("go build: %w\n%s", err, out)
	}
	envs := filepath.Join(testRoot, "environments")
	for src, dst := range map[string]string{"testdata/toy": "toy", "../environments/common": "common"} {
		if err := os.CopyFS(filepath.Join(envs, dst), os.DirFS(src)); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// place is a state directory and the machine that a test pretends to be on.
type place struct {
	t     *testing.T
	state string
	env   []string
}

// shared is the place of tests that do not mind each other's attempts; its
// calibration is made once.
func shared(t *testing.T) *place { return placeAt(t, filepath.Join(testRoot, "state")) }

// fresh is a place without attempts; it has the shared calibration when
// calibrate was run before.
func fresh(t *testing.T) *place {
	p := placeAt(t, filepath.Join(testRoot, strings.ReplaceAll(t.Name(), "/", "_")))
	shared(t).ok("score", "toy", solution("start"), "--profile", "test")
	for _, name := range []string{"calibrations", "secret"} {
		src := filepath.Join(testRoot, "state", name)
		dst := filepath.Join(p.state, name)
		if err := os.MkdirAll(p.state, 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("cp", "-r", src, dst).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return p
}

func placeAt(t *testing.T, state string) *place {
	t.Helper()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + testRoot, "REBENCH_STATE_DIR=" + state, "REBENCH_LOCK_DIR=" + filepath.Join(testRoot, "locks"),
		"REBENCH_ENVIRONMENTS=" + filepath.Join(testRoot, "environments"), sandboxDirVariable + "=" + filepath.Join(testRoot, "sandbox"),
	}
	return &place{t: t, state: state, env: env}
}

func solution(name string) string {
	return filepath.Join(testRoot, "environments", "toy", "solutions", name)
}

func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(runnerBinary, args...)
	cmd.Env = p.env
	return cmd
}

// call runs the program and returns its output and exit status.
func (p *place) call(args ...string) (stdout, stderr string, status int) {
	p.t.Helper()
	var o, e bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// ok runs the program and expects exit status 0.
func (p *place) ok(args ...string) string {
	p.t.Helper()
	out, stderr, status := p.call(args...)
	if status != 0 {
		p.t.Fatalf("runner %s: status %d\n%s%s", strings.Join(args, " "), status, out, stderr)
	}
	return out
}

// run runs attempts and returns their outcomes.
func (p *place) run(wantStatus int, args ...string) []outcome {
	p.t.Helper()
	out, stderr, status := p.call(append([]string{"run", "toy", "--profile", "test", "--json"}, args...)...)
	if status != wantStatus {
		p.t.Fatalf("runner run %v: status %d, expected %d\n%s%s", args, status, wantStatus, out, stderr)
	}
	return decodeOutcomes(p.t, out)
}

func decodeOutcomes(t *testing.T, out string) []outcome {
	t.Helper()
	var got struct{ Attempts []outcome }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return got.Attempts
}

// script writes an agent program.
func script(t *testing.T, text string) string {
	t.Helper()
	return scriptIn(t.TempDir(), text)
}

func scriptIn(dir, text string) string {
	path := filepath.Join(dir, "agent.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		panic(err)
	}
	return "command:" + path
}

// logOf reads and verifies an attempt's log; faults and warnings fail the test.
func logOf(t *testing.T, path string) (*attemptlog.Header, attemptlog.Summary, []attemptlog.Event) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := attemptlog.NewReader(f, attemptlog.Options{File: filepath.Base(path)})
	var events []attemptlog.Event
	for r.Next() {
		e := r.Line().Event
		if s, ok := e.(*attemptlog.Score); ok {
			e = s.Clone()
		}
		events = append(events, e)
	}
	for _, f := range append(r.Faults(), r.Warnings()...) {
		t.Errorf("%s: %v", path, f)
	}
	return r.Header(), r.Summary(), events
}

func endDetail(events []attemptlog.Event) string {
	var s string
	for _, e := range events {
		if end, ok := e.(*attemptlog.End); ok {
			json.Unmarshal(end.Extra.Get("detail"), &s)
		}
	}
	return s
}

// processesWith lists the processes of this machine whose command line holds text.
func processesWith(t *testing.T, text string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		if raw, err := os.ReadFile(path); err == nil && bytes.Contains(raw, []byte(text)) {
			found = append(found, strings.ReplaceAll(string(raw), "\x00", " "))
		}
	}
	return found
}

// eventually waits for cond, which machine load may delay.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for range 600 {
		if cond() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("not within 30 s: %s", what)
}
