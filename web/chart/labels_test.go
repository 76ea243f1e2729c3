package chart

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSpreadByHand(t *testing.T) {
	for _, c := range []struct {
		name        string
		want        []float64
		top, bottom float64
		out         []float64
	}{
		{"apart", []float64{50, 20, 80}, 0, 100, []float64{50, 20, 80}},
		{"two in one place part evenly", []float64{50, 50}, 0, 100, []float64{45, 55}},
		{"three pooled keep their mean", []float64{50, 52, 54}, 0, 100, []float64{42, 52, 62}},
		{"pushed off the end", []float64{98, 99}, 0, 100, []float64{85, 95}},
		{"too many share what there is", []float64{1, 2, 3, 4}, 0, 20, []float64{2.5, 7.5, 12.5, 17.5}},
	} {
		h := make([]float64, len(c.want))
		for i := range h {
			h[i] = 10
		}
		for i, got := range spread(c.want, h, c.top, c.bottom) {
			if math.Abs(got-c.out[i]) > 1e-9 {
				t.Errorf("%s: label %d at %v, want %v", c.name, i, got, c.out[i])
			}
		}
	}
}

// No allowed arrangement moves the labels less, as tried by moving each a little.
func TestSpreadIsLeastMovement(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + r.IntN(8)
		want, h := make([]float64, n), make([]float64, n)
		for i := range want {
			want[i], h[i] = r.Float64()*100, 5+5*r.Float64()
		}
		got := spread(want, h, 0, 100)
		moved := func(y []float64) float64 {
			s := 0.0
			for i := range y {
				s += (y[i] - want[i]) * (y[i] - want[i])
			}
			return s
		}
		allowed := func(y []float64) bool {
			for i := range y {
				if y[i]-h[i]/2 < -1e-9 || y[i]+h[i]/2 > 100+1e-9 {
					return false
				}
				for j := range i {
					if math.Abs(y[i]-y[j]) < (h[i]+h[j])/2-1e-9 {
						return false
					}
				}
			}
			return true
		}
		if !allowed(got) {
			t.Fatalf("want %v: labels at %v overlap or leave the plot", want, got)
		}
		for i := range got {
			for _, step := range []float64{-0.01, 0.01} {
				y := append([]float64(nil), got...)
				y[i] += step
				if allowed(y) && moved(y) < moved(got)-1e-9 {
					t.Fatalf("want %v: moving label %d of %v by %v is nearer", want, i, got, step)
				}
			}
		}
	}
}

func TestBoxCrosses(t *testing.T) {
	b := box{10, 10, 20, 10}
	for _, c := range []struct {
		p, q xy
		hit  bool
	}{
		{xy{0, 0}, xy{40, 30}, true}, {xy{0, 15}, xy{40, 15}, true}, {xy{0, 25}, xy{40, 25}, false},
		{xy{15, 12}, xy{16, 13}, true}, {xy{0, 0}, xy{9, 30}, false}, {xy{0, 21}, xy{31, 40}, false}, {xy{35, 0}, xy{35, 40}, false},
	} {
		if got := b.crosses(c.p, c.q); got != c.hit {
			t.Errorf("%v to %v crosses = %t", c.p, c.q, got)
		}
	}
}

func TestFitAndWrap(t *testing.T) {
	long := "a label that is far too long for the room that there is"
	if got := fit(long, 12, 100); textWidth(got, 12) > 100 || got[len(got)-len("…"):] != "…" {
		t.Errorf("fit = %q", got)
	}
	if got := fit("short", 12, 100); got != "short" {
		t.Errorf("fit = %q", got)
	}
	lines := wrap(long, 12, 120)
	if len(lines) < 3 {
		t.Errorf("wrap = %q", lines)
	}
	for _, l := range lines {
		if textWidth(l, 12) > 120 {
			t.Errorf("line %q is too wide", l)
		}
	}
}
