package stats

import (
	"fmt"
	"math"
)

// Rank is the place of one suite score among those compared.
type Rank struct {
	// Ranked is false for a score without an interval (a cell with one attempt):
	// its spread is unknown, so it takes no part and the other fields are zero.
	Ranked bool
	// Low is 1 + the number of scores significantly above; it is also the label of
	// the tie group. High is m - the number significantly below. 1 <= Low <= High <= m.
	Low, High int
	// PFirst is the share of draws that the score wins, ties split evenly.
	PFirst float64
}

// Ranking is the result of Ranks.
type Ranking struct {
	// Ranks has one element per score, in the order given.
	Ranks []Rank
	// Compared is m, the number of scores that were ranked.
	Compared int
	// Critical is c: two scores are separated when |D| > c*sd(D*). It is the 95th
	// percentile over draws of the largest standardised deviation of any pair, so
	// it holds for all pairs at once.
	Critical float64

	apart map[[2]int]bool
}

// Separated reports whether the scores at positions i and j are separated.
func (r Ranking) Separated(i, j int) bool { return r.apart[[2]int{min(i, j), max(i, j)}] }

// Ranks ranks suite scores over the same environments and total time by all
// pairwise differences at once, so that the chance of separating any of several
// equal agents stays near 5%, where pairwise intervals separate some pair among
// ten equal agents in most samples. D is a difference of points, D* of draws and
// sd the standard deviation of D*; pairs with sd = 0 do not enter c.
//
// It returns ErrShape when the numbers of draws differ or are 0.
func Ranks(scores []SuiteScore) (Ranking, error) {
	out := Ranking{Ranks: make([]Rank, len(scores)), apart: map[[2]int]bool{}}
	var in []int
	for i, s := range scores {
		if len(s.Draws) != len(scores[0].Draws) || len(s.Draws) == 0 {
			return Ranking{}, fmt.Errorf("ranks: %w: score %d has %d draws, the first has %d", ErrShape, i, len(s.Draws), len(scores[0].Draws))
		}
		if s.Interval.Low != nil {
			in = append(in, i)
		}
	}
	out.Compared = len(in)
	if len(in) == 0 || len(in) == 1 && len(scores) > 1 {
		return out, nil // nothing to compare with
	}
	largest := make([]float64, len(scores[0].Draws))
	sd := map[[2]int]float64{}
	for x, i := range in {
		for _, j := range in[x+1:] {
			sd[[2]int{i, j}] = raiseToDeviation(largest, scores[i], scores[j])
		}
	}
	out.Critical = Quantile(largest, Level)
	for _, i := range in {
		out.Ranks[i] = Rank{Ranked: true, Low: 1, High: len(in)}
	}
	for pair, s := range sd {
		i, j := pair[0], pair[1]
		d := scores[i].Point - scores[j].Point
		if !(math.Abs(d) > out.Critical*s) {
			continue
		}
		out.apart[pair] = true
		if d < 0 {
			i, j = j, i
		}
		out.Ranks[i].High--
		out.Ranks[j].Low++
	}
	for i, p := range firstShares(scores, in) {
		out.Ranks[in[i]].PFirst = p
	}
	return out, nil
}

// raiseToDeviation returns the standard deviation of the draws of a - b and
// raises largest, draw by draw, to |D* - D|/sd where that is more.
func raiseToDeviation(largest []float64, a, b SuiteScore) float64 {
	// Sums are taken around the first draw, so a constant difference has sd = 0.
	base := a.Draws[0] - b.Draws[0]
	var sum, squares float64
	for i, x := range a.Draws {
		d := x - b.Draws[i] - base
		sum += d
		squares += d * d
	}
	n := float64(len(a.Draws))
	variance := (squares - sum*sum/n) / max(n-1, 1)
	if !(variance > 0) {
		return 0
	}
	sd := math.Sqrt(variance)
	point, scale := a.Point-b.Point, 1/sd
	for i, x := range a.Draws {
		if z := math.Abs(x-b.Draws[i]-point) * scale; z > largest[i] {
			largest[i] = z
		}
	}
	return sd
}

// firstShares returns for every index in in the share of draws in which its
// score is the highest; scores that tie share a draw.
func firstShares(scores []SuiteScore, in []int) []float64 {
	shares := make([]float64, len(in))
	draws := len(scores[in[0]].Draws)
	winners := make([]int, 0, len(in))
	for r := range draws {
		best := math.Inf(-1)
		for x, i := range in {
			switch v := scores[i].Draws[r]; {
			case v > best:
				best, winners = v, append(winners[:0], x)
			case v == best:
				winners = append(winners, x)
			}
		}
		for _, x := range winners {
			shares[x] += 1 / float64(len(winners))
		}
	}
	for x := range shares {
		shares[x] /= float64(draws)
	}
	return shares
}
