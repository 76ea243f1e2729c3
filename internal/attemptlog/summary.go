package attemptlog

import (
	"fmt"
	"math"
	"time"

	"rebench/internal/rebench"
)

// Summary is what a store needs to know of a log without reading it again.
type Summary struct {
	Lines int64
	Bytes int64 // with one LF a line
	Head  Head  // of the last line

	Scores      int // score lines
	ValidScores int // of which valid
	LateScores  int // valid, but scoring started after the time limit: they do not count
	Rescores    int
	// HiddenScores were not shown to whoever wrote the log: with no valid entry
	// beside them the attempt's score is unknown, not 0.
	HiddenScores int
	FirstT       *float64 // t of the first and the last score line that has one
	LastT        *float64

	Best *Result // best valid entry in time, nil when none
	Last *Result // last valid entry in time, nil when none
	// LastInvalid says that an invalid entry came after Last.
	LastInvalid bool

	Pauses    int
	PausedFor time.Duration // completed pauses whose wall times are known
	Paused    bool          // a pause is open

	Ended     bool
	EndReason EndReason
	EndT      *float64
	EndAt     *time.Time

	Tokens  []TokenCount // last cumulative counts
	CostUSD *float64     // nil when unknown
}

// Result is one valid score entry.
type Result struct {
	Seq        int64
	T          *float64
	Raw        *float64 // nil when only the normalized score is known
	Normalized *float64 // max(0, (raw-start)/(reference-start)) or as logged; nil when unknown
	Basis      rebench.Basis
	Rescore    *Rescore // the latest rescoring of this entry

	SubmissionSHA256, ScorerSHA256 string // "" when unknown
}

// Final returns the entry that counts: the best, or the last for environments
// whose score is hidden from the solver. It is nil when no entry is valid.
func (s *Summary) Final(sel rebench.Selection) *Result {
	if sel == rebench.SelectLast {
		return s.Last
	}
	return s.Best
}

// TotalTokens is the sum over kinds; ok is false when no usage was logged.
func (s *Summary) TotalTokens() (n int64, ok bool) {
	for _, t := range s.Tokens {
		n += t.Count
	}
	return n, len(s.Tokens) > 0
}

// rankKey orders entries of one log. Entries with a raw score are compared by
// it, in the log's direction; those without by the normalized score.
type rankKey struct {
	kind  rankKind
	value float64 // higher is better
}

type rankKind byte

const (
	rankNone rankKind = iota
	rankNormalized
	rankRaw
)

// normalize applies the header's starting and reference scores; nil when they
// are unknown. unclipped keeps values below the starting solution apart.
func (h *Header) normalize(raw float64) (unclipped float64, ok bool) {
	s, r := h.Scoring.StartRaw, h.Scoring.ReferenceRaw
	if s == nil || r == nil || *s == *r {
		return 0, false
	}
	n := (raw - *s) / (*r - *s)
	return n, !math.IsNaN(n) && !math.IsInf(n, 0)
}

// Normalize returns max(0, (raw-start)/(reference-start)), or nil when the
// header lacks either score.
func (h *Header) Normalize(raw float64) *float64 {
	n, ok := h.normalize(raw)
	if !ok {
		return nil
	}
	n = max(0, n)
	return &n
}

func (s *state) rank(e *Score) rankKey {
	if e.Score == nil {
		return rankKey{rankNormalized, *e.Normalized}
	}
	if n, ok := s.header.normalize(*e.Score); ok {
		return rankKey{rankNormalized, n}
	}
	if s.header.Scoring.Direction == rebench.Minimize {
		return rankKey{rankRaw, -*e.Score}
	}
	if s.header.Scoring.Direction == "" && e.Normalized != nil {
		return rankKey{rankNormalized, *e.Normalized}
	}
	return rankKey{rankRaw, *e.Score}
}

