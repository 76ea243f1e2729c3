package handler

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// table is a result as rows. A cell is a string, bool, int, int64, float64, or a
// pointer to a number; nil pointers and nil are unknown and become empty cells.
type table struct {
	columns []string
	rows    [][]any
}

func (t *table) add(cells ...any) { t.rows = append(t.rows, cells) }

// encodeCSV writes the table after RFC 4180, with one header row, so that readers
// with default settings understand it. What the table is about stands in the last
// columns of every row: a row copied out of it can still be traced.
func encodeCSV(t table, m meta) ([]byte, error) {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	w.UseCRLF = true
	if err := w.Write(append(append([]string{}, t.columns...), "view_title", "view_axes", "view_n", "data_revision", "rebench_version", "view_url")); err != nil {
		return nil, err
	}
	tail := []string{textCell(m.Title), textCell(m.axesText()), strconv.Itoa(m.N), strconv.FormatInt(m.DataRevision, 10), textCell(m.Version), textCell(m.URL)}
	record := make([]string, 0, len(t.columns)+len(tail))
	for _, row := range t.rows {
		record = record[:0]
		for _, cell := range row {
			record = append(record, cellText(cell))
		}
		if err := w.Write(append(record, tail...)); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return buf.Bytes(), w.Error()
}

// cellText writes a cell. Numbers keep every digit.
func cellText(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case string:
		return textCell(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case *float64:
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case *int64:
		if v == nil {
			return ""
		}
		return strconv.FormatInt(*v, 10)
	}
	panic(fmt.Sprintf("handler: no CSV form for a %T", cell))
}

// textCell keeps spreadsheets from running a text as a formula.
func textCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
