// Package intake turns canonical attempt logs into what the store keeps: it
// decides an attempt's final normalized score, the group it may be compared in,
// and why it is in no ranking where that is so.
package intake

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

// Meta is what is known about a log from outside it.
type Meta struct {
	Dataset      string // with NativeID the attempt's identity
	NativeID     string
	SourceFile   string
	SourceLine   int
	SourceSHA256 string
	ZoneUnknown  bool          // the source's times are local and their zone is unknown
	Duration     time.Duration // as the source has it; 0 takes it from the log
	PersonID     string
	// Trusted says that the log came from a machine of this server's operators, whose
	// re-scoring counts as done here.
	Trusted bool
	Extra   map[string]string
	Note    string
	Flags   []rebench.Flag
	// Stated are flags that the source states, see store.Item.
	Stated []rebench.Flag
	Hold   bool
	// Unscored, if not "", says why an attempt without a valid entry has an unknown
	// score rather than that of its starting solution.
	Unscored string
	// Unranked, if not "", keeps the attempt out of rankings with this reason.
	Unranked string
}

// Reasons why an attempt is in no ranking.
const (
	UnrankedOpen        = "not finished: the log has no end"
	UnrankedRawOnly     = "raw score without starting and reference scores"
	UnrankedRescore     = "the best entry was not confirmed by re-scoring"
	UnrankedCalibration = "no calibration of this hardware"
	UnrankedHidden      = "its scores are hidden"
	UnrankedReference   = "submits the reference solution"
	UnrankedTestProfile = "test profile"
)

// Log hands the lines of one canonical log to add, stopping at its error, and
// returns the log's summary.
type Log func(add func(*attemptlog.Line) error) (attemptlog.Summary, error)

// NewItem returns the import of one log. Its header is known before its lines are
// read, which happens once, when the store asks for them.
func NewItem(h *attemptlog.Header, m Meta, log Log) (store.Item, error) {
	env, ok := rebench.EnvironmentByID(rebench.EnvironmentID(h.Environment.ID))
	if !ok {
		return store.Item{}, rebench.Errorf(rebench.CodeInvalid, "attempt %s: unknown environment %q; there are %v", h.AttemptID, h.Environment.ID, rebench.EnvironmentIDs())
	}
	profile := rebench.Profile(h.Environment.Profile)
	if !slices.Contains(append(rebench.Profiles(), rebench.ProfileTest), profile) {
		return store.Item{}, rebench.Errorf(rebench.CodeInvalid, "attempt %s: unknown profile %q; there are %v", h.AttemptID, profile, rebench.Profiles())
	}
	return store.Item{
		ID: PublicID(h.AttemptID), Dataset: m.Dataset, NativeID: m.NativeID, Environment: env.ID, Profile: profile,
		Flags: m.Flags, Stated: m.Stated, Hold: m.Hold, Note: m.Note,
		Write: func(w *store.LogWriter) (store.Content, error) {
			b := builder{header: h, meta: m, out: w}
			var err error
			if b.summary, err = log(b.add); err != nil {
				return store.Content{}, err
			}
			return b.content(env, profile)
		},
	}, nil
}

// FromBytes is a log held in memory. The error wraps attemptlog.Faults where it is
// not valid.
func FromBytes(file string, log []byte) Log {
	return func(add func(*attemptlog.Line) error) (attemptlog.Summary, error) {
		r := attemptlog.NewReader(bytes.NewReader(log), attemptlog.Options{File: file})
		for r.Next() {
			if err := add(r.Line()); err != nil {
				return attemptlog.Summary{}, err
			}
		}
		if faults := r.Faults(); len(faults) > 0 {
			list := attemptlog.Faults(faults)
			return attemptlog.Summary{}, &rebench.Error{Code: rebench.CodeInvalid, Message: list.Error(), Err: list}
		}
		return r.Summary(), r.Err()
	}
}

type builder struct {
	header  *attemptlog.Header
	meta    Meta
	out     *store.LogWriter
	summary attemptlog.Summary
	hasLog  bool
	values  []values // for the next entries
	// flags are what the scorer said of valid entries, and of their re-scorings, by
	// the entry's place in the log.
	flags, rescoreFlags map[int64][]string
}

// values are what one entry points to. They are allocated some at a time.
type values struct {
	elapsed         time.Duration
	at              time.Time
	raw, normalized float64
}

const valuesAtOnce = 16

func (b *builder) next() *values {
	if len(b.values) == 0 {
		b.values = make([]values, valuesAtOnce)
	}
	v := &b.values[0]
	b.values = b.values[1:]
	return v
}

// keep stores what p points to in v.
func keep(v, p *float64) *float64 {
	if p == nil {
		return nil
	}
	*v = *p
	return v
}

