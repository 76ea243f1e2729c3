package handler

import (
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"rebench/internal/rebench"
	"rebench/internal/validity"
	"rebench/web/view"
)

// auditPerPage is the length of one page of the audit trail.
const auditPerPage = 200

// auditEvents returns one page of who changed what, newest first, and the id to go on
// before, 0 at the end.
func (s *Server) auditEvents(c *gin.Context) (events []rebench.AuditEvent, next int64, err error) {
	var before int64
	for name := range c.Request.URL.Query() {
		if name != "before" {
			return nil, 0, &ParamError{Faults: []ParamFault{{Parameter: name, Code: "unknown_parameter", Found: shorten(name), Expected: "a parameter of the audit trail", Allowed: []string{"before"}}}}
		}
	}
	if text := c.Query("before"); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return nil, 0, &ParamError{Faults: []ParamFault{{Parameter: "before", Code: "malformed", Found: shorten(text), Expected: "the id of an event"}}}
		}
	}
	if events, err = s.db.AuditEvents(c.Request.Context(), before, auditPerPage); err != nil {
		return nil, 0, err
	}
	if len(events) == auditPerPage {
		next = events[len(events)-1].ID
	}
	c.Header("Cache-Control", "no-store")
	return events, next, nil
}

func (s *Server) auditPage(c *gin.Context) error {
	events, next, err := s.auditEvents(c)
	if err != nil {
		return err
	}
	d := view.AuditData{Events: events, Next: next}
	if c.Query("before") == "" {
		now := time.Now()
		d.Month, d.Share = validity.Month(now), s.auditShare
		if d.Drawn, err = s.engine.Drawn(c.Request.Context(), now, s.auditShare); err != nil {
			return err
		}
	}
	return s.privatePage(c, http.StatusOK, "Audit trail", "/audit", func(p view.Page) templ.Component {
		return view.Audit(p, d)
	})
}

// auditJSON serves a page of events, the first with this month's draw; next_before leads
// to the next.
func (s *Server) auditJSON(c *gin.Context) error {
	events, next, err := s.auditEvents(c)
	if err != nil {
		return err
	}
	out := gin.H{"events": events}
	if c.Query("before") == "" {
		now := time.Now()
		drawn, err := s.engine.Drawn(c.Request.Context(), now, s.auditShare)
		if err != nil {
			return err
		}
		out["drawn"] = gin.H{"month": validity.Month(now), "share": s.auditShare, "attempts": drawn}
	}
	if next > 0 {
		out["next_before"] = next
	}
	c.JSON(http.StatusOK, out)
	return nil
}

// auditCSV serves the whole trail.
func (s *Server) auditCSV(c *gin.Context) error {
	events, next, err := s.auditEvents(c)
	if err != nil {
		return err
	}
	f := newCSVFile(c, "rebench-audit.csv", "id", "at", "actor", "action", "object", "detail")
	for {
		for _, e := range events {
			f.add(e.ID, e.At.Format(timeFormat), e.Actor, e.Action, e.Object, e.Detail)
		}
		if next == 0 {
			break
		}
		if events, err = s.db.AuditEvents(c.Request.Context(), next, auditPerPage); err != nil {
			return err
		}
		next = 0
		if len(events) == auditPerPage {
			next = events[len(events)-1].ID
		}
	}
	return f.end()
}
