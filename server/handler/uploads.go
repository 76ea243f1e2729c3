package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/upload"
)

// uploadAnswer is the body of a successful upload.
type uploadAnswer struct {
	UploadID string `json:"upload_id"`
	DryRun   bool   `json:"dry_run"`
	*upload.Report
}

// postUpload imports files or, with dry_run, tells what importing would do.
func (s *Server) postUpload(c *gin.Context) error {
	token, err := s.bearer(c, store.ScopeUpload)
	if err != nil {
		return err
	}
	if !s.limits.allow(token.ID) {
		c.Header("Retry-After", "1")
		return &httpError{status: http.StatusTooManyRequests, detail: fmt.Sprintf("More than %d uploads a minute by this token; try again in a moment.", uploadsPerMinute)}
	}
	flags, err := uploadFlags(c)
	if err != nil {
		return err
	}
	dir, err := s.uploads.tempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	u, err := spool(c, dir, func(map[string]string) error { return nil })
	if err != nil {
		return err
	}
	for name := range u.fields {
		if name != "mapping" {
			return &ParamError{Faults: []ParamFault{{Parameter: name, Code: "unknown_parameter", Allowed: []string{"file", "mapping"}}}}
		}
	}
	key := c.GetHeader("Idempotency-Key")
	if key == "" || flags["dry_run"] {
		status, body, err := s.runUpload(c.Request.Context(), token, u, flags)
		if err != nil {
			return err
		}
		c.Data(status, "application/json; charset=utf-8", body)
		return nil
	}
	return s.onceOnly(c, token, key, u, flags)
}

// onceOnly answers an upload with an idempotency key: the first time by doing it,
// later by repeating the answer.
func (s *Server) onceOnly(c *gin.Context, token store.Token, key string, u spooled, flags map[string]bool) error {
	if len(key) > maxText {
		return rebench.Errorf(rebench.CodeInvalid, "the Idempotency-Key is longer than %d characters", maxText)
	}
	ctx := c.Request.Context()
	known, err := s.db.ClaimKey(ctx, token, key, fmt.Sprintf("%s %v", u.digest(), flags), s.started)
	if err != nil {
		return err
	}
	if known != nil {
		c.Header("Idempotent-Replayed", "true")
		c.Data(known.Status, "application/json; charset=utf-8", known.Body)
		return nil
	}
	status, body, err := s.runUpload(ctx, token, u, flags)
	if err != nil {
		return errors.Join(err, s.db.ReleaseKey(context.WithoutCancel(ctx), token, key))
	}
	if err := s.db.KeepAnswer(context.WithoutCancel(ctx), token, key, store.Answer{Status: status, Body: body}); err != nil {
		return err
	}
	c.Data(status, "application/json; charset=utf-8", body)
	return nil
}

// uploadFlags are the switches in the address.
func uploadFlags(c *gin.Context) (map[string]bool, error) {
	out := map[string]bool{"dry_run": false, "partial": false, "make_current": false}
	var faults []ParamFault
	for name, values := range c.Request.URL.Query() {
		if _, ok := out[name]; !ok {
			faults = append(faults, ParamFault{Parameter: name, Code: "unknown_parameter", Allowed: []string{"dry_run", "partial", "make_current"}})
			continue
		}
		switch v := strings.ToLower(values[0]); {
		case slices.Contains([]string{"1", "true", "yes", ""}, v):
			out[name] = true
		case slices.Contains([]string{"0", "false", "no"}, v):
		default:
			faults = append(faults, ParamFault{Parameter: name, Code: "unknown_value", Found: shorten(v), Expected: "1 or 0", Allowed: []string{"1", "0"}})
		}
	}
	if len(faults) > 0 {
		return nil, &ParamError{Faults: faults}
	}
	return out, nil
}

// runUpload plans or imports a spooled upload and returns the answer.
func (s *Server) runUpload(ctx context.Context, token store.Token, u spooled, flags map[string]bool) (status int, body []byte, err error) {
	if len(u.files) == 0 {
		return 0, nil, &uploadError{faults: []attemptlog.Fault{{File: "request", Code: "missing_field", Field: "file", Detail: "found no part named file, expected one or more"}}}
	}
	m, err := ingest.ParseMapping([]byte(u.fields["mapping"]))
	if err != nil {
		return 0, nil, &uploadError{faults: []attemptlog.Fault{{File: "mapping", Field: "mapping", Code: "bad_mapping", Detail: err.Error()}}}
	}
	o := upload.Options{Mapping: m, Author: token.Name, Partial: flags["partial"], MakeCurrent: flags["make_current"]}
	do, status := s.uploads.service.Import, http.StatusCreated
	if flags["dry_run"] {
		do, status = s.uploads.service.Plan, http.StatusOK
	}
	report, err := do(ctx, u.files, o)
	if errors.Is(err, upload.ErrFaulty) {
		return 0, nil, &uploadError{faults: report.Errors, report: report}
	}
	if err != nil {
		return 0, nil, err
	}
	body, err = json.Marshal(uploadAnswer{UploadID: randomID(), DryRun: flags["dry_run"], Report: report})
	return status, body, err
}

// uploadError is what is wrong with the content of an upload.
type uploadError struct {
	faults []attemptlog.Fault
	report *upload.Report // nil before any file was read
}

func (e *uploadError) Error() string {
	switch len(e.faults) {
	case 0:
		return "the upload holds nothing to import"
	case 1:
		return e.faults[0].Error()
	}
	return fmt.Sprintf("%d faults, nothing was imported; the first: %s", len(e.faults), e.faults[0].Error())
}
