package handler

import (
	"context"

	"github.com/a-h/templ"

	"rebench/internal/analysis"
	"rebench/web/chart"
	"rebench/web/view"
)

// filters are the parameters that choose attempts of a list.
var filters = []string{"environment", "agent", "kind", "cohort", "time_limit", "flagged", "text", "sort", "environments", "hours", "log"}

var attemptsResource = resource{path: "/attempts",
	takes: append([]string{"profile", "scorer", "hardware", "asof", "page_token"}, filters...), build: buildAttempts}

func buildAttempts(s *Server, x *exchange) (*document, error) {
	ctx := x.c.Request.Context()
	first, err := s.engine.Attempts(ctx, x.query, x.filter, x.pageToken)
	if err != nil {
		return nil, err
	}
	rows := first.Attempts
	if (x.form == formCSV || x.form == formSVG) && x.pageToken == "" {
		if rows, err = s.allAttempts(ctx, x, first); err != nil {
			return nil, err
		}
	}
	return &document{
		title:       "Attempts",
		description: "Every attempt behind the numbers, with its score, flags and source.",
		axes:        []axis{{"score", scoreUnit}, {"duration", "s"}},
		n:           first.Total, data: first,
		table: func() table { return attemptsTable(rows) },
		svg:   func(p view.Page) ([]byte, error) { return svgOf(p, chart.AttemptScores(rows, x.source())) },
		page: func(p view.Page) (templ.Component, error) {
			return view.Attempts(p, view.AttemptsData{List: first}), nil
		},
	}, nil
}

// allAttempts follows the pages: a table or picture that silently ends at the first
// page would be taken for the whole.
func (s *Server) allAttempts(ctx context.Context, x *exchange, page *analysis.AttemptList) ([]analysis.AttemptRow, error) {
	rows := make([]analysis.AttemptRow, 0, page.Total)
	rows = append(rows, page.Attempts...)
	for page.NextPageToken != "" {
		var err error
		if page, err = s.engine.Attempts(ctx, x.query, x.filter, page.NextPageToken); err != nil {
			return nil, err
		}
		rows = append(rows, page.Attempts...)
	}
	return rows, nil
}

func attemptsTable(rows []analysis.AttemptRow) table {
	t := table{columns: []string{"id", "environment", "profile", "scorer_version", "agent", "kind", "cohort", "time_limit_s", "duration_s",
		"score", "raw", "cost_usd", "suspected", "excluded", "unranked", "has_log", "badge"}}
	for _, a := range rows {
		t.add(a.ID, string(a.Environment), string(a.Profile), a.ScorerVersion, a.Agent, string(a.Kind), string(a.Cohort), known(a.TimeLimitS),
			known(a.DurationS), a.Score, a.Raw, a.CostUSD, a.Suspected, a.Excluded, a.Unranked, a.HasLog, string(a.Badge))
	}
	return t
}

// known is nil for a time of 0, which means unknown.
func known(seconds int64) *int64 {
	if seconds == 0 {
		return nil
	}
	return &seconds
}

var attemptResource = resource{path: "/attempts/:id", takes: []string{"asof"}, build: buildAttempt, live: (*Server).livePage, personal: true}

// shownLog is how much of the raw log the page shows.
const shownLog = 64 << 10

func buildAttempt(s *Server, x *exchange) (*document, error) {
	ctx := x.c.Request.Context()
	d, err := s.attempt(ctx, x)
	if err != nil {
		return nil, err
	}
	a := d.Attempt
	draw, err := s.drawOf(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	log, err := s.readLog(ctx, d)
	if err != nil {
		return nil, err
	}
	doc := &document{
		title:       "Attempt " + a.ID,
		description: d.Label + " on " + string(a.Environment) + ": score log, validity, hashes and source of one attempt.",
		axes:        []axis{{"score", scoreUnit}, {"elapsed time", "s"}},
		n:           1, data: attemptJSON(d, draw),
		table: func() table { return entriesTable(d) },
		svg:   func(p view.Page) ([]byte, error) { return svgOf(p, attemptFigure(x.source(), d)) },
	}
	if x.form != formHTML {
		return doc, nil
	}
	data := view.AttemptData{Detail: d, Session: sessionView(x.session), CanLogIn: s.db != nil && x.session == nil}
	if draw != nil {
		data.Draw = &view.Draw{Month: draw.Month, Outcome: draw.Outcome}
	}
	if d.LogBytes > 0 {
		data.LogURL = logURL(a.ID)
		data.Log, data.LogTruncated = firstLines(log, shownLog), d.LogBytes > len(log)
	}
	doc.page = func(p view.Page) (templ.Component, error) {
		c, err := drawn(p, "attempt", "", attemptFigure(x.source(), d))
		data := data
		data.Chart = c
		return view.Attempt(p, data), err
	}
	return doc, nil
}

// attempt returns the attempt that the path names; when there is none, the error
// offers ids like it.
func (s *Server) attempt(ctx context.Context, x *exchange) (*analysis.AttemptDetail, error) {
	id := x.c.GetString(idKey)
	d, err := s.engine.AttemptDetail(ctx, id, x.query.AsOf)
	if !isNotFound(err) {
		return d, err
	}
	return nil, &notFoundError{kind: "attempt", base: "/attempts/", fault: ParamFault{Parameter: "id", Code: "unknown_value", Found: shorten(id),
		Expected: "the id of an attempt", Allowed: s.similarAttempts(ctx, x, id)}}
}

func entriesTable(d *analysis.AttemptDetail) table {
	t := table{columns: []string{"attempt_id", "seq", "elapsed_s", "at", "raw", "normalized", "basis", "valid", "reason", "message",
		"submission_sha256", "scorer_sha256", "rescored_raw", "rescored"}}
	for _, e := range d.Attempt.Entries {
		at := ""
		if e.At != nil {
			at = e.At.UTC().Format(timeFormat)
		}
		t.add(d.Attempt.ID, e.Seq, secondsOf(e.Elapsed), at, e.Raw, e.Normalized, string(e.Basis), e.Valid, e.Reason, e.Message,
			e.SubmissionSHA256, e.ScorerSHA256, e.RescoredRaw, e.Rescored)
	}
	return t
}
