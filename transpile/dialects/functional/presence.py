"""Whether a module has an array: params and state say so, since it has none as an attribute.

hasattr(self, "w")             "w" in params
hasattr(self.fc, "bias")       True: torch sets it on all ways, to None on some
getattr(self, "w", 4.0)        params.get("w", 4.0)
hasattr(self, "seen")          state.get("seen") is not None, of what the first call is yet to set
hasattr(self, name)            name in params or hasattr(self, name)
"""

import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...facts.definite_assignment import sets
from ...facts.modules import ARRAYS, SUBMODULE, Modules
from ...facts.nullness import possibly_none
from ...facts.values.lattice import Module
from ...model.constants import is_none
from ...model.copy import clone
from ...model.effects import BUFFER, MIXED, PARAM, Read, Write
from ...model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Boolean, Compare, Conditional
from ...model.program import Class, Function


class Held(NamedTuple):
    """How the instances of one class have an attribute. `kind`: param or buffer where params or
    state hold it, "" where the module itself does."""

    kind: str
    certain: bool = True  # it is set on all ways
    none: bool = False  # to None, on some
    late: bool = False  # the state has None until a call sets it
    module: bool = False  # it is a submodule


class Asked(NamedTuple):
    """What a call asks: of which module, under which name, and what stands in for it."""

    module: Expression
    name: Expression
    default: Expression | None  # of getattr
    held: dict[str, list[Held | None]]  # by the names that it may be; None: the class has it not


class Presence:
    """What classes hold, as it is before anything is edited."""

    def __init__(self, modules: Modules, functions: Iterable[Function], stateful: set[str]) -> None:
        self.modules, self.stateful = modules, stateful
        functions = list(functions)
        self._unset = {
            w.target.name
            for f in functions
            for w in f.nodes(Write)
            if isinstance(w.target, Read) and possibly_none(w.value)
        }
        owners = {f.owner for f in functions if f.owner is not None}
        owners |= set(modules.project.classes())
        layers = modules.library.project.classes()  # BatchNorm2d has all from a class above
        owners |= {c for c in layers if not owners.isdisjoint(modules.lineage(c))}
        known = [c for c in owners if modules.is_module(c)]
        self._held = {cls: dict(self._of(cls)) for cls in known}
        self.params = {
            n for held in self._held.values() for n, one in held.items() if one.kind == PARAM
        }
        self._arrays = {n for held in self._held.values() for n, one in held.items() if one.kind}

    def _of(self, cls: Class) -> Iterator[tuple[str, Held]]:
        lineage = self.modules.lineage(cls)
        methods = (self.modules.constructor(c) for c in lineage)
        makers = [m for m in methods if m is not None and m.parameters]
        for name, own in self.modules.fields(cls).items():
            if own.kind not in ARRAYS or not (kind := self._kind(own.kind, name)):
                yield name, Held("", module=own.kind == SUBMODULE)
                continue
            late = all(is_none(v) and v.start < 0 for v in own.values)
            certain = any(sets(m.body, name, m.receiver) for m in makers)
            yield name, Held(kind, certain and not late, any(map(possibly_none, own.values)), late)

    def _kind(self, kind: str, name: str) -> str:
        """What holds an array, as `Plan.holds` says."""
        if kind in (BUFFER, MIXED) and name in self.stateful:
            return BUFFER
        return PARAM if kind in (PARAM, MIXED) else ""

    def held(self, cls: Class) -> dict[str, Held]:
        """What the instances of a class have."""
        return self._held.get(cls, {})

    # --- questions --------------------------------------------------------------------------------

    def asked(self, call: Call, function: Function) -> Asked | None:
        """What a call asks of arrays; None of other calls."""
        word, arguments = dotted(call.function), call.arguments
        count = {"hasattr": (2,), "getattr": (3,)}.get(word or "", ())
        if len(arguments) not in count or any(call.keywords):
            return None
        module, name = arguments[:2]
        classes = self._classes(module, function)
        tables = [self._held.get(cls, {}) for cls in classes]
        written = isinstance(name, Constant)
        names = {name.constant} if isinstance(name, Constant) else {n for t in tables for n in t}
        held = {n: [t.get(n) for t in tables] for n in sorted(names) if isinstance(n, str)}
        if not any(one is not None and one.kind for each in held.values() for one in each):
            return None
        default = arguments[2] if len(arguments) > 2 else None
        return Asked(module, name, default, held) if written or default is None else None

    def _classes(self, module: Expression, function: Function) -> list[Class]:
        value, cls = module.value, function.owner
        me = function.receiver if cls is not None else ""
        if cls is not None and isinstance(module, Name) and module.id == me:
            return [cls, *self.modules.home(cls).descendants(cls)]
        refs: list[Any] = value.refs if isinstance(value, Module) else []
        return [c for c in map(self.modules.class_of, refs) if c is not None]

    def is_open(self, call: Call) -> bool:
        """Whether a call asks a module of any class for what some class keeps among its arrays."""
        if dotted(call.function) not in ("hasattr", "getattr") or len(call.arguments) < 2:
            return False
        module, name = call.arguments[:2]
        value, asked = module.value, isinstance(name, Constant) and name.constant in self._arrays
        return asked and isinstance(value, Module) and (value.open or not value.classes)

    def is_certain(self, asked: Asked) -> bool:
        """Whether it is there on all ways, so that nothing needs to be asked."""
        return all(h is not None and h.certain for each in asked.held.values() for h in each)

    def is_doubtful(self, asked: Asked) -> bool:
        """Whether neither params nor state tell what torch would: it is set to None on some way,
        and not at all on another, and None is in neither."""
        for name, each in asked.held.items():
            here = [h for h in each if h is not None and h.kind]
            certain = all(h is not None and h.certain for h in each)
            if any(h.none and not h.late for h in here) and not certain:
                return True
            if any(h.late for h in here) and name in self._unset:
                return True
        return False

    def is_unset(self, read: Read) -> bool:
        """Whether a call may set an array to None: it is in the state then, and None."""
        return read.name in self._unset

    def kinds(self, asked: Asked) -> set[str]:
        """What has to be at hand to answer: params, the state."""
        if isinstance(asked.name, Constant) and asked.default is None and self.is_certain(asked):
            return set()
        found = (h for each in asked.held.values() for h in each if h is not None)
        return {h.kind for h in found if h.kind}


