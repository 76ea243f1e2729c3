package handler

import (
	"strings"
	"testing"

	"rebench/internal/attemptlog"
	"rebench/internal/testutil"
)

// Attempts of the test profile are listed and exported, and in no ranking.
func TestTheTestProfileIsListed(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	log := ownLog(t, func(h *attemptlog.Header, _ *attemptlog.Score) { h.AttemptID, h.Environment.Profile = "tried", "test" })
	a := s.upload(t, "", "", nil, map[string]string{"own": log})
	if a.status != 201 || elements(a, "created")[0]["unranked"] != "test profile" {
		t.Fatal(a.body)
	}
	var list struct {
		Total    int
		Attempts []struct{ ID, Unranked string }
	}
	s.getJSON(t, "/api/v1/attempts?profile=test", &list)
	if list.Total != 1 || list.Attempts[0].ID != "tried" || list.Attempts[0].Unranked != "test profile" {
		t.Errorf("%+v", list)
	}
	for path, want := range map[string]int{"/attempts?profile=test": 200, "/attempts.csv?profile=test": 200, "/attempts?profile=test&agent=mine": 200, "/api/v1/leaderboard?profile=test": 400, "/?profile=test": 400} {
		status, _, body := s.page(t, path)
		if status != want || status == 200 && !strings.Contains(body, "tried") {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	for _, query := range []string{"", "?profile=test"} {
		if _, _, body := s.page(t, "/api/v1/attempts.jsonl"+query); !strings.Contains(body, `"attempt_id":"tried"`) {
			t.Errorf("not exported with %q", query)
		}
	}
}
