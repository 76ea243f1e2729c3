package validity

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"rebench/data"
	"rebench/internal/rebench"
)

// ExampleRun is one scoring of every example solution of an environment, through the
// sandbox, on one machine. `make test-full` writes it.
type ExampleRun struct {
	Environment  rebench.EnvironmentID `yaml:"environment" json:"environment"`
	Profile      rebench.Profile       `yaml:"profile" json:"profile"`
	Date         string                `yaml:"date" json:"date"` // YYYY-MM-DD, UTC
	Machine      string                `yaml:"machine" json:"machine"`
	ScorerSHA256 string                `yaml:"scorer_sha256" json:"scorer_sha256"`
	Examples     []ExampleOutcome      `yaml:"examples" json:"examples"`
}

// ExampleOutcome is the verdict on one example solution.
type ExampleOutcome struct {
	Name   string `yaml:"name" json:"name"` // below the environment's solutions/, as in invalid/linked
	Valid  bool   `yaml:"valid" json:"valid"`
	Reason string `yaml:"reason,omitempty" json:"reason"` // why it is invalid, else ""
	// Message is what a solver is told, in one line of at most 200 bytes.
	Message string   `yaml:"message,omitempty" json:"message"`
	Flags   []string `yaml:"flags,omitempty,flow" json:"flags"`
	Raw     *float64 `yaml:"raw,omitempty" json:"raw"` // nil where invalid
	// Normalized is not floored at 0. Its scale is a calibration of that machine or, where
	// solutions are scored as they stand, the start and the reference of this run.
	Normalized *float64 `yaml:"normalized,omitempty" json:"normalized"`
	WallS      float64  `yaml:"wall_s" json:"wall_s"` // what the scoring took
}

// Outcome returns the verdict on an example, named as below solutions/; nil when it was
// not scored.
func (r *ExampleRun) Outcome(name string) *ExampleOutcome {
	for i := range r.Examples {
		if r.Examples[i].Name == name {
			return &r.Examples[i]
		}
	}
	return nil
}

// ExampleRuns returns the files of data/validity/examples in the suite's order.
var ExampleRuns = sync.OnceValues(func() ([]ExampleRun, error) {
	files, err := fs.Glob(data.Validity, "validity/examples/*.yaml")
	if err != nil {
		return nil, err
	}
	out := make([]ExampleRun, len(files))
	for i, file := range files {
		name := path.Base(file)
		if err := read("examples/"+name, &out[i]); err != nil {
			return nil, err
		}
		if id := out[i].Environment; name != string(id)+".yaml" || !slices.Contains(rebench.EnvironmentIDs(), id) {
			return nil, fmt.Errorf("data/validity/examples/%s: found environment %q, expected the one that the file is named for", name, id)
		}
		for j := range out[i].Examples {
			if x := &out[i].Examples[j]; x.Flags == nil {
				x.Flags = []string{}
			}
		}
	}
	order := rebench.EnvironmentIDs()
	slices.SortFunc(out, func(a, b ExampleRun) int {
		return slices.Index(order, a.Environment) - slices.Index(order, b.Environment)
	})
	return out, nil
})
