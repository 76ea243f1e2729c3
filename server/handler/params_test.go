package handler

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/stats"
)

func TestParse(t *testing.T) {
	one := 1.0
	tests := []struct {
		name, path, raw string
		takes           []string
		query           analysis.Query
		canonical       string
	}{
		{"nothing", "/", "", leaderboardResource.takes, analysis.Query{}, ""},
		{"defaults are left out", "/", "budget=28800&estimator=without&cohort=paper71&flagged=exclude&profile=paper", leaderboardResource.takes,
			analysis.Query{Budget: 8 * time.Hour, Cohort: rebench.CohortPaper71, Profile: rebench.ProfilePaper}, ""},
		{"empty values are defaults", "/", "environments=&agents=&cap=&asof=", leaderboardResource.takes, analysis.Query{}, ""},
		{"seconds and hours are one address", "/", "budget=7200", leaderboardResource.takes, analysis.Query{Budget: 2 * time.Hour}, "budget=2h"},
		{"half an hour", "/", "budget=30m", leaderboardResource.takes, analysis.Query{Budget: 30 * time.Minute}, "budget=30m"},
		{"lists by commas or repetition, in the suite's order", "/", "environments=gpt2_qa,fix_embedding&environments=optimize_kernel&environments=gpt2_qa", leaderboardResource.takes,
			analysis.Query{Environments: []rebench.EnvironmentID{"optimize_kernel", "fix_embedding", "gpt2_qa"}}, "environments=optimize_kernel,fix_embedding,gpt2_qa"},
		{"agents", "/curves", "agents=b, a", curvesResource.takes, analysis.Query{Agents: []string{"b", "a"}}, "agents=b,a"},
		{"everything", "/", "estimator=with&convention=metr&cohort=all&flagged=include&profile=cpu&scorer=2.0&hardware=all&cap=1.0&hours=7-9&truncate=yes&asof=3", leaderboardResource.takes,
			analysis.Query{Estimator: stats.WithReplacement, Convention: stats.Metr, Cohort: rebench.CohortAll, Flagged: true, Profile: rebench.ProfileCPU, Scorer: "2.0",
				Hardware: "all", Cap: &one, HumanHours7To9: true, Truncate: true, AsOf: 3},
			"asof=3&cap=1&cohort=all&convention=metr&estimator=with&flagged=include&hardware=all&hours=7-9&profile=cpu&scorer=2.0&truncate=yes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(tt.path, tt.raw, tt.takes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.query, r.query); diff != "" {
				t.Error(diff)
			}
			got, err := url.QueryUnescape(r.canonical.Encode())
			if err != nil || got != tt.canonical {
				t.Errorf("canonical %q, want %q (%v)", got, tt.canonical, err)
			}
			again, err := parse(tt.path, r.canonical.Encode(), tt.takes)
			if err != nil || again.canonical.Encode() != r.canonical.Encode() {
				t.Errorf("the canonical address reads as %v, %v", again, err)
			}
		})
	}
}

