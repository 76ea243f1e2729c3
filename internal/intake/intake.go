// Package intake turns attempt logs into what the store keeps: it decides an
// attempt's final normalized score, the group it may be compared in, and why it
// is in no ranking where that is so.
package intake

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	Dataset      string // "" is the log's own namespace (DatasetLogs)
	NativeID     string // "" is the log's attempt_id
	SourceFile   string
	SourceLine   int
	SourceSHA256 string
	ZoneUnknown  bool // started_at is a naive time
	PersonID     string
	Badge        rebench.Badge // "" is self-reported
	Extra        map[string]string
	Note         string
	Author       string
	// Cohort and so on of a human, and flags, come with the log; Flags adds to them.
	Flags []rebench.Flag
}

// DatasetLogs is the dataset of logs that carry their own attempt id.
const DatasetLogs = "attempt-logs"

// Reasons why an attempt is in no ranking.
const (
	UnrankedOpen        = "not finished: the log has no end"
	UnrankedRawOnly     = "raw score without starting and reference scores"
	UnrankedRescore     = "the best entry was not confirmed by re-scoring"
	UnrankedCalibration = "no calibration of this hardware"
	UnrankedReference   = "submits the reference solution"
	UnrankedTestProfile = "test profile"
)

// Item reads a whole attempt log v1 and returns what the store keeps of it. The
// error wraps attemptlog.Faults where the log is not valid.
func Item(log []byte, m Meta) (store.Item, error) {
	r := attemptlog.NewReader(bytes.NewReader(log), attemptlog.Options{File: m.SourceFile})
	b := builder{meta: m, rescores: map[int64]*attemptlog.Rescore{}}
	for r.Next() {
		b.add(r.Line())
	}
	if err := r.Err(); err != nil {
		return store.Item{}, err
	}
	if faults := r.Faults(); len(faults) > 0 {
		return store.Item{}, &rebench.Error{Code: rebench.CodeInvalid, Message: attemptlog.Faults(faults).Error(), Err: attemptlog.Faults(faults)}
	}
	b.header, b.summary = r.Header(), r.Summary()
	item, err := b.item()
	if err != nil {
		return store.Item{}, err
	}
	item.Log, item.LogHead, item.LogLines = log, b.summary.Head.Hash.String(), int(b.summary.Lines)
	sum := sha256.Sum256(log)
	item.ContentSHA256 = hex.EncodeToString(sum[:])
	return item, nil
}

type builder struct {
	meta     Meta
	header   *attemptlog.Header
	summary  attemptlog.Summary
	entries  []rebench.ScoreEntry
	rescores map[int64]*attemptlog.Rescore
}

func (b *builder) add(line *attemptlog.Line) {
	switch e := line.Event.(type) {
	case *attemptlog.Score:
		b.entries = append(b.entries, entry(line.Seq, e))
	case *attemptlog.Rescore:
		b.rescores[e.OfSeq] = e
	}
}

