// Package app wires the server together and runs it until it is told to stop.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"

	"rebench/internal/analysis"
	"rebench/internal/config"
	"rebench/internal/published"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/server/handler"
)

// Time-outs of the HTTP server.
const (
	headerTimeout   = 10 * time.Second
	readTimeout     = time.Minute
	writeTimeout    = 2 * time.Minute
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 15 * time.Second
	maxHeaderBytes  = 64 << 10
)

// Streams are where a program writes: Out the address, Err the log.
type Streams struct{ Out, Err io.Writer }

// Run serves until ctx ends, then lets requests in progress finish and closes the
// database. Errors name what is wrong and what to do, in one line.
func Run(ctx context.Context, c config.Config, streams Streams) (err error) {
	level, err := c.Level()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(streams.Err, &slog.HandlerOptions{Level: level}))
	// The address first: when it is taken, nothing is touched.
	listener, err := listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	db, err := store.Open(ctx, store.Options{Path: c.Database, Serve: true, Logger: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := access(ctx, db, c, listener); err != nil {
		return err
	}
	if err := load(ctx, db, log, streams.Err); err != nil {
		return err
	}
	engine := analysis.New(db, analysis.Options{})
	// The first reader should not wait for what every reader looks at.
	if _, err := engine.Leaderboard(ctx, analysis.Query{}); err != nil {
		return fmt.Errorf("compute the leaderboard: %w", err)
	}
	if err := quarantine(ctx, db, engine, log); err != nil {
		return err
	}
	share, err := c.Share()
	if err != nil {
		return err
	}
	h, err := handler.New(handler.Options{Engine: engine, Store: db, DB: db, UploadDir: uploadDir(db), Logger: log, Version: config.Version(), AuditShare: share})
	if err != nil {
		return err
	}
	if err := h.Recover(ctx); err != nil {
		return err
	}
	if c.WithRunner != "" {
		wait, err := startRunner(ctx, c.WithRunner, address(listener), db, streams.Err, log)
		if err != nil {
			return err
		}
		defer wait()
	}
	fmt.Fprintf(streams.Out, "rebench is serving on %s\n", address(listener))
	log.InfoContext(ctx, "serving", "address", listener.Addr().String(), "database", db.Path(), "version", config.Version())
	return serve(ctx, listener, h, h.Stop, log)
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, rebench.Errorf(rebench.CodeConflict, "address %s is in use; stop the program that listens there or give another with --addr", addr)
	case errors.Is(err, syscall.EACCES):
		return nil, rebench.Errorf(rebench.CodeInvalid, "address %s needs more rights; give a port above 1023 with --addr", addr)
	case err != nil:
		return nil, rebench.Errorf(rebench.CodeInvalid, "cannot listen on %s: %w", addr, err)
	}
	return l, nil
}

// uploadDir is where uploads wait: beside their database, so that the servers of two
// databases do not share it.
func uploadDir(db *store.Store) string {
	return strings.TrimSuffix(db.Path(), filepath.Ext(db.Path())) + "-uploads"
}

// environmentToken is the name of the token that the environment gives.
const environmentToken = "environment"

// access makes the environment's token and refuses to serve other machines without
// any token: nobody could be told from anybody.
func access(ctx context.Context, db *store.Store, c config.Config, l net.Listener) error {
	if c.Token != "" {
		if err := db.EnsureToken(ctx, environmentToken, c.Token); err != nil {
			return err
		}
	} else if err := db.RevokeToken(ctx, environmentToken); err != nil && rebench.ErrorCode(err) != rebench.CodeNotFound {
		return err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return nil
	}
	has, err := db.HasTokens(ctx)
	if err != nil {
		return err
	}
	if !has {
		return rebench.Errorf(rebench.CodeInvalid, "address %s is open to other machines, which needs a token first: make one with `server token create` or set %s", c.Addr, config.EnvToken)
	}
	return nil
}

// address is what to type into a browser. A listener on all interfaces is reached
// through the loopback one.
func address(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// load imports the published data, which changes nothing when they are there.
func load(ctx context.Context, db *store.Store, log *slog.Logger, progress io.Writer) error {
	start := time.Now()
	show := progressBar(progress)
	stats, err := published.Load(ctx, db, show)
	if show != nil {
		fmt.Fprint(progress, "\r\x1b[K")
	}
	if err != nil {
		return fmt.Errorf("load the published data: %w", err)
	}
	if stats.Created > 0 {
		log.InfoContext(ctx, "published data loaded", "attempts", stats.Created, "placeholders_left_out", stats.Placeholders,
			"duration_ms", time.Since(start).Milliseconds())
	}
	return nil
}

// progressBar is nil unless w is a terminal.
func progressBar(w io.Writer) func(done, total int) {
	f, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		return nil
	}
	last := -1
	return func(done, total int) {
		if percent := 100 * done / max(1, total); percent != last {
			last = percent
			fmt.Fprintf(f, "\rLoading the published data: %3d%%", percent)
		}
	}
}

func serve(ctx context.Context, l net.Listener, h http.Handler, stop func(), log *slog.Logger) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	stop()
	log.Info("stopping", "reason", context.Cause(ctx).Error())
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	log.Info("stopped")
	return nil
}