# --- what is written ------------------------------------------------------------------------------


def answer(asked: Asked, entries: dict[str, Expression]) -> Expression:
    """The condition that a hasattr is; `entries`: params and state of the module, by kind."""
    if not isinstance(asked.name, Constant):
        return _any([*_computed(asked, entries), _attribute("hasattr", asked)])
    each = asked.held[asked.name.constant]
    found: list[Expression] = []
    for kind in sorted({h.kind for h in each if h is not None and h.kind}, reverse=True):
        late = any(h is not None and h.late and h.kind == kind for h in each)
        found.append(_there(asked.name, entries[kind], late))
    if any(h is not None and not h.kind for h in each):
        found.append(_attribute("hasattr", asked))
    return _any(found)


def kept(asked: Asked, entries: dict[str, Expression]) -> Expression:
    """The value that a getattr with a default is."""
    assert isinstance(asked.name, Constant) and asked.default is not None
    each = asked.held[asked.name.constant]
    value: Expression = clone(asked.default)
    if any(h is not None and not h.kind for h in each):
        value = _attribute("getattr", asked)
    certain = all(h is not None and h.certain for h in each)
    for kind in sorted({h.kind for h in each if h is not None and h.kind}):
        here = [h for h in each if h is not None and h.kind == kind]
        value = _item(asked.name, entries[kind], value, here, certain)
    return value


def _item(
    name: Expression, entries: Expression, default: Expression, here: list[Held], certain: bool
) -> Expression:
    get = Call(Attribute(clone(entries), "get"), [clone(name)])
    if certain:
        return get if any(h.none for h in here) else Subscript(clone(entries), clone(name))
    if is_none(default):
        return get
    if not any(h.late for h in here):
        get.append(default)
        return get
    return Conditional(get, Compare([clone(get), Constant(None)], ["is not"]), default)


def _computed(asked: Asked, entries: dict[str, Expression]) -> Iterator[Expression]:
    """Of a name that is computed: what is among the arrays, and what is None and so is not."""
    here = [h for each in asked.held.values() for h in each if h is not None and h.kind]
    for kind in sorted({h.kind for h in here}, reverse=True):
        late = kind == BUFFER
        yield _there(asked.name, entries[kind], late)
    none = [n for n, each in asked.held.items() if any(h and h.kind and h.none for h in each)]
    none = [n for n in none if all(h is not None and h.certain for h in asked.held[n])]
    if none:
        one = len(none) == 1
        among = Constant(none[0]) if one else Display("tuple", list(map(Constant, none)))
        yield Compare([clone(asked.name), among], ["==" if one else "in"])


def _there(name: Expression, entries: Expression, late: bool) -> Expression:
    """Whether an array is there; `late`: it is not there, or None, until a call sets it."""
    if not late:
        return Compare([clone(name), clone(entries)], ["in"])
    get = Call(Attribute(clone(entries), "get"), [clone(name)])
    return Compare([get, Constant(None)], ["is not"])


def _attribute(word: str, asked: Asked) -> Expression:
    given = [asked.module, asked.name, *([asked.default] if asked.default is not None else [])]
    return Call(Name(word), [clone(one) for one in given])


def _any(conditions: list[Expression]) -> Expression:
    return functools.reduce(lambda left, right: Boolean(left, "or", right), conditions)
