package chart

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"
)

// svg writes an SVG document with presentation attributes only: a style attribute
// or element would be blocked by a strict Content-Security-Policy. Output depends
// on nothing but the calls.
type svg struct {
	bytes.Buffer
	dark bool
	live bool // colours follow the CSS custom properties of the surrounding page
}

// attrs are name and value in turn.
type attrs []string

// el writes an element without content.
func (s *svg) el(name string, a attrs) {
	s.open(name, a)
	s.Truncate(s.Len() - 1)
	s.WriteString("/>\n")
}

// open writes a start tag.
func (s *svg) open(name string, a attrs) {
	s.WriteByte('<')
	s.WriteString(name)
	for i := 0; i+1 < len(a); i += 2 {
		s.WriteByte(' ')
		s.WriteString(a[i])
		s.WriteString(`="`)
		s.escape(a[i+1])
		s.WriteByte('"')
	}
	s.WriteByte('>')
}

func (s *svg) close(name string) { s.WriteString("</" + name + ">\n") }

// escape writes text; what XML cannot hold becomes U+FFFD.
func (s *svg) escape(text string) { _ = xml.EscapeText(&s.Buffer, []byte(text)) } // a Buffer's writes do not fail

// text writes one line of text.
func (s *svg) text(x, y, size float64, content string, t Token, a ...string) {
	s.open("text", append(attrs{"x", px(x), "y", px(y), "font-size", px(size), "fill", s.color(t)}, a...))
	s.escape(content)
	s.close("text")
}

// halo makes text readable on top of lines.
func (s *svg) halo() []string {
	return []string{"paint-order", "stroke", "stroke", s.color(TokenPaper), "stroke-width", "3.5", "stroke-linejoin", "round"}
}

func (s *svg) color(t Token) string {
	if s.live {
		return "var(" + t.Property() + "," + t.Hex(s.dark) + ")"
	}
	return t.Hex(s.dark)
}

// line writes a straight line.
func (s *svg) line(x1, y1, x2, y2 float64, t Token, width, opacity float64, dash []float64) {
	s.el("path", stroke(s, "M"+px(x1)+" "+px(y1)+"L"+px(x2)+" "+px(y2), t, width, opacity, dash))
}

func stroke(s *svg, d string, t Token, width, opacity float64, dash []float64) attrs {
	a := attrs{"d", d, "fill", "none", "stroke", s.color(t), "stroke-width", px(width)}
	if opacity < 1 {
		a = append(a, "stroke-opacity", px(opacity))
	}
	if len(dash) > 0 {
		parts := make([]string, len(dash))
		for i, v := range dash {
			parts[i] = px(v)
		}
		a = append(a, "stroke-dasharray", strings.Join(parts, " "))
	} else {
		a = append(a, "stroke-linejoin", "round")
	}
	return a
}

// marker writes a marker of the given size about (x, y).
func (s *svg) marker(x, y, size float64, m Marker, t Token, hollow bool, opacity float64) {
	scale := size / 20
	a := attrs{"d", m.Path(), "transform", "translate(" + px(x) + " " + px(y) + ")scale(" + strconv.FormatFloat(scale, 'f', 3, 64) + ")"}
	if hollow {
		a = append(a, "fill", s.color(TokenPaper), "stroke", s.color(t), "stroke-width", px(hollowStroke(size)/scale))
	} else {
		a = append(a, "fill", s.color(t))
	}
	if opacity < 1 {
		a = append(a, "opacity", px(opacity))
	}
	s.el("path", a)
}

// hollowStroke is the width of the outline of a hollow marker.
func hollowStroke(size float64) float64 { return min(1.75, size/4) }

// px writes a length with at most two decimals.
func px(v float64) string {
	t := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
	t = strings.TrimSuffix(t, ".")
	if t == "-0" {
		return "0"
	}
	return t
}
