package view

import (
	"time"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
)

// Choices are the values that a page's settings can take.
type Choices = analysis.Choices

// Chart is a chart of a page. Option is the ECharts option as JSON, drawn by
// charts.js; SVG is the address of the picture shown without JavaScript. A chart
// without either is not drawn.
type Chart struct {
	ID       string // unique on the page: letters, digits and hyphens
	Option   string
	SVG      string
	Title    string // the question that the chart answers
	Subtitle string // what is plotted, n, cohort
	Alt      string // what the chart shows, in a sentence or two
	How      string // one line on how to read it
	Notes    []string
	Missing  string // why there is nothing to draw
}

// Empty reports whether there is nothing to draw.
func (c Chart) Empty() bool { return c.Option == "" && c.SVG == "" }

// LeaderboardData is what the page / shows.
type LeaderboardData struct {
	Board *analysis.Leaderboard
	// Leads holds the two highest agents of the board against each other and,
	// where humans are on the board, the humans against the highest agent.
	Leads []analysis.Lead
	// Sensitivity is nil unless the reader asked for it (show=sensitivity).
	Sensitivity *analysis.Sensitivity
	Choices     Choices
}

// CurvesData is what /curves shows.
type CurvesData struct {
	Curves  *analysis.Curves
	Chart   Chart
	Choices Choices
}

// CompareData is what /compare shows. Comparison is nil until two agents are chosen.
type CompareData struct {
	Comparison *analysis.Comparison
	Chart      Chart // difference against total time
	Choices    Choices
}

// EnvironmentsData is what /environments shows.
type EnvironmentsData struct {
	View         analysis.View
	Environments []analysis.EnvironmentSummary
	Choices      Choices
}

// EnvironmentData is what /environments/{id} shows.
type EnvironmentData struct {
	Detail       *analysis.EnvironmentDetail
	Distribution Chart
	ScoreAtK     Chart
	Choices      Choices
}

// HumansData is what /humans shows.
type HumansData struct {
	Humans      *analysis.Humans
	Percentiles Chart
	Choices     Choices
}

// AttemptsData is what /attempts shows.
type AttemptsData struct{ List *analysis.AttemptList }

// AttemptData is what /attempts/{id} shows.
type AttemptData struct {
	Detail *analysis.AttemptDetail
	Chart  Chart
	// LogURL is where the raw attempt log can be downloaded, "" when there is none.
	LogURL string
	// Log is the beginning of the raw log, shown at the bottom of the page.
	Log          string
	LogTruncated bool
	// Draw is set where the attempt was drawn for audit this month.
	Draw *Draw
	// Session is who reads; an administrator can flag. CanLogIn is set where others
	// could become one.
	Session  Session
	CanLogIn bool
	// Live marks an attempt that is still being streamed: StreamURL sends what is
	// new, Heard is when its log grew last.
	Live      bool
	StreamURL string
	Heard     time.Time
}

// MethodologyData is what /methodology shows.
type MethodologyData struct {
	Methodology *analysis.Methodology
	// Published is the page's list of embedded files with their checksums.
	Published []PublishedFile
}

// PublishedFile is one embedded file of published data.
type PublishedFile struct{ Name, What, Source, SHA256 string }

// SearchData is what /search shows.
type SearchData struct {
	Text         string
	Agents       []string
	Environments []rebench.Environment
	Attempts     []analysis.AttemptRow
	Total        int // attempts that match
}

// ErrorData is what an error page shows.
type ErrorData struct {
	Status int
	Detail string // what was found and what was expected
	// Allowed lists what could be asked instead, as links.
	Allowed []Link
}

// Link is a place to go.
type Link struct{ Text, URL string }
