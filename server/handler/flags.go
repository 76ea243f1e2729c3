package handler

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/web/view"
)

// flagKinds are what a flag can say.
var flagKinds = []rebench.FlagKind{rebench.FlagSuspected, rebench.FlagInvalid, rebench.FlagRetracted}

// maxReason is the longest reason of a flag in characters.
const maxReason = 2_000

func (s *Server) addFlag(c *gin.Context, id string, kind rebench.FlagKind, set bool, author, reason string) (rebench.DataRevision, error) {
	var faults []ParamFault
	if !slices.Contains(flagKinds, kind) {
		faults = append(faults, ParamFault{Parameter: "kind", Code: "unknown_value", Found: shorten(string(kind)), Expected: "a kind of flag", Allowed: texts(flagKinds)})
	}
	if n := len(strings.TrimSpace(reason)); n == 0 || len(reason) > maxReason {
		faults = append(faults, ParamFault{Parameter: "reason", Code: "malformed", Found: shorten(reason), Expected: fmt.Sprintf("a reason of 1 to %d characters", maxReason)})
	}
	if len(faults) > 0 {
		return rebench.DataRevision{}, &ParamError{Faults: faults}
	}
	return s.db.AddFlag(c.Request.Context(), rebench.Flag{AttemptID: id, Kind: kind, Set: set, Author: author, Reason: strings.TrimSpace(reason)})
}

// postFlag appends a flag, or lifts one, through the API.
func (s *Server) postFlag(c *gin.Context) error {
	token, err := s.bearer(c, store.ScopeAdmin)
	if err != nil {
		return err
	}
	var q struct {
		Kind   rebench.FlagKind `json:"kind"`
		Set    *bool            `json:"set"` // default true
		Reason string           `json:"reason"`
	}
	if err := readJSON(c, &q); err != nil {
		return err
	}
	set := q.Set == nil || *q.Set
	revision, err := s.addFlag(c, c.Param("id"), q.Kind, set, token.Name, q.Reason)
	if err != nil {
		return err
	}
	c.JSON(http.StatusCreated, gin.H{"attempt_id": c.Param("id"), "kind": q.Kind, "set": set, "author": token.Name, "data_revision": revision.ID})
	return nil
}

// postCurrent makes a revision that was held back the current one.
func (s *Server) postCurrent(c *gin.Context) error {
	token, err := s.bearer(c, store.ScopeAdmin)
	if err != nil {
		return err
	}
	var q struct {
		Revision int    `json:"revision"`
		Reason   string `json:"reason"`
	}
	if err := readJSON(c, &q); err != nil {
		return err
	}
	if strings.TrimSpace(q.Reason) == "" || len(q.Reason) > maxReason {
		return &ParamError{Faults: []ParamFault{{Parameter: "reason", Code: "malformed", Found: shorten(q.Reason), Expected: fmt.Sprintf("a reason of 1 to %d characters", maxReason)}}}
	}
	revision, err := s.db.MakeCurrent(c.Request.Context(), c.Param("id"), q.Revision, token.Name, q.Reason)
	if err != nil {
		return err
	}
	c.JSON(http.StatusCreated, gin.H{"attempt_id": c.Param("id"), "revision": q.Revision, "data_revision": revision.ID})
	return nil
}

// flagForm takes the attempt page's forms: flags, and which revision is current.
func (s *Server) flagForm(c *gin.Context) error {
	x, err := s.sessionFor(c, store.ScopeAdmin)
	if err != nil {
		return err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxField)
	if err := x.checkCSRF(c.PostForm(csrfField)); err != nil {
		return err
	}
	id, reason := c.Param("id"), c.PostForm("reason")
	if number := c.PostForm("revision"); number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || strings.TrimSpace(reason) == "" {
			return rebench.Errorf(rebench.CodeInvalid, "making a revision current needs its number and a reason")
		}
		_, err = s.db.MakeCurrent(c.Request.Context(), id, n, x.token.Name, reason)
		if err != nil {
			return err
		}
	} else if _, err := s.addFlag(c, id, rebench.FlagKind(c.PostForm("kind")), c.PostForm("set") != "0", x.token.Name, reason); err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, "/attempts/"+url.PathEscape(id)+"#flags")
	return nil
}

// auditPerPage is the length of one page of the audit trail.
const auditPerPage = 200

// auditPage serves who changed what, newest first, as page, JSON or CSV.
func (s *Server) auditPage(c *gin.Context) error {
	var before int64
	if text := c.Query("before"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return &ParamError{Faults: []ParamFault{{Parameter: "before", Code: "malformed", Found: shorten(text), Expected: "the id of an event"}}}
		}
		before = n
	}
	events, err := s.db.AuditEvents(c.Request.Context(), before, auditPerPage)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	switch {
	case strings.HasSuffix(c.Request.URL.Path, ".json"):
		c.JSON(http.StatusOK, gin.H{"events": events})
	case strings.HasSuffix(c.Request.URL.Path, ".csv"):
		c.Header("Content-Type", "text/csv; charset=utf-8")
		w := csv.NewWriter(c.Writer)
		_ = w.Write([]string{"id", "at", "actor", "action", "object", "detail"}) // errors stick to w
		for _, e := range events {
			_ = w.Write([]string{strconv.FormatInt(e.ID, 10), e.At.Format(timeFormat), textCell(e.Actor), textCell(e.Action), textCell(e.Object), textCell(e.Detail)})
		}
		w.Flush()
		return w.Error()
	default:
		next := int64(0)
		if len(events) == auditPerPage {
			next = events[len(events)-1].ID
		}
		return s.privatePage(c, "Audit", "/audit", func(p view.Page) templ.Component { return view.Audit(p, view.AuditData{Events: events, Next: next}) })
	}
	return nil
}
