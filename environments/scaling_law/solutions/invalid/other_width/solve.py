# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""A width between two of the table, with the right FLOPs."""

import trainer

trainer.write_answer(20, 2.5)
