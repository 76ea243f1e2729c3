package handler

import (
	"slices"
	"strings"
)

// maxNear is how many similar names an error offers.
const maxNear = 5

// near returns the names most like s, best first: those that contain it or are a
// few edits away.
func near(s string, names []string) []string {
	type match struct {
		name     string
		distance int
	}
	want := strings.ToLower(shorten(s))
	var found []match
	for _, name := range names {
		have := strings.ToLower(name)
		d := editDistance(want, have)
		if len(want) >= 3 && (strings.Contains(have, want) || strings.Contains(want, have) && len(have) >= 3) {
			d = min(d, 1)
		}
		if d <= max(2, len(want)/3) && d < max(len(want), len(have)) {
			found = append(found, match{name, d})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return a.distance - b.distance })
	var out []string
	for _, m := range found[:min(maxNear, len(found))] {
		out = append(out, m.name)
	}
	return out
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "Did you mean " + strings.Join(names, ", ") + "?"
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
