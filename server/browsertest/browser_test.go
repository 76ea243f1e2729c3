package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"rebench/internal/analysis"
	"rebench/internal/store"
	"rebench/internal/testutil"
	"rebench/server/handler"
)

// tabTimeout bounds one page: far above what a page needs, so that it ends only a
// browser that hangs.
const tabTimeout = 2 * time.Minute

// findChromium returns the browser. Without one these tests fail: a page that was
// not looked at did not pass.
func findChromium(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	tb.Fatal("Chromium is missing; .ci/tools installs it on Debian")
	return ""
}

// newBrowser starts Chromium with a profile of its own; it ends with the test.
func newBrowser(tb testing.TB) context.Context {
	tb.Helper()
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(findChromium(tb)), chromedp.UserDataDir(tb.TempDir()),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("force-device-scale-factor", "1"), chromedp.Flag("hide-scrollbars", true),
		// Whatever a page asks for, nothing leaves this machine.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	browser, stop := chromedp.NewContext(allocator)
	tb.Cleanup(func() { stop(); cancel() })
	if err := chromedp.Do(browser); err != nil {
		tb.Fatalf("start Chromium: %v", err)
	}
	return browser
}

// newSite serves a database on the loopback interface.
func newSite(tb testing.TB, db *store.Store) string {
	tb.Helper()
	h, err := handler.New(handler.Options{Engine: analysis.New(db, analysis.Options{Replicates: 1000}), Store: db, Version: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(h)
	tb.Cleanup(server.Close)
	return server.URL
}

func publishedSite(tb testing.TB) string { return newSite(tb, testutil.PublishedStore(tb)) }

// device is a screen with its colours.
type device struct {
	name          string
	width, height int64
	mobile, dark  bool
}

var devices = []device{
	{"desktop-light", 1440, 900, false, false},
	{"desktop-dark", 1440, 900, false, true},
	{"phone-light", 390, 844, true, false},
	{"phone-dark", 390, 844, true, true},
}

// tab is one page under watch.
type tab struct {
	ctx  context.Context
	site string
	mu   sync.Mutex
	bad  []string
}

// open loads a path on a device. scripts false turns JavaScript off.
func open(t *testing.T, browser context.Context, site, path string, d device, scripts bool) *tab {
	t.Helper()
	w := &tab{site: site}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithListener(w.watch))
	ctx, stop := context.WithTimeout(ctx, tabTimeout)
	t.Cleanup(func() { stop(); cancel() })
	w.ctx = ctx
	scheme := "light"
	if d.dark {
		scheme = "dark"
	}
	w.run(t,
		call(network.Enable, network.EnableParams{}), call(cdplog.Enable, cdp.Empty{}),
		call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: d.width, Height: d.height, DeviceScaleFactor: 1, Mobile: d.mobile}),
		call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: d.mobile}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}),
		call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts}),
		chromedp.Navigate(site+path))
	w.until(t, `document.readyState === "complete" && document.querySelector("footer") !== null`)
	return w
}

// call is a command of the protocol as an action.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	})
}

func (w *tab) run(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(w.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func (w *tab) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad = append(w.bad, fmt.Sprintf(format, args...))
}

// watch notes whatever a reader should never meet.
func (w *tab) watch(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, w.site+"/") && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:"+w.site) {
			w.complain("request to another host: %s", u)
		}
	case *network.EventLoadingFailed:
		if !e.Canceled {
			w.complain("request failed: %s %s", e.Type, e.ErrorText)
		}
	case *network.EventResponseReceived:
		if e.Type != network.ResourceTypeDocument && e.Response.Status >= 400 {
			w.complain("status %d for %s", e.Response.Status, e.Response.URL)
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		w.complain("exception: %s", text)
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			var words []string
			for _, a := range e.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			w.complain("console %s: %s", e.Type, strings.Join(words, " "))
		}
	case *cdplog.EventEntryAdded:
		// The status of the page itself is what the test asked for.
		if (e.Entry.Level == cdplog.EntryLevelWarning || e.Entry.Level == cdplog.EntryLevelError) && e.Entry.Source != cdplog.EntrySourceNetwork {
			w.complain("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	}
}

// check fails the test with everything that was noted.
func (w *tab) check(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.bad {
		t.Error(b)
	}
	w.bad = nil
}

// eval runs an expression in the page and returns what it, or its promise, gives.
func eval[T any](t *testing.T, w *tab, expression string) T {
	t.Helper()
	v, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// until waits for an expression to become true. It asks from outside: a page
// without scripts cannot wait by itself.
func (w *tab) until(t *testing.T, expression string) {
	t.Helper()
	for deadline := time.Now().Add(tabTimeout / 4); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if eval[bool](t, w, expression) {
			return
		}
	}
	t.Fatalf("never true: %s", expression)
}

var axe = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile("testdata/axe-core/axe.min.js")
	return string(b), err
})

// violation is a rule of axe-core that a page breaks.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML           string `json:"html"`
		Target         []any  `json:"target"`
		FailureSummary string `json:"failureSummary"`
	} `json:"nodes"`
}

// violations runs every rule of axe-core.
func (w *tab) violations(t *testing.T) []violation {
	t.Helper()
	source, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	eval[int](t, w, source+"\n;0")
	result := eval[string](t, w, `axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify({passes: r.passes.length, violations: r.violations}))`)
	var found struct {
		Passes     int         `json:"passes"`
		Violations []violation `json:"violations"`
	}
	if err := json.Unmarshal([]byte(result), &found); err != nil {
		t.Fatal(err)
	}
	if found.Passes < 10 {
		t.Errorf("axe-core checked %d rules only", found.Passes)
	}
	return found.Violations
}

// accessible fails the test with what axe-core finds.
func (w *tab) accessible(t *testing.T) {
	t.Helper()
	for _, v := range w.violations(t) {
		for i, n := range v.Nodes {
			if i == 3 {
				t.Errorf("axe %s: %d more", v.ID, len(v.Nodes)-i)
				break
			}
			t.Errorf("axe %s (%s): %.200s\n%s", v.ID, v.Help, n.HTML, n.FailureSummary)
		}
	}
}

// screenshot keeps a picture where the environment asks for it.
func (w *tab) screenshot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("REBENCH_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(w.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/"+url.PathEscape(name)+".png", png, 0o644); err != nil {
		t.Error(err)
	}
}
