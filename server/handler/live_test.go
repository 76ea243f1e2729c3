package handler

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"rebench/internal/analysis"
	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

// streamed is a log of a kernel attempt: header, score, end.
func streamed(t *testing.T, id string) [][]byte {
	t.Helper()
	p := func(f float64) *float64 { return &f }
	var buf bytes.Buffer
	w := attemptlog.NewWriter(&buf)
	for _, e := range []attemptlog.Event{
		&attemptlog.Header{AttemptID: id, Environment: attemptlog.Environment{ID: "optimize_kernel", Version: "1", Profile: "cpu"},
			Agent: &attemptlog.Agent{Name: "<b>tuner</b>"}, TimeLimitS: p(60), Clock: rebench.ClockActive,
			Scoring: attemptlog.Scoring{Direction: rebench.Minimize, StartRaw: p(2), ReferenceRaw: p(1), CalibrationID: "c"}, Tool: attemptlog.Tool{Name: "t"}},
		&attemptlog.Score{T: p(1), Score: p(1.5), Valid: true, Basis: rebench.BasisRaw, Message: attemptlog.Text("<script>alert(1)</script>")},
		&attemptlog.End{T: p(3), Reason: attemptlog.EndSubmitted},
	} {
		if _, err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.SplitAfter(bytes.TrimSuffix(buf.Bytes(), []byte("\n")), []byte("\n"))
}

type liveSite struct {
	*httptest.Server
	secret string
}

func newLiveSite(t *testing.T) liveSite {
	t.Helper()
	db := testutil.EmptyStore(t)
	h, err := New(Options{Engine: analysis.New(db, analysis.Options{Replicates: 200}), Store: db, DB: db, UploadDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := db.CreateToken(t.Context(), "runner", store.ScopeUpload)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { h.Stop(); s.Close() })
	return liveSite{s, secret}
}

// send posts lines and returns the status and the decoded answer.
func (s liveSite) send(t *testing.T, id, secret string, body []byte) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/v1/attempts/"+id+"/events", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out
}

func (s liveSite) page(t *testing.T, path string) string {
	t.Helper()
	res, err := s.Client().Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d, %v", path, res.StatusCode, err)
	}
	return string(b)
}

func TestStreamedAttempt(t *testing.T) {
	s := newLiveSite(t)
	log := streamed(t, "a-1")
	for name, tc := range map[string]struct {
		secret string
		status int
	}{"without a token": {"", 401}, "with a wrong token": {"rebench_wrong", 401}} {
		if status, out := s.send(t, "a-1", tc.secret, log[0]); status != tc.status {
			t.Errorf("%s: %d %v, want %d", name, status, out, tc.status)
		}
	}
	if status, out := s.send(t, "a-1", s.secret, log[1]); status != 409 || out["code"] != "gap" || out["expected"] != 0.0 {
		t.Errorf("a gap: %d %v", status, out)
	}
	if status, out := s.send(t, "a-1", s.secret, log[0]); status != 200 || out["acknowledged"] != 0.0 {
		t.Errorf("the header: %d %v", status, out)
	}
	if status, out := s.send(t, "a-1", s.secret, []byte("nonsense")); status != 422 || out["code"] != "bad_json" {
		t.Errorf("nonsense: %d %v", status, out)
	}
	res, err := s.Client().Get(s.URL + "/api/v1/attempts/a-1/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	events := bufio.NewReader(res.Body)
	if u := nextUpdate(t, events); u.Score == nil || *u.Score != 0 || u.Ended {
		t.Errorf("first update: score %v, ended %t; want 0 before any entry", u.Score, u.Ended)
	}
	s.send(t, "a-1", s.secret, log[1])
	u := nextUpdate(t, events)
	if u.Score == nil || *u.Score != 0.5 || u.Ended || !json.Valid(u.Option) {
		t.Errorf("second update: score %v, ended %t; want 0.5", u.Score, u.Ended)
	}
	if strings.Contains(u.HTML, "<script>") || !strings.Contains(u.HTML, "&lt;script&gt;") {
		t.Error("the message is not escaped")
	}
	if html := s.page(t, "/attempts/a-1"); !strings.Contains(html, `data-live="/api/v1/attempts/a-1/stream"`) || strings.Contains(html, "<b>tuner") {
		t.Error("the page of a running attempt does not follow it, or is not escaped")
	}
	for _, want := range []string{"&lt;b&gt;tuner&lt;/b&gt; in Optimize a Kernel", "0.500"} {
		if !strings.Contains(s.page(t, "/runs"), want) {
			t.Errorf("/runs does not say %q of the running attempt", want)
		}
	}
	s.send(t, "a-1", s.secret, log[2])
	if u := nextUpdate(t, events); !u.Ended {
		t.Error("the end was not announced")
	}
	if html := s.page(t, "/attempts/a-1"); strings.Contains(html, "data-live=") || !strings.Contains(html, "0.500") {
		t.Error("the page of an ended attempt still follows it or lacks its score")
	}
	// The profile's own leaderboard: its environments with attempts, times of minutes.
	var board analysis.Leaderboard
	if err := json.Unmarshal([]byte(s.page(t, "/api/v1/leaderboard?profile=cpu&budget=2m")), &board); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(board.Environments, []rebench.EnvironmentID{rebench.OptimizeKernel}) || len(board.Rows) != 1 || board.Rows[0].Score != 0.5 || board.Rows[0].Allocation.K != 2 {
		t.Errorf("the cpu profile's leaderboard: %v, %+v", board.Environments, board.Rows)
	}
	if html := s.page(t, "/environments?profile=cpu"); !strings.Contains(html, "Restricted Architecture MLM") || !strings.Contains(html, "smaller versions of the tasks") {
		t.Error("the cpu profile's environments are not all listed as this project's own")
	}
	if html := s.page(t, "/?profile=cpu"); !strings.Contains(html, "budget=20m") || strings.Contains(html, "budget=64h") {
		t.Error("the cpu profile's leaderboard does not offer its own total times")
	}
}

// nextUpdate reads one server-sent event.
func nextUpdate(t *testing.T, r *bufio.Reader) liveUpdate {
	t.Helper()
	var u liveUpdate
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &u); err != nil {
				t.Fatal(err)
			}
			return u
		}
	}
}
