"""What is no plain part of `self`: modules that are given, lists of params, computed names."""

from collections.abc import Iterable
from dataclasses import replace

from ...facts.modules import Field, Modules
from ...facts.values.class_values import functions_of
from ...facts.values.lattice import Module, Sequence, element_of, holds_module
from ...model.constants import is_none
from ...model.copy import clone
from ...model.effects import Apply, BoundMethod, Support, Unconverted
from ...model.expressions import Attribute, Call, Comprehension, Constant, Lambda, Name, Subscript
from ...model.names import binds, dotted, is_called, is_own, names_assigned, root
from ...model.node import Expression, Node
from ...model.operators import Boolean, Conditional
from ...model.program import Class, File, Function
from ...model.project import Project
from ...model.statements import Assign, For, While
from ..threading.param_writers import listing
from ..threading.threaded import checkpointed
from .parameter_uses import over

# These only ask what a module is.
ASKING = frozenset(
    "isinstance issubclass hasattr getattr setattr type len print id repr str zip enumerate list "
    "tuple reversed iter next sorted vars range super".split()
)
CONTAINERS = frozenset(("torch.nn.ModuleList", "torch.nn.ModuleDict"))
LISTS = ("torch.nn.ParameterList", "torch.nn.ParameterDict")


def is_given(call: Call) -> bool:
    """Whether a module is called that the function, or one around it, has as a parameter, or a
    method that has a name, `f = self.up`: whoever gives it binds what it takes, but for what is
    called of the parts that it holds, `model.up(x)`."""
    run = checkpointed(call) or call.function
    if isinstance(run, Name) and (found := functions_of(run.value)):
        return all(one.owner is not None for one in found)
    own = not isinstance(run, Attribute) and _is_of_parameter(run)
    return own and isinstance(run.value, Module)


def _is_of_parameter(module: Expression) -> bool:
    """Whether a module is a parameter of the function or one around it, or part of one."""
    name = root(module)
    if name is None:
        return False
    held = over(name)
    if held is not None:  # `for layer in layers`
        return is_given_list(held)
    for around in module.ancestors():
        if isinstance(around, (Function, Lambda)):
            own = [p.name for p in around.parameters]
            if name.id in own:
                method = isinstance(around, Function) and around.owner is not None
                return not method or name.id != own[0]
    return False


def is_unplaced(module: Expression, seen: frozenset[str] = frozenset()) -> bool:
    """Whether it is certain that the function has no params of a module: one that stands at the top
    of a file, or that is built here, `model = GPT(config)`."""
    name = root(module)
    if name is None or name.id in seen:
        return name is not None
    for around in module.ancestors():
        if isinstance(around, File):  # else a pass has taken the loop whose name it was
            return name.id in names_assigned(around.body)
        if not isinstance(around, Function):
            continue
        if any(p.name == name.id for p in around.parameters):
            return False
        binding = [n for n in around.body.walk() if name.id in binds(n)]
        if binding:
            assigned = [n for n in binding if isinstance(n, Assign) and _is_whole(n, name.id)]
            values = [n.expression for n in assigned if n.expression is not None]
            built = all(_is_built(value, seen | {name.id}) for value in values)
            return built and len(values) == len(binding)
    return False


def _is_whole(assign: Assign, name: str) -> bool:
    """Whether a name is bound to all of a value, or to a part of what a call gives:
    `model, transform = load(path)`."""
    plain = all(isinstance(t, Name) and t.id == name for t in assign.targets)
    return plain or isinstance(assign.expression, Call)


def _is_built(value: Expression, seen: frozenset[str]) -> bool:
    """Whether a value is a module of no place, or what a call makes of such alone; what raises
    instead is none."""
    if isinstance(value, Unconverted):
        return True
    if isinstance(value, (Name, Attribute, Subscript)):
        return is_unplaced(value, seen)
    modules = [n for n in value.walk() if isinstance(n, Expression) and holds_module(n.value)]
    named = [n for n in modules if isinstance(n, (Name, Attribute, Subscript))]
    return isinstance(value, Call) and all(is_unplaced(n, seen) for n in named)


