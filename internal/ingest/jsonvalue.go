package ingest

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"rebench/internal/attemptlog"
)

// scalar is a JSON value as far as the decoders look into it.
type scalar struct {
	kind byte // 'n' null, 'b' bool, '0' number, 'x' NaN or infinity, 's' string, '{', '[' or 0 when absent
	text string
	yes  bool
}

func (v scalar) present() bool { return v.kind != 0 }

// scalar reads one value; objects and arrays are skipped and told by kind.
func (j *jsonReader) scalar() scalar {
	switch c := j.peek(); c {
	case '"':
		s, whole := j.str(MaxTextBytes)
		if !whole {
			j.fail(CodeValueTooLong, "found a string longer than %d bytes", MaxTextBytes)
		}
		return scalar{kind: 's', text: s}
	case '{', '[':
		j.skip()
		return scalar{kind: c}
	}
	t := j.word()
	switch {
	case j.err != nil:
	case t == "null":
		return scalar{kind: 'n'}
	case t == "true" || t == "false":
		return scalar{kind: 'b', text: t, yes: t == "true"}
	case isLiteral(t):
		return scalar{kind: 'x', text: t}
	case isJSONNumber(t):
		return scalar{kind: '0', text: t}
	default:
		j.fail(attemptlog.CodeBadJSON, "found %s, expected a value", quoteOr(t, j.found()))
	}
	return scalar{}
}

func quoteOr(s, other string) string {
	if s == "" {
		return other
	}
	return quote(s)
}

// show names a value in a message.
func (v scalar) show() string {
	switch v.kind {
	case 0:
		return "nothing"
	case 'n':
		return "null"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 's':
		return "the string " + quote(v.text)
	}
	return quote(v.text)
}

// number returns a finite number; ok is false for every other value.
func (v scalar) number() (f float64, ok bool) {
	if v.kind != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// canonical reads one value of any type and returns it as JSON that an attempt
// log may hold: NaN and infinities become null, integers beyond 2^53-1 become
// strings, each with a note. Values longer than MaxMessageBytes are left out
// with a note. A null comes back as nil.
func (j *jsonReader) canonical(path string) json.RawMessage {
	j.consumed = true
	c := canon{j: j}
	c.value(path, 1)
	j.consumed = true
	if j.err != nil || string(c.out) == "null" {
		return nil
	}
	if c.over {
		j.note(path, "left out, longer than "+strconv.Itoa(MaxMessageBytes)+" bytes")
		return attemptlog.Text("[left out: longer than " + strconv.Itoa(MaxMessageBytes) + " bytes]")
	}
	return c.out
}

// canon writes canonical JSON while j reads.
type canon struct {
	j    *jsonReader
	out  []byte
	over bool
}

func (c *canon) put(s ...byte) {
	if c.over = c.over || len(c.out)+len(s) > MaxMessageBytes; !c.over {
		c.out = append(c.out, s...)
	}
}

// maxLogDepth keeps values within what an attempt log may nest: the line itself
// and one object around the value.
const maxLogDepth = attemptlog.MaxDepth - 4

func (c *canon) value(path string, depth int) {
	j := c.j
	switch j.peek() {
	case '{':
		if c.tooDeep(path, depth) {
			return
		}
		c.put('{')
		first := true
		j.object(func(key string) {
			if !first {
				c.put(',')
			}
			first = false
			c.put(attemptlog.Text(key)...)
			c.put(':')
			c.value(path+"."+key, depth+1)
		})
		c.put('}')
	case '[':
		if c.tooDeep(path, depth) {
			return
		}
		c.put('[')
		j.array(func(i int) {
			if i > 0 {
				c.put(',')
			}
			c.value(path+"["+strconv.Itoa(i)+"]", depth+1)
		})
		c.put(']')
	case '"':
		s, whole := j.str(MaxMessageBytes)
		if !whole {
			c.over = true
			return
		}
		c.put(attemptlog.Text(s)...)
	default:
		c.scalar(path)
	}
}

func (c *canon) tooDeep(path string, depth int) bool {
	if depth <= maxLogDepth {
		return false
	}
	c.j.note(path, "left out, nested deeper than "+strconv.Itoa(maxLogDepth)+" levels")
	c.put([]byte(`"[left out: nested too deep]"`)...)
	c.j.skip()
	return true
}

func (c *canon) scalar(path string) {
	v := c.j.scalar()
	switch v.kind {
	case 'n', 'b':
		if v.kind == 'n' {
			v.text = "null"
		}
		c.put([]byte(v.text)...)
	case 'x':
		c.j.note(path, v.text+" was read as null")
		c.put([]byte("null")...)
	case '0':
		if logNumber(v.text) {
			c.put([]byte(v.text)...)
			return
		}
		c.j.note(path, "the number "+v.text+" is kept as text: it does not fit")
		c.put(attemptlog.Text(v.text)...)
	}
}

// logNumber reports whether an attempt log may hold the number as it stands.
func logNumber(text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return false
	}
	for _, c := range []byte(text) {
		if c == '.' || c == 'e' || c == 'E' {
			return true
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && n <= attemptlog.MaxInteger && n >= -attemptlog.MaxInteger
}

// quote shows untrusted text in a message: quoted, escaped and cut.
func quote(s string) string {
	const max = 80
	if len(s) <= max {
		return strconv.Quote(s)
	}
	cut := max
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "... (" + strconv.Itoa(len(s)) + " bytes)"
}
