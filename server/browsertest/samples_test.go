package browsertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"rebench/internal/testutil"
)

// sampleIndex is what INDEX.json says of a sample.
type sampleIndex struct {
	File     string
	Expected struct {
		Rows    *int
		Samples *int
		Reports *int
	}
}

// repacked holds, in chunks, the samples that another file holds whole.
const repacked = "tsmono__chunked__log_streaming.eval"

// Every sample is imported, or refused with the right reason, through the page. What
// it does not say is answered in the form.
func TestEverySampleThroughThePage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "internal", "ingest", "testdata", "samples", "INDEX.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index []sampleIndex
	if err := json.Unmarshal(b, &index); err != nil || len(index) < 20 {
		t.Fatalf("%d samples, %v", len(index), err)
	}
	browser, s := newBrowser(t), newOpenSite(t, testutil.PublishedStore(t))
	w := open(t, browser, s.url, "/upload", devices[0], true)
	s.logIn(t, w)
	for _, e := range index {
		t.Run(e.File, func(t *testing.T) {
			s.preview(t, w, sampleFile(t, e.File))
			switch {
			case e.Expected.Reports != nil:
				w.refused(t, "Nothing can be imported", "unsupported_benchmark")
			case e.Expected.Samples != nil && *e.Expected.Samples == 0:
				w.refused(t, "Nothing can be imported", "no_attempts")
			case e.File == "transcribed__later_runs_a.jsonl":
				w.refused(t, "Some of this cannot be imported", "unsupported_task")
				eval[bool](t, w, `(document.querySelector("input[name=partial]").click(), true)`)
				w.imports(t, 3)
			case e.File == "metr__runs_early_b9a402f_aird_only.jsonl":
				if w.title(t) != "Ready to import" || !strings.Contains(w.text(t), "These scores are normalized differently") {
					t.Errorf("preview: %s", w.text(t))
				}
				w.imports(t, 4)
			default:
				if got := w.title(t); got != "Something is missing" {
					t.Fatalf("preview: %q", got)
				}
				w.answer(t, strings.Map(func(r rune) rune {
					if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
						return r
					}
					return '-'
				}, e.File))
				if e.File == repacked {
					if got := w.title(t); got != "Nothing new" {
						t.Errorf("the same log in another layout: %q", got)
					}
					return
				}
				attempts := 1
				if e.Expected.Samples != nil {
					attempts = *e.Expected.Samples
				}
				w.imports(t, attempts)
			}
			w.check(t)
		})
	}
}

func (w *tab) text(t *testing.T) string {
	t.Helper()
	return eval[string](t, w, `document.querySelector("main").innerText`)
}

// refused checks the title and that a fault's code is shown.
func (w *tab) refused(t *testing.T, title, code string) {
	t.Helper()
	if got := w.title(t); got != title || !strings.Contains(w.text(t), code) {
		t.Errorf("title %q, want %q with %s: %.600s", got, title, code, w.text(t))
	}
}

// answer fills in the mapping form and previews again.
func (w *tab) answer(t *testing.T, id string) {
	t.Helper()
	for name, value := range map[string]string{"environment": "optimize_kernel", "profile": "cpu", "attempt_id": "page-" + id, "agent": "Sample agent",
		"started_at": "2025-01-01T00:00:00", "zone": "UTC", "time_limit_min": "30"} {
		w.run(t, chromedp.SetValue(chromedp.CSS("form[data-answers] [name="+name+"]"), value))
	}
	w.press(t, "map")
	if got := w.title(t); got != "Ready to import" && got != "Nothing new" {
		t.Fatalf("after the answers: %q: %.800s", got, w.text(t))
	}
}

// imports confirms and checks how many attempts were created.
func (w *tab) imports(t *testing.T, created int) {
	t.Helper()
	w.press(t, "confirm")
	w.eventually(t, `document.querySelector("h1").textContent === "Imported"`)
	got := eval[int](t, w, `[...document.querySelectorAll(".upload-files tbody tr")].reduce((n, r) => n + Number(r.children[4].textContent.replace(",", "")), 0)`)
	if got != created {
		t.Errorf("%d created, want %d: %.400s", got, created, w.text(t))
	}
}

