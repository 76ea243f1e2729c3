package attempt

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rebench/internal/rebench"
	"rebench/runner/calibration"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// scorerTries is how often a scoring is tried when the trusted side fails, for
// one because the machine has drifted from its calibration. Every try has draws
// of its own.
const scorerTries = 3

// handle serves one request of the solver.
func (a *Attempt) handle(op Op) Answer {
	switch op {
	case OpScore:
		return a.score()
	case OpLog:
		a.mu.Lock()
		defer a.mu.Unlock()
		from := max(0, len(a.entries)-maxLogEntries)
		list := append([]Entry{}, a.entries[from:]...)
		for i := range list {
			list[i].Message = cut(list[i].Message, maxListedMessage)
		}
		return Answer{OK: true, Entries: list, Omitted: from}
	default:
		return Answer{OK: true, RemainingS: a.remainingS(), TimeLimitS: ptr(a.cfg.TimeLimit.Seconds())}
	}
}

// remainingS is told in whole seconds: what a hidden scoring was charged must
// not say more than that.
func (a *Attempt) remainingS() *float64 {
	return ptr(math.Floor(a.clock.Remaining().Seconds()))
}

// score serves the op score: freeze, snapshot, score, log, answer.
func (a *Attempt) score() Answer {
	if !a.scoreMu.TryLock() {
		return refusal(ErrBusy, "a scoring is running; one at a time")
	}
	defer a.scoreMu.Unlock()
	ctx := a.scoringCtx
	if word, why := a.refuseScore(); word != "" {
		return refusal(word, why)
	}
	begin := a.time.Now()
	taken, answer, err := a.take(ctx)
	if err != nil {
		a.fail(err)
		return refusal(ErrRunner, "the runner failed; the attempt ends")
	}
	if taken == nil {
		return answer
	}
	answer = a.scoreTaken(ctx, taken)
	// Durations leak what a hidden score hides: answer on a grid, the solver
	// still frozen where it was for the scoring.
	a.waitGrid(ctx, begin)
	if err := taken.release(ctx); err != nil {
		a.fail(err)
	}
	if answer.OK {
		answer.RemainingS = a.remainingS()
	}
	return answer
}

func (a *Attempt) refuseScore() (ErrorWord, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.over == ErrTimeLimit || a.over == "" && a.clock.Remaining() <= 0:
		return ErrTimeLimit, "the time limit is reached; no further score counts"
	case a.over != "":
		return a.over, "the attempt is over"
	case len(a.entries) >= a.cfg.MaxScorings:
		return ErrTooMany, fmt.Sprintf("all %d scorings of this attempt are used", a.cfg.MaxScorings)
	}
	return "", ""
}

// taken is a solution that was taken from the solver to be scored.
type taken struct {
	t        time.Duration // charged time when its scoring started
	at       time.Time
	dir      string
	snapshot sandbox.Snapshot
	refused  string // the snapshot was refused: why
	release  func(context.Context) error
}

// take freezes the solver, copies its solution and thaws it again unless the
// environment keeps it frozen. A nil taken comes with the answer to give.
func (a *Attempt) take(ctx context.Context) (*taken, Answer, error) {
	frozen := a.cfg.Environment.FreezeAgentWhileScoring
	release := a.thaw
	var err error
	if frozen {
		release = a.release
		err = a.hold(ctx, pauseScoring, false)
	} else {
		err = a.freeze(ctx)
	}
	if err != nil {
		return nil, Answer{}, rebench.Errorf(rebench.CodeInternal, "freeze the solver: %w", err)
	}
	// The solver stands still: what it has now is what is scored, and now is
	// when. A request that came in time but was served too late does not count.
	tk := &taken{t: a.clock.Elapsed(), at: a.time.Wall(), release: release}
	if tk.t >= a.cfg.TimeLimit {
		return nil, refusal(ErrTimeLimit, "the time limit is reached; no further score counts"), release(ctx)
	}
	a.scoringBegins()
	begin := a.time.Now()
	err = a.snapshot(ctx, tk)
	if frozen {
		a.charge(a.time.Now() - begin)
	} else {
		tk.release = func(context.Context) error { return nil }
		err = errors.Join(err, a.thaw(ctx))
	}
	if err != nil {
		return nil, Answer{}, errors.Join(err, a.scoringLogged(), tk.release(ctx))
	}
	return tk, Answer{}, nil
}

