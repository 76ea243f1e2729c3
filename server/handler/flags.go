package handler

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/web/view"
)

// flagKinds are what a flag can say.
var flagKinds = []rebench.FlagKind{rebench.FlagSuspected, rebench.FlagInvalid, rebench.FlagRetracted, rebench.FlagAudited}

// maxReason is the longest reason of a flag in characters.
const maxReason = 2_000

func (s *Server) addFlag(c *gin.Context, id string, kind rebench.FlagKind, set bool, author, reason string) (rebench.DataRevision, error) {
	var faults []ParamFault
	if !slices.Contains(flagKinds, kind) {
		faults = append(faults, ParamFault{Parameter: "kind", Code: "unknown_value", Found: shorten(string(kind)), Expected: "a kind of flag", Allowed: texts(flagKinds)})
	}
	if fault := checkReason(reason); fault != nil {
		faults = append(faults, *fault)
	}
	if len(faults) > 0 {
		return rebench.DataRevision{}, &ParamError{Faults: faults}
	}
	return s.db.AddFlag(c.Request.Context(), rebench.Flag{AttemptID: id, Kind: kind, Set: set, Author: author, Reason: strings.TrimSpace(reason)})
}

// admin returns the token of a change that is within its rate.
func (s *Server) admin(c *gin.Context) (store.Token, error) {
	token, err := s.bearer(c, store.ScopeAdmin)
	if err == nil && !s.limits.allow(token.ID) {
		err = tooMany(c)
	}
	return token, err
}

// postFlag appends a flag, or lifts one, through the API.
func (s *Server) postFlag(c *gin.Context) error {
	token, err := s.admin(c)
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
	token, err := s.admin(c)
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
	if strings.TrimSpace(q.Reason) == "" {
		q.Reason = "made current through the API"
	}
	revision, err := s.makeCurrent(c, c.Param("id"), q.Revision, token.Name, q.Reason)
	if err != nil {
		return err
	}
	c.JSON(http.StatusCreated, gin.H{"attempt_id": c.Param("id"), "revision": q.Revision, "data_revision": revision.ID})
	return nil
}

func (s *Server) makeCurrent(c *gin.Context, id string, number int, author, reason string) (rebench.DataRevision, error) {
	if fault := checkReason(reason); fault != nil {
		return rebench.DataRevision{}, &ParamError{Faults: []ParamFault{*fault}}
	}
	revision, err := s.db.MakeCurrent(c.Request.Context(), id, number, author, strings.TrimSpace(reason))
	if err != nil {
		return revision, err
	}
	return s.applyRules(c.Request.Context(), id, revision)
}

// checkReason returns what is wrong with a reason, nil for nothing.
func checkReason(reason string) *ParamFault {
	if n := utf8.RuneCountInString(strings.TrimSpace(reason)); n == 0 || n > maxReason || !utf8.ValidString(reason) {
		return &ParamFault{Parameter: "reason", Code: "malformed", Found: shorten(reason), Expected: fmt.Sprintf("a reason of 1 to %d characters", maxReason)}
	}
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
	if !s.limits.allow(x.token.ID) {
		return tooMany(c)
	}
	id, reason := c.Param("id"), c.PostForm("reason")
	if number := c.PostForm("revision"); number != "" {
		n, err := strconv.Atoi(number)
		if err != nil {
			return rebench.Errorf(rebench.CodeInvalid, "there is no revision %q", shorten(number))
		}
		if _, err := s.makeCurrent(c, id, n, x.token.Name, reason); err != nil {
			return err
		}
	} else {
		verb, kind, _ := strings.Cut(c.PostForm("statement"), ":")
		if verb != "set" && verb != "lift" {
			return rebench.Errorf(rebench.CodeInvalid, "unknown statement %q", shorten(c.PostForm("statement")))
		}
		if _, err := s.addFlag(c, id, rebench.FlagKind(kind), verb == "set", x.token.Name, reason); err != nil {
			return err
		}
	}
	c.Redirect(http.StatusSeeOther, view.AttemptPath(id)+"#flags")
	return nil
}
