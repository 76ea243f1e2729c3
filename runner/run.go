package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/agent"
	"rebench/runner/attempt"
	"rebench/runner/client"
)

// serverFlags say where logs go.
type serverFlags struct {
	server, token string
	patience      time.Duration
}

func (s *serverFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&s.server, "server", "", "address of the rebench server, e.g. http://127.0.0.1:8080")
	c.Flags().StringVar(&s.token, "token", "", "bearer token (default $"+client.TokenVariable+", which other users cannot see)")
	c.Flags().DurationVar(&s.patience, "deliver-timeout", 5*time.Minute, "how long to wait for the server after an attempt's end")
}

// client returns nil without a server.
func (s *serverFlags) client(note func(string, ...any)) (*client.Client, error) {
	if s.server == "" {
		return nil, nil
	}
	token := s.token
	if token == "" {
		token = os.Getenv(client.TokenVariable)
	}
	c, err := client.New(s.server, token)
	if err == nil && c.SendsTokenInClear() && note != nil {
		note("the token goes to %s unencrypted; use https", s.server)
	}
	return c, err
}

// runFlags are the flags of `runner run` that need reading.
type runFlags struct {
	profile, agent, cohort, limit string
	plan                          plan
	server                        serverFlags
}

func newRunCommand(g *globals) *cobra.Command {
	r := &runFlags{}
	c := &cobra.Command{
		Use:   "run ENVIRONMENT",
		Short: "Run sandboxed attempts",
		Long: `Run sandboxed attempts.

Agents: command:PROGRAM [ARGUMENT...] (a program, or a directory with a program
named run; it starts in /home/agent/solution), human (a shell at this terminal),
starter, reference (flagged, never ranked), tuner (random search over the
parameters the starting solution declares).

Attempt i of N has the seed --seed + i. Time limits are charged time: breaks,
waiting for devices or the timing lock, and the scorer's own work do not count,
and the solver is frozen meanwhile.`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), g, args[0]) },
	}
	profileFlag(c, &r.profile)
	f, p := c.Flags(), &r.plan
	f.StringVar(&r.agent, "agent", "", "the solver: command:PROGRAM, human, starter, reference or tuner")
	f.StringVar(&p.names.Name, "name", "", "name of the agent in results (default: the program's, or the kind)")
	f.StringVar(&p.names.Model, "model", "", "model the agent uses, as results show it")
	f.StringVar(&p.names.Scaffold, "scaffold", "", "scaffold of the agent, as results show it")
	f.StringVar(&r.cohort, "cohort", "local", "cohort of a human solver: a pseudonym of a group, never a person's name")
	f.StringVar(&r.limit, "time-limit", "", "time limit of each attempt, e.g. 10m or 8h (default: the profile's)")
	f.IntVar(&p.attempts, "attempts", 1, "number of attempts")
	f.IntVar(&p.parallel, "parallel", 1, "attempts at a time, as far as devices last")
	f.Int64Var(&p.seed, "seed", 0, "seed told to the first attempt's agent; no graded draw follows from it")
	f.IntVar(&p.maxScorings, "max-scorings", attempt.DefaultMaxScorings, "scorings that one attempt may ask for")
	f.BoolVar(&p.keep, "keep-submissions", false, "keep every scored solution, not only the one that counts")
	r.server.add(c)
	if err := c.MarkFlagRequired("agent"); err != nil {
		panic(err) // the flag is defined above
	}
	return c
}

// read turns flags into a plan, before anything is started.
func (r *runFlags) read(g *globals, env string) error {
	p := &r.plan
	var err error
	if p.env, p.profile, err = g.load(env, r.profile); err != nil {
		return err
	}
	if p.agent, err = agent.Parse(r.agent); err != nil {
		return err
	}
	if p.agent.Kind == agent.KindHuman && p.names.Name == "" {
		p.names.Name = r.cohort
	}
	p.timeLimit = p.profile.TimeLimit()
	if r.limit != "" {
		if p.timeLimit, err = rebench.ParseBudget(r.limit); err != nil {
			return err
		}
	}
	p.patience = r.server.patience
	return errors.Join(p.names.Check(), p.check())
}

func (r *runFlags) run(ctx context.Context, g *globals, env string) error {
	if err := r.read(g, env); err != nil {
		return err
	}
	m, err := g.openMachine(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	if r.plan.server, err = r.server.client(m.progress.note); err != nil {
		return err
	}
	stopPush := m.pushPending(ctx, r.plan.server)
	out, err := m.attempts(ctx, &r.plan)
	stopPush()
	m.progress.done()
	if err != nil {
		return err
	}
	if err := printOutcomes(g, out); err != nil {
		return err
	}
	if r.plan.profile.Name == rebench.ProfileTest {
		m.progress.note("attempts of the test profile are in no ranking%s", where(r.server.server))
	}
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	return runStatus(out, r.plan.server != nil)
}

func printOutcomes(g *globals, out []outcome) error {
	if g.json {
		return g.print(os.Stdout, map[string]any{"attempts": out})
	}
	w := tabwriter.NewWriter(os.Stdout, 2, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ATTEMPT\tSEED\tEND\tENTRIES\tVALID\tSCORE\tNORMALIZED\tDELIVERED")
	for _, o := range out {
		end := string(o.EndReason)
		if end == "" {
			end = "not begun"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%s\t%s\t%v\n", o.ID, o.Seed, end, o.Entries, o.Valid, number(o.Raw), number(o.Normalized), o.Delivered)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, o := range out {
		if o.Error != "" {
			fmt.Fprintf(os.Stderr, "attempt %s: %s\n", cmp.Or(o.ID, fmt.Sprintf("%d of %d", i+1, len(out))), o.Error)
		}
	}
	return nil
}

// where says where a server lists attempts of the test profile.
func where(server string) string {
	if server == "" {
		return ""
	}
	return "; the server lists them at " + strings.TrimSuffix(server, "/") + "/attempts?profile=test"
}

func number(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *x)
}

// runStatus turns outcomes into the program's end.
func runStatus(out []outcome, deliver bool) error {
	var faults, lacking, undelivered int
	for _, o := range out {
		switch {
		case o.EndReason == "" && rebench.ErrorCode(o.err) == rebench.CodeConflict:
			lacking++
		case o.EndReason == "" && o.err != nil && !errors.Is(o.err, context.Canceled):
			faults++
		case o.EndReason == attemptlog.EndError:
			faults++
		}
		if deliver && !o.Delivered && o.Log != "" && o.EndReason != "" {
			undelivered++
		}
	}
	switch {
	case faults > 0:
		return &exitError{exitAttempt, fmt.Errorf("%d of %s failed", faults, rebench.Count(len(out), "attempt"))}
	case lacking > 0:
		return &exitError{exitLacking, fmt.Errorf("%d of %s could not begin on this machine", lacking, rebench.Count(len(out), "attempt"))}
	case undelivered > 0:
		return &exitError{exitUndelivered, fmt.Errorf("%s not delivered; `runner push` goes on", rebench.Count(undelivered, "attempt"))}
	}
	return nil
}
