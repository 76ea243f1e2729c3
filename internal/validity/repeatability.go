package validity

import (
	"fmt"
	"math"
	"sync"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Measurement is one submission scored again and again on one machine, on fresh draws
// each time. `runner score --repeat` makes it.
type Measurement struct {
	Environment rebench.EnvironmentID `yaml:"environment" json:"environment"`
	Profile     rebench.Profile       `yaml:"profile" json:"profile"`
	Solution    string                `yaml:"solution" json:"solution"` // below the environment's solutions/
	Date        string                `yaml:"date" json:"date"`
	Machine     string                `yaml:"machine" json:"machine"`
	// Start and Reference are the medians of the machine's calibration, raw.
	Start     float64   `yaml:"start" json:"start"`
	Reference float64   `yaml:"reference" json:"reference"`
	Raw       []float64 `yaml:"raw" json:"raw"` // scores in the order measured
}

// N is how many scorings there were.
func (m Measurement) N() int { return len(m.Raw) }

// Median is that of the raw scores.
func (m Measurement) Median() float64 { return stats.Median(m.Raw) }

// SD is the sample standard deviation of the raw scores: the noise of one scoring.
func (m Measurement) SD() float64 { return stats.SampleSD(m.Raw) }

// Gap is |start - reference|, raw.
func (m Measurement) Gap() float64 { return math.Abs(m.Start - m.Reference) }

// Command repeats the measurement.
func (m Measurement) Command() string {
	return fmt.Sprintf("bin/runner score %s environments/%[1]s/solutions/%s --profile %s --repeat %d --json", m.Environment, m.Solution, m.Profile, m.N())
}

// Measurements returns data/validity/repeatability.yaml in its order.
var Measurements = sync.OnceValues(func() ([]Measurement, error) {
	var f struct {
		Measurements []Measurement `yaml:"measurements"`
	}
	if err := read("repeatability.yaml", &f); err != nil {
		return nil, err
	}
	for _, m := range f.Measurements {
		if _, ok := rebench.EnvironmentByID(m.Environment); !ok || m.N() < 2 || m.Gap() == 0 {
			return nil, fmt.Errorf("data/validity/repeatability.yaml: %s %s %s: found %d scores and a gap of %g, expected an environment, two scores and a gap", m.Environment, m.Profile, m.Solution, m.N(), m.Gap())
		}
	}
	return f.Measurements, nil
})
