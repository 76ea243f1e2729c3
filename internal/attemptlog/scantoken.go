package attemptlog

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string whose opening quote is at pos.
func (s *scanner) str() (value, bool) {
	v := value{start: s.pos, kind: kindString}
	b, i := s.b, s.pos+1
	if s.plain {
		if s.escape < i {
			s.nextEscape(i)
		}
		if n := bytes.IndexByte(b[i:], '"'); n >= 0 && i+n < s.escape {
			s.pos = i + n + 1
			v.end = s.pos
			return v, true
		}
	}
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			s.pos = i + 1
			v.end = s.pos
			return v, true
		case c == '\\':
			v.escaped = true
			n, ok := s.escapeAt(i)
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

// escapeAt checks the escape at i and returns its length in bytes.
func (s *scanner) escapeAt(i int) (int, bool) {
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
