package analysis_test

import (
	"slices"
	"testing"

	"rebench/internal/analysis"
)

// Every order shows the same attempts; what is unknown comes last in both directions.
func TestAttemptOrders(t *testing.T) {
	e := publishedEngine(t)
	all := func(sort string) []analysis.AttemptRow {
		t.Helper()
		var out []analysis.AttemptRow
		for token := ""; ; {
			page, err := e.Attempts(t.Context(), analysis.Query{}, analysis.AttemptFilter{Sort: sort}, token)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, page.Attempts...)
			if token = page.NextPageToken; token == "" {
				return out
			}
		}
	}
	ids := func(rows []analysis.AttemptRow) []string {
		out := make([]string, len(rows))
		for i, a := range rows {
			out[i] = a.ID
		}
		return out
	}
	imported := ids(all(""))
	if len(imported) != 1801 { // 1,715 of agents and 86 of humans
		t.Fatalf("%d attempts", len(imported))
	}
	latest := ids(all("-imported"))
	slices.Reverse(latest)
	if !slices.Equal(imported, latest) {
		t.Error("the order -imported is not that of import, reversed")
	}
	slices.Sort(imported)
	score := func(a analysis.AttemptRow) (float64, bool) {
		if a.Score == nil {
			return 0, false
		}
		return *a.Score, true
	}
	duration := func(a analysis.AttemptRow) (float64, bool) { return float64(a.DurationS), a.DurationS > 0 }
	for sort, c := range map[string]struct {
		key  func(analysis.AttemptRow) (float64, bool)
		sign float64
	}{"score": {score, 1}, "-score": {score, -1}, "duration": {duration, 1}, "-duration": {duration, -1}} {
		rows := all(sort)
		for i := 1; i < len(rows); i++ {
			a, aKnown := c.key(rows[i-1])
			b, bKnown := c.key(rows[i])
			if bKnown && (!aKnown || c.sign*a > c.sign*b) {
				t.Errorf("%s: %s before %s", sort, rows[i-1].ID, rows[i].ID)
			}
		}
		got := ids(rows)
		if slices.Sort(got); !slices.Equal(got, imported) {
			t.Errorf("%s: not the same attempts", sort)
		}
	}
}
