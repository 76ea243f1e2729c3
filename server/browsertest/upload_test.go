package browsertest

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/testutil"
	"rebench/server/handler"
)

// openSite is a server that takes changes.
type openSite struct {
	url    string
	db     *store.Store
	secret string // an administrator's token
}

func newOpenSite(tb testing.TB, db *store.Store) openSite {
	tb.Helper()
	h, err := handler.New(handler.Options{Engine: analysis.New(db, analysis.Options{Replicates: 200}), Store: db, DB: db, UploadDir: tb.TempDir(), Version: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := db.CreateToken(tb.Context(), "Evaluation team", store.ScopeAdmin)
	if err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(h)
	tb.Cleanup(func() { h.Stop(); server.Close() })
	return openSite{server.URL, db, secret}
}

// logIn opens /upload and shows the token; the page that follows is loaded.
func (s openSite) logIn(t *testing.T, w *tab) {
	t.Helper()
	w.run(t, chromedp.Navigate(s.url+"/login?next=/upload"))
	w.eventually(t, `document.readyState === "complete"`)
	if !eval[bool](t, w, `document.querySelector("input[name=token]") !== null`) {
		return // this browser is logged in already
	}
	w.run(t, chromedp.SetValue(chromedp.CSS("input[name=token]"), s.secret), chromedp.Submit(chromedp.CSS("form.login")))
	w.eventually(t, `location.pathname === "/upload" && document.readyState === "complete" && document.querySelector("[data-drop]") !== null`)
}

// preview chooses files and asks for their preview, which is waited for.
func (s openSite) preview(t *testing.T, w *tab, files ...string) {
	t.Helper()
	w.run(t, chromedp.Navigate(s.url+"/upload"))
	w.eventually(t, `document.readyState === "complete" && document.querySelector("[data-drop]") !== null`)
	w.run(t, chromedp.SetUploadFiles(chromedp.CSS("#files"), files))
	eval[bool](t, w, `(document.querySelector("form[data-drop] button").click(), true)`)
	w.eventually(t, `location.pathname.startsWith("/upload/") && document.readyState === "complete" && document.querySelector(".upload-files") !== null`)
}

// press clicks the button with that value and waits for the page that follows.
func (w *tab) press(t *testing.T, value string) {
	t.Helper()
	eval[bool](t, w, fmt.Sprintf(`(window.pressed = true, document.querySelector("button[value=%s]").click(), true)`, value))
	w.eventually(t, `window.pressed === undefined && document.readyState === "complete" && document.querySelector("[data-working]") === null`)
}

// eventually is until for expressions that are asked while a page gives way to another.
func (w *tab) eventually(t *testing.T, expression string) {
	t.Helper()
	for deadline := time.Now().Add(tabTimeout / 4); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if v, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](expression)); err == nil && v {
			return
		}
	}
	t.Fatalf("never true: %s; the page is %s", expression, eval[string](t, w, `location.pathname + ": " + document.querySelector("main").textContent.slice(0, 400)`))
}

func (w *tab) title(t *testing.T) string {
	t.Helper()
	return eval[string](t, w, `document.querySelector("h1").textContent`)
}

func sampleFile(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "internal", "ingest", "testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// look checks a page as a reader would meet it.
func (w *tab) look(t *testing.T, name string, d device) {
	t.Helper()
	w.until(t, `document.fonts.status === "loaded"`)
	w.screenshot(t, name+"-"+d.name)
	w.fits(t, d)
	w.accessible(t)
	w.check(t)
}

// Every page of an upload, of the audit trail and of flags, on every device.
func TestUploadPages(t *testing.T) {
	faulty := `{"run_id":1,"task_id":"ai_rd_fix_embedding/main","task_family":"ai_rd_fix_embedding","alias":"A","model":"a","score":0.5,"time_limit":1800,"started_at":1,"completed_at":2,"fatal_error_from":null}` + "\n" +
		`{"run_id":2,"task_id":"ai_rd_fix_embedding/main","task_family":"ai_rd_fix_embedding","alias":"A","model":"a","score":"half","time_limit":1800,"started_at":1,"completed_at":2,"fatal_error_from":null}` + "\n" +
		`{"run_id":3,"task_id":"ai_rd_nothing/main","task_family":"ai_rd_nothing","alias":"A","model":"a","score":0.5,"time_limit":"x","started_at":1,"completed_at":2,"fatal_error_from":null}` + "\n"
	for _, d := range devices {
		t.Run(d.name, func(t *testing.T) {
			browser, s := newBrowser(t), newOpenSite(t, testutil.PublishedStore(t))
			w := open(t, browser, s.url, "/upload", d, true)
			w.look(t, "upload-logged-out", d)
			s.logIn(t, w)
			w.run(t, chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{sampleFile(t, "tps__score_truncbranch.log"), sampleFile(t, "tps__score_v025_mixed.log")}))
			w.until(t, `document.querySelectorAll(".chosen li").length === 2`)
			w.look(t, "upload-1-choose", d)
			s.preview(t, w, sampleFile(t, "tps__score_v025_mixed.log"))
			w.look(t, "upload-2-missing", d)
			s.preview(t, w, sampleFile(t, "tps__score_truncbranch.log"), sampleFile(t, "tps__score_v025_mixed.log"))
			w.look(t, "upload-2-two-files", d)
			s.preview(t, w, writeFile(t, "runs with faults.jsonl", faulty), sampleFile(t, "mlebench__gen_2024-09-19T20-07-15-GMT_grading_report.json"))
			w.look(t, "upload-2-faults", d)
			s.preview(t, w, sampleFile(t, "metr__runs_early_b9a402f_aird_only.jsonl"))
			w.look(t, "upload-2-restated", d)
			w.press(t, "confirm")
			if got := w.title(t); got != "Imported" {
				t.Errorf("after the confirmation: %q", got)
			}
			w.look(t, "upload-3-done", d)
			s.flag(t)
			w.run(t, chromedp.Navigate(s.url+"/audit"))
			w.eventually(t, `document.readyState === "complete"`)
			w.look(t, "audit", d)
			w.run(t, chromedp.Navigate(s.url+attemptPath))
			w.eventually(t, `document.readyState === "complete" && document.querySelector(".flag-form") !== null`)
			w.chartsDrawn(t)
			w.look(t, "attempt-flags", d)
		})
	}
}

// flag makes statements about the attempt that the tests look at.
func (s openSite) flag(t *testing.T) {
	t.Helper()
	id := strings.TrimPrefix(attemptPath, "/attempts/")
	for _, f := range []rebench.Flag{
		{Kind: rebench.FlagInvalid, Set: true, Reason: "The submission returns before the work is done; the score rests on a stale buffer."},
		{Kind: rebench.FlagInvalid, Set: false, Reason: "Run again with a cold buffer: the score stands."},
		{Kind: rebench.FlagRetracted, Set: true, Reason: "Withdrawn by the team: the container had two GPUs."},
	} {
		f.AttemptID, f.Author = id, "Evaluation team"
		if _, err := s.db.AddFlag(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
}
