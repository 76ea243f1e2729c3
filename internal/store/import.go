package store

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/klauspost/compress/zstd"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"rebench/internal/rebench"
)

// Item is one attempt to import: its facts, its entries and its attempt log.
type Item struct {
	Attempt       rebench.Attempt // ID, dataset and native id name it; Entries are its score log
	ContentSHA256 string          // identity of the content: the same one again is a no-op
	Log           []byte          // attempt log v1
	LogHead       string          // SHA-256 of the log's last line
	LogLines      int
	// Flags are raised with the attempt when it is new.
	Flags []rebench.Flag
	// Hold keeps a restated attempt as a revision that does not become current.
	Hold bool
	Note string // why the revision exists
}

// Outcome says what importing an Item did.
type Outcome string

// Outcomes of an import.
const (
	Created   Outcome = "created"
	Revised   Outcome = "revised"
	Held      Outcome = "held" // a revision that did not become current
	Unchanged Outcome = "unchanged"
)

// Result is the outcome for one Item.
type Result struct {
	AttemptID string
	Outcome   Outcome
	Revision  int // number of the attempt's revision
}

// Upload is the provenance of an import.
type Upload struct {
	ID       int64
	At       time.Time
	Author   string
	FileName string
	Format   string
	SHA256   string
	Bytes    int64
	Note     string
}

// Import writes all items in one transaction: all of them or, on an error, none.
// When something changed, one data revision is added and returned; otherwise the
// returned revision is the latest. each, if not nil, hears every result.
//
// Identity is (dataset, native id). The same content again is Unchanged; other
// content becomes a new revision, current unless the item holds it back.
func (s *Store) Import(ctx context.Context, upload Upload, reason string, items iter.Seq2[Item, error], each func(Result)) (rebench.DataRevision, error) {
	var revision rebench.DataRevision
	err := s.write(ctx, func(tx *gorm.DB) error {
		im, err := newImporter(tx, upload, reason)
		if err != nil {
			return err
		}
		defer im.close()
		for item, err := range items {
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			res, err := im.add(item)
			if err != nil {
				return fmt.Errorf("import attempt %s: %w", item.Attempt.ID, err)
			}
			im.count[res.Outcome]++
			if each != nil {
				each(res)
			}
		}
		if err := im.entries.flush(); err != nil {
			return err
		}
		if im.revision.ID != 0 {
			revision = im.revision.domain()
			return addAudit(tx, AuditEvent{At: time.UnixMilli(im.upload.AtMs), Actor: im.upload.Author, Action: "import", Object: im.upload.FileName, Detail: im.detail()})
		}
		revision, err = latestRevision(tx)
		return err
	})
	return revision, err
}

type importer struct {
	tx       *gorm.DB
	upload   uploadRow
	revision dataRevisionRow // ID 0 until the first change
	reason   string
	agents   map[rebench.Agent]int64
	entries  *bulk
	zstd     *zstd.Encoder
	count    map[Outcome]int
}

func newImporter(tx *gorm.DB, u Upload, reason string) (*importer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	if u.At.IsZero() {
		u.At = time.Now()
	}
	return &importer{
		tx: tx, reason: reason, agents: map[rebench.Agent]int64{}, zstd: enc, count: map[Outcome]int{},
		upload: uploadRow{AtMs: u.At.UnixMilli(), Author: u.Author, FileName: u.FileName, Format: u.Format,
			SHA256: u.SHA256, Bytes: u.Bytes, Note: u.Note},
		entries: newBulk(tx, "score_entries", []string{"revision_id", "seq", "t_ms", "at_ms", "raw", "normalized", "basis",
			"valid", "reason", "message", "submission_sha256", "scorer_sha256", "rescored_raw", "rescored_normalized"}),
	}, nil
}

func (im *importer) close() { im.zstd.Close() }

// detail counts what the import did, for the audit trail.
func (im *importer) detail() string {
	return fmt.Sprintf("%s: %d created, %d revised, %d held, %d unchanged", im.reason,
		im.count[Created], im.count[Revised], im.count[Held], im.count[Unchanged])
}

// begin adds the upload and the data revision before the first change.
func (im *importer) begin() error {
	if im.revision.ID != 0 {
		return nil
	}
	if err := im.tx.Create(&im.upload).Error; err != nil {
		return err
	}
	im.revision = dataRevisionRow{AtMs: im.upload.AtMs, Author: im.upload.Author, Reason: im.reason}
	return im.tx.Create(&im.revision).Error
}

func (im *importer) add(item Item) (Result, error) {
	a := item.Attempt
	var row attemptRow
	found := im.tx.Where("dataset = ? AND native_id = ?", a.Dataset, a.NativeID).Limit(1).Find(&row)
	if found.Error != nil {
		return Result{}, found.Error
	}
	var last revisionRow
	if found.RowsAffected > 0 {
		known := im.tx.Where("attempt_pk = ? AND content_sha256 = ?", row.PK, item.ContentSHA256).Limit(1).Find(&last)
		if known.Error != nil {
			return Result{}, known.Error
		}
		if known.RowsAffected > 0 {
			return Result{AttemptID: row.ID, Outcome: Unchanged, Revision: last.Number}, nil
		}
		if row.Environment != string(a.Environment) || row.Profile != string(a.Profile) {
			return Result{}, rebench.Errorf(rebench.CodeConflict, "attempt %s is known as %s (%s) and cannot become %s (%s)",
				row.ID, row.Environment, row.Profile, a.Environment, a.Profile)
		}
		if err := im.tx.Where("attempt_pk = ?", row.PK).Order("number DESC").Limit(1).Find(&last).Error; err != nil {
			return Result{}, err
		}
	}
	if err := im.begin(); err != nil {
		return Result{}, err
	}
	outcome := Revised
	if found.RowsAffected == 0 {
		outcome = Created
		row = attemptRow{ID: a.ID, Dataset: a.Dataset, NativeID: a.NativeID, Environment: string(a.Environment), Profile: string(a.Profile)}
		if err := im.tx.Create(&row).Error; err != nil {
			return Result{}, err
		}
	} else if item.Hold {
		outcome = Held
	}
	if err := im.addRevision(row, last.Number+1, item, outcome); err != nil {
		return Result{}, err
	}
	return Result{AttemptID: row.ID, Outcome: outcome, Revision: last.Number + 1}, nil
}

