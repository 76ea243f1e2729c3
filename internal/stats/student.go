package stats

import "math"

// z975 is the 0.975 quantile of the standard normal distribution, "1.96".
const z975 = 1.959963984540054

// ExpansionFactor returns c(n) = t(.975, n-1)/1.96 * sqrt(n/(n-1)), by which the
// Centred convention widens the bootstrap draws of a sample of n scores. The
// first factor replaces the normal by Student's quantile and the second undoes
// the bootstrap's division by n (Hesterberg 2015). It falls from
// 9.17 at n = 2 to 1. For n < 2 no spread can be estimated and it returns 0.
func ExpansionFactor(n int) float64 {
	if n < 2 {
		return 0
	}
	return studentQuantile975(n-1) / z975 * math.Sqrt(float64(n)/float64(n-1))
}

// studentQuantile975 returns the 0.975 quantile of Student's t distribution with
// df >= 1 degrees of freedom, to about 1e-12.
func studentQuantile975(df int) float64 {
	if df > 400 {
		return cornishFisher975(float64(df))
	}
	// The two-sided probability is increasing and concave in t > 0, so Newton's
	// method from below the root converges monotonically.
	t := z975
	for range 100 {
		step := (0.95 - studentTwoSided(t, df)) / (2 * studentDensity(t, df))
		t += step
		if math.Abs(step) < 1e-14*t {
			break
		}
	}
	return t
}

// studentTwoSided returns P(|T| <= t) for df degrees of freedom by the finite
// series of Abramowitz and Stegun, 26.7.3 and 26.7.4.
func studentTwoSided(t float64, df int) float64 {
	nu := float64(df)
	theta := math.Atan(t / math.Sqrt(nu))
	cos2 := nu / (nu + t*t)
	sin, cos := math.Sin(theta), math.Sqrt(cos2)
	if df%2 == 0 {
		sum, term := 1.0, 1.0
		for i := 2; i <= df-2; i += 2 {
			term *= cos2 * float64(i-1) / float64(i)
			sum += term
		}
		return sin * sum
	}
	if df == 1 {
		return 2 * theta / math.Pi
	}
	sum, term := cos, cos
	for i := 3; i <= df-2; i += 2 {
		term *= cos2 * float64(i-1) / float64(i)
		sum += term
	}
	return 2 / math.Pi * (theta + sin*sum)
}

// studentDensity returns the density of Student's t distribution at t.
func studentDensity(t float64, df int) float64 {
	nu := float64(df)
	a, _ := math.Lgamma((nu + 1) / 2)
	b, _ := math.Lgamma(nu / 2)
	return math.Exp(a-b-(nu+1)/2*math.Log1p(t*t/nu)) / math.Sqrt(nu*math.Pi)
}

// cornishFisher975 is the expansion of Abramowitz and Stegun, 26.7.5, whose error
// is of the order df^-5.
func cornishFisher975(nu float64) float64 {
	x := z975
	x2 := x * x
	g1 := x * (x2 + 1) / 4
	g2 := x * ((5*x2+16)*x2 + 3) / 96
	g3 := x * (((3*x2+19)*x2+17)*x2 - 15) / 384
	g4 := x * ((((79*x2+776)*x2+1482)*x2-1920)*x2 - 945) / 92160
	return x + (g1+(g2+(g3+g4/nu)/nu)/nu)/nu
}
