package handler

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/testutil"
	"rebench/internal/validity"
	"rebench/web/view"
)

// The page, its exports and its filters show the same catalogue.
func TestValidity(t *testing.T) {
	s := publishedSite(t)
	var all, some analysis.Validity
	s.decode(t, "/validity.json", &all)
	if len(all.Records) != 82 || all.Total != len(all.Mechanisms) || all.Attacks < 40 || all.Checked != 1801 {
		t.Errorf("%d records, %d of %d mechanisms, %d attacks, %d attempts", len(all.Records), len(all.Mechanisms), all.Total, all.Attacks, all.Checked)
	}
	records, mechanisms := 0, 0
	for _, c := range all.States {
		records, mechanisms = records+c.Records, mechanisms+c.Mechanisms
	}
	if records != 82 || mechanisms != all.Total {
		t.Errorf("states count %d records in %d mechanisms", records, mechanisms)
	}
	s.decode(t, "/api/v1/validity?environment=rust_codecontests&state=detected", &some)
	if len(some.Mechanisms) == 0 || len(some.Mechanisms) >= len(all.Mechanisms) || some.Total != all.Total {
		t.Errorf("%d of %d mechanisms", len(some.Mechanisms), some.Total)
	}
	for _, m := range some.Mechanisms {
		if m.State != validity.Detected || !strings.Contains(strings.Join(m.Environments, " "), "rust_codecontests") && m.Environments[0] != "all" {
			t.Errorf("%+v passes the filter", m)
		}
	}
	quarantined := map[string]bool{}
	for _, r := range all.Reached {
		if r.Action == validity.Quarantine && r.Suspected {
			quarantined[r.AttemptID] = true
		}
	}
	if len(quarantined) != 2 || !quarantined["metr-rebench:mp4-server_204921"] || !quarantined["metr-rebench:mp4-server_204851"] {
		t.Errorf("in quarantine: %v", quarantined)
	}
	examples := 0
	for _, r := range all.ExampleRuns {
		examples += len(r.Examples)
	}
	if len(all.ExampleRuns) != 7 || examples < all.Attacks+7*2 {
		t.Errorf("%d runs of %d examples", len(all.ExampleRuns), examples)
	}
	checkCSV(t, s, "/validity.csv")
	if lines := strings.Count(s.text(t, "/validity.csv"), "\r\n"); lines < all.Total+1 {
		t.Errorf("%d lines for %d mechanisms", lines, all.Total)
	}
	if page := s.text(t, "/validity"); !strings.Contains(page, `href="#r-F05"`) || !strings.Contains(page, `id="r-F05"`) || !strings.Contains(page, "TestEscapes") {
		t.Error("the page does not link a mechanism to its records and tests")
	}
	if r := s.get(t, "/validity.svg"); r.StatusCode != http.StatusNotFound {
		t.Errorf("picture: status %d", r.StatusCode)
	}
}

// Every flaw and hack on an environment's page says what is done about it.
func TestOursOnEnvironmentPages(t *testing.T) {
	s := publishedSite(t)
	for _, id := range rebench.EnvironmentIDs() {
		var d analysis.EnvironmentDetail
		s.decode(t, "/environments/"+string(id)+".json", &d)
		for _, f := range d.Flaws {
			if f.Ours == "" {
				t.Errorf("%s: nothing is said of %s", id, f.ID)
			}
		}
		for _, h := range d.Hacks {
			if h.Ours == "" {
				t.Errorf("%s: nothing is said of %s", id, h.ID)
			}
			if h.ID == "H05" && !strings.HasPrefix(h.Ours, "Prevented. Bytes of a buffer") {
				t.Errorf("H05: %q", h.Ours)
			}
		}
	}
}

