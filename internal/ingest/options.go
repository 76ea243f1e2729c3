package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// Datasets that identities are made in when the uploader names no other.
const (
	DatasetUploads = "uploads"      // own logs and attempts named by their uploader
	DatasetMETR    = "metr-rebench" // METR's published runs.jsonl
	DatasetInspect = "inspect"      // Inspect AI samples
	DatasetVivaria = "vivaria"      // Vivaria runs
)

// Mapping is what the uploader adds to files that do not say it themselves, the
// `mapping` part of an upload. Every field is optional; what is missing for a
// file is reported by Attempt.NeedsMapping.
type Mapping struct {
	AttemptID   string        `json:"attempt_id,omitempty"`
	Environment string        `json:"environment,omitempty"`
	Profile     string        `json:"profile,omitempty"`
	Agent       *MappingAgent `json:"agent,omitempty"`
	Human       *MappingHuman `json:"human,omitempty"`
	StartedAt   string        `json:"started_at,omitempty"` // RFC 3339, or naive local time in Zone
	Zone        string        `json:"zone,omitempty"`       // IANA name, UTC offset, or "unknown"
	ScoreKey    string        `json:"score_key,omitempty"`  // scorer, dict key or scorer/key of an Inspect log
	// Task confirms that an Inspect log of a task with this name is of the environment:
	// without it a log whose task is none of RE-Bench's is in no ranking.
	Task       string          `json:"task,omitempty"`
	Dataset    string          `json:"dataset,omitempty"`
	TimeLimitS *float64        `json:"time_limit_s,omitempty"`
	Scoring    *MappingScoring `json:"scoring,omitempty"`
	// Files overrides the mapping for single files, by the name uploaded.
	Files map[string]Mapping `json:"files,omitempty"`
}

// MappingAgent names the AI system.
type MappingAgent struct {
	Name     string `json:"name"`
	Model    string `json:"model,omitempty"`
	Scaffold string `json:"scaffold,omitempty"`
}

// MappingHuman names the cohort of a human attempt.
type MappingHuman struct {
	Cohort string `json:"cohort"`
	Source string `json:"source,omitempty"`
}

// MappingScoring states known starting and reference scores. Without it a raw
// score stays raw.
type MappingScoring struct {
	Direction    string   `json:"direction,omitempty"` // min or max
	StartRaw     *float64 `json:"start_raw,omitempty"`
	ReferenceRaw *float64 `json:"reference_raw,omitempty"`
}

// ParseMapping reads a mapping from JSON and checks it. Unknown fields are
// refused: a misspelt one would silently map nothing.
func ParseMapping(b []byte) (Mapping, error) {
	var m Mapping
	if len(bytes.TrimSpace(b)) == 0 {
		return m, nil
	}
	if err := decodeMapping(b, &m); err != nil {
		return m, err
	}
	return m, m.check(true)
}

// CheckMapping refuses a mapping whose fields cannot be, as ParseMapping does.
func CheckMapping(m Mapping) (Mapping, error) { return m, m.check(true) }

func (m *Mapping) check(outer bool) error {
	bad := func(field, format string, args ...any) error {
		return &MappingError{"mapping." + field, fmt.Errorf(format, args...).Error()}
	}
	if m.AttemptID != "" && !validID(m.AttemptID) {
		return bad("attempt_id", "found %s, expected %s", quote(m.AttemptID), idRule)
	}
	if m.Dataset != "" && !validID(m.Dataset) {
		return bad("dataset", "found %s, expected %s", quote(m.Dataset), idRule)
	}
	if m.Environment != "" {
		if _, ok := rebench.EnvironmentByID(rebench.EnvironmentID(m.Environment)); !ok {
			return bad("environment", "found %s, expected one of %s", quote(m.Environment), environmentNames())
		}
	}
	if m.Profile != "" && !validProfile(m.Profile) {
		return bad("profile", "found %s, expected paper, gpu or cpu", quote(m.Profile))
	}
	if m.Agent != nil && m.Human != nil {
		return bad("agent", "found agent and human, expected one of them")
	}
	if m.Agent != nil && m.Agent.Name == "" {
		return bad("agent.name", "found nothing, expected a name")
	}
	if m.Agent != nil && m.Agent.Name == rebench.HumanName {
		return bad("agent.name", "found human, expected the name of an AI agent; use human for people")
	}
	if m.Human != nil && m.Human.Cohort == "" {
		return bad("human.cohort", "found nothing, expected a cohort")
	}
	if _, err := parseZone(m.Zone); err != nil {
		return bad("zone", "%w", err)
	}
	if m.StartedAt != "" {
		if _, ok := parseStamp(m.StartedAt); !ok {
			return bad("started_at", "found %s, expected a time such as 2025-01-31T12:00:00Z", quote(m.StartedAt))
		}
	}
	if m.TimeLimitS != nil && (*m.TimeLimitS <= 0 || math.IsInf(*m.TimeLimitS, 0)) {
		return bad("time_limit_s", "found %v, expected seconds > 0", *m.TimeLimitS)
	}
	if s := m.Scoring; s != nil {
		if s.Direction != "" && s.Direction != string(rebench.Minimize) && s.Direction != string(rebench.Maximize) {
			return bad("scoring.direction", "found %s, expected min or max", quote(s.Direction))
		}
		if (s.StartRaw == nil) != (s.ReferenceRaw == nil) || s.StartRaw != nil && *s.StartRaw == *s.ReferenceRaw {
			return bad("scoring", "expected start_raw and reference_raw to be two different scores")
		}
	}
	for name, file := range m.Files {
		if !outer || len(file.Files) > 0 {
			return bad("files", "found files within files")
		}
		if err := file.check(false); err != nil {
			at := "mapping.files[" + quote(name) + "]"
			if inner, ok := errors.AsType[*MappingError](err); ok {
				return &MappingError{at + strings.TrimPrefix(inner.Field, "mapping"), inner.Detail}
			}
			return &MappingError{at, err.Error()}
		}
	}
	return nil
}

