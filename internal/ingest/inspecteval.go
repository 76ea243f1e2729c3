package ingest

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rebench/internal/attemptlog"
)

// isEval reports whether a zip archive is an Inspect log.
func isEval(files []*zip.File) bool {
	header, samples := false, false
	for _, f := range files {
		switch {
		case f.Name == "_journal/start.json":
			return true
		case f.Name == "header.json":
			header = true
		case strings.HasPrefix(f.Name, "samples/") || f.Name == "summaries.json":
			samples = true
		}
	}
	return header && samples
}

// Names of sample entries. The key of a sample holds its id and may contain
// slashes and colons; it is compared, never opened.
var (
	sampleEntry = regexp.MustCompile(`^samples/(.+_epoch_[0-9]+)\.json$`)
	chunkEntry  = regexp.MustCompile(`^samples/(.+_epoch_[0-9]+)/(?:(sample)|events/([0-9]{1,18}))\.json$`)
)

// evalSample is where one sample lies in the archive: in one entry, or in a
// sample.json with its events in chunks.
type evalSample struct {
	main   *zip.File
	chunks []evalChunk
}

type evalChunk struct {
	start int64
	file  *zip.File
}

// decodeInspectEval reads a .eval log. One without header.json is of a run that
// goes on or crashed: its journal tells what the run was.
func (f *File) decodeInspectEval(src *source, emit emit) {
	b := src.zip
	if b == nil {
		b = f.budget
	}
	files, dropped := lastWins(b.files)
	if dropped > 0 {
		f.addWarning(attemptlog.Fault{File: src.name, Code: WarnDuplicateEntry, Detail: fmt.Sprintf("%d entries are replaced by later ones of the same name", dropped)})
	}
	byName := map[string]*zip.File{}
	for _, zf := range files {
		byName[zf.Name] = zf
	}
	l := &inspectLog{}
	head := byName["header.json"]
	if head == nil {
		head = byName["_journal/start.json"]
		f.addWarning(attemptlog.Fault{File: src.name, Field: "header.json", Code: WarnUnfinished, Detail: "the log has no header.json: the run goes on or crashed; the samples that are there are read"})
	}
	if head != nil && !f.readMember(src, b, head, func(j *jsonReader) { l.readLog(j, nil) }) {
		return
	}
	l.warn(f, src)
	for _, s := range evalSamples(files) {
		if !f.evalSample(src, b, l, s, emit) {
			return
		}
	}
	f.noSamples(src, l)
}

// evalSamples groups the entries by sample, in the archive's order.
func evalSamples(files []*zip.File) []*evalSample {
	at := map[string]*evalSample{}
	var out []*evalSample
	get := func(key string) *evalSample {
		s := at[key]
		if s == nil {
			s = &evalSample{}
			at[key] = s
			out = append(out, s)
		}
		return s
	}
	for _, zf := range files {
		if m := sampleEntry.FindStringSubmatch(zf.Name); m != nil {
			get(m[1]).main = zf
		} else if m := chunkEntry.FindStringSubmatch(zf.Name); m != nil {
			s := get(m[1])
			if m[2] != "" {
				if s.main == nil {
					s.main = zf
				}
				continue
			}
			start, _ := strconv.ParseInt(m[3], 10, 64)
			s.chunks = append(s.chunks, evalChunk{start, zf})
		}
	}
	for _, s := range out {
		slices.SortStableFunc(s.chunks, func(a, b evalChunk) int { return cmp.Compare(a.start, b.start) })
	}
	return out
}

// evalSample reads one sample; false means to stop. A sample that cannot be read
// is a fault and the others go on.
func (f *File) evalSample(src *source, b *budget, l *inspectLog, e *evalSample, emit emit) bool {
	if e.main == nil {
		f.addFault(attemptlog.Fault{File: src.name, Field: displayName(e.chunks[0].file.Name), Code: CodeBadArchive, Detail: "found events of a sample without its sample.json"})
		return true
	}
	s := &inspectSample{name: e.main.Name}
	if !f.readMember(src, b, e.main, s.read, s.setDigest) {
		return f.err == nil && !f.spent(b)
	}
	for _, c := range e.chunks {
		if !f.readMember(src, b, c.file, s.readEvents) {
			return f.err == nil && !f.spent(b)
		}
	}
	l.samples++
	return emit(f.inspectAttempt(src, l, s))
}

func (s *inspectSample) setDigest(d string) { s.sha256 = d }

// spent reports whether the archive's budget is used up, after which nothing of
// it can be read.
func (f *File) spent(b *budget) bool { return b.add(0) != nil || len(f.faults.list) >= MaxFaults }

// readMember reads one JSON entry and reports what is wrong with it.
func (f *File) readMember(src *source, b *budget, zf *zip.File, read func(*jsonReader), digest ...func(string)) bool {
	rc, err := b.open(zf)
	if err != nil {
		f.readFailed(src, err)
		return false
	}
	defer rc.Close()
	sum := sha256.New()
	var r io.Reader = contextReader{f.ctx, rc}
	if len(digest) > 0 {
		r = io.TeeReader(r, sum)
	}
	j := newJSONReader(r)
	if c := j.peek(); c != '{' && c != '[' {
		j.fail(attemptlog.CodeBadJSON, "found %s, expected a JSON object", j.found())
	}
	read(j)
	j.end()
	if j.err != nil {
		f.sampleFault(src, zf.Name, j.err)
		return false
	}
	for _, set := range digest {
		set(fmt.Sprintf("%x", sum.Sum(nil)))
	}
	return true
}
