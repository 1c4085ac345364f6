"""Other spellings of one thing, made one before anything is asked of the program.

    super(Net, self).f(x)                    super().f(x)
    nn.LayerNorm.forward(self, x)            super().forward(x), of the first base
    setattr(self, "a", m)                    self.a = m
    self.add_module("a", m),                 self.add_module("a", m)
    self.add_module(*pair)                   self.add_module(pair[0], pair[1])
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
    self.skip = nn.Sequential(), left empty  self.skip = nn.Identity()
    return nn.Sequential(*layers)(x)         for layer in layers: x = layer(x); return x
    return reduce(lambda h, f: f(h), fs, x)  h = x; for f in fs: h = f(h); return h
    a, b = map(self.encode, images)          a, b = (self.encode(x) for x in images)
    zeros_(w) if a else ones_(w)             if a: zeros_(w), else: ones_(w)
    zeros_(w if a else v)                    if a: zeros_(w), else: zeros_(v)
    x = x.add_(y) if a else y                if a: x = x.add_(y), else: x = y
    self.w = Parameter(w) if a else w        if a: self.w = Parameter(w), else: self.w = w
    make = f if a else torch.zeros; make(n)  f(n) if a else torch.zeros(n)
    checkpoint(self.block.__call__, x)       checkpoint(self.block, x)
    torch.nonzero(m).size(0)                 torch.count_nonzero(m).item()
    {"a": m} | {"b": n}                      {"a": m, "b": n}
    checkpoint_sequential(self.layers, 1, x) self.layers(x)
    fs = list(zip(a, b)); for f, x in fs     for f, x in zip(a, b), where f is called
    torch.arange(1, x.dim()).tolist()        list(range(1, x.dim()))
    if x == None                             if x is None
    try: a = torch.autocast, except: …       a = torch.autocast, which is there today
    try: import apex.x, except …: b          b, what stands in for a library on torch
    torch.set_grad_enabled(False); …         with torch.set_grad_enabled(False): …
    @register_model                          nothing: timm notes the function in a table

Only what stands in the text decides it: no values are known yet.
"""

from functools import partial
from typing import Any

from ...model.constants import is_constant
from ...model.expressions import Call
from ...model.fresh_names import Names
from ...model.libraries import registers
from ...model.names import imported
from ...model.node import Node
from ...model.program import Class, Function, Scope
from ...model.statements import Assign, ExpressionStatement, For, If, Try
from ..pass_ import Changes, Pass
from .by_name import one_by_one, passes_by, set_past, updates
from .choices import called, chosen_call
from .compatibility import stand_in
from .context import Site
from .contexts import has_stand_in, switch, switched_on, without_stand_in
from .iterables import named_iterable, put
from .methods import bound, given_itself
from .reductions import in_a_loop, nested_by_name, runs_by_name, runs_in_turn
from .segments import KEPT, in_one, runs_segments
from .spellings import spelled


def run(scope: Scope, facts: Any = None) -> Changes:
    """Rewrite the spellings of one scope: those of many nodes, then those of one."""
    changes, at, turns = Changes(scope), Site(scope), set[Node]()
    _definitions(changes, scope)
    _tries(changes, scope)
    if at.function is not None:
        _past_attributes(changes, at.function)
        _switches(changes, at.function)
        _choices(changes, at.function)
        _sequentials(changes, at.function)
        _iterables(changes, at.function)
        _segments(changes, at.function)
        turns = _turns(changes, at.function)
    for node, make in spelled(at):
        if node not in turns:
            changes.replace(node, make)
    return changes


def _definitions(changes: Changes, scope: Scope) -> None:
    """Functions that timm notes in a table, and static methods that are given their object."""
    for decorated in scope.nodes(Function):
        for decorator in decorated.decorators:
            if registers(imported(scope, decorator)):
                changes.change(decorator, decorated.undecorate)
    for static, calls in given_itself(scope) if isinstance(scope, Class) else ():
        changes.change(static, partial(bound, calls=calls))


def _past_attributes(changes: Changes, function: Function) -> None:
    """What a constructor sets past `__setattr__`."""
    one_by_name = partial(one_by_one, own=function.receiver, names=Names(function))
    for stored in function.nodes(Assign, ExpressionStatement) if passes_by(function) else ():
        if set_past(function, stored) is not None:
            changes.replace(stored, lambda s: set_past(function, s) or s)
        elif isinstance(stored, ExpressionStatement) and updates(function, stored):
            changes.replace(stored, one_by_name)


def _switches(changes: Changes, function: Function) -> None:
    for off in function.nodes(ExpressionStatement, If):
        if (on := switched_on(function, off)) is not None:
            changes.change(off, partial(switch, on=on))


def _tries(changes: Changes, scope: Scope) -> None:
    gone = set[Node]()
    for attempt in scope.nodes(Try):
        if has_stand_in(scope, attempt):
            changes.change(attempt, without_stand_in)
        else:
            stand_in(changes, attempt, gone)


def _choices(changes: Changes, function: Function) -> None:
    """A choice of what is called once."""
    for choice in function.nodes(Assign, If):
        if (call := chosen_call(function, choice)) is not None:
            changes.replace(call, partial(called, statement=choice))
            changes.remove(choice)


def _segments(changes: Changes, function: Function) -> None:
    for call in function.nodes(Call):
        if runs_segments(function, call):
            if not is_constant(call.arguments[1], 1):  # torch runs the last one once
                changes.report("taken-for-granted", call, KEPT)
            changes.replace(call, in_one)


def _iterables(changes: Changes, function: Function) -> None:
    """A list that has a name only to be gone over."""
    for loop in function.nodes(For):
        if (named := named_iterable(function, loop)) is not None:
            changes.change(loop, partial(put, named=named))
            changes.remove(named.made)


def _sequentials(changes: Changes, function: Function) -> None:
    """What a method gives a name to and calls."""
    for assign in function.nodes(Assign):
        calls = runs_by_name(function, assign)
        for call in calls:
            changes.replace(call, partial(nested_by_name, made=assign.expression))
        if calls:
            changes.remove(assign)


def _turns(changes: Changes, function: Function) -> set[Node]:
    """The calls that become loops."""
    calls = [call for call in function.nodes(Call) if runs_in_turn(function, call)]
    for call in calls:
        changes.change(call, partial(in_a_loop, scope=function))
    return {*calls}


PASS = Pass("canonicalise", (), run)
