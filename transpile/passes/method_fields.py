"""Methods that a module keeps on self: what is kept is a name, and a method chooses.

    if causal:                                 if causal:
        self.pad = self._left                      self.pad_by = "_left"
    else:                                      else:
        self.pad = self._same                      self.pad_by = "_same"
                                           →   def pad(self, x):
                                                   if self.pad_by == "_left":
                                                       return self._left(x)
                                                   return self._same(x)

Kept as a value it would hold the module itself, which is another once a model is traced. A method
that does nothing but choose gives the name as well, `self.pad = self._chosen(causal)`. What stands
in for a method of the class, `self.forward = self._fused`, is asked for at the start of that. And
`self.f = self.fc.forward` is nothing but another name: `self.f(x)` is `self.fc(x)`.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from ..model.copy import clone
from ..model.edits import leave_out
from ..model.expressions import Attribute, Call, Constant, Dictionary, Name, Subscript
from ..model.fallthrough import always_returns
from ..model.names import dotted, everywhere, is_called, is_docstring, is_own, is_target, text
from ..model.node import Expression, Node, Statement
from ..model.operators import Compare, sides
from ..model.program import Class, Function, Parameter, Scope
from ..model.statements import Assign, Block, If, Return
from .pass_ import Changes, Pass


class Chosen(NamedTuple):
    """The methods that a class keeps as `self.name`, each where it is kept."""

    name: str
    stores: list[Attribute]
    kept: list[Attribute]
    methods: list[Function]

    def is_one(self, init: Function) -> bool:
        """Whether it is always the same method, which nothing computes."""
        plain = all(_assigned(t) in self.kept for t in self.stores)
        return not self.methods[1:] and plain and all(t.nearest(Scope) is init for t in self.stores)


def run(scope: Scope, facts: Any = None) -> Changes:
    """Make the methods of one class."""
    changes = Changes(scope)
    if isinstance(scope, Class):
        methods = [s for s in scope.body.body if isinstance(s, Function)]
        init = next((m for m in methods if m.name == "__init__" and m.parameters), None)
        if init is not None:
            for choice in _chosen(scope, methods, init):
                changes.change(choice.stores[0], partial(_choosing, choice, init, scope))
            for store, module, reads in _forwards(scope, init):
                for read in reads:
                    changes.replace(read, partial(_through, module))
                changes.change(store, leave_out)
    return changes


def _chosen(cls: Class, methods: list[Function], init: Function) -> Iterator[Chosen]:
    """The attributes that hold nothing but methods, all called alike."""
    own = {m.name: m for m in methods}
    stores: dict[str, list[Attribute]] = {}
    for target in (t for m in methods for a in m.nodes(Assign) for t in a.targets):
        if isinstance(target, Attribute):
            stores.setdefault(target.name, []).append(target)
    for name, targets in stores.items():
        kept = [_methods(t, own, cls) for t in targets]
        found = [v for one in kept for v in one or ()]
        chosen = list(dict.fromkeys(own[v.name] for v in found))
        free = f"{name}_by" not in {*own, *stores}
        alike = [*chosen, own[name]] if name in own else chosen
        if name in own:  # which others may override, or set on what is built
            free = free and not own[name].decorators and _is_last(cls)
            free = free and all(t.nearest(Scope) is init for t in targets)
        if all(kept) and free and len(set(map(_signature, alike))) == 1:
            yield Chosen(name, targets, found, [m for m in chosen if m is not own.get(name)])


def _forwards(cls: Class, init: Function) -> Iterator[tuple[Assign, str, list[Attribute]]]:
    """The names that a constructor keeps for the forward of a submodule, each with that submodule
    and the calls by the name; both stay what they are once they are set."""
    around = everywhere(cls.file or cls, Attribute)
    for store in [s for s in init.body.body if isinstance(s, Assign)]:
        target, kept = store.targets[0], store.expression
        if not isinstance(target, Attribute) or _assigned(target) is None:
            continue
        held = kept.object if isinstance(kept, Attribute) and kept.name == "forward" else None
        if not is_own(target, init.receiver) or not is_own(held, init.receiver):
            continue
        reads = [a for a in around if a.name == target.name and a is not target]
        set_once = sum(is_target(a) for a in around if a.name == held.name) == 1
        own = all(is_called(a) and is_own(a, _self_name(a.nearest(Function))) for a in reads)
        if own and set_once and _is_last(cls) and all(a.nearest(Class) is cls for a in reads):
            yield store, held.name, reads


def _through(module: str, read: Attribute) -> Attribute:
    return Attribute(clone(read.object), module)


def _is_last(cls: Class) -> bool:
    """Whether no class of the file extends one."""
    bases = (dotted(b) for c in everywhere(cls.file or cls, Class) for b in c.bases)
    return cls.name not in {(base or "").rpartition(".")[2] for base in bases}


def _methods(store: Attribute, own: dict[str, Function], cls: Class) -> list[Attribute] | None:
    """The methods that are kept where `self.name` is assigned; None where it may be anything."""
    method = store.nearest(Scope)
    me = _self_name(method)
    if not is_own(store, me) or method not in own.values():
        return None
    found: list[Attribute] = []
    for value in sides(_assigned(store)):
        if isinstance(value, Subscript) and isinstance(value.object, Dictionary):
            given = [(v, me) for v in value.object.entries[1::2]]
        elif isinstance(value, Call) and is_own(value.function, me):
            given = _given_back(value.function, own, cls)
        else:
            given = [(value, me)]
        for one, name in given:
            if not is_own(one, name) or one.name not in own or _is_read(own[one.name]):
                return None
            found.append(one)
    return found


def _self_name(method: Node | None) -> str | None:
    named = isinstance(method, Function) and method.parameters
    return method.receiver if named and isinstance(method, Function) else None


def _given_back(
    function: Attribute, own: dict[str, Function], cls: Class
) -> list[tuple[Expression | None, str | None]]:
    """What a method gives back, with the name of its self; nothing of it is known where others
    ask for it too, or where it may end without."""
    method = own.get(function.name)
    uses = [a for a in everywhere(cls.file or cls, Attribute) if a.name == function.name]
    if method is None or method.decorators or uses != [function] or not always_returns(method.body):
        return [(None, None)]
    name = _self_name(method)
    returns = [r.expression for r in method.nodes(Return)]
    return [(v, name) for r in returns for v in (sides(r) if r is not None else [None])]


def _assigned(target: Attribute) -> Expression | None:
    """What an assignment to this alone assigns."""
    assign = target.parent
    plain = isinstance(assign, Assign) and not assign.targets[1:] and not assign.operator
    return assign.expression if plain and isinstance(assign, Assign) else None


def _is_static(method: Function) -> bool:
    return [dotted(d) for d in method.decorators] == ["staticmethod"]


def _is_read(method: Function) -> bool:
    """Whether the name of a method is its value, a property's."""
    return any("property" in (dotted(d) or "") for d in method.decorators)


