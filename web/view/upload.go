package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/rebench"
)

// Session is who reads a page. CSRF is what forms send along, also those of somebody
// who is not logged in.
type Session struct {
	Name  string // of the token, "" for nobody in particular
	Scope string
	CSRF  string
}

func (s Session) in() bool    { return s.Name != "" }
func (s Session) admin() bool { return s.Scope == "admin" }

// LoginData is what /login shows.
type LoginData struct {
	Session Session
	Next    string // where the log-in leads
	Problem string
}

// UploadLimits are what an upload may not exceed.
type UploadLimits struct {
	Bytes     int64 // of all files together
	Files     int
	Line      int64 // bytes of one line
	Depth     int   // of nested JSON
	Attempts  int   // in one file
	Unpacked  int64 // bytes of one archive
	Ratio     int   // bytes out for each byte in
	PerMinute int   // uploads of one token
	Life      time.Duration
}

// UploadData is what /upload shows.
type UploadData struct {
	Session Session
	Limits  UploadLimits
}

// Progress is how far the work on an upload is, in bytes.
type Progress struct {
	Imports     bool
	Done, Total int64
}

func (w Progress) percent() int {
	if w.Total <= 0 {
		return 0
	}
	return int(100 * w.Done / w.Total)
}

// PreviewData is what the preview of an upload shows, and its result.
type PreviewData struct {
	Session     Session
	ID          string
	Names       []string       // of the files
	Report      *ingest.Report // nil while Working
	Working     *Progress      // nil when the report is there
	Done        bool           // the report is of the import, not of a plan
	Refused     bool           // the plan has faults
	Mapping     ingest.Mapping
	Saved       []string // names of saved mappings
	Partial     bool
	MakeCurrent bool
	Problem     string // with the last form
}

// AuditData is what /audit shows.
type AuditData struct {
	Events []rebench.AuditEvent
	Next   int64 // id to go on before, 0 at the end
	// Drawn are the attempts drawn for audit in Month (2026-12), a share of the winners;
	// Month is "" where the draw is not shown.
	Drawn []analysis.DrawnAttempt
	Month string
	Share float64
}

// aboutAttempt reports whether the object of an action is an attempt's id.
func aboutAttempt(action string) bool {
	return strings.HasPrefix(action, "flag ") || strings.HasPrefix(action, "lift flag ") || action == "make revision current"
}

// ShownElements is how many attempts of one kind a preview lists.
const ShownElements = 50

// unfolded is how many attempts of one kind are shown without being asked for.
const unfolded = 20

// MaxMappedFiles is how many files of one upload can have answers of their own.
const MaxMappedFiles = 100

// tense chooses what a plan or the finished import says.
func (d PreviewData) tense(plan, done string) string {
	if d.Done {
		return done
	}
	return plan
}

// valid counts the attempts that could be imported.
func (d PreviewData) valid() int { return d.Report.Counts.Changed() + d.Report.Counts.Unchanged }

