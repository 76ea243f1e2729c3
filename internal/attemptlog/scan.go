package attemptlog

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is the JSON type of a value.
type kind byte

const (
	kindNull kind = iota
	kindTrue
	kindFalse
	kindNumber
	kindString
	kindArray
	kindObject
)

func (k kind) String() string {
	return [...]string{"null", "true", "false", "a number", "a string", "an array", "an object"}[k]
}

// value is one JSON value as a span of the line.
type value struct {
	start, end int
	kind       kind
	escaped    bool // string with backslashes
	integer    bool // number without fraction and exponent
}

// member is one key of the object being read.
type member struct {
	key []byte
	val value
}

// scanError is the first thing wrong with a line's JSON.
type scanError struct {
	pos    int // byte offset in the line
	code   string
	detail string
}

// scanner checks one line of JSON by the rules of the format in a single pass
// and splits its top-level object into members. It is hand-written because
// encoding/json neither refuses duplicate keys nor keeps up with millions of
// score entries; its verdict on grammar is fuzzed against encoding/json.
type scanner struct {
	b    []byte
	pos  int
	err  *scanError
	keys [][]byte // keys of the open objects, innermost last
}

func (s *scanner) fail(pos int, code, format string, args ...any) bool {
	if s.err == nil {
		s.err = &scanError{pos, code, fmt.Sprintf(format, args...)}
	}
	return false
}

