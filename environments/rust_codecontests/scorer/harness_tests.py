# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Runs in a sandbox of its own: one compiled answer on the inputs in /data, outputs as JSON on standard output.

Right outputs are not here: what is printed is compared outside.
"""

import json
import pathlib
import resource
import subprocess
import sys

PROGRAM, CPU_S, WALL_S = "./" + sys.argv[1], int(sys.argv[2]), float(sys.argv[3])


def limit():
    """Bound processor time, which a busy machine does not stretch."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


out = []
for path in sorted(pathlib.Path("/data").glob("*.in")):
    with open(path, "rb") as f:
        child = subprocess.Popen([PROGRAM], stdin=f, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=limit)
        try:
            text, _ = child.communicate(timeout=WALL_S)
            code = child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            text, code = b"", -9
    out.append({"exit": code, "output": text[:4000].decode("utf-8", "replace")})
    if code != 0:
        break  # a failed test decides
print(json.dumps(out))
