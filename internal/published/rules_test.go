package published_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rebench/data"
	"rebench/internal/published"
	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// The rows that the data's README calls suspect are flagged by the rules that hold for
// uploads, no other row is, and nothing is flagged by hand.
func TestRulesReachTheSuspectRows(t *testing.T) {
	s := open(t)
	if _, err := published.Load(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	known, err := data.Records(data.Flags)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, k := range known {
		want = append(want, published.Dataset+":"+k["run_id"])
	}
	rules, err := validity.Rules()
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Summaries(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var suspected []string
	notes := map[string]string{}
	for i := range all {
		a := &all[i]
		if a.Suspected {
			suspected = append(suspected, a.ID)
		}
		for _, f := range rules.Check(a) {
			if f.Action == validity.Note {
				notes[a.ID] = f.Rule
			}
		}
	}
	slices.Sort(want)
	slices.Sort(suspected)
	if diff := cmp.Diff(want, suspected); diff != "" || len(want) != 2 {
		t.Errorf("suspected rows (-data/flags.csv +by rule):\n%s", diff)
	}
	for _, id := range suspected {
		a, err := s.Attempt(t.Context(), id, 1)
		if err != nil || len(a.Flags) != 1 || a.Flags[0].Author != "rule:beyond_estimate" || a.Environment != rebench.OptimizeLLMFoundry {
			t.Errorf("%s: %+v, %v", id, a.Flags, err)
		}
	}
	// The paper's guess at 0.99 (Figure 16) and the human win rate of 0.97.
	wantNotes := map[string]string{
		published.Dataset + ":vivaria-ai-rd-1_1785673245": "near_best",
		published.Dataset + ":115":                        "near_best",
	}
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Errorf("notes (-expected +found):\n%s", diff)
	}
}
