"""Other spellings of one thing, made one before anything is asked of the program.

    super(Net, self).f(x)                    super().f(x)
    nn.LayerNorm.forward(self, x)            super().forward(x), of the first base
    setattr(self, "a", m)                    self.a = m
    self.add_module("a", m),                 self.add_module("a", m)
    self.__setattr__("a", m)                 self.a = m
    m._modules["a"]                          m.a
    m._modules[name] = layer                 setattr(m, name, layer)
    m._modules.items()                       m.named_children()
    getattr(self, "a")                       self.a
    m.state_dict()["fc.weight"]              m.fc.weight.data
    conv.register_parameter("bias", None)    conv.bias = None
    init.zeros_(nn.Parameter(w))             nn.Parameter(init.zeros_(w))
    sum(map(lambda f: f(x), self.fs))        sum(f(x) for f in self.fs)
    @register_model                          nothing: timm notes the function in a table

Only what stands in the text decides it: no values are known yet.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any

from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    ForClause,
    Lambda,
    Name,
    Starred,
    Subscript,
)
from ..model.libraries import registers
from ..model.names import dotted, imported
from ..model.node import Expression, Node
from ..model.program import Class, Function, Scope
from ..model.statements import Assign, Delete, ExpressionStatement
from .pass_ import Changes, Pass

_THROUGH_SUPER = frozenset({"forward", "reset_parameters", "train"})
_TABLES = frozenset({"_modules", "_parameters", "_buffers"})
_WALKS = {"items": "named_children", "values": "children"}


def run(scope: Scope, facts: Any = None) -> Changes:
    """Rewrite the spellings of one scope."""
    changes = Changes(scope)
    function, cls = _method(scope)
    own = function.parameters[0].name if function is not None and function.parameters else None
    for decorated in scope.nodes(Function):
        for decorator in decorated.decorators:
            if registers(imported(scope, decorator)):
                changes.change(decorator, decorated.undecorate)
    for statement in scope.nodes(ExpressionStatement):
        if _set(statement.expression) is not None or _absent(statement.expression) is not None:
            changes.replace(statement, _stored)
        elif _is_lone(statement.expression):
            changes.change(statement.expression, lambda e: e.replace(e.elements[0]))
    for assign in scope.nodes(Assign):
        if _placed(assign):
            changes.replace(assign, _put)
    for subscript in scope.nodes(Subscript):
        if _is_entry(subscript):
            changes.replace(subscript, lambda s: _asked(s.object.object, s.index))
        elif _saved(subscript) is not None:
            changes.replace(subscript, _data)
    for call in scope.nodes(Call):
        edit = _call(call, own, cls if function is scope else None)
        if edit is not None:
            changes.replace(call, edit)
    return changes


def _is_lone(node: Expression) -> bool:
    """A call with a comma behind it, which makes a tuple of it that nothing takes."""
    lone = isinstance(node, Display) and node.kind == "tuple" and len(node.elements) == 1
    return lone and isinstance(node.elements[0], Call)  # type: ignore[attr-defined]


def _method(scope: Scope) -> tuple[Function | None, Class | None]:
    """The method that a scope is, or stands in, and its class."""
    for around in (scope, *scope.ancestors()):
        if isinstance(around, Function) and around.owner is not None:
            return around, around.owner
        if isinstance(around, Class):
            break
    return None, None


def _call(call: Call, own: str | None, cls: Class | None) -> Callable[[Call], Expression] | None:
    """What is made of a call; `cls` is the class of a method that the call itself stands in."""
    function = call.function
    if own is not None and cls is not None and _is_long_super(call, own, cls):
        return lambda c: Call(c.function)
    if isinstance(function, Attribute) and own is not None and cls is not None:
        base = dotted(cls.bases[0]) if cls.bases and cls.keywords[0] is None else None
        of_base = base is not None and "." in base and dotted(function.object) == base
        if of_base and function.name in _THROUGH_SUPER and not _is_inside(call):
            if call.arguments and call.keywords[0] is None and dotted(call.arguments[0]) == own:
                return _through_super
    if dotted(function) == "getattr" and _plain(call, 2) and dotted(call.arguments[0]) == own:
        if own is not None and _written(call.arguments[1]) is not None:
            return lambda c: _asked(c.arguments[0], c.arguments[1])
    if _maps_calls(call):
        return _mapped
    if dotted(function) == "list" and _plain(call, 1) and _maps_calls(call.arguments[0]):
        return _listed
    if not isinstance(function, Attribute):
        return None
    if function.name == "__getattr__" and _plain(call, 1):
        return lambda c: _asked(c.function.object, c.arguments[0])  # type: ignore[attr-defined]
    holder = function.object
    if isinstance(holder, Attribute) and holder.name == "_modules" and not call.arguments:
        if function.name in _WALKS:
            return _walk
    return _initialised if _initialises(call) else None


# --- map -----------------------------------------------------------------------------------------


def _maps_calls(call: Expression) -> bool:
    """Whether it maps a lambda that calls what it is given: `map(lambda f: f(x), self.fs)`."""
    if not isinstance(call, Call) or dotted(call.function) != "map" or not _plain(call, 2):
        return False
    function = call.arguments[0]
    if not isinstance(function, Lambda) or len(function.parameters) != 1:
        return False
    parameter = function.parameters[0]
    calls = [n for n in function.body.walk() if isinstance(n, Call)]
    called = any(dotted(n.function) == parameter.name for n in calls)
    return called and not parameter.kind and parameter.default is None


def _mapped(call: Call, kind: str = "generator") -> Comprehension:
    function, iterable = call.arguments
    assert isinstance(function, Lambda)
    clause = ForClause(Name(function.parameters[0].name), iterable)
    return Comprehension(kind, None, function.body, [clause])


def _listed(call: Call) -> Comprehension:
    made = call.arguments[0]
    if isinstance(made, Comprehension):  # edited before
        return Comprehension("list", None, made.element, made.clauses)
    assert isinstance(made, Call)
    return _mapped(made, "list")


# --- super ---------------------------------------------------------------------------------------


def _is_long_super(call: Call, own: str, cls: Class) -> bool:
    """`super(Net, self)`, in a method of Net itself."""
    if not isinstance(call.function, Name) or call.function.id != "super":
        return False
    if not _plain(call, 2) or _is_inside(call):
        return False
    return [dotted(a) for a in call.arguments] in ([cls.name, own], ["__class__", own])


def _is_inside(call: Call) -> bool:
    """Whether it stands in a lambda or comprehension, which have no self of their own."""
    inside = ("Lambda", "Comprehension")
    for around in call.ancestors():
        if isinstance(around, Function):
            return False
        if isinstance(around, Lambda) or around.__class__.__name__ in inside:
            return True
    return False


def _through_super(call: Call) -> Call:
    assert isinstance(call.function, Attribute)
    made = Attribute(Call(Name("super")), call.function.name)
    return Call(made, call.arguments[1:], call.keywords[1:])


# --- tables --------------------------------------------------------------------------------------


def _is_table(node: Node, names: frozenset[str] = _TABLES) -> bool:
    return (
        isinstance(node, Subscript)
        and isinstance(node.object, Attribute)
        and (node.object.name in names)
    )


def _is_entry(node: Subscript) -> bool:
    """`m._modules["a"]` where it is read: what is put there, or taken away, is another matter."""
    parent = node.parent
    stored = isinstance(parent, Assign) and any(t is node for t in parent.targets)
    return _is_table(node) and not stored and not isinstance(parent, Delete)


def _placed(assign: Assign) -> bool:
    """`m._modules["a"] = layer`"""
    return (
        len(assign.targets) == 1
        and not assign.operator
        and assign.expression is not None
        and _is_table(assign.targets[0], frozenset({"_modules"}))
    )


def _put(assign: Assign) -> Assign | ExpressionStatement:
    target, value = assign.targets[0], assign.expression
    assert isinstance(target, Subscript) and isinstance(target.object, Attribute)
    assert value is not None
    name = _written(target.index)
    if name is not None:
        return Assign([Attribute(target.object.object, name)], value)
    made = Call(Name("setattr"), [target.object.object, target.index, value])
    return ExpressionStatement(made)


def _walk(call: Call) -> Call:
    """`m.named_children()`"""
    assert isinstance(call.function, Attribute) and isinstance(call.function.object, Attribute)
    holder = call.function.object.object
    return Call(Attribute(holder, _WALKS[call.function.name]))


def _saved(node: Subscript) -> list[str] | None:
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


def _data(node: Subscript) -> Expression:
    parts = _saved(node)
    assert parts is not None and isinstance(node.object, Call)
    assert isinstance(node.object.function, Attribute)
    made = node.object.function.object
    for part in (*parts, "data"):
        made = Attribute(made, part)
    return made


# --- attributes by name --------------------------------------------------------------------------


def _asked(subject: Expression, name: Expression) -> Expression:
    """`subject.name`, or getattr where the name is computed."""
    text = _written(name)
    if text is not None:
        return Attribute(subject, text)
    return Call(Name("getattr"), [subject, name])


def _set(node: Expression) -> tuple[Expression, str, Expression] | None:
    """Holder, name and value of `setattr(lin, "bias", value)`, or of `lin.__setattr__`."""
    if not isinstance(node, Call):
        return None
    function = node.function
    if dotted(function) == "setattr" and _plain(node, 3):
        holder, name, value = node.arguments
    elif isinstance(function, Attribute) and function.name == "__setattr__" and _plain(node, 2):
        holder, (name, value) = function.object, node.arguments
        if isinstance(holder, Call) or dotted(holder) == "object":
            return None  # `super().__setattr__(name, value)` goes by nothing that is overridden
    else:
        return None
    text = _written(name)
    return (holder, text, value) if text is not None else None


def _absent(node: Expression) -> tuple[Expression, str, Expression] | None:
    """`conv.register_parameter("bias", None)` of a module that is not self."""
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return None
    if node.function.name != "register_parameter" or not _plain(node, 2):
        return None
    name, value = node.arguments
    holder, text = node.function.object, _written(name)
    none = isinstance(value, Constant) and value.constant is None
    if not none or text is None or isinstance(holder, Call) or dotted(holder) == "self":
        return None
    return holder, text, value


def _stored(statement: ExpressionStatement) -> Assign:
    found = _set(statement.expression) or _absent(statement.expression)
    assert found is not None
    holder, name, value = found
    return Assign([Attribute(holder, name)], value)


def _written(node: Expression) -> str | None:
    """A plain name that is written out; in a class `lin.__bias` would be another name."""
    text = node.constant if isinstance(node, Constant) else None
    if not isinstance(text, str) or not text.isidentifier() or keyword.iskeyword(text):
        return None
    return None if text.startswith("__") else text


def _plain(call: Call, count: int) -> bool:
    """Whether a call has so many arguments by place, and no others."""
    plain = not any(call.keywords) and not any(isinstance(a, Starred) for a in call.arguments)
    return plain and len(call.arguments) == count


# --- params --------------------------------------------------------------------------------------


def _initialises(call: Call) -> bool:
    """`init.kaiming_uniform_(nn.Parameter(w), a=1)`"""
    assert isinstance(call.function, Attribute)
    holder = (dotted(call.function.object) or "").rpartition(".")[2]
    if holder != "init" or not call.function.name.endswith("_") or not call.arguments:
        return False
    made = call.arguments[0]
    if call.keywords[0] is not None or not isinstance(made, Call) or not made.arguments:
        return False
    named = (dotted(made.function) or "").rpartition(".")[2] == "Parameter"
    return named and made.keywords[0] in (None, "data")


def _initialised(call: Call) -> Call:
    """`nn.Parameter(init.kaiming_uniform_(w, a=1))`"""
    made = call.arguments[0]
    assert isinstance(made, Call)
    filled = Call(call.function, [made.arguments[0], *call.arguments[1:]], call.keywords)
    return Call(made.function, [filled, *made.arguments[1:]], [None, *made.keywords[1:]])


PASS = Pass("canonicalise", (), run)
