package attemptlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"rebench/internal/rebench"
)

// driftAllowedS is how far t may lie from the wall clock less pauses before it
// is remarked on (clock active only).
const driftAllowedS = 2.0

// state checks lines one after another. Reader and Writer share it, so that
// nothing is written that would be refused when read.
type state struct {
	d        decoder
	faults   collector
	warnings collector
	file     string
	lineNo   int

	head       Head
	chainKnown bool // the head's hash is that of the previous line
	lines      int64
	bytes      int64
	header     *Header
	noHeader   bool // said that the header is missing
	lastT      float64
	hasT       bool
	paused     bool
	pauseAt    *time.Time
	pausedFor  time.Duration
	pausesSeen bool // every pause so far had both wall times
	ended      bool
	scores     bitset
	sum        Summary
	key        rankKey // of the best entry
	best, last resultStore
	once       map[string]bool // warnings given once a log
	prevHex    [2 * sha256.Size]byte
}

func newState(file string) *state {
	s := &state{file: file}
	s.faults.max, s.warnings.max = MaxFaults, MaxFaults
	s.d.report = func(column int, field, code, detail, hint string) {
		s.fault(column, field, code, detail, hint)
	}
	s.reset()
	return s
}

// reset makes ready for the first line of a log.
func (s *state) reset() {
	s.faults.list, s.faults.more = nil, 0
	s.warnings.list, s.warnings.more = nil, 0
	s.head, s.chainKnown, s.lines, s.bytes = NoHead, true, 0, 0
	s.header, s.noHeader = nil, false
	s.lastT, s.hasT = 0, false
	s.paused, s.pauseAt, s.pausedFor, s.pausesSeen = false, nil, 0, true
	s.ended = false
	s.scores.words = s.scores.words[:0]
	s.sum, s.key, s.once = Summary{}, rankKey{}, nil
}

func (s *state) fault(column int, field, code, detail, hint string) {
	s.faults.add(Fault{File: s.file, Line: s.lineNo, Column: column, Field: field, Code: code, Detail: detail, Hint: hint})
}

func (s *state) warn(field, code, detail, hint string) {
	s.warnings.add(Fault{File: s.file, Line: s.lineNo, Field: field, Code: code, Detail: detail, Hint: hint})
}

// warnOnce warns at the first occurrence in a log only.
func (s *state) warnOnce(field, code, detail, hint string) {
	if s.once[code] {
		return
	}
	if s.once == nil {
		s.once = map[string]bool{}
	}
	s.once[code] = true
	s.warn(field, code, detail, hint)
}

// skip notes a line that is too long to be held.
func (s *state) skip(size int64) {
	s.fault(0, "", CodeLineTooLong, fmt.Sprintf("found a line of %d bytes, expected at most %d", size, MaxLineBytes), "")
	s.chainKnown = false
	s.head.Seq++
	s.lines++
	s.bytes += size + 1
}

// accept checks one line, given its envelope from s.d.split, and advances. The
// event is nil when the line is faulty.
func (s *state) accept(line []byte, env envelope, usable bool) Event {
	hash := Hash(sha256.Sum256(line))
	s.lines++
	s.bytes += int64(len(line)) + 1
	if !usable {
		s.head = Head{s.head.Seq + 1, hash}
		s.chainKnown = true
		return nil
	}
	intact := s.chain(env)
	seq := s.head.Seq + 1
	if env.seqOK {
		seq = env.seq // after one complaint go on from what the file says
	}
	s.head, s.chainKnown = Head{seq, hash}, true
	e := s.d.event(env.typ)
	if env.typ == "score" {
		s.scores.set(seq) // also when faulty: a rescore of it is not a second fault
	}
	s.order(e)
	if !s.d.failed {
		s.apply(e)
	}
	if s.d.failed || !intact {
		return nil
	}
	return e
}

// chain compares seq and prev with what the previous line demands.
func (s *state) chain(env envelope) (intact bool) {
	intact = true
	if env.seqOK && env.seq != s.head.Seq+1 {
		intact = false
		s.fault(env.seqCol, "seq", CodeBadSeq, fmt.Sprintf("found seq %d, expected %d", env.seq, s.head.Seq+1), "a line is missing, repeated or out of order")
	}
	if !env.prevOK || !s.chainKnown {
		return intact
	}
	hex.Encode(s.prevHex[:], s.head.Hash[:])
	if !bytes.Equal(env.prev, s.prevHex[:]) {
		intact = false
		s.fault(env.prevCol, "prev", CodeChainBroken, fmt.Sprintf("found prev %s, expected %s, the SHA-256 of the previous line", quote(env.prev), s.prevHex), "the previous line was changed, or a line was added or removed, after it was written")
	}
	return intact
}

// order checks where in a log an event may stand.
func (s *state) order(e Event) {
	if _, ok := e.(*Header); ok {
		if s.lines > 1 {
			s.d.failed = true
			s.fault(0, "type", CodeHeaderRepeated, "found a header inside a log, expected it once, on the first line", "upload one log a file, or logs one after another that each start at seq 0")
		}
		return
	}
	if s.lines == 1 && !s.noHeader {
		s.noHeader = true
		s.d.failed = true
		s.fault(0, "type", CodeHeaderMissing, fmt.Sprintf("found type %s, expected header on the first line", quote(e.Type())), "")
	}
	if s.ended {
		switch e.(type) {
		case *Score, *Pause, *Resume, *Usage, *End:
			s.d.failed = true
			s.fault(0, "type", CodeAfterEnd, fmt.Sprintf("found %s after end, expected only rescore", e.Type()), "")
		}
	}
}

