package view

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func TestComparison(t *testing.T) {
	d := render(t, Compare(testPage("/compare", "a=o1-preview&b=Second"), sampleComparison("o1-preview", "they do not cross")))
	d.says(t, "Is o1-preview ahead of Second?", "+0.198 [+0.11, +0.29]", "Yes: o1-preview ahead", "Bootstrap support for o1-preview being ahead: >0.999", "None in range", "they do not cross")
	if diff := cmp.Diff([]string{"Finetune GPT-2 for QA", "", "−0.100 [open, +0.05]", "0.06", "0.200 n 16", "0.300 n 37"}, d.row(t, "Finetune GPT-2 for QA")); diff != "" {
		t.Error(diff)
	}
	if got := d.link(t, "Swap"); got != "/compare?a=Second&b=o1-preview" {
		t.Errorf("swap = %q", got)
	}
	choose := render(t, Compare(testPage("/compare", ""), CompareData{Choices: Choices{Agents: []string{"a", rebench.HumanName, "b"}}}))
	if got := choose.link(t, "b and human experts"); got != "/compare?a=b&b=human" {
		t.Errorf("suggestion = %q", got)
	}
	if got := choose.link(t, "a and b"); got != "/compare?a=a&b=b" {
		t.Errorf("suggestion = %q", got)
	}
	same := sampleComparison("o1", "text")
	same.Comparison.B.Agent = "o1"
	twice := render(t, Compare(testPage("/compare", "a=o1&b=o1"), same))
	twice.says(t, "Both are the same", "First and second are o1: there is nothing to compare")
	twice.silent(t, "Is it real?")
	alone := sampleComparison("o1", "text")
	alone.Comparison.Overall.CILow, alone.Comparison.Overall.CIHigh = nil, nil
	alone.Comparison.Environments[0].NA = 1
	render(t, Compare(testPage("/compare", "a=o1&b=Second"), alone)).says(t, "Unknown: no interval", "A single attempt shows no spread, and there is one only of o1 in "+environmentTitle(alone.Comparison.Environments[0].Environment))
	human := sampleComparison(rebench.HumanName, "text")
	human.Comparison.A.Kind = rebench.KindHuman
	render(t, Compare(testPage("/compare", "a=human&b=Second"), human)).says(t, "Are human experts ahead of Second?")
	for _, c := range []struct {
		low, high *float64
		want      string
	}{{ptr(0.1), nil, "Yes: a ahead"}, {nil, ptr(-0.1), "Yes: b ahead"}, {ptr(-0.1), ptr(0.1), "Not shown by these data"}, {nil, nil, "Unknown: no interval"}, {nil, ptr(0.1), "Not shown by these data"}} {
		got := differenceVerdict(&analysis.Comparison{A: analysis.ComparedAgent{Agent: "a"}, B: analysis.ComparedAgent{Agent: "b"}, Overall: &analysis.Difference{CILow: c.low, CIHigh: c.high}})
		if got != c.want {
			t.Errorf("verdict = %q, want %q", got, c.want)
		}
	}
}

func TestEnvironmentFacts(t *testing.T) {
	d := render(t, Environment(testPage("/environments/optimize_kernel", ""), sampleEnvironment("Agent", "text")))
	d.says(t, "ln(loss − 1.5)", "lower is better", "2.07–2.53", "1.5535 raw, 0 normalized", "308 attempts", "What ours does")
	if diff := cmp.Diff([]string{"text", "cpu", "4", "2.5000", "1.2910", "3.0000", "0.430"}, d.row(t, "text", "1.2910")[:7]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Agent", "30 min", "4", "1 25%", "0.250", "0.200", "0.600", "2"}, d.row(t, "Agent", "25%")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Agent", "30 min", "0.250 [0.10, 0.40]", "0.600 † [0.30, open]"}, d.row(t, "Agent", "†")); diff != "" {
		t.Error(diff)
	}
	render(t, Environment(testPage("/environments/optimize_kernel", ""), sampleEnvironment("Agent", ""))).silent(t, "What ours does")
}

