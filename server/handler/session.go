package handler

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"rebench/internal/rebench"
	"rebench/internal/store"
)

const (
	sessionCookie = "rebench_session"
	sessionLife   = 12 * time.Hour
	csrfField     = "csrf"
)

// session is a reader who has shown a token. Sessions live in memory, under the hash
// of their id: a restart ends them.
type session struct {
	token   store.Token
	csrf    string
	expires time.Time
}

type sessions struct {
	mu   sync.Mutex
	byID map[[sha256.Size]byte]*session
}

func secretText() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func (s *sessions) begin(token store.Token) (id string) {
	id = secretText()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[[sha256.Size]byte]*session{}
	}
	now := time.Now()
	for other, x := range s.byID {
		if now.After(x.expires) {
			delete(s.byID, other)
		}
	}
	s.byID[sha256.Sum256([]byte(id))] = &session{token: token, csrf: secretText(), expires: now.Add(sessionLife)}
	return id
}

func (s *sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[sha256.Sum256([]byte(id))]
	if x == nil || time.Now().After(x.expires) {
		return nil
	}
	return x
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, sha256.Sum256([]byte(id)))
}

// session returns who is logged in, nil for nobody. A revoked token ends its sessions.
func (s *Server) session(c *gin.Context) (*session, error) {
	if s.db == nil {
		return nil, nil
	}
	id, err := c.Cookie(sessionCookie)
	if err != nil {
		return nil, nil
	}
	x := s.sessions.get(id)
	if x == nil {
		return nil, nil
	}
	active, err := s.db.TokenActive(c.Request.Context(), x.token.ID)
	if err != nil {
		return nil, err
	}
	if !active {
		s.sessions.end(id)
		return nil, nil
	}
	return x, nil
}

// sessionFor returns the session of a request that changes something; it must
// allow scope and come from a page of this server.
func (s *Server) sessionFor(c *gin.Context, scope store.Scope) (*session, error) {
	x, err := s.session(c)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return nil, rebench.Errorf(rebench.CodeUnauthorized, "log in with a token first (at /login); a session ends after %v or when the server is started again", sessionLife)
	}
	if !x.token.Scope.Allows(scope) {
		return nil, &httpError{status: http.StatusForbidden, detail: "The token " + x.token.Name + " has scope " + string(x.token.Scope) + "; this needs " + string(scope) + "."}
	}
	return x, sameOrigin(c)
}

// sameOrigin refuses requests that another site's page makes.
func sameOrigin(c *gin.Context) error {
	refused := &httpError{status: http.StatusForbidden, detail: "The request comes from another site's page."}
	switch c.GetHeader("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return refused
	}
	if origin := c.GetHeader("Origin"); origin != "" && origin != "null" {
		if u, err := url.Parse(origin); err != nil || u.Host != c.Request.Host {
			return refused
		}
	}
	return nil
}

// checkCSRF compares a form's token with the session's.
func (x *session) checkCSRF(given string) error { return sameToken(given, x.csrf) }

func sameToken(given, want string) error {
	if want == "" || subtle.ConstantTimeCompare([]byte(given), []byte(want)) != 1 {
		return &httpError{status: http.StatusForbidden, detail: "The form is not of this session; load its page again."}
	}
	return nil
}
