package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func (d AttemptData) title() string {
	return fmt.Sprintf("%s in %s", agentName(d.Detail.Label), environmentTitle(d.Detail.Attempt.Environment))
}

// statements are what can be stated next: a flag that is not set, or the lifting of
// one that is.
func (d AttemptData) statements() []option {
	var out []option
	for _, k := range []rebench.FlagKind{rebench.FlagSuspected, rebench.FlagInvalid, rebench.FlagRetracted} {
		if d.flagReason(k) == "" {
			out = append(out, option{"set:" + string(k), flagWords[k]})
		} else {
			out = append(out, option{"lift:" + string(k), "lift: " + flagWords[k]})
		}
	}
	return append(out, option{"set:" + string(rebench.FlagAudited), flagWords[rebench.FlagAudited]})
}

var flagWords = map[rebench.FlagKind]string{
	rebench.FlagSuspected: "suspected reward hack: out of rankings unless the reader counts it",
	rebench.FlagInvalid:   "invalid: out of every ranking",
	rebench.FlagRetracted: "retracted: out of every ranking",
	rebench.FlagAudited:   "audited: a person looked, the reason says what was found",
}

// kept are the revisions that do not rank.
func (d AttemptData) kept() []rebench.Revision {
	return slices.DeleteFunc(slices.Clone(d.Detail.Attempt.Revisions), func(r rebench.Revision) bool { return r.Current })
}

func (d AttemptData) lede() string {
	a := d.Detail.Attempt
	words := "No final score."
	if a.FinalKnown {
		words = fmt.Sprintf("Final score %s", score(a.Final))
		if a.FinalRaw != nil {
			words += fmt.Sprintf(" (raw %s)", number(*a.FinalRaw, 4))
		}
		words += "."
	}
	if a.TimeLimit > 0 {
		words += " " + capitalised(limitAdjective(int64(a.TimeLimit.Seconds()))) + " attempt."
	}
	return words
}

// warnings are what must be said before the score is used.
func (d AttemptData) warnings() []string {
	a := d.Detail.Attempt
	var out []string
	if f := d.quarantined(); f != nil {
		out = append(out, "In quarantine until a person decides: left out of rankings unless the reader counts it. "+f.Reason+" ("+f.Author+")")
	} else if a.Suspected {
		out = append(out, "Suspected reward hack: left out of rankings unless the reader counts it. "+d.flagReason(rebench.FlagSuspected))
	}
	if a.Excluded {
		kind := rebench.FlagInvalid
		if d.flagReason(kind) == "" {
			kind = rebench.FlagRetracted
		}
		out = append(out, capitalised(string(kind))+": left out of every ranking. "+d.flagReason(kind))
	}
	if a.Unranked != "" {
		out = append(out, "Not ranked: "+a.Unranked+".")
	}
	return out
}

// flagReason is the reason of the latest statement of the kind, "" when it does not stand.
func (d AttemptData) flagReason(kind rebench.FlagKind) string {
	flags := d.Detail.Attempt.Flags
	for i := len(flags) - 1; i >= 0; i-- {
		if flags[i].Kind == kind {
			if !flags[i].Set {
				return ""
			}
			return flags[i].Reason
		}
	}
	return ""
}

// timed reports whether any entry's time is known: only then there is a course.
func (d AttemptData) timed() bool {
	for _, e := range d.Detail.Attempt.Entries {
		if e.Elapsed != nil {
			return true
		}
	}
	return false
}

func (d AttemptData) rescored() bool {
	for _, e := range d.Detail.Attempt.Entries {
		if e.Rescored != nil {
			return true
		}
	}
	return false
}

// entry is a score entry as its row shows it.
type entry struct {
	rebench.ScoreEntry
	t      string // elapsed seconds as in the address, "" when unknown
	anchor string // id of the row
	counts bool   // the entry that gives the final score
	late   bool   // scoring began after the time limit
}

func (d AttemptData) entries() []entry {
	a := d.Detail.Attempt
	env, _ := rebench.EnvironmentByID(a.Environment)
	out := make([]entry, len(a.Entries))
	taken := map[string]bool{}
	final := -1
	for i, e := range a.Entries {
		x := entry{ScoreEntry: e, anchor: "entry-" + strconv.Itoa(e.Seq)}
		if e.Elapsed != nil {
			x.t = strconv.FormatFloat(e.Elapsed.Seconds(), 'f', -1, 64)
			if !taken[x.t] {
				x.anchor, taken[x.t] = "t="+x.t, true
			}
			x.late = a.TimeLimit > 0 && *e.Elapsed > a.TimeLimit
		}
		out[i] = x
		if e.Valid && !x.late && e.Normalized != nil &&
			(final < 0 || env.Selection == rebench.SelectLast || *e.Normalized > *out[final].Normalized) {
			final = i
		}
	}
	if final >= 0 {
		out[final].counts = true
	}
	return out
}

