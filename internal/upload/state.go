package upload

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rebench/internal/ingest"
	"rebench/internal/intake"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

// extraUnrankedSource is the fact that says who stated why an attempt is in no ranking.
const extraUnrankedSource = "unranked_source"

// maxStatedReason bounds the reason of a stated flag in characters, with room for
// where it comes from.
const maxStatedReason = 1_500

// stated takes from an export what kept its attempt out of rankings where it was
// exported. Nothing that a file says lifts a flag or lets an attempt rank.
func (b *batch) stated(a *ingest.Attempt, m *intake.Meta) {
	if a.State == nil {
		return
	}
	by := ", imported by " + b.options.Author
	for _, f := range a.State.Excluding() {
		m.Stated = append(m.Stated, rebench.Flag{Kind: f.Kind, Set: true, Author: b.options.Author,
			Reason: fmt.Sprintf("%s (stated in %s by %s on %s%s)", clip(f.Reason, maxStatedReason), a.File, clip(f.Author, 200), f.At.UTC().Format(time.DateOnly), by)})
		m.Note += fmt.Sprintf("; %s states: %s", a.File, f.Kind)
	}
	if a.State.Unranked != "" && m.Unranked == "" {
		m.Unranked = a.State.Unranked
		m.Extra[extraUnrankedSource] = "stated in " + a.File + by
	}
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// statedWords say what is taken from a file's state of an attempt.
func statedWords(s *ingest.State) string {
	var words []string
	for _, f := range s.Excluding() {
		words = append(words, fmt.Sprintf("%s by %s: %s", f.Kind, clip(f.Author, 200), clip(f.Reason, maxStatedReason)))
	}
	return strings.Join(words, "; ")
}

// tally counts what files say of attempts beside their logs.
type tally struct {
	excluded int // attempts kept out of rankings by what a file says
	lifted   int // attempts of which a file says that a flag was lifted, or that they were audited
	lost     int // known attempts that stay in rankings against what a file says
	names    []string
}

// maxNamed is how many attempts a remark names.
const maxNamed = 5

// weigh notes how the state of the attempt handed over last was used, and returns
// what was taken from it. An attempt that is known with this content keeps the flags
// that it has here: a file must not decide about results of others.
func (b *batch) weigh(ctx context.Context, a *ingest.Attempt, r store.Result) (string, error) {
	if a.State == nil {
		return "", nil
	}
	words := statedWords(a.State)
	if len(a.State.Flags) > len(a.State.Excluding()) {
		b.tally.lifted++
	}
	switch {
	case words == "" && a.State.Unranked == "":
	case r.Outcome == store.Created || r.Outcome == store.Revised:
		b.tally.excluded++
		return words, nil
	case r.Outcome == store.Unchanged:
		ranks, err := b.ranksAgainst(ctx, a.State, r.AttemptID)
		if err != nil || !ranks {
			return "", err
		}
		if b.tally.lost++; len(b.tally.names) < maxNamed {
			b.tally.names = append(b.tally.names, r.AttemptID)
		}
	}
	return "", nil
}

// ranksAgainst reports whether a known attempt lacks a flag, or the state of not being
// ranked, that a file states.
func (b *batch) ranksAgainst(ctx context.Context, s *ingest.State, id string) (bool, error) {
	rev, err := b.service.Store.LatestRevision(ctx)
	if err != nil {
		return false, err
	}
	known, err := b.service.Store.Attempt(ctx, id, rev.ID)
	if rebench.ErrorCode(err) == rebench.CodeNotFound {
		return false, nil // new in this very upload
	}
	if err != nil {
		return false, err
	}
	set := map[rebench.FlagKind]bool{}
	for _, f := range known.Flags {
		set[f.Kind] = f.Set
	}
	lacks := slices.ContainsFunc(s.Excluding(), func(f ingest.StatedFlag) bool { return !set[f.Kind] })
	return lacks || s.Unranked != "" && known.Ranked, nil
}

// tellStates adds remarks on the states of a file's attempts to its report.
func (b *batch) tellStates() {
	t := b.tally
	b.tally = tally{}
	if t.excluded > 0 {
		b.remark(ingest.WarnStated, "an administrator can lift the flags here",
			"the file states flags or reasons that keep attempts out of rankings; they are recorded with where they come from: %s", rebench.Count(t.excluded, "attempt"))
	}
	if t.lifted > 0 {
		b.remark(ingest.WarnNotTaken, "audits and lifted flags are stated here again by people who looked",
			"the file also states audits, or flags that were lifted, which are not taken from a file: %s", rebench.Count(t.lifted, "attempt"))
	}
	if t.lost > 0 {
		b.remark(ingest.WarnNotTaken, "an administrator can flag them here if that is right",
			"excluded in the file but not here, where they are known with this content and stay as they are: %s (%s)", rebench.Count(t.lost, "attempt"), strings.Join(t.names, ", "))
	}
}
