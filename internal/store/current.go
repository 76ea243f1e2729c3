package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"rebench/internal/rebench"
)

// MakeCurrent makes a revision of an attempt the current one, as a data revision
// of its own.
func (s *Store) MakeCurrent(ctx context.Context, attemptID string, number int, author, reason string) (rebench.DataRevision, error) {
	var revision dataRevisionRow
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row attemptRow
		if err := tx.Where("id = ?", attemptID).First(&row).Error; errors.Is(err, gorm.ErrRecordNotFound) {
			return rebench.Errorf(rebench.CodeNotFound, "there is no attempt %q", attemptID)
		} else if err != nil {
			return err
		}
		var rev revisionRow
		if err := tx.Where("attempt_pk = ? AND number = ?", row.PK, number).First(&rev).Error; errors.Is(err, gorm.ErrRecordNotFound) {
			return rebench.Errorf(rebench.CodeNotFound, "attempt %q has no revision %d", attemptID, number)
		} else if err != nil {
			return err
		}
		var last currentRow
		if err := tx.Where("attempt_pk = ?", row.PK).Order("data_revision DESC").Limit(1).Find(&last).Error; err != nil {
			return err
		}
		if last.RevisionID == rev.ID {
			return rebench.Errorf(rebench.CodeConflict, "revision %d of attempt %q is current already", number, attemptID)
		}
		revision = dataRevisionRow{AtMs: time.Now().UnixMilli(), Author: author, Reason: "make a revision current: " + attemptID}
		if err := tx.Create(&revision).Error; err != nil {
			return err
		}
		if err := tx.Create(&currentRow{AttemptPK: row.PK, DataRevision: revision.ID, RevisionID: rev.ID}).Error; err != nil {
			return err
		}
		return addAudit(tx, rebench.AuditEvent{Actor: author, Action: "make revision current", Object: attemptID, Detail: fmt.Sprintf("revision %d: %s", number, reason)})
	})
	return revision.domain(), err
}
