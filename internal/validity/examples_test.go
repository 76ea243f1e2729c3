package validity_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// What /validity shows of the last full scoring is what the examples expect today, of every
// example that there is: no outcome outlives a change of what must come out.
func TestExampleRunsAreAsExpected(t *testing.T) {
	runs, err := validity.ExampleRuns()
	if err != nil {
		t.Fatal(err)
	}
	scored := map[string]*validity.ExampleRun{}
	for i, r := range runs {
		scored[string(r.Environment)] = &runs[i]
		if r.Profile != rebench.ProfileCPU || len(r.Date) != len("2026-12-01") || r.Machine == "" || len(r.ScorerSHA256) != 64 {
			t.Errorf("%s: found profile %q, date %q, machine %q, scorer %q", r.Environment, r.Profile, r.Date, r.Machine, r.ScorerSHA256)
		}
	}
	for _, env := range environments(t) {
		run := scored[env]
		if run == nil {
			t.Errorf("%s: its examples have no outcomes; run make test-full", env)
			continue
		}
		checkExampleRun(t, run)
	}
}

func checkExampleRun(t *testing.T, run *validity.ExampleRun) {
	t.Helper()
	solutions := filepath.Join("environments", string(run.Environment), "solutions")
	there := append([]string{"start", "reference"}, exampleNames(t, string(run.Environment), "lazy", "invalid", "flagged")...)
	for _, x := range run.Examples {
		if !slices.Contains(there, x.Name) {
			t.Errorf("%s: an outcome of %s, which does not exist", run.Environment, x.Name)
		}
	}
	for _, name := range there {
		x := run.Outcome(name)
		if x == nil {
			t.Errorf("%s: no outcome of %s; run make test-full", run.Environment, name)
			continue
		}
		if x.Valid != (x.Raw != nil) || x.Valid != (x.Normalized != nil) || x.Valid != (x.Reason == "") {
			t.Errorf("%s: %s: %+v", run.Environment, name, *x)
		}
		switch kind, _, _ := strings.Cut(name, "/"); kind {
		case "invalid", "flagged":
			want := expected(t, filepath.Join(solutions, name))
			if want.Valid == nil || x.Valid != *want.Valid || x.Reason != want.Reason {
				t.Errorf("%s: %s came out as valid %v %q, expected.yaml says %+v", run.Environment, name, x.Valid, x.Reason, want)
			}
			for _, f := range want.Flags {
				if !slices.Contains(x.Flags, f) {
					t.Errorf("%s: %s was flagged %v, expected.yaml says %s", run.Environment, name, x.Flags, f)
				}
			}
		case "lazy":
			if x.Normalized == nil || *x.Normalized >= 0.5 {
				t.Errorf("%s: %s: %+v, expected a score below 0.5", run.Environment, name, *x)
			}
		default: // start and reference
			if centre := map[string]float64{"start": 0, "reference": 1}[name]; x.Normalized == nil || max(centre-*x.Normalized, *x.Normalized-centre) >= 0.5 {
				t.Errorf("%s: %s: %+v, expected a score near %g", run.Environment, name, *x, centre)
			}
		}
	}
}

func TestOutcome(t *testing.T) {
	run := validity.ExampleRun{Examples: []validity.ExampleOutcome{{Name: "start"}, {Name: "invalid/x", Reason: "nan"}}}
	if x := run.Outcome("invalid/x"); x == nil || x.Reason != "nan" {
		t.Errorf("invalid/x: %+v", x)
	}
	if x := run.Outcome("x"); x != nil {
		t.Errorf("x: %+v", x)
	}
}
