# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The law of Hoffmann et al., 2022 (arXiv 2203.15556, equation 10 with the fit of approach 3), taken as it is."""

import trainer

E, A, B, ALPHA, BETA = 1.69, 406.4, 410.7, 0.34, 0.28


def loss(width):
    """Return the law's loss of a width at the target."""
    c = trainer.CONFIG
    n = 12 * c["layers"] * width ** 2 + c["vocab"] * width
    d = trainer.steps(width, c["target_flops"]) * c["context"] * c["batch"]
    return E + A / n ** ALPHA + B / d ** BETA


best = min(trainer.CONFIG["widths"], key=loss)
trainer.write_answer(best, min(loss(best), 19.9))
