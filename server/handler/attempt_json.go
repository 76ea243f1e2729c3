package handler

import (
	"bytes"
	"encoding/json"
	"net/url"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// attempt is one attempt as the API gives it. Unknown numbers and hashes are null.
type attempt struct {
	ID            string                `json:"id"`
	Environment   rebench.EnvironmentID `json:"environment"`
	Profile       rebench.Profile       `json:"profile"`
	ScorerVersion string                `json:"scorer_version"`
	Agent         string                `json:"agent"`
	Name          string                `json:"name"`
	Model         string                `json:"model"`
	Scaffold      string                `json:"scaffold"`
	Kind          rebench.Kind          `json:"kind"`
	Cohort        rebench.Cohort        `json:"cohort"`
	Dataset       string                `json:"dataset"`
	NativeID      string                `json:"native_id"`
	PersonID      string                `json:"person_id"`
	TimeLimitS    *float64              `json:"time_limit_s"`
	DurationS     *float64              `json:"duration_s"`
	Score         *float64              `json:"score"`
	Raw           *float64              `json:"raw"`
	StartRaw      *float64              `json:"start_raw"`
	ReferenceRaw  *float64              `json:"reference_raw"`
	Basis         rebench.Basis         `json:"basis"`
	CostUSD       *float64              `json:"cost_usd"`
	Tokens        *int64                `json:"tokens"`
	Seed          *int64                `json:"seed"`
	StartedAt     *time.Time            `json:"started_at"`
	EndedAt       *time.Time            `json:"ended_at"`
	ZoneUnknown   bool                  `json:"zone_unknown"`
	EndReason     string                `json:"end_reason"`
	Clock         rebench.Clock         `json:"clock"`
	Hardware      json.RawMessage       `json:"hardware"`
	HardwareClass string                `json:"hardware_class"`
	// HardwareAssumed says that the class follows from the profile: no source names it.
	HardwareAssumed bool              `json:"hardware_assumed"`
	Calibration     string            `json:"calibration"`
	Badge           rebench.Badge     `json:"badge"`
	Source          source            `json:"source"`
	Extra           map[string]string `json:"extra"`
	Suspected       bool              `json:"suspected"`
	Excluded        bool              `json:"excluded"`
	Unranked        string            `json:"unranked"`
	Rank            int               `json:"rank"`
	N               int               `json:"n"`
	Log             *logFacts         `json:"log"`
	Pauses          []pause           `json:"pauses"`
	Entries         []scoreEntry      `json:"entries"`
	Flags           []flagStatement   `json:"flags"`
	Revisions       []revision        `json:"revisions"`
	DataRevision    int64             `json:"data_revision"`
	Signals         *analysis.Signals `json:"signals"`
	Draw            *draw             `json:"draw"`
}

type source struct {
	File   string  `json:"file"`
	Line   int     `json:"line"`
	SHA256 *string `json:"sha256"`
}

type logFacts struct {
	Bytes int     `json:"bytes"`
	Head  *string `json:"head"`
	URL   string  `json:"url"`
}

type pause struct {
	AtS     float64 `json:"at_s"`
	LengthS float64 `json:"length_s"`
	Reason  string  `json:"reason"`
}

type scoreEntry struct {
	Seq              int           `json:"seq"`
	ElapsedS         *float64      `json:"elapsed_s"`
	At               *time.Time    `json:"at"`
	Raw              *float64      `json:"raw"`
	Normalized       *float64      `json:"normalized"`
	Basis            rebench.Basis `json:"basis"`
	Valid            bool          `json:"valid"`
	Reason           string        `json:"reason"`
	Message          string        `json:"message"`
	SubmissionSHA256 *string       `json:"submission_sha256"`
	ScorerSHA256     *string       `json:"scorer_sha256"`
	RescoredRaw      *float64      `json:"rescored_raw"`
	Rescored         *float64      `json:"rescored"`
}

type flagStatement struct {
	Kind         rebench.FlagKind `json:"kind"`
	Set          bool             `json:"set"`
	Author       string           `json:"author"`
	Reason       string           `json:"reason"`
	At           time.Time        `json:"at"`
	DataRevision int64            `json:"data_revision"`
}

type revision struct {
	Number        int       `json:"number"`
	ContentSHA256 string    `json:"content_sha256"`
	At            time.Time `json:"at"`
	Author        string    `json:"author"`
	Note          string    `json:"note"`
	DataRevision  int64     `json:"data_revision"`
	Current       bool      `json:"current"`
	Score         *float64  `json:"score"`
	Raw           *float64  `json:"raw"`
}

func attemptJSON(d *analysis.AttemptDetail, drawn *draw) attempt {
	a := d.Attempt
	out := attempt{
		ID: a.ID, Environment: a.Environment, Profile: a.Profile, ScorerVersion: a.ScorerVersion, Agent: d.Label, Name: a.Agent.Name,
		Model: a.Agent.Model, Scaffold: a.Agent.Scaffold, Kind: a.Agent.Kind, Cohort: a.Cohort, Dataset: a.Dataset, NativeID: a.NativeID,
		PersonID: a.PersonID, TimeLimitS: secondsKnown(a.TimeLimit), DurationS: secondsKnown(a.Duration), Raw: a.FinalRaw,
		StartRaw: a.StartRaw, ReferenceRaw: a.ReferenceRaw, Basis: a.Basis, CostUSD: a.CostUSD, Tokens: a.Tokens, Seed: a.Seed,
		StartedAt: utc(a.StartedAt), EndedAt: utc(a.EndedAt), ZoneUnknown: a.ZoneUnknown, EndReason: a.EndReason, Clock: a.Clock,
		HardwareClass: a.HardwareClass, HardwareAssumed: a.HardwareAssumed(), Calibration: a.Calibration, Badge: a.Badge,
		Source: source{File: a.SourceFile, Line: a.SourceLine, SHA256: text0(a.SourceSHA256)}, Extra: a.Extra,
		Suspected: a.Suspected, Excluded: a.Excluded, Unranked: a.Unranked, Rank: d.Rank, N: d.N,
		Pauses: []pause{}, Entries: []scoreEntry{}, Flags: []flagStatement{}, Revisions: []revision{}, DataRevision: d.Revision.ID, Signals: d.Signals, Draw: drawn,
	}
	if a.FinalKnown {
		out.Score = &a.Final
	}
	if out.Extra == nil {
		out.Extra = map[string]string{}
	}
	if hw := []byte(a.Hardware); json.Valid(hw) && bytes.HasPrefix(bytes.TrimSpace(hw), []byte("{")) {
		out.Hardware = hw
	}
	if d.LogBytes > 0 {
		out.Log = &logFacts{Bytes: d.LogBytes, Head: text0(d.LogHead), URL: logURL(a.ID)}
	}
	for _, p := range d.Pauses {
		out.Pauses = append(out.Pauses, pause{p.AtS, p.Length.Seconds(), p.Reason})
	}
	for _, e := range a.Entries {
		out.Entries = append(out.Entries, scoreEntry{Seq: e.Seq, ElapsedS: secondsOf(e.Elapsed), At: utc(e.At), Raw: e.Raw, Normalized: e.Normalized,
			Basis: e.Basis, Valid: e.Valid, Reason: e.Reason, Message: e.Message, SubmissionSHA256: text0(e.SubmissionSHA256),
			ScorerSHA256: text0(e.ScorerSHA256), RescoredRaw: e.RescoredRaw, Rescored: e.Rescored})
	}
	for _, f := range a.Flags {
		out.Flags = append(out.Flags, flagStatement{f.Kind, f.Set, f.Author, f.Reason, f.At.UTC(), f.DataRevision})
	}
	for _, r := range a.Revisions {
		out.Revisions = append(out.Revisions, revision{r.Number, r.ContentSHA256, r.At.UTC(), r.Author, r.Note, r.DataRevision, r.Current, r.Final, r.FinalRaw})
	}
	return out
}

// logURL is where the attempt's raw log is.
func logURL(id string) string { return apiPrefix + "/attempts/" + url.PathEscape(id) + "/log" }

// text0 is nil for the empty text, which means unknown.
func text0(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

func secondsOf(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	s := d.Seconds()
	return &s
}

// secondsKnown is nil for 0, which means unknown.
func secondsKnown(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	return secondsOf(&d)
}
