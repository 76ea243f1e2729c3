package environment

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"

	"rebench/internal/rebench"
	"rebench/runner/sandbox"
)

// Find returns the directory that holds the environment packages: flag when
// set, else $REBENCH_ENVIRONMENTS, else ./environments.
func Find(flag string) (string, error) {
	from, dir := "--environments", flag
	if dir == "" {
		from, dir = "REBENCH_ENVIRONMENTS", os.Getenv("REBENCH_ENVIRONMENTS")
	}
	if dir == "" {
		from, dir = "the working directory", "environments"
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInvalid, "environments from %s: %w", from, err)
	}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return "", rebench.Errorf(rebench.CodeNotFound,
			"environments from %s: %s is not a directory; set --environments or REBENCH_ENVIRONMENTS", from, abs)
	}
	return abs, nil
}

// LoadAll loads every package below root, sorted by id. A broken package does
// not hide the others: the error joins what is wrong with each.
func LoadAll(root string) ([]*Environment, error) {
	paths, err := filepath.Glob(filepath.Join(root, "*", "environment.yaml"))
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "environments: %w", err)
	}
	sort.Strings(paths)
	var out []*Environment
	var errs []error
	for _, p := range paths {
		e, err := Load(filepath.Dir(p))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, e)
	}
	return out, errors.Join(errs...)
}

// LoadByID loads the package of the given id below root; CodeNotFound lists
// what there is.
func LoadByID(root, id string) (*Environment, error) {
	if !idRule.MatchString(id) {
		return nil, rebench.Errorf(rebench.CodeInvalid, "environment id %q: expected lower-case letters, digits and underscores", id)
	}
	dir := filepath.Join(root, id)
	if _, err := os.Stat(filepath.Join(dir, "environment.yaml")); err != nil {
		paths, _ := filepath.Glob(filepath.Join(root, "*", "environment.yaml"))
		for i, p := range paths {
			paths[i] = filepath.Base(filepath.Dir(p))
		}
		return nil, rebench.Errorf(rebench.CodeNotFound, "no environment %s in %s; there are: %s", id, root, strings.Join(paths, ", "))
	}
	return Load(dir)
}

// Load reads and checks the package in dir. All faults are reported at once.
func Load(dir string) (*Environment, error) {
	path := filepath.Join(dir, "environment.yaml")
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeNotFound, "environment: %w", err)
	}
	e := &Environment{}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(e); err != nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "%s: %w", path, err)
	}
	if e.Dir, err = filepath.Abs(dir); err != nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "%s: %w", path, err)
	}
	e.resolve()
	if faults := e.faults(); len(faults) > 0 {
		return nil, rebench.Errorf(rebench.CodeInvalid, "%s: %s", path, strings.Join(faults, "; "))
	}
	return e, nil
}

// resolve fills what the file left to defaults.
func (e *Environment) resolve() {
	if e.Scorer.MemoryMB == 0 {
		e.Scorer.MemoryMB = 4096
	}
	if e.Scorer.WallS == 0 {
		e.Scorer.WallS = 900
	}
	if e.Scorer.Common == nil {
		e.Scorer.Common = []string{"scoring.py"}
	}
	e.Limits = e.Limits.over(DefaultLimits)
	for name, p := range e.Profiles {
		if p == nil {
			p = &Profile{}
			e.Profiles[name] = p
		}
		p.Name = name
		p.Limits = p.Limits.over(e.Limits)
		if p.Params == nil {
			p.Params = map[string]any{}
		}
	}
}

// over returns l with its zero fields taken from base.
func (l Limits) over(base Limits) Limits {
	pick := func(a, b int64) int64 {
		if a == 0 {
			return b
		}
		return a
	}
	if l.CPUs == 0 {
		l.CPUs = base.CPUs
	}
	if l.WallS == 0 {
		l.WallS = base.WallS
	}
	l.MemoryMB = pick(l.MemoryMB, base.MemoryMB)
	l.PIDs = pick(l.PIDs, base.PIDs)
	l.Files = pick(l.Files, base.Files)
	l.Bytes = pick(l.Bytes, base.Bytes)
	return l
}

var idRule = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// faults lists everything wrong, each with field, value and what was expected.
func (e *Environment) faults() []string {
	var out []string
	fault := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if string(e.ID) != filepath.Base(e.Dir) || !idRule.MatchString(string(e.ID)) {
		fault("id: found %q, expected the directory's name %q", e.ID, filepath.Base(e.Dir))
	}
	if known, ok := rebench.EnvironmentByID(e.ID); ok {
		if e.METRFamily != known.METRFamily {
			fault("metr_family: found %q, expected %q", e.METRFamily, known.METRFamily)
		}
		if e.Direction != known.Direction {
			fault("direction: found %q, expected %q", e.Direction, known.Direction)
		}
		if e.Selection != known.Selection {
			fault("selection: found %q, expected %q", e.Selection, known.Selection)
		}
	}
	if e.Version == "" || e.Title == "" {
		fault("version and title: expected both")
	}
	if e.Direction != rebench.Minimize && e.Direction != rebench.Maximize {
		fault("direction: found %q, expected min or max", e.Direction)
	}
	if e.Selection != rebench.SelectBest && e.Selection != rebench.SelectLast {
		fault("selection: found %q, expected best or last", e.Selection)
	}
	if e.ScoreStep < 0 || e.AnswerStepS < 0 {
		fault("score_step and answer_step_s: expected no negative value")
	}
	out = append(out, e.fileFaults()...)
	for _, s := range append([]SandboxSpec{e.Sandbox}, e.profileSandboxes()...) {
		for _, tool := range s.Tools {
			if !slices.Contains(sandbox.ToolSets(), tool) {
				fault("sandbox.tools: found %q, expected one of %s", tool, strings.Join(sandbox.ToolSets(), ", "))
			}
		}
	}
	if len(e.Profiles) == 0 {
		fault("profiles: expected at least one")
	}
	for _, name := range e.ProfileNames() {
		out = append(out, e.Profiles[name].faults()...)
	}
	return out
}

