// Package published imports the embedded METR rows.
//
// METR's file holds one final, already normalized score for each attempt
// (data/published/README.md). It is decoded as any uploaded METR file; what METR's
// task READMEs add about the human attempts is completed here, for the embedded
// file and for uploads of other versions of it.
package published

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strconv"
	"sync"

	"rebench/data"
	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/intake"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

const (
	// Dataset is the identity that the embedded rows share with uploads of METR's file.
	Dataset = ingest.DatasetMETR
	// RunsFile is the embedded file of METR rows.
	RunsFile  = "metr_re_bench_runs.jsonl"
	humanFile = "human_attempts.csv"
	author    = "rebench"
	// Source says where RunsFile comes from.
	Source = "METR/eval-analysis-public, commit 3a947ac, data/external/all_runs.jsonl"
)

// Loader is the part of the store that Load needs.
type Loader interface {
	Import(ctx context.Context, u store.Upload, reason string, items iter.Seq2[store.Item, error], each func(store.Result) error) (rebench.DataRevision, error)
}

// Stats counts what Load did.
type Stats struct {
	Created, Unchanged, Placeholders int
}

// Load imports the embedded rows. Loading them again changes nothing.
// progress, if not nil, hears the number of attempts done and of rows in all.
func Load(ctx context.Context, into Loader, progress func(done, total int)) (Stats, error) {
	b, err := data.File(RunsFile)
	if err != nil {
		return Stats{}, err
	}
	flags, err := readFlags()
	if err != nil {
		return Stats{}, err
	}
	sum := data.Checksums()[RunsFile]
	total := bytes.Count(b, []byte("\n"))
	f := ingest.Open(ctx, RunsFile, bytes.NewReader(b), int64(len(b)), ingest.Options{Constants: ingest.PublishedConstants()})
	var stats Stats
	items := func(yield func(store.Item, error) bool) {
		for a := range f.Attempts() {
			item, err := newItem(a, sum, flags[a.NativeID])
			if !yield(item, err) || err != nil {
				return
			}
		}
		if err := problem(f); err != nil {
			yield(store.Item{}, err)
		}
	}
	upload := store.Upload{Author: author, FileName: RunsFile, Format: string(f.Format), SHA256: sum, Bytes: int64(len(b)), Note: Source}
	_, err = into.Import(ctx, upload, "published data: "+Source, items, func(r store.Result) error {
		switch r.Outcome {
		case store.Created:
			stats.Created++
		case store.Unchanged:
			stats.Unchanged++
		}
		if progress != nil {
			progress(stats.Created+stats.Unchanged, total)
		}
		return nil
	})
	for _, w := range f.Warnings() {
		if w.Code == ingest.WarnPlaceholder {
			stats.Placeholders++
		}
	}
	return stats, err
}

func problem(f *ingest.File) error {
	if err := f.Err(); err != nil {
		return err
	}
	if faults := f.Faults(); len(faults) > 0 {
		return fmt.Errorf("published data: %w", attemptlog.Faults(faults))
	}
	return nil
}

func newItem(a *ingest.Attempt, sum string, flags []rebench.Flag) (store.Item, error) {
	m := intake.Meta{Dataset: a.Dataset, NativeID: a.NativeID, SourceFile: RunsFile, SourceLine: a.Line, SourceSHA256: sum,
		Note: "published", Flags: flags, Extra: map[string]string{}}
	if a.DurationS != nil {
		m.Duration = intake.Seconds(*a.DurationS)
	}
	item, err := intake.NewItem(a.Header, m, intake.FromIngest(a))
	if err != nil {
		return store.Item{}, err
	}
	return Complete(item)
}

// Complete adds to a human row of METR's file what the task READMEs say of it: the
// cohort, and the raw score where it is printed. Other items pass unchanged.
func Complete(item store.Item) (store.Item, error) {
	if item.Dataset != Dataset {
		return item, nil
	}
	all, err := humans()
	if err != nil {
		return item, err
	}
	h, ok := all[item.NativeID]
	if !ok {
		return item, nil
	}
	write := item.Write
	item.Write = func(w *store.LogWriter) (store.Content, error) {
		c, err := write(w)
		if err == nil && c.Attempt.Agent.Kind == rebench.KindHuman {
			h.fill(&c.Attempt)
		}
		return c, err
	}
	return item, nil
}

// human is what human_attempts.csv adds to a human row.
type human struct {
	raw       *float64
	rawSource string
	score     float64 // normalized, as published
	paper71   bool
}

func (h human) fill(a *rebench.Attempt) {
	a.Cohort = rebench.CohortAll
	if h.paper71 {
		a.Cohort = rebench.CohortPaper71
	}
	a.Extra["raw_source"] = h.rawSource
	if a.Final != h.score {
		return // a restated row: the raw score of the README belongs to the published one
	}
	a.FinalRaw = h.raw
	if h.raw != nil && h.rawSource == "readme" {
		a.Basis = rebench.BasisRaw
	}
}

var humans = sync.OnceValues(readHumans)

func readHumans() (map[string]human, error) {
	rows, err := data.Table(humanFile)
	if err != nil {
		return nil, err
	}
	out := map[string]human{}
	for _, r := range rows {
		h := human{rawSource: r["raw_source"], paper71: r["paper71"] == "1"}
		if h.score, err = strconv.ParseFloat(r["normalized_score"], 64); err != nil {
			return nil, fmt.Errorf("%s run %s: normalized_score: %w", humanFile, r["metr_run_id"], err)
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

// readFlags returns the flags of known suspects, which are raised where no rule speaks.
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
