package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

func TestLeaderboardNumbers(t *testing.T) {
	d := render(t, Leaderboard(testPage("/", ""), sampleBoard("o1-preview", "text")))
	want := []string{"2–3", "o1-preview best of 4 two-hour attempts text", "", "0.351 [0.25, 0.45] cross-fitted 0.338", "<0.001", "33rd",
		"0.35 n 10", "0.36 n 11", "0.37 n 12", "0.38 n 13", "0.39 n 14", "0.40 n 15", "0.41 n 16", "70", "$117.74"}
	if diff := cmp.Diff(want, d.row(t, "best of 4 two-hour attempts")); diff != "" {
		t.Error(diff)
	}
	humans := d.row(t, "Human experts")
	if humans[0] != "1–2" || humans[3] != "0.664 [0.56, 0.76]" || humans[len(humans)-1] != "unknown" {
		t.Errorf("humans = %q", humans)
	}
	open := d.row(t, "Second")
	if open[3] != "0.300 [0.20, open]" || !strings.Contains(open[1], "†") {
		t.Errorf("saturated row = %q", open)
	}
	d.says(t, "Who is ahead with 8 hours in total?", "† saturated", "nominal 95% intervals, centred bootstrap, 10,000 draws", "data revision 7 of 4 March 2026", "210 attempts behind the rows shown")
}

func TestLeaderboardLinksToAttempts(t *testing.T) {
	d := render(t, Leaderboard(testPage("/", ""), sampleBoard("o1-preview", "text")))
	var links []string
	for _, a := range elements(d.rowNode(t, "best of 4 two-hour attempts"), "a") {
		links = append(links, attr(a, "href"))
	}
	for _, want := range []string{"/attempts?agent=o1-preview&flagged=exclude&time_limit=2h", "/attempts?agent=o1-preview&environment=gpt2_qa&flagged=exclude&time_limit=2h", "/humans"} {
		if !slices.Contains(links, want) {
			t.Errorf("no link to %s in %q", want, links)
		}
	}
	var human []string
	for _, a := range elements(d.rowNode(t, "Human experts"), "a") {
		human = append(human, attr(a, "href"))
	}
	// Human attempts of the chosen cohort; their time limit is the same for all.
	if want := "/attempts?agent=human&cohort=paper71&environment=gpt2_qa&flagged=exclude&time_limit=8h"; !slices.Contains(human, want) {
		t.Errorf("no link to %s in %q", want, human)
	}
}

func TestLeaderboardSaysWhatItLeavesOut(t *testing.T) {
	d := render(t, Leaderboard(testPage("/", ""), sampleBoard("o1-preview", "why not")))
	d.says(t, "One agent is not ranked:", "o1-preview hidden why not",
		"1 attempt flagged as a suspected reward hack is left out (o1-preview, Optimize LLM Foundry)",
		"With them o1-preview stands at 0.627 instead of 0.351")
	if got := d.link(t, "Show the common four environments, with o1-preview hidden"); got != "/?environments=optimize_llm_foundry,optimize_kernel,fix_embedding,scaling_law" {
		t.Errorf("fixing view = %q", got)
	}
	if got := d.link(t, "Count them"); got != "/?flagged=include" {
		t.Errorf("count them = %q", got)
	}
	two := sampleBoard("o1-preview", "text")
	two.Board.Rows[1].OtherAllocation, two.Board.Rows[1].OtherAllocationScore = &analysis.AllocationResult{TimeLimitS: 1800, K: 16}, ptr(0.26)
	d = render(t, Leaderboard(testPage("/", ""), two))
	d.says(t, "With them o1-preview stands at 0.627 (best of 16 half-hour attempts) instead of 0.351 (best of 4 two-hour attempts).", "Like for like, best of 16 half-hour attempts without them: 0.260 .")
	if got := d.link(t, "0.627"); got != "/attempts?agent=o1-preview&flagged=include&time_limit=30m" {
		t.Errorf("0.627 leads to %q", got)
	}
	counted := sampleBoard("o1-preview", "text")
	counted.Board.Flagged, counted.Board.FlaggedLeftOut = "include", nil
	counted.Board.Rows[1].Score, counted.Board.Rows[1].WithFlagged, counted.Board.Rows[1].WithoutFlagged = 0.627, nil, ptr(0.351)
	d = render(t, Leaderboard(testPage("/", "flagged=include"), counted))
	d.says(t, "Without them o1-preview stands at 0.351 instead of 0.627")
	if got := d.link(t, "Leave them out"); got != "/" {
		t.Errorf("leave them out = %q", got)
	}
}

