package ingest

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

func published(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../../data/published/metr_re_bench_runs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const restatedFile = "metr__runs_early_b9a402f_aird_only.jsonl"

// early is a row of the early form; fields are replaced by edits of "old", "new".
func early(edits ...string) string {
	row := `{"run_id":"mp4-server_1","task_id":"ai_rd_triton_cumsum\/main","score":0.5,"time_limit":1800,"started_at":1734070031112,"completed_at":1734071923976,"task_family":"ai_rd_triton_cumsum","alias":"o1","model":"o1","fatal_error_from":"usageLimits","human_minutes":556.6,"human_score":1.045,"human_source":"baseline","dollar_equivalent":null,"total_tokens":null,"score_binarized":0,"equal_task_weight":0.0003442341,"invsqrt_task_weight":0.0005578143}`
	return strings.NewReplacer(edits...).Replace(row)
}

// later is a row of the later form.
func later(edits ...string) string {
	row := `{"task_id":"ai_rd_triton_cumsum\/main","task_family":"ai_rd_triton_cumsum","run_id":"warehouse_2","alias":"Claude (Inspect)","model":"claude","score_cont":0.25,"score_binarized":0,"fatal_error_from":null,"human_minutes":455.2,"task_source":"RE-Bench","generation_cost":1.5,"human_cost":1089.6,"time_limit":28800.0,"started_at":1759206898160.0,"completed_at":1759214887245.0,"task_version":"0.9.3","tokens_count":7678366.0,"cloned":0.0,"scaffold":"react"}`
	return strings.NewReplacer(edits...).Replace(row)
}

func metr(t testing.TB, opt Options, rows ...string) got {
	t.Helper()
	return decode(t, "runs.jsonl", []byte(strings.Join(rows, "\n")+"\n"), opt)
}

func TestMETREarlyRow(t *testing.T) {
	g := metr(t, Options{Constants: PublishedConstants()}, early())
	wantPlaces(t, "faults", g.file.Faults())
	a := g.attempts[0]
	h := a.Header
	if a.Dataset != "metr-rebench" || a.NativeID != "mp4-server_1" || h.AttemptID != "metr-rebench:mp4-server_1" {
		t.Errorf("identity %s %s %s", a.Dataset, a.NativeID, h.AttemptID)
	}
	if h.Environment.ID != "optimize_kernel" || h.Environment.Profile != "paper" || h.Environment.Version != "metr-published" {
		t.Errorf("environment %+v", h.Environment)
	}
	if h.Agent.Name != "o1" || h.Human != nil || *h.TimeLimitS != 1800 || h.Clock != rebench.ClockUnknown {
		t.Errorf("header %+v", h)
	}
	if got := h.StartedAt.Format(attemptlog.TimeLayout); got != "2024-12-13T06:07:11.112Z" {
		t.Errorf("started at %s", got)
	}
	s := a.scores[0]
	// ln ms: start 1.5535302805, reference 0.47000362924573563; half way is 1.01176695487.
	if s.T != nil || s.Basis != rebench.BasisDerived || *s.Normalized != 0.5 || math.Abs(*s.Score-1.0117669548728678) > 1e-12 {
		t.Errorf("score %+v, raw %v", s, *s.Score)
	}
	if a.sum.EndReason != attemptlog.EndUnknown || a.sum.CostUSD != nil || a.sum.Tokens != nil {
		t.Errorf("summary %+v", a.sum)
	}
	if *a.DurationS != 1892.864 {
		t.Errorf("duration %v, want 1892.864 s", *a.DurationS)
	}
	if a.Source.Get("human_minutes") == nil || a.Source.Get("equal_task_weight") == nil {
		t.Error("unknown fields are lost")
	}
}

func TestMETRRawScores(t *testing.T) {
	c := Options{Constants: PublishedConstants()}
	for name, tc := range map[string]struct {
		opt   Options
		row   string
		raw   *float64
		basis rebench.Basis
	}{
		"from a clipped 0 nothing can be decoded": {c, early(`"score":0.5`, `"score":0`), nil, rebench.BasisNormalized},
		"without constants nothing is":            {Options{}, early(), nil, rebench.BasisNormalized},
		"nor from the later form":                 {c, later(), nil, rebench.BasisNormalized},
		"1 is the reference":                      {c, early(`"score":0.5`, `"score":1`), ptr(0.47000362924573563), rebench.BasisDerived},
	} {
		t.Run(name, func(t *testing.T) {
			s := metr(t, tc.opt, tc.row).attempts[0].scores[0]
			if (s.Score == nil) != (tc.raw == nil) || s.Basis != tc.basis || s.Score != nil && math.Abs(*s.Score-*tc.raw) > 1e-12 {
				t.Errorf("raw %v basis %s, want %v %s", s.Score, s.Basis, tc.raw, tc.basis)
			}
		})
	}
}

func TestMETRLaterRow(t *testing.T) {
	g := metr(t, Options{}, later())
	wantCodes(t, "warnings", g.file.Warnings(), WarnNormalization)
	a := g.attempts[0]
	if a.Header.Agent.Scaffold != "react" || *a.Header.TimeLimitS != 28800 || extra(t, a.Header.Extra, "task_version") != "0.9.3" {
		t.Errorf("header %+v", a.Header)
	}
	if n, ok := a.sum.TotalTokens(); !ok || n != 7678366 || *a.sum.CostUSD != 1.5 {
		t.Errorf("usage %v %v", n, a.sum.CostUSD)
	}
	if *a.scores[0].Normalized != 0.25 {
		t.Errorf("normalized %v", *a.scores[0].Normalized)
	}
}

func TestMETRTraps(t *testing.T) {
	t.Run("cost 0 beside tokens means unknown", func(t *testing.T) {
		g := metr(t, Options{}, later(`"generation_cost":1.5`, `"generation_cost":0.0`))
		if a := g.attempts[0]; a.sum.CostUSD != nil || a.sum.Tokens[0].Count != 7678366 {
			t.Errorf("cost %v tokens %v", a.sum.CostUSD, a.sum.Tokens)
		}
		wantCodes(t, "warnings", g.file.Warnings(), WarnNormalization, WarnCostUnknown)
	})
	t.Run("times may be null", func(t *testing.T) {
		a := metr(t, Options{}, later(`"started_at":1759206898160.0`, `"started_at":null`, `"completed_at":1759214887245.0`, `"completed_at":null`, `"time_limit":28800.0`, `"time_limit":null`)).attempts[0]
		if a.Header.StartedAt != nil || a.DurationS != nil || a.Header.TimeLimitS != nil {
			t.Errorf("times %v %v %v, want none", a.Header.StartedAt, a.DurationS, a.Header.TimeLimitS)
		}
	})
	t.Run("human rows count from 0 with limit 0", func(t *testing.T) {
		a := metr(t, Options{}, early(`"mp4-server_1"`, `65`, `"alias":"o1","model":"o1"`, `"alias":"human","model":"human"`, `"time_limit":1800`, `"time_limit":0`,
			`1734070031112`, `0`, `1734071923976`, `29880000`, `"dollar_equivalent":null,"total_tokens":null`, `"dollar_equivalent":298.6,"total_tokens":63984.0`)).attempts[0]
		if a.NativeID != "65" || a.Header.Human == nil || a.Header.StartedAt != nil || *a.Header.TimeLimitS != 28800 || *a.DurationS != 29880 {
			t.Errorf("header %+v, duration %v", a.Header, *a.DurationS)
		}
		if a.sum.CostUSD != nil || a.sum.Tokens != nil || string(a.Source.Get("dollar_equivalent")) != "298.6" {
			t.Error("the task's figures in a human row became the attempt's")
		}
	})
	t.Run("two agents of one model stay apart", func(t *testing.T) {
		g := metr(t, Options{}, early(`"alias":"o1","model":"o1"`, `"alias":"Claude 3.5 Sonnet (New)","model":"c3-5s"`),
			early("mp4-server_1", "mp4-server_2", `"alias":"o1","model":"o1"`, `"alias":"Claude 3.5 Sonnet (Old)","model":"c3-5s"`))
		if g.attempts[0].Header.Agent.Name == g.attempts[1].Header.Agent.Name {
			t.Error("agents are pooled by model")
		}
	})
	t.Run("wall time far above the limit is kept", func(t *testing.T) {
		a := metr(t, Options{}, early("1734071923976", "1734408431112")).attempts[0] // 188 times 1800 s
		if *a.DurationS != 338400 || *a.scores[0].Normalized != 0.5 {
			t.Errorf("duration %v", *a.DurationS)
		}
	})
	t.Run("scores that are no number", func(t *testing.T) {
		for text, reason := range map[string]attemptlog.Reason{"NaN": attemptlog.ReasonNaN, "Infinity": attemptlog.ReasonNaN, "-Infinity": attemptlog.ReasonNaN,
			"1e999": attemptlog.ReasonNaN, "null": attemptlog.ReasonError} {
			g := metr(t, Options{Constants: PublishedConstants()}, early(`"score":0.5`, `"score":`+text))
			s := g.attempts[0].scores[0]
			if s.Valid || s.Score != nil || s.Normalized != nil || s.Reason != reason || g.attempts[0].Unscored != UnscoredValue {
				t.Errorf("%s gives %+v", text, s)
			}
			wantCodes(t, "warnings", g.file.Warnings(), WarnInvalidScore)
		}
	})
	t.Run("BOM, CRLF and blank lines", func(t *testing.T) {
		g := decode(t, "x", []byte("\xef\xbb\xbf"+early()+"\r\n\r\n"+early("mp4-server_1", "mp4-server_2")), Options{})
		if len(g.attempts) != 2 || len(g.file.Faults()) > 0 || g.attempts[1].Line != 3 {
			t.Errorf("%d attempts, faults %v", len(g.attempts), g.file.Faults())
		}
		wantCodes(t, "warnings", g.file.Warnings(), WarnBlankLines)
	})
	t.Run("another dataset has its own identities and no placeholders", func(t *testing.T) {
		g := metr(t, Options{Mapping: Mapping{Dataset: "lab"}}, early(`"mp4-server_1"`, `81`, `"alias":"o1","model":"o1"`, `"alias":"human","model":"human"`))
		if a := g.attempts[0]; a.Header.AttemptID != "lab:81" {
			t.Errorf("id %s", a.Header.AttemptID)
		}
	})
}

func TestMETRFaults(t *testing.T) {
	for name, tc := range map[string]struct{ row, want string }{
		"no score":             {early(`"score":0.5,`, ``), "1 missing_field score"},
		"score in a string":    {early(`"score":0.5`, `"score":"0.5"`), "1 bad_type score"},
		"negative score":       {early(`"score":0.5`, `"score":-0.1`), "1 bad_value score"},
		"no run id":            {early(`"run_id":"mp4-server_1",`, ``), "1 bad_value run_id"},
		"fractional run id":    {early(`"mp4-server_1"`, `1.5`), "1 bad_value run_id"},
		"run id with a slash":  {early(`mp4-server_1`, `../x`), "1 bad_value run_id"},
		"no alias":             {early(`"alias":"o1",`, ``), "1 bad_type alias"},
		"another task":         {early(`"ai_rd_triton_cumsum"`, `"acdc_bug"`), "1 unsupported_task task_family"},
		"end before start":     {early(`1734071923976`, `1734070000000`), "1 bad_time completed_at"},
		"time out of range":    {early(`1734071923976`, `1e300`), "1 bad_time completed_at"},
		"negative limit":       {early(`"time_limit":1800`, `"time_limit":-1`), "1 bad_value time_limit"},
		"limit in a string":    {early(`"time_limit":1800`, `"time_limit":"1800"`), "1 bad_value time_limit"},
		"model is a number":    {early(`"model":"o1"`, `"model":7`), "1 bad_type model"},
		"duplicate key":        {early(`"score":0.5`, `"score":0.5,"score":0.6`), "1 duplicate_key "},
		"torn row":             {early()[:200], "1 bad_json "},
		"two objects":          {early() + early(), "1 bad_json "},
		"invalid UTF-8":        {early(`"alias":"o1"`, "\"alias\":\"o\xff\""), "1 invalid_utf8 "},
		"10^6 nested arrays":   {early(`"score_binarized":0`, `"x":`+strings.Repeat("[", 1_000_000)), "1 too_deep "},
		"hexadecimal score":    {early(`"score":0.5`, `"score":0x1p-1`), "1 bad_json "},
		"underscore in number": {early(`"score":0.5`, `"score":1_0`), "1 bad_json "},
	} {
		t.Run(name, func(t *testing.T) {
			wantPlaces(t, "faults", metr(t, Options{}, tc.row).file.Faults(), tc.want)
		})
	}
}

func TestMETREveryFaultAtOnce(t *testing.T) {
	g := metr(t, Options{}, early(), early(`"score":0.5`, `"score":-1`, `"alias":"o1"`, `"alias":7`), "{", early("mp4-server_1", "b"))
	wantPlaces(t, "faults", g.file.Faults(), "2 bad_type alias", "2 bad_value score", "3 bad_json ")
	if len(g.attempts) != 2 {
		t.Errorf("%d attempts, want the two good rows", len(g.attempts))
	}
}

func TestMETRFaultCap(t *testing.T) {
	rows := slices.Repeat([]string{early(`"score":0.5`, `"score":-1`)}, 3*MaxFaults)
	f := metr(t, Options{}, rows...).file.Faults()
	if len(f) != MaxFaults+1 || f[MaxFaults].Code != attemptlog.CodeTooManyFaults || !strings.Contains(f[MaxFaults].Detail, fmt.Sprint(2*MaxFaults)) {
		t.Errorf("%d faults, last %v", len(f), f[len(f)-1])
	}
}

func TestMETRLongRow(t *testing.T) {
	wantPlaces(t, "faults", metr(t, Options{}, early(`"baseline"`, `"`+strings.Repeat("x", MaxRowBytes)+`"`), early()).file.Faults(), "1 line_too_long ")
}

func TestDuplicateAttempts(t *testing.T) {
	same := metr(t, Options{}, early(), early())
	wantCodes(t, "warnings", same.file.Warnings(), WarnDuplicate)
	if len(same.attempts) != 1 || len(same.file.Faults()) > 0 || same.file.Parts[0].Attempts != 1 {
		t.Errorf("%d attempts, faults %v", len(same.attempts), same.file.Faults())
	}
	other := metr(t, Options{}, early(), early(`"score":0.5`, `"score":0.6`))
	wantPlaces(t, "faults", other.file.Faults(), "2 duplicate_attempt ")
}

// The head of the canonical log is the identity of the content: what says nothing
// of the attempt must not change it, what does must.
func TestMETRContentIdentity(t *testing.T) {
	head := func(row string) attemptlog.Hash {
		return metr(t, Options{Constants: PublishedConstants()}, row).attempts[0].sum.Head.Hash
	}
	base := head(early())
	for _, edit := range [][2]string{{"0.0003442341", "0.1"}, {"556.6", "455.2"}, {`"score_binarized":0`, `"score_binarized":1`}, {`"score":0.5`, `"score":0.500`}, {`:1800,`, `:1800.0,`}} {
		if head(early(edit[0], edit[1])) != base {
			t.Errorf("%q changes the content", edit)
		}
	}
	for _, edit := range [][2]string{{`"score":0.5`, `"score":0.6`}, {`"alias":"o1"`, `"alias":"o1-preview"`}, {`:1800,`, `:7200,`}, {"1734071923976", "1734071923977"}, {"usageLimits", "agent"}} {
		if head(early(edit[0], edit[1])) == base {
			t.Errorf("%q does not change the content", edit)
		}
	}
}

func TestPublishedFile(t *testing.T) {
	g := decode(t, "runs.jsonl", published(t), Options{Constants: PublishedConstants()})
	if len(g.attempts) != 1801 || len(g.file.Faults()) > 0 {
		t.Errorf("%d attempts, want 1808 rows less 7 placeholders; faults %v", len(g.attempts), g.file.Faults())
	}
	wantCodes(t, "warnings", g.file.Warnings(), slices.Repeat([]string{WarnPlaceholder}, 7)...)
	humans, perEnv := 0, map[string]int{}
	for _, a := range g.attempts {
		if a.Header.Human != nil {
			humans++
			perEnv[a.Header.Environment.ID]++
		}
	}
	if humans != 86 || len(perEnv) != 7 {
		t.Errorf("%d human attempts in %v, want 86 in seven environments", humans, perEnv)
	}
}

func priors(t testing.TB) func(dataset, id string) (Prior, bool) {
	t.Helper()
	m := map[string]Prior{}
	for _, a := range decode(t, "runs.jsonl", published(t), Options{}).attempts {
		p := Prior{Environment: rebench.EnvironmentID(a.Header.Environment.ID), Alias: rebench.HumanName, Normalized: a.scores[0].Normalized}
		if a.Header.Agent != nil {
			p.Alias = a.Header.Agent.Name
		}
		m[a.Dataset+"/"+a.NativeID] = p
	}
	return func(dataset, id string) (Prior, bool) {
		p, ok := m[dataset+"/"+id]
		return p, ok
	}
}

// The restated file: 1,812 rows of which 4 are new and 7 placeholders.
func TestRestatedFile(t *testing.T) {
	g := decode(t, restatedFile, sample(t, restatedFile), Options{Constants: PublishedConstants(), Prior: priors(t)})
	if len(g.attempts) != 1805 || len(g.file.Faults()) > 0 {
		t.Fatalf("%d attempts, faults %v", len(g.attempts), g.file.Faults())
	}
	r := g.file.Restatement()
	if r.Rows != 1805 || r.New != 4 || r.ScoreChanged != 1025-7 || r.AliasChanged != 359 || !r.NormalizedDifferently() {
		t.Errorf("report %+v", r)
	}
	if len(r.Aliases) != 1 || r.Aliases[0] != (AliasChange{"o1-preview", "o1", 359}) {
		t.Errorf("aliases %v", r.Aliases)
	}
	// Ratios computed apart from the two files: new/old of the scores not cut at 1.
	ratios := map[rebench.EnvironmentID]float64{
		rebench.FixEmbedding: 1.685284, rebench.GPT2QA: 1.233674, rebench.OptimizeLLMFoundry: 2.796371, rebench.RestrictedMLM: 1.542891,
		rebench.RustCodecontests: 2.006369, rebench.ScalingLaw: 2.062487, rebench.OptimizeKernel: 1.160913,
	}
	if len(r.Environments) != 7 {
		t.Fatalf("%d environments, want 7: %v", len(r.Environments), r.Environments)
	}
	for _, e := range r.Environments {
		if math.Abs(e.Ratio-ratios[e.Environment]) > 2e-6 {
			t.Errorf("%s: ratio %v, want %v", e.Environment, e.Ratio, ratios[e.Environment])
		}
		if e.RatioRows+e.Clipped+e.Other != e.Changed || e.Clipped == 0 || e.Other > 1 {
			t.Errorf("%s: %+v", e.Environment, e)
		}
	}
	for _, a := range g.attempts {
		if s := a.scores[0]; s.Score != nil {
			t.Fatalf("row %d: a raw score was decoded with constants that do not fit the file", a.Line)
		}
		if placeholderRuns[a.NativeID] {
			t.Errorf("placeholder %s came back", a.NativeID)
		}
	}
	restated := 0
	for _, c := range codes(g.file.Warnings()) {
		if c == WarnRestated {
			restated++
		}
	}
	if restated != 7 {
		t.Errorf("%d warnings of restatement, want one for each environment", restated)
	}
}

// Rows that say the same in both files must have the same content.
func TestRestatedFileKeepsUnchangedRows(t *testing.T) {
	heads := map[string]attemptlog.Hash{}
	for _, a := range decode(t, "runs.jsonl", published(t), Options{Constants: PublishedConstants()}).attempts {
		heads[a.NativeID] = a.sum.Head.Hash
	}
	same, revised, created := 0, 0, 0
	for _, a := range decode(t, restatedFile, sample(t, restatedFile), Options{Constants: PublishedConstants(), Prior: priors(t)}).attempts {
		switch h, ok := heads[a.NativeID]; {
		case !ok:
			created++
		case h == a.sum.Head.Hash:
			same++
		default:
			revised++
		}
	}
	// 1,025 scores and 140 further names differ, 7 of the scores in placeholders; the
	// 11 rows that differ only in weights do not count.
	if created != 4 || revised != 1165-7 || same != 1801-(1165-7) {
		t.Errorf("%d created, %d revised, %d unchanged; want 4, 1158, 643", created, revised, same)
	}
}

func TestPublishedFileAgainstItself(t *testing.T) {
	r := decode(t, "runs.jsonl", published(t), Options{Prior: priors(t)}).file.Restatement()
	if r.Unchanged != 1801 || r.New+r.ScoreChanged+r.AliasChanged != 0 || r.NormalizedDifferently() {
		t.Errorf("report %+v", r)
	}
}

func TestCompareRows(t *testing.T) {
	row := func(score float64) Prior {
		return Prior{Environment: rebench.OptimizeKernel, Alias: "a", Normalized: &score}
	}
	table := func(scores ...float64) map[string]Prior {
		m := map[string]Prior{}
		for i, s := range scores {
			m[fmt.Sprint(i)] = row(s)
		}
		return m
	}
	for name, tc := range map[string]struct {
		before, now []float64
		want        EnvironmentRestatement
		differs     bool
	}{
		"constant ratio": {[]float64{0.1, 0.2, 0.3, 0}, []float64{0.2, 0.4, 0.6, 0}, EnvironmentRestatement{Rows: 4, Changed: 3, Ratio: 2, RatioRows: 3}, true},
		"ratio and clipping": {[]float64{0.1, 0.2, 0.3, 0.9, 0.7}, []float64{0.2, 0.4, 0.6, 1, 1},
			EnvironmentRestatement{Rows: 5, Changed: 5, Ratio: 2, RatioRows: 3, Clipped: 2}, true},
		"clipping alone":                 {[]float64{0.5, 1.2, 1.5}, []float64{0.5, 1, 1}, EnvironmentRestatement{Rows: 3, Changed: 2, Clipped: 2}, true},
		"single corrections":             {[]float64{0.1, 0.2, 0.3}, []float64{0.15, 0.2, 0.4}, EnvironmentRestatement{Rows: 3, Changed: 2, Other: 2}, false},
		"two rows share a ratio":         {[]float64{0.1, 0.2, 0.3}, []float64{0.2, 0.4, 0.3}, EnvironmentRestatement{Rows: 3, Changed: 2, Other: 2}, false},
		"a score became the reference's": {[]float64{0.5, 0.3}, []float64{1, 0.3}, EnvironmentRestatement{Rows: 2, Changed: 1, Other: 1}, false},
		"ratio with one correction": {[]float64{0.1, 0.2, 0.3, 0.4}, []float64{0.2, 0.4, 0.6, 0},
			EnvironmentRestatement{Rows: 4, Changed: 4, Ratio: 2, RatioRows: 3, Other: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := CompareRows(table(tc.before...), table(tc.now...))
			tc.want.Environment = rebench.OptimizeKernel
			if len(r.Environments) != 1 {
				t.Fatalf("report %+v", r)
			}
			got := r.Environments[0]
			if math.Abs(got.Ratio-tc.want.Ratio) < 1e-9 {
				got.Ratio = tc.want.Ratio
			}
			if got != tc.want || r.NormalizedDifferently() != tc.differs {
				t.Errorf("%+v, differs %v; want %+v, %v", got, r.NormalizedDifferently(), tc.want, tc.differs)
			}
		})
	}
	r := CompareRows(table(0.1), map[string]Prior{"0": {Environment: rebench.OptimizeKernel, Alias: "b"}, "new": row(1)})
	if r.New != 1 || r.ScoreChanged != 1 || r.AliasChanged != 1 || r.Environments[0].Other != 1 {
		t.Errorf("a score that became invalid: %+v", r)
	}
}
