package attempt

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"rebench/internal/rebench"
)

// Limits of the score socket's protocol: one request line, one answer line.
const (
	maxRequestBytes  = 4 << 10         // of a request line without its LF
	requestDeadline  = 2 * time.Second // for the whole line to arrive
	answerDeadline   = 2 * time.Second // for the solver to take the answer
	maxLogEntries    = 1000            // entries that one `log` answer holds, the latest
	maxMessageBytes  = 16 << 10        // of a scorer's message
	maxListedMessage = 500             // of a message in a `log` answer
)

// Op is what a solver may ask for.
type Op string

// The operations.
const (
	OpScore     Op = "score"     // score the solution as it is now
	OpLog       Op = "log"       // the entries so far, as they were answered
	OpRemaining Op = "remaining" // how much of the time limit is left
)

// parseRequest reads one request line without its LF: a JSON object with the
// one key `op`, and nothing after it.
func parseRequest(line []byte) (Op, error) {
	bad := func(format string, args ...any) (Op, error) {
		return "", rebench.Errorf(rebench.CodeInvalid, format, args...)
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	tok, err := dec.Token()
	if err != nil || tok != json.Delim('{') {
		return bad("expected a JSON object such as {\"op\":\"score\"}")
	}
	// Token by token: Unmarshal would take OP for op and the last of two ops.
	key, err := dec.Token()
	if err != nil || key != "op" {
		return bad("expected the key op and no other")
	}
	value, err := dec.Token()
	if err != nil {
		return bad("the value of op is not JSON")
	}
	op, ok := value.(string)
	if !ok {
		return bad("the value of op is not a string")
	}
	if tok, err = dec.Token(); err != nil || tok != json.Delim('}') {
		return bad("expected the object to end after op")
	}
	if _, err = dec.Token(); err != io.EOF {
		return bad("expected nothing after the object")
	}
	switch Op(op) {
	case OpScore, OpLog, OpRemaining:
		return Op(op), nil
	}
	return bad("unknown op; expected score, log or remaining")
}

// ErrorWord says why a request was not served.
type ErrorWord string

// Why a request was not served.
const (
	ErrMalformed ErrorWord = "malformed"  // not a request
	ErrBusy      ErrorWord = "busy"       // a scoring is running, or too many connections
	ErrTimeLimit ErrorWord = "time_limit" // the time is over, no further score counts
	ErrEnded     ErrorWord = "ended"      // the attempt is over
	ErrTooMany   ErrorWord = "too_many"   // the attempt's number of scorings is used up
	ErrRunner    ErrorWord = "runner"     // the runner or the scorer failed; nothing was scored
)

// Answer is the line a solver gets. Which fields are set depends on the op.
type Answer struct {
	OK      bool      `json:"ok"`
	Error   ErrorWord `json:"error,omitempty"`
	Message string    `json:"message,omitempty"`

	Entry   *Entry  `json:"entry,omitempty"`   // op score
	Entries []Entry `json:"entries,omitempty"` // op log, oldest first
	Omitted int     `json:"omitted,omitempty"` // op log: older entries left out

	RemainingS *float64 `json:"remaining_s,omitempty"` // ops remaining and score; whole seconds
	TimeLimitS *float64 `json:"time_limit_s,omitempty"`
}

// Entry is a score entry as the solver sees it.
type Entry struct {
	Number  int      `json:"number"` // 0, 1, ...
	T       float64  `json:"t"`      // s
	Valid   bool     `json:"valid"`
	Score   *float64 `json:"score"` // raw, rounded to the noise; null when hidden or invalid
	Reason  string   `json:"reason,omitempty"`
	Message string   `json:"message,omitempty"` // from the scorer
}

func refusal(word ErrorWord, message string) Answer {
	return Answer{Error: word, Message: message}
}
