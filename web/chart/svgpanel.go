package chart

import (
	"math"
	"strings"
)

// plot maps values of a panel to pixels.
type plot struct {
	p *panel
	b box
}

func (t plot) x(v float64) float64 { return t.b.x + t.b.w*t.p.x.position(v) }

func (t plot) y(v float64) float64 {
	s := t.p.y.position(v)
	if !t.p.y.rows { // rows run downwards
		s = 1 - s
	}
	return t.b.y + t.b.h*s
}

// panel draws one plot into the frame b; outer is the room it may use around it.
func (d *drawing) panel(f *Figure, p *panel, b, outer box) {
	t := plot{p, b}
	d.spans(t)
	d.axes(t, outer)
	d.refs(t)
	for _, a := range p.areas {
		if a.opacity == 0 {
			continue
		}
		var path strings.Builder
		for i, q := range a.pts {
			path.WriteByte("ML"[min(i, 1)])
			y := math.Min(math.Max(t.y(q.y), b.y), b.y+b.h) // what fades may reach above the plot
			path.WriteString(px(t.x(q.x)) + " " + px(y))
		}
		d.el("path", attrs{"d", path.String() + "Z", "fill", d.color(a.token), "fill-opacity", fmtOpacity(a.opacity)})
	}
	for _, l := range p.lines {
		d.el("path", stroke(&d.svg, t.path(l), l.token, l.width, l.opacity, l.dash))
	}
	for _, m := range p.marks {
		if m.whisker {
			d.whisker(t, m)
		}
	}
	var taken []box
	for _, m := range p.marks {
		if m.size > 0 {
			d.marker(t.x(m.x), t.y(m.y), m.size, m.marker, m.token, m.hollow, m.opacity)
			taken = append(taken, box{t.x(m.x) - m.size/2, t.y(m.y) - m.size/2, m.size, m.size})
		}
	}
	d.notes(t, taken)
	d.gutter(f, t, outer)
}

// fmtOpacity keeps a third decimal: faint bands stack.
func fmtOpacity(v float64) string { return strings.TrimRight(number(v, 3), "0") }

func (t plot) path(l line) string {
	var b strings.Builder
	for i, q := range l.pts {
		x, y := px(t.x(q.x)), px(t.y(q.y))
		switch {
		case i == 0:
			b.WriteString("M" + x + " " + y)
		case l.steps:
			b.WriteString("H" + x + "V" + y)
		default:
			b.WriteString("L" + x + " " + y)
		}
	}
	return b.String()
}

func (d *drawing) axes(t plot, outer box) {
	b, p := t.b, t.p
	for _, k := range p.y.ticks {
		y := t.y(k.value)
		if p.y.rows {
			d.text(b.x-12, y+4.5, labelSize, fit(k.label, labelSize, b.x-outer.x-12), TokenInk, "text-anchor", "end")
			d.line(b.x, y, b.x+b.w, y, TokenRule, 1, 0.6, nil)
			continue
		}
		if !k.minor {
			d.line(b.x, y, b.x+b.w, y, TokenRule, 1, 1, nil)
		}
		d.text(b.x-8, y+4.5, labelSize, k.label, TokenMuted, "text-anchor", "end")
	}
	base := b.y + b.h
	d.line(b.x, base, b.x+b.w, base, TokenMuted, 1, 1, nil)
	free := math.Inf(-1)
	for _, k := range p.x.ticks {
		x := t.x(k.value)
		d.line(x, base, x, base+5, TokenMuted, 1, 1, nil)
		w := textWidth(k.label, labelSize)
		if x-w/2 < free {
			continue
		}
		free = x + w/2 + 6
		if p.y.rows && p.x.base == 0 {
			d.line(x, b.y, x, base, TokenRule, 1, 1, nil)
		}
		d.text(x, base+20, labelSize, k.label, TokenMuted, "text-anchor", "middle")
	}
	if p.x.title != "" {
		d.text(b.x+b.w/2, base+40, labelSize, fit(p.x.title, labelSize, outer.w), TokenMuted, "text-anchor", "middle")
	}
	if p.y.title != "" {
		x, y := outer.x+6, b.y+b.h/2
		d.text(0, 0, labelSize, fit(p.y.title, labelSize, b.h), TokenMuted, "text-anchor", "middle", "transform", "translate("+px(x)+" "+px(y)+")rotate(-90)")
	}
}

