package scoring

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
	"rebench/runner/sandbox"
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
	v := out.Verdict
	if !v.Valid || *v.Raw != 1.5 || *v.PairedReferenceRaw != 0.5 || v.Reason != nil || string(v.Trials) != "[1, 2]" || !cmp.Equal(v.Flags, []string{"f"}) {
		t.Errorf("found %+v", v)
	}
	var got map[string]any
	if err := json.Unmarshal(v.Details, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"params": map[string]any{"n": 3.0}, "purpose": "score", "target": "submission", "calibration": nil, "assets": nil,
		"seed": seedOf(DrawKey(s.cfg.Secret, "attempt-1", "toy", 7), "x"), "reference": "the secret reference\n",
		"echo": "cba", "out": "hello hi\n", "exit": 0.0, "ok": true, "collected": 100.0, "large": "d/z: 100 bytes; at most 99",
		"refused": map[string]any{
			"link": "link: not a regular file", "fifo": "fifo: not a regular file", "built.txt": "built.txt: has 2 hard links; one is allowed",
			"../x": "../x: leads to another file system or out of the solution", "d": "d: not a regular file", "nope": "nope: not found",
			"/etc/passwd": "/etc/passwd: leads to another file system or out of the solution",
		},
		"kept": "built\ntouch: cannot touch 'x': Read-only file system\n", "work": "from workfrom work", "missing": 127.0,
		"error": `spawn: spawn: source: found "elsewhere", expected snapshot, start, reference or work:NAME`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-expected +found):\n%s", diff)
	}
	if hash, err := env.ScorerHash(); err != nil || hash != out.ScorerSHA256 {
		t.Errorf("scorer hash: found %s, expected %s, %v", out.ScorerSHA256, hash, err)
	}
}

// seedOf is scoring.py's Draws.seed, as a JSON number.
func seedOf(key [32]byte, label string) float64 {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(label))
	return float64(binary.BigEndian.Uint64(mac.Sum(nil)) >> 1)
}

// TestScorerFaults checks that no failure of the trusted side becomes a verdict.
func TestScorerFaults(t *testing.T) {
	s := service(t, "")
	dir := solution(t, map[string]string{"solution.py": ""})
	for name, tc := range map[string]struct{ scorer, stage, text string }{
		"raises":          {"raise ValueError('boom')", "exit", "boom"},
		"raises in score": {"scoring.main(lambda r, runner: 1 / 0)", "exit", "ZeroDivisionError"},
		"exits":           {"sys.exit(3)", "exit", "status 3"},
		"dies":            {"os.abort()", "exit", "aborted"},
		"does not parse":  {"def (", "exit", "SyntaxError"},
		"says nothing":    {"", "output", "printed nothing"},
		"garbage":         {"print('garbage')", "output", "garbage"},
		"half a line":     {`print('{"valid": true, "raw": 1')`, "output", "expected a JSON object"},
		"not a number":    {`print('{"valid": true, "raw": NaN, "reason": null, "message": ""}')`, "output", "expected a JSON object"},
		"nan by library":  {"scoring.main(lambda r, runner: scoring.valid(float('nan')))", "exit", "not finite"},
		"no verdict":      {"scoring.main(lambda r, runner: None)", "output", "null"},
		"verdict, then 1": {`print('{"valid": true, "raw": 1, "reason": null, "message": ""}', flush=True); os._exit(1)`, "exit", "status 1"},
		"line after":      {`print('{"valid": true, "raw": 1, "reason": null, "message": ""}'); print("done")`, "output", "done"},
		"hangs":           {"time.sleep(1000)", "timeout", "wall limit"},
		"eats memory":     {"b = []\nwhile True: b.append(bytearray(os.urandom(1 << 20)))", "memory", "memory limit"},
		"floods":          {"for i in range(80): print('x' * 65536)", "output", "bytes"},
		"bad request":     {"import socket\nq = socket.socket(fileno=3)\nq.send(b'{nonsense\\n')\nprint(q.recv(100), file=sys.stderr)\nprint(json.dumps(scoring.valid(1)))", "protocol", "nonsense"},
		"unknown field":   {"scoring.Runner()._ask({'op': 'wait', 'handle': 1, 'zeal': 2})", "exit", "zeal"},
		"unknown op":      {"scoring.Runner()._ask({'op': 'dance'})", "exit", "dance"},
		"unknown handle":  {"scoring.Runner()._ask({'op': 'wait', 'handle': 9})", "exit", "handle: found 9"},
	} {
		t.Run(name, func(t *testing.T) {
			env := toy(t, tc.scorer)
			if tc.stage == "timeout" {
				env.Scorer.WallS = 0.5
			}
			if tc.stage == "memory" && s.cfg.Executor.Tier().Name == sandbox.TierRlimit {
				tc.stage, tc.text = "exit", "" // refused by the limit on address space
			}
			out, err := score(t, s, env, dir)
			wantFault(t, err, tc.stage, tc.text)
			if rebench.ErrorCode(err) != rebench.CodeInternal || out.Verdict.Valid || out.Verdict.Reason != nil {
				t.Errorf("found code %s and verdict %+v, expected none", rebench.ErrorCode(err), out.Verdict)
			}
		})
	}
}

