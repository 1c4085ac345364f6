"""Which functions and lambdas of the user's an expression may stand for, by whatever way they come there.

    self.fns = [clip_, scale]         FNS = {"clip": clip_}         step = partial(clip_, 2.0)
    self.fns[0](x)                    FNS[name](x)                  step(x)

What is not found is not said: names, attributes, tables, parameters and results are looked through, not the calls of other libraries.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import libcst as cst

from . import tree
from .project import ClassInfo, FunctionInfo, ModuleInfo
from .values import Class, External, Function, Mapping, Method, Module, Sequence, Static, Tensor, Torch

if TYPE_CHECKING:
    from .infer import Inference


class Scope(NamedTuple):
    """Where an expression stands: a function, or a file."""

    module: ModuleInfo
    info: FunctionInfo | None


class Target(NamedTuple):
    """What a call may run."""

    function: FunctionInfo | cst.Lambda
    scope: Scope  # where a lambda stands
    given: int = 0  # how many of its first parameters the arguments of the call do not fill: those that `partial` has; -1 where the first argument is self

    @property
    def name(self) -> str:
        return self.function.qualname if isinstance(self.function, FunctionInfo) else "a lambda"

    def parameters(self) -> list[str]:
        """The parameters that can be bound by name, self left out."""
        if isinstance(self.function, FunctionInfo):
            return [p.name.value for p in self.function.parameters()]
        p = self.function.params
        return [one.name.value for one in (*p.posonly_params, *p.params, *p.kwonly_params)]

    def bound(self, call: cst.Call) -> Iterator[tuple[str, cst.Arg]]:
        """The arguments of a call with the parameters that they may be for: those of `*xs` are for all that are left."""
        node = self.function.node if isinstance(self.function, FunctionInfo) else self.function
        names, star, stars = self.parameters(), node.params.star_arg, node.params.star_kwarg
        others = [star.name.value] if isinstance(star, cst.Param) else []
        positional, i = names[: len(names) - len(node.params.kwonly_params)], self.given
        plain = [a for a in call.args if not a.star]
        filled = {a.keyword.value for a in plain if a.keyword is not None} | set(positional[: max(i, 0) + sum(a.keyword is None for a in plain)])
        for argument in call.args:
            if argument.star == "*":
                yield from ((name, argument) for name in (*positional[max(i, 0) :], *others))
            elif argument.star:
                yield from ((name, argument) for name in names if name not in filled)
            elif argument.keyword is None:
                yield from ((name, argument) for name in (positional[i : i + 1] or others if i >= 0 else ()))
                i += 1
            elif argument.keyword.value in names:
                yield argument.keyword.value, argument
            elif stars is not None:
                yield stars.name.value, argument


class _Origin(NamedTuple):
    """An expression that something gets its value from: all of it, or what it holds."""

    node: Any
    scope: Scope
    held: bool = False


_LISTS = frozenset("list tuple dict reversed sorted iter enumerate zip collections.OrderedDict".split())


class Callables:
    """The way back from the expressions that are called, over all files."""

    def __init__(self, facts: Inference) -> None:
        self.facts = facts
        self.names: dict[tuple[Any, str], list[_Origin]] = collections.defaultdict(list)  # of each function or file
        self.attributes: dict[str, list[tuple[ClassInfo | None, _Origin]]] = collections.defaultdict(list)
        self.calls: dict[FunctionInfo, list[tuple[cst.Call, Scope, int]]] = collections.defaultdict(list)  # with what `Target.given` is of each
        self.found: dict[int, list[Target]] = {}
        self.kept: list[Any] = []  # so that their ids stay their own
        for module in facts.project.modules.values():
            self._scope(module.tree, Scope(module, None))
            for info in module.all_functions:
                self._scope(info.node.body, Scope(module, info))
            for cls in module.all_classes:
                for name, value in cls.assigned.items():
                    self.attributes[name].append((cls, _Origin(value, Scope(module, None))))

    def targets(self, node: Any, scope: Scope) -> list[Target]:
        """The functions and lambdas that an expression may stand for."""
        if id(node) not in self.found:
            self.kept.append(node)
            self.found[id(node)] = list(dict.fromkeys(self._targets(node, scope, set())))
        return self.found[id(node)]

    def methods(self, func: cst.Attribute, scope: Scope) -> list[FunctionInfo]:
        """The methods that `self.transform.frame` may be of plain objects, by the calls of their classes that made these."""
        found: list[FunctionInfo | None] = []
        for made, _, _ in self._origins(_Origin(func.value, scope), set()):
            value = self.facts.of(made.func) if isinstance(made, cst.Call) else None
            if isinstance(value, Class) and isinstance(value.ref, ClassInfo) and not value.ref.is_module:
                found.append(value.ref.find(func.attr.value))
        return [f for f in found if f is not None]

    def holds_function(self, cls: ClassInfo, name: str) -> bool:
        """Whether an attribute may hold a plain function, the user's or another: `always(None)`, `F.relu`, `partial(F.softmax, dim=-1)`."""
        family, seen = cls.family(), set[tuple[int, bool]]()
        return any(self._is_plain(origin, seen) for owner, origin in self.attributes.get(name, ()) if owner in family)

    # ------------------------------------------------------------------ what is bound where

    def _scope(self, body: Any, scope: Scope) -> None:
        for node in tree.scope_nodes(body, cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.For, cst.CompFor, cst.Call, cst.Lambda):
            if isinstance(node, cst.Assign):
                for target in node.targets:
                    self._bind(target.target, _Origin(node.value, scope))
            elif isinstance(node, (cst.AnnAssign, cst.NamedExpr)):
                if node.value is not None:
                    self._bind(node.target, _Origin(node.value, scope))
            elif isinstance(node, (cst.For, cst.CompFor)):
                self._bind(node.target, _Origin(node.iter, scope, held=True))
            elif isinstance(node, cst.Lambda):
                for call in tree.nodes(node.body, cst.Call):
                    self._call(call, scope)
            elif isinstance(node, cst.Call):
                self._call(node, scope)

    def _bind(self, target: Any, origin: _Origin) -> None:
        if isinstance(target, (cst.Tuple, cst.List)):
            display = isinstance(origin.node, (cst.Tuple, cst.List)) and not origin.held and len(origin.node.elements) == len(target.elements)
            for i, element in enumerate(target.elements):
                self._bind(element.value, origin._replace(node=origin.node.elements[i].value) if display else origin._replace(held=True))
        elif isinstance(target, cst.Name):
            self.names[origin.scope.info or origin.scope.module, target.value].append(origin)
        elif isinstance(target, cst.Attribute):
            owner = _owner(origin.scope.info) if self._is_self(target.value, origin.scope) else None
            self.attributes[target.attr.value].append((owner, origin))
        elif isinstance(target, cst.Subscript):
            self._bind(target.value, origin._replace(node=cst.List([cst.Element(origin.node)])))

    def _call(self, call: cst.Call, scope: Scope) -> None:
        value = self.facts.of(call.func)
        func: Any = call.func
        if isinstance(func, cst.Attribute) and func.attr.value in ("append", "insert") and call.args:
            self._bind(func.value, _Origin(cst.List([cst.Element(call.args[-1].value)]), scope))
        called: Any = None
        if isinstance(value, Function):
            called = value.info
        elif isinstance(value, Class) and isinstance(value.ref, ClassInfo):
            called = value.ref.find("__init__")
            for argument in call.args if called is None else ():  # of a dataclass
                if argument.keyword is not None:
                    self.attributes[argument.keyword.value].append((value.ref, _Origin(argument.value, scope)))
        elif isinstance(func, cst.Attribute) and tree.code(func.value).startswith("super(") and (owner := _owner(scope.info)) is not None:
            called = owner.above(func.attr.value)
        if isinstance(called, FunctionInfo):
            self.calls[called].append((call, scope, -1 if isinstance(value, Function) and is_unbound(value, func) else 0))

    def _is_self(self, node: Any, scope: Scope) -> bool:
        method = scope.info.method if scope.info is not None else None
        return method is not None and isinstance(node, cst.Name) and node.value == method.self_name

    # ------------------------------------------------------------------ the way back

    def _targets(self, node: Any, scope: Scope, seen: set[tuple[int, bool]]) -> Iterator[Target]:
        for origin in self._origins(_Origin(node, scope), seen):
            made, place = origin.node, origin.scope
            value = self.facts.of(made)
            if isinstance(made, cst.Lambda):
                yield Target(made, place)
            elif isinstance(value, Function):
                yield from self._meant_by(value, made, place)
            elif isinstance(made, cst.Call) and not isinstance(value, Module):
                yield from self._of_call(made, place, seen)
            elif made is not node and isinstance(made, cst.Attribute) and made.attr.value != "forward" and is_of_object(value):
                yield from (Target(cls.methods[made.attr.value], place) for cls in self.facts.owners.get(made.attr.value, ()))

    def _meant_by(self, value: Function, node: Any, scope: Scope) -> list[Target]:
        """A function; of a method also those of subclasses that override it."""
        info, owner = value.info, value.owner
        others = owner.overriding(info.name) if owner is not None and info.owner is not None and not value.base else []
        return [Target(f, scope, -1 if is_unbound(value, node) else 0) for f in dict.fromkeys([info, *others])]

    def _of_call(self, node: cst.Call, scope: Scope, seen: set[tuple[int, bool]]) -> Iterator[Target]:
        """What a call makes that can be called: `partial(f, 2)`, an object with `__call__`, what a function returns."""
        value, asked = self.facts.of(node.func), _asked(node)
        if asked is not None:
            yield from (Target(cls.methods[asked], scope) for cls in self.facts.owners.get(asked, ()))
        elif tree.dotted(node.func) in ("partial", "functools.partial") and node.args:
            count = sum(1 for a in node.args[1:] if a.keyword is None and not a.star)
            yield from (t._replace(given=t.given + count) for t in self._targets(node.args[0].value, scope, seen))
        elif isinstance(value, Class) and isinstance(value.ref, ClassInfo):
            found = value.ref.find("__call__")
            yield from [] if found is None else [Target(found, scope)]
        else:
            for target in self._targets(node.func, scope, seen):
                yield from self._returned(target, seen)

    def _is_plain(self, origin: _Origin, seen: set[tuple[int, bool]]) -> bool:
        """Whether an expression may be a function that is no module."""
        for made, scope, _ in self._origins(origin, seen):
            value = self.facts.of(made)
            layer = isinstance(value, Torch) and self.facts.rulebook.layer(value.name) is not None
            if isinstance(made, cst.Lambda) or isinstance(value, (Function, Torch, External)) and not layer:
                return True
            if isinstance(made, cst.Call) and not (isinstance(value, Module) and not value.open) and any(self._is_plain(o, seen) for o in self._made_by(made, scope)):
                return True
        return False

    def _made_by(self, call: cst.Call, scope: Scope) -> Iterator[_Origin]:
        """What a call may give: what a function of the user's returns, or the function that `partial` is given."""
        if tree.dotted(call.func) in ("partial", "functools.partial") and call.args:
            yield _Origin(call.args[0].value, scope)
            return
        for target in self.targets(call.func, scope):
            if isinstance(target.function, cst.Lambda):
                yield _Origin(target.function.body, target.scope)
            else:
                info = target.function
                yield from (_Origin(n.value, Scope(info.module, info)) for n in tree.scope_nodes(info.node.body, cst.Return) if n.value is not None)

    def _returned(self, target: Target, seen: set[tuple[int, bool]]) -> Iterator[Target]:
        if isinstance(target.function, cst.Lambda):
            yield from self._targets(target.function.body, target.scope, seen)
            return
        info = target.function
        for node in tree.scope_nodes(info.node.body, cst.Return):
            if isinstance(node.value, (cst.Name, cst.Attribute, cst.Lambda, cst.IfExp, cst.Subscript)):
                yield from self._targets(node.value, Scope(info.module, info), seen)

    def _origins(self, origin: _Origin, seen: set[tuple[int, bool]]) -> Iterator[_Origin]:
        """The expressions, other than names and choices, that one gets its value from; those that have been seen are left out."""
        node, scope, held = origin
        if (id(node), held) in seen:
            return
        seen.add((id(node), held))
        self.kept.append(node)
        value = self.facts.of(node)
        if (isinstance(value, (Function, Torch)) or isinstance(value, Module) and not value.open) and not held:
            yield origin
            return
        for inner in self._inside(node, scope, held):
            yield from self._origins(inner, seen)
        if not held and isinstance(node, (cst.Lambda, cst.Call, cst.Attribute)):
            yield origin

    def _inside(self, node: Any, scope: Scope, held: bool) -> Iterator[_Origin]:
        if isinstance(node, cst.IfExp):
            yield from (_Origin(side, scope, held) for side in (node.body, node.orelse))
        elif isinstance(node, cst.BooleanOperation):
            yield from (_Origin(side, scope, held) for side in (node.left, node.right))
        elif isinstance(node, cst.NamedExpr):
            yield _Origin(node.value, scope, held)
        elif isinstance(node, cst.Name):
            yield from (o._replace(held=o.held or held) for o in self._of_name(node.value, scope))
        elif isinstance(node, cst.Attribute):
            yield from self._of_attribute(node.value, node.attr.value, scope, held)
        elif isinstance(node, cst.Subscript):
            yield _Origin(node.value, scope, True)
        elif isinstance(node, cst.Call):
            yield from self._through(node, scope, held)
        elif held and isinstance(node, (cst.List, cst.Tuple, cst.Set, cst.Dict)):
            for element in node.elements:  # `for name, f in [("clip", clip_), …]` gets what the pairs hold
                inner: Any = element.value
                yield _Origin(inner, scope, isinstance(inner, (cst.Tuple, cst.List)))
        elif held and isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.DictComp)):
            yield _Origin(node.value if isinstance(node, cst.DictComp) else node.elt, scope)

    def _through(self, node: cst.Call, scope: Scope, held: bool) -> Iterator[_Origin]:
        """`getattr(self, "step")`, `FNS.get(name, default)`, `list(fns)`."""
        func, asked = node.func, _asked(node)
        if asked is not None:
            yield from self._of_attribute(node.args[0].value, asked, scope, held)
        elif held and self.facts.of(func) == External("builtins.map") and node.args:
            self.kept.append(each := cst.Call(node.args[0].value))
            yield _Origin(each, scope)
        elif isinstance(func, cst.Attribute) and func.attr.value in ("get", "pop", "values", "items", "setdefault") and not isinstance(self.facts.of(func.value), (Module, Tensor)):
            yield _Origin(func.value, scope, True)
            yield from (_Origin(a.value, scope, held) for a in node.args[1:])
        elif held and isinstance(value := self.facts.of(func), External) and value.name.removeprefix("builtins.") in _LISTS:
            yield from (_Origin(a.value, scope, a.keyword is None) for a in node.args)

    def _of_attribute(self, base: Any, name: str, scope: Scope, held: bool) -> Iterator[_Origin]:
        """What is assigned to attributes of a name: of self, by its own classes."""
        own = _owner(scope.info) if self._is_self(base, scope) else None
        family = own.family() if own is not None else None
        for owner, origin in self.attributes.get(name, ()):
            if family is None or owner is None or owner in family:
                yield origin._replace(held=origin.held or held)

    def _of_name(self, name: str, scope: Scope) -> Iterator[_Origin]:
        """What a name of a function, of one around it, or of a file may be bound to."""
        info = scope.info
        while info is not None:
            bound = self.names.get((info, name), [])
            if bound or name in tree.parameter_names(info.node):
                yield from bound
                yield from self._given(info, name)
                return
            info = info.outer
        found = self.facts.project.definition(scope.module, name)
        if isinstance(found, cst.BaseExpression):
            yield from (o for m in self.facts.project.modules.values() if found in m.assigned.values() for o in self.names.get((m, name), []) or [_Origin(found, Scope(m, None))])

    def _given(self, info: FunctionInfo, name: str) -> Iterator[_Origin]:
        """What calls give for a parameter, and its default."""
        for parameter in info.parameters():
            if parameter.name.value == name and parameter.default is not None:
                yield _Origin(parameter.default, Scope(info.module, info.outer))
        for call, scope, given in self.calls.get(info, ()):
            yield from (_Origin(a.value, scope, bool(a.star)) for n, a in Target(info, scope, given).bound(call) if n == name)


def is_of_object(value: Any) -> bool:
    """Whether an attribute may be a method of a plain object of the user's: `step` after `step = stepper.step`."""
    return isinstance(value, Method) and not isinstance(value.receiver, (Tensor, Torch, Static, Sequence, Mapping, Module))


def _asked(node: cst.Call) -> str | None:
    """The attribute that `getattr(self, "step")` asks for."""
    word = node.args[1].value if tree.dotted(node.func) == "getattr" and len(node.args) > 1 else None
    return str(word.evaluated_value) if isinstance(word, cst.SimpleString) else None


def is_unbound(value: Function, node: Any) -> bool:
    """Whether a method is taken from its class, so that self is the first argument: `Base.step` of `Base.step(self, x)`."""
    return value.base and value.info.takes_self and not (isinstance(node, cst.Attribute) and tree.code(node.value).startswith("super("))


def _owner(info: FunctionInfo | None) -> ClassInfo | None:
    method = info.method if info is not None else None
    return method.owner if method is not None else None
