package handler

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"rebench/internal/rebench"
	"rebench/web/view"
)

const (
	// formCookie ties the log-in form to the browser that was sent it, so that no
	// other site can log a reader in under a token of its choice.
	formCookie = "rebench_form"
	formLife   = time.Hour
)

// who is the reader as pages see them; forms of somebody who is not logged in are
// tied to a cookie of their own.
func (s *Server) who(c *gin.Context, x *session) view.Session {
	if x != nil {
		return sessionView(x)
	}
	value, err := c.Cookie(formCookie)
	if err != nil || len(value) != len(secretText()) {
		value = secretText()
		s.setCookie(c, formCookie, value, formLife)
	}
	return view.Session{CSRF: value}
}

// sessionView is a session as pages see it, the zero value for nobody.
func sessionView(x *session) view.Session {
	if x == nil {
		return view.Session{}
	}
	return view.Session{Name: x.token.Name, Scope: string(x.token.Scope), CSRF: x.csrf}
}

func (s *Server) loginPage(c *gin.Context) error {
	x, err := s.session(c)
	if err != nil {
		return err
	}
	next := localPath(c.Query("next"))
	if x != nil {
		c.Redirect(http.StatusSeeOther, next)
		return nil
	}
	return s.showLogin(c, http.StatusOK, next, "")
}

func (s *Server) showLogin(c *gin.Context, status int, next, problem string) error {
	d := view.LoginData{Session: s.who(c, nil), Next: next, Problem: problem}
	return s.privatePage(c, status, "Log in", "/login", func(p view.Page) templ.Component { return view.Login(p, d) })
}

// login begins a session for whoever shows a token.
func (s *Server) login(c *gin.Context) error {
	if err := sameOrigin(c); err != nil {
		return err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxJSON)
	cookie, _ := c.Cookie(formCookie)
	if err := sameToken(c.PostForm(csrfField), cookie); err != nil {
		return err
	}
	next := localPath(c.PostForm("next"))
	token, err := s.db.Authenticate(c.Request.Context(), strings.TrimSpace(c.PostForm("token")))
	if rebench.ErrorCode(err) == rebench.CodeUnauthorized {
		return s.showLogin(c, http.StatusUnauthorized, next, "This token is unknown or revoked.")
	}
	if err != nil {
		return err
	}
	s.setCookie(c, sessionCookie, s.sessions.begin(token), sessionLife)
	s.setCookie(c, formCookie, "", -1)
	c.Redirect(http.StatusSeeOther, next)
	return nil
}

func (s *Server) logout(c *gin.Context) error {
	x, err := s.session(c)
	if err != nil {
		return err
	}
	if x != nil {
		if err := sameOrigin(c); err != nil {
			return err
		}
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxJSON)
		if err := x.checkCSRF(c.PostForm(csrfField)); err != nil {
			return err
		}
		id, _ := c.Cookie(sessionCookie)
		s.sessions.end(id)
	}
	s.setCookie(c, sessionCookie, "", -1)
	c.Redirect(http.StatusSeeOther, "/upload")
	return nil
}

// setCookie sets a cookie that scripts cannot read and other sites cannot send; a
// negative life removes it.
func (s *Server) setCookie(c *gin.Context, name, value string, life time.Duration) {
	age := int(life.Seconds())
	if life < 0 {
		age = -1
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: c.Request.TLS != nil})
}

// localPath keeps a redirect on this server.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/upload"
	}
	if u, err := url.Parse(next); err != nil || u.Host != "" || u.Scheme != "" {
		return "/upload"
	}
	return next
}
