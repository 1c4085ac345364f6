"""A constructor's own short name for registering is written out.

`register_buffer = lambda name, val: self.register_buffer(name, val.to(torch.float32))` before `register_buffer("betas", betas)`
is `self.register_buffer("betas", betas.to(torch.float32))`: what is registered must be seen.
"""

from __future__ import annotations

import collections
from typing import Any

import libcst as cst

from . import tree

_METHODS = ("self.register_buffer", "self.register_parameter", "self.add_module", "setattr")


def written_out(function: cst.FunctionDef) -> cst.FunctionDef:
    """A constructor without such lambdas, where each use of one is a statement that gives all its arguments by place."""
    if function.name.value != "__init__":
        return function
    lines = {s: lambda_ for s in tree.nodes(function.body, cst.SimpleStatementLine) if (lambda_ := _lambda(s)) is not None}
    times = tree.times_bound(function.body)
    named = {_name(line): lambda_ for line, lambda_ in lines.items() if times[_name(line)] == 1}
    if not named:
        return function
    uses = collections.Counter(n.value for n in tree.nodes(function.body, cst.Name))
    words = collections.Counter(n.attr.value for n in tree.nodes(function.body, cst.Attribute))  # `self.register_buffer` is no use of the name
    calls = collections.Counter(tree.code(c.func) for c in map(_called, tree.nodes(function.body, cst.SimpleStatementLine)) if c is not None and _fits(named.get(tree.code(c.func)), c))
    named = {name: made for name, made in named.items() if calls[name] == uses[name] - words[name] - 1}

    def after(line: Any) -> Any:
        if line in lines and _name(line) in named:
            return cst.RemoveFromParent()
        call = _called(line)
        made = named.get(tree.code(call.func)) if call is not None else None
        return line if made is None or call is None else tree.replace(line, body=[cst.Expr(_filled(made, call))])

    return tree.rewrite(function, None, after, only={cst.SimpleStatementLine})  # type: ignore[no-any-return]


def _lambda(line: Any) -> cst.Lambda | None:
    """The lambda of `name = lambda a, b: self.register_buffer(a, b)`, which uses each parameter once."""
    small = tree.only_small(line)
    value = small.value if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name) else None
    if not isinstance(value, cst.Lambda) or not isinstance(value.body, cst.Call) or tree.dotted(value.body.func) not in _METHODS:
        return None
    names = [p.name.value for p in value.params.params]
    used = [n.value for n in tree.nodes(value.body, cst.Name) if n.value in names]
    plain = not value.params.kwonly_params and not isinstance(value.params.star_arg, cst.Param) and value.params.star_kwarg is None
    return value if plain and sorted(used) == sorted(names) else None


def _name(line: Any) -> str:
    return tree.code(line.body[0].targets[0].target)


def _called(line: Any) -> cst.Call | None:
    """The call of a statement that is one."""
    small = tree.only_small(line)
    return small.value if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) else None


def _fits(made: cst.Lambda | None, call: cst.Call) -> bool:
    return made is not None and len(call.args) == len(made.params.params) and not any(a.star or a.keyword is not None for a in call.args)


def _filled(made: cst.Lambda, call: cst.Call) -> Any:
    """The body of a lambda with the arguments of a call."""
    given = {p.name.value: a.value for p, a in zip(made.params.params, call.args)}
    return tree.with_names(made.body.deep_clone(), lambda n: tree.parenthesised(given[n.value]) if n.value in given and _is_open(given[n.value]) else given.get(n.value))


def _is_open(node: Any) -> bool:
    """Whether an expression needs brackets before `.to(…)`."""
    return isinstance(node, (cst.BinaryOperation, cst.UnaryOperation, cst.IfExp, cst.Lambda, cst.BooleanOperation, cst.Comparison)) and not node.lpar
