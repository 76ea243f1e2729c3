package environment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
	"rebench/runner/sandbox"
)

const declaration = `id: toy
version: "3"
title: A toy
direction: max
selection: last
scorer: {entry: scorer/score.py}
sandbox: {python_modules: [numpy], tools: [cc]}
limits: {memory_mb: 100, pids: 9}
profiles:
  test: {time_limit_s: 1.5, params: {n: 3, name: x}}
  gpu:
    time_limit_s: 1800
    gpus: 1
    sandbox: {python_modules: [torch, numpy]}
    limits: {pids: 77, files: 10}
  paper: {time_limit_s: 28800, gpus: 6, refused: "no tables yet"}
`

// packageWith writes a package whose environment.yaml has the replacements made.
func packageWith(t *testing.T, replace ...string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"common/scoring.py": "# shared", "common/lib/a.py": "a", "common/lib/__pycache__/a.pyc": "compiled",
		"toy/environment.yaml": strings.NewReplacer(replace...).Replace(declaration), "toy/scorer/score.py": "# score",
		"toy/INSTRUCTIONS.md":      "{{.Title}} ({{.ID}}, {{.Profile}}): n is {{.Params.n}}; {{.TimeLimit}}, {{.Limits.MemoryMB}} MB; {{.Direction}} is better.",
		"toy/solutions/start/s.py": "start", "toy/solutions/reference/s.py": "reference",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "toy")
}

func mustLoad(t *testing.T, dir string) *Environment {
	t.Helper()
	e, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestLoadResolves(t *testing.T) {
	e := mustLoad(t, packageWith(t))
	if e.Scorer.WallS != 900 || e.Scorer.MemoryMB != 4096 || !cmp.Equal(e.Scorer.Common, []string{"scoring.py"}) {
		t.Errorf("scorer: %+v", e.Scorer)
	}
	d := DefaultLimits
	test := e.Profiles["test"]
	if want := (Limits{MemoryMB: 100, CPUs: d.CPUs, PIDs: 9, WallS: d.WallS, Files: d.Files, Bytes: d.Bytes}); test.Limits != want {
		t.Errorf("test: found %+v, expected %+v", test.Limits, want)
	}
	gpu := e.Profiles["gpu"]
	if gpu.Limits.PIDs != 77 || gpu.Limits.MemoryMB != 100 || gpu.Limits.Files != 10 {
		t.Errorf("gpu: %+v", gpu.Limits)
	}
	want := sandbox.RootSpec{PythonModules: []string{"numpy", "torch"}, Tools: []string{"cc"}, NVIDIA: true}
	if diff := cmp.Diff(want, e.RootSpec(gpu)); diff != "" {
		t.Errorf("root (-expected +found):\n%s", diff)
	}
	if e.RootSpec(test).NVIDIA || test.TimeLimit() != 1500*time.Millisecond {
		t.Errorf("test: %+v, %v", e.RootSpec(test), test.TimeLimit())
	}
	if got := gpu.Limits.Sandboxed(); got.MemoryBytes != 100<<20 || got.PIDs != 77 || got.Wall != 120*time.Second {
		t.Errorf("sandboxed: %+v", got)
	}
	if got := gpu.Limits.Snapshot(); got.Files != 10 || got.Bytes != d.Bytes || got.FileBytes != d.Bytes {
		t.Errorf("snapshot: %+v", got)
	}
	if diff := cmp.Diff([]rebench.Profile{"gpu", "paper", "test"}, e.ProfileNames()); diff != "" {
		t.Error(diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		replace []string
		want    string
	}{
		"unknown key":      {[]string{"title:", "tytle:"}, "tytle"},
		"not YAML":         {[]string{"id: toy", "id: [toy"}, "yaml"},
		"other id":         {[]string{"id: toy", "id: boy"}, `id: found "boy"`},
		"direction":        {[]string{"direction: max", "direction: up"}, `direction: found "up"`},
		"selection":        {[]string{"selection: last", "selection: mean"}, `selection: found "mean"`},
		"no version":       {[]string{`version: "3"`, `version: ""`}, "version"},
		"entry elsewhere":  {[]string{"scorer/score.py", "../x.py"}, "scorer.entry"},
		"entry missing":    {[]string{"scorer/score.py", "scorer/none.py"}, "not a regular file"},
		"common elsewhere": {[]string{"{entry: scorer/score.py}", "{entry: scorer/score.py, common: [../x]}"}, "scorer.common"},
		"common missing":   {[]string{"{entry: scorer/score.py}", "{entry: scorer/score.py, common: [none.py]}"}, "none.py is not in"},
		"tool":             {[]string{"tools: [cc]", "tools: [emacs]"}, `found "emacs"`},
		"profile":          {[]string{"  test:", "  tiny:"}, `found "tiny"`},
		"time limit":       {[]string{"time_limit_s: 1.5", "time_limit_s: 0"}, "profiles.test.time_limit_s"},
		"gpus":             {[]string{"gpus: 1", "gpus: -1"}, "profiles.gpu.gpus"},
		"limits":           {[]string{"pids: 77", "pids: 1"}, "profiles.gpu.limits"},
		"negative step":    {[]string{"title: A toy", "title: A toy\nscore_step: -1"}, "score_step"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(packageWith(t, tc.replace...))
			if rebench.ErrorCode(err) != rebench.CodeInvalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("found %v, expected %q", err, tc.want)
			}
			if err != nil && !strings.Contains(err.Error(), "environment.yaml") {
				t.Errorf("%v does not say where", err)
			}
		})
	}
	t.Run("all at once", func(t *testing.T) {
		_, err := Load(packageWith(t, "direction: max", "direction: up", "selection: last", "selection: mean", "gpus: 1", "gpus: -1"))
		for _, want := range []string{"up", "mean", "gpus"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("found %v, expected also %q", err, want)
			}
		}
	})
	for _, missing := range []string{"INSTRUCTIONS.md", "solutions/start", "solutions/reference"} {
		t.Run("without "+missing, func(t *testing.T) {
			dir := packageWith(t)
			if err := os.RemoveAll(filepath.Join(dir, missing)); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), missing+": missing") {
				t.Errorf("found %v", err)
			}
		})
	}
	if _, err := Load(t.TempDir()); rebench.ErrorCode(err) != rebench.CodeNotFound {
		t.Errorf("found %v, expected %s", err, rebench.CodeNotFound)
	}
}

