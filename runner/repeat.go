package main

import (
	"context"
	"fmt"
	"math"

	"rebench/runner/calibration"
	"rebench/runner/sandbox"
)

// maxRepeats bounds --repeat.
const maxRepeats = 1000

// repeatability says how much the score of one submission varies between scorings,
// each on fresh draws.
type repeatability struct {
	calibration.Side     // of the valid scorings' raw scores
	Invalid          int `json:"invalid"` // scorings that were not valid
	// Gap is |start - reference| of the calibration, raw. GapOverSD is nil where the
	// scores are all equal.
	Gap       float64  `json:"gap"`
	GapOverSD *float64 `json:"gap_over_sd"`
	// NormalizedSD is SD/Gap: the noise of one scoring on the normalized scale.
	NormalizedSD float64 `json:"normalized_sd"`
}

// repeat scores the same submission n-1 more times.
func (s *singleScoring) repeat(ctx context.Context, snap sandbox.Snapshot, first *verdict, n int) (*repeatability, error) {
	var raws []float64
	invalid := 0
	for v, i := first, 1; ; i++ {
		if v.Valid {
			raws = append(raws, *v.Raw)
		} else {
			invalid++
		}
		if i == n {
			return newRepeatability(raws, invalid, s.cal), nil
		}
		out, err := s.score(ctx, snap.Dir)
		if err != nil {
			return nil, fmt.Errorf("scoring %d of %d: %w", i+1, n, err)
		}
		if v, err = s.verdict(out); err != nil {
			return nil, err
		}
	}
}

// newRepeatability is nil when no scoring was valid.
func newRepeatability(raws []float64, invalid int, cal *calibration.Calibration) *repeatability {
	if len(raws) == 0 {
		return nil
	}
	r := &repeatability{Side: calibration.NewSide(raws), Invalid: invalid, Gap: math.Abs(cal.Start.Median - cal.Reference.Median)}
	r.NormalizedSD = r.SD / r.Gap
	if r.SD > 0 {
		x := r.Gap / r.SD
		r.GapOverSD = &x
	}
	return r
}

func (r *repeatability) String() string {
	ratio := "unbounded"
	if r.GapOverSD != nil {
		ratio = fmt.Sprintf("%.1f", *r.GapOverSD)
	}
	return fmt.Sprintf("%d valid scorings, %d not: median %.5f, sd %.5f (%.4f normalized); start and reference differ by %.5f, %s times that",
		r.N, r.Invalid, r.Median, r.SD, r.NormalizedSD, r.Gap, ratio)
}
