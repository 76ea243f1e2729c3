package attemptlog

import (
	"bytes"
	"strings"
	"testing"

	"rebench/internal/rebench"
)

// manyScores writes one log of n score entries as our runner would.
func manyScores(tb testing.TB, n int) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	if _, err := w.Append(testHeader()); err != nil {
		tb.Fatal(err)
	}
	digest := strings.Repeat("0c", 32)
	for i := range n {
		t := float64(i) / 1000
		s := &Score{T: ptr(t), At: at(t), Score: ptr(1.5 - t/100), Normalized: ptr(t / 100), Basis: rebench.BasisRaw,
			Valid: true, Message: Text("score 1.25, loss 0.3"), SubmissionSHA256: digest, ScorerSHA256: digest}
		if _, err := w.Append(s); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Bytes()
}

// BenchmarkRead is decoding and verifying one log of score entries.
func BenchmarkRead(b *testing.B) {
	const entries = 20_000
	log := manyScores(b, entries)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(bytes.NewReader(log), Options{})
		for r.Next() {
		}
		if f := r.Faults(); len(f) > 0 {
			b.Fatal(f)
		}
	}
	b.ReportMetric(float64(entries)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkWrite is encoding, verifying and hashing score entries.
func BenchmarkWrite(b *testing.B) {
	const entries = 5_000
	b.SetBytes(int64(len(manyScores(b, entries))))
	for b.Loop() {
		manyScores(b, entries)
	}
	b.ReportMetric(float64(entries)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
