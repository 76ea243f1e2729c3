package attemptlog

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong, or for a warning odd, in an uploaded file.
// Its fields are those of the API's errors[].
type Fault struct {
	File   string `json:"file"`             // name as uploaded, never a path to open
	Line   int    `json:"line,omitempty"`   // 1-based, 0 when lines mean nothing
	Column int    `json:"column,omitempty"` // 1-based byte column, 0 when unknown
	Field  string `json:"field,omitempty"`  // dotted path of the field or sample
	Code   string `json:"code"`             // stable word, one of the Code constants
	Detail string `json:"detail"`           // what was found and what was expected
	Hint   string `json:"hint,omitempty"`   // what to do about it
}

// Error writes the fault as one line: place, code, detail.
func (f Fault) Error() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		b.WriteByte(':')
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "%d:", f.Line)
		if f.Column > 0 {
			fmt.Fprintf(&b, "%d:", f.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if f.Field != "" {
		b.WriteString(f.Field)
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s (%s)", f.Detail, f.Code)
	return b.String()
}

// Faults is a list of faults as one error.
type Faults []Fault

// Error writes the first fault and how many more there are.
func (fs Faults) Error() string {
	switch len(fs) {
	case 0:
		return "no faults"
	case 1:
		return fs[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", fs[0].Error(), len(fs)-1)
}

// Codes of faults in an attempt log.
const (
	CodeLineTooLong     = "line_too_long"
	CodeEmptyLine       = "empty_line"
	CodeEmptyFile       = "empty_file"
	CodeTornLine        = "torn_line"
	CodeBadJSON         = "bad_json"
	CodeInvalidUTF8     = "invalid_utf8"
	CodeBadUnicode      = "bad_unicode"
	CodeDuplicateKey    = "duplicate_key"
	CodeTooDeep         = "too_deep"
	CodeNumberRange     = "number_range"
	CodeMissingField    = "missing_field"
	CodeBadType         = "bad_type"
	CodeBadValue        = "bad_value"
	CodeUnsupported     = "unsupported_version"
	CodeBadSeq          = "bad_seq"
	CodeChainBroken     = "chain_broken"
	CodeHeaderMissing   = "header_missing"
	CodeHeaderRepeated  = "header_repeated"
	CodeTimeBackwards   = "time_backwards"
	CodeUnbalancedPause = "unbalanced_pause"
	CodeAfterEnd        = "after_end"
	CodeBadReference    = "bad_reference"
	CodeTooManyFaults   = "too_many_faults"
)

// Codes of warnings about an attempt log.
const (
	WarnBOM           = "bom"
	WarnCRLF          = "crlf"
	WarnNoFinalLF     = "no_final_newline"
	WarnNoEnd         = "no_end"
	WarnClockDrift    = "clock_drift"
	WarnReasonMissing = "reason_missing"
	WarnUsageFell     = "usage_decreased"
	WarnMixedBasis    = "mixed_basis"
	WarnDirection     = "direction_disagrees"
	WarnOverLimit     = "after_time_limit"
)

// MaxFaults is how many faults, and how many warnings, one file collects before
// the rest is left out and said to be.
const MaxFaults = 100

// collector gathers faults up to a cap; the last one says that the cap was met.
type collector struct {
	list []Fault
	max  int
	more int
}

func (c *collector) add(f Fault) {
	if len(c.list) < c.max {
		c.list = append(c.list, f)
		return
	}
	c.more++
}

func (c *collector) full() bool { return len(c.list) >= c.max }

// quote shows untrusted bytes in a message: quoted, escaped and cut.
func quote[T string | []byte](s T) string {
	const max = 80
	if len(s) > max {
		return fmt.Sprintf("%q... (%d bytes)", string(s[:max]), len(s))
	}
	return fmt.Sprintf("%q", string(s))
}