// needs lists the mapping fields that some file lacks.
func (d PreviewData) needs() []string {
	var out []string
	if d.Report == nil {
		return nil
	}
	for _, f := range d.Report.Files {
		for _, n := range f.Needs {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

func (d PreviewData) needed(field string) bool { return slices.Contains(d.needs(), field) }

var fieldWords = map[string]string{
	"attempt_id": "attempt id", "environment": "environment", "profile": "profile", "agent": "agent or human cohort", "human": "human cohort",
	"started_at": "start", "zone": "time zone", "score_key": "which score counts",
}

func (d PreviewData) needWords() string {
	var words []string
	for _, n := range d.needs() {
		words = append(words, orElse(fieldWords[n], n))
	}
	return list(words)
}

// mappedFile is a file with answers of its own.
type mappedFile struct {
	prefix  string // of its form fields
	name    string
	needs   []string
	mapping ingest.Mapping
}

// mappedFiles are the files that are asked about one by one: those that lack
// something, when they are several, and those that were asked before.
func (d PreviewData) mappedFiles() []mappedFile {
	needs := map[string][]string{}
	var names []string
	note := func(name string) {
		if _, ok := needs[name]; !ok {
			needs[name] = nil
			names = append(names, name)
		}
	}
	for _, f := range d.Report.Errors {
		if f.Code == ingest.CodeMissingMapping {
			note(f.File)
			needs[f.File] = append(needs[f.File], f.Field)
		}
	}
	if len(names) < 2 && len(d.Mapping.Files) == 0 {
		return nil
	}
	for name := range d.Mapping.Files {
		note(name)
	}
	slices.Sort(names)
	var out []mappedFile
	for i, name := range names[:min(len(names), MaxMappedFiles)] {
		out = append(out, mappedFile{fmt.Sprintf("file%d.", i), name, needs[name], d.Mapping.Files[name]})
	}
	return out
}

// scoreKeys are what the score key can be.
func (d PreviewData) scoreKeys() []string {
	var out []string
	for _, f := range d.Report.Files {
		for _, k := range f.ScoreKeys {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out
}

// asks reports whether the answers are worth showing unfolded.
func (d PreviewData) asks() bool { return len(d.needs()) > 0 }

func (d PreviewData) title() string {
	c := ingest.Counts{}
	if d.Report != nil {
		c = d.Report.Counts
	}
	switch {
	case d.Working != nil && d.Working.Imports:
		return "Importing"
	case d.Working != nil:
		return "Reading the files"
	case d.Done:
		return "Imported"
	case d.asks():
		return "Something is missing"
	case d.Refused && d.valid() == 0:
		return "Nothing can be imported"
	case d.Refused:
		return "Some of this cannot be imported"
	case c.Changed() == 0:
		return "Nothing new"
	}
	return "Ready to import"
}

func (d PreviewData) lede() string {
	if d.Working != nil {
		return "This goes on when you leave the page."
	}
	c := d.Report.Counts
	words := fmt.Sprintf("%s created, %s revised, %s unchanged, %s refused.", things(c.Created, "attempt", "attempts"), grouped(c.Revised), grouped(c.Unchanged), grouped(d.refusals()))
	if d.Done {
		return words + fmt.Sprintf(" This is data revision %d.", d.Report.DataRevision)
	}
	switch {
	case d.asks():
		return "The files do not say everything: " + d.needWords() + ". Answer below; nothing is guessed."
	case d.Refused && d.valid() == 0:
		return "Nothing is stored. The faults are listed with their places."
	case d.Refused:
		return "Nothing is stored yet. Correct the files, or import the valid part."
	case c.Changed() == 0 && c.Unchanged > 0:
		return "Every attempt is known already, with the same content. There is nothing to confirm."
	case c.Changed() == 0:
		return "The files hold no attempts."
	}
	return fmt.Sprintf("Nothing is stored yet. %s would be created, %s revised, %s left as they are.", things(c.Created, "attempt", "attempts"), grouped(c.Revised), grouped(c.Unchanged))
}

// refusals counts refused attempts, and files that were refused as a whole.
func (d PreviewData) refusals() int {
	n := 0
	for _, f := range d.Report.Files {
		if f.Refused == 0 && f.Attempts == 0 && len(f.Errors) > 0 {
			n++
		}
		n += f.Refused
	}
	return n
}

// canConfirm reports whether an import would do something.
func (d PreviewData) canConfirm() bool {
	return !d.Done && d.Report.Counts.Changed() > 0
}

func (d PreviewData) confirmWords() string {
	c := d.Report.Counts
	var parts []string
	if c.Created > 0 {
		parts = append(parts, "create "+grouped(c.Created))
	}
	if c.Revised > 0 {
		parts = append(parts, "revise "+grouped(c.Revised))
	}
	return "Confirm: " + strings.Join(parts, ", ")
}

func agentOf(m ingest.Mapping) ingest.MappingAgent {
	if m.Agent == nil {
		return ingest.MappingAgent{}
	}
	return *m.Agent
}

func cohortOf(m ingest.Mapping) string {
	if m.Human == nil {
		return ""
	}
	return m.Human.Cohort
}

func limitMinutes(m ingest.Mapping) string {
	if m.TimeLimitS == nil {
		return ""
	}
	return fmt.Sprint(*m.TimeLimitS / 60)
}

func scoringOf(m ingest.Mapping, reference bool) string {
	if m.Scoring == nil {
		return ""
	}
	x := m.Scoring.StartRaw
	if reference {
		x = m.Scoring.ReferenceRaw
	}
	if x == nil {
		return ""
	}
	return fmt.Sprint(*x)
}

// place says where in a file a fault is.
func place(f attemptlog.Fault) string {
	switch {
	case f.Line > 0 && f.Column > 0:
		return fmt.Sprintf("line %d, column %d", f.Line, f.Column)
	case f.Line > 0:
		return fmt.Sprintf("line %d", f.Line)
	}
	return "whole file"
}

// otherErrors are the faults of a file that the answers cannot mend.
func otherErrors(f ingest.FileReport) []attemptlog.Fault {
	return slices.DeleteFunc(slices.Clone(f.Errors), func(x attemptlog.Fault) bool { return x.Code == ingest.CodeMissingMapping })
}

// member is the part of a fault's place that its file's name does not say.
func member(file, fault string) string {
	if rest, ok := strings.CutPrefix(fault, file+"/"); ok {
		return rest
	}
	return ""
}

func binarySize(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.3g GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.3g MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.3g KiB", float64(n)/(1<<10))
	}
	return things(int(n), "byte", "bytes")
}

func formatWords(f ingest.Format) string {
	switch f {
	case ingest.FormatAttemptLog:
		return "attempt log v1"
	case ingest.FormatAttemptCSV:
		return "attempts as CSV, exported here"
	case ingest.FormatMETRRuns:
		return "METR runs.jsonl"
	case ingest.FormatScoreLog, ingest.FormatScoreLogNew:
		return "METR score.log"
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
	case ingest.FormatEmpty:
		return "empty file"
	case ingest.FormatPacked:
		return "packed file"
	}
	return "not recognised"
}

func refusedWords(f ingest.FileReport) string {
	if f.Attempts == 0 && len(f.Errors) > 0 {
		return "the file"
	}
	return grouped(f.Refused)
}

func curlExample(p Page) string {
	return "curl -H \"Authorization: Bearer $TOKEN\" \\\n  -F file=@score.log \\\n" +
		"  -F 'mapping={\"attempt_id\":\"my-1\",\"environment\":\"optimize_kernel\",\"profile\":\"paper\",\n" +
		"      \"agent\":{\"name\":\"my-agent\",\"model\":\"m\",\"scaffold\":\"s\"},\n" +
		"      \"started_at\":\"2026-01-31T12:00:00\",\"zone\":\"UTC\",\"time_limit_s\":28800}' \\\n" +
		"  '" + p.Base + "/api/v1/uploads?dry_run=1'"
}

func currentStep(here bool) string {
	if here {
		return "step"
	}
	return "false"
}
