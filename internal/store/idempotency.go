package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"rebench/internal/rebench"
)

type idempotencyRow struct {
	TokenID       int64  `gorm:"primaryKey"`
	Key           string `gorm:"primaryKey"`
	RequestSHA256 string `gorm:"column:request_sha256"`
	AtMs          int64
	Status        *int
	Response      []byte
}

func (idempotencyRow) TableName() string { return "idempotency_keys" }

// Answer is a response that is repeated for the same idempotency key.
type Answer struct {
	Status int
	Body   []byte
}

// ClaimKey takes an idempotency key for a request with the given digest. It
// returns the stored answer when the same request was answered before, and a
// conflict when the key belongs to another request or to one still under way.
// since is when this server started: a key taken before without an answer belongs
// to a request that died.
func (s *Store) ClaimKey(ctx context.Context, token Token, key, digest string, since time.Time) (*Answer, error) {
	var answer *Answer
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row idempotencyRow
		if err := tx.Where("token_id = ? AND key = ?", token.ID, key).Limit(1).Find(&row).Error; err != nil {
			return err
		}
		switch {
		case row.Key == "" || row.Status == nil && row.AtMs < since.UnixMilli():
			return tx.Save(&idempotencyRow{TokenID: token.ID, Key: key, RequestSHA256: digest, AtMs: time.Now().UnixMilli()}).Error
		case row.RequestSHA256 != digest:
			return rebench.Errorf(rebench.CodeConflict, "the Idempotency-Key was used for another request; use a new one")
		case row.Status == nil:
			return rebench.Errorf(rebench.CodeConflict, "a request with this Idempotency-Key is still under way")
		}
		answer = &Answer{Status: *row.Status, Body: row.Response}
		return nil
	})
	return answer, err
}

// KeepAnswer stores the answer to a claimed key.
func (s *Store) KeepAnswer(ctx context.Context, token Token, key string, a Answer) error {
	return s.writer.WithContext(ctx).Model(&idempotencyRow{}).Where("token_id = ? AND key = ?", token.ID, key).
		Updates(map[string]any{"status": a.Status, "response": a.Body}).Error
}

// ReleaseKey gives a key back whose request failed without an answer to keep.
func (s *Store) ReleaseKey(ctx context.Context, token Token, key string) error {
	return s.writer.WithContext(ctx).Where("token_id = ? AND key = ? AND status IS NULL", token.ID, key).Delete(&idempotencyRow{}).Error
}

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
		return addAudit(tx, rebench.AuditEvent{Actor: author, Action: "make revision current", Object: attemptID, Detail: reason})
	})
	return revision.domain(), err
}