// snapshot copies the solution to a new directory below submissions/.
func (a *Attempt) snapshot(ctx context.Context, tk *taken) error {
	parent := filepath.Join(a.cfg.Dir.Path, submissions)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return rebench.Errorf(rebench.CodeInternal, "snapshot: %w", err)
	}
	a.mu.Lock()
	tk.dir = filepath.Join(parent, fmt.Sprintf("%06d", a.nextIndex))
	a.mu.Unlock()
	snap, err := a.ws.Snapshot(ctx, ".", tk.dir, a.cfg.Profile.Limits.Snapshot())
	var refused *sandbox.RefusedError
	if errors.As(err, &refused) {
		tk.refused = refused.Error()
		return nil
	}
	tk.snapshot = snap
	return err
}

// scoreTaken scores what was taken, logs the entry and makes the answer.
func (a *Attempt) scoreTaken(ctx context.Context, tk *taken) Answer {
	a.setState("scoring")
	defer a.setState("running")
	var out scored
	if tk.refused != "" {
		out = scored{verdict: refusedVerdict(tk.refused)}
	} else {
		var err error
		if out, err = a.scoreWithRetries(ctx, scoring.PurposeScore, tk.dir); err != nil {
			a.dropSubmission(tk.dir)
			return a.scorerFailed(tk, err)
		}
	}
	seq, err := a.append(a.scoreEvent(tk, out))
	if err == nil {
		err = a.scoringLogged()
	}
	if err != nil {
		return refusal(ErrRunner, "the entry could not be written; the attempt ends")
	}
	a.keep(seq, tk.dir)
	entry := a.entryFor(tk, out)
	a.mu.Lock()
	entry.Number = len(a.entries)
	a.entries = append(a.entries, entry)
	a.mu.Unlock()
	return Answer{OK: true, Entry: &entry}
}

// scorerFailed notes that nothing was scored, by no fault of the solver.
func (a *Attempt) scorerFailed(tk *taken, err error) Answer {
	if a.scoringCtx.Err() != nil {
		if lerr := a.scoringLogged(); lerr != nil {
			a.fail(lerr)
		}
		return refusal(ErrEnded, "the attempt was cancelled")
	}
	a.logger.Error("scoring failed", "error", err.Error())
	if _, lerr := a.append(a.faultEvent(tk, err)); lerr == nil {
		if lerr = a.scoringLogged(); lerr != nil {
			a.fail(lerr)
		}
	}
	return refusal(ErrRunner, "the scorer failed; nothing was scored and nothing counts against you")
}

// scored is a verdict with what the calibration makes of it.
type scored struct {
	index      uint64 // of the scoring that gave the verdict
	verdict    scoring.Verdict
	outcome    scoring.Outcome
	raw        *float64
	normalized *float64
}

func refusedVerdict(why string) scoring.Verdict {
	return scoring.Verdict{Reason: ptr(scoring.ReasonRuleBroken), Message: why}
}

// scoreWithRetries runs one scoring, again when the trusted side failed.
func (a *Attempt) scoreWithRetries(ctx context.Context, purpose scoring.Purpose, dir string) (scored, error) {
	var last error
	for try := range scorerTries {
		if err := ctx.Err(); err != nil {
			return scored{}, err
		}
		out, err := a.scoreOnce(ctx, purpose, dir)
		if err == nil {
			return out, nil
		}
		last = err
		a.logger.Warn("a scoring gave no result", "try", try+1, "error", brief(err))
		a.logger.Debug("the fault", "error", err.Error())
	}
	return scored{}, last
}

// brief is a fault without the scorer's traceback, of which the last line says why.
func brief(err error) string {
	var fault *scoring.Fault
	if !errors.As(err, &fault) {
		return err.Error()
	}
	why := strings.TrimSpace(fault.Stderr)
	if why == "" {
		return err.Error()
	}
	return why[strings.LastIndexByte(why, '\n')+1:]
}

