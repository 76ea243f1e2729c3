package chart

import (
	"fmt"
	"math"
	"slices"

	"rebench/internal/rebench"
)

// Theme is the theme of a picture.
type Theme string

// ThemePage is for SVG inside a page: colours follow the page's custom properties.
const (
	ThemeLight Theme = "light"
	ThemeDark  Theme = "dark"
	ThemePage  Theme = "page"
)

// SVGOptions chooses how a figure is drawn as a picture. The zero value is a light
// picture of 1200 × 675 pixels, the size of a link preview.
type SVGOptions struct {
	Theme  Theme   // "" is light
	Width  float64 // pixels, 0 is 1200
	Height float64 // pixels, 0 is 675 or what the rows need
	URL    string  // address of the view, printed inside
}

// Sizes in pixels.
const (
	labelSize   = 13.0
	rowTextSize = 12.0
	fontFamily  = "'IBM Plex Sans', 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"
	margin      = 36.0
	labelPitch  = 16.5
	minPlot     = 240.0 // width below which a row chart goes without its columns
)

// SVG draws the figure as a picture without script: title, axes with units, n,
// the line on how to read it, data revision and address are inside. The same
// figure and options give the same bytes.
func (f *Figure) SVG(o SVGOptions) ([]byte, error) {
	return SVG([]*Figure{f}, o)
}

// SVG draws one to three figures side by side in one picture under the title,
// subtitle and words of the first, the first one widest.
func SVG(figures []*Figure, o SVGOptions) ([]byte, error) {
	if len(figures) == 0 || len(figures) > 3 {
		return nil, rebench.Errorf(rebench.CodeInternal, "a picture holds one to three figures, not %d", len(figures))
	}
	switch o.Theme {
	case "", ThemeLight, ThemeDark, ThemePage:
	default:
		return nil, rebench.Errorf(rebench.CodeInvalid, "theme %q is not light, dark or page", o.Theme)
	}
	if o.Width == 0 {
		o.Width = 1200
	}
	if o.Height == 0 {
		o.Height = 675
		for _, f := range figures {
			o.Height = math.Max(o.Height, f.wants())
		}
	}
	d := drawing{svg: svg{dark: o.Theme == ThemeDark, live: o.Theme == ThemePage}, o: o, f: figures[0]}
	return d.draw(figures), nil
}

// wants is the height of the picture that rows and labels need.
func (f *Figure) wants() float64 {
	h := 0.0
	for _, p := range f.panels {
		if p.y.rows {
			h = math.Max(h, 230+rowHeight*float64(len(p.y.ticks)))
		} else {
			h = math.Max(h, 260+labelPitch*float64(len(p.ends)))
		}
	}
	return h
}

type drawing struct {
	svg
	o SVGOptions
	f *Figure
}

func (d *drawing) draw(figures []*Figure) []byte {
	w, h := d.o.Width, d.o.Height
	d.open("svg", attrs{"xmlns", "http://www.w3.org/2000/svg", "width", px(w), "height", px(h), "viewBox", "0 0 " + px(w) + " " + px(h),
		"role", "img", "aria-label", d.f.Alt, "font-family", fontFamily})
	d.WriteByte('\n')
	d.open("title", nil)
	d.escape(d.f.Title)
	d.close("title")
	d.el("rect", attrs{"width", px(w), "height", px(h), "fill", d.color(TokenPaper)})
	top := d.head()
	bottom := d.foot()
	x := margin
	inner := w - 2*margin
	shares := [][]float64{{1}, {0.54, 0.46}, {0.4, 0.3, 0.3}}[len(figures)-1]
	for i, f := range figures {
		part := inner * shares[i]
		b := box{x, top, part, bottom - top}
		if i > 0 { // the later figures have titles of their own
			b = box{b.x + 24, b.y, b.w - 24, b.h}
			for _, l := range wrap(f.Title, labelSize+1, b.w) {
				d.text(b.x, b.y+2, labelSize+1, l, TokenInk, "font-weight", "600")
				b.y, b.h = b.y+18, b.h-18
			}
			b.y, b.h = b.y+18, b.h-18
		}
		d.figure(f, b)
		x += part
	}
	d.close("svg")
	return d.Bytes()
}

// head writes title, subtitle and key; it returns where the plot may begin.
func (d *drawing) head() float64 {
	w := d.o.Width - 2*margin
	y := 48.0
	for _, l := range wrap(d.f.Title, 25, w) {
		d.text(margin, y, 25, l, TokenInk, "font-weight", "600")
		y += 30
	}
	y -= 5
	for _, l := range wrap(d.f.Subtitle, 14.5, w) {
		d.text(margin, y, 14.5, l, TokenMuted)
		y += 19
	}
	return d.keyRow(y+3, w) + 14
}

