package stats

import (
	"fmt"
	"math"
)

// Estimator names an estimator of the expected best score of k attempts.
type Estimator int

const (
	// WithoutReplacement is sum_{i=k..n} x_i C(i-1,k-1)/C(n,k) over the ascending
	// scores x_1..x_n: the mean, over all subsets of k attempts, of the best in the
	// subset. It is unbiased. Source: arXiv 2406.06647, Algorithm 1; used by METR's
	// published analysis. It is defined for k <= n; k > n uses k = n.
	WithoutReplacement Estimator = iota
	// WithReplacement is sum_i x_i ((i/n)^k - ((i-1)/n)^k): the expected best of k
	// draws with replacement. Source: the text of arXiv 2411.15114. It is never
	// above WithoutReplacement, is defined for every k, and is biased downwards.
	WithReplacement
)

// String returns "without_replacement" or "with_replacement".
func (e Estimator) String() string {
	switch e {
	case WithoutReplacement:
		return "without_replacement"
	case WithReplacement:
		return "with_replacement"
	}
	return fmt.Sprintf("Estimator(%d)", int(e))
}

// bestOfKTable returns f of length n+1 where f[m] is the probability that the
// best of k attempts lies among the m lowest of n: C(m,k)/C(n,k) without and
// (m/n)^k with replacement. The estimate is then x_n - sum_m f[m](x_{m+1}-x_m),
// which no factorial can overflow. It needs n >= 1 and k >= 1.
func bestOfKTable(n, k int, est Estimator) []float64 {
	f := make([]float64, n+1)
	if est == WithReplacement {
		for m := range f {
			f[m] = math.Pow(float64(m)/float64(n), float64(k))
		}
		return f
	}
	k = min(k, n)
	f[n] = 1
	for m := n; m > k; m-- {
		// C(m-1,k)/C(m,k) = (m-k)/m.
		f[m-1] = f[m] * (float64(m-k) / float64(m))
	}
	return f
}
