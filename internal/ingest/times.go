package ingest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones must be known on machines without zoneinfo
)

// stamp is a time as a file gives it. A naive one has no zone: its clock reading
// is held as if it were UTC.
type stamp struct {
	t     time.Time
	naive bool
}

// parseStamp reads ISO 8601 as Python and JavaScript write it, with or without
// fraction and zone.
func parseStamp(s string) (stamp, bool) {
	if len(s) < len("2006-01-02T15:04:05") || len(s) > 40 {
		return stamp{}, false
	}
	if s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return stamp{t: t.UTC()}, sane(t)
		}
	}
	t, err := time.Parse("2006-01-02T15:04:05.999999999", s)
	return stamp{t, true}, err == nil && sane(t)
}

// sane keeps times within what the log's four-digit years can say.
func sane(t time.Time) bool {
	y := t.UTC().Year()
	return y >= 1 && y <= 9999
}

// epochMillis reads a number of milliseconds since 1970.
func epochMillis(ms float64) (time.Time, bool) {
	if math.IsNaN(ms) || math.Abs(ms) > 2.5e14 {
		return time.Time{}, false
	}
	t := time.UnixMilli(int64(math.Round(ms))).UTC()
	return t, sane(t)
}

// zone places naive times. The zero zone is not given; known is false for a zone
// that the uploader says is unknown.
type zone struct {
	given, known bool
	loc          *time.Location
}

var offsetPattern = regexp.MustCompile(`^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$`)

// parseZone reads an IANA name, a UTC offset, or "unknown".
func parseZone(s string) (zone, error) {
	switch {
	case s == "":
		return zone{}, nil
	case s == "unknown":
		return zone{given: true}, nil
	case s == "Z" || s == "UTC" || s == "GMT":
		return zone{true, true, time.UTC}, nil
	}
	if m := offsetPattern.FindStringSubmatch(s); m != nil {
		h, _ := strconv.Atoi(m[2])
		min := 0
		if m[3] != "" {
			min, _ = strconv.Atoi(m[3])
		}
		if h <= 14 && min < 60 {
			sec := h*3600 + min*60
			if m[1] == "-" {
				sec = -sec
			}
			return zone{true, true, time.FixedZone(s, sec)}, nil
		}
	} else if strings.Contains(s, "/") && len(s) < 64 {
		if loc, err := time.LoadLocation(s); err == nil {
			return zone{true, true, loc}, nil
		}
	}
	return zone{}, fmt.Errorf("found %s, expected a zone such as America/Los_Angeles, UTC, +02:00 or unknown", quote(s))
}

// place turns a naive clock reading into the instants it can mean: none where
// clocks were put forward over it, two where they were put back.
func (z zone) place(t time.Time) []time.Time {
	seen := map[int64]bool{}
	var out []time.Time
	for _, probe := range []time.Duration{-26 * time.Hour, 0, 26 * time.Hour} {
		_, off := t.Add(probe).In(z.loc).Zone()
		u := t.Add(-time.Duration(off) * time.Second)
		if _, back := u.In(z.loc).Zone(); back == off && !seen[u.Unix()] {
			seen[u.Unix()] = true
			out = append(out, u.UTC())
		}
	}
	if len(out) == 2 && out[1].Before(out[0]) {
		out[0], out[1] = out[1], out[0]
	}
	return out
}

// seconds rounds to the microsecond, so that differences of times print short.
func seconds(d time.Duration) float64 {
	return math.Round(d.Seconds()*1e6) / 1e6
}

// span writes seconds for people: long ones in days, hours and minutes too.
func span(s float64) string {
	exact := strconv.FormatFloat(math.Round(s*1000)/1000, 'f', -1, 64) + " s"
	whole := int64(min(math.Abs(s), 1e15))
	sign := ""
	if s < 0 {
		sign = "-"
	}
	switch d, h, m := whole/86_400, whole/3600%24, whole/60%60; {
	case whole < 600:
		return exact
	case d > 0:
		return fmt.Sprintf("%s (%s%d d %d h)", exact, sign, d, h)
	case h > 0:
		return fmt.Sprintf("%s (%s%d h %d min)", exact, sign, h, m)
	default:
		return fmt.Sprintf("%s (%s%d min)", exact, sign, m)
	}
}
