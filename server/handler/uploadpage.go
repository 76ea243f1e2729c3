package handler

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
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
	r.Match(reads, "/login", s.handle(s.loginPage))
	r.POST("/login", s.handle(s.login))
	r.POST("/logout", s.handle(s.logout))
	r.Match(reads, "/upload", s.handle(s.uploadPage))
	r.POST("/upload", s.handle(s.stageUpload))
	r.Match(reads, "/upload/:id", s.handle(s.previewPage))
	r.Match(reads, "/upload/:id/progress", s.handle(s.progress))
	r.POST("/upload/:id", s.handle(s.changeStage))
	r.Match(reads, "/audit", s.handle(s.auditPage))
	r.Match(reads, "/audit.json", s.handle(s.auditJSON))
	r.Match(reads, "/audit.csv", s.handle(s.auditCSV))
}

// privatePage renders a page that depends on who reads it.
func (s *Server) privatePage(c *gin.Context, status int, title, path string, build func(p view.Page) templ.Component) error {
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
	c.Data(status, "text/html; charset=utf-8", []byte(buf.String()))
	return nil
}

func (s *Server) uploadPage(c *gin.Context) error {
	x, err := s.session(c)
	if err != nil {
		return err
	}
	d := view.UploadData{Session: s.who(c, x), Limits: uploadLimits}
	return s.privatePage(c, http.StatusOK, "Upload", "/upload", func(p view.Page) templ.Component { return view.Upload(p, d) })
}

// uploadLimits are stated on the page.
var uploadLimits = view.UploadLimits{
	Bytes: MaxUploadBytes, Files: MaxUploadFiles, Line: ingest.MaxRowBytes, Depth: ingest.MaxDepth, Attempts: ingest.MaxAttempts,
	Unpacked: ingest.MaxDecompressed, Ratio: ingest.MaxRatio, PerMinute: changesPerMinute, Life: stageLife,
}

// stageUpload takes files and leads to their preview; nothing is imported yet.
func (s *Server) stageUpload(c *gin.Context) error {
	x, err := s.sessionFor(c, store.ScopeUpload)
	if err != nil {
		return err
	}
	if !s.limits.allow(x.token.ID) {
		return tooMany(c)
	}
	s.uploads.expire()
	if s.uploads.full() {
		return &httpError{status: http.StatusInsufficientStorage, detail: "Too many uploads are waiting for their confirmation; confirm or discard some, or try again later."}
	}
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
	st := &stage{Author: x.token.Name, Trusted: x.token.Trusted, Files: u.files}
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
		c.Redirect(http.StatusSeeOther, "/login?next="+c.Request.URL.EscapedPath())
		return nil
	}
	st, err := s.stageOf(c, x)
	if err != nil {
		return err
	}
	return s.showStage(c, x, st, "")
}

// showStage shows what the files would do, or did, or how far the work on them is.
func (s *Server) showStage(c *gin.Context, x *session, st *stage, problem string) error {
	ctx := c.Request.Context()
	d := view.PreviewData{Session: s.who(c, x), ID: st.ID, Mapping: st.Mapping, Partial: st.Partial, MakeCurrent: st.MakeCurrent, Problem: problem}
	for _, f := range st.Files {
		d.Names = append(d.Names, f.Name)
	}
	if st.Done != nil {
		d.Report, d.Done = st.Done, true
	} else {
		revision, err := s.db.LatestRevision(ctx)
		if err != nil {
			return err
		}
		j, err := s.uploads.plan(st, revision.ID)
		if err != nil {
			return err
		}
		switch {
		case !j.wait(ctx):
			d.Working = &view.Progress{Imports: j.imports, Done: j.done.Load(), Total: j.total.Load()}
		case j.err != nil && !errors.Is(j.err, upload.ErrFaulty):
			return j.err
		default:
			d.Report, d.Refused, d.Done = j.report, j.err != nil, j.imports && j.err == nil
		}
	}
	if d.Working == nil && !d.Done {
		saved, err := s.db.Mappings(ctx, maxSavedMappings)
		if err != nil {
			return err
		}
		for _, m := range saved {
			d.Saved = append(d.Saved, m.Name)
		}
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.privatePage(c, status, "Upload", "/upload/"+st.ID, func(p view.Page) templ.Component { return view.Preview(p, d) })
}

// progress says how far the work on a staged upload is.
func (s *Server) progress(c *gin.Context) error {
	x, err := s.session(c)
	if err != nil {
		return err
	}
	if x == nil {
		return rebench.Errorf(rebench.CodeUnauthorized, "log in with a token first")
	}
	st, err := s.stageOf(c, x)
	if err != nil {
		return err
	}
	out := gin.H{"done": int64(1), "total": int64(1), "over": true}
	s.uploads.mu.Lock()
	j := s.uploads.jobs[st.ID]
	s.uploads.mu.Unlock()
	if j != nil && !j.over() {
		out = gin.H{"done": j.done.Load(), "total": j.total.Load(), "over": false}
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, out)
	return nil
}

// changeStage handles the preview's form: answer what is missing, confirm, or discard.
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
	if st.Done != nil {
		if c.PostForm("do") != "discard" {
			c.Redirect(http.StatusSeeOther, "/upload/"+st.ID) // a second click
			return nil
		}
	} else {
		st.Partial, st.MakeCurrent = c.PostForm("partial") != "", c.PostForm("make_current") != ""
	}
	switch c.PostForm("do") {
	case "discard":
		err = s.discardStage(st)
		if err == nil {
			c.Redirect(http.StatusSeeOther, "/upload")
		}
		return err
	case "map", "save", "reuse":
		if problem, err := s.mapStage(c, x, st); problem != "" || err != nil {
			if err != nil {
				return err
			}
			return s.showStage(c, x, st, problem)
		}
		err = s.uploads.save(st)
	case "again":
		err = s.uploads.save(st)
	case "confirm":
		return s.confirmStage(c, x, st)
	default:
		return rebench.Errorf(rebench.CodeInvalid, "unknown action %q", shorten(c.PostForm("do")))
	}
	if err == nil {
		c.Redirect(http.StatusSeeOther, "/upload/"+st.ID)
	}
	return err
}

