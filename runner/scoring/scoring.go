// Package scoring runs an environment's trusted scorer and serves its requests:
// it starts, stops and collects from the sandboxes in which the submission runs.
// The scorer and the submission never share a process, a user or a directory
// that both can write. A fault of the scorer is an error, never a verdict on
// the submission. The protocol is described in environments/README.md.
package scoring

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"time"

	"rebench/internal/rebench"
	"rebench/runner/environment"
)

// Purpose says what a scoring is for.
type Purpose string

// The purposes.
const (
	PurposeScore     Purpose = "score"     // asked for by the solver, or the final one
	PurposeCalibrate Purpose = "calibrate" // start or reference on this hardware
	PurposeRescore   Purpose = "rescore"   // the best entry again, on fresh draws
)

// Target says whose solution is scored.
type Target string

// The targets.
const (
	TargetSubmission Target = "submission"
	TargetStart      Target = "start"
	TargetReference  Target = "reference"
)

// Request describes one scoring.
type Request struct {
	Attempt     string // attempt id; any unique label outside attempts
	Index       uint64 // of the scoring within the attempt: never reuse one
	Environment *environment.Environment
	Profile     *environment.Profile
	Purpose     Purpose
	Target      Target
	// SnapshotDir is a finished snapshot, readable by all (sandbox.Snapshot
	// writes such). Empty for the targets start and reference, whose
	// directories are then taken from the environment.
	SnapshotDir string
	AssetsDir   string          // "" when the environment has none
	Calibration json.RawMessage // as the scorer gets it; nil: null
	GPUs        []int           // leased device minors
	CPUSet      string          // leased cores; "": all
	Threads     int             // compute threads told to scorer and submission; 0: 1
	// DrawKey overrides the derived key, to repeat a logged scoring.
	DrawKey *[32]byte
	// Waiting is called with true when the scoring begins to wait for the
	// machine-wide timing lock and with false when it has it: that time is not
	// the solver's. May be nil.
	Waiting func(bool)
}

// Reason says why a submission is not valid.
type Reason string

// The reasons, as attempt log v1 has them.
const (
	ReasonNaN         Reason = "nan"
	ReasonTimeout     Reason = "timeout"
	ReasonOOM         Reason = "oom"
	ReasonWrongOutput Reason = "wrong_output"
	ReasonRuleBroken  Reason = "rule_broken"
	ReasonHidden      Reason = "hidden"
	ReasonError       Reason = "error"
)

// Verdict is the scorer's answer.
type Verdict struct {
	Valid   bool     `json:"valid"`
	Raw     *float64 `json:"raw"`    // finite; set when Valid
	Reason  *Reason  `json:"reason"` // set when not Valid
	Message string   `json:"message"`
	Flags   []string `json:"flags"`
	// Trials and Details are the scorer's own, kept for the log.
	Trials             json.RawMessage `json:"trials"`
	PairedReferenceRaw *float64        `json:"paired_reference_raw"`
	Details            json.RawMessage `json:"details"`
}

// Outcome is a finished scoring.
type Outcome struct {
	Verdict      Verdict
	DrawKey      [32]byte // secret until the attempt's end
	ScorerSHA256 string
	Started      time.Time
	Wall         time.Duration
	LockWait     time.Duration // of Wall, spent waiting for the timing lock
	// SubmissionTime is how long at least one sandbox with the submission's
	// code was running and not stopped: what the solver's clock is charged.
	SubmissionTime time.Duration
	ScorerStderr   string // its last 64 KiB
}

// Scorer scores submissions.
type Scorer interface {
	// Score runs one scoring. An error means that no verdict exists: the
	// request was wrong (CodeInvalid), ctx ended, or the scorer or this
	// machine failed (CodeInternal, a *Fault in its chain).
	Score(ctx context.Context, req Request) (Outcome, error)
}

// Fault is a failure of the trusted side.
type Fault struct {
	Stage  string // "start", "exit", "output", "protocol", "timeout"
	Detail string
	Stderr string // end of the scorer's standard error
}

func (f *Fault) Error() string {
	s := "scorer fault (" + f.Stage + "): " + f.Detail
	if f.Stderr != "" {
		s += "\n" + f.Stderr
	}
	return s
}

// DrawKey derives the key of all random draws of one scoring: HMAC-SHA256 under
// the runner's secret of attempt, environment (each preceded by its length as 8
// bytes, big-endian) and index (8 bytes, big-endian).
func DrawKey(secret []byte, attempt string, env rebench.EnvironmentID, index uint64) [32]byte {
	mac := hmac.New(sha256.New, secret)
	var n [8]byte
	for _, s := range []string{attempt, string(env)} {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		mac.Write(n[:])
		mac.Write([]byte(s))
	}
	binary.BigEndian.PutUint64(n[:], index)
	mac.Write(n[:])
	return [32]byte(mac.Sum(nil))
}
