package attemptlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"rebench/internal/rebench"
)

// Limits of the format.
const (
	MaxLineBytes = 1 << 20       // bytes of one line without its LF
	MaxDepth     = 64            // nesting of arrays and objects, the line itself is 1
	MaxInteger   = 1<<53 - 1     // largest magnitude of an integer
	Format       = "attempt-log" // header.format
	Version      = 1             // header.version
	// TimeLayout is how times are written.
	TimeLayout = "2006-01-02T15:04:05.000Z"
	// MediaType of a log served over HTTP.
	MediaType = "application/x-ndjson"
)

// Hash is the SHA-256 of a line's bytes without its LF.
type Hash [sha256.Size]byte

// String returns the hash as 64 lower-case hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads 64 hex digits.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != 2*len(h) {
		return h, rebench.Errorf(rebench.CodeInvalid, "hash %s is not 64 hex digits", quote(s))
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return h, rebench.Errorf(rebench.CodeInvalid, "hash %s is not 64 hex digits", quote(s))
	}
	return h, nil
}

// Head identifies a log up to and including one line. A log without lines has
// Seq -1 and the zero hash.
type Head struct {
	Seq  int64
	Hash Hash
}

// NoHead is the head of a log without lines.
var NoHead = Head{Seq: -1}

// Event is one line's content: *Header, *Score, *Rescore, *Pause, *Resume,
// *Usage, *End or *Unknown.
type Event interface {
	// Type is the line's `type`.
	Type() string
	appendFields(b []byte) []byte
}

// Member is one unknown key of an object with its value verbatim.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Extra keeps the unknown keys of an object in the order of the file.
type Extra []Member

