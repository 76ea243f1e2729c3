package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
)

// contextReader stops reading when its context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Size is that of the source, where it is known.
func (c contextReader) Size() int64 {
	if s, ok := c.r.(interface{ Size() int64 }); ok {
		return s.Size()
	}
	return maxBuffer
}

// maxBuffer is the size of read buffers; shorter sources take smaller ones.
const maxBuffer = 64 << 10

func bufferSize(r io.Reader) int {
	if s, ok := r.(interface{ Size() int64 }); ok {
		return int(max(512, min(s.Size(), maxBuffer)))
	}
	return maxBuffer
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// rowReader reads lines of at most MaxRowBytes. CR before LF and a byte order
// mark at the start are left out.
type rowReader struct {
	in      *bufio.Reader
	long    []byte
	number  int  // of the last line, 1-based
	tooLong bool // the last line was longer and is not there
	torn    bool // the last line has no LF
	err     error
}

func newRowReader(r io.Reader) *rowReader {
	return &rowReader{in: bufio.NewReaderSize(r, bufferSize(r))}
}

// next returns the next line, valid until the following call. ok is false at the
// end or on an error.
func (r *rowReader) next() (row []byte, ok bool) {
	r.long, r.tooLong, r.torn = r.long[:0], false, false
	if cap(r.long) > 1<<20 {
		r.long = nil
	}
	for {
		part, err := r.in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && !errors.Is(err, io.EOF) {
			r.err = err
			return nil, false
		}
		if len(r.long)+len(part) > MaxRowBytes+2 {
			r.tooLong = true
			r.long = r.long[:0]
		}
		if full || len(r.long) > 0 {
			if !r.tooLong {
				r.long = append(r.long, part...)
			}
		}
		if full {
			continue
		}
		if err != nil && len(part) == 0 && len(r.long) == 0 && !r.tooLong {
			return nil, false
		}
		r.number++
		if r.tooLong {
			return nil, true
		}
		if len(r.long) > 0 {
			part = r.long
		}
		r.torn = err != nil
		part = bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r"))
		if r.number == 1 {
			part = bytes.TrimPrefix(part, []byte("\xef\xbb\xbf"))
		}
		return part, true
	}
}
