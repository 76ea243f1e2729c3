// Command runner runs attempts at RE-Bench environments in sandboxes, scores
// solutions, and delivers attempt logs to a rebench server.
//
// Exit status:
//
//	0  done (score: whether the solution is valid or not)
//	1  a fault of the runner or of this machine
//	2  wrong usage or input
//	3  the machine lacks what it takes, or a calibration was refused
//	4  an attempt ended with the reason error
//	5  not everything was delivered to the server; `runner push` goes on
//	130 interrupted
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"rebench/internal/rebench"
	"rebench/runner/client"
)

// Exit statuses, see the package comment.
const (
	exitFault       = 1
	exitUsage       = 2
	exitLacking     = 3
	exitAttempt     = 4
	exitUndelivered = 5
	exitInterrupted = 130
)

// exitError carries an exit status of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once; the next run recovers
	}()
	g := &globals{}
	err := newRootWith(g).ExecuteContext(ctx)
	interrupted := ctx.Err() != nil
	stop()
	status := exitStatus(err, interrupted)
	if err != nil {
		g.tell(err, status, os.Stdout, os.Stderr)
	}
	os.Exit(status)
}

func exitStatus(err error, interrupted bool) int {
	if err == nil {
		return 0
	}
	if interrupted {
		return exitInterrupted
	}
	var own *exitError
	if errors.As(err, &own) {
		return own.code
	}
	var status *client.StatusError
	if errors.As(err, &status) {
		return exitUndelivered
	}
	switch rebench.ErrorCode(err) {
	case rebench.CodeInvalid, rebench.CodeNotFound:
		return exitUsage
	case rebench.CodeConflict:
		return exitLacking
	case rebench.CodeUnauthorized:
		return exitUndelivered
	}
	return exitFault
}

// version is what logs name as the tool's version: the module's, or the commit
// it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = s.Value
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return v
}

func newRoot() *cobra.Command { return newRootWith(&globals{}) }

func newRootWith(g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:           "runner",
		Short:         "Run sandboxed attempts at RE-Bench environments and score solutions",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Long: `Run sandboxed attempts at RE-Bench environments and score solutions.

Exit status: 0 done; 1 fault of the runner or machine; 2 wrong usage or input;
3 the machine lacks what it takes, or a calibration was refused; 4 an attempt
ended with the reason error; 5 not everything was delivered; 130 interrupted.`,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exitError{exitUsage, err} })
	f := root.PersistentFlags()
	f.StringVar(&g.environments, "environments", "", "directory of the environment packages (default $REBENCH_ENVIRONMENTS, else ./environments)")
	f.StringVar(&g.stateDir, "state-dir", "", "directory for attempts, calibrations and assets (default $REBENCH_STATE_DIR, else rebench-runner in the user's data directory)")
	f.BoolVar(&g.json, "json", false, "print JSON for scripts: the result, or {error, code, exit_status}")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no progress on standard error")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "log what the runner does, as JSON lines on standard error")
	root.AddCommand(newRunCommand(g), newScoreCommand(g), newCalibrateCommand(g), newDoctorCommand(g), newEnvironmentsCommand(g),
		newWorkCommand(g), newPushCommand(g), newStatusCommand(g))
	for _, c := range controlCommands(g) {
		root.AddCommand(c)
	}
	return root
}

// exactArgs is cobra.ExactArgs with this program's exit status.
func exactArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(n)(cmd, args); err != nil {
			return &exitError{exitUsage, fmt.Errorf("%w; usage: runner %s", err, cmd.Use)}
		}
		return nil
	}
}
