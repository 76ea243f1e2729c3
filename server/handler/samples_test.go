package handler

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rebench/data"
	"rebench/internal/ingest"
	"rebench/internal/published"
	"rebench/internal/testutil"
)

const sampleDir = "../../internal/ingest/testdata/samples"

// indexed is what INDEX.json says of a sample.
type indexed struct {
	File     string
	Expected struct {
		Rows         *int
		Samples      *int
		SampleScores int `json:"sample_scores"`
		Reports      *int
	}
}

func samples(t *testing.T) []indexed {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sampleDir, "INDEX.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []indexed
	if err := json.Unmarshal(b, &out); err != nil || len(out) < 20 {
		t.Fatalf("%d samples, %v", len(out), err)
	}
	return out
}

func sampleText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sampleDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const sampleMapping = `{"attempt_id":"sample-1","environment":"optimize_kernel","profile":"cpu","agent":{"name":"A"},"started_at":"2025-01-01T00:00:00","zone":"UTC","time_limit_s":1800}`

// wanted says what an upload of a sample must do: without and with a mapping.
func wanted(e indexed) (plain, mapped string, created int) {
	switch {
	case e.Expected.Reports != nil:
		return ingest.CodeUnsupportedBench, ingest.CodeUnsupportedBench, 0
	case e.Expected.Samples != nil && *e.Expected.Samples == 0:
		return ingest.CodeNoAttempts, ingest.CodeNoAttempts, 0
	case e.Expected.Samples != nil:
		return ingest.CodeMissingMapping, "", *e.Expected.Samples
	case e.File == "metr__runs_early_b9a402f_aird_only.jsonl": // 7 of its rows are placeholders
		return "", "", *e.Expected.Rows - 7
	case e.File == "transcribed__later_runs_a.jsonl": // rows of other tasks
		return ingest.CodeUnsupportedTask, ingest.CodeUnsupportedTask, 0
	}
	return ingest.CodeMissingMapping, "", 1
}

// Every sample is imported, or refused with the right reason, over HTTP.
func TestEverySampleThroughTheAPI(t *testing.T) {
	for _, e := range samples(t) {
		t.Run(e.File, func(t *testing.T) {
			s := newUploadSite(t, testutil.EmptyStore(t))
			files := map[string]string{e.File: sampleText(t, e.File)}
			plain, mapped, created := wanted(e)
			check := func(a reply, code string, success int) {
				t.Helper()
				want := success
				if code != "" {
					want = 422
				}
				if a.status != want || a.code() != code || code != "" && a.json["code"] != code {
					t.Errorf("status %d %s, want %d %s: %.300s", a.status, a.code(), want, code, a.body)
				}
			}
			check(s.upload(t, "?dry_run=1", "", nil, files), plain, 200)
			with := map[string]string{"mapping": sampleMapping}
			a := s.upload(t, "", "", with, files)
			check(a, mapped, 201)
			if e.Expected.Samples != nil && a.status == 201 && codes(a)["foreign_task"] != 1 {
				t.Errorf("no sample is of a task of RE-Bench, and the remarks are %v", codes(a))
			}
			if a.status == 201 && (a.count("created") != created || created == 0) {
				t.Errorf("%d created, want %d", a.count("created"), created)
			}
			again := s.upload(t, "", "", with, files)
			if check(again, mapped, 201); again.count("unchanged") != created || again.count("created")+again.count("revised") != 0 {
				t.Errorf("again: %d unchanged, %d created, %d revised; want %d, 0, 0", again.count("unchanged"), again.count("created"), again.count("revised"), created)
			}
			s.scoresMatch(t, e, created)
			s.leavesNothing(t)
		})
	}
}

// scoresMatch compares the stored score entries of an Inspect sample with the index.
func (s *uploadSite) scoresMatch(t *testing.T, e indexed, attempts int) {
	t.Helper()
	rev, err := s.db.LatestRevision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.db.Summaries(t.Context(), rev.ID)
	if err != nil || len(all) != attempts {
		t.Fatalf("%d attempts are stored, want %d (%v)", len(all), attempts, err)
	}
	if e.Expected.Samples == nil {
		return
	}
	scored := 0
	for _, a := range all {
		entries, err := s.db.Entries(t.Context(), []int64{a.RevisionID})
		if err != nil {
			t.Fatal(err)
		}
		if len(entries[a.RevisionID]) > 0 {
			scored++
		}
	}
	if scored != e.Expected.SampleScores {
		t.Errorf("%d attempts have a score, want %d", scored, e.Expected.SampleScores)
	}
}

// The rows of other tasks can be left out; the refused ones are named by line.
func TestTheValidPartOfALaterMETRFile(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	files := map[string]string{"later.jsonl": sampleText(t, "transcribed__later_runs_a.jsonl")}
	a := s.upload(t, "", "", nil, files)
	lines := map[float64]bool{}
	for _, e := range a.json["errors"].([]any) {
		lines[e.(map[string]any)["line"].(float64)] = true
	}
	if a.status != 422 || len(lines) != 2 || !lines[4] || !lines[5] {
		t.Errorf("status %d, lines %v", a.status, lines)
	}
	if a = s.upload(t, "?partial=1", "", nil, files); a.status != 201 || a.count("created") != 3 || a.count("errors") != 2 {
		t.Errorf("the valid part: %d, %d created, %d errors", a.status, a.count("created"), a.count("errors"))
	}
}

