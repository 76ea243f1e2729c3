package handler

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkCSV checks that an export reads with default settings and names its origin.
func checkCSV(t *testing.T, s *site, path string) [][]string {
	t.Helper()
	r := s.get(t, path)
	b := read(t, r)
	if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/csv") || !strings.Contains(r.Header.Get("Content-Disposition"), ".csv") {
		t.Fatalf("%s: status %d, %v: %.300s", path, r.StatusCode, r.Header, b)
	}
	rows, err := csv.NewReader(strings.NewReader(b)).ReadAll() // also: every row has the header's length
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", path, len(rows), err)
	}
	head := rows[0]
	tail := len(head) - 6
	if diff := cmp.Diff([]string{"view_title", "view_axes", "view_n", "data_revision", "rebench_version", "view_url"}, head[tail:]); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
	seen := map[string]bool{}
	for _, name := range head {
		if seen[name] {
			t.Errorf("%s: column %s twice", path, name)
		}
		seen[name] = true
	}
	for _, row := range rows[1:] {
		if row[tail] == "" || row[tail+1] == "" || row[tail+3] != "1" || row[tail+4] != "1.2.3" || !strings.HasPrefix(row[tail+5], "http://rebench.test/") {
			t.Errorf("%s: origin %q", path, row[tail:])
			break
		}
	}
	return rows
}

// The attempts' table is the whole list, not its first page.
func TestAttemptsCSVIsWhole(t *testing.T) {
	s := publishedSite(t)
	rows := checkCSV(t, s, "/attempts.csv")
	if len(rows) != 1+1715+86 {
		t.Errorf("%d rows, want %d", len(rows), 1+1715+86)
	}
	ids := map[string]bool{}
	for _, r := range rows[1:] {
		ids[r[0]] = true
	}
	if len(ids) != 1715+86 {
		t.Errorf("%d different ids", len(ids))
	}
}

// Numbers in a table are those of the JSON, to the last digit.
func TestCSVEqualsJSON(t *testing.T) {
	s := publishedSite(t)
	var board struct {
		Rows []struct {
			Agent string
			Score float64
		}
	}
	s.decode(t, "/leaderboard.json", &board)
	rows := checkCSV(t, s, "/leaderboard.csv")
	if len(board.Rows) == 0 {
		t.Fatal("the leaderboard is empty")
	}
	for i, r := range board.Rows {
		score, err := strconv.ParseFloat(rows[i+1][6], 64)
		if rows[i+1][0] != r.Agent || err != nil || score != r.Score {
			t.Errorf("row %d: %v, want %s %v", i, rows[i+1][:7], r.Agent, r.Score)
		}
	}
}

func TestEncodeCSV(t *testing.T) {
	five, n := -0.5, int64(7)
	var none *float64
	tab := table{columns: []string{"text", "x", "y", "n", "flag", "unknown", "missing"}}
	tab.add("=1+1", -3.25, &five, &n, true, none, nil)
	tab.add("a,\"b\"\nc", 1e-9, nil, 12, false, nil, nil)
	tab.add("-5", 0.1, nil, int64(-2), false, nil, nil)
	tab.add("@x", 1.0, nil, 0, false, nil, nil)
	tab.add("\tx", 1.0, nil, 0, false, nil, nil)
	got, err := encodeCSV(tab, meta{Title: "+title", Axes: []axis{{"score", "normalized"}, {"k", ""}}, N: 3, DataRevision: 2, Version: "v", URL: "http://x/"})
	if err != nil {
		t.Fatal(err)
	}
	end := ",'+title,score (normalized); k,3,2,v,http://x/\r\n"
	want := "text,x,y,n,flag,unknown,missing,view_title,view_axes,view_n,data_revision,rebench_version,view_url\r\n" +
		"'=1+1,-3.25,-0.5,7,true,," + end +
		"\"a,\"\"b\"\"\r\nc\",1e-09,,12,false,," + end +
		"'-5,0.1,,-2,false,," + end +
		"'@x,1,,0,false,," + end +
		"'\tx,1,,0,false,," + end
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
