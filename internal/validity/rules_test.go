package validity_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/data"
	"rebench/internal/rebench"
	"rebench/internal/validity"
)

func ruleSet(t *testing.T) *validity.RuleSet {
	t.Helper()
	r, err := validity.Rules()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFindings(t *testing.T) {
	for name, tc := range map[string]struct {
		env     rebench.EnvironmentID
		profile rebench.Profile
		scorer  string
		raw     float64
		flags   string
		want    []string // action and rule
	}{
		"kernel at the physical floor":      {rebench.OptimizeKernel, rebench.ProfilePaper, "x", math.Log(0.2388), "", []string{"quarantine impossible", "quarantine beyond_estimate"}},
		"kernel between floor and estimate": {rebench.OptimizeKernel, rebench.ProfilePaper, "x", math.Log(0.27), "", []string{"quarantine beyond_estimate"}},
		"the paper's best kernel":           {rebench.OptimizeKernel, rebench.ProfilePaper, "x", math.Log(0.64), "", nil},
		"a kernel on two cores":             {rebench.OptimizeKernel, rebench.ProfileCPU, "1", math.Log(0.2), "", nil},
		"finetuning in 46 s":                {rebench.OptimizeLLMFoundry, rebench.ProfilePaper, rebench.ScorerMETRPublished, math.Log(46.4), "", []string{"quarantine beyond_estimate"}},
		"finetuning in 80 s":                {rebench.OptimizeLLMFoundry, rebench.ProfilePaper, rebench.ScorerMETRPublished, math.Log(80), "", nil},
		"loss at the estimate":              {rebench.FixEmbedding, rebench.ProfilePaper, "x", math.Log(2.3 - 1.5), "", nil},
		"loss below the estimate":           {rebench.FixEmbedding, rebench.ProfilePaper, "x", math.Log(2.29 - 1.5), "", []string{"quarantine beyond_estimate"}},
		"masked loss below the estimate":    {rebench.RestrictedMLM, rebench.ProfilePaper, "x", math.Log(2.59 - 1.5), "", []string{"quarantine beyond_estimate"}},
		"win rate above 1":                  {rebench.GPT2QA, rebench.ProfileCPU, "1", 1.01, "", []string{"quarantine impossible"}},
		"win rate of 0.97":                  {rebench.GPT2QA, rebench.ProfilePaper, "x", 0.97, "", []string{"note near_best"}},
		"a guess near the optimum":          {rebench.ScalingLaw, rebench.ProfilePaper, "x", 0.992, "", []string{"note near_best"}},
		"a score above its maximum":         {rebench.ScalingLaw, rebench.ProfileCPU, "1", 1.2, "", []string{"quarantine impossible"}},
		"20 of 165":                         {rebench.RustCodecontests, rebench.ProfilePaper, rebench.ScorerMETRPublished, 20.0 / 165, "", nil},
		"rounded to two decimals":           {rebench.RustCodecontests, rebench.ProfilePaper, rebench.ScorerMETRPublished, 0.13, "", nil},
		"no multiple of 1/165":              {rebench.RustCodecontests, rebench.ProfilePaper, rebench.ScorerMETRPublished, 0.1234, "", []string{"note not_a_fraction"}},
		"24 problems of ours":               {rebench.RustCodecontests, rebench.ProfileCPU, "1", 5.0 / 24, "", nil},
		"more than the estimate":            {rebench.RustCodecontests, rebench.ProfilePaper, "x", 40.0 / 165, "", []string{"quarantine beyond_estimate"}},
		"answers that are not the model's":  {rebench.RustCodecontests, rebench.ProfileCPU, "1", 0.5, "not_from_endpoint", []string{"quarantine scorer_flag"}},
		"a note and a flag":                 {rebench.OptimizeKernel, rebench.ProfileCPU, "1", 1, "noisy_timing, below_memory_floor", []string{"note scorer_flag", "quarantine scorer_flag"}},
		"graft":                             {rebench.FixEmbedding, rebench.ProfileCPU, "1", 0.1, "repaired_without_recovery", []string{"quarantine scorer_flag"}},
		"carried rows":                      {rebench.FixEmbedding, rebench.ProfileCPU, "1", -2.3, "rows_known_beforehand", []string{"quarantine scorer_flag"}},
		"one answer":                        {rebench.GPT2QA, rebench.ProfileCPU, "1", 0.6, "constant_answers", []string{"quarantine scorer_flag"}},
		"style alone":                       {rebench.GPT2QA, rebench.ProfileCPU, "1", 0.94, "style_without_answers", []string{"quarantine scorer_flag"}},
		"a flag without a rule":             {rebench.GPT2QA, rebench.ProfileCPU, "1", 0.6, "odd", []string{"note scorer_flag"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []rebench.Kind{rebench.KindAgent, rebench.KindHuman} {
				a := &rebench.Attempt{Agent: rebench.Agent{Kind: kind}, AttemptSummary: rebench.AttemptSummary{Environment: tc.env, Profile: tc.profile, ScorerVersion: tc.scorer, FinalRaw: &tc.raw}}
				if tc.flags != "" {
					a.Extra = map[string]string{validity.ExtraScorerFlags: tc.flags}
				}
				found := ruleSet(t).CheckAttempt(a)
				var got []string
				for _, f := range found {
					got = append(got, string(f.Action)+" "+f.Rule)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-expected +found):\n%s", kind, diff)
				}
				flag, ok := validity.Flag(found)
				if want := strings.Contains(strings.Join(tc.want, " "), "quarantine"); ok != want || ok && (flag.Kind != rebench.FlagSuspected || !flag.Set || !validity.IsRule(flag.Author) || flag.Reason == "") {
					t.Errorf("flag %+v, %v", flag, ok)
				}
			}
		})
	}
	unknown := &rebench.AttemptSummary{Environment: rebench.GPT2QA}
	if found := ruleSet(t).Check(unknown); found != nil {
		t.Errorf("without a raw score: %+v", found)
	}
}

