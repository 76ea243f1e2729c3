package handler

import (
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"rebench/web/static"
)

// pages are the views that have pages, with their exports.
func pages() []resource {
	return []resource{leaderboardResource, curvesResource, compareResource, environmentsResource, humansResource, attemptsResource, methodologyResource, validityResource}
}

// apiRoutes are the operations of the API.
func (s *Server) apiRoutes() []apiRoute {
	routes := []apiRoute{
		s.api("leaderboard", "Agents ranked at one total time", "Leaderboard", leaderboardResource),
		s.api("curves", "Score against total time", "Curves", curvesResource),
		s.api("score-at-k", "Score@k of one agent at one time limit", "ScoreAtK", scoreAtKResource, "agent", "time_limit"),
		s.api("compare", "Two agents at equal total time", "Comparison", compareResource, "a", "b"),
		s.api("sensitivity", "Scores under other choices", "Sensitivity", sensitivityResource),
		s.api("humans", "What is known about the human attempts", "Humans", humansResource),
		s.api("humans/percentiles", "Percentiles of human final scores", "Percentiles", percentilesResource),
		s.api("environments", "The environments with their results", "Environments", environmentsResource),
		s.api("environments/:id", "One environment", "Environment", environmentResource),
		s.api("attempts", "Attempts, a page at a time", "Attempts", attemptsResource),
		s.api("attempts/:id", "One attempt with its score log", "Attempt", attemptResource),
		s.api("methodology", "Printed numbers against computed ones", "Methodology", methodologyResource),
		s.api("validity", "What is done about gamed and wrong scores, and what the rules reach", "Validity", validityResource),
	}
	return append(append(routes, s.exportRoutes()...), apiRoute{path: "/attempts/:id/log", id: "attempts/:id/log", summary: "The raw attempt log (attempt log v1)",
		media: "application/x-ndjson", takes: attemptResource.takes, handle: s.attemptLog})
}

// pageOnly are the parameters that change the page and not its data.
var pageOnly = map[string]bool{"show": true, "axis": true, "scale": true, "chart": true}

func (s *Server) api(path, summary, schema string, r resource, required ...string) apiRoute {
	var takes []string
	for _, name := range r.takes {
		if !pageOnly[name] {
			takes = append(takes, name)
		}
	}
	r.takes = takes
	return apiRoute{path: "/" + path, id: path, summary: summary, schema: schema, takes: takes, required: required, handle: func(c *gin.Context) error {
		id := c.Param("id")
		c.Set(idKey, id)
		return s.serve(c, r, strings.Replace(r.path, ":id", url.PathEscape(id), 1), formAPI)
	}}
}

// idKey is where handlers find the id of the path, without a suffix.
const idKey = "id"

// reads are the methods of a route that changes nothing.
var reads = []string{http.MethodGet, http.MethodHead}

func (s *Server) routes() (http.Handler, error) {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.HandleMethodNotAllowed = true
	r.UseEscapedPath = true // ids may hold an escaped slash
	if err := r.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	r.Use(s.observe, secure, s.recovered)
	for _, p := range pages() {
		s.addPage(r, p)
	}
	s.addItem(r, environmentResource)
	s.addItem(r, attemptResource)
	r.Match(reads, "/search", s.handle(s.search))
	if s.db != nil {
		s.streamRoutes(r)
		s.runRoutes(r)
		s.writeRoutes(r)
	}
	for _, route := range s.apiRoutes() {
		r.Match(reads, apiPrefix+route.path, s.handle(route.handle))
	}
	r.Match(reads, apiPrefix+"/openapi.json", s.handle(s.serveOpenAPI))
	r.Match(reads, "/static/*file", s.handle(s.serveStatic))
	r.Match(reads, "/healthz", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
	r.Match(reads, "/readyz", s.handle(s.ready))
	r.Match(reads, "/metrics", gin.WrapH(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})))
	r.NoRoute(s.handle(func(c *gin.Context) error {
		return &httpError{status: http.StatusNotFound, detail: "There is no page at " + shorten(c.Request.URL.Path) + "."}
	}))
	r.NoMethod(s.handle(func(c *gin.Context) error {
		return &httpError{status: http.StatusMethodNotAllowed, detail: c.Request.Method + " is not allowed here; allowed: " + c.Writer.Header().Get("Allow") + "."}
	}))
	s.routed = r.Routes()
	return compressed(r)
}

// compressed compresses texts. Streams are left alone: an event must not wait in a
// compressor's buffer.
func compressed(h http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(1024), gzhttp.ContentTypeFilter(func(contentType string) bool {
		switch media, _, _ := strings.Cut(contentType, ";"); strings.TrimSpace(media) {
		case "text/html", "text/css", "text/csv", "text/plain", "text/javascript", "application/json", "application/problem+json",
			"application/x-ndjson", "image/svg+xml":
			return true
		}
		return false
	}))
	if err != nil {
		return nil, err
	}
	return wrap(h), nil
}

// addPage routes a page and its exports. The leaderboard is the page / and its
// exports are named after it.
func (s *Server) addPage(r *gin.Engine, p resource) {
	name := p.path
	if name == "/" {
		name = "/leaderboard"
		r.Match(reads, "/leaderboard", s.handle(func(c *gin.Context) error { return s.serve(c, p, "/", formHTML) }))
	}
	r.Match(reads, p.path, s.handle(func(c *gin.Context) error { return s.serve(c, p, p.path, formHTML) }))
	for _, form := range suffixes {
		r.Match(reads, name+"."+form, s.handle(func(c *gin.Context) error { return s.serve(c, p, p.path, form) }))
	}
}

// addItem routes the page of one thing. Gin cannot match a suffix after a path
// parameter, so it is cut off here.
func (s *Server) addItem(r *gin.Engine, p resource) {
	r.Match(reads, p.path, s.handle(func(c *gin.Context) error {
		id, form := c.Param("id"), formHTML
		for _, f := range suffixes {
			if bare, ok := strings.CutSuffix(id, "."+f); ok && bare != "" {
				id, form = bare, f
			}
		}
		c.Set(idKey, id)
		if p.live != nil && form == formHTML {
			if done, err := p.live(s, c, id); done || err != nil {
				return err
			}
		}
		return s.serve(c, p, strings.Replace(p.path, ":id", url.PathEscape(id), 1), form)
	}))
}

// ready says whether the database answers.
func (s *Server) ready(c *gin.Context) error {
	if err := s.store.Ping(c.Request.Context()); err != nil {
		s.log.WarnContext(c.Request.Context(), "not ready", "error", err.Error())
		c.String(http.StatusServiceUnavailable, "the database does not answer\n")
		return nil
	}
	c.String(http.StatusOK, "ready\n")
	return nil
}

// serveStatic serves an embedded file. Addresses that carry this process's version
// never change their content.
func (s *Server) serveStatic(c *gin.Context) error {
	name := strings.TrimPrefix(c.Param("file"), "/")
	b, err := fs.ReadFile(static.FS, name)
	if err != nil {
		return &httpError{status: http.StatusNotFound, detail: "There is no file " + shorten(name) + "."}
	}
	if c.Query("v") == s.instance {
		c.Header("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		c.Header("Cache-Control", "no-cache")
	}
	tag := s.instance + "-" + name
	c.Header("ETag", `W/"`+tag+`"`)
	if matches(c.GetHeader("If-None-Match"), tag) {
		c.Status(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return nil
	}
	c.Data(http.StatusOK, contentTypeOf(name), b)
	return nil
}

// contentTypeOf depends on the name alone: what the system's tables say differs from
// machine to machine.
func contentTypeOf(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	}
	return "text/plain; charset=utf-8"
}