// judged is a scorer that runs the solution and names how it ended.
const judged = `
def score(req, runner):
    p = runner.spawn("run", "snapshot", ["python3", "-I", "-B", "/solution/solution.py"], limits={"wall_s": 0.5, "memory_mb": 64, "pids": 16})
    e = p.wait()
    d = {"exit": e.exit, "signal": e.signal, "out": len(e.stdout), "bytes": e.stdout_bytes}
    if not e.ok:
        return scoring.invalid(*e.reason(), details=d)
    return scoring.valid(0, details=d)
scoring.main(score)
`

// TestSubmissionFaults checks that each failure of a submission becomes the
// verdict that the scorer gives it.
func TestSubmissionFaults(t *testing.T) {
	for _, tier := range []sandbox.TierName{"", sandbox.TierRlimit} {
		t.Run("tier "+string(tier), func(t *testing.T) {
			s := service(t, tier)
			env := toy(t, judged)
			for name, tc := range map[string]struct {
				program string
				reason  Reason
				details string
			}{
				"fine":          {"print('x')", "", `{"exit": 0, "signal": null, "out": 2, "bytes": 2}`},
				"exits":         {"raise SystemExit(4)", ReasonError, `{"exit": 4, "signal": null, "out": 0, "bytes": 0}`},
				"hangs":         {"while True: pass", ReasonTimeout, `{"exit": null, "signal": null, "out": 0, "bytes": 0}`},
				"dies":          {"import os; os.abort()", ReasonError, `{"exit": null, "signal": 6, "out": 0, "bytes": 0}`},
				"floods":        {"print('x' * 300000)", "", `{"exit": 0, "signal": null, "out": 65536, "bytes": 300001}`},
				"odd bytes":     {"import os; os.write(1, b'\\xff\\xfe\\x00ab')", "", `{"exit": 0, "signal": null, "out": 4, "bytes": 5}`},
				"leaves daemon": {"import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(1000)\n  os._exit(0)", "", `{"exit": 0, "signal": null, "out": 0, "bytes": 0}`},
			} {
				t.Run(name, func(t *testing.T) {
					out := mustScore(t, s, env, solution(t, map[string]string{"solution.py": tc.program}))
					got := Reason("")
					if out.Verdict.Reason != nil {
						got = *out.Verdict.Reason
					}
					if got != tc.reason || out.Verdict.Valid != (tc.reason == "") || string(out.Verdict.Details) != tc.details {
						t.Errorf("found %q %s, expected %q %s; %s", got, out.Verdict.Details, tc.reason, tc.details, out.Verdict.Message)
					}
				})
			}
			t.Run("memory", func(t *testing.T) {
				out := mustScore(t, s, env, solution(t, map[string]string{"solution.py": "import os\nb = []\nwhile True: b.append(bytearray(os.urandom(1 << 20)))"}))
				// Where the limit is on address space, the program sees it first.
				want := []Reason{ReasonOOM}
				if s.cfg.Executor.Tier().Name == sandbox.TierRlimit {
					want = append(want, ReasonError)
				}
				if out.Verdict.Reason == nil || !slices.Contains(want, *out.Verdict.Reason) {
					t.Errorf("found %+v, expected %v", out.Verdict, want)
				}
			})
		})
	}
}

