package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"rebench/internal/rebench"
	"rebench/runner/client"
)

// print writes a command's result as one JSON document, for scripts.
func (g *globals) print(out io.Writer, result any) error {
	g.answered = true
	return json.NewEncoder(out).Encode(result)
}

// failure is what a command prints with --json in place of a result.
type failure struct {
	Error      string `json:"error"`
	Code       string `json:"code"` // invalid, not_found, conflict, unauthorized, internal, undelivered or interrupted
	ExitStatus int    `json:"exit_status"`
}

// tell reports why a command failed: once for people and, with --json, as the one
// document on standard output unless the command has printed its result there.
func (g *globals) tell(err error, status int, stdout, stderr io.Writer) {
	fmt.Fprintln(stderr, "runner:", err)
	if !g.json || g.answered {
		return
	}
	if printErr := g.print(stdout, failure{err.Error(), failureCode(err, status), status}); printErr != nil {
		fmt.Fprintln(stderr, "runner:", printErr)
	}
}

func failureCode(err error, status int) string {
	_, refused := errors.AsType[*client.StatusError](err)
	_, coded := errors.AsType[*rebench.Error](err)
	switch {
	case status == exitInterrupted:
		return "interrupted"
	case refused || status == exitUndelivered && !coded:
		return "undelivered"
	case status == exitUsage && !coded:
		return string(rebench.CodeInvalid)
	}
	return string(rebench.ErrorCode(err))
}
