package store

import (
	"time"

	"rebench/internal/rebench"
)

// The structs of this file are table rows; the columns are explained in migrations/.

type dataRevisionRow struct {
	ID     int64 `gorm:"primaryKey"`
	AtMs   int64
	Author string
	Reason string
}

func (dataRevisionRow) TableName() string { return "data_revisions" }

func (r dataRevisionRow) domain() rebench.DataRevision {
	return rebench.DataRevision{ID: r.ID, At: time.UnixMilli(r.AtMs).UTC(), Author: r.Author, Reason: r.Reason}
}

type agentRow struct {
	ID       int64 `gorm:"primaryKey"`
	Name     string
	Model    string
	Scaffold string
	Kind     string
}

func (agentRow) TableName() string { return "agents" }

func (r agentRow) domain() rebench.Agent {
	return rebench.Agent{ID: r.ID, Name: r.Name, Model: r.Model, Scaffold: r.Scaffold, Kind: rebench.Kind(r.Kind)}
}

type uploadRow struct {
	ID       int64 `gorm:"primaryKey"`
	AtMs     int64
	Author   string
	FileName string
	Format   string
	SHA256   string `gorm:"column:sha256"`
	Bytes    int64
	Note     string
	Ref      string
}

func (uploadRow) TableName() string { return "uploads" }

type attemptRow struct {
	PK          int64 `gorm:"column:pk;primaryKey"`
	ID          string
	Dataset     string
	NativeID    string
	Environment string
	Profile     string
}

func (attemptRow) TableName() string { return "attempts" }

type revisionRow struct {
	ID               int64 `gorm:"primaryKey"`
	AttemptPK        int64 `gorm:"column:attempt_pk"`
	Number           int
	ContentSHA256    string `gorm:"column:content_sha256"`
	LogHead          string
	LogBytes         int64
	DataRevision     int64
	AtMs             int64
	Author           string
	Note             string
	UploadID         *int64
	SourceFile       string
	SourceLine       int
	SourceSHA256     string `gorm:"column:source_sha256"`
	AgentID          int64
	Cohort           string
	PersonID         string
	ScorerVersion    string
	ScorerSHA256     string `gorm:"column:scorer_sha256"`
	CalibrationID    string
	HardwareJSON     string `gorm:"column:hardware_json"`
	HardwareClass    string
	TimeLimitMs      *int64
	DurationMs       *int64
	StartedAtMs      *int64
	ZoneUnknown      bool
	EndedAtMs        *int64
	EndReason        string
	Clock            string
	Seed             *int64
	CostUSD          *float64 `gorm:"column:cost_usd"`
	Tokens           *int64
	Badge            string
	StartRaw         *float64
	ReferenceRaw     *float64
	FinalNormalized  *float64
	FinalRaw         *float64
	Basis            string
	NEntries         int
	NValid           int
	HasLog           bool
	Unranked         string
	ExtraJSON        string `gorm:"column:extra_json"`
	SubmissionSHA256 string `gorm:"column:submission_sha256"`
}

func (revisionRow) TableName() string { return "revisions" }

type currentRow struct {
	AttemptPK    int64 `gorm:"column:attempt_pk;primaryKey"`
	DataRevision int64 `gorm:"primaryKey"`
	RevisionID   int64
}

func (currentRow) TableName() string { return "current_revisions" }

type flagRow struct {
	ID           int64 `gorm:"primaryKey"`
	AttemptPK    int64 `gorm:"column:attempt_pk"`
	Kind         string
	IsSet        bool
	Author       string
	Reason       string
	AtMs         int64
	DataRevision int64
}

func (flagRow) TableName() string { return "flags" }

func millisOf(d time.Duration) *int64 {
	if d <= 0 {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

func millisOfTime(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

func orZero(ms *int64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms) * time.Millisecond
}

func timeOf(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	t := time.UnixMilli(*ms).UTC()
	return &t
}
