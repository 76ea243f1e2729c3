package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// axis maps values to a share of the drawing's width or height.
type axis struct {
	title    string
	base     float64 // of the logarithm, 0 for a linear axis
	min, max float64
	ticks    []tick
	// rows marks an axis of rows: values are row numbers from 0, drawn from the top.
	rows bool
}

type tick struct {
	value float64
	label string
	short string // for narrow screens, "" when the same
	minor bool   // without a grid line
}

// position returns where v lies between min (0) and max (1).
func (a axis) position(v float64) float64 {
	if a.base > 0 {
		return math.Log(v/a.min) / math.Log(a.max/a.min)
	}
	return (v - a.min) / (a.max - a.min)
}

// plotted is v as the browser plots it: its logarithm to the axis's base on a
// logarithmic axis. ECharts' own logarithmic axis zooms in steps of the value, not
// of its logarithm, so that the short times could hardly be reached.
func (a axis) plotted(v float64) float64 {
	switch a.base {
	case 0:
		return v
	case 2:
		return math.Log2(v)
	case 10:
		return math.Log10(v)
	}
	return math.Log(v) / math.Log(a.base)
}

// niceStep returns the 1, 2 or 5 times a power of ten that splits span into at
// most n steps.
func niceStep(span float64, n int) float64 {
	raw := span / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*power >= raw*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// linearAxis covers [low, high] with round ends and ticks.
func linearAxis(title string, low, high float64, n int) axis {
	if !(high > low) {
		high = low + 1
	}
	step := niceStep(high-low, n)
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	a := axis{title: title, min: first * step, max: last * step}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for i := first; i <= last; i++ {
		a.ticks = append(a.ticks, tick{value: i * step, label: number(i*step, decimals)})
	}
	return a
}

// number prints v with a fixed number of decimals and a true minus sign.
func number(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		if strings.Trim(rest, "0.") == "" {
			return rest
		}
		return "−" + rest
	}
	return s
}

// budgetTicks are the total times that an axis may label: doubling from 30 min
// up, and below it near the same spacing in round numbers.
var budgetTicks = []int64{1, 2, 4, 8, 15, 30, 60, 120, 240, 480, 900, 1800, 3600, 7200, 14400, 28800, 57600,
	115200, 230400, 460800, 921600, 1843200, 3686400, 7372800, 14745600, 29491200}

// timeAxis is a log2 axis of total times in seconds that covers [low, high], with
// a quarter of an octave to spare on each side.
func timeAxis(title string, low, high float64) axis {
	spare := math.Pow(2, 0.25)
	a := axis{title: title, base: 2, min: low / spare, max: high * spare}
	for _, s := range budgetTicks {
		if v := float64(s); v >= a.min && v <= a.max {
			a.ticks = append(a.ticks, tick{value: v, label: duration(s), short: shortDuration(s)})
		}
	}
	return a
}

// powerAxis is a log2 axis of whole numbers such as k, with ticks at the powers of 2.
func powerAxis(title string, low, high float64) axis {
	spare := math.Pow(2, 0.25)
	a := axis{title: title, base: 2, min: low / spare, max: high * spare}
	for v := 1.0; v <= a.max; v *= 2 {
		if v >= a.min {
			a.ticks = append(a.ticks, tick{value: v, label: number(v, 0)})
		}
	}
	return a
}

// costAxis is a log10 axis of US dollars with ticks at 1, 2 and 5 times powers of ten.
func costAxis(title string, low, high float64) axis {
	spare := math.Pow(10, 0.08)
	a := axis{title: title, base: 10, min: low / spare, max: high * spare}
	for p := math.Floor(math.Log10(a.min)); p <= math.Log10(a.max); p++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, p); v >= a.min && v <= a.max {
				a.ticks = append(a.ticks, tick{value: v, label: dollars(v)})
			}
		}
	}
	return a
}

// rowAxis is an axis of labelled rows, the first at the top.
func rowAxis(labels []string) axis {
	a := axis{rows: true, min: -0.5, max: float64(len(labels)) - 0.5}
	for i, l := range labels {
		a.ticks = append(a.ticks, tick{value: float64(i), label: l})
	}
	return a
}

// elapsedAxis is a linear axis of elapsed seconds from 0 to high.
func elapsedAxis(title string, high float64) axis {
	if !(high > 0) {
		high = 1
	}
	step := 1.0
	for _, s := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400} {
		step = s
		if high/s <= 9 {
			break
		}
	}
	for high/step > 9 {
		step *= 2
	}
	a := axis{title: title, min: 0, max: high}
	for v := 0.0; v <= high*(1+1e-9); v += step {
		a.ticks = append(a.ticks, tick{value: v, label: duration(int64(v)), short: shortDuration(int64(v))})
	}
	return a
}

// duration writes whole seconds in words: 45 s, 30 min, 8 h, 1 h 30 min.
func duration(s int64) string {
	if s < 0 {
		return "−" + duration(-s)
	}
	var parts []string
	for _, u := range []struct {
		size int64
		name string
	}{{3600, "h"}, {60, "min"}, {1, "s"}} {
		if n := s / u.size; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			s %= u.size
		}
	}
	if len(parts) == 0 {
		return "0"
	}
	return strings.Join(parts, " ")
}

// shortDuration is duration for narrow screens: 30m, 8h.
func shortDuration(s int64) string {
	r := strings.NewReplacer(" min", "m", " h", "h", " s", "s")
	return r.Replace(duration(s))
}

// dollars writes an amount: $0.05, $30, $1,855.
func dollars(v float64) string {
	if v <= 0 {
		return "$0"
	}
	if v < 1 {
		return "$" + strconv.FormatFloat(v, 'f', max(2, -int(math.Floor(math.Log10(v)))), 64)
	}
	if v < 10 && v != math.Trunc(v) {
		return "$" + strconv.FormatFloat(v, 'f', 2, 64)
	}
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return "$" + s
}
