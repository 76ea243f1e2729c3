package handler

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rebench/internal/store"
	"rebench/internal/testutil"
)

// An upload that breaks off, at any byte, leaves neither file nor row.
func TestTornUploads(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	body, contentType := form(t, nil, map[string]string{"runs.jsonl": rows(0.5, 1, 2, 3)})
	whole, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(s.URL, "http://")
	for cut := 0; cut < len(whole); cut += 97 {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /api/v1/uploads HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", host, s.secret[store.ScopeUpload], contentType, len(whole))
		conn.Write(whole[:cut])
		conn.Close()
	}
	s.settles(t, func() bool {
		left, _ := filepath.Glob(filepath.Join(s.dir, "temp", "*"))
		return len(left) == 0
	})
	if rev, err := s.db.LatestRevision(t.Context()); err != nil || rev.ID != 0 {
		t.Errorf("data revision %d, %v", rev.ID, err)
	}
	if a := s.upload(t, "", "", nil, map[string]string{"runs.jsonl": rows(0.5, 1, 2, 3)}); a.status != 201 || a.count("created") != 3 {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
}

// settles waits for what happens after a connection has gone.
func (s *uploadSite) settles(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never settles")
		}
	}
}

// A key is taken from the first byte of its request on: a second request is refused
// while the first arrives, and answered alike once it is done.
func TestIdempotencyKeyOfARequestUnderWay(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	body, contentType := form(t, nil, map[string]string{"runs.jsonl": rows(0.5, 1)})
	whole, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	out, in := io.Pipe()
	first := make(chan reply, 1)
	go func() { first <- s.post(t, "/api/v1/uploads", s.secret[store.ScopeUpload], "k", out, contentType) }()
	in.Write(whole[:len(whole)/2])
	s.settles(t, func() bool {
		dirs, _ := filepath.Glob(filepath.Join(s.dir, "temp", "*"))
		return len(dirs) > 0
	})
	if a := s.post(t, "/api/v1/uploads", s.secret[store.ScopeUpload], "k", bytes.NewReader(whole), contentType); a.status != 409 || !strings.Contains(a.body, "under way") {
		t.Errorf("while it is under way: %d %s", a.status, a.body)
	}
	if a := s.post(t, "/api/v1/uploads", s.secret[store.ScopeAdmin], "k", bytes.NewReader(whole), contentType); a.status != 201 {
		t.Errorf("the same key of another token: %d", a.status)
	}
	in.Write(whole[len(whole)/2:])
	in.Close()
	a := <-first
	if a.status != 201 {
		t.Fatalf("the first: %d %s", a.status, a.body)
	}
	again := s.post(t, "/api/v1/uploads", s.secret[store.ScopeUpload], "k", bytes.NewReader(whole), contentType)
	if again.status != 201 || again.body != a.body || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again: %d %s, want %s", again.status, again.body, a.body)
	}
	if other := s.upload(t, "?partial=1", "k", nil, map[string]string{"runs.jsonl": rows(0.5, 1)}); other.status != 409 {
		t.Errorf("the key with other options: %d", other.status)
	}
	if plan := s.upload(t, "?dry_run=1", "k", nil, map[string]string{"runs.jsonl": rows(0.5, 7)}); plan.status != 200 || plan.count("created") != 1 {
		t.Errorf("a dry run with the key: %d", plan.status)
	}
}

// A request that fails or breaks off gives its key back.
func TestFailedRequestsKeepNoKey(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	if a := s.upload(t, "", "k", nil, map[string]string{"x": "no log"}); a.status != 422 {
		t.Fatalf("%d", a.status)
	}
	torn := strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhalf")
	if a := s.post(t, "/api/v1/uploads", s.secret[store.ScopeUpload], "k", torn, "multipart/form-data; boundary=x"); a.status != 400 {
		t.Fatalf("%d", a.status)
	}
	if a := s.upload(t, "", "k", nil, map[string]string{"runs.jsonl": rows(0.5, 1)}); a.status != 201 || a.count("created") != 1 {
		t.Errorf("after the failures: %d %s", a.status, a.body)
	}
	if a := s.upload(t, "", strings.Repeat("k", 300), nil, map[string]string{"runs.jsonl": rows(0.5, 1)}); a.status != 400 {
		t.Errorf("a long key: %d", a.status)
	}
}

