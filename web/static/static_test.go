package static_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"rebench/web/chart"
	"rebench/web/static"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := static.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The style sheet repeats the charts' palette: in the light theme, and in the dark
// one once by the system's preference and once by the reader's choice.
func TestStyleSheetHasTheChartsPalette(t *testing.T) {
	css := read(t, "app.css")
	for _, c := range []struct {
		dark  bool
		times int
	}{{false, 1}, {true, 2}} {
		for _, token := range chart.Tokens() {
			value := token.Hex(c.dark)
			times := c.times
			if token.Hex(!c.dark) == value {
				times = 3
			}
			if got := strings.Count(css, token.Property()+": "+value+";"); got != times {
				t.Errorf("%s: %s stands %d times, want %d (dark %t)", token.Property(), value, got, times, c.dark)
			}
		}
	}
	for _, label := range []string{"human", "o1-preview", "GPT-4o", "somebody"} {
		if class := ".hue-" + string(chart.StyleOf(label).Token) + " {"; !strings.Contains(css, class) {
			t.Errorf("no rule %s", class)
		}
	}
}

var (
	comment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	address = regexp.MustCompile(`url\(\s*["']?([^"')]+)`)
)

// Every file that the style sheet names is embedded, and none is elsewhere.
func TestStyleSheetIsSelfContained(t *testing.T) {
	css := comment.ReplaceAllString(read(t, "app.css"), "")
	found := address.FindAllStringSubmatch(css, -1)
	if len(found) < 9 {
		t.Errorf("%d files named, want the fonts", len(found))
	}
	for _, m := range found {
		if _, err := fs.Stat(static.FS, m[1]); err != nil {
			t.Errorf("url(%s): %v", m[1], err)
		}
	}
	if strings.Contains(css, "@import") {
		t.Error("@import")
	}
}

// Fonts are served as their makers published them, with their licence.
func TestFontsHaveTheirLicence(t *testing.T) {
	files, err := fs.ReadDir(static.FS, "fonts")
	if err != nil {
		t.Fatal(err)
	}
	css := read(t, "app.css")
	for _, f := range files {
		if path.Ext(f.Name()) == ".woff2" && !strings.Contains(css, f.Name()) {
			t.Errorf("%s is embedded and never used", f.Name())
		}
	}
	if !strings.Contains(read(t, "fonts/LICENSE-IBM-Plex.txt"), "SIL Open Font License") {
		t.Error("no licence beside the fonts")
	}
}

// Text needs 4.5:1 against the page in both themes (WCAG 2.2, 1.4.3).
func TestTextContrast(t *testing.T) {
	css := read(t, "app.css")
	light, dark := css[:strings.Index(css, "@media (prefers-color-scheme")], css[strings.Index(css, `:root[data-theme="dark"]`):]
	for name, block := range map[string]string{"light": light, "dark": dark} {
		value := func(property string) string {
			m := regexp.MustCompile(regexp.QuoteMeta(property) + `: (#[0-9a-f]{6});`).FindStringSubmatch(block)
			if m == nil {
				t.Fatalf("%s: no %s", name, property)
			}
			return m[1]
		}
		for _, ground := range []string{"--paper", "--paper-2"} {
			for _, text := range []string{"--ink", "--ink-2", "--accent", "--warn"} {
				if c := contrast(value(text), value(ground)); c < 4.5 {
					t.Errorf("%s: %s on %s is %.2f:1", name, text, ground, c)
				}
			}
		}
	}
}
