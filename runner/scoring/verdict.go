package scoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"rebench/internal/rebench"
)

var reasons = []Reason{ReasonNaN, ReasonTimeout, ReasonOOM, ReasonWrongOutput, ReasonRuleBroken, ReasonHidden, ReasonError}

// ParseVerdict reads the verdict from the last non-empty line of a scorer's
// output. Every deviation from the contract is an error: a guess at what a
// scorer meant could turn its fault into a score.
func ParseVerdict(stdout []byte) (Verdict, error) {
	lines := bytes.Split(bytes.TrimSpace(stdout), []byte("\n"))
	line := bytes.TrimSpace(lines[len(lines)-1])
	fault := func(format string, args ...any) (Verdict, error) {
		return Verdict{}, rebench.Errorf(rebench.CodeInvalid, "scorer's last line: "+format+": found %.200q", append(args, line)...)
	}
	if len(line) == 0 {
		return fault("expected a JSON object, the scorer printed nothing")
	}
	var has map[string]json.RawMessage
	if err := json.Unmarshal(line, &has); err != nil {
		return fault("expected a JSON object (%v)", err)
	}
	for _, key := range []string{"valid", "raw", "reason", "message"} {
		if _, ok := has[key]; !ok {
			return fault("expected the key %q", key)
		}
	}
	var v Verdict
	if err := json.Unmarshal(line, &v); err != nil {
		return fault("%v", err)
	}
	if err := v.check(); err != nil {
		return fault("%v", err)
	}
	v.fill()
	return v, nil
}

// check applies the rules between fields.
func (v *Verdict) check() error {
	switch {
	case v.Valid && (v.Raw == nil || v.Reason != nil):
		return fmt.Errorf("expected a raw score and no reason with valid")
	case !v.Valid && (v.Raw != nil || v.Reason == nil):
		return fmt.Errorf("expected a reason and no raw score without valid")
	case v.Reason != nil && !slices.Contains(reasons, *v.Reason):
		return fmt.Errorf("reason: found %q, expected one of %v", *v.Reason, reasons)
	case v.Raw != nil && !finite(*v.Raw), v.PairedReferenceRaw != nil && !finite(*v.PairedReferenceRaw):
		return fmt.Errorf("expected finite numbers")
	}
	if t := bytes.TrimSpace(v.Trials); len(t) > 0 && t[0] != '[' && !bytes.Equal(t, []byte("null")) {
		return fmt.Errorf("trials: expected an array")
	}
	if d := bytes.TrimSpace(v.Details); len(d) > 0 && d[0] != '{' && !bytes.Equal(d, []byte("null")) {
		return fmt.Errorf("details: expected an object")
	}
	return nil
}

func (v *Verdict) fill() {
	if v.Flags == nil {
		v.Flags = []string{}
	}
	if len(v.Trials) == 0 || bytes.Equal(v.Trials, []byte("null")) {
		v.Trials = json.RawMessage("[]")
	}
	if len(v.Details) == 0 || bytes.Equal(v.Details, []byte("null")) {
		v.Details = json.RawMessage("{}")
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
