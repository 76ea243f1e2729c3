package attemptlog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
)

// Options says how a log is read.
type Options struct {
	// File is the name given in faults.
	File string
	// Concatenated lets several logs follow each other in one stream, each
	// starting with a header at seq 0. Step through them with NextLog.
	Concatenated bool
	// Known returns the head under which an earlier version of the log is
	// stored, or ok false. Reader.Relation then tells how the two relate.
	Known func(*Header) (h Head, ok bool)
	// Aside, if not nil, is shown every line before it is read as one of a log, and
	// takes those that are none by returning true. line is valid until it returns.
	Aside func(number int, line []byte) bool
}

// Line is one line of a log. Raw and a *Score are valid until the next call of
// Reader.Next (see Score.Clone); other events may be kept.
type Line struct {
	Number int    // 1-based line of the file
	Seq    int64  // the line's seq
	Hash   Hash   // SHA-256 of Raw
	Raw    []byte // without LF and CR
	PrevAt int    // offset in Raw of the 64 hex digits of prev
	Event  Event
}

// Reader streams and verifies logs. Memory is bounded by MaxLineBytes plus one
// bit a line.
//
//	r := attemptlog.NewReader(f, attemptlog.Options{File: name})
//	for r.Next() {
//		switch e := r.Line().Event.(type) { ... }
//	}
//	if err := r.Err(); err != nil { ... }      // could not read
//	if faults := r.Faults(); len(faults) > 0 { ... } // not a valid log
type Reader struct {
	in      *bufio.Reader
	spill   []byte
	opt     Options
	st      *state
	line    Line
	err     error
	eof     bool
	done    bool // the current log is finished
	started bool
	pending bool // st.d holds the first line of the next log
	env     envelope
	usable  bool
	raw     []byte
	known   Head
	hasOld  bool
	atKnown *Hash
	carry   []Fault // faults of the pending line, which belong to the next log
}

// NewReader reads one log, or several with Options.Concatenated.
func NewReader(r io.Reader, opt Options) *Reader {
	size := int64(64 << 10)
	if s, ok := r.(interface{ Size() int64 }); ok { // short logs need no more
		size = max(512, min(size, s.Size()))
	}
	return &Reader{in: bufio.NewReaderSize(r, int(size)), opt: opt, st: newState(opt.File)}
}

// Next advances to the next line that is without fault and reports whether
// there is one in this log. Faulty lines are reported by Faults and skipped.
func (r *Reader) Next() bool {
	if !r.started {
		r.started = true
	}
	for !r.done {
		if !r.pending && !r.fetch() {
			r.finish()
			return false
		}
		if r.opt.Concatenated && !r.pending && r.st.lines > 0 && r.usable && r.env.typ == "header" && r.env.seqOK && r.env.seq == 0 {
			r.hold()
			return false
		}
		r.pending = false
		e := r.st.accept(r.raw, r.env, r.usable)
		r.relate(e)
		if e != nil {
			r.line = Line{Number: r.st.lineNo, Seq: r.st.head.Seq, Hash: r.st.head.Hash, Raw: r.raw, PrevAt: r.env.prevCol, Event: e}
			return true
		}
		if r.st.faults.full() {
			r.done, r.eof = true, true
			r.st.finish()
			return false
		}
	}
	return false
}

// NextLog advances to the next log of a concatenated stream; it must be called
// before the first Next there. Lines left unread in the current log are read
// and verified first.
func (r *Reader) NextLog() bool {
	if !r.started {
		r.started = true
		if r.fetch() {
			r.pending = true
			return true
		}
		r.finish()
		return false
	}
	for r.Next() {
	}
	if !r.pending {
		return false
	}
	// The pending line was split before reset; its envelope stays valid.
	r.st.reset()
	r.st.faults.list, r.carry = append(r.st.faults.list, r.carry...), nil
	r.done, r.hasOld, r.atKnown = false, false, nil
	return true
}

// hold keeps the line just read for the next log and finishes the current one.
func (r *Reader) hold() {
	r.pending = true
	list := r.st.faults.list
	for n := len(list); n > 0 && list[n-1].Line == r.st.lineNo; n-- {
		r.carry = append(r.carry, list[n-1])
		r.st.faults.list = list[:n-1]
	}
	slices.Reverse(r.carry)
	r.st.lineNo--
	r.finish()
	r.st.lineNo++
}

func (r *Reader) finish() {
	r.done = true
	r.st.finish()
}

