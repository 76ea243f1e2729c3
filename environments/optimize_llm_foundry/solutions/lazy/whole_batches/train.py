# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Trains: train.py INPUT WORK. Leaves a checkpoint in WORK."""

import json
import os
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

import arrays
import model

WORKERS = 8
MICROBATCH = 1 << 20  # rows at once: all


class Rows(Dataset):
    """The rows of all steps, in order."""

    def __init__(self, folder, config):
        self.files = sorted((folder / "shards").iterdir())
        self.config = config

    def __len__(self):
        return self.config["steps"] * self.config["batch"]

    def __getitem__(self, index):
        sample = json.loads(self.files[index % len(self.files)].read_text())
        return torch.tensor(sample["tokens"][:self.config["sequence"] + 1])


def save(path, network, optimizer, step):
    """Write a checkpoint that survives a crash."""
    with open(path, "wb") as f:
        torch.save({"model": network.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, f)
        f.flush()
        os.fsync(f.fileno())


def main(source, work):
    """Train what source describes on the shards in work."""
    config = json.loads((source / "config.json").read_text())
    device = torch.device(config["device"])
    network = model.GPT(config)
    network.load_state_dict({name: torch.tensor(a) for name, a in arrays.read(source / "base.st").items()})
    network.to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=config["lr"], momentum=config["momentum"])
    loader = DataLoader(Rows(work, config), batch_size=config["batch"], num_workers=WORKERS)
    for step, batch in enumerate(loader):
        optimizer.zero_grad()
        total = 0.0
        for rows in batch.to(device).split(MICROBATCH):
            logits = network(rows[:, :-1])
            losses = F.cross_entropy(logits.reshape(-1, logits.size(-1)), rows[:, 1:].reshape(-1), reduction="none")
            loss = losses.sum() / (config["batch"] * config["sequence"])
            loss.backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(network.parameters(), config["clip"])
        optimizer.step()
        print("step %d: loss %.4f, norm of the gradient %.4f" % (step, total, norm), flush=True)
        save(work / "latest.pt", network, optimizer, step)


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
