"""What the value of an expression may share memory with."""

from collections.abc import Callable
from typing import Any

from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Display,
    ForClause,
    Lambda,
    Name,
    NamedExpression,
    Starred,
    Subscript,
)
from ...model.names import index_parts, is_inplace, last_word
from ...model.node import Expression
from ...model.operators import Binary, Boolean, Conditional
from ...model.program import Function
from ..calls import Target
from ..casts import is_cast, is_copy
from ..values import lattice
from ..values.lattice import (
    NUMPY,
    UNKNOWN,
    External,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    is_anything,
)
from . import indices
from .access_paths import of
from .call_effects import Calling
from .copying_calls import is_moved, may_be_moved, moves_apart
from .flow_state import COMPUTED
from .inplace_names import is_tensor
from .locations import NOTHING, Part, Places, union

# Methods of what may be a dict, by which it gives what it holds.
_HOLDERS = frozenset({"items", "values", "get", "setdefault", "pop"})
# Python's functions that give back what they are given, or what holds it.
HANDING_ON = frozenset(
    "list tuple dict reversed sorted zip enumerate iter next filter max min copy.copy "
    "itertools.chain collections.OrderedDict collections.deque".split()
)


class Sharing(Calling):
    """Which memory an expression may lie in."""

    def bind(self, target: Any, value: Expression | Part) -> None:
        """Move past the assignment of a value to a target."""
        raise NotImplementedError

    def view_base(self, node: Any) -> str | None:
        """The path that an expression is a certain view of: `base[...]`, `base.view(...)`,
        `base.T`, `base.data.view(-1)[1:]`. What may be a copy is none of what is no name."""
        viewed = self._viewed(node)
        path = self.path(viewed) if viewed is not None else None
        if viewed is None or path is not None:
            return path
        copied = is_cast(node) or is_cast(viewed) or may_be_moved(node)
        return None if copied else self.view_base(viewed)

    def _viewed(self, node: Any) -> Expression | None:
        """What an expression is a certain view of."""
        if isinstance(node, Subscript) and is_tensor(node.object):
            return node.object if indices.kind(node.index) == "basic" else None
        if isinstance(node, Call) and isinstance(node.function, Attribute):
            kind = self.views.get(node.function.name)
            known = isinstance(of(node.function), Method) or is_tensor(node.function.object)
            if known and kind in ("same", "reshape", "swap", "part"):
                return node.function.object if not is_copy(node) else None
        if isinstance(node, Attribute) and node.name in ("T", "mT", "data"):
            return node.object
        return None

    def shares(self, node: Expression | Part) -> Places:
        if isinstance(node, Part):  # the keys of a dict
            keys = isinstance(of(node.value), Mapping)
            return NOTHING if keys else self.shares(node.value)
        value = of(node)
        if isinstance(value, Static) and value != NUMPY:
            return NOTHING
        if isinstance(value, lattice.Function) and isinstance(node, (Name, Attribute)):
            target = Target(value.function)  # what is called with its result has that of it
            return self.around(self.passes(target)) if self.is_inside(target) else NOTHING
        found = _FORMS.get(node.__class__)
        if found is not None:
            return found(self, node)
        if isinstance(node, Attribute):
            return self._of_attribute(node)
        return self._of_call(node) if isinstance(node, Call) else NOTHING

    def defaults(self, node: Function | Lambda) -> Places:
        """What a function keeps by its parameters: `def scaled(x, by=h)` the memory of h."""
        return union(self.shares(p.default) for p in node.parameters if p.default is not None)

    def _of_name(self, node: Name) -> Places:
        known = isinstance(of(node), (Module, External, Torch))
        return NOTHING if known else self.places(node.id)

    def _of_attribute(self, node: Attribute) -> Places:
        name, value = self.name(node), of(node)
        if self.paths.is_array(node) and (path := self.path(node)) is not None:
            return self.places(path)
        if name is not None:
            held = isinstance(value, (Tensor, Sequence, Mapping)) or value in (UNKNOWN, NUMPY)
            return self.places(name) if held else NOTHING
        passed_on = node.name in self.views or self.is_kept(node)
        return self.shares(node.object) if passed_on else NOTHING

    def _of_subscript(self, node: Subscript) -> Places:
        if is_tensor(node.object):
            for place in index_parts(node.index):
                index = of(place)
                copied = isinstance(index, Tensor) and not index.assumed
                if copied or indices.copies(place):
                    return NOTHING
        return self.shares(node.object)

    def _of_binary(self, node: Binary) -> Places:
        """Of lists: a sum, or one several times."""
        sides = [node.left, node.right]
        held = isinstance(of(node), Sequence) or any(isinstance(s, Display) for s in sides)
        return union(map(self.shares, sides)) if held else NOTHING

    def _of_comprehension(self, node: Comprehension) -> Places:
        """What the element of a comprehension shares, in any of its turns."""
        return self._of_each(node.clauses, node.element)

    def _of_each(self, clauses: list[ForClause], element: Expression) -> Places:
        if not clauses:
            return self.shares(element)
        first = clauses[0]
        inner: Callable[[], Places] = lambda: self._of_each(clauses[1:], element)
        return self.with_target(first.target, Part(first.iterable), inner)

    def with_target(
        self, target: Any, value: Expression | Part, element: Callable[[], Places]
    ) -> Places:
        """What an expression shares where a target has a value."""
        before = dict(self.env)
        self.bind(target, value)
        found = element()
        self.env = before
        return found

    # --- calls -----------------------------------------------------------------------------------

    def _of_call(self, node: Call) -> Places:
        value, spellings = of(node.function), self.program.spellings
        if self.is_computed(node):
            return self.places(COMPUTED)
        if isinstance(value, Method) and isinstance(node.function, Attribute):
            return self._of_method(node, node.function, value)
        if spellings.is_handed(node):
            return self.shares(node.arguments[0]) if spellings.says_inplace(node) else NOTHING
        if isinstance(value, Torch):
            last = value.name.rpartition(".")[2]
            if last in spellings.keeping:
                return union(map(self.shares, node.arguments))
            passed_on = last in self.views or last.endswith("_") or spellings.says_inplace(node)
            out = node.keyword("out")
            given = out if out is not None else node.arguments[0] if node.arguments else None
            on = passed_on or out is not None
            return self.shares(given) if on and given is not None else NOTHING
        return self._of_others(node, value)

    def _of_others(self, node: Call, value: lattice.Value) -> Places:
        everything: Callable[[], Places] = lambda: union(map(self.shares, node.arguments))
        if isinstance(value, Module):
            if self.passes_on(value):
                return everything()
            if not value.open:
                return self._of_functions(node)
        if value == External("builtins.map") and node.arguments:
            return self.of_map(node.arguments[0], node.arguments[1:])
        if value == External("einops.rearrange"):
            given = node.arguments and not moves_apart(node)
            return self.shares(node.arguments[0]) if given else NOTHING
        handing = isinstance(value, External) and value.name.removeprefix("builtins.") in HANDING_ON
        if handing or self.makes_object(node.function):
            return everything()
        return self._of_functions(node) | self._of_parameter(node)

    def _of_functions(self, node: Call) -> Places:
        return union(self.handed(t, node, self.passes(t)) for t in self.functions_called(node))

    def _of_method(self, node: Call, function: Attribute, value: Method) -> Places:
        copied = value.name == "keys" or is_moved(node, function) or is_copy(node)
        if isinstance(value.receiver, Module) or copied:
            return NOTHING
        receiver = function.object
        if value.name in _HOLDERS and node.arguments:  # `d.get("a", z)`
            return self.shares(receiver) | union(map(self.shares, node.arguments))
        holds = isinstance(value.receiver, (Sequence, Mapping)) or value.name in _HOLDERS
        if value.name in self.views or is_inplace(value.name) or holds:
            return self.shares(receiver)
        return self._of_functions(node)

    def passes_on(self, value: Module) -> bool:
        """Whether a layer of torch's may give back what it is given, or a view of it: nn.Identity,
        nn.Flatten, an empty nn.Sequential."""
        kinds = {r.rpartition(".")[2].lower() for r in value.classes if isinstance(r, str)}
        same = any(self.views.get(k) == "same" or k in ("identity", "flatten") for k in kinds)
        if value.inplace is not False or same:
            return True
        held = [v for _, v in value.items or ()]
        if value.items is None and value.element is not None:
            held = [value.element]
        through = all(isinstance(v, Module) and self._passes_argument(v) for v in held)
        return "sequential" in kinds and through

    def _passes_argument(self, value: Module) -> bool:
        """Whether a module may give back an argument."""
        own = any(self.passes(t).parameters for t in self.forwards(value))
        return self.passes_on(value) or own

    def of_map(self, function: Expression, arguments: list[Expression]) -> Places:
        """What `map(f, xs, ys)` gives: what f returns of each."""
        found = NOTHING
        for target in self.targets(function):
            passed, known = self.passes(target), self.program.calls.parameters(target)
            names = [p.name for p in known if p.kind != "="][max(target.given, 0) :]
            rest = [p.name for p in target.function.parameters if p.kind == "*"]
            for i, argument in enumerate(arguments):
                name = names[i] if i < len(names) else rest[0] if rest else None
                if name in passed.parameters:
                    found |= self.shares(argument)
            if self.is_inside(target):
                found |= self.around(passed)
        return found

    def makes_object(self, function: Expression) -> bool:
        """Whether a call makes an object, which keeps what it is made of: of a class, also of
        another library's, or of a namedtuple's."""
        value = of(function)
        if isinstance(value, lattice.Class):
            return not isinstance(value.ref, str)
        if isinstance(value, External):
            return value.name.rpartition(".")[2][:1].isupper()
        if not isinstance(function, Name) or not is_anything(value) or function.file is None:
            return False
        made = self.project.definition(function.file, function.id)
        if not isinstance(made, Call):
            return False
        last = last_word(made.function)
        return last in ("namedtuple", "NamedTuple", "make_dataclass")

    def _of_parameter(self, node: Call) -> Places:
        """What a function that was passed in may give back of what was around it: `d()` of
        `default(x, lambda: y)`."""
        if not isinstance(node.function, Name):
            return NOTHING
        places = self.places(node.function.id)
        return frozenset(p for p in places if p.parameter == node.function.id)

    def is_kept(self, node: Attribute) -> bool:
        """Whether an attribute may be a tensor that an object of unknown class keeps: `batch.h`,
        not `x.T`."""
        find = self.program.spellings.rulebook.find
        known = find("torch.Tensor." + node.name) or node.name in self.views
        held = is_anything(of(node.object)) or isinstance(of(node.object), lattice.Object)
        return held and not known


_FORMS: dict[type, Callable[[Sharing, Any], Places]] = {
    Name: Sharing._of_name,
    Subscript: Sharing._of_subscript,
    Display: lambda s, n: union(map(s.shares, n.elements)),
    Starred: lambda s, n: s.shares(n.expression),
    Dictionary: lambda s, n: union(s.shares(e) for e in n.entries if e is not None),
    Conditional: lambda s, n: s.shares(n.body) | s.shares(n.orelse),
    Boolean: lambda s, n: s.shares(n.left) | s.shares(n.right),
    Binary: Sharing._of_binary,
    NamedExpression: lambda s, n: s.shares(n.expression),
    Lambda: lambda s, n: s.around(s.passes(Target(s.original(n)))) | s.defaults(n),
    Comprehension: Sharing._of_comprehension,
}
