package handler

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

// zipped packs entries in the order given: name, content, name, content.
func zipped(t *testing.T, pairs ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: pairs[i], Method: zip.Deflate})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, pairs[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ownLog is an attempt log as text; each change may alter its header or score.
func ownLog(t *testing.T, change func(h *attemptlog.Header, s *attemptlog.Score)) string {
	t.Helper()
	at, start, reference, limit, raw := 5.0, 0.5, 0.75, 1800.0, 0.625
	h := &attemptlog.Header{AttemptID: "own-1", Environment: attemptlog.Environment{ID: "gpt2_qa", Version: "1", Profile: "cpu"}, Agent: &attemptlog.Agent{Name: "mine"},
		TimeLimitS: &limit, Clock: rebench.ClockActive, Scoring: attemptlog.Scoring{StartRaw: &start, ReferenceRaw: &reference, CalibrationID: "c"}}
	score := &attemptlog.Score{T: &at, Score: &raw, Basis: rebench.BasisRaw, Valid: true}
	if change != nil {
		change(h, score)
	}
	var b strings.Builder
	w := attemptlog.NewWriter(&b)
	for _, e := range []attemptlog.Event{h, score, &attemptlog.End{T: &limit, Reason: attemptlog.EndTimeLimit}} {
		if _, err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// Files made to harm are refused with the fault's own code, leave nothing behind and
// change nothing.
func TestHostileFiles(t *testing.T) {
	good := rows(0.5, 1)
	log := ownLog(t, nil)
	header, _, _ := strings.Cut(log, "\n")
	inspect := `{"version":2,"status":"success","eval":{"eval_id":"e","task":"t"},"samples":[{"id":1,"epoch":1,"metadata":`
	for name, tc := range map[string]struct {
		content string
		codes   []string
	}{
		"zip bomb":                   {zipped(t, "runs.jsonl", strings.Repeat("0", 64<<20)), []string{ingest.CodeArchiveRatio}},
		"zip bomb beside a good row": {zipped(t, "a.jsonl", good, "b.jsonl", strings.Repeat(" ", 64<<20)), []string{ingest.CodeArchiveRatio}},
		"archive in an archive":      {zipped(t, "inner.zip", zipped(t, "runs.jsonl", good)), []string{ingest.CodeNestedArchive}},
		"torn archive":               {zipped(t, "runs.jsonl", good)[:60], []string{ingest.CodeBadArchive}},
		"10^6-deep attempt log":      {strings.TrimSuffix(header, "}") + `,"x":` + strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000) + "}\n", []string{attemptlog.CodeTooDeep}},
		"10^6-deep row":              {strings.TrimSuffix(strings.TrimSuffix(good, "\n"), "}") + `,"x":` + strings.Repeat(`{"a":`, 1_000_000) + "1" + strings.Repeat("}", 1_000_000) + "}\n", []string{attemptlog.CodeTooDeep}},
		"10^6-deep Inspect log":      {inspect + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + "}]}", []string{attemptlog.CodeTooDeep}},
		"40 MB line in a log":        {header + "\n" + `{"type":"score","seq":1,"prev":"` + strings.Repeat("a", 40<<20) + "\"}\n", []string{attemptlog.CodeLineTooLong}},
		"40 MB row":                  {strings.TrimSuffix(strings.TrimSuffix(good, "\n"), "}") + `,"x":"` + strings.Repeat("a", 40<<20) + "\"}\n", []string{attemptlog.CodeLineTooLong}},
		"invalid UTF-8 in a log":     {strings.Replace(log, `"mine"`, "\"mi\xffne\"", 1), []string{attemptlog.CodeInvalidUTF8}},
		"invalid UTF-8 in a row":     {strings.Replace(good, `"alias":"A"`, "\"alias\":\"\xc3\x28\"", 1), []string{attemptlog.CodeInvalidUTF8}},
		"key twice in a log":         {strings.Replace(log, `"clock"`, `"seed":1,"clock"`, 1), []string{attemptlog.CodeDuplicateKey}},
		"key twice in a row":         {strings.Replace(good, `"model":"a"`, `"model":"a","model":"b"`, 1), []string{attemptlog.CodeDuplicateKey}},
		"an edited log":              {strings.Replace(log, `"score":0.625`, `"score":0.725`, 1), []string{attemptlog.CodeChainBroken}},
		"infinite score":             {strings.Replace(log, `"score":0.625`, `"score":1e999`, 1), []string{attemptlog.CodeNumberRange}},
		"huge integer":               {strings.Replace(log, `"seed":null`, `"seed":99999999999999999999`, 1), []string{attemptlog.CodeNumberRange}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newUploadSite(t, testutil.EmptyStore(t))
			for _, query := range []string{"?dry_run=1", "", "?partial=1"} {
				a := s.upload(t, query, "", nil, map[string]string{"f": tc.content})
				if name == "zip bomb beside a good row" && query == "?partial=1" {
					continue // what that keeps is tested below
				}
				if a.status != http.StatusUnprocessableEntity || !slices.Contains(tc.codes, a.code()) {
					t.Errorf("%s: %d %s, want 422 and one of %v: %.300s", query, a.status, a.code(), tc.codes, a.body)
				}
				if len(a.body) > 64<<10 {
					t.Errorf("%s: the answer repeats the file: %d bytes", query, len(a.body))
				}
			}
			if rev, err := s.db.LatestRevision(t.Context()); err != nil || rev.ID != 0 && name != "zip bomb beside a good row" {
				t.Errorf("data revision %d, %v", rev.ID, err)
			}
			s.leavesNothing(t)
		})
	}
}

// Carriage returns, byte order marks and values that are no numbers occur in real
// files and are read for what they are.
func TestOddButValidFiles(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	files := map[string]string{
		"bom.jsonl":  "\ufeff" + rows(0.5, 1),
		"crlf.jsonl": strings.ReplaceAll(rows(0.25, 2), "\n", "\r\n"),
		"nan.jsonl":  strings.Replace(rows(0.5, 3), "0.5", "NaN", 1),
		"big.jsonl":  strings.Replace(rows(0.5, 4), `"alias"`, `"total_tokens":18446744073709551616,"alias"`, 1),
	}
	a := s.upload(t, "", "", nil, files)
	if a.status != 201 || a.count("created") != 4 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, e := range a.json["created"].([]any) {
		e := e.(map[string]any)
		if (e["score"] == nil) != (e["file"] == "nan.jsonl") && e["file"] == "nan.jsonl" && e["score"] != 0.0 {
			t.Errorf("%v", e)
		}
	}
	rev, _ := s.db.LatestRevision(t.Context())
	one, err := s.db.Attempt(t.Context(), "metr-rebench:3", rev.ID)
	if err != nil || len(one.Entries) != 1 || one.Entries[0].Valid || one.Entries[0].Normalized != nil {
		t.Errorf("NaN became %+v (%v)", one.Entries, err)
	}
}

// Names in archives and in the request are shown, and used for nothing.
func TestNamesAreNoPaths(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	archive := zipped(t, "../../../../tmp/rebench-escape.jsonl", rows(0.5, 1), "/etc/rebench-escape.jsonl", rows(0.5, 2), `..\..\rebench-escape.jsonl`, rows(0.5, 3))
	a := s.upload(t, "", "", nil, map[string]string{"../../../rebench-escape.zip": archive})
	if a.status != 201 || a.count("created") != 3 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if first := a.json["created"].([]any)[0].(map[string]any)["file"].(string); !strings.HasPrefix(first, "rebench-escape.zip/") {
		t.Errorf("the file is called %q", first)
	}
	for _, dir := range []string{filepath.Dir(s.dir), "/etc", "/tmp"} {
		depth := strings.Count(dir, "/")
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.Contains(d.Name(), "rebench-escape") {
				t.Errorf("%s was written", path)
			}
			if err == nil && d.IsDir() && strings.Count(path, "/") > depth+1 {
				return fs.SkipDir
			}
			return nil
		})
	}
	s.leavesNothing(t)
}

