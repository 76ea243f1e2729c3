package chart

import (
	"math"
	"slices"
	"sort"
	"strings"
)

// spread moves intervals of the given heights, centred at want, as little as
// possible (in squares) so that they do not overlap and lie in [top, bottom];
// it returns the centres. Order is kept, ties by position in the list. Where
// they cannot all fit they overlap evenly.
func spread(want, heights []float64, top, bottom float64) []float64 {
	n := len(want)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return want[order[a]] < want[order[b]] })
	total := 0.0
	for _, h := range heights {
		total += h
	}
	squeeze := 1.0
	if total > bottom-top && total > 0 {
		squeeze = (bottom - top) / total
	}
	// Subtracting the heights stacked so far turns the problem into isotonic
	// regression, which pooling adjacent violators solves.
	type block struct {
		sum float64
		n   int
	}
	var blocks []block
	offset := make([]float64, n)
	at := 0.0
	for pos, i := range order {
		offset[pos] = at + heights[i]*squeeze/2
		at += heights[i] * squeeze
		blocks = append(blocks, block{want[i] - offset[pos], 1})
		for len(blocks) > 1 {
			a, b := blocks[len(blocks)-2], blocks[len(blocks)-1]
			if a.sum/float64(a.n) <= b.sum/float64(b.n) {
				break
			}
			blocks = append(blocks[:len(blocks)-2], block{a.sum + b.sum, a.n + b.n})
		}
	}
	out := make([]float64, n)
	pos := 0
	for _, b := range blocks {
		base := math.Max(top, math.Min(b.sum/float64(b.n), bottom-at))
		for range b.n {
			out[order[pos]] = base + offset[pos]
			pos++
		}
	}
	return out
}

// textWidth estimates the width of s in pixels at a font size: the sum of
// per-character widths of common sans-serif faces, on the generous side because
// the reader's font is unknown.
func textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xffdc || r >= 0x1f300):
			w += 1.05
		case strings.ContainsRune("ijl.,:;'|! ", r):
			w += 0.31
		case strings.ContainsRune("frtI()[]/-\"", r):
			w += 0.39
		case strings.ContainsRune("mwMW@%—", r):
			w += 0.92
		case r >= 'A' && r <= 'Z' || r > 0x2fff:
			w += 0.70
		default:
			w += 0.59
		}
	}
	return w * size
}

// fit shortens s with an ellipsis to at most width pixels.
func fit(s string, size, width float64) string {
	if textWidth(s, size) <= width {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 0; n-- {
		if t := strings.TrimRight(string(runes[:n]), " ") + "…"; textWidth(t, size) <= width {
			return t
		}
	}
	return "…"
}

// wrap breaks text at spaces into lines of at most width pixels.
func wrap(s string, size, width float64) []string {
	var out []string
	cur := ""
	for _, word := range strings.Fields(s) {
		next := word
		if cur != "" {
			next = cur + " " + word
		}
		if cur != "" && textWidth(next, size) > width {
			out = append(out, cur)
			next = word
		}
		cur = next
	}
	if cur != "" {
		out = append(out, fit(cur, size, width))
	}
	return out
}

// box is a rectangle in pixels.
type box struct{ x, y, w, h float64 }

func (a box) overlaps(b box) bool {
	return a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h
}

// crosses reports whether the segment from p to q touches the box.
func (a box) crosses(p, q xy) bool {
	// Clip the segment's parameter to the box in each direction (Liang and Barsky).
	t0, t1 := 0.0, 1.0
	for _, c := range []struct{ at, step, low, size float64 }{{p.x, q.x - p.x, a.x, a.w}, {p.y, q.y - p.y, a.y, a.h}} {
		from, to := c.low-c.at, c.low+c.size-c.at
		if c.step == 0 {
			if from > 0 || to < 0 {
				return false
			}
			continue
		}
		from, to = from/c.step, to/c.step
		t0, t1 = math.Max(t0, math.Min(from, to)), math.Min(t1, math.Max(from, to))
	}
	return t0 <= t1
}

// place returns where a note of size w × h next to the point (x, y) goes: above,
// below, above to the left or below to the right, the first place inside the plot
// that meets no taken box and no line.
func place(x, y, w, h, away float64, inside box, taken []box, lines [][2]xy) (box, bool) {
	for _, b := range []box{
		{x - w/2, y - away - h, w, h}, {x - w/2, y + away, w, h},
		{x - w - 2, y - away - h + 2, w, h}, {x + 2, y + away - 2, w, h},
	} {
		if b.x < inside.x || b.y < inside.y || b.x+b.w > inside.x+inside.w || b.y+b.h > inside.y+inside.h {
			continue
		}
		if slices.ContainsFunc(taken, b.overlaps) || slices.ContainsFunc(lines, func(l [2]xy) bool { return b.crosses(l[0], l[1]) }) {
			continue
		}
		return b, true
	}
	return box{}, false
}
