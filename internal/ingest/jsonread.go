package ingest

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"rebench/internal/attemptlog"
)

// jsonError is where and why a JSON text could not be read.
type jsonError struct {
	line, column int
	code, detail string
}

func (e *jsonError) Error() string {
	return fmt.Sprintf("line %d column %d: %s", e.line, e.column, e.detail)
}

// jsonReader pulls values out of foreign JSON as it streams by, holding only
// what it is asked for. It accepts the bare NaN, Infinity and -Infinity that
// Python writes, keeps numbers as text, and bounds nesting. After the first
// error every method does nothing.
type jsonReader struct {
	src      io.Reader
	buf      []byte
	r, w     int
	eof      bool
	base     int64 // bytes before buf
	line     int   // 1-based
	lineAt   int64 // offset at which the line starts
	depth    int
	consumed bool
	err      error // *jsonError or an I/O error
	notes    []string
}

// newJSONReader reads one JSON text from src.
func newJSONReader(src io.Reader) *jsonReader {
	j := &jsonReader{src: src, buf: make([]byte, bufferSize(src)), line: 1}
	if j.more(3) && string(j.buf[:3]) == "\xef\xbb\xbf" {
		j.r = 3
		j.lineAt = 3
	}
	return j
}

// resetBytes makes j read one JSON text held in b, which stands at line.
func (j *jsonReader) resetBytes(b []byte, line int) {
	*j = jsonReader{buf: b, w: len(b), eof: true, line: line, notes: j.notes[:0]}
}

// more makes at least n bytes available from r on, if the source has them.
func (j *jsonReader) more(n int) bool {
	for j.w-j.r < n && !j.eof {
		if j.r > 0 {
			copy(j.buf, j.buf[j.r:j.w])
			j.base += int64(j.r)
			j.w -= j.r
			j.r = 0
		}
		k, err := j.src.Read(j.buf[j.w:])
		j.w += k
		if err == io.EOF {
			j.eof = true
		} else if err != nil {
			j.eof = true
			if j.err == nil {
				j.err = err
			}
		}
	}
	return j.w-j.r >= n
}

func (j *jsonReader) fail(code, format string, args ...any) {
	if j.err == nil {
		at := j.base + int64(j.r)
		j.err = &jsonError{j.line, int(at-j.lineAt) + 1, code, fmt.Sprintf(format, args...)}
	}
}

// peek skips white space and returns the next byte, 0 at the end or after an
// error.
func (j *jsonReader) peek() byte {
	for j.err == nil {
		for j.r < j.w {
			switch c := j.buf[j.r]; c {
			case ' ', '\t', '\r':
				j.r++
			case '\n':
				j.r++
				j.line++
				j.lineAt = j.base + int64(j.r)
			default:
				return c
			}
		}
		if !j.more(1) {
			return 0
		}
	}
	return 0
}

// found names what stands at the current position.
func (j *jsonReader) found() string {
	if !j.more(1) {
		return "the end"
	}
	j.more(utf8.UTFMax)
	r, _ := utf8.DecodeRune(j.buf[j.r:j.w])
	return strconv.QuoteRune(r)
}

// expect reads one byte of punctuation.
func (j *jsonReader) expect(c byte) bool {
	if got := j.peek(); got != c || j.err != nil {
		j.fail(attemptlog.CodeBadJSON, "found %s, expected %q", j.found(), string(rune(c)))
		return false
	}
	j.r++
	return true
}

func (j *jsonReader) enter() bool {
	j.depth++
	if j.depth > MaxDepth {
		j.fail(attemptlog.CodeTooDeep, "nested deeper than %d levels", MaxDepth)
	}
	return j.err == nil
}

// object reads an object and calls fn for each key. fn reads the value with one
// of j's methods; a value it leaves alone is skipped. A key that appears twice
// is an error: which of the two is meant cannot be known.
func (j *jsonReader) object(fn func(key string)) {
	if !j.expect('{') || !j.enter() {
		return
	}
	seen := map[string]struct{}{}
	for first := true; j.err == nil; first = false {
		switch c := j.peek(); {
		case c == '}':
			j.r++
			j.depth--
			j.consumed = true
			return
		case !first && !j.expect(','):
			return
		}
		if j.peek() != '"' {
			j.fail(attemptlog.CodeBadJSON, "found %s, expected a key in double quotes", j.found())
			return
		}
		key, whole := j.str(MaxKeyBytes)
		if _, dup := seen[key]; dup || !whole {
			if dup {
				j.fail(attemptlog.CodeDuplicateKey, "key %s appears twice in one object", quote(key))
			} else {
				j.fail(CodeValueTooLong, "found a key longer than %d bytes", MaxKeyBytes)
			}
			return
		}
		if seen[key] = struct{}{}; len(seen) > MaxKeys {
			j.fail(CodeTooManyEntries, "found an object with more than %d keys", MaxKeys)
			return
		}
		if !j.expect(':') {
			return
		}
		j.each(func() { fn(key) })
	}
}

