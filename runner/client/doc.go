// Package client carries attempt logs from a runner to a server.
//
// An attempt's own log file is the spool: Delivery reads what has been synced to
// it and posts the lines as they are, at least once and in order, for as long as
// the server takes to come back. The server tells repeats from new lines by
// (attempt, seq), so nothing about the delivery needs to be remembered between
// two runs of the program.
package client
