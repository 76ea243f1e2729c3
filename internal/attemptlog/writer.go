package attemptlog

import (
	"bytes"
	"io"

	"rebench/internal/rebench"
)

// Writer appends events to a log. Every line is verified before it is written,
// by the code that reads logs, so a Writer never emits what a Reader refuses.
// It is not safe for concurrent use.
type Writer struct {
	out  io.Writer
	st   *state
	buf  []byte
	last []byte
	bad  error
}

// NewWriter starts a new log; its first event must be a *Header.
func NewWriter(w io.Writer) *Writer {
	return &Writer{out: w, st: newState("")}
}

// Reset starts a new log on w with the buffers of the old one.
func (w *Writer) Reset(out io.Writer) {
	w.out, w.bad = out, nil
	w.st.reset()
	w.st.lineNo = 0
}

// Append writes one event as the next line, in one call of the underlying
// writer, and returns the new head. An event that breaks the format or the
// order of the log is refused with a rebench.CodeInvalid error that wraps
// Faults, and nothing is written. After a failed write the Writer is unusable.
func (w *Writer) Append(e Event) (Head, error) {
	if w.bad != nil {
		return w.st.head, w.bad
	}
	line, err := w.prepare(e)
	if err != nil {
		return w.st.head, err
	}
	if _, err := w.out.Write(line); err != nil {
		w.bad = rebench.Errorf(rebench.CodeInternal, "write attempt log: %w", err)
		return w.st.head, w.bad
	}
	return w.st.head, nil
}

// prepare encodes and verifies the next line, with its LF.
func (w *Writer) prepare(e Event) ([]byte, error) {
	w.buf = appendLine(w.buf[:0], w.st.head.Seq+1, w.st.head.Hash, e)
	if err := w.check(e.Type()); err != nil {
		return nil, err
	}
	w.buf = append(w.buf, '\n')
	return w.buf, nil
}

// check verifies w.buf against the state, which is rolled back on refusal.
func (w *Writer) check(typ string) error {
	st := w.st
	before := *st
	st.lineNo++
	faults := len(st.faults.list)
	var ev Event
	switch {
	case len(w.buf) > MaxLineBytes:
		st.fault(0, "", CodeLineTooLong, "the line is longer than MaxLineBytes", "shorten the message")
	case bytes.IndexByte(w.buf, '\n') >= 0:
		st.fault(0, "", CodeBadJSON, "a value holds a line feed", "")
	default:
		env, usable := st.d.split(w.buf)
		ev = st.accept(w.buf, env, usable)
	}
	if ev != nil {
		return nil
	}
	found := append(Faults(nil), st.faults.list[faults:]...)
	d := st.d
	*st = before
	st.d = d
	st.scores.clear(before.head.Seq + 1)
	return &rebench.Error{Code: rebench.CodeInvalid, Message: "attempt log: refused " + typ + " event: " + found.Error(), Err: found}
}

// Head returns the head of the log written so far.
func (w *Writer) Head() Head { return w.st.head }

// Summary returns the summary of the log written so far.
func (w *Writer) Summary() Summary {
	return w.st.summary()
}

// Warnings returns what is odd about the log written so far.
func (w *Writer) Warnings() []Fault { return listed(&w.st.warnings, w.st.file, "warnings") }
