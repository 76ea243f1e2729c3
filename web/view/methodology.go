package view

import (
	"fmt"
	"strings"

	"rebench/internal/analysis"
)

// comparisonSigns sets >= and <= as one sign.
func comparisonSigns(s string) string {
	return strings.NewReplacer(">=", "≥", "<=", "≤").Replace(s)
}

func percentRange(low, high float64) string {
	a, b := number(100*low, 0), number(100*high, 0)
	if a == b {
		return a + "%"
	}
	return a + "–" + b + "%"
}

// withUnit prints a value with its unit where that is a sign.
func withUnit(value, unit string) string {
	switch unit {
	case "%":
		if strings.HasSuffix(value, "%") {
			return value
		}
		return value + "%"
	case "x":
		if strings.HasSuffix(value, "x") || strings.HasSuffix(value, "×") {
			return value
		}
		return value + "×"
	}
	return value
}

// computedUnit leaves out the unit where the computed text is words already.
func computedUnit(n analysis.PaperCheck) string {
	if strings.ContainsAny(n.Computed, " %/") {
		return ""
	}
	return n.Unit
}

func verdictClass(v string) string {
	switch v {
	case analysis.CheckAgrees:
		return "verdict-agrees"
	case analysis.CheckDiffers:
		return "verdict-differs"
	}
	return "verdict-cannot"
}

func checksWords(rows []analysis.PaperCheck) string {
	n := map[string]int{}
	for _, r := range rows {
		n[r.Verdict]++
	}
	return fmt.Sprintf("Of %s, %d agree, %d differ and %d cannot be checked with the published data.",
		things(len(rows), "number", "numbers"), n[analysis.CheckAgrees], n[analysis.CheckDiffers], n[analysis.CheckCannot])
}
