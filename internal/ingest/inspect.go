package ingest

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

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

// scoreValue is the value of an Inspect score.
type scoreValue struct {
	scalar
	dict  map[string]scalar
	order []string
}

func readScoreValue(j *jsonReader) scoreValue {
	if j.peek() != '{' {
		return scoreValue{scalar: j.scalar()}
	}
	v := scoreValue{scalar: scalar{kind: '{'}, dict: map[string]scalar{}}
	j.object(func(key string) {
		if len(v.order) < 256 {
			v.dict[key] = j.scalar()
			v.order = append(v.order, key)
		}
	})
	return v
}

// inspectScore is one Score object.
type inspectScore struct {
	name        string // scorer, "" in events
	value       scoreValue
	explanation string
	details     json.RawMessage // metadata
	notes       []string
}

func readInspectScore(j *jsonReader, name string) inspectScore {
	s := inspectScore{name: name}
	j.object(func(key string) {
		switch key {
		case "value":
			s.value = readScoreValue(j)
		case "explanation":
			if j.peek() == '"' {
				s.explanation, _ = j.str(MaxTextBytes)
			}
		case "metadata":
			s.details = j.canonical(key)
		}
	})
	s.notes = j.takeNotes()
	return s
}

// scoreEvent is a score event of a sample's transcript.
type scoreEvent struct {
	at           scalar
	workingStart scalar
	score        inspectScore
	intermediate bool
}

// bridgeScore is an entry of the store of METR's task bridge.
type bridgeScore struct {
	score            scalar
	elapsed          scalar
	scoredAt         string
	createdAt        string
	message, details json.RawMessage
	notes            []string
}

// humanScore is an entry of the store of Inspect's human agent.
type humanScore struct {
	time   scalar
	scores []inspectScore
}

// inspectSample is what is read of one sample.
type inspectSample struct {
	line                   int
	name                   string // archive member, "" in .json logs
	sha256                 string
	id, epoch              scalar
	uuid                   string
	startedAt, completedAt scalar
	totalTime, workingTime scalar
	scores                 []inspectScore
	events                 []scoreEvent
	bridge                 []bridgeScore
	human                  []humanScore
	isHuman                bool
	accumulated            scalar
	family                 string
	usage                  map[string]map[string]scalar
	models                 []string
	limit                  string
	failed                 bool
	realStart              scalar // timestamp of the first event after the sample really started
	realStartWorking       float64
	firstAt                time.Time // of the earliest event that is no score
	held                   int
}

// label names the sample to the reader of a fault.
func (s *inspectSample) label() string {
	return displayName(s.id.text) + " epoch " + s.epoch.text
}

// read reads a sample object.
func (s *inspectSample) read(j *jsonReader) {
	j.object(func(key string) {
		switch key {
		case "id":
			s.id = j.scalar()
		case "epoch":
			s.epoch = j.scalar()
		case "uuid":
			s.uuid = j.scalar().text
		case "started_at":
			s.startedAt = j.scalar()
		case "completed_at":
			s.completedAt = j.scalar()
		case "total_time":
			s.totalTime = j.scalar()
		case "working_time":
			s.workingTime = j.scalar()
		case "error":
			s.failed = j.scalar().kind != 'n'
		default:
			s.readPart(j, key)
		}
	})
}

func (s *inspectSample) readPart(j *jsonReader, key string) {
	c := j.peek()
	switch {
	case key == "scores" && c == '{':
		j.object(func(name string) {
			if j.peek() == '{' {
				s.hold(j)
				s.scores = append(s.scores, readInspectScore(j, name))
			}
		})
	case key == "events" && c == '[':
		s.readEvents(j)
	case key == "store" && c == '{':
		j.object(func(k string) { s.readStore(j, k) })
	case key == "metadata" && c == '{':
		j.object(func(k string) {
			if k == "task_family" && s.family == "" {
				s.family = j.scalar().text
			}
		})
	case key == "model_usage" && c == '{':
		s.readUsage(j)
	case key == "limit" && c == '{':
		j.object(func(k string) {
			if k == "type" {
				s.limit = j.scalar().text
			}
		})
	}
}

// hold bounds what one sample keeps in memory.
func (s *inspectSample) hold(j *jsonReader) {
	if s.held++; s.held > MaxSampleScores {
		j.fail(CodeTooManyEntries, "found more than %d scores in one sample", MaxSampleScores)
	}
}