func (d AttemptData) scale() scale { return scoreScale([]float64{d.Detail.Attempt.Final}) }

func (d AttemptData) facts() string {
	return fmt.Sprintf("%s; data revision %d%s.", d.Detail.Attempt.ID, d.Detail.Revision.ID, dated(d.Detail.Revision.At))
}

// peersLink leads to the attempts of the same cell.
func (d AttemptData) peersLink() string {
	a := d.Detail.Attempt
	v := analysis.View{Profile: a.Profile, Cohort: string(rebench.CohortAll), Flagged: "exclude"}
	p := Page{Query: url.Values{"scorer": {a.ScorerVersion}, "hardware": {"all"}}}
	if a.Profile == rebench.ProfilePaper && a.ScorerVersion == rebench.ScorerMETRPublished {
		p = Page{}
	}
	return attemptsLink(p, v, d.Detail.Label, a.Environment, int64(a.TimeLimit.Seconds()))
}

func pauseWords(x analysis.Pause) string {
	at := clock(time.Duration(x.AtS * float64(time.Second)))
	if x.Length == 0 {
		return "at " + at + ", length unknown" + reasonWords(x.Reason)
	}
	return "at " + at + " for " + lasted(x.Length) + reasonWords(x.Reason)
}

// reasonWords appends a reason, if there is one.
func reasonWords(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + strings.ReplaceAll(reason, "_", " ")
}

func clockWords(c rebench.Clock) string {
	switch c {
	case rebench.ClockActive:
		return "active: pauses excluded"
	case rebench.ClockWorking:
		return "working time"
	case rebench.ClockWall:
		return "wall time: pauses included"
	}
	return "unknown: wall time between start and end, or as reported"
}

func endWords(reason string) string {
	switch reason {
	case "":
		return "none logged: still open, or cut off"
	case "unknown":
		return "reason unknown"
	}
	return strings.ReplaceAll(reason, "_", " ")
}

func memberWords(c rebench.Cohort) string {
	if c == rebench.CohortPaper71 {
		return "in our reconstruction of the paper's 71"
	}
	return "not among the paper's 71, as we reconstruct them"
}

func orElse(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

func currentIf(is bool) string {
	if is {
		return "true"
	}
	return "false"
}

func sourceWords(file string, line int) string {
	if line > 0 {
		return fmt.Sprintf("%s, line %d", orUnknown(file), line)
	}
	return orUnknown(file)
}

// lasted prints how long something took; 0 is unknown.
func lasted(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Second:
		return "less than 1 s"
	}
	return span(int64(d.Seconds()))
}

// standing says whether a revision is the current one, and whether and why not it ranks.
func standing(a *rebench.Attempt, r rebench.Revision) (state, why string) {
	if !r.Current {
		return "kept", ""
	}
	switch {
	case a.Excluded:
		return "current", "does not rank: invalid or retracted"
	case a.Suspected:
		return "current", "does not rank unless suspected attempts are counted"
	case a.Unranked != "":
		return "current", "does not rank: " + a.Unranked
	case a.Profile == rebench.ProfileTest:
		return "current", "does not rank: the profile test is in no ranking"
	case !a.Ranked || !a.FinalKnown:
		return "current", "does not rank"
	case a.TimeLimit <= 0:
		return "current", "does not rank: its time limit is unknown"
	}
	return "current", "ranks"
}

// hardwareFacts reads the machine that a log describes as JSON; what is not an object
// comes back as text.
func hardwareFacts(raw string) (facts []keyValue, text string) {
	var m map[string]any
	if json.Unmarshal([]byte(raw), &m) != nil {
		return nil, raw
	}
	for key, v := range m {
		value := strings.TrimSpace(plainValue(v))
		if value != "" {
			facts = append(facts, keyValue{strings.ReplaceAll(key, "_", " "), value})
		}
	}
	slices.SortFunc(facts, func(a, b keyValue) int { return strings.Compare(a.key, b.key) })
	return facts, ""
}

// plainValue writes a JSON value without its punctuation.
func plainValue(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case []any:
		var parts []string
		for _, e := range x {
			parts = append(parts, plainValue(e))
		}
		return strings.Join(parts, "; ")
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if value := plainValue(x[k]); value != "" {
				parts = append(parts, strings.ReplaceAll(k, "_", " ")+" "+value)
			}
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}

// shownMessage is how much of an entry's message the table shows, in bytes.
const shownMessage = 400

// shortMessage cuts a message; cut reports whether anything is left out.
func shortMessage(m string) (short string, cut bool) {
	if len(m) <= shownMessage {
		return m, false
	}
	end := shownMessage
	for end > 0 && !utf8.RuneStart(m[end]) {
		end--
	}
	return m[:end] + "…", true
}
