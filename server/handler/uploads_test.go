package handler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"rebench/internal/analysis"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

type uploadSite struct {
	*httptest.Server
	db     *store.Store
	dir    string
	secret map[store.Scope]string
	stop   func()
}

func newUploadSite(t *testing.T, db *store.Store) *uploadSite {
	t.Helper()
	s := &uploadSite{db: db, dir: t.TempDir(), secret: map[store.Scope]string{}}
	s.start(t)
	t.Cleanup(func() { s.stop() })
	var err error
	for _, scope := range []store.Scope{store.ScopeUpload, store.ScopeAdmin} {
		if s.secret[scope], err = db.CreateToken(t.Context(), string(scope), scope); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *uploadSite) start(t *testing.T) {
	t.Helper()
	h, err := New(Options{Engine: analysis.New(s.db, analysis.Options{Replicates: 200}), Store: s.db, DB: s.db, UploadDir: s.dir, Logger: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(h)
	s.stop = func() { h.Stop(); s.Close() }
}

// restart ends the server and starts another over the same database and directory.
func (s *uploadSite) restart(t *testing.T) {
	t.Helper()
	s.stop()
	s.start(t)
}

// form builds a multipart body; fields come first.
func form(t *testing.T, fields map[string]string, files map[string]string) (io.Reader, string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for k, v := range fields {
		if err := w.WriteField(k, v); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		part, err := w.CreateFormFile("file", name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(part, content)
	}
	w.Close()
	return &buf, w.FormDataContentType()
}

type reply struct {
	status int
	header http.Header
	body   string
	json   map[string]any
}

func (a reply) count(member string) int {
	list, _ := a.json[member].([]any)
	return len(list)
}

// code is the code of the first error.
func (a reply) code() string {
	list, _ := a.json["errors"].([]any)
	if len(list) == 0 {
		return ""
	}
	first, _ := list[0].(map[string]any)
	code, _ := first["code"].(string)
	return code
}

func (s *uploadSite) post(t *testing.T, path, secret, key string, body io.Reader, contentType string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := reply{status: res.StatusCode, header: res.Header, body: string(b)}
	_ = json.Unmarshal(b, &a.json)
	return a
}

// send makes a request with a token of that scope, "" for none.
func (s *uploadSite) send(t *testing.T, method, path, scope, body string) reply {
	t.Helper()
	if method == http.MethodPost {
		return s.post(t, path, s.secret[store.Scope(scope)], "", strings.NewReader(body), "application/json")
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if scope != "" {
		req.Header.Set("Authorization", "Bearer "+s.secret[store.Scope(scope)])
	}
	res, err := s.Client().Do(req)
	status, _, text := bodyOf(t, res, err)
	return reply{status: status, header: res.Header, body: text}
}

func (s *uploadSite) upload(t *testing.T, query, key string, fields, files map[string]string) reply {
	t.Helper()
	body, contentType := form(t, fields, files)
	return s.post(t, "/api/v1/uploads"+query, s.secret[store.ScopeUpload], key, body, contentType)
}

const row = `{"run_id":%d,"task_id":"ai_rd_fix_embedding/main","task_family":"ai_rd_fix_embedding","alias":"A","model":"a","score":%g,"time_limit":1800,"started_at":1,"completed_at":2,"fatal_error_from":null}` + "\n"

func rows(score float64, ids ...int) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, row, id, score)
	}
	return b.String()
}

func TestUploadAPI(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	runs := map[string]string{"runs.jsonl": rows(0.5, 1, 2)}
	if a := s.upload(t, "?dry_run=1", "", nil, runs); a.status != 200 || a.count("created") != 2 {
		t.Fatalf("dry run: %d %s", a.status, a.body)
	}
	if rev, _ := s.db.LatestRevision(t.Context()); rev.ID != 0 {
		t.Fatal("a dry run wrote something")
	}
	a := s.upload(t, "", "k1", nil, runs)
	if a.status != 201 || a.count("created") != 2 || a.count("errors") != 0 || a.json["upload_id"] == "" {
		t.Fatalf("upload: %d %s", a.status, a.body)
	}
	first, _ := a.json["created"].([]any)[0].(map[string]any)
	if first["file"] != "runs.jsonl" || first["attempt_id"] != "metr-rebench:1" || first["environment"] != "fix_embedding" || first["agent"] != "A" {
		t.Errorf("element %v", first)
	}
	if again := s.upload(t, "", "k1", nil, runs); again.status != 201 || again.body != a.body || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same key again: %d %s", again.status, again.body)
	}
	if other := s.upload(t, "", "k1", nil, map[string]string{"runs.jsonl": rows(0.6, 1)}); other.status != 409 {
		t.Errorf("the key for another request: %d %s", other.status, other.body)
	}
	if again := s.upload(t, "", "", nil, runs); again.status != 201 || again.count("unchanged") != 2 || again.count("created") != 0 {
		t.Errorf("without a key: %d %s", again.status, again.body)
	}
	if revised := s.upload(t, "", "", nil, map[string]string{"runs.jsonl": rows(0.25, 1)}); revised.status != 201 || revised.count("revised") != 1 {
		t.Errorf("revised: %d %s", revised.status, revised.body)
	}
	for name, tc := range map[string]struct {
		query  string
		fields map[string]string
		files  map[string]string
		status int
		code   string
	}{
		"no file":         {"", nil, nil, 422, "missing_field"},
		"unknown format":  {"", nil, map[string]string{"x.txt": "hello"}, 422, "unknown_format"},
		"LFS pointer":     {"", nil, map[string]string{"x": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"}, 422, "git_lfs_pointer"},
		"missing mapping": {"", nil, map[string]string{"score.log": "timestamp,score,message,details\n2025-01-01T00:00:00,1.0,{},{}\r\n"}, 422, "missing_mapping"},
		"bad row":         {"", nil, map[string]string{"r.jsonl": rows(0.5, 7) + strings.Replace(rows(0.5, 8), "0.5", `"x"`, 1)}, 422, "bad_type"},
		"bad mapping":     {"", map[string]string{"mapping": `{"enviroment":"x"}`}, runs, 422, "bad_mapping"},
		"unknown part":    {"", map[string]string{"maping": `{}`}, runs, 400, "unknown_parameter"},
		"unknown query":   {"?dryrun=1", nil, runs, 400, "unknown_parameter"},
		"empty file":      {"", nil, map[string]string{"e.jsonl": ""}, 422, "empty_file"},
	} {
		a := s.upload(t, tc.query, "", tc.fields, tc.files)
		if a.status != tc.status || a.code() != tc.code || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s (%s), want %d %s", name, a.status, a.code(), a.header.Get("Content-Type"), tc.status, tc.code)
		}
	}
	if a := s.upload(t, "?partial=1", "", nil, map[string]string{"r.jsonl": rows(0.5, 7) + strings.Replace(rows(0.5, 8), "0.5", `"x"`, 1)}); a.status != 201 || a.count("created") != 1 || a.count("errors") != 1 {
		t.Errorf("partial: %d %s", a.status, a.body)
	}
	for name, secret := range map[string]string{"none": "", "wrong": "rebench_x"} {
		body, contentType := form(t, nil, runs)
		if a := s.post(t, "/api/v1/uploads", secret, "", body, contentType); a.status != 401 {
			t.Errorf("token %s: %d", name, a.status)
		}
	}
	torn := strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhalf")
	if a := s.post(t, "/api/v1/uploads", s.secret[store.ScopeUpload], "", torn, "multipart/form-data; boundary=x"); a.status != 400 {
		t.Errorf("a torn upload: %d %s", a.status, a.body)
	}
	s.leavesNothing(t)
}

// leavesNothing checks that no file of a request stays behind.
func (s *uploadSite) leavesNothing(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(s.dir, "temp", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestTwoIdenticalUploadsAtOnce(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	ids := make([]int, 200)
	for i := range ids {
		ids[i] = i + 1000
	}
	var mu sync.Mutex
	created, unchanged := 0, 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			a := s.upload(t, "", "", nil, map[string]string{"r.jsonl": rows(0.5, ids...)})
			mu.Lock()
			defer mu.Unlock()
			created, unchanged = created+a.count("created"), unchanged+a.count("unchanged")
		})
	}
	wg.Wait()
	if created != 200 || unchanged != 600 {
		t.Errorf("created %d, unchanged %d; want 200, 600", created, unchanged)
	}
}

func TestUploadsAreLimitedByToken(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	limited := 0
	for range changesPerMinute + 20 {
		body, contentType := form(t, nil, nil)
		if a := s.post(t, "/api/v1/uploads", s.secret[store.ScopeUpload], "", body, contentType); a.status == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited == 0 || limited > 20 {
		t.Errorf("%d of %d requests were refused, want some of the last 20", limited, changesPerMinute+20)
	}
	body, contentType := form(t, nil, map[string]string{"r.jsonl": rows(0.5, 1)})
	if a := s.post(t, "/api/v1/uploads", s.secret[store.ScopeAdmin], "", body, contentType); a.status != 201 {
		t.Errorf("another token is limited too: %d", a.status)
	}
}

// browser is a client with cookies that follows redirects.
func (s *uploadSite) browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

func bodyOf(t *testing.T, res *http.Response, err error) (int, string, string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Request.URL.Path, string(b)
}

// logIn sends the log-in form and returns where it led.
func (s *uploadSite) logIn(t *testing.T, b *http.Client, token, next string) (status int, path, page string) {
	t.Helper()
	res, err := b.Get(s.URL + "/login")
	_, _, page = bodyOf(t, res, err)
	csrf := csrfValue.FindStringSubmatch(page)
	if csrf == nil {
		t.Fatalf("no log-in form: %s", page)
	}
	res, err = b.PostForm(s.URL+"/login", url.Values{"csrf": {csrf[1]}, "token": {token}, "next": {next}})
	return bodyOf(t, res, err)
}

var csrfValue = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func TestUploadThroughThePages(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	b := s.browser(t)
	res, err := b.Get(s.URL + "/upload")
	if _, _, page := bodyOf(t, res, err); !strings.Contains(page, "Access token") {
		t.Error("the page does not ask for a token")
	}
	res, err = b.PostForm(s.URL+"/login", url.Values{"token": {s.secret[store.ScopeUpload]}})
	if status, _, _ := bodyOf(t, res, err); status != 403 {
		t.Errorf("a log-in without its form's token: %d", status)
	}
	if status, _, page := s.logIn(t, b, "wrong", ""); status != 401 || !strings.Contains(page, "unknown or revoked") {
		t.Errorf("a wrong token: %d", status)
	}
	_, path, page := s.logIn(t, b, s.secret[store.ScopeUpload], "//evil.example/")
	csrf := csrfValue.FindStringSubmatch(page)
	if path != "/upload" || csrf == nil {
		t.Fatalf("after the log-in: %s", path)
	}
	log := "timestamp,score,message,details\n2025-01-01T00:00:00,0.05,\"{\"\"a\"\": \"\"<script>\"\"}\",{}\r\n"
	body, contentType := form(t, map[string]string{"csrf": "forged"}, map[string]string{"score.log": log})
	res, err = b.Post(s.URL+"/upload", contentType, body)
	if status, _, _ := bodyOf(t, res, err); status != 403 {
		t.Errorf("a forged form: %d", status)
	}
	body, contentType = form(t, map[string]string{"csrf": csrf[1]}, map[string]string{"<b>score.log": log})
	res, err = b.Post(s.URL+"/upload", contentType, body)
	_, preview, page := bodyOf(t, res, err)
	if !strings.Contains(page, "missing: ") || strings.Contains(page, "<b>score") || !strings.Contains(page, "score.log") {
		t.Errorf("the preview does not ask for what is missing, or is not escaped: %s", preview)
	}
	fields := url.Values{"csrf": {csrf[1]}, "do": {"map"}, "attempt_id": {"page-1"}, "environment": {"rust_codecontests"}, "profile": {"paper"},
		"agent": {"my agent"}, "started_at": {"2025-01-01T00:00:00"}, "zone": {"UTC"}, "time_limit_min": {"30"}}
	res, err = b.PostForm(s.URL+preview, fields)
	if _, _, page := bodyOf(t, res, err); !strings.Contains(page, "Ready to import") {
		t.Fatalf("after the mapping: %s", page)
	}
	if rev, _ := s.db.LatestRevision(t.Context()); rev.ID != 0 {
		t.Error("something was stored before the confirmation")
	}
	for range 2 { // a second click finds it done
		res, err = b.PostForm(s.URL+preview, url.Values{"csrf": {csrf[1]}, "do": {"confirm"}})
		_, _, page = bodyOf(t, res, err)
	}
	rev, _ := s.db.LatestRevision(t.Context())
	a, err := s.db.Attempt(t.Context(), "page-1", rev.ID)
	if err != nil || a.Agent.Name != "my agent" || !a.FinalKnown {
		t.Errorf("attempt %+v, %v", a, err)
	}
	res, err = b.Get(s.URL + preview)
	if _, _, page := bodyOf(t, res, err); !strings.Contains(page, "Imported") {
		t.Error("the page of a finished upload does not say so")
	}
	if files, _ := filepath.Glob(filepath.Join(s.dir, "staged", "*", "file-*")); len(files) > 0 {
		t.Errorf("files stay after the import: %v", files)
	}
	other := s.browser(t)
	s.logIn(t, other, s.secret[store.ScopeAdmin], "")
	res, err = other.Get(s.URL + preview)
	if status, _, _ := bodyOf(t, res, err); status != 404 {
		t.Errorf("another's upload: %d", status)
	}
	if err := s.db.RevokeToken(t.Context(), "upload"); err != nil {
		t.Fatal(err)
	}
	res, err = b.Get(s.URL + "/upload")
	if _, _, page := bodyOf(t, res, err); !strings.Contains(page, "Access token") {
		t.Error("a revoked token's session goes on")
	}
	s.leavesNothing(t)
}

func TestFlagsThroughTheAPI(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	s.upload(t, "", "", nil, map[string]string{"r.jsonl": rows(0.5, 1)})
	flag := func(secret, body string) reply {
		t.Helper()
		return s.post(t, "/api/v1/attempts/metr-rebench:1/flags", secret, "", strings.NewReader(body), "application/json")
	}
	good := `{"kind":"suspected","reason":"too <b>fast</b>"}`
	if a := flag(s.secret[store.ScopeUpload], good); a.status != 403 {
		t.Errorf("with an upload token: %d", a.status)
	}
	for _, bad := range []string{`{"kind":"odd","reason":"x"}`, `{"kind":"suspected","reason":" "}`, `{"kind":"suspected"`} {
		if a := flag(s.secret[store.ScopeAdmin], bad); a.status != 400 {
			t.Errorf("%s: %d", bad, a.status)
		}
	}
	if a := flag(s.secret[store.ScopeAdmin], good); a.status != 201 {
		t.Errorf("good: %d %s", a.status, a.body)
	}
	if a := flag(s.secret[store.ScopeAdmin], good); a.status != 409 {
		t.Errorf("again: %d", a.status)
	}
	res, err := s.Client().Get(s.URL + "/attempts/metr-rebench:1")
	if _, _, page := bodyOf(t, res, err); !strings.Contains(page, "too &lt;b&gt;fast") {
		t.Error("the reason is not on the attempt's page, or not escaped")
	}
	res, err = s.Client().Get(s.URL + "/audit.json")
	if _, _, page := bodyOf(t, res, err); !strings.Contains(page, `"flag suspected"`) || !strings.Contains(page, `"import"`) {
		t.Errorf("the audit trail lacks the flag or the import: %s", page)
	}
	for _, path := range []string{"/audit", "/audit.csv"} {
		res, err := s.Client().Get(s.URL + path)
		if status, _, _ := bodyOf(t, res, err); status != 200 {
			t.Errorf("%s: %d", path, status)
		}
	}
}
