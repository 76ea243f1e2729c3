package handler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/upload"
)

// postUpload imports files or, with dry_run, tells what importing would do.
func (s *Server) postUpload(c *gin.Context) error {
	token, err := s.uploader(c)
	if err != nil {
		return err
	}
	flags, err := uploadFlags(c)
	if err != nil {
		return err
	}
	key := c.GetHeader("Idempotency-Key")
	if len(key) > maxText {
		return rebench.Errorf(rebench.CodeInvalid, "the Idempotency-Key is longer than %d characters", maxText)
	}
	if flags["dry_run"] {
		key = "" // a dry run can be repeated anyway
	}
	o := once{s: s, token: token, key: key}
	if err := o.claim(c.Request.Context()); err != nil {
		return err
	}
	defer o.release()
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
			return &ParamError{Faults: []ParamFault{{Parameter: name, Code: "unknown_parameter", Expected: "a part of the request", Allowed: []string{"file", "mapping"}}}}
		}
	}
	o.digest = fmt.Sprintf("%s %v", u.digest(), flags)
	if o.known != nil {
		return o.repeat(c)
	}
	return s.runUpload(c, dir, u, flags, &o)
}

// uploader returns the token of an upload that is within its rate.
func (s *Server) uploader(c *gin.Context) (store.Token, error) {
	token, err := s.bearer(c, store.ScopeUpload)
	if err == nil && !s.limits.allow(token.ID) {
		err = tooMany(c)
	}
	return token, err
}

func tooMany(c *gin.Context) error {
	c.Header("Retry-After", "1")
	return &httpError{status: http.StatusTooManyRequests, detail: fmt.Sprintf("More than %d changes a minute by this token; try again in a moment.", changesPerMinute)}
}

// keyLife is how long an answer is kept for its idempotency key.
const keyLife = 30 * 24 * time.Hour

// once makes sure that an upload with an idempotency key is done once and answered
// the same every time. Without a key it does nothing.
type once struct {
	s      *Server
	token  store.Token
	key    string
	digest string        // of the request, once it is known
	known  *store.Answer // of the first time
	kept   bool
}

func (o *once) claim(ctx context.Context) (err error) {
	if o.key != "" {
		o.known, err = o.s.db.ClaimKey(ctx, o.token, o.key, o.s.started)
	}
	o.kept = o.key == "" || err != nil || o.known != nil
	return err
}

// repeat answers as the first time.
func (o *once) repeat(c *gin.Context) error {
	if o.known.Digest != o.digest {
		return rebench.Errorf(rebench.CodeConflict, "the Idempotency-Key was used for another request; use a new one")
	}
	body, err := unpack(o.known.Body)
	if err != nil {
		return err
	}
	defer body.Close()
	c.Header("Idempotent-Replayed", "true")
	return sendJSON(c, o.known.Status, body)
}

// keep stores the answer, which is read.
func (o *once) keep(ctx context.Context, status int, body io.ReadSeeker) error {
	if o.key == "" {
		return nil
	}
	b, err := pack(body)
	if err != nil {
		return err
	}
	if err := o.s.db.KeepAnswer(context.WithoutCancel(ctx), o.token, o.key, store.Answer{Digest: o.digest, Status: status, Body: b}); err != nil {
		return err
	}
	o.kept = true
	_, err = body.Seek(0, io.SeekStart)
	return err
}

// release gives the key back unless there is an answer to it.
func (o *once) release() {
	if o.kept {
		return
	}
	if err := o.s.db.ReleaseKey(context.Background(), o.token, o.key); err != nil {
		o.s.log.Error("release an idempotency key", "error", err.Error())
	}
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

// runUpload plans or imports a spooled upload and sends the answer.
func (s *Server) runUpload(c *gin.Context, dir string, u spooled, flags map[string]bool, once *once) error {
	if len(u.files) == 0 {
		return &uploadError{faults: []attemptlog.Fault{{File: "request", Code: "missing_field", Field: "file", Detail: "found no part named file, expected one or more"}}}
	}
	m, err := ingest.ParseMapping([]byte(u.fields["mapping"]))
	if err != nil {
		return &uploadError{faults: []attemptlog.Fault{mappingFault(err)}}
	}
	ctx := c.Request.Context()
	if err := s.uploads.enter(ctx); err != nil {
		return err
	}
	defer s.uploads.leave()
	a, err := newAnswer(dir)
	if err != nil {
		return err
	}
	defer a.close()
	o := upload.Options{Mapping: m, Author: once.token.Name, Trusted: once.token.Trusted, Ref: randomID(), Partial: flags["partial"], MakeCurrent: flags["make_current"], Keep: a.keep}
	do, status := s.uploads.service.Import, http.StatusCreated
	if flags["dry_run"] {
		do, status = s.uploads.service.Plan, http.StatusOK
	}
	report, err := do(ctx, u.files, o)
	if errors.Is(err, upload.ErrFaulty) {
		if !flags["dry_run"] {
			s.auditRefusal(ctx, o.Author, u.files, report)
		}
		return &uploadError{faults: report.Errors, report: report}
	}
	if err != nil {
		return err
	}
	body, err := a.write(o.Ref, flags["dry_run"], report)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := once.keep(ctx, status, body); err != nil {
		return err
	}
	return sendJSON(c, status, body)
}

// mappingFault names the field of a mapping that cannot be used.
func mappingFault(err error) attemptlog.Fault {
	f := attemptlog.Fault{Field: "mapping", Code: "bad_mapping", Detail: err.Error()}
	if e, ok := errors.AsType[*ingest.MappingError](err); ok {
		f.Field, f.Detail = e.Field, e.Detail
	}
	f.File = "request"
	return f
}

// auditRefusal puts on record that an upload was refused, and why.
func (s *Server) auditRefusal(ctx context.Context, author string, files []upload.File, report *upload.Report) {
	e := rebench.AuditEvent{Actor: author, Action: "upload refused", Object: upload.Names(files), Detail: (&uploadError{faults: report.Errors}).Error()}
	if err := s.db.AddAudit(context.WithoutCancel(ctx), e); err != nil {
		s.log.ErrorContext(ctx, "record a refused upload", "error", err.Error())
	}
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
