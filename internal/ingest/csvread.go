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
	// problem of the last row, "" when it is whole
	problem csvProblem
	err     error
}

type csvProblem string

const (
	csvTorn    csvProblem = "the row breaks off inside quotes"
	csvNoLF    csvProblem = "the row has no line end"
	csvTooLong csvProblem = "a cell is too long"
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

// next reads one row. Its cells are valid until the following call. ok is false
// at the end of the file or on an I/O error. A last row without a line end comes
// back with problem csvNoLF, or csvTorn inside quotes.
func (c *csvReader) next() (cells [][]byte, ok bool) {
	c.buf, c.ends, c.problem = c.buf[:0], c.ends[:0], ""
	if cap(c.buf) > 1<<20 {
		c.buf = nil
	}
	c.row = c.line
	const (
		start = iota // of a cell
		plain
		quoted
		closed // after the closing quote
	)
	state, cellAt, any := start, 0, false
	keep := func(b byte) {
		if len(c.buf)-cellAt >= MaxCellBytes {
			c.problem = csvTooLong
			return
		}
		c.buf = append(c.buf, b)
	}
	endCell := func() {
		c.ends = append(c.ends, len(c.buf))
		cellAt, state = len(c.buf), start
	}
	for {
		b, err := c.in.ReadByte()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.err = err
				return nil, false
			}
			if !any {
				return nil, false
			}
			switch {
			case c.problem != "":
			case state == quoted:
				c.problem = csvTorn
			default:
				c.problem = csvNoLF
			}
			endCell()
			return c.finish(), true
		}
		any = true
		if b == '\n' {
			c.line++
		}
		switch {
		case state == quoted && b == '"':
			state = closed
		case state == quoted:
			keep(b)
		case state == closed && b == '"':
			keep(b)
			state = quoted
		case b == ',':
			endCell()
		case b == '\n':
			if state != closed && len(c.buf) > cellAt && c.buf[len(c.buf)-1] == '\r' {
				c.buf = c.buf[:len(c.buf)-1]
			}
			endCell()
			return c.finish(), true
		case state == closed && b == '\r':
		case state == closed:
			c.problem = csvQuote
			keep(b)
			state = plain
		case state == start && b == '"':
			state = quoted
		case b == '"':
			c.problem = csvQuote
			keep(b)
		default:
			keep(b)
			state = plain
		}
	}
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
