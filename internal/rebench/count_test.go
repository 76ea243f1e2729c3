package rebench

import "testing"

func TestCount(t *testing.T) {
	for _, tc := range []struct {
		n          int
		noun, want string
	}{{0, "attempt", "0 attempts"}, {1, "attempt", "1 attempt"}, {2, "attempt", "2 attempts"}, {1, "entry", "1 entry"}, {3, "entry", "3 entries"}} {
		if got := Count(tc.n, tc.noun); got != tc.want {
			t.Errorf("%d %s: %q, want %q", tc.n, tc.noun, got, tc.want)
		}
	}
}
