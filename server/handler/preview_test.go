package handler

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rebench/internal/store"
	"rebench/internal/testutil"
)

// visitor is a browser that is logged in.
type visitor struct {
	s    *uploadSite
	b    *http.Client
	csrf string
}

func (s *uploadSite) visitor(t *testing.T, scope store.Scope) visitor {
	t.Helper()
	b := s.browser(t)
	_, _, page := s.logIn(t, b, s.secret[scope], "")
	found := csrfValue.FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("not logged in: %.300s", page)
	}
	return visitor{s, b, found[1]}
}

// send posts a form and returns the status and the page that follows, with its
// entities read.
func (v visitor) send(t *testing.T, path string, pairs ...string) (int, string) {
	t.Helper()
	fields := url.Values{"csrf": {v.csrf}}
	for i := 0; i+1 < len(pairs); i += 2 {
		fields.Set(pairs[i], pairs[i+1])
	}
	res, err := v.b.PostForm(v.s.URL+path, fields)
	status, _, page := bodyOf(t, res, err)
	return status, html.UnescapeString(page)
}

func (v visitor) get(t *testing.T, path string) string {
	t.Helper()
	res, err := v.b.Get(v.s.URL + path)
	_, _, page := bodyOf(t, res, err)
	return html.UnescapeString(page)
}

func contains(t *testing.T, page string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		if _, main, ok := strings.Cut(page, "<main"); ok {
			t.Logf("%.3000s", main)
		}
	}
}

// The page lists every fault that the API lists, with its place, field, code and hint.
func TestFaultsAreTheSameInPageAndAPI(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	files := map[string]string{"runs.jsonl": rows(0.5, 1) + strings.Replace(rows(0.5, 2), "0.5", `"half"`, 1) + strings.Replace(rows(0.5, 3), `"alias":"A"`, `"alias":7`, 1) + "{\n"}
	api := s.upload(t, "?dry_run=1", "", nil, files)
	if api.status != 422 || api.count("errors") < 3 {
		t.Fatalf("%d %s", api.status, api.body)
	}
	v := s.visitor(t, store.ScopeUpload)
	page := v.get(t, s.stage(t, v.b, v.csrf, files))
	for _, e := range api.json["errors"].([]any) {
		for _, field := range []string{"detail", "code", "field", "hint"} {
			if text, _ := e.(map[string]any)[field].(string); text != "" && !strings.Contains(page, text) && !strings.Contains(page, strings.ToUpper(text[:1])+text[1:]) {
				t.Errorf("the page lacks the %s %q", field, text)
			}
		}
	}
	contains(t, page, "Some of this cannot be imported", "line 2", "line 3", "line 4", "Import the valid part")
}

// Nothing is imported while there are faults, unless the valid part is wanted.
func TestTheValidPartThroughThePage(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	v := s.visitor(t, store.ScopeUpload)
	stage := s.stage(t, v.b, v.csrf, map[string]string{"runs.jsonl": rows(0.5, 1) + strings.Replace(rows(0.5, 2), "0.5", `"half"`, 1)})
	status, page := v.send(t, stage, "do", "confirm")
	if contains(t, page, "Nothing was imported: the files have faults."); status != 422 {
		t.Errorf("status %d", status)
	}
	if rev, _ := s.db.LatestRevision(t.Context()); rev.ID != 0 {
		t.Error("something was imported")
	}
	if _, page = v.send(t, stage, "do", "confirm", "partial", "1"); !strings.Contains(page, "Imported") {
		t.Errorf("the valid part: %.300s", page)
	}
	if rev, _ := s.db.LatestRevision(t.Context()); rev.ID != 1 {
		t.Error("the valid part was not imported")
	}
}

