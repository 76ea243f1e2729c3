# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Runs the three programs in one process: all.py INPUT WORK OUTPUT."""

import runpy
import sys

source, work, target = sys.argv[1:]
for program, arguments in (("tokenize_rows.py", [source, work]), ("train.py", [source, work]), ("export.py", [work, target])):
    sys.argv[1:] = arguments
    runpy.run_path(program, run_name="__main__")
