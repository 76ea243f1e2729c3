package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rebench/internal/attemptlog"
)

const countingService = `import json, pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import serving
json.load(sys.stdin)
class Desk(serving.Desk):
    n = 0
    def answer(self, method, path, body):
        if path == "/end":
            import os
            os._exit(3)
        if path != "/count":
            raise serving.Refused(404, "no", "not here")
        self.n += 1
        return {"n": self.n}
    def state(self):
        return {"asked": self.n}
serving.serve(Desk(serving.tell))
`

const askService = `import http.client, os, socket, sys
c = http.client.HTTPConnection("x")
c.sock = socket.socket(socket.AF_UNIX)
c.sock.connect(os.environ["REBENCH_SERVICE"])
for path in sys.argv[1:]:
    c.request("GET", path)
    r = c.getresponse()
    print(r.status, flush=True)
    r.read()
`

// withService is a place whose toy environment has a service.
func withService(t *testing.T) *place {
	p := placeAt(t, filepath.Join(testRoot, t.Name()))
	envs := filepath.Join(testRoot, t.Name()+"-environments")
	if err := os.CopyFS(envs, os.DirFS(filepath.Join(testRoot, "environments"))); err != nil {
		t.Fatal(err)
	}
	yaml := filepath.Join(envs, "toy", "environment.yaml")
	declared, err := os.ReadFile(yaml)
	if err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(string(declared), "wall_s: 60}", "wall_s: 60, common: [scoring.py, serving.py]}", 1)
	for path, text := range map[string]string{yaml: with, filepath.Join(envs, "toy", "scorer", "service.py"): countingService} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, kv := range p.env {
		if strings.HasPrefix(kv, "REBENCH_ENVIRONMENTS=") {
			p.env[i] = "REBENCH_ENVIRONMENTS=" + envs
		}
	}
	return p
}

// serviceOf returns what the log's last line says of the service.
func serviceOf(events []attemptlog.Event) (state, fault string) {
	for _, e := range events {
		if end, ok := e.(*attemptlog.End); ok {
			state = string(end.Extra.Get("service"))
			_ = json.Unmarshal(end.Extra.Get("service_error"), &fault)
		}
	}
	return state, fault
}

// A solver asks its environment's service during the attempt; the log says how often it did.
func TestAttemptWithService(t *testing.T) {
	p := withService(t)
	ask := "cat > /tmp/ask.py <<'END'\n" + askService + "END\npython3 /tmp/ask.py "
	o := p.run(0, "--agent", script(t, ask+`/count /count /elsewhere > /tmp/out
test "$(tr '\n' ' ' < /tmp/out)" = "200 200 404 " || exit 9
score
`))[0]
	_, _, events := logOf(t, o.Log)
	if state, fault := serviceOf(events); state != `{"asked":2}` || fault != "" || endDetail(events) != "the solver's program exited with status 0" {
		t.Errorf("service %s, fault %q, end %s", state, fault, endDetail(events))
	}
	// Whoever manages to end the service has an attempt without it, and the log tells.
	o = p.run(0, "--agent", script(t, ask+"/count /end; score; exit 0"))[0]
	_, _, events = logOf(t, o.Log)
	if state, fault := serviceOf(events); state != `{"asked":1}` || !strings.Contains(fault, "ended early") || o.Valid != 1 || !o.Rescored {
		t.Errorf("service %s, fault %q, %+v", state, fault, o)
	}
	if left := processesWith(t, "toy/scorer/service.py"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// solve.sh is served like an attempt.
func TestSolveWithService(t *testing.T) {
	p := withService(t)
	dir := t.TempDir()
	text := "cat > /tmp/ask.py <<'END'\n" + askService + "END\npython3 /tmp/ask.py /count | grep -q 200 && echo 'print(1.5)' > solution.py\n"
	if err := os.WriteFile(filepath.Join(dir, "solve.sh"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var v verdict
	if err := json.Unmarshal([]byte(p.ok("score", "toy", dir, "--profile", "test", "--json")), &v); err != nil || v.Raw == nil || *v.Raw != 1.5 {
		t.Errorf("%+v, %v", v, err)
	}
}
