"""The tables of a module by their keys: `m._modules["a"]`, `m.state_dict()["fc.weight"]`."""

import keyword

from ...model.copy import clone
from ...model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ...model.names import dotted, imported, is_target
from ...model.node import Expression, Node
from ...model.program import Scope
from ...model.statements import Assign, Delete, ExpressionStatement, For
from .by_name import written

_TABLES = frozenset({"_modules", "_parameters", "_buffers"})
WALKS = {"items": "named_children", "values": "children"}


def is_table(node: Node, names: frozenset[str] = _TABLES) -> bool:
    return (
        isinstance(node, Subscript)
        and isinstance(node.object, Attribute)
        and (node.object.name in names)
    )


def is_entry(scope: Scope, node: Subscript) -> bool:
    """`m._modules["a"]`, `nn.__dict__["GELU"]` where it is read: what is put there, or taken away,
    is another matter."""
    table = node.object
    named = isinstance(table, Attribute) and table.name == "__dict__"
    of_torch = named and imported(scope, table.object).startswith("torch")  # type: ignore[attr-defined]
    read = not is_target(node) and not isinstance(node.parent, Delete)
    return (is_table(node) or of_torch) and read


def placed(assign: Assign) -> bool:
    """`m._modules["a"] = layer`"""
    return (
        len(assign.targets) == 1
        and not assign.operator
        and assign.expression is not None
        and is_table(assign.targets[0], frozenset({"_modules"}))
    )


def put(assign: Assign) -> Assign | ExpressionStatement:
    target, value = assign.targets[0], assign.expression
    assert isinstance(target, Subscript) and isinstance(target.object, Attribute)
    assert value is not None
    name = written(target.index)
    if name is not None:
        return Assign([Attribute(target.object.object, name)], value)
    made = Call(Name("setattr"), [target.object.object, target.index, value])
    return ExpressionStatement(made)


def walk(call: Call) -> Call:
    """`m.named_children()`"""
    assert isinstance(call.function, Attribute) and isinstance(call.function.object, Attribute)
    holder = call.function.object.object
    return Call(Attribute(holder, WALKS[call.function.name]))


def over_modules(loop: For) -> bool:
    """`for name in m._modules`"""
    over = loop.iterable
    if isinstance(over, Call) and isinstance(over.function, Attribute) and not over.arguments:
        over = over.function.object if over.function.name == "keys" else over
    return (
        isinstance(over, Attribute)
        and over.name == "_modules"
        and dotted(over.object) is not None
        and isinstance(loop.target, Name)
    )


def over_children(loop: For) -> For:
    """`for name, module in m.named_children()`: what the loop gets by the name is the module."""
    over, name = loop.iterable, loop.target
    assert isinstance(name, Name)
    table = over.function.object if isinstance(over, Call) else over  # type: ignore[attr-defined]
    assert isinstance(table, Attribute)
    holder, taken = table.object, {n.id for n in loop.walk() if isinstance(n, Name)}
    reads = [n for n in loop.body.walk() if isinstance(n, Call) and _gets(n, holder, name)]
    module = next(n for n in ("module", "child", f"{name.id}_module") if n not in taken)
    for read in reads:
        read.replace(Name(module))
    over.replace(Call(Attribute(clone(holder), "named_children")))
    name.replace(Display("tuple", [Name(name.id), Name(module if reads else "_")]))
    return loop


def _gets(call: Call, holder: Expression, name: Name) -> bool:
    """`getattr(m, name)`"""
    asked = [dotted(part) for part in (call.function, *call.arguments)]
    return asked == ["getattr", dotted(holder), name.id]


def saved(node: Subscript) -> list[str] | None:
    """The path of an array in `m.state_dict()["fc.weight"]`."""
    call, index = node.object, node.index
    if not isinstance(call, Call) or call.arguments or not isinstance(call.function, Attribute):
        return None
    if call.function.name != "state_dict" or not isinstance(index, Constant):
        return None
    parent, text = node.parent, index.constant
    if isinstance(parent, (Assign, Delete)) and getattr(parent, "expression", None) is not node:
        return None
    parts = text.split(".") if isinstance(text, str) else [""]
    return parts if all(p.isidentifier() and not keyword.iskeyword(p) for p in parts) else None


def data(node: Subscript) -> Expression:
    parts = saved(node)
    assert parts is not None and isinstance(node.object, Call)
    assert isinstance(node.object.function, Attribute)
    made = node.object.function.object
    for part in (*parts, "data"):
        made = Attribute(made, part)
    return made
