package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"

	"rebench/internal/attemptlog"
)

// File is one uploaded file, or one archive of files, being decoded. It is used
// once: Open, then Attempts, then the other methods.
type File struct {
	Name   string
	Size   int64
	Format Format
	// Parts are the files of an archive, in its order; a plain file is its own
	// only part. Counts are whole once Attempts has ended.
	Parts []*Part

	ctx         context.Context
	byName      map[string]*Part
	src         io.ReaderAt
	opt         Options
	faults      faultList
	warnings    faultList
	needs       needs
	seen        map[uint64]uint64 // attempt id -> head, as digests of 8 bytes
	attempts    int
	restatement *Restatement
	foreign     map[string]bool // files and tasks of other benchmarks, told once
	err         error
	budget      *budget
}

// Part is one file as decoded.
type Part struct {
	Name       string
	Format     Format
	Attempts   int
	Faults     int
	Redactions int // secrets replaced before anything is stored
}

// source is one file to decode: an uploaded one or a member of an archive.
type source struct {
	name string
	r    io.ReaderAt
	size int64
	part *Part
	m    Mapping
	zip  *budget // of an Inspect log inside an archive
}

func (s *source) reader() io.Reader { return io.NewSectionReader(s.r, 0, s.size) }

// Open tells what a file is. It reads little of it; a file that is refused has
// its faults at once and no attempts. name is only shown and never used as a
// path.
func Open(ctx context.Context, name string, r io.ReaderAt, size int64, opt Options) *File {
	f := &File{Name: displayName(name), Size: size, ctx: ctx, src: r, opt: opt, seen: map[uint64]uint64{}}
	f.faults.max, f.warnings.max = MaxFaults, MaxFaults
	head := make([]byte, min(size, headBytes))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		f.stop(err)
		return f
	}
	f.Format = detect(head)
	if f.Format == formatZip {
		f.Format = FormatArchive
		if f.openZip(); f.err != nil || len(f.faults.list) > 0 {
			return f
		}
		if isEval(f.budget.files) {
			f.Format = FormatInspectEval
		}
	}
	if f.Format != FormatArchive {
		f.addPart(&Part{Name: f.Name, Format: f.Format})
	}
	f.refuse(f.Name, f.Format)
	return f
}

// refuse reports formats that are not imported.
func (f *File) refuse(name string, format Format) bool {
	fault := attemptlog.Fault{File: name}
	switch format {
	case FormatEmpty:
		fault.Code, fault.Detail = CodeEmptyFile, "found an empty file, expected a log"
	case FormatLFS:
		fault.Line, fault.Code, fault.Detail = 1, CodeLFSPointer, "found a Git LFS pointer, expected the file that it points to"
		fault.Hint = "fetch it with `git lfs pull` and upload the file itself"
	case FormatMLEBench:
		fault.Code, fault.Detail = CodeUnsupportedBench, "found an MLE-bench grading report, expected results of RE-Bench: it is another benchmark, and its reports hold no attempt times"
	case FormatPacked:
		fault.Code, fault.Detail, fault.Hint = CodePacked, "found a compressed or packed file, expected a log or a zip archive", "unpack it, or pack the files as zip"
	case FormatUnknown:
		fault.Line, fault.Code, fault.Detail = 1, CodeUnknownFormat, "the content is none of the formats that are imported: attempt log, METR runs.jsonl, task-protected-scoring score.log, Vivaria score log, Inspect AI .json or .eval, an export of this server, or a zip of such files"
	default:
		return false
	}
	f.addFault(fault)
	return true
}

// Attempts decodes the file. Each attempt is valid until the next: read its
// Lines first, then its Summary, Faults and Warnings. An attempt that is not
// read is verified all the same. Use it once.
func (f *File) Attempts() iter.Seq[*Attempt] {
	return func(yield func(*Attempt) bool) {
		if f.err != nil || len(f.faults.list) > 0 {
			return
		}
		emit := f.emitter(yield)
		switch f.Format {
		case FormatArchive:
			f.decodeArchive(emit)
		default:
			src := &source{name: f.Name, r: f.src, size: f.Size, part: f.Parts[0], m: f.opt.Mapping.For(f.Name)}
			f.decode(src, emit)
		}
		f.needs.report(f)
	}
}

