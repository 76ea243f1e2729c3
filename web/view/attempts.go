package view

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func (d AttemptsData) title() string {
	f := d.List.Filter
	title := "Attempts"
	if f.Agent != "" {
		title += " of " + agentName(f.Agent)
	}
	if f.Environment != "" {
		title += " in " + environmentTitle(f.Environment)
	}
	return title
}

// shownWords says how many of the attempts are on this page.
func (d AttemptsData) shownWords() string {
	if len(d.List.Attempts) == d.List.Total {
		return ""
	}
	return fmt.Sprintf("; %s on this page", grouped(len(d.List.Attempts)))
}

// filterState says how many filters restrict the list.
func filterState(p Page) string {
	n := 0
	for key := range p.Query {
		if key != "sort" && key != "page_token" && key != "asof" {
			n++
		}
	}
	if n == 0 {
		return "none set"
	}
	return fmt.Sprintf("%d set", n)
}

func nextPage(p Page, token string) string {
	q := Canonical(p.Path, p.Query)
	q.Set("page_token", token)
	return address(p.Path, q)
}

func agentOptions(labels []string) []option {
	out := []option{{"", "any"}}
	for _, l := range labels {
		out = append(out, option{l, agentName(l)})
	}
	return out
}

func limitOptions(limits []int64) []option {
	out := []option{{"", "any"}}
	for _, s := range limits {
		out = append(out, option{budget(s), span(s)})
	}
	return out
}

func attemptsScale(rows []analysis.AttemptRow) scale {
	var values []float64
	for _, a := range rows {
		values = append(values, orZero(a.Score))
	}
	return scoreScale(values)
}

func durationWords(a analysis.AttemptRow) string {
	if a.DurationS <= 0 {
		return "–"
	}
	switch {
	case a.DurationS >= 3600:
		return hours(a.DurationS)
	case a.DurationS < 60:
		return span(a.DurationS)
	}
	return span(a.DurationS - a.DurationS%60)
}

// word is a piece of text that may be a warning.
type word struct {
	text string
	warn bool
}

// exportLink leads to the logs of the attempts that a list shows.
func exportLink(p Page, suffix string) string {
	q := maps.Clone(p.Query)
	if q == nil {
		q = url.Values{}
	}
	for _, key := range []string{"sort", "page_token"} {
		q.Del(key)
	}
	q.Set("profile", p.Value("profile"))
	return "/api/v1/attempts." + suffix + "?" + encode(q)
}

// stateWords says what a reader must know of an attempt before using its score.
func stateWords(a analysis.AttemptRow) []word {
	var out []word
	if a.Excluded {
		out = append(out, word{"invalid or retracted", true})
	}
	if a.Suspected {
		out = append(out, word{"suspected hack", true})
	}
	if a.Unranked != "" {
		out = append(out, word{"not ranked: " + a.Unranked, true})
	}
	if w := overLimit(a); w != "" {
		out = append(out, word{w, false})
	}
	if a.Kind == rebench.KindHuman && a.Cohort == rebench.CohortPaper71 {
		out = append(out, word{"in the 71", false})
	}
	if a.HasLog {
		out = append(out, word{"score log", false})
	}
	return out
}

// overLimit explains a duration well beyond the time limit.
func overLimit(a analysis.AttemptRow) string {
	if a.TimeLimitS <= 0 || a.DurationS <= a.TimeLimitS+a.TimeLimitS/20 {
		return ""
	}
	if a.Kind == rebench.KindHuman {
		return "longer than the limit: recorded as it is, never used to discard a score"
	}
	return "longer than the limit: a duration may hold pauses and waits, which the limit does not count"
}

func errorTitle(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "That address asks for something that does not exist"
	case http.StatusNotFound:
		return "There is nothing here"
	case http.StatusInternalServerError:
		return "The server failed"
	}
	if t := http.StatusText(status); t != "" {
		return t
	}
	return "Something went wrong"
}

// sortedKeys returns a map's keys in alphabetical order.
func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
