package attempt

import (
	"errors"
	"fmt"
	"testing"

	"rebench/runner/scoring"
)

// A scorer's traceback would bury the one line that says why.
func TestBriefFault(t *testing.T) {
	for want, err := range map[string]error{
		"disk full":              errors.New("disk full"),
		"scorer fault (exit): x": &scoring.Fault{Stage: "exit", Detail: "x"},
		"timing.Drifted: 1.171":  fmt.Errorf("scoring: %w", &scoring.Fault{Stage: "exit", Detail: "x", Stderr: "Traceback\n  File\ntiming.Drifted: 1.171\n"}),
		"one line":               &scoring.Fault{Stderr: "one line"},
	} {
		if got := brief(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