func TestFindings(t *testing.T) {
	base := func() LeaderboardData { return sampleBoard("o1-preview", "text") }
	for _, c := range []struct {
		name   string
		change func(*LeaderboardData)
		want   [][2]string // verdict, words
	}{
		{"a lead that is not separated", func(*LeaderboardData) {}, [][2]string{
			{"o1-preview", "0.351 [0.25, 0.45], best of 4 two-hour attempts."},
			{"Not separated", "Ahead of Second by 0.051 [−0.02, +0.12]; bootstrap support 0.87. Two agents may share first place."},
			{"Humans ahead", "Humans reach 0.664 [0.56, 0.76]; bootstrap support for humans being ahead >0.999. It matches the 33rd percentile of single eight-hour human attempts."},
		}},
		{"a lead that is", func(d *LeaderboardData) { d.Leads[0].Separated, d.Leads[0].CILow = true, ptr(0.01) }, [][2]string{
			{"o1-preview", "0.351 [0.25, 0.45], best of 4 two-hour attempts."},
			{"Yes: separated", "Ahead of Second by 0.051 [+0.01, +0.12]; bootstrap support 0.87."},
			{"Humans ahead", "Humans reach 0.664 [0.56, 0.76]; bootstrap support for humans being ahead >0.999. It matches the 33rd percentile of single eight-hour human attempts."},
		}},
		{"the pair's interval excludes 0, all pairs do not separate it", func(d *LeaderboardData) { d.Leads[0].CILow = ptr(0.01) }, [][2]string{
			{"o1-preview", "0.351 [0.25, 0.45], best of 4 two-hour attempts."},
			{"Not separated", "Ahead of Second by 0.051 [+0.01, +0.12]; bootstrap support 0.87. The interval of this pair alone excludes 0; allowing for all pairs at once, the two are not told apart. Two agents may share first place."},
			{"Humans ahead", "Humans reach 0.664 [0.56, 0.76]; bootstrap support for humans being ahead >0.999. It matches the 33rd percentile of single eight-hour human attempts."},
		}},
		{"the agent ahead of humans, not separated", func(d *LeaderboardData) {
			d.Leads[1] = analysis.Lead{Above: "o1-preview", Below: rebench.HumanName, Difference: analysis.Difference{D: 0.1, CILow: ptr(-0.3), CIHigh: ptr(0.5), PAGreater: 0.6}}
		}, [][2]string{
			{"o1-preview", "0.351 [0.25, 0.45], best of 4 two-hour attempts."},
			{"Not separated", "Ahead of Second by 0.051 [−0.02, +0.12]; bootstrap support 0.87. Two agents may share first place."},
			{"o1-preview ahead, not separated", "Humans reach 0.664 [0.56, 0.76]; bootstrap support for o1-preview being ahead 0.60. It matches the 33rd percentile of single eight-hour human attempts."},
		}},
		{"no spread known", func(d *LeaderboardData) { d.Leads[0].CILow, d.Leads[0].CIHigh = nil, nil }, [][2]string{
			{"o1-preview", "0.351 [0.25, 0.45], best of 4 two-hour attempts."},
			{"Not separated", "Ahead of Second by 0.051 no interval; bootstrap support unknown. Two agents may share first place."},
			{"Humans ahead", "Humans reach 0.664 [0.56, 0.76]; bootstrap support for humans being ahead >0.999. It matches the 33rd percentile of single eight-hour human attempts."},
		}},
		{"a higher point of unknown spread", func(d *LeaderboardData) {
			alone := sampleRow("my-agent", rebench.KindAgent, 1.434, 1, 28800)
			alone.CILow, alone.CIHigh, alone.RankLow, alone.RankHigh, alone.NAttempts = nil, nil, 0, 0, 1
			d.Board.Rows = append([]analysis.LeaderboardRow{alone}, d.Board.Rows...)
		}, [][2]string{
			{"o1-preview", "0.351 [0.25, 0.45], best of 4 two-hour attempts. Not ranked is a higher point, 1.434 of my-agent from 1 attempt: with a single attempt in an environment its spread is unknown."},
			{"Not separated", "Ahead of Second by 0.051 [−0.02, +0.12]; bootstrap support 0.87. Two agents may share first place."},
			{"Humans ahead", "Humans reach 0.664 [0.56, 0.76]; bootstrap support for humans being ahead >0.999. It matches the 33rd percentile of single eight-hour human attempts."},
		}},
		{"only points of unknown spread", func(d *LeaderboardData) {
			d.Board.Rows = d.Board.Rows[1:2]
			r := &d.Board.Rows[0]
			r.CILow, r.CIHigh, r.RankLow, r.RankHigh, r.NAttempts = nil, nil, 0, 0, 7
		}, [][2]string{{"Not known", "No agent has two attempts in every chosen environment, so the spread of none is known. The highest point is 0.351 of o1-preview from 7 attempts."}}},
		{"one agent, no humans", func(d *LeaderboardData) { d.Board.Rows, d.Leads = d.Board.Rows[1:2], nil }, [][2]string{
			{"o1-preview", "0.351 [0.25, 0.45], best of 4 two-hour attempts."},
			{"Nothing to compare", "It is the only agent with attempts for this total time in every chosen environment."},
			{"33rd percentile", "It matches the 33rd percentile of single eight-hour human attempts. Humans have no score at this total time."},
		}},
		{"nobody", func(d *LeaderboardData) { d.Board.Rows = nil }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := base()
			c.change(&d)
			var got [][2]string
			for _, f := range d.findings(testPage("/", "")) {
				got = append(got, [2]string{f.Verdict, f.Words})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The verdict on the lead leads to the comparison behind it.
func TestFindingsLeadToComparisons(t *testing.T) {
	d := render(t, Leaderboard(testPage("/", "budget=8h&environments=gpt2_qa"), sampleBoard("o1-preview", "text")))
	for verdict, want := range map[string]string{"Not separated": "/compare?a=o1-preview&b=Second&environments=gpt2_qa", "Humans ahead": "/compare?a=human&b=o1-preview&environments=gpt2_qa"} {
		if got := d.link(t, verdict); got != want {
			t.Errorf("%s leads to %q, want %q", verdict, got, want)
		}
	}
}

func TestLeaderboardDegenerateRows(t *testing.T) {
	d := sampleBoard("zero", "text")
	r := &d.Board.Rows[1]
	r.Score, r.CILow, r.CIHigh, r.RankLow, r.RankHigh, r.ScoreHonest, r.HonestNote = 0, nil, nil, 0, 0, nil, "too few attempts"
	r.NonZeroBound, r.ConstantCells = ptr(0.117), 7
	page := render(t, Leaderboard(testPage("/", ""), d))
	got := page.row(t, "best of 4 two-hour attempts")
	if got[0] != "–" || got[3] != "0.000 no interval cross-fitted not estimable" || got[4] != "–" {
		t.Errorf("row = %q", got)
	}
	page.says(t, "zero: no attempt scored above the starting solution. The chance of one that does is at most 12% with 95% confidence.", "zero 7 of 7")
}

func TestLeaderboardEmptyStates(t *testing.T) {
	hidden := []analysis.HiddenAgent{{Agent: "a", Reason: "no time limit divides 1 min"}}
	d := render(t, Leaderboard(testPage("/", "budget=1m"), LeaderboardData{Board: &analysis.Leaderboard{View: sampleView(), BudgetS: 60, Hidden: hidden}}))
	d.says(t, "Nobody can be ranked at 1 min", "no time limit divides 1 min", "shown: 1 min")
	if got := d.link(t, "30 min"); got != "/?budget=30m" {
		t.Errorf("30 min leads to %q", got)
	}
	agents := sampleBoard("a", "text")
	agents.Board.Profile = rebench.ProfileCPU
	agents.Board.Rows, agents.Choices.Agents = agents.Board.Rows[1:], []string{"a", "Second"}
	alone := render(t, Leaderboard(testPage("/", "profile=cpu"), agents))
	alone.silent(t, "the paper's 71", "human experts get", "of 7 to 9 hours only")
	alone.says(t, "Every agent gets the same total time", "80 min", "320 min")
	v := sampleView()
	v.Profile = rebench.ProfileCPU
	d = render(t, Leaderboard(testPage("/", "profile=cpu"), LeaderboardData{Board: &analysis.Leaderboard{View: v, BudgetS: 28800}}))
	d.says(t, "No attempts in this profile yet")
	if got := d.link(t, "Show the paper's profile"); got != "/" {
		t.Errorf("paper's profile = %q", got)
	}
}
