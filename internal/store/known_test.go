package store

import (
	"math/rand/v2"
	"testing"
)

func TestHashSet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s hashSet
	want := map[uint64]bool{}
	for range 100_000 {
		h := r.Uint64() >> r.UintN(60) // small ones too, which meet often
		if h == 0 {
			h = 1
		}
		if s.has(h) != want[h] {
			t.Fatalf("has(%d) = %t", h, s.has(h))
		}
		if r.UintN(3) > 0 {
			s.add(h)
			want[h] = true
		}
	}
	if s.n != len(want) {
		t.Errorf("%d, want %d", s.n, len(want))
	}
	for h := range want {
		if !s.has(h) {
			t.Fatalf("%d is lost", h)
		}
	}
	s.add(0)
	if !s.has(0) || !s.has(1) {
		t.Error("0 is lost")
	}
}
