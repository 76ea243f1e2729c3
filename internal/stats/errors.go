package stats

import "errors"

// Errors that the functions of this package wrap; test with errors.Is.
var (
	// ErrNoScores reports an empty sample.
	ErrNoScores = errors.New("no scores")
	// ErrNotFinite reports NaN, an infinity or a magnitude above MaxMagnitude.
	ErrNotFinite = errors.New("score is not a usable number")
	// ErrNoScale reports raw scores that define no normalization.
	ErrNoScale = errors.New("no normalization scale")
	// ErrShape reports arguments whose lengths do not fit together.
	ErrShape = errors.New("lengths do not fit")
)

// MaxMagnitude is the largest absolute score a Cell accepts. Squares of sums of
// such values stay finite.
const MaxMagnitude = 1e100
