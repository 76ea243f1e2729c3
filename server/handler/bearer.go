package handler

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"rebench/internal/rebench"
	"rebench/internal/store"
)

// bearer returns the token of the Authorization header, which must allow scope: 401
// without a valid token, 403 with too weak a one.
func (s *Server) bearer(c *gin.Context, scope store.Scope) (store.Token, error) {
	kind, secret, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") || strings.TrimSpace(secret) == "" {
		return store.Token{}, rebench.Errorf(rebench.CodeUnauthorized, "this needs a token: send Authorization: Bearer TOKEN (server token create makes one)")
	}
	token, err := s.db.Authenticate(c.Request.Context(), strings.TrimSpace(secret))
	if err != nil {
		return store.Token{}, err
	}
	if !token.Scope.Allows(scope) {
		return store.Token{}, &httpError{status: http.StatusForbidden, detail: "The token " + token.Name + " has scope " + string(token.Scope) + "; this needs " + string(scope) + "."}
	}
	return token, nil
}
