package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"gorm.io/gorm"

	"rebench/internal/rebench"
)

// LatestRevision returns the newest data revision, the zero value in an empty database.
func (s *Store) LatestRevision(ctx context.Context) (rebench.DataRevision, error) {
	return latestRevision(s.reader.WithContext(ctx))
}

func latestRevision(db *gorm.DB) (rebench.DataRevision, error) {
	var row dataRevisionRow
	err := db.Order("id DESC").Limit(1).Find(&row).Error
	if err != nil || row.ID == 0 {
		return rebench.DataRevision{}, err
	}
	return row.domain(), nil
}

// DataRevision returns the data revision with the given id.
func (s *Store) DataRevision(ctx context.Context, id int64) (rebench.DataRevision, error) {
	var row dataRevisionRow
	err := s.reader.WithContext(ctx).First(&row, id).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return rebench.DataRevision{}, rebench.Errorf(rebench.CodeNotFound, "there is no data revision %d", id)
	}
	return row.domain(), err
}

// DataRevisions returns all data revisions, oldest first.
func (s *Store) DataRevisions(ctx context.Context) ([]rebench.DataRevision, error) {
	var rows []dataRevisionRow
	if err := s.reader.WithContext(ctx).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make([]rebench.DataRevision, len(rows))
	for i, r := range rows {
		out[i] = r.domain()
	}
	return out, nil
}

// Agents returns every agent by id.
func (s *Store) Agents(ctx context.Context) (map[int64]rebench.Agent, error) {
	var rows []agentRow
	if err := s.reader.WithContext(ctx).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[int64]rebench.Agent, len(rows))
	for _, r := range rows {
		out[r.ID] = r.domain()
	}
	return out, nil
}

// currentAt selects, of each attempt, the revision that was current at a data
// revision.
const currentAt = ` FROM current_revisions c JOIN revisions r ON r.id = c.revision_id JOIN attempts a ON a.pk = c.attempt_pk
WHERE c.data_revision = (SELECT MAX(c2.data_revision) FROM current_revisions c2 WHERE c2.attempt_pk = c.attempt_pk AND c2.data_revision <= ?)`

// Summaries returns every attempt as it stood at data revision asof, in the
// order of import.
func (s *Store) Summaries(ctx context.Context, asof int64) ([]rebench.AttemptSummary, error) {
	flags, err := s.flagStates(ctx, asof)
	if err != nil {
		return nil, err
	}
	reproduced, err := s.reproduced(ctx, asof, flags, 0)
	if err != nil {
		return nil, err
	}
	pool, err := s.reader.DB()
	if err != nil {
		return nil, err
	}
	rows, err := pool.QueryContext(ctx, `SELECT a.pk, a.id, a.environment, a.profile, r.id, r.scorer_version, r.hardware_class, r.agent_id, r.cohort,
r.time_limit_ms, r.duration_ms, r.final_normalized, r.final_raw, r.cost_usd, r.has_log, r.unranked, r.badge`+currentAt+` ORDER BY a.pk`, asof)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	// The same few texts recur in every row; one copy of each is kept.
	texts := map[string]string{}
	intern := func(b string) string {
		if t, ok := texts[b]; ok {
			return t
		}
		texts[b] = b
		return b
	}
	var out []rebench.AttemptSummary
	for rows.Next() {
		var a rebench.AttemptSummary
		var pk int64
		var env, profile, cohort, badge string
		var limit, duration *int64
		var final *float64
		if err := rows.Scan(&pk, &a.ID, &env, &profile, &a.RevisionID, &a.ScorerVersion, &a.HardwareClass, &a.AgentID, &cohort,
			&limit, &duration, &final, &a.FinalRaw, &a.CostUSD, &a.HasLog, &a.Unranked, &badge); err != nil {
			return nil, err
		}
		a.Environment, a.Profile, a.Cohort = rebench.EnvironmentID(intern(env)), rebench.Profile(intern(profile)), rebench.Cohort(intern(cohort))
		a.ScorerVersion, a.HardwareClass, a.Unranked = intern(a.ScorerVersion), intern(a.HardwareClass), intern(a.Unranked)
		if a.Badge = rebench.Badge(intern(badge)); reproduced[pk] {
			a.Badge = rebench.BadgeReproduced
		}
		a.TimeLimit, a.Duration = orZero(limit), orZero(duration)
		if final != nil {
			a.Final, a.FinalKnown = *final, true
		}
		a.Ranked = a.Unranked == ""
		f := flags[pk]
		a.Suspected = f.suspected
		a.Excluded = f.invalid || f.retracted
		out = append(out, a)
	}
	return out, rows.Err()
}

// Final is the current score of an attempt.
type Final struct {
	Environment rebench.EnvironmentID
	Agent       string // name
	Normalized  *float64
}

