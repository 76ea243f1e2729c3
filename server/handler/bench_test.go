package handler

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

// openBench opens a database for benchmarks.
func openBench(b *testing.B, path string) *store.Store {
	b.Helper()
	s, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// newServer is a server with the number of draws that readers get.
func newServer(b *testing.B, db *store.Store) *Server {
	b.Helper()
	s, err := New(Options{Engine: analysis.New(db, analysis.Options{}), Store: db})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// serveBench answers one request, from outside like a reader's.
func serveBench(b *testing.B, s *Server, path string) {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Body.Len() < 1000 {
		b.Fatalf("GET %s: status %d, %d bytes", path, w.Code, w.Body.Len())
	}
}

// cold measures the first request to a new server: attempts are read from the
// database, every interval is computed and the page is rendered. cpu-ms/op is the
// processor time of all cores, which a busy machine does not stretch.
func cold(b *testing.B, db *store.Store, path string) {
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		s := newServer(b, db)
		runtime.GC()
		b.StartTimer()
		start := cpuTime(b)
		serveBench(b, s, path)
		cpu += cpuTime(b) - start
	}
	reportCPU(b, cpu)
}

// loaded measures a question that was not asked before, with the data in memory.
func loaded(b *testing.B, db *store.Store, path string) {
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		s := newServer(b, db)
		serveBench(b, s, "/attempts")
		runtime.GC()
		b.StartTimer()
		start := cpuTime(b)
		serveBench(b, s, path)
		cpu += cpuTime(b) - start
	}
	reportCPU(b, cpu)
}

// warm measures the same request once its result is cached.
func warm(b *testing.B, db *store.Store, path string) {
	s := newServer(b, db)
	serveBench(b, s, path)
	start := cpuTime(b)
	for b.Loop() {
		serveBench(b, s, path)
	}
	reportCPU(b, cpuTime(b)-start)
}

func reportCPU(b *testing.B, d time.Duration) {
	b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// cpuTime is the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchPages(b *testing.B, db *store.Store) {
	for _, page := range []struct{ name, path string }{
		{"leaderboard", "/"}, {"leaderboard.json", "/api/v1/leaderboard"}, {"curves", "/curves"}, {"attempts", "/attempts"},
	} {
		b.Run(page.name+"/cold", func(b *testing.B) { cold(b, db, page.path) })
		b.Run(page.name+"/loaded", func(b *testing.B) { loaded(b, db, page.path) })
		b.Run(page.name+"/cached", func(b *testing.B) { warm(b, db, page.path) })
	}
}

// BenchmarkPublished serves pages of the published data.
func BenchmarkPublished(b *testing.B) { benchPages(b, openBench(b, testutil.PublishedFile(b))) }

// BenchmarkLarge serves pages of 100,000 attempts with 2 million score entries.
func BenchmarkLarge(b *testing.B) {
	benchPages(b, openBench(b, testutil.GeneratedFile(b, testutil.Large)))
}

// BenchmarkLargeMemory reports the memory that this process holds after it has
// served the leaderboard and the curves of the large database (peak-MB: the
// kernel's high-water mark; heap-MB: live after collection).
func BenchmarkLargeMemory(b *testing.B) {
	path := testutil.GeneratedFile(b, testutil.Large)
	var heap, peak float64
	for b.Loop() {
		debug.FreeOSMemory()
		resetPeak(b)
		db, err := store.Open(context.Background(), store.Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		s := newServer(b, db)
		for _, page := range []string{"/", "/curves", "/attempts", "/environments"} {
			serveBench(b, s, page)
		}
		peak = max(peak, peakMB(b))
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap = max(heap, float64(m.HeapAlloc)/1e6)
		runtime.KeepAlive(s)
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(heap, "heap-MB")
	b.ReportMetric(peak, "peak-MB")
}

// resetPeak makes the kernel's high-water mark start again.
func resetPeak(b *testing.B) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Logf("the peak includes what came before: %v", err)
	}
}

func peakMB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatalf("memory is measured on Linux: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb * 1024 / 1e6
		}
	}
	b.Fatal("no VmHWM")
	return 0
}