// fetch reads the next line and splits it. Faults that belong to the line are
// reported; false means the end of the stream.
func (r *Reader) fetch() bool {
	for !r.eof && r.err == nil {
		line, size, terminated := r.readLine()
		if r.err != nil || size == 0 && !terminated {
			return false
		}
		r.st.lineNo++
		if line == nil {
			r.st.skip(size)
			continue
		}
		if r.st.lineNo == 1 && bytes.HasPrefix(line, []byte("\xef\xbb\xbf")) {
			line = line[3:]
			r.st.warnOnce("", WarnBOM, "the file starts with a byte order mark, which is left out", "")
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
			r.st.warnOnce("", WarnCRLF, "lines end in CR LF; the CR is left out, also from what is hashed", "")
		}
		if len(bytes.TrimLeft(line, " \t")) == 0 {
			r.st.fault(0, "", CodeEmptyLine, "found an empty line, expected one JSON object", "")
			continue
		}
		if r.opt.Aside != nil && r.opt.Aside(r.st.lineNo, line) {
			continue
		}
		r.raw = line
		if !terminated && !r.wholeTail(line) {
			return false
		}
		if r.env, r.usable = r.st.d.split(line); true {
			return true
		}
	}
	return false
}

// wholeTail deals with a last line without LF: a whole object is accepted, the
// remains of one are a torn line.
func (r *Reader) wholeTail(line []byte) bool {
	var probe scanner
	if _, err := probe.line(line, nil); err != nil {
		r.st.fault(err.pos+1, "", CodeTornLine, "the last line is cut off: "+err.detail, "the file was copied while it was written, or the copy broke off")
		return false
	}
	r.st.warnOnce("", WarnNoFinalLF, "the last line has no line feed", "")
	return true
}

// readLine returns the next line without its LF. A line longer than
// MaxLineBytes is discarded and comes back as nil with its size.
func (r *Reader) readLine() (line []byte, size int64, terminated bool) {
	r.spill = r.spill[:0]
	long := false
	for {
		part, err := r.in.ReadSlice('\n')
		size += int64(len(part))
		if err == nil {
			part = part[:len(part)-1]
			size--
			terminated = true
		}
		if err == bufio.ErrBufferFull || len(r.spill) > 0 {
			if long = long || len(r.spill)+len(part) > MaxLineBytes+1; !long {
				r.spill = append(r.spill, part...)
			}
		}
		switch {
		case err == nil || errors.Is(err, io.EOF):
			r.eof = err != nil
			if long || size > MaxLineBytes+1 || size == MaxLineBytes+1 && !endsCR(part) {
				return nil, size, terminated
			}
			if len(r.spill) > 0 {
				return r.spill, size, terminated
			}
			return part, size, terminated
		case err != bufio.ErrBufferFull:
			r.err = err
			return nil, 0, false
		}
	}
}

func endsCR(b []byte) bool { return len(b) > 0 && b[len(b)-1] == '\r' }

// relate follows how the log compares with the one known before.
func (r *Reader) relate(e Event) {
	if h, ok := e.(*Header); ok && r.opt.Known != nil && !r.hasOld {
		r.known, r.hasOld = r.opt.Known(h)
	}
	if r.hasOld && r.st.head.Seq == r.known.Seq && r.atKnown == nil {
		h := r.st.head.Hash
		r.atKnown = &h
	}
}

// Line returns the current line.
func (r *Reader) Line() *Line { return &r.line }

// Header returns the current log's header, nil before it was read.
func (r *Reader) Header() *Header { return r.st.header }

// Err returns what kept the stream from being read to its end, nil at EOF.
func (r *Reader) Err() error { return r.err }

// Faults returns what makes the current log invalid, in the order of lines.
func (r *Reader) Faults() []Fault { return listed(&r.st.faults, r.opt.File, "faults") }

// Warnings returns what is odd about the current log but does not spoil it.
func (r *Reader) Warnings() []Fault { return listed(&r.st.warnings, r.opt.File, "warnings") }

func listed(c *collector, file, what string) []Fault {
	out := slices.Clone(c.list)
	if c.more > 0 || what == "faults" && c.full() {
		out = append(out, Fault{File: file, Code: CodeTooManyFaults, Detail: "more " + what + " were left out"})
	}
	return out
}

// Summary returns the summary of the current log; it is whole once Next has
// returned false.
func (r *Reader) Summary() Summary {
	return r.st.summary()
}

// DecodeLine reads one line on its own: its fields are checked, its place in a
// log is not. Raw keeps line, which must not change while the result is used.
func DecodeLine(line []byte) (*Line, []Fault) {
	st := newState("")
	st.lineNo = 1
	if len(line) > MaxLineBytes {
		st.skip(int64(len(line)))
		return nil, st.faults.list
	}
	env, usable := st.d.split(line)
	if !usable {
		return nil, st.faults.list
	}
	e := st.d.event(env.typ)
	if len(st.faults.list) > 0 {
		return nil, st.faults.list
	}
	return &Line{Number: 1, Seq: env.seq, Hash: Hash(sha256.Sum256(line)), Raw: line, PrevAt: env.prevCol, Event: e}, nil
}