// Finals returns the current scores of a dataset by native id.
func (s *Store) Finals(ctx context.Context, dataset string) (map[string]Final, error) {
	var rows []struct {
		NativeID, Environment, Name string
		FinalNormalized             *float64
	}
	err := s.reader.WithContext(ctx).Raw(`SELECT a.native_id, a.environment, g.name, r.final_normalized FROM attempts a
JOIN current_revisions c ON c.attempt_pk = a.pk AND c.data_revision = (SELECT MAX(data_revision) FROM current_revisions WHERE attempt_pk = a.pk)
JOIN revisions r ON r.id = c.revision_id JOIN agents g ON g.id = r.agent_id WHERE a.dataset = ?`, dataset).Scan(&rows).Error
	out := make(map[string]Final, len(rows))
	for _, r := range rows {
		out[r.NativeID] = Final{Environment: rebench.EnvironmentID(r.Environment), Agent: r.Name, Normalized: r.FinalNormalized}
	}
	return out, err
}

// flagState is what an attempt's flags amount to: the latest statement of each kind.
type flagState struct{ suspected, invalid, retracted bool }

func (s *Store) flagStates(ctx context.Context, asof int64) (map[int64]flagState, error) {
	var rows []flagRow
	if err := s.reader.WithContext(ctx).Where("data_revision <= ?", asof).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	out := map[int64]flagState{}
	for _, r := range rows {
		f := out[r.AttemptPK]
		f.apply(r)
		out[r.AttemptPK] = f
	}
	return out, nil
}

func (f *flagState) apply(r flagRow) {
	switch rebench.FlagKind(r.Kind) {
	case rebench.FlagSuspected:
		f.suspected = r.IsSet
	case rebench.FlagInvalid:
		f.invalid = r.IsSet
	case rebench.FlagRetracted:
		f.retracted = r.IsSet
	}
}

// Entries returns the score entries of revisions by revision id, in log order.
func (s *Store) Entries(ctx context.Context, revisions []int64) (map[int64][]rebench.ScoreEntry, error) {
	out := make(map[int64][]rebench.ScoreEntry, len(revisions))
	const chunk = 500
	for len(revisions) > 0 {
		n := min(chunk, len(revisions))
		if err := s.entries(ctx, revisions[:n], out); err != nil {
			return nil, err
		}
		revisions = revisions[n:]
	}
	return out, nil
}

func (s *Store) entries(ctx context.Context, revisions []int64, out map[int64][]rebench.ScoreEntry) error {
	pool, err := s.reader.DB()
	if err != nil {
		return err
	}
	args := make([]any, len(revisions))
	for i, r := range revisions {
		args[i] = r
	}
	in := strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", ")
	rows, err := pool.QueryContext(ctx, "SELECT revision_id, entries FROM score_entries WHERE revision_id IN ("+in+") ORDER BY revision_id, block", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var revision int64
		var block sql.RawBytes
		if err := rows.Scan(&revision, &block); err != nil {
			return err
		}
		if out[revision], err = decodeEntries(out[revision], block); err != nil {
			return fmt.Errorf("score entries of revision %d: %w", revision, err)
		}
	}
	for _, r := range revisions {
		slices.SortStableFunc(out[r], func(a, b rebench.ScoreEntry) int { return a.Seq - b.Seq })
	}
	return rows.Err()
}

// Attempt returns the attempt with the given id as it stood at data revision
// asof, with its entries, flags and all its revisions up to then.
func (s *Store) Attempt(ctx context.Context, id string, asof int64) (*rebench.Attempt, error) {
	db := s.reader.WithContext(ctx)
	var row attemptRow
	if err := db.Where("id = ?", id).First(&row).Error; errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, rebench.Errorf(rebench.CodeNotFound, "there is no attempt %q", id)
	} else if err != nil {
		return nil, err
	}
	var current currentRow
	err := db.Where("attempt_pk = ? AND data_revision <= ?", row.PK, asof).Order("data_revision DESC").Limit(1).Find(&current).Error
	if err != nil {
		return nil, err
	}
	if current.RevisionID == 0 {
		return nil, rebench.Errorf(rebench.CodeNotFound, "attempt %q did not exist at data revision %d", id, asof)
	}
	var revisions []revisionRow
	if err := db.Where("attempt_pk = ? AND data_revision <= ?", row.PK, asof).Order("number").Find(&revisions).Error; err != nil {
		return nil, err
	}
	a := &rebench.Attempt{Dataset: row.Dataset, NativeID: row.NativeID}
	a.ID, a.Environment, a.Profile = row.ID, rebench.EnvironmentID(row.Environment), rebench.Profile(row.Profile)
	for _, r := range revisions {
		isCurrent := r.ID == current.RevisionID
		if isCurrent {
			if err := fill(a, r); err != nil {
				return nil, err
			}
		}
		a.Revisions = append(a.Revisions, rebench.Revision{
			ID: r.ID, Number: r.Number, ContentSHA256: r.ContentSHA256, At: time.UnixMilli(r.AtMs).UTC(), Author: r.Author,
			Note: r.Note, DataRevision: r.DataRevision, Current: isCurrent, Final: r.FinalNormalized, FinalRaw: r.FinalRaw,
		})
	}
	if err := s.attach(ctx, db, a, row.PK, asof); err != nil {
		return nil, err
	}
	return a, nil
}

