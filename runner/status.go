package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rebench/internal/rebench"
	"rebench/runner/attempt"
)

// listed is an attempt as `runner status` shows it.
type listed struct {
	attempt.Meta
	Status    attempt.Status `json:"status"`
	Delivered bool           `json:"delivered"`
	Log       string         `json:"log"`
}

func newStatusCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "status [ATTEMPT]",
		Short: "List attempts, after closing those whose runner died",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := g.openMachine(cmd.Context())
			if err != nil {
				// What is there can be listed on a machine that cannot run it.
				fmt.Fprintln(os.Stderr, "runner: attempts of runners that died are not closed:", err)
			} else {
				defer m.close()
			}
			state, err := g.openState()
			if err != nil {
				return err
			}
			dirs, err := state.List()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				d, err := state.Open(args[0])
				if err != nil {
					return err
				}
				dirs = []*attempt.Dir{d}
			}
			out := []listed{}
			for _, d := range dirs {
				out = append(out, describe(d))
			}
			return printListed(g, out)
		},
	}
}

func describe(d *attempt.Dir) listed {
	l := listed{Meta: d.Meta, Delivered: isDelivered(d), Log: d.LogPath()}
	if st, err := d.Control(attempt.ControlStatus); err == nil {
		l.Status = st
		return l
	}
	l.Status = attempt.Status{ID: d.Meta.ID, State: "open", TimeLimitS: d.Meta.TimeLimitS}
	header, sum, err := verifyLog(d.LogPath())
	if err != nil {
		l.Status.State, l.Status.Detail = "unreadable", err.Error()
		return l
	}
	l.Status.Entries, l.Status.Valid = sum.Scores, sum.ValidScores
	var sel rebench.Selection
	if json.Unmarshal(header.Scoring.Extra.Get("selection"), &sel) != nil {
		sel = rebench.SelectBest
	}
	_, l.Status.Best, _ = counting(sum.Final(sel), header.Normalize)
	if sum.Ended {
		l.Status.State, l.Status.EndReason = "ended", sum.EndReason
		if sum.EndT != nil {
			l.Status.ElapsedS = *sum.EndT
		}
	}
	return l
}

func printListed(g *globals, out []listed) error {
	if g.json {
		return g.print(os.Stdout, map[string]any{"attempts": out})
	}
	w := tabwriter.NewWriter(os.Stdout, 2, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ATTEMPT\tENVIRONMENT\tPROFILE\tAGENT\tSTATE\tEND\tELAPSED\tENTRIES\tBEST\tDELIVERED")
	for _, l := range out {
		end := string(l.Status.EndReason)
		if end == "" {
			end = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%.0f/%.0f s\t%d\t%s\t%v\n", l.ID, l.Environment, l.Profile, l.Agent, l.Status.State, end,
			l.Status.ElapsedS, l.TimeLimitS, l.Status.Entries, number(l.Status.Best), l.Delivered)
	}
	return w.Flush()
}

// controlCommands are pause, resume and stop.
func controlCommands(g *globals) []*cobra.Command {
	make := func(op attempt.ControlOp, short string) *cobra.Command {
		return &cobra.Command{
			Use:   string(op) + " ATTEMPT",
			Short: short,
			Args:  exactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				state, err := g.openState()
				if err != nil {
					return err
				}
				d, err := state.Open(args[0])
				if err != nil {
					return err
				}
				st, err := d.Control(op)
				if err != nil {
					return err
				}
				if g.json {
					return g.print(os.Stdout, st)
				}
				fmt.Printf("%s: %s, %.1f of %.0f s used\n", st.ID, st.State, st.ElapsedS, st.TimeLimitS)
				return nil
			},
		}
	}
	return []*cobra.Command{
		make(attempt.ControlPause, "Freeze an attempt's solver and stop its clock"),
		make(attempt.ControlResume, "Let a paused attempt go on"),
		make(attempt.ControlStop, "End an attempt as cancelled"),
	}
}
