package attemptlog

import (
	"encoding/json"
	"fmt"
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
	submission             string // last submission_sha256, likewise
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
			d.submission = d.digest(f, d.submission)
			s.SubmissionSHA256 = d.submission
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
