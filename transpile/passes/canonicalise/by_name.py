"""Attributes that are set and asked for by a name that is written out: `setattr(self, "a", m)`."""

import keyword

from ...model.constants import is_none
from ...model.copy import clone
from ...model.expressions import Attribute, Call, Constant, Display, Name, Starred, Subscript
from ...model.fresh_names import Names
from ...model.names import dotted, everywhere, imported, last_word, root
from ...model.node import Expression, Node, Statement
from ...model.operators import Compare
from ...model.program import File, Function, Scope
from ...model.statements import Assign, Block, Delete, ExpressionStatement, For

_AROUND = frozenset(("weight_norm", "spectral_norm", "register_parametrization"))


def asked(subject: Expression, name: Expression) -> Expression:
    """`subject.name`, or getattr where the name is computed."""
    text = written(name)
    if text is not None:
        return Attribute(subject, text)
    return Call(Name("getattr"), [subject, name])


def is_cast(scope: Scope, call: Call) -> bool:
    """`typing.cast(nn.Linear, self.m)`, which is what it is given."""
    word = last_word(call.function) == "cast" and plain_call(call, 2)
    return word and imported(scope, call.function).startswith("typing")


def set_by_name(node: Expression) -> tuple[Expression, str, Expression] | None:
    """Holder, name and value of `setattr(lin, "bias", value)`, or of `lin.__setattr__`."""
    if not isinstance(node, Call):
        return None
    if dotted(node.function) == "setattr" and plain_call(node, 3):
        holder, name, value = node.arguments
    elif sets_by_method(node):
        holder, (name, value) = node.function.object, node.arguments  # type: ignore[attr-defined]
    else:
        return None
    text = written(name)
    return (holder, text, value) if text is not None else None


def sets_by_method(call: Call) -> bool:
    """`self.__setattr__(name, value)`, which is `setattr`; not `super().__setattr__(name, value)`,
    which goes by nothing that is overridden."""
    function = call.function
    if not isinstance(function, Attribute) or function.name != "__setattr__":
        return False
    past = isinstance(function.object, Call) or dotted(function.object) == "object"
    return plain_call(call, 2) and not past


def by_function(call: Call) -> Call:
    """`setattr(self, name, value)` for `self.__setattr__(name, value)`."""
    return Call(Name("setattr"), [call.function.object, *call.arguments])  # type: ignore[attr-defined]


def spreads_name(call: Call) -> bool:
    """`self.add_module(*stage)`, where a name holds all that is given."""
    given = call.arguments[0] if len(call.arguments) == 1 else None
    return isinstance(given, Starred) and not given.double and isinstance(given.expression, Name)


def of_pair(call: Call) -> Call:
    """`self.add_module(stage[0], stage[1])`"""
    pair = call.arguments[0].expression  # type: ignore[attr-defined]
    return Call(call.function, [Subscript(clone(pair), Constant(at)) for at in (0, 1)])


def wraps(scope: Scope, node: Expression, own: str | None) -> bool:
    """`weight_norm(self.fc)`: torch changes the layer in place, to one around it."""
    if own is None or not isinstance(node, Call) or not node.arguments:
        return False
    held, name = node.arguments[0], imported(scope, node.function) or ""
    known = name.startswith("torch.nn.utils.") and name.rpartition(".")[2] in _AROUND
    return known and isinstance(held, Attribute) and dotted(held.object) == own


def wrapped(statement: ExpressionStatement) -> Assign:
    """`self.fc = weight_norm(self.fc)`"""
    call = statement.expression
    assert isinstance(call, Call)
    return Assign([clone(call.arguments[0])], call)


def absent(node: Expression) -> tuple[Expression, str, Expression] | None:
    """`conv.register_parameter("bias", None)` of a module that is not self."""
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return None
    if node.function.name != "register_parameter" or not plain_call(node, 2):
        return None
    name, value = node.arguments
    holder, text = node.function.object, written(name)
    none = is_none(value)
    if not none or text is None or isinstance(holder, Call) or dotted(holder) == "self":
        return None
    return holder, text, value


def stored(statement: ExpressionStatement) -> Assign:
    found = set_by_name(statement.expression) or absent(statement.expression)
    assert found is not None
    holder, name, value = found
    return Assign([Attribute(holder, name)], value)


