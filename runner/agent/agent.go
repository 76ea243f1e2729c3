// Package agent makes the solvers of attempts: a command of the user's, a human
// at a shell, and three that need no model. All of them run in the same
// sandbox, under the same clock, and score through the same socket.
package agent

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"rebench/internal/rebench"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
)

// Kind is a sort of solver.
type Kind string

// The kinds. KindStarter scores the starting solution once, KindReference the
// reference (for checks, never ranked), KindTuner searches at random over the
// parameters the solution declares in parameters.json.
const (
	KindCommand   Kind = "command"
	KindHuman     Kind = "human"
	KindStarter   Kind = "starter"
	KindReference Kind = "reference"
	KindTuner     Kind = "tuner"
)

// Spec is an agent as the command line names it.
type Spec struct {
	Kind    Kind
	Program string   // of KindCommand: absolute path on the host
	Args    []string // of KindCommand
}

// Parse reads `command:PROGRAM [ARGUMENT...]`, human, starter, reference or
// tuner. Arguments are separated by blanks; a PROGRAM that exists under the
// whole text may hold blanks itself.
func Parse(s string) (Spec, error) {
	switch k := Kind(s); k {
	case KindHuman, KindStarter, KindReference, KindTuner:
		return Spec{Kind: k}, nil
	}
	rest, ok := strings.CutPrefix(s, "command:")
	if !ok || strings.TrimSpace(rest) == "" {
		return Spec{}, rebench.Errorf(rebench.CodeInvalid, "agent %q: expected command:PROGRAM, human, starter, reference or tuner", s)
	}
	spec := Spec{Kind: KindCommand, Program: rest}
	if _, err := os.Stat(rest); err != nil {
		words := strings.Fields(rest)
		spec.Program, spec.Args = words[0], words[1:]
	}
	st, err := os.Stat(spec.Program)
	if err != nil {
		return Spec{}, rebench.Errorf(rebench.CodeNotFound, "agent program: %w", err)
	}
	if spec.Program, err = filepath.Abs(spec.Program); err != nil {
		return Spec{}, rebench.Errorf(rebench.CodeInvalid, "agent program: %w", err)
	}
	program := spec.Program
	if st.IsDir() {
		program = filepath.Join(spec.Program, directoryEntry)
		if st, err = os.Stat(program); err != nil {
			return Spec{}, rebench.Errorf(rebench.CodeNotFound, "agent directory %s has no program %s", spec.Program, directoryEntry)
		}
	}
	if !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
		return Spec{}, rebench.Errorf(rebench.CodeInvalid, "agent program %s is not an executable file", program)
	}
	return spec, nil
}

// directoryEntry is the program of an agent that is a directory.
const directoryEntry = "run"

