package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"rebench/internal/analysis"
	"rebench/internal/attemptlog"
	"rebench/internal/live"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/web/chart"
	"rebench/web/view"
)

// streamRoutes are the routes by which runners deliver and readers watch attempts.
func (s *Server) streamRoutes(r *gin.Engine) {
	r.POST(apiPrefix+"/attempts/:id/events", s.handle(s.postEvents))
	r.GET(apiPrefix+"/attempts/:id/events/head", s.handle(s.eventsHead))
	r.GET(apiPrefix+"/attempts/:id/stream", s.handle(s.stream))
}

// acknowledged is the answer to streamed lines.
type acknowledged struct {
	AttemptID    string `json:"attempt_id"`
	Acknowledged int64  `json:"acknowledged"` // seq up to which every line is stored, -1 for none
}

// postEvents stores lines of an attempt log. The answer means that they are on disk.
func (s *Server) postEvents(c *gin.Context) error {
	token, err := s.bearer(c, store.ScopeUpload)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, live.MaxBody))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &httpError{status: http.StatusRequestEntityTooLarge, detail: fmt.Sprintf("The request is longer than %d bytes; send fewer lines at a time.", tooLarge.Limit)}
	}
	if err != nil {
		return &httpError{status: http.StatusBadRequest, detail: "The request broke off."}
	}
	id := c.Param("id")
	seq, err := s.live.Append(c.Request.Context(), token, id, body)
	if err != nil {
		return streamProblem(err)
	}
	c.JSON(http.StatusOK, acknowledged{AttemptID: id, Acknowledged: seq})
	return nil
}

// streamProblem gives refusals of streamed lines their status.
func streamProblem(err error) error {
	if refused, ok := errors.AsType[*store.StreamError](err); ok {
		code := "fork"
		if refused.Gap {
			code = "gap"
		}
		return &httpError{status: http.StatusConflict, detail: refused.Error(), code: code, expected: &refused.Expected}
	}
	if faults, ok := errors.AsType[attemptlog.Faults](err); ok {
		return errors.Join(&uploadError{faults: faults}, &httpError{status: http.StatusUnprocessableEntity, code: faults[0].Code})
	}
	if rebench.ErrorCode(err) == rebench.CodeInvalid {
		return &httpError{status: http.StatusUnprocessableEntity, detail: err.Error(), code: "bad_lines"}
	}
	return err
}

// eventsHead tells a runner where to go on.
func (s *Server) eventsHead(c *gin.Context) error {
	if _, err := s.bearer(c, store.ScopeUpload); err != nil {
		return err
	}
	a, ok, err := s.db.LiveAttempt(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	out := acknowledged{AttemptID: c.Param("id"), Acknowledged: -1}
	if ok {
		out.Acknowledged = a.Seq
	}
	c.JSON(http.StatusOK, out)
	return nil
}

// keepAlive is how often an idle stream sends a comment, so that proxies keep it open.
const keepAlive = 20 * time.Second

// liveUpdate is one message to a page that watches an attempt.
type liveUpdate struct {
	Option json.RawMessage `json:"option"` // of the chart
	HTML   string          `json:"html"`   // of what stands below it
	Score  *float64        `json:"score"`  // normalized, so far
	Ended  bool            `json:"ended"`
}

// stream sends the state of a live attempt as server-sent events: at once, and
// whenever its log grows, until it ends.
func (s *Server) stream(c *gin.Context) error {
	ctx, id := c.Request.Context(), c.Param("id")
	changed, stop := s.live.Watch(id)
	defer stop()
	state, ok, err := s.db.LiveAttempt(ctx, id)
	if err != nil {
		return err
	}
	if !ok {
		return rebench.Errorf(rebench.CodeNotFound, "attempt %q is not being streamed", id)
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(c.Writer)
	c.Writer.WriteHeader(http.StatusOK)
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		if err := s.sendUpdate(ctx, c, control, id); err != nil {
			return err
		}
		if state, _, err = s.db.LiveAttempt(ctx, id); err != nil || state.Ended {
			return err
		}
	wait:
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-s.stopped: // so that a shutdown need not wait for readers
				return nil
			case <-changed:
				break wait
			case <-tick.C:
				if err := control.SetWriteDeadline(time.Now().Add(keepAlive)); err != nil {
					return err
				}
				if _, err := io.WriteString(c.Writer, ": still here\n\n"); err != nil {
					return nil
				}
				if err := control.Flush(); err != nil {
					return nil
				}
			}
		}
	}
}

