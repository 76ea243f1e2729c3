package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rebench/internal/config"
	"rebench/internal/store"
)

// tokenCommand manages access tokens. It works beside a running server.
func tokenCommand(c *config.Config) *cobra.Command {
	open := func(ctx context.Context) (*store.Store, error) {
		resolved, err := c.Resolve(os.Getenv)
		if err != nil {
			return nil, err
		}
		return store.Open(ctx, store.Options{Path: resolved.Database})
	}
	cmd := &cobra.Command{Use: "token", Short: "Manage the tokens that uploads and changes need", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var name, scope string
	var trusted bool
	create := &cobra.Command{Use: "create", Short: "Make a token and print it once, on the last line", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			db, err := open(cmd.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			make, what := db.CreateToken, "scope "+scope
			if trusted {
				make, what = db.CreateTrustedToken, what+", trusted"
			}
			secret, err := make(cmd.Context(), name, store.Scope(scope))
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Token %q with %s; it is shown this once.\n%s\n", strings.TrimSpace(name), what, secret)
			return nil
		}}
	create.Flags().StringVar(&name, "name", "", "who or what uses the token")
	create.Flags().StringVar(&scope, "scope", string(store.ScopeUpload), "upload, or admin to also flag, retract and queue runs")
	create.Flags().BoolVar(&trusted, "trusted", false, "for a machine of this server's operators: its re-scoring counts as done here")
	_ = create.MarkFlagRequired("name") // the flag exists
	list := &cobra.Command{Use: "list", Short: "List the tokens, without their secrets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			db, err := open(cmd.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			tokens, err := db.Tokens(cmd.Context())
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tSCOPE\tTRUSTED\tCREATED\tLAST USED\tREVOKED")
			const layout = "2006-01-02 15:04"
			for _, t := range tokens {
				used, revoked := "never", "no"
				if t.LastUsed != nil {
					used = t.LastUsed.Format(layout)
				}
				if t.Revoked != nil {
					revoked = t.Revoked.Format(layout)
				}
				trusts := "no"
				if t.Trusted {
					trusts = "yes"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.Name, t.Scope, trusts, t.Created.Format(layout), used, revoked)
			}
			return w.Flush()
		}}
	revoke := &cobra.Command{Use: "revoke NAME", Short: "Make a token useless from now on", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := open(cmd.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			return db.RevokeToken(cmd.Context(), args[0])
		}}
	cmd.AddCommand(create, list, revoke)
	return cmd
}
