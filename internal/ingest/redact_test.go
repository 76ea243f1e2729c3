package ingest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"rebench/internal/attemptlog"
)

// secretsOf are made up, put together so that no scanner takes this file for a leak.
func secretsOf() []string {
	a := func(n int) string { return strings.Repeat("aB3", n)[:n] }
	return []string{
		"sk-" + a(40), "sk-ant-" + a(40), "sk-proj-" + a(48), "ghp_" + a(36), "gho_" + a(36), "github_pat_" + a(40), "glpat-" + a(20), "hf_" + a(34),
		"AKIA" + strings.ToUpper(a(16)), "ASIA" + strings.ToUpper(a(16)), "AIza" + a(35), "xoxb-" + a(30), "xoxp-" + a(30), "Bearer " + a(40), "bearer " + a(30),
		"eyJ" + a(20) + ".eyJ" + a(20) + "." + a(20),
		"-----BEGIN RSA PRIVATE KEY-----\nMII" + a(100) + "\n" + a(64) + "==\n-----END RSA PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\n" + a(100), // cut off
	}
}

func TestRedact(t *testing.T) {
	for _, s := range secretsOf() {
		text := "before " + s + " after"
		out, n := Redact([]byte(text))
		if n != 1 || bytes.Contains(out, []byte("aB3aB3")) || !bytes.HasPrefix(out, []byte("before [redacted]")) {
			t.Errorf("%.30q: %d found, %q left", s, n, out)
		}
		in, _ := json.Marshal(map[string]string{"k": text, "l": `quote " and \ stay`})
		out, n = Redact(in)
		if n != 1 || !json.Valid(out) || len(out) > len(in) || bytes.Contains(out, []byte("aB3aB3")) || !bytes.Contains(out, []byte(`quote \" and \\ stay`)) {
			t.Errorf("in JSON %.30q: %d found, %q left", s, n, out)
		}
	}
	for _, s := range []string{"", "the task-specific risk-averse skill", "sk-short", "Bearer of news", "AKIA", "xox", "gh", "-----BEGIN PUBLIC KEY-----abc", strings.Repeat("0c", 32), "hf_model/name"} {
		if out, n := Redact([]byte(s)); n != 0 || string(out) != s {
			t.Errorf("%q is taken for a secret", s)
		}
	}
}

func TestRedactionBeforeStoring(t *testing.T) {
	key := secretsOf()[0]
	t.Run("score.log", func(t *testing.T) {
		g := scoreLog(t, kernelMapping(), "2025-03-09T01:30:00,1,\"{\"\"env\"\": \"\""+key+"\"\"}\",\"{\"\"d\"\": [\"\""+key+"\"\", \"\""+key+"\"\"]}\"\r\n")
		wantCodes(t, "warnings", g.file.Warnings(), WarnRedacted)
		if a := g.attempts[0]; a.Redactions != 3 || g.file.Redactions() != 3 || bytes.Contains(a.log, []byte(key)) || *a.scores[0].Score != 1 {
			t.Errorf("%d redactions, log %s", g.file.Redactions(), a.log)
		}
	})
	t.Run("own log is chained anew", func(t *testing.T) {
		log := ownLogs(t)[9]
		lines := bytes.SplitAfter(log, []byte("\n"))
		var b bytes.Buffer
		w := attemptlog.NewWriter(&b)
		g := decode(t, "x", log, Options{})
		for i, e := range g.attempts[0].events {
			if s, ok := e.(*attemptlog.Score); ok && i == 2 {
				s.Message = attemptlog.Text("my key is " + key)
			}
			if _, err := w.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		g = decode(t, "x", b.Bytes(), Options{}) // checks that the result is a valid log
		wantPlaces(t, "faults", g.file.Faults())
		a := g.attempts[0]
		if a.Redactions != 1 || bytes.Contains(a.log, []byte(key)) || string(a.scores[1].Message) != `"my key is [redacted]"` {
			t.Errorf("%d redactions, log %s", a.Redactions, a.log)
		}
		if !bytes.HasPrefix(a.log, bytes.Join(lines[:2], nil)) {
			t.Error("lines before the secret are changed")
		}
		again := decode(t, "x", b.Bytes(), Options{})
		if again.attempts[0].sum.Head != a.sum.Head {
			t.Error("the same upload gives another head")
		}
	})
	t.Run("own log with a secret in its header", func(t *testing.T) {
		first, _, _ := bytes.Cut(ownLogs(t)[0], []byte("\n"))
		log := append(bytes.Replace(first, []byte(`"tool":{"name":"runner"`), []byte(`"tool":{"name":"runner","env":"`+key+`"`), 1), '\n')
		a := decode(t, "x", log, Options{}).attempts[0]
		if a.Redactions != 1 || bytes.Contains(a.log, []byte(key)) {
			t.Errorf("%d redactions, log %s", a.Redactions, a.log)
		}
	})
	t.Run("METR row", func(t *testing.T) {
		a := metr(t, Options{}, early(`"model":"o1"`, `"model":"`+key+`"`)).attempts[0]
		if a.Redactions != 1 || a.Header.Agent.Model != "[redacted]" {
			t.Errorf("model %s", a.Header.Agent.Model)
		}
	})
	t.Run("source facts", func(t *testing.T) {
		a := metr(t, Options{}, early(`"human_source":"baseline"`, `"human_source":"`+key+`"`)).attempts[0]
		if a.Redactions != 1 || bytes.Contains(a.Source.Get("human_source"), []byte(key)) {
			t.Errorf("source %s", a.Source.Get("human_source"))
		}
	})
}
