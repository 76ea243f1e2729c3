package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rebench/internal/testutil"
)

var (
	kills      = flag.Int("kills", 25, "how often the server is killed during an upload")
	uploadMB   = flag.Int("upload-mb", 100, "size of the upload whose memory is measured")
	longLineMB = flag.Int("line-mb", 200, "length of the single line whose memory is measured")
)

// integrity asks SQLite whether the database is sound.
func integrity(t *testing.T, path string) {
	t.Helper()
	out, err := exec.Command("sqlite3", path, "PRAGMA integrity_check; PRAGMA foreign_key_check;").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Fatalf("%v: %s", err, out)
	}
}

// count runs a query that gives one number.
func count(t *testing.T, path, query string) int {
	t.Helper()
	out, err := exec.Command("sqlite3", path, query).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The server is killed at drawn moments of uploads: while one arrives, is decoded,
// is committed or is answered. Afterwards the database is sound, an acknowledged
// upload is complete, an upload is there as a whole or not at all, and nothing waits
// in the uploads' directory.
func TestKilledDuringUploads(t *testing.T) {
	const rows = 400
	dir := t.TempDir()
	database := filepath.Join(dir, "rebench.db")
	cmd, address := started(t, nil, "--addr", "127.0.0.1:0", "--data-dir", dir)
	token := newToken(t, dir, "--name", "team")
	random := rand.New(rand.NewPCG(1, 2))
	// How long an upload takes here, so that the moments fall all over it.
	began := time.Now()
	if got := uploaded(t, address, token, content(0, rows)); got != 201 {
		t.Fatalf("the first upload: %d", got)
	}
	usual := time.Since(began)
	acknowledged := map[int]bool{0: true}
	for i := 1; i <= *kills; i++ {
		done := make(chan bool, 1)
		go func() { done <- acknowledges(t, address, token, content(i*rows, rows)) }()
		time.Sleep(time.Duration(random.Float64() * 1.5 * float64(usual)))
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		acknowledged[i] = <-done
		if acknowledged[i] { // so that neither kind dies out as the database grows
			usual = usual * 8 / 10
		} else {
			usual = usual * 11 / 10
		}
		integrity(t, database)
		cmd, address = started(t, nil, "--addr", "127.0.0.1:0", "--data-dir", dir)
		if left, _ := filepath.Glob(filepath.Join(dir, "rebench-uploads", "*", "*")); len(left) > 0 {
			t.Fatalf("kill %d left %v", i, left)
		}
		have := count(t, database, fmt.Sprintf("SELECT COUNT(*) FROM attempts a JOIN revisions r ON r.attempt_pk = a.pk JOIN score_entries e ON e.revision_id = r.id JOIN attempt_logs l ON l.revision_id = r.id WHERE a.dataset = 'metr-rebench' AND CAST(a.native_id AS INTEGER) BETWEEN %d AND %d AND a.native_id GLOB '9[0-9]*'", 9_000_000+i*rows, 9_000_000+(i+1)*rows-1))
		if acknowledged[i] && have != rows || have != 0 && have != rows {
			t.Fatalf("kill %d: %d of %d attempts are stored, acknowledged %t", i, have, rows, acknowledged[i])
		}
		if !acknowledged[i] { // the client tries again, and knows whether it was done
			if got := uploaded(t, address, token, content(i*rows, rows)); got != 201 {
				t.Fatalf("kill %d: trying again: %d", i, got)
			}
		}
	}
	n := 0
	for _, ok := range acknowledged {
		if ok {
			n++
		}
	}
	t.Logf("%d kills, %d uploads were acknowledged before", *kills, n-1)
	if n == 1 || n == *kills+1 {
		t.Error("kills must fall before and after acknowledgements")
	}
	if want := 1801 + (*kills+1)*rows; count(t, database, "SELECT COUNT(*) FROM attempts") != want {
		t.Errorf("want %d attempts", want)
	}
}

func content(from, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(row(9_000_000 + from + i))
	}
	return b.String()
}