func TestHumans(t *testing.T) {
	d := render(t, Humans(testPage("/humans", ""), sampleHumans("Agent", "text")))
	d.says(t, "0.664 [0.52, 0.81]", "89%", "63 of 71 attempts score above 0; the paper prints 82%", "18 of 71 attempts score 1 or more; the paper prints 24%",
		"16 of 1 are above 8 hours", "4.0 h to 136.5 h", "7 further rows of the published file are no attempts", "0.077 at 2 hours")
	if got := d.row(t, "Mean over seven environments"); !slices.Equal(got, []string{"Mean over seven environments", "0.02", "0.20", "0.50", "1.00", "1.50", "1.80", "1.98", "2.00"}) {
		t.Errorf("percentiles = %q", got)
	}
}

func TestAttemptsList(t *testing.T) {
	pages := everyPage("Agent", "text")
	d := render(t, pages["attempts"])
	d.says(t, "Attempts of Agent in Fix Embedding", "250 attempts match; 1 on this page")
	if diff := cmp.Diff([]string{"text", "Agent", "Fix Embedding", "30 min", "36 min", "1.353", "0.436", "", "suspected hack not ranked: text longer than the limit: a duration may hold pauses and waits, which the limit does not count score log"}, d.row(t, "text", "Fix Embedding")); diff != "" {
		t.Error(diff)
	}
	if got := d.link(t, "Next 1 →"); got != "/attempts?agent=x&page_token=tok" {
		t.Errorf("next = %q", got)
	}
	render(t, pages["attempts empty"]).says(t, "No attempt matches")
}

func TestAttemptEntries(t *testing.T) {
	d := render(t, Attempt(testPage("/attempts/set:1", ""), sampleAttempt("Agent", "text")))
	if diff := cmp.Diff([]string{"2", "1:30:00", "0.7000", "0.800 counts", "0.750", "valid", "", "none"}, d.row(t, "counts")); diff != "" {
		t.Error(diff)
	}
	if got := d.row(t, "wrong output"); got[3] != "–" || got[5] != "invalid: wrong output" {
		t.Errorf("invalid entry = %q", got)
	}
	// The better score came after the limit and does not count.
	if got := d.row(t, "2:01:40"); !strings.Contains(got[5], "after the time limit") || strings.Contains(got[3], "counts") {
		t.Errorf("late entry = %q", got)
	}
	if n := d.rowNode(t, "1:30:00"); attr(n, "id") != "t=5400" || attr(n, "data-t") != "5400" {
		t.Errorf("anchor = %q", attr(n, "id"))
	}
	if got := d.link(t, "1:30:00"); got != "#t=5400" {
		t.Errorf("link to the moment = %q", got)
	}
	d.says(t, "Suspected reward hack", "2nd of 5", "at 1:00:00 for 1 min 30 s: text", "time zone unknown", "Download the attempt log", "2.0 KiB", "it does not prove honesty")
	if got := d.row(t, "current does not rank unless suspected attempts are counted"); got[0] != "2" {
		t.Errorf("current revision = %q", got)
	}
	for _, li := range d.all("li") {
		if (attr(li, "aria-current") == "true") != (text(li) == "re-scored") && slices.Contains([]string{"self-reported", "with artefacts", "re-scored", "reproduced"}, text(li)) {
			t.Errorf("badge %q", text(li))
		}
	}
}

// Where scores are hidden the last valid entry counts, not the best.
func TestLastEntryCountsWhereHidden(t *testing.T) {
	d := sampleAttempt("Agent", "text")
	d.Detail.Attempt.Environment = rebench.ScalingLaw
	d.Detail.Attempt.Entries[0].Normalized, d.Detail.Attempt.Entries[1].Normalized = ptr(0.9), ptr(0.2)
	for _, e := range d.entries() {
		if e.counts != (e.Seq == 2) {
			t.Errorf("entry %d counts = %v", e.Seq, e.counts)
		}
	}
}

func TestAttemptWithoutLogExplainsItself(t *testing.T) {
	d := render(t, everyPage("Agent", "text")["attempt single"])
	d.says(t, "No score log was published", "without the time at which it was reached", "raw unknown")
	for _, n := range d.all("div") {
		if hasAttr(n, "data-chart") {
			t.Error("a chart without a course")
		}
	}
}

