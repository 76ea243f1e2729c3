// Command server serves RE-Bench results: pages, exports and a JSON API over one
// SQLite file, which it creates and fills with the published data.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"rebench/internal/config"
	"rebench/server/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		// One line, whatever the error holds.
		fmt.Fprintln(os.Stderr, "server: "+strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var c config.Config
	cmd := &cobra.Command{
		Use:           "server",
		Short:         "Serve RE-Bench results",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       config.Version(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			resolved, err := c.Resolve(os.Getenv)
			if err != nil {
				return err
			}
			return app.Run(cmd.Context(), resolved, app.Streams{Out: os.Stdout, Err: os.Stderr})
		},
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&c.DataDir, "data-dir", "", "directory of the database (environment "+config.EnvDataDir+"; default rebench in your data directory)")
	flags.StringVar(&c.Database, "database", "", "database file (environment "+config.EnvDatabase+"; default rebench.db in the data directory)")
	cmd.Flags().StringVar(&c.Addr, "addr", "", "host:port to listen on (environment "+config.EnvAddr+"; default "+config.DefaultAddr+")")
	cmd.Flags().StringVar(&c.LogLevel, "log-level", "", "debug, info, warn or error (environment "+config.EnvLogLevel+"; default info)")
	cmd.Flags().StringVar(&c.AuditShare, "audit-share", "", "share of each environment's best attempts drawn for audit each month (environment "+config.EnvAuditShare+"; default 0.2)")
	cmd.Flags().StringVar(&c.WithRunner, "with-runner", "", "also start a runner that takes queued runs on this machine")
	cmd.Flags().Lookup("with-runner").NoOptDefVal = config.RunnerAuto
	cmd.AddCommand(tokenCommand(&c))
	return cmd
}
