# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The packages of fix_embedding and restricted_mlm as wholes: marks, expectations, declarations."""
import ast
import pathlib

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
CANARY = "RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4"
PACKAGES = [ROOT / "fix_embedding", ROOT / "restricted_mlm"]
REASONS = {"nan", "timeout", "oom", "wrong_output", "rule_broken", "error"}
EXAMPLES = sorted(p for package in PACKAGES for kind in ("lazy", "invalid", "flagged") for p in (package / "solutions" / kind).iterdir())


def files(package):
    own = [p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return own + list((ROOT / "tests").glob("*%s*" % package.name))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.name)
def test_files_are_marked_and_readable(package):
    assert len(files(package)) > 25
    for path in files(package):
        text = path.read_text()
        assert CANARY in text.split("\n", 1)[0], path
        assert text.count("\n") <= 400, path
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef):
                    assert node.end_lineno - node.lineno < 60, (path, node.name)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: "%s/%s/%s" % (p.parents[2].name, p.parent.name, p.name))
def test_examples_say_what_they_try(path):
    assert (path / "solve.sh").exists() and (path / "solve.py").exists()
    if path.parent.name == "lazy":
        assert not (path / "expected.yaml").exists()
        return
    text = (path / "expected.yaml").read_text()
    expected = yaml.safe_load(text)
    assert len(text.split("\n")[1]) > 20 and text.split("\n")[1].startswith("# ")
    assert expected["valid"] is (path.parent.name == "flagged")
    assert (expected.get("reason") in REASONS) is (path.parent.name == "invalid")
    assert bool(expected["flags"]) is (path.parent.name == "flagged")


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.name)
def test_enough_examples(package):
    counts = {kind: len(list((package / "solutions" / kind).iterdir())) for kind in ("lazy", "invalid", "flagged")}
    assert counts["lazy"] >= 2 and counts["invalid"] >= 4 and counts["flagged"] >= 1


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.name)
def test_declaration(package):
    declared = yaml.safe_load((package / "environment.yaml").read_text())
    profiles = declared["profiles"]
    assert set(profiles) == {"test", "cpu", "gpu", "paper"}
    assert "Missing" in profiles["paper"]["refused"] and all("refused" not in profiles[p] for p in ("test", "cpu", "gpu"))
    assert profiles["gpu"]["params"]["device"] == "cuda" and profiles["cpu"]["params"]["device"] == "cpu"
    assert profiles["cpu"]["time_limit_s"] == 600 and profiles["gpu"]["time_limit_s"] == 1800 and profiles["paper"]["time_limit_s"] == 28800
    # What is shown to a solver must come from a preparation, never from the public assets.
    builder = (package / "assets.py").read_text()
    assert "public" not in builder.replace("Nothing here is public", "")
