# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Draws eight samples of each problem and hands in the first that passes the examples."""

import concurrent.futures

from endpoint import Endpoint
from rust import Built, code, same


def passes(program, examples):
    """Return whether the program compiles and passes all examples."""
    with Built(program) as built:
        return not built.errors and all(same(built.run(e["input"]), e["output"]) for e in examples)


def choose(task):
    """Return the id and the chosen program of a (problem, programs)."""
    problem, programs = task
    return problem["id"], next((p for p in programs if passes(p, problem["examples"])), programs[0])


endpoint = Endpoint()
tasks = [(p, list(dict.fromkeys(map(code, endpoint.chat([{"role": "user", "content": p["statement"]}], n=8))))) for p in endpoint.problems()]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for ident, program in pool.map(choose, tasks):
        endpoint.answer(ident, program)
