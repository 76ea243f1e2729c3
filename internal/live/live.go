// Package live receives attempt logs line by line from runners, lets readers watch
// them, and imports each one when it ends.
package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/intake"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

// MaxBody is the largest request of Append in bytes, MaxLog the largest streamed
// log: longer ones are uploaded as files.
const (
	MaxBody = 8 << 20
	MaxLog  = 64 << 20
)

// Service receives and hands out live attempts. It is safe for concurrent use.
type Service struct {
	store *store.Store
	log   *slog.Logger
	hub   hub
}

// New returns a service over the store.
func New(s *store.Store, log *slog.Logger) *Service {
	return &Service{store: s, log: log, hub: hub{watchers: map[string]map[chan struct{}]bool{}}}
}

// Append adds lines to an attempt's log and returns the seq up to which everything
// is stored. Lines that are known are ignored; nothing is stored of a request with
// a gap or contradiction (*store.StreamError) or with lines that break the format
// (attemptlog.Faults). With its `end` line the log is complete and is imported.
func (s *Service) Append(ctx context.Context, token store.Token, id string, body []byte) (acknowledged int64, err error) {
	lines, err := split(id, body)
	if err != nil {
		return -1, err
	}
	state, known, err := s.store.LiveAttempt(ctx, id)
	if err != nil {
		return -1, err
	}
	from := int64(0)
	if known {
		from = state.Seq + 1
	}
	fresh := lines
	for len(fresh) > 0 && fresh[0].Seq < from {
		fresh = fresh[1:]
	}
	ended := false
	if len(fresh) > 0 && fresh[0].Seq == from {
		if ended, err = s.verify(ctx, id, fresh); err != nil {
			return -1, err
		}
	}
	if !known {
		if err := s.refuseKnown(ctx, id); err != nil {
			return -1, err
		}
	}
	state, err = s.store.AppendLive(ctx, token, id, lines, ended)
	if err != nil {
		return state.Seq, err
	}
	if state.Ended {
		if err := s.importLog(ctx, id, token); err != nil {
			return state.Seq, err
		}
	}
	s.hub.notify(id)
	return state.Seq, nil
}

// refuseKnown keeps a stream from taking the id of an attempt that came otherwise.
func (s *Service) refuseKnown(ctx context.Context, id string) error {
	rev, err := s.store.LatestRevision(ctx)
	if err != nil {
		return err
	}
	switch _, err := s.store.Attempt(ctx, id, rev.ID); {
	case rebench.ErrorCode(err) == rebench.CodeNotFound:
		return nil
	case err != nil:
		return err
	}
	return rebench.Errorf(rebench.CodeConflict, "attempt %s exists already; give the new attempt another id", id)
}

// split cuts a request into lines and reads what the chain needs of each.
func split(id string, body []byte) ([]store.LiveLine, error) {
	var out []store.LiveLine
	number := 0
	for line := range bytes.Lines(body) {
		number++
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 {
			continue
		}
		var l struct {
			Seq       *int64  `json:"seq"`
			Prev      *string `json:"prev"`
			Type      string  `json:"type"`
			AttemptID string  `json:"attempt_id"`
		}
		fault := attemptlog.Fault{File: id, Line: number}
		if err := json.Unmarshal(line, &l); err != nil {
			fault.Code, fault.Detail = attemptlog.CodeBadJSON, "the line is not a JSON object: "+err.Error()
			return nil, faulty(fault)
		}
		if l.Seq == nil || l.Prev == nil || *l.Seq < 0 {
			fault.Code, fault.Field, fault.Detail = attemptlog.CodeMissingField, "seq", "found no seq or no prev, expected both"
			return nil, faulty(fault)
		}
		if l.Type == "header" && l.AttemptID != id {
			fault.Code, fault.Field, fault.Detail = attemptlog.CodeBadValue, "attempt_id", "the header names another attempt than the address"
			return nil, faulty(fault)
		}
		sum := sha256.Sum256(line)
		out = append(out, store.LiveLine{Seq: *l.Seq, Prev: *l.Prev, Hash: hex.EncodeToString(sum[:]), Raw: line})
	}
	if len(out) == 0 {
		return nil, rebench.Errorf(rebench.CodeInvalid, "attempt %s: the request holds no lines", id)
	}
	return out, nil
}

