package handler

import (
	"strings"
	"testing"

	"rebench/internal/attemptlog"
	"rebench/internal/testutil"
)

// remark returns the detail and hint of a file's remark of that code, "" for none.
func remark(a reply, code string) (detail, hint string) {
	for _, f := range a.json["files"].([]any) {
		for _, w := range f.(map[string]any)["warnings"].([]any) {
			if w := w.(map[string]any); w["code"] == code {
				detail, _ = w["detail"].(string)
				hint, _ = w["hint"].(string)
				return detail, hint
			}
		}
	}
	return "", ""
}

func elements(a reply, list string) []map[string]any {
	var out []map[string]any
	for _, e := range a.json[list].([]any) {
		out = append(out, e.(map[string]any))
	}
	return out
}

// An Inspect log of another task is kept, and ranks only when the mapping confirms the
// task by name.
func TestForeignTasks(t *testing.T) {
	const numeric = `{"version":2,"status":"success","eval":{"eval_id":"e","task":"lab/number","task_version":0,"model":"m"},"plan":{},"results":{},"stats":{},
"samples":[{"id":1,"epoch":1,"uuid":"u","input":"","target":"","messages":[],"working_time":60,"scores":{"s":{"value":0.5}}}]}`
	for file, task := range map[string]string{
		"": "lab/number",
		"inspect_ai__tests_scorer_logs_2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval": "popularity",
		"scout__2025-09-23T08-09-58-04-00_security-guide_LuxZJVwvymC3S3SyoJczxB.eval":                    "security_guide",
	} {
		t.Run(task, func(t *testing.T) {
			s := newUploadSite(t, testutil.EmptyStore(t))
			files := map[string]string{"log.json": numeric}
			if file != "" {
				files = map[string]string{file: sampleText(t, file)}
			}
			mapping := `{"environment":"optimize_kernel","profile":"paper","agent":{"name":"my-agent"},"time_limit_s":1800,"scoring":{"start_raw":0,"reference_raw":1}`
			for _, query := range []string{"?dry_run=1", ""} {
				a := s.upload(t, query, "", map[string]string{"mapping": mapping + "}"}, files)
				detail, hint := remark(a, "foreign_task")
				if a.status > 201 || !strings.Contains(detail, `"`+task+`"`) || !strings.Contains(detail, "optimize_kernel") || !strings.Contains(hint, `"task": "`+task+`"`) {
					t.Fatalf("%d %q %q", a.status, detail, hint)
				}
				for _, e := range elements(a, "created") {
					if why, _ := e["unranked"].(string); why == "" {
						t.Fatalf("ranks: %v", e)
					}
				}
			}
			for _, other := range []string{`,"task":"other"}`, `,"task":""}`} {
				if a := s.upload(t, "?dry_run=1", "", map[string]string{"mapping": mapping + other}, files); codes(a)["foreign_task"] != 1 {
					t.Errorf("%s confirms it", other)
				}
			}
			a := s.upload(t, "", "", map[string]string{"mapping": mapping + `,"task":"` + task + `"}`}, files)
			ranked := 0
			for _, e := range elements(a, "revised") {
				why, _ := e["unranked"].(string)
				if why == "" {
					ranked++
				} else if strings.Contains(why, "task") {
					t.Fatalf("confirmed, and still: %v", e)
				}
			}
			// The real samples hold words for scores, or none.
			if a.status != 201 || codes(a)["foreign_task"] != 0 || len(elements(a, "revised")) == 0 || (ranked == 1) != (file == "") {
				t.Errorf("confirmed: %d, %d ranked, remarks %v", a.status, ranked, codes(a))
			}
		})
	}
}

