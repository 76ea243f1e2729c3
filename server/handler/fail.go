package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"github.com/gin-gonic/gin"

	"rebench/internal/rebench"
	"rebench/web/view"
)

// wantsProblem reports whether errors at the path are problem+json: for the API
// and the machine-readable forms of pages.
func wantsProblem(path string) bool {
	return strings.HasPrefix(path, "/api/") || slices.ContainsFunc(suffixes, func(form string) bool { return strings.HasSuffix(path, "."+form) })
}

// fail answers with an error. Internal errors are logged here and nowhere else; the
// client gets the request id only.
func (s *Server) fail(c *gin.Context, err error) {
	p, internal := problemOf(err)
	if gone(c, err, internal) {
		c.Status(499) // nobody reads this, but the metrics count it
		s.log.DebugContext(c.Request.Context(), "the client has gone", "request_id", c.GetString(requestIDKey), "route", c.FullPath(), "error", err.Error())
		return
	}
	p.Instance = c.Request.URL.Path
	p.RequestID = c.GetString(requestIDKey)
	if internal {
		s.log.ErrorContext(c.Request.Context(), "request failed", "request_id", p.RequestID, "method", c.Request.Method,
			"route", c.FullPath(), "url", c.Request.URL.String(), "error", err.Error())
	}
	if c.Writer.Written() {
		// Half a body must not look like a whole one.
		panic(http.ErrAbortHandler)
	}
	h := c.Writer.Header()
	h.Del("ETag")
	h.Set("Cache-Control", "no-store")
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="rebench"`)
	}
	if wantsProblem(c.Request.URL.Path) {
		writeProblem(c, p)
		return
	}
	s.errorPage(c, p, err)
}

// gone reports whether an error is that the client hung up, in whatever words: what was
// stopped by it, a database query say, has its own.
func gone(c *gin.Context, err error, internal bool) bool {
	if cause := c.Request.Context().Err(); cause != nil && (internal || errors.Is(err, cause)) {
		return true
	}
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

func writeProblem(c *gin.Context, p Problem) {
	b, err := json.Marshal(p)
	if err != nil { // cannot happen: strings and integers only
		b = []byte(`{"type":"about:blank","status":500}`)
	}
	c.Data(p.Status, "application/problem+json", b)
}

func (s *Server) errorPage(c *gin.Context, p Problem, cause error) {
	data := view.ErrorData{Status: p.Status, Detail: p.Detail, Allowed: allowedLinks(c.Request.URL.Path, faultsOf(cause))}
	if p.Status == http.StatusInternalServerError {
		data.Detail += " Request id: " + p.RequestID + "."
	}
	revision, err := s.store.LatestRevision(c.Request.Context())
	if err != nil {
		revision = rebench.DataRevision{}
	}
	page := view.Page{Title: p.Title, Path: c.Request.URL.Path, Base: base(c), Version: s.version, Revision: revision, Assets: s.instance}
	var buf bytes.Buffer
	if err := view.Error(page, data).Render(c.Request.Context(), &buf); err != nil {
		s.log.ErrorContext(c.Request.Context(), "render error page", "request_id", p.RequestID, "error", err.Error())
		c.Data(p.Status, "text/plain; charset=utf-8", []byte(p.Title+"\n"+p.Detail+"\n"))
		return
	}
	c.Data(p.Status, "text/html; charset=utf-8", buf.Bytes())
}

// maxLinks bounds the links of an error page.
const maxLinks = 30

// allowedLinks offers the page with each allowed value in place of the wrong one.
func allowedLinks(path string, faults []ParamFault) []view.Link {
	var out []view.Link
	for _, f := range faults {
		if f.Code == "unknown_parameter" || f.Parameter == "" {
			continue
		}
		for _, v := range f.Allowed {
			if len(out) == maxLinks {
				return out
			}
			out = append(out, view.Link{Text: f.Parameter + " " + v, URL: view.Page{Path: path}.With(f.Parameter, v)})
		}
	}
	return out
}

// recovered turns a panic into an internal error.
func (s *Server) recovered(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v)
		}
		s.fail(c, panicError{value: v, stack: stack()})
		c.Abort()
	}()
	c.Next()
}
