package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"gorm.io/gorm"

	"rebench/internal/rebench"
)

// Flags returns every statement about attempts up to data revision asof by attempt
// id, oldest first.
func (s *Store) Flags(ctx context.Context, asof int64) (map[string][]rebench.Flag, error) {
	var rows []struct {
		ID, AtMs, DataRevision         int64
		PublicID, Kind, Author, Reason string
		IsSet                          bool
	}
	err := s.reader.WithContext(ctx).Raw(`SELECT f.id, a.id AS public_id, f.kind, f.is_set, f.author, f.reason, f.at_ms, f.data_revision
FROM flags f JOIN attempts a ON a.pk = f.attempt_pk WHERE f.data_revision <= ? ORDER BY f.id`, asof).Scan(&rows).Error
	out := map[string][]rebench.Flag{}
	for _, r := range rows {
		out[r.PublicID] = append(out[r.PublicID], rebench.Flag{ID: r.ID, AttemptID: r.PublicID, Kind: rebench.FlagKind(r.Kind), Set: r.IsSet,
			Author: r.Author, Reason: r.Reason, At: time.UnixMilli(r.AtMs).UTC(), DataRevision: r.DataRevision})
	}
	return out, err
}

// AddFlag appends a statement about an attempt as a data revision of its own.
// It refuses an empty reason and a statement that changes nothing; looking at an
// attempt again is something.
func (s *Store) AddFlag(ctx context.Context, f rebench.Flag) (rebench.DataRevision, error) {
	if strings.TrimSpace(f.Reason) == "" {
		return rebench.DataRevision{}, rebench.Errorf(rebench.CodeInvalid, "a flag needs a reason")
	}
	if f.At.IsZero() {
		f.At = time.Now()
	}
	var revision dataRevisionRow
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row attemptRow
		if err := tx.Where("id = ?", f.AttemptID).First(&row).Error; errors.Is(err, gorm.ErrRecordNotFound) {
			return rebench.Errorf(rebench.CodeNotFound, "there is no attempt %q", f.AttemptID)
		} else if err != nil {
			return err
		}
		var last flagRow
		if err := tx.Where("attempt_pk = ? AND kind = ?", row.PK, f.Kind).Order("id DESC").Limit(1).Find(&last).Error; err != nil {
			return err
		}
		if last.IsSet == f.Set && !(f.Kind == rebench.FlagAudited && f.Set) {
			return rebench.Errorf(rebench.CodeConflict, "attempt %s: the flag %q is already %s", f.AttemptID, f.Kind,
				map[bool]string{true: "set", false: "not set"}[f.Set])
		}
		verb := "flag"
		if !f.Set {
			verb = "lift flag"
		}
		revision = dataRevisionRow{AtMs: f.At.UnixMilli(), Author: f.Author, Reason: verb + " " + string(f.Kind) + ": " + f.AttemptID}
		if err := tx.Create(&revision).Error; err != nil {
			return err
		}
		err := tx.Create(&flagRow{AttemptPK: row.PK, Kind: string(f.Kind), IsSet: f.Set, Author: f.Author, Reason: f.Reason,
			AtMs: f.At.UnixMilli(), DataRevision: revision.ID}).Error
		if err != nil {
			return err
		}
		return addAudit(tx, rebench.AuditEvent{At: f.At, Actor: f.Author, Action: verb + " " + string(f.Kind), Object: f.AttemptID, Detail: f.Reason})
	})
	return revision.domain(), err
}
