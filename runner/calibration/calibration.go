// Package calibration measures and keeps what an environment's starting and
// reference solutions score on one machine, which is what turns a raw score
// into a normalized one there.
package calibration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/stats"
)

// Key is everything that a calibration depends on. A calibration fits an
// attempt when the keys are equal.
type Key struct {
	Environment  rebench.EnvironmentID `json:"environment"`
	Version      string                `json:"version"` // of the environment
	Profile      rebench.Profile       `json:"profile"`
	ScorerSHA256 string                `json:"scorer_sha256"`
	AssetsSHA256 string                `json:"assets_sha256"` // "" without assets
	Hardware     string                `json:"hardware"`      // device.Hardware.Fingerprint
	GPU          string                `json:"gpu"`           // name of the leased GPUs, "" for none
	Tier         string                `json:"tier"`          // how limits are enforced
	Threads      int                   `json:"threads"`       // compute threads
	// Software holds the versions of Python and of the modules and compilers
	// in the sandbox, e.g. torch.
	Software map[string]string `json:"software"`
	// OpenBLAS holds the host's OPENBLAS_* variables: they choose kernels.
	OpenBLAS map[string]string `json:"openblas"`
}

// Digest is the hex SHA-256 of the key.
func (k Key) Digest() string {
	b, err := json.Marshal(k) // map keys are sorted
	if err != nil {
		panic("calibration: a key does not encode: " + err.Error()) // strings and integers always do
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Side is what one solution scored.
type Side struct {
	Median float64   `json:"median"` // raw score
	SD     float64   `json:"sd"`     // sample standard deviation of one run
	N      int       `json:"n"`
	Runs   []float64 `json:"runs"` // in the order measured
}

// NewSide summarises runs, in the order measured.
func NewSide(runs []float64) Side {
	return Side{Median: stats.Median(runs), SD: stats.SampleSD(runs), N: len(runs), Runs: runs}
}

// Calibration is one measurement of both solutions.
type Calibration struct {
	ID        string            `json:"id"`
	Key       Key               `json:"key"`
	Direction rebench.Direction `json:"direction"`
	Start     Side              `json:"start"`
	Reference Side              `json:"reference"`
	// Paired says that every run was timed interleaved with the reference and
	// counts relative to its pair.
	Paired bool      `json:"paired"`
	At     time.Time `json:"at"`
}

// MinRuns is the least number of runs of each solution.
const MinRuns = 5

// noiseFactor is by how many standard deviations of a difference of two single
// runs the reference must be better than the start.
const noiseFactor = 3

// Check returns a CodeConflict error unless the reference is clearly better than
// the start beyond noise: its median by more than noiseFactor standard
// deviations of a difference of two runs, and every run of it better than every
// run of the start (for five runs each, 1 chance in 252 if both were alike).
func (c *Calibration) Check() error {
	refuse := func(format string, args ...any) error {
		return rebench.Errorf(rebench.CodeConflict, "calibration of %s (%s) refused: %s; start %s, reference %s",
			c.Key.Environment, c.Key.Profile, fmt.Sprintf(format, args...), c.Start, c.Reference)
	}
	if c.Start.N < MinRuns || c.Reference.N < MinRuns {
		return refuse("%d and %d runs, expected at least %d of each", c.Start.N, c.Reference.N, MinRuns)
	}
	sign := 1.0
	if c.Direction == rebench.Minimize {
		sign = -1
	}
	gap := sign * (c.Reference.Median - c.Start.Median)
	noise := math.Hypot(c.Start.SD, c.Reference.SD)
	if !(gap > 0) {
		return refuse("the reference is not better than the start")
	}
	if gap <= noiseFactor*noise {
		return refuse("the reference is better by %.4g, which is not clear of %d times the noise of %.4g; quieten the machine and calibrate again", gap, noiseFactor, noise)
	}
	worst, best := math.Inf(1), math.Inf(-1)
	for _, r := range c.Reference.Runs {
		worst = min(worst, sign*r)
	}
	for _, r := range c.Start.Runs {
		best = max(best, sign*r)
	}
	if worst <= best {
		return refuse("a run of the reference was no better than a run of the start; quieten the machine and calibrate again")
	}
	return nil
}

// String is the side for people.
func (s Side) String() string { return fmt.Sprintf("%.4f (sd %.4f, n %d)", s.Median, s.SD, s.N) }

// Noise is the larger standard deviation of a single run, in raw units.
func (c *Calibration) Noise() float64 { return max(c.Start.SD, c.Reference.SD) }

// Normalize places a raw score between start (0) and reference (1), not clipped.
// Runtime environments have corrected it by their paired reference run before.
func (c *Calibration) Normalize(raw float64) (float64, error) {
	n := (raw - c.Start.Median) / (c.Reference.Median - c.Start.Median)
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, rebench.Errorf(rebench.CodeInternal, "raw score %v cannot be normalized with start %v and reference %v", raw, c.Start.Median, c.Reference.Median)
	}
	return n, nil
}

// Round rounds x to a step of 1, 2 or 5 times a power of ten that is at least
// noise; a noise of 0 leaves six significant digits.
func Round(x, noise float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	step := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-5)
	if noise > 0 && !math.IsInf(noise, 0) {
		decade := math.Pow(10, math.Floor(math.Log10(noise)))
		for _, m := range []float64{1, 2, 5, 10} {
			if step = m * decade; step >= noise {
				break
			}
		}
	}
	if step >= 1 {
		return math.Round(x/step) * step
	}
	inverse := math.Round(1 / step) // exact where step, say 0.01, is not
	return math.Round(x*inverse) / inverse
}
