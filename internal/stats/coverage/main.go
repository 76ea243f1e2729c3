// Command coverage measures how often the intervals of package stats contain the
// truth, and prints the table behind the words that stand beside every interval.
//
// Every agent and time limit of the published rows that has all seven
// environments serves as a population whose true score@k is known exactly. From
// each, samples of n attempts per environment are drawn with replacement, the
// suite interval is computed from the sample alone, and the share of intervals
// that contain the truth is counted: n = 7 to 36, k = 1 to 16. The intervals are
// nominal 95%.
//
//	go run ./internal/stats/coverage [-simulations 500] [-draws 1000] [-seed 1] [-convention centred|metr] [-flagged] [-cases]
//
// The results hold for populations like these. A population that was published
// holds no value rarer than its own attempts, so for rarer values coverage is
// worse than in any such simulation.
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"text/tabwriter"

	"rebench/internal/stats"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("coverage", flag.ContinueOnError)
	simulations := flags.Int("simulations", 500, "samples per population and n")
	draws := flags.Int("draws", 1000, "bootstrap draws per sample")
	seed := flags.Uint64("seed", 1, "seed of the samples")
	name := flags.String("convention", "centred", "centred or metr")
	flagged := flags.Bool("flagged", true, "include the rows flagged as suspected reward hacks: rare, very high scores")
	cases := flags.Bool("cases", false, "also print every population, n and k")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *simulations < 1 || *draws < 1 {
		return fmt.Errorf("simulations and draws are %d and %d, want positive numbers", *simulations, *draws)
	}
	conv := stats.Centred
	switch *name {
	case "centred":
	case "metr":
		conv = stats.Metr
	default:
		return fmt.Errorf("convention is %q, want centred or metr", *name)
	}
	populations, err := published(*flagged)
	if err != nil {
		return err
	}
	results, err := simulateAll(populations, conv, *simulations, *draws, *seed)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d populations, %d samples each per n, %d draws, convention %s\n\n", len(populations), *simulations, *draws, conv)
	if *cases {
		printCases(out, results)
	}
	return printSummary(out, summarize(results))
}

// simulateAll runs every population and setting; each has its own random stream,
// so a change to one leaves the others as they are.
func simulateAll(populations []population, conv stats.Convention, simulations, draws int, seed uint64) ([]result, error) {
	var results []result
	for i, p := range populations {
		for j, s := range settings {
			rng := rand.New(rand.NewPCG(seed, uint64(i*len(settings)+j)))
			r, err := simulate(p, s, conv, simulations, draws, rng)
			if err != nil {
				return nil, fmt.Errorf("%s, n = %d: %w", p.name, s.n, err)
			}
			results = append(results, r...)
		}
	}
	return results, nil
}

func printCases(out io.Writer, results []result) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "population\tn\tk\tcovered\ttruth above\twidth\t")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f%%\t%.1f%%\t%.3f\t\n", r.population, r.n, r.k, 100*r.covered, 100*r.above, r.width)
	}
	w.Flush()
	fmt.Fprintln(out)
}

func printSummary(out io.Writer, lines []summary) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "condition\tn\tcases\tcovered\tworst\ttruth above\twidth\tworst case\t")
	for _, s := range lines {
		n := "all"
		if s.n > 0 {
			n = fmt.Sprint(s.n)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.1f%%\t%.1f%%\t%.1f%%\t%.3f\t%s\t\n", s.class.Figures().Condition, n, s.cases, 100*s.mean, 100*s.worst, 100*s.above, s.meanWidth, s.worstCase)
	}
	return w.Flush()
}