// apply checks an event against the log so far and adds it to the summary.
func (s *state) apply(e Event) {
	switch e := e.(type) {
	case *Header:
		s.applyHeader(e)
	case *Score:
		s.moment(e.T, e.At)
		if !s.d.failed {
			s.addScore(e)
		}
	case *Rescore:
		s.applyRescore(e)
	case *Pause:
		s.applyPause(e)
	case *Resume:
		s.applyResume(e)
	case *Usage:
		s.moment(e.T, e.At)
		s.addUsage(e)
	case *End:
		s.moment(e.T, e.At)
		if s.paused {
			s.reject("type", CodeUnbalancedPause, "found end during a pause, expected resume first", "")
		}
		s.ended = true
		s.sum.Ended, s.sum.EndReason, s.sum.EndT, s.sum.EndAt = true, e.Reason, e.T, e.At
	}
}

func (s *state) reject(field, code, detail, hint string) {
	s.d.failed = true
	s.fault(0, field, code, detail, hint)
}

func (s *state) applyHeader(h *Header) {
	s.header = h
	sc := h.Scoring
	if sc.StartRaw == nil || sc.ReferenceRaw == nil {
		return
	}
	diff := *sc.ReferenceRaw - *sc.StartRaw
	if diff == 0 {
		s.reject("scoring.reference_raw", CodeBadValue, "found equal start_raw and reference_raw, expected two different scores", "scores cannot be normalized without a difference")
		return
	}
	if sc.Direction == rebench.Minimize && diff > 0 || sc.Direction == rebench.Maximize && diff < 0 {
		s.warn("scoring.direction", WarnDirection, fmt.Sprintf("direction is %s but the reference score %v lies on the other side of the starting score %v", sc.Direction, *sc.ReferenceRaw, *sc.StartRaw), "normalization uses the two scores")
	}
}

// moment checks the time of an event: present, not going back, and close to the
// wall clock less pauses where both are known.
func (s *state) moment(t *float64, at *time.Time) {
	if s.header == nil {
		return
	}
	if t == nil {
		if s.header.Clock != rebench.ClockUnknown {
			s.reject("t", CodeBadValue, fmt.Sprintf("found t null, expected seconds since the log's clock is %s", s.header.Clock), "")
		}
		return
	}
	if s.hasT && *t < s.lastT {
		s.reject("t", CodeTimeBackwards, fmt.Sprintf("found t %v after %v, expected it not to fall", *t, s.lastT), "")
	}
	if !s.hasT || *t > s.lastT {
		s.lastT, s.hasT = *t, true
	}
	if s.header.Clock != rebench.ClockActive || at == nil || s.header.StartedAt == nil || !s.pausesSeen {
		return
	}
	pausedFor := s.pausedFor
	if s.paused {
		pausedFor += at.Sub(*s.pauseAt)
	}
	want := (at.Sub(*s.header.StartedAt) - pausedFor).Seconds()
	if diff := *t - want; math.Abs(diff) > driftAllowedS {
		s.warnOnce("t", WarnClockDrift, fmt.Sprintf("t is %.3f s but at - started_at - pauses is %.3f s, expected them within %v s", *t, want, driftAllowedS), "the clock may have been changed, or a pause is missing from the log")
	}
}

func (s *state) applyPause(e *Pause) {
	s.moment(e.T, e.At)
	if s.paused {
		s.reject("type", CodeUnbalancedPause, "found pause during a pause, expected resume first", "")
		return
	}
	s.paused, s.pauseAt = true, e.At
	if e.At == nil {
		s.pausesSeen = false
	}
	s.sum.Pauses++
	s.sum.Paused = true
}

func (s *state) applyResume(e *Resume) {
	if !s.paused {
		s.reject("type", CodeUnbalancedPause, "found resume without a pause before it", "")
		return
	}
	s.moment(e.T, e.At)
	s.paused, s.sum.Paused = false, false
	if e.At == nil || s.pauseAt == nil {
		s.pausesSeen = false
		return
	}
	if d := e.At.Sub(*s.pauseAt); d > 0 {
		s.pausedFor += d
	}
	s.sum.PausedFor = s.pausedFor
}

func (s *state) applyRescore(e *Rescore) {
	if e.OfSeq >= s.head.Seq || !s.scores.has(e.OfSeq) {
		s.reject("of_seq", CodeBadReference, fmt.Sprintf("found of_seq %d, expected the seq of an earlier score line", e.OfSeq), "")
		return
	}
	s.sum.Rescores++
	c := *e
	for _, r := range []*Result{s.sum.Best, s.sum.Last} {
		if r != nil && r.Seq == e.OfSeq {
			r.Rescore = &c
		}
	}
}

// finish adds what is known only at the end of a log.
func (s *state) finish() {
	if s.lines == 0 {
		s.fault(0, "", CodeEmptyFile, "found no lines, expected a header", "")
		return
	}
	if !s.ended {
		s.warn("", WarnNoEnd, "the log has no end line: the attempt is still open or the file was cut short", "")
	}
}

// bitset remembers which seqs are score lines, one bit a line.
type bitset struct{ words []uint64 }

// maxSeqBit bounds the set when a faulty file claims a huge seq.
const maxSeqBit = 1 << 26

func (b *bitset) set(i int64) {
	if i < 0 || i >= maxSeqBit {
		return
	}
	for int64(len(b.words)) <= i/64 {
		b.words = append(b.words, 0)
	}
	b.words[i/64] |= 1 << (i % 64)
}

func (b *bitset) clear(i int64) {
	if i >= 0 && i/64 < int64(len(b.words)) {
		b.words[i/64] &^= 1 << (i % 64)
	}
}

func (b *bitset) has(i int64) bool {
	if i >= maxSeqBit {
		return true // beyond what is tracked: cannot be refused
	}
	return i >= 0 && i/64 < int64(len(b.words)) && b.words[i/64]&(1<<(i%64)) != 0
}
