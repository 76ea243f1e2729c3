package handler

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/go-cmp/cmp"

	"rebench/internal/analysis"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

func loadSpec(t *testing.T, s *site) (*openapi3.T, routers.Router) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(s.text(t, "/api/v1/openapi.json")))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

// validate checks the response to a path against the document and returns the
// documented path and the status.
func validate(t *testing.T, s *site, router routers.Router, path string) (string, int) {
	t.Helper()
	req := httptest.NewRequest(http.MethodGet, path, nil)
	route, params, err := router.FindRoute(req)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	input := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route}
	err = openapi3filter.ValidateRequest(t.Context(), input)
	if w.Code == http.StatusOK && err != nil {
		t.Errorf("%s: answered, but not a documented request: %v", path, err)
	}
	body := w.Body.Bytes()
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: w.Code, Header: w.Result().Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s: status %d: %s", path, w.Code, strings.Split(err.Error(), "\n")[0])
	}
	return route.Path, w.Code
}

func init() {
	// Attempt logs are lines, which no schema describes.
	openapi3filter.RegisterBodyDecoder("application/x-ndjson", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder(mediaEvents, openapi3filter.PlainBodyDecoder)
}

func TestResponsesMatchOpenAPI(t *testing.T) {
	published, empty := publishedSite(t), newSite(t, testutil.EmptyStore(t))
	doc, router := loadSpec(t, published)
	good := []string{
		"/leaderboard", "/leaderboard?budget=1800", "/leaderboard?budget=230400&estimator=with&cohort=all&flagged=include&convention=metr",
		"/leaderboard?budget=60", "/leaderboard?profile=cpu", "/leaderboard?environments=optimize_kernel&cap=1&hours=7-9&truncate=yes", "/leaderboard?agents=human", "/leaderboard?scorer=metr-published&hardware=all",
		"/curves", "/curves?statistic=mean", "/curves?statistic=median&environments=gpt2_qa", "/curves?profile=gpu", "/curves?agents=o1-preview,human",
		"/score-at-k?agent=o1-preview&time_limit=1800&k=1,2,4", "/score-at-k?agent=human&time_limit=28800", "/score-at-k?agent=human&time_limit=28800&k=1000&environments=scaling_law",
		"/compare?a=human&b=o1-preview", "/compare?a=o1-preview&b=o1-preview", "/compare?a=human&b=o1-preview&budget=1800", "/compare?a=human&b=o1-preview&profile=cpu",
		"/sensitivity", "/sensitivity?profile=cpu", "/humans", "/humans?profile=cpu", "/humans/percentiles?cohort=all", "/humans/percentiles?profile=cpu",
		"/environments", "/environments?profile=cpu", "/environments/scaling_law", "/environments/optimize_kernel?profile=gpu", "/methodology", "/validity", "/validity?environment=gpt2_qa&state=prevented",
		"/attempts", "/attempts?environment=scaling_law&agent=human", "/attempts?flagged=only", "/attempts?sort=-score&kind=agent&time_limit=1800", "/attempts?profile=cpu", "/attempts?text=zzzz",
		"/attempts/metr-rebench:mp4-server_204921", "/attempts/metr-rebench:mp4-server_204921?asof=1", "/attempts/metr-rebench:mp4-server_204921/log",
		"/attempts.jsonl?environment=gpt2_qa&agent=human", "/attempts.csv?text=204921",
	}
	bad := []string{
		"/leaderboard?budget=x", "/leaderboard?nothing=1", "/leaderboard?agents=nobody", "/leaderboard?asof=99", "/score-at-k", "/score-at-k?agent=human&time_limit=60",
		"/compare?a=human", "/compare?a=human&b=nobody", "/environments/kernel", "/attempts/nothing", "/attempts/204921", "/attempts/nothing/log", "/attempts?page_token=x",
		"/attempts?sort=up", "/methodology?budget=8h", "/validity?state=no",
	}
	answered := map[string]bool{}
	for _, path := range good {
		route, status := validate(t, published, router, apiPrefix+path)
		if status != http.StatusOK {
			t.Errorf("%s: status %d", path, status)
		}
		answered[route] = true
	}
	for path, item := range doc.Paths.Map() {
		if item.Get != nil && !answered[path] && !slices.ContainsFunc(liveOperations(), func(w writeOperation) bool {
			live, _ := openAPIPath(w.path)
			return live == path // of runs and streams, which have a test of their own
		}) {
			t.Errorf("no response of %s was checked", path)
		}
	}
	for _, path := range bad {
		if _, status := validate(t, published, router, apiPrefix+path); status != http.StatusBadRequest && status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
	// A database without any attempt answers in the same shapes.
	for _, path := range []string{"/leaderboard", "/curves", "/sensitivity", "/humans", "/humans/percentiles", "/environments", "/environments/scaling_law", "/attempts", "/methodology", "/validity"} {
		if _, status := validate(t, empty, router, apiPrefix+path); status != http.StatusOK {
			t.Errorf("empty database, %s: status %d", path, status)
		}
	}
}

// The document describes the routes that there are, and no others.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	db := testutil.EmptyStore(t)
	s, err := New(Options{Engine: analysis.New(db, analysis.Options{}), Store: db, DB: db, UploadDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	doc, err := openapi3.NewLoader().LoadFromData(s.openapi)
	if err != nil {
		t.Fatal(err)
	}
	routes, documented := map[string]bool{}, map[string]bool{}
	for _, r := range s.routed {
		if path, ok := strings.CutPrefix(r.Path, apiPrefix); ok && r.Method != http.MethodHead && path != "/openapi.json" {
			path, _ = openAPIPath(path)
			routes[r.Method+" "+path] = true
		}
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented[method+" "+path] = true
		}
	}
	if d := cmp.Diff(routes, documented); d != "" || len(routes) < 25 {
		t.Errorf("routes (-) and document (+), %d routes:\n%s", len(routes), d)
	}
}

// What runs and streams are answered with is what the document says.
func TestRunsMatchOpenAPI(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	_, _, text := s.page(t, apiPrefix+"/openapi.json")
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	log := ownLog(t, nil)
	lines := strings.SplitAfter(log, "\n")
	request := `{"environment":"optimize_kernel","profile":"test","agent":"tuner","time_limit_s":60}`
	for _, c := range []struct {
		method, path, scope, body string
		want                      int
	}{
		{"POST", "/runs", "admin", request, 201}, {"POST", "/runs", "admin", `{"agent":"x"}`, 400}, {"POST", "/runs", "upload", request, 403}, {"POST", "/runs", "", request, 401},
		{"POST", "/runs/claim", "upload", "", 200}, {"POST", "/runs/claim", "upload", "", 204},
		{"POST", "/runs/1/status", "upload", `{"state":"running","attempt_ids":["own-1"]}`, 200}, {"POST", "/runs/1/status", "upload", `{"state":"queued"}`, 409},
		{"POST", "/runs/9/status", "upload", `{"state":"done"}`, 404}, {"POST", "/runs/1/status", "upload", `{"state":"claimed"}`, 400},
		{"POST", "/attempts/own-1/events", "upload", lines[1], 409}, {"POST", "/attempts/own-1/events", "upload", lines[0] + lines[1], 200},
		{"POST", "/attempts/own-1/events", "upload", "{}\n", 422}, {"POST", "/attempts/own-1/events", "", lines[2], 401},
		{"GET", "/runs", "", "", 200}, {"GET", "/attempts/own-1/events/head", "upload", "", 200}, {"GET", "/attempts/own-1/events/head", "", "", 401},
		{"POST", "/attempts/own-1/events", "upload", lines[2], 200}, {"GET", "/attempts/own-1/stream", "", "", 200}, {"GET", "/attempts/none/stream", "", "", 404},
		{"POST", "/runs/1/cancel", "admin", "", 200}, {"POST", "/runs/1/cancel", "admin", "", 409}, {"POST", "/runs/7/cancel", "admin", "", 404},
	} {
		req := httptest.NewRequestWithContext(t.Context(), c.method, apiPrefix+c.path, strings.NewReader(c.body))
		req.Header.Set("Content-Type", "application/json")
		if strings.HasSuffix(c.path, "/events") {
			req.Header.Set("Content-Type", "application/x-ndjson")
		}
		if c.scope != "" {
			req.Header.Set("Authorization", "Bearer "+s.secret[store.Scope(c.scope)])
		}
		route, params, err := router.FindRoute(req)
		if err != nil {
			t.Fatalf("%s %s: %v", c.method, c.path, err)
		}
		input := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route,
			Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
		if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil && c.want < 300 {
			t.Errorf("%s %s is no documented request: %v", c.method, c.path, err)
		}
		out := s.send(t, c.method, apiPrefix+c.path, c.scope, c.body)
		if out.status != c.want {
			t.Errorf("%s %s: %d, want %d: %.300s", c.method, c.path, out.status, c.want, out.body)
		}
		err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: out.status, Header: out.header,
			Body: io.NopCloser(strings.NewReader(out.body)), Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true}})
		if err != nil {
			t.Errorf("%s %s: %d is no documented answer: %.400s", c.method, c.path, out.status, err)
		}
	}
}

// Every parameter that a route reads is documented, and the other way round.
func TestOpenAPIParameters(t *testing.T) {
	s := publishedSite(t)
	doc, _ := loadSpec(t, s)
	for _, r := range s.apiRoutes() {
		path, names := openAPIPath(r.path)
		op := doc.Paths.Value(path).Get
		documented := map[string]bool{}
		for _, p := range op.Parameters {
			documented[p.Value.Name] = true
		}
		if len(documented) != len(r.takes)+len(names) {
			t.Errorf("%s documents %d parameters, reads %d", path, len(documented), len(r.takes)+len(names))
		}
		for _, name := range append(names, r.takes...) {
			if !documented[name] {
				t.Errorf("%s: %s is not documented", path, name)
			}
			if _, ok := parameters[name]; !ok && name != "id" {
				t.Errorf("%s takes %s, which nothing reads", path, name)
			}
		}
	}
}
