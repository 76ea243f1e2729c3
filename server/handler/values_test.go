package handler

import (
	"fmt"
	"iter"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

// The figures that METR's code gives for its file, through the API.
func TestScoreAtKOfPublishedData(t *testing.T) {
	s := publishedSite(t)
	tests := []struct {
		agent   string
		limit   string
		k       int
		cohort  string
		flagged string
		want    float64
	}{
		{"o1-preview", "7200", 4, "all", "include", 0.351},
		{"o1-preview", "1800", 16, "all", "include", 0.627},
		{"o1-preview", "1800", 16, "all", "exclude", 0.260},
		{"Claude 3 Opus", "30m", 16, "all", "include", 0.153},
		{"GPT-4o", "30m", 16, "all", "include", 0.132},
		{"human", "28800", 1, "all", "exclude", 0.658},
		{"human", "8h", 2, "all", "exclude", 0.903},
		{"human", "8h", 4, "all", "exclude", 1.114},
		{"human", "8h", 8, "all", "exclude", 1.256},
		{"human", "8h", 1, "paper71", "exclude", 0.664},
		{"human", "8h", 8, "paper71", "exclude", 1.274},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %s x %d %s %s", tt.agent, tt.limit, tt.k, tt.cohort, tt.flagged), func(t *testing.T) {
			q := url.Values{"agent": {tt.agent}, "time_limit": {tt.limit}, "k": {fmt.Sprint(tt.k)}, "cohort": {tt.cohort}, "flagged": {tt.flagged}}
			var got struct {
				TimeLimitS   int64 `json:"time_limit_s"`
				Environments []struct {
					Environment string
					N           int
					Points      []struct{ Score float64 }
				}
				Mean []struct {
					K             int
					Score         float64
					NEnvironments int `json:"n_environments"`
				}
			}
			s.decode(t, "/api/v1/score-at-k?"+q.Encode(), &got)
			if len(got.Environments) != 7 || len(got.Mean) != 1 || got.Mean[0].K != tt.k || got.Mean[0].NEnvironments != 7 {
				t.Fatalf("answer %+v", got)
			}
			if math.Abs(got.Mean[0].Score-tt.want) > 0.0005 {
				t.Errorf("score %.4f, want %.3f", got.Mean[0].Score, tt.want)
			}
			sum := 0.0
			for _, e := range got.Environments {
				sum += e.Points[0].Score
			}
			if math.Abs(sum/7-got.Mean[0].Score) > 1e-12 {
				t.Errorf("mean %v of environments with mean %v", got.Mean[0].Score, sum/7)
			}
		})
	}
}

// hostile is text that does harm wherever it is taken for markup or a formula.
const hostile = `=HYPERLINK("http://x")</script><script>alert(1)</script><img src=x onerror=alert(1)>`

