package main

import (
	"context"
	"fmt"
	"os"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"rebench/internal/rebench"
	"rebench/runner/calibration"
	"rebench/runner/device"
	"rebench/runner/environment"
	"rebench/runner/scoring"
)

func newCalibrateCommand(g *globals) *cobra.Command {
	var profile string
	var runs int
	c := &cobra.Command{
		Use:   "calibrate ENVIRONMENT",
		Short: "Measure the starting and the reference solution on this machine",
		Long: `Measure the starting and the reference solution on this machine, interleaved,
with no attempt running. Attempts and scorings are normalized by the newest
calibration that fits their scorer, assets, hardware and software.`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, p, err := g.load(args[0], profile)
			if err != nil {
				return err
			}
			m, err := g.openMachine(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			assets, err := m.assets(cmd.Context(), env, p)
			if err != nil {
				return err
			}
			key, err := m.calibrationKey(cmd.Context(), env, p, assets)
			if err != nil {
				return err
			}
			cal, err := m.calibrate(cmd.Context(), env, p, assets, key, runs, false)
			if err != nil {
				return err
			}
			m.progress.done()
			if g.json {
				return g.print(os.Stdout, cal)
			}
			fmt.Printf("%s: %s (%s): start %s, reference %s\n", cal.ID, env.ID, p.Name, cal.Start, cal.Reference)
			return nil
		},
	}
	profileFlag(c, &profile)
	c.Flags().IntVar(&runs, "runs", calibration.MinRuns, "runs of each solution")
	return c
}

func profileFlag(c *cobra.Command, profile *string) {
	c.Flags().StringVar(profile, "profile", string(rebench.ProfileCPU), "profile of the environment: test, cpu, gpu or paper")
}

// calibrated returns the calibration that fits, measuring it when there is none.
func (m *machine) calibrated(ctx context.Context, env *environment.Environment, p *environment.Profile, assets scoring.Assets) (*calibration.Calibration, error) {
	key, err := m.calibrationKey(ctx, env, p, assets)
	if err != nil {
		return nil, err
	}
	cal, err := m.store.Load(key)
	if rebench.ErrorCode(err) != rebench.CodeNotFound {
		return cal, err
	}
	return m.calibrate(ctx, env, p, assets, key, calibration.MinRuns, true)
}

// calibrationTries is how often a calibration is measured, each time with more
// runs, when noise hides the difference of start and reference.
const calibrationTries = 3

// calibrate measures and stores a calibration. It waits for running attempts
// and keeps new ones waiting. With missing set another runner's may be taken
// that was stored during the wait.
func (m *machine) calibrate(ctx context.Context, env *environment.Environment, p *environment.Profile, assets scoring.Assets, key calibration.Key, runs int, missing bool) (*calibration.Calibration, error) {
	bar := m.progress.start("calibrating %s (%s)", env.ID, p.Name)
	defer bar.finish()
	lock, err := m.locks.Calibrating(ctx, fmt.Sprintf("calibration of %s (%s)", env.ID, p.Name), func() {
		m.progress.note("waiting until no attempt and no scoring runs on this machine")
	})
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	if missing {
		if cal, err := m.store.Load(key); err == nil {
			return cal, nil
		}
	}
	lease, err := m.lease(ctx, p, "calibration of "+string(env.ID))
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	if err := device.CheckIdle(ctx, m.inventory, lease.UUIDs(), 0); err != nil {
		return nil, err
	}
	var cal *calibration.Calibration
	for try := range calibrationTries {
		n := runs + try*(runs/2)
		run := m.calibrationRun(env, p, assets, lease)
		cal, err = calibration.Measure(ctx, key, env.Direction, n, run, func(done, of int) {
			bar.set(float64(done)/float64(of), "run %d of %d", done, of)
		})
		if err == nil || cal == nil || try == calibrationTries-1 {
			break
		}
		m.progress.note("%v; measuring again with more runs", err)
	}
	if err != nil {
		return nil, err
	}
	return cal, m.store.Save(cal)
}

// calibrationRun scores start or reference once, each time with fresh draws.
func (m *machine) calibrationRun(env *environment.Environment, p *environment.Profile, assets scoring.Assets, lease *device.Lease) calibration.Run {
	label := "calibration-" + uuid.NewString()
	var index uint64
	return func(ctx context.Context, reference bool) (float64, *float64, error) {
		target := scoring.TargetStart
		if reference {
			target = scoring.TargetReference
		}
		req := scoringRequest(env, p, assets, lease)
		req.Attempt, req.Index, req.Purpose, req.Target = label, index, scoring.PurposeCalibrate, target
		index++
		out, err := m.scorer.Score(ctx, req)
		if err != nil {
			return 0, nil, err
		}
		if !out.Verdict.Valid || out.Verdict.Raw == nil {
			reason := "no reason"
			if out.Verdict.Reason != nil {
				reason = string(*out.Verdict.Reason)
			}
			return 0, nil, rebench.Errorf(rebench.CodeInternal, "calibration of %s: the %s solution is not valid here (%s): %s", env.ID, target, reason, out.Verdict.Message)
		}
		return *out.Verdict.Raw, out.Verdict.PairedReferenceRaw, nil
	}
}

// scoringRequest is what every scoring of a profile on a lease has in common.
func scoringRequest(env *environment.Environment, p *environment.Profile, assets scoring.Assets, lease *device.Lease) scoring.Request {
	req := scoring.Request{Environment: env, Profile: p, AssetsDir: assets.Dir, Threads: computeThreads, CPUSet: lease.CPUSet()}
	for _, gpu := range lease.GPUs {
		req.GPUs = append(req.GPUs, gpu.Minor)
	}
	return req
}
