package handler

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
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

// csvFile is a table for download that belongs to no view. Rows go out as they are added;
// errors show at the end.
type csvFile struct{ w *csv.Writer }

func newCSVFile(c *gin.Context, name string, columns ...string) csvFile {
	c.Header("Content-Type", "text/csv; charset=utf-8; header=present")
	c.Header("Content-Disposition", `attachment; filename="`+name+`"`)
	w := csv.NewWriter(c.Writer)
	w.UseCRLF = true
	_ = w.Write(columns)
	return csvFile{w}
}

func (f csvFile) add(cells ...any) {
	record := make([]string, len(cells))
	for i, cell := range cells {
		record[i] = cellText(cell)
	}
	_ = f.w.Write(record)
}

func (f csvFile) end() error {
	f.w.Flush()
	return f.w.Error()
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
