package scoring

import (
	"strings"
	"testing"
)

func TestScoreWholeContract(t *testing.T) {
	s := service(t, "")
	env := toy(t, `
def score(req, runner):
    d = {"params": req.params, "purpose": req.purpose, "target": req.target, "calibration": req.calibration, "assets": req.assets_dir, "seed": req.draws.seed("x")}
    d["reference"] = open(req.reference_dir + "/answer.txt").read()
    p = runner.spawn("run", "snapshot", ["python3", "-I", "/harness/go.py"], socket=True, files={"go.py": b"""
import socket, runpy
s = socket.socket(fileno=3)
s.sendall(s.recv(10)[::-1])
runpy.run_path('/solution/solution.py')
"""}, env={"GREETING": "hi"})
    p.socket.sendall(b"abc")
    d["echo"] = p.socket.recv(10).decode()
    e = p.wait(10)
    d["out"], d["exit"], d["ok"] = e.stdout, e.exit, e.ok
    b = runner.spawn("build", "snapshot", ["sh", "-c", "echo built > built.txt; mkdir d; ln -s /etc/passwd link; mkfifo fifo; ln built.txt hard; head -c 100 /dev/zero > d/z"], writable=True, keep="b1")
    assert b.wait().ok
    refused = {}
    for path in ("link", "fifo", "built.txt", "../x", "d", "nope", "/etc/passwd"):
        try:
            b.collect(path, 1000)
            refused[path] = "COLLECTED"
        except scoring.CollectRefused as err:
            refused[path] = str(err)
    d["refused"] = refused
    d["collected"] = len(b.collect("d/z", 100).read())
    try:
        b.collect("d/z", 99)
    except scoring.CollectRefused as err:
        d["large"] = str(err)
    r = runner.spawn("run", "work:b1", ["sh", "-c", "cat built.txt; touch x 2>&1; true"])
    d["kept"] = r.wait().stdout
    os.mkdir(req.work_dir + "/rust"); open(req.work_dir + "/rust/main.txt", "w").write("from work")
    r = runner.spawn("run", "work:rust", ["cat", "main.txt", "/data/main.txt"], data="rust")
    d["work"] = r.wait().stdout
    with runner.timed():
        pass
    d["missing"] = runner.spawn("run", "snapshot", ["/solution/none"]).wait().exit
    try:
        runner.spawn("run", "elsewhere", ["true"])
    except scoring.RunnerError as err:
        d["error"] = str(err)
    return scoring.valid(1.5, flags=["f"], trials=[1, 2], paired_reference_raw=0.5, details=d)
scoring.main(score)
`)
	out := mustScore(t, s, env, solution(t, map[string]string{"solution.py": "import os\nprint('hello', os.environ['GREETING'])\n"}))
	t.Logf("%+v %s", out, out.Verdict.Details)
	if !out.Verdict.Valid || *out.Verdict.Raw != 1.5 || strings.Contains(string(out.Verdict.Details), "COLLECTED") {
		t.Error("unexpected verdict")
	}
}