// acknowledges uploads and reports whether a whole answer says that it is done.
func acknowledges(t *testing.T, address, token, file string) bool {
	req, err := request(t, address, token, file)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return err == nil && res.StatusCode == 201 && json.Valid(b)
}

// peakMB is the most memory that a process has had resident, in 10^6 bytes.
func peakMB(t *testing.T, pid int) float64 {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if fields := strings.Fields(s.Text()); fields[0] == "VmHWM:" {
			kb, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb * 1024 / 1e6
		}
	}
	t.Fatal("the system does not tell")
	return 0
}

// binary builds the server: the test binary holds more than it.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server")
	cmd := exec.Command("go", "build", "-o", path, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// running starts the built server and returns its process and address.
func running(t *testing.T, path string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(path, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(strings.TrimPrefix(line, "rebench is serving on "))
}

// send streams a file of an upload from write, never holding it.
func send(t *testing.T, address, token string, write func(io.Writer) error) (status int, body string) {
	t.Helper()
	out, in := io.Pipe()
	form := multipart.NewWriter(in)
	go func() {
		part, err := form.CreateFormFile("file", "big.ndjson")
		if err == nil {
			err = write(part)
		}
		in.CloseWithError(errors.Join(err, form.Close()))
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/api/v1/uploads", out)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	head := make([]byte, 2_000)
	n, _ := io.ReadFull(res.Body, head)
	io.Copy(io.Discard, res.Body)
	return res.StatusCode, string(head[:n])
}

// maxMB is the memory that the server may take for an upload of any size that it
// accepts, in 10^6 bytes.
const maxMB = 128

func TestLargeUploadsInLittleMemory(t *testing.T) {
	path := binary(t)
	metrRows := min(*uploadMB, 100) * 1_000 // what is kept of each attempt counts, not the bytes
	logs := *uploadMB * 1_000_000 / 9_527   // bytes of one generated log
	for name, tc := range map[string]struct {
		write  func(io.Writer) error
		status int
		want   string
	}{
		fmt.Sprintf("%d MB of attempt logs", *uploadMB): {func(w io.Writer) error {
			return testutil.GenerateLogs(w, testutil.Generated{Attempts: logs, Entries: 20, Agents: 40})
		}, 201, fmt.Sprintf(`"created":%d,`, logs)},
		fmt.Sprintf("one attempt log of %d MB", *uploadMB): {func(w io.Writer) error {
			return testutil.GenerateLogs(w, testutil.Generated{Attempts: 1, Entries: *uploadMB * 1_000_000 / 420, Agents: 1})
		}, 201, `"created":1,`},
		fmt.Sprintf("%d METR rows", metrRows): {func(w io.Writer) error {
			b := bufio.NewWriter(w)
			for i := range metrRows {
				b.WriteString(row(10_000_000 + i))
			}
			return b.Flush()
		}, 201, fmt.Sprintf(`"created":%d,`, metrRows)},
		fmt.Sprintf("a line of %d MB", *longLineMB): {func(w io.Writer) error {
			b := bufio.NewWriterSize(w, 1<<20)
			b.WriteString(`{"type":"header","seq":0,"prev":"` + strings.Repeat("0", 64) + `","format":"attempt-log","version":1,"attempt_id":"`)
			for range *longLineMB {
				b.Write(bytes.Repeat([]byte("a"), 1_000_000))
			}
			return b.Flush()
		}, 422, "line_too_long"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd, address := running(t, path, "--addr", "127.0.0.1:0", "--data-dir", dir)
			token := newToken(t, dir, "--name", "team")
			idle := peakMB(t, cmd.Process.Pid)
			status, body := send(t, address, token, tc.write)
			peak := peakMB(t, cmd.Process.Pid)
			t.Logf("%.0f MB before, at most %.0f MB", idle, peak)
			if status != tc.status || !strings.Contains(body, tc.want) {
				t.Errorf("status %d, want %d with %s: %.600s", status, tc.status, tc.want, body)
			}
			if peak > maxMB {
				t.Errorf("it took %.0f MB, the limit is %d", peak, maxMB)
			}
		})
	}
}
