// Package store keeps attempts, revisions, score logs and flags in SQLite through GORM.
//
// It is the only package that talks to the database. One writer connection
// serialises changes (immediate transactions, WAL); reads use a pool of read-only
// connections, so a page never waits for an upload.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"rebench/internal/rebench"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is an open database. It is safe for concurrent use.
type Store struct {
	path   string
	writer *gorm.DB // one connection
	reader *gorm.DB // read-only pool
	lock   *os.File // held by the one server of this file, else nil
	log    *slog.Logger
}

// Options says how to open a database.
type Options struct {
	Path string
	// Serve claims the file for one server: a second one is refused.
	Serve  bool
	Logger *slog.Logger
}

// Open opens the database at o.Path, creating it and its directory if missing,
// and applies the migrations. Errors name the file and what to do about it.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if strings.HasPrefix(o.Path, "postgres:") || strings.HasPrefix(o.Path, "postgresql:") {
		return nil, rebench.Errorf(rebench.CodeInvalid, "database %s: PostgreSQL is not supported yet; give a file name", o.Path)
	}
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", o.Path, err)
	}
	if err := checkFile(path); err != nil {
		return nil, err
	}
	s := &Store{path: path, log: o.Logger}
	if o.Serve {
		if s.lock, err = lockFile(path + ".lock"); err != nil {
			return nil, err
		}
	}
	if err := s.connect(ctx); err != nil {
		s.Close()
		return nil, describe(path, err)
	}
	return s, nil
}

// checkFile creates the directory and tells unusable files apart before SQLite
// answers with a code.
func checkFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "database %s: its directory cannot be created: %w", path, err)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "database %s: %w", path, err)
	}
	if info.IsDir() {
		return rebench.Errorf(rebench.CodeInvalid, "database %s: this is a directory; give a file name", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "database %s: it cannot be read: %w", path, err)
	}
	defer f.Close()
	if info.Mode().Perm()&0o200 == 0 {
		return rebench.Errorf(rebench.CodeInvalid, "database %s: the file is read-only; allow writing or give another with --database", path)
	}
	head := make([]byte, 16)
	if n, _ := f.Read(head); n > 0 && string(head[:n]) != "SQLite format 3\x00" {
		return rebench.Errorf(rebench.CodeInvalid, "database %s: this is not an SQLite file", path)
	}
	return nil
}

// lockFile takes an advisory lock that ends with the process.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "database lock %s: %w", path, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, rebench.Errorf(rebench.CodeConflict, "database %s: another server is using it; stop that one or give another --data-dir", strings.TrimSuffix(path, ".lock"))
	}
	return f, nil
}

func (s *Store) connect(ctx context.Context) error {
	// Pragmas go into the DSN: an Exec reaches one connection of the pool only.
	pragmas := []string{"busy_timeout(10000)", "foreign_keys(1)", "temp_store(memory)"}
	writer := dsn(s.path, append(pragmas, "page_size(16384)", "journal_mode(wal)", "synchronous(full)", "cache_size(-8192)"), "_txlock=immediate")
	reader := dsn(s.path, append(pragmas, "query_only(1)", "cache_size(-8192)"))
	var err error
	if s.writer, err = open(writer, 1); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	s.reader, err = open(reader, max(2, runtime.NumCPU()))
	return err
}

func dsn(path string, pragmas []string, extra ...string) string {
	q := make([]string, 0, len(pragmas)+len(extra))
	for _, p := range pragmas {
		q = append(q, "_pragma="+url.QueryEscape(p))
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join(append(q, extra...), "&")
}

func open(dsn string, conns int) (*gorm.DB, error) {
	db, err := gorm.Open(dialector{dsn}, &gorm.Config{
		TranslateError:         true,
		SkipDefaultTransaction: true,
		Logger:                 logger.Discard,
		NowFunc:                func() time.Time { return time.Now().UTC() },
	})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return db, pool.Ping()
}

// describe turns SQLite's errors at opening into one line that says what to do.
func describe(path string, err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "malformed"), strings.Contains(text, "not a database"), strings.Contains(text, "corrupt"):
		return rebench.Errorf(rebench.CodeInvalid, "database %s: the file is damaged (%w); restore a copy or give another with --database", path, err)
	case strings.Contains(text, "readonly"), strings.Contains(text, "read-only"):
		return rebench.Errorf(rebench.CodeInvalid, "database %s: it cannot be written (%w)", path, err)
	default:
		return rebench.Errorf(rebench.ErrorCode(err), "database %s: %w", path, err)
	}
}

// Path returns the absolute name of the database file.
func (s *Store) Path() string { return s.path }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.reader.WithContext(ctx).Exec("SELECT 1").Error
}

// Close closes both handles and gives up the claim on the file.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*gorm.DB{s.reader, s.writer} {
		if db == nil {
			continue
		}
		if pool, err := db.DB(); err == nil {
			errs = append(errs, pool.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// write runs f in one immediate transaction.
func (s *Store) write(ctx context.Context, f func(tx *gorm.DB) error) error {
	return s.writer.WithContext(ctx).Transaction(f, &sql.TxOptions{})
}

// writeOn is write with the connection that the transaction is on.
func (s *Store) writeOn(ctx context.Context, f func(tx *gorm.DB, conn *sql.Conn) error) error {
	pool, err := s.writer.DB()
	if err != nil {
		return err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	db := s.writer.Session(&gorm.Session{Context: ctx, NewDB: true})
	db.Statement.ConnPool = conn
	return db.Transaction(func(tx *gorm.DB) error { return f(tx, conn) }, &sql.TxOptions{})
}
