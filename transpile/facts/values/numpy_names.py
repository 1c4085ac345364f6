"""Where a name is bound to an array of NumPy's, by what becomes of it.

    obs = env.reset()        before        torch.from_numpy(obs)

What NumPy and torch call alike they may compute otherwise: `obs.std()` divides by n in NumPy, by
n - 1 in torch.
"""

from typing import Any

from ...model.expressions import Attribute, Call, Display, ForClause, Name, Subscript
from ...model.names import dotted, everywhere, in_scope, names_assigned, target_names
from ...model.node import Node
from ...model.operators import Binary, Unary
from ...model.program import Function, Parameter
from ...model.rulebook import Rulebook
from ...model.statements import Assign, Block, For, If, While, With
from .frame import Frame
from .lattice import NUMPY, UNKNOWN, Sequence, Tensor, Value, element_of, is_anything, is_traced
from .parameter_usage import is_asked
from .tables import Facts

# What makes tensors of arrays, and is seldom given a tensor.
_TYPES = "Float Double Half Long Int Byte Bool".split()
_MAKERS = frozenset({"torch.from_numpy", "torch.tensor", *(f"torch.{t}Tensor" for t in _TYPES)})
_METHODS = frozenset(
    "astype reshape transpose copy mean std var sum max min squeeze flatten ravel repeat clip"
    " swapaxes round".split()
)


def computes_with_arrays(rulebook: Rulebook, name: str, values: list[Value]) -> bool:
    """Whether a function of NumPy's computes with what is traced, and jax.numpy has it too."""
    short = name.removeprefix("numpy.")
    if not values or short == name or short not in rulebook.table("TRACEABLE"):
        return False
    spread = [element_of(v) if isinstance(v, Sequence) else v for v in values]
    if short in ("array", "asarray"):  # of a list or of an array: jax.numpy makes the same of both
        return isinstance(spread[0], Tensor)
    return any(map(is_traced, spread))


def given_arrays(frame: Frame, parameter: Parameter, seen: Value | None) -> Value | None:
    """What calls give; of those that only may mean this method, arrays of NumPy's alone. What a
    method of an object that is no module makes a tensor of, is one of these."""
    name = parameter.name
    plain = frame.cls is not None and not frame.facts.project.is_module(frame.cls)
    if plain and isinstance(seen, Tensor) and is_bound_to_numpy(frame, parameter, UNKNOWN):
        seen = None
    if seen is None and frame.cls is not None and frame.function is not None:
        handed = (frame.facts.read("handed", frame.function) or {}).get(name)
        if handed == NUMPY and not is_asked(frame.function, name):
            return NUMPY
    return seen


def is_bound_to_numpy(frame: Frame, node: Node, value: Value) -> bool:
    """Whether a parameter or target is made a tensor of on all ways, and may not be one already.

    A forward pass is given tensors: `torch.tensor(x)` copies one there.
    """
    function = frame.function
    if function is None or function.name == "forward" or not is_anything(value):
        return False
    return node in _bound(frame.facts, function)


def _bound(facts: Facts, function: Function) -> frozenset[Node]:
    """The parameters and targets of a function that are made tensors of on all ways."""
    found = facts.memory.get(("numpy", function))
    if found is None:
        found = frozenset()
        if _attributes(facts, function) or any(_makes(facts, function)):
            search = _Search(facts, function)
            wanted = search.before(function.body, set())
            named = (p for p in facts.project.parameters(function) if p.name in wanted)
            found = frozenset({*search.found, *named})
        facts.memory["numpy", function] = found
    return found


def _makes(facts: Facts, function: Function) -> list[Call]:
    """The calls of a function that make tensors of arrays."""
    known = facts.memory.get(("makes", function))
    if known is None:
        calls = (c for c in everywhere(function, Call) if c.arguments and dotted(c.function))
        known = [c for c in calls if facts.resolve(function.file, c.function) in _MAKERS]
        facts.memory["makes", function] = known
    return known


