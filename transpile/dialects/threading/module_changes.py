"""Functions that change the modules that they are given, as initialisers of weights do: where
modules are values, each gives back what it has changed.

    def init(layer): zeros_(layer.weight)        `init` changes `layer`
    self.apply(init)                             and so does all that is handed to `apply`
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Method, Module
from ...model.effects import Apply, Declare, Read, Write
from ...model.expressions import Attribute, Call, Display, Name, Subscript
from ...model.functions import is_static
from ...model.names import dotted, names_in, root, target_names
from ...model.node import Expression, Node
from ...model.program import Function
from ...model.statements import Assign, For, Return

Targets = Callable[[Call], Sequence[Function] | None]


def is_applied(call: Call) -> bool:
    """`net.apply(f)`: f is called with all modules of net, inner ones first."""
    function, value = call.function, call.function.value
    if not isinstance(function, Attribute) or function.name != "apply" or len(call.arguments) != 1:
        return False
    return isinstance(value, Method) and isinstance(value.receiver, Module)


def handed(call: Call) -> FunctionValue | None:
    """The function of the program that `apply` is given."""
    value = call.arguments[0].value if is_applied(call) else None
    return value if isinstance(value, FunctionValue) else None


class Changes:
    """Which parameter each function changes, and gives back. `targets`: what a call may run;
    `is_state`: whether an array changes while the model runs, which changes no module; `grown`:
    what a call puts a layer into, `seq.add_module("act", act)`."""

    def __init__(
        self,
        functions: Sequence[Function],
        targets: Targets,
        is_state: Callable[[Expression], bool],
        grown: Callable[[Node], Expression | None],
    ) -> None:
        self.targets, self.is_state, self.grown = targets, is_state, grown
        self._changed: dict[Function, int] = {}  # by the place of the parameter
        self._functions = [f for f in functions if f.name not in ("__init__", "__call__")]
        self._methods = set[Function]()  # that set something on their own module
        self._applied = {
            target: int(_is_method(target))
            for function in functions
            for call in function.nodes(Apply)
            if is_applied(call)
            for target in targets(call) or ()
        }
        self._solve()

    def parameter(self, function: Function) -> str | None:
        """The name of the parameter that a function changes."""
        at = self._changed.get(function)
        return None if at is None else function.parameters[at].name

    def argument(self, call: Call) -> Expression | None:
        """What a call changes of what it is given; of `net.apply(f)` the whole net."""
        if is_applied(call):
            assert isinstance(call.function, Attribute)
            return call.function.object
        for target in self.targets(call) or ():
            place = self._changed.get(target)
            if place is not None:
                bound = isinstance(call.function, Attribute) and _is_method(target)
                return _given(call, place - bound, target.parameters[place].name)
        return None

    def receiver(self, call: Call) -> Expression | None:
        """The module of which a call runs a method that sets something on it: `self.fc` of
        `self.fc.reset()`."""
        if not isinstance(call.function, Attribute) or is_applied(call):
            return None
        ran = self.targets(call) or ()
        return call.function.object if any(t in self._methods for t in ran) else None

    # --- the fixed point --------------------------------------------------------------------------

    def _solve(self) -> None:
        for function, at in self._applied.items():
            if at < len(function.parameters) and _gives_back(function, at):
                self._changed[function] = at
        changed = True
        while changed:
            changed = False
            for function in self._functions:
                own = None if function in self._changed else self._own(function)
                if own is not None:
                    self._changed[function], changed = own, True
                if function not in self._methods and self._sets(function):
                    changed = True
                    self._methods.add(function)

    def _sets(self, function: Function) -> bool:
        """Whether a method sets something on the module whose method it is."""
        if not _is_method(function) or not function.parameters:
            return False
        me = function.receiver
        declares = any(isinstance(n, Declare) for n in function.body.walk())
        return declares or me in self.roots(function.body)

    def _own(self, function: Function) -> int | None:
        roots = self.roots(function.body)
        names = [p.name for p in function.parameters]
        found = [i for i, n in enumerate(names) if n in roots and i >= _is_method(function)]
        if len(found) != 1 or function.parameters[found[0]].kind not in ("", "/"):
            return None
        return found[0] if _gives_back(function, found[0]) and not _runs(function) else None

    def roots(self, body: Node, building: bool = True) -> set[str]:
        """The names through which something changes, at or below a node, that is held elsewhere;
        once it is built, methods change a module's state alone."""
        nodes = list(body.walk())
        places = self._places(nodes, building)
        found = {name.id for place in places if (name := root(place)) is not None}
        loops = [node for node in nodes if isinstance(node, For)]
        aliases = [n for n in nodes if isinstance(n, Assign) and _is_path(n.expression)]
        before: set[str] = set()
        while before != found:
            before = set(found)
            for loop in loops:
                if found & set(target_names(loop.target)):
                    found |= names_in(loop.iterable)
            for assign in aliases:
                if any(found & set(target_names(t)) for t in assign.targets):
                    assert assign.expression is not None
                    name = root(assign.expression)
                    found |= {name.id} if name is not None else set()
        return found

    def _places(self, nodes: Iterable[Node], building: bool) -> Iterator[Expression]:
        for node in nodes:
            if isinstance(node, Write):
                if building or not self.is_state(node.target):
                    yield node.target
            elif isinstance(node, Assign) and not isinstance(node, Declare):
                yield from (t for t in node.targets if is_part_of_module(t))
                grown = self.grown(node) if building else None
                yield from [] if grown is None else [grown]
            elif isinstance(node, Call) and (child := child_set(node)) is not None:
                yield child
            elif isinstance(node, Call):
                changed = [self.argument(node)]
                if building:
                    changed += [self.receiver(node), self.grown(node)]
                yield from filter(None, changed)


