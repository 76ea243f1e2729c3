package scoring

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"rebench/internal/rebench"
)

func TestParseVerdict(t *testing.T) {
	const good = `{"valid": true, "raw": -1.5e-3, "reason": null, "message": "m", "flags": ["a"], "trials": [1], "paired_reference_raw": 2, "details": {"k": 1}, "more": 1}`
	v, err := ParseVerdict([]byte("chatter\n" + good + "\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !v.Valid || *v.Raw != -0.0015 || v.Message != "m" || v.Flags[0] != "a" || *v.PairedReferenceRaw != 2 || string(v.Details) != `{"k": 1}` {
		t.Errorf("found %+v", v)
	}
	v, err = ParseVerdict([]byte(`{"valid": false, "raw": null, "reason": "timeout", "message": ""}`))
	if err != nil || v.Valid || v.Raw != nil || *v.Reason != ReasonTimeout || v.Flags == nil || string(v.Trials) != "[]" || string(v.Details) != "{}" {
		t.Errorf("found %+v, %v", v, err)
	}
}

func TestParseVerdictRefuses(t *testing.T) {
	for name, line := range map[string]string{
		"nothing":          "",
		"blank":            " \n\n",
		"text":             "done",
		"array":            "[]",
		"no valid":         `{"raw": 1, "reason": null, "message": ""}`,
		"no raw":           `{"valid": true, "reason": null, "message": ""}`,
		"valid without":    `{"valid": true, "raw": null, "reason": null, "message": ""}`,
		"valid and reason": `{"valid": true, "raw": 1, "reason": "nan", "message": ""}`,
		"invalid with raw": `{"valid": false, "raw": 1, "reason": "nan", "message": ""}`,
		"invalid without":  `{"valid": false, "raw": null, "reason": null, "message": ""}`,
		"unknown reason":   `{"valid": false, "raw": null, "reason": "bored", "message": ""}`,
		"infinite":         `{"valid": true, "raw": 1e999, "reason": null, "message": ""}`,
		"text as raw":      `{"valid": true, "raw": "1", "reason": null, "message": ""}`,
		"text as valid":    `{"valid": "yes", "raw": 1, "reason": null, "message": ""}`,
		"infinite pair":    `{"valid": true, "raw": 1, "reason": null, "message": "", "paired_reference_raw": 1e400}`,
		"trials":           `{"valid": true, "raw": 1, "reason": null, "message": "", "trials": {}}`,
		"details":          `{"valid": true, "raw": 1, "reason": null, "message": "", "details": []}`,
		"cut":              `{"valid": true, "raw": 1, "reason": null, "mess`,
		"two":              `{"valid": true, "raw": 1, "reason": null, "message": ""} {}`,
	} {
		t.Run(name, func(t *testing.T) {
			if v, err := ParseVerdict([]byte(line)); rebench.ErrorCode(err) != rebench.CodeInvalid {
				t.Errorf("found %+v, %v", v, err)
			}
		})
	}
}

// FuzzParseVerdict checks that whatever is taken satisfies the contract.
func FuzzParseVerdict(f *testing.F) {
	f.Add([]byte(`{"valid": true, "raw": 1, "reason": null, "message": ""}`))
	f.Add([]byte(`{"valid": false, "raw": null, "reason": "oom", "message": "", "flags": null, "trials": null, "details": null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ParseVerdict(b)
		if err != nil {
			return
		}
		if v.Valid != (v.Raw != nil) || v.Valid != (v.Reason == nil) || v.Flags == nil || !json.Valid(v.Trials) || !json.Valid(v.Details) {
			t.Errorf("took %q as %+v", b, v)
		}
	})
}

// TestDrawKey checks the derivation against HMAC-SHA256 worked out elsewhere
// (Python: hmac.new(b"k"*16, ..., "sha256")), and that no part can stand for another.
func TestDrawKey(t *testing.T) {
	key := DrawKey([]byte(strings.Repeat("k", 16)), "attempt", "toy", 258)
	if got := hex.EncodeToString(key[:]); got != wantDrawKey {
		t.Errorf("found %s, expected %s", got, wantDrawKey)
	}
	seen := map[[32]byte]string{}
	for _, tc := range []struct {
		secret, attempt, env string
		index                uint64
	}{
		{"0123456789abcdef", "a", "b", 0}, {"0123456789abcdef", "a", "b", 1}, {"0123456789abcdef", "ab", "", 0}, {"0123456789abcdef", "", "ab", 0},
		{"0123456789abcdeg", "a", "b", 0}, {"0123456789abcdef", "a", "c", 0}, {"0123456789abcdef", "a\x00", "b", 0}, {"0123456789abcdef", "a", "b", 1 << 63},
	} {
		k := DrawKey([]byte(tc.secret), tc.attempt, rebench.EnvironmentID(tc.env), tc.index)
		if other, ok := seen[k]; ok {
			t.Errorf("%+v has the key of %s", tc, other)
		}
		seen[k] = tc.attempt
	}
}

const wantDrawKey = "42f5dd25fb78bb4b59385ec5108aa6b2ed8bd30894114a2787a045e49b8733c7"