func (b *builder) add(line *attemptlog.Line) error {
	var err error
	switch e := line.Event.(type) {
	case *attemptlog.Score:
		if e.Valid {
			keepFlags(&b.flags, line.Seq, e.Extra)
		}
		err = b.out.Entry(b.entry(line.Seq, e))
	case *attemptlog.Rescore:
		keepFlags(&b.rescoreFlags, e.OfSeq, e.Extra)
		raw, normalized := copied(e.Score), (*float64)(nil)
		if raw != nil {
			normalized = b.header.Normalize(*raw)
		}
		err = b.out.Rescore(int(e.OfSeq), raw, normalized)
	}
	if err != nil {
		return err
	}
	return b.out.Line(line.Raw)
}

// entry copies an event that is valid only until the next line.
func (b *builder) entry(seq int64, e *attemptlog.Score) rebench.ScoreEntry {
	v := b.next()
	out := rebench.ScoreEntry{
		Seq: int(seq), Raw: keep(&v.raw, e.Score), Normalized: keep(&v.normalized, e.Normalized), Basis: e.Basis, Valid: e.Valid, Reason: string(e.Reason),
		Message:          MessageText(e.Message),
		SubmissionSHA256: e.SubmissionSHA256, ScorerSHA256: e.ScorerSHA256,
	}
	if e.T != nil {
		v.elapsed = Seconds(*e.T)
		out.Elapsed, b.hasLog = &v.elapsed, true
	}
	if e.At != nil {
		v.at = *e.At
		out.At = &v.at
	}
	if out.Normalized == nil && out.Raw != nil {
		if out.Normalized = keep(&v.normalized, b.header.Normalize(*out.Raw)); out.Normalized != nil {
			out.Basis = rebench.BasisRaw
		}
	}
	return out
}

