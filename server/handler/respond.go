package handler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/validity"
	"rebench/web/view"
)

// Forms in which a result is served.
const (
	formHTML = "html"
	formAPI  = "api" // JSON without meta
	formJSON = "json"
	formCSV  = "csv"
	formSVG  = "svg"
)

// suffixes are the forms that a page's address can end with.
var suffixes = []string{formJSON, formCSV, formSVG}

// axis is a quantity that a view shows.
type axis struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

// meta says what an exported view is about.
type meta struct {
	Title          string    `json:"title"`
	Axes           []axis    `json:"axes"`
	N              int       `json:"n"` // attempts behind the view
	DataRevision   int64     `json:"data_revision"`
	DataRevisionAt time.Time `json:"data_revision_at"`
	Version        string    `json:"version"` // of the program
	URL            string    `json:"url"`     // pinned to the data revision
	Cite           string    `json:"cite"`
	BibTeX         string    `json:"bibtex"`
}

func (m meta) axesText() string {
	words := make([]string, len(m.Axes))
	for i, a := range m.Axes {
		words[i] = a.Name
		if a.Unit != "" {
			words[i] += " (" + a.Unit + ")"
		}
	}
	return strings.Join(words, "; ")
}

// document is one result in all the forms in which it is served.
type document struct {
	title       string
	description string
	axes        []axis
	n           int
	data        any // for JSON; an object
	table       func() table
	svg         func(view.Page) ([]byte, error) // nil where the view has no picture
	page        func(view.Page) (templ.Component, error)
}

// exchange is a bound request on its way to a response.
type exchange struct {
	*request
	c        *gin.Context
	form     string
	path     string // the page's path
	dataset  *analysis.Dataset
	revision rebench.DataRevision
	session  *session // of a personal page's reader, nil for everybody else
}

// resource is a view that is served as page, export and API result.
type resource struct {
	path  string   // the page's path, with :id for a path parameter
	takes []string // parameters
	build func(s *Server, x *exchange) (*document, error)
	// personal pages differ for readers who are logged in.
	personal bool
	// live, if not nil, serves the page of a thing that is still growing.
	live func(s *Server, c *gin.Context, id string) (bool, error)
}

