package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"gorm.io/gorm"

	"rebench/internal/rebench"
)

// Scope is what a token allows.
type Scope string

// ScopeUpload may upload and stream attempts; ScopeAdmin may also flag, retract,
// make revisions current and queue runs.
const (
	ScopeUpload Scope = "upload"
	ScopeAdmin  Scope = "admin"
)

// Allows reports whether a token of this scope may do what needs the other.
func (s Scope) Allows(needed Scope) bool { return s == ScopeAdmin || s == needed }

// Token describes an access token without its secret.
type Token struct {
	ID       int64
	Name     string
	Scope    Scope
	Trusted  bool // a machine of this server's operators: its re-scoring counts as done here
	Created  time.Time
	Revoked  *time.Time
	LastUsed *time.Time
}

type tokenRow struct {
	ID         int64 `gorm:"primaryKey"`
	Name       string
	Scope      string
	Trusted    bool
	Hash       string
	CreatedMs  int64
	RevokedMs  *int64
	LastUsedMs *int64
}

func (tokenRow) TableName() string { return "tokens" }

func (r tokenRow) domain() Token {
	return Token{ID: r.ID, Name: r.Name, Scope: Scope(r.Scope), Trusted: r.Trusted, Created: time.UnixMilli(r.CreatedMs).UTC(),
		Revoked: timeOf(r.RevokedMs), LastUsed: timeOf(r.LastUsedMs)}
}

// tokenPrefix marks a token, so that secret scanners and readers recognise one.
const tokenPrefix = "rebench_"

func hashToken(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// CreateToken makes a token and returns its secret, which is not kept: 256 random
// bits, so that a plain hash suffices.
func (s *Store) CreateToken(ctx context.Context, name string, scope Scope) (secret string, err error) {
	return s.createToken(ctx, name, scope, false)
}

// CreateTrustedToken is CreateToken for a machine of this server's operators.
func (s *Store) CreateTrustedToken(ctx context.Context, name string, scope Scope) (secret string, err error) {
	return s.createToken(ctx, name, scope, true)
}

func (s *Store) createToken(ctx context.Context, name string, scope Scope, trusted bool) (secret string, err error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 100 {
		return "", rebench.Errorf(rebench.CodeInvalid, "token name %q: expected 1 to 100 characters", name)
	}
	if strings.HasPrefix(name, rebench.RuleAuthor) {
		return "", rebench.Errorf(rebench.CodeInvalid, "token name %q: names that begin with %q are those of rules", name, rebench.RuleAuthor)
	}
	if scope != ScopeUpload && scope != ScopeAdmin {
		return "", rebench.Errorf(rebench.CodeInvalid, "token scope %q: expected %s or %s", scope, ScopeUpload, ScopeAdmin)
	}
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	secret = tokenPrefix + base64.RawURLEncoding.EncodeToString(random)
	return secret, s.addToken(ctx, name, scope, trusted, secret)
}

func (s *Store) addToken(ctx context.Context, name string, scope Scope, trusted bool, secret string) error {
	err := s.write(ctx, func(tx *gorm.DB) error {
		row := tokenRow{Name: name, Scope: string(scope), Trusted: trusted, Hash: hashToken(secret), CreatedMs: time.Now().UnixMilli()}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		detail := "scope " + string(scope)
		if trusted {
			detail += ", trusted"
		}
		return addAudit(tx, rebench.AuditEvent{Actor: "command line", Action: "create token", Object: name, Detail: detail})
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return rebench.Errorf(rebench.CodeConflict, "there is already a token named %q", name)
	}
	return err
}

// EnsureToken makes the given secret an admin token of that name, unless it is one.
func (s *Store) EnsureToken(ctx context.Context, name, secret string) error {
	if len(secret) < 16 {
		return rebench.Errorf(rebench.CodeInvalid, "the token %s is too short: expected at least 16 characters", name)
	}
	if _, err := s.Authenticate(ctx, secret); err == nil {
		return nil
	}
	err := s.addToken(ctx, name, ScopeAdmin, false, secret)
	if rebench.ErrorCode(err) != rebench.CodeConflict {
		return err
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		err := tx.Model(&tokenRow{}).Where("name = ?", name).
			Updates(map[string]any{"hash": hashToken(secret), "revoked_ms": nil, "scope": string(ScopeAdmin)}).Error
		if err != nil {
			return err
		}
		return addAudit(tx, rebench.AuditEvent{Actor: "command line", Action: "replace token", Object: name, Detail: "scope " + string(ScopeAdmin)})
	})
}

// Tokens lists all tokens, revoked ones too, by name.
func (s *Store) Tokens(ctx context.Context) ([]Token, error) {
	var rows []tokenRow
	if err := s.reader.WithContext(ctx).Order("name").Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make([]Token, len(rows))
	for i, r := range rows {
		out[i] = r.domain()
	}
	return out, nil
}

// RevokeToken makes a token useless from now on.
func (s *Store) RevokeToken(ctx context.Context, name string) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		res := tx.Model(&tokenRow{}).Where("name = ? AND revoked_ms IS NULL", name).Update("revoked_ms", time.Now().UnixMilli())
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected == 0 {
			return rebench.Errorf(rebench.CodeNotFound, "there is no active token named %q", name)
		}
		return addAudit(tx, rebench.AuditEvent{Actor: "command line", Action: "revoke token", Object: name})
	})
}

// Authenticate returns the token with the given secret. Any failure is the same
// unauthorized error.
func (s *Store) Authenticate(ctx context.Context, secret string) (Token, error) {
	var row tokenRow
	err := s.reader.WithContext(ctx).Where("hash = ? AND revoked_ms IS NULL", hashToken(secret)).Limit(1).Find(&row).Error
	if err != nil {
		return Token{}, err
	}
	if row.ID == 0 {
		return Token{}, rebench.Errorf(rebench.CodeUnauthorized, "the token is unknown or revoked")
	}
	// Once a minute is enough to tell which tokens are in use, and a long import need
	// not be waited for.
	if now := time.Now().UnixMilli(); (row.LastUsedMs == nil || now-*row.LastUsedMs > 60_000) && !s.writing() {
		err = s.writer.WithContext(ctx).Model(&tokenRow{}).Where("id = ?", row.ID).Update("last_used_ms", now).Error
	}
	return row.domain(), err
}

// writing reports whether the one writing connection is in use.
func (s *Store) writing() bool {
	pool, err := s.writer.DB()
	return err == nil && pool.Stats().InUse > 0
}

// HasTokens reports whether any token is active.
func (s *Store) HasTokens(ctx context.Context) (bool, error) {
	var n int64
	err := s.reader.WithContext(ctx).Model(&tokenRow{}).Where("revoked_ms IS NULL").Count(&n).Error
	return n > 0, err
}

// TokenActive reports whether a token has not been revoked.
func (s *Store) TokenActive(ctx context.Context, id int64) (bool, error) {
	var n int64
	err := s.reader.WithContext(ctx).Model(&tokenRow{}).Where("id = ? AND revoked_ms IS NULL", id).Count(&n).Error
	return n > 0, err
}
