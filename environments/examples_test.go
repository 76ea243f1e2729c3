// RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4

// Package environments_test scores the example solutions of every environment
// through the real sandbox and compares the verdicts with what must come out.
package environments_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"rebench/internal/rebench"
	"rebench/internal/validity"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// expectation is an example's expected.yaml.
type expectation struct {
	Valid  *bool    `yaml:"valid"`
	Reason string   `yaml:"reason"`
	Flags  []string `yaml:"flags"`
	// MessageLacks is what the message must not say.
	MessageLacks string `yaml:"message_lacks"`
	// ChanceIn are profiles so small that chance may lift this lazy solution above
	// its bound: there the verdict alone is checked.
	ChanceIn []rebench.Profile `yaml:"chance_in"`
}

// profileToTest is test, or what REBENCH_EXAMPLES_PROFILE names (make test-full: cpu).
func profileToTest() rebench.Profile {
	if name := os.Getenv("REBENCH_EXAMPLES_PROFILE"); name != "" {
		return rebench.Profile(name)
	}
	return rebench.ProfileTest
}

// TestExamples takes minutes and no other load on the machine: times decide
// nothing here, but each solution has a time limit.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("scores every example solution in sandboxes; takes minutes")
	}
	envs, err := environment.LoadAll(".")
	if err != nil {
		t.Fatal(err)
	}
	exec, service := open(t)
	for _, env := range envs {
		t.Run(string(env.ID), func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(env.Dir, "scorer", "prepare.py")); err == nil {
				t.Skip("its solutions are made in a workspace prepared for each attempt: runner score does that")
			}
			p, err := env.Profile(string(profileToTest()))
			if err != nil {
				t.Fatal(err)
			}
			assets, err := scoring.BuildAssets(t.Context(), exec, env, p, shared(t))
			if err != nil {
				t.Fatal(err)
			}
			dirs := examples(t, env)
			kept := newRecord(t, env, dirs)
			for i, dir := range dirs {
				t.Run(exampleName(env, dir), func(t *testing.T) {
					example(t, service, env, p, assets, dir, uint64(i), kept)
				})
			}
		})
	}
}

// shared returns a new directory that sandbox users can pass, unlike t.TempDir.
func shared(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "rebench-examples-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Errorf("clean up: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func open(t *testing.T) (sandbox.Executor, *scoring.Service) {
	t.Helper()
	dir := shared(t)
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	exec, err := sandbox.New(sandbox.Config{RunDir: filepath.Join(dir, "run"), StateDir: filepath.Join(dir, "state"), Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := exec.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Logf("tier: %+v", exec.Tier())
	alone := func(context.Context) (func(), error) { return func() {}, nil }
	service, err := scoring.New(scoring.Config{Executor: exec, Secret: scoring.NewSecret(), Timing: alone, TempDir: dir, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	return exec, service
}

// examples lists the directories of all example solutions.
func examples(t *testing.T, env *environment.Environment) []string {
	t.Helper()
	dirs := []string{env.StartDir(), env.ReferenceDir()}
	for _, kind := range []string{"lazy", "invalid", "flagged"} {
		found, err := filepath.Glob(filepath.Join(env.Dir, "solutions", kind, "*"))
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, found...)
	}
	return dirs
}

// expected reads expected.yaml; without one a solution must be valid, and in
// invalid/ and flagged/ it has to be there.
func expected(t *testing.T, dir string) expectation {
	t.Helper()
	yes := true
	e := expectation{Valid: &yes}
	f, err := os.Open(filepath.Join(dir, "expected.yaml"))
	kind := filepath.Base(filepath.Dir(dir))
	if os.IsNotExist(err) && kind != "invalid" && kind != "flagged" {
		return e
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dec := yaml.NewDecoder(f)
	dec.KnownFields(true)
	if err := dec.Decode(&e); err != nil {
		t.Fatal(err)
	}
	if kind == "invalid" && (*e.Valid || e.Reason == "") || kind == "flagged" && (!*e.Valid || len(e.Flags) == 0) {
		t.Fatalf("expected.yaml says %+v in %s/", e, kind)
	}
	return e
}

// check compares the verdict on an example with what is expected.
func (want expectation) check(t *testing.T, got validity.ExampleOutcome, message string) {
	t.Helper()
	t.Logf("%.1f s: valid %v, reason %q, flags %v, %s", got.WallS, got.Valid, got.Reason, got.Flags, strings.SplitN(message, "\n", 2)[0])
	if got.Valid != *want.Valid || got.Reason != want.Reason {
		t.Errorf("found valid %v, reason %q, expected valid %v, reason %q: %s", got.Valid, got.Reason, *want.Valid, want.Reason, message)
	}
	// Whatever happens, an invalid solution has no score.
	if got.Valid != (got.Raw != nil) {
		t.Errorf("valid %v with raw %v", got.Valid, got.Raw)
	}
	if want.MessageLacks != "" && strings.Contains(message, want.MessageLacks) {
		t.Errorf("the message holds %q: %s", want.MessageLacks, message)
	}
	for _, flag := range want.Flags {
		if !slices.Contains(got.Flags, flag) {
			t.Errorf("found flags %v, expected %s among them", got.Flags, flag)
		}
	}
}

func example(t *testing.T, service *scoring.Service, env *environment.Environment, p *environment.Profile, assets scoring.Assets, dir string, index uint64, kept *record) {
	want := expected(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	snapshot := filepath.Join(shared(t), "snapshot")
	if _, err := sandbox.TakeSnapshot(ctx, dir, ".", snapshot, p.Limits.Snapshot()); err != nil {
		t.Fatal(err)
	}
	out, err := service.Score(ctx, scoring.Request{
		Attempt: "examples", Index: index, Environment: env, Profile: p, Purpose: scoring.PurposeScore,
		Target: scoring.TargetSubmission, SnapshotDir: snapshot, AssetsDir: assets.Dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	v := out.Verdict
	got := validity.ExampleOutcome{Name: exampleName(env, dir), Valid: v.Valid, Flags: v.Flags, Raw: v.Raw, WallS: out.Wall.Seconds()}
	if v.Reason != nil {
		got.Reason = string(*v.Reason)
	}
	kept.add(got, v.Message, out.ScorerSHA256)
	want.check(t, got, v.Message)
}
