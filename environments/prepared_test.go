// RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4

package environments_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"rebench/runner/environment"
)

// scored is what is read of `runner score --json`.
type scored struct {
	Valid     bool     `json:"valid"`
	Reason    *string  `json:"reason"`
	Flags     []string `json:"flags"`
	Message   string   `json:"message"`
	Unclipped *float64 `json:"normalized_unclipped"`
	WallS     float64  `json:"wall_s"`
}

// TestPreparedExamples scores what is made in a workspace of its own, through
// the runner as a user would: preparation, solve.sh, snapshot, scoring.
func TestPreparedExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("runs and scores every prepared example in sandboxes; takes minutes")
	}
	envs, err := environment.LoadAll(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := shared(t)
	runner := filepath.Join(dir, "runner")
	if out, err := exec.Command("go", "build", "-o", runner, "../runner").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, env := range envs {
		if _, err := os.Stat(filepath.Join(env.Dir, "scorer", "prepare.py")); err != nil {
			continue // examples_test.go scores these
		}
		t.Run(string(env.ID), func(t *testing.T) {
			for _, example := range examples(t, env) {
				name, _ := filepath.Rel(filepath.Join(env.Dir, "solutions"), example)
				t.Run(name, func(t *testing.T) {
					checkPrepared(t, name, expected(t, example), scoreByRunner(t, runner, dir, env, example))
				})
			}
		})
	}
}

func scoreByRunner(t *testing.T, runner, dir string, env *environment.Environment, example string) scored {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), runner, "score", string(env.ID), example, "--profile", string(profileToTest()), "--seed", "1", "--json", "-q",
		"--state-dir", filepath.Join(dir, "runner-state"))
	cmd.Env = append(os.Environ(), "REBENCH_ENVIRONMENTS="+filepath.Dir(env.Dir), "REBENCH_SANDBOX_DIR="+filepath.Join(dir, "runner-sandbox"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("runner score: %v\n%s", err, stderr.String())
	}
	var v scored
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("runner score printed %q: %v", out, err)
	}
	return v
}

// checkPrepared compares a verdict with expected.yaml, and scores with what the
// kind of the example promises.
func checkPrepared(t *testing.T, name string, want expectation, v scored) {
	t.Helper()
	reason := ""
	if v.Reason != nil {
		reason = *v.Reason
	}
	t.Logf("%.1f s: valid %v, reason %q, flags %v, %s", v.WallS, v.Valid, reason, v.Flags, v.Message)
	if v.Valid != *want.Valid || reason != want.Reason {
		t.Errorf("found valid %v, reason %q, expected valid %v, reason %q: %s", v.Valid, reason, *want.Valid, want.Reason, v.Message)
	}
	for _, flag := range want.Flags {
		if !slices.Contains(v.Flags, flag) {
			t.Errorf("found flags %v, expected %s among them", v.Flags, flag)
		}
	}
	if v.Valid != (v.Unclipped != nil) {
		t.Fatalf("valid %v with the score %v", v.Valid, v.Unclipped)
	}
	if !v.Valid {
		return
	}
	n := *v.Unclipped
	t.Logf("normalized %.3f", n)
	switch filepath.Dir(name) {
	case "lazy":
		if n >= 0.5 {
			t.Errorf("normalized %.3f, expected less than 0.5", n)
		}
	case ".":
		centre := map[string]float64{"start": 0, "reference": 1}[name]
		if n < centre-0.2 || n > centre+0.2 {
			t.Errorf("normalized %.3f, expected about %g", n, centre)
		}
	}
}
