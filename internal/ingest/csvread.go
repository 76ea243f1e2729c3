package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// csvReader streams RFC 4180 rows in bounded memory. encoding/csv is not used
// because it changes CR LF inside cells and has no limit on their size.
type csvReader struct {
	in    *bufio.Reader
	line  int // line at which the next row starts, 1-based
	row   int // line at which the last row started
	cells [][]byte
	buf   []byte
	ends  []int
	// cellAt is where the current cell starts in buf, state how it is read.
	cellAt, state int
	// problem of the last row, "" when it is whole
	problem csvProblem
	err     error
}

type csvProblem string

const (
	csvTorn    csvProblem = "the row breaks off inside quotes"
	csvNoLF    csvProblem = "the row has no line end"
	csvTooLong csvProblem = "a cell is too long"
	csvTooMany csvProblem = "there are too many cells"
	csvQuote   csvProblem = "a quote stands where none may"
	csvUTF8    csvProblem = "the row is not valid UTF-8"
)

func newCSVReader(r io.Reader) *csvReader {
	c := &csvReader{in: bufio.NewReaderSize(r, bufferSize(r)), line: 1}
	if b, _ := c.in.Peek(3); string(b) == "\xef\xbb\xbf" {
		c.in.Discard(3)
	}
	return c
}

// States of reading a row.
const (
	cellStart = iota
	cellPlain
	cellQuoted
	cellClosed // after the closing quote
)

// next reads one row. Its cells are valid until the following call. ok is false
// at the end of the file or on an I/O error. A last row without a line end comes
// back with problem csvNoLF, or csvTorn inside quotes.
func (c *csvReader) next() (cells [][]byte, ok bool) {
	c.buf, c.ends, c.problem = c.buf[:0], c.ends[:0], ""
	if cap(c.buf) > 1<<20 {
		c.buf = nil
	}
	c.row, c.cellAt, c.state = c.line, 0, cellStart
	for any := false; ; any = true {
		b, err := c.in.ReadByte()
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF):
			c.err = err
			return nil, false
		case !any:
			return nil, false
		default:
			if c.problem == "" {
				c.problem = csvNoLF
				if c.state == cellQuoted {
					c.problem = csvTorn
				}
			}
			c.endCell()
			return c.finish(), true
		}
		if c.take(b) {
			return c.finish(), true
		}
	}
}

// take adds one byte to the row; true means that it ends the row.
func (c *csvReader) take(b byte) bool {
	if b == '\n' {
		c.line++
	}
	switch state := c.state; {
	case state == cellQuoted && b == '"':
		c.state = cellClosed
	case state == cellQuoted:
		c.keep(b)
	case state == cellClosed && b == '"':
		c.keep(b)
		c.state = cellQuoted
	case b == ',':
		c.endCell()
	case b == '\n':
		if n := len(c.buf); state != cellClosed && n > c.cellAt && c.buf[n-1] == '\r' {
			c.buf = c.buf[:n-1]
		}
		c.endCell()
		return true
	case state == cellClosed && b == '\r':
	case state == cellStart && b == '"':
		c.state = cellQuoted
	default:
		if state == cellClosed || b == '"' {
			c.problem = csvQuote
		}
		c.keep(b)
		c.state = cellPlain
	}
	return false
}

func (c *csvReader) keep(b byte) {
	if len(c.buf)-c.cellAt >= MaxCellBytes || len(c.buf) >= 2*MaxCellBytes {
		c.problem = csvTooLong
		return
	}
	c.buf = append(c.buf, b)
}

func (c *csvReader) endCell() {
	if len(c.ends) == MaxCells {
		c.problem = csvTooMany
		c.buf = c.buf[:c.cellAt]
		c.state = cellStart
		return
	}
	c.ends = append(c.ends, len(c.buf))
	c.cellAt, c.state = len(c.buf), cellStart
}

func (c *csvReader) finish() [][]byte {
	c.cells = c.cells[:0]
	from := 0
	for _, end := range c.ends {
		c.cells = append(c.cells, c.buf[from:end])
		from = end
	}
	if c.problem == "" && !utf8.Valid(c.buf) {
		c.problem = csvUTF8
	}
	return c.cells
}

// blank reports whether a row has nothing in it.
func blank(cells [][]byte) bool { return len(cells) == 1 && len(bytes.TrimSpace(cells[0])) == 0 }
