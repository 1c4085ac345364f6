"""Which names a piece of code takes for dicts, or for lists."""

from collections.abc import Iterable
from typing import Any

from ...model.expressions import Attribute, Call, Constant, FormattedString, Name, Slice, Subscript
from ...model.names import below, dotted, everywhere, names_in, root, target_names, text
from ...model.node import Node
from ...model.operators import Binary, Compare, Unary
from ...model.program import Function
from ...model.statements import Assign, For
from .subscripts import indices
from .tables import Facts

_COPIES = frozenset({"copy", "dict", "copy.copy", "copy.deepcopy", "deepcopy"})


def used_as_dicts(facts: Facts, function: Function) -> frozenset[str]:
    """The parameters that a function asks for `d.items()` or `d["size"]`, or goes over by key.

    What it tests or gives another value may be anything before that.
    """
    names = {p.name for p in facts.project.parameters(function)}
    return _dicts(facts, function, names)


def used_as_lists(facts: Facts, function: Function) -> frozenset[str]:
    """The parameters of which a function sets entries to what modules give, and asks nothing but
    entries: `x[i] = self.heads[i](x[i])`. In torch an array may be filled so; what a module gives
    has the shape of an entry nearly never."""
    found = facts.memory.get(("lists", function))
    if found is None:
        names = {p.name for p in facts.project.parameters(function)}
        me = facts.project.self_name(function)
        loops = list(everywhere(function, For))
        counted = {n for loop in loops for n in _counters(loop)}
        over = [loop for loop in loops if me in names_in(loop.iterable)]
        own = {n for loop in over for n in target_names(loop.target)}
        mine = {*own, me} - counted
        filled = {_filled(node, mine, counted) for node in everywhere(function, Assign)} & names
        uses = [n for n in everywhere(function, Name) if n.id in filled] if filled else []
        found = filled - {n.id for n in uses if not _is_of_list(n)}
        facts.memory["lists", function] = found = frozenset(found)
    return found


def _counters(loop: For) -> list[str]:
    """i of `for i in range(n)`, `for i, m in enumerate(self.heads)`"""
    word = dotted(loop.iterable.function) if isinstance(loop.iterable, Call) else None
    return target_names(loop.target)[:1] if word in ("range", "enumerate") else []


def _filled(node: Assign, mine: set[str | None], counted: set[str]) -> str | None:
    """x of `x[i] = self.heads[i](x[i])`, and of `x[i] = head(x[i])`; `mine`: self, and what stands
    for parts of it."""
    target, value = node.targets[0], node.expression
    if not isinstance(target, Subscript) or not isinstance(value, Call) or node.operator:
        return None
    if not isinstance(target.index, Constant) and dotted(target.index) not in counted:
        return None  # `x[mask] = self.net(x[mask])`
    given = value.arguments[0] if value.arguments else None
    holder = root(value.function)
    of_self = holder is not None and holder.id in mine
    known = isinstance(given, Subscript) and text(given) == text(target)
    return dotted(target.object) if of_self and known else None


def _is_of_list(name: Name) -> bool:
    """Whether a use asks for an entry, or how many there are, or hands the whole on."""
    around = name.parent
    if isinstance(around, Subscript):
        parts = indices(around)
        return around.object is name and len(parts) == 1 and not isinstance(parts[0], Slice)
    if isinstance(around, Call):
        return dotted(around.function) in ("len", "enumerate") or around.function is not name
    return not isinstance(around, (Attribute, Binary, Unary, Compare))


def dict_targets(facts: Facts, loop: For) -> frozenset[str]:
    """The targets of a loop that its body takes for dicts: `for b in loader: b["image"]`."""
    return _dicts(facts, loop, set(target_names(loop.target)))


def _dicts(facts: Facts, where: Function | For, names: set[str]) -> frozenset[str]:
    found = facts.memory.get(("dicts", where))
    if found is None:
        nodes = list(below(where.body, Call, Subscript, For, Assign)) if names else []
        found = facts.memory["dicts", where] = _taken_for_dicts(nodes, names)
    return found