func faulty(f ...attemptlog.Fault) error {
	list := attemptlog.Faults(f)
	return &rebench.Error{Code: rebench.CodeInvalid, Message: list.Error(), Err: list}
}

// verify checks the log with new lines at its end and reports whether it is over.
func (s *Service) verify(ctx context.Context, id string, fresh []store.LiveLine) (ended bool, err error) {
	log, err := s.store.LiveLog(ctx, id, 0)
	if err != nil {
		return false, err
	}
	for _, l := range fresh {
		log = append(append(log, l.Raw...), '\n')
	}
	if len(log) > MaxLog {
		return false, rebench.Errorf(rebench.CodeInvalid, "attempt %s: the log is longer than %d bytes; upload it as a file", id, MaxLog)
	}
	r := attemptlog.NewReader(bytes.NewReader(log), attemptlog.Options{File: id})
	for r.Next() {
	}
	if err := r.Err(); err != nil {
		return false, err
	}
	if faults := r.Faults(); len(faults) > 0 {
		return false, s.streamFault(fresh[0].Seq, faults)
	}
	if _, err := intake.NewItem(r.Header(), intake.Meta{}, nil); err != nil {
		return false, err
	}
	return r.Summary().Ended, nil
}

// streamFault reports a broken chain as the contradiction that it is.
func (s *Service) streamFault(from int64, faults []attemptlog.Fault) error {
	for _, f := range faults {
		if f.Code == attemptlog.CodeChainBroken {
			return &store.StreamError{Expected: from}
		}
	}
	return faulty(faults...)
}

// importLog imports a complete log as a revision. Doing it again changes nothing.
func (s *Service) importLog(ctx context.Context, id string, token store.Token) error {
	log, err := s.store.LiveLog(ctx, id, 0)
	if err != nil {
		return err
	}
	item, err := s.item(id, log, token.Trusted)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(log)
	up := store.Upload{Author: token.Name, FileName: id, Format: string(ingest.FormatAttemptLog), SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(log)), Note: "streamed"}
	one := func(yield func(store.Item, error) bool) { yield(item, nil) }
	_, err = s.store.Import(ctx, up, "attempt streamed by a runner: "+id, one, nil)
	return err
}

func (s *Service) item(id string, log []byte, trusted bool) (store.Item, error) {
	r := attemptlog.NewReader(bytes.NewReader(log), attemptlog.Options{File: id})
	if !r.Next() {
		return store.Item{}, rebench.Errorf(rebench.CodeInternal, "attempt %s: the streamed log has no header", id)
	}
	sum := sha256.Sum256(log)
	m := intake.Meta{Dataset: ingest.DatasetUploads, NativeID: id, SourceFile: id + ".ndjson", SourceLine: 1, SourceSHA256: hex.EncodeToString(sum[:]), Note: "streamed by a runner", Trusted: trusted}
	return intake.NewItem(r.Header(), m, intake.FromBytes(id, log))
}

// Recover imports logs that had ended when the server stopped.
func (s *Service) Recover(ctx context.Context) error {
	ids, err := s.store.UnimportedLive(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		token, err := s.store.LiveToken(ctx, id)
		if err == nil {
			err = s.importLog(ctx, id, token)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.log.InfoContext(ctx, "imported a streamed attempt after a restart", "attempt", id)
	}
	return errors.Join(errs...)
}

// Attempt returns a live attempt as its log stands: with facts and entries, as an
// import would make them. ok is false when no line of it has arrived.
func (s *Service) Attempt(ctx context.Context, id string) (a *rebench.Attempt, log []byte, ok bool, err error) {
	state, ok, err := s.store.LiveAttempt(ctx, id)
	if err != nil || !ok {
		return nil, nil, false, err
	}
	if log, err = s.store.LiveLog(ctx, id, 0); err != nil {
		return nil, nil, false, err
	}
	item, err := s.item(id, log, false)
	if err != nil {
		return nil, nil, false, err
	}
	attempt, err := store.Read(item)
	if err != nil {
		return nil, nil, false, err
	}
	attempt.ID, attempt.LogHead, attempt.LogBytes = id, state.Head, int64(len(log))
	return attempt, log, true, nil
}

// Watch returns a channel that receives when an attempt's log grows. stop ends it.
func (s *Service) Watch(id string) (changed <-chan struct{}, stop func()) { return s.hub.watch(id) }

// Idle is how long an open attempt may stay silent before it counts as lost.
const Idle = 2 * time.Hour