// withHostile is a site with one attempt whose every text is hostile and whose id
// holds what addresses are made of.
func withHostile(t *testing.T) (*site, string) {
	t.Helper()
	db := testutil.PublishedStore(t)
	id := "up/load:a?b#c.json%2F é"
	at, norm := 90*time.Second, 0.5
	a := rebench.Attempt{AttemptSummary: rebench.AttemptSummary{Environment: "gpt2_qa", Profile: "paper", ScorerVersion: rebench.ScorerMETRPublished,
		HardwareClass: "h100", TimeLimit: 30 * time.Minute, Final: norm, FinalKnown: true, HasLog: true, Badge: rebench.BadgeSelfReported},
		Agent: rebench.Agent{Name: hostile, Model: hostile, Scaffold: hostile, Kind: rebench.KindAgent}, Clock: rebench.ClockActive, Basis: rebench.BasisNormalized,
		EndReason: "submitted", SourceFile: hostile, Extra: map[string]string{hostile: hostile}}
	var log strings.Builder
	w := attemptlog.NewWriter(&log)
	limit := 1800.0
	for _, e := range []attemptlog.Event{
		&attemptlog.Header{AttemptID: id, Environment: attemptlog.Environment{ID: "gpt2_qa", Version: "1", Profile: "paper"}, TimeLimitS: &limit, Clock: rebench.ClockActive,
			Agent: &attemptlog.Agent{Name: hostile}},
		&attemptlog.Score{T: seconds(90), Normalized: &norm, Basis: rebench.BasisNormalized, Valid: true, Message: attemptlog.Text(hostile)},
		&attemptlog.Pause{T: seconds(100), At: clockAt(0), Reason: hostile},
		&attemptlog.Resume{T: seconds(100), At: clockAt(50)},
		&attemptlog.End{T: seconds(120), Reason: "submitted"},
	} {
		if _, err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	item := store.Item{ID: id, Dataset: "test", NativeID: "1", Environment: "gpt2_qa", Profile: "paper", Note: hostile,
		Flags: []rebench.Flag{{Kind: rebench.FlagSuspected, Set: true, Author: hostile, Reason: hostile}},
		Write: func(lw *store.LogWriter) (store.Content, error) {
			for line := range strings.Lines(log.String()) {
				if err := lw.Line([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
					return store.Content{}, err
				}
			}
			err := lw.Entry(rebench.ScoreEntry{Seq: 1, Elapsed: &at, Normalized: &norm, Basis: rebench.BasisNormalized, Valid: true, Message: hostile, Reason: hostile})
			return store.Content{Attempt: a, SHA256: "00", LogHead: w.Head().Hash.String()}, err
		}}
	items := func() iter.Seq2[store.Item, error] {
		return func(yield func(store.Item, error) bool) { yield(item, nil) }
	}
	if _, err := db.Import(t.Context(), store.Upload{Author: hostile, FileName: hostile}, hostile, items(), nil); err != nil {
		t.Fatal(err)
	}
	return newSite(t, db), id
}

func seconds(s float64) *float64 { return &s }

func clockAt(s int) *time.Time {
	at := time.Date(2026, 1, 2, 3, 4, s, 0, time.UTC)
	return &at
}

func TestHostileText(t *testing.T) {
	s, id := withHostile(t)
	attempt := "/attempts/" + url.PathEscape(id)
	agent := url.QueryEscape(hostile)
	paths := []string{"/", "/?flagged=include&environments=gpt2_qa&budget=30m", "/curves?flagged=include&environments=gpt2_qa", "/compare?a=" + agent + "&b=human&flagged=include&environments=gpt2_qa",
		"/environments/gpt2_qa?flagged=include", "/attempts?text=up/load", "/attempts?agent=" + agent, attempt, "/search?text=" + agent, "/humans", "/methodology"}
	for _, path := range paths {
		body := s.text(t, path)
		if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") {
			t.Errorf("%s: text became markup", path)
		}
	}
	for _, path := range []string{"/leaderboard.svg?flagged=include&environments=gpt2_qa&budget=30m", "/curves.svg?flagged=include&environments=gpt2_qa", attempt + ".svg"} {
		if body := s.text(t, path); strings.Contains(body, "<script") || strings.Contains(body, "<img") {
			t.Errorf("%s: text became markup", path)
		}
	}
	for _, path := range []string{"/leaderboard.csv?flagged=include&environments=gpt2_qa&budget=30m", "/attempts.csv?agent=" + agent, attempt + ".csv"} {
		for line := range strings.Lines(s.text(t, path)) {
			if strings.HasPrefix(line, "=") || strings.Contains(line, ",=") || strings.Contains(line, `,"=`) {
				t.Errorf("%s: a cell is a formula: %.80s", path, line)
			}
		}
	}
}

// An id with a slash, a question mark and a suffix of its own is reached by every link.
func TestOddIDs(t *testing.T) {
	s, id := withHostile(t)
	escaped := url.PathEscape(id)
	var got struct {
		ID     string
		Pauses []struct {
			AtS     float64 `json:"at_s"`
			LengthS float64 `json:"length_s"`
		}
		Log struct {
			Bytes int
			URL   string
		}
	}
	s.decode(t, "/api/v1/attempts/"+escaped, &got)
	if got.ID != id || len(got.Pauses) != 1 || got.Pauses[0].AtS != 100 || got.Pauses[0].LengthS != 50 {
		t.Errorf("attempt %+v", got)
	}
	if log := s.text(t, got.Log.URL); len(log) != got.Log.Bytes || strings.Count(log, "\n") != 5 {
		t.Errorf("%d bytes of log, want %d", len(log), got.Log.Bytes)
	}
	body := s.text(t, "/attempts?text=up/load")
	if !strings.Contains(body, `"/attempts/`+escaped) {
		t.Errorf("the list does not link to /attempts/%s", escaped)
	}
	page := s.text(t, "/attempts/"+escaped)
	for _, form := range suffixes {
		if !strings.Contains(page, "/attempts/"+escaped+"."+form) {
			t.Errorf("the page does not link to its %s", form)
		}
		s.text(t, "/attempts/"+escaped+"."+form)
	}
}