// The same upload with the same key from several clients at once is done once.
func TestOneKeyAtOnce(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	ids := make([]int, 300)
	for i := range ids {
		ids[i] = i
	}
	var mu sync.Mutex
	statuses, created := map[int]int{}, map[int]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			a := s.upload(t, "", "same", nil, map[string]string{"r.jsonl": rows(0.5, ids...)})
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
			if a.status == 201 {
				created[a.count("created")]++
			}
		})
	}
	wg.Wait()
	if statuses[201] == 0 || statuses[201]+statuses[409] != 8 || created[300] != statuses[201] {
		t.Errorf("statuses %v, created %v", statuses, created)
	}
	if rev, _ := s.db.LatestRevision(t.Context()); rev.ID != 1 {
		t.Errorf("%d data revisions", rev.ID)
	}
}

// Limits of the request have a status of their own, before anything is decoded.
func TestRequestLimits(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	host := strings.TrimPrefix(s.URL, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/v1/uploads HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		host, s.secret[store.ScopeUpload], int64(MaxUploadBytes+1))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("an announced upload of %d bytes: %d", int64(MaxUploadBytes+1), res.StatusCode)
	}
	many := map[string]string{}
	for i := range MaxUploadFiles + 1 {
		many[fmt.Sprint(i)] = "x"
	}
	if a := s.upload(t, "", "", nil, many); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d files: %d", len(many), a.status)
	}
	if a := s.upload(t, "", "", map[string]string{"mapping": strings.Repeat(" ", maxField+1)}, nil); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a mapping of %d bytes: %d", maxField+1, a.status)
	}
	if a := s.post(t, "/api/v1/uploads", s.secret[store.ScopeUpload], "", strings.NewReader("{}"), "application/json"); a.status != http.StatusUnsupportedMediaType {
		t.Errorf("JSON: %d", a.status)
	}
	s.leavesNothing(t)
}

