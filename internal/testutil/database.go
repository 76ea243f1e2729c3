// Package testutil gives tests of several packages the same databases.
package testutil

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"rebench/internal/published"
	"rebench/internal/store"
)

// loaded is a database file with the published data, made once for a test binary.
var loaded = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "rebench-published-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rebench.db")
	s, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		return nil, err
	}
	if _, err := published.Load(context.Background(), s, nil); err != nil {
		s.Close()
		return nil, err
	}
	// Closing the last connection folds the write-ahead log into the file.
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// PublishedFile returns the name of a new database file that holds the published data.
func PublishedFile(tb testing.TB) string {
	tb.Helper()
	b, err := loaded()
	if err != nil {
		tb.Fatalf("load the published data: %v", err)
	}
	path := filepath.Join(tb.TempDir(), "rebench.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// PublishedStore returns an open store of a new database with the published data.
func PublishedStore(tb testing.TB) *store.Store { return openStore(tb, PublishedFile(tb)) }

// EmptyStore returns an open store of a new, empty database.
func EmptyStore(tb testing.TB) *store.Store {
	return openStore(tb, filepath.Join(tb.TempDir(), "rebench.db"))
}

func openStore(tb testing.TB, path string) *store.Store {
	tb.Helper()
	s, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close the database: %v", err)
		}
	})
	return s
}
