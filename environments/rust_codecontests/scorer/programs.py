# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Whole Rust programs: a family's statements between reading and printing, and what goes wrong with them."""

import re
from typing import NamedTuple

VARIANTS = ("", "a", "b", "slow")

_HEAD = """use std::io::*;

struct Input {
    words: Vec<String>,
    at: usize,
}

impl Input {
    fn word(&mut self) -> String {
        self.at += 1;
        %s
    }

    fn num(&mut self) -> i64 {
        self.word().parse().unwrap()
    }
}

fn main() {
    let mut text = String::new();
    stdin().read_to_string(&mut text).unwrap();
    let mut inp = Input { words: text.split_ascii_whitespace().map(String::from).collect(), at: 0 };
"""
_TAIL = """    println!("{}", out);
}
"""
# The slow one copies the rest of the input for every word: 100,000 words are a hundred times the limit, so no processor is fast enough.
_NEXT, _SLOW_NEXT = "self.words[self.at - 1].clone()", "let word = self.words[0].clone();\n        self.words = self.words[1..].to_vec();\n        word"


class Mistake(NamedTuple):
    """A slip that keeps a program from compiling.

    right, wrong: the text and what stands in its place. tells: a text of the
    compiler's message. at: the message names a line that holds this text.
    """

    right: str
    wrong: str
    tells: str
    at: str


MISTAKES = (
    Mistake("let mut inp = ", "let inp = ", "E0596", "inp."),
    Mistake("use std::io::*;", "use std::io::Read;", "E0425", "stdin()"),
    Mistake("let mut text = String::new();", 'let mut text = "";', "E0308", "read_to_string"),
    Mistake('println!("{}", out);', 'println!("{}", result);', "E0425", "println!"),
    Mistake("String::new();\n    stdin()", "String::new()\n    stdin()", "expected `;`", "String::new()"),
)


def program(family, params, variant="", mistake=None):
    """Return a Rust program: variant of VARIANTS, mistake None or an index of MISTAKES."""
    body = "\n".join(line.rstrip() for line in family.rust(params, "" if variant == "slow" else variant).split("\n"))
    body = re.sub(r"\n(\s*\n)+", "\n", body)
    text = _HEAD % (_SLOW_NEXT if variant == "slow" else _NEXT) + body + "\n" + _TAIL
    if mistake is None:
        return text
    m = MISTAKES[mistake]
    if text.count(m.right) != 1:
        raise ValueError("%s: %r occurs %d times, expected once" % (family.name, m.right, text.count(m.right)))
    return text.replace(m.right, m.wrong)


def explains(message, text, mistake):
    """Return whether message holds what a compiler says about the program text with this mistake."""
    m = MISTAKES[mistake]
    lines = {i for i, line in enumerate(text.split("\n"), 1) if m.at in line}
    named = {int(n) for n in re.findall(r"-->\s*\S*?:(\d+):\d+", message)}
    # Naming every line would be guessing.
    return m.tells in message and "error" in message and bool(lines & named) and len(named) <= len(lines) + 3
