package stats

import "testing"

func TestHumanBandOfConstantScoresIsThatScore(t *testing.T) {
	c, err := NewCell("h", []float64{0.5, 0.5, 0.5}, false)
	if err != nil {
		t.Fatal(err)
	}
	low, high := PercentileBand(ResampleHumans([]*Cell{c}, 50), Level)
	for p := range low {
		if low[p] != 0.5 || high[p] != 0.5 {
			t.Fatalf("p = %d: band [%v, %v], want [0.5, 0.5]", p+1, low[p], high[p])
		}
	}
}

// Of two attempts {0, 1} a resample is {0,0}, {0,1} or {1,1} with probability
// 1/4, 1/2, 1/4, so its median is 0, 0.5 or 1 and the matched percentile of a
// score of 0.5 is 100 (all below), 50 or 0.
func TestMatchedIntervalFollowsTheExactDistribution(t *testing.T) {
	c, err := NewCell("h", []float64{0, 1}, false)
	if err != nil {
		t.Fatal(err)
	}
	const b = 20_000
	replicates := ResampleHumans([]*Cell{c}, b)
	count := map[Percentile]int{}
	for _, h := range replicates {
		count[MatchedPercentile(h, 0.5)]++
	}
	for p, want := range map[Percentile]float64{101: 0.25, 50: 0.5, 0: 0.25} {
		if got := float64(count[p]) / b; got < want-0.015 || got > want+0.015 {
			t.Errorf("share of matched percentile %v is %v, want about %v", p, got, want)
		}
	}
	draws := make([]float64, b)
	for i := range draws {
		draws[i] = 0.5
	}
	if low, high := MatchedInterval(replicates, draws); low != 0 || high != 101 {
		t.Errorf("interval [%v, %v], want [<1, >100]", low, high)
	}
}