func (s *state) addScore(e *Score) {
	s.sum.Scores++
	if e.T != nil {
		if s.sum.FirstT == nil {
			s.sum.FirstT = clone(e.T)
			s.sum.LastT = clone(e.T)
		}
		*s.sum.LastT = *e.T
	}
	if !e.Valid {
		if e.Reason == "" {
			s.warnOnce("reason", WarnReasonMissing, "an invalid entry has no reason", "")
		}
		if e.Reason == ReasonHidden {
			s.sum.HiddenScores++
		}
		s.sum.LastInvalid = s.sum.Last != nil
		return
	}
	s.sum.ValidScores++
	if s.header == nil {
		return
	}
	if limit := s.header.TimeLimitS; limit != nil && *limit > 0 && e.T != nil && *e.T > *limit {
		s.sum.LateScores++
		s.warnOnce("t", WarnOverLimit, fmt.Sprintf("scoring started at %v s, after the time limit of %v s", *e.T, *limit), "such entries are kept but do not count")
		return
	}
	s.sum.LastInvalid = false
	s.last.set(s.head.Seq, s.header, e)
	s.sum.Last = &s.last.Result
	key := s.rank(e)
	if s.sum.Best != nil && key.kind != s.key.kind {
		s.warnOnce("basis", WarnMixedBasis, "entries with and without a raw score cannot be compared without starting and reference scores", "raw scores are preferred")
	}
	if s.sum.Best == nil || key.kind > s.key.kind || key.kind == s.key.kind && key.value > s.key.value {
		s.best.set(s.head.Seq, s.header, e)
		s.sum.Best, s.key = &s.best.Result, key
	}
}

// resultStore holds a Result with the numbers that it points to, so that a log
// whose score rises with every line does not allocate for each.
type resultStore struct {
	Result
	t, raw, normalized float64
}

func (r *resultStore) set(seq int64, h *Header, e *Score) {
	r.Result = Result{Seq: seq, Basis: e.Basis, SubmissionSHA256: e.SubmissionSHA256, ScorerSHA256: e.ScorerSHA256}
	if e.T != nil {
		r.t, r.T = *e.T, &r.t
	}
	if e.Score != nil {
		r.raw, r.Raw = *e.Score, &r.raw
	}
	if e.Normalized != nil {
		r.normalized, r.Normalized = *e.Normalized, &r.normalized
	} else if e.Score != nil {
		if n, ok := h.normalize(*e.Score); ok {
			r.normalized, r.Normalized = max(0, n), &r.normalized
		}
	}
}

// copy returns a Result that shares nothing with r; nil for nil.
func (r *Result) copy() *Result {
	if r == nil {
		return nil
	}
	c := *r
	c.T, c.Raw, c.Normalized = clone(r.T), clone(r.Raw), clone(r.Normalized)
	return &c
}

func (s *state) addUsage(e *Usage) {
	for _, old := range s.sum.Tokens {
		for _, t := range e.Tokens {
			if t.Kind == old.Kind && t.Count < old.Count {
				s.warnOnce("tokens."+t.Kind, WarnUsageFell, fmt.Sprintf("found %d after %d, expected cumulative counts", t.Count, old.Count), "")
			}
		}
	}
	s.sum.Tokens = e.Tokens
	if e.CostUSD != nil {
		if s.sum.CostUSD != nil && *e.CostUSD < *s.sum.CostUSD {
			s.warnOnce("cost_usd", WarnUsageFell, fmt.Sprintf("found %v after %v, expected a cumulative cost", *e.CostUSD, *s.sum.CostUSD), "")
		}
		s.sum.CostUSD = e.CostUSD
	}
}

// summary returns a copy that later lines do not change.
func (s *state) summary() Summary {
	c := s.sum
	c.Lines, c.Bytes, c.Head = s.lines, s.bytes, s.head
	c.FirstT, c.LastT = clone(c.FirstT), clone(c.LastT)
	c.Best, c.Last = c.Best.copy(), c.Last.copy()
	return c
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
