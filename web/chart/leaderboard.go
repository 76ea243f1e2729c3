package chart

import (
	"fmt"
	"slices"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// Leaderboard plots every ranked agent's score at one total time as a dot with its
// 95% interval, best first. An open upper end fades into an arrow.
func Leaderboard(l *analysis.Leaderboard) *Figure {
	f := &Figure{Source: Source{Revision: l.DataRevision}}
	f.Title = "Who is ahead with " + duration(l.BudgetS) + " in total?"
	humans := slices.ContainsFunc(l.Rows, func(r analysis.LeaderboardRow) bool { return r.Kind == rebench.KindHuman })
	f.Subtitle = sentence("; ", "Mean normalized score over "+environmentsText(l.View.Environments), viewText(l.View, humans))
	f.HowToRead = "0 is the starting solution, 1 the reference. Bars are nominal 95% intervals; rank 1–2 means that the data do not separate the two."
	r := newRows(f, "rank", "score [95% interval]", "allocation", "n")
	r.hi = 1
	labels := make([]string, len(l.Rows))
	for i, row := range l.Rows {
		labels[i] = row.Agent
	}
	styles := Styles(labels)
	for _, row := range l.Rows {
		r.agent(row, styles[row.Agent])
	}
	if len(r.labels) == 0 {
		f.Empty = fmt.Sprintf("No agent has an allocation of %s in every chosen environment.", duration(l.BudgetS))
		f.Alt = f.Empty
		return f.finish()
	}
	if n := len(l.Hidden); n > 0 {
		f.Notes = append(f.Notes, rebench.Count(n, "agent")+" cannot be ranked in this view.")
	}
	if n := len(l.FlaggedLeftOut); n > 0 {
		f.Notes = append(f.Notes, rebench.Count(n, "attempt")+" flagged as suspected reward hacks left out.")
	}
	r.p.refs = scoreRefs(true)
	r.finish("Normalized score")
	return f.finish()
}

func (r *rows) agent(row analysis.LeaderboardRow, st Style) {
	if !finite(row.Score) {
		r.f.dropped++
		return
	}
	r.cover(&row.Score)
	r.cover(row.CILow)
	r.cover(row.CIHigh)
	rank := fmt.Sprint(row.RankLow)
	if row.RankHigh > row.RankLow {
		rank = fmt.Sprintf("%d–%d", row.RankLow, row.RankHigh)
	}
	name := shownName(row.Agent)
	what := allocation(row.Allocation.K, row.Allocation.TimeLimitS)
	y := r.row(name, rank, Score(row.Score)+" "+Interval(row.Score, row.CILow, row.CIHigh), what, fmt.Sprint(row.NAttempts))
	r.alt = append(r.alt, fmt.Sprintf("rank %s: %s %s %s", rank, name, Score(row.Score), Interval(row.Score, row.CILow, row.CIHigh)))
	t := &tip{title: name, rows: [][2]string{{"Score", Score(row.Score)}, {"95% interval", Interval(row.Score, row.CILow, row.CIHigh)}, {"Allocation (k × t)", what},
		{"Attempts", fmt.Sprint(row.NAttempts)}, {"Rank", rank}}}
	if row.ScoreHonest != nil && finite(*row.ScoreHonest) {
		t.rows = append(t.rows, [2]string{"Cross-fitted score", Score(*row.ScoreHonest)})
	}
	if row.WithFlagged != nil && finite(*row.WithFlagged) {
		t.rows = append(t.rows, [2]string{"With suspected hacks", Score(*row.WithFlagged)})
	}
	m := mark{group: row.Agent, token: st.Token, marker: st.Marker, size: 10, hollow: row.Allocation.Saturated, x: row.Score, y: y,
		low: row.CILow, high: row.CIHigh, whisker: true, tip: t, key: row.Agent}
	if row.Kind == rebench.KindHuman {
		m.size = 12
	}
	r.f.add(r.p, m)
}
