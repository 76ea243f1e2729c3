package attemptlog

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rebench/internal/rebench"
)

func (d *decoder) require(present bool, field string) {
	if !present {
		d.fault(value{start: len(d.raw)}, field, CodeMissingField, "found no "+field+", expected one", "")
	}
}

func (d *decoder) notNegative(f member, x *float64) {
	if x != nil && *x < 0 {
		d.fault(f.val, string(f.key), CodeBadValue, fmt.Sprintf("found %v, expected a number >= 0", *x), "")
	}
}

// extra copies an unknown key out of the line.
func (d *decoder) extra(x Extra, f member) Extra {
	raw := append(json.RawMessage(nil), d.raw[f.val.start:f.val.end]...)
	return append(x, Member{string(f.key), raw})
}

// float reads a number or null into dst.
func (d *decoder) float(f member, dst *float64) *float64 {
	switch f.val.kind {
	case kindNull:
		return nil
	case kindNumber:
		n, err := strconv.ParseFloat(string(d.raw[f.val.start:f.val.end]), 64)
		if err != nil || math.IsInf(n, 0) { // the scanner has checked already
			d.badType(f.val, string(f.key), "a finite number")
			return nil
		}
		*dst = n
		return dst
	}
	d.badType(f.val, string(f.key), "a number or null")
	return nil
}

func (d *decoder) integer(f member, min int64) (int64, bool) {
	if f.val.kind != kindNumber || !f.val.integer {
		d.badType(f.val, string(f.key), "an integer")
		return 0, false
	}
	n, err := strconv.ParseInt(string(d.raw[f.val.start:f.val.end]), 10, 64)
	if err != nil || n < min {
		d.fault(f.val, string(f.key), CodeBadValue, fmt.Sprintf("found %s, expected an integer >= %d", quote(d.raw[f.val.start:f.val.end]), min), "")
		return 0, false
	}
	return n, true
}

func (d *decoder) optInteger(f member) *int64 {
	if f.val.kind == kindNull {
		return nil
	}
	n, ok := d.integer(f, -MaxInteger)
	if !ok {
		return nil
	}
	return &n
}

func (d *decoder) boolean(f member) bool {
	if f.val.kind != kindTrue && f.val.kind != kindFalse {
		d.badType(f.val, string(f.key), "true or false")
	}
	return f.val.kind == kindTrue
}

// str reads a string.
func (d *decoder) str(f member) string {
	if f.val.kind != kindString {
		d.badType(f.val, string(f.key), "a string")
		return ""
	}
	text := d.raw[f.val.start+1 : f.val.end-1]
	if f.val.escaped {
		text = unescape(text)
	}
	return string(text)
}

// optStr reads a string, or null as "".
func (d *decoder) optStr(f member) string {
	if f.val.kind == kindNull {
		return ""
	}
	return d.str(f)
}

func (d *decoder) oneOf(f member, words ...string) string {
	s := d.str(f)
	for _, w := range words {
		if s == w {
			return w
		}
	}
	if f.val.kind == kindString {
		d.fault(f.val, string(f.key), CodeBadValue, fmt.Sprintf("found %s, expected one of %s", quote(s), strings.Join(words, ", ")), "")
	}
	return ""
}

func (d *decoder) basis(f member) rebench.Basis {
	if f.val.kind == kindString {
		switch string(d.raw[f.val.start+1 : f.val.end-1]) {
		case "raw":
			return rebench.BasisRaw
		case "normalized":
			return rebench.BasisNormalized
		case "derived":
			return rebench.BasisDerived
		}
	}
	return rebench.Basis(d.oneOf(f, "raw", "normalized", "derived"))
}

func (d *decoder) reason(f member) Reason {
	if f.val.kind == kindNull {
		return ""
	}
	return Reason(d.oneOf(f, string(ReasonNaN), string(ReasonTimeout), string(ReasonOOM), string(ReasonWrongOutput),
		string(ReasonRuleBroken), string(ReasonHidden), string(ReasonError)))
}

// digest reads a SHA-256 in hex, or null as "". last is returned when the text
// equals it, so that a log's one scorer hash is kept once.
func (d *decoder) digest(f member, last string) string {
	if f.val.kind == kindNull {
		return ""
	}
	if f.val.kind != kindString {
		d.badType(f.val, string(f.key), "a string of 64 hex digits or null")
		return ""
	}
	text := d.raw[f.val.start+1 : f.val.end-1]
	if string(text) == last {
		return last
	}
	if !isDigest(text) {
		d.fault(f.val, string(f.key), CodeBadValue, fmt.Sprintf("found %s, expected 64 lower-case hex digits", quote(text)), "")
		return ""
	}
	return string(text)
}

// notHex has 1 for every byte that is no lower-case hex digit.
var notHex = func() (t [256]byte) {
	for i := range t {
		if c := byte(i); (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			t[i] = 1
		}
	}
	return t
}()

func isDigest(b []byte) bool {
	if len(b) != 64 {
		return false
	}
	var bad byte
	for _, c := range b {
		bad |= notHex[c]
	}
	return bad == 0
}

// time reads a time or null into dst.
func (d *decoder) time(f member, dst *time.Time) *time.Time {
	switch f.val.kind {
	case kindNull:
		return nil
	case kindString:
		if t, ok := parseTime(d.raw[f.val.start+1 : f.val.end-1]); ok {
			*dst = t
			return dst
		}
		d.fault(f.val, string(f.key), CodeBadValue, fmt.Sprintf("found %s, expected a UTC time such as 2025-01-31T12:00:00.000Z", quote(d.raw[f.val.start+1:f.val.end-1])), "")
		return nil
	}
	d.badType(f.val, string(f.key), "a time in a string or null")
	return nil
}

// parseTime reads TimeLayout exactly.
func parseTime(b []byte) (time.Time, bool) {
	const layout = "dddd-dd-ddTdd:dd:dd.dddZ"
	if len(b) != len(layout) {
		return time.Time{}, false
	}
	for i := range b {
		if layout[i] == 'd' {
			if b[i] < '0' || b[i] > '9' {
				return time.Time{}, false
			}
		} else if b[i] != layout[i] {
			return time.Time{}, false
		}
	}
	two := func(i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, min, sec, ms := two(11), two(14), two(17), two(20)*10+int(b[22]-'0')
	if month < 1 || month > 12 || day < 1 || hour > 23 || min > 59 || sec > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, min, sec, ms*int(time.Millisecond), time.UTC)
	return t, t.Day() == day
}
