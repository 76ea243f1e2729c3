package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/agent"
	"rebench/runner/attempt"
	"rebench/runner/client"
)

// worker takes queued runs from a server, one at a time.
type worker struct {
	g            *globals
	m            *machine
	client       *client.Client
	patience     time.Duration
	poll         time.Duration
	allowCommand bool
	once         bool
}

func newWorkCommand(g *globals) *cobra.Command {
	var srv serverFlags
	w := &worker{g: g}
	c := &cobra.Command{
		Use:   "work",
		Short: "Take queued runs from a server",
		Long: `Take queued runs from a server, one at a time, until interrupted. Runs may name
starter, reference or tuner; command agents only with --allow-command, since the
server then chooses which of this machine's programs are copied into sandboxes.`,
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if srv.server == "" {
				return &exitError{exitUsage, errors.New("work needs --server")}
			}
			if w.poll < 100*time.Millisecond {
				return &exitError{exitUsage, errors.New("--poll is at least 100ms")}
			}
			m, err := g.openMachine(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			w.m, w.patience = m, srv.patience
			if w.client, err = srv.client(m.progress.note); err != nil {
				return err
			}
			defer m.pushPending(cmd.Context(), w.client)()
			return w.run(cmd.Context())
		},
	}
	srv.add(c)
	c.Flags().DurationVar(&w.poll, "poll", 5*time.Second, "how often to ask for work")
	c.Flags().BoolVar(&w.allowCommand, "allow-command", false, "let the server name programs of this machine as agents")
	c.Flags().BoolVar(&w.once, "once", false, "end when no run is queued")
	return c
}

// run claims and carries out runs. A server that is away is waited for; one that
// refuses the token is not.
func (w *worker) run(ctx context.Context) error {
	away := false
	for ctx.Err() == nil {
		job, err := w.client.Claim(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil && !client.Retryable(err):
			return fmt.Errorf("asking for work: %w", err)
		case err != nil:
			if !away {
				w.m.progress.note("the server is away, waiting: %v", err)
			}
			away = true
		case job == nil:
			away = false
			if w.once {
				return nil
			}
		default:
			away = false
			w.carryOut(ctx, job)
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.poll):
		}
	}
	return nil
}

// carryOut runs one job and reports how it went.
func (w *worker) carryOut(ctx context.Context, job *client.Job) {
	w.m.progress.note("run %s: %s (%s), agent %s, %s", job.ID, job.Environment, job.Profile, job.Agent, rebench.Count(job.Attempts, "attempt"))
	var mu sync.Mutex
	ids := []string{}
	report := func(state client.JobState, message string) {
		mu.Lock()
		s := client.JobStatus{State: state, Message: message, AttemptIDs: append([]string{}, ids...)}
		mu.Unlock()
		w.report(ctx, job.ID, s)
	}
	p, err := w.plan(job)
	if err != nil {
		report(client.JobFailed, err.Error())
		return
	}
	p.began = func(id string) {
		mu.Lock()
		ids = append(ids, id)
		mu.Unlock()
		report(client.JobRunning, "")
	}
	report(client.JobRunning, "preparing: assets and calibration")
	out, err := w.m.attempts(ctx, p)
	mu.Lock()
	untouched := len(ids) == 0
	mu.Unlock()
	if ctx.Err() != nil && untouched {
		report(client.JobQueued, "given back: the runner was stopped before an attempt began")
		w.m.progress.note("run %s is given back to the queue", job.ID)
		return
	}
	if err == nil {
		err = jobError(ctx, out)
	}
	if err != nil {
		report(client.JobFailed, err.Error())
		return
	}
	report(client.JobDone, "")
}

// plan checks what the server asks for: it is input like any other.
func (w *worker) plan(job *client.Job) (*plan, error) {
	spec, err := agent.Parse(job.Agent)
	if err != nil {
		return nil, err
	}
	switch {
	case spec.Kind == agent.KindHuman:
		return nil, rebench.Errorf(rebench.CodeInvalid, "a queued run cannot have a human solver")
	case spec.Kind == agent.KindCommand && !w.allowCommand:
		return nil, rebench.Errorf(rebench.CodeInvalid, "this runner takes no command agents from the server (runner work --allow-command)")
	}
	env, prof, err := w.g.load(job.Environment, job.Profile)
	if err != nil {
		return nil, err
	}
	p := &plan{
		env: env, profile: prof, agent: spec, timeLimit: prof.TimeLimit(), attempts: job.Attempts, parallel: max(1, job.Parallel),
		seed: job.Seed, maxScorings: attempt.DefaultMaxScorings, server: w.client, patience: w.patience,
	}
	if job.TimeLimitS > 0 {
		p.timeLimit = time.Duration(job.TimeLimitS * float64(time.Second))
	}
	return p, p.check()
}

// jobError says what kept a run's attempts from being whole.
func jobError(ctx context.Context, out []outcome) error {
	var faults []string
	notBegun := 0
	for _, o := range out {
		switch {
		case ctx.Err() != nil && o.EndReason == "":
			notBegun++
		case o.EndReason == "" && o.Error != "":
			faults = append(faults, "an attempt could not begin: "+o.Error)
		case o.EndReason == attemptlog.EndCancelled:
			faults = append(faults, fmt.Sprintf("attempt %s was cancelled", o.ID))
		case o.Error != "":
			faults = append(faults, fmt.Sprintf("attempt %s: %s", o.ID, o.Error))
		case !o.Delivered:
			faults = append(faults, fmt.Sprintf("attempt %s is not delivered yet", o.ID))
		}
	}
	if notBegun > 0 {
		faults = append(faults, fmt.Sprintf("%s did not begin", rebench.Count(notBegun, "attempt")))
	}
	if ctx.Err() != nil {
		faults = append([]string{"the runner was stopped"}, faults...)
	}
	if len(faults) == 0 {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}

// report tries a few times: the server may be restarting just now.
func (w *worker) report(ctx context.Context, id string, s client.JobStatus) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	var err error
	for range 5 {
		if err = w.client.Report(ctx, id, s); err == nil || !client.Retryable(err) {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	if err != nil {
		w.m.logger.Warn("the server was not told how the run is", "run", id, "state", s.State, "error", err.Error())
	}
}
