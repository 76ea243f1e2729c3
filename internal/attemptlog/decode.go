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

// decoder turns lines into events and reports what is wrong with their fields.
type decoder struct {
	scan   scanner
	fields []member
	raw    []byte
	report func(column int, field, code, detail, hint string)
	path   string // prefix of nested fields, e.g. "agent."
	failed bool

	// The score entry is reused from line to line: logs consist of little else.
	score                  Score
	t, raw64, normalized64 float64
	at                     time.Time
	scorer                 string // last scorer_sha256, to keep one copy
}

// envelope is what every line has.
type envelope struct {
	typ     string
	seq     int64
	seqOK   bool
	prev    []byte // the text of prev
	prevOK  bool
	prevCol int
	seqCol  int
}

func (d *decoder) fault(v value, field, code, detail, hint string) {
	d.failed = true
	d.report(v.start+1, d.path+field, code, detail, hint)
}

func (d *decoder) badType(v value, field, want string) {
	d.fault(v, field, CodeBadType, fmt.Sprintf("found %s, expected %s", d.show(v), want), "")
}

// show names a value by type and, where short, by content.
func (d *decoder) show(v value) string {
	switch v.kind {
	case kindNumber, kindString:
		return fmt.Sprintf("%s %s", v.kind, quote(d.raw[v.start:v.end]))
	}
	return v.kind.String()
}

// split reads a line into d.fields and its envelope. ok is false when the line
// cannot be used at all.
func (d *decoder) split(line []byte) (env envelope, ok bool) {
	d.raw, d.failed, d.path = line, false, ""
	fields, err := d.scan.line(line, d.fields[:0])
	d.fields = fields
	if err != nil {
		d.failed = true
		d.report(err.pos+1, "", err.code, err.detail, "")
		return env, false
	}
	hasType := false
	for _, f := range d.fields {
		switch string(f.key) {
		case "type":
			env.typ = d.word(f)
			hasType = true
		case "seq":
			env.seqCol = f.val.start + 1
			env.seq, env.seqOK = d.integer(f, 0)
		case "prev":
			env.prevCol = f.val.start + 1
			if f.val.kind != kindString {
				d.badType(f.val, "prev", "a string of 64 hex digits")
				break
			}
			env.prev, env.prevOK = line[f.val.start+1:f.val.end-1], true
		}
	}
	end := value{start: len(line)}
	if !hasType {
		d.fault(end, "type", CodeMissingField, "found no type, expected one on every line", "")
	}
	if env.seqCol == 0 {
		d.fault(end, "seq", CodeMissingField, "found no seq, expected one on every line", "")
	}
	if env.prevCol == 0 {
		d.fault(end, "prev", CodeMissingField, "found no prev, expected one on every line", "")
	}
	return env, env.typ != ""
}

// word reads a string that is often one of the known types without allocating.
func (d *decoder) word(f member) string {
	if f.val.kind == kindString {
		switch string(d.raw[f.val.start+1 : f.val.end-1]) {
		case "score":
			return "score"
		case "usage":
			return "usage"
		}
	}
	s := d.str(f)
	if s == "" && !d.failed {
		d.fault(f.val, string(f.key), CodeBadValue, "found an empty type, expected a word", "")
	}
	return s
}

// event decodes d.fields as an event of the given type.
func (d *decoder) event(typ string) Event {
	switch typ {
	case "header":
		return d.header()
	case "score":
		return d.scoreEntry()
	case "rescore":
		return d.rescore()
	case "pause":
		var p Pause
		p.T, p.At, p.Reason, p.Extra = d.moment()
		return &p
	case "resume":
		var p Resume
		p.T, p.At, p.Reason, p.Extra = d.moment()
		return &p
	case "usage":
		return d.usage()
	case "end":
		return d.end()
	}
	u := &Unknown{Kind: typ}
	for _, f := range d.fields {
		if !isEnvelope(f.key) {
			u.Extra = d.extra(u.Extra, f)
		}
	}
	return u
}

func isEnvelope(key []byte) bool {
	switch string(key) {
	case "type", "seq", "prev":
		return true
	}
	return false
}

func (d *decoder) scoreEntry() *Score {
	s := &d.score
	*s = Score{Basis: rebench.BasisRaw, Extra: s.Extra[:0]}
	var hasT, hasValid bool
	for _, f := range d.fields {
		switch string(f.key) {
		case "t":
			s.T, hasT = d.float(f, &d.t), true
		case "at":
			s.At = d.time(f, &d.at)
		case "score":
			s.Score = d.float(f, &d.raw64)
		case "normalized":
			s.Normalized = d.float(f, &d.normalized64)
		case "basis":
			s.Basis = d.basis(f)
		case "valid":
			s.Valid, hasValid = d.boolean(f), true
		case "reason":
			s.Reason = d.reason(f)
		case "message":
			if f.val.kind != kindNull {
				s.Message = json.RawMessage(d.raw[f.val.start:f.val.end:f.val.end])
			}
		case "submission_sha256":
			s.SubmissionSHA256 = d.digest(f, "")
		case "scorer_sha256":
			d.scorer = d.digest(f, d.scorer)
			s.ScorerSHA256 = d.scorer
		case "type", "seq", "prev":
		default:
			s.Extra = append(s.Extra, Member{string(f.key), json.RawMessage(d.raw[f.val.start:f.val.end:f.val.end])})
		}
	}
	d.require(hasT, "t")
	d.require(hasValid, "valid")
	d.consistent(s)
	return s
}

