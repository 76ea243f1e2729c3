package ingest

import (
	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// Element is one attempt of a report.
type Element struct {
	File        string                `json:"file"`
	Line        int                   `json:"line,omitempty"`
	AttemptID   string                `json:"attempt_id"`
	Environment rebench.EnvironmentID `json:"environment"`
	Profile     rebench.Profile       `json:"profile"`
	Agent       string                `json:"agent"` // name, "human" for people
	Revision    int                   `json:"revision"`
	Current     bool                  `json:"current"` // false: kept as a revision that is not shown
	Score       *float64              `json:"score"`   // final normalized score, nil when it cannot be normalized
	Raw         *float64              `json:"raw"`
	Unranked    string                `json:"unranked,omitempty"` // why it is in no ranking
	// ScorerVersion is, with environment and profile, the group that the attempt is
	// compared in, HardwareClass ("" when unknown) what is ranked apart within it.
	ScorerVersion string `json:"scorer_version"`
	HardwareClass string `json:"hardware_class"`
	// Quarantine is why a rule flags the attempt until a person decides.
	Quarantine string `json:"quarantine,omitempty"`
	// Stated is what the file says of the attempt that keeps it out of rankings, and
	// that is taken from it.
	Stated string `json:"stated,omitempty"`
}

// FileReport is what one uploaded file was recognised as.
type FileReport struct {
	Name       string             `json:"file"`
	Format     Format             `json:"format"`
	Bytes      int64              `json:"bytes"`
	Attempts   int                `json:"attempts"`
	Redactions int                `json:"redactions"` // secrets replaced before storing
	Needs      []string           `json:"needs_mapping"`
	ScoreKeys  []string           `json:"score_keys,omitempty"`
	Restated   []string           `json:"restated,omitempty"` // how a METR file differs from what is known
	Warnings   []attemptlog.Fault `json:"warnings"`
	Errors     []attemptlog.Fault `json:"errors"`
	Created    int                `json:"created"`
	Revised    int                `json:"revised"`
	Unchanged  int                `json:"unchanged"`
	Refused    int                `json:"refused"`
}

// Counts are how many attempts an upload creates, revises, leaves as they are.
type Counts struct {
	Created   int `json:"created"`
	Revised   int `json:"revised"`
	Unchanged int `json:"unchanged"`
	Refused   int `json:"refused"`
}

// Changed is how many attempts get a revision.
func (c Counts) Changed() int { return c.Created + c.Revised }

// Report is what an upload did or, for a plan, would do.
type Report struct {
	DataRevision int64              `json:"data_revision"`
	Counts       Counts             `json:"counts"`
	Created      []Element          `json:"created"`
	Revised      []Element          `json:"revised"`
	Unchanged    []Element          `json:"unchanged"`
	Errors       []attemptlog.Fault `json:"errors"`
	Files        []FileReport       `json:"files"`
	// Held reports that revised elements were kept back because their file is
	// normalized differently; the uploader can make them current.
	Held bool `json:"held"`
}
