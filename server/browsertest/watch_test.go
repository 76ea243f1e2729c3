package browsertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// faulty is a page with one of each fault that the other tests look for.
const faulty = `<!DOCTYPE html><html lang="en"><head><title>faults</title></head><body>
<main><h1>Faults</h1><p style="color: red">inline style</p><img src="http://elsewhere.invalid/x.png" alt="x"><img src="/missing.png">
<script src="/faults.js"></script></main><footer></footer></body></html>`

// The watch sees every kind of fault: otherwise a page without findings says nothing.
func TestWatchSeesFaults(t *testing.T) {
	browser := newBrowser(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src *")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, faulty)
		case "/faults.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `console.error("spoken"); setTimeout(() => { throw new Error("thrown") }); document.body.append("x".repeat(5000))`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	w := open(t, browser, server.URL, "/", devices[2], true)
	want := []string{"another host: http://elsewhere.invalid/x.png", "Content Security Policy", "status 404 for " + server.URL + "/missing.png",
		`console error: "spoken"`, "Error: thrown"}
	w.until(t, `document.readyState === "complete"`)
	w.mu.Lock()
	bad := slices.Clone(w.bad)
	w.mu.Unlock()
	for _, fault := range want {
		if !slices.ContainsFunc(bad, func(b string) bool { return strings.Contains(b, fault) }) {
			t.Errorf("not seen: %s\nseen: %s", fault, strings.Join(bad, "\n"))
		}
	}
	if ids := w.violations(t); !slices.ContainsFunc(ids, func(v violation) bool { return v.ID == "image-alt" }) {
		t.Errorf("axe-core found %v, not the missing text of the image", ids)
	}
	if width := eval[int64](t, w, `document.documentElement.scrollWidth`); width <= devices[2].width {
		t.Errorf("the wide page measures %d", width)
	}
}
