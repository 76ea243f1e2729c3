package view

import (
	"net/url"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"rebench/internal/rebench"
)

// document is a rendered page, parsed.
type document struct {
	raw  string
	root *html.Node
}

func render(t *testing.T, c templ.Component) document {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatalf("render: %v", err)
	}
	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return document{b.String(), root}
}

func testPage(path string, query string) Page {
	q, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	return Page{Title: "A title", Path: path, Query: Canonical(path, q), Base: "http://127.0.0.1:8080", Version: "1.2.3",
		Revision: rebench.DataRevision{ID: 7}, Suffixes: []string{"json", "csv", "svg"}}
}

// all returns the elements with the given name, "" for every element, in order.
func (d document) all(name string) []*html.Node { return elements(d.root, name) }

func elements(root *html.Node, name string) []*html.Node {
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && (name == "" || n.Data == name) {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// text returns the text inside a node with runs of white space as one space.
func text(n *html.Node) string {
	var b strings.Builder
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
	}
	for c := range n.Descendants() {
		if c.Type == html.TextNode && c.Parent.Data != "script" {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (d document) text() string { return text(d.root) }

// row returns the text of the cells of the first table row that contains all words.
func (d document) row(t *testing.T, words ...string) []string {
	t.Helper()
	n := d.rowNode(t, words...)
	var cells []string
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode {
			cells = append(cells, text(c))
		}
	}
	return cells
}

func (d document) rowNode(t *testing.T, words ...string) *html.Node {
	t.Helper()
rows:
	for _, tr := range d.all("tr") {
		s := text(tr)
		for _, w := range words {
			if !strings.Contains(s, w) {
				continue rows
			}
		}
		return tr
	}
	t.Fatalf("no table row contains %q", words)
	return nil
}

// link returns the address of the first link with the given text.
func (d document) link(t *testing.T, words string) string {
	t.Helper()
	for _, a := range d.all("a") {
		if text(a) == words {
			return attr(a, "href")
		}
	}
	t.Fatalf("no link says %q", words)
	return ""
}

func (d document) says(t *testing.T, words ...string) {
	t.Helper()
	s := d.text()
	for _, w := range words {
		if !strings.Contains(s, w) {
			t.Errorf("the page does not say %q", w)
		}
	}
}

func (d document) silent(t *testing.T, words ...string) {
	t.Helper()
	s := d.text()
	for _, w := range words {
		if strings.Contains(s, w) {
			t.Errorf("the page says %q", w)
		}
	}
}

func ptr[T any](x T) *T { return &x }
