package ingest

import (
	"rebench/internal/attemptlog"
)

// skip passes over one value of any type in constant memory.
func (j *jsonReader) skip() {
	j.consumed = true
	var closers []byte
	for j.err == nil {
		switch c := j.peek(); c {
		case 0:
			j.fail(attemptlog.CodeBadJSON, "found the end, expected a value")
		case '"':
			j.skipString()
		case '{', '[':
			j.r++
			closers = append(closers, c+2) // '{'+2 == '}', '['+2 == ']'
			if j.depth+len(closers) > MaxDepth {
				j.fail(attemptlog.CodeTooDeep, "nested deeper than %d levels", MaxDepth)
			}
			continue
		case '}', ']':
			if len(closers) == 0 || closers[len(closers)-1] != c {
				j.fail(attemptlog.CodeBadJSON, "found %q, expected a value", string(rune(c)))
				return
			}
			j.r++
			closers = closers[:len(closers)-1]
		case ',', ':':
			if len(closers) == 0 {
				j.fail(attemptlog.CodeBadJSON, "found %q, expected a value", string(rune(c)))
				return
			}
			j.r++
			continue
		default:
			if t := j.word(); !isLiteral(t) && !isJSONNumber(t) && j.err == nil {
				j.fail(attemptlog.CodeBadJSON, "found %s, expected a value", quote(t))
			}
		}
		if len(closers) == 0 {
			return
		}
	}
}

func (j *jsonReader) skipString() {
	j.r++
	for j.err == nil {
		for j.r < j.w {
			switch j.buf[j.r] {
			case '"':
				j.r++
				return
			case '\\':
				if j.w-j.r < 2 && !j.more(2) {
					j.fail(attemptlog.CodeBadJSON, "found the end inside a string, expected a closing quote")
					return
				}
				j.r += 2
			default:
				j.r++
			}
		}
		if !j.more(1) {
			j.fail(attemptlog.CodeBadJSON, "found the end inside a string, expected a closing quote")
		}
	}
}

func isLiteral(s string) bool {
	switch s {
	case "null", "true", "false", "NaN", "Infinity", "-Infinity":
		return true
	}
	return false
}

// isJSONNumber reports whether s is a number by JSON's grammar.
func isJSONNumber(s string) bool {
	i := 0
	digits := func() bool {
		at := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > at
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}
