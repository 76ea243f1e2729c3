package calibration

import (
	"context"
	"encoding/json"
	"time"

	"crypto/sha256"
	"encoding/hex"

	"rebench/internal/rebench"
)

// Run scores a solution once.
type Run func(ctx context.Context, reference bool) (raw float64, paired *float64, err error)

// Measure runs the start and the reference n times each, interleaved, so that a
// slow drift of the machine meets both alike, and checks the result. Nothing
// else may run on the machine meanwhile: hold device.Locks.Calibrating. progress,
// when not nil, is called after each run.
func Measure(ctx context.Context, key Key, dir rebench.Direction, n int, run Run, progress func(done, of int)) (*Calibration, error) {
	if n < MinRuns {
		return nil, rebench.Errorf(rebench.CodeInvalid, "calibration: %d runs, expected at least %d", n, MinRuns)
	}
	type result struct {
		raw    float64
		paired *float64
	}
	var results [2][]result // start, reference
	for i := range 2 * n {
		// S R R S S R R S: neither always comes first.
		reference := (i+1)/2%2 == 1
		raw, paired, err := run(ctx, reference)
		if err != nil {
			return nil, err
		}
		side := 0
		if reference {
			side = 1
		}
		results[side] = append(results[side], result{raw, paired})
		if progress != nil {
			progress(i+1, 2*n)
		}
	}
	var refs, starts []float64
	for _, r := range results[1] {
		refs = append(refs, r.raw)
	}
	c := &Calibration{Key: key, Direction: dir, Reference: newSide(refs), Paired: true, At: time.Now().UTC().Truncate(time.Millisecond)}
	for _, r := range results[0] {
		c.Paired = c.Paired && r.paired != nil
	}
	for _, r := range results[0] {
		if c.Paired {
			r.raw -= *r.paired - c.Reference.Median
		}
		starts = append(starts, r.raw)
	}
	c.Start = newSide(starts)
	b, err := json.Marshal(c)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "calibration: %w", err)
	}
	sum := sha256.Sum256(b)
	c.ID = "cal-" + hex.EncodeToString(sum[:8])
	return c, c.Check()
}
