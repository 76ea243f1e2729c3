package analysis_test

import (
	"testing"

	"rebench/internal/analysis"
)

func TestMethodologyAgainstThePaper(t *testing.T) {
	m, err := publishedEngine(t).Methodology(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if m.NAgents != 1715 || m.NHumans != 86 || m.NPlaceholders != 7 {
		t.Errorf("counts = %d, %d, %d; want 1715, 86, 7", m.NAgents, m.NHumans, m.NPlaceholders)
	}
	byID := map[string]analysis.PaperCheck{}
	for _, n := range m.Numbers {
		byID[n.ID] = n
		if n.Verdict != analysis.CheckAgrees && n.Reason == "" {
			t.Errorf("%s (%s) %s without a reason", n.ID, n.Quantity, n.Verdict)
		}
		t.Logf("%s %-35.35s %-28.28s printed %-10s computed %-32s %s | %s", n.ID, n.Environment, n.Quantity, n.Printed, n.Computed, n.Verdict, n.Reason)
	}
	for id, want := range map[string]struct{ computed, verdict string }{
		"P001": {"71", analysis.CheckAgrees},
		"P002": {"", analysis.CheckCannot},
		"P049": {"0.669", analysis.CheckDiffers},
		"P072": {"8/11", analysis.CheckAgrees}, // counts noted in the data file
		"P077": {"10/11", analysis.CheckAgrees},
		"P087": {"10/11", analysis.CheckAgrees},
		"P082": {"8/8", analysis.CheckAgrees},
		"P062": {"8/9", analysis.CheckDiffers},
		"P095": {"1.27-1.36", analysis.CheckAgrees},
		"P110": {"1.15-1.80", analysis.CheckAgrees},
		"P102": {"1.05", analysis.CheckAgrees},
		"P111": {"0.97", analysis.CheckAgrees},
	} {
		if got := byID[id]; got.Computed != want.computed || got.Verdict != want.verdict {
			t.Errorf("%s: computed %q, %s; want %q, %s", id, got.Computed, got.Verdict, want.computed, want.verdict)
		}
	}
	for _, f := range m.Figures {
		t.Logf("%-36s %6d s %-8s %.3f computed %v %s | %s", f.Series, f.TotalTimeS, f.Allocation, f.Score, deref(f.Computed), f.Verdict, f.Reason)
	}
}
