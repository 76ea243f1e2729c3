package stats

import (
	"encoding/binary"
	"math"
)

const (
	// packedWords is how many words of eight counts packedResampler can keep.
	packedWords = 5
	// tupleRows and multisetRows bound the tables of packedResampler.
	tupleRows    = 1 << 11
	multisetRows = 1 << 9
)

// packed is a set of counts, one in each byte.
type packed [packedWords]uint64

// packedResampler serves small cells: fewer than 256 scores, few of them distinct.
// It keeps the cumulative counts, a byte each, in some registers, and draws
// several scores at once with a table of the bytes that they raise together.
// There are two kinds of such tables: of tuples of scores, all equally likely,
// and, where there are few distinct scores, of multisets of them with their
// probabilities. Every resample takes the same number of steps, which a processor
// can predict.
type packedResampler struct {
	rng   generator
	words int         // words per row and resample: 1, 2, 3 or 5
	main  packedTable // drawn len(index)/tile times for each resample
	rest  packedTable // drawn once, when the main table's width does not divide n
	index []uint32
	last  []uint32
}

// packedTable holds the counts raised by width scores drawn together.
type packedTable struct {
	width int
	tuple batch      // draws a row when all are equally likely,
	alias aliasTable // else this does
	// The rows, by number of words. Fixed lengths keep the inner loops short.
	one   []uint64
	two   [][2]uint64
	three [][3]uint64
	five  [][5]uint64
}

// setRows stores row i from flat[i*words:][:words].
func (t *packedTable) setRows(flat []uint64, words int) {
	switch n := len(flat) / words; words {
	case 1:
		t.one = flat
	case 2:
		t.two = make([][2]uint64, n)
		for i := range t.two {
			t.two[i] = [2]uint64(flat[2*i:])
		}
	case 3:
		t.three = make([][3]uint64, n)
		for i := range t.three {
			t.three[i] = [3]uint64(flat[3*i:])
		}
	default:
		t.five = make([][5]uint64, n)
		for i := range t.five {
			t.five[i] = [5]uint64(flat[5*i:])
		}
	}
}

