package ingest

import (
	"bytes"
	"regexp"

	"rebench/internal/attemptlog"
)

// secret is a shape of API key or token. hint is a substring that every match
// contains, so that most texts are passed over without a regular expression.
type secret struct {
	kind    string
	hint    []byte
	pattern *regexp.Regexp
}

// Every pattern matches at least 20 bytes and no quote or backslash except in
// whole escapes, so that replacing a match keeps JSON valid and no longer.
var secrets = []secret{
	{"api key", []byte("sk-"), regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`)},
	{"github token", []byte("gh"), regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{30,}`)},
	{"github token", []byte("github_pat_"), regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{22,}`)},
	{"gitlab token", []byte("glpat-"), regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"hugging face token", []byte("hf_"), regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`)},
	{"aws key", []byte("AKIA"), regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`)},
	{"aws key", []byte("ASIA"), regexp.MustCompile(`\bASIA[0-9A-Z]{16}\b`)},
	{"google key", []byte("AIza"), regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"slack token", []byte("xox"), regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{16,}`)},
	{"bearer token", []byte("earer"), regexp.MustCompile(`\b[Bb]earer +[A-Za-z0-9._~+/=-]{20,}`)},
	{"json web token", []byte("eyJ"), regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
	{"private key", []byte("PRIVATE KEY-----"), regexp.MustCompile(`-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----(?:[^"\\-]|\\[^"]|-{1,4}[^"\\-])*(?:-----END [A-Z ]{0,32}PRIVATE KEY-----)?`)},
}

// minSecretBytes is the length of the shortest match of any pattern.
const minSecretBytes = 20

// redacted replaces a secret.
var redacted = []byte("[redacted]")

// Redact replaces API keys, tokens and private keys of common shapes by
// [redacted] and returns how many there were. Text, and text inside JSON, stays
// valid and never gets longer. b itself is not changed.
func Redact(b []byte) ([]byte, int) {
	n := 0
	if len(b) < minSecretBytes {
		return b, 0
	}
	for _, s := range secrets {
		if !bytes.Contains(b, s.hint) {
			continue
		}
		b = s.pattern.ReplaceAllFunc(b, func([]byte) []byte {
			n++
			return redacted
		})
	}
	return b, n
}

func redactString(s *string) int {
	b, n := Redact([]byte(*s))
	if n > 0 {
		*s = string(b)
	}
	return n
}

func redactExtra(x attemptlog.Extra) int {
	n := 0
	for i := range x {
		b, k := Redact(x[i].Value)
		if k > 0 {
			x[i].Value = b
		}
		n += k + redactString(&x[i].Key)
	}
	return n
}

// redactEvent redacts the free text of an event in place.
func redactEvent(e attemptlog.Event) int {
	switch e := e.(type) {
	case *attemptlog.Score:
		b, n := Redact(e.Message)
		if n > 0 {
			e.Message = b
		}
		return n + redactExtra(e.Extra)
	case *attemptlog.Rescore:
		return redactString(&e.Reason) + redactExtra(e.Extra)
	case *attemptlog.Pause:
		return redactString(&e.Reason) + redactExtra(e.Extra)
	case *attemptlog.Resume:
		return redactString(&e.Reason) + redactExtra(e.Extra)
	case *attemptlog.Usage:
		return redactExtra(e.Extra)
	case *attemptlog.End:
		return redactExtra(e.Extra)
	case *attemptlog.Unknown:
		return redactExtra(e.Extra)
	case *attemptlog.Header:
		return redactHeader(e)
	}
	return 0
}

func redactHeader(h *attemptlog.Header) int {
	n := redactExtra(h.Extra) + redactExtra(h.Environment.Extra) + redactExtra(h.Scoring.Extra) + redactExtra(h.Tool.Extra)
	if a := h.Agent; a != nil {
		n += redactString(&a.Name) + redactString(&a.Model) + redactString(&a.Scaffold) + redactExtra(a.Extra)
	}
	if p := h.Human; p != nil {
		n += redactString(&p.Cohort) + redactString(&p.Source) + redactExtra(p.Extra)
	}
	if w := h.Hardware; w != nil {
		n += redactString(&w.GPU) + redactExtra(w.Extra)
	}
	if m := h.Imported; m != nil {
		n += redactExtra(m.Extra)
	}
	return n
}
