package stats

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestNormalizedScore(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tc := range []struct {
		name      string
		y, s, r   float64
		want      float64
		wantError error
	}{
		{"start", 5, 5, 3, 0, nil},
		{"reference", 3, 5, 3, 1, nil},
		{"half way down", 4, 5, 3, 0.5, nil},
		{"beyond the reference", 1, 5, 3, 2, nil},
		{"worse than the start", 6, 5, 3, 0, nil},
		{"higher is better", 0.8, 0.2, 1, 0.75, nil},
		{"higher is better, worse", 0.1, 0.2, 1, 0, nil},
		{"negative raw scores", -1, -3, -2, 2, nil},
		{"no scale", 1, 2, 2, 0, ErrNoScale},
		{"overflow", math.MaxFloat64, 0, 1e-300, 0, ErrNoScale},
		{"difference overflows both ways", math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, 0, ErrNoScale},
		{"NaN", nan, 0, 1, 0, ErrNotFinite},
		{"infinite start", 1, inf, 1, 0, ErrNotFinite},
		{"infinite reference", 1, 0, -inf, 0, ErrNotFinite},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := NormalizedScore(tc.y, tc.s, tc.r)
			if !errors.Is(err, tc.wantError) || math.Abs(got-tc.want) > 1e-12 || math.Signbit(got) {
				t.Errorf("NormalizedScore(%v, %v, %v) = %v, %v, want %v, %v", tc.y, tc.s, tc.r, got, err, tc.want, tc.wantError)
			}
		})
	}
}

func TestScoreAt(t *testing.T) {
	const m = time.Minute
	ok := func(at time.Duration, score float64) Entry { return Entry{Elapsed: at, Score: score, Valid: true} }
	bad := func(at time.Duration) Entry { return Entry{Elapsed: at, Score: 9} }
	unknown := Entry{Score: 0.7, Valid: true, TimeUnknown: true}
	log := []Entry{ok(1*m, 0.2), ok(3*m, 0.6), ok(5*m, 0.4), bad(7 * m), ok(11*m, 0.9)}
	for _, tc := range []struct {
		name     string
		entries  []Entry
		limit, t time.Duration
		agg      Aggregation
		want     Reading
	}{
		{"nothing yet", log, 10 * m, 0, BestEntry, Reading{Known: true, Index: -1}},
		{"first, at its time", log, 10 * m, 1 * m, BestEntry, Reading{0.2, true, 0, false}},
		{"best so far", log, 10 * m, 5 * m, BestEntry, Reading{0.6, true, 1, false}},
		{"last so far", log, 10 * m, 5 * m, LastEntry, Reading{0.4, true, 2, false}},
		{"last was invalid", log, 10 * m, 8 * m, LastEntry, Reading{0.4, true, 2, true}},
		{"best ignores invalid", log, 10 * m, 8 * m, BestEntry, Reading{0.6, true, 1, false}},
		{"began after the limit", log, 10 * m, 60 * m, BestEntry, Reading{0.6, true, 1, false}},
		{"no limit", log, 0, 60 * m, BestEntry, Reading{0.9, true, 4, false}},
		{"at the limit exactly", log, 11 * m, 11 * m, LastEntry, Reading{0.9, true, 4, false}},
		{"order does not matter", []Entry{log[4], log[2], log[0], log[1]}, 10 * m, 10 * m, LastEntry, Reading{0.4, true, 1, false}},
		{"equal times, last given", []Entry{ok(m, 0.5), ok(m, 0.3)}, 10 * m, m, LastEntry, Reading{0.3, true, 1, false}},
		{"equal scores, first", []Entry{ok(m, 0.5), ok(2*m, 0.5)}, 10 * m, 5 * m, BestEntry, Reading{0.5, true, 0, false}},
		{"only invalid", []Entry{bad(m)}, 10 * m, 5 * m, LastEntry, Reading{Known: true, Index: -1}},
		{"NaN is invalid", []Entry{ok(m, math.NaN())}, 10 * m, 5 * m, BestEntry, Reading{Known: true, Index: -1}},
		{"empty", nil, 10 * m, 5 * m, BestEntry, Reading{Known: true, Index: -1}},
		{"unknown time before the limit", []Entry{unknown}, 480 * m, 479 * m, BestEntry, Reading{Index: -1}},
		{"unknown time at the limit", []Entry{unknown}, 480 * m, 480 * m, BestEntry, Reading{0.7, true, 0, false}},
		{"unknown time later", []Entry{unknown}, 480 * m, 960 * m, LastEntry, Reading{0.7, true, 0, false}},
		{"unknown time, no limit", []Entry{unknown}, 0, 960 * m, BestEntry, Reading{Index: -1}},
		{"unknown time is last", []Entry{unknown, ok(5*m, 0.1)}, 10 * m, 10 * m, LastEntry, Reading{0.7, true, 0, false}},
		{"known entry hides nothing", []Entry{ok(5*m, 0.1), unknown}, 10 * m, 6 * m, BestEntry, Reading{Index: -1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ScoreAt(tc.entries, tc.limit, tc.t, tc.agg); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// The score of a best environment never falls with time.
func FuzzScoreAtIsMonotone(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6}, int64(4))
	f.Fuzz(func(t *testing.T, raw []byte, limit int64) {
		var entries []Entry
		for i := 0; i+2 < len(raw); i += 3 {
			entries = append(entries, Entry{Elapsed: time.Duration(raw[i]), Score: float64(raw[i+1]) / 100, Valid: raw[i+2]%2 == 0})
		}
		before := 0.0
		for at := time.Duration(-1); at < 260; at++ {
			r := ScoreAt(entries, time.Duration(limit), at, BestEntry)
			if !r.Known || r.Score < before {
				t.Fatalf("at %v: %+v after %v", at, r, before)
			}
			before = r.Score
			if r.Index >= 0 && (!entries[r.Index].Valid || entries[r.Index].Elapsed > at || limit > 0 && entries[r.Index].Elapsed > time.Duration(limit)) {
				t.Fatalf("at %v entry %d counts: %+v", at, r.Index, entries[r.Index])
			}
		}
	})
}
