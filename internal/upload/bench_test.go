package upload_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rebench/internal/store"
	"rebench/internal/testutil"
	"rebench/internal/upload"
)

// BenchmarkIngest imports 100,000 attempt logs with 2 million score entries into a
// new database, and then has the sqlite3 shell load what this made as equivalent
// rows, from CSV files on the same disk: the same tables with the same indexes, and a
// row for each score entry in place of blocks of them. `ratio` is the rate of the
// first over that of the second; both count score entries.
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
		theirs, theirsCPU := shellImport(b, path, dir, int(entries))
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

// imported are the tables that the shell loads as they are; the logs are binary,
// which .import cannot read, and it is spared them.
var imported = []string{"data_revisions", "agents", "uploads", "attempts", "revisions", "current_revisions"}

// entryRows is the table of equivalent rows for the score entries.
const entryRows = `CREATE TABLE entry_rows (revision_id INTEGER NOT NULL, seq INTEGER NOT NULL, t_ms INTEGER, at_ms INTEGER, raw REAL, normalized REAL,
basis TEXT NOT NULL, valid INTEGER NOT NULL, reason TEXT NOT NULL, message TEXT NOT NULL, submission_sha256 TEXT NOT NULL, scorer_sha256 TEXT NOT NULL,
rescored_raw REAL, rescored_normalized REAL, PRIMARY KEY (revision_id, seq)) WITHOUT ROWID;`

// writeEntryRows writes the score entries of the database at path as CSV and returns
// how many there are.
func writeEntryRows(b *testing.B, path, file string) int {
	st, err := store.Open(b.Context(), store.Options{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	rev, err := st.LatestRevision(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	attempts, err := st.Summaries(b.Context(), rev.ID)
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, n := csv.NewWriter(f), 0
	number := func(x *float64) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'g', -1, 64)
	}
	for some := range slices.Chunk(attempts, 500) {
		ids := make([]int64, len(some))
		for i, a := range some {
			ids[i] = a.RevisionID
		}
		entries, err := st.Entries(b.Context(), ids)
		if err != nil {
			b.Fatal(err)
		}
		for _, id := range ids {
			for _, e := range entries[id] {
				n++
				w.Write([]string{fmt.Sprint(id), fmt.Sprint(e.Seq), fmt.Sprint(e.Elapsed.Milliseconds()), fmt.Sprint(e.At.UnixMilli()), number(e.Raw), number(e.Normalized),
					string(e.Basis), map[bool]string{true: "1", false: "0"}[e.Valid], e.Reason, e.Message, e.SubmissionSHA256, e.ScorerSHA256, "", ""})
			}
		}
	}
	if w.Flush(); w.Error() != nil {
		b.Fatal(w.Error())
	}
	return n
}

// shellImport times the sqlite3 shell loading the equivalent rows of the database at path.
func shellImport(b *testing.B, path, dir string, entries int) (took, cpu time.Duration) {
	schema, _ := shell(b, path, ".schema")
	var script strings.Builder
	fmt.Fprintf(&script, "PRAGMA journal_mode=wal;\nPRAGMA synchronous=full;\nPRAGMA cache_size=-65536;\n.mode csv\nBEGIN IMMEDIATE;\n")
	for _, table := range imported {
		file := filepath.Join(dir, table+".csv")
		shell(b, path, ".mode csv", ".output "+file, "SELECT * FROM "+table+";")
		fmt.Fprintf(&script, ".import %s %s\n", file, table)
	}
	file := filepath.Join(dir, "entry_rows.csv")
	if n := writeEntryRows(b, path, file); n != entries {
		b.Fatalf("%d score entries are stored, want %d", n, entries)
	}
	fmt.Fprintf(&script, ".import %s entry_rows\nCOMMIT;\n", file)
	target := filepath.Join(dir, "shell.db")
	lines := strings.ReplaceAll(schema, "CREATE TABLE sqlite_sequence(name,seq);", "")
	shell(b, target, lines, entryRows)
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
