package stats

import "fmt"

// Convention names how bootstrap replicates become draws.
type Convention int

const (
	// Centred is this project's recipe: draw = U + c(n) (U* - E*U*), with U the
	// estimate, U* its value in a bootstrap resample, E* the bootstrap mean and c
	// the ExpansionFactor. The draws so have the point estimate as their mean.
	Centred Convention = iota
	// Metr is METR's convention, the plain percentile bootstrap: draw = U*. Its
	// centre is E*U*, so without replacement, where E*U* is the with-replacement
	// value, the interval sits below the point it is drawn around.
	Metr
)

// String returns "centred" or "metr".
func (c Convention) String() string {
	switch c {
	case Centred:
		return "centred"
	case Metr:
		return "metr"
	}
	return fmt.Sprintf("Convention(%d)", int(c))
}

// Draws returns b bootstrap draws of ScoreAtK for every k in ks: one slice of
// length b per k. The n scores are resampled b times with replacement from the
// cell's own stream; all k, estimators and conventions see the same resamples,
// and a smaller b gives the first b of the same resamples.
//
// The bootstrap mean E* that Centred subtracts is known exactly for
// WithoutReplacement: it is the WithReplacement estimate at the effective k. For
// WithReplacement it is no named estimate and the mean of the b replicates stands
// for it; the draws are then centred on the WithReplacement point, whose downward
// bias as an estimate of the expected best of k they therefore share.
//
// Equal scores, and so a single one, give constant draws; k < 1 gives NaN.
func (c *Cell) Draws(ks []int, b int, est Estimator, conv Convention) [][]float64 {
	out := makeRows(len(ks), b)
	c.addDraws(out, ks, est, conv)
	return out
}

// SuiteDraws returns b draws of the suite score for every k in ks, one slice of
// length b per k: what SuiteMean makes of the Draws of cells, one per
// environment, without keeping those. Without cells it returns nil.
func SuiteDraws(cells []*Cell, ks []int, b int, est Estimator, conv Convention) [][]float64 {
	if len(cells) == 0 {
		return nil
	}
	out := makeRows(len(ks), b)
	for _, c := range cells {
		c.addDraws(out, ks, est, conv)
	}
	for _, row := range out {
		divide(row, float64(len(cells)))
	}
	return out
}

// makeRows returns rows slices of zeros of length b in one allocation.
func makeRows(rows, b int) [][]float64 {
	out := make([][]float64, rows)
	flat := make([]float64, rows*b)
	for i := range out {
		out[i] = flat[i*b : (i+1)*b : (i+1)*b]
	}
	return out
}

// addDraws adds one draw per element to the rows of out, one row per k.
func (c *Cell) addDraws(out [][]float64, ks []int, est Estimator, conv Convention) {
	if len(ks) == 0 || len(out[0]) == 0 {
		return
	}
	if c.Constant() {
		for i, k := range ks {
			addConstant(out[i], c.ScoreAtK(k, est))
		}
		return
	}
	if conv == Centred && est == WithReplacement {
		// The mean to subtract is only known afterwards.
		raw := makeRows(len(ks), len(out[0]))
		c.addReplicates(raw, c.lines(ks, est, Metr))
		factor := ExpansionFactor(len(c.sorted))
		for i, k := range ks {
			shift := c.ScoreAtK(k, est) - factor*meanOf(raw[i])
			for r, x := range raw[i] {
				out[i][r] += shift + factor*x
			}
		}
		return
	}
	c.addReplicates(out, c.lines(ks, est, conv))
}

// line says how a resample becomes a draw: base - sum_j fall[cum_j] gap_j, with
// gap_j the distance between neighbouring distinct scores and cum_j the number of
// resampled scores below it.
type line struct {
	base float64
	fall []float64 // length n+1
}

func (c *Cell) lines(ks []int, est Estimator, conv Convention) []line {
	n := len(c.sorted)
	top := c.sorted[n-1]
	lines := make([]line, len(ks))
	for i, k := range ks {
		f := bestOfKTable(n, max(1, c.tableK(k, est)), est)
		lines[i] = line{base: top, fall: f}
		if k < 1 {
			lines[i].base = c.ScoreAtK(k, est)
			continue
		}
		if conv == Metr {
			continue
		}
		factor := ExpansionFactor(n)
		mean := c.ScoreAtK(c.EffectiveK(k), WithReplacement)
		lines[i].base = c.estimate(f) + factor*(top-mean)
		for m := range f {
			f[m] *= factor
		}
	}
	return lines
}

// addReplicates adds to every row of out, draw by draw, what its line makes of
// the cell's resamples.
func (c *Cell) addReplicates(out [][]float64, lines []line) {
	gaps := make([]float64, len(c.value)-1)
	for j := range gaps {
		gaps[j] = c.value[j+1] - c.value[j]
	}
	blocks := packLines(out, lines)
	s := newResampler(c)
	cum := make([]uint32, len(gaps))
	for r := range out[0] {
		s.next(cum)
		for i := range blocks {
			blocks[i].add(r, cum, gaps)
		}
	}
}

// block evaluates up to four lines in one pass over the counts.
type block struct {
	rows [][]float64
	base [4]float64
	one  []float64
	two  [][2]float64
	four [][4]float64
}

// packLines splits lines into blocks of 4, 2 and 1 with interleaved tables.
func packLines(out [][]float64, lines []line) []block {
	var blocks []block
	for len(lines) > 0 {
		width := 4
		for width > len(lines) {
			width /= 2
		}
		b := block{rows: out[:width]}
		size := len(lines[0].fall)
		switch width {
		case 4:
			b.four = make([][4]float64, size)
		case 2:
			b.two = make([][2]float64, size)
		default:
			b.one = lines[0].fall
		}
		for i, l := range lines[:width] {
			b.base[i] = l.base
			for m, f := range l.fall {
				switch width {
				case 4:
					b.four[m][i] = f
				case 2:
					b.two[m][i] = f
				}
			}
		}
		blocks = append(blocks, b)
		out, lines = out[width:], lines[width:]
	}
	return blocks
}

func (b *block) add(r int, cum []uint32, gaps []float64) {
	gaps = gaps[:len(cum)]
	switch {
	case b.four != nil:
		var s0, s1, s2, s3 float64
		for j, m := range cum {
			f, g := &b.four[m], gaps[j]
			s0 += f[0] * g
			s1 += f[1] * g
			s2 += f[2] * g
			s3 += f[3] * g
		}
		b.rows[0][r] += b.base[0] - s0
		b.rows[1][r] += b.base[1] - s1
		b.rows[2][r] += b.base[2] - s2
		b.rows[3][r] += b.base[3] - s3
	case b.two != nil:
		var s0, s1 float64
		for j, m := range cum {
			f, g := &b.two[m], gaps[j]
			s0 += f[0] * g
			s1 += f[1] * g
		}
		b.rows[0][r] += b.base[0] - s0
		b.rows[1][r] += b.base[1] - s1
	default:
		sum := 0.0
		for j, m := range cum {
			sum += b.one[m] * gaps[j]
		}
		b.rows[0][r] += b.base[0] - sum
	}
}

func addConstant(x []float64, v float64) {
	for i := range x {
		x[i] += v
	}
}

func divide(x []float64, by float64) {
	for i := range x {
		x[i] /= by
	}
}

// meanOf returns the mean of a non-empty x. It is exact for constant x.
func meanOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v - x[0]
	}
	return x[0] + sum/float64(len(x))
}
