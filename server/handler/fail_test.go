package handler

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// problem requests a path that must fail and returns its problem.
func (s *site) problem(tb testing.TB, path string, status int) Problem {
	tb.Helper()
	r := s.get(tb, path)
	b := read(tb, r)
	if r.StatusCode != status || r.Header.Get("Content-Type") != "application/problem+json" {
		tb.Fatalf("GET %s: status %d, %s: %.300s", path, r.StatusCode, r.Header.Get("Content-Type"), b)
	}
	var p Problem
	if err := json.Unmarshal([]byte(b), &p); err != nil {
		tb.Fatal(err)
	}
	if p.Status != status || p.Title != http.StatusText(status) || p.Detail == "" || p.RequestID == "" || !strings.HasPrefix(path, p.Instance) {
		tb.Errorf("GET %s: problem %+v", path, p)
	}
	return p
}

func TestProblems(t *testing.T) {
	s := publishedSite(t)
	tests := []struct {
		path   string
		status int
		detail string // part of it
	}{
		{"/api/v1/leaderboard?budget=8x", 400, `parameter budget is "8x": expected a total time`},
		{"/api/v1/leaderboard?bugdet=8h", 400, "Did you mean budget?"},
		{"/api/v1/leaderboard?show=sensitivity", 400, "unknown parameter"},
		{"/api/v1/leaderboard?agents=o1-previw", 400, "Did you mean o1-preview"},
		{"/api/v1/leaderboard?agents=nobody", 400, "there are"},
		{"/api/v1/leaderboard?scorer=metr", 400, "Did you mean metr-published?"},
		{"/api/v1/leaderboard?hardware=a100", 400, "there are all"},
		{"/api/v1/leaderboard?profile=cpu&scorer=metr-published", 400, "parameter scorer"},
		{"/api/v1/leaderboard?asof=77", 404, "data revision 77"},
		{"/api/v1/leaderboard?%zz", 400, "percent-encoded"},
		{"/api/v1/compare?a=human", 400, "parameter b is missing"},
		{"/compare.json", 400, "parameter a is missing"},
		{"/compare.csv?a=human", 400, "parameter b is missing"},
		{"/api/v1/compare?a=human&b=gpt", 400, "Did you mean"},
		{"/api/v1/score-at-k?agent=human", 400, "parameter time_limit is missing"},
		{"/api/v1/score-at-k?agent=human&time_limit=1800", 404, "28800"},
		{"/api/v1/environments/ai_rd_triton_cumsum", 404, "Did you mean optimize_kernel?"},
		{"/environments/kernel.json", 404, "Did you mean optimize_kernel?"},
		{"/api/v1/attempts/mp4-server_204921", 404, "metr-rebench:mp4-server_204921"},
		{"/api/v1/attempts/nothing-like-it", 404, "there is no attempt"},
		{"/api/v1/attempts?page_token=xyz", 400, "page_token"},
		{"/api/v1/attempts?page_token=MS45OTk5OTk5", 400, "page_token"},
		{"/api/v1/attempts?environment=kernel", 400, "optimize_kernel"},
		{"/api/v1/nothing", 404, "no page at /api/v1/nothing"},
		{"/leaderboard.json?budget=8x", 400, "parameter budget"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			p := s.problem(t, tt.path, tt.status)
			if !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("detail %q lacks %q", p.Detail, tt.detail)
			}
		})
	}
	if log := s.log.String(); log != "" {
		t.Errorf("callers' mistakes are in the log: %s", log)
	}
}

func TestProblemNamesEveryFault(t *testing.T) {
	s := publishedSite(t)
	p := s.problem(t, "/api/v1/leaderboard?budget=x&environments=kernel&foo=1", 400)
	b, err := json.Marshal(p.Errors)
	if err != nil {
		t.Fatal(err)
	}
	var faults []ParamFault
	if err := json.Unmarshal(b, &faults); err != nil {
		t.Fatal(err)
	}
	if len(faults) != 3 || faults[0].Parameter != "budget" || faults[1].Parameter != "environments" || faults[2].Parameter != "foo" {
		t.Fatalf("errors %+v", faults)
	}
	if e := faults[1]; e.Found != "kernel" || e.Code != "unknown_value" || len(e.Allowed) != 7 {
		t.Errorf("environments: %+v", e)
	}
}

