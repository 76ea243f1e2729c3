// Package upload plans and performs the import of uploaded files: it joins the
// decoders of package ingest with the store, and reports what was or would be
// created, revised, left unchanged or refused, and why.
package upload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/intake"
	"rebench/internal/published"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

// File is one uploaded file, spooled to disk.
type File struct {
	Name   string // as uploaded; shown, never used as a path
	Path   string
	Size   int64
	SHA256 string
}

// Options says how files are imported.
type Options struct {
	Mapping ingest.Mapping
	Author  string
	// Trusted says that the author is a machine of this server's operators.
	Trusted bool
	// Ref is the id under which the upload is answered and on record.
	Ref string
	// Partial imports the valid attempts of files that also hold faulty ones.
	Partial bool
	// MakeCurrent lets restated rows become current although their file is
	// normalized differently from what is known.
	MakeCurrent bool
	Progress    func(done, total int64) // bytes of files decoded; may be nil
	// Keep, if not nil, hears every element in place of the report's lists, which may
	// be too long to hold. What a refused import had said is void.
	Keep func(List, Element) error
}

// List names a list of a report.
type List string

// The lists of a report.
const (
	Created   List = "created"
	Revised   List = "revised"
	Unchanged List = "unchanged"
)

// The parts of a report live where pages can use them.
type (
	Report     = ingest.Report
	Element    = ingest.Element
	FileReport = ingest.FileReport
)

// ErrFaulty reports that files have faults and nothing was imported; the report
// that comes with it lists them.
var ErrFaulty = errors.New("the files have faults")

// CodeContradiction is of attempts that cannot be what is known under their id.
const CodeContradiction = "contradicts_known"

// Service plans and performs imports.
type Service struct {
	Store   *store.Store
	TempDir string // for archive members while they are read; "" is the system's
}

// Plan reports what Import would do, without writing. It returns ErrFaulty with
// the whole report when Import would refuse the files.
func (s *Service) Plan(ctx context.Context, files []File, o Options) (*Report, error) {
	defer frugal()()
	b := newBatch(s, files, o)
	err := s.Store.Preview(ctx, b.items(ctx), b.record(ctx))
	if err != nil {
		return nil, err
	}
	b.finish()
	return b.report, b.verdict()
}

// Import imports files in one transaction: all attempts or, when something is
// faulty and Options.Partial is not set, none and ErrFaulty with the report.
func (s *Service) Import(ctx context.Context, files []File, o Options) (*Report, error) {
	defer frugal()()
	b := newBatch(s, files, o)
	up := store.Upload{Author: o.Author, Ref: o.Ref, SHA256: files[0].SHA256, FileName: Names(files)}
	for _, f := range files {
		up.Bytes += f.Size
	}
	items := func(yield func(store.Item, error) bool) {
		for item, err := range b.items(ctx) {
			if !yield(item, err) {
				return
			}
		}
		b.finish()
		if err := b.verdict(); err != nil {
			yield(store.Item{}, err)
		}
	}
	rev, err := s.Store.Import(ctx, up, "upload: "+up.FileName, items, b.record(ctx))
	if errors.Is(err, ErrFaulty) {
		b.report.Created, b.report.Revised, b.report.Unchanged, b.report.Counts = []Element{}, []Element{}, []Element{}, ingest.Counts{}
		return b.report, ErrFaulty
	}
	if err != nil {
		return nil, err
	}
	b.report.DataRevision = rev.ID
	return b.report, nil
}

// shownNames is how many file names an upload goes by.
const shownNames = 5

