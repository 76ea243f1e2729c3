package chart

import "math"

// rows builds a chart of labelled rows.
type rows struct {
	f      *Figure
	p      *panel
	labels []string
	shorts []string // of labels, for narrow screens; "" when the same
	lo, hi float64  // extent of values
	alt    []string
}

// cover widens the value axis to hold v.
func (r *rows) cover(v *float64) {
	if v = known(v); v != nil {
		r.lo, r.hi = math.Min(r.lo, *v), math.Max(r.hi, *v)
	}
}

func newRows(f *Figure, columns ...string) rows {
	return rows{f: f, p: &panel{values: 1, cells: &cells{head: columns}}}
}

// row adds a row with cells to its right and returns its position.
func (r *rows) row(label string, texts ...string) float64 {
	r.labels, r.shorts = append(r.labels, label), append(r.shorts, "")
	r.p.cells.rows = append(r.p.cells.rows, texts)
	return float64(len(r.labels) - 1)
}

// rowHeight is the height of one row in pixels.
const rowHeight = 26

// finish sets axes and sizes.
func (r *rows) finish(valueTitle string) {
	r.p.x = linearAxis(valueTitle, r.lo, r.hi, 7)
	r.p.x.min -= 0.02 * (r.p.x.max - r.p.x.min) // marks at the lowest value stay inside
	r.p.y = rowAxis(r.labels)
	for i, short := range r.shorts {
		r.p.y.ticks[i].short = short
	}
	r.f.gutter = 20
	for _, w := range r.p.cells.widths(rowTextSize) {
		r.f.gutter += w
	}
	for _, l := range r.labels {
		r.f.stub = math.Max(r.f.stub, textWidth(l, labelSize)+16)
	}
	r.f.stub = math.Min(r.f.stub, 280)
	r.f.panels = []*panel{r.p}
	r.f.Height = 80 + rowHeight*len(r.labels)
	r.f.Alt = "Dot chart. " + r.f.Title + " " + sentence("; ", r.alt...) + "."
}
