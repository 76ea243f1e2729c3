// Package environment loads and checks environment packages: environment.yaml,
// the instructions shown to solvers, and the example solutions.
package environment

import (
	"time"

	"rebench/internal/rebench"
	"rebench/runner/sandbox"
)

// Canary is what the first comment line of every file of an environment holds,
// so that training corpora can leave the files out.
const Canary = "RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4"

// Environment is one package as its environment.yaml declares it.
type Environment struct {
	ID           rebench.EnvironmentID `yaml:"id"`
	Version      string                `yaml:"version"` // of the task and its scorer
	Title        string                `yaml:"title"`
	METRFamily   string                `yaml:"metr_family"`
	Direction    rebench.Direction     `yaml:"direction"`
	Selection    rebench.Selection     `yaml:"selection"`
	ScoreVisible bool                  `yaml:"score_visible"` // the solver is told its score
	// ScoreStep is what scores told to the solver are rounded to, in raw
	// units: about the noise. 0: not rounded.
	ScoreStep float64 `yaml:"score_step"`
	// AnswerStepS quantizes the time after which a score call is answered, in
	// seconds, since durations leak what a hidden score hides. 0: at once.
	AnswerStepS float64 `yaml:"answer_step_s"`

	Scorer Scorer `yaml:"scorer"`
	// AssetsSources are files and directories of the package that assets.py
	// uses, beside the common ones of Scorer.
	AssetsSources []string `yaml:"assets_sources"`
	// FreezeAgentWhileScoring keeps the agent frozen for the whole scoring,
	// not only for the snapshot (timing environments).
	FreezeAgentWhileScoring bool `yaml:"freeze_agent_while_scoring"`
	// ExclusiveTiming says that the scorer takes the machine-wide timing lock.
	ExclusiveTiming bool `yaml:"exclusive_timing"`

	Sandbox  SandboxSpec                  `yaml:"sandbox"`
	Limits   Limits                       `yaml:"limits"` // of every profile, unless it says otherwise
	Profiles map[rebench.Profile]*Profile `yaml:"profiles"`

	Dir string `yaml:"-"` // absolute path of the package
}

// Scorer names the trusted code.
type Scorer struct {
	Entry    string   `yaml:"entry"`     // relative path below scorer/, e.g. scorer/score.py
	Common   []string `yaml:"common"`    // files and directories of environments/common that it uses
	MemoryMB int64    `yaml:"memory_mb"` // of the scorer's own sandbox; default 4096
	WallS    float64  `yaml:"wall_s"`    // longest one scoring may take; default 900
}

// SandboxSpec says what the read-only root of agent, submission and scorer
// holds beyond a shell, core utilities and Python with its standard library.
type SandboxSpec struct {
	PythonModules []string `yaml:"python_modules"` // e.g. numpy
	Tools         []string `yaml:"tools"`          // e.g. cc; see sandbox.ToolSets
}

// Limits bounds the agent's and each submission's sandbox. Zero: inherited,
// at last from DefaultLimits.
type Limits struct {
	MemoryMB int64   `yaml:"memory_mb"`
	CPUs     float64 `yaml:"cpus"`
	PIDs     int64   `yaml:"pids"`
	WallS    float64 `yaml:"wall_s"` // longest one submission process may run, frozen time left out
	Files    int64   `yaml:"files"`  // inodes of the solution directory
	Bytes    int64   `yaml:"bytes"`  // of the solution directory
}

// DefaultLimits is what no file says otherwise.
var DefaultLimits = Limits{MemoryMB: 2048, CPUs: 1, PIDs: 128, WallS: 120, Files: 2_000, Bytes: 256 << 20}

// Profile is one size and set of conditions.
type Profile struct {
	Name       rebench.Profile `yaml:"-"`
	Params     map[string]any  `yaml:"params"` // passed to the scorer as they are
	TimeLimitS float64         `yaml:"time_limit_s"`
	GPUs       int             `yaml:"gpus"`
	Assets     map[string]any  `yaml:"assets"` // passed to assets.py
	Sandbox    SandboxSpec     `yaml:"sandbox"`
	Limits     Limits          `yaml:"limits"` // resolved against the environment's by Load
	// Refused, when set, says why the profile cannot be run yet.
	Refused string `yaml:"refused"`
}

// TimeLimit returns the default time limit of an attempt.
func (p *Profile) TimeLimit() time.Duration {
	return time.Duration(p.TimeLimitS * float64(time.Second))
}

// Sandboxed returns the limits of a sandbox of this profile. Its wall limit is
// that of one submission process; an agent's is set by its attempt.
func (l Limits) Sandboxed() sandbox.Limits {
	return sandbox.Limits{
		Wall:        time.Duration(l.WallS * float64(time.Second)),
		MemoryBytes: l.MemoryMB << 20,
		CPUs:        l.CPUs,
		PIDs:        l.PIDs,
	}
}

// Snapshot returns the limits of a snapshot of the solution directory.
func (l Limits) Snapshot() sandbox.SnapshotLimits {
	return sandbox.SnapshotLimits{Bytes: l.Bytes, FileBytes: l.Bytes, Files: int(l.Files)}
}

// Space returns the bounds of the solution directory.
func (l Limits) Space() sandbox.Space { return sandbox.Space{Bytes: l.Bytes, Inodes: l.Files} }

// RootSpec returns the read-only root of the given profile.
func (e *Environment) RootSpec(p *Profile) sandbox.RootSpec {
	return sandbox.RootSpec{
		PythonModules: union(e.Sandbox.PythonModules, p.Sandbox.PythonModules),
		Tools:         union(e.Sandbox.Tools, p.Sandbox.Tools),
		NVIDIA:        p.GPUs > 0,
	}
}

func union(a, b []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range append(append([]string(nil), a...), b...) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