// Names is how an upload of files is called.
func Names(files []File) string {
	var names []string
	for _, f := range files[:min(len(files), shownNames)] {
		names = append(names, f.Name)
	}
	text := strings.Join(names, ", ")
	if more := len(files) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// batch is the import of several files in progress.
type batch struct {
	service *Service
	files   []File
	options Options
	report  *Report
	file    *FileReport     // being decoded
	attempt *ingest.Attempt // handed to the store last
	prior   map[string]map[string]ingest.Prior
	err     error // of the attempt handed over last, when it is its own fault
	tally   tally // of the file being decoded
	places  places
	total   int64
	done    int64
}

func newBatch(s *Service, files []File, o Options) *batch {
	b := &batch{service: s, files: files, options: o, prior: map[string]map[string]ingest.Prior{},
		report: &Report{Created: []Element{}, Revised: []Element{}, Unchanged: []Element{}, Errors: []attemptlog.Fault{}}}
	b.report.Files = make([]FileReport, 0, len(files))
	for _, f := range files {
		b.total += f.Size
	}
	return b
}

// items decodes the files one after another. Faulty attempts are skipped and
// reported; an error ends everything.
func (b *batch) items(ctx context.Context) func(yield func(store.Item, error) bool) {
	return func(yield func(store.Item, error) bool) {
		for _, file := range b.files {
			more, err := b.decode(ctx, file, yield)
			if err != nil {
				yield(store.Item{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

func (b *batch) decode(ctx context.Context, file File, yield func(store.Item, error) bool) (more bool, err error) {
	r, err := os.Open(file.Path)
	if err != nil {
		return false, err
	}
	defer r.Close()
	b.report.Files = append(b.report.Files, FileReport{Name: file.Name, Bytes: file.Size, Needs: []string{}, Warnings: []attemptlog.Fault{}, Errors: []attemptlog.Fault{}})
	b.file = &b.report.Files[len(b.report.Files)-1]
	var priorErr error
	f := ingest.Open(ctx, file.Name, b.counted(r), file.Size, ingest.Options{
		Mapping: b.options.Mapping, Constants: ingest.PublishedConstants(), TempDir: b.service.TempDir,
		Prior: func(dataset, native string) (ingest.Prior, bool) {
			p, err := b.priorOf(ctx, dataset)
			priorErr = errors.Join(priorErr, err)
			known, ok := p[native]
			return known, ok
		},
	})
	for a := range f.Attempts() {
		if priorErr != nil {
			return false, priorErr
		}
		item, ok, err := b.item(f, a, file)
		if err != nil {
			return false, err
		}
		if ok && !yield(item, nil) {
			return false, nil
		}
	}
	if err := f.Err(); err != nil {
		return false, err
	}
	b.close(f)
	return true, nil
}

// item turns an attempt into an import; ok is false when it cannot be one.
func (b *batch) item(f *ingest.File, a *ingest.Attempt, file File) (item store.Item, ok bool, err error) {
	b.file.Attempts++
	b.attempt, b.err = a, nil
	for _, key := range a.ScoreKeys {
		if !slices.Contains(b.file.ScoreKeys, key) {
			b.file.ScoreKeys = append(b.file.ScoreKeys, key)
		}
	}
	if len(a.NeedsMapping) > 0 {
		b.file.Refused++
		return item, false, nil
	}
	b.useMETRScale(a)
	m := intake.Meta{Unranked: a.Unranked, Dataset: a.Dataset, NativeID: a.NativeID, SourceFile: a.File, SourceLine: a.Line, SourceSHA256: a.SourceSHA256,
		ZoneUnknown: a.ZoneUnknown, Unscored: a.Unscored, Trusted: b.options.Trusted, Extra: map[string]string{}, Note: "uploaded by " + b.options.Author}
	if m.SourceSHA256 == "" {
		m.SourceSHA256 = file.SHA256
	}
	if a.DurationS != nil {
		m.Duration = intake.Seconds(*a.DurationS)
	}
	for _, x := range a.Source {
		m.Extra[x.Key] = string(x.Value)
	}
	b.restated(f, a, &m)
	b.stated(a, &m)
	item, err = intake.NewItem(a.Header, m, b.log(a))
	if err != nil {
		b.fault(attemptlog.Fault{File: a.File, Line: a.Line, Field: "header", Code: "bad_value", Detail: err.Error()})
		b.file.Refused++
		return item, false, nil
	}
	item, err = published.Complete(item)
	return item, err == nil, err
}

// log reads the attempt; one that is faulty is skipped, and its faults are in
// the file's account.
func (b *batch) log(a *ingest.Attempt) intake.Log {
	read := intake.FromIngest(a)
	return func(add func(*attemptlog.Line) error) (attemptlog.Summary, error) {
		summary, err := read(add)
		if faults := (attemptlog.Faults)(nil); errors.As(err, &faults) {
			return summary, store.ErrSkip
		}
		return summary, err
	}
}

// restated keeps rows of a METR file that is normalized differently from
// becoming current, and new rows of it out of rankings.
func (b *batch) restated(f *ingest.File, a *ingest.Attempt, m *intake.Meta) {
	r := f.Restatement()
	if a.Format != ingest.FormatMETRRuns || b.options.MakeCurrent {
		return
	}
	env := rebench.EnvironmentID(a.Header.Environment.ID)
	if r.NormalizedDifferently() {
		m.Hold = true
		m.Note = "restated with another normalization; " + m.Note
	}
	if a.NormalizationUnknown || r.Differs(env) {
		m.Unranked = "normalized by other reference scores than the published rows"
	}
}

// useMETRScale gives logs of METR's own scorers in the paper's conditions the
// starting and reference scores that METR's published rows were normalized with,
// unless the uploader states others.
func (b *batch) useMETRScale(a *ingest.Attempt) {
	h := a.Header
	if h.Environment.Profile != string(rebench.ProfilePaper) || h.Scoring.StartRaw != nil {
		return
	}
	if !slices.Contains([]ingest.Format{ingest.FormatScoreLog, ingest.FormatScoreLogNew, ingest.FormatVivaria}, a.Format) {
		return
	}
	c, ok := ingest.PublishedConstants()[rebench.EnvironmentID(h.Environment.ID)]
	if !ok {
		return
	}
	h.Scoring.StartRaw, h.Scoring.ReferenceRaw = &c.Start, &c.Reference
	h.Environment.Version = rebench.ScorerMETRPublished
	b.file.Warnings = append(b.file.Warnings, attemptlog.Fault{File: a.File, Line: a.Line, Field: "scoring", Code: "published_scale",
		Detail: fmt.Sprintf("the log is of METR's own scorer in the paper's conditions, so its raw scores are normalized as the published rows are: start %g, reference %g", c.Start, c.Reference),
		Hint:   "state others in mapping.scoring if they apply"})
}

func (b *batch) priorOf(ctx context.Context, dataset string) (map[string]ingest.Prior, error) {
	if p, ok := b.prior[dataset]; ok {
		return p, nil
	}
	finals, err := b.service.Store.Finals(ctx, dataset)
	if err != nil {
		return nil, err
	}
	p := make(map[string]ingest.Prior, len(finals))
	for native, f := range finals {
		p[native] = ingest.Prior{Environment: f.Environment, Alias: f.Agent, Normalized: f.Normalized}
	}
	b.prior[dataset] = p
	return p, nil
}
