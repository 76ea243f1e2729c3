package validity

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestMeasurementByHand(t *testing.T) {
	m := Measurement{Environment: "fix_embedding", Profile: "cpu", Solution: "reference", Start: 2, Reference: -1, Raw: []float64{4, 1, 3, 2}}
	if m.N() != 4 || m.Median() != 2.5 || m.Gap() != 3 || math.Abs(m.SD()-math.Sqrt(5.0/3)) > 1e-15 {
		t.Errorf("n %d, median %v, gap %v, sd %v", m.N(), m.Median(), m.Gap(), m.SD())
	}
	if want := "bin/runner score fix_embedding environments/fix_embedding/solutions/reference --profile cpu --repeat 4 --json"; m.Command() != want {
		t.Errorf("%q, want %q", m.Command(), want)
	}
}

// What is said of a scoring's noise must be of a solution that exists.
func TestMeasurements(t *testing.T) {
	all, err := Measurements()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		dir := filepath.Join("../../environments", string(m.Environment), "solutions", filepath.FromSlash(m.Solution))
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			t.Errorf("%s: no directory %s", m.Environment, dir)
		}
		if m.Date == "" || m.Machine == "" || m.Profile == "" {
			t.Errorf("%s: date %q, machine %q, profile %q", m.Environment, m.Date, m.Machine, m.Profile)
		}
	}
}
