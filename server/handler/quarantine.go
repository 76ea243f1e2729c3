package handler

import (
	"context"

	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// applyRules puts an attempt whose content has just changed in quarantine where a rule
// says so. It returns the data revision after that.
func (s *Server) applyRules(ctx context.Context, id string, revision rebench.DataRevision) (rebench.DataRevision, error) {
	a, err := s.db.Attempt(ctx, id, revision.ID)
	if err != nil || a.Suspected || a.Excluded || !a.Ranked {
		return revision, err
	}
	rules, err := validity.Rules()
	if err != nil {
		return revision, err
	}
	flag, ok := validity.Flag(rules.CheckAttempt(a))
	if !ok {
		return revision, nil
	}
	flag.AttemptID = id
	return s.db.AddFlag(ctx, flag)
}
