package validity_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// root is the repository's.
const root = "../.."

// minAttacks and minOfEach are how many attacks there must be in all and in each
// environment that can be run.
const minAttacks, minOfEach = 40, 4

func catalogue(t *testing.T) *validity.Catalogue {
	t.Helper()
	c, err := validity.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every public record stands in exactly one mechanism, and no other does.
func TestEveryRecordIsCoveredOnce(t *testing.T) {
	records, err := validity.Records()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 31+51 {
		t.Errorf("%d records, expected 31 hacks and 51 flaws", len(records))
	}
	covered := map[string]int{}
	for _, m := range catalogue(t).Mechanisms {
		for _, id := range m.RecordIDs {
			covered[id]++
		}
	}
	for _, r := range records {
		if covered[r.ID] != 1 {
			t.Errorf("%s (%s) is covered %d times, expected once", r.ID, r.What, covered[r.ID])
		}
		delete(covered, r.ID)
	}
	for id := range covered {
		t.Errorf("%s is no record", id)
	}
}

// A state claims no more than what stands beside it.
func TestMechanismsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range catalogue(t).Mechanisms {
		if m.ID == "" || m.Title == "" || m.What == "" || seen[m.ID] {
			t.Errorf("%q: id, title and mechanism are needed, and the id once", m.ID)
		}
		seen[m.ID] = true
		for _, e := range m.Environments {
			if _, ok := rebench.EnvironmentByID(rebench.EnvironmentID(e)); !ok && e != "all" {
				t.Errorf("%s: unknown environment %q", m.ID, e)
			}
		}
		switch m.State {
		case validity.Prevented, validity.Detected:
			if m.Defence == "" || len(m.TestNames) == 0 || m.Reason != "" {
				t.Errorf("%s is %s: a defence and tests are needed, a reason is not", m.ID, m.State)
			}
		case validity.Accepted, validity.NotApplicable, validity.Open:
			if m.Reason == "" {
				t.Errorf("%s is %s: a reason is needed", m.ID, m.State)
			}
		default:
			t.Errorf("%s: unknown state %q", m.ID, m.State)
		}
		if m.State != validity.NotApplicable && m.State != validity.Accepted && m.State != validity.Prevented && len(m.Environments) == 0 {
			t.Errorf("%s is %s and concerns no environment", m.ID, m.State)
		}
	}
}

// Whatever the catalogue names exists in the sources.
func TestNamedTestsExist(t *testing.T) {
	packages := map[string]*goTests{}
	for _, m := range catalogue(t).Mechanisms {
		tests, err := m.Tests()
		if err != nil {
			t.Error(err)
		}
		for i, x := range tests {
			if slices.Contains(m.TestNames[:i], x.Name) {
				t.Errorf("%s names %s twice", m.ID, x.Name)
			}
			switch x.Kind {
			case validity.GoTest:
				if packages[x.Path] == nil {
					packages[x.Path] = parseTests(t, filepath.Join(root, x.Path))
				}
				p := packages[x.Path]
				if !p.functions[x.Function] || x.Subtest != "" && !p.texts[x.Subtest] {
					t.Errorf("%s: there is no test %s", m.ID, x.Name)
				}
			case validity.PythonTest:
				b, err := os.ReadFile(filepath.Join(root, x.Path))
				if err != nil || !regexp.MustCompile(`(?m)^def `+x.Function+`\(`).Match(b) {
					t.Errorf("%s: there is no test %s (%v)", m.ID, x.Name, err)
				}
			case validity.Example:
				checkExample(t, m, x)
			}
		}
	}
}

// goTests are the test functions of a package and the texts in its test files.
type goTests struct{ functions, texts map[string]bool }

func parseTests(t *testing.T, dir string) *goTests {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := &goTests{functions: map[string]bool{}, texts: map[string]bool{}}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				out.functions[fn.Name.Name] = true
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					out.texts[s] = true
				}
			}
			return true
		})
	}
	return out
}

type expectation struct {
	Valid  *bool    `yaml:"valid"`
	Reason string   `yaml:"reason"`
	Flags  []string `yaml:"flags"`
}

func expected(t *testing.T, path string) expectation {
	t.Helper()
	var e expectation
	b, err := os.ReadFile(filepath.Join(root, path, "expected.yaml"))
	if err == nil {
		err = yaml.Unmarshal(b, &e)
	}
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return e
}

