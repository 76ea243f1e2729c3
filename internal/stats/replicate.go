package stats

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
	if s := newPackedResampler(c); s != nil {
		replicate(c, s, out, lines)
		return
	}
	replicate(c, newTallyResampler(c), out, lines)
}

func replicate[T uint8 | uint32](c *Cell, s resampler[T], out [][]float64, lines []line) {
	gaps := make([]float64, len(c.value)-1)
	for j := range gaps {
		gaps[j] = c.value[j+1] - c.value[j]
	}
	blocks := packLines(out, lines)
	t := counts[T]{cum: make([]T, tile*s.stride()), stride: s.stride(), gaps: gaps}
	for r, b := 0, len(out[0]); r < b; r += tile {
		s.next(t.cum)
		for i := range blocks {
			t.add(&blocks[i], r, min(tile, b-r))
		}
	}
}

// eachResample calls visit with b bootstrap resamples of the scores, ascending:
// those that Draws sees. The slice is only valid during the call.
func (c *Cell) eachResample(b int, visit func(r int, sorted []float64)) {
	if c.Constant() {
		for r := range b {
			visit(r, c.sorted)
		}
		return
	}
	if s := newPackedResampler(c); s != nil {
		spread(c, s, b, visit)
		return
	}
	spread(c, newTallyResampler(c), b, visit)
}

func spread[T uint8 | uint32](c *Cell, s resampler[T], b int, visit func(r int, sorted []float64)) {
	cum := make([]T, tile*s.stride())
	sorted := make([]float64, len(c.sorted))
	top := len(c.value) - 1
	for r := range b {
		if r%tile == 0 {
			s.next(cum)
		}
		at := 0
		for j, end := range cum[r%tile*s.stride():][:top] {
			for ; at < int(end); at++ {
				sorted[at] = c.value[j]
			}
		}
		for ; at < len(sorted); at++ {
			sorted[at] = c.value[top]
		}
		visit(r, sorted)
	}
}

// block evaluates up to four lines in one pass over the counts, with their tables
// interleaved.
type block struct {
	rows [][]float64
	base [4]float64
	one  []float64
	two  [][2]float64
	four [][4]float64
}

// packLines splits lines into blocks of 4, 2 and 1.
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

// counts are the cumulative counts of a tile of resamples.
type counts[T uint8 | uint32] struct {
	cum    []T
	stride int
	gaps   []float64
}

// of returns the counts of one resample.
func (t *counts[T]) of(r int) []T { return t.cum[r*t.stride:][:len(t.gaps)] }

// add adds count draws from the r-th on to the rows of a block.
func (t *counts[T]) add(b *block, r, count int) {
	switch {
	case b.four != nil:
		t.addFour(b, r, count)
	case b.two != nil:
		t.addTwo(b, r, count)
	default:
		t.addOne(b, r, count)
	}
}

// addFour and addTwo take two resamples at a time, addOne four: sums that do not
// wait for one another. Resamples beyond count exist but become no draw.
func (t *counts[T]) addFour(b *block, r, count int) {
	table := b.four
	out0, out1, out2, out3 := b.rows[0][r:][:count], b.rows[1][r:][:count], b.rows[2][r:][:count], b.rows[3][r:][:count]
	for i := 0; i < count; i += 2 {
		s0, s1, s2, s3 := b.base[0], b.base[1], b.base[2], b.base[3]
		t0, t1, t2, t3 := s0, s1, s2, s3
		gaps := t.gaps
		p, q := t.of(i)[:len(gaps)], t.of(i + 1)[:len(gaps)]
		for j, g := range gaps {
			f := &table[p[j]]
			s0 -= f[0] * g
			s1 -= f[1] * g
			s2 -= f[2] * g
			s3 -= f[3] * g
			f = &table[q[j]]
			t0 -= f[0] * g
			t1 -= f[1] * g
			t2 -= f[2] * g
			t3 -= f[3] * g
		}
		out0[i] += s0
		out1[i] += s1
		out2[i] += s2
		out3[i] += s3
		if i+1 < count {
			out0[i+1] += t0
			out1[i+1] += t1
			out2[i+1] += t2
			out3[i+1] += t3
		}
	}
}

func (t *counts[T]) addTwo(b *block, r, count int) {
	table := b.two
	out0, out1 := b.rows[0][r:][:count], b.rows[1][r:][:count]
	for i := 0; i < count; i += 2 {
		s0, s1 := b.base[0], b.base[1]
		t0, t1 := s0, s1
		gaps := t.gaps
		p, q := t.of(i)[:len(gaps)], t.of(i + 1)[:len(gaps)]
		for j, g := range gaps {
			f := &table[p[j]]
			s0 -= f[0] * g
			s1 -= f[1] * g
			f = &table[q[j]]
			t0 -= f[0] * g
			t1 -= f[1] * g
		}
		out0[i] += s0
		out1[i] += s1
		if i+1 < count {
			out0[i+1] += t0
			out1[i+1] += t1
		}
	}
}

func (t *counts[T]) addOne(b *block, r, count int) {
	table := b.one
	out := b.rows[0][r:][:count]
	for i := 0; i < count; i += 4 {
		s0, s1, s2, s3 := b.base[0], b.base[0], b.base[0], b.base[0]
		gaps := t.gaps
		p0, p1 := t.of(i)[:len(gaps)], t.of(i + 1)[:len(gaps)]
		p2, p3 := t.of(i + 2)[:len(gaps)], t.of(i + 3)[:len(gaps)]
		for j, g := range gaps {
			s0 -= table[p0[j]] * g
			s1 -= table[p1[j]] * g
			s2 -= table[p2[j]] * g
			s3 -= table[p3[j]] * g
		}
		for x, s := range [4]float64{s0, s1, s2, s3} {
			if i+x < count {
				out[i+x] += s
			}
		}
	}
}
