package ingest

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"rebench/internal/attemptlog"
)

func TestArchiveOfFiles(t *testing.T) {
	eval := zipOf(t, member{"header.json", js(t, inspectHeader()), 8}, member{"samples/x_epoch_1.json", js(t, inspectSampleOf(nil)), 93})
	big := strings.Repeat(early("mp4-server_1", "pad")+"\n", 1)
	var rows strings.Builder
	for i := range 9000 { // more than is held in memory
		fmt.Fprintln(&rows, early("mp4-server_1", fmt.Sprint("r", i)))
	}
	m := kernelMapping()
	m.Files = map[string]Mapping{"b/score.log": {AttemptID: "second"}}
	g := decode(t, "up.zip", zipOf(t, member{"runs.jsonl", []byte(big), 8}, member{"a/score.log", []byte(scoreHeader + row("2025-03-09T01:30:00", "1")), 0},
		member{"b/score.log", []byte(scoreHeader + row("2025-03-09T01:30:00", "2")), 93}, member{"log.eval", eval, 0}, member{"big.jsonl", []byte(rows.String()), 8},
		member{"__MACOSX/._x", []byte("junk"), 8}, member{"dir/", nil, 0}), Options{Mapping: m})
	wantPlaces(t, "faults", g.file.Faults())
	wantCodes(t, "warnings", g.file.Warnings(), WarnIgnoredEntry)
	var parts []string
	for _, p := range g.file.Parts {
		parts = append(parts, fmt.Sprintf("%s %s %d", p.Name, p.Format, p.Attempts))
	}
	want := []string{"up.zip/runs.jsonl metr-runs 1", "up.zip/a/score.log score-log 1", "up.zip/b/score.log score-log 1", "up.zip/log.eval inspect-eval 1", "up.zip/big.jsonl metr-runs 9000"}
	if !slices.Equal(parts, want) || g.file.Format != FormatArchive {
		t.Errorf("parts\n%s\nwant\n%s", strings.Join(parts, "\n"), strings.Join(want, "\n"))
	}
	if g.attempts[2].NativeID != "second" || *g.attempts[2].scores[0].Score != 2 {
		t.Errorf("the mapping of one file: %s", g.attempts[2].NativeID)
	}
}