func (s *scanner) space() {
	for s.pos < len(s.b) {
		switch s.b[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// line splits the one object that b must be into members, appended to dst.
func (s *scanner) line(b []byte, dst []member) ([]member, *scanError) {
	s.b, s.pos, s.err, s.keys = b, 0, nil, s.keys[:0]
	if !utf8.Valid(b) {
		s.fail(invalidUTF8At(b), CodeInvalidUTF8, "invalid UTF-8, expected UTF-8 text")
		return dst, s.err
	}
	s.space()
	if s.pos == len(b) || b[s.pos] != '{' {
		s.fail(s.pos, CodeBadJSON, "found %s, expected one JSON object a line", s.found())
		return dst, s.err
	}
	dst, ok := s.object(1, dst, true)
	if ok {
		s.space()
		if s.pos != len(b) {
			s.fail(s.pos, CodeBadJSON, "found %s after the object, expected the end of the line", s.found())
		}
	}
	return dst, s.err
}

func invalidUTF8At(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// found names what stands at the current position.
func (s *scanner) found() string {
	if s.pos >= len(s.b) {
		return "the end of the line"
	}
	r, _ := utf8.DecodeRune(s.b[s.pos:])
	return strconv.QuoteRune(r)
}

// object reads an object whose '{' is at pos. Members are appended to dst when
// collect is set.
func (s *scanner) object(depth int, dst []member, collect bool) ([]member, bool) {
	if depth > MaxDepth {
		return dst, s.fail(s.pos, CodeTooDeep, "nested deeper than %d levels", MaxDepth)
	}
	s.pos++
	base := len(s.keys)
	var seen map[string]struct{}
	s.space()
	if s.pos < len(s.b) && s.b[s.pos] == '}' {
		s.pos++
		return dst, true
	}
	for {
		s.space()
		keyPos := s.pos
		if s.pos == len(s.b) || s.b[s.pos] != '"' {
			return dst, s.fail(s.pos, CodeBadJSON, "found %s, expected a key in double quotes", s.found())
		}
		kv, ok := s.str()
		if !ok {
			return dst, false
		}
		key := s.b[kv.start+1 : kv.end-1]
		if kv.escaped {
			key = unescape(key)
		}
		if seen, ok = s.remember(key, base, seen); !ok {
			return dst, s.fail(keyPos, CodeDuplicateKey, "key %s appears twice in one object", quote(key))
		}
		s.space()
		if s.pos == len(s.b) || s.b[s.pos] != ':' {
			return dst, s.fail(s.pos, CodeBadJSON, "found %s, expected ':' after a key", s.found())
		}
		s.pos++
		v, ok := s.value(depth)
		if !ok {
			return dst, false
		}
		if collect {
			dst = append(dst, member{key, v})
		}
		s.space()
		if s.pos < len(s.b) && s.b[s.pos] == ',' {
			s.pos++
			continue
		}
		if s.pos < len(s.b) && s.b[s.pos] == '}' {
			s.pos++
			s.keys = s.keys[:base]
			return dst, true
		}
		return dst, s.fail(s.pos, CodeBadJSON, "found %s, expected ',' or '}' in an object", s.found())
	}
}

// remember notes a key of the object whose keys start at base and reports
// whether it is new. Objects with many keys switch to a map.
func (s *scanner) remember(key []byte, base int, seen map[string]struct{}) (map[string]struct{}, bool) {
	const few = 24
	if seen == nil {
		for _, k := range s.keys[base:] {
			if bytes.Equal(k, key) {
				return nil, false
			}
		}
		s.keys = append(s.keys, key)
		if len(s.keys)-base > few {
			seen = make(map[string]struct{}, 4*few)
			for _, k := range s.keys[base:] {
				seen[string(k)] = struct{}{}
			}
		}
		return seen, true
	}
	if _, dup := seen[string(key)]; dup {
		return seen, false
	}
	seen[string(key)] = struct{}{}
	return seen, true
}

func (s *scanner) array(depth int) bool {
	if depth > MaxDepth {
		return s.fail(s.pos, CodeTooDeep, "nested deeper than %d levels", MaxDepth)
	}
	s.pos++
	s.space()
	if s.pos < len(s.b) && s.b[s.pos] == ']' {
		s.pos++
		return true
	}
	for {
		if _, ok := s.value(depth); !ok {
			return false
		}
		s.space()
		if s.pos < len(s.b) && s.b[s.pos] == ',' {
			s.pos++
			continue
		}
		if s.pos < len(s.b) && s.b[s.pos] == ']' {
			s.pos++
			return true
		}
		return s.fail(s.pos, CodeBadJSON, "found %s, expected ',' or ']' in an array", s.found())
	}
}

// value reads one value that lies inside depth levels of nesting.
func (s *scanner) value(depth int) (value, bool) {
	s.space()
	if s.pos == len(s.b) {
		return value{}, s.fail(s.pos, CodeBadJSON, "found the end of the line, expected a value")
	}
	v := value{start: s.pos}
	ok := true
	switch c := s.b[s.pos]; {
	case c == '"':
		return s.str()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == '{':
		v.kind = kindObject
		_, ok = s.object(depth+1, nil, false)
	case c == '[':
		v.kind = kindArray
		ok = s.array(depth + 1)
	case c == 't':
		v.kind = kindTrue
		ok = s.word("true")
	case c == 'f':
		v.kind = kindFalse
		ok = s.word("false")
	case c == 'n':
		v.kind = kindNull
		ok = s.word("null")
	default:
		ok = s.fail(s.pos, CodeBadJSON, "found %s, expected a value", s.found())
	}
	v.end = s.pos
	return v, ok
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.pos < len(w) || string(s.b[s.pos:s.pos+len(w)]) != w {
		return s.fail(s.pos, CodeBadJSON, "found %s, expected %s", s.found(), w)
	}
	s.pos += len(w)
	return true
}

// str reads a string whose opening quote is at pos.
func (s *scanner) str() (value, bool) {
	v := value{start: s.pos, kind: kindString}
	b, i := s.b, s.pos+1
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			s.pos = i + 1
			v.end = s.pos
			return v, true
		case c == '\\':
			v.escaped = true
			n, ok := s.escape(i)
			if !ok {
				return v, false
			}
			i += n
		case c < 0x20:
			return v, s.fail(i, CodeBadJSON, "found control character %#02x in a string, expected it escaped", c)
		default:
			i++
		}
	}
	return v, s.fail(len(b), CodeBadJSON, "found the end of the line inside a string, expected a closing quote")
}

// escape checks the escape at i and returns its length in bytes.
func (s *scanner) escape(i int) (int, bool) {
	b := s.b
	if i+1 >= len(b) {
		return 0, s.fail(len(b), CodeBadJSON, "found the end of the line inside a string, expected a closing quote")
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, true
	case 'u':
		r, ok := hex4(b, i+2)
		if !ok {
			return 0, s.fail(i, CodeBadJSON, "found an incomplete \\u escape, expected four hex digits")
		}
		if !utf16.IsSurrogate(r) {
			return 6, true
		}
		if i+7 < len(b) && b[i+6] == '\\' && b[i+7] == 'u' {
			if low, ok := hex4(b, i+8); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				return 12, true
			}
		}
		return 0, s.fail(i, CodeBadUnicode, "found the lone surrogate \\u%04x, expected a whole character", r)
	}
	return 0, s.fail(i, CodeBadJSON, "found an unknown escape in a string, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
}

func hex4(b []byte, i int) (rune, bool) {
	if i+4 > len(b) {
		return 0, false
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// number reads a number that starts at pos and checks its range.
func (s *scanner) number() (value, bool) {
	b, i := s.b, s.pos
	v := value{start: i, kind: kindNumber, integer: true}
	if b[i] == '-' {
		i++
	}
	digits := i
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i] >= '1' && b[i] <= '9':
		i = skipDigits(b, i)
	default:
		s.pos = i
		return v, s.fail(i, CodeBadJSON, "found %s, expected a digit", s.found())
	}
	whole := i - digits
	exponent := false
	if i < len(b) && b[i] == '.' {
		v.integer = false
		j := skipDigits(b, i+1)
		if j == i+1 {
			return v, s.fail(i, CodeBadJSON, "found a number that ends in '.', expected a digit after it")
		}
		i = j
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		v.integer, exponent = false, true
		j := i + 1
		if j < len(b) && (b[j] == '+' || b[j] == '-') {
			j++
		}
		i = skipDigits(b, j)
		if i == j {
			return v, s.fail(i, CodeBadJSON, "found a number without digits in its exponent")
		}
	}
	s.pos, v.end = i, i
	if v.integer && whole > 15 || exponent || whole > 300 {
		return v, s.inRange(v)
	}
	return v, true
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func (s *scanner) inRange(v value) bool {
	text := s.b[v.start:v.end]
	f, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil || math.IsInf(f, 0):
		return s.fail(v.start, CodeNumberRange, "found %s, expected a number that fits a 64-bit float", quote(text))
	case v.integer:
		if n, err := strconv.ParseInt(string(text), 10, 64); err != nil || n > MaxInteger || n < -MaxInteger {
			return s.fail(v.start, CodeNumberRange, "found %s, expected an integer between -(2^53-1) and 2^53-1", quote(text))
		}
	}
	return true
}

// unescape decodes the inside of a string that scanner.str accepted.
func unescape(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		c := b[i]
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		switch b[i+1] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(b, i+2)
			if utf16.IsSurrogate(r) {
				low, _ := hex4(b, i+8)
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			out = utf8.AppendRune(out, r)
			i += 4
		default:
			out = append(out, b[i+1])
		}
		i += 2
	}
	return out
}