def gone_over_for_dicts(facts: Facts, function: Function) -> frozenset[str]:
    """The parameters that hold dicts: `for batch in loader: batch["x"]`, `found[i]["x"]`."""
    found = facts.memory.get(("gone over", function))
    if found is None:
        loops = ((_gone_over(f.iterable), f) for f in everywhere(function, For))
        taken = {name for name, loop in loops if name and dict_targets(facts, loop)}
        taken |= {_asked_below(node) for node in everywhere(function, Subscript)} - {""}
        found = facts.memory["gone over", function] = frozenset(taken)
    return found


def _asked_below(node: Subscript) -> str:
    """results of `results[i]["masks"]`"""
    holder = node.object
    while isinstance(holder, Subscript):
        holder = holder.object
    below_one = holder is not node.object and isinstance(holder, Name)
    return holder.id if below_one and _is_named(node) else ""  # type: ignore[attr-defined]


def _is_named(node: Subscript) -> bool:
    return any(_is_text(index) for index in indices(node)[:1])


def _is_text(node: Node) -> bool:
    """`"weight"`, `prefix + "weight"`, `f"{prefix}weight"`"""
    if isinstance(node, Binary):
        return node.operator == "+" and (_is_text(node.left) or _is_text(node.right))
    text = isinstance(node, Constant) and isinstance(node.constant, (str, bytes))
    return text or isinstance(node, FormattedString)


def _gone_over(node: Node) -> str | None:
    """loader of `loader`, `enumerate(loader)`, `tqdm(loader, desc="train")`"""
    while isinstance(node, Call) and node.arguments:
        if not isinstance(node.function, (Name, Attribute)):
            break
        node = node.arguments[0]
    return node.id if isinstance(node, Name) else None


def _taken_for_dicts(nodes: Iterable[Node], names: set[str]) -> frozenset[str]:
    """The names that a piece of code takes for dicts, and does not leave open."""
    nodes = list(nodes)
    found = {name for node in nodes if (name := _taken_for_dict(node)) in names}
    return frozenset(n for n in found - _left_open(nodes) if n) if found else frozenset()


def _taken_for_dict(node: Any) -> str | None:
    """The name that one use takes for a dict."""
    if isinstance(node, Call):
        asked = isinstance(node.function, Attribute) and node.function.name in ("items", "keys")
        return dotted(node.function.object) if asked and not node.arguments else None  # type: ignore[attr-defined]
    if isinstance(node, Subscript):
        return dotted(node.object) if _is_named(node) else None
    if isinstance(node, For) and isinstance(node.iterable, Name):
        return node.iterable.id if _is_keyed(node, node.iterable.id) else None
    return None


def _is_keyed(loop: For, over: str) -> bool:
    """`for k in d: d[k]`"""
    key = text(loop.target)
    parts = ((n.object, n.index) for n in below(loop.body, Subscript))
    return any(isinstance(o, Name) and o.id == over and text(i) == key for o, i in parts)


def _left_open(nodes: Iterable[Node]) -> set[str]:
    """The names whose value a piece of code tests, or sets to anything but a copy."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Assign) and not node.operator and node.annotation is None:
            if not _is_copy(node):
                found |= {name for target in node.targets for name in target_names(target)}
        elif isinstance(node, Call) and node.arguments:
            if dotted(node.function) in ("isinstance", "hasattr", "type"):
                found.add(dotted(node.arguments[0]) or "")
    return found


def _is_copy(node: Assign) -> bool:
    """`d = dict(d)`, `d = d.copy()`"""
    made, name = node.expression, dotted(node.targets[0])
    if not isinstance(made, Call) or name is None:
        return False
    if not made.arguments:
        method = made.function
        return (
            isinstance(method, Attribute)
            and method.name == "copy"
            and dotted(method.object) == name
        )
    one = len(made.arguments) == 1 and dotted(made.arguments[0]) == name
    return one and dotted(made.function) in _COPIES
