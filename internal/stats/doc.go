// Package stats holds the statistics of rebench: pure float64 mathematics
// without input or output, on the standard library alone.
//
// It follows the RE-Bench paper (arXiv 2411.15114, sections 3.2.2 and 4.1-4.3)
// for scores and budgets, arXiv 2406.06647 (Algorithm 1) for the estimator of
// the best of k attempts, and numpy's default ("linear") rule for quantiles.
//
// # Scores
//
// A normalized score is dimensionless: 0 is the starting solution, 1 the
// reference solution, and values above 1 are possible. [NormalizedScore] maps a
// raw score, [ScoreAt] reads the score of one attempt at one time.
//
// # Samples and draws
//
// A [Cell] holds the final scores of all attempts of one agent on one
// environment under one time limit. [Cell.ScoreAtK] estimates the expected best
// of k attempts and [Cell.Draws] gives bootstrap draws of that estimate, which
// [SuiteMean] averages over environments and [PercentileInterval] summarises.
//
// The default recipe for draws, [Centred], is our own. It joins two parts: the
// draws are centred on the point estimate, and they are widened by the factor
// [ExpansionFactor], after the expanded percentile interval of Hesterberg (2015,
// "What Teachers Should Know About the Bootstrap", The American Statistician
// 69(4)), which makes up for a small sample's too narrow bootstrap. The program in ./coverage measures how often the intervals
// contain the truth. [Metr] is the plain percentile bootstrap.
//
// # Randomness
//
// Every stream of random numbers is seeded by what it belongs to (the key and
// the scores of a cell), never by a clock or a page, so a number is the same
// wherever and whenever it is shown, and all k of a cell share their resamples.
package stats
