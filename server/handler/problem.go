package handler

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"rebench/internal/ingest"
	"rebench/internal/rebench"
)

// ParamFault is one thing wrong with a URL's parameters.
type ParamFault struct {
	Parameter string   `json:"parameter"`
	Code      string   `json:"code"` // unknown_parameter, unknown_value, malformed, repeated, missing
	Found     string   `json:"found,omitempty"`
	Expected  string   `json:"expected"`
	Allowed   []string `json:"allowed,omitempty"`
	Hint      string   `json:"hint,omitempty"`
}

func (f ParamFault) String() string {
	var b strings.Builder
	switch f.Code {
	case "unknown_parameter":
		fmt.Fprintf(&b, "unknown parameter %q; there are %s", f.Parameter, strings.Join(f.Allowed, ", "))
	case "missing":
		fmt.Fprintf(&b, "parameter %s is missing: expected %s", f.Parameter, f.Expected)
	default:
		fmt.Fprintf(&b, "parameter %s is %q: expected %s", f.Parameter, f.Found, f.Expected)
		if len(f.Allowed) > 0 && !strings.HasPrefix(f.Expected, "one of ") {
			fmt.Fprintf(&b, "; there are %s", strings.Join(f.Allowed, ", "))
		}
	}
	if f.Hint != "" {
		b.WriteString(". " + f.Hint)
	}
	return b.String()
}

// ParamError says everything that is wrong with a URL's parameters.
type ParamError struct{ Faults []ParamFault }

func (e *ParamError) Error() string {
	words := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		words[i] = f.String()
	}
	return strings.Join(words, "; ")
}

// Unwrap gives the error its code.
func (e *ParamError) Unwrap() error {
	return &rebench.Error{Code: rebench.CodeInvalid, Message: e.Error()}
}

var (
	errNotAllowed = errors.New("not among the allowed values")
	errMalformed  = errors.New("malformed")
)

// valueError names the value of a list that is at fault.
type valueError struct {
	value string
	err   error
}

func (e valueError) Error() string { return e.err.Error() }
func (e valueError) Unwrap() error { return e.err }

func newFault(name string, p param, given []string, err error) *ParamFault {
	f := &ParamFault{Parameter: name, Code: "malformed", Found: strings.Join(given, ","), Expected: p.expected, Allowed: p.allowed}
	if v, ok := errors.AsType[valueError](err); ok {
		f.Found = v.value
	}
	switch {
	case errors.Is(err, errNotAllowed):
		f.Code = "unknown_value"
		f.Hint = didYouMean(near(f.Found, p.allowed))
	case !errors.Is(err, errMalformed):
		f.Hint = err.Error()
	}
	f.Found = shorten(f.Found)
	return f
}

// shorten keeps an error from repeating a page of input.
func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "..."
}

// Problem is an error response after RFC 9457.
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Instance  string `json:"instance"`
	RequestID string `json:"request_id"`
	Code      string `json:"code,omitempty"`     // of streamed lines: gap, fork or a fault's code
	Expected  *int64 `json:"expected,omitempty"` // seq to send next
	// Errors is everything that is wrong: with parameters ([]ParamFault) or with the
	// content of files (attemptlog.Faults).
	Errors any `json:"errors,omitempty"`
	// Files says what each uploaded file was recognised as.
	Files []ingest.FileReport `json:"files,omitempty"`
}

// httpError is an error with a status of its own, for what the codes of package
// rebench do not cover.
type httpError struct {
	status   int
	detail   string
	code     string // for programs, "" when the status says it all
	expected *int64
}

func (e *httpError) Error() string { return e.detail }

// problemOf is the one place where errors become responses. internal is true when
// the error's text must stay in the log.
func problemOf(err error) (p Problem, internal bool) {
	status := http.StatusInternalServerError
	detail := err.Error()
	switch rebench.ErrorCode(err) {
	case rebench.CodeInvalid:
		status = http.StatusBadRequest
	case rebench.CodeNotFound:
		status = http.StatusNotFound
	case rebench.CodeConflict:
		status = http.StatusConflict
	case rebench.CodeUnauthorized:
		status = http.StatusUnauthorized
	}
	if h, ok := errors.AsType[*httpError](err); ok {
		status, detail = h.status, h.detail
	} else if e, ok := errors.AsType[*rebench.Error](err); ok {
		// Without what wraps it: that is the program's own context.
		detail = e.Message
	}
	if status == http.StatusInternalServerError {
		internal, detail = true, "The server failed to answer. Its log has the details under the request id."
	}
	p = Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
	if faults := faultsOf(err); len(faults) > 0 {
		p.Errors = faults
	}
	if u, ok := errors.AsType[*uploadError](err); ok {
		p.Status, p.Title, p.Detail = http.StatusUnprocessableEntity, http.StatusText(http.StatusUnprocessableEntity), u.Error()
		p.Errors, internal = u.faults, false
		if u.report != nil {
			p.Files = u.report.Files
		}
		if len(u.faults) > 0 {
			p.Code = u.faults[0].Code
		}
	}
	if h, ok := errors.AsType[*httpError](err); ok {
		p.Code, p.Expected = h.code, h.expected
	}
	return p, internal
}
