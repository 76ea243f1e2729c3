//go:build unix

package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
)

// tableRow is one alias and time limit of the published rows.
type tableRow struct {
	name  string
	cells []*Cell
	ks    []int
}

// publishedTable returns every alias and time limit of all 1,808 rows with
// k = 1, 2, 4 ... up to the smallest n of its cells and 128.
func publishedTable(tb testing.TB) []tableRow {
	runs := readRuns(tb)
	type key struct {
		alias string
		limit int
	}
	seen := map[key]bool{}
	for _, r := range runs {
		seen[key{r.Alias, r.TimeLimit}] = true
	}
	var rows []tableRow
	for k := range seen {
		cells := agentCells(tb, runs, k.alias, k.limit, true)
		smallest := math.MaxInt
		for _, c := range cells {
			smallest = min(smallest, c.N())
		}
		row := tableRow{name: fmt.Sprintf("%s %d s", k.alias, k.limit), cells: cells}
		for n := 1; n <= min(smallest, 128); n *= 2 {
			row.ks = append(row.ks, n)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b tableRow) int { return cmp.Compare(a.name, b.name) })
	return rows
}

func TestPublishedTableSize(t *testing.T) {
	cells := 0
	for _, row := range publishedTable(t) {
		cells += len(row.ks)
	}
	if cells != 47 {
		t.Errorf("%d suite cells, want 47", cells)
	}
}

// cpuSeconds returns the CPU time of the process so far, user and system.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return math.NaN()
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// BenchmarkScoreAtKTable computes the score@k table of all 1,808 published rows:
// 47 suite cells, point and 95% interval with 5,000 bootstrap replicates, from
// the scores on (hashing and sorting included).
func BenchmarkScoreAtKTable(b *testing.B) {
	table := publishedTable(b)
	const replicates = 5000
	start := cpuSeconds()
	b.ResetTimer()
	for range b.N {
		for _, row := range table {
			cells := make([]*Cell, len(row.cells))
			for i, c := range row.cells {
				var err error
				if cells[i], err = NewCell(row.name, c.sorted, c.last); err != nil {
					b.Fatal(err)
				}
			}
			draws := SuiteDraws(cells, row.ks, replicates, WithoutReplacement, Centred)
			for i, k := range row.ks {
				sink += SuiteScoreAtK(cells, k, WithoutReplacement)
				lo, hi := PercentileInterval(draws[i], Level)
				sink += lo + hi
			}
		}
	}
	b.StopTimer()
	b.ReportMetric((cpuSeconds()-start)/float64(b.N)*1e3, "cpu-ms/op")
}

var sink float64

// BenchmarkLargeDatabase draws 2,000 replicates for 100,000 attempts in cells of
// 300 distinct scores, at one k and at four.
func BenchmarkLargeDatabase(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var suites [][]*Cell
	for total := 0; total < 100_000; {
		var suite []*Cell
		for e := range 7 {
			n := 200 + rng.IntN(201)
			total += n
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.Float64()
			}
			c, err := NewCell(fmt.Sprint(total, e), x, e == 0)
			if err != nil {
				b.Fatal(err)
			}
			suite = append(suite, c)
		}
		suites = append(suites, suite)
	}
	for _, ks := range [][]int{{16}, {1, 4, 16, 64}} {
		b.Run(fmt.Sprintf("ks=%d", len(ks)), func(b *testing.B) {
			start := cpuSeconds()
			for range b.N {
				for _, cells := range suites {
					for _, d := range SuiteDraws(cells, ks, 2000, WithoutReplacement, Centred) {
						lo, hi := PercentileInterval(d, Level)
						sink += lo + hi
					}
				}
			}
			b.ReportMetric((cpuSeconds()-start)/float64(b.N)*1e3, "cpu-ms/op")
		})
	}
}

func BenchmarkPercentileInterval(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 10_000)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for range b.N {
		lo, hi := PercentileInterval(x, Level)
		sink += lo + hi
	}
}

// BenchmarkRanks ranks twelve scores of 10,000 draws, a leaderboard.
func BenchmarkRanks(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var scores []SuiteScore
	for range 12 {
		draws := make([]float64, 10_000)
		for i := range draws {
			draws[i] = rng.NormFloat64()
		}
		scores = append(scores, SuiteScore{Draws: draws, Interval: Interval{Low: &sink, High: &sink}})
	}
	for range b.N {
		if _, err := Ranks(scores); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHonestBest cross-fits five allocations of the published rows.
func BenchmarkHonestBest(b *testing.B) {
	var candidates []Candidate
	for _, row := range publishedTable(b) {
		if len(row.cells) == 7 && row.ks[len(row.ks)-1] >= 8 {
			candidates = append(candidates, Candidate{K: 4, Cells: row.cells})
		}
	}
	for range b.N {
		if _, err := HonestBest(candidates); err != nil {
			b.Fatal(err)
		}
	}
}
