package stats

import (
	"math"
	"strings"
	"testing"
)

func TestDegenerate(t *testing.T) {
	zeros := mustCell(t, "z", []float64{0, 0, 0}, false)
	mixed := mustCell(t, "m", []float64{0, 1}, false)
	single := mustCell(t, "s", []float64{3}, false)
	if got := ConstantCells([]*Cell{zeros, mixed, single}); got != 2 {
		t.Errorf("%d constant cells, want 2", got)
	}
	if zeros.Zeros() != 3 || mixed.Zeros() != 1 || single.Zeros() != 0 {
		t.Errorf("zeros: %d %d %d, want 3 1 0", zeros.Zeros(), mixed.Zeros(), single.Zeros())
	}
	// The bound p solves (1-p)^n = 0.05.
	for n, want := range map[int]float64{0: 1, 1: 0.95, 2: 1 - math.Sqrt(0.05), 36: 1 - math.Pow(0.05, 1.0/36)} {
		if got := NonZeroBound(n); math.Abs(got-want) > 1e-12 {
			t.Errorf("NonZeroBound(%d) = %v, want %v", n, got, want)
		}
	}
}

func TestCoverage(t *testing.T) {
	cell := func(n int, last bool) *Cell { return mustCell(t, "k", make([]float64, n), last) }
	for _, tc := range []struct {
		name  string
		cells []*Cell
		k     int
		want  CoverageClass
		text  string
	}{
		{"single attempts", []*Cell{cell(4, false), cell(2, true)}, 1, CoverageMean, "92-93% for k = 1 (worst 85%)"},
		{"n = 4k", []*Cell{cell(16, false), cell(40, false)}, 4, CoverageAmple, "88-92% for n >= 4k (worst 69%)"},
		{"one scarce", []*Cell{cell(15, false), cell(40, false)}, 4, CoverageScarce, "81-86% for k < n < 4k (worst 52%)"},
		{"saturated", []*Cell{cell(4, false), cell(40, false)}, 4, CoverageSaturated, "72-75% for k = n (worst 45%)"},
		{"beyond", []*Cell{cell(3, false)}, 4, CoverageSaturated, "72-75%"},
		{"hidden counts as k = 1", []*Cell{cell(2, true), cell(16, false)}, 4, CoverageAmple, "n >= 4k"},
		{"only hidden", []*Cell{cell(2, true)}, 4, CoverageMean, "k = 1"},
	} {
		if got := Coverage(tc.cells, tc.k); got != tc.want {
			t.Errorf("%s: class %d, want %d", tc.name, got, tc.want)
		}
		if text := CoverageText(tc.cells, tc.k); !strings.Contains(text, tc.text) || !strings.HasPrefix(text, "Nominal 95%") {
			t.Errorf("%s: %q, want %q in it", tc.name, text, tc.text)
		}
	}
}

// The 35 rows of GPT-4o in Fix Embedding hold 7.2849e-6, the untouched start; the
// lowest score of the kernel, 1.0452e-5, is a measurement of another solution.
func TestZerosAreThoseAtTheStart(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		want   int
	}{
		{[]float64{7.2849e-06, 7.2849e-06, 0, 0.2}, 3},
		{[]float64{1.0452e-05, 0}, 1},
		{[]float64{1.0452e-05, 5.75166e-05}, 0},
		{[]float64{-0.5, 0.1}, 1},
		{[]float64{StartTolerance}, 1},
	} {
		if got := mustCell(t, "start", c.scores, false).Zeros(); got != c.want {
			t.Errorf("Zeros(%v) = %d, want %d", c.scores, got, c.want)
		}
	}
}
