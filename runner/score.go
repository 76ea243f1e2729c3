package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rebench/internal/rebench"
	"rebench/runner/calibration"
	"rebench/runner/device"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// verdict is what `runner score --json` prints.
type verdict struct {
	Valid        bool            `json:"valid"`
	Raw          *float64        `json:"raw"`
	Normalized   *float64        `json:"normalized"` // floored at 0, as everywhere
	Reason       *string         `json:"reason"`
	Flags        []string        `json:"flags"`
	Trials       json.RawMessage `json:"trials"`
	Calibration  calibrated      `json:"calibration"`
	ScorerSHA256 string          `json:"scorer_sha256"`

	Environment        string          `json:"environment"`
	Profile            string          `json:"profile"`
	Seed               int64           `json:"seed"`
	Message            string          `json:"message"` // what a solver may see
	Unclipped          *float64        `json:"normalized_unclipped"`
	PairedReferenceRaw *float64        `json:"paired_reference_raw"`
	SubmissionSHA256   string          `json:"submission_sha256"`
	Details            json.RawMessage `json:"details"`
	WallS              float64         `json:"wall_s"`
	SubmissionS        float64         `json:"submission_s"`
	Solve              *solved         `json:"solve,omitempty"`
	Repeatability      *repeatability  `json:"repeatability,omitempty"` // with --repeat
}

// calibrated is the calibration that a verdict was normalized with.
type calibrated struct {
	ID        string           `json:"id"`
	Start     calibration.Side `json:"start"`
	Reference calibration.Side `json:"reference"`
}

func newScoreCommand(g *globals) *cobra.Command {
	var profile string
	var seed int64
	var repeats int
	c := &cobra.Command{
		Use:   "score ENVIRONMENT DIRECTORY",
		Short: "Score one solution, outside any attempt",
		Long: `Score one solution, outside any attempt. Assets are built and the machine is
calibrated first when none fits. A directory with solve.sh is first run in a
prepared workspace, as an agent would be, within the profile's time limit; what
it leaves is scored.

The draws derive from this machine's secret and the seed: the same seed repeats
them here and nowhere else. Exit status 0 means that there is a verdict, whether
the solution is valid or not. With --repeat the same submission is scored that
often, on fresh draws each time, and the spread is reported beside the first
verdict.`,
		Args: exactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, p, err := g.load(args[0], profile)
			if err != nil {
				return err
			}
			if repeats < 1 || repeats > maxRepeats {
				return rebench.Errorf(rebench.CodeInvalid, "--repeat %d: expected 1 to %d", repeats, maxRepeats)
			}
			st, err := os.Stat(args[1])
			if err != nil || !st.IsDir() {
				return rebench.Errorf(rebench.CodeInvalid, "%s is not a directory", args[1])
			}
			m, err := g.openMachine(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			s := &singleScoring{m: m, env: env, profile: p, dir: args[1], seed: seed, repeats: repeats}
			v, err := s.run(cmd.Context())
			if err != nil {
				return err
			}
			m.progress.done()
			return v.print(g)
		},
	}
	profileFlag(c, &profile)
	c.Flags().IntVar(&repeats, "repeat", 1, "how often the same submission is scored")
	c.Flags().Int64Var(&seed, "seed", 0, "seed of the draws and of the workspace")
	return c
}

// singleScoring is one `runner score`.
type singleScoring struct {
	m       *machine
	env     *environment.Environment
	profile *environment.Profile
	dir     string
	seed    int64
	repeats int

	assets scoring.Assets
	cal    *calibration.Calibration
	index  uint64
	solved *solved

	prepared *preparation
}

func (s *singleScoring) run(ctx context.Context) (*verdict, error) {
	var err error
	if s.assets, err = s.m.assets(ctx, s.env, s.profile); err != nil {
		return nil, err
	}
	if s.cal, err = s.m.calibrated(ctx, s.env, s.profile, s.assets); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "rebench-score-")
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "score: %w", err)
	}
	defer os.RemoveAll(temp)
	if s.prepared, err = s.m.prepare(ctx, s.env, s.profile, s.assets, s.label(), filepath.Join(temp, "prepared")); err != nil {
		return nil, err
	}
	defer s.prepared.remove()
	snap, err := s.snapshot(ctx, temp)
	var refused *sandbox.RefusedError
	if errors.As(err, &refused) {
		return s.refused(refused)
	}
	if err != nil {
		return nil, err
	}
	out, err := s.score(ctx, snap.Dir)
	var fault *scoring.Fault
	if errors.As(err, &fault) && ctx.Err() == nil {
		// The machine may have changed since it was calibrated.
		s.m.progress.note("the scorer gave no verdict (%s); calibrating again", fault.Detail)
		key, kerr := s.m.calibrationKey(ctx, s.env, s.profile, s.assets)
		if kerr != nil {
			return nil, kerr
		}
		if s.cal, err = s.m.calibrate(ctx, s.env, s.profile, s.assets, key, calibration.MinRuns, false); err != nil {
			return nil, err
		}
		out, err = s.score(ctx, snap.Dir)
	}
	if err != nil {
		return nil, err
	}
	v, err := s.verdict(out)
	if err != nil {
		return nil, err
	}
	v.SubmissionSHA256 = snap.SHA256
	if s.repeats > 1 {
		v.Repeatability, err = s.repeat(ctx, snap, v, s.repeats)
	}
	return v, err
}