class _Search:
    """Goes backwards: `wanted` are the names that hold arrays of NumPy's, by what follows."""

    def __init__(self, facts: Facts, function: Function) -> None:
        self.makers = set(_makes(facts, function))
        self.found: set[Node] = set()
        self.kept = _attributes(facts, function)

    def before(self, block: Block, wanted: set[str]) -> set[str]:
        for statement in reversed(block.body):
            wanted = self._statement(statement, wanted)
        return wanted

    def _statement(self, node: Node, wanted: set[str]) -> set[str]:
        if isinstance(node, If):
            return self._branch(node, wanted) | self._used(node.test)
        if isinstance(node, (For, While)):
            return self._loop(node, wanted)
        if isinstance(node, With):
            return self.before(node.body, wanted)
        if isinstance(node, Assign):
            return self._assign(node, wanted)
        if any(isinstance(child, Block) for child in node.children()):
            return wanted - set(names_assigned(node))
        return wanted | self._used(node)

    def _branch(self, node: If, wanted: set[str]) -> set[str]:
        """What both ways want: `if isinstance(x, np.ndarray): x = …` says no more."""
        then = self.before(node.body, wanted)
        if node.orelse is None:
            return then & wanted
        if node.orelse.form == "elif":
            inner = node.orelse.body[0]
            assert isinstance(inner, If)
            return then & self._branch(inner, wanted)
        return then & self.before(node.orelse, wanted)

    def _loop(self, node: For | While, wanted: set[str]) -> set[str]:
        first = self.before(node.body, wanted & self.before(node.body, set()))
        if isinstance(node, For):
            self._bind(node.target, first)
            first = first - set(target_names(node.target))
        return first | (wanted - set(names_assigned(node)))

    def _assign(self, node: Assign, wanted: set[str]) -> set[str]:
        made_of = node.expression
        if node.operator and made_of is not None:
            return wanted | self._used(made_of)
        if made_of is None:
            return wanted | self._used(node)
        names = {name for target in node.targets for name in target_names(target)}
        plain = all(isinstance(target, Name) for target in node.targets)
        made = _sources(made_of) if names & wanted and plain else set()
        for target in node.targets:
            self._bind(target, wanted)
            made |= _sources(made_of) if self.kept and dotted(target) in self.kept else set()
        return wanted - names | made | self._used(made_of)

    def _bind(self, target: Node, wanted: set[str]) -> None:
        """Remember the targets of names that are wanted."""
        if isinstance(target, Name) and target.id in wanted:
            self.found.add(target)
        for element in target.elements if isinstance(target, Display) else ():
            self._bind(element, wanted)

    def _used(self, node: Node) -> set[str]:
        """The names that an expression or statement makes tensors of."""
        used: set[str] = set()
        for call in [*([node] if isinstance(node, Call) else []), *in_scope(node, Call)]:
            if call in self.makers:
                used |= _sources(call.arguments[0])
        if used:
            used -= {n for c in in_scope(node, ForClause) for n in target_names(c.target)}
        return used


def _attributes(facts: Facts, function: Function) -> frozenset[str]:
    """The attributes of an object that is no module of which its methods make tensors."""
    project = facts.project
    owner = project.owner(function)
    if owner is None or project.is_module(owner):
        return frozenset()
    known = facts.memory.get(("numpy", owner))
    if known is None:
        known = facts.memory["numpy", owner] = frozenset(
            name.partition(".")[2]
            for method in project.methods(owner).values()
            for call in _makes(facts, method)
            if facts.resolve(method.file, call.function) == "torch.from_numpy"
            and (name := dotted(call.arguments[0]) or "").startswith(
                f"{project.self_name(method)}."
            )
        )
    return frozenset(f"{project.self_name(function)}.{name}" for name in known)


def _sources(value: Any) -> set[str]:
    """The names of the arrays that arithmetic and NumPy's methods compute with."""
    if isinstance(value, Name):
        return {value.id}
    if isinstance(value, Binary):
        return _sources(value.left) | _sources(value.right)
    if isinstance(value, Unary):
        return _sources(value.operand)
    if isinstance(value, Subscript):
        return _sources(value.object)
    if isinstance(value, Call) and isinstance(value.function, Attribute):
        return _sources(value.function.object) if value.function.name in _METHODS else set()
    return set()
