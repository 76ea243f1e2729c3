package ingest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// placeholderRuns are rows of METR's published file, the last human row of each
// environment, that decode to a raw score of exactly 1 everywhere: no attempts
// (data/published/README.md, point 1). In restated files they decode otherwise,
// so they are told by run id.
var placeholderRuns = map[string]bool{"81": true, "123": true, "140": true, "187": true, "157": true, "33": true, "44": true}

// metrRow is one row of a METR runs.jsonl.
type metrRow struct {
	line   int
	later  bool // has score_cont
	field  map[string]scalar
	source attemptlog.Extra
	native string
	env    rebench.Environment
	human  bool
	score  *float64 // nil when not a finite number
}

// metrUsed are the fields that become part of the log.
var metrUsed = map[string]bool{
	"run_id": true, "task_id": true, "task_family": true, "alias": true, "model": true, "score": true, "score_cont": true,
	"time_limit": true, "started_at": true, "completed_at": true, "fatal_error_from": true, "dollar_equivalent": true,
	"total_tokens": true, "tokens_count": true, "generation_cost": true, "scaffold": true, "task_version": true,
}

// decodeMETR reads METR's runs.jsonl: one row an attempt, with one final,
// already normalized score.
func (f *File) decodeMETR(src *source, emit emit) {
	if f.opt.Prior != nil {
		f.compareMETR(src)
	}
	later, free := 0, 0
	f.metrRows(src, f.addFault, func(row *metrRow) bool {
		if row.later {
			later++
		}
		if c, ok := row.cost(); ok && c == 0 && !row.human {
			free++
		}
		if row.human && src.m.dataset(DatasetMETR) == DatasetMETR && placeholderRuns[row.native] {
			f.addWarning(attemptlog.Fault{File: src.name, Line: row.line, Field: "run_id", Code: WarnPlaceholder,
				Detail: fmt.Sprintf("run %s is a placeholder of METR's file, not an attempt; it is left out", row.native)})
			return f.err == nil
		}
		return emit(f.metrAttempt(src, row))
	})
	if later > 0 {
		f.addWarning(attemptlog.Fault{File: src.name, Field: "score_cont", Code: WarnNormalization,
			Detail: fmt.Sprintf("%d rows are of the later form, which may be normalized by other reference scores; no raw scores are decoded from them", later)})
	}
	if free > 0 {
		f.addWarning(attemptlog.Fault{File: src.name, Field: "generation_cost", Code: WarnCostUnknown,
			Detail: fmt.Sprintf("%d rows have a cost of 0, which METR's files write where it is unknown; it is read as unknown", free)})
	}
}

// metrRows reads rows and reports faulty ones.
func (f *File) metrRows(src *source, fault func(attemptlog.Fault), row func(*metrRow) bool) {
	in := newRowReader(contextReader{f.ctx, src.reader()})
	var j jsonReader
	blank := 0
	for {
		b, ok := in.next()
		if !ok {
			break
		}
		if in.tooLong {
			fault(attemptlog.Fault{File: src.name, Line: in.number, Code: attemptlog.CodeLineTooLong, Detail: fmt.Sprintf("found a line longer than %d bytes", MaxRowBytes)})
			continue
		}
		if strings.TrimSpace(string(b[:min(len(b), 64)])) == "" && strings.TrimSpace(string(b)) == "" {
			blank++
			continue
		}
		r := &metrRow{line: in.number, field: map[string]scalar{}}
		if !r.read(&j, b) {
			fault(jsonFault(src.name, j.err))
			continue
		}
		faults := r.check(src.name)
		for _, x := range faults {
			fault(x)
		}
		if len(faults) == 0 && !row(r) {
			return
		}
	}
	if in.err != nil {
		f.stop(in.err)
	}
	if blank > 0 {
		f.addWarning(attemptlog.Fault{File: src.name, Code: WarnBlankLines, Detail: fmt.Sprintf("%d blank lines were passed over", blank)})
	}
}

