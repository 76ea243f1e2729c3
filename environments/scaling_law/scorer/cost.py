# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""What training costs. Standard library only."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What all runs share: vocabulary, context and rows of a batch, layers, width of an attention head."""

    vocab: int
    context: int
    batch: int
    layers: int
    head: int

    def parameters(self, width):
        """Return the weights that a token is multiplied with: 12 layers width^2 + vocab width."""
        return 12 * self.layers * width * width + self.vocab * width

    def step_flops(self, width):
        """Return the FLOPs of one training step: 6 a parameter and token."""
        return 6 * self.parameters(width) * self.context * self.batch

    def steps(self, width, flops):
        """Return the number of steps, at least 1, whose cost is nearest to so many FLOPs."""
        return max(1, round(flops / self.step_flops(width)))