// TestStopFromScorer checks that a stopped submission does nothing, that its
// time then is not charged, and that its wall limit waits.
func TestStopFromScorer(t *testing.T) {
	for _, tier := range []sandbox.TierName{"", sandbox.TierRlimit} {
		t.Run("tier "+string(tier), func(t *testing.T) {
			s := service(t, tier)
			env := toy(t, `
import mmap
def score(req, runner):
    f = os.memfd_create("n"); os.ftruncate(f, 8); m = mmap.mmap(f, 8)
    p = runner.spawn("run", "snapshot", ["python3", "-I", "-B", "/solution/solution.py"], socket=True, limits={"wall_s": 0.6})
    import socket
    socket.send_fds(p.socket, [b"x"], [f])
    p.socket.recv(1)
    moved, times = 0, []
    for i in range(10):
        t0 = time.perf_counter(); p.stop(); times.append(time.perf_counter() - t0)
        before = m[:8]; time.sleep(0.1); moved += m[:8] != before
        before = m[:8]; p.cont(); t0 = time.monotonic()
        while m[:8] == before:
            if time.monotonic() - t0 > 5: raise RuntimeError("does not go on")
    p.kill()
    e = p.wait()
    return scoring.valid(0, details={"moved": moved, "signal": e.signal, "timed_out": e.timed_out})
scoring.main(score)
`)
			out := mustScore(t, s, env, solution(t, map[string]string{"solution.py": `
import mmap, socket
s = socket.socket(fileno=3)
_, fds, _, _ = socket.recv_fds(s, 1, 1)
m = mmap.mmap(fds[0], 8)
s.send(b"y")
i = 0
while True:
    i += 1; m[:8] = i.to_bytes(8, "little")
`}))
			if got := string(out.Verdict.Details); got != `{"moved": 0, "signal": 9, "timed_out": false}` {
				t.Errorf("found %s", got)
			}
			if stopped := out.Wall - out.SubmissionTime; stopped < time.Second {
				t.Errorf("charged %v of %v, expected at least the stopped second less", out.SubmissionTime, out.Wall)
			}
		})
	}
}

// TestNoInternetWhereTimed checks that a submission that is timed, and may be
// stopped, cannot leave the kernel packets to send.
func TestNoInternetWhereTimed(t *testing.T) {
	s := service(t, "")
	env := toy(t, `
def score(req, runner):
    made = {}
    for control in (False, True):
        p = runner.spawn("run", "snapshot", ["python3", "-I", "/solution/solution.py"], socket=control)
        made[str(control)] = p.wait().stdout
    return scoring.valid(0, details=made)
scoring.main(score)
`)
	dir := solution(t, map[string]string{"solution.py": `
import socket
try: socket.socket(); print("made")
except OSError as e: print(e.errno)
`})
	for timed, want := range map[bool]string{false: `{"False": "made\n", "True": "made\n"}`, true: `{"False": "made\n", "True": "97\n"}`} {
		env.ExclusiveTiming = timed
		if got := string(mustScore(t, s, env, dir).Verdict.Details); got != want {
			t.Errorf("exclusive timing %v: found %s, expected %s", timed, got, want)
		}
	}
}

