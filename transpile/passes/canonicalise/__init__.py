"""Other spellings of one thing, made one before anything is asked of the program.

    super(Net, self).f(x)                    super().f(x)
    nn.LayerNorm.forward(self, x)            super().forward(x), of the first base
    setattr(self, "a", m)                    self.a = m
    self.add_module("a", m),                 self.add_module("a", m)
    self.__setattr__("a", m)                 self.a = m
    self.__dict__["a"] = m                   self.a = m, in constructors
    self.__dict__.update(d)                  for k, v in dict(d).items(): setattr(self, k, v)
    del self.a                               self.a = None, but of what runs
    m._modules["a"]                          m.a
    nn.__dict__[name]                        getattr(nn, name)
    typing.cast(Block, self.m)(x)            self.m(x)
    m._modules[name] = layer                 setattr(m, name, layer)
    m._modules.items()                       m.named_children()
    for name in m._modules: m._modules[name] for name, module in m.named_children(): module
    getattr(self, "a")                       self.a
    weight_norm(self.fc)                     self.fc = weight_norm(self.fc)
    m.state_dict()["fc.weight"]              m.fc.weight.data
    conv.register_parameter("bias", None)    conv.bias = None
    init.zeros_(nn.Parameter(w))             nn.Parameter(init.zeros_(w))
    self.h = nn.Buffer(h)                    self.register_buffer("h", h)
    nn.Parameter(w).requires_grad_(b)        nn.Parameter(w, requires_grad=b)
    @staticmethod f; self.f(self, x)         f; self.f(x)
    sum(map(lambda f: f(x), self.fs))        sum(f(x) for f in self.fs)
    nn.Sequential(self.a, self.b)(x)         self.b(self.a(x))
    return nn.Sequential(*layers)(x)         for layer in layers: x = layer(x); return x
    return reduce(lambda h, f: f(h), fs, x)  h = x; for f in fs: h = f(h); return h
    a, b = map(self.encode, images)          a, b = (self.encode(x) for x in images)
    zeros_(w) if a else ones_(w)             if a: zeros_(w), else: ones_(w)
    zeros_(w if a else v)                    if a: zeros_(w), else: zeros_(v)
    x = x.add_(y) if a else y                if a: x = x.add_(y), else: x = y
    self.w = Parameter(w) if a else w        if a: self.w = Parameter(w), else: self.w = w
    make = f if a else torch.zeros; make(n)  f(n) if a else torch.zeros(n)
    torch.nonzero(m).size(0)                 torch.count_nonzero(m).item()
    torch.cat((out, x))                      torch.cat_with_empty((out, x)), of what begins empty
    torch.arange(1, x.dim()).tolist()        list(range(1, x.dim()))
    if x == None                             if x is None
    try: a = torch.autocast, except: …       a = torch.autocast, which is there today
    try: import apex.x, except …: b          b, what stands in for a library on torch
    torch.set_grad_enabled(False); …         with torch.set_grad_enabled(False): …
    @register_model                          nothing: timm notes the function in a table

Only what stands in the text decides it: no values are known yet.
"""

import functools
from collections.abc import Callable
from typing import Any

from ...model.expressions import Attribute, Call, Display, Lambda, Name, Subscript
from ...model.fresh import Names
from ...model.libraries import registers
from ...model.names import dotted, imported
from ...model.node import Expression
from ...model.operators import Compare
from ...model.program import Class, Function, Scope
from ...model.statements import Assign, Delete, ExpressionStatement, For, If, Try
from ..pass_ import Changes, Pass
from .by_name import (
    absent,
    asked,
    is_cast,
    one_by_one,
    passes_by,
    plain_call,
    set_by_name,
    set_past,
    stored,
    taken,
    takes_away,
    updates,
    wrapped,
    wraps,
    written,
)
from .choices import (
    branch,
    by_identity,
    called,
    chooses_parameter,
    chooses_writes,
    chosen_call,
    takes_written,
    tests_none,
)
from .contexts import (
    has_stand_in,
    imported_context,
    renames_context,
    switch,
    switched_on,
    without_stand_in,
)
from .counted import counted, counts_places, listed_range, lists_range
from .joined import begin_empty, joined, joins_empty
from .mapped import listed, mapped, maps_calls
from .methods import bound, given_itself
from .missing import stand_in
from .params import makes_buffer, parameter, registered
from .reduced import in_a_loop, nested, nests, runs_in_turn
from .tables import WALKS, data, is_entry, over_children, over_modules, placed, put, saved, walk

_THROUGH_SUPER = frozenset({"forward", "__call__", "reset_parameters", "train"})


