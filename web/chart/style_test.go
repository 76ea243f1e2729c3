package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rebench/internal/rebench"
	"rebench/web/static"
)

// contrast is the ratio of WCAG 2.2 between two hex colours.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(hex string) float64 {
		l := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
			if err != nil || len(hex) != 7 {
				t.Fatalf("colour %q: %v", hex, err)
			}
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			l += weight * c
		}
		return l
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestColoursAreReadable(t *testing.T) {
	for _, dark := range []bool{false, true} {
		paper := TokenPaper.Hex(dark)
		for _, h := range hues {
			if c := contrast(t, h.Hex(dark), paper); c < 3 {
				t.Errorf("%s on %s: contrast %.2f, want 3 for lines", h, paper, c)
			}
		}
		for _, text := range append([]Token{TokenInk, TokenMuted}, hues...) {
			if c := contrast(t, text.Text().Hex(dark), paper); c < 4.5 {
				t.Errorf("text %s on %s: contrast %.2f, want 4.5", text, paper, c)
			}
		}
		seen := map[string]Token{}
		for _, h := range append([]Token{TokenInk}, hues...) {
			if other, ok := seen[h.Hex(dark)]; ok {
				t.Errorf("%s and %s have the same colour", h, other)
			}
			seen[h.Hex(dark)] = h
		}
	}
}

// The page's style sheet repeats the palette; the two must not drift apart.
func TestStyleSheetHasThePalette(t *testing.T) {
	css, err := static.FS.ReadFile("app.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range Tokens() {
		for _, dark := range []bool{false, true} {
			want := token.Property() + ": " + token.Hex(dark) + ";"
			times := 1
			if dark { // by the system's preference and by the reader's choice
				times = 2
			}
			if n := strings.Count(string(css), want); n < times {
				t.Errorf("app.css has %q %d times, want %d", want, n, times)
			}
		}
	}
}

var published9 = []string{rebench.HumanName, "o1-preview", "o1", "Claude 3.5 Sonnet (New)", "Claude 3.5 Sonnet (Old)", "Claude 3 Opus", "GPT-4o", "GPT-4 Turbo", "GPT-4 0314"}

func TestPublishedAgentsAreDistinct(t *testing.T) {
	colours := map[Token]string{}
	for _, l := range published9 {
		s := StyleOf(l)
		if other, ok := colours[s.Token]; ok {
			t.Errorf("%s and %s share %s", l, other, s.Token)
		}
		colours[s.Token] = l
		if got := Styles(append(published9, "x", "y"))[l]; got != s {
			t.Errorf("%s is %v in a chart but %v alone", l, got, s)
		}
	}
	if StyleOf(rebench.HumanName).Token != TokenInk {
		t.Error("humans are not ink")
	}
}

func TestStylesAreDeterministicAndDistinct(t *testing.T) {
	var labels []string
	for i := range 200 {
		labels = append(labels, fmt.Sprintf("model-%d", i))
	}
	for _, n := range []int{1, 8, 40, 200} {
		some := slices.Clone(labels[:n])
		a := Styles(some)
		slices.Reverse(some)
		b := Styles(some)
		seen := map[Style]string{}
		uses := map[Token]int{}
		for _, l := range some {
			if a[l] != b[l] {
				t.Errorf("%d agents: %s depends on the order: %v, %v", n, l, a[l], b[l])
			}
			if other, ok := seen[a[l]]; ok {
				t.Errorf("%d agents: %s and %s look the same", n, l, other)
			}
			seen[a[l]] = l
			uses[a[l].Token]++
		}
		for hue, k := range uses {
			if k > (n+len(hues)-1)/len(hues) {
				t.Errorf("%d agents: %d of them %s", n, k, hue)
			}
		}
	}
	if StyleOf("model-1") != StyleOf("model-1") || Styles([]string{"model-1"})["model-1"] != StyleOf("model-1") {
		t.Error("an agent alone in a chart must have its own style")
	}
	// A hash that spreads: of 200 agents no hue, dash or marker takes half.
	count := map[any]int{}
	for _, l := range labels {
		s := StyleOf(l)
		count[s.Token]++
		count[s.Dash]++
		count[s.Marker]++
	}
	for k, n := range count {
		if n > 70 {
			t.Errorf("%v is the style of %d of 200 agents", k, n)
		}
	}
}
