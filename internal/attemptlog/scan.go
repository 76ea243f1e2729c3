package attemptlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
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

	plain  bool // the line has no control characters
	escape int  // position of the next backslash at or after pos, len(b) if none
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
	var ascii bool
	s.plain, ascii = survey(b)
	s.escape = -1
	if !ascii && !utf8.Valid(b) {
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

// survey looks at eight bytes at a time for control characters (plain is false
// when there are any) and for bytes beyond ASCII.
func survey(b []byte) (plain, ascii bool) {
	const high, space = 0x8080808080808080, 0x2020202020202020
	var control, beyond uint64
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		beyond |= x
		control |= (x - space) &^ x // top bit of the lowest byte below 0x20
		b = b[8:]
	}
	for _, c := range b {
		beyond |= uint64(c)
		if c < 0x20 {
			control |= high
		}
	}
	return control&high == 0, beyond&high == 0
}

// nextEscape moves s.escape to the first backslash at or after i.
func (s *scanner) nextEscape(i int) {
	if n := bytes.IndexByte(s.b[i:], '\\'); n >= 0 {
		s.escape = i + n
	} else {
		s.escape = len(s.b)
	}
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
	var mask uint64
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
		bit := keyBit(key)
		if seen == nil && mask&bit == 0 && len(s.keys)-base < fewKeys {
			s.keys = append(s.keys, key) // no key of this shape so far
		} else if seen, ok = s.remember(key, base, seen); !ok {
			return dst, s.fail(keyPos, CodeDuplicateKey, "key %s appears twice in one object", quote(key))
		}
		mask |= bit
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

// fewKeys is how many keys of an object are compared one by one.
const fewKeys = 24

// keyBit maps keys to 64 shapes: equal keys share one.
func keyBit(key []byte) uint64 {
	n := len(key)
	if n == 0 {
		return 1
	}
	return 1 << ((uint(n) + 7*uint(key[0]) + 13*uint(key[n-1]) + 29*uint(key[n/2])) & 63)
}

// remember notes a key of the object whose keys start at base and reports
// whether it is new. Objects with many keys switch to a map.
func (s *scanner) remember(key []byte, base int, seen map[string]struct{}) (map[string]struct{}, bool) {
	if seen == nil {
		for _, k := range s.keys[base:] {
			if bytes.Equal(k, key) {
				return nil, false
			}
		}
		s.keys = append(s.keys, key)
		if len(s.keys)-base > fewKeys {
			seen = make(map[string]struct{}, 4*fewKeys)
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
