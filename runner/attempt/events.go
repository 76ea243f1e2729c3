package attempt

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// maxExtraBytes bounds what a scorer's own details may add to a log line.
const maxExtraBytes = 64 << 10

// extra collects additional keys of a log line.
type extra struct {
	members attemptlog.Extra
}

func (x *extra) add(key string, value any) {
	b, err := json.Marshal(value)
	if err != nil {
		// Only a non-finite number or an unmarshalable type can do this.
		b, _ = json.Marshal("not representable: " + err.Error())
	}
	x.members = append(x.members, attemptlog.Member{Key: key, Value: b})
}

// addRaw adds a scorer's own JSON value, or says that it was too large.
func (x *extra) addRaw(key string, value json.RawMessage) {
	switch {
	case len(value) == 0 || string(value) == "null":
	case len(value) > maxExtraBytes:
		x.add(key+"_omitted_bytes", len(value))
	default:
		x.add(key, value)
	}
}

// header makes the log's first line. Everything that bears on the score is in it.
func (a *Attempt) header() *attemptlog.Header {
	env, prof, cal, ag, hw := a.cfg.Environment, a.cfg.Profile, a.cfg.Calibration, a.cfg.Agent, a.cfg.Hardware
	h := &attemptlog.Header{
		AttemptID:   a.ID(),
		Environment: attemptlog.Environment{ID: string(env.ID), Version: env.Version, Profile: string(prof.Name)},
		TimeLimitS:  ptr(a.cfg.TimeLimit.Seconds()),
		Hardware:    &attemptlog.Hardware{CPUs: ptr(int64(math.Ceil(prof.Limits.CPUs))), RAMGB: ptr(float64(hw.RAMGB))},
		Seed:        ptr(a.cfg.Seed),
		StartedAt:   wallMS(a.started),
		Clock:       rebench.ClockActive,
		Scoring: attemptlog.Scoring{
			Direction: env.Direction, StartRaw: ptr(cal.Start.Median), ReferenceRaw: ptr(cal.Reference.Median), CalibrationID: cal.ID,
		},
		Tool: attemptlog.Tool{Name: "rebench-runner", Version: a.cfg.ToolVersion},
	}
	if n := len(a.cfg.Lease.GPUs); n > 0 {
		h.Hardware.GPU, h.Hardware.GPUCount = a.cfg.Lease.GPUs[0].Name, ptr(int64(n))
	}
	var hx extra
	hx.add("cpu_model", hw.CPUModel)
	hx.add("machine_cpus", hw.CPUs)
	hx.add("fingerprint", hw.Fingerprint())
	h.Hardware.Extra = hx.members
	if ag.Human {
		h.Human = &attemptlog.Human{Cohort: ag.Name, Source: "runner"}
	} else {
		h.Agent = &attemptlog.Agent{Name: ag.Name, Model: ag.Model, Scaffold: ag.Scaffold}
		var ax extra
		ax.add("kind", ag.Kind)
		ax.add("rankable", ag.Rankable)
		if ag.SHA256 != "" {
			ax.add("sha256", ag.SHA256)
		}
		h.Agent.Extra = ax.members
	}
	var sx extra
	sx.add("selection", env.Selection)
	sx.add("scorer_sha256", cal.Key.ScorerSHA256)
	sx.add("start", cal.Start)
	sx.add("reference", cal.Reference)
	h.Scoring.Extra = sx.members
	var x extra
	x.add("limits", a.cfg.Executor.Tier())
	h.Extra = x.members
	return h
}

// scoreEvent makes the line of one entry.
func (a *Attempt) scoreEvent(tk *taken, s scored) *attemptlog.Score {
	e := &attemptlog.Score{
		T: ptr(seconds(tk.t)), At: wallMS(tk.at), Score: s.raw, Normalized: s.normalized, Basis: rebench.BasisRaw,
		Valid: s.verdict.Valid, Message: attemptlog.Text(s.verdict.Message),
		SubmissionSHA256: tk.snapshot.SHA256, ScorerSHA256: s.outcome.ScorerSHA256,
	}
	if e.Normalized != nil {
		e.Normalized = ptr(max(0, *e.Normalized))
	}
	if s.verdict.Reason != nil && !s.verdict.Valid {
		e.Reason = attemptlog.Reason(*s.verdict.Reason)
	}
	e.Extra = outcomeExtra(s)
	return e
}

// outcomeExtra is what a scoring is traced by, beside its score.
func outcomeExtra(s scored) attemptlog.Extra {
	var x extra
	x.add("scoring_index", s.index)
	if len(s.verdict.Flags) > 0 {
		x.add("flags", s.verdict.Flags)
	}
	if s.verdict.PairedReferenceRaw != nil {
		x.add("paired_reference_raw", *s.verdict.PairedReferenceRaw)
	}
	x.addRaw("trial_list", s.verdict.Trials) // `trials` is a number on rescore lines
	x.addRaw("details", s.verdict.Details)
	x.add("wall_s", seconds(s.outcome.Wall))
	x.add("submission_s", seconds(s.outcome.SubmissionTime))
	if s.outcome.LockWait > 0 {
		x.add("lock_wait_s", seconds(s.outcome.LockWait))
	}
	return x.members
}

// rescoreEvent makes the line of the scoring on fresh draws.
func rescoreEvent(seq int64, s scored) *attemptlog.Rescore {
	e := &attemptlog.Rescore{OfSeq: seq, Score: s.raw, Extra: outcomeExtra(s)}
	if s.raw != nil {
		e.Trials = ptr(int64(trialCount(s.verdict.Trials)))
	}
	if s.verdict.Reason != nil && !s.verdict.Valid {
		e.Reason = string(*s.verdict.Reason)
	}
	var x extra
	if s.normalized != nil {
		x.add("normalized", math.Max(0, *s.normalized))
	}
	x.add("message", s.verdict.Message)
	e.Extra = append(e.Extra, x.members...)
	return e
}

// trialCount is the number of trials of a verdict; one that lists none is one trial.
func trialCount(trials json.RawMessage) int {
	var list []json.RawMessage
	if json.Unmarshal(trials, &list) != nil || len(list) == 0 {
		return 1
	}
	return len(list)
}

// faultEvent notes a failure of the trusted side: no entry, no verdict.
func (a *Attempt) faultEvent(tk *taken, err error) *attemptlog.Unknown {
	var x extra
	x.add("t", seconds(tk.t))
	x.add("at", wallMS(tk.at).Format(attemptlog.TimeLayout))
	x.add("detail", cut(err.Error(), 4<<10))
	return &attemptlog.Unknown{Kind: "scorer_fault", Extra: x.members}
}

// revealEvent publishes, once the solver is gone, what repeats the scorings.
func (a *Attempt) revealEvent(draws []draw) *attemptlog.Unknown {
	var x extra
	x.add("draws", draws)
	x.add("attempt_key", hex.EncodeToString(a.cfg.Prepared.Key[:]))
	return &attemptlog.Unknown{Kind: "reveal", Extra: x.members}
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
