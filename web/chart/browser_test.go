package chart

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"rebench/internal/analysis"
)

// browser is one tab of Debian's chromium with everything it complains about.
type browser struct {
	ctx context.Context
	mu  sync.Mutex
	bad []string
}

// open shows the figures on a page that is served like the real ones: strict
// Content-Security-Policy, options as JSON, charts.js and ECharts from this server.
func openBrowser(t *testing.T, width, height int, figures map[string]*Figure) *browser {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/static/", http.StripPrefix("/static/", http.FileServer(http.Dir("../static"))))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `<!DOCTYPE html><html lang="en" data-theme="light"><head><title>t</title><link rel="icon" href="/static/icon.svg">`+
			`<script src="/static/echarts.min.js" defer></script><script src="/static/charts.js" defer></script></head><body>`)
		for id, f := range figures {
			o, err := f.Option()
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, `<div id="plot-%s" data-chart="%s" role="img" aria-label="chart"></div><script type="application/json" id="%s">%s</script>`, id, id, id, o)
		}
		fmt.Fprint(w, `</body></html>`)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(width, height))...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute) // a hanging browser must not hang the tests
	t.Cleanup(cancel)
	b := &browser{ctx: ctx}
	err := chromedp.Listen(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			b.bad = append(b.bad, fmt.Sprint(e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
		case *runtime.EventConsoleAPICalled:
			b.bad = append(b.bad, fmt.Sprint("console ", e.Type, e.Args))
		case *log.EventEntryAdded:
			b.bad = append(b.bad, e.Entry.Text)
		}
	})
	if err != nil {
		t.Fatalf("chromium is needed for this test: %v", err)
	}
	b.run(t, chromedp.Navigate(srv.URL+"/"), void(chromedp.Poll[bool](`document.querySelectorAll('.chart-key').length >= `+fmt.Sprint(len(figures)))))
	return b
}

// void makes an action out of one whose value is of no use.
func void[T any](a chromedp.Action[T]) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := a(ctx, t)
		return chromedp.Void{}, err
	}
}

func script(js string) chromedp.Action[chromedp.Void] {
	return void(chromedp.Evaluate[any](js + "; 0"))
}

// settled waits until the page has drawn three more frames and been idle a moment,
// however slow the machine is.
func settled(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	if _, err := script(`window.settled = false; (function frame(n) {
		if (n) requestAnimationFrame(() => frame(n - 1)); else setTimeout(() => { window.settled = true }, 100);
	})(3)`)(ctx, t); err != nil {
		return chromedp.Void{}, err
	}
	return void(chromedp.Poll[bool](`window.settled`))(ctx, t)
}

func (b *browser) run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatalf("%v; the page said %q", err, b.bad)
	}
}

// eval returns what a JavaScript expression gives.
func eval[T any](t *testing.T, b *browser, js string) T {
	t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		t.Fatalf("%s: %v; the page said %q", js, err, b.bad)
	}
	return out
}

// silent fails the test when the page threw, logged or was blocked.
func (b *browser) silent(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.bad) > 0 {
		t.Errorf("the page complained:\n%s", strings.Join(b.bad, "\n"))
	}
}

// inked counts the pixels of a chart's canvas that carry a colour near the given one.
const inked = `((id, r, g, b) => {
	const from = document.querySelector('#plot-' + id + ' canvas');
	const c = document.createElement('canvas');
	[c.width, c.height] = [from.width, from.height];
	c.getContext('2d', { willReadFrequently: true }).drawImage(from, 0, 0);
	const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
	let n = 0;
	for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200 && Math.abs(d[i] - r) + Math.abs(d[i + 1] - g) + Math.abs(d[i + 2] - b) < 24) n++;
	return n;
})`

func TestChartsDrawUnderStrictPolicy(t *testing.T) {
	b := openBrowser(t, 1200, 900, sampleFigures())
	for id := range sampleFigures() {
		if n := eval[int](t, b, inked+`('`+id+`', 26, 27, 26)`); n < 20 {
			t.Errorf("%s: %d pixels of ink drawn, want more", id, n)
		}
	}
	if n := eval[int](t, b, inked+`('curves', 213, 94, 0)`); n < 100 {
		t.Errorf("o1-preview's vermillion covers %d pixels", n)
	}
	b.silent(t)
}

