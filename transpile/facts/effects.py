"""What running a function does besides giving a value: read, write, draw, ask for the mode.

Effects are asked after recognise, of nodes: a fixed point over what the calls may run. They are
said by places (`array_paths.py`).
"""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Set

from ..model.effects import NO_EFFECTS, Apply, Effects, Key, Mode, New, Read
from ..model.expressions import Attribute, Call, Name, NamedExpression
from ..model.names import dotted
from ..model.node import Expression, Node
from ..model.program import Class, Function, within
from ..model.rulebook import Rulebook
from ..model.statements import Assign
from .array_paths import (
    WRITING,
    arrays_written,
    path_of,
    path_of_owner,
    paths_given,
    places_of,
    rooted,
    roots_of,
)
from .calls import applied
from .host_effects import Host
from .modules import Modules
from .values.class_values import makers_of
from .values.lattice import BARE, Functions, Module, Torch, classes_of
from .values.lattice import Class as ClassValue
from .values.lattice import Function as FunctionValue

OPEN = Effects(open=True)
_DEEPEST = 12  # parts of a place; of a module that holds its like they would go on for ever
CONVOLUTIONS = frozenset(("conv", "conv_transpose", "conv_tbc", "conv_general_dilated"))
HOLDERS = frozenset(("Container", "Reparametrized"))  # layers that stand for what they hold