func (e *Environment) profileSandboxes() []SandboxSpec {
	var out []SandboxSpec
	for _, name := range e.ProfileNames() {
		out = append(out, e.Profiles[name].Sandbox)
	}
	return out
}

// fileFaults checks the paths that the file names.
func (e *Environment) fileFaults() []string {
	var out []string
	entry := e.Scorer.Entry
	if !filepath.IsLocal(entry) || !strings.HasPrefix(filepath.Clean(entry), "scorer/") {
		out = append(out, fmt.Sprintf("scorer.entry: found %q, expected a path below scorer/", entry))
	} else if st, err := os.Lstat(filepath.Join(e.Dir, entry)); err != nil || !st.Mode().IsRegular() {
		out = append(out, fmt.Sprintf("scorer.entry: %s is not a regular file", entry))
	}
	for _, c := range e.Scorer.Common {
		if !filepath.IsLocal(c) {
			out = append(out, fmt.Sprintf("scorer.common: found %q, expected a path below environments/common", c))
		} else if _, err := os.Lstat(filepath.Join(e.CommonDir(), c)); err != nil {
			out = append(out, fmt.Sprintf("scorer.common: %s is not in %s", c, e.CommonDir()))
		}
	}
	for _, s := range e.AssetsSources {
		if !filepath.IsLocal(s) {
			out = append(out, fmt.Sprintf("assets_sources: found %q, expected a path below %s", s, e.Dir))
		} else if _, err := os.Lstat(filepath.Join(e.Dir, s)); err != nil {
			out = append(out, fmt.Sprintf("assets_sources: %s is not in %s", s, e.Dir))
		}
	}
	for _, need := range []string{"INSTRUCTIONS.md", "solutions/start", "solutions/reference"} {
		if _, err := os.Stat(filepath.Join(e.Dir, need)); err != nil {
			out = append(out, need+": missing")
		}
	}
	return out
}

func (p *Profile) faults() []string {
	var out []string
	fault := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("profiles.%s.", p.Name)+fmt.Sprintf(format, args...))
	}
	if p.Name != rebench.ProfileTest && !slices.Contains(rebench.Profiles(), p.Name) {
		out = append(out, fmt.Sprintf("profiles: found %q, expected test, cpu, gpu or paper", p.Name))
	}
	if p.TimeLimitS <= 0 {
		fault("time_limit_s: found %v, expected seconds above 0", p.TimeLimitS)
	}
	if p.GPUs < 0 {
		fault("gpus: found %d, expected 0 or more", p.GPUs)
	}
	l := p.Limits
	if l.MemoryMB < 16 || l.CPUs <= 0 || l.PIDs < 4 || l.WallS <= 0 || l.Files < 2 || l.Bytes < 4096 {
		fault("limits: found %+v, expected memory_mb >= 16, cpus > 0, pids >= 4, wall_s > 0, files >= 2, bytes >= 4096", l)
	}
	return out
}

// ProfileNames returns the names of the profiles, sorted.
func (e *Environment) ProfileNames() []rebench.Profile {
	var out []rebench.Profile
	for name := range e.Profiles {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Profile returns the named profile; CodeNotFound lists what there is, and
// CodeConflict says why a declared profile cannot be run.
func (e *Environment) Profile(name string) (*Profile, error) {
	p, ok := e.Profiles[rebench.Profile(name)]
	if !ok {
		return nil, rebench.Errorf(rebench.CodeNotFound, "environment %s has no profile %q; there are: %v", e.ID, name, e.ProfileNames())
	}
	if p.Refused != "" {
		return nil, rebench.Errorf(rebench.CodeConflict, "environment %s, profile %s: %s", e.ID, name, p.Refused)
	}
	return p, nil
}

// CommonDir is the directory of the Python shared by the environments.
func (e *Environment) CommonDir() string { return filepath.Join(filepath.Dir(e.Dir), "common") }

// StartDir and ReferenceDir are the solutions that define 0 and 1.
func (e *Environment) StartDir() string { return filepath.Join(e.Dir, "solutions", "start") }

// ReferenceDir is the solution that defines 1.
func (e *Environment) ReferenceDir() string { return filepath.Join(e.Dir, "solutions", "reference") }
