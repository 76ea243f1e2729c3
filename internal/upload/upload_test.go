package upload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rebench/data"
	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/published"
	"rebench/internal/rebench"
	"rebench/internal/testutil"
	"rebench/internal/upload"
)

func spool(t testing.TB, name string, content []byte) upload.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spooled")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return upload.File{Name: name, Path: path, Size: int64(len(content)), SHA256: fmt.Sprintf("%x", sha256.Sum256(content))}
}

func sample(t testing.TB, name string) upload.File {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "ingest", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return spool(t, name, b)
}

func mapping(t testing.TB, s string) ingest.Mapping {
	t.Helper()
	m, err := ingest.ParseMapping([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestThePublishedFileUploadedAgainChangesNothing(t *testing.T) {
	s := &upload.Service{Store: testutil.PublishedStore(t)}
	b, err := data.File(published.RunsFile)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Import(t.Context(), []upload.File{spool(t, "all_runs.jsonl", b)}, upload.Options{Author: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Created) != 0 || len(r.Revised) != 0 || len(r.Unchanged) != 1801 || r.DataRevision != 1 {
		t.Errorf("created %d, revised %d, unchanged %d at %d; want 0, 0, 1801 at 1", len(r.Created), len(r.Revised), len(r.Unchanged), r.DataRevision)
	}
}

func TestTheRestatedFileAddsFourAttemptsAndHoldsTheRest(t *testing.T) {
	st := testutil.PublishedStore(t)
	s := &upload.Service{Store: st}
	file := sample(t, "metr__runs_early_b9a402f_aird_only.jsonl")
	plan, err := s.Plan(t.Context(), []upload.File{file}, upload.Options{Author: "t"})
	if err != nil {
		t.Fatal(err, plan.Errors)
	}
	done, err := s.Import(t.Context(), []upload.File{file}, upload.Options{Author: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*upload.Report{"plan": plan, "import": done} {
		if len(r.Created) != 4 || !r.Held || len(r.Revised) == 0 || len(r.Created)+len(r.Revised)+len(r.Unchanged) != 1812-7 {
			t.Errorf("%s: created %d, revised %d (held %t), unchanged %d; want 4 created of 1805", name, len(r.Created), len(r.Revised), r.Held, len(r.Unchanged))
		}
		for _, e := range r.Revised {
			if e.Current {
				t.Errorf("%s: revision %d of %s became current", name, e.Revision, e.AttemptID)
			}
		}
		if len(r.Files[0].Restated) == 0 {
			t.Errorf("%s: does not say how the file differs", name)
		}
	}
	t.Logf("revised %d, unchanged %d, %q", len(done.Revised), len(done.Unchanged), done.Files[0].Restated)
	all, err := st.Summaries(t.Context(), done.DataRevision)
	if err != nil {
		t.Fatal(err)
	}
	humans := 0
	for _, a := range all {
		if a.Cohort != "" {
			humans++
		}
		if strings.HasSuffix(a.ID, ":81") {
			t.Error("a placeholder came back")
		}
	}
	if len(all) != 1805 || humans != 86 {
		t.Errorf("%d attempts, %d humans; want 1805, 86", len(all), humans)
	}
	again, err := s.Import(t.Context(), []upload.File{file}, upload.Options{Author: "t"})
	if err != nil || len(again.Unchanged) != 1805 {
		t.Errorf("again: %d unchanged (%v), want 1805", len(again.Unchanged), err)
	}
}

func TestAFaultRefusesTheWholeUploadUnlessTheValidPartIsWanted(t *testing.T) {
	s := &upload.Service{Store: testutil.EmptyStore(t)}
	good := `{"run_id":1,"task_id":"ai_rd_fix_embedding/main","task_family":"ai_rd_fix_embedding","alias":"A","model":"a","score":0.5,"time_limit":1800,"started_at":1,"completed_at":2,"fatal_error_from":null}`
	bad := strings.Replace(good, `"score":0.5`, `"score":"half"`, 1)
	file := spool(t, "runs.jsonl", []byte(good+"\n"+bad+"\n"))
	r, err := s.Import(t.Context(), []upload.File{file}, upload.Options{Author: "t"})
	if !errors.Is(err, upload.ErrFaulty) || len(r.Errors) != 1 || r.Errors[0].Line != 2 || r.Errors[0].Field != "score" || len(r.Created) != 0 {
		t.Errorf("%v: %+v", err, r)
	}
	if rev, _ := s.Store.LatestRevision(t.Context()); rev.ID != 0 {
		t.Error("a refused upload left a data revision")
	}
	r, err = s.Import(t.Context(), []upload.File{file}, upload.Options{Author: "t", Partial: true})
	if err != nil || len(r.Created) != 1 || len(r.Errors) != 1 {
		t.Errorf("partial: %v, %+v", err, r)
	}
}

func TestAScoreLogOfMETRsScorerIsOnTheirScale(t *testing.T) {
	s := &upload.Service{Store: testutil.EmptyStore(t)}
	m := mapping(t, `{"attempt_id":"mine-1","environment":"rust_codecontests","profile":"paper","agent":{"name":"my-agent"},
		"started_at":"2025-01-31T12:00:00","zone":"UTC","time_limit_s":1800}`)
	log := "timestamp,score,message,details\n2025-01-31T12:00:01,0.0,{},{}\r\n2025-01-31T12:10:00,0.06363636363636363,{},{}\r\n2025-01-31T12:20:00,nan,{},{}\r\n"
	r, err := s.Import(t.Context(), []upload.File{spool(t, "score.log", []byte(log))}, upload.Options{Author: "t", Mapping: m})
	if err != nil {
		t.Fatal(err, r)
	}
	// Half of the reference, 21/165.
	if e := r.Created[0]; e.Score == nil || *e.Score < 0.4999 || *e.Score > 0.5001 || e.Unranked != "" {
		t.Errorf("element %+v, want a ranked score of 0.5", e)
	}
	a, err := s.Store.Attempt(t.Context(), "mine-1", r.DataRevision)
	if err != nil {
		t.Fatal(err)
	}
	if a.ScorerVersion != rebench.ScorerMETRPublished || len(a.Entries) != 3 || a.Entries[2].Valid || a.Entries[2].Raw != nil {
		t.Errorf("attempt %+v", a)
	}
}

func TestWhatIsMissingFromTheMappingIsAsked(t *testing.T) {
	s := &upload.Service{Store: testutil.EmptyStore(t)}
	r, err := s.Plan(t.Context(), []upload.File{sample(t, "tps__score_v025_mixed.log")}, upload.Options{Author: "t"})
	if !errors.Is(err, upload.ErrFaulty) {
		t.Fatal(err)
	}
	for _, field := range []string{"attempt_id", "environment", "profile", "agent", "zone", "started_at"} {
		if !bytes.Contains([]byte(strings.Join(r.Files[0].Needs, " ")), []byte(field)) {
			t.Errorf("%s is not asked for: %v", field, r.Files[0].Needs)
		}
	}
	for _, f := range r.Errors {
		if f.Code != ingest.CodeMissingMapping {
			t.Errorf("fault %+v", f)
		}
	}
	_ = attemptlog.Faults(r.Errors)
}

// An id can be taken by an attempt of another environment or of another dataset:
// that is a fault of the file, in the plan as in the import.
func TestContradictionsAreFaults(t *testing.T) {
	s := &upload.Service{Store: testutil.PublishedStore(t)}
	const known = "mp4-server_204921"
	other := `{"run_id":"` + known + `","task_id":"ai_rd_fix_embedding/main","task_family":"ai_rd_fix_embedding","alias":"A","model":"a","score":0.5,"time_limit":1800,"started_at":1,"completed_at":2,"fatal_error_from":null}` + "\n"
	own := logOf(t, "metr-rebench:"+known)
	for name, content := range map[string][]byte{"another environment": []byte(other), "another dataset": own, "the same id twice": append(append([]byte{}, logOf(t, "twice")...), logOf(t, "twice")...)} {
		for _, do := range []func(context.Context, []upload.File, upload.Options) (*upload.Report, error){s.Plan, s.Import} {
			r, err := do(t.Context(), []upload.File{spool(t, "f", content)}, upload.Options{Author: "t"})
			if name == "the same id twice" {
				if err != nil || len(r.Created) != 1 && len(r.Unchanged) != 1 {
					t.Errorf("%s: %v %+v", name, err, r)
				}
				continue
			}
			if !errors.Is(err, upload.ErrFaulty) || len(r.Errors) != 1 || r.Errors[0].Code != upload.CodeContradiction || r.Errors[0].Line != 1 || r.Files[0].Refused != 1 {
				t.Errorf("%s: %v %+v", name, err, r)
			}
		}
	}
}

// logOf is an attempt log with one score.
func logOf(t testing.TB, id string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := attemptlog.NewWriter(&b)
	at, start, reference, limit, raw := 5.0, 1.0, 2.0, 60.0, 1.5
	for _, e := range []attemptlog.Event{
		&attemptlog.Header{AttemptID: id, Environment: attemptlog.Environment{ID: "gpt2_qa", Version: "1", Profile: "cpu"}, Agent: &attemptlog.Agent{Name: "mine"},
			TimeLimitS: &limit, Clock: rebench.ClockActive, Scoring: attemptlog.Scoring{StartRaw: &start, ReferenceRaw: &reference, CalibrationID: "c"}},
		&attemptlog.Score{T: &at, Score: &raw, Basis: rebench.BasisRaw, Valid: true},
		&attemptlog.End{T: &limit, Reason: attemptlog.EndTimeLimit},
	} {
		if _, err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