class EffectsOf:
    """The effects of functions, calls and blocks; functions are solved when they are asked for."""

    def __init__(self, modules: Modules, rulebook: Rulebook | None = None) -> None:
        self.modules, self.rulebook = modules, rulebook
        self._host = Host(modules.project)
        self._known: dict[Function, tuple[int, Effects]] = {}
        self._solving: dict[Function, Effects] = {}
        self._awaited: set[Function] = set()  # of these, what was asked for before it was known
        self._roots: dict[Function, tuple[int, dict[str, str]]] = {}

    # --- questions --------------------------------------------------------------------------------

    def of(self, function: Function) -> Effects:
        """What running a function does, and what it calls; places from its own parameters."""
        known = self._known.get(function)
        if known is not None and known[0] == function.version:
            return known[1]
        if function in self._solving:  # what is found rests on what is not yet known
            self._awaited.add(function)
            return self._solving[function]
        self._solving[function] = NO_EFFECTS
        while True:
            found = self.of_nodes(within([function.body]), function)
            if function not in self._awaited or found == self._solving[function]:
                break
            self._solving[function] = found
        del self._solving[function]
        self._awaited.discard(function)
        if not self._awaited:
            self._known[function] = function.version, found
        return found

    def of_block(self, block: Node) -> Effects:
        """What running a part of a function does."""
        return self.of_nodes(within([block]), block.nearest(Function))

    def of_nodes(self, nodes: Iterable[Node], function: Function | None) -> Effects:
        roots = self._roots_of(function)
        found = NO_EFFECTS
        for node in nodes:
            if isinstance(node, Function):
                found |= self.of_nodes(within([node.body]), node)  # it may be called anywhere
            else:
                found |= self._of_node(node, roots)
        return found

    def of_call(self, call: Call) -> Effects:
        """What one call in a function does, its arguments left out."""
        return self._of_node(call, self._roots_of(call.nearest(Function)))

    def convolves(self, call: Call) -> bool:
        """Whether a call may run a convolution."""
        seen, todo = set[Function](), [call]
        while todo:
            for function, _ in self.targets(todo.pop()) or ():
                if function in seen:
                    continue
                seen.add(function)
                calls = function.nodes(Apply, Call)
                if any(_last_word(c.function) in CONVOLUTIONS for c in calls):
                    return True
                todo += calls
        return False

    def host(self, node: Node, besides: Set[Node] = frozenset()) -> str | None:
        """What code does to the host, in words, `besides` some nodes: it prints, a generator of
        Python's draws, an iterator moves on; None where it only computes."""
        nodes = (inner for inner in within([node]) if inner not in besides)
        return next(filter(None, map(self._host.does, nodes)), None)

    def acts(self, node: Expression) -> bool:
        """Whether an expression that nobody asks for its value must run still, draws left out."""
        effects = self.of_block(node)
        named = any(isinstance(inner, NamedExpression) for inner in node.walk())
        return bool(effects.writes or effects.open or named or self.host(node) is not None)

    def draws_on_host(self, call: Call) -> bool:
        """Whether a call draws from a generator of Python or NumPy."""
        return self._host.draws(call)

    def targets(self, call: Call) -> list[tuple[Function, str | None]] | None:
        """The functions that a call may run, each with the path of its `self`; None if unknown."""
        value = call.function.value
        if isinstance(value, FunctionValue):
            path = path_of_owner(call.function)
            return [(value.function, path), *((f, path) for f in self.modules.instead(value))]
        if isinstance(value, Functions) and all(f.owner is None for f in value.several):
            return [(f.function, None) for f in value.ordered]
        if isinstance(value, Module) and isinstance(call, Apply) and call.each is not None:
            return self._calls_of_items(value, path_of(call.function))
        if isinstance(value, Module):
            return self._calls_of(value, path_of(call.function))
        if ran := applied(self.modules.project, call.function):
            return [(function, None) for pair in ran for function in pair if function is not None]
        if isinstance(call, New) or isinstance(value, ClassValue):  # of an object that is no module
            refs = classes_of(value) if value else frozenset()
            if not refs and isinstance(call.value, Module) and not call.value.open:
                refs = call.value.classes  # a layer of torch's, which has a name of ours by now
            if refs == BARE:
                return []
            made = self.modules.classes_of(refs)
            makers: list[tuple[Function, str | None]]
            makers = [(m.function, None) for m in makers_of(value)] if value else []
            if not made and not makers:
                return None
            built = [self.modules.find(cls, "__init__") for cls in made]
            return [*((f, "new") for f in built if f is not None), *makers]
        return None

    def given(self, value: Module) -> list[Function] | None:
        """What a module runs that was given, and is checked to take no more than those known."""
        closed = self._calls_of(dataclasses.replace(value, open=False), None)
        return None if closed is None else [function for function, _ in closed]

    def _roots_of(self, function: Function | None) -> dict[str, str]:
        if function is None:
            return {}
        known = self._roots.get(function)
        if known is None or known[0] != function.version:
            known = self._roots[function] = function.version, dict(roots_of(function))
        return known[1]

    # --- nodes ------------------------------------------------------------------------------------

    def _of_node(self, node: Node, roots: dict[str, str]) -> Effects:
        kind = node.__class__
        if kind is Read:
            return Effects(reads=places_of(node, roots))
        if kind in WRITING:
            places = [places_of(read, roots) for read in arrays_written(node)]
            if places or kind is not Call:
                return Effects(writes=frozenset().union(*places))
        if kind is Key:
            return Effects(draws=True)
        if kind is Mode:
            return Effects(mode=True)
        if kind is Apply:
            return self._of_apply(node, roots)  # type: ignore[arg-type]
        if kind is New:
            return self._of_new(node)  # type: ignore[arg-type]
        if kind is Call:
            return self._of_torch(node)  # type: ignore[arg-type]
        return NO_EFFECTS

    def _of_torch(self, call: Call) -> Effects:
        """A call of torch's, before operations has made a key of it."""
        value = call.function.value
        if not isinstance(value, Torch) or self.rulebook is None:
            return NO_EFFECTS
        return Effects(draws=any(rule.asks_for_key for rule in self.rulebook.find(value.name)))

    def _of_new(self, call: New) -> Effects:
        """Building a module draws; what it writes and reads is its own."""
        if call.draws is not None:
            return Effects(draws=call.draws)
        targets = self.targets(call)
        if targets is None:
            return Effects(draws=True)
        return Effects(draws=any(self.of(function).draws for function, _ in targets))

    def _of_apply(self, call: Apply, roots: dict[str, str]) -> Effects:
        targets = self.targets(call)
        if targets is None:
            return OPEN
        found, still = NO_EFFECTS, self.is_still(call)
        for function, path in targets:
            given = dict(paths_given(call, function, path))
            places = {n: rooted(p, roots) if p is not None else None for n, p in given.items()}
            found |= _moved(self.of(function), places)
        return dataclasses.replace(found, draws=False, mode=False) if still else found

    def is_still(self, call: Call) -> bool:
        """Whether what a call runs was made without the dropout that it could have."""
        value = call.function.value
        known = isinstance(call, Apply) and isinstance(value, Module) and not value.open
        return known and value.still and not self._sets_dropout

    @functools.cached_property
    def _sets_dropout(self) -> bool:
        """Whether somebody gives layers another dropout: `m.dropout = p`, `setattr(m, name, p)`."""
        project = self.modules.project
        for function in project.functions():
            me = project.self_name(function)
            for target in (t for a in function.nodes(Assign) for t in a.targets):
                if isinstance(target, Attribute) and target.name == "dropout":
                    if dotted(target.object) != me:
                        return True
            if any(dotted(call.function) == "setattr" for call in function.nodes(Apply, Call)):
                return True
        return False

    def _calls_of(
        self, value: Module, path: str | None
    ) -> list[tuple[Function, str | None]] | None:
        """What runs when a module is called; one that stands for what it holds runs that."""
        classes = [] if value.open else self.called(value)
        runs = [(cls, self.modules.find(cls, "__call__")) for cls in classes]
        holders = [cls for cls in classes if self.is_holder(cls)]
        holds = value.items is not None or value.element is not None
        found: list[tuple[Function, str | None]] = []
        for cls, run in runs:
            if run is None:
                return None
            if not holds or cls not in holders:
                found.append((run, path))
        if not classes or not holders and len(classes) < len(value.classes):
            return found or None  # what is held is in a list that is not called
        if not any(self.is_holder(one) for cls in classes for one in self.modules.lineage(cls)):
            return found  # what a class below nn.TransformerEncoderLayer holds it calls itself
        items = self._calls_of_items(value, path)
        return None if items is None else found + items

    def called(self, value: Module) -> list[Class]:
        """The classes that a module may be of where it is called: none of torch's lists, if it may
        be another. None at all where one is not known."""
        classes = self.modules.classes_of(value.refs)
        lists = [c for c in classes if self.is_holder(c) and not self.modules.find(c, "__call__")]
        return [c for c in classes if c not in lists] or classes

    def _calls_of_items(
        self, value: Module, path: str | None
    ) -> list[tuple[Function, str | None]] | None:
        """What runs when all that a container holds is called."""
        found: list[tuple[Function, str | None]] = []
        for inner in self._items(value):
            below = self._calls_of(inner, None if path is None else f"{path}.*")
            if below is None:
                return None
            found += below
        return found

    def is_holder(self, cls: Class) -> bool:
        """Whether what a layer of torch's runs is what it holds: nn.Sequential, weight_norm(l)."""
        named = (c.name for c in self.modules.lineage(cls))
        return self.modules.is_library(cls) and not HOLDERS.isdisjoint(named)

    def _items(self, value: Module) -> Iterator[Module]:
        values = [v for _, v in value.items] if value.items is not None else [value.element]
        yield from (v for v in values if isinstance(v, Module))


def _last_word(function: Expression) -> str | None:
    return function.id if isinstance(function, Name) else getattr(function, "name", None)


def _moved(effects: Effects, roots: dict[str, str | None]) -> Effects:
    """Effects of a function as its caller sees them: places of its own locals are gone."""

    def place(path: str) -> str:
        head, dot, rest = path.partition(".")
        root = roots.get(head)
        moved = "?" if root is None else root + dot + rest
        return moved if moved.count(".") < _DEEPEST else "?"

    reads, writes = (frozenset(map(place, places)) for places in (effects.reads, effects.writes))
    return Effects(reads, writes, effects.draws, effects.mode, effects.open)
