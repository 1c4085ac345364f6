"""Functions that draw and are kept where no key reaches their calls: `f = noisy if on else tanh`,
of which one is torch's, `def __init__(self, f=noisy)`, `KINDS = {"noisy": noisy}`; and arrays that
constructors draw and keep where no checkpoint has them: `self.ws = [torch.randn(3)]`,
`Scaled(torch.randn(3))`; and objects that build modules; and functions that are kept and write
params."""

from collections.abc import Callable, Iterator

from ..facts.calls import Target
from ..facts.modules import Modules
from ..facts.program import ProgramFacts
from ..facts.values.class_values import functions_of, is_class_or_maker
from ..facts.values.lattice import Class as ClassValue
from ..facts.values.lattice import Instance
from ..model.effects import BUFFER, PARAM, Declare, Key, New, NewArray
from ..model.expressions import Attribute, Call, Name
from ..model.names import dotted, reads_of
from ..model.node import Expression, Node, Statement
from ..model.operators import Compare, Conditional
from ..model.program import Class, Function, Parameter
from ..model.project import Project
from ..model.statements import Assign
from .sharing.list_growth import is_array

KEPT = "this function draws, and what it is kept as is called without a key for it"
WRITES = (
    "this function sets arrays of what it is given, and of which modules is not seen from where it "
    "is kept: give it to apply by its name"
)
UNSAVED = (
    "torch saves nothing of what is drawn here: a model that is filled from torch keeps its own"
)
BUILT = "an object builds modules of its own here: they are no submodules, and nothing fills them"


def kept_draws(project: Project, draws: Callable[[Function], bool]) -> list[Name]:
    """Their names; a method that is handed on has its key with it."""
    return [name for name, function in _kept(project) if draws(function)]


def kept_writes(project: Project) -> list[Name]:
    """The names of functions that are kept and set arrays of what they are given, `m.weight = v`:
    in which modules is not known, and there it is no longer the param."""
    return [name for name, function in _kept(project) if _sets_arrays(function)]


def _sets_arrays(function: Function) -> bool:
    given = {p.name for p in function.parameters}
    return any(
        isinstance(target, Attribute)
        and not isinstance(target.object.value, Instance)
        and dotted(target.object) in given
        and is_array(assign.expression.value if assign.expression is not None else None)
        for assign in function.nodes(Assign)
        for target in assign.targets
    )


def _kept(project: Project) -> Iterator[tuple[Name, Function]]:
    """Plain functions by name where they are values; a call, an assignment and a comparison know
    what the name is, and so does one of a choice, `f = noisy if on else plain`."""
    for name in (n for file in project.ordered for n in file.walk() if isinstance(n, Name)):
        for value in functions_of(name.value) if _is_value(name) else ():
            if value.owner is None and value.function.nearest(Function) is None:
                yield name, value.function


def _is_value(name: Name) -> bool:
    """Whether it is not known where it is called."""
    if isinstance(name.parent, Parameter):  # its default, `def sample(x, draw=noisy)`
        taking = name.parent.parent
        uses = reads_of(taking, name.parent.name) if isinstance(taking, Function) else []
        return not uses or not all(functions_of(use.value) for use in uses)
    known = isinstance(_choice(name).parent, (Call, Assign, Compare, Function, Class))
    return not known and not is_class_or_maker(getattr(name.parent, "value", None))


def _choice(node: Expression) -> Expression:
    """The whole choice that a function is one side of, where all of its sides are known."""
    around = node.parent
    if isinstance(around, Conditional) and functions_of(around.value):
        return _choice(around)
    return node


def drawn_apart(facts: ProgramFacts) -> Iterator[Expression]:
    """What constructors draw and keep as no array of the module's."""
    for _, function in facts.modules.constructors():
        for key in function.nodes(Key):
            inner: Node = key
            for around in key.ancestors():
                if isinstance(around, Assign) and not isinstance(around, Declare):
                    if isinstance(inner, Expression) and _is_own(around):
                        yield inner
                elif isinstance(around, New) and _stores(facts, around, inner):
                    yield inner  # type: ignore[misc]
                if isinstance(around, (Statement, New, NewArray)):
                    break
                inner = around


def built_apart(modules: Modules) -> Iterator[Call]:
    """Objects, no modules, that modules keep and that build modules themselves."""
    for _, function in modules.constructors():
        for assign in function.nodes(Assign):
            made = assign.expression
            if isinstance(made, Call) and not isinstance(made, New) and _is_own(assign):
                init = _constructor(modules.project, made)
                if init is not None and init.nodes(New):
                    yield made


def _constructor(project: Project, made: Call) -> Function | None:
    value = made.function.value
    ref = value.ref if isinstance(value, ClassValue) else None
    return project.find(ref, "__init__") if isinstance(ref, Class) else None


def _stores(facts: ProgramFacts, made: New, given: Node) -> bool:
    """Whether a module keeps what its constructor is given as it is: `self.w = w`."""
    init = _constructor(facts.modules.project, made)
    if init is None:
        return False
    bound = facts.calls.arguments(made, Target(init))
    names = {name for name, argument in bound if argument is given}
    stores = [a for a in init.nodes(Assign) if dotted(a.expression) in names and _is_own(a)]
    return any(not isinstance(a, Declare) or a.kind not in (PARAM, BUFFER) for a in stores)


def _is_own(assign: Assign) -> bool:
    target = assign.targets[0]
    return isinstance(target, Attribute) and isinstance(target.object, Name)