// newPackedResampler returns nil for a cell that is too large.
func newPackedResampler(c *Cell) *packedResampler {
	n, gaps := len(c.sorted), len(c.value)-1
	words := ceilDiv(gaps, 8)
	if n > math.MaxUint8 || words > packedWords {
		return nil
	}
	if words == 4 {
		words = 5
	}
	s := &packedResampler{rng: c.stream("resample"), words: words, last: make([]uint32, tile)}
	raised := make([]packed, len(c.value))
	for group := range raised {
		for j := group; j < gaps; j++ {
			raised[group][j/8] |= 1 << (j % 8 * 8)
		}
	}
	tuple, multiset := tupleWidth(n), multisetWidth(n, len(raised))
	width, build := tuple, c.tupleTable
	// A multiset costs about twice as much to draw as a tuple.
	if 2*ceilDiv(n, multiset) <= ceilDiv(n, tuple) {
		width, build = multiset, c.multisetTable
	}
	s.main = build(raised, width, words)
	s.index = make([]uint32, tile*(n/width))
	if n%width > 0 {
		s.rest = build(raised, n%width, words)
	} else {
		s.rest.setRows(make([]uint64, words), words)
	}
	return s
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// tupleWidth returns the largest width <= n with n^width <= tupleRows, at least 1.
func tupleWidth(n int) int {
	width := 1
	for rows := n * n; width < n && rows <= tupleRows; rows *= n {
		width++
	}
	return width
}

// multisetWidth returns the largest width <= n, at least 1, for which there are at
// most multisetRows multisets of that size: C(width+groups-1, width).
func multisetWidth(n, groups int) int {
	width, rows := 1, groups
	for width < n {
		rows = rows * (width + groups) / (width + 1)
		if rows > multisetRows {
			break
		}
		width++
	}
	return width
}

// tupleTable lists all n^width tuples of scores.
func (c *Cell) tupleTable(raised []packed, width, words int) packedTable {
	n := len(c.sorted)
	single := make([]uint64, 0, n*words)
	for group, lanes := range raised {
		for range c.multiplicity(group) {
			single = append(single, lanes[:words]...)
		}
	}
	rows := single
	for range width - 1 {
		next := make([]uint64, 0, len(rows)*n)
		for a := 0; a < len(rows); a += words {
			for b := 0; b < len(single); b += words {
				for w := range words {
					next = append(next, rows[a+w]+single[b+w])
				}
			}
		}
		rows = next
	}
	t := packedTable{width: width, tuple: newBatch(uint64(len(rows) / words))}
	t.setRows(rows, words)
	return t
}

// multisetTable lists all multisets of width distinct scores.
func (c *Cell) multisetTable(raised []packed, width, words int) packedTable {
	rows := make([]uint64, 0, multisetRows*words)
	probability := make([]float64, 0, multisetRows)
	// extend adds the multisets that put left more draws on groups from group on;
	// p is left!/width! times the probability so far.
	var extend func(group, left int, lanes packed, p float64)
	extend = func(group, left int, lanes packed, p float64) {
		share := float64(c.multiplicity(group)) / float64(len(c.sorted))
		if group == len(raised)-1 {
			for i := range left {
				p *= share / float64(i+1)
			}
			rows = append(rows, lanes[:words]...) // the highest score raises no lane
			probability = append(probability, p)
			return
		}
		for k := 0; ; k++ {
			extend(group+1, left-k, lanes, p)
			if k == left {
				return
			}
			p *= share / float64(k+1)
			for w := range words {
				lanes[w] += raised[group][w]
			}
		}
	}
	logFactorial, _ := math.Lgamma(float64(width + 1))
	extend(0, width, packed{}, math.Exp(logFactorial))
	t := packedTable{width: width, alias: newAliasTable(probability)}
	t.setRows(rows, words)
	return t
}

func (s *packedResampler) stride() int { return 8 * s.words }

func (s *packedResampler) next(cum []uint8) {
	s.main.pick(&s.rng, s.index)
	if s.rest.width > 0 {
		s.rest.pick(&s.rng, s.last)
	}
	each, stride := len(s.index)/tile, s.stride()
	for r, last := range s.last {
		s.add(cum[r*stride:(r+1)*stride], s.index[r*each:(r+1)*each], last)
	}
}

// pick draws rows.
func (t *packedTable) pick(g *generator, index []uint32) {
	if t.alias.columns == nil {
		t.tuple.fillFours(g, index)
		return
	}
	local := *g
	for i := range index {
		index[i] = t.alias.draw(local.next())
	}
	*g = local
}

// add sets cum to the sum of rows of the main table and one of the rest.
func (s *packedResampler) add(cum []uint8, index []uint32, last uint32) {
	put := binary.LittleEndian.PutUint64
	switch s.words {
	case 1:
		rows, v := s.main.one, s.rest.one[last]
		for _, i := range index {
			v += rows[i]
		}
		put(cum, v)
	case 2:
		rows, v := s.main.two, &s.rest.two[last]
		v0, v1 := v[0], v[1]
		for _, i := range index {
			row := &rows[i]
			v0 += row[0]
			v1 += row[1]
		}
		put(cum, v0)
		put(cum[8:], v1)
	case 3:
		rows, v := s.main.three, &s.rest.three[last]
		v0, v1, v2 := v[0], v[1], v[2]
		for _, i := range index {
			row := &rows[i]
			v0 += row[0]
			v1 += row[1]
			v2 += row[2]
		}
		put(cum, v0)
		put(cum[8:], v1)
		put(cum[16:], v2)
	default:
		rows, v := s.main.five, &s.rest.five[last]
		v0, v1, v2, v3, v4 := v[0], v[1], v[2], v[3], v[4]
		for _, i := range index {
			row := &rows[i]
			v0 += row[0]
			v1 += row[1]
			v2 += row[2]
			v3 += row[3]
			v4 += row[4]
		}
		put(cum, v0)
		put(cum[8:], v1)
		put(cum[16:], v2)
		put(cum[24:], v3)
		put(cum[32:], v4)
	}
}