// checkExample wants the verdict that the example's place promises.
func checkExample(t *testing.T, m validity.Mechanism, x validity.Test) {
	t.Helper()
	e := expected(t, x.Path)
	refused := e.Valid != nil && !*e.Valid && e.Reason != ""
	flagged := e.Valid != nil && *e.Valid && len(e.Flags) > 0
	if x.Function == "invalid" && !refused || x.Function == "flagged" && !flagged {
		t.Errorf("%s: %s expects %+v", m.ID, x.Name, e)
	}
	env, _, _ := strings.Cut(x.Name, "/")
	if !m.Concerns(rebench.EnvironmentID(env)) {
		t.Errorf("%s does not concern the environment of %s", m.ID, x.Name)
	}
}

// environments are the folders that hold an environment.
func environments(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "environments/*/environment.yaml"))
	if err != nil || len(found) == 0 {
		t.Fatalf("environments: %v, %v", found, err)
	}
	var out []string
	for _, p := range found {
		out = append(out, filepath.Base(filepath.Dir(p)))
	}
	return out
}

// exampleNames are an environment's examples of the kinds, as KIND/NAME.
func exampleNames(t *testing.T, env string, kinds ...string) []string {
	t.Helper()
	var out []string
	for _, kind := range kinds {
		dirs, err := filepath.Glob(filepath.Join(root, "environments", env, "solutions", kind, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dirs {
			out = append(out, kind+"/"+filepath.Base(d))
		}
	}
	return out
}

// Every example in invalid/ and flagged/ is an attack of some mechanism or listed as a
// plain fault, and there are enough attacks.
func TestEveryExampleIsPlaced(t *testing.T) {
	c := catalogue(t)
	attacks := map[string]bool{}
	for _, m := range c.Mechanisms {
		for _, name := range m.TestNames {
			if x, err := validity.ParseTest(name); err == nil && x.Kind == validity.Example {
				attacks[name] = true
			}
		}
	}
	total, listed := 0, map[string]bool{}
	for _, env := range environments(t) {
		n := 0
		for _, example := range exampleNames(t, env, "invalid", "flagged") {
			name := env + "/" + example
			isFault := slices.Contains(c.Faults, name)
			listed[name] = true
			switch {
			case attacks[name] && isFault:
				t.Errorf("%s is an attack and listed as a fault", name)
			case !attacks[name] && !isFault:
				t.Errorf("%s is in no mechanism of data/validity/defences.yaml and not among its faults", name)
			case attacks[name]:
				n++
			}
		}
		if n < minOfEach {
			t.Errorf("%s: %d attacks, expected at least %d", env, n, minOfEach)
		}
		total += n
	}
	if total < minAttacks {
		t.Errorf("%d attacks, expected at least %d", total, minAttacks)
	}
	for _, name := range c.Faults {
		if !listed[name] {
			t.Errorf("the fault %s does not exist", name)
		}
	}
	t.Logf("%d attacks", total)
}

// What scorers can say of an example, the rules know.
func TestScorerFlagsOfExamplesHaveRules(t *testing.T) {
	rules, err := validity.Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range environments(t) {
		paths, err := filepath.Glob(filepath.Join(root, "environments", env, "solutions/*/*/expected.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			rel, _ := filepath.Rel(root, filepath.Dir(p))
			for _, f := range expected(t, rel).Flags {
				if _, ok := rules.ScorerFlags[f]; !ok {
					t.Errorf("%s: the flag %s is not in data/validity/rules.yaml", rel, f)
				}
			}
		}
	}
}

func TestParseTest(t *testing.T) {
	for name, want := range map[string]validity.Test{
		"runner/sandbox.TestEscapes": {Kind: validity.GoTest, Path: "runner/sandbox", Function: "TestEscapes", Command: "go test ./runner/sandbox -run '^TestEscapes$'"},
		"internal/intake.TestFinalScore/raw only": {Kind: validity.GoTest, Path: "internal/intake", Function: "TestFinalScore", Subtest: "raw only",
			Command: "go test ./internal/intake -run '^TestFinalScore$'"},
		"tests/test_x.py::test_y": {Kind: validity.PythonTest, Path: "environments/tests/test_x.py", Function: "test_y", Command: "python3 -m pytest environments/tests/test_x.py::test_y"},
		"gpt2_qa/flagged/constant": {Kind: validity.Example, Path: "environments/gpt2_qa/solutions/flagged/constant", Function: "flagged",
			Command: "bin/runner score gpt2_qa environments/gpt2_qa/solutions/flagged/constant --profile test"},
	} {
		want.Name = name
		if got, err := validity.ParseTest(name); err != nil || got != want {
			t.Errorf("%s: %+v, %v; expected %+v", name, got, err, want)
		}
	}
	for _, name := range []string{"", "TestX", "a/b", "gpt2_qa/lazy/x", "runner/sandbox.Bench"} {
		if got, err := validity.ParseTest(name); err == nil {
			t.Errorf("%q is read as %+v", name, got)
		}
	}
}
