package upload_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rebench/internal/store"
	"rebench/internal/testutil"
	"rebench/internal/upload"
)

// BenchmarkIngest imports 100,000 attempt logs with 2 million score entries into a
// new database, and then has the sqlite3 shell load the rows that this made, from
// CSV files on the same disk into a database with the same schema, settings and
// indexes. `ratio` is the rate of the first over that of the second; both count
// score entries.
func BenchmarkIngest(b *testing.B) {
	size := testutil.Large
	if testing.Short() {
		size.Attempts /= 10
	}
	logs := testutil.GeneratedLogs(b, size)
	info, err := os.Stat(logs)
	if err != nil {
		b.Fatal(err)
	}
	entries := float64(size.Attempts * size.Entries)
	for b.Loop() {
		dir := b.TempDir()
		path := filepath.Join(dir, "rebench.db")
		ours, oursCPU := ingestOnce(b, path, size.Attempts, upload.File{Name: "logs.ndjson", Path: logs, Size: info.Size(), SHA256: strings.Repeat("0", 64)})
		theirs, theirsCPU := shellImport(b, path, dir)
		b.ReportMetric(oursCPU.Seconds(), "cpu-s")
		b.ReportMetric(theirsCPU.Seconds(), "shell-cpu-s")
		b.ReportMetric(entries/ours.Seconds(), "entries/s")
		b.ReportMetric(entries/theirs.Seconds(), "shell-entries/s")
		b.ReportMetric(theirs.Seconds()/ours.Seconds(), "ratio")
		b.ReportMetric(float64(info.Size())/1e6/ours.Seconds(), "MB/s")
	}
}

func ingestOnce(b *testing.B, path string, attempts int, file upload.File) (took, cpu time.Duration) {
	st, err := store.Open(b.Context(), store.Options{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	start, used := time.Now(), usedCPU()
	r, err := (&upload.Service{Store: st}).Import(b.Context(), []upload.File{file}, upload.Options{Author: "bench"})
	took, cpu = time.Since(start), usedCPU()-used
	if err != nil {
		b.Fatal(err, r.Errors[:min(3, len(r.Errors))])
	}
	if len(r.Created) != attempts {
		b.Fatalf("%d attempts were created", len(r.Created))
	}
	if err := st.Close(); err != nil {
		b.Fatal(err)
	}
	return took, cpu
}

// usedCPU is the processor time of this process so far.
func usedCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// imported are the tables that the shell loads; logs are binary, which .import cannot read.
var imported = []string{"data_revisions", "agents", "uploads", "attempts", "revisions", "current_revisions", "score_entries"}

// shellImport times the sqlite3 shell loading the tables of the database at path.
func shellImport(b *testing.B, path, dir string) (took, cpu time.Duration) {
	schema, _ := shell(b, path, ".schema")
	var script strings.Builder
	fmt.Fprintf(&script, "PRAGMA journal_mode=wal;\nPRAGMA synchronous=full;\nPRAGMA cache_size=-65536;\n.mode csv\nBEGIN IMMEDIATE;\n")
	for _, table := range imported {
		file := filepath.Join(dir, table+".csv")
		shell(b, path, ".mode csv", ".output "+file, "SELECT * FROM "+table+";")
		fmt.Fprintf(&script, ".import %s %s\n", file, table)
	}
	script.WriteString("COMMIT;\n")
	target := filepath.Join(dir, "shell.db")
	lines := strings.ReplaceAll(schema, "CREATE TABLE sqlite_sequence(name,seq);", "")
	shell(b, target, lines)
	start := time.Now()
	_, cpu = shell(b, target, script.String())
	took = time.Since(start)
	for _, table := range imported {
		ours, _ := shell(b, path, "SELECT COUNT(*) FROM "+table+";")
		if theirs, _ := shell(b, target, "SELECT COUNT(*) FROM "+table+";"); ours != theirs {
			b.Fatalf("%s: the shell loaded %s rows of %s", table, theirs, ours)
		}
	}
	return took, cpu
}

func shell(b *testing.B, path string, commands ...string) (out string, cpu time.Duration) {
	cmd := exec.Command("sqlite3", "-batch", path)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	said, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(said), "rror") {
		b.Fatalf("sqlite3: %v %.500s", err, said)
	}
	return strings.TrimSpace(string(said)), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