// readEvents reads an array of transcript events and keeps the scores.
func (s *inspectSample) readEvents(j *jsonReader) {
	j.array(func(int) {
		if j.peek() != '{' {
			return
		}
		e := scoreEvent{}
		kind, hasScore := "", false
		j.object(func(key string) {
			switch key {
			case "event":
				kind = j.scalar().text
			case "timestamp":
				e.at = j.scalar()
			case "working_start":
				e.workingStart = j.scalar()
			case "intermediate":
				e.intermediate = j.scalar().yes
			case "score":
				if j.peek() == '{' {
					e.score, hasScore = readInspectScore(j, ""), true
				}
			}
		})
		if st, ok := parseStamp(e.at.text); ok && !st.naive && kind != "score" && (s.firstAt.IsZero() || st.t.Before(s.firstAt)) {
			s.firstAt = st.t
		}
		if w, ok := e.workingStart.number(); ok && w >= 0 && w < 1 && !s.realStart.present() {
			s.realStart, s.realStartWorking = e.at, w
		}
		if kind == "score" && hasScore {
			s.hold(j)
			s.events = append(s.events, e)
		}
	})
}

// readStore reads the keys of METR's task bridge and of the human agent.
func (s *inspectSample) readStore(j *jsonReader, key string) {
	switch {
	case key == "TaskDriverStore:intermediate_scores" && j.peek() == '[':
		j.array(func(int) {
			if j.peek() == '{' {
				s.hold(j)
				s.bridge = append(s.bridge, readBridgeScore(j))
			}
		})
	case key == "TaskDriverStore:task_family":
		if t := j.scalar().text; t != "" {
			s.family = t
		}
	case strings.HasPrefix(key, "HumanAgentState") || strings.HasSuffix(key, "scorings"):
		s.readHuman(j, key)
	}
}

func (s *inspectSample) readHuman(j *jsonReader, key string) {
	s.isHuman = true
	switch {
	case strings.HasSuffix(key, "accumulated_time"):
		s.accumulated = j.scalar()
	case strings.HasSuffix(key, "scorings") && j.peek() == '[':
		j.array(func(int) {
			if j.peek() != '{' {
				return
			}
			h := humanScore{}
			j.object(func(k string) {
				switch {
				case k == "time":
					h.time = j.scalar()
				case k == "scores" && j.peek() == '[':
					j.array(func(int) {
						if j.peek() == '{' {
							s.hold(j)
							h.scores = append(h.scores, readInspectScore(j, ""))
						}
					})
				}
			})
			s.hold(j)
			s.human = append(s.human, h)
		})
	}
}

func readBridgeScore(j *jsonReader) bridgeScore {
	b := bridgeScore{}
	j.object(func(k string) {
		switch k {
		case "score":
			b.score = j.scalar()
		case "elapsed_seconds":
			b.elapsed = j.scalar()
		case "scored_at":
			b.scoredAt = j.scalar().text
		case "created_at":
			b.createdAt = j.scalar().text
		case "message":
			b.message = j.canonical(k)
		case "details":
			b.details = j.canonical(k)
		}
	})
	b.notes = j.takeNotes()
	return b
}

func (s *inspectSample) readUsage(j *jsonReader) {
	s.usage = map[string]map[string]scalar{}
	j.object(func(model string) {
		if j.peek() != '{' || len(s.models) >= 256 {
			return
		}
		u := map[string]scalar{}
		j.object(func(k string) {
			if len(u) < 64 {
				u[k] = j.scalar()
			}
		})
		s.usage[model] = u
		s.models = append(s.models, model)
	})
}

// nativeID is the sample's uuid, or its place in the run where there is none.
// Ids may hold any characters, so an unusual one enters as its digest.
func (s *inspectSample) nativeID(l *inspectLog) string {
	if validID(s.uuid) {
		return s.uuid
	}
	id := s.id.text
	if !validID(id) || len(id) > 64 {
		id = fmt.Sprintf("%x", key16(id))
	}
	run := l.evalID
	if !validID(run) {
		run = fmt.Sprintf("%x", key16(run))
	}
	epoch := s.epoch.text
	if _, err := strconv.ParseUint(epoch, 10, 32); err != nil {
		epoch = "1"
	}
	native := run + "-" + id + "-" + epoch
	if !validID(native) {
		native = fmt.Sprintf("%x", key16(native))
	}
	return native
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
