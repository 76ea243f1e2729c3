package stats

import (
	"fmt"
	"math"
	"time"
)

// NormalizedScore returns max(0, (y-start)/(reference-start)), the normalized
// score of arXiv 2411.15114, section 3.2.2.
//
// y, start and reference are raw scores in the environment's own unit: of the
// solution, of the starting solution and of the reference solution. Whether
// lower or higher raw scores are better follows from the sign of
// reference-start. The result is dimensionless, at least 0, and may exceed 1.
//
// It returns an error when a raw score is NaN or infinite, and when start equals
// reference or the quotient overflows, since no scale is defined then. An
// invalid score entry has no raw score and must not be passed as 0.
func NormalizedScore(y, start, reference float64) (float64, error) {
	for _, raw := range []struct {
		name  string
		value float64
	}{{"raw score", y}, {"starting score", start}, {"reference score", reference}} {
		if math.IsNaN(raw.value) || math.IsInf(raw.value, 0) {
			return 0, fmt.Errorf("%w: %s is %v, want a finite number", ErrNotFinite, raw.name, raw.value)
		}
	}
	if start == reference {
		return 0, fmt.Errorf("%w: starting and reference score are both %v", ErrNoScale, start)
	}
	s := max(0, (y-start)/(reference-start))
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return 0, fmt.Errorf("%w: (%v - %v) / (%v - %v) overflows", ErrNoScale, y, start, reference, start)
	}
	return s, nil
}

// Aggregation says which of an attempt's valid score entries counts.
type Aggregation int

const (
	// BestEntry takes the maximum: the agent sees its scores and can keep the best.
	BestEntry Aggregation = iota
	// LastEntry takes the last valid entry: the score is hidden from the agent
	// (Scaling Law Experiment).
	LastEntry
)

// Entry is one line of an attempt's score log.
type Entry struct {
	// Elapsed is the attempt's clock, pauses excluded, when scoring began.
	Elapsed time.Duration
	// Score is the normalized score. It is ignored when Valid is false.
	Score float64
	// Valid is false for a time-out, a wrong output, NaN or a broken rule.
	Valid bool
	// TimeUnknown marks an entry whose time is not on record, as in the published
	// rows: it counts once the attempt's limit is reached and says nothing before.
	TimeUnknown bool
}

// Reading is the score of one attempt at one time.
type Reading struct {
	// Score is the normalized score; 0 when no valid entry counts, since the
	// starting solution could always be submitted.
	Score float64
	// Known is false when the score at that time is not on record: an entry of
	// unknown time exists and the attempt's limit is not reached yet.
	Known bool
	// Index is the position in the entries of the one that counts, -1 if none does.
	Index int
	// LaterInvalid reports, for LastEntry, that the final submission up to then was
	// invalid and an earlier valid one counts instead.
	LaterInvalid bool
}

// ScoreAt returns the score of one attempt at time t of its own clock.
//
// It uses the entries with Elapsed <= min(t, limit): scoring that began after
// the limit does not count. Entries may be in any order; for LastEntry entries
// of equal time count in the order given, and one of unknown time, which counts
// only from the limit on, comes after all others. A limit <= 0 means no limit;
// an entry of unknown time then never counts, because its time can't be bounded.
// Valid entries with a NaN or infinite score are treated as invalid.
func ScoreAt(entries []Entry, limit, t time.Duration, agg Aggregation) Reading {
	atLimit := limit > 0 && t >= limit
	if limit > 0 {
		t = min(t, limit)
	}
	r := Reading{Known: true, Index: -1}
	latest, latestAt := -1, time.Duration(math.MinInt64)
	keptAt := time.Duration(math.MinInt64)
	for i, e := range entries {
		at := e.Elapsed
		if e.TimeUnknown {
			if !atLimit {
				r.Known = false
				continue
			}
			at = math.MaxInt64
		} else if at > t {
			continue
		}
		if at >= latestAt {
			latest, latestAt = i, at
		}
		if !e.Valid || math.IsNaN(e.Score) || math.IsInf(e.Score, 0) {
			continue
		}
		switch {
		case r.Index < 0,
			agg == LastEntry && at >= keptAt,
			agg == BestEntry && e.Score > r.Score:
			r.Index, r.Score, keptAt = i, e.Score, at
		}
	}
	if !r.Known {
		return Reading{Index: -1}
	}
	r.LaterInvalid = agg == LastEntry && r.Index >= 0 && latest != r.Index
	return r
}
