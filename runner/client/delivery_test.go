package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rebench/internal/attemptlog"
)

type rig struct {
	t      *testing.T
	s      *eventServer
	path   string
	waited time.Duration // fake time slept
	naps   int
}

func newRig(t *testing.T, lines int) *rig {
	r := &rig{t: t, s: newEventServer(t), path: filepath.Join(t.TempDir(), "log.ndjson")}
	writeLog(t, r.path, lines, "m")
	return r
}

func (r *rig) delivery(token string) *Delivery {
	c, err := New(r.s.URL, token)
	if err != nil {
		r.t.Fatal(err)
	}
	d := NewDelivery(c, "a1", r.path, slog.New(slog.DiscardHandler))
	d.sleep = func(ctx context.Context, wait time.Duration) error {
		r.s.mu.Lock() // the server's trouble looks at them
		defer r.s.mu.Unlock()
		r.waited += wait
		if r.naps++; r.naps > 10_000 {
			return errors.New("waits for ever")
		}
		return ctx.Err()
	}
	return d
}

func (r *rig) deliver() error {
	st, err := os.Stat(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	d := r.delivery(testToken)
	d.Finish(st.Size())
	return d.Run(context.Background())
}

func (r *rig) wantDelivered() {
	r.t.Helper()
	want, err := os.ReadFile(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	if got := strings.Join(r.s.lines, ""); got != string(want) {
		r.t.Errorf("the server holds %d lines, which are not the log", len(r.s.lines))
	}
}

func TestDeliverWholeLog(t *testing.T) {
	r := newRig(t, 1300)
	if err := r.deliver(); err != nil {
		t.Fatal(err)
	}
	r.wantDelivered()
	if r.s.posts < 3 || r.s.sent != 1300 {
		t.Errorf("%d posts of %d lines", r.s.posts, r.s.sent)
	}
}

// Delivering again sends the last line only, to notice a fork.
func TestDeliverTwice(t *testing.T) {
	r := newRig(t, 10)
	for range 3 {
		if err := r.deliver(); err != nil {
			t.Fatal(err)
		}
	}
	r.wantDelivered()
	if r.s.sent != 12 {
		t.Errorf("%d lines sent, expected 10 and 2 repeats", r.s.sent)
	}
}

func TestForkIsRefused(t *testing.T) {
	for name, lines := range map[string]int{"same length": 10, "longer": 12, "shorter": 8} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 10)
			if err := r.deliver(); err != nil {
				t.Fatal(err)
			}
			held := len(r.s.lines)
			writeLog(t, r.path, lines, "another story")
			err := r.deliver()
			var status *StatusError
			if !errors.As(err, &status) || status.Code != "fork" {
				t.Errorf("error %v", err)
			}
			if len(r.s.lines) != held {
				t.Error("the server's log changed")
			}
		})
	}
}

// A log shorter than what the server holds, though equal so far.
func TestServerHoldsMore(t *testing.T) {
	r := newRig(t, 10)
	if err := r.deliver(); err != nil {
		t.Fatal(err)
	}
	writeLog(t, r.path, 6, "m")
	err := r.deliver()
	var status *StatusError
	if !errors.As(err, &status) || status.Code != "fork" {
		t.Errorf("error %v", err)
	}
}

func TestServerAwayForMinutes(t *testing.T) {
	r := newRig(t, 40)
	until := 5 * time.Minute
	r.s.trouble = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		if r.waited >= until {
			return false
		}
		switch r.naps % 4 {
		case 0:
			hj, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				hj.Close() // the connection breaks
			}
		case 1:
			problem(w, 503, "unavailable", nil)
		case 2:
			w.WriteHeader(502)
			io.WriteString(w, "<html>proxy</html>")
		case 3:
			io.WriteString(w, "<html>not the API</html>") // 200, but no answer of it
		}
		return true
	}
	if err := r.deliver(); err != nil {
		t.Fatal(err)
	}
	r.wantDelivered()
	if r.waited < until || r.waited > until+time.Minute || r.naps > 60 {
		t.Errorf("waited %v in %d naps", r.waited, r.naps)
	}
}

// The answer to a batch is lost: it is sent again and counts once.
func TestLostAnswer(t *testing.T) {
	r := newRig(t, 20)
	r.s.trouble = func(w http.ResponseWriter, req *http.Request, post int) bool {
		if req.Method == http.MethodPost && post <= 3 {
			rec := httptest.NewRecorder()
			r.s.post(rec, req)
			problem(w, 504, "timeout", nil)
			return true
		}
		return false
	}
	if err := r.deliver(); err != nil {
		t.Fatal(err)
	}
	r.wantDelivered()
	if r.s.sent != 80 {
		t.Errorf("%d lines sent, expected 4 times 20", r.s.sent)
	}
}

