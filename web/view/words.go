package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/stats"
	"rebench/web/chart"
)

// minus is the sign that aligns with plus and digits.
const minus = "−"

// number prints x with the given decimals and a true minus sign; a value that
// rounds to zero has no sign.
func number(x float64, decimals int) string {
	s := strconv.FormatFloat(math.Abs(x), 'f', decimals, 64)
	if x < 0 && strings.Trim(s, "0.") != "" {
		return minus + s
	}
	return s
}

// score prints a normalized score.
func score(x float64) string { return chart.Score(x) }

// signed prints a difference.
func signed(x float64, decimals int) string {
	s := number(x, decimals)
	if x > 0 && strings.Trim(s, "0.") != "" {
		return "+" + s
	}
	return s
}

// optional prints x, or a dash where it is unknown.
func optional(x *float64, decimals int) string {
	if x == nil {
		return "–"
	}
	return number(*x, decimals)
}

// interval prints the 95% interval of a score with the decimals that let it hold the
// printed score; an end that is not known is open.
func interval(x float64, low, high *float64) string {
	if low == nil && high == nil {
		return "no interval"
	}
	return chart.Interval(x, low, high)
}

// signedInterval prints the interval of a difference.
func signedInterval(difference float64, low, high *float64) string {
	d := stats.IntervalDecimals(difference, chart.ScoreDecimals, low, high)
	end := func(x *float64) string {
		if x == nil {
			return "open"
		}
		return signed(*x, d)
	}
	if low == nil && high == nil {
		return "no interval"
	}
	return "[" + end(low) + ", " + end(high) + "]"
}

// support prints bootstrap support, which is never 0 or 1.
func support(p float64) string {
	switch {
	case p < 0.001:
		return "<0.001"
	case p > 0.999:
		return ">0.999"
	case p < 0.0095 || p > 0.9905:
		return number(p, 3)
	}
	return number(p, 2)
}

// supportOf prints the bootstrap support for the first of two being ahead. Where
// resampling shows no spread, as with one attempt, there is none.
func supportOf(d analysis.Difference) string {
	if d.CILow == nil && d.CIHigh == nil {
		return "unknown"
	}
	return support(d.PAGreater)
}

// share prints a part of a whole as a percentage.
func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return number(100*float64(part)/float64(whole), 0) + "%"
}

// span prints a time in seconds as a reader says it: 30 min, 2 h, 4 h 12 min, 90 s.
func span(seconds int64) string {
	h, m, s := seconds/3600, seconds%3600/60, seconds%60
	var parts []string
	if h > 0 {
		parts = append(parts, fmt.Sprintf("%d h", h))
	}
	if m > 0 {
		parts = append(parts, fmt.Sprintf("%d min", m))
	}
	if s > 0 && h == 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%d s", s))
	}
	return strings.Join(parts, " ")
}

// spanOr prints a time, or a dash where it is unknown (0).
func spanOr(seconds int64) string {
	if seconds <= 0 {
		return "–"
	}
	return span(seconds)
}

// hours prints a time in hours with one decimal.
func hours(seconds int64) string { return number(float64(seconds)/3600, 1) + " h" }

// clock prints a moment of an attempt: 1:30:00, 0:05:12.
func clock(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s%3600/60, s%60)
}

// budget writes seconds as in page addresses: 30m, 8h.
func budget(seconds int64) string { return rebench.FormatBudget(time.Duration(seconds) * time.Second) }

// budgetTick is the short label of a budget on a scale: 8 h, 80 min, 90 s.
func budgetTick(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// totalTime names a budget in a sentence: 8 hours, 30 minutes.
func totalTime(seconds int64) string {
	plural := func(n int64, unit string) string {
		if n == 1 {
			return "1 " + unit
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	switch {
	case seconds%3600 == 0:
		return plural(seconds/3600, "hour")
	case seconds%60 == 0:
		return plural(seconds/60, "minute")
	}
	return plural(seconds, "second")
}

var smallNumbers = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// count writes small numbers as words.
func count(n int) string {
	if n >= 0 && n < len(smallNumbers) {
		return smallNumbers[n]
	}
	return strconv.Itoa(n)
}

// things writes a number with its noun.
func things(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// grouped writes a whole number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// capitalised starts a sentence.
func capitalised(s string) string {
	if s == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// limitAdjective describes an attempt by its time limit: half-hour, two-hour.
func limitAdjective(seconds int64) string {
	switch {
	case seconds == 1800:
		return "half-hour"
	case seconds%3600 == 0:
		return count(int(seconds/3600)) + "-hour"
	case seconds%60 == 0:
		return fmt.Sprintf("%d-minute", seconds/60)
	}
	return fmt.Sprintf("%d-second", seconds)
}

// allocationWords says how a total time is spent: best of 4 two-hour attempts.
func allocationWords(k int, limitS int64) string {
	if k == 1 {
		return "one " + limitAdjective(limitS) + " attempt"
	}
	return fmt.Sprintf("best of %d %s attempts", k, limitAdjective(limitS))
}

// allocationFormal is the same in the paper's notation.
func allocationFormal(k int, limitS int64) string {
	return fmt.Sprintf("score@%d of %s attempts (%d × %s)", k, span(limitS), k, span(limitS))
}

// ordinal writes 1st, 2nd, 3rd, 4th.
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// percentile prints a matched human percentile: 0 is below the 1st, 101 above the 100th.
func percentile(p stats.Percentile) string {
	n := int(p)
	switch {
	case n < 1:
		return "<1st"
	case n > 100:
		return ">100th"
	}
	return ordinal(n)
}

// rankLabel is the tie label of a row: 1, or 2–4.
func rankLabel(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d–%d", low, high)
}

// list joins names as a sentence does: a, b and c.
func list(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// environmentTitle returns an environment's title, its id where it is not one of the seven.
func environmentTitle(id rebench.EnvironmentID) string {
	if e, ok := rebench.EnvironmentByID(id); ok {
		return e.Title
	}
	return string(id)
}

// environmentShort returns an environment's title for a table head.
func environmentShort(id rebench.EnvironmentID) string {
	if e, ok := rebench.EnvironmentByID(id); ok {
		return e.ShortTitle
	}
	return string(id)
}

func environmentTitles(ids []rebench.EnvironmentID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = environmentTitle(id)
	}
	return list(names)
}

// suite names the environments that a mean is taken over.
func suite(ids []rebench.EnvironmentID) string {
	if len(ids) == 1 {
		return environmentTitle(ids[0])
	}
	return count(len(ids)) + " environments"
}

// agentName is an agent's label as pages print it.
func agentName(label string) string {
	if label == rebench.HumanName {
		return "Human experts"
	}
	return label
}

// day prints a date.
func day(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// moment prints a time in UTC.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// bytesWords prints a size.
func bytesWords(n int) string {
	switch {
	case n >= 1<<20:
		return number(float64(n)/(1<<20), 1) + " MiB"
	case n >= 1<<10:
		return number(float64(n)/(1<<10), 1) + " KiB"
	}
	return fmt.Sprintf("%d B", n)
}

// shortHash is the beginning of a hash.
func shortHash(h string) string {
	if len(h) > 12 {
		return h[:12]
	}
	return h
}
