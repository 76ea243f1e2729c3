// Package handler answers HTTP requests: it binds parameters, asks the analysis
// engine and writes one result as page, JSON, CSV or picture.
//
// Handlers return errors; fail turns them into responses in one place. A response
// is computed for one data revision and carries an entity tag of revision and
// address, so that no cache shows old numbers.
package handler

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"rebench/internal/analysis"
	"rebench/internal/live"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/upload"
	"rebench/internal/validity"
)

// Engine computes the results that are served. *analysis.Engine is the real one.
type Engine interface {
	Dataset(ctx context.Context, asof int64) (*analysis.Dataset, error)
	Leaderboard(ctx context.Context, q analysis.Query) (*analysis.Leaderboard, error)
	Curves(ctx context.Context, q analysis.Query) (*analysis.Curves, error)
	ScoreAtK(ctx context.Context, q analysis.Query, agent string, limit time.Duration, ks []int) (*analysis.ScoreAtK, error)
	Compare(ctx context.Context, q analysis.Query, a, b string) (*analysis.Comparison, error)
	Leads(ctx context.Context, q analysis.Query) ([]analysis.Lead, error)
	Sensitivity(ctx context.Context, q analysis.Query) (*analysis.Sensitivity, error)
	HumanPercentiles(ctx context.Context, q analysis.Query) (*analysis.Percentiles, error)
	Humans(ctx context.Context, q analysis.Query) (*analysis.Humans, error)
	Environments(ctx context.Context, q analysis.Query) ([]analysis.EnvironmentSummary, error)
	Environment(ctx context.Context, q analysis.Query, id rebench.EnvironmentID) (*analysis.EnvironmentDetail, error)
	Attempts(ctx context.Context, q analysis.Query, f analysis.AttemptFilter, pageToken string) (*analysis.AttemptList, error)
	AttemptDetail(ctx context.Context, id string, asof int64) (*analysis.AttemptDetail, error)
	Methodology(ctx context.Context, asof int64) (*analysis.Methodology, error)
	Drawn(ctx context.Context, at time.Time, share float64) ([]analysis.DrawnAttempt, error)
	Validity(ctx context.Context, asof int64, f analysis.ValidityFilter) (*analysis.Validity, error)
	Choices(ctx context.Context, q analysis.Query) (*analysis.Choices, error)
	View(ctx context.Context, q analysis.Query) (*analysis.View, error)
}

// Store is what handlers read from the database directly.
type Store interface {
	Ping(ctx context.Context) error
	LatestRevision(ctx context.Context) (rebench.DataRevision, error)
	// WriteLog writes the attempt log of an attempt's revision, nothing if it has none.
	WriteLog(ctx context.Context, revision int64, w io.Writer) (int64, error)
	// Flags returns every statement about attempts up to a data revision by attempt id.
	Flags(ctx context.Context, asof int64) (map[string][]rebench.Flag, error)
}

// Options says what a Server works with.
type Options struct {
	Engine Engine
	Store  Store
	// DB takes what is uploaded and streamed; nil serves reads only.
	DB *store.Store
	// UploadDir keeps uploaded files until they are imported; needed with DB.
	UploadDir string
	Logger    *slog.Logger // nil discards
	Version   string       // of the program
	// AuditShare is the share of winners drawn for audit each month, 0 to 1; 0 is
	// validity.DefaultAuditShare.
	AuditShare float64
}

// Server answers all requests. It is safe for concurrent use.
type Server struct {
	engine   Engine
	store    Store
	db       *store.Store  // nil serves reads only
	live     *live.Service // nil without db
	uploads  *uploads      // nil without db
	limits   rateLimits
	sessions sessions
	started  time.Time
	stopped  chan struct{} // closed when the server stops
	log      *slog.Logger
	version  string
	// instance makes entity tags and asset addresses of different processes differ,
	// since another build may write the same data differently.
	instance string
	bodies   *bodyCache
	metrics  *metrics
	openapi  []byte
	handler  http.Handler
	routed   gin.RoutesInfo // every route, for the test that holds the API's document against them
	// auditShare is the share of winners drawn each month.
	auditShare float64
}

// New returns a Server with all routes.
func New(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{engine: o.Engine, store: o.Store, db: o.DB, started: time.Now(), stopped: make(chan struct{}), log: o.Logger, version: o.Version, instance: randomID(),
		bodies: newBodyCache(maxCachedBytes), auditShare: o.AuditShare}
	if s.auditShare == 0 {
		s.auditShare = validity.DefaultAuditShare
	}
	var err error
	if o.DB != nil {
		s.live = live.New(o.DB, o.Logger)
		if s.uploads, err = newUploads(o.UploadDir, &upload.Service{Store: o.DB}, o.Logger); err != nil {
			return nil, fmt.Errorf("uploads directory: %w", err)
		}
	}
	s.metrics = newMetrics(s.store)
	if s.openapi, err = openAPIJSON(s.apiRoutes()); err != nil {
		return nil, err
	}
	s.handler, err = s.routes()
	return s, err
}

// Recover finishes what the last process left behind.
func (s *Server) Recover(ctx context.Context) error {
	if s.db == nil {
		return nil
	}
	if err := s.db.ForgetKeys(ctx, s.started.Add(-keyLife)); err != nil {
		return err
	}
	return s.live.Recover(ctx)
}

// Stop ends streams, which would keep a shutdown waiting, and the work on staged
// uploads, for whose end it waits: an import under way is undone. Call it once.
func (s *Server) Stop() {
	close(s.stopped)
	if s.uploads != nil {
		s.uploads.stop()
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// randomID returns 16 hexadecimal digits.
func randomID() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// handlerFunc answers a request or says why not.
type handlerFunc func(c *gin.Context) error

// handle adapts a handlerFunc to Gin.
func (s *Server) handle(f handlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := f(c); err != nil {
			s.fail(c, err)
		}
	}
}

const requestIDKey = "request_id"

// observe gives the request an id, measures it and logs it at debug level.
func (s *Server) observe(c *gin.Context) {
	start := time.Now()
	id := randomID()
	c.Set(requestIDKey, id)
	c.Header("X-Request-Id", id)
	c.Next()
	route := c.FullPath()
	if route == "" {
		route = "none"
	}
	elapsed := time.Since(start)
	s.metrics.observe(c.Request.Method, route, c.Writer.Status(), elapsed)
	s.log.DebugContext(c.Request.Context(), "request", "request_id", id, "method", c.Request.Method, "route", route,
		"path", c.Request.URL.Path, "status", c.Writer.Status(), "duration_ms", float64(elapsed.Microseconds())/1000, "bytes", c.Writer.Size())
}

// contentSecurityPolicy lets the pages load from this server alone.
const contentSecurityPolicy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func secure(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	c.Next()
}
