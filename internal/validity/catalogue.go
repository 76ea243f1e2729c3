package validity

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"rebench/data"
	"rebench/internal/rebench"
)

// State says how far a defence goes.
type State string

// States of a mechanism. Prevented: the tests show that nothing is gained. Detected:
// the tests show that it is flagged. Accepted: not solved, for a reason. NotApplicable:
// nothing of ours can have it. Open: it applies and nothing proves a defence yet.
const (
	Prevented     State = "prevented"
	Detected      State = "detected"
	Accepted      State = "accepted"
	NotApplicable State = "not_applicable"
	Open          State = "open"
)

// States returns all states, the strongest defence first.
func States() []State { return []State{Prevented, Detected, Accepted, NotApplicable, Open} }

// everyEnvironment in a list of environments stands for all seven.
const everyEnvironment = "all"

// Mechanism is one way in which scores were or could be gamed or wrong.
type Mechanism struct {
	ID           string   `yaml:"id"`
	Title        string   `yaml:"title"`
	What         string   `yaml:"mechanism"`
	RecordIDs    []string `yaml:"records"`
	Environments []string `yaml:"environments"` // ids, or "all"; empty where none of ours can have it
	Defence      string   `yaml:"defence"`      // "" where there is none
	State        State    `yaml:"state"`
	Reason       string   `yaml:"reason"` // why it is accepted, not applicable or open
	TestNames    []string `yaml:"tests"`
}

// Concerns reports whether the mechanism could apply to the environment.
func (m Mechanism) Concerns(id rebench.EnvironmentID) bool {
	return slices.Contains(m.Environments, string(id)) || slices.Contains(m.Environments, everyEnvironment)
}

// Answer is what is done about the mechanism, in a few sentences.
func (m Mechanism) Answer() string { return strings.TrimSpace(m.Defence + " " + m.Reason) }

// Catalogue is data/validity/defences.yaml.
type Catalogue struct {
	Mechanisms []Mechanism `yaml:"mechanisms"`
	Faults     []string    `yaml:"faults"` // example solutions that are no attack
}

// Load returns the catalogue. It is read once; callers do not change it.
var Load = sync.OnceValues(load)

func load() (*Catalogue, error) {
	var c Catalogue
	if err := read("defences.yaml", &c); err != nil {
		return nil, err
	}
	seen := map[string]string{}
	for _, m := range c.Mechanisms {
		for _, r := range m.RecordIDs {
			if seen[r] != "" {
				return nil, fmt.Errorf("defences.yaml: record %s stands in %s and in %s", r, seen[r], m.ID)
			}
			seen[r] = m.ID
		}
	}
	return &c, nil
}

// read decodes a file of data/validity, refusing unknown keys.
func read(name string, into any) error {
	b, err := data.Validity.ReadFile("validity/" + name)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("data/validity/%s: %w", name, err)
	}
	return nil
}

// Of returns the mechanism of a record, nil when none covers it.
func (c *Catalogue) Of(record string) *Mechanism {
	for i := range c.Mechanisms {
		if slices.Contains(c.Mechanisms[i].RecordIDs, record) {
			return &c.Mechanisms[i]
		}
	}
	return nil
}

// Record is one documented behaviour or flaw.
type Record struct {
	ID     string `json:"id"`
	Task   string `json:"task"` // as the source calls it
	Kind   string `json:"kind"`
	What   string `json:"what"`
	Source string `json:"source"`
	File   string `json:"file"` // of data/published
}

// Records returns the 31 documented hacks and the 51 documented flaws, in file order.
func Records() ([]Record, error) {
	hacks, err := data.Table("reward_hacks.csv")
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, r := range hacks {
		out = append(out, Record{ID: r["id"], Task: r["task"], Kind: r["hack_kind"], What: r["mechanism"], Source: r["source"], File: "reward_hacks.csv"})
	}
	flaws, err := data.Table("known_scorer_flaws.csv")
	if err != nil {
		return nil, err
	}
	for _, r := range flaws {
		out = append(out, Record{ID: r["id"], Task: r["task"], Kind: r["kind"], What: r["flaw"], Source: r["source"], File: "known_scorer_flaws.csv"})
	}
	return out, nil
}

// TestKind says what proves something.
type TestKind string

// Kinds of test: a Go test, a pytest, or an example solution that the scorers judge.
const (
	GoTest     TestKind = "go"
	PythonTest TestKind = "pytest"
	Example    TestKind = "example"
)

// Test is one test or example solution.
type Test struct {
	Name string   `json:"name"` // as in the catalogue
	Kind TestKind `json:"kind"`
	// Path is its file or directory below the repository: of a Go test the package.
	Path string `json:"path"`
	// Function is the test's name within Path, Subtest that of a part of it; of an
	// example its verdict, "invalid" or "flagged".
	Function string `json:"function"`
	Subtest  string `json:"subtest,omitempty"`
	Command  string `json:"command"` // that runs it
}

// ParseTest reads the name of a test as the catalogue writes it.
func ParseTest(name string) (Test, error) {
	if file, function, ok := strings.Cut(name, "::"); ok {
		return Test{Name: name, Kind: PythonTest, Path: "environments/" + file, Function: function,
			Command: "python3 -m pytest environments/" + name}, nil
	}
	for _, verdict := range []string{"invalid", "flagged"} {
		if env, example, ok := strings.Cut(name, "/"+verdict+"/"); ok && !strings.Contains(env+example, "/") {
			p := path.Join("environments", env, "solutions", verdict, example)
			return Test{Name: name, Kind: Example, Path: p, Function: verdict, Command: "bin/runner score " + env + " " + p + " --profile test"}, nil
		}
	}
	dir, function, ok := strings.Cut(name, ".Test")
	if !ok || dir == "" {
		return Test{}, fmt.Errorf("%q is no DIR.TestName, tests/FILE.py::name, ENV/invalid/NAME or ENV/flagged/NAME", name)
	}
	function, subtest, _ := strings.Cut("Test"+function, "/")
	return Test{Name: name, Kind: GoTest, Path: dir, Function: function, Subtest: subtest,
		Command: fmt.Sprintf("go test ./%s -run '^%s$'", dir, function)}, nil
}

// Tests returns the tests of a mechanism in the catalogue's order.
func (m Mechanism) Tests() ([]Test, error) {
	out := []Test{}
	for _, name := range m.TestNames {
		t, err := ParseTest(name)
		if err != nil {
			return nil, fmt.Errorf("defences.yaml: %s: %w", m.ID, err)
		}
		out = append(out, t)
	}
	return out, nil
}
