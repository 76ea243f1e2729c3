package analysis_test

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"rebench/data"
	"rebench/internal/analysis"
	"rebench/internal/published"
	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// finals reads the published file on its own, by alias, time limit and environment.
func finals(t *testing.T) map[string]map[time.Duration]map[rebench.EnvironmentID][]float64 {
	t.Helper()
	b, err := data.File(published.RunsFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[time.Duration]map[rebench.EnvironmentID][]float64{}
	placeholders := []string{"81", "123", "140", "187", "157", "33", "44"}
	for line := range strings.Lines(string(b)) {
		var r struct {
			RunID  any     `json:"run_id"`
			Family string  `json:"task_family"`
			Alias  string  `json:"alias"`
			Score  float64 `json:"score"`
			Limit  int64   `json:"time_limit"`
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.UseNumber()
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if n, ok := r.RunID.(json.Number); ok && slices.Contains(placeholders, n.String()) {
			continue
		}
		limit := time.Duration(r.Limit) * time.Second
		if r.Alias == "human" {
			limit = 8 * time.Hour
		}
		env, ok := rebench.EnvironmentByMETRFamily(r.Family)
		if !ok {
			t.Fatalf("family %q", r.Family)
		}
		if out[r.Alias] == nil {
			out[r.Alias] = map[time.Duration]map[rebench.EnvironmentID][]float64{}
		}
		if out[r.Alias][limit] == nil {
			out[r.Alias][limit] = map[rebench.EnvironmentID][]float64{}
		}
		out[r.Alias][limit][env.ID] = append(out[r.Alias][limit][env.ID], r.Score)
	}
	return out
}

// exact computes score@k with rational weights: subsets without replacement by
// binomial coefficients, draws with replacement by powers.
func exact(scores []float64, k int, last bool, est stats.Estimator) float64 {
	x := slices.Clone(scores)
	slices.Sort(x)
	n := len(x)
	if last {
		k = 1
	}
	sum := new(big.Rat)
	for i, v := range x {
		weight := new(big.Rat)
		if est == stats.WithReplacement {
			power := func(m int) *big.Int { return new(big.Int).Exp(big.NewInt(int64(m)), big.NewInt(int64(k)), nil) }
			weight.SetFrac(new(big.Int).Sub(power(i+1), power(i)), power(n))
		} else {
			kk := min(k, n)
			weight.SetFrac(new(big.Int).Binomial(int64(i), int64(kk-1)), new(big.Int).Binomial(int64(n), int64(kk)))
		}
		sum.Add(sum, weight.Mul(weight, new(big.Rat).SetFloat64(v)))
	}
	f, _ := sum.Float64()
	return f
}

func TestEveryPublishedCellEqualsAnExactComputation(t *testing.T) {
	e := publishedEngine(t)
	cells := 0
	for alias, byLimit := range finals(t) {
		for limit, byEnv := range byLimit {
			for _, est := range []stats.Estimator{stats.WithoutReplacement, stats.WithReplacement} {
				ks := []int{1, 2, 3, 4, 8, 16, 32, 64, 128}
				got, err := e.ScoreAtK(t.Context(), analysis.Query{Cohort: rebench.CohortAll, Flagged: true, Estimator: est}, alias, limit, ks)
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Cells) != len(byEnv) {
					t.Fatalf("%s at %v: %d environments, want %d", alias, limit, len(got.Cells), len(byEnv))
				}
				means := make([]float64, len(ks))
				for _, c := range got.Cells {
					if c.N != len(byEnv[c.Environment]) {
						t.Errorf("%s %v %s: n = %d, want %d", alias, limit, c.Environment, c.N, len(byEnv[c.Environment]))
					}
					for j, p := range c.Points {
						want := exact(byEnv[c.Environment], p.K, c.Environment == rebench.ScalingLaw, est)
						near(t, alias+" "+limit.String()+" "+string(c.Environment), p.Score, want, 1e-12)
						means[j] += want / float64(len(byEnv))
						cells++
					}
				}
				for j, m := range got.Mean {
					near(t, alias+" mean", m.Score, means[j], 1e-12)
				}
			}
		}
	}
	t.Logf("%d values", cells)
}