// snapshot copies the solution as an attempt's would be, after solve.sh where there is one.
func (s *singleScoring) snapshot(ctx context.Context, temp string) (sandbox.Snapshot, error) {
	dst := filepath.Join(temp, "snapshot")
	if _, err := os.Lstat(filepath.Join(s.dir, solveScript)); err == nil {
		return s.solve(ctx, temp, dst)
	}
	if s.prepared.SolutionDir == "" {
		return sandbox.TakeSnapshot(ctx, s.dir, ".", dst, s.profile.Limits.Snapshot())
	}
	merged := filepath.Join(temp, "merged")
	if err := s.lay(ctx, temp, merged, s.prepared.SolutionDir, s.dir); err != nil {
		return sandbox.Snapshot{}, err
	}
	return sandbox.TakeSnapshot(ctx, merged, ".", dst, s.profile.Limits.Snapshot())
}

// label is the attempt that the draws of this scoring derive from.
func (s *singleScoring) label() string { return fmt.Sprintf("score-seed-%d", s.seed) }

// scoreTries is how often a scoring is tried when the trusted side fails.
const scoreTries = 3

func (s *singleScoring) score(ctx context.Context, dir string) (scoring.Outcome, error) {
	running, err := s.m.locks.Running(ctx, "score", s.m.waitingForCalibration)
	if err != nil {
		return scoring.Outcome{}, err
	}
	defer running.Release()
	lease, err := s.m.lease(ctx, s.profile, "score")
	if err != nil {
		return scoring.Outcome{}, err
	}
	defer lease.Release()
	if err := device.CheckIdle(ctx, s.m.inventory, lease.UUIDs(), 0); err != nil {
		return scoring.Outcome{}, err
	}
	cal, err := json.Marshal(s.cal)
	if err != nil {
		return scoring.Outcome{}, rebench.Errorf(rebench.CodeInternal, "calibration: %w", err)
	}
	bar := s.m.progress.start("scoring %s (%s)", s.env.ID, s.profile.Name)
	defer bar.finish()
	var last error
	for range scoreTries {
		req := scoringRequest(s.env, s.profile, s.assets, lease)
		req.Attempt, req.Index = s.label(), s.index
		req.Purpose, req.Target, req.SnapshotDir, req.Calibration = scoring.PurposeScore, scoring.TargetSubmission, dir, cal
		s.index++
		out, err := s.m.scorer.Score(ctx, req)
		if err == nil {
			return out, nil
		}
		last = err
		var fault *scoring.Fault
		if !errors.As(err, &fault) || ctx.Err() != nil {
			break
		}
		s.m.logger.Info("a scoring gave no verdict", "error", err.Error())
	}
	return scoring.Outcome{}, last
}

func (s *singleScoring) verdict(out scoring.Outcome) (*verdict, error) {
	v := &verdict{
		Valid: out.Verdict.Valid, Flags: out.Verdict.Flags, Trials: out.Verdict.Trials, ScorerSHA256: out.ScorerSHA256,
		Calibration: calibrated{s.cal.ID, s.cal.Start, s.cal.Reference},
		Environment: string(s.env.ID), Profile: string(s.profile.Name), Seed: s.seed, Message: out.Verdict.Message,
		PairedReferenceRaw: out.Verdict.PairedReferenceRaw, Details: out.Verdict.Details,
		WallS: out.Wall.Seconds(), SubmissionS: out.SubmissionTime.Seconds(), Solve: s.solved,
	}
	if v.Flags == nil {
		v.Flags = []string{}
	}
	if len(v.Trials) == 0 {
		v.Trials = json.RawMessage("[]")
	}
	if out.Verdict.Valid {
		if out.Verdict.Raw == nil {
			return nil, rebench.Errorf(rebench.CodeInternal, "the scorer gave a valid verdict without a score")
		}
		n, err := s.cal.Normalize(*out.Verdict.Raw)
		if err != nil {
			return nil, err
		}
		floored := max(0, n)
		v.Raw, v.Normalized, v.Unclipped = out.Verdict.Raw, &floored, &n
	} else if out.Verdict.Reason != nil {
		r := string(*out.Verdict.Reason)
		v.Reason = &r
	}
	return v, nil
}

// refused is the verdict on a directory that no snapshot can be taken of.
func (s *singleScoring) refused(why *sandbox.RefusedError) (*verdict, error) {
	reason := scoring.ReasonRuleBroken
	sum, err := s.env.ScorerHash()
	if err != nil {
		return nil, err
	}
	return s.verdict(scoring.Outcome{Verdict: scoring.Verdict{Reason: &reason, Message: why.Error()}, ScorerSHA256: sum})
}

func (v *verdict) print(g *globals) error {
	if g.json {
		return g.print(os.Stdout, v)
	}
	if !v.Valid {
		reason := "no reason"
		if v.Reason != nil {
			reason = *v.Reason
		}
		fmt.Printf("not valid (%s): %s\n", reason, v.Message)
		return nil
	}
	fmt.Printf("raw %.5f, normalized %.4f (start %s, reference %s)\n%s\n", *v.Raw, *v.Unclipped, v.Calibration.Start, v.Calibration.Reference, v.Message)
	for _, f := range v.Flags {
		fmt.Println("flag:", f)
	}
	if v.Repeatability != nil {
		fmt.Println(v.Repeatability)
	}
	return nil
}