// Label names the agent where the user gave no name: the program's file name
// without extension, or the kind.
func (s Spec) Label() string {
	if s.Kind != KindCommand {
		return string(s.Kind)
	}
	base := filepath.Base(s.Program)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// Names of an agent as results show them.
type Names struct {
	Name     string // "": Spec.Label
	Model    string // "" when none or unknown
	Scaffold string
}

var nameRule = regexp.MustCompile(`^[\pL\pN][\pL\pN ._:/@+()-]{0,99}$`)

// Check refuses names that would be confusing where results are shown.
func (n Names) Check() error {
	for what, s := range map[string]string{"agent name": n.Name, "model": n.Model, "scaffold": n.Scaffold} {
		if s != "" && !nameRule.MatchString(s) {
			return rebench.Errorf(rebench.CodeInvalid, "%s %q: expected up to 100 letters, digits, blanks and . _ : / @ + ( ) -, starting with a letter or digit", what, s)
		}
	}
	return nil
}

// Agent is a solver ready to start.
type Agent struct {
	Kind Kind
	Names
	Human    bool   // a person of the cohort Name
	Rankable bool   // false: a check that must never stand on a leaderboard
	SHA256   string // of the program, or of the tree of an agent directory; "" for a human
	Argv     []string
	Mounts   []sandbox.Mount
	Solution string   // host directory the solution begins as
	Terminal *os.File // the slave side of a human's terminal, set by who owns it
}

// Places inside the sandbox.
const (
	Home        = "/home/agent"
	SolutionDir = Home + "/solution"
	InfoFile    = Home + "/INSTRUCTIONS.md"
	DataDir     = Home + "/data"
	programDir  = Home + "/program"
	RunDir      = "/run/rebench"
	Socket      = RunDir + "/score.sock"
	BinDir      = RunDir + "/bin"
	// ServiceSocket is there when the environment has a service.
	ServiceSocket = RunDir + "/service.sock"
)

//go:embed program/score.py
var scoreProgram string

//go:embed program/tuner.py
var tunerProgram string

// Prepare makes a solver for an environment. Its programs are staged: what runs
// is what was hashed.
func Prepare(ctx context.Context, spec Spec, names Names, exec sandbox.Executor, env *environment.Environment) (*Agent, error) {
	if err := names.Check(); err != nil {
		return nil, err
	}
	if names.Name == "" {
		names.Name = spec.Label()
	}
	a := &Agent{Kind: spec.Kind, Names: names, Rankable: true, Solution: env.StartDir()}
	switch spec.Kind {
	case KindCommand:
		return a, a.prepareCommand(ctx, spec, exec)
	case KindHuman:
		a.Human = true
		a.Argv = []string{"/bin/sh", "-c", "if command -v bash >/dev/null; then exec bash --norc -i; fi; exec sh -i"}
	case KindStarter:
		a.Argv = []string{BinDir + "/score"}
	case KindReference:
		a.Rankable = false
		a.Solution = env.ReferenceDir()
		a.Argv = []string{"/bin/sh", "-c", "if [ -f solve.sh ]; then sh ./solve.sh || exit; fi; exec " + BinDir + "/score"}
	case KindTuner:
		if _, err := os.Stat(filepath.Join(env.StartDir(), "parameters.json")); err != nil {
			return nil, rebench.Errorf(rebench.CodeConflict, "the starting solution of %s declares no parameters (parameters.json), so there is nothing to tune", env.ID)
		}
		a.Argv = []string{BinDir + "/tuner"}
	}
	return a, nil
}

func (a *Agent) prepareCommand(ctx context.Context, spec Spec, exec sandbox.Executor) error {
	st, err := os.Stat(spec.Program)
	if err != nil {
		return rebench.Errorf(rebench.CodeNotFound, "agent program: %w", err)
	}
	source, entry := spec.Program, directoryEntry
	if !st.IsDir() {
		// A single program is staged in a directory of its own: its neighbours
		// on the host are none of the sandbox's business.
		dir, err := os.MkdirTemp("", "rebench-agent-")
		if err != nil {
			return rebench.Errorf(rebench.CodeInternal, "agent program: %w", err)
		}
		defer os.RemoveAll(dir)
		data, err := os.ReadFile(spec.Program)
		if err != nil {
			return rebench.Errorf(rebench.CodeInvalid, "agent program: %w", err)
		}
		source, entry = dir, filepath.Base(spec.Program)
		if err := os.WriteFile(filepath.Join(dir, entry), data, 0o755); err != nil {
			return rebench.Errorf(rebench.CodeInternal, "agent program: %w", err)
		}
	}
	staged, err := exec.Stage(ctx, source)
	if err != nil {
		return err
	}
	a.SHA256 = staged.SHA256
	a.Mounts = []sandbox.Mount{{Target: programDir, Source: staged.Path}}
	a.Argv = append([]string{programDir + "/" + entry}, spec.Args...)
	return nil
}

// Programs are the mounts of the score programs, and of the tuner for whom it
// is meant, to be run by the sandbox's own Python.
func (a *Agent) Programs(python string) []sandbox.Mount {
	program := func(name, text string) sandbox.Mount {
		return sandbox.Mount{Target: BinDir + "/" + name, Data: []byte("#!" + python + " -IS\n" + text), Executable: true}
	}
	m := []sandbox.Mount{program("score", scoreProgram), program("score-log", scoreProgram)}
	if a.Kind == KindTuner {
		m = append(m, program("tuner", tunerProgram))
	}
	return m
}
