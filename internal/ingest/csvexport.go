package ingest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"rebench/internal/attemptlog"
)

// csvColumns are those of the CSV export: one row a line of the log, the
// attempt's own columns repeated on each. Lines that the columns cannot say in
// full, byte for byte, are in `line`, so that an export imports to the same logs.
var csvColumns = append(append([]string{"type", "seq"}, csvHeaderColumns...), csvEntryColumns...)

var csvHeaderColumns = []string{
	"attempt_id", "environment", "environment_version", "profile", "agent", "model", "scaffold", "cohort", "human_source",
	"time_limit_s", "started_at", "clock", "direction", "start_raw", "reference_raw", "calibration_id",
}

var csvEntryColumns = []string{
	"t", "at", "score", "normalized", "basis", "valid", "reason", "message", "submission_sha256", "scorer_sha256", "extra", "line",
}

const (
	csvHeaderAt = 2 // of the first of csvHeaderColumns
	csvEntryAt  = 2 + 16
	csvReasonAt = csvEntryAt + 6
	csvLineAt   = csvEntryAt + 11
)

// Exported is one attempt of an export.
type Exported struct {
	Log   io.Reader
	State *State // what is said of the attempt beside its log; nil for nothing
}

// WriteJSONL writes logs one after another, each as it is: the JSON lines export. A
// state stands on a line before its log. It imports to the same attempts, of which
// none ranks that did not.
func WriteJSONL(w io.Writer, attempts iter.Seq2[Exported, error]) error {
	for a, err := range attempts {
		if err != nil {
			return err
		}
		if !a.State.empty() {
			line, err := a.State.line()
			if err != nil {
				return fmt.Errorf("export: %w", err)
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return fmt.Errorf("export: %w", err)
			}
		}
		if _, err := io.Copy(w, a.Log); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	return nil
}

// WriteCSV writes logs as one CSV table. It imports to the same attempts: to the
// same bytes, or not at all if the table was changed. Text cells that a
// spreadsheet would take for a formula, and those that start with ', get a ' in
// front. A state stands in a row before those of its log. An invalid log ends the
// export with an error.
func WriteCSV(w io.Writer, attempts iter.Seq2[Exported, error]) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvColumns); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for a, err := range attempts {
		if err != nil {
			return err
		}
		if !a.State.empty() {
			row, err := stateRow(a.State)
			if err != nil {
				return fmt.Errorf("export: %w", err)
			}
			if err := writeRow(out, row); err != nil {
				return fmt.Errorf("export: %w", err)
			}
		}
		if err := writeLogCSV(out, a.Log); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

func writeLogCSV(out *csv.Writer, log io.Reader) error {
	r := attemptlog.NewReader(log, attemptlog.Options{})
	var header []string
	var prev attemptlog.Hash
	for r.Next() {
		l := r.Line()
		if h, ok := l.Event.(*attemptlog.Header); ok {
			header = headerCells(h)
		}
		row := rowCells(l, header)
		if built, ok := buildLine(row, prev); !ok || !bytes.Equal(built, l.Raw) {
			row[csvLineAt] = string(l.Raw)
		}
		prev = l.Hash
		if err := writeRow(out, row); err != nil {
			return err
		}
	}
	if faults := r.Faults(); len(faults) > 0 {
		return attemptlog.Faults(faults)
	}
	return r.Err()
}

func writeRow(out *csv.Writer, row []string) error {
	for i := range row {
		row[i] = guard(i, row[i])
	}
	return out.Write(row)
}

// stateRow is a state as a row: in full in the column line, in words under reason.
func stateRow(s *State) ([]string, error) {
	line, err := s.line()
	row := make([]string, len(csvColumns))
	row[0], row[csvHeaderAt], row[csvReasonAt], row[csvLineAt] = stateType, s.AttemptID, s.words(), string(line)
	return row, err
}

// guard marks text that a spreadsheet would run. Numbers are left as they are.
func guard(column int, cell string) string {
	if cell == "" || numericColumn[csvColumns[column]] {
		return cell
	}
	if strings.ContainsRune("=+-@\t\r'", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// unguard takes the mark away.
func unguard(cell string) string { return strings.TrimPrefix(cell, "'") }

var numericColumn = map[string]bool{
	"seq": true, "time_limit_s": true, "start_raw": true, "reference_raw": true, "t": true, "score": true, "normalized": true,
}

func headerCells(h *attemptlog.Header) []string {
	c := make([]string, 0, len(csvHeaderColumns))
	c = append(c, h.AttemptID, h.Environment.ID, h.Environment.Version, h.Environment.Profile)
	if h.Agent != nil {
		c = append(c, h.Agent.Name, h.Agent.Model, h.Agent.Scaffold, "", "")
	} else {
		c = append(c, "", "", "", h.Human.Cohort, h.Human.Source)
	}
	started := ""
	if h.StartedAt != nil {
		started = h.StartedAt.Format(attemptlog.TimeLayout)
	}
	return append(c, floatCell(h.TimeLimitS), started, string(h.Clock), string(h.Scoring.Direction),
		floatCell(h.Scoring.StartRaw), floatCell(h.Scoring.ReferenceRaw), h.Scoring.CalibrationID)
}

func floatCell(f *float64) string {
	if f == nil {
		return ""
	}
	return string(jsonFloat(*f))
}

// rowCells are the cells of one line but for `line`.
func rowCells(l *attemptlog.Line, header []string) []string {
	row := make([]string, len(csvColumns))
	row[0], row[1] = l.Event.Type(), strconv.FormatInt(l.Seq, 10)
	copy(row[csvHeaderAt:], header)
	s, ok := l.Event.(*attemptlog.Score)
	if !ok {
		return row
	}
	at := ""
	if s.At != nil {
		at = s.At.Format(attemptlog.TimeLayout)
	}
	copy(row[csvEntryAt:], []string{floatCell(s.T), at, floatCell(s.Score), floatCell(s.Normalized), string(s.Basis),
		strconv.FormatBool(s.Valid), string(s.Reason), string(s.Message), s.SubmissionSHA256, s.ScorerSHA256, extraCell(s.Extra)})
	return row
}

func extraCell(x attemptlog.Extra) string {
	if len(x) == 0 {
		return ""
	}
	out := []byte{'{'}
	for i, m := range x {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, attemptlog.Text(m.Key)...), ':'), m.Value...)
	}
	return string(append(out, '}'))
}

