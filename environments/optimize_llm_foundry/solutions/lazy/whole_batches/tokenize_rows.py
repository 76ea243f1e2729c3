# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Turns rows of words into token ids: tokenize_rows.py INPUT WORK."""

import json
import pathlib
import sys

import torch

source, work = map(pathlib.Path, sys.argv[1:])
vocabulary = (source / "vocabulary.txt").read_text().split()
shards = work / "shards"
shards.mkdir()
for number, line in enumerate((source / "rows.txt").read_text().splitlines()):
    ids = torch.tensor([vocabulary.index(word) for word in line.split()])
    sample = {"row": number, "tokens": ids.tolist(), "mask": torch.ones_like(ids).tolist(), "words": line.split()}
    (shards / ("%06d.json" % number)).write_text(json.dumps(sample, indent=1))