// TestKnownEnvironmentMustAgree checks a package of a known id against what the
// server will make of its results.
func TestKnownEnvironmentMustAgree(t *testing.T) {
	dir := packageWith(t, "id: toy", "id: scaling_law\nmetr_family: ai_rd_small_scaling_law")
	known := filepath.Join(filepath.Dir(dir), "scaling_law")
	if err := os.Rename(dir, known); err != nil {
		t.Fatal(err)
	}
	mustLoad(t, known)
	raw, err := os.ReadFile(known + "/environment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.NewReplacer("direction: max", "direction: min", "selection: last", "selection: best", "small_scaling", "large_scaling").Replace(string(raw))
	if err := os.WriteFile(known+"/environment.yaml", []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(known)
	for _, want := range []string{"direction", "selection", "metr_family"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

func TestFindAndLoadAll(t *testing.T) {
	root := filepath.Dir(packageWith(t))
	t.Setenv("REBENCH_ENVIRONMENTS", root)
	if got, err := Find(""); err != nil || got != root {
		t.Errorf("found %s, %v", got, err)
	}
	if _, err := Find(root + "/none"); rebench.ErrorCode(err) != rebench.CodeNotFound || !strings.Contains(err.Error(), "--environments") {
		t.Errorf("found %v", err)
	}
	t.Setenv("REBENCH_ENVIRONMENTS", "")
	t.Chdir(filepath.Dir(root))
	if _, err := Find(""); err == nil {
		t.Error("found ./environments where there is none")
	}
	if e, err := LoadByID(root, "toy"); err != nil || e.ID != "toy" {
		t.Errorf("found %v, %v", e, err)
	}
	for _, id := range []string{"none", "../toy", "", "Toy"} {
		if _, err := LoadByID(root, id); err == nil {
			t.Errorf("loaded %q", id)
		}
	}
	if err := os.MkdirAll(root+"/broken", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+"/broken/environment.yaml", []byte("id: x"), 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := LoadAll(root)
	if len(all) != 1 || err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("found %d, %v; expected the good one and what is wrong with the other", len(all), err)
	}
}

func TestProfile(t *testing.T) {
	e := mustLoad(t, packageWith(t))
	if p, err := e.Profile("gpu"); err != nil || p.GPUs != 1 {
		t.Errorf("found %+v, %v", p, err)
	}
	if _, err := e.Profile("none"); rebench.ErrorCode(err) != rebench.CodeNotFound || !strings.Contains(err.Error(), "gpu") {
		t.Errorf("found %v", err)
	}
	if _, err := e.Profile("paper"); rebench.ErrorCode(err) != rebench.CodeConflict || !strings.Contains(err.Error(), "no tables yet") {
		t.Errorf("found %v", err)
	}
}

func TestInstructions(t *testing.T) {
	dir := packageWith(t)
	e := mustLoad(t, dir)
	got, err := e.Instructions(e.Profiles["test"], 0)
	if want := "A toy (toy, test): n is 3; 1.5 seconds, 100 MB; higher is better."; err != nil || got != want {
		t.Errorf("found %q, %v, expected %q", got, err, want)
	}
	if got, err := e.Instructions(e.Profiles["test"], 90*time.Minute); err != nil || !strings.Contains(got, "; 90 minutes,") {
		t.Errorf("found %q, %v", got, err)
	}
	if _, err := e.Instructions(e.Profiles["gpu"], 0); rebench.ErrorCode(err) != rebench.CodeInvalid {
		t.Errorf("found %v for a parameter that the profile lacks", err)
	}
	if err := os.WriteFile(dir+"/INSTRUCTIONS.md", []byte("{{.Nothing}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Instructions(e.Profiles["test"], 0); err == nil {
		t.Error("an unknown field was left empty")
	}
}

func TestInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		8 * time.Hour: "8 hours", time.Hour: "1 hour", 90 * time.Minute: "90 minutes", time.Minute: "1 minute", 61 * time.Second: "61 seconds",
		time.Second: "1 second", 1500 * time.Millisecond: "1.5 seconds",
	} {
		if got := inWords(d); got != want {
			t.Errorf("%v: found %q, expected %q", d, got, want)
		}
	}
}

// TestScorerHash checks what the hash depends on.
func TestScorerHash(t *testing.T) {
	dir := packageWith(t, "{entry: scorer/score.py}", "{entry: scorer/score.py, common: [scoring.py, lib]}")
	e := mustLoad(t, dir)
	hash := func() string {
		h, err := e.ScorerHash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := hash()
	if len(first) != 64 || first != hash() {
		t.Fatalf("found %q, then %q", first, hash())
	}
	for name, changes := range map[string]bool{
		"scorer/score.py": true, "solutions/reference/s.py": true, "solutions/start/s.py": true, "environment.yaml": true,
		"../common/scoring.py": true, "../common/lib/a.py": true, "../common/lib/__pycache__/a.pyc": false, "../common/unused.py": false,
		"INSTRUCTIONS.md": false, "README.md": false, "scorer/__pycache__/score.pyc": false,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			before, _ := os.ReadFile(path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(before, []byte("\n# changed")...), 0o644); err != nil {
				t.Fatal(err)
			}
			if changed := hash() != first; changed != changes {
				t.Errorf("changed the hash: %v, expected %v", changed, changes)
			}
			if err := os.WriteFile(path, before, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := os.Symlink("/etc/passwd", dir+"/scorer/link"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.ScorerHash(); err == nil {
		t.Error("hashed a scorer that holds a link")
	}
}

// TestShippedPackages loads every environment of this repository.
func TestShippedPackages(t *testing.T) {
	all, err := LoadAll("../../environments")
	if err != nil || len(all) == 0 {
		t.Fatalf("found %d packages, %v", len(all), err)
	}
	for _, e := range all {
		for _, name := range e.ProfileNames() {
			if e.Profiles[name].Refused != "" {
				continue // nobody is told to solve it
			}
			if _, err := e.Instructions(e.Profiles[name], 0); err != nil {
				t.Errorf("%s, %s: %v", e.ID, name, err)
			}
		}
		if _, err := e.ScorerHash(); err != nil {
			t.Errorf("%s: %v", e.ID, err)
		}
	}
}