def is_listed(node: Expression) -> bool:
    """Whether it is a list or dict of params."""
    return isinstance(node, (Attribute, Name)) and gives_list(node)


def gives_list(node: Expression) -> bool:
    """Whether an expression, whatever its form, gives a list or dict of params."""
    value = node.value
    known = isinstance(value, Module) and not value.open and bool(value.refs)
    return known and all(ref in LISTS for ref in value.refs)


class ListedAtTimes:
    """The fields, as they are before anything is written, that are a list of params on one way, and
    something else on another: `self.scales = nn.ParameterList(…) if learned else scales`."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self._names: dict[Class, set[str]] = {}

    def reads(self, node: Node, function: Function) -> bool:
        """Whether a node in a function is a read of one."""
        cls = function.owner
        if cls is None or function.name == "__init__" or not is_own(node, function.receiver):
            return False
        if cls not in self._names:
            fields = self.modules.fields(cls).items()
            self._names[cls] = {name for name, held in fields if _is_listed_at_times(held)}
        return node.name in self._names[cls] and not is_listed(node)


def _is_listed_at_times(held: Field) -> bool:
    ways = [way for value in held.values for way in _ways(value)]
    return any(map(gives_list, ways)) and not all(gives_list(w) or is_none(w) for w in ways)


def lists_known(call: Call) -> bool:
    """Whether a call lists the params of a module that the function was not given itself."""
    module = listing(call)
    return module is not None and not _is_of_parameter(module)


def modules_given(call: Call) -> list[Expression]:
    """The modules that a call hands on, but for those that the function was given itself."""
    given = [a for a in _handed(call) if not is_given(_called(a))]
    return [a for a in given if not _is_container(a)]


def modules_kept(function: Function) -> list[Expression]:
    """The modules that functions inside keep as defaults: `def run(x, block=block)`; and those of
    `self` that stand in for one that may be given: `block = self.block`, `block or self.block`."""
    inside: list[Function | Lambda] = [*function.nodes(Function), *function.nodes(Lambda)]
    defaults = [p.default for inner in inside for p in inner.parameters]
    modules = [n for n in function.nodes(Attribute) if isinstance(n.value, Module)]
    stand_ins = [n for n in modules if _stands_in(n, function)]
    return [d for d in defaults if d is not None and _is_module(d)] + stand_ins


def _stands_in(module: Attribute, function: Function) -> bool:
    """Whether a name gets a module that is otherwise a parameter, which is called."""
    part: Expression = module
    while isinstance(part.parent, (Boolean, Conditional)) and part not in _tests(part.parent):
        part = part.parent
    if not isinstance(part.parent, Assign):
        return False
    names = {t.id for t in part.parent.targets if isinstance(t, Name)}
    calls = [c for c in function.nodes(Apply, Call) if getattr(c.function, "id", "") in names]
    return any(map(is_given, calls))


def _tests(node: Boolean | Conditional) -> list[Expression]:
    return [node.test] if isinstance(node, Conditional) else []


def lists_given(call: Call) -> list[Expression]:
    """The lists of modules that a call hands on, but for those that the function was given."""
    listed = [a for a in call.arguments if element(a) and not _is_of_parameter(a)]
    return [a for a in _handed(call) if _is_container(a) and not is_given_list(a)] + listed


def runs_given(call: Call) -> bool:
    """Whether it has a lambda that calls what that gets: `reduce(lambda x, f: f(x), fs, x)`"""
    steps = [a for a in call.arguments if isinstance(a, Lambda)]
    runs = [c for step in steps for c in step.body.walk() if isinstance(c, Call) and is_given(c)]
    return bool(runs) and not isinstance(call.function, Support)


def is_given_list(node: Expression) -> bool:
    """Whether it is a list of modules that the function has as a parameter."""
    plain = isinstance(node, Name) and (_is_container(node) or element(node) is not None)
    return plain and _is_of_parameter(node)


def _is_container(node: Expression) -> bool:
    return isinstance(node.value, Module) and CONTAINERS.issuperset(node.value.refs or ("",))


def bound_by(call: Call) -> list[Expression]:
    """What a call hands on that is bound to what it takes: modules, and those of lists."""
    items = [item_of(held) for held in lists_given(call)]
    return [m for m in modules_given(call) if not is_unplaced(m)] + items


def item_of(listed: Expression, name: str = "layer") -> Name:
    """A name for one of the modules of a list."""
    made = Name(name)
    made.value = element_of(listed.value)
    return made


def element(listed: Expression) -> Module | None:
    """What a list of Python's holds, if that are modules: `[self.conv, self.norm]`."""
    held = listed.value.element if isinstance(listed.value, Sequence) else None
    return held if isinstance(held, Module) else None


