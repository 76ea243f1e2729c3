// Package validity holds what this project does about gamed and wrong scores: the
// catalogue of documented behaviours and flaws with the tests behind each defence, the
// rules that put an attempt in quarantine, and the monthly draw of winners to audit.
//
// The catalogue and the rules are data (data/validity); the package's tests hold them
// against the sources.
package validity