func (d *drawing) spans(t plot) {
	for _, s := range t.p.spans {
		x1, x2 := t.x(s.from), t.x(s.to)
		if x2-x1 < 2 { // a moment: a line thick enough to be seen
			x1, x2 = x1-1.5, x1+1.5
		}
		d.el("rect", attrs{"x", px(x1), "y", px(t.b.y), "width", px(x2 - x1), "height", px(t.b.h), "fill", d.color(s.token), "fill-opacity", fmtOpacity(s.opacity)})
		if s.label != "" {
			d.spanLabel(t, s.label, x1, x2)
		}
	}
}

// spanLabel writes along the top, beside the span where it is too narrow.
func (d *drawing) spanLabel(t plot, label string, x1, x2 float64) {
	if label == "" {
		return
	}
	w := textWidth(label, 11.5)
	switch {
	case x2-x1 > w+8 || t.p.y.rows:
		d.text((x1+x2)/2, t.b.y-4, 11.5, label, TokenMuted, "text-anchor", "middle")
	case x2+w+6 < t.b.x+t.b.w:
		d.text(x2+4, t.b.y+12, 11.5, label, TokenMuted)
	default:
		d.text(x1-4, t.b.y+12, 11.5, label, TokenMuted, "text-anchor", "end")
	}
}

func (d *drawing) refs(t plot) {
	b := t.b
	for _, r := range t.p.refs {
		if r.vertical {
			x := t.x(r.value)
			d.line(x, b.y, x, b.y+b.h, r.token, r.width, r.opacity, r.dash)
			if r.label == "" {
				continue
			}
			a := append([]string{"text-anchor", "start"}, d.halo()...)
			x += 4
			if x+textWidth(r.label, 11.5) > b.x+b.w {
				a[1] = "end"
				x -= 8
			}
			y := b.y + 12
			if r.atEnd {
				y = b.y + b.h/2
			}
			if t.p.y.rows {
				y = b.y - 4
			}
			d.text(x, y, 11.5, r.label, TokenMuted, a...)
			continue
		}
		y := t.y(r.value)
		d.line(b.x, y, b.x+b.w, y, r.token, r.width, r.opacity, r.dash)
		if r.label != "" {
			if r.value == 0 && t.p.y.min < 0 { // the curves run above 0
				y += 17
			}
			d.text(b.x+5, y-5, 11.5, r.label, TokenMuted, d.halo()...)
		}
	}
}

// openLength is how far the fading arrow of an open interval reaches, in pixels.
const openLength = 26.0

// whisker draws an interval; an unknown end is a faint, dotted arrow.
func (d *drawing) whisker(t plot, m mark) {
	low, high := known(m.low), known(m.high)
	if low == nil && high == nil {
		return
	}
	at := func(v float64) (float64, float64) {
		if t.p.values == 1 {
			return t.x(v), t.y(m.y)
		}
		return t.x(m.x), t.y(v)
	}
	mid := m.y
	if t.p.values == 1 {
		mid = m.x
	}
	from, to := mid, mid
	if low != nil {
		from = *low
	}
	if high != nil {
		to = *high
	}
	x1, y1 := at(from)
	x2, y2 := at(to)
	d.line(x1, y1, x2, y2, m.token, 1.75, 0.75, nil)
	dx, dy := 0.0, -openLength
	if t.p.values == 1 {
		dx, dy = openLength, 0
	}
	if high == nil {
		d.arrow(x2, y2, dx, dy, m.token)
	}
	if low == nil {
		d.arrow(x1, y1, -dx, -dy, m.token)
	}
}