// emit hands one attempt on; false means that nobody wants more.
type emit func(*Attempt) bool

func (f *File) emitter(yield func(*Attempt) bool) emit {
	open := true
	return func(a *Attempt) bool {
		if err := f.ctx.Err(); err != nil {
			f.stop(err)
		}
		if !open || f.err != nil {
			return false
		}
		if f.attempts++; f.attempts > MaxAttempts {
			f.addFault(attemptlog.Fault{File: a.File, Line: a.Line, Code: CodeTooManyAttempts, Detail: fmt.Sprintf("found more than %d attempts in one file", MaxAttempts), Hint: "split the file"})
			open = false
			return false
		}
		a.part.Attempts++
		a.Redactions += redactExtra(a.Source)
		id := key8(a.Header.AttemptID)
		if head, again := f.seen[id]; again && len(a.NeedsMapping) == 0 {
			f.repeated(a, head)
			return f.err == nil
		}
		open = yield(a)
		a.drain()
		f.take(a)
		f.seen[id] = head8(a)
		return open && f.err == nil
	}
}

// repeated deals with an attempt that the same upload has already brought.
func (f *File) repeated(a *Attempt, head uint64) {
	a.drain()
	f.take(a)
	a.part.Attempts--
	fault := attemptlog.Fault{File: a.File, Line: a.Line, Field: a.Sample}
	if head8(a) == head {
		fault.Code, fault.Detail = WarnDuplicate, fmt.Sprintf("attempt %s appears twice with the same content; the second is left out", quote(a.Header.AttemptID))
		f.addWarning(fault)
		return
	}
	fault.Code, fault.Detail = CodeDuplicateAttempt, fmt.Sprintf("attempt %s appears twice with different content, expected each attempt once", quote(a.Header.AttemptID))
	fault.Hint = "upload the versions one after another: the later becomes a revision of the earlier"
	f.addFault(fault)
}

// take adds what was found in an attempt to the file's account.
func (f *File) take(a *Attempt) {
	for _, x := range a.faults {
		f.addFault(x)
	}
	for _, x := range a.warnings {
		f.addWarning(x)
	}
	f.needs.add(a)
	a.part.Redactions += a.Redactions
}

// key8 is short because a file may hold a million attempts; that two of them
// collide has a chance of 3 in 10^8, and ends in a fault, not in a loss.
func key8(s string) uint64 {
	h := key16(s)
	return binary.LittleEndian.Uint64(h[:])
}

func head8(a *Attempt) uint64 { return binary.LittleEndian.Uint64(a.summary.Head.Hash[:]) }

func key16(s string) [16]byte {
	h := sha256.Sum256([]byte(s))
	return [16]byte(h[:16])
}

// decode runs the decoder of one plain file.
func (f *File) decode(src *source, emit emit) {
	switch src.part.Format {
	case FormatAttemptLog:
		f.decodeAttemptLog(src, emit)
	case FormatAttemptCSV:
		f.decodeCSV(src, emit)
	case FormatMETRRuns:
		f.decodeMETR(src, emit)
	case FormatScoreLog, FormatScoreLogNew:
		f.decodeScoreLog(src, emit)
	case FormatVivaria:
		f.decodeVivaria(src, emit)
	case FormatInspectJSON:
		f.decodeInspectJSON(src, emit)
	case FormatInspectEval:
		f.decodeInspectEval(src, emit)
	}
}

