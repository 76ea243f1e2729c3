package handler

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"rebench/internal/analysis"
	"rebench/internal/ingest"
	"rebench/internal/rebench"
)

// exportResource chooses attempts whose logs are exported: as the list of attempts
// does, but from all profiles unless one is named.
var exportResource = resource{path: "/attempts", takes: []string{"profile", "environment", "agent", "kind", "cohort", "time_limit", "flagged", "text", "environments", "hours", "log", "scorer", "hardware", "asof"}}

// exportRoutes are the logs of many attempts at once, in forms that can be uploaded
// to a server and make the same attempts there.
func (s *Server) exportRoutes() []apiRoute {
	return []apiRoute{
		{path: "/attempts.jsonl", id: "attempts.jsonl", media: "application/x-ndjson", takes: exportResource.takes,
			summary: "Attempt logs one after another, of all profiles unless one is named; uploading them makes the same attempts. A line of type attempt-state before a log holds the flags of its attempt and why it is in no ranking, which the upload takes over; it lifts none",
			handle:  func(c *gin.Context) error { return s.export(c, "jsonl", "application/x-ndjson", ingest.WriteJSONL) }},
		{path: "/attempts.csv", id: "attempts.csv", media: "text/csv", takes: exportResource.takes,
			summary: "The same logs as one table with a row for each line; uploading it makes the same attempts. A row of type attempt-state holds what the line does",
			handle: func(c *gin.Context) error {
				return s.export(c, "csv", "text/csv; charset=utf-8; header=present", ingest.WriteCSV)
			}},
	}
}

// exportWriter writes logs in one form.
type exportWriter func(w io.Writer, attempts iter.Seq2[ingest.Exported, error]) error

func (s *Server) export(c *gin.Context, suffix, contentType string, write exportWriter) error {
	x, err := s.bind(c, exportResource, "/attempts", formAPI)
	if err != nil {
		return err
	}
	flags, err := s.store.Flags(c.Request.Context(), x.revision.ID)
	if err != nil {
		return err
	}
	h := c.Writer.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", `attachment; filename="rebench-attempts.`+suffix+`"`)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Data-Revision", fmt.Sprint(x.revision.ID))
	control := http.NewResponseController(c.Writer)
	attempts := func(yield func(ingest.Exported, error) bool) {
		for a, err := range s.exported(c.Request.Context(), x, c.Query("profile") == "") {
			if err != nil {
				yield(ingest.Exported{}, err)
				return
			}
			// A long export is fine as long as it moves; a test's recorder has no deadline.
			_ = control.SetWriteDeadline(time.Now().Add(writeIdle))
			log := s.logReader(c.Request.Context(), a.RevisionID)
			more := true
			// An attempt without a log has nothing to export.
			if in := bufio.NewReader(log); !atEnd(in) {
				more = yield(ingest.Exported{Log: in, State: stateOf(a, flags[a.ID])}, nil)
			}
			if log.Close(); !more { // ends the writer at its other end
				return
			}
		}
	}
	return write(c.Writer, attempts)
}

// stateOf is what is said of an attempt beside its log.
func stateOf(a analysis.AttemptRow, flags []rebench.Flag) *ingest.State {
	s := &ingest.State{AttemptID: a.ID, Unranked: a.Unranked}
	for _, f := range flags {
		s.Flags = append(s.Flags, ingest.StatedFlag{Kind: f.Kind, Set: f.Set, Author: f.Author, Reason: f.Reason, At: f.At})
	}
	return s
}

func atEnd(r *bufio.Reader) bool {
	_, err := r.Peek(1)
	return errors.Is(err, io.EOF)
}

// writeIdle is how long a client may take over one log of an export.
const writeIdle = 2 * time.Minute

// exported yields the chosen attempts as they stood at the data revision.
func (s *Server) exported(ctx context.Context, x *exchange, everyProfile bool) iter.Seq2[analysis.AttemptRow, error] {
	profiles := []rebench.Profile{x.query.Profile}
	if everyProfile {
		profiles = append(rebench.Profiles(), rebench.ProfileTest)
	}
	return func(yield func(analysis.AttemptRow, error) bool) {
		for _, p := range profiles {
			q := x.query
			q.Profile, q.AsOf = p, x.revision.ID
			for token := ""; ; {
				page, err := s.engine.Attempts(ctx, q, x.filter, token)
				if err != nil {
					yield(analysis.AttemptRow{}, err)
					return
				}
				for _, a := range page.Attempts {
					if !yield(a, nil) {
						return
					}
				}
				if token = page.NextPageToken; token == "" {
					break
				}
			}
		}
	}
}

// logReader streams the log of a revision.
func (s *Server) logReader(ctx context.Context, revision int64) *io.PipeReader {
	out, in := io.Pipe()
	go func() {
		_, err := s.store.WriteLog(ctx, revision, in)
		in.CloseWithError(err) // nil is the end
	}()
	return out
}