// Attempts that the leaderboard does not show as it opens are remarked on, with the
// address that shows them.
func TestRemarksOnOtherGroups(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	row := "timestamp,score,message,details\n2025-01-01T00:10:00,0.5,{},{}\r\n"
	mapping := `{"attempt_id":"x","environment":"gpt2_qa","profile":"paper","agent":{"name":"a"},"started_at":"2025-01-01T00:00:00","zone":"UTC","time_limit_s":1800`
	a := s.upload(t, "?dry_run=1", "", map[string]string{"mapping": mapping + "}"}, map[string]string{"score.log": row})
	if codes(a)["other_group"] != 0 || codes(a)["hardware_assumed"] != 1 || elements(a, "created")[0]["scorer_version"] != "metr-published" {
		t.Errorf("on METR's scale: %v, %v", codes(a), elements(a, "created"))
	}
	if v, there := a.json["data_revision"]; v != nil || !there {
		t.Errorf("a dry run makes data revision %v", v)
	}
	a = s.upload(t, "", "", map[string]string{"mapping": mapping + `,"scoring":{"start_raw":0,"reference_raw":1}}`}, map[string]string{"score.log": row})
	detail, hint := remark(a, "other_group")
	if a.status != 201 || !strings.Contains(detail, "scorer version unversioned in profile paper only, and not shown beside the published rows: 1 attempt") || hint != "see them at /?scorer=unversioned" {
		t.Errorf("%d %q %q", a.status, detail, hint)
	}
	if e := elements(a, "created")[0]; e["scorer_version"] != "unversioned" || e["hardware_class"] != "h100" {
		t.Errorf("%v", e)
	}
	var board struct{ Rows []struct{ Agent string } }
	if s.getJSON(t, "/api/v1/leaderboard?budget=1800&environments=gpt2_qa&scorer=unversioned", &board); len(board.Rows) != 1 || board.Rows[0].Agent != "a" {
		t.Errorf("not where the remark says: %+v", board)
	}
	a = s.upload(t, "", "", nil, map[string]string{"own": ownLog(t, nil)})
	if _, hint := remark(a, "other_group"); hint != "see them at /?profile=cpu&scorer=1" || codes(a)["hardware_assumed"] != 0 {
		t.Errorf("of another profile: %q, %v", hint, codes(a))
	}
}

// A hardware class that follows from the profile is never shown as a fact.
func TestAssumedHardware(t *testing.T) {
	s := newUploadSite(t, testutil.PublishedStore(t))
	gpu := ownLog(t, func(h *attemptlog.Header, _ *attemptlog.Score) {
		h.AttemptID, h.Environment.Profile, h.Hardware = "named", "paper", &attemptlog.Hardware{GPU: "NVIDIA H100 80GB HBM3"}
	})
	if a := s.upload(t, "", "", nil, map[string]string{"own": gpu}); a.status != 201 || codes(a)["hardware_assumed"] != 0 {
		t.Fatalf("%d %v", a.status, codes(a))
	}
	for id, want := range map[string]bool{"named": false, "metr-rebench:mp4-server_204921": true} {
		var one struct {
			Hardware        map[string]any
			HardwareClass   string `json:"hardware_class"`
			HardwareAssumed bool   `json:"hardware_assumed"`
		}
		s.getJSON(t, "/api/v1/attempts/"+id, &one)
		_, _, page := s.page(t, "/attempts/"+id)
		if one.HardwareClass != "h100" || one.HardwareAssumed != want || strings.Contains(page, "assumed from the paper profile") != want {
			t.Errorf("%s: %+v", id, one)
		}
	}
}

// What is wrong with a mapping is said once, with the field and what may stand there.
func TestMappingFaults(t *testing.T) {
	s := newUploadSite(t, testutil.EmptyStore(t))
	for in, want := range map[string][2]string{
		`{"enviroment":"x"}`:                        {"mapping", `found the unknown field "enviroment", expected some of attempt_id, environment, `},
		`{"agent":{"naem":"x"}}`:                    {"mapping.agent", `found the unknown field "naem", expected some of name, model, scaffold`},
		`{"files":{"a":{"scoring":{"start":1}}}}`:   {`mapping.files["a"].scoring`, `found the unknown field "start", expected some of direction, start_raw, reference_raw`},
		`{"time_limit_s":"1800"}`:                   {"mapping.time_limit_s", "found a JSON string, expected a number"},
		`{"environment":"kernel"}`:                  {"mapping.environment", `found "kernel", expected one of optimize_llm_foundry`},
		`{"files":{"a":{"profile":"tpu"}}}`:         {`mapping.files["a"].profile`, `found "tpu", expected paper, gpu or cpu`},
		`{} {}`:                                     {"mapping", "found more than one JSON value"},
		`{"environment":"gpt2_qa","profile":"cpu",`: {"mapping", "found no JSON object"},
	} {
		a := s.upload(t, "", "", map[string]string{"mapping": in}, map[string]string{"r.jsonl": rows(0.5, 1)})
		e, _ := a.json["errors"].([]any)
		if a.status != 422 || len(e) != 1 {
			t.Fatalf("%s: %d %s", in, a.status, a.body)
		}
		f := e[0].(map[string]any)
		if f["code"] != "bad_mapping" || f["field"] != want[0] || !strings.HasPrefix(f["detail"].(string), want[1]) {
			t.Errorf("%s: %v %q", in, f["field"], f["detail"])
		}
		if detail := a.json["detail"].(string); strings.Count(detail, want[0]+": ") != 1 || strings.Contains(detail, "json: ") {
			t.Errorf("%s: %q", in, detail)
		}
	}
}
