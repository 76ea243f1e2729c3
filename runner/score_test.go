package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rebench/internal/rebench"
)

// score runs `runner score --json` and returns the one object it prints.
func (p *place) score(args ...string) map[string]any {
	p.t.Helper()
	out := p.ok(append([]string{"score", "toy", "--profile", "test", "--json"}, args...)...)
	dec := json.NewDecoder(strings.NewReader(out))
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		p.t.Fatalf("%v in %q", err, out)
	}
	if dec.More() {
		p.t.Fatalf("more than one object: %q", out)
	}
	for _, key := range []string{"valid", "raw", "normalized", "reason", "flags", "trials", "calibration", "scorer_sha256"} {
		if _, ok := v[key]; !ok {
			p.t.Errorf("no key %s in %q", key, out)
		}
	}
	return v
}

func TestScoreCommand(t *testing.T) {
	p := shared(t)
	for _, c := range []struct {
		dir             string
		valid           bool
		raw, normalized any
		reason          any
		message         string
	}{
		{"start", true, 0.0, 0.0, nil, "printed 0"},
		{"reference", true, 1.0, 1.0, nil, "printed 1"},
		{"lazy/half", true, 0.4, 0.4, nil, "printed 0.4"},
		{"invalid/crash", false, nil, nil, "error", "status 3"},
	} {
		v := p.score(solution(c.dir), "--seed", "0")
		if v["valid"] != c.valid || v["raw"] != c.raw || v["normalized"] != c.normalized || v["reason"] != c.reason || !strings.Contains(v["message"].(string), c.message) {
			t.Errorf("%s: %v", c.dir, v)
		}
		if cal, ok := v["calibration"].(map[string]any); !ok || !strings.HasPrefix(cal["id"].(string), "cal-") {
			t.Errorf("%s: calibration %v", c.dir, v["calibration"])
		}
		if s, _ := v["scorer_sha256"].(string); len(s) != 64 {
			t.Errorf("%s: scorer hash %v", c.dir, v["scorer_sha256"])
		}
	}
}

// Whatever a directory holds, there is a verdict and exit status 0.
func TestScoreHostileDirectories(t *testing.T) {
	p := shared(t)
	cases := map[string]struct {
		make   func(dir string) error
		reason string
	}{
		"empty":         {func(string) error { return nil }, "error"},
		"symbolic link": {func(d string) error { return os.Symlink("/etc/passwd", filepath.Join(d, "solution.py")) }, "rule_broken"},
		"not a number":  {func(d string) error { return write(d, "print('x' * 100)") }, "wrong_output"},
		"nan":           {func(d string) error { return write(d, "print('nan')") }, "nan"},
		"hangs":         {func(d string) error { return write(d, "while True: pass") }, "timeout"},
		"eats memory":   {func(d string) error { return write(d, "x = b'x' * (1 << 34)\nprint(1)") }, "oom"},
		"large":         {func(d string) error { return write(d, "#"+strings.Repeat("x", 2<<20)) }, "rule_broken"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.make(dir); err != nil {
				t.Fatal(err)
			}
			q := *p
			q.t = t
			v := q.score(dir)
			got, _ := v["reason"].(string)
			// Python that cannot have its memory may see MemoryError and fail by itself.
			if v["valid"] != false || got != c.reason && !(c.reason == "oom" && got == "error") {
				t.Errorf("verdict %v", v)
			}
		})
	}
}

func write(dir, text string) error {
	return os.WriteFile(filepath.Join(dir, "solution.py"), []byte(text+"\n"), 0o644)
}

