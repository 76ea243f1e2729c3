package stats

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// run is a row of the published file, as far as the tests need it.
type run struct {
	RunID     any     `json:"run_id"`
	Family    string  `json:"task_family"`
	Alias     string  `json:"alias"`
	TimeLimit int     `json:"time_limit"`
	Score     float64 `json:"score"`
}

const (
	publishedRuns   = "../../data/published/metr_re_bench_runs.jsonl"
	publishedHumans = "../../data/published/human_attempts.csv"
	scalingLaw      = "ai_rd_small_scaling_law"
)

var flaggedRuns = []string{"mp4-server_204921", "mp4-server_204851"}

func readRuns(tb testing.TB) []run {
	tb.Helper()
	f, err := os.Open(publishedRuns)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var runs []run
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r run
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			tb.Fatal(err)
		}
		runs = append(runs, r)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	if len(runs) != 1808 {
		tb.Fatalf("read %d published rows, want 1808", len(runs))
	}
	return runs
}

// cellsOf groups runs into cells by environment, in alphabetical order.
func cellsOf(tb testing.TB, runs []run, keep func(run) bool) []*Cell {
	tb.Helper()
	scores := map[string][]float64{}
	key := map[string]string{}
	for _, r := range runs {
		if keep(r) {
			scores[r.Family] = append(scores[r.Family], r.Score)
			key[r.Family] = r.Alias + "|" + r.Family + "|" + strconv.Itoa(r.TimeLimit)
		}
	}
	var families []string
	for f := range scores {
		families = append(families, f)
	}
	slices.Sort(families)
	var cells []*Cell
	for _, f := range families {
		c, err := NewCell(key[f], scores[f], f == scalingLaw)
		if err != nil {
			tb.Fatal(err)
		}
		cells = append(cells, c)
	}
	return cells
}

func agentCells(tb testing.TB, runs []run, alias string, limit int, flagged bool) []*Cell {
	return cellsOf(tb, runs, func(r run) bool {
		return r.Alias == alias && r.TimeLimit == limit && (flagged || !slices.Contains(flaggedRuns, fmt.Sprint(r.RunID)))
	})
}

// humanCells returns the cells of a cohort: paper71, or all 86 attempts.
func humanCells(tb testing.TB, paper71 bool) []*Cell {
	tb.Helper()
	f, err := os.Open(publishedHumans)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	col := func(name string) int { return slices.Index(rows[0], name) }
	var runs []run
	for _, row := range rows[1:] {
		if row[col("status")] != "attempt" || paper71 && row[col("paper71")] != "1" {
			continue
		}
		score, err := strconv.ParseFloat(row[col("normalized_score")], 64)
		if err != nil {
			tb.Fatal(err)
		}
		runs = append(runs, run{Alias: "human", TimeLimit: 28800, Family: row[col("metr_task_family")], Score: score})
	}
	return cellsOf(tb, runs, func(run) bool { return true })
}

