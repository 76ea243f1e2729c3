# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Times solutions on a GPU.

A process can be stopped, a kernel that it has launched cannot. So input and
output are kept apart by copies that the scorer makes, both inside the clock:
  1. put zeros into the shared input and poison into the shared output
  2. let the sandbox run on
  3. read the clock, copy the fresh input to the shared buffer, wait for it
  4. ask, read the answer
  5. copy the shared output to memory of our own, wait for it, read the clock
  6. stop the sandbox, compare every element of our own copy
Before step 3 the input is in no memory that the solution can reach; what it
writes after the copy of step 5 is not looked at. Work that it leaves running on
the device would slow others: after its answer a copy of known duration tells.
"""

import pathlib
import statistics
import time

import numpy as np
import torch

from optimize_kernel.scorer import bench, definition
from optimize_kernel.scorer.channel import Channel, ReferenceFailed, Refused

_HERE = pathlib.Path(__file__).parent
_BUSY = 1.5  # a copy that takes so many times as long as on the idle device
_QUIET_TRIES = 5


def masked_prefix_sum(x):
    """Return the right output for x, an int32 tensor of shape (n,), on the device of x."""
    positive = (x > 0).to(torch.int32)
    before = torch.cumsum(positive, dim=0, dtype=torch.int32) - positive
    return torch.cumsum(x * (before & 1), dim=0, dtype=torch.int32)


class Solution:
    """One solution in its sandbox. job: a scoring.Submission; share: a module like cuda_share."""

    def __init__(self, job, length, params, share):
        self._job = job
        self._channel = Channel(job)
        self._params = params
        self._share = share
        self._input = share.Memory(length)
        self._output = share.Memory(length)
        self._private = torch.empty_like(self._output.tensor)
        self._channel.open({"n_max": length}, [self._input.fd, self._output.fd], params["start_wall_s"])
        job.stop()

    def kill(self):
        """End the sandbox."""
        self._job.kill()

    def null_ms(self):
        """Return what copies, asking and answering take without a call. For trusted solutions."""
        return self._timed("null", {}, torch.zeros_like(self._private))[0]

    def run(self, x, poison):
        """Run one trial on x; return (milliseconds, output in memory of our own).

        Raises Refused when no answer comes or one of the wrong kind.
        """
        n = x.numel()
        self._input.tensor.zero_()
        self._output.tensor.fill_(poison)
        self._share.synchronize()
        ms, told = self._timed("go", {"n": n}, x)
        kind = (told.get("dtype"), told.get("shape"), told.get("device"))
        right = ("int32", [n], str(self._output.tensor.device))
        if kind != right:
            raise Refused("wrong_output", "returned %.60s of shape %.60s on %.60s, expected %s of shape %s on %s" % (kind + right))
        return ms, self._private[:n]

    def _timed(self, operation, fields, x):
        n = x.numel()
        question, nonce = self._channel.prepare(operation, fields)
        self._channel.nothing_unasked()
        self._job.cont()
        start = time.monotonic_ns()
        self._input.tensor[:n].copy_(x)
        self._share.synchronize()
        self._channel.send(question)
        told = self._channel.answer(nonce, self._params["trial_wall_s"])
        self._private[:n].copy_(self._output.tensor[:n])
        self._share.synchronize()
        stop = time.monotonic_ns()
        self._job.stop()
        self._channel.nothing_unasked()
        return (stop - start) / 1e6, told


class Bench(bench.Bench):
    """The bench of the gpu profiles."""

    FLOOR = "copy_floor_gpu.py"
    CORES = ("device",)
    SHARE = _HERE / "cuda_share.py"

    def __init__(self, request, runner, sources, params):
        super().__init__(sources, params)
        self._runner = runner
        self._draws = request.draws
        self._n = params["n"]
        self._share = self._import_share()
        self._device = self._share.device()
        self._compared = False
        self._idle = torch.zeros(params["quiet_elements"], dtype=torch.int32, device=self._device)
        self._idle_to = torch.empty_like(self._idle)
        self._idle_ms = statistics.median(self._copy_ms() for _ in range(9))

    def _import_share(self):
        import importlib.util

        spec = importlib.util.spec_from_file_location("share", self.SHARE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def start(self, source, entry, trusted):
        """Start a solution's sandbox, see bench.Bench."""
        files = {"gpu_worker.py": (_HERE / "gpu_worker.py").read_bytes(), "share.py": self.SHARE.read_bytes()}
        argv = ["python3", "-I", "-B", "/harness/gpu_worker.py", "/solution/" + entry]
        job = self._runner.spawn("run", source, argv, socket=True, files=files, device=True)
        return Solution(job, self._n + self.params["tail"], self.params, self._share)

    def draw(self, label):
        """Return (x, poison) of the named trial; x on the device, from a generator seeded with 63 secret bits."""
        generator = self._draws.numpy(label)
        n = self._n + int(generator.integers(self.params["tail"] + 1))
        source = torch.Generator(device=self._device).manual_seed(self._draws.seed(label + " device"))
        x = torch.randint(definition.LOW, definition.HIGH, (n,), dtype=torch.int32, device=self._device, generator=source)
        return x, definition.draw_poison(generator, n)

    def expected(self, x):
        """Return the right output; the first one is compared with numpy's."""
        y = masked_prefix_sum(x)
        if not self._compared:
            if not np.array_equal(y.cpu().numpy(), definition.masked_prefix_sum(x.cpu().numpy())):
                raise ReferenceFailed("this device and numpy disagree about the right output")
            self._compared = True
        return y

    def first_difference(self, got, expected):
        """Return the index of the first wrong element, or None."""
        if torch.equal(got, expected):
            return None
        return int(torch.nonzero(got != expected)[0])

    def trial(self, label):
        """As bench.Bench; also checks that the submission leaves the device idle."""
        times = super().trial(label)
        if not self._quiet():
            raise Refused("rule_broken", "the device is busy after the answer: work was left running")
        return times

    def details(self):
        """Return sizes, versions and the memory floor."""
        return dict(super().details(), elements=self._n, idle_copy_ms=self._idle_ms, **self._share.description())

    def _copy_ms(self):
        self._share.synchronize()
        start = time.monotonic_ns()
        self._idle_to.copy_(self._idle)
        self._share.synchronize()
        return (time.monotonic_ns() - start) / 1e6

    def _quiet(self):
        limit = _BUSY * self._idle_ms + 0.05
        return any(self._copy_ms() <= limit for _ in range(_QUIET_TRIES))
