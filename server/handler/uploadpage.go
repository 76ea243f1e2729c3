package handler

import (
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"rebench/internal/ingest"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/upload"
	"rebench/web/view"
)

// writeRoutes are the pages and operations that change data.
func (s *Server) writeRoutes(r *gin.Engine) {
	r.POST(apiPrefix+"/uploads", s.handle(s.postUpload))
	r.POST(apiPrefix+"/attempts/:id/flags", s.handle(s.postFlag))
	r.POST(apiPrefix+"/attempts/:id/current", s.handle(s.postCurrent))
	r.POST("/attempts/:id/flags", s.handle(s.flagForm))
	r.POST("/login", s.handle(s.login))
	r.POST("/logout", s.handle(s.logout))
	r.Match(reads, "/login", s.handle(func(c *gin.Context) error { c.Redirect(http.StatusSeeOther, "/upload"); return nil }))
	r.Match(reads, "/upload", s.handle(s.uploadPage))
	r.POST("/upload", s.handle(s.stageUpload))
	r.Match(reads, "/upload/:id", s.handle(s.previewPage))
	r.POST("/upload/:id", s.handle(s.changeStage))
	r.Match(reads, "/audit", s.handle(s.auditPage))
	r.Match(reads, "/audit.json", s.handle(s.auditPage))
	r.Match(reads, "/audit.csv", s.handle(s.auditPage))
}

// privatePage renders a page that depends on who reads it.
func (s *Server) privatePage(c *gin.Context, title, path string, build func(p view.Page) templ.Component) error {
	revision, err := s.db.LatestRevision(c.Request.Context())
	if err != nil {
		return err
	}
	p := view.Page{Title: title, Path: path, Base: base(c), Version: s.version, Revision: revision, Assets: s.instance}
	var buf strings.Builder
	if err := build(p).Render(c.Request.Context(), &buf); err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(buf.String()))
	return nil
}

func who(x *session) view.Session {
	if x == nil {
		return view.Session{}
	}
	return view.Session{Name: x.token.Name, Scope: string(x.token.Scope), CSRF: x.csrf}
}

func (s *Server) uploadPage(c *gin.Context) error {
	x, err := s.session(c)
	if err != nil {
		return err
	}
	d := view.UploadData{Session: who(x), MaxBytes: MaxUploadBytes, MaxFiles: MaxUploadFiles}
	return s.privatePage(c, "Upload", "/upload", func(p view.Page) templ.Component { return view.Upload(p, d) })
}

// stageUpload takes files and leads to their preview; nothing is imported yet.
func (s *Server) stageUpload(c *gin.Context) error {
	x, err := s.sessionFor(c, store.ScopeUpload)
	if err != nil {
		return err
	}
	s.uploads.expire()
	dir, err := s.uploads.tempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // unless it was kept
	u, err := spool(c, dir, func(fields map[string]string) error { return x.checkCSRF(fields[csrfField]) })
	if err != nil {
		return err
	}
	if err := x.checkCSRF(u.fields[csrfField]); err != nil {
		return err
	}
	if len(u.files) == 0 {
		return rebench.Errorf(rebench.CodeInvalid, "no file was chosen")
	}
	st := &stage{Author: x.token.Name, Files: u.files}
	if err := s.uploads.keep(dir, st); err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, "/upload/"+st.ID)
	return nil
}

// stageOf returns a stage that belongs to the session.
func (s *Server) stageOf(c *gin.Context, x *session) (*stage, error) {
	st, err := s.uploads.load(c.Param("id"))
	if err != nil {
		return nil, err
	}
	if st.Author != x.token.Name {
		return nil, rebench.Errorf(rebench.CodeNotFound, "there is no upload of yours under this address")
	}
	return st, nil
}

func (s *Server) previewPage(c *gin.Context) error {
	x, err := s.session(c)
	if err != nil {
		return err
	}
	if x == nil {
		c.Redirect(http.StatusSeeOther, "/upload")
		return nil
	}
	st, err := s.stageOf(c, x)
	if err != nil {
		return err
	}
	return s.showStage(c, x, st, "")
}

