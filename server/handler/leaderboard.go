package handler

import (
	"github.com/a-h/templ"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/stats"
	"rebench/web/chart"
	"rebench/web/view"
)

// choose are the parameters that choose data and method on every page of results.
var choose = []string{"profile", "environments", "agents", "estimator", "convention", "cohort", "flagged", "scorer", "hardware",
	"cap", "hours", "truncate", "asof"}

// takes joins the parameters of choose with those of one page.
func takes(more ...string) []string { return append(append([]string{}, choose...), more...) }

var leaderboardResource = resource{path: "/", takes: takes("budget", "show"), build: buildLeaderboard}

func buildLeaderboard(s *Server, x *exchange) (*document, error) {
	ctx := x.c.Request.Context()
	board, err := s.engine.Leaderboard(ctx, x.query)
	if err != nil {
		return nil, err
	}
	d := &document{
		title:       "Who is ahead with " + budgetWords(board.BudgetS) + " in total?",
		description: "Mean normalized score of agents and human experts over RE-Bench environments at equal total time, with 95% bootstrap intervals.",
		axes:        []axis{{"score", scoreUnit}, {"total time", "s"}},
		n:           shown(board), data: board,
		table: func() table { return leaderboardTable(board) },
		svg: func(p view.Page) ([]byte, error) {
			return svgOf(p, chart.Leaderboard(board))
		},
	}
	if x.form != formHTML {
		return d, nil
	}
	data := view.LeaderboardData{Board: board}
	if data.Choices, err = s.choices(x); err != nil {
		return nil, err
	}
	if data.Leads, err = s.engine.Leads(ctx, x.query); err != nil {
		return nil, err
	}
	if x.show == "sensitivity" {
		if data.Sensitivity, err = s.engine.Sensitivity(ctx, x.query); err != nil {
			return nil, err
		}
	}
	d.page = func(p view.Page) (templ.Component, error) { return view.Leaderboard(p, data), nil }
	return d, nil
}

const scoreUnit = "normalized: 0 = starting solution, 1 = reference"

func leaderboardTable(b *analysis.Leaderboard) table {
	t := table{columns: []string{"agent", "model", "scaffold", "kind", "rank_low", "rank_high", "score", "ci_low", "ci_high",
		"score_honest", "p_rank1", "time_limit_s", "k", "saturated", "human_percentile", "human_percentile_low", "human_percentile_high", "n_attempts", "cost_usd", "score_with_flagged", "score_without_flagged", "badge"}}
	for _, id := range b.Environments {
		for _, name := range []string{"score", "ci_low", "ci_high", "n"} {
			t.columns = append(t.columns, name+"_"+string(id))
		}
	}
	t.columns = append(t.columns, "not_ranked_because")
	for _, r := range b.Rows {
		row := []any{r.Agent, r.Model, r.Scaffold, string(r.Kind), r.RankLow, r.RankHigh, r.Score, r.CILow, r.CIHigh, r.ScoreHonest,
			r.PRank1, r.Allocation.TimeLimitS, r.Allocation.K, r.Allocation.Saturated, percentile(r.HumanPct), percentile(r.HumanPctLow), percentile(r.HumanPctHigh), r.NAttempts, r.CostUSD, r.WithFlagged, r.WithoutFlagged, string(r.Badge)}
		for _, id := range b.Environments {
			if c, ok := r.Environments[id]; ok {
				row = append(row, c.Score, c.CILow, c.CIHigh, c.N)
			} else {
				row = append(row, nil, nil, nil, nil)
			}
		}
		t.add(append(row, "")...)
	}
	for _, h := range b.Hidden {
		row := make([]any, len(t.columns))
		row[0], row[len(row)-1] = h.Agent, h.Reason
		t.add(row...)
	}
	return t
}

var sensitivityResource = resource{path: "/sensitivity", takes: takes("budget"), build: func(s *Server, x *exchange) (*document, error) {
	r, err := s.engine.Sensitivity(x.c.Request.Context(), x.query)
	return &document{data: r}, err
}}

// percentile is nil where there is none; 0 is below the 1st and 101 above the 100th.
func percentile(p *stats.Percentile) *int64 {
	if p == nil {
		return nil
	}
	n := int64(*p)
	return &n
}

// idTexts are environment ids as text.
func idTexts(ids []rebench.EnvironmentID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}
