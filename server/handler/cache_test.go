package handler

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

const flaggable = "metr-rebench:mp4-server_204921"

// A change of the data shows in the next response, and a pinned address does not move.
func TestNeverStale(t *testing.T) {
	s := publishedSite(t)
	paths := []string{"/", "/api/v1/leaderboard", "/leaderboard.json", "/leaderboard.csv", "/leaderboard.svg", "/curves", "/attempts/" + flaggable, "/api/v1/attempts/" + flaggable}
	tags := map[string]string{}
	for _, path := range paths {
		first, second := s.get(t, path), s.get(t, path)
		tags[path] = first.Header.Get("ETag")
		if a, b := read(t, first), read(t, second); tags[path] == "" || second.Header.Get("ETag") != tags[path] || a != b {
			t.Errorf("%s: two responses of one data revision differ", path)
		}
		if cc := first.Header.Get("Cache-Control"); cc != "no-cache" {
			t.Errorf("%s: Cache-Control %q", path, cc)
		}
		if r := s.get(t, path, "If-None-Match", tags[path]); r.StatusCode != http.StatusNotModified || read(t, r) != "" || r.Header.Get("ETag") != tags[path] {
			t.Errorf("%s: status %d for the tag just given", path, r.StatusCode)
		}
	}
	var before, pinned struct {
		DataRevision int64 `json:"data_revision"`
		Flags        []any
	}
	s.decode(t, "/api/v1/attempts/"+flaggable, &before)
	flag := rebench.Flag{AttemptID: flaggable, Kind: rebench.FlagInvalid, Set: true, Author: "test", Reason: "because"}
	if _, err := s.store.AddFlag(t.Context(), flag); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		r := s.get(t, path, "If-None-Match", tags[path])
		if r.StatusCode != 200 || r.Header.Get("ETag") == tags[path] {
			t.Errorf("%s: status %d, tag %s after a change", path, r.StatusCode, r.Header.Get("ETag"))
		}
	}
	var after struct {
		DataRevision int64 `json:"data_revision"`
		Flags        []any
	}
	s.decode(t, "/api/v1/attempts/"+flaggable, &after)
	s.decode(t, "/api/v1/attempts/"+flaggable+"?asof=1", &pinned)
	if after.DataRevision != 2 || len(after.Flags) != len(before.Flags)+1 || pinned.DataRevision != 1 || len(pinned.Flags) != len(before.Flags) {
		t.Errorf("flags: before %d, after %d at revision %d, pinned %d at revision %d", len(before.Flags), len(after.Flags), after.DataRevision,
			len(pinned.Flags), pinned.DataRevision)
	}
}

// Different questions never share a response.
func TestTagsDiffer(t *testing.T) {
	s := publishedSite(t)
	seen := map[string]string{}
	for _, path := range []string{"/", "/?budget=4h", "/?flagged=include", "/?asof=1", "/curves", "/curves?axis=cost", "/curves.json", "/api/v1/curves", "/curves.svg", "/curves.csv",
		"/environments/optimize_kernel.svg", "/environments/optimize_kernel.svg?chart=score-at-k", "/environments/gpt2_qa.svg"} {
		tag := s.get(t, path).Header.Get("ETag")
		if other, ok := seen[tag]; ok {
			t.Errorf("%s has the tag of %s", path, other)
		}
		seen[tag] = path
	}
	// Two spellings of one question do.
	if a, b := s.get(t, "/?budget=14400").Header.Get("ETag"), s.get(t, "/?budget=4h&cohort=paper71").Header.Get("ETag"); a != b {
		t.Error("two spellings have two tags")
	}
	// Addresses stand in the response, so another host means another response.
	r := httptest.NewRequest(http.MethodGet, "http://other.test/", nil)
	w := newRecorder()
	s.ServeHTTP(w, r)
	if w.Header().Get("ETag") == s.get(t, "/").Header.Get("ETag") || strings.Contains(w.Body.String(), "rebench.test") {
		t.Error("the response to one host is served to another")
	}
}

// Pages of a list that is read while the data change neither overlap nor skip.
func TestPagesOfOneRevision(t *testing.T) {
	s := publishedSite(t)
	seen := map[string]int{}
	token := ""
	for page := 0; ; page++ {
		var list analysis.AttemptList
		path := "/api/v1/attempts?agent=human&flagged=none"
		if token != "" {
			path += "&page_token=" + token
		}
		s.decode(t, path, &list)
		for _, a := range list.Attempts {
			seen[a.ID]++
		}
		if page == 0 {
			if _, err := s.store.AddFlag(t.Context(), rebench.Flag{AttemptID: list.Attempts[0].ID, Kind: rebench.FlagInvalid, Set: true, Author: "test", Reason: "because"}); err != nil {
				t.Fatal(err)
			}
		}
		if token = list.NextPageToken; token == "" {
			break
		}
	}
	if len(seen) != 86 {
		t.Errorf("%d attempts, want 86", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s occurs %d times", id, n)
		}
	}
}

func TestConcurrentRequests(t *testing.T) {
	s := publishedSite(t)
	want := s.text(t, "/api/v1/leaderboard")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 5 {
				if got := s.text(t, "/api/v1/leaderboard"); got != want {
					t.Error("responses differ")
				}
				s.text(t, fmt.Sprintf("/api/v1/leaderboard?budget=%d", 1800*(1+(i+j)%5)))
			}
		})
	}
	wg.Wait()
}

func TestMatches(t *testing.T) {
	for header, want := range map[string]bool{"": false, `W/"a"`: true, `"a"`: true, `"b", W/"a"`: true, "*": true, `W/"b"`: false, "a": false} {
		if got := matches(header, "a"); got != want {
			t.Errorf("%q: %t", header, got)
		}
	}
}

func TestBodyCache(t *testing.T) {
	c := newBodyCache(10)
	c.put("a", body{bytes: []byte("aaaa")})
	c.put("b", body{bytes: []byte("bbbb")})
	if _, ok := c.get("a"); !ok {
		t.Fatal("a is gone")
	}
	c.put("c", body{bytes: []byte("cccc")})
	if _, ok := c.get("b"); ok {
		t.Error("b outlived a, which was used later")
	}
	if _, ok := c.get("a"); !ok {
		t.Error("a is gone")
	}
	c.put("big", body{bytes: make([]byte, maxCachedBody+1)})
	if _, ok := c.get("big"); ok {
		t.Error("a huge body is kept")
	}
	if c.size != 8 {
		t.Errorf("size %d", c.size)
	}
}
