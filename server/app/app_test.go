package app

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rebench/internal/config"
	"rebench/internal/testutil"
)

// syncBuffer can be read while a server writes.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// running is a server in this process.
type running struct {
	address string
	log     *syncBuffer
	stop    func() error
}

func settings(database string) config.Config {
	return config.Config{Addr: "127.0.0.1:0", Database: database, LogLevel: "info"}
}

// start runs a server until stop or the end of the test.
func start(t *testing.T, c config.Config) *running {
	t.Helper()
	out, log := &syncBuffer{}, &syncBuffer{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, c, Streams{Out: out, Err: log}) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { stop() })
	deadline := time.After(time.Minute)
	for !strings.HasSuffix(out.String(), "\n") {
		select {
		case err := <-done:
			t.Fatalf("the server stopped: %v", err)
		case <-deadline:
			t.Fatal("the server printed no address")
		case <-time.After(5 * time.Millisecond):
		}
	}
	address := strings.TrimSpace(strings.TrimPrefix(out.String(), "rebench is serving on "))
	return &running{address, log, stop}
}

func (r *running) get(t *testing.T, path string) (int, string) {
	t.Helper()
	resp, err := http.Get(r.address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// A first start creates the database, loads the published data and answers; a second
// start finds everything there.
func TestFirstAndSecondStart(t *testing.T) {
	database := filepath.Join(t.TempDir(), "new", "rebench.db")
	s := start(t, settings(database))
	if status, body := s.get(t, "/api/v1/leaderboard"); status != 200 || !strings.Contains(body, `"agent":"human"`) {
		t.Errorf("status %d: %.200s", status, body)
	}
	if !strings.Contains(s.log.String(), `"attempts":1801,"placeholders_left_out":7`) {
		t.Errorf("log: %s", s.log.String())
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.log.String(), `"msg":"stopped"`) {
		t.Errorf("log: %s", s.log.String())
	}
	for _, extra := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(database + extra); err == nil {
			t.Errorf("%s is left behind", extra)
		}
	}
	again := start(t, settings(database))
	if strings.Contains(again.log.String(), "published data loaded") {
		t.Error("the data are loaded twice")
	}
	if status, body := again.get(t, "/metrics"); status != 200 || !strings.Contains(body, "rebench_data_revision 1\n") {
		t.Error("the second start made a data revision")
	}
}

// refused runs a server that must not start and returns its error.
func refused(t *testing.T, c config.Config) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out := &syncBuffer{}
	err := Run(ctx, c, Streams{Out: out, Err: io.Discard})
	if err == nil {
		t.Fatal("the server ran and stopped without an error")
	}
	if out.String() != "" {
		t.Errorf("it printed %q", out.String())
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	return err.Error()
}

func TestRefusesToStart(t *testing.T) {
	file := func(t *testing.T, content string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "rebench.db")
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name string
		path func(t *testing.T) string
		want string
	}{
		{"not a database", func(t *testing.T) string { return file(t, "this is a letter, not a database", 0o600) }, "not an SQLite file"},
		{"damaged header", func(t *testing.T) string {
			return file(t, "SQLite format 3\x00"+strings.Repeat("\xff", 4096), 0o600)
		}, "damaged"},
		{"damaged inside", damaged, "damaged"},
		{"read-only", func(t *testing.T) string {
			path := testutil.PublishedFile(t)
			if err := os.Chmod(path, 0o400); err != nil {
				t.Fatal(err)
			}
			return path
		}, "read-only"},
		{"a directory", func(t *testing.T) string { return t.TempDir() }, "directory"},
		{"below a file", func(t *testing.T) string { return filepath.Join(file(t, "x", 0o600), "rebench.db") }, "directory cannot be created"},
		{"postgres", func(*testing.T) string { return "postgres://host/rebench" }, "PostgreSQL is not supported yet"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.path(t)
			if got := refused(t, settings(path)); !strings.Contains(got, tt.want) || !strings.Contains(got, path) {
				t.Errorf("error %q lacks %q or %q", got, tt.want, path)
			}
		})
	}
}

// damaged is a database whose pages after the first are noise.
func damaged(t *testing.T) string {
	path := testutil.PublishedFile(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(b); i++ {
		b[i] = byte(i*7 + i>>8)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := settings(filepath.Join(t.TempDir(), "rebench.db"))
	c.Addr = l.Addr().String()
	if got := refused(t, c); !strings.Contains(got, "is in use") || !strings.Contains(got, "--addr") {
		t.Errorf("error %q", got)
	}
	if _, err := os.Stat(c.Database); err == nil {
		t.Error("a database was made all the same")
	}
}

func TestSecondServerOnOneFile(t *testing.T) {
	c := settings(filepath.Join(t.TempDir(), "rebench.db"))
	s := start(t, c)
	if got := refused(t, c); !strings.Contains(got, "another server is using it") {
		t.Errorf("error %q", got)
	}
	if status, _ := s.get(t, "/readyz"); status != 200 {
		t.Errorf("the first server answers %d", status)
	}
}

// A request in progress is answered before the server stops.
func TestShutdownFinishesRequests(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	began, finish := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-finish
		io.WriteString(w, "done")
	})
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- serve(ctx, l, h, func() {}, slog.New(slog.DiscardHandler)) }()
	body := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			body <- err.Error()
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		body <- string(b)
	}()
	<-began
	cancel()
	// The listener closes first; only then may the request end.
	for {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
	close(finish)
	if got := <-body; got != "done" {
		t.Errorf("the request got %q", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ listen, host string }{{"127.0.0.1:0", "http://127.0.0.1:"}, {"0.0.0.0:0", "http://127.0.0.1:"}} {
		l, err := net.Listen("tcp4", tt.listen)
		if err != nil {
			t.Fatal(err)
		}
		if got := address(l); !strings.HasPrefix(got, tt.host) {
			t.Errorf("%s: %s", tt.listen, got)
		}
		l.Close()
	}
}
