package handler

import (
	"net/http"
	"strings"
	"testing"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// The page, its exports and its filters show the same catalogue.
func TestValidity(t *testing.T) {
	s := publishedSite(t)
	var all, some analysis.Validity
	s.decode(t, "/validity.json", &all)
	if len(all.Records) != 82 || all.Total != len(all.Mechanisms) || all.Attacks < 40 || all.Checked != 1801 {
		t.Errorf("%d records, %d of %d mechanisms, %d attacks, %d attempts", len(all.Records), len(all.Mechanisms), all.Total, all.Attacks, all.Checked)
	}
	records, mechanisms := 0, 0
	for _, c := range all.States {
		records, mechanisms = records+c.Records, mechanisms+c.Mechanisms
	}
	if records != 82 || mechanisms != all.Total {
		t.Errorf("states count %d records in %d mechanisms", records, mechanisms)
	}
	s.decode(t, "/api/v1/validity?environment=rust_codecontests&state=detected", &some)
	if len(some.Mechanisms) == 0 || len(some.Mechanisms) >= len(all.Mechanisms) || some.Total != all.Total {
		t.Errorf("%d of %d mechanisms", len(some.Mechanisms), some.Total)
	}
	for _, m := range some.Mechanisms {
		if m.State != validity.Detected || !strings.Contains(strings.Join(m.Environments, " "), "rust_codecontests") && m.Environments[0] != "all" {
			t.Errorf("%+v passes the filter", m)
		}
	}
	quarantined := map[string]bool{}
	for _, r := range all.Reached {
		if r.Action == validity.Quarantine && r.Suspected {
			quarantined[r.AttemptID] = true
		}
	}
	if len(quarantined) != 2 || !quarantined["metr-rebench:mp4-server_204921"] || !quarantined["metr-rebench:mp4-server_204851"] {
		t.Errorf("in quarantine: %v", quarantined)
	}
	checkCSV(t, s, "/validity.csv")
	if lines := strings.Count(s.text(t, "/validity.csv"), "\r\n"); lines < all.Total+1 {
		t.Errorf("%d lines for %d mechanisms", lines, all.Total)
	}
	if page := s.text(t, "/validity"); !strings.Contains(page, `href="#r-F05"`) || !strings.Contains(page, `id="r-F05"`) || !strings.Contains(page, "TestEscapes") {
		t.Error("the page does not link a mechanism to its records and tests")
	}
	if r := s.get(t, "/validity.svg"); r.StatusCode != http.StatusNotFound {
		t.Errorf("picture: status %d", r.StatusCode)
	}
}

// Every flaw and hack on an environment's page says what is done about it.
func TestOursOnEnvironmentPages(t *testing.T) {
	s := publishedSite(t)
	for _, id := range rebench.EnvironmentIDs() {
		var d analysis.EnvironmentDetail
		s.decode(t, "/environments/"+string(id)+".json", &d)
		for _, f := range d.Flaws {
			if f.Ours == "" {
				t.Errorf("%s: nothing is said of %s", id, f.ID)
			}
		}
		for _, h := range d.Hacks {
			if h.Ours == "" {
				t.Errorf("%s: nothing is said of %s", id, h.ID)
			}
			if h.ID == "H05" && !strings.HasPrefix(h.Ours, "Prevented. Bytes of a buffer") {
				t.Errorf("H05: %q", h.Ours)
			}
		}
	}
}