func TestThemeAndNewDataKeepZoom(t *testing.T) {
	b := openBrowser(t, 1200, 900, map[string]*Figure{"curves": Curves(sampleCurves(), CurvesOptions{})})
	b.run(t, script(`document.getElementById('plot-curves').focus()`), chromedp.KeyEvent("+"), chromedp.KeyEvent("+"))
	const zoomOf = `(() => { const z = echarts.getInstanceByDom(document.getElementById('plot-curves')).getOption().dataZoom[0]; return [z.start, z.end]; })()`
	zoom := eval[[2]float64](t, b, zoomOf)
	if zoom[1]-zoom[0] > 50 || zoom[1]-zoom[0] < 20 {
		t.Fatalf("zoom window after two steps = %v", zoom)
	}
	same := func(what string) {
		t.Helper()
		now := eval[[2]float64](t, b, zoomOf)
		if d := now[0] - zoom[0]; d > 0.01 || d < -0.01 {
			t.Errorf("%s: zoom window = %v, want %v", what, now, zoom)
		}
	}
	if n := eval[int](t, b, inked+`('curves', 26, 27, 26)`); n < 100 {
		t.Errorf("light: %d pixels of dark ink", n)
	}
	b.run(t, script(`document.documentElement.dataset.theme = 'dark'`), settled)
	same("dark theme")
	if n := eval[int](t, b, inked+`('curves', 232, 231, 226)`); n < 100 {
		t.Errorf("dark: %d pixels of light ink", n)
	}
	c := sampleCurves()
	c.Series[0].Points[0].Score = 0.9
	o, err := Curves(c, CurvesOptions{}).Option()
	if err != nil {
		t.Fatal(err)
	}
	if !eval[bool](t, b, `rebench.updateChart('curves', `+string(o)+`)`) {
		t.Error("updateChart does not know the chart")
	}
	same("new data")
	got := eval[bool](t, b, `echarts.getInstanceByDom(document.getElementById('plot-curves')).getOption().series.some((s) => s.type === 'scatter' && s.data.some((d) => d.value[1] === 0.9))`)
	if !got {
		t.Error("the new score is not drawn")
	}
	if eval[bool](t, b, `rebench.updateChart('nothing', {})`) {
		t.Error("updateChart claims to know a chart that is not there")
	}
	b.run(t, chromedp.Click(`.chart-reset-button`))
	if z := eval[[2]float64](t, b, zoomOf); z != [2]float64{0, 100} {
		t.Errorf("reset zoom gives %v", z)
	}
	b.silent(t)
}

func TestComplaintsAreHeard(t *testing.T) {
	b := openBrowser(t, 800, 600, map[string]*Figure{"curves": Curves(sampleCurves(), CurvesOptions{})})
	b.run(t, script(`document.body.setAttribute('style', 'color: red')`), settled)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.bad) == 0 {
		t.Error("an inline style was not reported: the policy tests cannot fail")
	}
}

// hostile is a label that would run, or end the script, wherever it met markup.
const hostile = `</script><img src=x onerror="window.pwned=1"><b>A&B</b>`

func TestLabelsAreText(t *testing.T) {
	c := sampleCurves()
	c.Series[0].Agent, c.Series[0].Label = hostile, hostile
	c.Published[0].Note, c.Published[0].Series = hostile, hostile
	a := sampleAttempt()
	a.Entries[1].Reason, a.Entries[0].Message, a.EndReason = hostile, hostile, hostile
	f := map[string]*Figure{"curves": Curves(c, CurvesOptions{}), "attempt": Attempt(a, hostile, nil, Source{})}
	b := openBrowser(t, 1200, 900, f)
	for _, step := range []struct{ chart, key string }{{"curves", hostile + " best 0"}, {"curves", "published 0"}, {"attempt", "t=600"}, {"attempt", "t=1200"}} {
		key, _ := json.Marshal(step.key)
		if !eval[bool](t, b, `rebench.selectPoint('`+step.chart+`', `+string(key)+`)`) {
			t.Errorf("no point %q in %s", step.key, step.chart)
		}
		b.run(t, settled)
		tip := eval[string](t, b, `[...document.querySelectorAll('.chart-tip')].map((n) => n.textContent).join(' ')`)
		if !strings.Contains(tip, "<b>A&B</b>") {
			t.Errorf("%s %s: tooltip %q does not show the label as text", step.chart, step.key, tip)
		}
	}
	if eval[bool](t, b, `window.pwned === 1 || document.querySelector('img, b') !== null`) {
		t.Error("a label became markup")
	}
	if key := eval[string](t, b, `document.querySelector('.chart-key').textContent`); !strings.Contains(key, hostile) {
		t.Errorf("key %q does not show the label", key)
	}
	b.silent(t)
}

