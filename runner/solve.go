package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"rebench/runner/attempt"
	"rebench/runner/sandbox"
)

// solveScript makes a solution in the workspace, for what cannot be committed.
const solveScript = "solve.sh"

// solved is how solve.sh ended.
type solved struct {
	Cause    sandbox.Cause `json:"cause"`
	ExitCode int           `json:"exit_code"`
	WallS    float64       `json:"wall_s"`
	Output   string        `json:"output"` // the end of what it printed
}

// solve runs solve.sh in a prepared workspace and takes the snapshot of what it
// leaves, however it ended: so would an agent's work be taken at its limit.
func (s *singleScoring) solve(ctx context.Context, temp, dst string) (sandbox.Snapshot, error) {
	merged := filepath.Join(temp, "merged")
	limits := s.profile.Limits
	if err := s.lay(ctx, temp, merged, s.env.StartDir(), s.prepared.SolutionDir, s.dir); err != nil {
		return sandbox.Snapshot{}, err
	}
	ws, err := s.m.exec.NewWorkspace(ctx, sandbox.WorkspaceSpec{Name: "solve-" + uuid.NewString(), Role: sandbox.RoleAgent, Space: limits.Space()})
	if err != nil {
		return sandbox.Snapshot{}, err
	}
	defer ws.Close()
	if err := ws.Fill(ctx, merged); err != nil {
		return sandbox.Snapshot{}, err
	}
	if err := s.runSolve(ctx, temp, ws); err != nil {
		return sandbox.Snapshot{}, err
	}
	return ws.Snapshot(ctx, ".", dst, limits.Snapshot())
}

func (s *singleScoring) runSolve(ctx context.Context, temp string, ws sandbox.Workspace) error {
	running, err := s.m.locks.Running(ctx, "solve.sh", s.m.waitingForCalibration)
	if err != nil {
		return err
	}
	defer running.Release()
	lease, err := s.m.lease(ctx, s.profile, "solve.sh")
	if err != nil {
		return err
	}
	defer lease.Release()
	spec, err := attempt.SolverSpec(ctx, attempt.Surroundings{
		Executor: s.m.exec, Environment: s.env, Profile: s.profile, Workspace: ws, Lease: lease,
		AssetsDir: s.assets.Dir, DataDir: s.prepared.DataDir, TimeLimit: s.profile.TimeLimit(), Seed: s.seed, Threads: computeThreads,
	})
	if err != nil {
		return err
	}
	out := &lastBytes{most: 4 << 10}
	spec.Argv, spec.Stdout, spec.Stderr = []string{"/bin/sh", "./" + solveScript}, out, out
	if serve := s.m.service(s.env, s.profile, s.assets, s.label()); serve != nil {
		socket, err := attempt.ListenService(temp, ws)
		if err != nil {
			return err
		}
		defer socket.Close()
		servant, err := serve(ctx, socket.Listener())
		if err != nil {
			return err
		}
		defer func() {
			if _, err := servant.Stop(); err != nil {
				s.m.progress.note("%v", err)
			}
		}()
		socket.Show(&spec)
	}
	bar := s.m.progress.start("%s in a workspace of %s (%s)", solveScript, s.env.ID, s.profile.Name)
	defer bar.finish()
	begin := time.Now()
	proc, err := s.m.exec.Start(ctx, spec)
	if err != nil {
		return err
	}
	res, err := proc.Wait(context.WithoutCancel(ctx)) // it is killed when ctx ends
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.solved = &solved{Cause: res.Cause, ExitCode: res.ExitCode, WallS: time.Since(begin).Seconds(), Output: string(out.buf)}
	if res.Cause != sandbox.CauseExit || res.ExitCode != 0 {
		s.m.progress.note("%s ended by %s %d %s: %s", solveScript, res.Cause, res.ExitCode, res.Detail, out.buf)
	}
	return nil
}

// lay copies the trees, under the rules of a snapshot, over each other to dst. Empty names are left out.
func (s *singleScoring) lay(ctx context.Context, temp, dst string, trees ...string) error {
	limits := s.profile.Limits.Snapshot()
	for i, tree := range trees {
		if tree == "" {
			continue
		}
		part := filepath.Join(temp, fmt.Sprintf("part-%d", i))
		if _, err := sandbox.TakeSnapshot(ctx, tree, ".", part, limits); err != nil {
			return err
		}
		if err := attempt.Overlay(dst, part); err != nil {
			return err
		}
	}
	return nil
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	most int
	buf  []byte
}

func (w *lastBytes) Write(b []byte) (int, error) {
	w.buf = append(w.buf, b...)
	if extra := len(w.buf) - w.most; extra > 0 {
		w.buf = append(w.buf[:0], w.buf[extra:]...)
	}
	return len(b), nil
}
