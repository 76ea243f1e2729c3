package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/web/view"
)

// runRoutes are the routes of the queue of requested attempts.
func (s *Server) runRoutes(r *gin.Engine) {
	r.Match(reads, "/runs", s.handle(s.runsPage))
	r.Match(reads, "/runs.json", s.handle(s.listRuns))
	r.Match(reads, "/runs.csv", s.handle(s.runsCSV))
	r.Match(reads, apiPrefix+"/runs", s.handle(s.listRuns))
	r.POST(apiPrefix+"/runs", s.handle(s.queueRun))
	r.POST(apiPrefix+"/runs/claim", s.handle(s.claimRun))
	r.POST(apiPrefix+"/runs/:id/status", s.handle(s.runStatus))
	r.POST(apiPrefix+"/runs/:id/cancel", s.handle(s.cancelRun))
}

// shownRuns is how many runs a list holds.
const shownRuns = 200

// readLive is of how many running attempts the log is read for a list of runs.
const readLive = 50

// Limits of one run.
const (
	maxRunAttempts  = 1_000
	maxRunParallel  = 64
	maxRunTimeLimit = 7 * 24 * 3600 // s
)

func (s *Server) runs(c *gin.Context) (view.RunsData, error) {
	ctx := c.Request.Context()
	runs, err := s.db.Runs(ctx, shownRuns)
	if err != nil {
		return view.RunsData{}, err
	}
	live, err := s.db.LiveAttempts(ctx)
	if err != nil {
		return view.RunsData{}, err
	}
	data := view.RunsData{Runs: runs}
	for i, a := range live {
		run := view.LiveRun{LiveAttempt: a}
		if i < readLive {
			if run.Attempt, _, _, err = s.live.Attempt(ctx, a.ID); err != nil {
				return view.RunsData{}, err
			}
		}
		data.Live = append(data.Live, run)
	}
	return data, nil
}

func (s *Server) runsPage(c *gin.Context) error {
	data, err := s.runs(c)
	if err != nil {
		return err
	}
	revision, err := s.db.LatestRevision(c.Request.Context())
	if err != nil {
		return err
	}
	p := view.Page{Title: "Runs", Description: "Requested and running attempts.", Path: "/runs", Base: base(c), Version: s.version, Revision: revision, Assets: s.instance}
	var buf bytes.Buffer
	if err := view.Runs(p, data).Render(c.Request.Context(), &buf); err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "text/html; charset=utf-8", buf.Bytes())
	return nil
}

func (s *Server) listRuns(c *gin.Context) error {
	data, err := s.runs(c)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, gin.H{"runs": data.Runs, "live": liveStates(data.Live)})
	return nil
}

// runsCSV serves the queue of requested runs as a table.
func (s *Server) runsCSV(c *gin.Context) error {
	runs, err := s.db.Runs(c.Request.Context(), shownRuns)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	f := newCSVFile(c, "rebench-runs.csv", "id", "at", "author", "environment", "profile", "agent", "time_limit_s", "attempts", "state", "claimed_by", "message", "attempt_ids")
	for _, r := range runs {
		f.add(r.ID, r.At.Format(timeFormat), r.Author, r.Environment, r.Profile, r.Agent, r.TimeLimitS, r.Attempts, string(r.State), r.ClaimedBy, r.Message, strings.Join(r.AttemptIDs, " "))
	}
	return f.end()
}

func liveStates(runs []view.LiveRun) []rebench.LiveAttempt {
	out := make([]rebench.LiveAttempt, len(runs))
	for i, r := range runs {
		out[i] = r.LiveAttempt
	}
	return out
}

// runRequest is what an administrator asks for.
type runRequest struct {
	Environment string `json:"environment"`
	Profile     string `json:"profile"`
	Agent       string `json:"agent"` // as on the runner's command line
	TimeLimitS  int64  `json:"time_limit_s"`
	Attempts    int    `json:"attempts"` // default 1
	Parallel    int    `json:"parallel"` // default 1
	Seed        int64  `json:"seed"`
}