// serve answers a request for a resource in one form: from the client's cache, from
// the server's, or by building it.
func (s *Server) serve(c *gin.Context, r resource, pagePath, form string) error {
	x, err := s.bind(c, r, pagePath, form)
	if err != nil {
		return err
	}
	// One question has many spellings; search engines are told the shortest.
	c.Header("Link", "<"+base(c)+view.Page{Path: x.path, Query: x.canonical}.Self()+`>; rel="canonical"`)
	if r.personal && form == formHTML && s.db != nil {
		c.Header("Vary", "Cookie")
		if x.session, err = s.session(c); err != nil {
			return err
		}
		if x.session != nil {
			return s.servePersonal(c, r, x)
		}
	}
	tag := s.tag(x)
	c.Header("ETag", `W/"`+tag+`"`)
	// Always asked for again: the tag decides, at the price of one query.
	c.Header("Cache-Control", "no-cache")
	if matches(c.GetHeader("If-None-Match"), tag) {
		s.metrics.bodies.WithLabelValues("client").Inc()
		c.Status(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return nil
	}
	if b, ok := s.bodies.get(tag); ok {
		s.metrics.bodies.WithLabelValues("cache").Inc()
		write(c, b)
		return nil
	}
	doc, err := r.build(s, x)
	if err != nil {
		return err
	}
	b, err := s.encode(c, x, doc)
	if err != nil {
		return err
	}
	s.metrics.bodies.WithLabelValues("computed").Inc()
	s.bodies.put(tag, b)
	write(c, b)
	return nil
}

// servePersonal answers one reader; nobody keeps the answer.
func (s *Server) servePersonal(c *gin.Context, r resource, x *exchange) error {
	doc, err := r.build(s, x)
	if err != nil {
		return err
	}
	b, err := s.encode(c, x, doc)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	write(c, b)
	return nil
}

// bind reads the parameters and pins the request to a data revision.
func (s *Server) bind(c *gin.Context, r resource, pagePath, form string) (*exchange, error) {
	req, err := parse(pagePath, c.Request.URL.RawQuery, r.takes)
	if err != nil {
		return nil, err
	}
	ds, err := s.engine.Dataset(c.Request.Context(), req.query.AsOf)
	if err != nil {
		return nil, err
	}
	if err := req.resolveAgents(ds.Labels()); err != nil {
		return nil, err
	}
	if err := s.checkGroups(c.Request.Context(), req); err != nil {
		return nil, err
	}
	// A page token carries the revision of the page before.
	if req.pageToken == "" {
		req.query.AsOf = ds.Revision.ID
	}
	return &exchange{request: req, c: c, form: form, path: pagePath, dataset: ds, revision: ds.Revision}, nil
}

// tag names the response: it differs whenever anything that the body depends on does,
// such as the month, which decides what is drawn for audit.
func (s *Server) tag(x *exchange) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d\n%s\n%s\n%s\n%s\n%s", s.instance, x.revision.ID, base(x.c), x.form, x.path, x.canonical.Encode(), validity.Month(time.Now()))
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// matches reports whether an If-None-Match header names the tag (RFC 9110, 13.1.2).
func matches(header, tag string) bool {
	for _, part := range strings.Split(header, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == `"`+tag+`"` {
			return true
		}
	}
	return false
}

// base is the server's address as the client wrote it.
func base(c *gin.Context) string {
	scheme := "http"
	if c.Request.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + c.Request.Host
}

// viewPage is what the page knows about itself.
func (s *Server) viewPage(x *exchange, d *document) view.Page {
	p := view.Page{Title: d.title, Description: d.description, Path: x.path, Query: x.canonical, Base: base(x.c),
		Version: s.version, Revision: x.revision, Suffixes: suffixes, Assets: s.instance}
	if d.svg == nil {
		p.Suffixes = slices.DeleteFunc(slices.Clone(suffixes), func(f string) bool { return f == formSVG })
	}
	return p
}

// encode writes a document in the form asked for.
func (s *Server) encode(c *gin.Context, x *exchange, d *document) (body, error) {
	p := s.viewPage(x, d)
	switch x.form {
	case formHTML:
		component, err := d.page(p)
		if err != nil {
			return body{}, err
		}
		var buf bytes.Buffer
		if err := component.Render(c.Request.Context(), &buf); err != nil {
			return body{}, fmt.Errorf("render %s: %w", x.path, err)
		}
		return body{contentType: "text/html; charset=utf-8", bytes: buf.Bytes()}, nil
	case formAPI:
		b, err := json.Marshal(d.data)
		return body{contentType: "application/json", bytes: b}, err
	case formJSON:
		b, err := withMeta(d.data, s.meta(p, d))
		return body{contentType: "application/json", bytes: b}, err
	case formCSV:
		b, err := encodeCSV(d.table(), s.meta(p, d))
		return body{contentType: "text/csv; charset=utf-8; header=present", filename: downloadName(x.path) + ".csv", bytes: b}, err
	case formSVG:
		if d.svg == nil {
			return body{}, rebench.Errorf(rebench.CodeNotFound, "%s has no picture; there are %s.json and %s.csv", x.path, x.path, x.path)
		}
		b, err := d.svg(p)
		return body{contentType: "image/svg+xml", bytes: b}, err
	}
	return body{}, fmt.Errorf("unknown form %q", x.form)
}

func (s *Server) meta(p view.Page, d *document) meta {
	cite := p.Cite()
	return meta{Title: d.title, Axes: d.axes, N: d.n, DataRevision: p.Revision.ID, DataRevisionAt: p.Revision.At.UTC(),
		Version: s.version, URL: p.Base + p.With("asof", fmt.Sprint(p.Revision.ID), "page_token", p.Query.Get("page_token")), Cite: cite.Text, BibTeX: cite.BibTeX}
}

// withMeta writes data, a JSON object, with a first member meta.
func withMeta(data any, m meta) ([]byte, error) {
	head, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	if len(rest) < 2 || rest[0] != '{' {
		return nil, fmt.Errorf("the data of %q are no JSON object", m.Title)
	}
	out := append([]byte(`{"meta":`), head...)
	if string(rest) != "{}" {
		out = append(out, ',')
	}
	return append(out, rest[1:]...), nil
}

// downloadName is the name under which an export is saved.
func downloadName(pagePath string) string {
	name := path.Base(pagePath)
	if pagePath == "/" {
		name = "leaderboard"
	}
	return "rebench-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

func write(c *gin.Context, b body) {
	if b.filename != "" {
		c.Header("Content-Disposition", `attachment; filename="`+b.filename+`"`)
	}
	c.Data(http.StatusOK, b.contentType, b.bytes)
}
