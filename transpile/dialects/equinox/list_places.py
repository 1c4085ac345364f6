"""Where in a list, or a Sequential, a module stands that was put into it: `layers.append(fc)`."""

from __future__ import annotations

from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Method, Module, Sequence
from ...model.copy import clone
from ...model.effects import Support
from ...model.expressions import Attribute, Call, Constant, Display, Name, Starred, Subscript
from ...model.names import dotted, is_name, is_target, target_names
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, For, While
from ..threading.evaluation_order import CHANGING

_GROWING = ("with_layer", "with_layers", "without_layer")
_CONTAINERS = ("torch.nn.Sequential", "torch.nn.ModuleList")


def place_in_list(name: Name, at: Node, function: Function) -> Expression | None:
    """`layers[-1]` behind `layers.append(fc)`, `self.net[0]` behind `self.net =
    nn.Sequential(fc, nn.ReLU())`; None where it may not stand there, or elsewhere too."""
    statement = next(n for n in name.ancestors() if isinstance(n, Statement))
    found = _put(name, statement)
    if found is None or is_name(found.object, function.receiver):
        return None
    if statement.parent not in set(at.ancestors()):
        return None  # `if deep: layers.append(fc)`
    if _stays_over(name, statement) or _may_move(found, statement, at, function):
        return None
    return found


def _put(name: Name, statement: Statement) -> Subscript | None:
    if isinstance(statement, ExpressionStatement):
        call = statement.expression
        if not isinstance(call, Call) or not isinstance(call.function, Attribute):
            return None
        if call.function.name == "append" and call.arguments == [name]:
            return _item(call.function.object, -1)
        if call.function.name == "extend" and len(call.arguments) == 1:
            return _from_end(call.function.object, call.arguments[0], name)
    if not isinstance(statement, Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.expression
    if statement.operator:
        return _from_end(target, value, name)
    if is_added(value, name) and isinstance(value, Call):
        called = value.arguments[2:]
        return _item(Attribute(target, "layers"), *called) if called else _item(target, -1)
    listed = _listed(value)
    before = listed[: listed.index(name)] if name in listed else None
    if before is None or any(isinstance(e, Starred) for e in before):
        return None
    return _item(target, len(before))


def _from_end(holder: Expression, added: Node | None, name: Name) -> Subscript | None:
    """`layers += [fc, nn.ReLU()]`"""
    listed = added.elements if isinstance(added, Display) else []
    after = listed[listed.index(name) :] if name in listed else []
    if not after or any(isinstance(e, Starred) for e in after):
        return None
    return _item(holder, -len(after))


def _listed(value: Node | None) -> list[Expression]:
    """What a list is made of, in order: `nn.Sequential(fc, nn.ReLU())`"""
    if isinstance(value, Display):
        return value.elements if value.kind != "set" else []
    known = value.value if isinstance(value, Call) and not any(value.keywords) else None
    if not isinstance(known, Module) or len(known.refs) != 1:
        return []
    if not any(ref in _CONTAINERS for ref in known.refs):
        return []
    given = value.arguments  # type: ignore[union-attr]
    alone = given[0] if len(given) == 1 else None
    return alone.elements if isinstance(alone, Display) else given


def _item(holder: Expression, index: int | Expression) -> Subscript | None:
    index = Constant(index) if isinstance(index, int) else clone(index)
    return Subscript(clone(holder), index) if dotted(holder) else None


def is_added(call: Node | None, module: Node) -> bool:
    """`nn.with_layer(self.net, conv, "conv")`, of `self.net.add_module("conv", conv)`"""
    if not isinstance(call, Call) or not isinstance(call.function, Support):
        return False
    return call.function.name == "with_layer" and call.arguments[1] is module


def _stays_over(name: Name, statement: Statement) -> bool:
    """Whether the turns of a loop put the same module into a list, each once more."""
    loop = next((n for n in statement.ancestors() if isinstance(n, (For, While))), None)
    made = (t for n in loop.walk() if isinstance(n, Assign) for t in n.targets) if loop else ()
    return loop is not None and not any(name.id in target_names(t) for t in made)


def _may_move(found: Subscript, statement: Statement, at: Node, function: Function) -> bool:
    """Whether something is put into the list, or it is another one, until a place is reached."""
    path, inside = str(dotted(found.object)), set(statement.walk())
    inside |= {n for n in at.ancestors() if isinstance(n, Call) and _only_asks(n.function)}
    inner = {n.name for n in function.body.walk() if isinstance(n, Function)}
    seen = False
    for node in function.body.walk():
        if node is at:
            break
        seen = seen or node is statement
        if not seen or node in inside:
            continue
        if isinstance(node, Support) and node.name in _GROWING:
            return True
        if node.start < 0:
            continue
        if isinstance(node, Assign) and any(_is_in(t, path) for t in node.targets):
            return True
        if isinstance(node, Call) and _may_change(node, path, inner):
            return True
    return False


def _only_asks(function: Expression) -> bool:
    """Whether a method asks its module for nothing but what no layer is: `self.fill(conv)`, which
    reads `self.factor`."""
    value = function.value
    if not isinstance(value, FunctionValue) or value.owner is None:
        return False
    method = value.function
    asked = [n.parent for n in method.body.walk() if is_name(n, method.receiver)]
    return all(isinstance(a, Attribute) and _is_plain(a) for a in asked)


def _is_plain(attribute: Attribute) -> bool:
    held = isinstance(attribute.value, (Module, Sequence, FunctionValue, Method))
    return not held and not is_target(attribute)


def _is_in(target: Expression, path: str) -> bool:
    held = target.object if isinstance(target, Subscript) else target
    return f"{path}.".startswith(f"{dotted(held)}.")


def _may_change(call: Call, path: str, inner: set[str]) -> bool:
    """`layers.append(bn)`, `add(layers)`, and what has `self`, as `self.reset()`."""
    function, given = call.function, [dotted(a) for a in call.arguments]
    if any(a is not None and f"{path}.".startswith(f"{a}.") for a in given):
        return not is_name(function, "len")
    if isinstance(function, Name):
        return function.id in inner
    if not isinstance(function, Attribute):
        return False
    if dotted(function.object) == path:
        return function.name in CHANGING
    held = path.partition(".")[0]
    return is_name(function.object, held) and not isinstance(function.value, Module)