const script, formula = `</script><script>alert(1)</script><img src=x onerror=alert(1)>`, `=HYPERLINK("http://evil.example","x")`

// Text of uploads reaches pages as text, CSV cells as text and charts as labels.
func TestHostileTextStaysText(t *testing.T) {
	for name, text := range map[string]string{"markup": script, "formula": formula, "attribute": `" onmouseover="alert(1)`, "template": `{{7*7}}${7*7}`, "control": "a\u202eb\u0000c"} {
		t.Run(name, func(t *testing.T) {
			s := newUploadSite(t, testutil.EmptyStore(t))
			log := ownLog(t, func(h *attemptlog.Header, e *attemptlog.Score) {
				h.Environment.Version = text
				h.Agent = &attemptlog.Agent{Name: text, Model: text, Scaffold: text}
				h.Hardware = &attemptlog.Hardware{GPU: text}
				h.Scoring.CalibrationID = text
				h.Tool = attemptlog.Tool{Name: text, Version: text}
				e.Message = attemptlog.Text(text)
			})
			if a := s.upload(t, "", "", nil, map[string]string{strings.ReplaceAll(text, "\x00", ""): log}); a.status != 201 || a.count("created") != 1 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			flag := `{"kind":"suspected","reason":` + string(attemptlog.Text(text)) + `}`
			if a := s.post(t, "/api/v1/attempts/own-1/flags", s.secret[store.ScopeAdmin], "", strings.NewReader(flag), "application/json"); a.status != 201 {
				t.Fatalf("flag: %d %s", a.status, a.body)
			}
			for _, path := range []string{"/attempts/own-1", "/attempts?profile=cpu", "/?profile=cpu&flagged=include&environments=gpt2_qa", "/curves?profile=cpu&flagged=include&environments=gpt2_qa",
				"/environments/gpt2_qa?profile=cpu", "/audit", "/search?text=own"} {
				status, _, page := s.page(t, path)
				if status != 200 {
					t.Errorf("%s: status %d", path, status)
				}
				for _, bad := range []string{"<script>alert", "<img src=x", `" onmouseover="`} {
					if strings.Contains(page, bad) {
						t.Errorf("%s holds %s", path, bad)
					}
				}
			}
			s.cellsAreText(t, "/attempts/own-1.csv", "/attempts.csv?profile=cpu", "/leaderboard.csv?profile=cpu&flagged=include&environments=gpt2_qa", "/audit.csv", "/api/v1/attempts.csv")
			for _, path := range []string{"/attempts/own-1.svg", "/curves.svg?profile=cpu&flagged=include&environments=gpt2_qa"} {
				if _, _, picture := s.page(t, path); strings.Contains(picture, "<script") || strings.Contains(picture, "<img") {
					t.Errorf("%s holds markup", path)
				}
			}
		})
	}
}

func (s *uploadSite) page(t *testing.T, path string) (status int, at, body string) {
	t.Helper()
	res, err := s.Client().Get(s.URL + path)
	return bodyOf(t, res, err)
}

// cellsAreText fails when a cell would be run by a spreadsheet.
func (s *uploadSite) cellsAreText(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		status, _, body := s.page(t, path)
		records, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if status != 200 || err != nil || len(records) < 2 {
			t.Errorf("%s: status %d, %d records, %v", path, status, len(records), err)
		}
		for _, r := range records {
			for _, cell := range r {
				if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "@") || strings.HasPrefix(cell, "+") || strings.HasPrefix(cell, "-") && strings.ContainsAny(cell, "(!") {
					t.Errorf("%s: cell %q", path, cell)
				}
			}
		}
	}
}