// consistent checks the rules between the fields of one score entry.
func (d *decoder) consistent(s *Score) {
	at := func(key string) value {
		for _, f := range d.fields {
			if string(f.key) == key {
				return f.val
			}
		}
		return value{start: len(d.raw)}
	}
	if s.Valid && s.Score == nil && s.Normalized == nil && !d.failed {
		d.fault(at("valid"), "valid", CodeBadValue, "found valid true without a score, expected score or normalized to be a number", "an entry without a number is not valid: set valid to false and give its reason")
	}
	if s.Valid && s.Reason != "" {
		d.fault(at("reason"), "reason", CodeBadValue, fmt.Sprintf("found reason %q on a valid entry, expected null", s.Reason), "")
	}
	if s.Normalized != nil && *s.Normalized < 0 {
		d.fault(at("normalized"), "normalized", CodeBadValue, "found a negative number, expected normalized >= 0", "normalized scores are floored at 0, the starting solution")
	}
	if s.T != nil && *s.T < 0 {
		d.fault(at("t"), "t", CodeBadValue, "found a negative time, expected seconds >= 0", "")
	}
	switch {
	case s.Basis == rebench.BasisRaw && s.Valid && s.Score == nil && s.Normalized != nil:
		d.fault(at("basis"), "basis", CodeBadValue, "found basis raw without a raw score, expected basis normalized", "")
	case s.Basis == rebench.BasisNormalized && s.Score != nil:
		d.fault(at("basis"), "basis", CodeBadValue, "found basis normalized with a raw score, expected basis raw or derived", "")
	case s.Basis == rebench.BasisDerived && s.Valid && (s.Score == nil || s.Normalized == nil):
		d.fault(at("basis"), "basis", CodeBadValue, "found basis derived without both scores, expected score and normalized", "")
	}
}

func (d *decoder) rescore() *Rescore {
	r := &Rescore{}
	var hasOf bool
	for _, f := range d.fields {
		switch string(f.key) {
		case "of_seq":
			r.OfSeq, hasOf = d.integer(f, 0)
		case "score":
			r.Score = d.float(f, new(float64))
		case "trials":
			r.Trials = d.optInteger(f)
		case "reason":
			r.Reason = d.optStr(f)
		case "type", "seq", "prev":
		default:
			r.Extra = d.extra(r.Extra, f)
		}
	}
	d.require(hasOf || d.failed, "of_seq")
	return r
}

// moment reads the fields that pause and resume share.
func (d *decoder) moment() (t *float64, at *time.Time, reason string, x Extra) {
	var hasT bool
	for _, f := range d.fields {
		switch string(f.key) {
		case "t":
			t, hasT = d.float(f, new(float64)), true
			d.notNegative(f, t)
		case "at":
			at = d.time(f, new(time.Time))
		case "reason":
			reason = d.optStr(f)
		case "type", "seq", "prev":
		default:
			x = d.extra(x, f)
		}
	}
	d.require(hasT, "t")
	return t, at, reason, x
}

func (d *decoder) usage() *Usage {
	u := &Usage{}
	var hasT bool
	for _, f := range d.fields {
		switch string(f.key) {
		case "t":
			u.T, hasT = d.float(f, new(float64)), true
			d.notNegative(f, u.T)
		case "at":
			u.At = d.time(f, new(time.Time))
		case "tokens":
			d.object(f, func(m member) {
				if n, ok := d.integer(m, 0); ok {
					u.Tokens = append(u.Tokens, TokenCount{string(m.key), n})
				}
			})
		case "cost_usd":
			u.CostUSD = d.float(f, new(float64))
			d.notNegative(f, u.CostUSD)
		case "type", "seq", "prev":
		default:
			u.Extra = d.extra(u.Extra, f)
		}
	}
	d.require(hasT, "t")
	return u
}

func (d *decoder) end() *End {
	e := &End{}
	var hasT, hasReason bool
	for _, f := range d.fields {
		switch string(f.key) {
		case "t":
			e.T, hasT = d.float(f, new(float64)), true
			d.notNegative(f, e.T)
		case "at":
			e.At = d.time(f, new(time.Time))
		case "reason":
			hasReason = true
			e.Reason = EndReason(d.oneOf(f, string(EndSubmitted), string(EndTimeLimit), string(EndTokenLimit),
				string(EndCostLimit), string(EndCancelled), string(EndError), string(EndUnknown)))
		case "type", "seq", "prev":
		default:
			e.Extra = d.extra(e.Extra, f)
		}
	}
	d.require(hasT, "t")
	d.require(hasReason, "reason")
	return e
}

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

func isDigest(b []byte) bool {
	if len(b) != 64 {
		return false
	}
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
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
