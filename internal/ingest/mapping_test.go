package ingest

import (
	"strings"
	"testing"

	"rebench/internal/rebench"
)

func TestParseMapping(t *testing.T) {
	m, err := ParseMapping([]byte(`{"attempt_id":"a","environment":"scaling_law","profile":"cpu","agent":{"name":"n","model":"m","scaffold":"s"},
"started_at":"2025-01-01T00:00:00","zone":"Europe/Berlin","score_key":"k","dataset":"lab","time_limit_s":1800,"files":{"x.log":{"attempt_id":"b","human":{"cohort":"c"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	x := m.For("x.log")
	if x.AttemptID != "b" || x.Environment != "scaling_law" || x.Human.Cohort != "c" || x.Agent != nil || x.Files != nil || *x.TimeLimitS != 1800 {
		t.Errorf("mapping of one file %+v", x)
	}
	if y := m.For("y.log"); y.AttemptID != "a" || y.Agent.Name != "n" {
		t.Errorf("mapping of another %+v", y)
	}
	if m, err := ParseMapping(nil); err != nil || m.AttemptID != "" {
		t.Errorf("no mapping gives %+v, %v", m, err)
	}
}

func TestParseMappingRefuses(t *testing.T) {
	for in, says := range map[string]string{
		`{`:                           "mapping",
		`{} {}`:                       "more than one",
		`{"enviroment":"x"}`:          "enviroment",
		`{"environment":"x"}`:         "optimize_kernel",
		`{"profile":"tpu"}`:           "paper, gpu or cpu",
		`{"attempt_id":"../x"}`:       "attempt_id",
		`{"dataset":"a b"}`:           "dataset",
		`{"zone":"Local"}`:            "zone",
		`{"zone":"../../etc/passwd"}`: "zone",
		`{"started_at":"noon"}`:       "started_at",
		`{"agent":{"name":""}}`:       "agent.name",
		`{"agent":{"name":"human"}}`:  "human",
		`{"human":{"cohort":""}}`:     "cohort",
		`{"agent":{"name":"a"},"human":{"cohort":"c"}}`: "one of them",
		`{"time_limit_s":0}`:                            "time_limit_s",
		`{"scoring":{"direction":"up"}}`:                "min or max",
		`{"scoring":{"start_raw":1}}`:                   "two different",
		`{"scoring":{"start_raw":1,"reference_raw":1}}`: "two different",
		`{"files":{"a":{"profile":"tpu"}}}`:             "paper, gpu or cpu",
		`{"files":{"a":{"files":{"b":{}}}}}`:            "files",
	} {
		_, err := ParseMapping([]byte(in))
		if rebench.ErrorCode(err) != rebench.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s gives %v, want an error with %q", in, err, says)
		}
	}
}

func TestPublishedConstants(t *testing.T) {
	c := PublishedConstants()
	if len(c) != 7 || c[rebench.ScalingLaw] != (Constants{0.24, 0.80}) || c[rebench.OptimizeLLMFoundry] != (Constants{5.605802066295998, 4.543294782270004}) {
		t.Errorf("constants %v", c)
	}
}
