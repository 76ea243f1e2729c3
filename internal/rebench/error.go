package rebench

import (
	"errors"
	"fmt"
)

// Code classifies an error for the one place that turns errors into responses.
type Code string

// The codes. An error without a code counts as CodeInternal.
const (
	CodeInvalid      Code = "invalid"      // the caller's input is wrong: HTTP 400 or 422
	CodeNotFound     Code = "not_found"    // nothing has that id: HTTP 404
	CodeConflict     Code = "conflict"     // the state forbids it: HTTP 409
	CodeUnauthorized Code = "unauthorized" // no or too weak credentials: HTTP 401 or 403
	CodeInternal     Code = "internal"     // a fault of this program: HTTP 500
)

// Error is an error with a code and a message that may be shown to the user.
type Error struct {
	Code    Code
	Message string
	Err     error // the cause, for the log only
}

// Errorf returns an *Error with the given code. A %w operand becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code of the first *Error in err's chain, CodeInternal
// if there is none, and "" for a nil error.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
