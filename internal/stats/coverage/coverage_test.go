package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"rebench/internal/stats"
)

// The words beside every interval state coverages; a smaller run of the simulation
// must come within a few points of them.
func TestCoverageAgreesWithTheWords(t *testing.T) {
	if testing.Short() {
		t.Skip("simulation")
	}
	populations, err := published(true)
	if err != nil {
		t.Fatal(err)
	}
	const simulations, draws = 150, 400
	results, err := simulateAll(populations, stats.Centred, simulations, draws, 1)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := simulateAll(populations, stats.Metr, simulations, draws, 1)
	if err != nil {
		t.Fatal(err)
	}
	for class := stats.CoverageMean; class <= stats.CoverageSaturated; class++ {
		got, metr := summarizeWhere(results, class, 0), summarizeWhere(plain, class, 0)
		want := class.Figures()
		t.Logf("%s: covered %.1f%%, worst %.1f%% (metr %.1f%%)", want.Condition, 100*got.mean, 100*got.worst, 100*metr.mean)
		if mean := 100 * got.mean; mean < float64(want.MeanLow)-2 || mean > float64(want.MeanHigh)+2 {
			t.Errorf("%s: average coverage %.1f%%, stated %d-%d%%", want.Condition, mean, want.MeanLow, want.MeanHigh)
		}
		// The least of many estimates lies below the least coverage itself.
		if worst := 100 * got.worst; math.Abs(worst-float64(want.Worst)) > 8 {
			t.Errorf("%s: worst coverage %.1f%%, stated %d%%", want.Condition, worst, want.Worst)
		}
		if metr.mean > got.mean-0.02 {
			t.Errorf("%s: the plain percentile interval covers %.1f%%, ours only %.1f%%", want.Condition, 100*metr.mean, 100*got.mean)
		}
		if below := 1 - got.mean - got.above; got.above < below {
			t.Errorf("%s: %.1f%% of the intervals lie below the truth and %.1f%% above it, where most misses are said to be below", want.Condition, 100*got.above, 100*below)
		}
	}
}

// An interval for the mean of a well-behaved population must come close to 95%:
// a check of the simulation itself.
func TestSimulationOfUniformPopulation(t *testing.T) {
	p := population{name: "uniform"}
	for e := range environments {
		x := make([]float64, 101)
		for i := range x {
			x[i] = float64(i) / 100
		}
		c, err := stats.NewCell(strings.Repeat("e", e+1), x, false)
		if err != nil {
			t.Fatal(err)
		}
		p.environments = append(p.environments, c)
	}
	results, err := simulate(p, setting{24, []int{1}}, stats.Centred, 800, 800, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	// Standard error 0.8 points. Each cell is widened for its own 23 degrees of
	// freedom while the mean of seven has more, so slightly above 95% is right.
	if got := results[0].covered; got < 0.93 || got > 0.985 {
		t.Errorf("covered %.3f, want about 0.95 to 0.97", got)
	}
}

func TestPopulations(t *testing.T) {
	with, err := published(true)
	if err != nil {
		t.Fatal(err)
	}
	without, err := published(false)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	humans, flagged := 0, 0
	for i, p := range with {
		names = append(names, p.name)
		for e, c := range p.environments {
			if p.name == "human 8 h" {
				humans += c.N()
			}
			flagged += c.N() - without[i].environments[e].N()
		}
	}
	want := "Claude 3 Opus 0.5 h, GPT-4 0314 0.5 h, GPT-4 Turbo 0.5 h, GPT-4o 0.5 h, human 8 h, o1-preview 0.5 h, o1-preview 2 h"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("populations %s, want %s", got, want)
	}
	if humans != 86 || flagged != 2 {
		t.Errorf("%d human attempts and %d flagged rows, want 86 and 2", humans, flagged)
	}
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-simulations", "2", "-draws", "50", "-cases", "-convention", "metr", "-flagged=false"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"7 populations, 2 samples each per n, 50 draws, convention metr", "k < n < 4k", "human 8 h", "worst case"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	for _, bad := range [][]string{{"-simulations", "0"}, {"-draws", "-1"}, {"-convention", "bca"}} {
		if err := run(bad, &out); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