func entry(seq int64, e *attemptlog.Score) rebench.ScoreEntry {
	out := rebench.ScoreEntry{
		Seq: int(seq), Raw: copied(e.Score), Normalized: copied(e.Normalized), Basis: e.Basis, Valid: e.Valid, Reason: string(e.Reason),
		Message: MessageText(e.Message), SubmissionSHA256: e.SubmissionSHA256, ScorerSHA256: e.ScorerSHA256,
	}
	if e.T != nil {
		d := time.Duration(math.Round(*e.T*1000)) * time.Millisecond
		out.Elapsed = &d
	}
	if e.At != nil {
		at := *e.At
		out.At = &at
	}
	return out
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
	if len(raw) == 0 {
		return ""
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (b *builder) item() (store.Item, error) {
	h := b.header
	env, ok := rebench.EnvironmentByID(rebench.EnvironmentID(h.Environment.ID))
	if !ok {
		return store.Item{}, rebench.Errorf(rebench.CodeInvalid, "attempt %s: unknown environment %q; there are %v", h.AttemptID, h.Environment.ID, rebench.EnvironmentIDs())
	}
	profile := rebench.Profile(h.Environment.Profile)
	if !slices.Contains(append(rebench.Profiles(), rebench.ProfileTest), profile) {
		return store.Item{}, rebench.Errorf(rebench.CodeInvalid, "attempt %s: unknown profile %q; there are %v", h.AttemptID, profile, rebench.Profiles())
	}
	var a rebench.Attempt
	a.Dataset, a.NativeID = b.meta.Dataset, b.meta.NativeID
	if a.Dataset == "" {
		a.Dataset = DatasetLogs
	}
	if a.NativeID == "" {
		a.NativeID = h.AttemptID
	}
	a.ID = AttemptID(a.Dataset, a.NativeID)
	a.Environment, a.Profile = env.ID, profile
	a.ScorerVersion = h.Environment.Version
	if a.ScorerVersion == "" {
		a.ScorerVersion = "unversioned"
	}
	b.fillSolver(&a)
	if err := b.fillConditions(&a); err != nil {
		return store.Item{}, err
	}
	b.fillScores(&a, env)
	return store.Item{Attempt: a, Flags: b.meta.Flags, Note: b.meta.Note}, nil
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

func (b *builder) fillConditions(a *rebench.Attempt) error {
	h, s := b.header, b.summary
	if h.TimeLimitS != nil {
		a.TimeLimit = time.Duration(math.Round(*h.TimeLimitS*1000)) * time.Millisecond
	}
	a.StartedAt, a.EndedAt, a.ZoneUnknown = copied(h.StartedAt), copied(s.EndAt), b.meta.ZoneUnknown
	if s.EndT != nil {
		a.Duration = time.Duration(math.Round(*s.EndT*1000)) * time.Millisecond
	} else if a.StartedAt != nil && a.EndedAt != nil {
		a.Duration = a.EndedAt.Sub(*a.StartedAt) - s.PausedFor
	}
	a.EndReason = string(s.EndReason)
	a.Clock, a.Seed, a.CostUSD = h.Clock, h.Seed, copied(s.CostUSD)
	if n, ok := s.TotalTokens(); ok {
		a.Tokens = &n
	}
	a.StartRaw, a.ReferenceRaw, a.Calibration = copied(h.Scoring.StartRaw), copied(h.Scoring.ReferenceRaw), h.Scoring.CalibrationID
	a.HardwareClass = HardwareClass(a.Profile, h.Hardware)
	if h.Hardware != nil {
		hardware, err := json.Marshal(hardwareFacts(h.Hardware))
		if err != nil {
			return err
		}
		a.Hardware = string(hardware)
	}
	a.Badge = b.meta.Badge
	if a.Badge == "" {
		a.Badge = rebench.BadgeSelfReported
	}
	a.SourceFile, a.SourceLine, a.SourceSHA256 = b.meta.SourceFile, b.meta.SourceLine, b.meta.SourceSHA256
	a.Extra = map[string]string{"tool": strings.TrimSpace(h.Tool.Name + " " + h.Tool.Version)}
	for k, v := range b.meta.Extra {
		a.Extra[k] = v
	}
	return nil
}

// fillScores normalizes the entries and finds the final score.
func (b *builder) fillScores(a *rebench.Attempt, env rebench.Environment) {
	h := b.header
	for i := range b.entries {
		e := &b.entries[i]
		if e.Normalized == nil && e.Raw != nil {
			if e.Normalized = h.Normalize(*e.Raw); e.Normalized != nil {
				e.Basis = rebench.BasisRaw
			}
		}
		if r := b.rescores[int64(e.Seq)]; r != nil && r.Score != nil {
			e.RescoredRaw, e.Rescored = copied(r.Score), h.Normalize(*r.Score)
		}
		a.HasLog = a.HasLog || e.Elapsed != nil
	}
	a.Entries = b.entries
	a.Basis = rebench.BasisRaw
	final := b.summary.Final(env.Selection)
	if final == nil {
		// The starting solution could always be submitted.
		a.FinalKnown = true
	} else {
		a.Basis = final.Basis
		a.FinalRaw = copied(final.Raw)
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
	a.Unranked = b.unranked(a, final)
	a.Ranked = a.Unranked == ""
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
	case !b.summary.Ended:
		return UnrankedOpen
	case final != nil && final.Rescore != nil && final.Rescore.Score == nil:
		return UnrankedRescore
	case !a.FinalKnown:
		return UnrankedRawOnly
	case a.Profile != rebench.ProfilePaper && a.Calibration == "" && a.Basis == rebench.BasisRaw:
		return UnrankedCalibration
	}
	return ""
}

// AttemptID is the public id of an attempt: the native id where a log names
// itself, else dataset and native id. Characters that do not belong in an address
// turn it into a digest.
func AttemptID(dataset, native string) string {
	id := dataset + ":" + native
	if dataset == DatasetLogs {
		id = native
	}
	if len(id) > 128 || strings.ContainsFunc(id, unsafeInID) || id == "" || strings.HasPrefix(id, ".") {
		sum := sha256.Sum256([]byte(dataset + "\x00" + native))
		return "a-" + hex.EncodeToString(sum[:12])
	}
	return id
}

func unsafeInID(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:-", r))
}

// HardwareClass groups machines whose results may be ranked together. The paper's
// conditions are one class; elsewhere it is the GPU model and count, or the CPU
// model and cores.
func HardwareClass(profile rebench.Profile, h *attemptlog.Hardware) string {
	switch {
	case h == nil || h.GPU == "" && profile == rebench.ProfilePaper:
		if profile == rebench.ProfilePaper {
			return "h100"
		}
		return ""
	case h.GPU != "":
		gpu := strings.ToLower(strings.TrimSpace(h.GPU))
		if profile == rebench.ProfilePaper && strings.Contains(gpu, "h100") {
			return "h100"
		}
		n := int64(1)
		if h.GPUCount != nil {
			n = *h.GPUCount
		}
		return fmt.Sprintf("%d x %s", n, gpu)
	}
	var model string
	_ = json.Unmarshal(h.Extra.Get("cpu_model"), &model)
	if model == "" {
		model = "cpu"
	}
	if h.CPUs == nil {
		return strings.ToLower(model)
	}
	return fmt.Sprintf("%d cores of %s", *h.CPUs, strings.ToLower(model))
}

// hardwareFacts is the hardware as a flat JSON object, unknown facts left out.
func hardwareFacts(h *attemptlog.Hardware) map[string]any {
	out := map[string]any{}
	if h.GPU != "" {
		out["gpu"] = h.GPU
	}
	if h.GPUCount != nil {
		out["gpu_count"] = *h.GPUCount
	}
	if h.CPUs != nil {
		out["cpus"] = *h.CPUs
	}
	if h.RAMGB != nil {
		out["ram_gb"] = *h.RAMGB
	}
	for _, m := range h.Extra {
		out[m.Key] = m.Value
	}
	return out
}
