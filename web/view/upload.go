package view

import (
	"fmt"

	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/rebench"
)

// Session is who reads a page; the zero value is nobody in particular.
type Session struct {
	Name  string // of the token
	Scope string
	CSRF  string // what forms send along
}

func (s Session) in() bool    { return s.Name != "" }
func (s Session) admin() bool { return s.Scope == "admin" }

// UploadData is what /upload shows.
type UploadData struct {
	Session  Session
	MaxBytes int64
	MaxFiles int
}

// PreviewData is what the preview of an upload shows, and its result.
type PreviewData struct {
	Session     Session
	ID          string
	Report      *ingest.Report
	Done        bool // the report is of the import, not of a plan
	Refused     bool // the plan has faults
	Mapping     ingest.Mapping
	Partial     bool
	MakeCurrent bool
	Problem     string // with the last form
}

// AuditData is what /audit shows.
type AuditData struct {
	Events []rebench.AuditEvent
	Next   int64 // id to go on before, 0 at the end
}

// valid counts the attempts that could be imported.
func (d PreviewData) valid() int {
	return len(d.Report.Created) + len(d.Report.Revised) + len(d.Report.Unchanged)
}

// needs lists the mapping fields that some file lacks.
func (d PreviewData) needs() []string {
	var out []string
	seen := map[string]bool{}
	for _, f := range d.Report.Files {
		for _, n := range f.Needs {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out
}

func (d PreviewData) scoreKeys() []string {
	var out []string
	for _, f := range d.Report.Files {
		out = append(out, f.ScoreKeys...)
	}
	return out
}

// canConfirm reports whether an import would do something.
func (d PreviewData) canConfirm() bool {
	return len(d.Report.Created)+len(d.Report.Revised) > 0 && (!d.Refused || d.Partial)
}

func (d PreviewData) title() string {
	switch {
	case d.Done:
		return "Imported"
	case d.Refused && d.valid() == 0:
		return "Nothing can be imported yet"
	case d.Refused:
		return "Some of this cannot be imported"
	case len(d.Report.Created)+len(d.Report.Revised) == 0:
		return "Nothing new"
	}
	return "Ready to import"
}

func (d PreviewData) agentName() string {
	if d.Mapping.Agent != nil {
		return d.Mapping.Agent.Name
	}
	return ""
}

func (d PreviewData) agentModel() string {
	if d.Mapping.Agent != nil {
		return d.Mapping.Agent.Model
	}
	return ""
}

func (d PreviewData) agentScaffold() string {
	if d.Mapping.Agent != nil {
		return d.Mapping.Agent.Scaffold
	}
	return ""
}

func (d PreviewData) cohort() string {
	if d.Mapping.Human != nil {
		return d.Mapping.Human.Cohort
	}
	return ""
}

func (d PreviewData) limitMinutes() string {
	if d.Mapping.TimeLimitS != nil {
		return fmt.Sprint(*d.Mapping.TimeLimitS / 60)
	}
	return ""
}

func (d PreviewData) scoring(reference bool) string {
	s := d.Mapping.Scoring
	if s == nil {
		return ""
	}
	x := s.StartRaw
	if reference {
		x = s.ReferenceRaw
	}
	if x == nil {
		return ""
	}
	return fmt.Sprint(*x)
}

// shownElements is how many attempts of one kind the preview lists.
const shownElements = 50

func firstElements(all []ingest.Element) []ingest.Element { return all[:min(len(all), shownElements)] }

// place says where in a file a fault is.
func place(f attemptlog.Fault) string {
	switch {
	case f.Line > 0 && f.Column > 0:
		return fmt.Sprintf("line %d, column %d", f.Line, f.Column)
	case f.Line > 0:
		return fmt.Sprintf("line %d", f.Line)
	}
	return ""
}

func megabytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.3g GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.3g MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.3g KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

func formatWords(f ingest.Format) string {
	switch f {
	case ingest.FormatAttemptLog:
		return "attempt log v1"
	case ingest.FormatAttemptCSV:
		return "attempts as CSV (export of this server)"
	case ingest.FormatMETRRuns:
		return "METR runs.jsonl"
	case ingest.FormatScoreLog, ingest.FormatScoreLogNew:
		return "METR task-protected-scoring score.log"
	case ingest.FormatVivaria:
		return "Vivaria score log"
	case ingest.FormatInspectJSON, ingest.FormatInspectEval:
		return "Inspect AI log"
	case ingest.FormatArchive:
		return "zip archive"
	case ingest.FormatMLEBench:
		return "MLE-bench grading report"
	case ingest.FormatLFS:
		return "Git LFS pointer"
	case "", ingest.FormatUnknown:
		return "not recognised"
	}
	return string(f)
}

func refusedWords(f ingest.FileReport) string {
	if f.Attempts == 0 && len(f.Errors) > 0 {
		return "file"
	}
	return fmt.Sprint(f.Refused)
}

func currentStep(here bool) string {
	if here {
		return "step"
	}
	return "false"
}