// An example with solve.sh is made in the workspace, over the start, first.
func TestScoreRunsSolve(t *testing.T) {
	p := shared(t)
	dir := t.TempDir()
	text := "set -e\ntest -f parameters.json\ntest -f \"$REBENCH_INSTRUCTIONS\"\necho \"print(0.5 + 0.001 * $REBENCH_SEED)\" > solution.py\n"
	if err := os.WriteFile(filepath.Join(dir, solveScript), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if v := p.score(dir, "--seed", "7"); v["raw"] != 0.507 {
		t.Errorf("verdict %v", v)
	}
	// Whatever it left when it failed is what counts.
	text += "exit 9\n"
	if err := os.WriteFile(filepath.Join(dir, solveScript), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	v := p.score(dir, "--seed", "7")
	if solve, _ := v["solve"].(map[string]any); v["raw"] != 0.507 || solve["exit_code"] != 9.0 {
		t.Errorf("verdict %v", v)
	}
}

// isFailure reports whether text is the one JSON document of a failed command.
func isFailure(text, says string, status int) bool {
	var f failure
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(&f) == nil && !d.More() && strings.Contains(f.Error, says) && f.Code != "" && f.Code != "internal" && f.ExitStatus == status
}

// A refused calibration is told once for people and once for scripts.
func TestFailureAsJSON(t *testing.T) {
	refused := rebench.Errorf(rebench.CodeConflict, "calibration of toy (test) refused: too noisy")
	for _, c := range []struct {
		json, answered bool
		want           string
	}{
		{true, false, `{"error":"calibration of toy (test) refused: too noisy","code":"conflict","exit_status":3}` + "\n"}, {true, true, ""}, {false, false, ""},
	} {
		var stdout, stderr strings.Builder
		(&globals{json: c.json, answered: c.answered}).tell(refused, exitStatus(refused, false), &stdout, &stderr)
		if stdout.String() != c.want || stderr.String() != "runner: calibration of toy (test) refused: too noisy\n" {
			t.Errorf("%+v: %q, %q", c, stdout.String(), stderr.String())
		}
	}
}

func TestUsageErrors(t *testing.T) {
	p := shared(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"score", "nonsense", solution("start")}, exitUsage, "no environment nonsense"},
		{[]string{"score", "../toy", solution("start")}, exitUsage, "environment id"},
		{[]string{"score", "toy", solution("start"), "--profile", "huge"}, exitUsage, `no profile "huge"`},
		{[]string{"score", "toy", "/nonexistent", "--profile", "test"}, exitUsage, "not a directory"},
		{[]string{"score", "toy", file, "--profile", "test"}, exitUsage, "not a directory"},
		{[]string{"score", "toy"}, exitUsage, "accepts 2 arg"},
		{[]string{"score", "--bogus"}, exitUsage, "unknown flag"},
		{[]string{"run", "toy", "--profile", "test", "--agent", "nobody"}, exitUsage, "expected command:PROGRAM"},
		{[]string{"run", "toy", "--profile", "test", "--agent", "command:/nonexistent/x"}, exitUsage, "no such file"},
		{[]string{"run", "toy", "--profile", "test", "--agent", "command:" + file}, exitUsage, "not an executable file"},
		{[]string{"run", "toy", "--profile", "test", "--agent", "starter", "--time-limit", "soon"}, exitUsage, "soon"},
		{[]string{"run", "toy", "--profile", "test", "--agent", "starter", "--attempts", "0"}, exitUsage, "--attempts"},
		{[]string{"run", "toy", "--profile", "test", "--agent", "starter", "--name", "<script>"}, exitUsage, "agent name"},
		{[]string{"run", "toy", "--profile", "test", "--agent", "starter", "--server", "ftp://x"}, exitUsage, "expected http"},
		{[]string{"pause", "nothing"}, exitUsage, "no attempt"},
		{[]string{"work"}, exitUsage, "--server"},
		{[]string{"push", "/nonexistent.ndjson", "--server", "http://127.0.0.1:1"}, exitUsage, "neither a file nor an attempt"},
		{[]string{"environments", "--environments", "/nonexistent"}, exitUsage, "not a directory"},
	} {
		if asJSON, _, status := p.call(append([]string{"--json"}, c.args...)...); !isFailure(asJSON, c.says, c.status) || status != c.status {
			t.Errorf("runner --json %s: status %d, %q", strings.Join(c.args, " "), status, asJSON)
		}
		out, stderr, status := p.call(c.args...)
		if status != c.status || !strings.Contains(stderr, c.says) || out != "" {
			t.Errorf("runner %s: status %d, expected %d\nstdout %q\nstderr %q, expected %q", strings.Join(c.args, " "), status, c.status, out, stderr, c.says)
		}
	}
}

func TestDoctorAndEnvironments(t *testing.T) {
	p := shared(t)
	var doc struct{ Checks []check }
	out, stderr, status := p.call("doctor", "--json")
	if err := json.Unmarshal([]byte(out), &doc); err != nil || status != 0 {
		t.Fatalf("status %d, %v\n%s%s", status, err, out, stderr)
	}
	names := map[string]string{}
	for _, c := range doc.Checks {
		names[c.Name] = c.State
	}
	for _, name := range []string{"sandbox", "limits tier", "separate users", "processor", "python3", "environments", "state directory", "device leases"} {
		if names[name] == "" || names[name] == checkMissing {
			t.Errorf("%s: %q", name, names[name])
		}
	}
	var list struct{ Environments []listedEnvironment }
	if err := json.Unmarshal([]byte(p.ok("environments", "--json")), &list); err != nil || len(list.Environments) != 1 || list.Environments[0].ID != "toy" ||
		len(list.Environments[0].ScorerSHA256) != 64 || list.Environments[0].Profiles[0].TimeLimitS != 60 {
		t.Errorf("%+v, %v", list, err)
	}
}

// The same submission, scored again: a toy that prints what it is told has no
// spread, one that prints at random has.
func TestScoreRepeated(t *testing.T) {
	p := shared(t)
	v := p.score(solution("lazy/half"), "--repeat", "4")
	r := v["repeatability"].(map[string]any)
	if r["n"] != 4.0 || r["invalid"] != 0.0 || r["median"] != 0.4 || r["sd"] != 0.0 || r["gap"] != 1.0 || r["gap_over_sd"] != nil || len(r["runs"].([]any)) != 4 {
		t.Errorf("of a constant: %v", r)
	}
	dir := t.TempDir()
	if err := write(dir, "import time\nprint(0.25 if time.time_ns() // 1000 % 2 else 0.75)"); err != nil {
		t.Fatal(err)
	}
	r = p.score(dir, "--repeat", "12")["repeatability"].(map[string]any)
	for _, x := range r["runs"].([]any) {
		if x != 0.25 && x != 0.75 {
			t.Errorf("a run of %v", x)
		}
	}
	if r["n"] != 12.0 || !(r["sd"].(float64) > 0.1) || math.Abs(r["gap_over_sd"].(float64)*r["sd"].(float64)-1) > 1e-9 {
		t.Errorf("of a coin: %v", r)
	}
	if v := p.score(solution("invalid/crash"), "--repeat", "3"); v["valid"] != false || v["repeatability"] != nil {
		t.Errorf("of an invalid solution: %v", v)
	}
}
