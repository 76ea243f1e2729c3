package ingest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
	heldBytes              int
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
				score := readInspectScore(j, name)
				s.hold(j, score.size())
				s.scores = append(s.scores, score)
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

// hold bounds what one sample keeps in memory: one score of so many bytes more.
func (s *inspectSample) hold(j *jsonReader, size int) {
	if s.held++; s.held > MaxSampleScores {
		j.fail(CodeTooManyEntries, "found more than %d scores in one sample", MaxSampleScores)
	}
	if s.heldBytes += size; s.heldBytes > MaxHeldBytes {
		j.fail(CodeTooManyEntries, "found scores of more than %d bytes in one sample", MaxHeldBytes)
	}
}

// size is about what the score takes in memory.
func (s *inspectScore) size() int {
	n := len(s.name) + len(s.explanation) + len(s.details) + len(s.value.text)
	for k, v := range s.value.dict {
		n += 2*len(k) + len(v.text)
	}
	return n
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
			s.hold(j, e.score.size())
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
				b := readBridgeScore(j)
				s.hold(j, len(b.score.text)+len(b.scoredAt)+len(b.createdAt)+len(b.message)+len(b.details))
				s.bridge = append(s.bridge, b)
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
							score := readInspectScore(j, "")
							s.hold(j, score.size())
							h.scores = append(h.scores, score)
						}
					})
				}
			})
			s.hold(j, 0)
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
