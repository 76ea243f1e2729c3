package handler

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/go-cmp/cmp"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

// whatRanks is what an attempt is known by, as it must survive an export.
type whatRanks struct {
	Summary rebench.AttemptSummary
	Agent   rebench.Agent
	Entries []rebench.ScoreEntry
}

func everything(t *testing.T, db *store.Store) map[string]whatRanks {
	t.Helper()
	rev, err := db.LatestRevision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := db.Summaries(t.Context(), rev.ID)
	if err != nil {
		t.Fatal(err)
	}
	agents, err := db.Agents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, a := range all {
		ids = append(ids, a.RevisionID)
	}
	entries, err := db.Entries(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]whatRanks{}
	for _, a := range all {
		w := whatRanks{Summary: a, Agent: agents[a.AgentID], Entries: entries[a.RevisionID]}
		w.Summary.RevisionID, w.Summary.AgentID, w.Agent.ID = 0, 0, 0 // keys of this database
		out[a.ID] = w
	}
	return out
}

// An export, in either form, uploaded to an empty server makes the same attempts, and
// uploaded where it came from changes nothing.
func TestExportsImportToTheSameAttempts(t *testing.T) {
	from := newUploadSite(t, testutil.PublishedStore(t))
	own := ownLog(t, func(h *attemptlog.Header, s *attemptlog.Score) {
		h.Agent = &attemptlog.Agent{Name: "=cmd", Model: "'quoted", Scaffold: "a,\"b\"\nc"}
		s.Message = attemptlog.Text("+1, \"two\"\r\n\t@three")
	})
	inspect := sampleText(t, "inspect_ai__tests_scorer_logs_2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval")
	for _, a := range []reply{from.upload(t, "", "", nil, map[string]string{"own.ndjson": own}), from.upload(t, "", "", map[string]string{"mapping": sampleMapping}, map[string]string{"x.eval": inspect})} {
		if a.status != 201 {
			t.Fatal(a.body)
		}
	}
	want := everything(t, from.db)
	for _, form := range []string{"jsonl", "csv"} {
		t.Run(form, func(t *testing.T) {
			status, _, export := from.page(t, "/api/v1/attempts."+form)
			if status != 200 {
				t.Fatal(status)
			}
			to := newUploadSite(t, testutil.EmptyStore(t))
			a := to.upload(t, "", "", nil, map[string]string{"export": export})
			if a.status != 201 || a.count("created") != len(want) {
				t.Fatalf("%d, %d created of %d: %.400s", a.status, a.count("created"), len(want), a.body)
			}
			if d := cmp.Diff(want, everything(t, to.db)); d != "" {
				t.Errorf("%.4000s", d)
			}
			if back := from.upload(t, "", "", nil, map[string]string{"export": export}); back.status != 201 || back.count("unchanged") != len(want) {
				t.Errorf("back where it came from: %d, %d unchanged of %d", back.status, back.count("unchanged"), len(want))
			}
		})
	}
}

func TestExportsAreFiltered(t *testing.T) {
	s := newUploadSite(t, testutil.PublishedStore(t))
	for query, want := range map[string]int{"": 1801, "?environment=scaling_law&kind=human": 10, "?text=204921": 1, "?profile=cpu": 0} {
		_, _, body := s.page(t, "/api/v1/attempts.jsonl"+query)
		if got := strings.Count(body, `"type":"header"`); got != want {
			t.Errorf("%q: %d logs, want %d", query, got, want)
		}
	}
	if status, _, _ := s.page(t, "/api/v1/attempts.jsonl?environment=x"); status != 400 {
		t.Errorf("an unknown environment: %d", status)
	}
}

