# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Hands in the first reply to the statement."""

from endpoint import Endpoint
from rust import code

endpoint = Endpoint()
for problem in endpoint.problems():
    reply, = endpoint.chat([{"role": "user", "content": problem["statement"]}])
    endpoint.answer(problem["id"], code(reply))