// Get returns the value of a key, nil when absent.
func (x Extra) Get(key string) json.RawMessage {
	for _, m := range x {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Environment says what was attempted.
type Environment struct {
	ID      string // e.g. "optimize_kernel"
	Version string // version of the environment's scorer, "" when unknown
	Profile string // paper, gpu or cpu
	Extra   Extra
}

// Agent is the AI system that made the attempt.
type Agent struct {
	Name     string
	Model    string // "" when unknown
	Scaffold string // "" when unknown
	Extra    Extra
}

// Human is the person, known by cohort only, who made the attempt.
type Human struct {
	Cohort string
	Source string // "" when unknown
	Extra  Extra
}

// Hardware is what the attempt ran on.
type Hardware struct {
	GPU      string // model name, "" for none or unknown
	GPUCount *int64 // nil when unknown
	CPUs     *int64
	RAMGB    *float64
	Extra    Extra
}

// Scoring says how raw scores are read. Normalized = max(0, (raw-start)/(reference-start)).
type Scoring struct {
	Direction     rebench.Direction // min, max, or "" when unknown
	StartRaw      *float64
	ReferenceRaw  *float64
	CalibrationID string // "" when none
	Extra         Extra
}

// Tool is the program that wrote the log.
type Tool struct {
	Name    string
	Version string
	Extra   Extra
}

// Imported says what file a log was converted from.
type Imported struct {
	Format   string
	SHA256   string // hex digest of the source file
	NativeID string // identity within the source
	Extra    Extra
}

// Keys in Imported.Extra for what the lines of a converted log cannot say.
const (
	ExtraUnscored = "unscored"   // why the score of an attempt without a valid entry is unknown
	ExtraUnranked = "unranked"   // why the attempt is in no ranking
	ExtraDuration = "duration_s" // from start to end, where the times themselves are unknown
)

// Header is the first line of a log. Exactly one of Agent and Human is set.
type Header struct {
	AttemptID   string
	Environment Environment
	Agent       *Agent
	Human       *Human
	TimeLimitS  *float64 // seconds, nil when unknown or none
	Hardware    *Hardware
	Seed        *int64
	StartedAt   *time.Time
	Clock       rebench.Clock
	Scoring     Scoring
	Tool        Tool
	Imported    *Imported
	Extra       Extra
}

// Reason says why a score entry is not valid.
type Reason string

// Reasons of an invalid score entry.
const (
	ReasonNaN         Reason = "nan"
	ReasonTimeout     Reason = "timeout"
	ReasonOOM         Reason = "oom"
	ReasonWrongOutput Reason = "wrong_output"
	ReasonRuleBroken  Reason = "rule_broken"
	ReasonHidden      Reason = "hidden"
	ReasonError       Reason = "error"
)

// Score is one scoring of a submission.
type Score struct {
	T                *float64        // seconds of the log's clock when scoring started, pauses excluded; nil only with clock unknown
	At               *time.Time      // wall time when scoring started
	Score            *float64        // raw score
	Normalized       *float64        // >= 0
	Basis            rebench.Basis   // raw, normalized (only that is known) or derived (raw decoded from it)
	Valid            bool            // implies Score or Normalized
	Reason           Reason          // "" when valid or unknown
	Message          json.RawMessage // what the agent saw: any JSON value, nil for null
	SubmissionSHA256 string          // "" when unknown
	ScorerSHA256     string
	Extra            Extra
}

// Rescore is a later, independent scoring of an entry on fresh inputs.
type Rescore struct {
	OfSeq  int64    // seq of the score line
	Score  *float64 // raw score, nil when the rescoring failed
	Trials *int64   // number of fresh draws behind Score
	Reason string
	Extra  Extra
}

// Pause stops the attempt's clock; Resume starts it again.
type Pause struct {
	T      *float64
	At     *time.Time
	Reason string
	Extra  Extra
}

// Resume ends a Pause.
type Resume struct {
	T      *float64
	At     *time.Time
	Reason string
	Extra  Extra
}

// TokenCount is a cumulative number of tokens of one kind.
type TokenCount struct {
	Kind  string
	Count int64
}

// Usage is what the attempt has used so far, cumulative.
type Usage struct {
	T       *float64
	At      *time.Time
	Tokens  []TokenCount // in the order of the file
	CostUSD *float64     // nil when unknown: unknown is not zero
	Extra   Extra
}

// EndReason says why an attempt ended.
type EndReason string

// Reasons of an attempt's end.
const (
	EndSubmitted  EndReason = "submitted"
	EndTimeLimit  EndReason = "time_limit"
	EndTokenLimit EndReason = "token_limit"
	EndCostLimit  EndReason = "cost_limit"
	EndCancelled  EndReason = "cancelled"
	EndError      EndReason = "error"
	EndUnknown    EndReason = "unknown"
)

// End closes the attempt.
type End struct {
	T      *float64
	At     *time.Time
	Reason EndReason
	Extra  Extra
}

// Unknown is a line of a type that this version does not know, kept verbatim.
type Unknown struct {
	Kind  string // the line's type
	Extra Extra  // every key but type, seq and prev
}

// Type returns the line type.
func (*Header) Type() string    { return "header" }
func (*Score) Type() string     { return "score" }
func (*Rescore) Type() string   { return "rescore" }
func (*Pause) Type() string     { return "pause" }
func (*Resume) Type() string    { return "resume" }
func (*Usage) Type() string     { return "usage" }
func (*End) Type() string       { return "end" }
func (u *Unknown) Type() string { return u.Kind }

// Text makes a string into a Score.Message.
func Text(s string) json.RawMessage { return appendString(nil, s) }

// Clone copies an entry so that it may be kept after Reader.Next.
func (s *Score) Clone() *Score {
	c := *s
	c.T, c.At, c.Score, c.Normalized = clone(s.T), clone(s.At), clone(s.Score), clone(s.Normalized)
	c.Message = slices.Clone(s.Message)
	c.Extra = make(Extra, 0, len(s.Extra))
	for _, m := range s.Extra {
		c.Extra = append(c.Extra, Member{m.Key, slices.Clone(m.Value)})
	}
	if len(c.Extra) == 0 {
		c.Extra = nil
	}
	return &c
}