// What operations answer is what the OpenAPI document says, and so is what they take.
func TestWritesMatchOpenAPI(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	_, _, text := s.page(t, "/api/v1/openapi.json")
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string][]int{}
	check := func(path, scope string, body io.Reader, contentType string) int {
		t.Helper()
		content, _ := io.ReadAll(body)
		a := s.post(t, path, s.secret[store.Scope(scope)], "", strings.NewReader(string(content)), contentType)
		req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(content)))
		req.Header.Set("Content-Type", contentType)
		route, params, err := router.FindRoute(req)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		input := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route,
			Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
		if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil && a.status < 300 {
			t.Errorf("%s: answered, but not a documented request: %v", path, err)
		}
		err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: a.status, Header: a.header,
			Body: io.NopCloser(strings.NewReader(a.body)), Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true}})
		if err != nil {
			t.Errorf("%s: status %d: %.500s\n%.500s", path, a.status, err, a.body)
		}
		seen[route.Path] = append(seen[route.Path], a.status)
		return a.status
	}
	uploads := func(query, scope string, fields, files map[string]string) {
		t.Helper()
		body, contentType := form(t, fields, files)
		check("/api/v1/uploads"+query, scope, body, contentType)
	}
	good := map[string]string{"r.jsonl": rows(0.5, 1)}
	uploads("?dry_run=1", "upload", nil, good)
	uploads("", "upload", nil, good)
	uploads("?partial=1", "upload", nil, map[string]string{"r.jsonl": rows(0.25, 1) + "{\n"})
	uploads("", "nobody", nil, good)
	uploads("", "upload", nil, nil)
	uploads("?x=1", "upload", nil, good)
	uploads("", "upload", map[string]string{"mapping": "{"}, good)
	uploads("", "upload", nil, map[string]string{"score.log": sampleText(t, "tps__score_v025_mixed.log")})
	uploads("", "upload", nil, map[string]string{"runs.jsonl": sampleText(t, "metr__runs_early_b9a402f_aird_only.jsonl")})
	for _, x := range []struct {
		path, scope, body string
		want              int
	}{
		{"flags", "admin", `{"kind":"invalid","reason":"r"}`, 201}, {"flags", "admin", `{"kind":"invalid","reason":"r"}`, 409}, {"flags", "admin", `{"kind":"x","reason":""}`, 400},
		{"flags", "upload", `{"kind":"invalid","reason":"r"}`, 403}, {"flags", "nobody", `{}`, 401}, {"current", "admin", `{"revision":1}`, 201},
		{"current", "admin", `{"revision":1}`, 409}, {"current", "admin", `{"revision":7}`, 404}, {"current", "admin", `[]`, 400},
	} {
		if got := check("/api/v1/attempts/metr-rebench:1/"+x.path, x.scope, strings.NewReader(x.body), "application/json"); got != x.want {
			t.Errorf("%s %s by %s: %d, want %d", x.path, x.body, x.scope, got, x.want)
		}
	}
	for _, status := range []int{200, 201, 400, 401, 422} {
		if !slices.Contains(seen["/uploads"], status) {
			t.Errorf("no upload was answered with %d: %v", status, seen)
		}
	}
}

// A log's re-scoring raises its badge only when a machine of this server's operators
// delivers it.
func TestBadgesOverHTTP(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	trusted, err := s.db.CreateTrustedToken(t.Context(), "gpu-1", store.ScopeUpload)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.db.CreateTrustedToken(t.Context(), "gpu-2", store.ScopeUpload)
	if err != nil {
		t.Fatal(err)
	}
	deliver := func(secret, id string) string {
		t.Helper()
		body, contentType := form(t, nil, map[string]string{"log": rescoredLog(t, id)})
		if a := s.post(t, "/api/v1/uploads", secret, "", body, contentType); a.status != 201 {
			t.Fatal(a.body)
		}
		var one struct{ Badge string }
		s.getJSON(t, "/api/v1/attempts/"+id, &one)
		return one.Badge
	}
	if got := deliver(s.secret[store.ScopeAdmin], "theirs"); got != "with artefacts" {
		t.Errorf("uploaded by an administrator: %q", got)
	}
	if got := deliver(trusted, "ours"); got != "re-scored" {
		t.Errorf("delivered by a trusted machine: %q", got)
	}
	if got := deliver(second, "again"); got != "reproduced" {
		t.Errorf("scored again by another: %q", got)
	}
	var board struct {
		Rows []struct{ Badge string }
	}
	s.getJSON(t, "/api/v1/leaderboard?profile=cpu&environments=gpt2_qa&budget=1800", &board)
	if len(board.Rows) != 1 || board.Rows[0].Badge != "with artefacts" {
		t.Errorf("the row stands on its weakest attempt: %+v", board.Rows)
	}
	if _, _, page := s.page(t, "/attempts/ours"); !strings.Contains(page, `<li aria-current="true">reproduced</li>`) {
		t.Error("the attempt's page does not show the rung")
	}
}

func rescoredLog(t *testing.T, id string) string {
	t.Helper()
	at, start, reference, limit, raw := 5.0, 0.5, 0.75, 1800.0, 0.625
	var b strings.Builder
	w := attemptlog.NewWriter(&b)
	for _, e := range []attemptlog.Event{
		&attemptlog.Header{AttemptID: id, Environment: attemptlog.Environment{ID: "gpt2_qa", Version: "1", Profile: "cpu"}, Agent: &attemptlog.Agent{Name: "mine"}, TimeLimitS: &limit,
			Clock: rebench.ClockActive, Scoring: attemptlog.Scoring{StartRaw: &start, ReferenceRaw: &reference, CalibrationID: "c"}, Tool: attemptlog.Tool{Name: "rebench-runner"}},
		&attemptlog.Score{T: &at, Score: &raw, Basis: rebench.BasisRaw, Valid: true, SubmissionSHA256: strings.Repeat("a", 64), ScorerSHA256: strings.Repeat("b", 64)},
		&attemptlog.End{T: &limit, Reason: attemptlog.EndTimeLimit},
		&attemptlog.Rescore{OfSeq: 1, Score: &raw, Reason: "end of attempt"},
	} {
		if _, err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
