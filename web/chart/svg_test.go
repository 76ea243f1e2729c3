package chart

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
)

var update = flag.Bool("update", false, "write the golden files")

// element is an SVG element with its attributes and text.
type element struct {
	name, text string
	attr       map[string]string
}

// parse checks that b is well-formed XML and lists its elements.
func parse(t *testing.T, b []byte) []element {
	t.Helper()
	var out []element
	var open []int
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := d.Token()
		if tok == nil {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			e := element{name: tok.Name.Local, attr: map[string]string{}}
			for _, a := range tok.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			open = append(open, len(out))
			out = append(out, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				out[open[len(open)-1]].text += string(tok)
			}
		}
	}
	return out
}

func svgOf(t *testing.T, f *Figure, o SVGOptions) ([]byte, []element) {
	t.Helper()
	b, err := f.SVG(o)
	if err != nil {
		t.Fatal(err)
	}
	return b, parse(t, b)
}

// at returns the coordinate of the text with the given content.
func at(t *testing.T, es []element, content, coordinate string) float64 {
	t.Helper()
	for _, e := range es {
		if e.name == "text" && e.text == content {
			v, err := strconv.ParseFloat(e.attr[coordinate], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("no text %q", content)
	return 0
}

// markersOf returns where the filled markers of a colour stand.
func markersOf(es []element, fill string) []xy {
	var out []xy
	for _, e := range es {
		var p xy
		if n, _ := fmt.Sscanf(e.attr["transform"], "translate(%f %f)", &p.x, &p.y); n == 2 && e.name == "path" && e.attr["fill"] == fill {
			out = append(out, p)
		}
	}
	return out
}

func TestSVGPositions(t *testing.T) {
	_, es := svgOf(t, Curves(sampleCurves(), CurvesOptions{Allocations: AllocationsBest}), SVGOptions{})
	marks := markersOf(es, "#d55e00")
	if len(marks) != 2 {
		t.Fatalf("%d filled marks of o1-preview, want 2", len(marks))
	}
	close := func(what string, got, want float64) {
		t.Helper()
		if d := got - want; d > 0.02 || d < -0.02 {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	// The labels of ticks tell where values lie; texts stand 4.5 below their lines.
	close("x of 30 min", marks[0].x, at(t, es, "30 min", "x"))
	close("x of 8 h", marks[1].x, at(t, es, "8 h", "x"))
	zero, one := at(t, es, "0.0", "y")-4.5, at(t, es, "1.0", "y")-4.5
	close("y of 0.351", marks[1].y, zero+(one-zero)*0.351)
	close("y of 0.086", marks[0].y, zero+(one-zero)*0.086)
	// Doublings are equally wide.
	step := at(t, es, "1 h", "x") - at(t, es, "30 min", "x")
	close("one doubling", at(t, es, "16 h", "x")-at(t, es, "8 h", "x"), step)

	// By hand: margin 36 and 50 for labels on the left, 36 and 20 on the right leave
	// 1058 of 1200 pixels, so the 50th percentile lies at 86 + 529.
	_, es = svgOf(t, HumanPercentiles(samplePercentiles()), SVGOptions{})
	close("x of the median", markersOf(es, "#1a1b1a")[1].x, 615)
}

func TestSVGOfEveryFigure(t *testing.T) {
	for name, f := range sampleFigures() {
		for _, theme := range []Theme{ThemeLight, ThemeDark, ThemePage} {
			o := SVGOptions{Theme: theme, URL: "http://127.0.0.1:8080/x?a=1&b=2"}
			b, es := svgOf(t, f, o)
			if again, _ := f.SVG(o); !bytes.Equal(b, again) {
				t.Errorf("%s: two pictures differ", name)
			}
			all := ""
			for _, e := range es {
				all += e.text + " "
				if e.name == "script" || e.name == "style" || e.name == "foreignObject" || e.attr["style"] != "" {
					t.Errorf("%s: <%s style=%q> would be blocked", name, e.name, e.attr["style"])
				}
				for k := range e.attr {
					if strings.HasPrefix(k, "on") || k == "href" {
						t.Errorf("%s: attribute %s", name, k)
					}
				}
			}
			for _, want := range []string{f.Title, f.Subtitle, "data revision 3", o.URL} {
				if !strings.Contains(all, want) {
					t.Errorf("%s: the picture does not say %q", name, want)
				}
			}
			if words := strings.Join(strings.Fields(all), " "); !strings.Contains(words, strings.Join(strings.Fields(f.HowToRead), " ")) {
				t.Errorf("%s: the picture does not say how to read it", name)
			}
			if es[0].attr["width"] != "1200" || es[0].attr["aria-label"] != f.Alt || es[0].attr["role"] != "img" {
				t.Errorf("%s: root = %v", name, es[0].attr)
			}
			paper := map[Theme]string{ThemeLight: "#fcfcf9", ThemeDark: "#131412", ThemePage: "var(--chart-paper,#fcfcf9)"}[theme]
			if es[2].name != "rect" || es[2].attr["fill"] != paper {
				t.Errorf("%s %s: background = %v", name, theme, es[2].attr)
			}
			if bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf")) {
				t.Errorf("%s: a coordinate is not a number", name)
			}
		}
	}
}

// Texts and marks stay inside the picture.
func TestSVGStaysInside(t *testing.T) {
	number := regexp.MustCompile(`^-?[0-9.]+$`)
	for name, f := range sampleFigures() {
		_, es := svgOf(t, f, SVGOptions{})
		for _, e := range es {
			if e.name != "text" || !number.MatchString(e.attr["x"]) || e.attr["transform"] != "" {
				continue
			}
			x, _ := strconv.ParseFloat(e.attr["x"], 64)
			y, _ := strconv.ParseFloat(e.attr["y"], 64)
			size, _ := strconv.ParseFloat(e.attr["font-size"], 64)
			w := textWidth(e.text, size)
			switch e.attr["text-anchor"] {
			case "middle":
				x -= w / 2
			case "end":
				x -= w
			}
			if x < 0 || x+w > 1202 || y < size || y > 675 {
				t.Errorf("%s: %q at %.0f to %.0f, %.0f leaves the picture", name, e.text, x, x+w, y)
			}
		}
	}
}

func TestSVGEscapesLabels(t *testing.T) {
	c := sampleCurves()
	c.Series[0].Agent = hostile + "\x00\u202e"
	b, es := svgOf(t, Curves(c, CurvesOptions{}), SVGOptions{URL: "http://x/?q=<script>"})
	for _, e := range es {
		if e.name == "img" || e.name == "b" || e.name == "script" {
			t.Errorf("a label became <%s>", e.name)
		}
	}
	if bytes.Contains(b, []byte("\u202e")) || bytes.ContainsRune(b, 0) {
		t.Error("a control character is left")
	}
}

func TestSVGGolden(t *testing.T) {
	b, _ := svgOf(t, Curves(sampleCurves(), CurvesOptions{}), SVGOptions{URL: "http://127.0.0.1:8080/curves"})
	const file = "testdata/curves.svg"
	if *update {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(b), "\n")); diff != "" {
		t.Errorf("the picture changed; look at it and run with -update (-want +got):\n%s", diff)
	}
}

func TestSVGRefusesBadOptions(t *testing.T) {
	f := Curves(sampleCurves(), CurvesOptions{})
	if _, err := f.SVG(SVGOptions{Theme: "purple"}); rebench.ErrorCode(err) != rebench.CodeInvalid {
		t.Errorf("theme purple: %v", err)
	}
	if _, err := SVG(nil, SVGOptions{}); err == nil {
		t.Error("no figure: no error")
	}
	b, err := SVG([]*Figure{Compare(sampleComparison()), CompareEnvironments(sampleComparison())}, SVGOptions{})
	if err != nil {
		t.Fatal(err)
	}
	parse(t, b)
}

func TestLabelsAtLineEndsDoNotOverlap(t *testing.T) {
	c := sampleCurves()
	s := c.Series[0]
	c.Series = nil
	for i := range 40 {
		s.Agent = fmt.Sprintf("model %d", i)
		c.Series = append(c.Series, s)
	}
	b, es := svgOf(t, Curves(c, CurvesOptions{}), SVGOptions{})
	var ys []float64
	for _, e := range es {
		if e.name == "text" && strings.HasPrefix(e.text, "model ") {
			y, _ := strconv.ParseFloat(e.attr["y"], 64)
			ys = append(ys, y)
		}
	}
	if len(ys) != 40 {
		t.Fatalf("%d of 40 labels in a picture of %d bytes", len(ys), len(b))
	}
	for i := range ys {
		for j := range i {
			if d := ys[i] - ys[j]; d > -labelSize && d < labelSize {
				t.Fatalf("labels %d and %d are %.1f apart", i, j, d)
			}
		}
	}
}
