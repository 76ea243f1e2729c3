// Package sandbox runs untrusted programs: agents, their submissions and the
// trusted scorers that look at hostile data.
//
// An Executor starts Processes from Specs. The bubblewrap backend gives every
// sandbox its own namespaces, an allow-listed read-only root, no network, a
// system call filter, and limits from the strongest Tier the machine offers:
// cgroup v2, cgroup v1, or resource limits with a watchdog. As root, agent,
// submission and scorer run as three different host users, dropped to before
// bubblewrap starts.
//
// Callers must not hold runtime.LockOSThread around Start and end the goroutine
// locked: the kernel's parent-death signal follows the starting thread.
package sandbox
