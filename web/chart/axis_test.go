package chart

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// From 30 min to 64 h are 7 octaves; with a quarter of one on each side the axis
// is 7.5 long, so 30 min lies at 0.25/7.5 and every doubling 1/7.5 further on.
func TestTimeAxis(t *testing.T) {
	a := timeAxis("", 1800, 230400)
	want := []string{"30 min", "1 h", "2 h", "4 h", "8 h", "16 h", "32 h", "64 h"}
	if len(a.ticks) != len(want) {
		t.Fatalf("ticks = %v, want %v", a.ticks, want)
	}
	for i, k := range a.ticks {
		if k.label != want[i] {
			t.Errorf("tick %d = %q, want %q", i, k.label, want[i])
		}
		near(t, k.label, a.position(k.value), (0.25+float64(i))/7.5)
		near(t, "plotted "+k.label, a.plotted(k.value), math.Log2(1800)+float64(i))
	}
	near(t, "left end", a.position(a.min), 0)
	near(t, "right end", a.position(a.max), 1)
	// The cpu profile runs for minutes.
	if got := timeAxis("", 60, 480).ticks; len(got) != 4 || got[0].label != "1 min" || got[3].label != "8 min" {
		t.Errorf("ticks of 1 to 8 min = %v", got)
	}
}

func TestCostAxis(t *testing.T) {
	a := costAxis("", 10, 1000)
	var got []string
	for _, k := range a.ticks {
		got = append(got, k.label)
	}
	want := []string{"$10", "$20", "$50", "$100", "$200", "$500", "$1,000"}
	if len(got) != len(want) {
		t.Fatalf("ticks = %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("tick %d = %q, want %q", i, got[i], want[i])
		}
	}
	// 2 decades and 0.08 on each side: $100 is in the middle.
	near(t, "$100", a.position(100), 0.5)
	near(t, "$10", a.position(10), 0.08/2.16)
}

func TestLinearAxis(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		min, max  float64
		labels    []string
	}{
		{0, 1.27, 7, 0, 1.4, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2", "1.4"}},
		{-0.07, 0.22, 6, -0.1, 0.25, []string{"−0.10", "−0.05", "0.00", "0.05", "0.10", "0.15", "0.20", "0.25"}},
		{0, 40, 4, 0, 40, []string{"0", "10", "20", "30", "40"}},
		{1, 1, 2, 1, 2, []string{"1.0", "1.5", "2.0"}},
	} {
		a := linearAxis("", c.low, c.high, c.n)
		near(t, "min", a.min, c.min)
		near(t, "max", a.max, c.max)
		if len(a.ticks) != len(c.labels) {
			t.Errorf("%v to %v: ticks %v, want %v", c.low, c.high, a.ticks, c.labels)
			continue
		}
		for i, k := range a.ticks {
			if k.label != c.labels[i] {
				t.Errorf("%v to %v: tick %d = %q, want %q", c.low, c.high, i, k.label, c.labels[i])
			}
		}
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		duration(0): "0", duration(45): "45 s", duration(1800): "30 min", duration(5400): "1 h 30 min", duration(230400): "64 h",
		shortDuration(5400): "1h 30m", dollars(0): "$0", dollars(0.004): "$0.004", dollars(2.5): "$2.50", dollars(1855.4): "$1,855", dollars(1234567): "$1,234,567",
		number(-0.0001, 2): "0.00", number(-1.5, 1): "−1.5",
		Interval(0.351, ptr(0.263), ptr(0.441)): "[0.26, 0.44]", Interval(0.3, ptr(0.2), nil): "[0.20, open]", Interval(0.1, nil, ptr(0.2)): "[open, 0.20]", Interval(0.3, nil, nil): "not available",
		Interval(0.1, ptr(math.NaN()), ptr(0.2)): "[open, 0.20]",
		support(0.9999):                          ">0.999", support(0): "<0.001", support(0.5): "0.500",
		plain("a\u202eb\x00c\nd"): "a\uFFFDb\uFFFDc d",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestElapsedAxis(t *testing.T) {
	a := elapsedAxis("", 7200)
	if n := len(a.ticks); n != 9 || a.ticks[1].label != "15 min" || a.ticks[8].label != "2 h" {
		t.Errorf("ticks of 2 h = %v", a.ticks)
	}
	for _, high := range []float64{0, 1, 59, 3601, 30 * 3600, 500 * 3600} {
		if a := elapsedAxis("", high); len(a.ticks) < 1 || len(a.ticks) > 11 {
			t.Errorf("%v s: %d ticks", high, len(a.ticks))
		}
	}
}