func (r *metrRow) read(j *jsonReader, b []byte) bool {
	j.resetBytes(b, r.line)
	j.object(func(key string) {
		if metrUsed[key] {
			r.field[key] = j.scalar()
			return
		}
		r.source = append(r.source, attemptlog.Member{Key: key, Value: j.canonical(key)})
	})
	j.end()
	return j.err == nil
}

// jsonFault turns a JSON error into a fault of a file.
func jsonFault(file string, err error) attemptlog.Fault {
	if e, ok := err.(*jsonError); ok {
		return attemptlog.Fault{File: file, Line: e.line, Column: e.column, Code: e.code, Detail: e.detail}
	}
	return attemptlog.Fault{File: file, Code: CodeReadFailed, Detail: "the file could not be read: " + err.Error()}
}

// check validates a row's fields and fills what is derived from them.
func (r *metrRow) check(file string) []attemptlog.Fault {
	var out []attemptlog.Fault
	bad := func(field, code, hint, format string, args ...any) {
		out = append(out, attemptlog.Fault{File: file, Line: r.line, Field: field, Code: code, Detail: fmt.Sprintf(format, args...), Hint: hint})
	}
	id := r.field["run_id"]
	r.native = id.text
	if id.kind != 's' && (id.kind != '0' || strings.ContainsAny(id.text, ".eE-")) || !validID(id.text) {
		bad("run_id", attemptlog.CodeBadValue, "", "found %s, expected a run id: a whole number, or %s", id.show(), idRule)
	}
	alias := r.field["alias"]
	r.human = alias.text == rebench.HumanName
	if alias.kind != 's' || alias.text == "" {
		bad("alias", attemptlog.CodeBadType, "", "found %s, expected the agent's name in a string", alias.show())
	}
	family := r.field["task_family"]
	if family.kind != 's' {
		family = r.field["task_id"]
		family.text, _, _ = strings.Cut(family.text, "/")
	}
	var ok bool
	if r.env, ok = rebench.EnvironmentByMETRFamily(family.text); !ok {
		bad("task_family", CodeUnsupportedTask, "rows of other tasks can be left out by importing the valid part", "found %s, expected one of RE-Bench's task families such as ai_rd_fix_embedding", family.show())
	}
	for _, name := range []string{"model", "scaffold", "fatal_error_from", "task_version"} {
		if v := r.field[name]; v.present() && v.kind != 's' && v.kind != 'n' {
			bad(name, attemptlog.CodeBadType, "", "found %s, expected a string or null", v.show())
		}
	}
	for _, name := range []string{"time_limit", "started_at", "completed_at", "total_tokens", "tokens_count", "generation_cost", "dollar_equivalent"} {
		v := r.field[name]
		if n, ok := v.number(); v.present() && v.kind != 'n' && v.kind != 'x' && (!ok || n < 0) {
			bad(name, attemptlog.CodeBadValue, "", "found %s, expected a number >= 0 or null", v.show())
		}
	}
	r.checkTimes(bad)
	r.checkScore(bad)
	return out
}

func (r *metrRow) checkTimes(bad func(field, code, hint, format string, args ...any)) {
	start, hasStart := r.field["started_at"].number()
	end, hasEnd := r.field["completed_at"].number()
	for name, ms := range map[string]float64{"started_at": start, "completed_at": end} {
		if _, ok := epochMillis(ms); !ok {
			bad(name, CodeBadTime, "", "found %s, expected milliseconds since 1970", r.field[name].show())
		}
	}
	if hasStart && hasEnd && end < start {
		bad("completed_at", CodeBadTime, "", "found an end before the start %s", r.field["started_at"].show())
	}
}

func (r *metrRow) checkScore(bad func(field, code, hint, format string, args ...any)) {
	name := "score"
	if r.field["score_cont"].present() {
		name, r.later = "score_cont", true
	}
	v := r.field[name]
	switch n, ok := v.number(); {
	case !v.present():
		bad("score", attemptlog.CodeMissingField, "", "found neither score nor score_cont, expected one")
	case ok && n < 0:
		bad(name, attemptlog.CodeBadValue, "METR's files floor scores at 0, the starting solution", "found %s, expected a normalized score >= 0", v.show())
	case ok:
		r.score = &n
	case v.kind != 'n' && v.kind != 'x' && v.kind != '0': // NaN and overflowing numbers are invalid scores, not faults
		bad(name, attemptlog.CodeBadType, "", "found %s, expected a number or null", v.show())
	}
}

