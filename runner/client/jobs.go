package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"rebench/internal/rebench"
)

// Job is a requested run that a server has given to this runner.
type Job struct {
	ID          string  `json:"id"`
	Environment string  `json:"environment"`
	Profile     string  `json:"profile"`
	Agent       string  `json:"agent"`        // as on the command line, e.g. starter
	TimeLimitS  float64 `json:"time_limit_s"` // seconds; 0: the profile's default
	Attempts    int     `json:"attempts"`
	Parallel    int     `json:"parallel"`
	Seed        int64   `json:"seed"`
}

// JobState is how far a claimed job is.
type JobState string

// States of a claimed job.
const (
	JobRunning JobState = "running"
	JobDone    JobState = "done"
	JobFailed  JobState = "failed"
	JobQueued  JobState = "queued" // gives it back; only before an attempt has begun
)

// JobStatus is what a runner reports about a job.
type JobStatus struct {
	State      JobState `json:"state"`
	Message    string   `json:"message"`
	AttemptIDs []string `json:"attempt_ids"`
}

// Claim takes one queued run; nil without an error means that none is waiting.
func (c *Client) Claim(ctx context.Context) (*Job, error) {
	var out struct {
		Run *Job `json:"run"`
	}
	status, err := c.doStatus(ctx, http.MethodPost, "/api/v1/runs/claim", "application/json", []byte("{}"), &out)
	if err != nil {
		return nil, err
	}
	if status == http.StatusNoContent {
		return nil, nil
	}
	if out.Run == nil || out.Run.ID == "" {
		return nil, rebench.Errorf(rebench.CodeInternal, "server's answer to a claim has no `run` with an `id`")
	}
	return out.Run, nil
}

// Report tells the server how far a claimed job is.
func (c *Client) Report(ctx context.Context, jobID string, s JobStatus) error {
	if s.AttemptIDs == nil {
		s.AttemptIDs = []string{}
	}
	body, err := json.Marshal(s)
	if err != nil {
		return rebench.Errorf(rebench.CodeInternal, "report on run %s: %w", jobID, err)
	}
	return c.do(ctx, http.MethodPost, "/api/v1/runs/"+url.PathEscape(jobID)+"/status", "application/json", body, nil)
}