func (s *Server) sendUpdate(ctx context.Context, c *gin.Context, control *http.ResponseController, id string) error {
	d, log, err := s.liveDetail(ctx, id)
	if err != nil {
		return err
	}
	u, err := liveUpdateOf(ctx, d, log)
	if err != nil {
		return err
	}
	b, err := json.Marshal(u)
	if err != nil {
		return err
	}
	if err := control.SetWriteDeadline(time.Now().Add(keepAlive)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.Writer, "id: %d\nevent: attempt\ndata: %s\n\n", len(log), b); err != nil {
		return nil // the reader has gone
	}
	return control.Flush()
}

func liveUpdateOf(ctx context.Context, d *analysis.AttemptDetail, log []byte) (liveUpdate, error) {
	option, err := attemptFigure(chart.Source{Revision: d.Revision.ID}, d).Option()
	if err != nil {
		return liveUpdate{}, err
	}
	var html bytes.Buffer
	if err := view.LiveBody(liveData(d, log)).Render(ctx, &html); err != nil {
		return liveUpdate{}, err
	}
	u := liveUpdate{Option: option, HTML: html.String(), Ended: d.Attempt.EndReason != ""}
	if d.Attempt.FinalKnown {
		u.Score = &d.Attempt.Final
	}
	return u, nil
}

func liveData(d *analysis.AttemptDetail, log []byte) view.AttemptData {
	data := view.AttemptData{Detail: d, Live: true}
	data.Log, data.LogTruncated = firstLines(log[:min(len(log), shownLog)], shownLog), len(log) > shownLog
	return data
}

// liveDetail is an attempt as its streamed log stands.
func (s *Server) liveDetail(ctx context.Context, id string) (*analysis.AttemptDetail, []byte, error) {
	a, log, ok, err := s.live.Attempt(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, rebench.Errorf(rebench.CodeNotFound, "there is no attempt %q", id)
	}
	revision, err := s.db.LatestRevision(ctx)
	if err != nil {
		return nil, nil, err
	}
	d := &analysis.AttemptDetail{Attempt: a, Label: a.Agent.Name, Revision: revision, LogBytes: len(log), LogHead: a.LogHead}
	if err := addPauses(d, bytes.NewReader(log)); err != nil {
		return nil, nil, err
	}
	return d, log, nil
}

// livePage serves an attempt that is still being streamed. It reports false when
// the attempt is not live, so that the stored one is served.
func (s *Server) livePage(c *gin.Context, id string) (bool, error) {
	if s.live == nil {
		return false, nil
	}
	ctx := c.Request.Context()
	state, ok, err := s.db.LiveAttempt(ctx, id)
	if err != nil || !ok || state.Ended {
		return false, err
	}
	d, log, err := s.liveDetail(ctx, id)
	if err != nil {
		return false, err
	}
	p := view.Page{Title: "Attempt " + id, Path: "/attempts/" + id, Base: base(c), Version: s.version, Revision: d.Revision, Assets: s.instance}
	data := liveData(d, log)
	data.StreamURL = apiPrefix + "/attempts/" + url.PathEscape(id) + "/stream"
	data.Heard = state.Updated
	if data.Chart, err = drawn(p, "attempt", "", attemptFigure(chart.Source{Revision: d.Revision.ID}, d)); err != nil {
		return false, err
	}
	data.Chart.SVG = "" // a picture of a moment is not kept
	option, err := attemptFigure(chart.Source{Revision: d.Revision.ID}, d).Option()
	if err != nil {
		return false, err
	}
	data.Chart.Option = string(option)
	var buf bytes.Buffer
	if err := view.Attempt(p, data).Render(ctx, &buf); err != nil {
		return false, err
	}
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "text/html; charset=utf-8", buf.Bytes())
	return true, nil
}
