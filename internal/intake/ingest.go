package intake

import (
	"rebench/internal/attemptlog"
	"rebench/internal/ingest"
	"rebench/internal/rebench"
)

// FromIngest is the log of a decoded attempt. Faults of the attempt become an
// error that wraps attemptlog.Faults.
func FromIngest(a *ingest.Attempt) Log {
	return func(add func(*attemptlog.Line) error) (attemptlog.Summary, error) {
		for line := range a.Lines() {
			if err := add(line); err != nil {
				return attemptlog.Summary{}, err
			}
		}
		if faults := attemptlog.Faults(a.Faults()); len(faults) > 0 {
			return attemptlog.Summary{}, &rebench.Error{Code: rebench.CodeInvalid, Message: faults.Error(), Err: faults}
		}
		return a.Summary(), nil
	}
}
