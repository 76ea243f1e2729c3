package attemptlog

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// appendLine writes an event as one line without its LF.
func appendLine(b []byte, seq int64, prev Hash, e Event) []byte {
	b = append(b, `{"type":`...)
	b = appendString(b, e.Type())
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, `,"prev":"`...)
	b = appendHex(b, prev)
	b = append(b, '"')
	b = e.appendFields(b)
	return append(b, '}')
}

const hexDigits = "0123456789abcdef"

func appendHex(b []byte, h Hash) []byte {
	for _, c := range h {
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return b
}

// appendString writes s as a JSON string. Invalid UTF-8 is passed through so
// that the verifier behind every writer refuses it rather than altering it.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		start = i + 1
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// appendFloat writes a float so that it reads back to the same bits. Large
// whole values take an exponent: a bare integer beyond 2^53-1 is refused.
func appendFloat(b []byte, f float64) []byte {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs > MaxInteger) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

func appendKey(b []byte, key string) []byte {
	b = append(b, ',')
	b = appendString(b, key)
	return append(b, ':')
}

func appendFloatField(b []byte, key string, f *float64) []byte {
	b = appendKey(b, key)
	if f == nil {
		return append(b, "null"...)
	}
	return appendFloat(b, *f)
}

func appendIntField(b []byte, key string, n *int64) []byte {
	b = appendKey(b, key)
	if n == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, *n, 10)
}

func appendStringField(b []byte, key, s string) []byte {
	return appendString(appendKey(b, key), s)
}

// appendOptional writes null for the empty string.
func appendOptional(b []byte, key, s string) []byte {
	if s == "" {
		return append(appendKey(b, key), "null"...)
	}
	return appendStringField(b, key, s)
}

func appendTimeField(b []byte, key string, t *time.Time) []byte {
	b = appendKey(b, key)
	if t == nil {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, TimeLayout)
	return append(b, '"')
}

func appendRaw(b []byte, key string, raw json.RawMessage) []byte {
	b = appendKey(b, key)
	if len(raw) == 0 {
		return append(b, "null"...)
	}
	if bytes.ContainsAny(raw, "\n\r") { // a line feed would end the line
		var one bytes.Buffer
		if json.Compact(&one, raw) == nil {
			raw = one.Bytes()
		}
	}
	return append(b, raw...)
}

func appendExtra(b []byte, x Extra) []byte {
	for _, m := range x {
		b = appendRaw(b, m.Key, m.Value)
	}
	return b
}

// appendObject wraps the fields that f appends into an object.
func appendObject(b []byte, key string, f func([]byte) []byte) []byte {
	b = appendKey(b, key)
	at := len(b)
	b = f(b)
	if len(b) == at {
		return append(b, '{', '}')
	}
	b[at] = '{' // replaces the first member's comma
	return append(b, '}')
}

func (h *Header) appendFields(b []byte) []byte {
	b = appendStringField(b, "format", Format)
	b = append(b, `,"version":1`...)
	b = appendStringField(b, "attempt_id", h.AttemptID)
	b = appendObject(b, "environment", func(b []byte) []byte {
		b = appendStringField(b, "id", h.Environment.ID)
		b = appendOptional(b, "version", h.Environment.Version)
		b = appendStringField(b, "profile", h.Environment.Profile)
		return appendExtra(b, h.Environment.Extra)
	})
	if a := h.Agent; a != nil {
		b = appendObject(b, "agent", func(b []byte) []byte {
			b = appendStringField(b, "name", a.Name)
			b = appendOptional(b, "model", a.Model)
			b = appendOptional(b, "scaffold", a.Scaffold)
			return appendExtra(b, a.Extra)
		})
	}
	if p := h.Human; p != nil {
		b = appendObject(b, "human", func(b []byte) []byte {
			b = appendOptional(b, "cohort", p.Cohort)
			b = appendOptional(b, "source", p.Source)
			return appendExtra(b, p.Extra)
		})
	}
	b = appendFloatField(b, "time_limit_s", h.TimeLimitS)
	b = h.Hardware.appendTo(b)
	b = appendIntField(b, "seed", h.Seed)
	b = appendTimeField(b, "started_at", h.StartedAt)
	b = appendStringField(b, "clock", string(h.Clock))
	b = appendObject(b, "scoring", func(b []byte) []byte {
		b = appendOptional(b, "direction", string(h.Scoring.Direction))
		b = appendFloatField(b, "start_raw", h.Scoring.StartRaw)
		b = appendFloatField(b, "reference_raw", h.Scoring.ReferenceRaw)
		b = appendOptional(b, "calibration_id", h.Scoring.CalibrationID)
		return appendExtra(b, h.Scoring.Extra)
	})
	b = appendObject(b, "tool", func(b []byte) []byte {
		b = appendStringField(b, "name", h.Tool.Name)
		b = appendOptional(b, "version", h.Tool.Version)
		return appendExtra(b, h.Tool.Extra)
	})
	b = h.Imported.appendTo(b)
	return appendExtra(b, h.Extra)
}

