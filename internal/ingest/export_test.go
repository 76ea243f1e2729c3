package ingest

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

func logsOf(logs ...[]byte) iter.Seq2[Exported, error] {
	return func(yield func(Exported, error) bool) {
		for _, l := range logs {
			if !yield(Exported{Log: bytes.NewReader(l)}, nil) {
				return
			}
		}
	}
}

// ownLogs are logs with everything that a log can hold, and with hostile text.
func ownLogs(t testing.TB) [][]byte {
	t.Helper()
	start := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)
	digest := strings.Repeat("ab", 32)
	hostile := []string{`=HYPERLINK("http://x","y")`, "+1+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "'quoted", "a,b\"c\nd\r\ne", "<script>alert(1)</script>", "naïve 😀"}
	var out [][]byte
	for i, name := range hostile {
		var b bytes.Buffer
		w := attemptlog.NewWriter(&b)
		h := &attemptlog.Header{AttemptID: fmt.Sprint("run-", i), Environment: attemptlog.Environment{ID: "optimize_kernel", Version: name, Profile: "gpu"},
			TimeLimitS: ptr(1800.5), StartedAt: &start, Clock: rebench.ClockActive,
			Scoring: attemptlog.Scoring{Direction: rebench.Minimize, StartRaw: ptr(1.5), ReferenceRaw: ptr(-0.25)}, Tool: attemptlog.Tool{Name: "runner"},
			Hardware: &attemptlog.Hardware{GPU: name}, Extra: attemptlog.Extra{{Key: name, Value: attemptlog.Text(name)}}}
		if i%2 == 0 {
			h.Agent = &attemptlog.Agent{Name: name, Model: name, Scaffold: name}
		} else {
			h.Human = &attemptlog.Human{Cohort: name, Source: name}
		}
		events := []attemptlog.Event{h,
			&attemptlog.Score{T: ptr(1.25), At: ptr(start.Add(1250 * time.Millisecond)), Score: ptr(-7.2849e-06), Basis: rebench.BasisRaw, Valid: true, Message: attemptlog.Text(name), SubmissionSHA256: digest, ScorerSHA256: digest},
			&attemptlog.Score{T: ptr(2.0), Basis: rebench.BasisRaw, Reason: attemptlog.ReasonTimeout, Message: []byte(`{"timeout":true}`), Extra: attemptlog.Extra{{Key: name, Value: []byte(`{"a":[1,null]}`)}}},
			&attemptlog.Pause{T: ptr(3.0), At: ptr(start.Add(3 * time.Second)), Reason: name},
			&attemptlog.Resume{T: ptr(3.0), At: ptr(start.Add(13 * time.Second))},
			&attemptlog.Usage{T: ptr(3.0), Tokens: []attemptlog.TokenCount{{Kind: name, Count: 5}}},
			&attemptlog.Unknown{Kind: "note" + name, Extra: attemptlog.Extra{{Key: "x", Value: []byte("1")}}},
			&attemptlog.Rescore{OfSeq: 1, Score: ptr(0.5), Reason: name},
			&attemptlog.End{T: ptr(4.0), Reason: attemptlog.EndSubmitted}}
		for _, e := range events {
			if _, err := w.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, b.Bytes())
	}
	return out
}

