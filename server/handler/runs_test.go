package handler

import (
	"net/http"
	"strings"
	"testing"

	"encoding/json"

	"rebench/internal/analysis"
	"rebench/internal/store"
	"rebench/internal/testutil"

	"net/http/httptest"
)

func TestRuns(t *testing.T) {
	db := testutil.EmptyStore(t)
	h, err := New(Options{Engine: analysis.New(db, analysis.Options{}), Store: db, DB: db, UploadDir: t.TempDir(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Stop()
	secret := map[store.Scope]string{}
	for _, scope := range []store.Scope{store.ScopeUpload, store.ScopeAdmin} {
		if secret[scope], err = db.CreateToken(t.Context(), string(scope), scope); err != nil {
			t.Fatal(err)
		}
	}
	call := func(method, path string, scope store.Scope, body string) (int, map[string]any) {
		t.Helper()
		req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		if scope != "" {
			req.Header.Set("Authorization", "Bearer "+secret[scope])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		var out map[string]any
		if w.Body.Len() > 0 {
			if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				t.Fatalf("%s %s: %v: %s", method, path, err, w.Body)
			}
		}
		return w.Code, out
	}
	const good = `{"environment":"optimize_kernel","profile":"cpu","agent":"tuner","time_limit_s":60}`
	for _, tc := range []struct {
		name, method, path string
		scope              store.Scope
		body               string
		status             int
	}{
		{"no token", "POST", "/api/v1/runs", "", good, 401},
		{"upload token", "POST", "/api/v1/runs", store.ScopeUpload, good, 403},
		{"unknown environment", "POST", "/api/v1/runs", store.ScopeAdmin, strings.Replace(good, "kernel", "x", 1), 400},
		{"unknown agent", "POST", "/api/v1/runs", store.ScopeAdmin, strings.Replace(good, "tuner", "rm -rf", 1), 400},
		{"unknown field", "POST", "/api/v1/runs", store.ScopeAdmin, strings.Replace(good, "agent", "agnet", 1), 400},
		{"nothing to claim", "POST", "/api/v1/runs/claim", store.ScopeUpload, "{}", 204},
		{"good", "POST", "/api/v1/runs", store.ScopeAdmin, good, 201},
		{"another", "POST", "/api/v1/runs", store.ScopeAdmin, good, 201},
		{"cancel the second", "POST", "/api/v1/runs/2/cancel", store.ScopeAdmin, "", 200},
		{"cancel nothing", "POST", "/api/v1/runs/9/cancel", store.ScopeAdmin, "", 404},
	} {
		if status, out := call(tc.method, tc.path, tc.scope, tc.body); status != tc.status {
			t.Errorf("%s: %d %v, want %d", tc.name, status, out, tc.status)
		}
	}
	status, out := call("POST", "/api/v1/runs/claim", store.ScopeUpload, "{}")
	run, _ := out["run"].(map[string]any)
	if status != http.StatusOK || run["id"] != "1" || run["attempts"] != 1.0 || run["agent"] != "tuner" {
		t.Errorf("claim: %d %v", status, out)
	}
	if status, _ := call("POST", "/api/v1/runs/claim", store.ScopeUpload, "{}"); status != http.StatusNoContent {
		t.Errorf("a cancelled run was given out: %d", status)
	}
	back := `{"state":"queued","message":"given back","attempt_ids":[]}`
	if status, out := call("POST", "/api/v1/runs/1/status", store.ScopeUpload, back); status != 200 || out["state"] != "queued" || out["claimed_by"] != "" {
		t.Errorf("given back: %d %v", status, out)
	}
	if _, out := call("POST", "/api/v1/runs/claim", store.ScopeUpload, "{}"); out["run"] == nil || out["run"].(map[string]any)["id"] != "1" {
		t.Errorf("what was given back is not given out again: %v", out)
	}
	if status, _ := call("POST", "/api/v1/runs/1/status", store.ScopeUpload, `{"state":"running","message":"","attempt_ids":["a-1"]}`); status != 200 {
		t.Errorf("running: %d", status)
	}
	if status, _ := call("POST", "/api/v1/runs/1/status", store.ScopeUpload, back); status != http.StatusConflict {
		t.Errorf("given back with attempts made: %d", status)
	}
	if status, out := call("POST", "/api/v1/runs/1/status", store.ScopeUpload, `{"state":"done","message":"","attempt_ids":["a-1"]}`); status != 200 || out["state"] != "done" {
		t.Errorf("status: %d %v", status, out)
	}
	if status, _ := call("POST", "/api/v1/runs/1/status", store.ScopeUpload, `{"state":"running"}`); status != http.StatusConflict {
		t.Errorf("a run that is over moved on: %d", status)
	}
	if status, out := call("GET", "/api/v1/runs", "", ""); status != 200 || len(out["runs"].([]any)) != 2 {
		t.Errorf("list: %d %v", status, out)
	}
	for path, want := range map[string]string{"/runs": "text/html", "/runs.json": "application/json", "/runs.csv": "text/csv", "/runs.svg": "application/problem+json"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if !strings.HasPrefix(w.Header().Get("Content-Type"), want) || (w.Code == 200) != (path != "/runs.svg") {
			t.Errorf("%s: %d %s", path, w.Code, w.Header())
		}
		if path == "/runs.csv" && strings.Count(w.Body.String(), "\r\n") != 3 {
			t.Errorf("%s", w.Body)
		}
	}
}
