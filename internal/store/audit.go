package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"rebench/internal/rebench"
)

type auditRow struct {
	ID     int64 `gorm:"primaryKey"`
	AtMs   int64
	Actor  string
	Action string
	Object string
	Detail string
}

func (auditRow) TableName() string { return "audit_events" }

func addAudit(tx *gorm.DB, e rebench.AuditEvent) error {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	return tx.Create(&auditRow{AtMs: e.At.UnixMilli(), Actor: e.Actor, Action: e.Action, Object: e.Object, Detail: e.Detail}).Error
}

// AddAudit appends an event, for changes that no other method records.
func (s *Store) AddAudit(ctx context.Context, e rebench.AuditEvent) error {
	return addAudit(s.writer.WithContext(ctx), e)
}

// AuditEvents returns at most limit events with an id below before (0: the newest),
// newest first.
func (s *Store) AuditEvents(ctx context.Context, before int64, limit int) ([]rebench.AuditEvent, error) {
	db := s.reader.WithContext(ctx).Order("id DESC").Limit(limit)
	if before > 0 {
		db = db.Where("id < ?", before)
	}
	var rows []auditRow
	if err := db.Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make([]rebench.AuditEvent, len(rows))
	for i, r := range rows {
		out[i] = rebench.AuditEvent{ID: r.ID, At: time.UnixMilli(r.AtMs).UTC(), Actor: r.Actor, Action: r.Action, Object: r.Object, Detail: r.Detail}
	}
	return out, nil
}
