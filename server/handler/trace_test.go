package handler

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"rebench/internal/analysis"
	"rebench/web/view"
)

// listed returns how many attempts a link from a page leads to.
func (s *site) listed(t *testing.T, link string) int {
	t.Helper()
	path, query, _ := strings.Cut(link, "?")
	var list struct {
		Total int `json:"total"`
	}
	s.decode(t, path+".json?"+query, &list)
	return list.Total
}

// Every number leads to exactly the attempts that it was computed from, whatever
// the choice of data.
func TestNumbersLeadToTheirAttempts(t *testing.T) {
	s := publishedSite(t)
	for _, query := range []string{"", "flagged=include", "cohort=all&estimator=with", "environments=optimize_llm_foundry,gpt2_qa", "hours=7-9&cohort=all", "asof=1&budget=2h"} {
		p := view.Page{Path: "/"}
		p.Query, _ = url.ParseQuery(query)
		var b analysis.Leaderboard
		s.decode(t, "/leaderboard.json?"+query, &b)
		for _, r := range b.Rows {
			link := view.PointLink(p, b.View, r.Agent, analysis.CurvePoint{TimeLimitS: r.Allocation.TimeLimitS, K: r.Allocation.K})
			if got := s.listed(t, link); got != r.NAttempts {
				t.Errorf("/?%s: %s leads to %d attempts, want %d: %s", query, r.Agent, got, r.NAttempts, link)
			}
			if page := s.text(t, "/?"+query); !strings.Contains(page, `href="`+html.EscapeString(link)+`"`) {
				t.Errorf("/?%s has no link %s", query, link)
			}
		}
		var e struct {
			analysis.View
			Environments []analysis.EnvironmentSummary `json:"environments"`
		}
		s.decode(t, "/environments.json?"+strings.ReplaceAll(query, "&budget=2h", ""), &e)
		page := s.text(t, "/environments?"+strings.ReplaceAll(query, "&budget=2h", ""))
		for _, x := range e.Environments {
			for _, n := range []int{x.NAttempts, x.NHuman} {
				if !s.leadsTo(t, page, string(x.ID), n) {
					t.Errorf("/environments?%s: no link of %s leads to %d attempts", query, x.ID, n)
				}
			}
		}
	}
}

// leadsTo reports whether a link of the page about an environment shows n and leads
// to as many attempts.
func (s *site) leadsTo(t *testing.T, page, environment string, n int) bool {
	t.Helper()
	shown := fmt.Sprint(n)
	if n >= 1000 {
		shown = fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	for part := range strings.SplitSeq(page, `href="/attempts?`) {
		link, rest, _ := strings.Cut(part, `"`)
		if strings.Contains(link, "environment="+environment) && strings.HasPrefix(rest, ">"+shown+"<") {
			return s.listed(t, "/attempts?"+html.UnescapeString(link)) == n
		}
	}
	return false
}

// The point 0.260 of o1-preview rests on 246 half-hour attempts, the two suspected
// ones left out; 0.627 on all 248.
func TestSuspectedAttemptsAreNotBehindNumbersWithoutThem(t *testing.T) {
	s := publishedSite(t)
	for link, want := range map[string]int{
		"/attempts?agent=o1-preview&time_limit=30m&flagged=exclude":                                      246,
		"/attempts?agent=o1-preview&time_limit=30m&flagged=include":                                      248,
		"/attempts?agent=o1-preview&time_limit=30m&flagged=suspected":                                    2,
		"/attempts?agent=o1-preview&time_limit=30m&flagged=suspected&environments=gpt2_qa,fix_embedding": 0,
		"/attempts?agent=o1-preview&time_limit=30m&log=yes":                                              0,
	} {
		if got := s.listed(t, link); got != want {
			t.Errorf("%s: %d, want %d", link, got, want)
		}
	}
	page := s.text(t, "/curves?agents=o1-preview")
	if want := `href="/attempts?agent=o1-preview&amp;flagged=exclude&amp;time_limit=30m">0.260<`; !strings.Contains(page, want) {
		t.Errorf("/curves has no %s", want)
	}
	_, rest, _ := strings.Cut(page, `type="application/json">`)
	option, _, _ := strings.Cut(rest, "</script>")
	if !json.Valid([]byte(option)) || !strings.Contains(option, `flagged=exclude`) {
		t.Error("points of the chart do not lead to the attempts that count")
	}
}
