package calibration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"rebench/internal/rebench"
)

// Run scores a solution once.
type Run func(ctx context.Context, reference bool) (raw float64, paired *float64, err error)

// measured is one run.
type measured struct {
	raw    float64
	paired *float64 // of the reference timed in turn with it
}

// Measure runs the start and the reference n times each, interleaved, so that a
// slow drift of the machine meets both alike, and checks the result. Nothing
// else may run on the machine meanwhile: hold device.Locks.Calibrating. progress,
// when not nil, is called after each run. A calibration that fails its check is
// returned together with the error.
func Measure(ctx context.Context, key Key, dir rebench.Direction, n int, run Run, progress func(done, of int)) (*Calibration, error) {
	if n < MinRuns {
		return nil, rebench.Errorf(rebench.CodeInvalid, "calibration: %d runs, expected at least %d", n, MinRuns)
	}
	var starts, refs []measured
	for i := range 2 * n {
		// S R R S S R R S: neither always comes first.
		reference := (i+1)/2%2 == 1
		raw, paired, err := run(ctx, reference)
		if err != nil {
			return nil, err
		}
		if reference {
			refs = append(refs, measured{raw, paired})
		} else {
			starts = append(starts, measured{raw, paired})
		}
		if progress != nil {
			progress(i+1, 2*n)
		}
	}
	c := &Calibration{Key: key, Direction: dir, At: time.Now().UTC().Truncate(time.Millisecond)}
	c.fill(starts, refs)
	b, err := json.Marshal(c)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "calibration: %w", err)
	}
	sum := sha256.Sum256(b)
	c.ID = "cal-" + hex.EncodeToString(sum[:8])
	return c, c.Check()
}

// fill computes both sides. Where every run was paired, a run counts as its
// difference from its pair, laid on the median of all readings of the reference:
// so the spreads are those of what attempts are scored by, not of the machine's
// speed from minute to minute.
func (c *Calibration) fill(starts, refs []measured) {
	c.Paired = true
	var readings []float64
	for _, m := range append(append([]measured(nil), starts...), refs...) {
		if m.paired == nil {
			c.Paired = false
			break
		}
		readings = append(readings, *m.paired)
	}
	for _, m := range refs {
		readings = append(readings, m.raw)
	}
	level := NewSide(readings).Median
	side := func(list []measured) Side {
		var runs []float64
		for _, m := range list {
			if c.Paired {
				m.raw += level - *m.paired
			}
			runs = append(runs, m.raw)
		}
		return NewSide(runs)
	}
	c.Start, c.Reference = side(starts), side(refs)
	if c.Paired {
		c.Reference.Median = level // what a later pair is compared with
	}
}
