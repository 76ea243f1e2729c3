package upload

import (
	"cmp"
	"maps"
	"net/url"
	"slices"

	"rebench/internal/ingest"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

// group is what attempts of one environment are compared within.
type group struct {
	profile rebench.Profile
	scorer  string
}

// places counts where a file's attempts can be seen.
type places struct {
	ranked  map[group]int // attempts that may rank, by group
	assumed int           // attempts whose hardware class nobody stated
}

// place notes where an attempt of the import will be seen.
func (b *batch) place(r store.Result, e Element) {
	if !e.Current {
		return
	}
	if r.Attempt.HardwareAssumed() {
		b.places.assumed++
	}
	if e.Unranked != "" {
		return // that is said of the attempt itself
	}
	if b.places.ranked == nil {
		b.places.ranked = map[group]int{}
	}
	b.places.ranked[group{e.Profile, e.ScorerVersion}]++
}

// tellGroups remarks on attempts that the leaderboard does not show as it opens: it
// shows METR's published scorers in the paper's conditions.
func (b *batch) tellGroups() {
	p := b.places
	b.places = places{}
	all := slices.SortedFunc(maps.Keys(p.ranked), func(x, y group) int {
		return cmp.Or(cmp.Compare(x.profile, y.profile), cmp.Compare(x.scorer, y.scorer))
	})
	for _, g := range all {
		if g.profile == rebench.ProfilePaper && g.scorer == rebench.ScorerMETRPublished {
			continue
		}
		query := url.Values{"scorer": {g.scorer}}
		if g.profile != rebench.ProfilePaper {
			query.Set("profile", string(g.profile))
		}
		b.remark(ingest.WarnOtherGroup, "see them at /?"+query.Encode(),
			"compared with attempts of scorer version %s in profile %s only, and not shown beside the published rows: %s", g.scorer, g.profile, rebench.Count(p.ranked[g], "attempt"))
	}
	if p.assumed > 0 {
		b.remark(ingest.WarnHardware, "logs of attempts on other hardware belong to another profile, or name their GPU",
			"no GPU is named, and h100 is assumed from the profile paper: %s", rebench.Count(p.assumed, "attempt"))
	}
}
