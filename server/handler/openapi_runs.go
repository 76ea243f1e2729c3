package handler

import (
	"fmt"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"

	"rebench/internal/attemptlog"
	"rebench/internal/live"
	"rebench/internal/rebench"
)

// Bodies of streamed logs and of their updates.
const mediaEvents = "text/event-stream"

// liveOperations are those by which runners take runs and deliver attempts.
func liveOperations() []writeOperation {
	noSuch := "There is no such run."
	over := "The run is over, or has attempts and cannot be given back."
	return []writeOperation{{
		method: http.MethodGet, path: "/runs", id: "runs", summary: "The newest requested runs, and the attempts that are being streamed",
		results: map[int]string{http.StatusOK: "Runs"},
	}, {
		path: "/runs", id: "queue", scope: "admin", summary: "Request attempts, which a runner then makes", body: jsonBody(ref("RunRequest")),
		results: map[int]string{http.StatusCreated: "Run"}, problems: map[int]string{http.StatusBadRequest: "A member is wrong; errors names it and what is allowed."},
	}, {
		path: "/runs/claim", id: "claim", scope: "upload", summary: "Take the oldest queued run",
		results: map[int]string{http.StatusOK: "ClaimedRun"}, empty: "No run waits.",
	}, {
		path: "/runs/:id/status", id: "run-status", scope: "upload", summary: "Say how a claimed run is; queued gives it back, before an attempt has begun",
		body: jsonBody(object("how the run is", fields{
			"state":   enum("state", string(rebench.RunRunning), string(rebench.RunDone), string(rebench.RunFailed), string(rebench.RunQueued)),
			"message": str("what is to be known"), "attempt_ids": arrayOf(str("attempt id"), "attempts that have begun"),
		}, "message", "attempt_ids")),
		results:  map[int]string{http.StatusOK: "Run"},
		problems: map[int]string{http.StatusBadRequest: "A member is wrong.", http.StatusNotFound: noSuch, http.StatusConflict: over},
	}, {
		path: "/runs/:id/cancel", id: "cancel", scope: "admin", summary: "Cancel a run that is not over",
		results: map[int]string{http.StatusOK: "Run"}, problems: map[int]string{http.StatusNotFound: noSuch, http.StatusConflict: over},
	}, {
		path: "/attempts/:id/events", id: "events", scope: "upload",
		summary: "Add lines to the log of an attempt that is running; known lines are ignored, and the `end` line imports it",
		body: openapi3.NewRequestBody().WithRequired(true).WithDescription(fmt.Sprintf("Lines of an attempt log v1, at most %d bytes.", live.MaxBody)).
			WithContent(openapi3.NewContentWithSchema(openapi3.NewStringSchema(), []string{attemptlog.MediaType})),
		results: map[int]string{http.StatusOK: "Acknowledged"}, problem: "StreamProblem", conflict: "StreamProblem",
		problems: map[int]string{
			http.StatusConflict:              "Lines are missing (code gap), contradict known ones (fork), or the id is taken; expected is the seq to send next.",
			http.StatusRequestEntityTooLarge: "The request is too long: send fewer lines at a time.", http.StatusBadRequest: "The request broke off.",
			http.StatusUnprocessableEntity: "The lines are no attempt log; errors says where.",
		},
	}, {
		method: http.MethodGet, path: "/attempts/:id/events/head", id: "events-head", scope: "upload", summary: "Up to which line an attempt's log has arrived",
		results: map[int]string{http.StatusOK: "Acknowledged"},
	}, {
		method: http.MethodGet, path: "/attempts/:id/stream", id: "stream", media: mediaEvents,
		summary:  "The state of an attempt that is running, as server-sent events: at once, and whenever its log grows",
		problems: map[int]string{http.StatusNotFound: "No such attempt is being streamed."},
	}}
}

// liveSchemas describe what runs and streams are answered with.
func liveSchemas() fields {
	asked := func() fields {
		return fields{
			"environment": environmentID(), "profile": enum("profile", append(profileNames(), string(rebench.ProfileTest))...),
			"agent": str("as on the runner's command line: starter, tuner, reference or command:PROGRAM"), "time_limit_s": count("time limit of each attempt, s; 0 is the profile's"),
			"attempts": count("how many; default 1"), "parallel": count("how many at a time; default 1"), "seed": integer("of the first attempt"),
		}
	}
	return fields{
		"RunRequest": object("attempts that are asked for", asked(), "profile", "time_limit_s", "attempts", "parallel", "seed"),
		"Run": object("a requested run", with(asked(), fields{
			"id": str("id"), "at": when("when it was asked for"), "author": str("name of the token"), "claimed_by": str("token of the runner that makes it, \"\" while it waits"),
			"state": enum("state", string(rebench.RunQueued), string(rebench.RunClaimed), string(rebench.RunRunning), string(rebench.RunDone),
				string(rebench.RunFailed), string(rebench.RunCancelled)),
			"updated": when("last change"), "message": str("what the runner says"), "attempt_ids": arrayOf(str("attempt id"), "attempts that have begun"),
		})),
		"ClaimedRun": object("the run to make", fields{"run": ref("Run")}),
		"Runs": object("runs", fields{
			"runs": arrayOf(ref("Run"), fmt.Sprintf("newest first, at most %d", shownRuns)),
			"live": arrayOf(object("an attempt that is being streamed", fields{
				"id": str("attempt id"), "started": when("first line"), "updated": when("last line"), "seq": integer("of the last line"),
				"head": str("SHA-256 of the last line"), "ended": flag("its last line is `end`"),
			}), "newest first"),
		}),
		"Acknowledged": object("what is on disk", fields{"attempt_id": str("attempt id"), "acknowledged": integer("seq up to which every line is stored, -1 for none")}),
		"StreamProblem": object("lines that were refused (RFC 9457)", fields{
			"type": str("about:blank"), "title": str("status in words"), "status": integer("HTTP status"), "detail": str("what is wrong"),
			"instance": str("path"), "request_id": str("to find the request in the server's log"), "code": str("gap, fork, or the first fault's code"),
			"expected": integer("seq to send next"), "errors": arrayOf(ref("Fault"), "every fault"),
		}, "code", "expected", "errors"),
	}
}
