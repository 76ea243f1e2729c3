package analysis

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rebench/internal/rebench"
)

// AttemptsPerPage is the length of one page of attempts.
const AttemptsPerPage = 100

// Attempts returns one page of the attempts of a profile that match the filter.
// The token of the next page pins the data revision, so pages never overlap.
func (e *Engine) Attempts(ctx context.Context, q Query, f AttemptFilter, pageToken string) (*AttemptList, error) {
	revision, offset, err := readPageToken(pageToken)
	if err != nil {
		return nil, err
	}
	if q.AsOf == 0 {
		q.AsOf = revision
	}
	ds, err := e.Dataset(ctx, q.AsOf)
	if err != nil {
		return nil, err
	}
	f.Environments = q.Environments
	q = q.normalize()
	if err := ds.checkFilter(f); err != nil {
		return nil, err
	}
	matches := ds.matches(q, f)
	out := &AttemptList{View: ds.view(q, ds.frame(q)), Filter: f, Attempts: []AttemptRow{}, Total: len(matches)}
	if offset > len(matches) {
		return nil, rebench.Errorf(rebench.CodeInvalid, "page_token points past the %d attempts", len(matches))
	}
	for _, i := range matches[offset:min(offset+AttemptsPerPage, len(matches))] {
		out.Attempts = append(out.Attempts, ds.attemptRow(&ds.attempts[i]))
	}
	if end := offset + AttemptsPerPage; end < len(matches) {
		out.NextPageToken = writePageToken(ds.Revision.ID, end)
	}
	choices, err := e.Choices(ctx, q)
	if err != nil {
		return nil, err
	}
	out.Agents, out.TimeLimitsS = choices.Agents, ds.timeLimits(q)
	return out, nil
}

func (ds *Dataset) checkFilter(f AttemptFilter) error {
	if f.Environment != "" {
		if _, ok := rebench.EnvironmentByID(f.Environment); !ok {
			return rebench.Errorf(rebench.CodeInvalid, "unknown environment %q; there are %v", f.Environment, rebench.EnvironmentIDs())
		}
	}
	if f.Agent != "" {
		if err := ds.checkAgent(f.Agent); err != nil {
			return err
		}
	}
	if sorts := append([]string{""}, AttemptOrders()...); !slices.Contains(sorts, f.Sort) {
		return rebench.Errorf(rebench.CodeInvalid, "unknown sort %q; there are %q", f.Sort, sorts)
	}
	if flags := []string{"", "only", "none", "exclude", "include", "suspected"}; !slices.Contains(flags, f.Flagged) {
		return rebench.Errorf(rebench.CodeInvalid, "unknown flagged %q; there are %q", f.Flagged, flags)
	}
	return nil
}

// matches returns the indices of matching attempts in the filter's order.
func (ds *Dataset) matches(q Query, f AttemptFilter) []int {
	text := strings.ToLower(f.Text)
	counted := ds.counted(q, f)
	var out []int
	for i := range ds.attempts {
		a := &ds.attempts[i]
		if a.Profile != q.Profile || f.Environment != "" && a.Environment != f.Environment ||
			f.TimeLimitS != 0 && int64(a.TimeLimit/time.Second) != f.TimeLimitS {
			continue
		}
		if len(f.Environments) > 0 && !slices.Contains(f.Environments, a.Environment) || f.WithLog && !a.HasLog || counted != nil && !counted[i] {
			continue
		}
		flagged := a.Suspected || a.Excluded
		if f.Flagged == "only" && !flagged || f.Flagged == "none" && flagged {
			continue
		}
		kind := ds.agents[a.AgentID].Kind
		if f.Kind == NotHuman && kind == rebench.KindHuman || f.Kind != "" && f.Kind != NotHuman && kind != f.Kind || f.Cohort == rebench.CohortPaper71 && kind == rebench.KindHuman && a.Cohort != f.Cohort {
			continue
		}
		label := ds.attemptLabel(a)
		if f.Agent != "" && label != f.Agent {
			continue
		}
		if text != "" && !strings.Contains(strings.ToLower(a.ID), text) && !strings.Contains(strings.ToLower(label), text) {
			continue
		}
		out = append(out, i)
	}
	ds.sortAttempts(out, f.Sort)
	return out
}