// arrow says that an interval goes on from (x, y), nobody knows how far.
func (d *drawing) arrow(x, y, dx, dy float64, t Token) {
	d.line(x, y, x+dx, y+dy, t, 1.75, 0.45, dotted)
	tip := "M" + px(x+dx-dy*0.15-dx*0.2) + " " + px(y+dy-dy*0.2+dx*0.15) + "L" + px(x+dx) + " " + px(y+dy) + "L" + px(x+dx+dy*0.15-dx*0.2) + " " + px(y+dy-dy*0.2-dx*0.15)
	d.el("path", stroke(&d.svg, tip, t, 1.5, 0.45, nil))
}

// notes writes the small texts that find a free place above or below their point.
func (d *drawing) notes(t plot, taken []box) {
	const size = 10.5
	var segments [][2]xy
	for _, l := range t.p.lines {
		for i := 1; i < len(l.pts); i++ {
			segments = append(segments, [2]xy{{t.x(l.pts[i-1].x), t.y(l.pts[i-1].y)}, {t.x(l.pts[i].x), t.y(l.pts[i].y)}})
		}
	}
	for _, m := range t.p.marks {
		if low, high := known(m.low), known(m.high); m.whisker && low != nil && high != nil {
			segments = append(segments, [2]xy{{t.x(m.x), t.y(*low)}, {t.x(m.x), t.y(*high)}})
		}
	}
	for _, r := range t.p.refs {
		if y := t.y(r.value); !r.vertical {
			segments = append(segments, [2]xy{{t.b.x, y}, {t.b.x + t.b.w, y}})
			taken = append(taken, box{t.b.x, y - 18, textWidth(r.label, 11.5) + 8, 36})
		}
	}
	for _, n := range t.p.notes {
		w := textWidth(n.text, size)
		at, ok := place(t.x(n.x), t.y(n.y), w, size+2, 7, t.b, taken, segments)
		if !ok {
			continue
		}
		taken = append(taken, at)
		d.text(at.x+w/2, at.y+size-1, size, n.text, n.token, append([]string{"text-anchor", "middle"}, d.halo()...)...)
	}
}

// gutter writes what stands to the right of the plot.
func (d *drawing) gutter(f *Figure, t plot, outer box) {
	x := t.b.x + t.b.w + 14
	for _, s := range t.p.sides {
		d.text(x, t.y(s.y)+4.5, labelSize, fit(s.text, labelSize, f.gutter-18), s.token, "font-weight", "600")
	}
	if t.p.cells != nil && t.b.x+t.b.w+f.gutter <= outer.x+outer.w+1 {
		d.cells(t, x)
	}
	d.ends(t, x, f.gutter-18)
}

func (d *drawing) cells(t plot, x float64) {
	for i, w := range t.p.cells.widths(rowTextSize) {
		d.text(x, t.b.y-4, rowTextSize-0.5, t.p.cells.head[i], TokenMuted)
		for j, r := range t.p.cells.rows {
			d.text(x, t.y(float64(j))+4.5, rowTextSize, r[i], TokenInk)
		}
		x += w
	}
}

// ends writes the lines' labels, moved apart, with thin lines that lead to them.
func (d *drawing) ends(t plot, x, room float64) {
	list := t.p.ends
	for len(list) > 0 && float64(len(list))*labelPitch > t.b.h+20 {
		i := dropLabel(list)
		list = append(list[:i:i], list[i+1:]...)
	}
	want, heights := make([]float64, len(list)), make([]float64, len(list))
	for i, e := range list {
		want[i], heights[i] = t.y(e.at().y), labelPitch
	}
	for i, y := range spread(want, heights, t.b.y-10, t.b.y+t.b.h+10) {
		e := list[i]
		ex := t.x(e.at().x) + 6
		d.line(ex, want[i], x-10, want[i], e.token, 1, 0.35, []float64{1, 3})
		d.line(math.Max(x-10, ex), want[i], x-3, y, e.token, 1, 0.5, nil)
		size := labelSize
		if e.minor {
			size -= 2
		}
		d.text(x, y+4.5, size, fit(e.text, size, room), e.token)
	}
}

// dropLabel is the label to leave out first: a time limit's, else the lowest.
func dropLabel(list []end) int {
	worst := 0
	for i, e := range list {
		w := list[worst]
		if e.minor != w.minor && e.minor || e.minor == w.minor && e.at().y < w.at().y {
			worst = i
		}
	}
	return worst
}
