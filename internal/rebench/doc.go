// Package rebench holds the domain of RE-Bench (arXiv 2411.15114): environments,
// agents, attempts, score entries, budgets and the errors that every layer shares.
//
// It imports the standard library only, so that every other package may import it.
package rebench