// Seconds is a time in seconds to the nearest millisecond, as the store keeps it.
func Seconds(s float64) time.Duration {
	return time.Duration(math.Round(s*1000)) * time.Millisecond
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// MessageText is a message as readers see it: a JSON string as its text, any other
// value as JSON.
func MessageText(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return string(raw)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (b *builder) content(env rebench.Environment, profile rebench.Profile) (store.Content, error) {
	var a rebench.Attempt
	a.Environment, a.Profile = env.ID, profile
	a.ScorerVersion = b.header.Environment.Version
	if a.ScorerVersion == "" {
		a.ScorerVersion = "unversioned"
	}
	b.fillSolver(&a)
	b.fillConditions(&a)
	hardware, err := hardwareJSON(b.header.Hardware)
	if err != nil {
		return store.Content{}, err
	}
	a.Hardware = hardware
	b.fillScores(&a, env)
	flags, err := b.quarantine(&a, env)
	if err != nil {
		return store.Content{}, err
	}
	head := b.summary.Head.Hash.String()
	return store.Content{Attempt: a, SHA256: head, LogHead: head, Flags: flags}, nil
}

func (b *builder) fillSolver(a *rebench.Attempt) {
	h := b.header
	if h.Human != nil {
		a.Agent = rebench.Agent{Name: rebench.HumanName, Kind: rebench.KindHuman}
		a.Cohort, a.PersonID = rebench.Cohort(h.Human.Cohort), b.meta.PersonID
		return
	}
	a.Agent = rebench.Agent{Name: h.Agent.Name, Model: h.Agent.Model, Scaffold: h.Agent.Scaffold, Kind: rebench.KindAgent}
	var kind string
	if json.Unmarshal(h.Agent.Extra.Get("kind"), &kind) == nil && kind == string(rebench.KindBaseline) {
		a.Agent.Kind = rebench.KindBaseline
	}
}

func (b *builder) fillConditions(a *rebench.Attempt) {
	h, s := b.header, b.summary
	if h.TimeLimitS != nil {
		a.TimeLimit = Seconds(*h.TimeLimitS)
	}
	a.StartedAt, a.EndedAt, a.ZoneUnknown = copied(h.StartedAt), copied(s.EndAt), b.meta.ZoneUnknown
	switch {
	case s.EndT != nil:
		a.Duration = Seconds(*s.EndT)
	case b.meta.Duration > 0:
		a.Duration = b.meta.Duration
	case a.StartedAt != nil && a.EndedAt != nil:
		a.Duration = a.EndedAt.Sub(*a.StartedAt) - s.PausedFor
	case h.Imported != nil:
		var duration float64
		if json.Unmarshal(h.Imported.Extra.Get(attemptlog.ExtraDuration), &duration) == nil && duration > 0 {
			a.Duration = Seconds(duration)
		}
	}
	a.EndReason = string(s.EndReason)
	a.Clock, a.Seed, a.CostUSD = h.Clock, h.Seed, copied(s.CostUSD)
	if n, ok := s.TotalTokens(); ok {
		a.Tokens = &n
	}
	a.StartRaw, a.ReferenceRaw, a.Calibration = copied(h.Scoring.StartRaw), copied(h.Scoring.ReferenceRaw), h.Scoring.CalibrationID
	a.HardwareClass = HardwareClass(a.Profile, h.Hardware)
	a.SourceFile, a.SourceLine, a.SourceSHA256 = b.meta.SourceFile, b.meta.SourceLine, b.meta.SourceSHA256
	a.Extra = map[string]string{"tool": strings.TrimSpace(h.Tool.Name + " " + h.Tool.Version)}
	for k, v := range b.meta.Extra {
		a.Extra[k] = v
	}
}

// fillScores finds the final score.
func (b *builder) fillScores(a *rebench.Attempt, env rebench.Environment) {
	h := b.header
	a.HasLog, a.Basis = b.hasLog, rebench.BasisRaw
	final := b.summary.Final(env.Selection)
	if final == nil {
		// The starting solution could always be submitted.
		a.FinalKnown = b.unscored() == ""
	} else {
		a.Basis, a.FinalRaw = final.Basis, copied(final.Raw)
		normalized := final.Normalized
		if final.Rescore != nil {
			a.FinalRaw, normalized = copied(final.Rescore.Score), nil
			if final.Rescore.Score != nil {
				normalized = h.Normalize(*final.Rescore.Score)
			}
		}
		if normalized != nil {
			a.Final, a.FinalKnown = *normalized, true
		}
	}
	a.Badge = b.badge(final)
	if final != nil {
		a.SubmissionSHA256 = final.SubmissionSHA256
	}
	a.Unranked = b.unranked(a, final)
	a.Ranked = a.Unranked == ""
}

// badge is the rung that the log's own evidence reaches. What an uploader says of
// itself takes it no further than artefacts, which only say what could be checked.
func (b *builder) badge(final *attemptlog.Result) rebench.Badge {
	switch {
	case b.header.Imported != nil || final == nil || final.SubmissionSHA256 == "" || final.ScorerSHA256 == "":
		return rebench.BadgeSelfReported
	case !b.meta.Trusted || final.Rescore == nil || final.Rescore.Score == nil:
		return rebench.BadgeArtefacts
	}
	return rebench.BadgeRescored
}

// unscored says why a log without a valid entry tells nothing of its score.
func (b *builder) unscored() string {
	if b.meta.Unscored != "" {
		return b.meta.Unscored
	}
	if i := b.header.Imported; i != nil {
		var said string
		if json.Unmarshal(i.Extra.Get(attemptlog.ExtraUnscored), &said) == nil && said != "" {
			return said
		}
	}
	if b.summary.HiddenScores > 0 {
		return UnrankedHidden
	}
	return ""
}

func (b *builder) unranked(a *rebench.Attempt, final *attemptlog.Result) string {
	var rankable *bool
	if b.header.Agent != nil {
		_ = json.Unmarshal(b.header.Agent.Extra.Get("rankable"), &rankable)
	}
	switch {
	case a.Profile == rebench.ProfileTest:
		return UnrankedTestProfile
	case rankable != nil && !*rankable:
		return UnrankedReference
	case !b.summary.Ended && b.header.Imported == nil: // score.log and Vivaria record no end
		return UnrankedOpen
	case final != nil && final.Rescore != nil && final.Rescore.Score == nil:
		return UnrankedRescore
	case final == nil && b.unscored() != "":
		return b.unscored()
	case !a.FinalKnown:
		return UnrankedRawOnly
	case a.Profile != rebench.ProfilePaper && a.Calibration == "" && a.Basis == rebench.BasisRaw:
		return UnrankedCalibration
	}
	return b.sourceUnranked()
}

// sourceUnranked is why the log's source keeps it out of rankings, "" where it does not.
func (b *builder) sourceUnranked() string {
	if i := b.header.Imported; i != nil && b.meta.Unranked == "" {
		var said string
		if json.Unmarshal(i.Extra.Get(attemptlog.ExtraUnranked), &said) == nil {
			return said
		}
	}
	return b.meta.Unranked
}

// PublicID is the id that an attempt is served under: the log's own, or a digest
// of it where it does not fit into an address.
func PublicID(attemptID string) string {
	if len(attemptID) <= 200 && attemptID != "" && attemptID[0] != '.' && !strings.ContainsFunc(attemptID, unsafeInID) {
		return attemptID
	}
	sum := sha256.Sum256([]byte(attemptID))
	return "a-" + hex.EncodeToString(sum[:12])
}

func unsafeInID(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:@+~-", r))
}
