// Package published turns the embedded METR rows into attempts.
//
// METR's file holds one final, already normalized score for each attempt
// (data/published/README.md). Raw scores come from METR's task READMEs where they
// are printed there and are otherwise decoded with the constants that the file was
// normalized with; a score clipped at 0 has no known raw score.
package published

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"rebench/data"
	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

const (
	// Dataset is the identity that the embedded rows share with uploads of METR's file.
	Dataset = "metr-rebench"
	// RunsFile is the embedded file of METR rows.
	RunsFile  = "metr_re_bench_runs.jsonl"
	humanFile = "human_attempts.csv"
	author    = "rebench"
	// HardwareClass is that of the paper's conditions.
	HardwareClass = "h100"
	// Source says where RunsFile comes from.
	Source = "METR/eval-analysis-public, commit 3a947ac, data/external/all_runs.jsonl"
)

// Loader is the part of the store that Load needs.
type Loader interface {
	Import(ctx context.Context, u store.Upload, reason string, items iter.Seq2[store.Item, error], each func(store.Result)) (rebench.DataRevision, error)
}

// Stats counts what Load did.
type Stats struct {
	Created, Unchanged, Placeholders int
}

// Load imports the embedded rows. Loading them again changes nothing.
// progress, if not nil, hears the number of rows done and in all.
func Load(ctx context.Context, into Loader, progress func(done, total int)) (Stats, error) {
	rows, err := readRuns()
	if err != nil {
		return Stats{}, err
	}
	humans, err := readHumans()
	if err != nil {
		return Stats{}, err
	}
	flags, err := readFlags()
	if err != nil {
		return Stats{}, err
	}
	var stats Stats
	done := 0
	sum := data.Checksums()[RunsFile]
	items := func(yield func(store.Item, error) bool) {
		for _, row := range rows {
			done++
			human, isHuman := humans[row.id()]
			if isHuman && human.placeholder {
				stats.Placeholders++
				continue
			}
			item, err := newItem(row, human, flags[row.id()], sum)
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
	upload := store.Upload{Author: author, FileName: RunsFile, Format: "metr-runs", SHA256: sum, Note: Source}
	_, err = into.Import(ctx, upload, "published data: "+Source, items, func(r store.Result) {
		switch r.Outcome {
		case store.Created:
			stats.Created++
		case store.Unchanged:
			stats.Unchanged++
		}
		if progress != nil {
			progress(done, len(rows))
		}
	})
	return stats, err
}

// run is one row of METR's file; the fields that no page uses stay in the file.
type run struct {
	RunID       json.RawMessage `json:"run_id"`
	TaskID      string          `json:"task_id"`
	TaskFamily  string          `json:"task_family"`
	Alias       string          `json:"alias"`
	Model       string          `json:"model"`
	Score       float64         `json:"score"`
	TimeLimit   float64         `json:"time_limit"`   // s, 0 for humans
	StartedAt   float64         `json:"started_at"`   // epoch ms, 0 for humans
	CompletedAt float64         `json:"completed_at"` // epoch ms
	FatalError  *string         `json:"fatal_error_from"`
	line        int
}

func (r run) id() string { return strings.Trim(string(r.RunID), `"`) }

func readRuns() ([]run, error) {
	b, err := data.File(RunsFile)
	if err != nil {
		return nil, err
	}
	var rows []run
	for i, line := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
		r := run{line: i + 1}
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", RunsFile, i+1, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// human is what human_attempts.csv adds to a human row.
type human struct {
	duration    time.Duration
	raw         *float64
	rawSource   string
	placeholder bool
	paper71     bool
}

func readHumans() (map[string]human, error) {
	rows, err := data.Table(humanFile)
	if err != nil {
		return nil, err
	}
	out := map[string]human{}
	for _, r := range rows {
		seconds, err := strconv.ParseFloat(r["duration_s"], 64)
		if err != nil {
			return nil, fmt.Errorf("%s run %s: duration_s: %w", humanFile, r["metr_run_id"], err)
		}
		h := human{
			duration:    time.Duration(seconds * float64(time.Second)),
			rawSource:   r["raw_source"],
			placeholder: r["status"] == "placeholder",
			paper71:     r["paper71"] == "1",
		}
		if r["raw_score"] != "" {
			raw, err := strconv.ParseFloat(r["raw_score"], 64)
			if err != nil {
				return nil, fmt.Errorf("%s run %s: raw_score: %w", humanFile, r["metr_run_id"], err)
			}
			h.raw = &raw
		}
		out[r["metr_run_id"]] = h
	}
	return out, nil
}

func readFlags() (map[string][]rebench.Flag, error) {
	rows, err := data.Records(data.Flags)
	if err != nil {
		return nil, fmt.Errorf("flags.csv: %w", err)
	}
	out := map[string][]rebench.Flag{}
	for _, r := range rows {
		out[r["run_id"]] = append(out[r["run_id"]], rebench.Flag{
			Kind: rebench.FlagKind(r["kind"]), Set: true, Author: author, Reason: r["reason"] + " (" + r["source"] + ")",
		})
	}
	return out, nil
}

func newItem(r run, h human, flags []rebench.Flag, sourceSum string) (store.Item, error) {
	env, ok := rebench.EnvironmentByMETRFamily(r.TaskFamily)
	if !ok {
		return store.Item{}, fmt.Errorf("%s line %d: unknown task family %q", RunsFile, r.line, r.TaskFamily)
	}
	var a rebench.Attempt
	a.ID, a.Dataset, a.NativeID = Dataset+":"+r.id(), Dataset, r.id()
	a.Environment, a.Profile, a.ScorerVersion = env.ID, rebench.ProfilePaper, rebench.ScorerMETRPublished
	a.HardwareClass = HardwareClass
	a.Agent = rebench.Agent{Name: r.Alias, Model: r.Model, Kind: rebench.KindAgent}
	a.StartRaw, a.ReferenceRaw = &env.PublishedStart, &env.PublishedReference
	a.Final, a.FinalKnown, a.Basis, a.Clock = r.Score, true, rebench.BasisDerived, rebench.ClockUnknown
	a.EndReason, a.Badge = "unknown", rebench.BadgeSelfReported
	a.SourceFile, a.SourceLine, a.SourceSHA256 = RunsFile, r.line, sourceSum
	a.Extra = map[string]string{"task_id": r.TaskID}
	if r.FatalError != nil {
		a.Extra["fatal_error_from"] = *r.FatalError
	}
	if r.Alias == rebench.HumanName {
		fillHuman(&a, h)
	} else {
		fillAgent(&a, r)
	}
	if a.FinalRaw == nil && r.Score > 0 {
		raw := env.PublishedStart + r.Score*(env.PublishedReference-env.PublishedStart)
		a.FinalRaw = &raw
	}
	if a.FinalRaw == nil {
		a.Basis = rebench.BasisNormalized
	}
	a.Entries = []rebench.ScoreEntry{{Seq: 1, Raw: a.FinalRaw, Normalized: &a.Final, Basis: a.Basis, Valid: true,
		Message: "Final score of the attempt; METR's file holds no score log."}}
	return withLog(store.Item{Attempt: a, Flags: flags, Note: "published"}, env)
}

func fillHuman(a *rebench.Attempt, h human) {
	a.Agent.Kind, a.Agent.Model = rebench.KindHuman, ""
	a.TimeLimit, a.Duration = rebench.HumanTimeLimit, h.duration
	a.Cohort = rebench.CohortAll
	if h.paper71 {
		a.Cohort = rebench.CohortPaper71
	}
	a.Extra["raw_source"] = h.rawSource
	if h.raw != nil && h.rawSource == "readme" {
		a.Basis = rebench.BasisRaw
	}
	a.FinalRaw = h.raw
}

func fillAgent(a *rebench.Attempt, r run) {
	a.TimeLimit = time.Duration(r.TimeLimit * float64(time.Second))
	start, end := time.UnixMilli(int64(r.StartedAt)).UTC(), time.UnixMilli(int64(r.CompletedAt)).UTC()
	a.StartedAt, a.EndedAt = &start, &end
	a.Duration = end.Sub(start)
	a.Extra["duration"] = "wall time between start and end, pauses included"
}

// withLog writes the attempt as attempt log v1.
func withLog(item store.Item, env rebench.Environment) (store.Item, error) {
	a := &item.Attempt
	limit := a.TimeLimit.Seconds()
	h := &attemptlog.Header{
		AttemptID:   a.ID,
		Environment: attemptlog.Environment{ID: string(a.Environment), Version: a.ScorerVersion, Profile: string(a.Profile)},
		TimeLimitS:  &limit, StartedAt: a.StartedAt, Clock: a.Clock,
		Scoring:  attemptlog.Scoring{Direction: env.Direction, StartRaw: a.StartRaw, ReferenceRaw: a.ReferenceRaw},
		Tool:     attemptlog.Tool{Name: "rebench", Version: "published"},
		Imported: &attemptlog.Imported{Format: "metr-runs", SHA256: a.SourceSHA256, NativeID: a.NativeID},
	}
	if a.Agent.Kind == rebench.KindHuman {
		h.Human = &attemptlog.Human{Cohort: string(a.Cohort), Source: Dataset}
	} else {
		h.Agent = &attemptlog.Agent{Name: a.Agent.Name, Model: a.Agent.Model, Scaffold: a.Agent.Scaffold}
	}
	e := a.Entries[0]
	var buf bytes.Buffer
	w := attemptlog.NewWriter(&buf)
	for _, event := range []attemptlog.Event{
		h,
		&attemptlog.Score{Score: e.Raw, Normalized: e.Normalized, Basis: e.Basis, Valid: true, Message: attemptlog.Text(e.Message)},
		&attemptlog.End{At: a.EndedAt, Reason: attemptlog.EndUnknown},
	} {
		if _, err := w.Append(event); err != nil {
			return store.Item{}, fmt.Errorf("attempt %s: %w", a.ID, err)
		}
	}
	item.Log = buf.Bytes()
	sum := sha256.Sum256(item.Log)
	item.ContentSHA256 = hex.EncodeToString(sum[:])
	item.LogHead, item.LogLines = w.Head().Hash.String(), 3
	return item, nil
}