// Answers can be saved under a name and used for the next upload, without what
// belongs to one attempt; only their author may change them.
func TestSavedAnswers(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	v := s.visitor(t, store.ScopeUpload)
	log := map[string]string{"score.log": "timestamp,score,message,details\n2025-01-01T00:00:00,0.05,{},{}\r\n"}
	first := s.stage(t, v.b, v.csrf, log)
	answers := []string{"do", "save", "save_as", "our <kernel> runs", "attempt_id", "a-1", "environment", "rust_codecontests", "profile", "paper", "agent", "ours", "model", "m",
		"scaffold", "s", "started_at", "2025-01-01T00:00", "zone", "Europe/Berlin", "time_limit_min", "30", "start_raw", "0", "reference_raw", "0.1"}
	_, page := v.send(t, first, answers...)
	contains(t, page, "Ready to import")
	second := s.stage(t, v.b, v.csrf, log)
	_, page = v.send(t, second, "do", "reuse", "saved", "our <kernel> runs")
	contains(t, page, "missing: attempt id and start", `value="ours"`, `value="Europe/Berlin"`, `value="30"`, `value="0.1"`, "our <kernel> runs")
	_, page = v.send(t, second, "do", "reuse", "saved", "nobody's")
	contains(t, page, "There is no saved mapping")
	other := s.visitor(t, store.ScopeAdmin)
	third := s.stage(t, other.b, other.csrf, log)
	status, page := other.send(t, third, answers...)
	if contains(t, page, "is taken by a mapping of upload"); status != 422 {
		t.Errorf("status %d", status)
	}
	_, page = v.send(t, first, "do", "confirm")
	contains(t, page, "Imported")
	rev, _ := s.db.LatestRevision(t.Context())
	a, err := s.db.Attempt(t.Context(), "a-1", rev.ID)
	if err != nil || a.Agent.Model != "m" || a.Final != 0.5 || a.TimeLimit.Minutes() != 30 {
		t.Errorf("%+v, %v", a, err)
	}
	if at := a.Entries[0].At; at == nil || at.Format("2006-01-02T15:04") != "2024-12-31T23:00" {
		t.Errorf("midnight in Berlin became %v", at)
	}
}

// Answers that cannot be are refused in words, and change nothing.
func TestWrongAnswers(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	v := s.visitor(t, store.ScopeUpload)
	stage := s.stage(t, v.b, v.csrf, map[string]string{"score.log": "timestamp,score,message,details\n"})
	for _, tc := range []struct{ name, value, want string }{
		{"time_limit_min", "half an hour", "expected a number"}, {"time_limit_min", "1e999", "expected a number"}, {"start_raw", "0x10", "expected a number"},
		{"zone", "Mars/Olympus", "expected a zone"}, {"environment", "kernel", "expected one of"}, {"attempt_id", "a b", "expected 1 to 200 letters"}, {"start_raw", "1", "two different scores"},
	} {
		status, page := v.send(t, stage, "do", "map", tc.name, tc.value)
		if !strings.Contains(page, tc.want) || status != 422 {
			t.Errorf("%s = %s: status %d, lacks %q", tc.name, tc.value, status, tc.want)
		}
	}
	if status, _ := v.send(t, stage, "do", "explode"); status != 400 {
		t.Errorf("an unknown action: %d", status)
	}
}

// Several files that lack something are asked about one by one.
func TestAnswersForSingleFiles(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	v := s.visitor(t, store.ScopeUpload)
	const log = "timestamp,score,message,details\n2025-01-01T00:00:00,0.05,{},{}\r\n"
	stage := s.stage(t, v.b, v.csrf, map[string]string{"a.log": log, "b.log": log})
	page := v.get(t, stage)
	contains(t, page, `name="file0.name" value="a.log"`, `name="file1.name" value="b.log"`)
	_, page = v.send(t, stage, "do", "map", "environment", "gpt2_qa", "profile", "cpu", "agent", "ours", "started_at", "2025-01-01T00:00:00", "zone", "UTC", "time_limit_min", "30",
		"file0.name", "a.log", "file0.attempt_id", "one", "file1.name", "b.log", "file1.attempt_id", "two", "file1.environment", "scaling_law", "file1.time_limit_min", "60")
	contains(t, page, "Ready to import")
	_, page = v.send(t, stage, "do", "confirm")
	contains(t, page, "Imported")
	rev, _ := s.db.LatestRevision(t.Context())
	for id, want := range map[string]struct {
		environment string
		minutes     float64
	}{"one": {"gpt2_qa", 30}, "two": {"scaling_law", 60}} {
		a, err := s.db.Attempt(t.Context(), id, rev.ID)
		if err != nil || string(a.Environment) != want.environment || a.TimeLimit.Minutes() != want.minutes || a.Agent.Name != "ours" {
			t.Errorf("%s: %+v, %v", id, a, err)
		}
	}
}

