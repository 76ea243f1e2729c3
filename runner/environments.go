package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rebench/internal/rebench"
	"rebench/runner/environment"
)

// listedProfile is a profile as `runner environments` shows it.
type listedProfile struct {
	Name       rebench.Profile `json:"name"`
	TimeLimitS float64         `json:"time_limit_s"`
	GPUs       int             `json:"gpus"`
	CPUs       float64         `json:"cpus"`
	MemoryMB   int64           `json:"memory_mb"`
	Refused    string          `json:"refused,omitempty"` // why it cannot be run yet
}

type listedEnvironment struct {
	ID           rebench.EnvironmentID `json:"id"`
	Version      string                `json:"version"`
	Title        string                `json:"title"`
	Direction    rebench.Direction     `json:"direction"`
	Selection    rebench.Selection     `json:"selection"`
	ScorerSHA256 string                `json:"scorer_sha256"`
	Dir          string                `json:"dir"`
	Profiles     []listedProfile       `json:"profiles"`
}

func newEnvironmentsCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "environments",
		Short: "List the environments and their profiles",
		Args:  exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			out, err := g.listEnvironments()
			if g.json && out != nil {
				err = errors.Join(g.print(os.Stdout, map[string]any{"environments": out}), err)
			} else if out != nil {
				printEnvironments(out)
			}
			return err
		},
	}
}

// listEnvironments lists those that load; the error says what is wrong with others.
func (g *globals) listEnvironments() ([]listedEnvironment, error) {
	root, err := environment.Find(g.environments)
	if err != nil {
		return nil, err
	}
	envs, err := environment.LoadAll(root)
	if err != nil {
		err = rebench.Errorf(rebench.CodeInvalid, "%w", err)
	}
	out := []listedEnvironment{}
	for _, e := range envs {
		sum, herr := e.ScorerHash()
		if herr != nil {
			err = errors.Join(err, herr)
			continue
		}
		l := listedEnvironment{ID: e.ID, Version: e.Version, Title: e.Title, Direction: e.Direction, Selection: e.Selection, ScorerSHA256: sum, Dir: e.Dir}
		for _, name := range e.ProfileNames() {
			p := e.Profiles[name]
			l.Profiles = append(l.Profiles, listedProfile{p.Name, p.TimeLimitS, p.GPUs, p.Limits.CPUs, p.Limits.MemoryMB, p.Refused})
		}
		out = append(out, l)
	}
	return out, err
}

func printEnvironments(out []listedEnvironment) {
	w := tabwriter.NewWriter(os.Stdout, 2, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ENVIRONMENT\tVERSION\tBETTER\tCOUNTS\tPROFILES")
	for _, e := range out {
		var names []string
		for _, p := range e.Profiles {
			s := string(p.Name)
			if p.Refused != "" {
				s += " (refused)"
			}
			names = append(names, s)
		}
		better := "higher"
		if e.Direction == rebench.Minimize {
			better = "lower"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", e.ID, e.Version, better, e.Selection, strings.Join(names, ", "))
	}
	w.Flush()
}
