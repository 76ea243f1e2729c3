// Package attempt is the life of one attempt: a solver in a sandbox, a budget
// clock, the calls by which it has its work scored, and the attempt log that
// records them.
//
// # Clock
//
// The runner owns a monotonic clock. Everything is charged to the solver except
// pauses: a break of a human, trouble of a model's API, waiting for the
// machine's timing lock, and the scorer's own trusted work while the solver is
// kept frozen. In every uncharged interval the solver's whole sandbox is frozen
// first and thawed last, so an agent cannot compute for free. An entry's t is the
// charged time at which its scoring starts. A scoring whose solution was taken
// before the limit counts, however long it then takes; what it is charged never
// passes the limit.
//
// # Durability
//
// A score entry is appended to the log and synced before the solver is
// answered. A runner that dies, however it dies, loses no answered entry: Recover
// finds the open log, kills what is left of the solver, and closes the log with
// the reason error.
package attempt
