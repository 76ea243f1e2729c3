package handler

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/internal/store"
	"rebench/internal/testutil"
)

// renamed is an own log of another attempt.
func renamed(t *testing.T, id string) string {
	return ownLog(t, func(h *attemptlog.Header, _ *attemptlog.Score) { h.AttemptID = id })
}

func (s *uploadSite) flag(t *testing.T, id string, kind rebench.FlagKind, set bool) {
	t.Helper()
	if _, err := s.db.AddFlag(t.Context(), rebench.Flag{AttemptID: id, Kind: kind, Set: set, Author: "alice", Reason: "looked at " + string(kind)}); err != nil {
		t.Fatal(err)
	}
}

func (s *uploadSite) attempt(t *testing.T, id string) *rebench.Attempt {
	t.Helper()
	rev, err := s.db.LatestRevision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.db.Attempt(t.Context(), id, rev.ID)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func codes(a reply) map[string]int {
	out := map[string]int{}
	for _, f := range a.json["files"].([]any) {
		for _, w := range f.(map[string]any)["warnings"].([]any) {
			out[w.(map[string]any)["code"].(string)]++
		}
	}
	return out
}

// What kept an attempt out of rankings keeps it out where an export is imported: flags
// that people raised, and rows that are normalized by other reference scores.
func TestExportsCarryWhatExcludes(t *testing.T) {
	from := newUploadSite(t, testutil.PublishedStore(t))
	for _, id := range []string{"kept", "retracted", "suspected", "invalid", "released"} {
		if a := from.upload(t, "", "", nil, map[string]string{"own.ndjson": renamed(t, id)}); a.status != 201 {
			t.Fatal(a.body)
		}
	}
	if a := from.upload(t, "", "", nil, map[string]string{"r.jsonl": sampleText(t, "metr__runs_early_b9a402f_aird_only.jsonl")}); a.count("created") != 4 {
		t.Fatal(a.body)
	}
	from.flag(t, "retracted", rebench.FlagRetracted, true)
	from.flag(t, "suspected", rebench.FlagSuspected, true)
	from.flag(t, "invalid", rebench.FlagInvalid, true)
	from.flag(t, "released", rebench.FlagSuspected, true)
	from.flag(t, "released", rebench.FlagSuspected, false)
	from.flag(t, "kept", rebench.FlagAudited, true)
	want := everything(t, from.db)
	for _, form := range []string{"jsonl", "csv"} {
		t.Run(form, func(t *testing.T) {
			_, _, export := from.page(t, "/api/v1/attempts."+form)
			to := newUploadSite(t, testutil.EmptyStore(t))
			plan := to.upload(t, "?dry_run=1", "", nil, map[string]string{"export": export})
			a := to.upload(t, "", "", nil, map[string]string{"export": export})
			if a.status != 201 || a.count("created") != len(want) || codes(a)["stated_exclusion"] != 1 || codes(a)["stated_not_taken"] != 1 || codes(plan)["stated_exclusion"] != 1 {
				t.Fatalf("%d, %d created of %d, remarks %v", a.status, a.count("created"), len(want), codes(a))
			}
			if d := cmp.Diff(want, everything(t, to.db)); d != "" {
				t.Errorf("%.4000s", d)
			}
			row := to.attempt(t, "metr-rebench:mp4-server_220108")
			if row.Ranked || !strings.HasPrefix(row.Unranked, "normalized by other reference scores") || row.Extra["unranked_source"] != "stated in export, imported by upload" {
				t.Errorf("unranked %q, source %q", row.Unranked, row.Extra["unranked_source"])
			}
			f := to.attempt(t, "retracted").Flags
			if len(f) != 1 || f[0].Author != "upload" || f[0].Kind != rebench.FlagRetracted || !f[0].Set ||
				!strings.HasPrefix(f[0].Reason, "looked at retracted (stated in export by alice on ") || !strings.HasSuffix(f[0].Reason, ", imported by upload)") {
				t.Errorf("flags %+v", f)
			}
			if n := len(to.attempt(t, "kept").Flags) + len(to.attempt(t, "released").Flags); n != 0 {
				t.Errorf("%d statements that exclude nothing were taken from the file", n)
			}
			again := to.upload(t, "", "", nil, map[string]string{"export": export})
			if again.count("unchanged") != len(want) || codes(again)["stated_exclusion"] != 0 || len(to.attempt(t, "retracted").Flags) != 1 {
				t.Errorf("again: %d unchanged, remarks %v", again.count("unchanged"), codes(again))
			}
		})
	}
}

// A file can neither lift a flag nor let an attempt rank, nor flag what others hold.
func TestStatedStatesOnlyExclude(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	state := func(id, unranked string, flags ...string) string {
		return `{"type":"attempt-state","attempt_id":"` + id + `","unranked":"` + unranked + `","flags":[` + strings.Join(flags, ",") + "]}\n"
	}
	flag := func(kind, set string) string {
		return `{"kind":"` + kind + `","set":` + set + `,"author":"bob","reason":"says bob","at":"2026-01-02T03:04:05Z"}`
	}
	for _, id := range []string{"a", "b"} {
		if a := s.upload(t, "", "", nil, map[string]string{"own": renamed(t, id)}); a.status != 201 {
			t.Fatal(a.body)
		}
	}
	s.flag(t, "a", rebench.FlagRetracted, true)
	// A known attempt: neither lifted nor flagged, and the remark names it.
	a := s.upload(t, "", "", nil, map[string]string{"x": state("a", "", flag("retracted", "true"), flag("retracted", "false")) + renamed(t, "a") + state("b", "", flag("invalid", "true")) + renamed(t, "b")})
	if a.status != 201 || a.count("unchanged") != 2 || codes(a)["stated_not_taken"] != 2 {
		t.Fatalf("%d %v %.500s", a.status, codes(a), a.body)
	}
	if one := s.attempt(t, "a"); !one.Excluded || len(one.Flags) != 1 {
		t.Errorf("lifted by a file: %+v", one.Flags)
	}
	if one := s.attempt(t, "b"); one.Excluded || len(one.Flags) != 0 {
		t.Errorf("flagged by a file: %+v", one.Flags)
	}
	// Other content of it becomes current, so what excludes that content is taken; a flag
	// that stands is not stated twice.
	other := func(id string) string {
		return ownLog(t, func(h *attemptlog.Header, s *attemptlog.Score) { h.AttemptID = id; *s.Score = 0.55 })
	}
	a = s.upload(t, "", "", nil, map[string]string{"x": state("a", "", flag("retracted", "true")) + other("a") + state("b", "not yet", flag("invalid", "true")) + other("b")})
	if a.status != 201 || a.count("revised") != 2 {
		t.Fatal(a.body)
	}
	if one := s.attempt(t, "a"); !one.Excluded || len(one.Flags) != 1 {
		t.Errorf("stated twice: %+v", one.Flags)
	}
	if one := s.attempt(t, "b"); !one.Excluded || len(one.Flags) != 1 || one.Ranked || one.Unranked != "not yet" {
		t.Errorf("ranks: %+v %q", one.Flags, one.Unranked)
	}
	for name, content := range map[string]string{
		"no log":       state("c", "", flag("invalid", "true")),
		"another's":    state("c", "", flag("invalid", "true")) + renamed(t, "d"),
		"after":        renamed(t, "c") + state("c", "", flag("invalid", "true")),
		"twice":        state("c", "x") + state("c", "") + renamed(t, "c"),
		"unknown kind": state("c", "", flag("good", "true")) + renamed(t, "c"),
		"no author":    state("c", "", strings.Replace(flag("invalid", "true"), "bob\",\"r", "\",\"r", 1)) + renamed(t, "c"),
		"torn":         `{"type":"attempt-state","attempt_id":"c","unra`,
		"unknown key":  strings.Replace(state("c", "x"), `"unranked"`, `"ranked"`, 1) + renamed(t, "c"),
	} {
		t.Run(name, func(t *testing.T) {
			if a := s.upload(t, "", "", nil, map[string]string{"x": content}); a.status != 422 || a.code() != "bad_attempt_state" {
				t.Errorf("%d %s: %.300s", a.status, a.code(), a.body)
			}
		})
	}
	if a := s.post(t, "/api/v1/attempts/b/flags", s.secret[store.ScopeAdmin], "", strings.NewReader(`{"kind":"invalid","set":false,"reason":"we looked"}`), "application/json"); a.status != 201 {
		t.Errorf("an administrator lifts what a file stated: %d", a.status)
	}
}