// Without JavaScript the page is a form like any other; the answers stay when one of
// them is wrong.
func TestUploadWithoutScripts(t *testing.T) {
	browser, s := newBrowser(t), newOpenSite(t, testutil.EmptyStore(t))
	w := open(t, browser, s.url, "/login?next=/upload", devices[0], false)
	w.run(t, chromedp.SetValue(chromedp.CSS("input[name=token]"), s.secret), chromedp.Submit(chromedp.CSS("form.login")))
	w.eventually(t, `location.pathname === "/upload" && document.querySelector("[data-drop]") !== null`)
	w.run(t, chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{sampleFile(t, "tps__score_v025_mixed.log")}))
	eval[bool](t, w, `(document.querySelector("form[data-drop] button").click(), true)`)
	w.eventually(t, `document.querySelector(".upload-files") !== null`)
	w.run(t, chromedp.SetValue(chromedp.CSS("form[data-answers] [name=zone]"), "Mars/Olympus"))
	w.press(t, "map")
	if !strings.Contains(w.text(t), "expected a zone") {
		t.Errorf("a wrong zone: %.400s", w.text(t))
	}
	w.answer(t, "noscript")
	w.imports(t, 1)
	w.check(t)
}

// Dropping files, the limit, lost answers and flags by hand, with JavaScript.
func TestUploadConveniences(t *testing.T) {
	browser, s := newBrowser(t), newOpenSite(t, testutil.PublishedStore(t))
	w := open(t, browser, s.url, "/upload", devices[0], true)
	s.logIn(t, w)
	dropped := eval[string](t, w, `(() => {
		const d = new DataTransfer();
		d.items.add(new File(["no log"], "dropped <b>.txt"));
		document.dispatchEvent(new DragEvent("drop", {dataTransfer: d, bubbles: true, cancelable: true}));
		return document.querySelector(".chosen").textContent;
	})()`)
	if !strings.Contains(dropped, "dropped <b>.txt") || !strings.Contains(dropped, "6 B") {
		t.Errorf("the list says %q", dropped)
	}
	eval[bool](t, w, `(document.querySelector("form[data-drop] button").click(), true)`)
	w.eventually(t, `location.pathname.startsWith("/upload/") && document.querySelector(".upload-files") !== null`)
	w.refused(t, "Nothing can be imported", "unknown_format")
	s.preview(t, w, writeFile(t, "r.jsonl", strings.Replace(published, "204921", "1", 1)))
	eval[bool](t, w, `(() => { const i = document.querySelector("[name=dataset], [name=agent]"); i.value = "other"; i.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	if !eval[bool](t, w, `document.querySelector("button[value=confirm]").disabled`) {
		t.Error("changed answers can be lost")
	}
	w.run(t, chromedp.Navigate(s.url+attemptPath))
	w.eventually(t, `document.querySelector(".flag-form") !== null`)
	w.run(t, chromedp.SetValue(chromedp.CSS(".flag-form select[name=statement]"), "set:invalid"), chromedp.SetValue(chromedp.CSS(".flag-form textarea"), "stated <i>in the browser</i>"))
	eval[bool](t, w, `(window.pressed = true, document.querySelector(".flag-form button").click(), true)`)
	w.eventually(t, `window.pressed === undefined && document.readyState === "complete" && document.querySelector("main").innerText.includes("stated <i>in the browser</i>")`)
	w.run(t, chromedp.Navigate(s.url+"/upload"))
	w.eventually(t, `document.querySelector(".logged-in button") !== null`)
	eval[bool](t, w, `(document.querySelector(".logged-in button").click(), true)`)
	w.eventually(t, `document.querySelector("form.login") !== null`)
	w.check(t)
}

const published = `{"run_id":"mp4-server_204921","task_id":"ai_rd_fix_embedding/main","task_family":"ai_rd_fix_embedding","alias":"A","model":"a","score":0.5,"time_limit":1800,"started_at":1,"completed_at":2,"fatal_error_from":null}` + "\n"