// metrAttempt turns a row into an attempt.
func (f *File) metrAttempt(src *source, r *metrRow) *Attempt {
	a := &Attempt{File: src.name, Format: FormatMETRRuns, Line: r.line, NativeID: r.native, Source: r.source, NormalizationUnknown: r.later, part: src.part}
	a.Dataset = src.m.dataset(DatasetMETR)
	h := &attemptlog.Header{
		AttemptID:   attemptID(a.Dataset, a.NativeID),
		Environment: attemptlog.Environment{ID: string(r.env.ID), Version: rebench.ScorerMETRPublished, Profile: string(rebench.ProfilePaper)},
		Clock:       rebench.ClockUnknown,
		Scoring:     attemptlog.Scoring{Direction: r.env.Direction},
		Tool:        converter,
		Imported:    &attemptlog.Imported{Format: string(FormatMETRRuns), NativeID: a.NativeID},
	}
	a.Header = h
	if r.human {
		h.Human = &attemptlog.Human{Source: a.Dataset}
		if src.m.Human != nil {
			h.Human.Cohort = src.m.Human.Cohort
		}
	} else {
		h.Agent = &attemptlog.Agent{Name: r.field["alias"].text, Model: r.field["model"].text, Scaffold: r.field["scaffold"].text}
	}
	if v := r.field["task_version"]; v.text != "" {
		h.Extra = append(h.Extra, attemptlog.Member{Key: "task_version", Value: attemptlog.Text(v.text)})
	}
	h.TimeLimitS = r.timeLimit()
	events := []attemptlog.Event{f.metrScore(a, r)}
	events = r.usage(a, events)
	a.encodeAll(append(events, r.end(a)))
	return a
}

// converter names this package as the writer of converted logs. Its version is
// part of every converted log's content: raise it only when the conversion of
// the same file changes.
var converter = attemptlog.Tool{Name: "rebench-ingest", Version: "1"}

// timeLimit of human rows is 0 in the file: METR's people had eight hours.
func (r *metrRow) timeLimit() *float64 {
	limit, ok := r.field["time_limit"].number()
	switch {
	case ok && limit > 0:
		return &limit
	case r.human:
		limit = rebench.HumanTimeLimit.Seconds()
		return &limit
	}
	return nil
}

// metrScore is the row's one score. A raw score is decoded from it where the
// constants that normalized it are known; from a clipped 0 nothing can be.
func (f *File) metrScore(a *Attempt, r *metrRow) *attemptlog.Score {
	s := &attemptlog.Score{Normalized: r.score, Basis: rebench.BasisNormalized, Valid: r.score != nil}
	if r.score == nil {
		v := r.field["score"]
		if r.later {
			v = r.field["score_cont"]
		}
		s.Reason = attemptlog.ReasonNaN
		if v.kind == 'n' {
			s.Reason = attemptlog.ReasonError
		}
		a.Unscored = UnscoredValue
		s.Extra = attemptlog.Extra{{Key: "raw_text", Value: attemptlog.Text(v.text)}}
		a.warn(r.line, "score", WarnInvalidScore, "found %s, expected a finite number; the attempt has no valid score", v.show())
		return s
	}
	c, ok := f.opt.Constants[r.env.ID]
	if !ok || r.later || *r.score == 0 || f.restatement.Differs(r.env.ID) {
		return s
	}
	raw := c.Start + *r.score*(c.Reference-c.Start)
	s.Score, s.Basis = &raw, rebench.BasisDerived
	a.Header.Scoring.StartRaw, a.Header.Scoring.ReferenceRaw = &c.Start, &c.Reference
	return s
}