func TestPointerKeyboardAndKey(t *testing.T) {
	b := openBrowser(t, 1200, 900, map[string]*Figure{"curves": Curves(sampleCurves(), CurvesOptions{
		Link: func(agent string, _ analysis.CurvePoint) string { return "/attempts?agent=" + agent }})})
	// The pointer finds a point nearby and shows its numbers.
	at := eval[[2]float64](t, b, `(() => {
		const el = document.getElementById('plot-curves'), r = el.getBoundingClientRect();
		const p = echarts.getInstanceByDom(el).convertToPixel({ gridIndex: 0 }, [Math.log2(28800), 0.351]);
		return [r.x + p[0] + 6, r.y + p[1] + 6];
	})()`)
	b.run(t, chromedp.MouseEvent("mouseMoved", at[0], at[1]), settled)
	tip := eval[string](t, b, `document.querySelector('.chart-tip').textContent`)
	for _, want := range []string{"o1-preview", "0.351", "[0.26, 0.44]", "4 × 2 h", "n = 7"} {
		if !strings.Contains(tip, want) {
			t.Errorf("tooltip %q lacks %q", tip, want)
		}
	}
	// The arrows walk along a curve and say what they find.
	b.run(t, script(`document.getElementById('plot-curves').focus()`), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	said := eval[string](t, b, `document.querySelector('.chart-live').textContent`)
	if !strings.Contains(said, "0.422") || !strings.Contains(said, "16 h") {
		t.Errorf("after two ArrowRight the page says %q, want the point after the paper's own", said)
	}
	// A key entry singles an agent out.
	b.run(t, chromedp.Click(`.chart-key-button[data-group="GPT-4o"]`))
	if eval[string](t, b, `document.querySelector('.chart-key-button[data-group="GPT-4o"]').getAttribute('aria-pressed')`) != "true" {
		t.Error("the key entry is not pressed")
	}
	if eval[string](t, b, `document.activeElement.dataset.group || ''`) != "GPT-4o" {
		t.Error("the key entry lost the focus")
	}
	dim := eval[float64](t, b, `echarts.getInstanceByDom(document.getElementById('plot-curves')).getOption().series.find((s) => s.type === 'scatter' && s.name === 'o1-preview').data[0].itemStyle.opacity`)
	if dim > 0.2 {
		t.Errorf("o1-preview keeps opacity %v beside the agent singled out", dim)
	}
	b.silent(t)
}

// A live attempt starts without entries and gets them one by one.
func TestLiveAttempt(t *testing.T) {
	a := sampleAttempt()
	all := a.Entries
	a.Entries, a.EndedAt = nil, nil
	b := openBrowser(t, 390, 800, map[string]*Figure{"live": Attempt(a, "o1-preview", nil, Source{})})
	if got := eval[string](t, b, `document.querySelector('.chart-empty').textContent`); got != "No score entries yet." {
		t.Errorf("at first the chart says %q", got)
	}
	for i := range all {
		a.Entries = all[:i+1]
		o, err := Attempt(a, "o1-preview", nil, Source{}).Option()
		if err != nil {
			t.Fatal(err)
		}
		if !eval[bool](t, b, `rebench.updateChart('live', `+string(o)+`)`) {
			t.Fatal("updateChart does not know the chart")
		}
	}
	n := eval[int](t, b, `echarts.getInstanceByDom(document.getElementById('plot-live')).getOption().series.filter((s) => s.type === 'scatter').reduce((n, s) => n + s.data.length, 0)`)
	if n != 5 || eval[bool](t, b, `!document.querySelector('.chart-empty').hidden`) {
		t.Errorf("%d marks after four entries, want 5 with the re-scored one, and no empty text", n)
	}
	// Entry and address lead to each other.
	b.run(t, script(`document.dispatchEvent(new CustomEvent('rebench:moment', { detail: 4800 }))`), settled)
	if tip := eval[string](t, b, `document.querySelector('.chart-tip').textContent`); !strings.Contains(tip, "Entry 4") {
		t.Errorf("the moment t=4800 shows %q", tip)
	}
	b.run(t, script(`document.getElementById('plot-live').focus(); rebench.selectPoint('live', 't=600')`), chromedp.KeyEvent(kb.Enter))
	if hash := eval[string](t, b, `location.hash`); hash != "#t=600" {
		t.Errorf("choosing the first entry leads to %q", hash)
	}
	b.silent(t)
}