func TestMethodology(t *testing.T) {
	d := render(t, Methodology(testPage("/methodology", ""), sampleMethodology("because")))
	d.says(t, "1,715 agent attempts and 86 human attempts", "Of 2 numbers, 1 agree, 1 differ and 0 cannot be checked")
	if got := d.row(t, "Share above 0"); !slices.Equal(got, []string{"Share above 0 P004", "Abstract", "82%", "63/71 = 88.7%", "differs", "because"}) {
		t.Errorf("check = %q", got)
	}
	if got := d.row(t, "≥ 4k"); !slices.Equal(got, []string{"n ≥ 4k", "88–92%", "69%"}) {
		t.Errorf("coverage = %q", got)
	}
	if n := len(d.all("math")); n != 4 {
		t.Errorf("%d formulas, want 4", n)
	}
	notes := d.all("ol")[1]
	if n := len(elements(notes, "li")); n != 7 {
		t.Errorf("%d notes to the reader, want 7", n)
	}
}

func TestErrorPageOffersWhatIsAllowed(t *testing.T) {
	d := render(t, Error(testPage("/", ""), ErrorData{Status: 400, Detail: "parameter cohort is \"x\"", Allowed: []Link{{"cohort all", "/?cohort=all"}}}))
	d.says(t, "Parameter cohort is \"x\"", "400")
	if got := d.link(t, "cohort all"); got != "/?cohort=all" {
		t.Errorf("link = %q", got)
	}
}

func TestStandingOfTheCurrentRevision(t *testing.T) {
	for _, c := range []struct {
		change func(*rebench.Attempt)
		want   string
	}{
		{func(*rebench.Attempt) {}, "ranks"},
		{func(a *rebench.Attempt) { a.Excluded = true }, "does not rank: invalid or retracted"},
		{func(a *rebench.Attempt) { a.Suspected = true }, "does not rank unless suspected attempts are counted"},
		{func(a *rebench.Attempt) { a.Ranked, a.Unranked = false, "no calibration" }, "does not rank: no calibration"},
		{func(a *rebench.Attempt) { a.Profile = rebench.ProfileTest }, "does not rank: the profile test is in no ranking"},
		{func(a *rebench.Attempt) { a.FinalKnown = false }, "does not rank"},
		{func(a *rebench.Attempt) { a.TimeLimit = 0 }, "does not rank: its time limit is unknown"},
	} {
		a := &rebench.Attempt{AttemptSummary: rebench.AttemptSummary{Ranked: true, FinalKnown: true, Profile: rebench.ProfileCPU, TimeLimit: time.Hour}}
		c.change(a)
		if state, why := standing(a, rebench.Revision{Current: true}); state != "current" || why != c.want {
			t.Errorf("%s, %q; want current, %q", state, why, c.want)
		}
		if state, why := standing(a, rebench.Revision{}); state != "kept" || why != "" {
			t.Errorf("an earlier revision: %s, %q", state, why)
		}
	}
}

func TestFactsOfAnAttemptAreReadable(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "–", 300 * time.Millisecond: "less than 1 s", 90 * time.Second: "1 min 30 s"} {
		if got := lasted(d); got != want {
			t.Errorf("lasted(%v) = %q, want %q", d, got, want)
		}
	}
	if got := pauseWords(analysis.Pause{AtS: 1, Length: 200 * time.Millisecond}); got != "at 0:00:01 for less than 1 s" {
		t.Errorf("pause = %q", got)
	}
	facts, text := hardwareFacts(`{"gpus":[{"name":"H100","memory_gib":80}],"cpu_count":16,"cpu_model":"","driver":null}`)
	if diff := cmp.Diff([]keyValue{{"cpu count", "16"}, {"gpus", "memory gib 80, name H100"}}, facts, cmp.AllowUnexported(keyValue{})); diff != "" || text != "" {
		t.Errorf("hardware: %s, text %q", diff, text)
	}
	if facts, text = hardwareFacts("2 cores"); facts != nil || text != "2 cores" {
		t.Errorf("hardware in words: %v, %q", facts, text)
	}
	if short, cut := shortMessage(strings.Repeat("ä", 5000)); !cut || len(short) > shownMessage+len("…") || !utf8.ValidString(short) {
		t.Errorf("a long message is cut to %d bytes", len(short))
	}
	if short, cut := shortMessage("wrong shape"); cut || short != "wrong shape" {
		t.Errorf("a short one to %q", short)
	}
	for seconds, want := range map[int64]string{0: "–", 5: "5 s", 90: "1 min", 7200: "2.0 h"} {
		if got := durationWords(analysis.AttemptRow{DurationS: seconds}); got != want {
			t.Errorf("duration of %d s = %q, want %q", seconds, got, want)
		}
	}
}
