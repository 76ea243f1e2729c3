package ingest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"rebench/internal/attemptlog"
)

// decodeCSV reads WriteCSV's export. Rows become log lines again, which then
// pass the same reader as logs do.
func (f *File) decodeCSV(src *source, emit emit) {
	t := &csvLog{f: f, src: src, stated: &states{f: f, src: src}, in: newCSVReader(contextReader{f.ctx, src.reader()})}
	if !t.readColumns() {
		return
	}
	r := attemptlog.NewReader(t, attemptlog.Options{File: src.name, Concatenated: true})
	for r.NextLog() {
		if !f.ownLog(src, csvLines{r, t}, t.stated, emit) {
			return
		}
	}
	t.stated.rest()
	switch {
	case t.in.err != nil:
		f.stop(t.in.err)
	case r.Err() != nil:
		f.stop(r.Err())
	}
}

// csvLog turns rows into the bytes of the logs that they were written from.
type csvLog struct {
	f      *File
	src    *source
	in     *csvReader
	stated *states
	header []string // cells of the current attempt
	prev   attemptlog.Hash
	out    bytes.Buffer
	lines  []int32 // of the CSV file, by log line
}

// readColumns checks the first row.
func (t *csvLog) readColumns() bool {
	cells, ok := t.in.next()
	if !ok {
		return false
	}
	got := make([]string, len(cells))
	for i, c := range cells {
		got[i] = string(c)
	}
	if !slices.Equal(got, csvColumns) {
		t.fault(t.in.row, "", CodeChangedCells, "found other columns than those of this server's export, expected %d columns from %s to %s", len(csvColumns), csvColumns[0], csvColumns[len(csvColumns)-1])
		return false
	}
	return true
}

const changedHint = "the export was changed, perhaps by a spreadsheet program: download it again, or use the JSON lines export"

func (t *csvLog) fault(line int, field, code, format string, args ...any) {
	t.f.addFault(attemptlog.Fault{File: t.src.name, Line: line, Field: field, Code: code, Detail: fmt.Sprintf(format, args...), Hint: changedHint})
}

// Read gives the log lines.
func (t *csvLog) Read(p []byte) (int, error) {
	for t.out.Len() == 0 {
		if len(t.f.faults.list) >= MaxFaults {
			return 0, io.EOF
		}
		cells, ok := t.in.next()
		if !ok {
			if t.in.err != nil {
				return 0, t.in.err
			}
			return 0, io.EOF
		}
		if blank(cells) && (t.in.problem == "" || t.in.problem == csvNoLF) {
			continue
		}
		if line, ok := t.line(cells); ok {
			t.prev = attemptlog.Hash(sha256.Sum256(line))
			t.lines = append(t.lines, int32(t.in.row))
			t.out.Write(line)
			t.out.WriteByte('\n')
		}
	}
	return t.out.Read(p)
}

// line makes one row's line and checks that the row says the same as it.
func (t *csvLog) line(cells [][]byte) ([]byte, bool) {
	if t.in.problem != "" && t.in.problem != csvNoLF {
		t.fault(t.in.row, "", CodeBadRow, "%s", t.in.problem)
		return nil, false
	}
	if len(cells) != len(csvColumns) {
		t.fault(t.in.row, "", CodeBadRow, "found %d cells, expected %d", len(cells), len(csvColumns))
		return nil, false
	}
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = unguard(string(c))
	}
	if row[0] == stateType {
		t.state(row)
		return nil, false
	}
	if row[1] == "0" {
		t.prev = attemptlog.Hash{}
		t.header = row[csvHeaderAt:csvEntryAt]
	} else if !slices.Equal(t.header, row[csvHeaderAt:csvEntryAt]) {
		t.fault(t.in.row, "", CodeChangedCells, "found other values of the attempt than in its first row, expected them repeated")
		return nil, false
	}
	raw := []byte(row[csvLineAt])
	if len(raw) == 0 {
		line, ok := buildLine(row, t.prev)
		if !ok {
			t.fault(t.in.row, "", CodeChangedCells, "found cells that make no score entry")
		}
		return line, ok
	}
	l, faults := attemptlog.DecodeLine(raw)
	if len(faults) > 0 {
		x := faults[0]
		t.fault(t.in.row, "line", x.Code, "%s", x.Detail)
		return nil, false
	}
	header := t.header
	if h, ok := l.Event.(*attemptlog.Header); ok {
		header = headerCells(h)
	}
	want := rowCells(l, header)
	want[csvLineAt] = row[csvLineAt]
	for i := range want {
		if want[i] != row[i] {
			t.fault(t.in.row, csvColumns[i], CodeChangedCells, "found %s, expected %s as in the column line", quote(row[i]), quote(want[i]))
			return nil, false
		}
	}
	if bytes.ContainsAny(raw, "\n\r") {
		t.fault(t.in.row, "line", CodeBadRow, "found a line break inside a log line")
		return nil, false
	}
	return raw, true
}

// state reads the row of a state and checks that its cells say the same.
func (t *csvLog) state(row []string) {
	s := t.stated.add(t.in.row, []byte(row[csvLineAt]))
	if s == nil {
		return
	}
	want, err := stateRow(s)
	if err == nil {
		want[csvLineAt] = row[csvLineAt]
	}
	if err != nil || !slices.Equal(want, row) {
		t.fault(t.in.row, stateType, CodeChangedCells, "found cells that differ from the column line")
	}
}

// csvLines tells faults and lines by their place in the CSV file.
type csvLines struct {
	*attemptlog.Reader
	t *csvLog
}

func (c csvLines) place(line int) int {
	if line < 1 || line > len(c.t.lines) {
		return line
	}
	return int(c.t.lines[line-1])
}

func (c csvLines) move(fs []attemptlog.Fault) []attemptlog.Fault {
	for i := range fs {
		fs[i].Line, fs[i].Column = c.place(fs[i].Line), 0
		if fs[i].Code == attemptlog.CodeChainBroken {
			fs[i].Hint = changedHint
		}
	}
	return fs
}

// Line is the current line with its place in the CSV file.
func (c csvLines) Line() *attemptlog.Line {
	l := *c.Reader.Line()
	l.Number = c.place(l.Number)
	return &l
}

// Faults of the current log.
func (c csvLines) Faults() []attemptlog.Fault { return c.move(c.Reader.Faults()) }

// Warnings about the current log.
func (c csvLines) Warnings() []attemptlog.Fault { return c.move(c.Reader.Warnings()) }
