package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

type indexEntry struct {
	File     string
	SHA256   string
	Expected struct {
		Rows              *int
		ValidScores       *int `json:"valid_scores"`
		Samples           *int
		SampleScores      int `json:"sample_scores"`
		ScoreEventsFinal  int `json:"score_events_final"`
		StoreIntermediate int `json:"store_intermediate"`
		Status            string
		Version           int
		Chunked           bool
		ZipMethods        []uint16 `json:"zip_methods"`
		Reports           *int
	}
}

func index(t testing.TB) []indexEntry {
	t.Helper()
	var out []indexEntry
	if err := json.Unmarshal(sample(t, "INDEX.json"), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Every sample gives what INDEX.json says of it.
func TestSamples(t *testing.T) {
	for _, e := range index(t) {
		t.Run(e.File, func(t *testing.T) {
			b := sample(t, e.File)
			if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != e.SHA256 {
				t.Fatal("the file is not the one of the index")
			}
			g := decode(t, e.File, b, Options{Mapping: kernelMapping(), Constants: PublishedConstants()})
			if g.file.Err() != nil {
				t.Fatal(g.file.Err())
			}
			switch {
			case e.Expected.Reports != nil:
				wantCodes(t, "faults", g.file.Faults(), CodeUnsupportedBench)
			case e.Expected.Samples != nil:
				checkInspectSample(t, e, g)
			default:
				checkRows(t, e, g)
			}
		})
	}
}

func checkInspectSample(t *testing.T, e indexEntry, g got) {
	if len(g.attempts) != *e.Expected.Samples {
		t.Errorf("%d attempts, want %d samples", len(g.attempts), *e.Expected.Samples)
	}
	scored := 0
	for _, a := range g.attempts {
		if a.sum.Scores > 0 {
			scored++
		}
		if a.sum.Scores > 1 {
			t.Errorf("sample %s has %d entries, want one: there are no intermediate scores", a.Sample, a.sum.Scores)
		}
	}
	if scored != e.Expected.SampleScores {
		t.Errorf("%d attempts with a score, want %d", scored, e.Expected.SampleScores)
	}
	if *e.Expected.Samples == 0 {
		wantCodes(t, "faults", g.file.Faults(), CodeNoAttempts)
	} else if len(g.file.Faults()) > 0 {
		t.Errorf("faults = %v", g.file.Faults())
	}
	w := codes(g.file.Warnings())
	if slices.Contains(w, WarnNewerVersion) != (e.Expected.Version > inspectSchema) {
		t.Errorf("version %d, warnings %q", e.Expected.Version, w)
	}
	if slices.Contains(w, WarnUnfinished) != (e.Expected.Status != "success") {
		t.Errorf("status %s, warnings %q", e.Expected.Status, w)
	}
	format := FormatInspectJSON
	if e.Expected.ZipMethods != nil {
		format = FormatInspectEval
	}
	if g.file.Format != format {
		t.Errorf("format %s, want %s", g.file.Format, format)
	}
}

func checkRows(t *testing.T, e indexEntry, g got) {
	rows := 0
	switch g.file.Format {
	case FormatMETRRuns: // rows become attempts, faults or placeholders
		rows = len(g.attempts) + len(g.file.Faults())
		for _, c := range codes(g.file.Warnings()) {
			if c == WarnPlaceholder {
				rows++
			}
		}
	default:
		if len(g.attempts) != 1 {
			t.Fatalf("%d attempts, want 1: %v", len(g.attempts), g.file.Faults())
		}
		if rows = g.attempts[0].sum.Scores; len(g.file.Faults()) > 0 {
			t.Errorf("faults = %v", g.file.Faults())
		}
	}
	if rows != *e.Expected.Rows {
		t.Errorf("%d rows, want %d", rows, *e.Expected.Rows)
	}
	if v := e.Expected.ValidScores; v != nil && g.attempts[0].sum.ValidScores != *v {
		t.Errorf("%d valid scores, want %d", g.attempts[0].sum.ValidScores, *v)
	}
}

// The index and the folder name the same files.
func TestSamplesAreIndexed(t *testing.T) {
	files, err := filepath.Glob("testdata/samples/*")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"INDEX.json": true, "README.md": true}
	for _, e := range index(t) {
		listed[e.File] = true
		if _, err := os.Stat(filepath.Join("testdata/samples", e.File)); err != nil {
			t.Error(err)
		}
	}
	for _, f := range files {
		if !listed[filepath.Base(f)] {
			t.Errorf("%s has no provenance in INDEX.json", f)
		}
	}
}