def _handed(call: Call) -> list[Expression]:
    function = call.function
    if isinstance(function, Name) and function.id in ASKING:
        return []
    if isinstance(function, Support) and function.name == "place":
        return []
    return [way for a in call.arguments for way in _ways(a) if _is_module(way)]


def _ways(argument: Expression) -> list[Expression]:
    """What an argument may be: `self.norm if self.pre else None`."""
    if not isinstance(argument, Conditional):
        return [argument]
    return [*_ways(argument.body), *_ways(argument.orelse)]


def spell_out(project: Project) -> None:
    """`pool(x, getattr(self, "norm", None))` hands on what is called with its params:
    `self.norm if hasattr(self, "norm") else None`."""
    for function in project.functions():
        for call in function.nodes(Call):
            around, words = call.parent, call.arguments
            handed = isinstance(around, Call) and around.function is not call
            if not handed or dotted(call.function) != "getattr" or len(words) != 3:
                continue
            name, value = words[1], call.value
            if not isinstance(value, Module) or not isinstance(name, Constant):
                continue
            there = Attribute(clone(words[0]), str(name.constant))
            there.value = replace(value, none=False)
            asked = Call(Name("hasattr"), [clone(words[0]), clone(name)])
            call.replace(Conditional(there, asked, clone(words[2])))


def named_once(method: Expression, function: Function) -> bool:
    """Whether what is handed on has one name alone, and one call by that: `f = self.drop`."""
    assign = method.parent
    targets = assign.targets if isinstance(assign, Assign) else []
    if len(targets) != 1 or not isinstance(targets[0], Name):
        return False
    names = [n for n in function.body.walk() if isinstance(n, Name) and n.id == targets[0].id]
    called = [n for n in names if is_called(n)]
    bound = [n for n in names if isinstance(n.parent, Assign) and n in n.parent.targets]
    once = len(called) == 1 and len(names) == len(called) + len(bound)
    return once and not turns_around(called, function)


def turns_around(called: Iterable[Expression], function: Function) -> bool:
    """Whether one of these calls may run more than once."""
    turning = (For, While, Comprehension, Lambda, Function)
    around = [n for c in called for n in c.ancestors()]
    inside = around[: around.index(function)] if function in around else around
    return any(isinstance(n, turning) for n in inside)


def _is_module(argument: Expression) -> bool:
    """Whether an argument is a module, by its name or its place."""
    if not isinstance(argument, (Name, Attribute, Subscript)) or isinstance(argument, BoundMethod):
        return False
    value = argument.value
    return isinstance(value, Module) and not value.is_self and not is_listed(argument)


def _called(module: Expression) -> Call:
    """A call of a module where it stands."""
    call = Call(clone(module))
    call.parent = module.parent
    return call


def has_own_index(value: Module, modules: Modules) -> bool:
    """Whether a class of the user's says what `bank[1]` is; torch's containers have it as well."""
    found = (modules.find(ref, "__getitem__") for ref in value.refs if isinstance(ref, Class))
    owners = (f.owner for f in found if f is not None and f.owner is not None)
    return not all(map(modules.is_library, owners))


def is_of_class(call: Call) -> bool:
    """Whether a class method builds what it is a method of: `cls(…)`."""
    around = call.nearest(Function)
    if around is None or not isinstance(call.function, Name) or not around.parameters:
        return False
    marks = {d.id for d in around.decorators if isinstance(d, Name)}
    return "classmethod" in marks and around.receiver == call.function.id
