package ingest

import (
	"fmt"
	"io"

	"rebench/internal/attemptlog"
)

// inspectSchema is the newest schema version of Inspect logs that is known.
const inspectSchema = 2

// inspectLog is what an Inspect AI log says about all its samples.
type inspectLog struct {
	version      scalar
	status       string
	evalID       string
	task         string
	taskVersion  scalar
	model        string
	solvers      []string
	timeLimit    *float64
	workingLimit *float64
	samples      int // seen
}

// readLog reads the log's own fields; samples are handed to onSamples where the
// file holds them.
func (l *inspectLog) readLog(j *jsonReader, onSamples func()) {
	j.object(func(key string) {
		switch {
		case key == "version":
			l.version = j.scalar()
		case key == "status":
			l.status = j.scalar().text
		case key == "eval" && j.peek() == '{':
			l.readEval(j)
		case key == "plan" && j.peek() == '{':
			l.readPlan(j)
		case key == "samples" && j.peek() == '[' && onSamples != nil:
			onSamples()
		}
	})
}

func (l *inspectLog) readEval(j *jsonReader) {
	runID := ""
	j.object(func(key string) {
		switch key {
		case "eval_id":
			l.evalID = j.scalar().text
		case "run_id":
			runID = j.scalar().text
		case "task":
			l.task = j.scalar().text
		case "task_version":
			l.taskVersion = j.scalar()
		case "model":
			l.model = j.scalar().text
		case "config":
			if j.peek() != '{' {
				return
			}
			j.object(func(k string) {
				switch k {
				case "time_limit":
					l.timeLimit = positive(j.scalar())
				case "working_limit":
					l.workingLimit = positive(j.scalar())
				}
			})
		}
	})
	if l.evalID == "" { // logs before 0.3.60 have no eval_id
		l.evalID = runID
	}
}

func positive(v scalar) *float64 {
	if n, ok := v.number(); ok && n > 0 {
		return &n
	}
	return nil
}

func (l *inspectLog) readPlan(j *jsonReader) {
	j.object(func(key string) {
		if key != "steps" || j.peek() != '[' {
			return
		}
		j.array(func(int) {
			if j.peek() != '{' {
				return
			}
			j.object(func(k string) {
				if k == "solver" && len(l.solvers) < 32 {
					l.solvers = append(l.solvers, j.scalar().text)
				}
			})
		})
	})
}

// warnings about the log as a whole.
func (l *inspectLog) warn(f *File, src *source) {
	if n, ok := l.version.number(); ok && n > inspectSchema {
		f.addWarning(attemptlog.Fault{File: src.name, Field: "version", Code: WarnNewerVersion,
			Detail: fmt.Sprintf("the log has schema version %s, newer than the known %d; it is read as far as it is understood", l.version.text, inspectSchema)})
	}
	if l.status != "success" && l.status != "" {
		f.addWarning(attemptlog.Fault{File: src.name, Field: "status", Code: WarnUnfinished,
			Detail: fmt.Sprintf("the run ended with status %s; the samples that are there are read", quote(l.status))})
	}
}

// decodeInspectJSON reads a .json log, streaming its samples. Fields that stand
// after the samples are read first, in a pass of their own.
func (f *File) decodeInspectJSON(src *source, emit emit) {
	l := &inspectLog{}
	j := newJSONReader(contextReader{f.ctx, src.reader()})
	l.readLog(j, nil)
	j.end()
	if j.err != nil {
		f.jsonFailed(src, j.err)
		return
	}
	l.warn(f, src)
	j = newJSONReader(contextReader{f.ctx, src.reader()})
	goOn := true
	new(inspectLog).readLog(j, func() {
		j.array(func(int) {
			if !goOn || j.peek() != '{' {
				return
			}
			s := &inspectSample{line: j.line}
			s.read(j)
			if j.err == nil {
				l.samples++
				goOn = emit(f.inspectAttempt(src, l, s))
			}
		})
	})
	if j.err != nil {
		f.jsonFailed(src, j.err)
		return
	}
	f.noSamples(src, l)
}

func (f *File) noSamples(src *source, l *inspectLog) {
	if l.samples > 0 || f.err != nil {
		return
	}
	f.addFault(attemptlog.Fault{File: src.name, Field: "samples", Code: CodeNoAttempts,
		Detail: "the log holds no samples, expected at least one", Hint: "the run was cancelled before its first sample, or the log was written without samples"})
}

// readFailed reports an error of reading, unless it came from the archive's own
// limits, which have reported it.
func (f *File) readFailed(src *source, err error) {
	var fault *archiveFault
	switch {
	case asArchiveFault(err, &fault):
		f.addFault(fault.Fault)
	case f.ctx.Err() != nil:
		f.stop(f.ctx.Err())
	case src.r != nil && err != io.ErrUnexpectedEOF:
		f.addFault(attemptlog.Fault{File: src.name, Code: CodeReadFailed, Detail: "the file could not be read: " + err.Error()})
	default:
		f.addFault(attemptlog.Fault{File: src.name, Code: CodeReadFailed, Detail: "the file breaks off"})
	}
}