func (im *importer) addRevision(row attemptRow, number int, item Item, outcome Outcome) error {
	rev, err := im.revisionRow(row.PK, number, item)
	if err != nil {
		return err
	}
	if err := im.tx.Create(&rev).Error; err != nil {
		return err
	}
	if outcome != Held {
		current := currentRow{AttemptPK: row.PK, DataRevision: im.revision.ID, RevisionID: rev.ID}
		if err := im.tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&current).Error; err != nil {
			return err
		}
	}
	for _, e := range item.Attempt.Entries {
		if err := im.addEntry(rev.ID, e); err != nil {
			return err
		}
	}
	if item.Log != nil {
		log := logRow{RevisionID: rev.ID, Head: item.LogHead, NLines: item.LogLines, Log: im.zstd.EncodeAll(item.Log, nil)}
		if err := im.tx.Create(&log).Error; err != nil {
			return err
		}
	}
	if outcome == Created {
		for _, f := range item.Flags {
			if err := im.addFlag(row.PK, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (im *importer) addFlag(pk int64, f rebench.Flag) error {
	if f.At.IsZero() {
		f.At = time.UnixMilli(im.upload.AtMs)
	}
	return im.tx.Create(&flagRow{AttemptPK: pk, Kind: string(f.Kind), IsSet: f.Set, Author: f.Author, Reason: f.Reason,
		AtMs: f.At.UnixMilli(), DataRevision: im.revision.ID}).Error
}

func (im *importer) addEntry(revision int64, e rebench.ScoreEntry) error {
	var t *int64
	if e.Elapsed != nil {
		ms := e.Elapsed.Milliseconds()
		t = &ms
	}
	return im.entries.add(revision, e.Seq, t, millisOfTime(e.At), e.Raw, e.Normalized, string(e.Basis), e.Valid, e.Reason,
		e.Message, e.SubmissionSHA256, e.ScorerSHA256, e.RescoredRaw, e.Rescored)
}

func (im *importer) revisionRow(pk int64, number int, item Item) (revisionRow, error) {
	a := item.Attempt
	agent, err := im.agentID(a.Agent)
	if err != nil {
		return revisionRow{}, err
	}
	extra := []byte("{}")
	if len(a.Extra) > 0 {
		if extra, err = json.Marshal(a.Extra); err != nil {
			return revisionRow{}, err
		}
	}
	r := revisionRow{
		AttemptPK: pk, Number: number, ContentSHA256: item.ContentSHA256, DataRevision: im.revision.ID,
		AtMs: im.upload.AtMs, Author: im.upload.Author, Note: item.Note, UploadID: &im.upload.ID,
		SourceFile: a.SourceFile, SourceLine: a.SourceLine, SourceSHA256: a.SourceSHA256,
		AgentID: agent, Cohort: string(a.Cohort), PersonID: a.PersonID, ScorerVersion: a.ScorerVersion,
		CalibrationID: a.Calibration, HardwareJSON: a.Hardware, HardwareClass: a.HardwareClass,
		TimeLimitMs: millisOf(a.TimeLimit), DurationMs: millisOf(a.Duration), StartedAtMs: millisOfTime(a.StartedAt),
		ZoneUnknown: a.ZoneUnknown, EndedAtMs: millisOfTime(a.EndedAt), EndReason: a.EndReason, Clock: string(a.Clock),
		Seed: a.Seed, CostUSD: a.CostUSD, Tokens: a.Tokens, Badge: string(a.Badge),
		StartRaw: a.StartRaw, ReferenceRaw: a.ReferenceRaw, FinalRaw: a.FinalRaw, Basis: string(a.Basis),
		NEntries: len(a.Entries), HasLog: a.HasLog, Unranked: a.Unranked, ExtraJSON: string(extra),
	}
	if a.FinalKnown {
		r.FinalNormalized = &a.Final
	}
	for _, e := range a.Entries {
		if e.Valid {
			r.NValid++
		}
		if r.ScorerSHA256 == "" {
			r.ScorerSHA256 = e.ScorerSHA256
		}
	}
	return r, nil
}

// agentID finds or adds the agent. Its ID field plays no part in its identity.
func (im *importer) agentID(a rebench.Agent) (int64, error) {
	a.ID = 0
	if id, ok := im.agents[a]; ok {
		return id, nil
	}
	row := agentRow{Name: a.Name, Model: a.Model, Scaffold: a.Scaffold, Kind: string(a.Kind)}
	err := im.tx.Where("name = ? AND model = ? AND scaffold = ? AND kind = ?", row.Name, row.Model, row.Scaffold, row.Kind).
		FirstOrCreate(&row).Error
	if err != nil {
		return 0, err
	}
	im.agents[a] = row.ID
	return row.ID, nil
}
