package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/attempt"
	"rebench/runner/client"
)

func newPushCommand(g *globals) *cobra.Command {
	var srv serverFlags
	c := &cobra.Command{
		Use:   "push [LOG|ATTEMPT...]",
		Short: "Deliver attempt logs to a server",
		Long: `Deliver attempt logs to a server: files, or attempts of this state directory by
id. Without arguments: every closed attempt here that was to be delivered and is
not yet. What the server has it ignores; a log that differs from what the server
holds is refused.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			logs, err := g.logsToPush(args)
			if err != nil {
				return err
			}
			prog := newProgress(os.Stderr, g.quiet)
			defer prog.done()
			return g.push(cmd.Context(), logs, &srv, prog)
		},
	}
	srv.add(c)
	return c
}

// pushable is a log to deliver.
type pushable struct {
	path string
	dir  *attempt.Dir // nil for a file given by path
}

func (g *globals) logsToPush(args []string) ([]pushable, error) {
	state, err := g.openState()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return pendingLogs(state, "")
	}
	var out []pushable
	for _, arg := range args {
		if st, err := os.Stat(arg); err == nil && st.Mode().IsRegular() {
			out = append(out, pushable{path: arg})
			continue
		}
		d, err := state.Open(arg)
		if err != nil {
			return nil, rebench.Errorf(rebench.CodeNotFound, "%q is neither a file nor an attempt here", arg)
		}
		out = append(out, pushable{path: d.LogPath(), dir: d})
	}
	return out, nil
}

// pendingLogs lists the closed logs that were to go to a server and have not;
// server "" means any.
func pendingLogs(state *attempt.State, server string) ([]pushable, error) {
	dirs, err := state.List()
	if err != nil {
		return nil, err
	}
	var out []pushable
	for _, d := range dirs {
		if d.Meta.Server == "" || server != "" && d.Meta.Server != server || isDelivered(d) {
			continue
		}
		if _, sum, err := verifyLog(d.LogPath()); err == nil && sum.Ended {
			out = append(out, pushable{path: d.LogPath(), dir: d})
		}
	}
	return out, nil
}

// verifyLog reads a whole log; what is wrong with it is an error of CodeInvalid.
func verifyLog(path string) (*attemptlog.Header, attemptlog.Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, attemptlog.Summary{}, rebench.Errorf(rebench.CodeNotFound, "attempt log: %w", err)
	}
	defer f.Close()
	r := attemptlog.NewReader(f, attemptlog.Options{File: filepath.Base(path)})
	for r.Next() {
	}
	if err := r.Err(); err != nil {
		return nil, attemptlog.Summary{}, rebench.Errorf(rebench.CodeInternal, "attempt log %s: %w", path, err)
	}
	if faults := r.Faults(); len(faults) > 0 {
		return nil, attemptlog.Summary{}, &rebench.Error{Code: rebench.CodeInvalid, Message: attemptlog.Faults(faults).Error(), Err: attemptlog.Faults(faults)}
	}
	return r.Header(), r.Summary(), nil
}

// pushed is the result of one log.
type pushed struct {
	Log          string `json:"log"`
	AttemptID    string `json:"attempt_id"`
	Acknowledged int64  `json:"acknowledged"`
	Error        string `json:"error,omitempty"`
}

func (g *globals) push(ctx context.Context, logs []pushable, srv *serverFlags, prog *progress) error {
	var results []pushed
	var errs []error
	for _, l := range logs {
		r, err := g.pushOne(ctx, l, srv, prog)
		if err != nil {
			r.Error = err.Error()
			errs = append(errs, fmt.Errorf("%s: %w", l.path, err))
		}
		results = append(results, r)
	}
	prog.done()
	if g.json {
		if results == nil {
			results = []pushed{}
		}
		if err := g.print(os.Stdout, map[string]any{"logs": results}); err != nil {
			return err
		}
	} else {
		for _, r := range results {
			if r.Error == "" {
				fmt.Printf("%s: delivered up to seq %d\n", r.AttemptID, r.Acknowledged)
			}
		}
		if len(results) == 0 {
			fmt.Println("nothing to deliver")
		}
	}
	if len(errs) > 0 {
		err := errors.Join(errs...)
		if rebench.ErrorCode(err) == rebench.CodeInvalid {
			return err
		}
		return &exitError{exitUndelivered, err}
	}
	return nil
}

func (g *globals) pushOne(ctx context.Context, l pushable, srv *serverFlags, prog *progress) (pushed, error) {
	r := pushed{Log: l.path, Acknowledged: -1}
	header, sum, err := verifyLog(l.path)
	if err != nil {
		return r, err
	}
	r.AttemptID = header.AttemptID
	to := *srv
	if to.server == "" && l.dir != nil {
		to.server = l.dir.Meta.Server
	}
	c, err := to.client(prog.note)
	if err != nil {
		return r, err
	}
	if c == nil {
		return r, rebench.Errorf(rebench.CodeInvalid, "no server: give --server")
	}
	bar := prog.start("delivering %s", header.AttemptID)
	defer bar.finish()
	ctx, cancel := context.WithTimeout(ctx, srv.patience)
	defer cancel()
	d := client.NewDelivery(c, header.AttemptID, l.path, g.logger())
	d.Finish(sum.Bytes)
	err = d.Run(ctx)
	r.Acknowledged = d.Acknowledged()
	if errors.Is(err, context.DeadlineExceeded) && d.Err() != nil {
		err = fmt.Errorf("gave up after %v: %w", srv.patience, d.Err())
	}
	if err == nil && l.dir != nil && sum.Ended && to.server == l.dir.Meta.Server {
		markDelivered(l.dir)
	}
	return r, err
}

// pushPending delivers in the background what earlier runs could not, for as
// long as this run lasts. The returned function ends it.
func (m *machine) pushPending(ctx context.Context, c *client.Client) (stop func()) {
	if c == nil {
		return func() {}
	}
	logs, err := pendingLogs(m.state, c.Server())
	if err != nil {
		m.logger.Warn("logs of earlier runs are not looked for", "error", err.Error())
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, l := range logs {
			st, err := os.Stat(l.path)
			if err != nil {
				continue
			}
			d := client.NewDelivery(c, l.dir.Meta.ID, l.path, m.logger)
			d.Finish(st.Size())
			switch err := d.Run(ctx); {
			case err == nil:
				markDelivered(l.dir)
				m.progress.note("delivered attempt %s of an earlier run", l.dir.Meta.ID)
			case ctx.Err() == nil:
				m.progress.note("attempt %s of an earlier run is refused: %v", l.dir.Meta.ID, err)
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}