// keyRow writes the signs, and the agents where lines carry no labels of their own.
func (d *drawing) keyRow(y, width float64) float64 {
	labelled := map[string]bool{}
	for _, p := range d.f.panels {
		for _, e := range p.ends {
			labelled[e.group] = true
		}
	}
	x := margin
	any := false
	for _, k := range d.f.key {
		if k.group != "" && labelled[k.group] {
			continue
		}
		w := 38 + textWidth(k.text, 12.5) + 20
		if any && x+w > margin+width {
			x, y = margin, y+19
		}
		d.sample(k, x, y-4)
		d.text(x+36, y, 12.5, k.text, TokenMuted)
		x += w
		any = true
	}
	if !any {
		return y - 16
	}
	return y
}

// sample draws a key entry's sign, 28 wide, centred on y.
func (d *drawing) sample(k keyEntry, x, y float64) {
	opacity := 1.0
	if k.faded {
		opacity = 0.7
	}
	if k.area {
		for i := range fadeSteps {
			share := 1 - float64(i)/fadeSteps
			d.el("rect", attrs{"x", px(x), "y", px(y + 5 - float64(i+1)*2.2), "width", "28", "height", "2.2", "fill", d.color(k.token), "fill-opacity", px(0.5 * share * share)})
		}
		return
	}
	if k.line {
		a := stroke(&d.svg, "M"+px(x)+" "+px(y)+"h28", k.token, 2, opacity, k.dash)
		if len(k.dash) > 0 { // gaps beside the marker, not under it
			a = append(a, "stroke-dashoffset", px(k.dash[0]/2))
		}
		d.el("path", a)
	}
	if k.marker != "" {
		d.marker(x+14, y, 9, k.marker, k.token, k.hollow, opacity)
	}
}

// foot writes notes, the line on how to read the chart, data revision and address;
// it returns where the plot must end.
func (d *drawing) foot() float64 {
	w := d.o.Width - 2*margin
	y := d.o.Height - 22
	mark := "rebench"
	if d.f.Source.Revision > 0 {
		mark += fmt.Sprintf(" · data revision %d", d.f.Source.Revision)
	}
	d.text(margin, y, 12, mark, TokenMuted)
	if d.o.URL != "" {
		d.text(d.o.Width-margin, y, 12, fit(plain(d.o.URL), 12, w-textWidth(mark, 12)-30), TokenMuted, "text-anchor", "end")
	}
	y -= 14
	d.line(margin, y, d.o.Width-margin, y, TokenRule, 1, 1, nil)
	y -= 10
	var lines []string
	for _, n := range d.f.Notes {
		lines = append(lines, wrap(n, 13, w)...)
	}
	lines = append(wrap(d.f.HowToRead, 13, w), lines...)
	for _, l := range slices.Backward(lines) {
		d.text(margin, y, 13, l, TokenInk)
		y -= 18
	}
	return y - 4
}

// figure draws a figure's panels into a box.
func (d *drawing) figure(f *Figure, b box) {
	if f.Empty != "" {
		y := b.y + b.h/2
		for _, l := range wrap(f.Empty, 18, b.w-80) {
			d.text(b.x+b.w/2, y, 18, l, TokenMuted, "text-anchor", "middle")
			y += 26
		}
		return
	}
	if !f.small {
		d.panel(f, f.panels[0], d.frame(f, f.panels[0], b), b)
		return
	}
	cols := 4
	lines := (len(f.panels) + cols - 1) / cols
	for i, p := range f.panels {
		cell := box{b.x + float64(i%cols)*b.w/float64(cols), b.y + float64(i/cols)*b.h/float64(lines), b.w / float64(cols), b.h / float64(lines)}
		d.text(cell.x+30, cell.y+12, 13, fit(p.title, 13, cell.w-40), TokenInk)
		d.panel(f, p, box{cell.x + 30, cell.y + 24, cell.w - 50, cell.h - 66}, cell)
	}
}

// frame is the plot inside the box: axes' titles and labels stay outside.
func (d *drawing) frame(f *Figure, p *panel, b box) box {
	left := 50.0
	if p.y.rows {
		left = f.stub
	}
	right := math.Max(f.gutter, 12)
	if !p.y.rows {
		right = math.Max(right, 20)
	}
	if p.cells != nil && b.w-left-right < minPlot { // no room for the columns
		right = 20
	}
	return box{b.x + left, b.y, b.w - left - right, b.h - 46}
}
