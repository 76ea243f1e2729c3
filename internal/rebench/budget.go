package rebench

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Budgets are the total times that pages offer for a profile, doubling at every
// step: 30 min to 64 h, and 10 min to 5 h 20 min where attempts take minutes.
func Budgets(p Profile) []time.Duration {
	from, to := 30*time.Minute, 64*time.Hour
	if quick(p) {
		from, to = 10*time.Minute, 320*time.Minute
	}
	var out []time.Duration
	for t := from; t <= to; t *= 2 {
		out = append(out, t)
	}
	return out
}

// DefaultBudget is the total time of a profile's default leaderboard: 8 h in the
// paper's, elsewhere four attempts of the default length.
func DefaultBudget(p Profile) time.Duration {
	switch {
	case quick(p):
		return 40 * time.Minute
	case p == ProfileGPU:
		return 2 * time.Hour
	}
	return 8 * time.Hour
}

// quick says whether the default time limit of the profile is minutes.
func quick(p Profile) bool { return p == ProfileCPU || p == ProfileTest }

// FormatBudget writes a duration of whole seconds as in page URLs: 30m, 8h, 90s.
func FormatBudget(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	default:
		return fmt.Sprintf("%ds", d/time.Second)
	}
}

// ParseBudget reads a budget as pages and the API write it: 30m, 8h, 90s, or a
// whole number of seconds. The range is 1 s to 10,000 h.
func ParseBudget(s string) (time.Duration, error) {
	unit := time.Second
	digits := s
	if n := len(s); n > 0 {
		switch s[n-1] {
		case 'h':
			unit, digits = time.Hour, s[:n-1]
		case 'm':
			unit, digits = time.Minute, s[:n-1]
		case 's':
			digits = s[:n-1]
		}
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n == 0 || strings.HasPrefix(digits, "+") || time.Duration(n) > 10_000*time.Hour/unit {
		return 0, Errorf(CodeInvalid, "budget %q is not a time between 1 s and 10000 h such as 30m, 8h or 28800", s)
	}
	return time.Duration(n) * unit, nil
}

// Allocation spends a total time budget on K attempts of TimeLimit each.
type Allocation struct {
	TimeLimit time.Duration
	K         int
}

// Total is the total time K * TimeLimit.
func (a Allocation) Total() time.Duration { return time.Duration(a.K) * a.TimeLimit }

// AllocationOf returns the allocation that spends total on attempts of the given
// limit. ok is false when the limit does not divide the total.
func AllocationOf(total, limit time.Duration) (a Allocation, ok bool) {
	if limit <= 0 || total < limit || total%limit != 0 {
		return Allocation{}, false
	}
	return Allocation{TimeLimit: limit, K: int(total / limit)}, true
}
