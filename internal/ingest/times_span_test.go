package ingest

import "testing"

func TestSpan(t *testing.T) {
	for in, want := range map[float64]string{0: "0 s", 1.25: "1.25 s", -3: "-3 s", 599.9: "599.9 s", 600: "600 s (10 min)", 5400: "5400 s (1 h 30 min)",
		3_159_000: "3159000 s (36 d 13 h)", -90_000: "-90000 s (-1 d 1 h)", 1e-9: "0 s"} {
		if got := span(in); got != want {
			t.Errorf("span(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestTaskEnvironment(t *testing.T) {
	for task, want := range map[string]string{"ai_rd_triton_cumsum": "optimize_kernel", "ai_rd_fix_embedding/main": "fix_embedding", "metr/optimize-kernel": "optimize_kernel",
		"Restricted_MLM": "restricted_mlm", "small_scaling_law": "scaling_law", "popularity": "", "security_guide": "", "": "", "/": "", "inspect_evals/mmlu_0_shot": ""} {
		if got, ok := taskEnvironment(task); string(got) != want || ok != (want != "") {
			t.Errorf("%q is taken for %q", task, got)
		}
	}
}
