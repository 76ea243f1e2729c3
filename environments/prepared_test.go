// RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4

package environments_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"rebench/internal/validity"
	"rebench/runner/calibration"
	"rebench/runner/device"
	"rebench/runner/environment"
)

// scored is what is read of `runner score --json`.
type scored struct {
	Valid   bool     `json:"valid"`
	Reason  *string  `json:"reason"`
	Flags   []string `json:"flags"`
	Message string   `json:"message"`

	Calibration struct {
		Start     calibration.Side `json:"start"`
		Reference calibration.Side `json:"reference"`
	} `json:"calibration"`
	Raw          *float64 `json:"raw"`
	Unclipped    *float64 `json:"normalized_unclipped"`
	WallS        float64  `json:"wall_s"`
	ScorerSHA256 string   `json:"scorer_sha256"`
}

func (v scored) outcome(name string) validity.ExampleOutcome {
	out := validity.ExampleOutcome{Name: name, Valid: v.Valid, Flags: v.Flags, Raw: v.Raw, Normalized: v.Unclipped, WallS: v.WallS}
	if v.Reason != nil {
		out.Reason = *v.Reason
	}
	return out
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
	allowed, err := device.AllowedCores()
	if err != nil {
		t.Fatal(err)
	}
	cores := make(chan int, len(allowed))
	for _, core := range allowed {
		cores <- core
	}
	for _, env := range envs {
		if _, err := os.Stat(filepath.Join(env.Dir, "scorer", "prepare.py")); err != nil {
			continue // examples_test.go scores these
		}
		t.Run(string(env.ID), func(t *testing.T) {
			if env.ExclusiveTiming {
				t.Fatal("this test scores several solutions at once: no time may decide a score")
			}
			t.Parallel()
			dirs := examples(t, env)
			kept := newRecord(t, env, dirs)
			for i, example := range dirs {
				name := exampleName(env, example)
				t.Run(name, func(t *testing.T) {
					if i > 0 {
						t.Parallel() // the first one builds the assets and calibrates
					}
					v := scoreByRunner(t, runner, dir, env, example, cores)
					kept.add(v.outcome(name), v.Message, v.ScorerSHA256)
					checkPrepared(t, name, expected(t, example), v)
				})
			}
		})
	}
}

// scoreByRunner scores on one of cores, which it takes and gives back.
func scoreByRunner(t *testing.T, runner, dir string, env *environment.Environment, example string, cores chan int) scored {
	t.Helper()
	core := <-cores
	defer func() { cores <- core }()
	begin := time.Now()
	defer func() { t.Logf("%.1f s in all", time.Since(begin).Seconds()) }()
	cmd := exec.CommandContext(t.Context(), "taskset", "-c", strconv.Itoa(core), runner, "score", string(env.ID), example, "--profile", string(profileToTest()), "--seed", "1", "--json", "-q",
		"--state-dir", filepath.Join(dir, "runner-state"))
	cmd.Env = append(os.Environ(), "REBENCH_ENVIRONMENTS="+filepath.Dir(env.Dir), "REBENCH_SANDBOX_DIR="+filepath.Join(dir, "runner-sandbox"))
	// A runner of one core's own need not wait for others' calibrations.
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s-%d", device.LockDirVariable, filepath.Join(dir, "locks"), core))
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
	want.check(t, v.outcome(name), v.Message)
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
		if n >= 0.5 && !slices.Contains(want.ChanceIn, profileToTest()) {
			t.Errorf("normalized %.3f, expected less than 0.5", n)
		}
	case ".":
		centre := map[string]float64{"start": 0, "reference": 1}[name]
		if around := v.tolerance(); math.Abs(n-centre) > around {
			t.Errorf("normalized %.3f, expected %g give or take %.2f", n, centre, around)
		}
	}
}

// tolerance is how far from 0 or 1 a run of the start or the reference may be,
// normalized: four standard deviations of one as calibrated, at least 0.2, and
// always so little that neither passes for the other.
func (v scored) tolerance() float64 {
	start, reference := v.Calibration.Start, v.Calibration.Reference
	gap := math.Abs(reference.Median - start.Median)
	return min(max(0.2, 4*max(start.SD, reference.SD)/gap), 0.45)
}