// check returns everything that is wrong with a request.
func (q *runRequest) check() error {
	if q.Attempts == 0 {
		q.Attempts = 1
	}
	if q.Parallel == 0 {
		q.Parallel = 1
	}
	if q.Profile == "" {
		q.Profile = string(rebench.ProfileCPU)
	}
	var faults []ParamFault
	bad := func(name, found, expected string, allowed ...string) {
		faults = append(faults, ParamFault{Parameter: name, Code: "unknown_value", Found: shorten(found), Expected: expected, Allowed: allowed})
	}
	if _, ok := rebench.EnvironmentByID(rebench.EnvironmentID(q.Environment)); !ok {
		bad("environment", q.Environment, "the id of an environment", texts(rebench.EnvironmentIDs())...)
	}
	if profiles := append(rebench.Profiles(), rebench.ProfileTest); !slices.Contains(profiles, rebench.Profile(q.Profile)) {
		bad("profile", q.Profile, "a profile", texts(profiles)...)
	}
	kind, _, _ := strings.Cut(q.Agent, ":")
	if agents := []string{"starter", "tuner", "reference", "command"}; !slices.Contains(agents, kind) || len(q.Agent) > maxText {
		bad("agent", q.Agent, "starter, tuner, reference or command:PROGRAM", agents...)
	}
	for _, n := range []struct {
		name     string
		value    int64
		low, top int64
	}{{"time_limit_s", q.TimeLimitS, 0, maxRunTimeLimit}, {"attempts", int64(q.Attempts), 1, maxRunAttempts}, {"parallel", int64(q.Parallel), 1, maxRunParallel}} {
		if n.value < n.low || n.value > n.top {
			bad(n.name, strconv.FormatInt(n.value, 10), fmt.Sprintf("%d to %d", n.low, n.top))
		}
	}
	if len(faults) > 0 {
		return &ParamError{Faults: faults}
	}
	return nil
}

func texts[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = string(x)
	}
	return out
}

// maxJSON bounds small JSON requests.
const maxJSON = 64 << 10

// readJSON decodes a small JSON object; unknown fields are refused.
func readJSON(c *gin.Context, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxJSON))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return rebench.Errorf(rebench.CodeInvalid, "the request is not the JSON object expected: %w", err)
	}
	return nil
}

func (s *Server) queueRun(c *gin.Context) error {
	token, err := s.bearer(c, store.ScopeAdmin)
	if err != nil {
		return err
	}
	var q runRequest
	if err := readJSON(c, &q); err != nil {
		return err
	}
	if err := q.check(); err != nil {
		return err
	}
	run, err := s.db.QueueRun(c.Request.Context(), rebench.Run{Author: token.Name, Environment: q.Environment, Profile: q.Profile, Agent: q.Agent,
		TimeLimitS: q.TimeLimitS, Attempts: q.Attempts, Parallel: q.Parallel, Seed: q.Seed})
	if err != nil {
		return err
	}
	c.JSON(http.StatusCreated, run)
	return nil
}

// claimRun gives the oldest queued run to the runner that asks; 204 when none waits.
func (s *Server) claimRun(c *gin.Context) error {
	token, err := s.bearer(c, store.ScopeUpload)
	if err != nil {
		return err
	}
	run, ok, err := s.db.ClaimRun(c.Request.Context(), token.Name)
	if err != nil {
		return err
	}
	if !ok {
		c.Status(http.StatusNoContent)
		return nil
	}
	c.JSON(http.StatusOK, gin.H{"run": run})
	return nil
}

func runID(c *gin.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return 0, rebench.Errorf(rebench.CodeNotFound, "there is no run %q", shorten(c.Param("id")))
	}
	return id, nil
}

func (s *Server) runStatus(c *gin.Context) error {
	if _, err := s.bearer(c, store.ScopeUpload); err != nil {
		return err
	}
	id, err := runID(c)
	if err != nil {
		return err
	}
	var q struct {
		State      rebench.RunState `json:"state"`
		Message    string           `json:"message"`
		AttemptIDs []string         `json:"attempt_ids"`
	}
	if err := readJSON(c, &q); err != nil {
		return err
	}
	if states := []rebench.RunState{rebench.RunRunning, rebench.RunDone, rebench.RunFailed, rebench.RunQueued}; !slices.Contains(states, q.State) {
		return &ParamError{Faults: []ParamFault{{Parameter: "state", Code: "unknown_value", Found: shorten(string(q.State)), Expected: "one of running, done, failed, queued", Allowed: texts(states)}}}
	}
	run, err := s.db.UpdateRun(c.Request.Context(), id, q.State, shorten(q.Message), q.AttemptIDs)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, run)
	return nil
}

func (s *Server) cancelRun(c *gin.Context) error {
	token, err := s.bearer(c, store.ScopeAdmin)
	if err != nil {
		return err
	}
	id, err := runID(c)
	if err != nil {
		return err
	}
	run, err := s.db.UpdateRun(c.Request.Context(), id, rebench.RunCancelled, "cancelled by "+token.Name, nil)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, run)
	return nil
}
