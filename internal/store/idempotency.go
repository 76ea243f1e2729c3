package store

import (
	"context"
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
	Digest string // of the request that it answers
	Status int
	Body   []byte // as the caller packed it
}

// ClaimKey takes an idempotency key for a request whose content has yet to arrive.
// It returns the stored answer when the key was used before, and a conflict while
// another request with it is under way. since is when this server started: a key
// taken before without an answer belongs to a request that died.
func (s *Store) ClaimKey(ctx context.Context, token Token, key string, since time.Time) (*Answer, error) {
	var answer *Answer
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row idempotencyRow
		if err := tx.Where("token_id = ? AND key = ?", token.ID, key).Limit(1).Find(&row).Error; err != nil {
			return err
		}
		switch {
		case row.Key == "" || row.Status == nil && row.AtMs < since.UnixMilli():
			return tx.Save(&idempotencyRow{TokenID: token.ID, Key: key, AtMs: time.Now().UnixMilli()}).Error
		case row.Status == nil:
			return rebench.Errorf(rebench.CodeConflict, "a request with this Idempotency-Key is still under way")
		}
		answer = &Answer{Digest: row.RequestSHA256, Status: *row.Status, Body: row.Response}
		return nil
	})
	return answer, err
}

// KeepAnswer stores the answer to a claimed key.
func (s *Store) KeepAnswer(ctx context.Context, token Token, key string, a Answer) error {
	return s.writer.WithContext(ctx).Model(&idempotencyRow{}).Where("token_id = ? AND key = ?", token.ID, key).
		Updates(map[string]any{"request_sha256": a.Digest, "status": a.Status, "response": a.Body}).Error
}

// ReleaseKey gives a key back whose request failed without an answer to keep.
func (s *Store) ReleaseKey(ctx context.Context, token Token, key string) error {
	return s.writer.WithContext(ctx).Where("token_id = ? AND key = ? AND status IS NULL", token.ID, key).Delete(&idempotencyRow{}).Error
}

// ForgetKeys removes the keys that were taken before a time.
func (s *Store) ForgetKeys(ctx context.Context, before time.Time) error {
	return s.writer.WithContext(ctx).Where("at_ms < ?", before.UnixMilli()).Delete(&idempotencyRow{}).Error
}