def passes_by(method: Node | None) -> bool:
    """Whether what a method sets past `nn.Module.__setattr__` is an attribute like others, but that
    torch doesn't register it: in the constructor of a class without such methods of its own."""
    if not isinstance(method, Function) or method.name != "__init__" or method.owner is None:
        return False
    named = {s.name for s in method.owner.body.body if isinstance(s, Function)}
    own_ways = named & {"__setattr__", "__getattr__", "__getattribute__"}
    return bool(method.owner.bases and not method.owner.decorators and not own_ways)


def set_past(method: Function, statement: Statement) -> Assign | None:
    """`self.m = Net()` for `self.__dict__["m"] = Net()`, `object.__setattr__(self, "m", Net())`;
    what was given to the constructor is held by others, which it may hold itself."""
    if isinstance(statement, Assign) and len(statement.targets) == 1 and not statement.operator:
        entry, value = statement.targets[0], statement.expression
        holder = entry.object if isinstance(entry, Subscript) else None
        if not isinstance(holder, Attribute) or holder.name != "__dict__" or value is None:
            return None
        parts = [holder.object, entry.index, value]  # type: ignore[attr-defined]
    elif isinstance(statement, ExpressionStatement) and isinstance(statement.expression, Call):
        call = statement.expression
        if dotted(call.function) != "object.__setattr__" or not plain_call(call, 3):
            return None
        parts = call.arguments
    else:
        return None
    own, name, value = parts
    given = {p.name for p in method.parameters}
    text, held = written(name), root(value) if isinstance(value, (Name, Attribute)) else None
    if dotted(own) != method.receiver or text is None or held and held.id in given:
        return None
    return Assign([Attribute(own, text)], value)


def updates(method: Function, statement: ExpressionStatement) -> bool:
    """`self.__dict__.update(options)`, whose names nobody knows here; `locals()` has self."""
    call = statement.expression
    if not isinstance(call, Call) or not plain_call(call, 1) or not _is_update(call.function):
        return False
    table, own = call.function.object, method.receiver  # type: ignore[attr-defined]
    asked = isinstance(table, Call) and plain_call(table, 1) and dotted(table.function) == "vars"
    held = table.arguments[0] if asked else table
    if dotted(held) != (own if asked else f"{own}.__dict__"):
        return False
    words = (dotted(n.function) for n in call.arguments[0].walk() if isinstance(n, Call))
    return "locals" not in words


def _is_update(function: Expression) -> bool:
    return isinstance(function, Attribute) and function.name == "update"


def one_by_one(statement: ExpressionStatement, own: str, names: Names) -> For:
    """`for name, value in dict(options).items(): setattr(self, name, value)`"""
    (given,) = statement.expression.arguments  # type: ignore[attr-defined]
    name, value = names.fresh("name"), names.fresh("value")
    items = Call(Attribute(Call(Name("dict"), [given]), "items"))
    target = Display("tuple", [Name(name), Name(value)])
    stores = Call(Name("setattr"), [Name(own), Name(name), Name(value)])
    return For(target, items, Block([ExpressionStatement(stores)]))


def takes_away(method: Node | None, node: Delete) -> bool:
    """`del self.a` before a model runs, of what nobody asks for by name: `hasattr(self, "a")`."""
    if not isinstance(method, Function) or method.name == "forward" or not method.parameters:
        return False
    own = method.receiver
    names = {t.name for t in node.targets if isinstance(t, Attribute) and dotted(t.object) == own}
    if len(names) < len(node.targets):
        return False
    file = next(around for around in node.ancestors() if isinstance(around, File))
    return names.isdisjoint(c.constant for c in everywhere(file, Constant) if _is_asked(c))


def _is_asked(text: Constant) -> bool:
    asking = isinstance(text.parent, Call) and dotted(text.parent.function)
    return asking in ("hasattr", "getattr") or isinstance(text.parent, Compare)


def taken(node: Delete) -> Assign:
    """`self.a = None`"""
    return Assign(map(clone, node.targets), Constant(None))


def written(node: Expression) -> str | None:
    """A plain name that is written out; in a class `lin.__bias` would be another name."""
    text = node.constant if isinstance(node, Constant) else None
    if not isinstance(text, str) or not text.isidentifier() or keyword.iskeyword(text):
        return None
    return None if text.startswith("__") else text


def plain_call(call: Call, count: int) -> bool:
    """Whether a call has so many arguments by place, and no others."""
    plain = not any(call.keywords) and not any(isinstance(a, Starred) for a in call.arguments)
    return plain and len(call.arguments) == count
