package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"rebench/data"
	"rebench/internal/stats"
)

const (
	runsFile   = "metr_re_bench_runs.jsonl"
	humansFile = "human_attempts.csv"
	// scalingLaw hides its score from the agent, so that the last entry counts.
	scalingLaw = "ai_rd_small_scaling_law"
	// environments is the size of the suite.
	environments = 7
	// smallest is the number of attempts that a sample needs in each environment to
	// stand for a whole distribution.
	smallest = 7
)

// publishedRun is a row of the published runs, as far as it is needed.
type publishedRun struct {
	ID     json.RawMessage `json:"run_id"`
	Family string          `json:"task_family"`
	Alias  string          `json:"alias"`
	Limit  int             `json:"time_limit"`
	Score  float64         `json:"score"`
}

// published returns the populations, those with at least smallest attempts in each
// of the seven environments, sorted by name:
// agents by time limit, and the human attempts without the placeholder rows. Rows
// flagged as suspected reward hacks are included if flagged is set.
func published(flagged bool) ([]population, error) {
	text, err := data.File(runsFile)
	if err != nil {
		return nil, err
	}
	placeholders, err := placeholderRuns()
	if err != nil {
		return nil, err
	}
	suspects, err := flaggedRuns()
	if err != nil {
		return nil, err
	}
	scores := map[string]map[string][]float64{}
	for lines := json.NewDecoder(bytes.NewReader(text)); ; {
		var r publishedRun
		if err := lines.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", runsFile, err)
		}
		id := string(bytes.Trim(r.ID, `"`))
		if r.Alias == "human" && placeholders[id] || suspects[id] && !flagged {
			continue
		}
		name := fmt.Sprintf("%s %g h", r.Alias, float64(r.Limit)/3600)
		if r.Alias == "human" {
			name = "human 8 h"
		}
		if scores[name] == nil {
			scores[name] = map[string][]float64{}
		}
		scores[name][r.Family] = append(scores[name][r.Family], r.Score)
	}
	return populationsOf(scores)
}

func populationsOf(scores map[string]map[string][]float64) ([]population, error) {
	var out []population
	for _, name := range sortedKeys(scores) {
		p := population{name: name}
		for _, family := range sortedKeys(scores[name]) {
			c, err := stats.NewCell(name+"|"+family, scores[name][family], family == scalingLaw)
			if err != nil {
				return nil, err
			}
			if c.N() >= smallest {
				p.environments = append(p.environments, c)
			}
		}
		if len(p.environments) == environments {
			out = append(out, p)
		}
	}
	return out, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func placeholderRuns() (map[string]bool, error) {
	rows, err := data.Table(humansFile)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, row := range rows {
		if row["status"] == "placeholder" {
			out[row["metr_run_id"]] = true
		}
	}
	return out, nil
}

func flaggedRuns() (map[string]bool, error) {
	rows, err := data.Records(data.Flags)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, row := range rows {
		out[row["run_id"]] = true
	}
	return out, nil
}
