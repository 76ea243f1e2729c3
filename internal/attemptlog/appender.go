package attemptlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"rebench/internal/rebench"
)

// Recovery says what OpenAppend found in a file.
type Recovery struct {
	// Created: the file did not exist or held nothing.
	Created bool
	// Lines of the log that are in the file.
	Lines int64
	// TruncatedBytes were cut off the end: the remains of an append that was
	// never acknowledged. Torn holds the first of them, at most 4 KiB.
	TruncatedBytes int64
	Torn           []byte
}

// Appender writes a log to a file. Append returns only when the event is on
// disk. It is safe for concurrent use; a lock keeps other processes out.
type Appender struct {
	mu   sync.Mutex
	f    *os.File
	w    *Writer
	size int64 // of the acknowledged log
	bad  error
}

// OpenAppend opens or creates the log at path, verifies all of it and makes
// ready to append. A torn tail is cut off and reported: the bytes after the
// last LF, or a last line that holds NUL bytes, which a crashed file system
// leaves where data never arrived. Anything else that is wrong is refused with
// a rebench.CodeInvalid error that wraps Faults, and the file is left as it is.
// A file that another process has open is refused with rebench.CodeConflict.
func OpenAppend(path string) (*Appender, Recovery, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Recovery{}, rebench.Errorf(rebench.CodeInternal, "open attempt log: %w", err)
	}
	a := &Appender{f: f}
	rec, err := a.recover(path)
	if err != nil {
		f.Close()
		return nil, rec, err
	}
	return a, rec, nil
}

func (a *Appender) recover(path string) (Recovery, error) {
	var rec Recovery
	if err := lockFile(a.f); err != nil {
		return rec, rebench.Errorf(rebench.CodeConflict, "attempt log %s is open in another process: %w", path, err)
	}
	info, err := a.f.Stat()
	if err != nil {
		return rec, rebench.Errorf(rebench.CodeInternal, "open attempt log: %w", err)
	}
	if !info.Mode().IsRegular() {
		return rec, rebench.Errorf(rebench.CodeInvalid, "attempt log %s is not a regular file", path)
	}
	whole, err := wholeLines(a.f, info.Size())
	if err != nil {
		return rec, rebench.Errorf(rebench.CodeInternal, "read attempt log: %w", err)
	}
	r := NewReader(io.NewSectionReader(a.f, 0, whole), Options{File: filepath.Base(path)})
	for r.Next() {
	}
	if err := r.Err(); err != nil {
		return rec, rebench.Errorf(rebench.CodeInternal, "read attempt log: %w", err)
	}
	if whole > 0 {
		if faults := r.Faults(); len(faults) > 0 {
			return rec, &rebench.Error{Code: rebench.CodeInvalid, Message: "attempt log " + path + " is damaged: " + Faults(faults).Error(), Err: Faults(faults)}
		}
	} else {
		r.st.reset()
	}
	rec.Created = info.Size() == 0
	rec.Lines = r.st.lines
	if rec.TruncatedBytes = info.Size() - whole; rec.TruncatedBytes > 0 {
		rec.Torn = make([]byte, min(rec.TruncatedBytes, 4<<10))
		if _, err := a.f.ReadAt(rec.Torn, whole); err != nil {
			return rec, rebench.Errorf(rebench.CodeInternal, "read attempt log: %w", err)
		}
		if err := a.f.Truncate(whole); err != nil {
			return rec, rebench.Errorf(rebench.CodeInternal, "cut torn tail of attempt log: %w", err)
		}
	}
	if err := errors.Join(a.f.Sync(), syncDir(path)); err != nil {
		return rec, rebench.Errorf(rebench.CodeInternal, "sync attempt log: %w", err)
	}
	a.size = whole
	a.w = &Writer{st: r.st}
	a.w.st.warnings.list = nil
	return rec, nil
}

// wholeLines returns the size of the file without its torn tail.
func wholeLines(f *os.File, size int64) (int64, error) {
	buf := make([]byte, MaxLineBytes+2)
	n := min(size, int64(len(buf)))
	tail := buf[:n]
	if _, err := f.ReadAt(tail, size-n); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	end := bytes.LastIndexByte(tail, '\n') + 1
	if end == 0 {
		if n < size { // no line feed where one must be: let the reader refuse it
			return size, nil
		}
		return 0, nil
	}
	start := bytes.LastIndexByte(tail[:end-1], '\n') + 1
	if bytes.IndexByte(tail[start:end], 0) >= 0 {
		end = start
	}
	return size - n + int64(end), nil
}

// Append writes an event, syncs the file and returns the new head. When it
// fails, the log is as before: the file is cut back to the acknowledged size.
// If even that fails the Appender refuses further events, and OpenAppend
// recovers the file.
func (a *Appender) Append(e Event) (Head, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bad != nil {
		return a.w.Head(), a.bad
	}
	before := *a.w.st
	line, err := a.w.prepare(e)
	if err != nil {
		return a.w.Head(), err
	}
	_, err = a.f.WriteAt(line, a.size)
	if err == nil {
		err = a.f.Sync()
	}
	if err != nil {
		// After a failed sync the kernel may have dropped the pages: what is on
		// disk is unknown, so the state must be read again.
		a.bad = rebench.Errorf(rebench.CodeInternal, "append to attempt log: %w", errors.Join(err, a.f.Truncate(a.size)))
		*a.w.st = before
		return a.w.Head(), a.bad
	}
	a.size += int64(len(line))
	return a.w.Head(), nil
}

// Head returns the head of the acknowledged log.
func (a *Appender) Head() Head {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.w.Head()
}

// Header returns the log's header, nil before one was appended.
func (a *Appender) Header() *Header {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.w.st.header
}

// Summary returns the summary of the acknowledged log.
func (a *Appender) Summary() Summary {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.w.Summary()
}

// Close releases the file and its lock.
func (a *Appender) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bad == nil {
		a.bad = rebench.Errorf(rebench.CodeConflict, "attempt log is closed")
	}
	return a.f.Close()
}

func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
