package handler

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"rebench/internal/analysis"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

// site is a server over a database of its own.
type site struct {
	*Server
	store *store.Store
	log   *lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// replicates are enough draws to tell results apart; tests do not check widths.
const replicates = 500

func newSite(tb testing.TB, db *store.Store) *site {
	tb.Helper()
	log := &lockedBuffer{}
	s, err := New(Options{Engine: analysis.New(db, analysis.Options{Replicates: replicates}), Store: db,
		Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})), Version: "1.2.3"})
	if err != nil {
		tb.Fatal(err)
	}
	return &site{s, db, log}
}

func publishedSite(tb testing.TB) *site { return newSite(tb, testutil.PublishedStore(tb)) }

// get requests a path from the server as http://rebench.test.
func (s *site) get(tb testing.TB, path string, headers ...string) *http.Response {
	tb.Helper()
	return s.do(tb, http.MethodGet, path, headers...)
}

func (s *site) do(tb testing.TB, method, path string, headers ...string) *http.Response {
	tb.Helper()
	r := httptest.NewRequest(method, "http://rebench.test"+path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func read(tb testing.TB, r *http.Response) string {
	tb.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// text requests a path that must answer 200.
func (s *site) text(tb testing.TB, path string) string {
	tb.Helper()
	r := s.get(tb, path)
	b := read(tb, r)
	if r.StatusCode != http.StatusOK {
		tb.Fatalf("GET %s: status %d: %s\nlog: %s", path, r.StatusCode, b, s.log.String())
	}
	return b
}

// decode requests a path that must answer 200 with JSON.
func (s *site) decode(tb testing.TB, path string, into any) {
	tb.Helper()
	if err := json.Unmarshal([]byte(s.text(tb, path)), into); err != nil {
		tb.Fatalf("GET %s: %v", path, err)
	}
}

// pagePaths are the pages, each with the forms that it is served in.
var pagePaths = []struct {
	path  string
	name  string // path without query for the suffixes
	query string
}{
	{"/", "/leaderboard", ""},
	{"/curves", "/curves", ""},
	{"/compare", "/compare", "?a=o1-preview&b=human"},
	{"/environments", "/environments", ""},
	{"/environments/optimize_kernel", "/environments/optimize_kernel", ""},
	{"/humans", "/humans", ""},
	{"/attempts", "/attempts", ""},
	{"/attempts/metr-rebench:mp4-server_204921", "/attempts/metr-rebench:mp4-server_204921", ""},
	{"/methodology", "/methodology", ""},
}

func TestEveryPageAndSuffix(t *testing.T) {
	s := publishedSite(t)
	for _, p := range pagePaths {
		t.Run(p.path, func(t *testing.T) {
			r := s.get(t, p.path+p.query)
			b := read(t, r)
			if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") || !strings.HasSuffix(strings.TrimSpace(b), "</html>") {
				t.Errorf("page: status %d, %s, %d bytes", r.StatusCode, r.Header.Get("Content-Type"), len(b))
			}
			var exported struct {
				Meta struct {
					Title, URL, Version, Cite string
					Axes                      []axis
					N                         int
					DataRevision              int64 `json:"data_revision"`
				}
			}
			s.decode(t, p.name+".json"+p.query, &exported)
			m := exported.Meta
			if m.Title == "" || len(m.Axes) == 0 || m.N == 0 || m.DataRevision != 1 || m.Version != "1.2.3" ||
				!strings.HasPrefix(m.URL, "http://rebench.test"+strings.ReplaceAll(p.path, "?", "")) || !strings.Contains(m.URL, "asof=1") || !strings.Contains(m.Cite, m.URL) {
				t.Errorf("meta %+v", m)
			}
			checkCSV(t, s, p.name+".csv"+p.query)
			r = s.get(t, p.name+".svg"+p.query)
			b = read(t, r)
			if r.StatusCode != 200 || r.Header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(b, "</svg>") || !strings.Contains(b, "asof=1") {
				t.Errorf("picture: status %d, %s, %.200s", r.StatusCode, r.Header.Get("Content-Type"), b)
			}
		})
	}
}

// The leaderboard is the page / under two names.
func TestLeaderboardNames(t *testing.T) {
	s := publishedSite(t)
	if a, b := s.text(t, "/"), s.text(t, "/leaderboard"); a != b {
		t.Error("/ and /leaderboard differ")
	}
}

func TestSecurityHeaders(t *testing.T) {
	s := publishedSite(t)
	for _, path := range []string{"/", "/nothing", "/api/v1/leaderboard", "/static/app.css", "/metrics", "/leaderboard.svg"} {
		h := s.get(t, path).Header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'self'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if !strings.Contains(h.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		if csp := h.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if len(h.Get("X-Request-Id")) != 16 {
			t.Errorf("%s: request id %q", path, h.Get("X-Request-Id"))
		}
	}
}

func TestCompression(t *testing.T) {
	s := publishedSite(t)
	plain := s.get(t, "/api/v1/curves")
	packed := s.get(t, "/api/v1/curves", "Accept-Encoding", "gzip")
	if plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("encodings %q and %q", plain.Header.Get("Content-Encoding"), packed.Header.Get("Content-Encoding"))
	}
	if a, b := len(read(t, plain)), len(read(t, packed)); b >= a/2 {
		t.Errorf("%d bytes compressed to %d", a, b)
	}
	if !strings.Contains(packed.Header.Get("Vary"), "Accept-Encoding") {
		t.Errorf("Vary is %q", packed.Header.Get("Vary"))
	}
}

func TestOperations(t *testing.T) {
	s := publishedSite(t)
	if got := s.text(t, "/healthz"); got != "ok\n" {
		t.Errorf("healthz %q", got)
	}
	if got := s.text(t, "/readyz"); got != "ready\n" {
		t.Errorf("readyz %q", got)
	}
	s.text(t, "/api/v1/leaderboard")
	s.get(t, "/api/v1/leaderboard?budget=x")
	s.do(t, "BREW", "/")
	m := s.text(t, "/metrics")
	for _, want := range []string{
		`rebench_http_request_duration_seconds_count{code="200",method="GET",route="/api/v1/leaderboard"} 1`,
		`rebench_http_request_duration_seconds_count{code="400",method="GET",route="/api/v1/leaderboard"} 1`,
		`rebench_http_request_duration_seconds_count{code="405",method="other",route="none"} 1`,
		`rebench_responses_total{from="computed"} 1`, "rebench_data_revision 1\n", "go_goroutines ",
	} {
		if !strings.Contains(m, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	if r := s.get(t, "/readyz"); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("readyz without a database: status %d", r.StatusCode)
	}
	if !strings.Contains(s.text(t, "/metrics"), "rebench_data_revision -1\n") {
		t.Error("metrics show a revision without a database")
	}
}

func TestHead(t *testing.T) {
	s := publishedSite(t)
	get, head := s.get(t, "/api/v1/leaderboard"), s.do(t, http.MethodHead, "/api/v1/leaderboard")
	if head.StatusCode != 200 || head.Header.Get("ETag") != get.Header.Get("ETag") {
		t.Errorf("HEAD: status %d, tag %s; GET has %s", head.StatusCode, head.Header.Get("ETag"), get.Header.Get("ETag"))
	}
}