// Discarding removes the files; what is imported is not discarded with them.
func TestDiscarding(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	v := s.visitor(t, store.ScopeUpload)
	stage := s.stage(t, v.b, v.csrf, map[string]string{"r.jsonl": rows(0.5, 1)})
	v.send(t, stage, "do", "discard")
	if _, err := os.Stat(filepath.Join(s.dir, "staged", filepath.Base(stage))); err == nil {
		t.Error("the files are still there")
	}
	if page := v.get(t, stage); !strings.Contains(page, "no upload waiting") && !strings.Contains(page, "There is no upload waiting") {
		t.Errorf("its page: %.300s", page)
	}
	for _, id := range []string{"..", "../temp", strings.Repeat("0", 32), "%2e%2e%2fsecret"} {
		res, err := v.b.Get(s.URL + "/upload/" + url.PathEscape(id))
		if status, _, _ := bodyOf(t, res, err); status != 404 {
			t.Errorf("/upload/%s: %d", id, status)
		}
	}
}

// An administrator states flags on the attempt's page, and chooses what ranks; every
// number and statement stays, and every change is on record.
func TestFlagsOnTheAttemptsPage(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	s.upload(t, "", "", nil, map[string]string{"r.jsonl": rows(0.5, 1)})
	s.upload(t, "", "", nil, map[string]string{"r.jsonl": rows(0.25, 1)})
	const path = "/attempts/metr-rebench:1"
	if _, _, page := s.page(t, path); strings.Contains(page, "flag-form") || !strings.Contains(page, "/login?next="+path) {
		t.Error("a reader is offered the form, or not the log-in")
	}
	uploader := s.visitor(t, store.ScopeUpload)
	if page := uploader.get(t, path); strings.Contains(page, "flag-form") {
		t.Error("an uploader is offered the form")
	}
	if status, _ := uploader.send(t, path+"/flags", "statement", "set:invalid", "reason", "r"); status != 403 {
		t.Errorf("an uploader flags: %d", status)
	}
	v := s.visitor(t, store.ScopeAdmin)
	contains(t, v.get(t, path), "State something about this attempt", "Let another revision rank")
	for _, bad := range [][]string{{"statement", "set:odd", "reason", "r"}, {"statement", "set:invalid", "reason", "  "}, {"statement", "x"}, {"revision", "x", "reason", "r"}, {"revision", "1", "reason", ""}} {
		if status, _ := v.send(t, path+"/flags", bad...); status != 400 {
			t.Errorf("%v: %d", bad, status)
		}
	}
	_, page := v.send(t, path+"/flags", "statement", "set:retracted", "reason", "two GPUs")
	contains(t, page, "Retracted: left out of every ranking. two GPUs", "lift: retracted", "0.250")
	_, page = v.send(t, path+"/flags", "statement", "lift:retracted", "reason", "one after all")
	contains(t, page, "two GPUs", "one after all", "lifted")
	_, page = v.send(t, path+"/flags", "revision", "1", "reason", "the first was right")
	contains(t, page, "Final score 0.500", "0.250", "0.500")
	audit := v.get(t, "/audit")
	contains(t, audit, "flag retracted", "lift flag retracted", "make revision current", "revision 1: the first was right", "two GPUs", "create token")
	rev, _ := s.db.LatestRevision(t.Context())
	a, err := s.db.Attempt(t.Context(), "metr-rebench:1", rev.ID)
	if err != nil || len(a.Flags) != 2 || len(a.Revisions) != 2 || a.Excluded || a.Final != 0.5 {
		t.Errorf("%+v, %v", a, err)
	}
	// A reader sees what was stated; nobody's page comes from another's cache.
	if _, _, page := s.page(t, path); !strings.Contains(page, "two GPUs") || strings.Contains(page, "flag-form") {
		t.Error("a reader's page")
	}
}