def _parameters(method: Function) -> list[Parameter]:
    """What a call hands over."""
    return method.parameters[0 if _is_static(method) else 1 :]


def _signature(method: Function) -> tuple[Any, ...]:
    """How a method may be called; one with decorators, or without self, is like no other."""
    unlike = method.decorators or not method.parameters or method.parameters[0].kind
    if unlike and not _is_static(method):
        return (method,)
    return tuple((p.name, p.kind, p.default and text(p.default)) for p in _parameters(method))


def _choosing(choice: Chosen, init: Function, cls: Class, _: Node) -> None:
    """Keep the names of the methods, and choose among them in a method of that name."""
    own = next((m for m in cls.body.body if getattr(m, "name", None) == choice.name), None)
    me, one = init.receiver, own is None and choice.is_one(init)
    if one:
        for assign in [a for a in init.nodes(Assign) if a.targets[0] in choice.stores]:
            leave_out(assign)
    else:
        for target in choice.stores:
            target.replace(Attribute(clone(target.object), f"{choice.name}_by"))
        for kept in choice.kept:
            kept.replace(Constant(kept.name))
    if isinstance(own, Function):
        by = Attribute(Name(me), f"{choice.name}_by")
        first = next(s for s in init.body.body if not is_docstring(s))
        init.body.insert_before(first, [Assign([by], Constant(choice.name))])
        first = next(s for s in own.body.body if not is_docstring(s))
        own.body.precede(first, _ways(choice, own.receiver, [*choice.methods, own])[:-1])
        return
    made = Function(choice.name, [Parameter(me)], Block(_ways(choice, me, choice.methods)))
    made.parameters += [clone(p) for p in _parameters(choice.methods[0])]
    made.adopt()
    made.file = cls.file
    made.comments = "\n", ""
    cls.body.insert_after(init, [made])


def _ways(choice: Chosen, me: str, methods: list[Function]) -> list[Statement]:
    """Each of the methods is run under its name, and the last else."""
    ways: list[Statement] = []
    for method in methods:
        call = Call(Attribute(Name(me), method.name))
        for parameter in _parameters(choice.methods[0]):
            call.append(parameter.handed_on(), parameter.name if parameter.kind == "=" else None)
        ways.append(Return(call))
        if method is not methods[-1]:
            by = Attribute(Name(me), f"{choice.name}_by")
            ways[-1] = If(Compare([by, Constant(method.name)], ["=="]), Block([ways[-1]]))
    return ways


PASS = Pass("method_fields", (), run)