// usage adds what the attempt used. A cost of 0 beside tokens means unknown, and
// human rows repeat figures of their task, so those stay out of the log.
func (r *metrRow) usage(a *Attempt, events []attemptlog.Event) []attemptlog.Event {
	if r.human {
		for _, name := range []string{"dollar_equivalent", "total_tokens", "generation_cost", "tokens_count"} {
			if v := r.field[name]; v.kind == '0' && logNumber(v.text) {
				a.Source = append(a.Source, attemptlog.Member{Key: name, Value: json.RawMessage(v.text)})
			}
		}
		return events
	}
	u := &attemptlog.Usage{}
	tokens, ok := r.field["tokens_count"].number()
	if !ok {
		tokens, ok = r.field["total_tokens"].number()
	}
	if ok && tokens <= attemptlog.MaxInteger {
		u.Tokens = []attemptlog.TokenCount{{Kind: "total", Count: int64(math.Round(tokens))}}
	}
	if cost, ok := r.cost(); ok && cost > 0 {
		u.CostUSD = &cost
	}
	if u.Tokens == nil && u.CostUSD == nil {
		return events
	}
	return append(events, u)
}

// cost in dollars, as the row has it.
func (r *metrRow) cost() (float64, bool) {
	if c, ok := r.field["generation_cost"].number(); ok {
		return c, true
	}
	return r.field["dollar_equivalent"].number()
}

// end closes the attempt. usageLimits is the normal ending of METR's rows and
// does not say which limit it was.
func (r *metrRow) end(a *Attempt) *attemptlog.End {
	e := &attemptlog.End{Reason: attemptlog.EndUnknown}
	if v := r.field["fatal_error_from"]; v.kind == 's' {
		e.Extra = append(e.Extra, attemptlog.Member{Key: "fatal_error_from", Value: attemptlog.Text(v.text)})
		if v.text != "usageLimits" {
			e.Reason = attemptlog.EndError
		}
	}
	start, hasStart := r.field["started_at"].number()
	end, hasEnd := r.field["completed_at"].number()
	if hasEnd && (hasStart || r.human) {
		d := (end - start) / 1000
		a.DurationS = &d
		e.Extra = append(e.Extra, attemptlog.Member{Key: "duration_s", Value: json.RawMessage(strconv.FormatFloat(d, 'f', -1, 64))})
	}
	if hasStart && start > 0 && !r.human { // human rows count from 0
		a.Header.StartedAt = msTime(start)
		if hasEnd {
			e.At = msTime(end)
		}
	}
	return e
}

func msTime(ms float64) *time.Time {
	t, ok := epochMillis(ms)
	if !ok {
		return nil
	}
	return &t
}

// compareMETR reads the file a first time to compare it with what is stored.
func (f *File) compareMETR(src *source) {
	dataset := src.m.dataset(DatasetMETR)
	before, now := map[string]Prior{}, map[string]Prior{}
	created := 0 // rows that are not known need not be held
	f.metrRows(src, func(attemptlog.Fault) {}, func(r *metrRow) bool {
		if r.human && dataset == DatasetMETR && placeholderRuns[r.native] {
			return true
		}
		p, ok := f.opt.Prior(dataset, r.native)
		if !ok {
			created++
			return true
		}
		before[r.native] = p
		now[r.native] = Prior{Environment: r.env.ID, Alias: r.field["alias"].text, Normalized: r.score}
		return true
	})
	f.warnings.drop(WarnBlankLines) // the second reading says it again
	f.restatement = CompareRows(before, now)
	f.restatement.New += created
	f.restatement.Rows += created
	for _, e := range f.restatement.Environments {
		if e.differs() {
			f.addWarning(attemptlog.Fault{File: src.name, Field: "score", Code: WarnRestated, Detail: e.String(),
				Hint: "such scores cannot be ranked beside the known ones: keep them as revisions that do not become current"})
		}
	}
}

// dataset returns the uploader's dataset or the format's.
func (m Mapping) dataset(other string) string {
	if m.Dataset != "" {
		return m.Dataset
	}
	return other
}
