package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"gorm.io/gorm"

	"rebench/internal/rebench"
)

type runRow struct {
	ID          int64 `gorm:"primaryKey"`
	AtMs        int64
	Author      string
	Environment string
	Profile     string
	Agent       string
	TimeLimitS  int64
	Attempts    int
	Parallel    int
	Seed        int64
	State       string
	ClaimedBy   string
	UpdatedMs   int64
	Message     string
	AttemptIDs  string `gorm:"column:attempt_ids"`
}

func (runRow) TableName() string { return "runs" }

func (r runRow) domain() rebench.Run {
	out := rebench.Run{ID: r.ID, At: time.UnixMilli(r.AtMs).UTC(), Author: r.Author, Environment: r.Environment, Profile: r.Profile, Agent: r.Agent,
		TimeLimitS: r.TimeLimitS, Attempts: r.Attempts, Parallel: r.Parallel, Seed: r.Seed, State: rebench.RunState(r.State), ClaimedBy: r.ClaimedBy,
		Updated: time.UnixMilli(r.UpdatedMs).UTC(), Message: r.Message, AttemptIDs: []string{}}
	_ = json.Unmarshal([]byte(r.AttemptIDs), &out.AttemptIDs)
	return out
}

// QueueRun adds a run to the queue.
func (s *Store) QueueRun(ctx context.Context, r rebench.Run) (rebench.Run, error) {
	now := time.Now().UnixMilli()
	row := runRow{AtMs: now, Author: r.Author, Environment: r.Environment, Profile: r.Profile, Agent: r.Agent, TimeLimitS: r.TimeLimitS,
		Attempts: r.Attempts, Parallel: r.Parallel, Seed: r.Seed, State: string(rebench.RunQueued), UpdatedMs: now, AttemptIDs: "[]"}
	err := s.write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return addAudit(tx, rebench.AuditEvent{Actor: r.Author, Action: "queue run", Object: r.Environment, Detail: r.Agent})
	})
	return row.domain(), err
}

// ClaimRun gives the oldest queued run to a worker; ok is false when none waits.
func (s *Store) ClaimRun(ctx context.Context, worker string) (run rebench.Run, ok bool, err error) {
	var row runRow
	err = s.write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("state = ?", rebench.RunQueued).Order("id").Limit(1).Find(&row).Error; err != nil || row.ID == 0 {
			return err
		}
		row.State, row.ClaimedBy, row.UpdatedMs = string(rebench.RunClaimed), worker, time.Now().UnixMilli()
		return tx.Save(&row).Error
	})
	return row.domain(), row.ID != 0, err
}

// UpdateRun records what a worker says of its run. A run that is over stays so; one of
// which no attempt has begun can be given back to the queue.
func (s *Store) UpdateRun(ctx context.Context, id int64, state rebench.RunState, message string, attempts []string) (rebench.Run, error) {
	var row runRow
	err := s.write(ctx, func(tx *gorm.DB) error {
		err := tx.First(&row, id).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return rebench.Errorf(rebench.CodeNotFound, "there is no run %d", id)
		} else if err != nil {
			return err
		}
		if rebench.RunState(row.State).Over() {
			return rebench.Errorf(rebench.CodeConflict, "run %d is %s already", id, row.State)
		}
		if state == rebench.RunQueued {
			if row.AttemptIDs != "[]" {
				return rebench.Errorf(rebench.CodeConflict, "run %d has attempts and cannot be given back", id)
			}
			row.ClaimedBy = ""
		}
		row.State, row.Message, row.UpdatedMs = string(state), message, time.Now().UnixMilli()
		if attempts != nil {
			ids, err := json.Marshal(attempts)
			if err != nil {
				return err
			}
			row.AttemptIDs = string(ids)
		}
		return tx.Save(&row).Error
	})
	return row.domain(), err
}

// Runs returns the newest runs, at most limit.
func (s *Store) Runs(ctx context.Context, limit int) ([]rebench.Run, error) {
	var rows []runRow
	if err := s.reader.WithContext(ctx).Order("id DESC").Limit(limit).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make([]rebench.Run, len(rows))
	for i, r := range rows {
		out[i] = r.domain()
	}
	return out, nil
}
