"""The function that is looked at, and what holds at the statement that the walk is at."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from ...facts.bindings import Liveness, bound
from ...facts.borrowed_params import is_gone
from ...facts.memory import Solved, Taken
from ...facts.memory.access_paths import of, on_module
from ...facts.memory.inplace_names import is_tensor
from ...facts.memory.writes import written_root
from ...facts.modules import ARRAYS
from ...facts.program import ProgramFacts
from ...facts.shapes.layer_sizes import handed_to_layers
from ...facts.values.attribute_names import PARAMETERS
from ...facts.values.lattice import UNKNOWN, External, Method, Module, Sequence, Tensor
from ...facts.values.solve import with_callers
from ...model.copy import clone
from ...model.effects import Declare, Read, Walk
from ...model.expressions import Attribute, Call, Display, Name, Subscript
from ...model.fresh_names import Names
from ...model.layers import layers
from ...model.names import below, dotted, everywhere, names_assigned, target_names
from ...model.node import Expression, Node, Statement
from ...model.operators import Conditional
from ...model.program import File, Function, Scope
from ...model.statements import Assign, For
from ..pass_ import Changes
from . import nodes

_PARAMETERS = frozenset(
    "parameters named_parameters buffers named_buffers _parameters _buffers".split()
)

_SHAPES = frozenset(
    "shape size dim ndim ndimension numel nelement dtype device type is_cuda "
    "is_floating_point is_complex".split()
)


class Frame:
    """One function on its way through the pass."""

    def __init__(self, scope: Function | File, facts: ProgramFacts) -> None:
        self.scope, self.facts, self.memory = scope, facts, facts.memory
        self.changes = Changes(scope)
        self.spellings, self.views = self.memory.spellings, self.memory.spellings.views
        self.traced = facts.stage(scope) in ("traced", None)
        self.flow = self.memory.state(scope)
        self._names: Names | None = None
        # of returns that give what the function has written: their own value, and the names of it
        self.extra: dict[Statement, tuple[Expression | None, tuple[str, ...]]] = {}
        self.given_back: frozenset[str] = frozenset()  # which each way out of the function reads
        self.rows: list[tuple[For, str]] = []  # loops around that go over a tensor's rows
        self.stale: set[For] = set()  # of those, which go by index: their rows are written
        # of the current statement
        self.state: Solved = self.flow
        self.statement: Statement | None = None  # as it stands in the program
        self.current: Statement | None = None  # the copy of it that is edited
        self._live: frozenset[str] | None = None  # names that are read after it, if it was asked
        self.inside: frozenset[str] = frozenset()  # those that its body reads, at its head
        self.rebound: frozenset[str] = frozenset()  # names that it sets anew
        self.chosen = 0  # how many choices are around the current expression
        self.before: list[Statement] = []  # statements that come before it
        self.after: list[Statement] = []  # and after it: what follows a write, or raises
        self.taken: Taken | None = None  # the call in it that takes back what it changes
        self.copies: dict[Node, Node] = {}  # for each of its nodes, that of the copy
        self.reshaped: dict[Node | None, str | None] = {}  # of the calls that are edited
        self.poisoned: set[str] = set()  # paths that raise where they are read after it

    @contextlib.contextmanager
    def at(self, statement: Statement, copy: Statement) -> Iterator[None]:
        """While it is active, a statement is the current one, with nothing before and after it."""
        self.statement, self.current = statement, copy
        self.state = self.flow.copy(self.flow.before.get(statement, self.flow.env))
        self._live = None
        self.rebound, self.inside, self.before, self.after = frozenset(), frozenset(), [], []
        self.taken, self.poisoned = self.memory.results.taken(statement), set()
        self.copies = dict(zip(statement.walk(), copy.walk())) if self.taken is not None else {}
        yield

    @functools.cached_property
    def own(self) -> set[str]:
        """The names that the function binds."""
        return {*bound(self.scope.body), *(p.name for p in getattr(self.scope, "parameters", ()))}

    @functools.cached_property
    def liveness(self) -> Liveness:
        scope = self.scope
        at_end = frozenset(bound(scope.body)) if isinstance(scope, File) else frozenset()
        unread = frozenset() if self.memory.reshapes else frozenset(_asked_for_shape(scope))
        return Liveness(scope, at_end, unread)  # type: ignore[arg-type]

    @property
    def live(self) -> frozenset[str]:
        """The names that are read after the current statement."""
        if self._live is None:
            after = self.liveness.after.get(self.statement, frozenset())  # type: ignore[arg-type]
            self._live = after | self.given_back
        return self._live

    @live.setter
    def live(self, names: frozenset[str]) -> None:
        self._live = names

    def is_taken(self, call: Call) -> bool:
        """Whether a call, of the copy, is the one that takes back what it changes."""
        return self.taken is not None and self.copies.get(self.taken.call) is call

    def reshapes(self, call: Node | None) -> str | None:
        """What a call in place does to the shape of its tensor, as it was before it was edited."""
        if call in self.reshaped:
            return self.reshaped[call]
        return self.spellings.reshapes(call)

    def before_with_followers(self, made: list[Statement]) -> None:
        """Put a write before the current statement, which reads what was written, and what must
        follow the write as well."""
        self.before += [*made, *self.after]
        self.after = []

    # --- names -----------------------------------------------------------------------------------

    def fresh(self, stem: str) -> str:
        """A name that the function does not use."""
        if self._names is None:
            self._names = Names(self.scope, self.own)
        return self._names.fresh(stem)

    def named(self, path: str) -> Expression:
        """A path as an expression."""
        sample = self.state.paths.samples.get(path)
        if sample is None or isinstance(sample, Name):
            value = of(sample)
            return nodes.name(path, value if isinstance(value, Tensor) else None)
        made, stated = clone(sample), sample.parent
        if isinstance(stated, Declare) and isinstance(sample, Attribute):
            if stated.kind in ARRAYS:
                made = Read(clone(sample.object), sample.name, stated.kind)
                made.value = sample.value
        if not isinstance(of(made), Tensor):
            made.value = Tensor()
        return made

    def reached(self, path: str) -> list[str]:
        """The names that are read later and may have the memory of this one; what stands on
        modules outlives the call."""
        kept = {p for p in self.state.env if on_module(p) and p != "self.getattr"}
        reached = [p for p in self.state.sharing(path, self.live | kept) if p not in self.sizes]
        values, samples = self.memory.program.values, self.state.paths.samples
        return [p for p in reached if not is_gone(values, samples.get(p), self.scope, self.live)]

    @functools.cached_property
    def sizes(self) -> frozenset[str]:
        """The names that have no memory: layers take them for sizes."""
        return handed_to_layers(self.scope)

    def is_read_later(self, path: str) -> bool:
        """Whether what a write of this name changes is read after the statement."""
        return path in self.live or on_module(path) or bool(self.reached(path))

    # --- what expressions are --------------------------------------------------------------------

    def is_tensor(self, node: Any) -> bool:
        value = of(node)
        if isinstance(value, Method) and not isinstance(value.receiver, Sequence):
            named = isinstance(node, Attribute)
            return named and node.name in layers(self.spellings.rulebook).array_names
        return is_tensor(node)

    def holds_self(self, node: Any) -> bool:
        """`self.t` in a method of a class that is no module."""
        owner = self.state.owner
        if not isinstance(node, Attribute) or owner is None or isinstance(node, Read):
            return False
        return self.state.paths.is_self(node.object) and not self.memory.program.project.is_module(
            owner
        )

    def goes_over_params(self, node: Any) -> bool:
        """Whether a name is that of a loop over the params of a module: `for p in
        self.parameters()`."""
        if not isinstance(node, Name):
            return False
        loops = [n for n in everywhere(self.scope, For, Walk) if binds(n, node.id)]
        param = getattr(of(node), "param", False)
        return bool(loops) and (param or any(_over_parameters(loop) for loop in loops))

    def is_walked(self, node: Name) -> bool:
        """Whether such a name stands for the params of known modules alone, one each turn:
        `for p, q in zip(self.k.parameters(), self.q.parameters())`; and nothing else that is read
        later is one of these."""
        assert self.statement is not None
        around = (n for n in self.statement.ancestors() if isinstance(n, For))
        loop = next((n for n in around if binds(n, node.id)), None)
        bound = [a for a in everywhere(self.scope, Assign) if node.id in names_assigned(a)]
        if loop is None or bound or not all(map(_gives_params, below(loop.iterable, Call))):
            return False
        others = self.live - set(target_names(loop.target))
        kept = any(on_module(p) for name in others for p in self.state.outer(name))
        return not kept and not self.params_are_named_by_callers

    @functools.cached_property
    def params_are_named_by_callers(self) -> bool:
        """Whether what calls this function may have a name for a param, `w = self.k.weight`, which
        does not follow what this function writes."""
        program = self.memory.program
        functions = list(program.project.functions())
        callers = with_callers(program.values.calls, [self.scope], functions) - {self.scope}  # type: ignore[list-item]
        made = (a for function in callers for a in everywhere(function, Assign))
        return any(getattr(of(a.expression), "param", False) for a in made)

    def is_elsewhere(self, node: Any) -> bool:
        """Whether an array is written by a name that does not tell where it is:
        `b = getattr(self, name)`, or an entry of a list of params."""
        if isinstance(node, Call):
            return dotted(node.function) == "getattr"
        if isinstance(node, Subscript):
            return getattr(of(node), "param", False) and isinstance(of(node.object), Sequence)
        if not isinstance(node, Name):
            return False
        made = [
            a.expression
            for a in everywhere(self.scope, Assign)
            if any(node.id in target_names(t) for t in a.targets)
        ]
        roots = [written_root(side, self.views) for m in made for side in _sides(m)]
        calls = [m for m in roots if isinstance(m, Call) and dotted(m.function) == "getattr"]
        if any(is_tensor(call) or of(call) in (None, UNKNOWN) for call in calls):
            return True
        held = [m for m in made if isinstance(m, Subscript) and isinstance(of(m.object), Sequence)]
        first = [m for m in made if isinstance(m, Call) and dotted(m.function) == "next"]
        return getattr(of(node), "param", False) and bool(held or first)

    def is_computed(self, node: Any) -> bool:
        """Whether a constructor writes an array of its own under a name that the run tells."""
        asks = isinstance(node, Call) and dotted(node.function) == "getattr"
        if self.traced or not asks or len(node.arguments) != 2 or not is_tensor(node):
            return False
        return self.state.paths.is_self(node.arguments[0])

    def is_outer(self, node: Any) -> bool:
        """Whether a name is one of the function or file around: bound here, it would be another."""
        return isinstance(node, Name) and node.id not in self.own

    def property_of(self, node: Any) -> Function | None:
        """The property of a module that gives what is written: `self.u` of `self.u[:] = v`."""
        base = of(node.object) if isinstance(node, Attribute) else None
        if not isinstance(base, Module) or isinstance(node, Read):
            return None
        project = self.memory.program.project
        for ref in base.refs:
            found = project.find(ref, node.name) if not isinstance(ref, str) else None
            if found is not None and project.is_property(found):
                return found
        return None

    def unconverted(self, id: str, node: Node, message: str) -> Expression:
        """Report; what raises where its value is needed."""
        if self.statement is not None and all(n.origin is None for n in (node, *node.walk())):
            node = self.statement  # of what this pass has made itself
        self.changes.report(id, node, message)
        return nodes.poison(id, node)  # type: ignore[arg-type]


def _asked_for_shape(scope: Scope) -> Iterator[Node]:
    """Names of arrays that are asked only for what no write changes: x of `x.size(0)`."""
    for node in everywhere(scope, Attribute):
        if node.name in _SHAPES and isinstance(node.object, Name) and is_tensor(node.object):
            yield node.object


def binds(loop: For, id: str) -> bool:
    return id in target_names(loop.target)


def _gives_params(call: Call) -> bool:
    value = of(call.function)
    if isinstance(value, Method) and isinstance(value.receiver, Module):
        return value.name in PARAMETERS and not call.arguments
    return value in (External("builtins.zip"), External("builtins.enumerate"))


def _over_parameters(loop: For) -> bool:
    return any(isinstance(n, Attribute) and n.name in _PARAMETERS for n in loop.iterable.walk())


def _sides(value: Expression | None) -> Iterator[Expression]:
    """What a value, or an element of it, may be: both sides of a choice."""
    if isinstance(value, Conditional):
        yield from _sides(value.body)
        yield from _sides(value.orelse)
    elif isinstance(value, Display):
        for element in value.elements:
            yield from _sides(element)
    elif value is not None:
        yield value
