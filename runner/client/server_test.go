package client

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// eventServer keeps the contract of the event endpoint for one attempt.
type eventServer struct {
	*httptest.Server
	mu    sync.Mutex
	lines []string
	posts int
	sent  int // lines received, repeats included
	// trouble, when not nil, may answer in the server's place.
	trouble func(w http.ResponseWriter, r *http.Request, post int) bool
}

const testToken = "secret-token"

func newEventServer(t testing.TB) *eventServer {
	s := &eventServer{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/attempts/{id}/events/head", s.wrap(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"acknowledged": len(s.lines) - 1})
	}))
	mux.HandleFunc("POST /api/v1/attempts/{id}/events", s.wrap(s.post))
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *eventServer) wrap(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Method == http.MethodPost {
			s.posts++
		}
		if s.trouble != nil && s.trouble(w, r, s.posts) {
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+testToken {
			problem(w, 401, "unauthorized", nil)
			return
		}
		h(w, r)
	}
}

func problem(w http.ResponseWriter, status int, code string, expected *int) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	m := map[string]any{"status": status, "code": code, "title": code}
	if expected != nil {
		m["expected"] = *expected
	}
	json.NewEncoder(w).Encode(m)
}

func (s *eventServer) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != attemptlog.MediaType || !bytes.HasSuffix(body, []byte("\n")) {
		problem(w, 422, "invalid", nil)
		return
	}
	for line := range strings.Lines(string(body)) {
		s.sent++
		var e struct{ Seq int }
		if json.Unmarshal([]byte(line), &e) != nil {
			problem(w, 422, "invalid", nil)
			return
		}
		switch n := len(s.lines); {
		case e.Seq > n:
			problem(w, 409, "gap", &n)
			return
		case e.Seq < n:
			if s.lines[e.Seq] != line {
				problem(w, 409, "fork", nil)
				return
			}
		default:
			s.lines = append(s.lines, line)
		}
	}
	json.NewEncoder(w).Encode(map[string]any{"attempt_id": r.PathValue("id"), "acknowledged": len(s.lines) - 1})
}

// writeLog writes a log of one header and n-1 further lines.
func writeLog(t testing.TB, path string, n int, message string) {
	t.Helper()
	os.Remove(path)
	a, _, err := attemptlog.OpenAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Append(testHeader()); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < n; i++ {
		if _, err := a.Append(testScore(float64(i), message)); err != nil {
			t.Fatal(err)
		}
	}
}

func testHeader() *attemptlog.Header {
	return &attemptlog.Header{
		AttemptID: "a1", Environment: attemptlog.Environment{ID: "optimize_kernel", Version: "1", Profile: "cpu"}, Agent: &attemptlog.Agent{Name: "x"},
		Clock: rebench.ClockActive, Scoring: attemptlog.Scoring{Direction: rebench.Minimize}, Tool: attemptlog.Tool{Name: "t", Version: "1"},
	}
}

func testScore(t float64, message string) *attemptlog.Score {
	v := 1.5
	return &attemptlog.Score{T: &t, Score: &v, Basis: rebench.BasisRaw, Valid: true, Message: attemptlog.Text(message)}
}
