// Package attemptlog reads, verifies and writes attempt log version 1: the
// append-only record of one attempt at one environment.
//
// A log is application/x-ndjson: UTF-8, one JSON object a line, lines ended by
// LF, at most MaxLineBytes each. Every line carries `type`, `seq` (0, 1, 2 ...)
// and `prev`, the hex SHA-256 of the previous line's bytes without its LF (64
// zeros on the first line). Objects hold no duplicate keys, numbers are finite,
// integers lie within ±(2^53-1), and times are RFC 3339 in UTC with
// milliseconds (2006-01-02T15:04:05.000Z). Unknown keys and unknown line types
// are kept.
//
// The hash chain shows that a log was edited only against a head that somebody
// else received earlier. It does not prove that the log is honest.
//
// Reader streams a log in bounded memory and verifies it while it goes; Writer
// emits lines that Reader accepts; Appender is a Writer on a file that syncs
// every event and recovers from a torn last line.
package attemptlog