func (h *Hardware) appendTo(b []byte) []byte {
	if h == nil {
		return append(appendKey(b, "hardware"), "null"...)
	}
	return appendObject(b, "hardware", func(b []byte) []byte {
		b = appendOptional(b, "gpu", h.GPU)
		b = appendIntField(b, "gpu_count", h.GPUCount)
		b = appendIntField(b, "cpus", h.CPUs)
		b = appendFloatField(b, "ram_gb", h.RAMGB)
		return appendExtra(b, h.Extra)
	})
}

func (m *Imported) appendTo(b []byte) []byte {
	if m == nil {
		return append(appendKey(b, "imported"), "null"...)
	}
	return appendObject(b, "imported", func(b []byte) []byte {
		b = appendStringField(b, "format", m.Format)
		b = appendOptional(b, "sha256", m.SHA256)
		b = appendOptional(b, "native_id", m.NativeID)
		return appendExtra(b, m.Extra)
	})
}

func (s *Score) appendFields(b []byte) []byte {
	b = appendFloatField(b, "t", s.T)
	b = appendTimeField(b, "at", s.At)
	b = appendFloatField(b, "score", s.Score)
	b = appendFloatField(b, "normalized", s.Normalized)
	basis := s.Basis
	if basis == "" {
		basis = "raw"
	}
	b = appendStringField(b, "basis", string(basis))
	b = appendKey(b, "valid")
	b = strconv.AppendBool(b, s.Valid)
	b = appendOptional(b, "reason", string(s.Reason))
	b = appendRaw(b, "message", s.Message)
	b = appendOptional(b, "submission_sha256", s.SubmissionSHA256)
	b = appendOptional(b, "scorer_sha256", s.ScorerSHA256)
	return appendExtra(b, s.Extra)
}

func (r *Rescore) appendFields(b []byte) []byte {
	b = appendIntField(b, "of_seq", &r.OfSeq)
	b = appendFloatField(b, "score", r.Score)
	b = appendIntField(b, "trials", r.Trials)
	b = appendOptional(b, "reason", r.Reason)
	return appendExtra(b, r.Extra)
}

func appendMoment(b []byte, t *float64, at *time.Time) []byte {
	return appendTimeField(appendFloatField(b, "t", t), "at", at)
}

func (p *Pause) appendFields(b []byte) []byte {
	b = appendOptional(appendMoment(b, p.T, p.At), "reason", p.Reason)
	return appendExtra(b, p.Extra)
}

func (r *Resume) appendFields(b []byte) []byte {
	b = appendOptional(appendMoment(b, r.T, r.At), "reason", r.Reason)
	return appendExtra(b, r.Extra)
}

func (u *Usage) appendFields(b []byte) []byte {
	b = appendMoment(b, u.T, u.At)
	b = appendObject(b, "tokens", func(b []byte) []byte {
		for i := range u.Tokens {
			b = appendIntField(b, u.Tokens[i].Kind, &u.Tokens[i].Count)
		}
		return b
	})
	b = appendFloatField(b, "cost_usd", u.CostUSD)
	return appendExtra(b, u.Extra)
}

func (e *End) appendFields(b []byte) []byte {
	b = appendStringField(appendMoment(b, e.T, e.At), "reason", string(e.Reason))
	return appendExtra(b, e.Extra)
}

func (u *Unknown) appendFields(b []byte) []byte { return appendExtra(b, u.Extra) }
