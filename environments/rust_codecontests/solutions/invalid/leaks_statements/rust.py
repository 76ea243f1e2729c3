# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Compiling and trying Rust programs."""

import pathlib
import re
import subprocess
import tempfile


def code(reply):
    """Return the last code block of a reply, or the reply itself when there is none."""
    blocks = re.findall(r"```(?:rust)?\n(.*?)```", reply, re.S)
    return blocks[-1] if blocks else reply


class Built:
    """A compiled program, to be used in a with statement. errors: the compiler's message, or None."""

    def __init__(self, program):
        self._place = tempfile.TemporaryDirectory()
        source, self._binary = pathlib.Path(self._place.name) / "main.rs", pathlib.Path(self._place.name) / "main"
        source.write_text(program)
        made = subprocess.run(["rustc", "--edition", "2021", "-C", "debuginfo=0", "--cap-lints", "allow", "-o", str(self._binary), str(source)],
                              capture_output=True, text=True, timeout=60)
        self.errors = made.stderr if made.returncode else None

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self._place.cleanup()

    def run(self, text, timeout_s=10):
        """Return what the program prints for an input, or None when it takes too long."""
        try:
            return subprocess.run([str(self._binary)], input=text, capture_output=True, text=True, timeout=timeout_s).stdout
        except subprocess.TimeoutExpired:
            return None


def same(output, expected):
    """Return whether an output is the expected one, word by word."""
    return output is not None and output.split() == expected.split()
