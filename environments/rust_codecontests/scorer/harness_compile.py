# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Runs in the build sandbox: compiles every NAME.rs of the working directory to NAME; what fails leaves NAME.err."""

import concurrent.futures
import pathlib
import subprocess
import sys

WORKERS, WALL_S = int(sys.argv[1]), float(sys.argv[2])


def compile_one(source):
    """Compile one file."""
    argv = ["rustc", "--edition", "2021", "-C", "opt-level=1", "-C", "debuginfo=0", "-C", "strip=symbols", "--cap-lints", "allow", "-o", source.stem, source.name]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=WALL_S)
        if done.returncode != 0:
            source.with_suffix(".err").write_bytes(done.stderr[:4000])
    except subprocess.TimeoutExpired:
        source.with_suffix(".err").write_text("compiling takes too long")


with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
    list(pool.map(compile_one, sorted(pathlib.Path().glob("*.rs"))))
