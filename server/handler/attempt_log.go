package handler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gin-gonic/gin"

	"rebench/internal/analysis"
	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/web/chart"
	"rebench/web/view"
)

// attemptLog serves the raw attempt log v1 of an attempt, as it was received.
func (s *Server) attemptLog(c *gin.Context) error {
	c.Set(idKey, c.Param("id"))
	x, err := s.bind(c, attemptResource, view.AttemptPath(c.Param("id")), formAPI)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	d, err := s.attempt(ctx, x)
	if err != nil {
		return err
	}
	if d.Attempt.LogBytes == 0 {
		return rebench.Errorf(rebench.CodeNotFound, "attempt %q has no attempt log", d.Attempt.ID)
	}
	c.Header("Cache-Control", "no-cache")
	c.Header("Content-Disposition", `attachment; filename="`+downloadName("/"+d.Attempt.ID)+`.ndjson"`)
	c.Header("Content-Type", "application/x-ndjson")
	_, err = s.store.WriteLog(ctx, d.Attempt.RevisionID, c.Writer)
	return err
}

// firstLines returns the whole lines of the first bytes of a log; limit is how many
// bytes were kept at most.
func firstLines(log []byte, limit int) string {
	if len(log) == limit {
		if end := bytes.LastIndexByte(log, '\n'); end >= 0 {
			log = log[:end+1]
		}
	}
	return strings.ToValidUTF8(string(log), "\uFFFD")
}

// similarAttempts returns ids that contain the id asked for, or its last part.
func (s *Server) similarAttempts(ctx context.Context, x *exchange, id string) []string {
	parts := []string{id, id[strings.LastIndexAny(id, ":/")+1:]}
	for _, text := range parts {
		if len(text) < 3 || len(text) > maxText {
			continue
		}
		found, err := s.engine.Attempts(ctx, analysis.Query{AsOf: x.query.AsOf}, analysis.AttemptFilter{Text: text}, "")
		if err != nil || len(found.Attempts) == 0 {
			continue
		}
		var out []string
		for _, a := range found.Attempts[:min(maxNear, len(found.Attempts))] {
			out = append(out, a.ID)
		}
		return out
	}
	return nil
}

func isNotFound(err error) bool {
	return err != nil && rebench.ErrorCode(err) == rebench.CodeNotFound
}

// notFoundError is an id in a path that nothing has.
type notFoundError struct {
	kind  string // environment, attempt
	base  string // path below which such ids live
	fault ParamFault
}

func (e *notFoundError) Error() string {
	text := "there is no " + e.kind + " \"" + e.fault.Found + "\""
	switch {
	case e.fault.Hint != "":
		text += ". " + e.fault.Hint
	case len(e.fault.Allowed) > 0:
		text += ". Like it: " + strings.Join(e.fault.Allowed, ", ")
	}
	return text
}

func (e *notFoundError) Unwrap() error {
	return &rebench.Error{Code: rebench.CodeNotFound, Message: e.Error()}
}

// faultsOf are what an error says about single parameters.
func faultsOf(err error) []ParamFault {
	if e, ok := errors.AsType[*ParamError](err); ok {
		return e.Faults
	}
	if e, ok := errors.AsType[*notFoundError](err); ok {
		return []ParamFault{e.fault}
	}
	return nil
}

// readLog adds what the raw log says to the attempt (size, head and pauses) and
// returns its beginning. A log may be long, so it passes through in chunks.
func (s *Server) readLog(ctx context.Context, d *analysis.AttemptDetail) ([]byte, error) {
	a := d.Attempt
	d.LogBytes, d.LogHead = int(a.LogBytes), a.LogHead
	if d.LogBytes == 0 {
		return nil, nil
	}
	out := s.logReader(ctx, a.RevisionID)
	defer out.Close() // ends the writer if reading stops early
	beginning := &firstBytes{limit: shownLog}
	err := addPauses(d, io.TeeReader(out, beginning))
	return beginning.kept, err
}

// addPauses reads a log for the attempt's pauses.
func addPauses(d *analysis.AttemptDetail, log io.Reader) error {
	r := attemptlog.NewReader(log, attemptlog.Options{File: d.Attempt.ID})
	var open *attemptlog.Pause
	for r.Next() {
		switch e := r.Line().Event.(type) {
		case *attemptlog.Pause:
			open = e
		case *attemptlog.Resume:
			if open != nil {
				d.Pauses = append(d.Pauses, pauseOf(open, e))
			}
			open = nil
		}
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("read the log of attempt %s: %w", d.Attempt.ID, err)
	}
	if open != nil {
		d.Pauses = append(d.Pauses, pauseOf(open, &attemptlog.Resume{}))
	}
	return nil
}

// firstBytes keeps the first bytes written to it.
type firstBytes struct {
	limit int
	kept  []byte
}

func (b *firstBytes) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), b.limit-len(b.kept))]...)
	return len(p), nil
}

// pauseOf gives a pause its length, 0 when the wall times are unknown.
func pauseOf(p *attemptlog.Pause, r *attemptlog.Resume) analysis.Pause {
	out := analysis.Pause{Reason: p.Reason}
	if p.T != nil {
		out.AtS = *p.T
	}
	if p.At != nil && r.At != nil {
		out.Length = r.At.Sub(*p.At)
	}
	return out
}

func attemptFigure(src chart.Source, d *analysis.AttemptDetail) *chart.Figure {
	pauses := make([]chart.Pause, len(d.Pauses))
	for i, p := range d.Pauses {
		pauses[i] = chart.Pause{AtS: p.AtS, Length: p.Length}
	}
	return chart.Attempt(d.Attempt, d.Label, pauses, src)
}