func exportCSV(t testing.TB, logs ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCSV(&b, logsOf(logs...)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Both exports import to the same attempts, byte for byte.
func TestExportsRoundTrip(t *testing.T) {
	logs := ownLogs(t)
	var jsonl bytes.Buffer
	if err := WriteJSONL(&jsonl, logsOf(logs...)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		data   []byte
		format Format
	}{"jsonl": {jsonl.Bytes(), FormatAttemptLog}, "csv": {exportCSV(t, logs...), FormatAttemptCSV}} {
		t.Run(name, func(t *testing.T) {
			g := decode(t, "export", tc.data, Options{})
			wantPlaces(t, "faults", g.file.Faults())
			if g.file.Format != tc.format || len(g.attempts) != len(logs) {
				t.Fatalf("%s, %d attempts", g.file.Format, len(g.attempts))
			}
			for i, a := range g.attempts {
				if !bytes.Equal(a.log, logs[i]) {
					t.Errorf("log %d comes back as\n%s\nwant\n%s", i, a.log, logs[i])
				}
				if a.Dataset != DatasetUploads || a.NativeID != fmt.Sprint("run-", i) {
					t.Errorf("identity %s %s", a.Dataset, a.NativeID)
				}
			}
		})
	}
}

// Converted attempts keep their identity through an export.
func TestConvertedLogsRoundTrip(t *testing.T) {
	m := kernelMapping()
	opt := Options{Mapping: m, Constants: PublishedConstants()}
	sources := []got{
		metr(t, opt, early(), later(), early("mp4-server_1", "z", `"score":0.5`, `"score":0`), early("mp4-server_1", "n", `"score":0.5`, `"score":NaN`)),
		decode(t, "x", sample(t, "tps__score_v025_mixed.log"), opt), decode(t, "x", sample(t, "hawk__importer_small.eval"), opt),
		vivaria(t, `{"runId":17,"agentBranchNumber":2,"scoreLog":[{"elapsedSeconds":5,"score":null}]}`),
	}
	for _, src := range sources {
		for _, a := range src.attempts {
			for name, data := range map[string][]byte{"jsonl": a.log, "csv": exportCSV(t, a.log)} {
				g := decode(t, "export", data, Options{})
				if len(g.attempts) != 1 {
					t.Fatalf("%s %s: faults %v", a.NativeID, name, g.file.Faults())
				}
				b := g.attempts[0]
				if b.Dataset != a.Dataset || b.NativeID != a.NativeID || b.sum.Head != a.sum.Head || !bytes.Equal(a.log, b.log) {
					t.Errorf("%s: %s %s comes back as %s %s", name, a.Dataset, a.NativeID, b.Dataset, b.NativeID)
				}
			}
		}
	}
}

// No text cell of the export can be run by a spreadsheet.
func TestCSVIsSafeForSpreadsheets(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(exportCSV(t, ownLogs(t)...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		for i, cell := range r {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && !(numericColumn[csvColumns[i]] && isJSONNumber(cell)) {
				t.Errorf("column %s holds %q", csvColumns[i], cell)
			}
		}
	}
}

// A log that another program wrote in another style keeps its bytes.
func TestCSVKeepsForeignStyle(t *testing.T) {
	log := ownLogs(t)[0]
	lines := bytes.SplitAfter(log, []byte("\n"))
	odd := bytes.Replace(lines[1], []byte(`"score":-0.0000072849`), []byte(`"score": -72849e-10`), 1)
	r := attemptlog.NewReader(bytes.NewReader(append(bytes.Clone(lines[0]), odd...)), attemptlog.Options{})
	for r.Next() {
	}
	if len(r.Faults()) > 0 || bytes.Equal(odd, lines[1]) {
		t.Fatal(r.Faults())
	}
	styled := append(bytes.Clone(lines[0]), odd...)
	if g := decode(t, "x", exportCSV(t, styled), Options{}); !bytes.Equal(g.attempts[0].log, styled) {
		t.Errorf("%s", g.attempts[0].log)
	}
}

// A changed table is refused, never half believed.
func TestCSVChanged(t *testing.T) {
	base := string(exportCSV(t, ownLogs(t)[0]))
	for name, edit := range map[string][2]string{
		"score":             {"-0.0000072849,", "-0.0000062849,"},
		"time":              {"1.25,", "1.5,"},
		"validity":          {",true,", ",false,"},
		"agent":             {"optimize_kernel", "scaling_law"},
		"rounded by a tool": {"1800.5", "1801"},
		"header of one row": {"score,1,run-0", "score,1,run-1"},
		"number in words":   {"1.25,", "one,"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(base, edit[0], edit[1], 1)
			if changed == base {
				t.Fatal("the case changes nothing")
			}
			g := decode(t, "x", []byte(changed), Options{})
			if len(g.file.Faults()) == 0 {
				t.Error("the change goes unnoticed")
			}
			for _, f := range g.file.Faults() {
				if f.Line < 2 {
					t.Errorf("fault without its row: %v", f)
				}
			}
		})
	}
	t.Run("columns", func(t *testing.T) {
		wantCodes(t, "faults", decode(t, "x", []byte(strings.Replace(base, ",line\n", ",lines\n", 1)), Options{}).file.Faults(), CodeChangedCells)
	})
	t.Run("row removed", func(t *testing.T) {
		rows := strings.SplitAfter(base, "\n")
		i := slices.IndexFunc(rows, func(r string) bool { return strings.HasPrefix(r, "score,2") })
		if i < 0 {
			t.Fatal("no such row")
		}
		if f := decode(t, "x", []byte(strings.Join(slices.Delete(rows, i, i+1), "")), Options{}).file.Faults(); len(f) == 0 {
			t.Error("a removed row goes unnoticed")
		}
	})
}

func TestExportOfInvalidLogFails(t *testing.T) {
	if err := WriteCSV(io.Discard, logsOf([]byte("{}\n"))); err == nil {
		t.Error("an invalid log is exported")
	}
}

func TestOwnLogs(t *testing.T) {
	logs := ownLogs(t)
	t.Run("faults are those of the reader, with more rules for this server", func(t *testing.T) {
		edited := bytes.Replace(logs[0], []byte("1.25"), []byte("1.35"), 1)
		wantPlaces(t, "faults", decode(t, "x", edited, Options{}).file.Faults(), "3 chain_broken prev")
		other := func(old, new string) []attemptlog.Fault {
			first, _, _ := bytes.Cut(logs[0], []byte("\n"))
			return decode(t, "x", append(bytes.Replace(first, []byte(old), []byte(new), 1), '\n'), Options{}).file.Faults()
		}
		wantPlaces(t, "faults", other("optimize_kernel", "optimise_kernel"), "1 unknown_environment environment.id")
		wantPlaces(t, "faults", other(`"profile":"gpu"`, `"profile":"tpu"`), "1 bad_value environment.profile")
		wantPlaces(t, "faults", other("run-0", "../run"), "1 bad_value attempt_id")
		wantPlaces(t, "faults", other(`"agent":{"name":`, `"agent":{"name":"human","n":`), "1 bad_value agent.name")
		wantPlaces(t, "faults", other(`"format":"attempt-log"`, `"format":"attempt-log","format":"x"`), "1 duplicate_key ")
	})
	t.Run("a log is appendable and its faults do not hide the next log", func(t *testing.T) {
		bad := bytes.Replace(logs[0], []byte("1.25"), []byte("1.35"), 1)
		g := decode(t, "x", slices.Concat(bad, logs[1], logs[2]), Options{})
		if len(g.attempts) != 3 || !g.attempts[1].Appendable || len(g.attempts[0].Faults()) != 1 || len(g.attempts[1].Faults()) != 0 || g.attempts[1].Line != 10 {
			t.Errorf("%d attempts, faults %v", len(g.attempts), g.file.Faults())
		}
	})
}
