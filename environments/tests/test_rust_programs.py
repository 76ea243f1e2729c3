# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""rust_codecontests: the Rust programs against their Python mirrors, and against the compiler."""
import random
import re
import resource
import subprocess

import pytest

from rust_codecontests.scorer import families, problems, programs

FAMILIES = families.SCORED + families.PRACTICE
RUSTC = ["/usr/bin/rustc", "--edition", "2021", "-C", "opt-level=1", "-C", "debuginfo=0", "--cap-lints", "allow"]


def problem(family, seed):
    return problems.Problem("p01", family, random.Random("%s %s" % (family.name, seed)), 2)


PROBLEMS = {f.name: problem(f, 1) for f in FAMILIES}


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    """All programs in one crate, a module each: run as binary MODULE < input."""
    place = tmp_path_factory.mktemp("rust")
    modules, arms = [], []
    for name, p in PROBLEMS.items():
        for variant in programs.VARIANTS:
            module = "%s_%s" % (name, variant or "right")
            modules.append("mod %s {\n%s}\n" % (module, programs.program(p.family, p.params, variant).replace("fn main()", "pub fn main()")))
            arms.append('        "%s" => %s::main(),\n' % (module, module))
    source = "%sfn main() {\n    match std::env::args().nth(1).unwrap().as_str() {\n%s        _ => panic!(),\n    }\n}\n" % ("".join(modules), "".join(arms))
    (place / "all.rs").write_text(source)
    done = subprocess.run(RUSTC + ["-o", str(place / "all"), str(place / "all.rs")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    return str(place / "all")


def run(binary, name, variant, text, cpu_s=20):
    return subprocess.run([binary, "%s_%s" % (name, variant or "right")], input=text, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s)))


@pytest.mark.parametrize("name", PROBLEMS)
def test_programs_print_what_their_mirrors_say(binary, name):
    p, rng = PROBLEMS[name], random.Random(name)
    inputs = [p.family.gen(p.params, rng, mode) for mode in ("small",) * 5 + ("edge", "large")]
    for variant in ("", "a", "b"):
        for rows in inputs:
            done = run(binary, name, variant, p.test(rows).input)
            assert done.returncode == 0, done.stderr
            assert problems.same(done.stdout, p.family.solve(p.params, rows, variant)), (variant, rows if len(str(rows)) < 500 else "long")


@pytest.mark.parametrize("name", [f.name for f in FAMILIES if f.slow])
def test_slow_programs_are_right_and_too_slow(binary, name):
    p, rng = PROBLEMS[name], random.Random(name)
    small, large = (p.test(p.family.gen(p.params, rng, mode)) for mode in ("small", "large"))
    assert problems.same(run(binary, name, "slow", small.input).stdout, small.output)
    assert run(binary, name, "slow", large.input, cpu_s=1).returncode < 0  # killed by its processor time, a hundredth of what it needs
    assert run(binary, name, "", large.input, cpu_s=1).returncode == 0


@pytest.mark.parametrize("mistake", range(len(programs.MISTAKES)))
@pytest.mark.parametrize("name", ["far_pairs", "run_encode", "islands", "torus_walk"])
def test_mistakes_are_what_the_compiler_says(tmp_path, name, mistake):
    p = PROBLEMS[name]
    text = programs.program(p.family, p.params, "a", mistake)
    (tmp_path / "main.rs").write_text(text)
    done = subprocess.run(RUSTC + ["-o", str(tmp_path / "main"), str(tmp_path / "main.rs")], capture_output=True, text=True)
    assert done.returncode != 0
    assert programs.explains(done.stderr, text, mistake), done.stderr
    others = [m for m in range(len(programs.MISTAKES)) if programs.MISTAKES[m].tells != programs.MISTAKES[mistake].tells]
    assert not any(programs.explains(done.stderr, programs.program(p.family, p.params, "a", m), m) for m in others)


def test_a_guessed_message_explains_nothing():
    p = PROBLEMS["far_pairs"]
    text = programs.program(p.family, p.params, "a", 0)
    everything = "\n".join("error[E0%d]: a fault\n --> main.rs:%d:5" % (n, line) for n in (596, 425, 308) for line in range(1, 60))
    assert not programs.explains(everything, text, 0)
    assert not programs.explains("error[E0596]: cannot borrow `inp` as mutable", text, 0)  # where?
    assert not programs.explains("error[E0596]: cannot borrow\n --> main.rs:1:5", text, 0)  # not there


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_tests_tell_the_bugs(family):
    for seed in range(5):
        p = problem(family, seed)
        wrong = {bug: [t for t in p.public if p.prints(t, bug) != t.output] for bug in "ab"}
        assert wrong["a"] and not wrong["b"], "bug a shows in the examples, bug b does not"
        assert len(p.public) == 3 and len(p.hidden) == 4
        assert all(t.output and len(t.output) < 2000 for t in p.public + p.hidden)
        assert not re.search(r"[{}]", p.core), "a parameter was left out"
        assert all(t.input in p.statement and t.output in p.statement for t in p.public)


def test_two_instances_differ():
    for f in FAMILIES:
        texts = {problem(f, seed).statement for seed in range(2)}
        assert len(texts) == 2, f.name
    assert len(FAMILIES) == 36 and len(families.SCORED) == 30 and not set(families.SCORED) & set(families.PRACTICE)
    assert len({f.title for f in FAMILIES}) == 36
