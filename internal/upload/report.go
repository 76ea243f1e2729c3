package upload

import (
	"context"
	"fmt"
	"io"

	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

// record returns what hears the store's result for the attempt handed over last.
func (b *batch) record(ctx context.Context) func(store.Result) error {
	return func(r store.Result) error {
		stated, err := b.weigh(ctx, b.attempt, r)
		if err != nil {
			return err
		}
		return b.recordAs(r, stated)
	}
}

func (b *batch) recordAs(r store.Result, stated string) error {
	a := b.attempt
	e := Element{File: a.File, Line: a.Line, AttemptID: r.AttemptID, Environment: rebench.EnvironmentID(a.Header.Environment.ID),
		Profile: rebench.Profile(a.Header.Environment.Profile), Revision: r.Revision, Agent: rebench.HumanName,
		Current: r.Outcome == store.Created || r.Outcome == store.Revised, Unranked: r.Attempt.Unranked, Raw: r.Attempt.FinalRaw, Stated: stated,
		ScorerVersion: r.Attempt.ScorerVersion, HardwareClass: r.Attempt.HardwareClass}
	if a.Header.Agent != nil {
		e.Agent = a.Header.Agent.Name
	}
	if r.Attempt.FinalKnown {
		score := r.Attempt.Final
		e.Score = &score
	}
	if e.Current {
		for _, f := range r.Attempt.Flags {
			e.Quarantine = f.Reason
		}
	}
	b.place(r, e)
	switch r.Outcome {
	case store.Created:
		b.file.Created++
		return b.keep(Created, e)
	case store.Revised, store.Held:
		b.file.Revised++
		b.report.Held = b.report.Held || r.Outcome == store.Held
		return b.keep(Revised, e)
	case store.Unchanged:
		b.file.Unchanged++
		return b.keep(Unchanged, e)
	case store.Skipped:
		b.file.Refused++
	case store.Refused:
		b.file.Refused++
		b.fault(attemptlog.Fault{File: a.File, Line: a.Line, Field: "attempt_id", Code: CodeContradiction, Detail: r.Problem,
			Hint: "give the attempt an id, or the file a dataset, of its own"})
	}
	return nil
}

// keep adds an element to a list of the report.
func (b *batch) keep(list List, e Element) error {
	c, elements := &b.report.Counts.Unchanged, &b.report.Unchanged
	switch list {
	case Created:
		c, elements = &b.report.Counts.Created, &b.report.Created
	case Revised:
		c, elements = &b.report.Counts.Revised, &b.report.Revised
	}
	*c++
	if b.options.Keep != nil {
		return b.options.Keep(list, e)
	}
	*elements = append(*elements, e)
	return nil
}

func (b *batch) fault(f attemptlog.Fault) {
	b.file.Errors = append(b.file.Errors, f)
	b.report.Errors = append(b.report.Errors, f)
}

// close completes the report of a file.
func (b *batch) close(f *ingest.File) {
	b.file.Format, b.file.Redactions = f.Format, f.Redactions()
	b.file.Needs = append(b.file.Needs, f.NeedsMapping()...)
	b.file.Warnings = append(b.file.Warnings, f.Warnings()...)
	b.tellStates()
	b.tellGroups()
	rows := map[int]bool{}
	for _, x := range f.Faults() {
		b.fault(x)
		rows[x.Line] = x.Line > 0
	}
	if delete(rows, 0); f.Format == ingest.FormatMETRRuns { // whose faulty rows become no attempts
		b.file.Refused = max(b.file.Refused, len(rows))
	}
	if r := f.Restatement(); r != nil {
		for _, e := range r.Environments {
			b.file.Restated = append(b.file.Restated, e.String())
		}
		for _, a := range r.Aliases {
			b.file.Restated = append(b.file.Restated, fmt.Sprintf("%d rows of %s are now of %s", a.Rows, a.From, a.To))
		}
	}
	if b.file.Attempts == 0 && len(b.file.Errors) == 0 {
		b.file.Warnings = append(b.file.Warnings, attemptlog.Fault{File: b.file.Name, Code: ingest.CodeNoAttempts, Detail: "the file holds no attempts"})
	}
}

func (b *batch) finish() {
	b.report.Counts.Refused = 0
	for _, f := range b.report.Files {
		b.report.Counts.Refused += f.Refused
	}
	if b.options.Progress != nil {
		b.options.Progress(b.total, b.total)
	}
}

// verdict refuses the whole upload for any fault, unless the uploader wants the
// valid part, of which there must be some.
func (b *batch) verdict() error {
	if len(b.report.Errors) == 0 || b.options.Partial && b.report.Counts.Changed()+b.report.Counts.Unchanged > 0 {
		return nil
	}
	return ErrFaulty
}

// counted reports progress while a file is read.
func (b *batch) counted(r io.ReaderAt) io.ReaderAt {
	if b.options.Progress == nil {
		return r
	}
	return progressReader{r, b}
}

type progressReader struct {
	r io.ReaderAt
	b *batch
}

func (p progressReader) ReadAt(buf []byte, off int64) (int, error) {
	n, err := p.r.ReadAt(buf, off)
	p.b.done = min(p.b.done+int64(n), p.b.total)
	p.b.options.Progress(p.b.done, p.b.total)
	return n, err
}

// remark adds a warning about the whole file being decoded.
func (b *batch) remark(code, hint, format string, args ...any) {
	b.file.Warnings = append(b.file.Warnings, attemptlog.Fault{File: b.file.Name, Code: code, Detail: fmt.Sprintf(format, args...), Hint: hint})
}
