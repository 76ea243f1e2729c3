package store_test

import (
	"path/filepath"
	"testing"

	"rebench/internal/rebench"
	"rebench/internal/store"
)

// Nobody speaks in the name of a rule.
func TestTokensAreNotCalledLikeRules(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"rule:impossible", " rule:x"} {
		if _, err := s.CreateToken(t.Context(), name, store.ScopeAdmin); rebench.ErrorCode(err) != rebench.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := s.CreateToken(t.Context(), "ruler", store.ScopeAdmin); err != nil {
		t.Error(err)
	}
}
