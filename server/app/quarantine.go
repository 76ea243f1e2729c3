package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/validity"
)

// quarantine applies the rules to attempts that were imported before a rule existed. An
// attempt that a rule has spoken of is left as it is: a person may have released it.
func quarantine(ctx context.Context, db *store.Store, engine *analysis.Engine, log *slog.Logger) error {
	v, err := engine.Validity(ctx, 0, analysis.ValidityFilter{})
	if err != nil {
		return fmt.Errorf("apply the rules of quarantine: %w", err)
	}
	var done []string
	for _, r := range v.Reached {
		if r.Action != validity.Quarantine || r.Suspected || r.Excluded || slices.Contains(done, r.AttemptID) {
			continue
		}
		done = append(done, r.AttemptID)
		a, err := db.Attempt(ctx, r.AttemptID, v.DataRevision)
		if err != nil {
			return err
		}
		flag, ok := validity.Flag(v.Rules.CheckAttempt(a))
		if !ok || slices.ContainsFunc(a.Flags, func(f rebench.Flag) bool { return f.Author == flag.Author }) {
			continue
		}
		flag.AttemptID = a.ID
		if _, err := db.AddFlag(ctx, flag); err != nil {
			return err
		}
		log.InfoContext(ctx, "attempt put in quarantine", "attempt_id", a.ID, "rule", flag.Author, "reason", flag.Reason)
	}
	return nil
}