def run(scope: Scope, facts: Any = None) -> Changes:
    """Rewrite the spellings of one scope."""
    changes = Changes(scope)
    function, cls = _method(scope)
    own = function.receiver if function is not None else ""
    for decorated in scope.nodes(Function):
        for decorator in decorated.decorators:
            if registers(imported(scope, decorator)):
                changes.change(decorator, decorated.undecorate)
    for static, calls in given_itself(scope) if isinstance(scope, Class) else ():
        changes.change(static, functools.partial(bound, calls=calls))
    if isinstance(scope, Function) and passes_by(scope):
        for stored_past in scope.nodes(Assign, ExpressionStatement):
            if set_past(scope, stored_past) is not None:
                changes.replace(stored_past, lambda s: set_past(scope, s) or s)
        for many in scope.nodes(ExpressionStatement):
            if updates(scope, many):
                changes.replace(many, lambda s: one_by_one(s, scope.receiver, Names(scope)))
    for statement in scope.nodes(ExpressionStatement):
        if (
            set_by_name(statement.expression) is not None
            or absent(statement.expression) is not None
        ):
            changes.replace(statement, stored)
        elif wraps(scope, statement.expression, own):
            changes.replace(statement, wrapped)
        elif chooses_writes(statement.expression):
            changes.replace(statement, branch)
        elif _is_lone(statement.expression):
            changes.change(statement.expression, lambda e: e.replace(e.elements[0]))
    for compare in scope.nodes(Compare) if isinstance(scope, Function) else ():
        if tests_none(compare):
            changes.replace(compare, by_identity)
    for deleted in scope.nodes(Delete) if cls is not None and function is scope else ():
        if takes_away(function, deleted):
            changes.replace(deleted, taken)
    for loop in scope.nodes(For):
        if over_modules(loop):
            changes.change(loop, over_children)
    for off in scope.nodes(ExpressionStatement, If) if isinstance(scope, Function) else ():
        if (on := switched_on(scope, off)) is not None:
            changes.change(off, functools.partial(switch, on=on))
    for attempt in scope.nodes(Try):
        if has_stand_in(scope, attempt):
            changes.change(attempt, without_stand_in)
        else:
            stand_in(changes, attempt)
    for assign in scope.nodes(Assign):
        if placed(assign):
            changes.replace(assign, put)
        elif makes_buffer(scope, assign, own):
            changes.replace(assign, registered)
        elif chooses_parameter(scope, assign) or takes_written(assign):
            changes.replace(assign, branch)
        elif renames_context(scope, assign):
            changes.replace(assign, imported_context)
    for choice in scope.nodes(Assign, If) if isinstance(scope, Function) else ():
        if (call := chosen_call(scope, choice)) is not None:
            changes.replace(call, functools.partial(called, statement=choice))
            changes.remove(choice)
    for subscript in scope.nodes(Subscript):
        if is_entry(scope, subscript):
            changes.replace(subscript, lambda s: asked(s.object.object, s.index))
        elif saved(subscript) is not None:
            changes.replace(subscript, data)
        elif counts_places(scope, subscript):
            changes.replace(subscript, counted)
    empty = begin_empty(scope)
    for call in scope.nodes(Call):
        if empty and joins_empty(scope, call, empty):
            changes.replace(call, joined)
            continue
        if counts_places(scope, call):
            changes.replace(call, counted)
            continue
        if lists_range(scope, call):
            changes.replace(call, listed_range)
            continue
        if is_cast(scope, call):
            changes.replace(call, lambda c: c.arguments[1])
            continue
        if nests(scope, call):
            changes.replace(call, nested)
            continue
        if isinstance(scope, Function) and runs_in_turn(scope, call):
            changes.change(call, functools.partial(in_a_loop, scope=scope))
            continue
        edit = parameter(scope, call) or _call(call, own, cls if function is scope else None)
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


def _call(call: Call, own: str, cls: Class | None) -> Callable[[Call], Expression] | None:
    """What is made of a call; `cls` is the class of a method that the call itself stands in."""
    function = call.function
    if cls is not None and _is_long_super(call, own, cls):
        return lambda c: Call(c.function)
    if isinstance(function, Attribute) and cls is not None:
        base = dotted(cls.bases[0]) if cls.bases and cls.keywords[0] is None else None
        of_base = base is not None and "." in base and dotted(function.object) == base
        if of_base and function.name in _THROUGH_SUPER and not _is_inside(call):
            if call.arguments and call.keywords[0] is None and dotted(call.arguments[0]) == own:
                return _through_super
    if dotted(function) == "getattr" and plain_call(call, 2) and dotted(call.arguments[0]) == own:
        if written(call.arguments[1]) is not None:
            return lambda c: asked(c.arguments[0], c.arguments[1])
    if maps_calls(call, own):
        return mapped
    if dotted(function) == "list" and plain_call(call, 1) and maps_calls(call.arguments[0], own):
        return listed
    if not isinstance(function, Attribute):
        return None
    if function.name == "__getattr__" and plain_call(call, 1):
        return lambda c: asked(c.function.object, c.arguments[0])  # type: ignore[attr-defined]
    holder = function.object
    if isinstance(holder, Attribute) and holder.name == "_modules" and not call.arguments:
        if function.name in WALKS:
            return walk
    return None


# --- super ---------------------------------------------------------------------------------------


def _is_long_super(call: Call, own: str, cls: Class) -> bool:
    """`super(Net, self)`, in a method of Net itself."""
    if not isinstance(call.function, Name) or call.function.id != "super":
        return False
    if not plain_call(call, 2) or _is_inside(call):
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


PASS = Pass("canonicalise", (), run)
