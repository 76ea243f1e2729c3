package stats

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Cell is the sample of one environment, one agent and one time limit: the final
// normalized scores of its attempts. It is immutable and safe for concurrent use.
type Cell struct {
	sorted []float64 // ascending, length n >= 1
	last   bool
	digest [sha256.Size]byte

	// The sample by distinct value: value[j] occurs up to upTo[j]-upTo[j-1] times,
	// upTo[j] being the number of scores <= value[j].
	value []float64
	upTo  []int
}

// NewCell copies and sorts the scores of one cell.
//
// key names the cell among all others, such as "agent|environment|time limit".
// It is hashed together with the scores into the seed of the cell's bootstrap
// stream: the same cell shares its draws wherever it appears, while two agents
// whose scores happen to be equal (all zero, say) get independent streams, as a
// difference between them needs. Scores in another order give the same cell.
//
// last marks an environment whose last entry counts because its score is hidden
// from the agent: nobody can pick the best of hidden scores, so the estimate for
// every k is the mean.
//
// It returns ErrNoScores for an empty sample and ErrNotFinite, with the position,
// for NaN, an infinity or a magnitude above MaxMagnitude.
func NewCell(key string, scores []float64, last bool) (*Cell, error) {
	if len(scores) == 0 {
		return nil, fmt.Errorf("cell %q: %w", key, ErrNoScores)
	}
	c := &Cell{sorted: slices.Clone(scores), last: last}
	for i, x := range c.sorted {
		if !(math.Abs(x) <= MaxMagnitude) {
			return nil, fmt.Errorf("cell %q: %w: score %d of %d is %v, want a finite number", key, ErrNotFinite, i+1, len(scores), x)
		}
		c.sorted[i] = x + 0 // turns -0 into 0, so that equal scores hash equally
	}
	slices.Sort(c.sorted)
	c.digest = digest(key, c.sorted)
	for i, x := range c.sorted {
		if d := len(c.value); d > 0 && c.value[d-1] == x {
			c.upTo[d-1] = i + 1
		} else {
			c.value, c.upTo = append(c.value, x), append(c.upTo, i+1)
		}
	}
	return c, nil
}

// digest hashes a key and ascending scores.
func digest(key string, sorted []float64) [sha256.Size]byte {
	buf := make([]byte, 0, 8+len(key)+8*len(sorted))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(len(key)))
	buf = append(buf, key...)
	for _, x := range sorted {
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
	}
	return sha256.Sum256(buf)
}

// stream returns the cell's own generator for one purpose.
func (c *Cell) stream(purpose string) generator {
	sum := sha256.Sum256(append([]byte(purpose+"\x00"), c.digest[:]...))
	return generator{binary.LittleEndian.Uint64(sum[:])}
}

// N returns the number of attempts, at least 1.
func (c *Cell) N() int { return len(c.sorted) }

// Last reports whether the cell's environment counts the last entry, so that
// every k has the mean as its estimate.
func (c *Cell) Last() bool { return c.last }

// Scores returns a copy of the scores, ascending.
func (c *Cell) Scores() []float64 { return slices.Clone(c.sorted) }

// Constant reports whether all scores are equal, so that the cell adds no width
// to an interval. A single attempt is constant.
func (c *Cell) Constant() bool { return len(c.value) == 1 }

// StartTolerance is the largest normalized score that still is the starting
// solution's: constants of the normalization are known to a few digits only. The
// published starting loss of Fix Embedding, 10.491, is rounded to three decimals,
// which is 3e-5 of the normalized scale, and 205 published attempts of eight agents
// hold one and the same 7.28e-6 there: the untouched start. The next higher
// published scores, 1.05e-5 upwards, are single measurements.
const StartTolerance = 1e-5

// AtStart reports whether a normalized score is that of the starting solution, or
// below it where scores were cut at 0: x <= StartTolerance.
func AtStart(x float64) bool { return x <= StartTolerance }

// Zeros returns the number of scores at or below the starting solution (AtStart).
func (c *Cell) Zeros() int {
	n, _ := slices.BinarySearchFunc(c.sorted, StartTolerance, func(x, limit float64) int {
		if x <= limit {
			return -1
		}
		return 1
	})
	return n
}

// Saturated reports whether k is too large for the cell to say more than its own
// maximum: k >= N. The upper end of an interval is open then. A cell whose
// environment counts the last entry is never saturated.
func (c *Cell) Saturated(k int) bool { return !c.last && k >= len(c.sorted) }

// EffectiveK returns the k that the estimate uses: 1 where the last entry
// counts, else min(k, N).
func (c *Cell) EffectiveK(k int) int {
	if c.last {
		return 1
	}
	return min(k, len(c.sorted))
}

// ScoreAtK estimates the expected best normalized score of k attempts, k >= 1.
//
// WithoutReplacement with k > N uses k = N (see Saturated); WithReplacement is
// defined for every k. Where the last entry counts it is the mean for every k.
// The result lies between the lowest and the highest score and does not decrease
// with k. It is NaN for k < 1.
func (c *Cell) ScoreAtK(k int, est Estimator) float64 {
	if k < 1 {
		return math.NaN()
	}
	return c.estimate(bestOfKTable(len(c.sorted), c.tableK(k, est), est))
}

// tableK returns the k whose table gives the estimate of score@k.
func (c *Cell) tableK(k int, est Estimator) int {
	if est == WithReplacement && !c.last {
		return k
	}
	return c.EffectiveK(k)
}

// estimate returns x_n - sum_m f[m](x_{m+1}-x_m) for a table of bestOfKTable.
func (c *Cell) estimate(f []float64) float64 {
	top := len(c.value) - 1
	sum := c.value[top]
	for j := range top {
		sum -= f[c.upTo[j]] * (c.value[j+1] - c.value[j])
	}
	// Rounding can leave the range by an ulp.
	return min(max(sum, c.value[0]), c.value[top])
}