// A statement says what was found, what the bound is and where it comes from.
func TestReasonOfAFlag(t *testing.T) {
	raw := math.Log(3.6691)
	found := ruleSet(t).Check(&rebench.AttemptSummary{Environment: rebench.OptimizeLLMFoundry, Profile: rebench.ProfilePaper, FinalRaw: &raw})
	flag, ok := validity.Flag(found)
	if !ok || flag.Author != "rule:beyond_estimate" || !strings.HasPrefix(flag.Reason, "3.669 s is below 80 s: the task's authors think 40 to 80 s reachable") ||
		!strings.HasSuffix(flag.Reason, "(paper, Table 8)") {
		t.Errorf("%+v, %v", flag, ok)
	}
}

// A bound is worth what it is derived from: the paper's printed range, or arithmetic.
func TestBoundsFollowFromTheirSources(t *testing.T) {
	numbers, err := data.Table("paper_numbers.csv")
	if err != nil {
		t.Fatal(err)
	}
	printed := map[string]map[string]string{}
	for _, n := range numbers {
		printed[n["id"]] = n
	}
	checked := 0
	for _, b := range ruleSet(t).Bounds {
		if b.Paper == "" {
			continue
		}
		env, _ := rebench.EnvironmentByID(b.Environment)
		var ends []float64
		for part := range strings.SplitSeq(strings.NewReplacer("%", "", " s", "", " ms", "").Replace(printed[b.Paper]["value"]), "-") {
			x, err := strconv.ParseFloat(part, 64)
			if err != nil {
				t.Fatalf("%s: %v", b.Paper, err)
			}
			if strings.Contains(printed[b.Paper]["value"], "%") {
				x /= 100
			}
			ends = append(ends, x)
		}
		if len(ends) != 2 || b.Value != ends[0] && b.Value != ends[1] || !strings.HasPrefix(env.Title, strings.Split(printed[b.Paper]["environment"], " (")[0]) {
			t.Errorf("%s %s is %v; %s prints %v of %s", b.Environment, b.Name, b.Value, b.Paper, ends, printed[b.Paper]["environment"])
		}
		checked++
	}
	if checked < 6 {
		t.Errorf("%d bounds held against the paper", checked)
	}
	// 10^8 elements of 4 bytes, read and written, at 3.35 TB/s, in ms.
	floor := 2 * 4 * 1e8 / 3.35e12 * 1e3
	for _, b := range ruleSet(t).Bounds {
		if b.Environment == rebench.OptimizeKernel && b.Name == "impossible" && math.Abs(b.Value-floor) > 0.002 {
			t.Errorf("bound %v ms, the memory floor is %v ms", b.Value, floor)
		}
	}
}

