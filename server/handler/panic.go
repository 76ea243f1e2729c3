package handler

import (
	"fmt"
	"runtime/debug"
)

// panicError is a panic on its way to the log.
type panicError struct {
	value any
	stack []byte
}

func (e panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

func stack() []byte { return debug.Stack() }
