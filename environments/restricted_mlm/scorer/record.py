# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Records what a torch function does to token ids, as a program of the allowed operations.

    program, constants = record(forward, ids)

Shape operations and those of program.py are recorded. Whatever is computed from
constants alone is computed now, by any means, and becomes a constant. Anything
else that touches a value derived from ids raises Forbidden. Tensors that are
changed in place cannot be recorded.
"""

import json

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from program import VERSION


class Forbidden(RuntimeError):
    """An operation that the rules do not allow, on a value that depends on the input."""


def record(forward, ids):
    """Return (program text, name -> float32 array) of forward(ids), a float tensor.

    ids: int64 (rows, context), an example of the shape that is scored. Plain
    float32 throughout; parameters keep their identity, so tied ones count once.
    """
    mode = _Recorder(ids)
    with torch.no_grad(), mode:
        out = forward(ids)
    nodes, output = _used(mode.nodes, mode.node(out))
    names = {node["name"] for node in nodes if node["op"] == "constant"}
    text = json.dumps({"version": VERSION, "nodes": nodes, "output": output}, separators=(",", ":"))
    return text, {name: t.cpu().numpy() for name, t in mode.constants.items() if name in names}


def _used(nodes, output):
    """Return the nodes that output needs, numbered anew, and the number of output."""
    needed, stack = set(), [output]
    while stack:
        i = stack.pop()
        if i not in needed:
            needed.add(i)
            stack.extend(nodes[i]["in"])
    new = {old: k for k, old in enumerate(sorted(needed))}
    return [{**nodes[i], "in": [new[j] for j in nodes[i]["in"]]} for i in sorted(needed)], new[output]


def _dims(tensor, dims):
    dims = [dims] if isinstance(dims, int) else list(range(tensor.dim())) if not dims else dims
    return [d % max(tensor.dim(), 1) for d in dims]


class _Recorder(TorchDispatchMode):
    def __init__(self, ids):
        super().__init__()
        self.nodes, self.constants = [{"op": "input", "in": []}], {}
        self.known, self.alive = {id(ids): 0}, [ids]
        self.depends = {0}

    def add(self, op, inputs, **attributes):
        self.nodes.append({"op": op, "in": inputs, **attributes})
        if any(i in self.depends for i in inputs):
            self.depends.add(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def node(self, value):
        """Return the node of a tensor or number; a tensor not seen before is a constant."""
        if not isinstance(value, torch.Tensor):
            return self.add("number", [], value=float(value))
        if id(value) not in self.known:
            if value.dtype != torch.float32:
                raise Forbidden("a constant of type %s, expected float32" % value.dtype)
            name = "c%d" % len(self.constants)
            self.constants[name] = value.detach().clone()
            self.name(value, self.add("constant", [], name=name))
        return self.known[id(value)]

    def name(self, tensor, node):
        self.known[id(tensor)] = node
        self.alive.append(tensor)  # else its id could come again

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        name = func.overloadpacket.__name__ if hasattr(func, "overloadpacket") else str(func)
        tensors = [t for a in args for t in (a if isinstance(a, (list, tuple)) else [a]) if isinstance(t, torch.Tensor)]
        traced = any(self.known.get(id(t)) in self.depends for t in tensors)
        floats = tensors and tensors[0].dtype == torch.float32
        if name in ("detach", "alias", "clone", "contiguous", "lift_fresh") and tensors:
            if traced or (floats and id(tensors[0]) in self.known):
                self.name(out, self.known[id(tensors[0])])
        elif name in _SHAPES and (traced or floats):
            self.name(out, _SHAPES[name](self, out, *args, **kwargs))
        elif traced and name in _COMPUTES:
            self.name(out, _COMPUTES[name](self, out, *args, **kwargs))
        elif traced:
            raise Forbidden("%s is not allowed on what depends on the input" % func)
        return out


def _select(r, out, a, dim, index):
    d, i = dim % a.dim(), index % a.size(dim)
    part = r.add("slice", [r.node(a)], dim=d, start=i, end=i + 1, step=1)
    return r.add("reshape", [part], shape=list(out.shape))


def _slice(r, out, a, dim=0, start=None, end=None, step=1):
    n = a.size(dim)
    start, end, step = slice(start, end, step).indices(n)
    return r.add("slice", [r.node(a)], dim=dim % a.dim(), start=start, end=end, step=step)


def _permute(r, out, a, dims):
    return r.add("permute", [r.node(a)], dims=_dims(a, list(dims)))


def _transpose(r, out, a, d0=0, d1=1):
    dims = list(range(a.dim()))
    dims[d0], dims[d1] = dims[d1], dims[d0]
    return r.add("permute", [r.node(a)], dims=dims)


def _reshape(r, out, a, *_):
    return r.add("reshape", [r.node(a)], shape=list(out.shape))


def _expand(r, out, a, *_, **__):
    return r.add("expand", [r.node(a)], shape=list(out.shape))


def _embedding(r, out, table, ids, *_, **__):
    return r.add("embedding", [r.node(table), r.node(ids)])


def _index(r, out, a, indices):
    used = [(d, i) for d, i in enumerate(indices) if i is not None]
    if len(used) != 1 or used[0][1].dtype != torch.int64:
        raise Forbidden("indexing by more than one tensor, or by something other than integers")
    d, index = used[0]
    if r.known.get(id(index)) in r.depends:
        if d != 0 or a.dim() != 2:
            raise Forbidden("token ids look up rows of a table only")
        return _embedding(r, out, a, index)
    return _index_select(r, out, a, d, index)


def _index_select(r, out, a, dim, index):
    if index.dim() != 1 or r.known.get(id(index)) in r.depends:
        raise Forbidden("index_select by anything but a constant list")
    return r.add("index", [r.node(a)], dim=dim % a.dim(), index=index.tolist())


def _scaled(r, node, by):
    return node if by == 1 else r.add("mul", [node, r.add("number", [], value=float(by))])


def _add(r, out, a, b, alpha=1):
    return r.add("add", [r.node(a), _scaled(r, r.node(b), alpha)])


def _sub(r, out, a, b, alpha=1):
    return r.add("add", [r.node(a), _scaled(r, r.node(b), -alpha)])


def _rsub(r, out, a, b, alpha=1):
    return _sub(r, out, b, a, alpha)


def _sum(r, out, a, dims=None, keepdim=False, **_):
    total = r.add("sum", [r.node(a)], dims=_dims(a, dims))
    return r.add("reshape", [total], shape=list(out.shape)) if keepdim and out.dim() else total


def _addmm(r, out, bias, a, b, beta=1, alpha=1):
    product = r.add("matmul", [r.node(a), r.node(b)])
    return r.add("add", [_scaled(r, product, alpha), _scaled(r, r.node(bias), beta)])


def _matmul(r, out, a, b):
    return r.add("matmul", [r.node(a), r.node(b)])


def _linear(r, out, a, weight, bias=None):
    flat = r.add("reshape", [r.node(a)], shape=[a.numel() // a.size(-1), a.size(-1)])
    product = r.add("matmul", [flat, r.add("permute", [r.node(weight)], dims=[1, 0])])
    shaped = r.add("reshape", [product], shape=list(out.shape))
    return shaped if bias is None else r.add("add", [shaped, r.node(bias)])


_SHAPES = {
    "t": _transpose, "transpose": _transpose, "permute": _permute, "view": _reshape, "_unsafe_view": _reshape, "reshape": _reshape,
    "unsqueeze": _reshape, "squeeze": _reshape, "flatten": _reshape, "_reshape_alias": _reshape, "expand": _expand, "slice": _slice,
    "select": _select, "index_select": _index_select,
}
_COMPUTES = {
    "embedding": _embedding, "index": _index, "add": _add, "sub": _sub, "rsub": _rsub, "sum": _sum, "mm": _matmul, "bmm": _matmul,
    "addmm": _addmm, "linear": _linear, "matmul": _matmul,
    "mul": lambda r, out, a, b: r.add("mul", [r.node(a), r.node(b)]),
    "neg": lambda r, out, a: _scaled(r, r.node(a), -1),
    "relu": lambda r, out, a: r.add("relu", [r.node(a)]),
    "cat": lambda r, out, parts, dim=0: r.add("cat", [r.node(a) for a in parts], dim=dim % out.dim()),
}