// A drawn attempt is marked on its page and on /audit until an administrator notes what
// was found; the note excludes nothing and may be repeated.
func TestAuditDraw(t *testing.T) {
	v := newUploadSite(t, testutil.PublishedStore(t))
	text := func(path string) string {
		t.Helper()
		res, err := v.Client().Get(v.URL + path)
		_, _, page := bodyOf(t, res, err)
		return page
	}
	decode := func(path string, into any) {
		t.Helper()
		if err := json.Unmarshal([]byte(text(path)), into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	var audit struct {
		Drawn struct {
			Month    string
			Share    float64
			Attempts []analysis.DrawnAttempt
		}
	}
	decode("/audit.json", &audit)
	month := validity.Month(time.Now())
	if audit.Drawn.Month != month || audit.Drawn.Share != validity.DefaultAuditShare || len(audit.Drawn.Attempts) == 0 {
		t.Fatalf("drawn: %+v", audit.Drawn)
	}
	for _, d := range audit.Drawn.Attempts {
		if d.Place < 1 || d.Place > validity.Winners || d.Score <= 0 || d.Outcome != nil || strings.Contains(d.AttemptID, "204921") {
			t.Errorf("%+v", d)
		}
	}
	first := audit.Drawn.Attempts[0]
	var a struct {
		Draw      *draw
		Suspected bool
		Rank      int
		Signals   *analysis.Signals
	}
	path := view.AttemptPath(first.AttemptID)
	if decode(path+".json", &a); a.Draw == nil || a.Draw.Month != month || a.Draw.Outcome != nil || a.Signals == nil {
		t.Errorf("%s: draw %+v, signals %+v", first.AttemptID, a.Draw, a.Signals)
	}
	if !strings.Contains(text(path), "no outcome noted yet") || !strings.Contains(text("/audit"), "Drawn for audit") {
		t.Error("the pages do not mark the drawn attempt")
	}
	for _, reason := range []string{"log read, nothing found", "read again"} {
		body := strings.NewReader(`{"kind":"audited","reason":"` + reason + `"}`)
		if r := v.post(t, "/api/v1/attempts/"+url.PathEscape(first.AttemptID)+"/flags", v.secret[store.ScopeAdmin], "", body, "application/json"); r.status != http.StatusCreated {
			t.Fatalf("note: status %d %s", r.status, r.body)
		}
	}
	a.Draw = nil
	if decode(path+".json", &a); a.Draw == nil || a.Draw.Outcome == nil || a.Draw.Outcome.Note != "read again" || a.Suspected || a.Rank == 0 {
		t.Errorf("after the note: %+v", a.Draw)
	}
	if !strings.Contains(text("/audit"), "read again") {
		t.Error("/audit does not show the outcome")
	}
}

// The preview of an upload says what a rule will do, and the upload does it.
func TestUploadIntoQuarantine(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	log := ownLog(t, func(_ *attemptlog.Header, e *attemptlog.Score) { *e.Score = 1.25 })
	for _, query := range []string{"?dry_run=1", ""} {
		body, contentType := form(t, nil, map[string]string{"log": log})
		a := s.post(t, "/api/v1/uploads"+query, s.secret[store.ScopeUpload], "", body, contentType)
		if !strings.Contains(a.body, `"quarantine":"1.25 win rate is above 1 win rate: a win rate is at most 1 (definition)"`) {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	_, _, page := s.page(t, "/attempts/own-1")
	if !strings.Contains(page, "In quarantine until a person decides") || !strings.Contains(page, "rule:impossible") {
		t.Error("the attempt's page does not tell of the quarantine")
	}
	if _, _, board := s.page(t, "/leaderboard.json?profile=cpu&environments=gpt2_qa&budget=30m"); strings.Contains(board, `"agent":"mine","model"`) {
		t.Errorf("it ranks: %s", board)
	}
	if _, _, board := s.page(t, "/leaderboard.json?profile=cpu&environments=gpt2_qa&budget=30m&flagged=include"); !strings.Contains(board, `"agent":"mine"`) {
		t.Errorf("it cannot be counted: %s", board)
	}
}

// A revision that was held back goes through the rules when it is made current.
func TestRulesWhenARevisionBecomesCurrent(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	for i, raw := range []float64{1.5, math.Log(0.2)} {
		item := store.Item{ID: "a:1", Dataset: "a", NativeID: "1", Environment: rebench.OptimizeKernel, Profile: rebench.ProfilePaper, Hold: i > 0,
			Write: func(*store.LogWriter) (store.Content, error) {
				a := rebench.Attempt{Agent: rebench.Agent{Name: "x", Kind: rebench.KindAgent}}
				a.ScorerVersion, a.Final, a.FinalKnown, a.FinalRaw, a.TimeLimit = "1", 0.1, true, &raw, time.Hour
				return store.Content{Attempt: a, SHA256: fmt.Sprint(i)}, nil
			}}
		if _, err := s.db.Import(t.Context(), store.Upload{Author: "t"}, "t", func(yield func(store.Item, error) bool) { yield(item, nil) }, nil); err != nil {
			t.Fatal(err)
		}
	}
	var a struct {
		Suspected bool
		Flags     []flagStatement
	}
	if s.getJSON(t, "/api/v1/attempts/a:1", &a); a.Suspected {
		t.Error("flagged for a revision that is not current")
	}
	r := s.post(t, "/api/v1/attempts/a:1/current", s.secret[store.ScopeAdmin], "", strings.NewReader(`{"revision":2,"reason":"restated"}`), "application/json")
	if s.getJSON(t, "/api/v1/attempts/a:1", &a); r.status != http.StatusCreated || !a.Suspected || len(a.Flags) != 1 || a.Flags[0].Author != "rule:impossible" {
		t.Errorf("status %d, suspected %v, flags %+v", r.status, a.Suspected, a.Flags)
	}
}
