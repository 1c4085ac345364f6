"""A method that a constructor calls, and that gives values to params and to buffers, is written out in the constructor.

    self.reset()                                   nn.init.zeros_(self.bias)
                                    ->             self.index.copy_(self.places())

The params are made by `init`, the buffers by `init_state`: no one function can make both. So is a method that a forward
calls, and that writes the data of params, in the forward, where they hold for the call. Left alone are methods that
subclasses override, that return early, or whose names would clash with those of the function around the call.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..arrays import Arrays
from ..project import ClassInfo, FunctionInfo


def run(cls: ClassInfo, node: cst.FunctionDef, arrays: Arrays) -> cst.FunctionDef:
    """Rewrite the calls of such methods, as statements, in one constructor."""
    return _written_out(cls, cls.methods["__init__"], node, arrays, {"params", "state"})


def in_forward(cls: ClassInfo, arrays: Arrays) -> cst.FunctionDef:
    """The forward of a class, with the methods written out that write params, which it could not take back from a call."""
    info = cls.methods["forward"]
    return _written_out(cls, info, info.node, arrays, {"params"})


def _written_out(cls: ClassInfo, function: FunctionInfo, node: cst.FunctionDef, arrays: Arrays, kinds: set[str]) -> cst.FunctionDef:
    """A function with the methods written out that it calls as statements, and that give values to arrays of all these kinds."""
    taken = tree.parameter_names(node) | set(tree.times_bound(node.body))

    def before(line: Any) -> Any:
        small = tree.only_small(line)
        info = arrays.method_called(small.value, function.self_name) if isinstance(small, cst.Expr) else None
        if info is None or info is function or not kinds <= set(arrays.written_by(cls, info).values()):
            return None
        body = _body(cls, info, small.value, taken)
        if body is None or info.self_name != function.self_name:
            return None
        body = tree.body_statements(tree.rewrite(tree.with_body(info.node, body), before, only={cst.SimpleStatementLine}))
        first = tree.replace(body[0], leading_lines=[*line.leading_lines, *body[0].leading_lines])
        return cst.FlattenSentinel([first, *body[1:]])

    return tree.rewrite(node, before, only={cst.SimpleStatementLine})  # type: ignore[no-any-return]


def _body(cls: ClassInfo, info: FunctionInfo, call: cst.Call, taken: set[str]) -> list[Any] | None:
    """The statements of a method with the arguments of a call in the place of its parameters."""
    body = [s for s in tree.body_statements(info.node) if not tree.is_docstring(s)]
    overridden = any(info.name in c.methods for c in cls.descendants())
    if overridden or not body or any(isinstance(n, (cst.Return, cst.Yield)) for s in body for n in tree.walk_scope(s)) or any(a.star for a in call.args):
        return None
    given = info.given(call)
    defaults = {p.name.value: p.default for p in info.parameters() if p.default is not None}
    values = {p.name.value: given.get(p.name.value, defaults.get(p.name.value)) for p in info.parameters()}
    bound = set(tree.times_bound(info.node.body))
    if bound & (taken | values.keys()) or not all(isinstance(v, (cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.SimpleString)) for v in values.values()):
        return None
    return [tree.rewrite(s, lambda n: values.get(n.value) if isinstance(n, cst.Name) else None) for s in body]
