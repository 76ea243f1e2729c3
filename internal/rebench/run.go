package rebench

import "time"

// Run is a request for attempts that a runner is to make.
type Run struct {
	ID          int64     `json:"id,string"`
	At          time.Time `json:"at"`
	Author      string    `json:"author"`
	Environment string    `json:"environment"`
	Profile     string    `json:"profile"`
	Agent       string    `json:"agent"`
	TimeLimitS  int64     `json:"time_limit_s"`
	Attempts    int       `json:"attempts"`
	Parallel    int       `json:"parallel"`
	Seed        int64     `json:"seed"`
	State       RunState  `json:"state"`
	ClaimedBy   string    `json:"claimed_by"`
	Updated     time.Time `json:"updated"`
	Message     string    `json:"message"`
	AttemptIDs  []string  `json:"attempt_ids"`
}

// RunState is where a run stands.
type RunState string

// States of a run.
const (
	RunQueued    RunState = "queued"
	RunClaimed   RunState = "claimed"
	RunRunning   RunState = "running"
	RunDone      RunState = "done"
	RunFailed    RunState = "failed"
	RunCancelled RunState = "cancelled"
)

// Over reports whether nothing follows the state.
func (s RunState) Over() bool { return s == RunDone || s == RunFailed || s == RunCancelled }

// LiveAttempt is an attempt that a runner streams or has streamed.
type LiveAttempt struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Updated time.Time `json:"updated"`
	Seq     int64     `json:"seq"`  // of the last line
	Head    string    `json:"head"` // SHA-256 of the last line
	Ended   bool      `json:"ended"`
}
