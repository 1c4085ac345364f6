"""Whether a value would be the same if it were made anew: it is made of sizes, dtypes, devices and
what the constructor has left, and nothing is drawn."""

from collections.abc import Callable, Collection

from ...model.expressions import Attribute, Call, Comprehension, Constant, Lambda, Name
from ...model.names import dotted, is_called, names_assigned, target_names
from ...model.node import Expression, Node
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign, Block, ExpressionStatement, Return

_KNOWN = frozenset(
    "shape ndim dtype device get_device is_cuda size dim new_zeros new_ones new_tensor".split()
)
_LIKE = frozenset(("to", "type_as", "expand_as", "len"))  # of what they are given, the type alone
_DRAWING = frozenset(
    "bernoulli multinomial normal dropout alpha_dropout poisson sample rsample exponential cauchy "
    "geometric log_normal".split()
)
_OUTSIDE = ("torch.", "math.", "numpy.", "einops.")
_HOLDING = ("torch.nn.", "torch.optim.", "torch.distributions.", "numpy.random.")  # state, or keys


class Purity:
    """What is pure in a method of a class; `fixed` says of an attribute whether the constructor
    alone sets it."""

    def __init__(self, project: Project, cls: Class, fixed: Callable[[str], bool]) -> None:
        self.project, self.cls, self.fixed = project, cls, fixed

    def local_names(
        self, function: Function, body: Block, keys: Collection[str], kept: Collection[str]
    ) -> set[str]:
        """The local names that are bound to pure values alone, and the `keys`."""
        assigns = [n for n in body.walk() if isinstance(n, Assign)]
        bound = [(a, {n for t in a.targets for n in target_names(t)}) for a in assigns]
        given = {p.name for p in function.parameters}
        found = set(keys) | {name for _, names in bound for name in names} - given
        while True:
            impure = {
                name
                for assign, names in bound
                if assign.operator or not self.of(assign.expression, function, found, kept)
                for name in names
            }
            if not impure & found:
                return found
            found -= impure

    def of(
        self,
        value: Expression | None,
        function: Function,
        names: Collection[str],
        kept: Collection[str],
        depth: int = 0,
    ) -> bool:
        """Whether an expression of a method is pure, where these local names and kept attributes
        are."""
        if value is None:
            return False
        me = self.project.self_name(function)
        own = {t for n in value.walk() if isinstance(n, Comprehension) for t in _targets(n)}
        local = {p.name for p in function.parameters} | set(names_assigned(function))
        for node in value.walk():
            if (
                isinstance(node, Lambda)
                or isinstance(node, Call)
                and not self._call(node, function, depth)
            ):
                return False
            if not isinstance(node, Name) or node.id in own or node.id in names:
                continue
            if node.id == me:
                if not self._attribute(node.parent, kept):
                    return False
            elif node.id in local and not _is_looked_at(node):
                return False
        return True

    def _attribute(self, node: Node | None, kept: Collection[str]) -> bool:
        if not isinstance(node, Attribute):
            return False
        called = is_called(node)
        if called:
            return node.name in self.project.methods(self.cls)
        return node.name in kept or node.name == "training" or self.fixed(node.name)

    def _call(self, call: Call, function: Function, depth: int) -> bool:
        """Whether a call draws nothing, and changes nothing."""
        word = call.function.name if isinstance(call.function, Attribute) else ""
        name = dotted(call.function)
        if word.startswith("rand") or word.rstrip("_") in _DRAWING or word.endswith("_"):
            return False
        me = self.project.self_name(function)
        if name is None or function.file is None:
            return bool(word)
        if name.startswith(f"{me}.") and name.count(".") == 1:
            method = self.project.methods(self.cls).get(word)
            return method is not None and self._function(method, depth)
        head = name.partition(".")[0]
        local = head in {p.name for p in function.parameters} | set(names_assigned(function))
        if local or self.project.definition(function.file, head) is None:  # `t.cos()`, `len(x)`
            return bool(word) or not local
        found = self.project.resolve(function.file, name)
        if isinstance(found, Function):
            return self._function(found, depth)
        if not isinstance(found, str) or not found.startswith(_OUTSIDE):
            return False
        return not found.startswith(_HOLDING) or found.startswith("torch.nn.functional.")

    def _function(self, function: Function, depth: int) -> bool:
        """Whether a function of the program gives what it computes of its arguments."""
        if depth > 3 or function.decorators:
            return False
        names = {p.name for p in function.parameters} | set(names_assigned(function))
        for node in function.body.walk():
            if isinstance(node, (Assign, Return, ExpressionStatement)):
                target = node.targets[0] if isinstance(node, Assign) else None
                if isinstance(target, Attribute):
                    return False
                value = node.expression
                if value is None or isinstance(value, Constant):
                    continue
                if not self.of(value, function, names, (), depth + 1):
                    return False
        return True


def _targets(node: Comprehension) -> list[str]:
    return [name for clause in node.clauses for name in target_names(clause.target)]


def _is_looked_at(name: Name) -> bool:
    """Whether only what Python knows of an array is asked for: `x.shape`, `t.to(x)`."""
    asked, around = name, name.parent
    while isinstance(around, Attribute) and around.name == "data":
        asked, around = around, around.parent  # type: ignore[assignment]
    if isinstance(around, Attribute):
        call = around.parent
        told = around.name == "type" and isinstance(call, Call) and not call.arguments
        return told or around.name in _KNOWN
    if not isinstance(around, Call) or around.function is asked:
        return False
    word = around.keywords[around.arguments.index(asked)]
    function = around.function
    called = function.name if isinstance(function, Attribute) else dotted(function)
    return word in ("device", "dtype") or called in _LIKE
