"""`arange = partial(torch.arange, device=device)`: a call of that name is one of torch's function, whose rule is chosen by all its arguments.

    arange = partial(torch.arange, device=device)      ->      ids = torch.arange(n, device=device)
    ids = arange(n)
"""

from __future__ import annotations

import collections
from typing import Any

import libcst as cst

from . import tree
from .rulebook import Rulebook


def with_partials_called(module: cst.Module, rulebook: Rulebook) -> cst.Module:
    """A file in which such names are called no more; where nothing else reads one, its line goes."""
    imported = _imported(module)
    if "torch" not in {name.split(".")[0] for name in imported.values()}:
        return module

    def of_function(node: Any) -> Any:
        times = tree.times_bound(node.body) + collections.Counter(_parameters(node))
        made = _called(tree.body_statements(node), times, imported, rulebook)
        return node if made is None else tree.with_body(node, made)

    module = tree.rewrite(module, None, of_function, only={cst.FunctionDef})
    made = _called(list(module.body), tree.times_bound(module) + collections.Counter(_parameters(module)), imported, rulebook)
    return module if made is None else tree.replace(module, body=made)


def _called(statements: list[Any], times: collections.Counter[str], imported: dict[str, str], rulebook: Rulebook) -> list[Any] | None:
    """The statements of a function or file with the calls written out; None where there are none."""
    lines = {i: made for i, s in enumerate(statements) if (made := _partial(s, imported, rulebook)) is not None}
    written = {a.target.attr.value for s in statements for a in tree.nodes(s, cst.AssignTarget) if isinstance(a.target, cst.Attribute)} if lines else set()
    named = {_name(statements[i]): made for i, made in lines.items() if times[_name(statements[i])] == 1 and _stays(made, times, written)}
    if not named:
        return None

    def after(call: Any) -> Any:
        made = named.get(call.func.value) if isinstance(call.func, cst.Name) else None
        return call if made is None or any(a.star == "**" for a in call.args) else _written_out(made, call)

    new = [tree.rewrite(s, None, after, only={cst.Call}) for s in statements]
    read = {i: tree.names_read(s) for i, s in enumerate(new)}
    dropped = {id(new[i]) for i in lines if (name := _name(statements[i])) in named and not any(name in read[j] for j in read if j != i)}
    return tree.without(new, lambda s: id(s) in dropped)


def _partial(statement: Any, imported: dict[str, str], rulebook: Rulebook) -> cst.Call | None:
    """The call in `name = partial(torch.f, …)`, where there are rules for the function."""
    small = tree.only_small(statement)
    call = small.value if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name) else None
    if not isinstance(call, cst.Call) or tree.dotted(call.func) not in ("partial", "functools.partial") or not call.args or any(a.star for a in call.args):
        return None
    head, _, rest = (tree.dotted(call.args[0].value) or "").partition(".")
    name = ".".join(filter(None, [imported.get(head, ""), rest]))
    rules = rulebook.find(name) if name.startswith("torch.") else ()
    return call if rules and not rules[0].is_class else None


def _stays(partial: cst.Call, times: collections.Counter[str], written: set[str]) -> bool:
    """Whether the arguments are worth at each call what they are at the line: names bound once, attributes not written, literals."""
    plain = (cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.SimpleString, cst.Tuple, cst.UnaryOperation, cst.Minus, cst.Element)
    parts = [n for a in partial.args for n in tree.walk(a.value) if isinstance(n, (cst.BaseExpression, cst.BaseElement))]
    attributes = {n.attr.value for n in parts if isinstance(n, cst.Attribute)}
    return all(isinstance(n, plain) for n in parts) and not attributes & written and all(times[n.value] <= 1 for n in parts if isinstance(n, cst.Name))


def _written_out(partial: cst.Call, call: cst.Call) -> cst.Call:
    """The call of what `partial` was given, with the arguments of both: a keyword of the call goes before that of `partial`."""
    function, *given = partial.args
    own = {a.keyword.value for a in call.args if a.keyword is not None}
    first = [a for a in given if a.keyword is None]
    last = [a for a in given if a.keyword is not None and a.keyword.value not in own]
    args = [*(a.deep_clone() for a in first), *call.args, *(a.deep_clone() for a in last)]
    return tree.replace(call, func=function.value.deep_clone(), args=[tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in args])


def _name(statement: Any) -> str:
    return str(statement.body[0].targets[0].target.value)


def _parameters(node: Any) -> list[str]:
    """The names of the parameters at or below a node, of lambdas too."""
    return [p.name.value for p in tree.nodes(node, cst.Param)]


def _imported(module: cst.Module) -> dict[str, str]:
    """The names that the imports of a file bind, with what they stand for."""
    found: dict[str, str] = {}
    node: Any
    for node in tree.nodes(module, cst.Import, cst.ImportFrom):
        if isinstance(node.names, cst.ImportStar) or isinstance(node, cst.ImportFrom) and (node.module is None or node.relative):
            continue
        start = f"{tree.dotted(node.module)}." if isinstance(node, cst.ImportFrom) and node.module is not None else ""
        for alias in node.names:
            name = tree.dotted(alias.name) or ""
            if alias.asname is not None:
                found[tree.code(alias.asname.name)] = start + name
            elif start:
                found[name] = start + name
            else:
                found[name.split(".")[0]] = name.split(".")[0]
    return found
