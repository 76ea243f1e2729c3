package rebench

import (
	"slices"
	"testing"
	"time"
)

func TestBudgets(t *testing.T) {
	const m, h = time.Minute, time.Hour
	for p, want := range map[Profile][]time.Duration{
		ProfilePaper: {30 * m, h, 2 * h, 4 * h, 8 * h, 16 * h, 32 * h, 64 * h},
		ProfileGPU:   {30 * m, h, 2 * h, 4 * h, 8 * h, 16 * h, 32 * h, 64 * h},
		ProfileCPU:   {10 * m, 20 * m, 40 * m, 80 * m, 160 * m, 320 * m},
	} {
		got := Budgets(p)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", p, got, want)
		}
		if d := DefaultBudget(p); !slices.Contains(got, d) {
			t.Errorf("%s: the default %v is not offered", p, d)
		}
	}
	if d := DefaultBudget(ProfilePaper); d != 8*h {
		t.Errorf("the paper's default is %v", d)
	}
}
