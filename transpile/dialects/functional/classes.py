"""A class of modules: its bases, its constructor with `init`, its methods."""

from ...facts.values.calls import is_super
from ...facts.values.lattice import Module, Sequence
from ...model.copy import clone
from ...model.effects import Apply, Support
from ...model.expressions import Attribute, Call, Comprehension, Constant, Display, ForClause, Name
from ...model.names import dotted, text
from ...model.node import Expression
from ...model.operators import Boolean, Compare, Conditional, sides
from ...model.program import Class, Function, Parameter
from ...model.statements import Assign, Block, If, Return
from ..reports import Reports
from ..threading.iteration_counts import at_start
from ..threading.properties import setters
from .callable_fields import WORDS, are_unlike, takes
from .constructor import Constructor
from .functions import Running
from .indirect_modules import LISTS
from .plan import Plan

_PART = "is a part of torch's layer, and has no params here: write out what it does"
_BUILDING = "a function inside of a constructor has no params, state or mode: make it a method"
_MADE_LATER = "extends a list of params: extend nn.Module, and hold the list in it"
PLAIN = ("torch.nn.Module", "torch.nn.modules.module.Module", "transpile.layer.Module")


class ClassWriter:
    """Writes classes and functions."""

    def __init__(self, plan: Plan, reports: Reports) -> None:
        self.plan, self.reports = plan, reports

    def write(self, cls: Class) -> None:
        methods = list(self.plan.modules.home(cls).methods(cls).values())
        self._unsaved(cls)
        self._parts_of_layers(cls, methods)
        for method in [*methods, *setters(cls)]:
            if method in self.plan.conventions.functions:
                with self.reports.faults.within(method):
                    self._method(method, cls)
        if self._runs_items(cls):
            self._call(cls)
        self._bases(cls)
        if self.plan.project.torch_base(cls) in LISTS:
            self.reports.report("unsupported", cls, f"{cls.name} {_MADE_LATER}")

    def _unsaved(self, cls: Class) -> None:
        """Name the state that torch does not save: a checkpoint may lack it, and it alone."""
        own = self.plan.modules.own_fields(cls)
        names = [n for n in self.plan.unsaved(cls) if n in own]
        if names:
            made = Assign([Name("unsaved")], Display("list", [Constant(n) for n in names]))
            at_start(cls.body, made)
            below = cls.body.body[cls.body.body.index(made) + 1]
            if isinstance(below, Function):
                cls.body.set_apart(below)

    def _parts_of_layers(self, cls: Class, methods: list[Function]) -> None:
        """Report methods that the forward of a layer of torch's calls, and with other arrays than
        these ask for."""
        modules, conventions = self.plan.modules, self.plan.conventions
        known = set(conventions.functions) - set(conventions.building)
        if modules.is_library(cls):
            return
        layers = [c for c in modules.lineage(cls)[1:] if modules.is_library(c)]
        for method in methods:
            found = (modules.home(c).methods(c).get(method.name) for c in layers)
            part = next((f for f in found if f is not None), None)
            if part is None or method.name.startswith("__") or method not in known:
                continue
            own, theirs = self.plan.threads(method), self.plan.threads(part)
            if (own.params, own.takes, own.draws) != (theirs.params, theirs.takes, theirs.draws):
                why = f"{method.name} is a part of the forward of torch's layer, with other arrays"
                self.reports.report("unsupported", method, why)
        for method in methods if layers else ():
            if method in known:
                self._calls_of_parts(method, layers, {m.name for m in methods})

    def _calls_of_parts(self, method: Function, layers: list[Class], own: set[str]) -> None:
        """Refuse calls of what a layer of torch's holds or does, `self.norm1(x)`, that are not
        known to be such."""
        modules = self.plan.modules
        held = {name for layer in layers for name in modules.children(layer)}
        for layer in layers:
            for name, part in modules.home(layer).methods(layer).items():
                threads = self.plan.threads(part)
                if threads.params or threads.takes or threads.draws:
                    held.add(name)
        me = method.receiver
        for call in [c for c in method.nodes(Call) if not isinstance(c, Apply)]:
            function = call.function
            if isinstance(function, Attribute) and dotted(function.object) == me:
                if function.name in held - own and not function.name.startswith("__"):
                    self.reports.unconverted("unsupported", call, f"{text(function)} {_PART}")

    def _runs_items(self, cls: Class) -> bool:
        """Whether a class of the user's is a Sequential that runs as torch's does."""
        modules = self.plan.modules
        lineage = modules.lineage(cls)
        own = [c for c in lineage if not modules.is_library(c)]
        called = any("__call__" in modules.home(c).methods(c) for c in own)
        inherits = any(c.name == "Sequential" for c in lineage if c not in own)
        return inherits and own == [cls] and not called

    def _call(self, cls: Class) -> None:
        """A state goes to each of the items."""
        given = [Parameter(w) for w in ("self", "params", "state", "x")]
        key = Parameter("key", "=", None, Constant(None))
        training = Parameter("training", "=", None, Constant(False))
        run = Call(Attribute(Name("self"), "run"), [Name(w) for w in ("params", "state", "x")])
        run.append(Name("key"), "key")
        run.append(Name("training"), "training")
        made = Function("__call__", [*given, key, training], Block([Return(run)]))
        made.comments = "\n", ""
        cls.body.append([made])

    def function(self, function: Function, cls: Class | None = None) -> None:
        """One that is no method of a module."""
        if function not in self.plan.conventions.functions:
            return
        for inner in function.nodes(Function):
            self.function(inner, cls)
        with self.reports.faults.within(function):
            if self.plan.conventions.is_builder(function):
                Constructor(cls, self.plan, self.reports).write(function)
            elif self._is_early(function):
                self.reports.raises_alone("module-value", function, _BUILDING)
            else:
                Running(function, self.plan, self.reports).write()

    def _is_early(self, function: Function) -> bool:
        """Whether a function stands in one that builds, and asks for what a module has."""
        conventions = self.plan.conventions
        around = [n for n in function.ancestors() if isinstance(n, Function)]
        threads = conventions.of(function)
        asks = threads.params or threads.takes or threads.mode
        return asks and bool(around) and conventions.is_builder(around[-1])

    def _method(self, method: Function, cls: Class) -> None:
        for inner in method.nodes(Function):
            self.function(inner, cls)
        building = self.plan.conventions.is_builder(method)
        if building or method in self.plan.conventions.initialisers:
            Constructor(cls, self.plan, self.reports).write(method)
            self._check_classes(method)
        else:
            Running(method, self.plan, self.reports).write()

    def _check_classes(self, constructor: Function) -> None:
        """`norm_layer = nn.taking(norm_layer, "params")`: the calls are written for layers of the
        classes that are known, and one that draws would go without a key. So is what a module that
        is given may take: `nn.as_module(downsample, ["params"])`."""
        checks: list[Assign] = []
        makers = self.plan.conventions.as_given.makers.get(constructor, {})
        unlike = {n: v for n, v in makers.items() if are_unlike(v, self.plan)}
        for name, value in {**self.plan.facts.values.assumed(constructor), **unlike}.items():
            held = value.element if isinstance(value, Sequence) else value
            given = takes(held, self.plan)
            if isinstance(value, Sequence):
                if given is not None and not _kept_as_list(constructor, name, given):
                    each = _each(Name(name), given)
                    default = next(p.default for p in constructor.parameters if p.name == name)
                    made = each if default is None else Boolean(Name(name), "and", each)
                    checks.append(Assign([Name(name)], made))
            elif not isinstance(value, Module):
                if given is not None and (len(given) < len(WORDS) or name in unlike):
                    made = Call(Support("taking"), [Name(name), *given])
                    checks.append(Assign([Name(name)], made))
            elif not self._checked(constructor, name) and given is not None:
                made = Call(Support("as_module"), [Name(name), Display("list", given)])
                checks.append(Assign([Name(name)], made))
        for check in reversed(checks):
            at_start(constructor.body, check)

    def _checked(self, constructor: Function, name: str) -> bool:
        """Whether a module is checked where it is kept, or by the class above that it goes to."""
        calls = [call for call in constructor.nodes(Call, Apply) if _is_of(call, name)]
        kept = [c for c in calls if getattr(c.function, "name", "") == "as_module"]
        for call in (c for c in kept if len(c.arguments) == 1):
            value = call.arguments[0].value  # the name may stand for more there than was given
            if (given := takes(value, self.plan)) is not None:
                call.append(Display("list", given))
        above = [
            c for c in calls if isinstance(c.function, Attribute) and is_super(c.function.object)
        ]
        return bool(kept) or bool(calls) and len(above) == len(calls)

    def _bases(self, cls: Class) -> None:
        home, file = self.plan.modules.home(cls), cls.file
        for base in list(cls.bases):
            name = dotted(base)
            found = home.resolve(file, name) if file is not None and name else None
            if found in PLAIN:
                base.replace(Support("Module"))
            elif isinstance(found, str) and found.startswith("torch.nn."):
                base.replace(Support(found.rpartition(".")[2]))


def _kept_as_list(constructor: Function, name: str, given: list[Expression]) -> bool:
    """Check the modules of a list where it is kept, `nn.ModuleList(layers)`, if that is all that is
    done with it."""
    reads = [n for n in constructor.body.walk() if isinstance(n, Name) and n.id == name]
    asked = [n for n in reads if isinstance(n.parent, (Compare, Conditional, If))]
    kept = [
        n
        for n in reads
        if isinstance(n.parent, Call) and getattr(n.parent.function, "name", "") == "ModuleList"
    ]
    if not kept or len(kept) + len(asked) < len(reads):
        return False
    for one in kept:
        one.wrap(lambda layers: _each(layers, given))
    return True


def _each(layers: Name, given: list[Expression]) -> Expression:
    """`[nn.as_module(layer, ["params"]) for layer in layers]`"""
    one = layers.id.removesuffix("s") if layers.id.endswith("s") else "module"
    listed = Display("list", [clone(word) for word in given])
    made = Call(Support("as_module"), [Name(one), listed])
    return Comprehension("list", None, made, [ForClause(Name(one), layers)])


def _is_of(call: Call, name: str) -> bool:
    found = [side for a in call.arguments for side in sides(a)]
    return any(isinstance(side, Name) and side.id == name for side in found)