func (s *Server) discardStage(st *stage) error {
	s.uploads.mu.Lock()
	j := s.uploads.jobs[st.ID]
	s.uploads.mu.Unlock()
	if j != nil && j.imports && !j.over() {
		return rebench.Errorf(rebench.CodeConflict, "this upload is being imported and can no longer be discarded")
	}
	return s.uploads.discard(st.ID)
}

// confirmStage imports a staged upload. A short one is done when the page comes back.
func (s *Server) confirmStage(c *gin.Context, x *session, st *stage) error {
	j, err := s.uploads.confirm(st)
	if rebench.ErrorCode(err) == rebench.CodeConflict { // a second click
		c.Redirect(http.StatusSeeOther, "/upload/"+st.ID)
		return nil
	}
	if err != nil {
		return err
	}
	if !j.wait(c.Request.Context()) || j.err == nil {
		c.Redirect(http.StatusSeeOther, "/upload/"+st.ID)
		return nil
	}
	if !errors.Is(j.err, upload.ErrFaulty) {
		return j.err
	}
	s.auditRefusal(c.Request.Context(), st.Author, st.Files, j.report)
	return s.showStage(c, x, st, "Nothing was imported: the files have faults.")
}

// maxSavedMappings is how many saved mappings are offered.
const maxSavedMappings = 100

// mapStage takes the answers of the mapping form, or saved ones; problem is what is
// wrong with them.
func (s *Server) mapStage(c *gin.Context, x *session, st *stage) (problem string, err error) {
	if c.PostForm("do") == "reuse" {
		saved, err := s.db.Mapping(c.Request.Context(), c.PostForm("saved"))
		if rebench.ErrorCode(err) == rebench.CodeNotFound {
			return err.Error(), nil
		}
		if err != nil {
			return "", err
		}
		st.Mapping, err = ingest.ParseMapping([]byte(saved.Mapping))
		return "", err
	}
	m, err := mappingOf(c)
	if err != nil {
		return err.Error(), nil
	}
	st.Mapping = m
	if c.PostForm("do") != "save" {
		return "", nil
	}
	name := strings.TrimSpace(c.PostForm("save_as"))
	if name == "" || len(name) > maxText {
		return "give the answers a name of 1 to 200 characters to save them under", nil
	}
	b, err := json.Marshal(reusable(m))
	if err != nil {
		return "", err
	}
	err = s.db.SaveMapping(c.Request.Context(), store.SavedMapping{Name: name, Author: x.token.Name, Mapping: string(b)})
	if rebench.ErrorCode(err) == rebench.CodeConflict {
		return err.Error(), nil
	}
	return "", err
}

// reusable is a mapping without what belongs to one attempt or to one file.
func reusable(m ingest.Mapping) ingest.Mapping {
	m.AttemptID, m.StartedAt, m.Files = "", "", nil
	return m
}
