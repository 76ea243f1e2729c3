package ingest_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"rebench/internal/ingest"
	"rebench/internal/testutil"
)

// BenchmarkAttemptLogs decodes and verifies 100,000 attempt logs with 2 million
// score entries.
func BenchmarkAttemptLogs(b *testing.B) {
	g := testutil.Large
	path := testutil.GeneratedLogs(b, g)
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		f := ingest.Open(b.Context(), "logs.ndjson", file, info.Size(), ingest.Options{})
		attempts, entries := 0, 0
		for a := range f.Attempts() {
			attempts++
			entries += a.Summary().Scores
		}
		if attempts != g.Attempts || entries != g.Attempts*g.Entries || len(f.Faults()) > 0 {
			b.Fatalf("%d attempts, %d entries, faults %v", attempts, entries, f.Faults())
		}
	}
	b.ReportMetric(float64(g.Attempts*g.Entries)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkMETR decodes METR's published file.
func BenchmarkMETR(b *testing.B) {
	data, err := os.ReadFile("../../data/published/metr_re_bench_runs.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	n := 0
	for b.Loop() {
		f := ingest.Open(b.Context(), "runs.jsonl", bytes.NewReader(data), int64(len(data)), ingest.Options{Constants: ingest.PublishedConstants()})
		for a := range f.Attempts() {
			a.Summary()
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "attempts/s")
}

// BenchmarkInspectEval decodes a log of six samples with long transcripts.
func BenchmarkInspectEval(b *testing.B) {
	data, err := os.ReadFile("testdata/samples/hawk__importer_small.eval")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(3_830_070) // unpacked
	for b.Loop() {
		f := ingest.Open(b.Context(), "small.eval", bytes.NewReader(data), int64(len(data)), ingest.Options{})
		for a := range f.Attempts() {
			a.Summary()
		}
	}
}

// BenchmarkScoreLog decodes a score log of 20,000 rows with messages.
func BenchmarkScoreLog(b *testing.B) {
	row := "2025-03-09T01:30:00,0.5,\"{\"\"loss\"\": 0.25, \"\"note\"\": \"\"" + strings.Repeat("word ", 40) + "\"\"}\",{}\r\n"
	data := []byte("timestamp,score,message,details\n" + strings.Repeat(row, 20_000))
	m := ingest.Mapping{AttemptID: "a", Environment: "optimize_kernel", Profile: "gpu", Agent: &ingest.MappingAgent{Name: "x"},
		StartedAt: "2025-03-09T01:00:00", Zone: "America/New_York"}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f := ingest.Open(b.Context(), "score.log", bytes.NewReader(data), int64(len(data)), ingest.Options{Mapping: m})
		for a := range f.Attempts() {
			a.Summary()
		}
	}
	b.ReportMetric(20_000*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