// Every form that changes something is refused without its session's token, from
// another site, and without a session.
func TestForgedForms(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	s.upload(t, "", "", nil, map[string]string{"r.jsonl": rows(0.5, 1)})
	b := s.browser(t)
	_, _, page := s.logIn(t, b, s.secret[store.ScopeAdmin], "")
	csrf := csrfValue.FindStringSubmatch(page)[1]
	stage := s.stage(t, b, csrf, map[string]string{"r.jsonl": rows(0.5, 2)})
	send := func(client *http.Client, path, token string, headers ...string) int {
		t.Helper()
		fields := url.Values{"csrf": {token}, "do": {"confirm"}, "statement": {"set:retracted"}, "reason": {"r"}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(fields.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if path == "/upload" {
			body, contentType := form(t, map[string]string{"csrf": token}, map[string]string{"r.jsonl": rows(0.5, 3)})
			req.Body, req.ContentLength = io.NopCloser(body), -1
			req.Header.Set("Content-Type", contentType)
		}
		for i := 0; i+1 < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		res, err := client.Do(req)
		status, _, _ := bodyOf(t, res, err)
		return status
	}
	for _, path := range []string{"/upload", stage, "/attempts/metr-rebench:1/flags", "/logout"} {
		for name, got := range map[string]int{
			"no token":     send(b, path, ""),
			"wrong token":  send(b, path, csrf[1:]+"x"),
			"another site": send(b, path, csrf, "Sec-Fetch-Site", "cross-site"),
			"a subdomain":  send(b, path, csrf, "Sec-Fetch-Site", "same-site"),
			"origin":       send(b, path, csrf, "Origin", "http://evil.example"),
		} {
			if got != http.StatusForbidden {
				t.Errorf("%s, %s: %d, want 403", path, name, got)
			}
		}
		if path != "/logout" {
			if got := send(s.browser(t), path, csrf); got != http.StatusUnauthorized {
				t.Errorf("%s without a session: %d, want 401", path, got)
			}
		}
	}
	if got := send(b, "/login", csrf, "Sec-Fetch-Site", "cross-site"); got != 403 {
		t.Errorf("a log-in from another site: %d", got)
	}
	rev, _ := s.db.LatestRevision(t.Context())
	if one, err := s.db.Attempt(t.Context(), "metr-rebench:1", rev.ID); err != nil || len(one.Flags) != 0 || rev.ID != 1 {
		t.Errorf("a forged form had an effect: %+v, revision %d", one.Flags, rev.ID)
	}
	if got := send(b, "/logout", csrf); got != 200 {
		t.Errorf("logging out: %d", got)
	}
	if got := send(b, "/upload", csrf); got != 401 {
		t.Errorf("after logging out: %d", got)
	}
}

// stage sends files through the page and returns the address of their preview.
func (s *uploadSite) stage(t *testing.T, b *http.Client, csrf string, files map[string]string) string {
	t.Helper()
	body, contentType := form(t, map[string]string{"csrf": csrf}, files)
	res, err := b.Post(s.URL+"/upload", contentType, body)
	status, path, page := bodyOf(t, res, err)
	if status != 200 || !strings.HasPrefix(path, "/upload/") {
		t.Fatalf("staging: %d at %s: %.300s", status, path, page)
	}
	return path
}

// The session's cookie is out of reach of scripts and other sites, and its server
// keeps a hash of it only.
func TestSessionCookie(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	b := s.browser(t)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := b.Get(s.URL + "/login")
	_, _, page := bodyOf(t, res, err)
	fields := url.Values{"csrf": {csrfValue.FindStringSubmatch(page)[1]}, "token": {s.secret[store.ScopeUpload]}}
	res, err = b.PostForm(s.URL+"/login", fields)
	bodyOf(t, res, err)
	var found *http.Cookie
	for _, c := range res.Cookies() {
		if c.Name == sessionCookie {
			found = c
		}
	}
	if found == nil || !found.HttpOnly || found.SameSite != http.SameSiteStrictMode || found.Path != "/" || found.MaxAge != int(sessionLife.Seconds()) || len(found.Value) < 40 {
		t.Fatalf("cookie %+v", found)
	}
	if strings.Contains(found.Value, s.secret[store.ScopeUpload]) {
		t.Error("the cookie is the token")
	}
}

func TestSessionsEnd(t *testing.T) {
	var s sessions
	id := s.begin(store.Token{Name: "t"})
	if s.get(id) == nil || s.get(id+"x") != nil || s.get("") != nil {
		t.Fatal("a session is not found, or another is")
	}
	for hash, x := range s.byID {
		if strings.Contains(string(hash[:]), id) {
			t.Error("the id is kept")
		}
		x.expires = time.Now().Add(-time.Second)
	}
	if s.get(id) != nil {
		t.Error("an expired session is found")
	}
	s.begin(store.Token{Name: "u"})
	if len(s.byID) != 1 {
		t.Errorf("%d sessions are kept, want the one that lasts", len(s.byID))
	}
}

func TestLocalPath(t *testing.T) {
	for next, want := range map[string]string{"": "/upload", "/attempts/a:b": "/attempts/a:b", "//evil.example": "/upload", "https://evil.example": "/upload", "/\\evil.example": "/upload",
		"/a\r\nSet-Cookie: x": "/upload", "/?budget=8h": "/?budget=8h", "/\t/evil.example": "/upload", "javascript:alert(1)": "/upload"} {
		if got := localPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// What a server leaves in its directory is removed by the next: half uploads at once,
// waiting ones when they expire. Waiting ones can be confirmed after a restart.
func TestStagedUploadsSurviveARestart(t *testing.T) {
	db := testutil.EmptyStore(t)
	s := newUploadSite(t, db)
	b := s.browser(t)
	_, _, page := s.logIn(t, b, s.secret[store.ScopeUpload], "")
	stage := s.stage(t, b, csrfValue.FindStringSubmatch(page)[1], map[string]string{"r.jsonl": rows(0.5, 1)})
	old := s.stage(t, b, csrfValue.FindStringSubmatch(page)[1], map[string]string{"r.jsonl": rows(0.5, 2)})
	past := time.Now().Add(-stageLife - time.Hour)
	if err := os.Chtimes(filepath.Join(s.dir, "staged", filepath.Base(old)), past, past); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(s.dir, "temp", "upload-1")
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	s.restart(t)
	if _, err := os.Stat(half); err == nil {
		t.Error("half an upload is still there")
	}
	left, _ := filepath.Glob(filepath.Join(s.dir, "staged", "*"))
	if len(left) != 1 || filepath.Base(left[0]) != filepath.Base(stage) {
		t.Errorf("waiting uploads: %v, want the one that has not expired", left)
	}
	b = s.browser(t)
	_, _, page = s.logIn(t, b, s.secret[store.ScopeUpload], stage)
	if !strings.Contains(page, "Ready to import") {
		t.Fatalf("after the restart: %.400s", page)
	}
	res, err := b.PostForm(s.URL+stage, url.Values{"csrf": {csrfValue.FindStringSubmatch(page)[1]}, "do": {"confirm"}})
	if _, _, page := bodyOf(t, res, err); !strings.Contains(page, "Imported") {
		t.Errorf("confirmed: %.400s", page)
	}
}