// For returns the mapping of one file: what is said for all, replaced where
// Files says something else for it.
func (m Mapping) For(file string) Mapping {
	f, ok := m.Files[file]
	m.Files = nil
	if !ok {
		return m
	}
	take := func(dst *string, src string) {
		if src != "" {
			*dst = src
		}
	}
	take(&m.AttemptID, f.AttemptID)
	take(&m.Environment, f.Environment)
	take(&m.Profile, f.Profile)
	take(&m.StartedAt, f.StartedAt)
	take(&m.Zone, f.Zone)
	take(&m.ScoreKey, f.ScoreKey)
	take(&m.Task, f.Task)
	take(&m.Dataset, f.Dataset)
	if f.Agent != nil || f.Human != nil {
		m.Agent, m.Human = f.Agent, f.Human
	}
	if f.TimeLimitS != nil {
		m.TimeLimitS = f.TimeLimitS
	}
	if f.Scoring != nil {
		m.Scoring = f.Scoring
	}
	return m
}

// Constants are the raw scores of the starting and the reference solution.
type Constants struct{ Start, Reference float64 }

// PublishedConstants returns what METR's runs.jsonl of commit 3a947ac was
// normalized with (data/published/start_ref_solved.csv).
func PublishedConstants() map[rebench.EnvironmentID]Constants {
	out := map[rebench.EnvironmentID]Constants{}
	for _, e := range rebench.Environments() {
		out[e.ID] = Constants{e.PublishedStart, e.PublishedReference}
	}
	return out
}

// Options says how files are decoded.
type Options struct {
	Mapping Mapping
	// Constants decode raw scores from METR's normalized ones; nil decodes none.
	Constants map[rebench.EnvironmentID]Constants
	// Prior returns what is stored under an identity, for comparing a METR file
	// with it (see File.Restatement). nil compares with nothing.
	Prior func(dataset, nativeID string) (Prior, bool)
	// TempDir holds archive members while they are read; "" is the system's.
	TempDir string
}

const idRule = "1 to 200 letters, digits or characters of . _ : @ + ~ - that start with a letter or digit"

// validID reports whether an id may stand in an address unescaped.
func validID(s string) bool {
	if len(s) == 0 || len(s) > 200 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._:@+~-", rune(c))) {
			return false
		}
	}
	return true
}

func validProfile(p string) bool {
	switch rebench.Profile(p) {
	case rebench.ProfilePaper, rebench.ProfileGPU, rebench.ProfileCPU, rebench.ProfileTest:
		return true
	}
	return false
}

func environmentNames() string {
	var names []string
	for _, id := range rebench.EnvironmentIDs() {
		names = append(names, string(id))
	}
	return strings.Join(names, ", ")
}

// attemptID makes the id of an attempt from its identity.
func attemptID(dataset, nativeID string) string {
	if dataset == DatasetUploads {
		return nativeID
	}
	return dataset + ":" + nativeID
}

// identity is the inverse of attemptID for a log's header.
func identity(h *attemptlog.Header) (dataset, nativeID string) {
	if h.Imported != nil && h.Imported.NativeID != "" {
		if d, ok := strings.CutSuffix(h.AttemptID, ":"+h.Imported.NativeID); ok && d != "" {
			return d, h.Imported.NativeID
		}
	}
	return DatasetUploads, h.AttemptID
}
