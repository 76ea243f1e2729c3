package handler

import (
	"context"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/validity"
)

// draw says that an attempt was drawn for audit.
type draw struct {
	Month   string                `json:"month"`
	Outcome *analysis.DrawOutcome `json:"outcome"`
}

// drawOf returns the attempt's place in this month's draw, nil when it has none.
func (s *Server) drawOf(ctx context.Context, id string) (*draw, error) {
	now := time.Now()
	all, err := s.engine.Drawn(ctx, now, s.auditShare)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if d.AttemptID == id {
			return &draw{Month: validity.Month(now), Outcome: d.Outcome}, nil
		}
	}
	return nil, nil
}
