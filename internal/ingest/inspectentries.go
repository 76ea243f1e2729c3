package ingest

import (
	"math"

	"rebench/internal/attemptlog"
)

// bridgeEntries reads the store of METR's task bridge, whose elapsed_seconds is
// working time. Where it is null the matching event may tell.
func (b *inspectBuilder) bridgeEntries() []inspectEntry {
	var events []*scoreEvent
	for i := range b.s.events {
		if b.s.events[i].intermediate {
			events = append(events, &b.s.events[i])
		}
	}
	naive := false
	var out []inspectEntry
	for i := range b.s.bridge {
		r := &b.s.bridge[i]
		e := inspectEntry{t: positiveOrZero(r.elapsed), value: r.score, message: r.message, notes: r.notes}
		if e.t == nil && len(events) == len(b.s.bridge) {
			e.t, _ = b.eventTime(events[i])
		}
		st, ok := parseStamp(r.scoredAt)
		switch {
		case ok && !st.naive:
			e.at = msOf(st.t)
		case ok && b.zone.known:
			if ts := b.zone.place(st.t); len(ts) == 1 {
				e.at = msOf(ts[0])
			}
		case ok:
			naive = true
		}
		if e.at == nil && r.scoredAt != "" {
			e.extra = append(e.extra, attemptlog.Member{Key: "scored_at", Value: attemptlog.Text(r.scoredAt)})
		}
		if r.details != nil {
			e.extra = append(e.extra, attemptlog.Member{Key: "details", Value: r.details})
		}
		out = append(out, e)
	}
	if naive {
		b.a.ZoneUnknown = true
		b.a.warn(0, "store.TaskDriverStore:intermediate_scores.scored_at", WarnZoneUnknown, "the times are local and their zone is unknown; they are kept as text")
	}
	return out
}

// humanEntries reads the human agent's scorings; their time excludes pauses.
func (b *inspectBuilder) humanEntries() []inspectEntry {
	var out []inspectEntry
	for _, h := range b.s.human {
		c, ok := b.choose(h.scores, false)
		if !ok {
			if len(h.scores) > 0 {
				b.a.warn(0, "store.scorings", WarnNotANumber, "a scoring holds several scores and none is chosen; it is left out")
			}
			continue
		}
		e := b.scoreEntry(c)
		e.t = positiveOrZero(h.time)
		out = append(out, e)
	}
	return out
}

// usage sums the sample's models. Providers differ in whether input_tokens
// includes cached ones; total_tokens decides. Reasoning tokens are part of the
// output.
func (b *inspectBuilder) usage() *attemptlog.Usage {
	if len(b.s.models) == 0 {
		return nil
	}
	sum := map[string]float64{}
	cost, costKnown := 0.0, true
	for _, model := range b.s.models {
		u := b.s.usage[model]
		for _, k := range []string{"input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_read", "input_tokens_cache_write"} {
			if n, ok := u[k].number(); ok && n > 0 && n < attemptlog.MaxInteger {
				sum[k] += math.Round(n)
			}
		}
		n, ok := u["total_cost"].number()
		cost, costKnown = cost+n, costKnown && ok && n > 0
	}
	e := &attemptlog.Usage{}
	put := func(kind string, n float64) {
		if n <= attemptlog.MaxInteger {
			e.Tokens = append(e.Tokens, attemptlog.TokenCount{Kind: kind, Count: int64(n)})
		}
	}
	in, out, total := sum["input_tokens"], sum["output_tokens"], sum["total_tokens"]
	read, write := sum["input_tokens_cache_read"], sum["input_tokens_cache_write"]
	switch {
	case in+out+read+write == total && read+write > 0:
		put("input", in)
		put("output", out)
		put("cache_read", read)
		put("cache_write", write)
	case in+out == total:
		put("input", in)
		put("output", out)
	default:
		put("total", total)
	}
	if costKnown {
		e.CostUSD = &cost
	}
	if len(e.Tokens) == 0 {
		return nil
	}
	return e
}