func TestArchiveFaults(t *testing.T) {
	ok := member{"runs.jsonl", []byte(early()), 8}
	whole := zipOf(t, ok)
	damaged := bytes.Clone(whole)
	damaged[60] ^= 0xff
	encrypted := bytes.Clone(whole)
	encrypted[bytes.Index(encrypted, []byte("PK\x01\x02"))+8] |= 1
	method := bytes.Clone(whole)
	binary.LittleEndian.PutUint16(method[bytes.Index(method, []byte("PK\x01\x02"))+10:], 14)
	for name, tc := range map[string]struct {
		data []byte
		want []string
	}{
		"nested":                 {zipOf(t, member{"inner.zip", whole, 0}), []string{CodeNestedArchive}},
		"unknown files":          {zipOf(t, member{"notes.txt", []byte("hello"), 0}, ok), []string{CodeUnknownFormat}},
		"empty":                  {zipOf(t), []string{CodeNoAttempts}},
		"cut off":                {whole[:len(whole)-30], []string{CodeBadArchive}},
		"damaged":                {damaged, []string{CodeBadArchive}},
		"encrypted":              {encrypted, []string{CodeArchiveMethod}},
		"unknown method":         {method, []string{CodeArchiveMethod}},
		"LFS pointer":            {zipOf(t, member{"x.eval", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n"), 8}), []string{CodeLFSPointer}},
		"packed inside":          {zipOf(t, member{"x.gz", []byte("\x1f\x8b\x08\x00"), 0}), []string{CodePacked}},
		"the same attempt twice": {zipOf(t, ok, member{"again.jsonl", []byte(early(`"score":0.5`, `"score":0.6`)), 8}), []string{CodeDuplicateAttempt}},
	} {
		t.Run(name, func(t *testing.T) {
			wantCodes(t, "faults", decode(t, "up.zip", tc.data, Options{}).file.Faults(), tc.want...)
		})
	}
}

// zeros gives n zero bytes.
type zeros struct{ n int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.n)
	clear(p[:n])
	z.n -= n
	return int(n), nil
}

func bomb(t testing.TB, name string, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	e, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(e, &zeros{size}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.Bytes()
}

func TestZipBombs(t *testing.T) {
	t.Run("ratio", func(t *testing.T) {
		wantCodes(t, "faults", decode(t, "b.zip", bomb(t, "x", 64<<20), Options{TempDir: t.TempDir()}).file.Faults(), CodeArchiveRatio)
	})
	t.Run("ratio inside an Inspect log", func(t *testing.T) {
		wantCodes(t, "faults", decode(t, "b.eval", bomb(t, "_journal/start.json", 64<<20), Options{}).file.Faults(), attemptlog.CodeBadJSON)
	})
	t.Run("spaces inside an Inspect log", func(t *testing.T) {
		data := zipOf(t, member{"_journal/start.json", append(bytes.Repeat([]byte(" "), 64<<20), "{}"...), 8})
		wantCodes(t, "faults", decode(t, "b.eval", data, Options{}).file.Faults(), CodeArchiveRatio)
	})
	t.Run("overlapping entries", func(t *testing.T) {
		// Many directory entries that point at one local entry.
		data := zipOf(t, member{"runs.jsonl", bytes.Repeat([]byte(early()+"\n"), 50), 0})
		at := bytes.LastIndex(data, []byte("PK\x01\x02"))
		end := bytes.LastIndex(data, []byte("PK\x05\x06"))
		entry := data[at:end]
		out := bytes.Clone(data[:at])
		for range 10 {
			out = append(out, entry...)
		}
		tail := bytes.Clone(data[end:])
		binary.LittleEndian.PutUint16(tail[8:], 10)
		binary.LittleEndian.PutUint16(tail[10:], 10)
		binary.LittleEndian.PutUint32(tail[12:], uint32(10*len(entry)))
		wantCodes(t, "faults", decode(t, "b.zip", append(out, tail...), Options{}).file.Faults(), CodeArchiveRatio)
	})
	t.Run("too many entries", func(t *testing.T) {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for i := range MaxZipEntries + 1 {
			if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		wantCodes(t, "faults", decode(t, "b.zip", b.Bytes(), Options{}).file.Faults(), CodeArchiveEntries)
	})
	t.Run("total size", func(t *testing.T) {
		total := int64(MaxDecompressed)
		b := &budget{name: "x", in: 1 << 40, total: &total}
		var fault *archiveFault
		if err := b.add(1); !asArchiveFault(err, &fault) || fault.Code != CodeArchiveTooLarge {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a directory that claims to be larger than the file", func(t *testing.T) {
		data := zipOf(t, member{"runs.jsonl", []byte(early()), 0})
		end := bytes.LastIndex(data, []byte("PK\x05\x06"))
		binary.LittleEndian.PutUint32(data[end+16:], 0xfffffffe)
		wantCodes(t, "faults", decode(t, "b.zip", data, Options{}).file.Faults(), CodeArchiveEntries)
	})
}

// Names in archives are shown and never opened.
func TestArchiveNames(t *testing.T) {
	for _, name := range []string{"../../etc/passwd", "/etc/passwd", `..\..\x`, "C:\\x", "a\x00b", "x\n<script>alert(1)</script>", "\xff\xfe", strings.Repeat("n", 60_000)} {
		g := decode(t, "up.zip", zipOf(t, member{name, []byte(early()), 8}), Options{TempDir: t.TempDir()})
		if len(g.attempts) != 1 {
			t.Errorf("%.40q: faults %v", name, g.file.Faults())
			continue
		}
		if shown := g.attempts[0].File; len(shown) > 255 || !utf8.ValidString(shown) || strings.ContainsAny(shown, "\x00\n") {
			t.Errorf("%.40q is shown as %q", name, shown)
		}
	}
}

func TestContextStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	data := []byte(strings.Repeat(early()+"\n", 1000))
	f := Open(ctx, "x", bytes.NewReader(data), int64(len(data)), Options{})
	n := 0
	for range f.Attempts() {
		if n++; n == 1 {
			cancel()
		}
	}
	if !errors.Is(f.Err(), context.Canceled) || n != 1 {
		t.Errorf("error %v after %d attempts", f.Err(), n)
	}
}

// failing is a file whose disk fails.
type failing struct{ io.ReaderAt }

func (failing) ReadAt(p []byte, off int64) (int, error) {
	if off > 0 {
		return 0, errors.New("disk gone")
	}
	n := copy(p, early()+"\n")
	return n, nil
}

func TestReadErrorIsNotAFault(t *testing.T) {
	f := Open(context.Background(), "x", failing{}, 1<<20, Options{})
	for range f.Attempts() {
	}
	if f.Err() == nil || len(f.Faults()) > 0 {
		t.Errorf("error %v, faults %v", f.Err(), f.Faults())
	}
}

func TestDetect(t *testing.T) {
	for in, want := range map[string]Format{
		"": FormatEmpty, " \n\t": FormatEmpty, "\xef\xbb\xbf": FormatEmpty,
		"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1\n": FormatLFS,
		`{"type":"header","seq":0,"prev":"00","format":"attempt-log"}`:         FormatAttemptLog,
		early(): FormatMETRRuns, later(): FormatMETRRuns, early()[:300]: FormatMETRRuns,
		"timestamp,score,message,details\n":             FormatScoreLog,
		`{"timestamp":"2025-01-01T00:00:00","score":1}`: FormatScoreLogNew,
		`{"result":{"data":[]}}`:                        FormatVivaria,
		`{"version":2,"status":"success","eval":{}}`:    FormatInspectJSON,
		`{"competition_reports":[]}`:                    FormatMLEBench,
		"\x1f\x8b\x08":                                  FormatPacked,
		"PK\x03\x04":                                    FormatArchive,
		"hello":                                         FormatUnknown,
		`{"a":1}`:                                       FormatUnknown,
		`[1,2]`:                                         FormatUnknown,
		"{":                                             FormatUnknown,
		"[":                                             FormatUnknown,
		strings.Join(csvColumns, ",") + "\n":            FormatAttemptCSV,
		"\xef\xbb\xbf\r\n " + early():                   FormatMETRRuns,
		strings.Repeat("[", 1_000_000):                  FormatUnknown,
		`{"x":` + strings.Repeat(`{"x":`, 100_000):         FormatUnknown,
		"<!DOCTYPE html><html>":                            FormatUnknown,
		"timestamp,score,message,details,extra\r\n1,2,3,4": FormatScoreLog,
	} {
		if got := Detect([]byte(in)); got != want {
			t.Errorf("%.60q is %s, want %s", in, got, want)
		}
	}
}

func TestRefusedFormats(t *testing.T) {
	for in, want := range map[string]string{
		"": CodeEmptyFile, "hello": CodeUnknownFormat, "\x1f\x8b\x08": CodePacked,
		"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1\n": CodeLFSPointer,
	} {
		g := decode(t, "x", []byte(in), Options{})
		wantCodes(t, "faults", g.file.Faults(), want)
		if len(g.attempts) > 0 {
			t.Error("a refused file has attempts")
		}
	}
}
