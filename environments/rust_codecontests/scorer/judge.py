# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Compiles and runs answers in sandboxes of their own."""

import json
import pathlib

from rust_codecontests.scorer import problems

HERE = pathlib.Path(__file__).parent


class Failed(Exception):
    """args: reason, message. The answers as a whole broke a limit."""


def solved(answers, drawn, request, runner):
    """Return id -> one of "solved", "wrong", "compile", "crash" for each answer (id -> text)."""
    params, work = request.params, pathlib.Path(request.work_dir)
    sources = work / "answers"
    sources.mkdir()
    for ident, text in answers.items():
        (sources / (ident + ".rs")).write_text(text)
    cores = max(1, int(params["workers"]))
    build = runner.spawn("build", "work:answers", ["python3", "-I", "/harness/compile.py", str(cores), str(params["compile_wall_s"])],
                         writable=True, keep="programs", files={"compile.py": (HERE / "harness_compile.py").read_bytes()},
                         limits={"wall_s": params["build_wall_s"]})
    end = build.wait()
    if not end.ok:
        reason, message = end.reason()
        raise Failed(reason, "compiling the answers: " + message)
    out, waiting = {}, [p for p in drawn if p.id in answers]
    running = []
    while waiting or running:
        while waiting and len(running) < cores:
            p = waiting.pop(0)
            running.append((p, _start(p, work, params, runner)))
        p, job = running.pop(0)
        out[p.id] = _judge(p, job.wait())
    return out


def _start(p, work, params, runner):
    data = work / ("tests-" + p.id)
    data.mkdir()
    for i, test in enumerate(p.hidden):
        (data / ("%02d.in" % i)).write_text(test.input)
    return runner.spawn("run", "work:programs", ["python3", "-I", "/harness/tests.py", p.id, str(params["test_cpu_s"]), str(params["test_wall_s"])],
                        files={"tests.py": (HERE / "harness_tests.py").read_bytes()}, data=data.name,
                        limits={"wall_s": params["test_wall_s"] * len(p.hidden) + 5})


def _judge(p, end):
    if end.exit is None or end.exit != 0:
        # No program: the harness could not start it.
        return "compile" if "FileNotFoundError" in end.stderr or "No such file" in end.stderr else "crash"
    try:
        results = json.loads(end.stdout)
        outputs = [(r["exit"], str(r["output"])) for r in results]
    except (ValueError, TypeError, KeyError, RecursionError):
        return "crash"
    if len(outputs) == len(p.hidden) and all(code == 0 and problems.same(text, t.output) for (code, text), t in zip(outputs, p.hidden)):
        return "solved"
    return "wrong"