// array reads an array and calls fn for each element as object does.
func (j *jsonReader) array(fn func(i int)) {
	if !j.expect('[') || !j.enter() {
		return
	}
	for i := 0; j.err == nil; i++ {
		switch c := j.peek(); {
		case c == ']':
			j.r++
			j.depth--
			j.consumed = true
			return
		case i > 0 && !j.expect(','):
			return
		}
		j.each(func() { fn(i) })
	}
}

// each lets fn read one value and skips it if fn did not.
func (j *jsonReader) each(fn func()) {
	j.consumed = false
	fn()
	if !j.consumed {
		j.skip()
	}
	j.consumed = true
}

// end checks that nothing follows the JSON text.
func (j *jsonReader) end() {
	if j.peek() != 0 && j.err == nil {
		j.fail(attemptlog.CodeBadJSON, "found %s after the JSON text, expected the end", j.found())
	}
}

// str reads a string. Of a longer one the first max bytes come back, with whole
// false. Lone surrogates become U+FFFD with a note.
func (j *jsonReader) str(max int) (s string, whole bool) {
	j.consumed = true
	if !j.expect('"') {
		return "", true
	}
	var out []byte
	whole = true
	keep := func(b ...byte) {
		if len(out)+len(b) <= max {
			out = append(out, b...)
		} else {
			whole = false
		}
	}
	for j.err == nil {
		i := j.r
		for i < j.w && j.buf[i] != '"' && j.buf[i] != '\\' && j.buf[i] >= 0x20 {
			i++
		}
		keep(j.buf[j.r:i]...)
		j.r = i
		if i == j.w {
			if !j.more(1) {
				j.fail(attemptlog.CodeBadJSON, "found the end inside a string, expected a closing quote")
			}
			continue
		}
		switch j.buf[i] {
		case '"':
			j.r++
			if whole && !utf8.Valid(out) {
				j.fail(attemptlog.CodeInvalidUTF8, "found invalid UTF-8 in a string")
			}
			return string(out), whole
		case '\\':
			keep(utf8.AppendRune(nil, j.escape())...)
		default:
			j.fail(attemptlog.CodeBadJSON, "found control character %#02x in a string, expected it escaped", j.buf[i])
		}
	}
	return "", true
}

// escape reads one escape sequence.
func (j *jsonReader) escape() rune {
	j.more(12)
	b := j.buf[j.r:j.w]
	if len(b) < 2 {
		j.fail(attemptlog.CodeBadJSON, "found the end inside a string, expected a closing quote")
		return 0
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		j.r += 2
		return rune(c)
	case 'b', 'f', 'n', 'r', 't':
		j.r += 2
		return map[byte]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}[c]
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			break
		}
		j.r += 6
		if !utf16.IsSurrogate(r) {
			return r
		}
		if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := hex4(b[8:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					j.r += 6
					return pair
				}
			}
		}
		j.note("", "a lone surrogate was read as U+FFFD")
		return utf8.RuneError
	}
	j.fail(attemptlog.CodeBadJSON, "found an unknown escape in a string")
	return 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return rune(n), err == nil && b[0] != '+'
}

// word reads a run of bytes up to the next punctuation: a number or a literal.
func (j *jsonReader) word() string {
	j.consumed = true
	j.peek()
	var out []byte
	for j.err == nil && j.more(1) {
		c := j.buf[j.r]
		if c <= ' ' || c == ',' || c == ']' || c == '}' || c == ':' || c == '"' || c == '{' || c == '[' {
			break
		}
		if len(out) == MaxNumberBytes {
			j.fail(CodeValueTooLong, "found a number longer than %d bytes", MaxNumberBytes)
			return ""
		}
		out = append(out, c)
		j.r++
	}
	return string(out)
}

// note remembers that a value was altered on the way.
func (j *jsonReader) note(path, what string) {
	if len(j.notes) < maxNotes {
		if path != "" {
			what = path + ": " + what
		}
		j.notes = append(j.notes, what)
	}
}

// takeNotes returns the notes since the last call.
func (j *jsonReader) takeNotes() []string {
	n := j.notes
	j.notes = nil
	return n
}