// A server restored from a backup asks for earlier events again.
func TestServerLostEvents(t *testing.T) {
	for _, left := range []int{0, 4} {
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			r := newRig(t, 10)
			r.s.trouble = func(_ http.ResponseWriter, req *http.Request, post int) bool {
				if req.Method == http.MethodPost && post == 2 {
					r.s.lines = r.s.lines[:left]
				}
				return false
			}
			d := r.delivery(testToken)
			st, _ := os.Stat(r.path)
			done := make(chan error, 1)
			go func() { done <- d.Run(context.Background()) }()
			d.Synced(st.Size() / 2)
			for d.Acknowledged() < 0 {
				time.Sleep(time.Millisecond)
			}
			d.Finish(st.Size())
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			r.wantDelivered()
		})
	}
}

func TestRefusalsEndTheDelivery(t *testing.T) {
	for status, word := range map[int]string{401: "unauthorized", 403: "forbidden", 404: "not_found", 413: "too_large", 422: "invalid"} {
		r := newRig(t, 5)
		r.s.trouble = func(w http.ResponseWriter, _ *http.Request, _ int) bool { problem(w, status, word, nil); return true }
		err := r.deliver()
		var got *StatusError
		if !errors.As(err, &got) || got.Status != status || got.Code != word || r.naps > 0 {
			t.Errorf("%d: %v after %d naps", status, err, r.naps)
		}
	}
	r := newRig(t, 5)
	d := r.delivery("wrong-token")
	d.Finish(1 << 20)
	var got *StatusError
	if err := d.Run(context.Background()); !errors.As(err, &got) || got.Status != 401 {
		t.Error(err)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	r := newRig(t, 5)
	r.s.trouble = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		if r.naps > 0 {
			return false
		}
		w.Header().Set("Retry-After", "77")
		problem(w, 429, "rate", nil)
		return true
	}
	if err := r.deliver(); err != nil {
		t.Fatal(err)
	}
	if r.waited != 77*time.Second {
		t.Errorf("waited %v", r.waited)
	}
}

// A server that answers but never takes anything is not asked in a tight loop.
func TestStalledServer(t *testing.T) {
	r := newRig(t, 5)
	r.s.trouble = func(w http.ResponseWriter, req *http.Request, _ int) bool {
		if req.Method == http.MethodPost && r.naps < 20 {
			io.WriteString(w, `{"attempt_id":"a1","acknowledged":-1}`)
			return true
		}
		return false
	}
	if err := r.deliver(); err != nil {
		t.Fatal(err)
	}
	r.wantDelivered()
	if r.naps != 20 || r.waited < time.Minute {
		t.Errorf("%d naps, %v", r.naps, r.waited)
	}
}

// Only what is synced leaves, whole lines of it, as soon as it is.
func TestOnlySyncedLinesLeave(t *testing.T) {
	r := newRig(t, 6)
	raw, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	ends := []int64{}
	for i, b := range raw {
		if b == '\n' {
			ends = append(ends, int64(i+1))
		}
	}
	d := r.delivery(testToken)
	done := make(chan error, 1)
	go func() { done <- d.Run(context.Background()) }()
	held := func(want int) {
		t.Helper()
		for range 500 {
			r.s.mu.Lock()
			n := len(r.s.lines)
			r.s.mu.Unlock()
			if n == want {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		r.s.mu.Lock()
		defer r.s.mu.Unlock()
		if len(r.s.lines) != want {
			t.Fatalf("the server holds %d lines, expected %d", len(r.s.lines), want)
		}
	}
	held(0)
	d.Synced(ends[1])
	held(2)
	d.Synced(ends[2] + 10) // a part of the next line
	held(3)
	d.Synced(ends[0]) // never goes back
	d.Finish(ends[5])
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r.wantDelivered()
}

func TestDeliveryEndsWithItsContext(t *testing.T) {
	r := newRig(t, 3)
	d := r.delivery(testToken)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// BenchmarkDelivery measures events a second, one event synced at a time as an
// attempt does, against a server on this machine.
func BenchmarkDelivery(b *testing.B) {
	for _, mode := range []string{"backlog", "one by one"} {
		b.Run(mode, func(b *testing.B) {
			s := newEventServer(b)
			path := filepath.Join(b.TempDir(), "log.ndjson")
			a, _, err := attemptlog.OpenAppend(path)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := a.Append(testHeader()); err != nil {
				b.Fatal(err)
			}
			c, _ := New(s.URL, testToken)
			d := NewDelivery(c, "a1", path, slog.New(slog.DiscardHandler))
			if mode == "backlog" {
				for i := range b.N {
					a.Append(testScore(float64(i+1), "message"))
				}
			}
			b.ResetTimer()
			done := make(chan error, 1)
			go func() { done <- d.Run(context.Background()) }()
			if mode != "backlog" {
				for i := range b.N {
					a.Append(testScore(float64(i+1), "message"))
					size := a.Summary().Bytes
					d.Synced(size)
					for d.Acknowledged() < int64(i+1) {
						time.Sleep(20 * time.Microsecond)
					}
				}
			}
			d.Finish(a.Summary().Bytes)
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