// showStage shows what the files would do, or did.
func (s *Server) showStage(c *gin.Context, x *session, st *stage, problem string) error {
	d := view.PreviewData{Session: who(x), ID: st.ID, Report: st.Done, Done: st.Done != nil, Mapping: st.Mapping, Partial: st.Partial,
		MakeCurrent: st.MakeCurrent, Problem: problem}
	if st.Done == nil {
		report, err := s.uploads.service.Plan(c.Request.Context(), st.Files, st.options())
		if err != nil && !errors.Is(err, upload.ErrFaulty) {
			return err
		}
		d.Report, d.Refused = report, err != nil
	}
	return s.privatePage(c, "Upload", "/upload/"+st.ID, func(p view.Page) templ.Component { return view.Preview(p, d) })
}

// changeStage handles the preview's form: apply a mapping, confirm, or discard.
func (s *Server) changeStage(c *gin.Context) error {
	x, err := s.sessionFor(c, store.ScopeUpload)
	if err != nil {
		return err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxField)
	if err := x.checkCSRF(c.PostForm(csrfField)); err != nil {
		return err
	}
	st, err := s.stageOf(c, x)
	if err != nil {
		return err
	}
	switch c.PostForm("do") {
	case "discard":
		if err := s.uploads.discard(st.ID); err != nil {
			return err
		}
		c.Redirect(http.StatusSeeOther, "/upload")
		return nil
	case "map", "confirm":
	default:
		return rebench.Errorf(rebench.CodeInvalid, "unknown action %q", shorten(c.PostForm("do")))
	}
	if st.Done != nil {
		return rebench.Errorf(rebench.CodeConflict, "this upload was imported already")
	}
	if c.PostForm("do") == "map" {
		if st.Mapping, err = mappingOf(c); err != nil {
			return s.showStage(c, x, st, err.Error())
		}
	}
	st.Partial, st.MakeCurrent = c.PostForm("partial") != "", c.PostForm("make_current") != ""
	if c.PostForm("do") == "confirm" {
		report, err := s.uploads.service.Import(c.Request.Context(), st.Files, st.options())
		if errors.Is(err, upload.ErrFaulty) {
			return s.showStage(c, x, st, "Nothing was imported: the files have faults.")
		}
		if err != nil {
			return err
		}
		if err := s.uploads.finish(st, report); err != nil {
			return err
		}
	} else if err := s.uploads.save(st); err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, "/upload/"+st.ID)
	return nil
}

// mappingOf reads the preview's mapping form.
func mappingOf(c *gin.Context) (ingest.Mapping, error) {
	value := func(name string) string { return strings.TrimSpace(c.PostForm(name)) }
	m := ingest.Mapping{AttemptID: value("attempt_id"), Environment: value("environment"), Profile: value("profile"),
		StartedAt: value("started_at"), Zone: value("zone"), ScoreKey: value("score_key")}
	if name := value("agent"); name != "" {
		m.Agent = &ingest.MappingAgent{Name: name, Model: value("model"), Scaffold: value("scaffold")}
	}
	if cohort := value("cohort"); cohort != "" {
		m.Human = &ingest.MappingHuman{Cohort: cohort}
	}
	number := func(name string) (*float64, error) {
		text := value(name)
		if text == "" {
			return nil, nil
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, rebench.Errorf(rebench.CodeInvalid, "%s: found %q, expected a number", name, shorten(text))
		}
		return &x, nil
	}
	limit, err := number("time_limit_min")
	if err != nil {
		return m, err
	}
	if limit != nil {
		seconds := *limit * 60
		m.TimeLimitS = &seconds
	}
	start, err := number("start_raw")
	if err != nil {
		return m, err
	}
	reference, err := number("reference_raw")
	if err != nil {
		return m, err
	}
	if start != nil || reference != nil {
		m.Scoring = &ingest.MappingScoring{StartRaw: start, ReferenceRaw: reference}
	}
	return ingest.CheckMapping(m)
}