func (a *Attempt) scoreOnce(ctx context.Context, purpose scoring.Purpose, dir string) (scored, error) {
	a.mu.Lock()
	index := a.nextIndex
	a.nextIndex++
	a.mu.Unlock()
	cal, err := json.Marshal(a.cfg.Calibration)
	if err != nil {
		return scored{}, rebench.Errorf(rebench.CodeInternal, "calibration: %w", err)
	}
	req := scoring.Request{
		Attempt: a.ID(), Index: index, Environment: a.cfg.Environment, Profile: a.cfg.Profile,
		Purpose: purpose, Target: scoring.TargetSubmission, SnapshotDir: dir, AssetsDir: a.cfg.AssetsDir,
		Calibration: cal, CPUSet: a.cfg.Lease.CPUSet(), Threads: a.cfg.Calibration.Key.Threads,
	}
	for _, g := range a.cfg.Lease.GPUs {
		req.GPUs = append(req.GPUs, g.Minor)
	}
	if purpose == scoring.PurposeScore && !a.cfg.Environment.FreezeAgentWhileScoring {
		req.Waiting = a.waiting(ctx)
	}
	out, err := a.cfg.Scorer.Score(ctx, req)
	if err != nil {
		return scored{}, err
	}
	a.mu.Lock()
	a.draws = append(a.draws, draw{Index: index, Purpose: string(purpose), Key: hex.EncodeToString(out.DrawKey[:])})
	onHold := a.pause.depth > 0
	a.mu.Unlock()
	if purpose == scoring.PurposeScore && a.cfg.Environment.FreezeAgentWhileScoring && onHold {
		a.charge(out.SubmissionTime)
	}
	out.Verdict.Message = cut(out.Verdict.Message, maxMessageBytes)
	s := scored{index: index, verdict: out.Verdict, outcome: out}
	if !out.Verdict.Valid {
		return s, nil
	}
	if out.Verdict.Raw == nil {
		return scored{}, rebench.Errorf(rebench.CodeInternal, "the scorer gave a valid verdict without a score")
	}
	n, err := a.cfg.Calibration.Normalize(*out.Verdict.Raw)
	if err != nil {
		return scored{}, err
	}
	s.raw, s.normalized = out.Verdict.Raw, &n
	return s, nil
}

// waiting makes waiting for the timing lock a pause of a solver that runs on
// while it is scored.
func (a *Attempt) waiting(ctx context.Context) func(bool) {
	return func(begins bool) {
		var err error
		if begins {
			err = a.hold(ctx, pauseTiming, false)
		} else {
			err = a.release(ctx)
		}
		if err != nil && ctx.Err() == nil {
			a.fail(err)
		}
	}
}

// waitGrid waits until a multiple of the environment's answer step has passed since begin.
func (a *Attempt) waitGrid(ctx context.Context, begin time.Duration) {
	step := time.Duration(a.cfg.Environment.AnswerStepS * float64(time.Second))
	if step <= 0 {
		return
	}
	now := a.time.Now()
	if rest := (now - begin) % step; rest > 0 {
		a.time.SleepUntil(ctx, now+step-rest) // cut short only by the attempt's end
	}
}

// entryFor is what the solver sees of an entry. The message of a valid one stays in
// the log where the score is told: it holds what was measured, and so undoes the
// rounding.
func (a *Attempt) entryFor(tk *taken, s scored) Entry {
	e := Entry{T: seconds(tk.t), Valid: s.verdict.Valid}
	if !s.verdict.Valid || !a.cfg.Environment.ScoreVisible {
		e.Message = s.verdict.Message
	}
	if s.verdict.Reason != nil {
		e.Reason = string(*s.verdict.Reason)
	}
	if s.raw != nil && a.cfg.Environment.ScoreVisible {
		e.Score = ptr(calibration.Round(*s.raw, max(a.cfg.Environment.ScoreStep, a.cfg.Calibration.Noise())))
	}
	return e
}

// keep remembers where an entry's solution is, and removes those that can no
// longer be the one that counts.
func (a *Attempt) keep(seq int64, dir string) {
	a.mu.Lock()
	a.kept[seq] = submission{dir: dir}
	a.mu.Unlock()
	if a.cfg.KeepSubmissions {
		return
	}
	sum := a.log.Summary()
	counts := sum.Final(a.cfg.Environment.Selection)
	a.mu.Lock()
	defer a.mu.Unlock()
	for s, sub := range a.kept {
		if counts == nil || s != counts.Seq {
			a.dropSubmission(sub.dir)
			delete(a.kept, s)
		}
	}
}

func (a *Attempt) dropSubmission(dir string) {
	if dir == "" {
		return
	}
	if err := os.RemoveAll(dir); err != nil {
		a.logger.Warn("a submission's copy stays", "dir", dir, "error", err.Error())
	}
}