func TestErrorPages(t *testing.T) {
	s := publishedSite(t)
	tests := []struct {
		path   string
		status int
		want   string
	}{
		{"/?budget=8x", 400, "8x"},
		{"/?environments=kernel", 400, "optimize_kernel"},
		{"/compare?a=nobody&b=human", 400, "nobody"},
		{"/environments/kernel", 404, "optimize_kernel"},
		{"/attempts/204921", 404, "metr-rebench:mp4-server_204921"},
		{"/nothing", 404, "/nothing"},
		{"/?budget=%3Cscript%3Ealert(1)%3C/script%3E", 400, "&lt;script&gt;"},
		{"/attempts/%3Cscript%3Ealert(1)%3C%2Fscript%3E", 404, "&lt;script&gt;"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			r := s.get(t, tt.path)
			b := read(t, r)
			if r.StatusCode != tt.status || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
				t.Fatalf("status %d, %s", r.StatusCode, r.Header.Get("Content-Type"))
			}
			if !strings.Contains(b, tt.want) {
				t.Errorf("the page lacks %q", tt.want)
			}
			if strings.Contains(b, "<script>alert") {
				t.Error("text from the address reached the page as markup")
			}
			if r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("ETag") != "" {
				t.Errorf("an error can be cached: %v", r.Header)
			}
		})
	}
}

func TestMethodNotAllowed(t *testing.T) {
	s := publishedSite(t)
	r := s.do(t, http.MethodPost, "/api/v1/leaderboard")
	if b := read(t, r); r.StatusCode != 405 || !strings.Contains(r.Header.Get("Allow"), "GET") || !strings.Contains(b, "POST is not allowed") {
		t.Errorf("status %d, Allow %q, %s", r.StatusCode, r.Header.Get("Allow"), b)
	}
}

// faulty fails as its leaderboard function says.
type faulty struct {
	Engine
	leaderboard func() (*analysis.Leaderboard, error)
}

func (f faulty) Leaderboard(context.Context, analysis.Query) (*analysis.Leaderboard, error) {
	return f.leaderboard()
}

func TestInternalErrorsStayInside(t *testing.T) {
	tests := []struct {
		name string
		fail func() (*analysis.Leaderboard, error)
	}{
		{"error", func() (*analysis.Leaderboard, error) { return nil, errors.New("SECRET /var/db line 12") }},
		{"coded error", func() (*analysis.Leaderboard, error) {
			return nil, rebench.Errorf(rebench.CodeInternal, "SECRET %w", errors.New("cause"))
		}},
		{"panic", func() (*analysis.Leaderboard, error) { panic("SECRET state") }},
	}
	for _, tt := range tests {
		for _, path := range []string{"/api/v1/leaderboard", "/", "/leaderboard.svg"} {
			t.Run(tt.name+" "+path, func(t *testing.T) {
				s := publishedSite(t)
				s.engine = faulty{s.engine, tt.fail}
				r := s.get(t, path)
				b := read(t, r)
				if r.StatusCode != 500 || strings.Contains(b, "SECRET") || strings.Contains(b, ".go:") {
					t.Errorf("status %d: %s", r.StatusCode, b)
				}
				id := r.Header.Get("X-Request-Id")
				if !strings.Contains(b, id) {
					t.Error("the response does not name the request")
				}
				log := s.log.String()
				if strings.Count(log, "\n") != 1 || !strings.Contains(log, "SECRET") || !strings.Contains(log, `"request_id":"`+id+`"`) {
					t.Errorf("log: %s", log)
				}
			})
		}
	}
}

// A client that hangs up is no fault of the server.
func TestClientGone(t *testing.T) {
	s := publishedSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, cause := range []error{context.Canceled, errors.New("interrupted (9)"), &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}} {
		s.engine = faulty{s.engine, func() (*analysis.Leaderboard, error) { return nil, cause }}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://rebench.test/api/v1/leaderboard", nil)
		if err != nil {
			t.Fatal(err)
		}
		s.ServeHTTP(newRecorder(), r)
		if log := s.log.String(); log != "" {
			t.Errorf("%v: log: %s", cause, log)
		}
	}
}

// What a machine asked for is answered to a machine, also where it fails.
func TestErrorsOfSuffixes(t *testing.T) {
	s := publishedSite(t)
	for path, want := range map[string]int{"/leaderboard.svg?budget=x": 400, "/curves.csv?budget=x": 400, "/validity.svg": 404, "/nothing.svg": 404, "/nothing.csv": 404, "/environments/kernel.svg": 404,
		"/compare.json?a=nobody&b=human": 400} {
		r := s.get(t, path)
		if b := read(t, r); r.StatusCode != want || r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s %.200s", path, r.StatusCode, r.Header.Get("Content-Type"), b)
		}
	}
}
