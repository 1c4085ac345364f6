"""A drawn value that a local holds before a param of another module gets it is made by a function, which the param's own key goes to.

    w = torch.empty(n, 3)                       ->    def initial(weight, key):
    nn.init.kaiming_uniform_(w)                           w = jnp.zeros((n, 3))
    conv.weight.data.copy_(torch.cat([w, w]))             …
                                                      nn.reinitialise(conv, "weight", initial)
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import libcst as cst

from ... import tree
from ...context import KEY, Context
from ...dataflow import reads
from ...emit import spaced
from ...project import FunctionInfo
from .attribute_names import AttributeNames
from .bindings import unsteady
from .declarations import present_values
from .present import changing


def with_functions(context: Context, names: AttributeNames, node: cst.FunctionDef, info: FunctionInfo) -> cst.FunctionDef:
    """A function that gives params values, each draw that it makes for one in a function of that param's."""

    def block(body: Any) -> Any:
        statements = list(body.body)
        for line in [s for s in statements if _initial(context, s) is not None]:
            at = statements.index(line)
            made = _function(context, names, node, info, statements[:at], line)
            if made is not None:
                first, lines = made
                statements[first : at + 1] = lines
        return None if tree.same(statements, body.body) else tree.replace(body, body=statements)

    return tree.rewrite(node, None, lambda n: block(n) or n if isinstance(n, cst.IndentedBlock) else n)  # type: ignore[no-any-return]


def _initial(context: Context, statement: Any) -> cst.Lambda | None:
    """The function that a line gives a param for its initial value: `nn.reinitialise(conv, "weight", lambda weight, key: …)`."""
    small = tree.only_small(statement)
    made = small.value if isinstance(small, cst.Expr) else None
    if not isinstance(made, cst.Call) or tree.dotted(made.func) != context.name("reinitialise") or len(made.args) != 3:
        return None
    function = made.args[2].value
    return function if isinstance(function, cst.Lambda) else None


def _function(context: Context, names: AttributeNames, node: cst.FunctionDef, info: FunctionInfo, before: Sequence[Any], line: Any) -> tuple[int, list[Any]] | None:
    """Where the statements begin that make a drawn value, and what stands for them and the line that it is for."""
    function = _initial(context, line)
    assert function is not None
    made = set(reads(function.body))
    first = len(before)
    while first and (name := _assigned(before[first - 1])) in made:
        first -= 1
        made |= set(reads(tree.only_small(before[first]).value))
    bound = collections.Counter(_assigned(s) for s in before[first:])
    while first < len(before) and bound[_assigned(before[first])] == 1 and not _named(before[first:][:1]) & {KEY}:
        first += 1  # what follows from no draw stays where it is
    own = {name for s in before[first:] if (name := _assigned(s)) is not None}
    given = {p.name.value for p in function.params.params if p.default is None}
    holder = tree.names_read(tree.only_small(line).value.args[0].value)  # its params are not there while they are made
    named = _named(before[first:])
    if KEY not in named or named & (given | holder) or _used_elsewhere(node, own, [*before[first:], line]):
        return None
    last = tree.statement("return 0")
    last = tree.replace(last, body=[cst.Return(function.body)])
    body, present = present_values([*before[first:], last], changing(context, names, info, cst.IndentedBlock(list(before[first:]))))
    kept = {p.name.value: tree.code(p.default) for p in function.params.params if p.default is not None and p.name.value not in own}
    read = {name for s in before[first:] for name in reads(s)} - own
    kept |= present | {name: name for name in read & unsteady(node, inside=True)}
    defaults = "".join(f", {name}={kept[name]}" for name in sorted(kept))
    parameters = ", ".join(p.name.value for p in function.params.params if p.default is None)
    definition = tree.with_body(tree.statement(f"def initial({parameters}{defaults}):\n    pass\n"), body)
    small: Any = tree.only_small(line)
    use = tree.replace(small, value=tree.replace(small.value, args=[*small.value.args[:2], cst.Arg(cst.Name("initial"))]))
    return first, [spaced(definition), spaced(tree.replace(line, body=[use]))]


def _named(statements: Sequence[Any]) -> set[str]:
    return {name for s in statements for name in (*tree.names_read(s), _assigned(s) or "")}


def _assigned(statement: Any) -> str | None:
    """The one name that a line assigns."""
    small = tree.only_small(statement)
    if not isinstance(small, cst.Assign) or len(small.targets) != 1 or not isinstance(small.targets[0].target, cst.Name):
        return None
    return small.targets[0].target.value


def _used_elsewhere(node: cst.FunctionDef, names: set[str], inside: list[Any]) -> bool:
    """Whether a function names one of these outside some of its statements."""
    within = {id(n) for s in inside for n in tree.nodes(s, cst.Name)}
    return any(n.value in names and id(n) not in within for n in tree.nodes(node, cst.Name))
