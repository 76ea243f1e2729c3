# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""A program of the allowed operations, and its execution.

A submission is such a program (JSON) and its constants (raw arrays). The scorer
checks it, works out every shape, and runs it itself: no code of a submission
exists at that point. The program is a list of nodes; each has "op", "in"
(earlier nodes' numbers) and attributes. A value is float32, or "ids": int64
taken from the input by moving entries only, so that no computed number can
become an index.

op           in              attributes     value
input        -               -              ids (rows, context)
constant     -               name           float array of that name
number       -               value          float, no dimensions
embedding    table, ids      -              table[ids]
add, mul     a, b            -              elementwise, broadcast
relu         a               -              max(a, 0)
matmul       a, b            -              (n, m) x (m, p) or (b, n, m) x (b, m, p)
sum          a               dims           over these dimensions, which are dropped
reshape      a               shape          as torch.reshape, without -1
permute      a               dims
expand       a               shape          dimensions of size 1 repeated, new ones in front
slice        a               dim, start, end, step
cat          a, b, ...       dim
index        a               dim, index     entries index (a list) along dim

Parameters are the entries of all constants and of all lists of indices, the
inputs of cat, and numbers: a list that chooses among a few values is a table as
well. A
scored program's constants are rounded (see rounded): 24 significant bits would
hold several coarse numbers each, which steps made of relu take apart.
"""

import json
import math
import time

import torch

VERSION = 1
MAX_DIMS = 6


class BadProgram(ValueError):
    """The program breaks a rule; the text says where, what was found, what was expected."""


def rounded(constants):
    """Return float32 tensors rounded to bfloat16, which keeps 8 significant bits."""
    return {name: a.to(torch.bfloat16).float() for name, a in constants.items()}


class TooSlow(Exception):
    """A run has not ended at the moment until which it may last."""


class Limits:
    """Bounds of a program: parameters, nodes, flops (of one run), live_bytes (at any moment of it)."""

    def __init__(self, parameters, nodes, flops, live_bytes):
        self.parameters, self.nodes, self.flops, self.live_bytes = parameters, nodes, flops, live_bytes


class Program:
    """A checked program.

    rows, context, vocab: the input is ids (rows, context) in [0, vocab], where
    vocab means "masked"; the output is (rows, context, vocab). constants: name
    -> float32 tensor. flops, live_bytes and parameters are what it takes.
    """

    def __init__(self, text, constants, rows, context, vocab, limits):
        self.rows, self.context, self.vocab = rows, context, vocab
        self.constants = constants
        self.parameters = sum(a.numel() for a in constants.values())
        if self.parameters > limits.parameters:
            raise BadProgram("constants: %d parameters, at most %d" % (self.parameters, limits.parameters))
        self.nodes, self.output = _parse(text, limits.nodes)
        self.shapes, self.kinds, self.flops = [], [], 0
        for i, node in enumerate(self.nodes):
            try:
                self._check(node)
            except BadProgram as e:
                raise BadProgram("node %d (%s): %s" % (i, node["op"], e)) from None
            if self.parameters > limits.parameters:
                raise BadProgram("node %d: %d parameters so far, lists of indices, inputs of cat and numbers included, at most %d" % (i, self.parameters, limits.parameters))
            if self.flops > limits.flops:
                raise BadProgram("node %d: %d floating-point operations so far, at most %d" % (i, self.flops, limits.flops))
            if 4 * math.prod(self.shapes[-1]) > limits.live_bytes:
                raise BadProgram("node %d: a value of shape %s, at most %d bytes" % (i, list(self.shapes[-1]), limits.live_bytes))
        if self.kinds[self.output] != "float" or self.shapes[self.output] != (rows, context, vocab):
            raise BadProgram("output: found %s %s, expected float %s" % (
                self.kinds[self.output], list(self.shapes[self.output]), [rows, context, vocab]))
        self._plan(limits)

    def _check(self, node):
        op = node["op"]
        if op not in _OPS:
            raise BadProgram("not an allowed operation; allowed: %s" % ", ".join(sorted(_OPS)))
        infer, _, names, count = _OPS[op]
        if set(node) - {"op", "in"} != set(names):
            raise BadProgram("attributes %s, expected %s" % (sorted(set(node) - {"op", "in"})[:8], sorted(names)))
        if count is not None and len(node["in"]) != count:
            raise BadProgram("%d inputs, expected %d" % (len(node["in"]), count))
        shapes = [self.shapes[i] for i in node["in"]]
        kinds = [self.kinds[i] for i in node["in"]]
        shape, kind, flops = infer(self, node, shapes, kinds)
        if len(shape) > MAX_DIMS:
            raise BadProgram("%d dimensions, at most %d" % (len(shape), MAX_DIMS))
        self.shapes.append(tuple(shape))
        self.kinds.append(kind)
        self.flops += flops

    def _plan(self, limits):
        """Find when each value is last used, and how much lives at once."""
        last = {self.output: len(self.nodes)}
        for i in range(len(self.nodes) - 1, -1, -1):
            for j in self.nodes[i]["in"]:
                last.setdefault(j, i)
        self.dead_after = [[] for _ in self.nodes]
        for j, i in last.items():
            if i < len(self.nodes):
                self.dead_after[i].append(j)
        size = [(8 if k == "ids" else 4) * math.prod(s) for s, k in zip(self.shapes, self.kinds)]
        live = self.live_bytes = 0
        for i in range(len(self.nodes)):
            live += size[i]
            self.live_bytes = max(self.live_bytes, live)
            live -= sum(size[j] for j in self.dead_after[i]) + (0 if i in last else size[i])
        if self.live_bytes > limits.live_bytes:
            raise BadProgram("%d bytes of values live at once, at most %d" % (self.live_bytes, limits.live_bytes))

    def run(self, ids, until=math.inf):
        """Return the output for ids, int64 (rows, context): float32 (rows, context, vocab).

        until: by time.monotonic(); raises TooSlow when nodes are left by then. Moving entries
        takes no floating-point operation, but may take longer than many.
        """
        if tuple(ids.shape) != (self.rows, self.context):
            raise ValueError("ids of shape %s, expected %s" % (tuple(ids.shape), (self.rows, self.context)))
        values = {}
        with torch.no_grad():
            for i, node in enumerate(self.nodes):
                if time.monotonic() > until:
                    raise TooSlow("at node %d of %d" % (i, len(self.nodes)))
                execute = _OPS[node["op"]][1]
                values[i] = execute(self, node, [values[j] for j in node["in"]], ids)
                for j in self.dead_after[i]:
                    del values[j]
        return values[self.output]


def _parse(text, most):
    try:
        fields = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as e:
        raise BadProgram("program: not JSON: %.100s" % e) from None
    if not isinstance(fields, dict) or set(fields) != {"version", "nodes", "output"} or fields["version"] != VERSION:
        raise BadProgram("program: expected an object of version (%d), nodes and output" % VERSION)
    nodes = fields["nodes"]
    if not isinstance(nodes, list) or not 0 < len(nodes) <= most:
        raise BadProgram("nodes: expected a list of 1 to %d" % most)
    for i, node in enumerate(nodes):
        if not isinstance(node, dict) or not isinstance(node.get("op"), str) or not _integers(node.get("in")):
            raise BadProgram("node %d: expected op, a text, and in, a list of numbers of nodes" % i)
        if any(j >= i for j in node["in"]):
            raise BadProgram("node %d: takes a node that does not come before it" % i)
    if type(fields["output"]) is not int or not 0 <= fields["output"] < len(nodes):
        raise BadProgram("output: expected the number of a node")
    return nodes, fields["output"]


def _refuse(name):
    raise ValueError("the number %s" % name)


def _integers(value, low=0):
    return isinstance(value, list) and len(value) <= 1 << 16 and all(type(v) is int and low <= v < 1 << 40 for v in value)


def _need(condition, found, *args):
    if not condition:
        raise BadProgram(found % args)


def _dim(node, shape):
    _need(type(node["dim"]) is int and 0 <= node["dim"] < len(shape), "dim %.40r of a value with %d dimensions", node["dim"], len(shape))
    return node["dim"]


def _floats(kinds):
    _need(all(k == "float" for k in kinds), "token ids can only be moved and looked up")


def _input(p, node, shapes, kinds):
    return (p.rows, p.context), "ids", 0


def _constant(p, node, shapes, kinds):
    _need(isinstance(node["name"], str) and node["name"] in p.constants, "no constant %.60r", node["name"])
    return tuple(p.constants[node["name"]].shape), "float", 0


def _number(p, node, shapes, kinds):
    _need(type(node["value"]) in (int, float) and abs(node["value"]) < 1e30, "value %.40r, expected a number", node["value"])
    p.parameters += 1
    return (), "float", 0


def _embedding(p, node, shapes, kinds):
    _need(kinds == ["float", "ids"], "expected a table of floats and token ids, found %s", kinds)
    _need(len(shapes[0]) == 2 and shapes[0][0] > p.vocab, "a table of shape %s, expected (%d or more, width)", list(shapes[0]), p.vocab + 1)
    return shapes[1] + shapes[0][1:], "float", 0


def _broadcast(p, node, shapes, kinds):
    _floats(kinds)
    a, b = ((1,) * (max(map(len, shapes)) - len(s)) + s for s in shapes)
    _need(all(x == y or 1 in (x, y) for x, y in zip(a, b)), "shapes %s and %s do not broadcast", *map(list, shapes))
    shape = tuple(y if x == 1 else x for x, y in zip(a, b))
    return shape, "float", math.prod(shape)


def _relu(p, node, shapes, kinds):
    _floats(kinds)
    return shapes[0], "float", math.prod(shapes[0])


def _matmul(p, node, shapes, kinds):
    _floats(kinds)
    a, b = shapes
    _need(len(a) == len(b) and len(a) in (2, 3) and a[-1] == b[-2] and a[:-2] == b[:-2], "shapes %s and %s", list(a), list(b))
    return a[:-1] + b[-1:], "float", 2 * math.prod(a) * b[-1]


def _sum(p, node, shapes, kinds):
    _floats(kinds)
    dims = node["dims"]
    _need(_integers(dims) and dims and len(set(dims)) == len(dims) and max(dims) < len(shapes[0]), "dims %.60r of shape %s", dims, list(shapes[0]))
    return tuple(s for d, s in enumerate(shapes[0]) if d not in dims), "float", math.prod(shapes[0])


def _reshape(p, node, shapes, kinds):
    _need(_integers(node["shape"], 1) and math.prod(node["shape"]) == math.prod(shapes[0]), "shape %.60r of %s", node["shape"], list(shapes[0]))
    return tuple(node["shape"]), kinds[0], 0


def _permute(p, node, shapes, kinds):
    _need(_integers(node["dims"]) and sorted(node["dims"]) == list(range(len(shapes[0]))), "dims %.60r of shape %s", node["dims"], list(shapes[0]))
    return tuple(shapes[0][d] for d in node["dims"]), kinds[0], 0


def _expand(p, node, shapes, kinds):
    to = node["shape"]
    _need(_integers(to, 1) and len(to) >= len(shapes[0]), "shape %.60r from %s", to, list(shapes[0]))
    _need(all(a in (1, b) for a, b in zip(reversed(shapes[0]), reversed(to))), "shape %s from %s", to, list(shapes[0]))
    return tuple(to), kinds[0], 0


def _slice(p, node, shapes, kinds):
    d = _dim(node, shapes[0])
    start, end, step = node["start"], node["end"], node["step"]
    _need(_integers([start, end, step]) and start < end <= shapes[0][d] and step > 0, "%.30r:%.30r:%.30r of %d", start, end, step, shapes[0][d])
    return shapes[0][:d] + (len(range(start, end, step)),) + shapes[0][d + 1:], kinds[0], 0


def _cat(p, node, shapes, kinds):
    _need(len(shapes) > 0 and len(set(kinds)) == 1, "expected values of one kind")
    p.parameters += len(shapes)
    d = _dim(node, shapes[0])
    _need(len({s[:d] + s[d + 1:] for s in shapes}) == 1 and len(set(map(len, shapes))) == 1, "shapes that differ beside dim %d", d)
    return shapes[0][:d] + (sum(s[d] for s in shapes),) + shapes[0][d + 1:], kinds[0], 0


def _index(p, node, shapes, kinds):
    d = _dim(node, shapes[0])
    _need(_integers(node["index"]) and node["index"] and max(node["index"]) < shapes[0][d], "index beyond %d entries", shapes[0][d])
    p.parameters += len(node["index"])
    return shapes[0][:d] + (len(node["index"]),) + shapes[0][d + 1:], kinds[0], 0


# op: (shape, kind and flops from its inputs', execution, attributes, number of inputs)
_OPS = {
    "input": (_input, lambda p, n, v, ids: ids, (), 0),
    "constant": (_constant, lambda p, n, v, ids: p.constants[n["name"]], ("name",), 0),
    "number": (_number, lambda p, n, v, ids: torch.tensor(float(n["value"]), device=ids.device), ("value",), 0),
    "embedding": (_embedding, lambda p, n, v, ids: v[0][v[1]], (), 2),
    "add": (_broadcast, lambda p, n, v, ids: v[0] + v[1], (), 2),
    "mul": (_broadcast, lambda p, n, v, ids: v[0] * v[1], (), 2),
    "relu": (_relu, lambda p, n, v, ids: torch.relu(v[0]), (), 1),
    "matmul": (_matmul, lambda p, n, v, ids: v[0] @ v[1], (), 2),
    "sum": (_sum, lambda p, n, v, ids: v[0].sum(n["dims"]), ("dims",), 1),
    "reshape": (_reshape, lambda p, n, v, ids: v[0].reshape(n["shape"]), ("shape",), 1),
    "permute": (_permute, lambda p, n, v, ids: v[0].permute(n["dims"]), ("dims",), 1),
    "expand": (_expand, lambda p, n, v, ids: v[0].expand(n["shape"]), ("shape",), 1),
    "slice": (_slice, lambda p, n, v, ids: v[0][(slice(None),) * n["dim"] + (slice(n["start"], n["end"], n["step"]),)],
              ("dim", "start", "end", "step"), 1),
    "cat": (_cat, lambda p, n, v, ids: torch.cat(v, n["dim"]), ("dim",), None),
    "index": (_index, lambda p, n, v, ids: v[0].index_select(n["dim"], torch.tensor(n["index"], device=ids.device)), ("dim", "index"), 1),
}