// The restated version of the published file over the embedded rows: four new
// attempts, no placeholder back, and no restated score ranks unless the uploader,
// or later an administrator, says so.
func TestTheRestatedFileOverHTTP(t *testing.T) {
	s := newUploadSite(t, testutil.PublishedStore(t))
	files := map[string]string{"all_runs.jsonl": sampleText(t, "metr__runs_early_b9a402f_aird_only.jsonl")}
	plan := s.upload(t, "?dry_run=1", "", nil, files)
	a := s.upload(t, "", "", nil, files)
	for name, r := range map[string]reply{"plan": plan, "import": a} {
		if r.count("created") != 4 || r.count("revised") != 1158 || r.count("unchanged") != 643 || r.json["held"] != true {
			t.Errorf("%s: created %d, revised %d, unchanged %d, held %v", name, r.count("created"), r.count("revised"), r.count("unchanged"), r.json["held"])
		}
		for _, e := range r.json["revised"].([]any) {
			if e.(map[string]any)["current"] != false {
				t.Fatalf("%s: %v became current", name, e)
			}
		}
	}
	var list struct {
		Total    int `json:"total"`
		Attempts []struct {
			ID    string   `json:"id"`
			Score *float64 `json:"score"`
		} `json:"attempts"`
	}
	s.getJSON(t, "/api/v1/attempts?text=204921", &list)
	if len(list.Attempts) != 1 || *list.Attempts[0].Score < 4.05 {
		t.Errorf("the published score no longer ranks: %+v", list)
	}
	if s.getJSON(t, "/api/v1/attempts", &list); list.Total != 1805 {
		t.Errorf("%d attempts, want 1805", list.Total)
	}
	id := url.PathEscape(list.Attempts[0].ID)
	var one struct {
		Revisions []struct {
			Number  int
			Current bool
			Score   *float64
		}
		Score *float64
	}
	s.getJSON(t, "/api/v1/attempts/metr-rebench:mp4-server_204921", &one)
	if len(one.Revisions) != 2 || !one.Revisions[0].Current || one.Revisions[1].Current {
		t.Fatalf("revisions %+v", one.Revisions)
	}
	body := `{"revision":2,"reason":"compare with the restated file"}`
	if r := s.post(t, "/api/v1/attempts/metr-rebench:mp4-server_204921/current", s.secret["upload"], "", strings.NewReader(body), "application/json"); r.status != 403 {
		t.Errorf("with an upload token: %d", r.status)
	}
	if r := s.post(t, "/api/v1/attempts/metr-rebench:mp4-server_204921/current", s.secret["admin"], "", strings.NewReader(body), "application/json"); r.status != 201 {
		t.Fatalf("make current: %d %s", r.status, r.body)
	}
	if r := s.post(t, "/api/v1/attempts/metr-rebench:mp4-server_204921/current", s.secret["admin"], "", strings.NewReader(body), "application/json"); r.status != 409 {
		t.Errorf("again: %d", r.status)
	}
	if r := s.post(t, "/api/v1/attempts/"+id+"/current", s.secret["admin"], "", strings.NewReader(`{"revision":9}`), "application/json"); r.status != 404 {
		t.Errorf("a revision that is not there: %d", r.status)
	}
	before := one
	s.getJSON(t, "/api/v1/attempts/metr-rebench:mp4-server_204921", &one)
	if !one.Revisions[1].Current || *one.Revisions[0].Score != *before.Revisions[0].Score || *one.Score != *one.Revisions[1].Score {
		t.Errorf("both numbers must stay, the second ranking: %+v", one)
	}
	s.getJSON(t, fmt.Sprintf("/api/v1/attempts/metr-rebench:mp4-server_204921?asof=%.0f", a.json["data_revision"]), &one)
	if *one.Score != *before.Score {
		t.Error("an earlier data revision changed")
	}
}

// With make_current the restated rows rank; the earlier numbers stay on record.
func TestRestatedRowsCanBeMadeCurrent(t *testing.T) {
	s := newUploadSite(t, testutil.PublishedStore(t))
	files := map[string]string{"all_runs.jsonl": sampleText(t, "metr__runs_early_b9a402f_aird_only.jsonl")}
	a := s.upload(t, "?make_current=1", "", nil, files)
	if a.status != 201 || a.json["held"] != false || a.count("revised") != 1158 {
		t.Fatalf("%d, held %v, %d revised", a.status, a.json["held"], a.count("revised"))
	}
	for _, e := range a.json["revised"].([]any) {
		if e.(map[string]any)["current"] != true {
			t.Fatalf("%v is not current", e)
		}
	}
	rev, _ := s.db.LatestRevision(t.Context())
	one, err := s.db.Attempt(t.Context(), "metr-rebench:mp4-server_204921", rev.ID)
	if err != nil || len(one.Revisions) != 2 || *one.Revisions[0].Final < 4.05 || one.Final > 1 {
		t.Errorf("%+v, %v", one.Revisions, err)
	}
}

// The published file uploaded again changes nothing and makes no data revision.
func TestThePublishedFileOverHTTP(t *testing.T) {
	s := newUploadSite(t, testutil.PublishedStore(t))
	b, err := data.File(published.RunsFile)
	if err != nil {
		t.Fatal(err)
	}
	a := s.upload(t, "", "", nil, map[string]string{"runs.jsonl": string(b)})
	if a.status != 201 || a.count("unchanged") != 1801 || a.json["data_revision"] != 1.0 {
		t.Errorf("%d, %d unchanged at %v", a.status, a.count("unchanged"), a.json["data_revision"])
	}
}

func (s *uploadSite) getJSON(t *testing.T, path string, into any) {
	t.Helper()
	res, err := s.Client().Get(s.URL + path)
	status, _, body := bodyOf(t, res, err)
	if status != 200 {
		t.Fatalf("%s: %d %.300s", path, status, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatal(err)
	}
}