// buildLine makes a score line of its cells. ok is false when a cell cannot be
// part of one, and for other lines.
func buildLine(row []string, prev attemptlog.Hash) (line []byte, ok bool) {
	if row[0] != "score" {
		return nil, false
	}
	ok = true
	number := func(key, cell string) {
		if cell == "" {
			cell = "null"
		} else if !isJSONNumber(cell) {
			ok = false
		}
		line = append(append(append(append(line, ',', '"'), key...), '"', ':'), cell...)
	}
	text := func(key, cell string) {
		line = append(append(append(line, ',', '"'), key...), '"', ':')
		if cell == "" {
			line = append(line, "null"...)
			return
		}
		line = append(line, attemptlog.Text(cell)...)
	}
	raw := func(key, cell string) {
		if cell == "" {
			cell = "null"
		}
		if strings.ContainsAny(cell, "\n\r") || !json.Valid([]byte(cell)) {
			ok = false
		}
		line = append(append(append(append(line, ',', '"'), key...), '"', ':'), cell...)
	}
	if !isJSONNumber(row[1]) || row[csvEntryAt+5] != "true" && row[csvEntryAt+5] != "false" {
		return nil, false
	}
	line = append(line, `{"type":"score","seq":`+row[1]+`,"prev":"`+prev.String()+`"`...)
	e := row[csvEntryAt:]
	number("t", e[0])
	text("at", e[1])
	number("score", e[2])
	number("normalized", e[3])
	text("basis", e[4])
	line = append(line, `,"valid":`+e[5]...)
	text("reason", e[6])
	raw("message", e[7])
	text("submission_sha256", e[8])
	text("scorer_sha256", e[9])
	if x := e[10]; x != "" {
		if len(x) < 3 || x[0] != '{' || x[len(x)-1] != '}' || strings.ContainsAny(x, "\n\r") || !json.Valid([]byte(x)) {
			return nil, false
		}
		line = append(append(line, ','), x[1:len(x)-1]...)
	}
	return append(line, '}'), ok
}
