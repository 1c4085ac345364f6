"""Names that code computes, `f"u{i}"`, `"u%d" % i` or `"u" + str(i)`: the text that is certain in them, with a hole for each other part."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable
from typing import Any

import libcst as cst

from . import tree

HOLE = "\0"
_PERCENT = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]")
_BRACES = re.compile(r"\{[^{}]*\}")


def pattern(node: Any) -> str:
    """The pattern of a name: "u" and a hole for `f"u{i}"`, a hole alone where nothing is known."""
    return re.sub(f"{HOLE}+", HOLE, _parts(node))


def _parts(node: Any) -> str:
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)) and isinstance(text := tree.literal(node), str):
        return text
    if isinstance(node, cst.FormattedString):
        return "".join(part.value if isinstance(part, cst.FormattedStringText) else HOLE for part in node.parts)
    if isinstance(node, cst.BinaryOperation):
        left = _parts(node.left)
        if isinstance(node.operator, cst.Add):
            return left + _parts(node.right)
        if isinstance(node.operator, cst.Modulo) and HOLE not in left:
            return _PERCENT.sub(HOLE, left).replace("%%", "%")
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "format":
        text = _parts(node.func.value)
        return _BRACES.sub(HOLE, text) if HOLE not in text else HOLE
    return HOLE


def may_be(one: str, other: str) -> bool:
    """Whether two patterns may stand for the same name."""
    if HOLE in one and HOLE in other:
        ends = [(one.split(HOLE)[i], other.split(HOLE)[i]) for i in (0, -1)]
        return (ends[0][0].startswith(ends[0][1]) or ends[0][1].startswith(ends[0][0])) and (ends[1][0].endswith(ends[1][1]) or ends[1][1].endswith(ends[1][0]))
    if HOLE in one:
        one, other = other, one
    return re.fullmatch(".*".join(map(re.escape, other.split(HOLE))), one, re.DOTALL) is not None


def fitting(patterns: Iterable[str], name: str) -> list[str]:
    """Those that a name may be of: the very same where it is among them, else for `u0` those with most text, for a pattern all."""
    known = list(patterns)
    if name in known and name != HOLE:
        return [name]
    found = [p for p in known if may_be(p, name)]
    most = max((len(p) for p in found), default=0)
    return found if HOLE in name else [p for p in found if len(p) == most]


def listed_names(function: cst.FunctionDef, self_name: str | None) -> tuple[cst.CompFor, cst.Call] | None:
    """The loop and the `getattr(self, f"u{i}")` of a property that only returns `[getattr(self, f"u{i}") for i in range(n)]`."""
    statements = [s for s in tree.body_statements(function) if not tree.is_docstring(s)]
    small = tree.only_small(statements[0]) if len(statements) == 1 else None
    made: Any = small.value if isinstance(small, cst.Return) else None
    if not isinstance(made, cst.ListComp) or made.for_in.ifs or made.for_in.inner_for_in is not None or not isinstance(made.for_in.target, cst.Name):
        return None
    over, asked = made.for_in.iter, made.elt
    if not isinstance(over, cst.Call) or tree.dotted(over.func) != "range" or len(over.args) != 1:
        return None
    if not isinstance(asked, cst.Call) or tree.dotted(asked.func) != "getattr" or len(asked.args) != 2 or tree.dotted(asked.args[0].value) != self_name:
        return None
    return (made.for_in, asked) if HOLE in pattern(asked.args[1].value) else None


def with_filled_parameters(loop: cst.For) -> Any:
    """`w = nn.Parameter(init.normal_(x))` for `w = nn.Parameter(x)` and then `init.normal_(w)`, in a loop that sets w under a computed name."""

    def block(node: Any) -> Any:
        body = list(node.body)
        named = {tree.code(a.value) for s in body for n in tree.nodes(s, cst.Call) for a in n.args if (tree.dotted(n.func) or "").rpartition(".")[2] in ("setattr", "register_parameter")}
        for place, line in enumerate(body):
            small = tree.only_small(line)
            if isinstance(small, cst.Assign) and len(small.targets) == 1 and tree.code(small.targets[0].target) in named:
                body = _with_fillings(body, place, small)
        return node if tree.same(body, list(node.body)) else tree.replace(node, body=body)

    return tree.rewrite(loop, None, block, only={cst.IndentedBlock})


def _with_fillings(body: list[Any], place: int, made: cst.Assign) -> list[Any]:
    """A block in which one assignment of a parameter has taken in the initialisers that fill it, up to what else reads it, or changes what they read."""
    name, bound, dropped = tree.code(made.targets[0].target), set[str](), []
    value: Any = made.value
    if not isinstance(value, cst.Call) or (tree.dotted(value.func) or "").rpartition(".")[2] != "Parameter" or len(value.args) != 1:
        return body
    for line in body[place + 1 :]:
        small = tree.only_small(line)
        call: Any = small.value if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) else None
        path = (tree.dotted(call.func) or "").split(".") if call is not None else []
        if len(path) > 1 and path[-2] == "init" and path[-1].endswith("_") and call.args and tree.code(call.args[0].value) == name and call.args[0].keyword is None:
            if {n for a in call.args[1:] for n in tree.names_read(a)} & (bound | {name}):
                break
            filled = tree.replace(call, args=[tree.replace(call.args[0], value=value.args[0].value), *call.args[1:]])
            value = tree.replace(value, args=[tree.replace(value.args[0], value=filled)])
            dropped.append(line)
        elif name in tree.names_read(line) | set(tree.names_assigned(line)):
            break
        bound |= set(tree.names_assigned(line))
    if not dropped:
        return body
    new = tree.replace(body[place], body=[tree.replace(made, value=value)])
    return [new if line is body[place] else line for line in body if line not in dropped]


def with_listed_names(module: cst.Module) -> Any:
    """A file with `getattr(self, f"u{i}")` for `self.us[i]`, of a property that lists such attributes, and that no other class has."""
    times = collections.Counter(f.name.value for f in tree.nodes(module, cst.FunctionDef))

    def of_class(node: Any) -> Any:
        properties = [s for s in tree.body_statements(node) if isinstance(s, cst.FunctionDef) and times[s.name.value] == 1 and any(tree.code(d.decorator) == "property" for d in s.decorators)]
        found = {m.name.value: made for m in properties if m.params.params and (made := listed_names(m, m.params.params[0].name.value)) is not None}
        return tree.rewrite(node, lambda n: _entry(n, found), only={cst.Subscript}) if found else node

    return tree.rewrite(module, None, of_class, only={cst.ClassDef})


def _entry(node: Any, found: dict[str, tuple[cst.CompFor, cst.Call]]) -> Any:
    """`getattr(self, f"u{i}")` for `self.us[i]`"""
    held: Any = node.value
    index = node.slice[0].slice.value if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index) else None
    if not isinstance(held, cst.Attribute) or held.attr.value not in found or not isinstance(index, (cst.Name, cst.Integer)):
        return None
    clause, asked = found[held.attr.value]
    if tree.dotted(held.value) != tree.dotted(asked.args[0].value):
        return None
    return tree.with_names(tree.expression(tree.code(asked)), lambda name: index if name.value == tree.code(clause.target) else None)