// attach loads agent, flags and entries.
func (s *Store) attach(ctx context.Context, db *gorm.DB, a *rebench.Attempt, pk, asof int64) error {
	var agent agentRow
	if err := db.First(&agent, a.AgentID).Error; err != nil {
		return err
	}
	a.Agent = agent.domain()
	var flags []flagRow
	if err := db.Where("attempt_pk = ? AND data_revision <= ?", pk, asof).Order("id").Find(&flags).Error; err != nil {
		return err
	}
	var state flagState
	for _, f := range flags {
		state.apply(f)
		a.Flags = append(a.Flags, rebench.Flag{ID: f.ID, AttemptID: a.ID, Kind: rebench.FlagKind(f.Kind), Set: f.IsSet,
			Author: f.Author, Reason: f.Reason, At: time.UnixMilli(f.AtMs).UTC(), DataRevision: f.DataRevision})
	}
	a.Suspected, a.Excluded = state.suspected, state.invalid || state.retracted
	if a.Badge == rebench.BadgeRescored {
		all, err := s.flagStates(ctx, asof)
		if err != nil {
			return err
		}
		reproduced, err := s.reproduced(ctx, asof, all, pk)
		if err != nil {
			return err
		}
		if reproduced[pk] {
			a.Badge = rebench.BadgeReproduced
		}
	}
	entries, err := s.Entries(ctx, []int64{a.RevisionID})
	a.Entries = entries[a.RevisionID]
	return err
}

func fill(a *rebench.Attempt, r revisionRow) error {
	a.RevisionID, a.AgentID, a.Cohort, a.PersonID = r.ID, r.AgentID, rebench.Cohort(r.Cohort), r.PersonID
	a.ScorerVersion, a.Calibration, a.Hardware, a.HardwareClass = r.ScorerVersion, r.CalibrationID, r.HardwareJSON, r.HardwareClass
	a.TimeLimit, a.Duration = orZero(r.TimeLimitMs), orZero(r.DurationMs)
	a.StartedAt, a.EndedAt, a.ZoneUnknown = timeOf(r.StartedAtMs), timeOf(r.EndedAtMs), r.ZoneUnknown
	a.EndReason, a.Clock, a.Seed = r.EndReason, rebench.Clock(r.Clock), r.Seed
	a.CostUSD, a.Tokens, a.Badge = r.CostUSD, r.Tokens, rebench.Badge(r.Badge)
	a.StartRaw, a.ReferenceRaw, a.Basis = r.StartRaw, r.ReferenceRaw, rebench.Basis(r.Basis)
	a.FinalRaw, a.HasLog, a.Unranked, a.Ranked = r.FinalRaw, r.HasLog, r.Unranked, r.Unranked == ""
	if r.FinalNormalized != nil {
		a.Final, a.FinalKnown = *r.FinalNormalized, true
	}
	a.LogHead, a.LogBytes, a.SubmissionSHA256 = r.LogHead, r.LogBytes, r.SubmissionSHA256
	a.SourceFile, a.SourceLine, a.SourceSHA256 = r.SourceFile, r.SourceLine, r.SourceSHA256
	return json.Unmarshal([]byte(r.ExtraJSON), &a.Extra)
}

// Log returns the attempt log v1 of a revision, nil if it has none.
func (s *Store) Log(ctx context.Context, revision int64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := s.WriteLog(ctx, revision, &b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteLog writes the attempt log v1 of a revision to w and returns its length, 0
// if it has none. It holds one chunk in memory, and no connection while w takes its
// time.
func (s *Store) WriteLog(ctx context.Context, revision int64, w io.Writer) (int64, error) {
	pool, err := s.reader.DB()
	if err != nil {
		return 0, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return 0, err
	}
	defer dec.Close()
	var total int64
	var packed, plain []byte
	for chunk := 0; ; chunk++ {
		err := pool.QueryRowContext(ctx, "SELECT log FROM attempt_logs WHERE revision_id = ? AND chunk = ?", revision, chunk).Scan(&packed)
		if errors.Is(err, sql.ErrNoRows) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		if plain, err = dec.DecodeAll(packed, plain[:0]); err != nil {
			return total, err
		}
		n, err := w.Write(plain)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
}