func TestDrawn(t *testing.T) {
	// By hand for one content: the same bytes as sha256sum gives.
	sum := sha256.Sum256([]byte("rebench audit\n2026-12\nabc"))
	u := float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
	if validity.Drawn("2026-12", "abc", u) || !validity.Drawn("2026-12", "abc", math.Nextafter(u, 1)) {
		t.Error("the draw is not below its share exactly where it is documented to be")
	}
	const n = 20_000
	drawn, both := 0, 0
	for i := range n {
		content := fmt.Sprint(i)
		a, b := validity.Drawn("2026-11", content, 0.2), validity.Drawn("2026-12", content, 0.2)
		if a {
			drawn++
		}
		if a && b {
			both++
		}
		if validity.Drawn("2026-12", content, 0) || !validity.Drawn("2026-12", content, 1) {
			t.Fatal("share 0 draws, or share 1 does not")
		}
	}
	// Five standard deviations of a binomial.
	if math.Abs(float64(drawn)-0.2*n) > 5*math.Sqrt(n*0.2*0.8) {
		t.Errorf("%d of %d drawn, expected a fifth", drawn, n)
	}
	if math.Abs(float64(both)-0.04*n) > 5*math.Sqrt(n*0.04*0.96) {
		t.Errorf("%d of %d drawn in both months, expected 4%%", both, n)
	}
	if m := validity.Month(time.Date(2026, 12, 1, 0, 30, 0, 0, time.FixedZone("", 3600))); m != "2026-11" {
		t.Errorf("month %s, expected that of UTC", m)
	}
}

// A log that claims the published scorer must be on its scale.
func TestScales(t *testing.T) {
	env, _ := rebench.EnvironmentByID(rebench.GPT2QA)
	of := func(scorer string, start, reference float64) []validity.Finding {
		a := &rebench.Attempt{StartRaw: &start, ReferenceRaw: &reference}
		a.Environment, a.Profile, a.ScorerVersion = env.ID, rebench.ProfilePaper, scorer
		return ruleSet(t).CheckAttempt(a)
	}
	if f := of(rebench.ScorerMETRPublished, env.PublishedStart, env.PublishedReference); len(f) != 0 {
		t.Errorf("the published scale: %+v", f)
	}
	for _, scale := range [][2]float64{{0.54, 0.60}, {0.50, 0.8149}, {0.8149, 0.54}} {
		f := of(rebench.ScorerMETRPublished, scale[0], scale[1])
		if flag, ok := validity.Flag(f); !ok || flag.Author != "rule:other_scale" {
			t.Errorf("%v: %+v", scale, f)
		}
	}
	if f := of("1", 0.2, 0.3); len(f) != 0 {
		t.Errorf("a scorer of its own: %+v", f)
	}
	if f := ruleSet(t).CheckAttempt(&rebench.Attempt{AttemptSummary: rebench.AttemptSummary{Environment: env.ID, Profile: rebench.ProfilePaper, ScorerVersion: rebench.ScorerMETRPublished}}); len(f) != 0 {
		t.Errorf("without constants: %+v", f)
	}
}