def sets_on_module(call: Call) -> bool:
    """`setattr(net, name, new)` of a module that is not self."""
    if dotted(call.function) != "setattr" or len(call.arguments) != 3:
        return False
    value = call.arguments[0].value
    return isinstance(value, Module) and bool(value.refs) and not value.is_self


def child_set(call: Call) -> Name | None:
    """The child in the place of which another module is put: `m` of
    `for n, m in net.named_children(): setattr(net, n, new)`."""
    loop = next((n for n in call.ancestors() if isinstance(n, (For, Function))), None)
    if not sets_on_module(call) or not isinstance(loop, For):
        return None
    holder, name = dotted(call.arguments[0]), call.arguments[1]
    names = loop.target.elements if isinstance(loop.target, Display) else []
    if holder is None or len(names) != 2 or not all(isinstance(n, Name) for n in (name, *names)):
        return None
    walked, (first, child) = loop.iterable, names
    known = isinstance(walked, Call) and dotted(walked.function) == f"{holder}.named_children"
    found = known and first.id == name.id  # type: ignore[attr-defined]
    return child if found else None  # type: ignore[return-value]


def is_part_of_module(target: Expression) -> bool:
    """Whether an assignment sets something on a module."""
    if not isinstance(target, Attribute):
        return False
    if isinstance(target, Read) or isinstance(target.object.value, Module):
        return True
    name = root(target)
    value = name.value if name is not None else None
    return isinstance(value, Module) and not value.is_self


def _is_path(node: Expression | None) -> bool:
    return isinstance(node, (Name, Attribute, Subscript)) and root(node) is not None


def _is_method(function: Function) -> bool:
    """Whether the first parameter is the module whose method it is."""
    return function.owner is not None and not is_static(function, function.owner)


def _given(call: Call, at: int, word: str) -> Expression | None:
    positional = call.positional
    if 0 <= at < len(positional):
        return positional[at]
    return next((a for a, k in zip(call.arguments, call.keywords) if k == word), None)


def _gives_back(function: Function, at: int) -> bool:
    """Whether nobody asks for anything else than the parameter: it gives nothing, or just that."""
    name = function.parameters[at].name
    values = [r.expression for r in function.nodes(Return) if r.expression is not None]
    return all(isinstance(v, Name) and v.id == name for v in values)


def _runs(function: Function) -> bool:
    """Whether it calls a module: what does so is no initialiser."""
    return any(isinstance(call.function.value, Module) for call in function.nodes(Apply))