// stop ends decoding for a reason that is not the file's content.
func (f *File) stop(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Err returns what kept the file from being read: an I/O error or the context's.
func (f *File) Err() error { return f.err }

// Faults returns everything that is wrong with the file, at most MaxFaults and
// one that says how many more there are.
func (f *File) Faults() []attemptlog.Fault { return f.faults.all(f.Name, "faults") }

// Warnings returns what the uploader should know although it stops nothing.
func (f *File) Warnings() []attemptlog.Fault { return f.warnings.all(f.Name, "warnings") }

// NeedsMapping returns the mapping fields that the file needs and lacks.
func (f *File) NeedsMapping() []string { return f.needs.fields() }

// Redactions returns how many secrets were replaced.
func (f *File) Redactions() int {
	n := 0
	for _, p := range f.Parts {
		n += p.Redactions
	}
	return n
}

// Restatement compares a METR file with what is stored, nil for other formats
// or without Options.Prior.
func (f *File) Restatement() *Restatement { return f.restatement }

func (f *File) addPart(p *Part) {
	if f.byName == nil {
		f.byName = map[string]*Part{}
	}
	f.Parts = append(f.Parts, p)
	f.byName[p.Name] = p
}

func (f *File) addFault(x attemptlog.Fault) {
	if p := f.byName[x.File]; p != nil {
		p.Faults++
	}
	f.faults.add(x)
}

func (f *File) addWarning(x attemptlog.Fault) { f.warnings.add(x) }

// faultList keeps the first max faults and counts the rest.
type faultList struct {
	list []attemptlog.Fault
	max  int
	more int
}

func (l *faultList) add(x attemptlog.Fault) {
	if len(l.list) < l.max {
		l.list = append(l.list, x)
		return
	}
	l.more++
}

// drop forgets faults of one code.
func (l *faultList) drop(code string) {
	l.list = slices.DeleteFunc(l.list, func(x attemptlog.Fault) bool { return x.Code == code })
}

func (l *faultList) all(file, what string) []attemptlog.Fault {
	out := append([]attemptlog.Fault(nil), l.list...)
	if l.more > 0 {
		out = append(out, attemptlog.Fault{File: file, Code: attemptlog.CodeTooManyFaults, Detail: fmt.Sprintf("%d more %s are not listed", l.more, what)})
	}
	return out
}

// needs counts, for each file and mapping field, the attempts that lack it.
type needs struct {
	order []need
	count map[need]int
}

type need struct{ file, field string }

func (n *needs) add(a *Attempt) {
	for _, field := range a.NeedsMapping {
		k := need{a.File, field}
		if n.count == nil {
			n.count = map[need]int{}
		}
		if n.count[k]++; n.count[k] == 1 {
			n.order = append(n.order, k)
		}
	}
}

func (n *needs) fields() []string {
	var out []string
	seen := map[string]bool{}
	for _, k := range n.order {
		if !seen[k.field] {
			seen[k.field] = true
			out = append(out, k.field)
		}
	}
	return out
}

var needHints = map[string]string{
	"attempt_id":  "the format holds no identity: name the attempt",
	"environment": "choose one of the seven environments",
	"profile":     "choose paper, gpu or cpu: results of different profiles are never mixed",
	"agent":       "name the agent (name, model, scaffold), or the human cohort",
	"human":       "name the cohort of the human attempt",
	"started_at":  "give the time at which the attempt started",
	"zone":        "give the zone of the file's local times, or unknown",
	"score_key":   "several scores are recorded: choose one",
}

// report turns what is missing into one fault a file and field.
func (n *needs) report(f *File) {
	for _, k := range n.order {
		who := "1 attempt lacks"
		if n.count[k] > 1 {
			who = fmt.Sprintf("%d attempts lack", n.count[k])
		}
		f.addFault(attemptlog.Fault{File: k.file, Field: k.field, Code: CodeMissingMapping,
			Detail: fmt.Sprintf("%s %s, expected it in the mapping", who, k.field), Hint: needHints[k.field]})
	}
}

// displayName makes a file name fit to be shown: no control characters, at most
// 255 bytes.
func displayName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) && r != ' ' {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	if len(name) > 255 {
		name = strings.ToValidUTF8(name[:252], "") + "..."
	}
	return name
}