// TestTimingLock checks that timed sections exclude one another, that waiting is
// told and not charged to the scorer's wall limit, and that a scorer that dies
// with the lock gives it back.
func TestTimingLock(t *testing.T) {
	s := service(t, "")
	dir := solution(t, map[string]string{"solution.py": ""})
	_, err := score(t, s, toy(t, "scoring.Runner()._ask({'op': 'timed', 'acquire': True}); os.abort()"), dir)
	wantFault(t, err, "exit", "")
	release, err := s.cfg.Timing(t.Context())
	if err != nil {
		t.Fatalf("a dead scorer keeps the lock: %v", err)
	}
	env := toy(t, `
def score(req, runner):
    with runner.timed(): pass
    for bad in (False,):
        try: runner._ask({"op": "timed", "acquire": bad})
        except scoring.RunnerError as e: return scoring.valid(0, details={"error": str(e)})
scoring.main(score)
`)
	env.Scorer.WallS = 1.5
	var told []bool
	req := request(env, dir)
	waits := make(chan struct{})
	req.Waiting = func(begins bool) {
		if told = append(told, begins); begins {
			close(waits)
		}
	}
	go func() { <-waits; time.Sleep(2 * time.Second); release() }()
	out, err := s.Score(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if out.LockWait < 2*time.Second || out.Wall < out.LockWait || !slices.Equal(told, []bool{true, false}) || out.SubmissionTime != 0 {
		t.Errorf("waited %v of %v, told %v, charged %v", out.LockWait, out.Wall, told, out.SubmissionTime)
	}
	if got := string(out.Verdict.Details); !strings.Contains(got, "not held") {
		t.Errorf("releasing twice: found %s", got)
	}
}

// TestScoreCancelled checks that a scoring ends with its context, everything dead.
func TestScoreCancelled(t *testing.T) {
	s := service(t, "")
	env := toy(t, `
def score(req, runner):
    p = runner.spawn("run", "snapshot", ["sleep", "1000"])
    print("spawned", file=sys.stderr, flush=True)
    p.wait()
scoring.main(score)
`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	_, err := s.Score(ctx, request(env, solution(t, map[string]string{"x": ""})))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 20*time.Second {
		t.Errorf("found %v after %v", err, time.Since(begin))
	}
}

// TestTargets checks what each target shows, and what is charged.
func TestTargets(t *testing.T) {
	s := service(t, "")
	env := toy(t, `
def score(req, runner):
    out = {"snapshot": sorted(os.listdir(req.snapshot_dir)), "calibration": req.calibration, "purpose": req.purpose}
    for source in ("snapshot", "start", "reference"):
        out[source + " seen"] = runner.spawn("run", source, ["ls"]).wait().stdout.split()
    return scoring.valid(0, details=out)
scoring.main(score)
`)
	mine := solution(t, map[string]string{"mine.py": ""})
	for target, want := range map[Target]string{TargetSubmission: "mine.py", TargetStart: "solution.py", TargetReference: "answer.txt"} {
		req := request(env, mine)
		req.Target, req.Purpose, req.Calibration = target, PurposeCalibrate, json.RawMessage(`{"id": "c"}`)
		out, err := s.Score(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		expected := fmt.Sprintf(`{"snapshot": [%q], "calibration": {"id": "c"}, "purpose": "calibrate", "snapshot seen": [%q], "start seen": ["solution.py"], "reference seen": ["answer.txt"]}`, want, want)
		if got := string(out.Verdict.Details); got != expected {
			t.Errorf("%s: found %s, expected %s", target, got, expected)
		}
		if (out.SubmissionTime > 0) != (target == TargetSubmission) {
			t.Errorf("%s: charged %v", target, out.SubmissionTime)
		}
	}
	for name, change := range map[string]func(*Request){
		"no attempt": func(r *Request) { r.Attempt = "" }, "no snapshot": func(r *Request) { r.SnapshotDir = "" },
		"target": func(r *Request) { r.Target = "x" }, "purpose": func(r *Request) { r.Purpose = "x" }, "environment": func(r *Request) { r.Environment = nil },
	} {
		req := request(env, mine)
		change(&req)
		if _, err := s.Score(t.Context(), req); rebench.ErrorCode(err) != rebench.CodeInvalid {
			t.Errorf("%s: found %v, expected %s", name, err, rebench.CodeInvalid)
		}
	}
}

// TestHiddenFromSubmission checks that a submission sees neither scorer nor
// reference nor private assets, and nothing of the scorer's process.
func TestHiddenFromSubmission(t *testing.T) {
	s := service(t, "")
	env := toy(t, `
def score(req, runner):
    e = runner.spawn("run", "snapshot", ["python3", "-I", "-B", "/solution/solution.py"]).wait()
    return scoring.valid(0, details={"found": e.stdout.split(), "err": e.stderr, "private": sorted(os.listdir(req.assets_dir))})
scoring.main(score)
`)
	assets := solution(t, nil)
	for name, text := range map[string]string{"public/table.bin": "public", "private/key.txt": "private-9c1f"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(assets, name)), 0o755), os.WriteFile(filepath.Join(assets, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	req := request(env, solution(t, map[string]string{"solution.py": `
import os
want = [b"the secret " + b"reference", b"private-" + b"9c1f", b"def " + b"score(req, runner)", b"MUST NOT APPEAR IN " + b"TRAINING DATA", b"draw" + b"_key"]
for top in os.listdir("/"):
    if top in ("usr", "sys"): continue
    for d, ds, fs in os.walk("/" + top):
        for f in fs:
            p = os.path.join(d, f)
            try:
                fd = os.open(p, os.O_RDONLY | os.O_NONBLOCK)
                b = os.read(fd, 1 << 20); os.close(fd)
            except OSError: continue
            for w in want:
                if w in b and p != "/solution/solution.py": print(p)
print(open("/assets/table.bin").read(), *sorted(os.listdir("/")))
`}))
	req.AssetsDir = assets
	out, err := s.Score(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"found": ["public", "assets", "bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "solution", "sys", "tmp", "usr"], "err": "", "private": ["private", "public"]}`
	if got := string(out.Verdict.Details); got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}
