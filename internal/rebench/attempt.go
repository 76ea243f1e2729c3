package rebench

import (
	"encoding/json"
	"slices"
	"time"
)

// Kind says what sort of solver a result belongs to.
type Kind string

// Kinds of solver. KindPublished marks aggregates that exist only as printed or
// digitised numbers, without attempts.
const (
	KindAgent     Kind = "agent"
	KindHuman     Kind = "human"
	KindBaseline  Kind = "baseline"
	KindPublished Kind = "published"
)

// HumanName is the name under which the human experts appear as a group.
const HumanName = "human"

// HumanTimeLimit is the time limit of every published human attempt.
const HumanTimeLimit = 8 * time.Hour

// Agent identifies a solver: different agents are never pooled.
type Agent struct {
	ID       int64
	Name     string
	Model    string
	Scaffold string
	Kind     Kind
}

// Cohort is a named set of human attempts.
type Cohort string

// CohortPaper71 is our reconstruction of the paper's 71 attempts; CohortAll is
// every human attempt.
const (
	CohortPaper71 Cohort = "paper71"
	CohortAll     Cohort = "all"
)

// Clock says what an attempt's elapsed times measure.
type Clock string

// Clocks of an attempt log.
const (
	ClockActive  Clock = "active"  // pauses excluded
	ClockWorking Clock = "working" // Inspect's working time
	ClockWall    Clock = "wall"
	ClockUnknown Clock = "unknown"
)

// Basis says where a normalized score comes from.
type Basis string

// Bases of a normalized score. BasisRaw: computed from a raw score.
// BasisNormalized: only the normalized score is known. BasisDerived: the raw
// score was decoded from the normalized one.
const (
	BasisRaw        Basis = "raw"
	BasisNormalized Basis = "normalized"
	BasisDerived    Basis = "derived"
)

// Badge is a rung of the provenance ladder.
type Badge string

// The ladder, from weakest to strongest.
const (
	BadgeSelfReported Badge = "self-reported"
	BadgeArtefacts    Badge = "with artefacts"
	BadgeRescored     Badge = "re-scored"
	BadgeReproduced   Badge = "reproduced"
)

// Badges returns the ladder, weakest first.
func Badges() []Badge {
	return []Badge{BadgeSelfReported, BadgeArtefacts, BadgeRescored, BadgeReproduced}
}

// Weaker returns the lower of two rungs. "" stands for no attempt and gives way to
// the other; a badge that is not of the ladder counts as self-reported.
func (b Badge) Weaker(other Badge) Badge {
	if b == "" {
		return other
	}
	if other == "" {
		return b
	}
	all := Badges()
	return all[max(0, min(slices.Index(all, b), slices.Index(all, other)))]
}

// ReproducedWithin is how far the normalized final scores of two attempts with one
// submission may differ for the one to reproduce the other.
const ReproducedWithin = 0.05

// FlagKind says what a flag claims about an attempt.
type FlagKind string

// FlagSuspected attempts are left out of rankings unless the reader includes
// them; FlagInvalid and FlagRetracted ones always are. FlagAudited says that a person
// looked and what was found; it excludes nothing and may be stated again.
const (
	FlagSuspected FlagKind = "suspected"
	FlagInvalid   FlagKind = "invalid"
	FlagRetracted FlagKind = "retracted"
	FlagAudited   FlagKind = "audited"
)

// RuleAuthor begins the author of every flag that a rule raises; no token may be called
// so.
const RuleAuthor = "rule:"

// Flag is one append-only statement about an attempt. Set=false lifts the
// latest flag of that kind; both statements stay on record.
type Flag struct {
	ID           int64
	AttemptID    string
	Kind         FlagKind
	Set          bool
	Author       string
	Reason       string
	At           time.Time
	DataRevision int64
}

// AttemptSummary is the current state of an attempt as rankings need it: one
// row, without its score log.
type AttemptSummary struct {
	ID            string
	Environment   EnvironmentID
	Profile       Profile
	ScorerVersion string
	HardwareClass string // "" when unknown
	AgentID       int64
	Cohort        Cohort        // humans only, else ""
	TimeLimit     time.Duration // 0 when unknown
	Duration      time.Duration // charged or wall time, 0 when unknown
	Final         float64       // normalized final score; 0 when no valid entry
	FinalKnown    bool          // false: a raw score that cannot be normalized
	FinalRaw      *float64      // nil when unknown
	CostUSD       *float64      // nil when unknown
	HasLog        bool          // score entries with known times exist
	Suspected     bool
	Excluded      bool // invalid or retracted
	Ranked        bool // false: open, quarantined or not normalizable, with Unranked saying why
	Unranked      string
	Badge         Badge
	RevisionID    int64
}

// HardwareAssumed reports whether HardwareClass follows from the profile alone: the
// attempt's source names no GPU.
func (a *Attempt) HardwareAssumed() bool {
	if a.Profile != ProfilePaper || a.HardwareClass == "" {
		return false
	}
	var logged struct {
		GPU string `json:"gpu"`
	}
	_ = json.Unmarshal([]byte(a.Hardware), &logged) // "" when nothing is known
	return logged.GPU == ""
}

// ScoreEntry is one scoring within an attempt.
type ScoreEntry struct {
	Seq              int
	Elapsed          *time.Duration // nil when unknown
	At               *time.Time
	Raw              *float64
	Normalized       *float64
	Basis            Basis
	Valid            bool
	Reason           string
	Message          string
	SubmissionSHA256 string
	ScorerSHA256     string
	RescoredRaw      *float64
	Rescored         *float64
}

// Revision is one version of an attempt's content. Attempts are restated by
// adding a revision; nothing is overwritten.
type Revision struct {
	ID            int64
	Number        int
	ContentSHA256 string
	At            time.Time
	Author        string
	Note          string
	DataRevision  int64
	Current       bool
	Final         *float64
	FinalRaw      *float64
}

// DataRevision is one state of the whole database that can be cited.
type DataRevision struct {
	ID     int64
	At     time.Time
	Author string
	Reason string
}

// Attempt is an attempt with everything known about it.
type Attempt struct {
	AttemptSummary
	Agent        Agent
	Dataset      string
	NativeID     string
	PersonID     string // optional pseudonym, uploads only
	StartedAt    *time.Time
	ZoneUnknown  bool
	EndedAt      *time.Time
	EndReason    string // "" while open
	Clock        Clock
	Basis        Basis
	StartRaw     *float64 // starting solution's raw score used to normalize
	ReferenceRaw *float64
	Hardware     string // JSON object as logged, "" when unknown
	Calibration  string
	Seed         *int64
	Tokens       *int64
	// SubmissionSHA256 is the submission of the entry that gives the final score, ""
	// when unknown or when none does.
	SubmissionSHA256 string
	SourceFile       string
	SourceLine       int
	SourceSHA256     string
	LogHead          string // SHA-256 of the attempt log's last line, "" without a log
	LogBytes         int64
	Extra            map[string]string // facts of the source without a column of their own
	Entries          []ScoreEntry
	Flags            []Flag
	Revisions        []Revision
}