func TestPublishedValues(t *testing.T) {
	runs := readRuns(t)
	humans86, humans71 := humanCells(t, false), humanCells(t, true)
	for _, tc := range []struct {
		name  string
		cells []*Cell
		k     int
		est   Estimator
		want  float64
	}{
		{"o1-preview 2 h", agentCells(t, runs, "o1-preview", 7200, true), 4, WithoutReplacement, 0.351},
		{"o1-preview 30 min", agentCells(t, runs, "o1-preview", 1800, true), 16, WithoutReplacement, 0.627},
		{"o1-preview 30 min unflagged", agentCells(t, runs, "o1-preview", 1800, false), 16, WithoutReplacement, 0.260},
		{"Claude 3 Opus 30 min", agentCells(t, runs, "Claude 3 Opus", 1800, true), 16, WithoutReplacement, 0.153},
		{"GPT-4o 30 min", agentCells(t, runs, "GPT-4o", 1800, true), 16, WithoutReplacement, 0.132},
		{"86 humans", humans86, 1, WithoutReplacement, 0.658},
		{"86 humans", humans86, 2, WithoutReplacement, 0.903},
		{"86 humans", humans86, 4, WithoutReplacement, 1.114},
		{"86 humans", humans86, 8, WithoutReplacement, 1.256},
		{"86 humans", humans86, 1, WithReplacement, 0.658},
		{"86 humans", humans86, 2, WithReplacement, 0.8815},
		{"86 humans", humans86, 4, WithReplacement, 1.072},
		{"86 humans", humans86, 8, WithReplacement, 1.199},
		{"71 humans", humans71, 1, WithoutReplacement, 0.664},
		{"71 humans", humans71, 2, WithoutReplacement, 0.915},
		{"71 humans", humans71, 4, WithoutReplacement, 1.133},
		{"71 humans", humans71, 8, WithoutReplacement, 1.274},
	} {
		t.Run(strings.ReplaceAll(tc.name, " ", "_")+"_x"+strconv.Itoa(tc.k)+"_"+tc.est.String(), func(t *testing.T) {
			if len(tc.cells) != 7 {
				t.Fatalf("%d environments, want 7", len(tc.cells))
			}
			got := SuiteScoreAtK(tc.cells, tc.k, tc.est)
			decimals := 3
			if tc.want == 0.8815 {
				decimals = 4
			}
			if strconv.FormatFloat(got, 'f', decimals, 64) != strconv.FormatFloat(tc.want, 'f', decimals, 64) {
				t.Errorf("score@%d = %.6f, want %v", tc.k, got, tc.want)
			}
		})
	}
}

func TestPaper71(t *testing.T) {
	var counts []int
	sum, n := 0.0, 0
	for _, c := range humanCells(t, true) {
		counts = append(counts, c.N())
		for _, x := range c.Scores() {
			sum += x
		}
		n += c.N()
	}
	// Alphabetical: fix_embedding, nanogpt_chat_rl (GPT-2 QA), optimize_llm_foundry,
	// restricted_mlm, rust_codecontests, small_scaling_law, triton_cumsum (Kernel).
	if want := []int{13, 11, 8, 11, 11, 8, 9}; !slices.Equal(counts, want) {
		t.Errorf("attempts per environment %v, want %v", counts, want)
	}
	if got := strconv.FormatFloat(sum/float64(n), 'f', 3, 64); got != "0.669" {
		t.Errorf("run-weighted mean %s, want 0.669", got)
	}
}

// testdata/numpy_table.csv is the output of testdata/numpy_score_at_k.py: the same
// table by a plain bootstrap in numpy, in METR's convention. Points must agree as
// printed, interval ends within the Monte Carlo error of both sides.
func TestTableEqualsNumpy(t *testing.T) {
	f, err := os.Open("testdata/numpy_table.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 48 {
		t.Fatalf("%d rows, want a header and 47", len(rows))
	}
	runs := readRuns(t)
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	const b = 20_000
	for _, row := range rows[1:] {
		limit, k := int(number(row[1])), int(number(row[2]))
		cells := agentCells(t, runs, row[0], limit, true)
		if got := SuiteScoreAtK(cells, k, WithoutReplacement); math.Abs(got-number(row[3])) > 6e-7 {
			t.Errorf("%s %d s x %d: score %.6f, numpy %s", row[0], limit, k, got, row[3])
		}
		draws := SuiteDraws(cells, []int{k}, b, WithoutReplacement, Metr)[0]
		for i, q := range []float64{0.025, 0.975} {
			// An end of numpy's 5,000 draws is off by more than these ranks with a
			// probability of about one in a million.
			rank := 5 * math.Sqrt(q*(1-q)/5000) * 1.2
			lo, hi := Quantile(draws, max(0, q-rank)), Quantile(draws, min(1, q+rank))
			if got := number(row[4+i]); got < lo-1e-6 || got > hi+1e-6 {
				t.Errorf("%s %d s x %d: %v quantile is %v in numpy, expected within [%.6f, %.6f]", row[0], limit, k, q, got, lo, hi)
			}
		}
	}
}
