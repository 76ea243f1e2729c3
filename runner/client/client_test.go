package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"rebench/internal/rebench"
)

func TestNewRefusesWhatIsNoServer(t *testing.T) {
	for _, bad := range []string{"", "localhost:8080", "ftp://x", "http://", "http://u:p@h", "http://h?x=1", "http://h#f", "://", "http://h\x7f"} {
		if _, err := New(bad, "t"); rebench.ErrorCode(err) != rebench.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := New("http://h", "two words"); rebench.ErrorCode(err) != rebench.CodeInvalid {
		t.Error("a token with a blank was taken")
	}
	for address, clear := range map[string]bool{"http://127.0.0.1:1": false, "http://localhost": false, "http://[::1]:2": false, "https://example.org": false, "http://example.org": true} {
		c, err := New(address, "t")
		if err != nil || c.SendsTokenInClear() != clear {
			t.Errorf("%s: %v, %v", address, c.SendsTokenInClear(), err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("followed, with token %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	c, err := New(s.URL, testToken)
	if err != nil {
		t.Fatal(err)
	}
	var status *StatusError
	if _, err := c.Head(context.Background(), "a"); !errors.As(err, &status) || status.Status != 307 || Retryable(err) {
		t.Error(err)
	}
}

func TestAttemptIDsAreEscaped(t *testing.T) {
	var path string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.EscapedPath()
		io.WriteString(w, `{"acknowledged":-1}`)
	}))
	defer s.Close()
	c, _ := New(s.URL+"/prefix/", "")
	if n, err := c.Head(context.Background(), "../a/b?c"); err != nil || n != -1 {
		t.Error(n, err)
	}
	if path != "/prefix/api/v1/attempts/..%2Fa%2Fb%3Fc/events/head" {
		t.Error(path)
	}
}

func TestClaimAndReport(t *testing.T) {
	var reported JobStatus
	jobs := []string{`{"run":{"id":"r1","environment":"optimize_kernel","profile":"cpu","agent":"starter","time_limit_s":60,"attempts":4,"parallel":2,"seed":9}}`, "", `{"run":null}`, `{}`}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/runs/claim", func(w http.ResponseWriter, _ *http.Request) {
		job := jobs[0]
		jobs = jobs[1:]
		if job == "" {
			w.WriteHeader(204)
			return
		}
		io.WriteString(w, job)
	})
	mux.HandleFunc("POST /api/v1/runs/r1/status", func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&reported); err != nil {
			t.Error(err)
		}
		w.WriteHeader(204)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	c, _ := New(s.URL, testToken)
	job, err := c.Claim(context.Background())
	if want := (Job{"r1", "optimize_kernel", "cpu", "starter", 60, 4, 2, 9}); err != nil || *job != want {
		t.Errorf("%+v, %v", job, err)
	}
	if job, err := c.Claim(context.Background()); job != nil || err != nil {
		t.Errorf("no work: %v, %v", job, err)
	}
	for range 2 {
		if _, err := c.Claim(context.Background()); err == nil {
			t.Error("a claim without a run was taken")
		}
	}
	if err := c.Report(context.Background(), "r1", JobStatus{State: JobDone}); err != nil || reported.State != JobDone || reported.AttemptIDs == nil {
		t.Errorf("%+v, %v", reported, err)
	}
}

func TestBackoffGrowsToItsMost(t *testing.T) {
	var b backoff
	ceiling := backoffFirst
	for i := range 20 {
		d := b.wait(0)
		if d < ceiling/2 || d > ceiling {
			t.Errorf("wait %d: %v, expected %v to %v", i, d, ceiling/2, ceiling)
		}
		ceiling = min(2*ceiling, backoffMost)
	}
	if b.wait(time.Hour) != time.Hour {
		t.Error("less than the server asked for")
	}
	b.reset()
	if d := b.wait(0); d > backoffFirst {
		t.Errorf("after a success: %v", d)
	}
}
