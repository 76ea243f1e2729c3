package store

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"rebench/internal/rebench"
)

// LiveLine is one line of an attempt log that a runner streams.
type LiveLine struct {
	Seq  int64
	Prev string // hex SHA-256 of the line before
	Hash string // of this line
	Raw  []byte // without LF
}

type liveRow struct {
	ID        string `gorm:"primaryKey"`
	TokenID   int64
	StartedMs int64
	UpdatedMs int64
	Seq       int64
	Head      string
	Ended     bool
}

func (liveRow) TableName() string { return "live_attempts" }

func (r liveRow) domain() rebench.LiveAttempt {
	return rebench.LiveAttempt{ID: r.ID, Started: time.UnixMilli(r.StartedMs).UTC(), Updated: time.UnixMilli(r.UpdatedMs).UTC(),
		Seq: r.Seq, Head: r.Head, Ended: r.Ended}
}

type liveLineRow struct {
	AttemptID string `gorm:"primaryKey"`
	Seq       int64  `gorm:"primaryKey"`
	Line      []byte
	AtMs      int64
}

func (liveLineRow) TableName() string { return "live_lines" }

// StreamError says why streamed lines were refused.
type StreamError struct {
	Gap      bool  // lines are missing; otherwise they contradict what is known
	Expected int64 // the seq to send next
}

func (e *StreamError) Error() string {
	if e.Gap {
		return fmt.Sprintf("lines are missing: expected seq %d next", e.Expected)
	}
	return fmt.Sprintf("the lines contradict those received before seq %d: this is another log", e.Expected)
}

// AppendLive adds streamed lines of one attempt in one transaction and returns its
// state. Lines that are known already are ignored if they are the same. A gap or a
// contradiction is a *StreamError and nothing is stored. ended marks the log as
// complete. Only the token that began an attempt, or an admin's, may go on.
func (s *Store) AppendLive(ctx context.Context, token Token, id string, lines []LiveLine, ended bool) (rebench.LiveAttempt, error) {
	var row liveRow
	err := s.write(ctx, func(tx *gorm.DB) error {
		found := tx.Where("id = ?", id).Limit(1).Find(&row)
		if found.Error != nil {
			return found.Error
		}
		now := time.Now().UnixMilli()
		isNew := found.RowsAffected == 0
		if isNew {
			row = liveRow{ID: id, TokenID: token.ID, StartedMs: now, Seq: -1}
		} else if row.TokenID != token.ID && !token.Scope.Allows(ScopeAdmin) {
			return rebench.Errorf(rebench.CodeUnauthorized, "attempt %s is streamed by another token", id)
		}
		fresh, err := newLines(tx, &row, lines, now)
		if err != nil {
			return err
		}
		if len(fresh) == 0 && (row.Ended || !ended) && !isNew {
			return nil
		}
		if len(fresh) == 0 && isNew {
			return rebench.Errorf(rebench.CodeInvalid, "attempt %s: no lines", id)
		}
		row.UpdatedMs, row.Ended = now, row.Ended || ended
		if err := tx.Save(&row).Error; err != nil {
			return err
		}
		if len(fresh) == 0 {
			return nil
		}
		return tx.CreateInBatches(fresh, 500).Error
	})
	return row.domain(), err
}

// newLines checks lines against the state, which it moves on, and returns the new ones.
func newLines(tx *gorm.DB, row *liveRow, lines []LiveLine, now int64) ([]liveLineRow, error) {
	var fresh []liveLineRow
	for _, l := range lines {
		switch {
		case l.Seq > row.Seq+1:
			return nil, &StreamError{Gap: true, Expected: row.Seq + 1}
		case l.Seq <= row.Seq:
			known := tx.Where("attempt_id = ? AND seq = ?", row.ID, l.Seq).Limit(1)
			var old liveLineRow
			if i := l.Seq - row.Seq + int64(len(fresh)) - 1; i >= 0 && i < int64(len(fresh)) {
				old = fresh[i]
			} else if err := known.Find(&old).Error; err != nil {
				return nil, err
			}
			if !bytes.Equal(old.Line, l.Raw) {
				return nil, &StreamError{Expected: row.Seq + 1}
			}
		default:
			if row.Ended || row.Seq >= 0 && l.Prev != row.Head {
				return nil, &StreamError{Expected: row.Seq + 1}
			}
			fresh = append(fresh, liveLineRow{AttemptID: row.ID, Seq: l.Seq, Line: bytes.Clone(l.Raw), AtMs: now})
			row.Seq, row.Head = l.Seq, l.Hash
		}
	}
	return fresh, nil
}

// LiveAttempt returns the state of a streamed attempt; ok is false when no line of
// it has arrived.
func (s *Store) LiveAttempt(ctx context.Context, id string) (a rebench.LiveAttempt, ok bool, err error) {
	var row liveRow
	found := s.reader.WithContext(ctx).Where("id = ?", id).Limit(1).Find(&row)
	return row.domain(), found.RowsAffected > 0, found.Error
}

// LiveAttempts returns the streamed attempts that have not ended, newest first.
func (s *Store) LiveAttempts(ctx context.Context) ([]rebench.LiveAttempt, error) {
	var rows []liveRow
	if err := s.reader.WithContext(ctx).Where("ended = 0").Order("updated_ms DESC").Limit(1000).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make([]rebench.LiveAttempt, len(rows))
	for i, r := range rows {
		out[i] = r.domain()
	}
	return out, nil
}

// LiveLog returns the lines of a streamed attempt from seq on, each with its LF.
func (s *Store) LiveLog(ctx context.Context, id string, from int64) ([]byte, error) {
	var rows []liveLineRow
	if err := s.reader.WithContext(ctx).Where("attempt_id = ? AND seq >= ?", id, from).Order("seq").Find(&rows).Error; err != nil {
		return nil, err
	}
	var out []byte
	for _, r := range rows {
		out = append(append(out, r.Line...), '\n')
	}
	return out, nil
}

// UnimportedLive returns the ids of streamed attempts that have ended and are no
// attempts yet: the server stopped in between.
func (s *Store) UnimportedLive(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.reader.WithContext(ctx).Raw("SELECT id FROM live_attempts WHERE ended = 1 AND id NOT IN (SELECT id FROM attempts)").Scan(&ids).Error
	return ids, err
}

// LiveToken returns the token that streams an attempt.
func (s *Store) LiveToken(ctx context.Context, id string) (Token, error) {
	var row tokenRow
	err := s.reader.WithContext(ctx).Where("id = (SELECT token_id FROM live_attempts WHERE id = ?)", id).First(&row).Error
	return row.domain(), err
}