func TestParseAttempts(t *testing.T) {
	r, err := parse("/attempts", "environment=scaling_law&agent=human&kind=human&cohort=paper71&time_limit=8h&flagged=only&text=x&sort=-score&page_token=abc", attemptsResource.takes)
	if err != nil {
		t.Fatal(err)
	}
	want := analysis.AttemptFilter{Environment: "scaling_law", Agent: "human", Kind: "human", Cohort: "paper71", TimeLimitS: 28800, Text: "x", Flagged: "only", Sort: "-score"}
	if diff := cmp.Diff(want, r.filter); diff != "" {
		t.Error(diff)
	}
	if r.query.Flagged || r.pageToken != "abc" {
		t.Errorf("flagged %t, page token %q", r.query.Flagged, r.pageToken)
	}
	if r.canonical.Get("cohort") != "paper71" || r.canonical.Get("flagged") != "only" {
		t.Errorf("canonical %v lost a filter", r.canonical)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		raw             string
		parameter, code string
		hint            string
	}{
		{"budget=8x", "budget", "malformed", ""},
		{"budget=0", "budget", "malformed", ""},
		{"budget=-1", "budget", "malformed", ""},
		{"budget=1e4", "budget", "malformed", ""},
		{"budget=99999999999999999999", "budget", "malformed", ""},
		{"budget=8h&budget=4h", "budget", "repeated", ""},
		{"bugdet=8h", "bugdet", "unknown_parameter", "Did you mean budget?"},
		{"Budget=8h", "Budget", "unknown_parameter", "Did you mean budget?"},
		{"environments=optimise_kernel", "environments", "unknown_value", "Did you mean optimize_kernel?"},
		{"environments=kernel", "environments", "unknown_value", "Did you mean optimize_kernel?"},
		{"environments=zzzzzzzzz", "environments", "unknown_value", ""},
		{"estimator=without_replacement", "estimator", "unknown_value", "Did you mean without, with?"},
		{"cohort=paper", "cohort", "unknown_value", "Did you mean paper71?"},
		{"flagged=yes", "flagged", "unknown_value", ""},
		{"profile=test", "profile", "unknown_value", ""},
		{"cap=nan", "cap", "malformed", ""},
		{"cap=0x1p4", "cap", "malformed", ""},
		{"cap=-1", "cap", "malformed", ""},
		{"cap=0", "cap", "malformed", ""},
		{"asof=0", "asof", "malformed", ""},
		{"asof=latest", "asof", "malformed", ""},
		{"asof=9223372036854775808", "asof", "malformed", ""},
		{"hours=8", "hours", "unknown_value", ""},
	}
	for _, tt := range tests {
		t.Run(tt.raw, func(t *testing.T) {
			_, err := parse("/", tt.raw, leaderboardResource.takes)
			e, ok := errors.AsType[*ParamError](err)
			if !ok || len(e.Faults) != 1 {
				t.Fatalf("error %v", err)
			}
			f := e.Faults[0]
			if f.Parameter != tt.parameter || f.Code != tt.code || f.Hint != tt.hint || f.Expected == "" || f.Found == "" {
				t.Errorf("fault %+v", f)
			}
			if f.Code != "malformed" && f.Code != "repeated" && len(f.Allowed) == 0 {
				t.Error("nothing is said to be allowed")
			}
			if rebench.ErrorCode(err) != rebench.CodeInvalid {
				t.Errorf("code %s", rebench.ErrorCode(err))
			}
		})
	}
}

func TestParseReportsEveryFault(t *testing.T) {
	_, err := parse("/", "budget=x&cohort=y&nonsense=1", leaderboardResource.takes)
	e, ok := errors.AsType[*ParamError](err)
	if !ok || len(e.Faults) != 3 {
		t.Fatalf("error %v", err)
	}
}

func TestReadKs(t *testing.T) {
	r, err := parse("/score-at-k", "agent=x&time_limit=1800&k=4,1,2,2", scoreAtKResource.takes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 2, 4}, r.ks); diff != "" {
		t.Error(diff)
	}
	for _, raw := range []string{"k=0", "k=1,x", "k=-1", "k=1001", "k=1.5"} {
		if _, err := parse("/score-at-k", raw, scoreAtKResource.takes); err == nil {
			t.Errorf("%s is accepted", raw)
		}
	}
}

func TestJoinLabels(t *testing.T) {
	labels := []string{"a", "b", "a, tuned", "x,y,z"}
	tests := []struct{ parts, want []string }{
		{[]string{"a", "b"}, []string{"a", "b"}},
		{[]string{"a", "tuned", "b"}, []string{"a, tuned", "b"}},
		{[]string{"x", "y", "z", "a"}, []string{"x,y,z", "a"}},
		{[]string{"q", "a"}, []string{"q", "a"}},
		{nil, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, joinLabels(tt.parts, labels)); diff != "" {
			t.Errorf("%q: %s", tt.parts, diff)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"budget=8h&environments=a,b", "k=1,2&cap=0.5", "%zz", "a=%00&b=;", "agents=,,,&agents=%2C"} {
		f.Add(seed)
	}
	all := make([]string, 0, len(parameters))
	for name := range parameters {
		all = append(all, name)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := parse("/", raw, all)
		if err != nil {
			if rebench.ErrorCode(err) != rebench.CodeInvalid {
				t.Fatalf("error %v", err)
			}
			return
		}
		// What was read is written so that it reads the same again.
		again, err := parse("/", r.canonical.Encode(), all)
		if err != nil {
			t.Fatalf("%q became %q: %v", raw, r.canonical.Encode(), err)
		}
		if again.canonical.Encode() != r.canonical.Encode() {
			t.Fatalf("%q became %q, then %q", raw, r.canonical.Encode(), again.canonical.Encode())
		}
	})
}