// counted returns the attempts that results are computed from, as the filter's flagged
// asks for; nil where it does not.
func (ds *Dataset) counted(q Query, f AttemptFilter) map[int]bool {
	if f.Flagged != "exclude" && f.Flagged != "include" && f.Flagged != "suspected" {
		return nil
	}
	q.Flagged, q.Cap, q.Cohort = f.Flagged != "exclude", nil, cmp.Or(f.Cohort, rebench.CohortAll)
	out := map[int]bool{}
	for _, g := range ds.frame(q).groups {
		for _, cells := range g.cells {
			for _, c := range cells {
				for _, i := range c.attempts {
					out[i] = f.Flagged != "suspected" || ds.attempts[i].Suspected
				}
			}
		}
	}
	return out
}

// AttemptOrders are the orders of attempts besides that of import, "-" for descending.
func AttemptOrders() []string {
	return []string{"score", "-score", "duration", "-duration", "-imported"}
}

// sortAttempts orders attempts stably; those whose score or duration is unknown come last.
func (ds *Dataset) sortAttempts(at []int, by string) {
	field, descending := strings.TrimPrefix(by, "-"), strings.HasPrefix(by, "-")
	var key func(a *rebench.AttemptSummary) (value float64, known bool)
	switch field {
	case "":
		return
	case "imported": // at is in order of import
		slices.Reverse(at)
		return
	case "score":
		key = func(a *rebench.AttemptSummary) (float64, bool) { return a.Final, a.FinalKnown }
	case "duration":
		key = func(a *rebench.AttemptSummary) (float64, bool) { return a.Duration.Seconds(), a.Duration > 0 }
	}
	slices.SortStableFunc(at, func(i, j int) int {
		a, aKnown := key(&ds.attempts[i])
		b, bKnown := key(&ds.attempts[j])
		switch {
		case aKnown && !bKnown:
			return -1
		case bKnown && !aKnown:
			return 1
		case descending:
			return cmp.Compare(b, a)
		}
		return cmp.Compare(a, b)
	})
}

func (ds *Dataset) timeLimits(q Query) []int64 {
	var out []int64
	for i := range ds.attempts {
		if a := &ds.attempts[i]; a.Profile == q.Profile && a.TimeLimit > 0 {
			if s := int64(a.TimeLimit / time.Second); !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	slices.Sort(out)
	return out
}

func writePageToken(revision int64, offset int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf("%d.%d", revision, offset)))
}

func readPageToken(token string) (revision int64, offset int, err error) {
	if token == "" {
		return 0, 0, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		first, second, _ := strings.Cut(string(b), ".")
		revision, err = strconv.ParseInt(first, 10, 64)
		if err == nil {
			offset, err = strconv.Atoi(second)
		}
	}
	if err != nil || revision < 1 || offset < 0 {
		return 0, 0, rebench.Errorf(rebench.CodeInvalid, "page_token %q is none that this server gave out", token)
	}
	return revision, offset, nil
}

// AttemptDetail returns an attempt with its agent's label, its place among its
// peers and its pauses.
func (e *Engine) AttemptDetail(ctx context.Context, id string, asof int64) (*AttemptDetail, error) {
	ds, err := e.Dataset(ctx, asof)
	if err != nil {
		return nil, err
	}
	a, err := e.source.Attempt(ctx, id, ds.Revision.ID)
	if err != nil {
		return nil, err
	}
	out := &AttemptDetail{Attempt: a, Label: ds.attemptLabel(&a.AttemptSummary), Revision: ds.Revision}
	if i, ok := ds.byID[id]; ok {
		out.Rank, out.N = ds.place(i)
	}
	if out.Signals, err = signals(a); err == nil {
		out.Signals.Standing = ds.standing(&a.AttemptSummary)
	}
	return out, err
}

// counts reports whether an attempt counts in rankings by default.
func counts(a *rebench.AttemptSummary) bool {
	return a.Ranked && a.FinalKnown && !a.Excluded && !a.Suspected
}

// peer reports whether b is in the cell of a, whose label is given.
func (ds *Dataset) peer(a, b *rebench.AttemptSummary, label string) bool {
	return b.Environment == a.Environment && b.Profile == a.Profile && b.ScorerVersion == a.ScorerVersion && b.TimeLimit == a.TimeLimit && ds.attemptLabel(b) == label
}

// place returns the rank of a ranked attempt within its cell and the cell's size.
func (ds *Dataset) place(i int) (rank, n int) {
	a := &ds.attempts[i]
	rank = 1
	label := ds.attemptLabel(a)
	for j := range ds.attempts {
		b := &ds.attempts[j]
		if !counts(b) || !ds.peer(a, b, label) {
			continue
		}
		n++
		if b.Final > a.Final {
			rank++
		}
	}
	if !counts(a) {
		return 0, n
	}
	return rank, n
}
