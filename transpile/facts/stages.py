"""When code runs: while a model is built, in a traced forward pass, on the host, at import.

Binding-time analysis over the call graph: constructors build, and what only they call; a `forward`
is traced, and all that it calls; what trains a model, and what calls that, runs on the host.
"""

from collections.abc import Set

from ..model.expressions import Attribute, Call, Name
from ..model.names import dotted, everywhere
from ..model.node import Node
from ..model.program import Class, File, Function, Scope
from ..model.statements import Assign, Return
from .calls import Calls
from .values import Values, lattice
from .values.host_code import is_host_code
from .values.lattice import UNKNOWN, Module, Sequence, Static, Tensor, Torch, Value
from .values.parameter_usage import used_as_tensors
from .values.solve import reachable, with_callers

TRACED, BUILDING, HOST, IMPORT = "traced", "building", "host", "import"
PARAMETER = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_FORWARD = frozenset({"forward", "__call__"})  # which recognise makes of it, in modules
# Methods that copy or print a module, and words in the names of those that give initial values.
_COPYING = frozenset(
    "__setstate__ __getstate__ __deepcopy__ __copy__ __reduce__ __repr__ __str__ extra_repr".split()
)
_INITIALISING = ("init", "reset_param", "load_", "_load", "pretrained", "tie_")
_QUESTIONS = frozenset({"isinstance", "issubclass"})


class Stages:
    """The stages of all functions of a project, found once, on torch's program."""

    def __init__(self, values: Values, calls: Calls) -> None:
        self.values, self.calls = values, calls
        self.project, self.graph = values.facts.project, values.calls
        project = self.project
        self.functions = [f for f in project.functions() if project.outer(f) is None]
        self.forward = self._forward()
        self.building = self._building()
        self.running = self._running()
        self.traced_functions = self._with_methods_of_objects(self.forward)
        host = (f for f in self.functions if is_host_code(project, f) or self._runs_own(f))
        self.outside = with_callers(self.graph, host, self.functions) - self.forward
        self._scripts: dict[File, bool] = {}

    # --- queries ---------------------------------------------------------------------------------

    def stage(self, scope: Scope) -> str | None:
        """When the code of a scope runs; None where that is not known."""
        if isinstance(scope, File):
            if scope not in self._scripts:
                self._scripts[scope] = self._is_script(scope)
            return HOST if self._scripts[scope] else IMPORT
        if not isinstance(scope, Function):
            return IMPORT
        function = self.project.outermost(scope)
        if function in self.traced_functions:
            return TRACED
        if self._is_constructor(function):
            return BUILDING
        if function in self.outside:
            return HOST
        if function in self.running:
            return TRACED if self._computes(function) else None
        return BUILDING if self._builds(function) else None

    def in_forward(self, scope: Scope) -> bool:
        """Whether a forward pass calls the code of a scope: what none calls may run outside jit."""
        function = self.project.outermost(scope) if isinstance(scope, Function) else None
        return function in self.traced_functions

    def in_constructor(self, scope: Scope) -> bool:
        """Whether a constructor calls the code of a scope, and no forward pass does."""
        function = self.project.outermost(scope) if isinstance(scope, Function) else None
        return function in self.built and function not in self.traced_functions

    def _runs_own(self, function: Function) -> bool:
        """Whether a plain function builds a model and runs it: `net = Net(8)`, `net(x)`; not a
        loss, which is given arrays, and may be traced."""
        if self.project.owner(function) is not None or function in self.forward:
            return False
        made = [a for a in function.nodes(Assign) if isinstance(a.targets[0], Name)]
        built = {
            a.targets[0].id  # type: ignore[attr-defined]
            for a in made
            if isinstance(a.expression, Call)
            and isinstance(self.values.of(a.expression), Module)
            and not isinstance(self.values.of(a.expression.function), Module)
        }
        called = (call.function for call in function.nodes(Call))
        runs = any(isinstance(f, Name) and f.id in built for f in called)
        return runs and not self._computes(function)

    # --- forward passes --------------------------------------------------------------------------

    def _is_constructor(self, function: Function) -> bool:
        owner = self.project.owner(function)
        return function.name == "__init__" and owner is not None and self.project.is_module(owner)

    def _is_forward(self, function: Function) -> bool:
        if function.name == "forward":
            return True
        owner = self.project.owner(function)
        return function.name in _FORWARD and owner is not None and self.project.is_module(owner)

    def _forward(self) -> set[Function]:
        """What a `forward` calls, by whatever ways. A constructor builds, wherever it is called."""
        calls = {f: called for f, called in self.graph.items() if not self._is_constructor(f)}
        return reachable(calls, [f for f in self.functions if self._is_forward(f)])

    def _with_methods_of_objects(self, forward: Set[Function]) -> set[Function]:
        """Those of plain objects that forward passes call, too: `self.transform.frame(x)`."""
        found, todo = set(forward), list(forward)
        owners = self.values.facts.owners
        while todo:
            for call in everywhere(todo.pop(), Call):
                function = call.function
                if isinstance(function, Attribute) and function.name in owners:
                    if self._is_of_object(function):
                        methods = self.calls.methods(function)
                        new = reachable(self.graph, methods) - found
                        found |= new
                        todo += new
        return {f for f in found if not self._is_constructor(f)}

    def _is_of_object(self, function: Attribute) -> bool:
        value = self.values.of(function)
        known = Tensor, Torch, Static, Sequence, lattice.Mapping, Module
        return isinstance(value, lattice.Method) and not isinstance(value.receiver, known)

    def _running(self) -> set[Function]:
        """What runs in forward passes, or at least not only because of a constructor."""
        seen = self.forward | self.built | self.building
        rest = [f for f in self.functions if f not in seen]
        others = reachable(self.graph, rest) - self.built - self.building
        return {f for f in self.forward | others if f.name != "__init__"}

    def _computes(self, function: Function) -> bool:
        """Whether what no forward calls is of a model: a method of one, or given arrays."""
        project, owner = self.project, self.project.owner(function)
        if owner is not None and project.is_module(owner):
            return True
        given = self.values.parameters(function).values()
        held = any(isinstance(v, Tensor) and not v.assumed for v in given)
        return held or bool(used_as_tensors(self.values.facts, function))

    # --- building --------------------------------------------------------------------------------

    def _building(self) -> set[Function]:
        constructors = [f for f in self.functions if f.name == "__init__"]
        self.built = reachable(self.graph, constructors)
        asked = (self._initialises, self._rebuilds, self._makes_module, self._hands_on_classes)
        found = {f for f in self.functions if any(ask(f) for ask in asked)}
        return found | self._applied()

    def _builds(self, function: Function) -> bool:
        """Whether a function that does not run in a forward pass runs while a model is built."""
        if function in self.building or self._fills(function):
            return True
        constructors = (f for f in self.functions if self._is_constructor(f))
        return function in reachable(self.graph, constructors)

    def _initialises(self, function: Function) -> bool:
        """Whether its name says that it gives initial values; `get_init_hidden` calls modules."""
        name = function.name.lower()
        if name in _COPYING:
            return True
        if not any(word in name for word in _INITIALISING):
            return False
        owner = self.project.owner(function)
        if owner is None or not self.project.is_module(owner):
            return True
        called = [self.values.of(call.function) for call in everywhere(function, Call)]
        return not any(isinstance(v, Module) and not v.is_self for v in called)

    def _rebuilds(self, function: Function) -> bool:
        """`self.q = prune(self.q, index)` puts other layers in the place of its own."""
        owner, own = self.project.owner(function), self.project.self_name(function)
        if owner is None:
            return False
        for node in everywhere(function, Assign):
            for target in node.targets if node.annotation is None and not node.operator else ():
                if isinstance(target, Attribute) and dotted(target.object) == own:
                    held = self.values.attribute(owner, target.name)
                    if isinstance(held, Module) and not held.is_self:
                        return True
        return False

    def _makes_module(self, function: Function) -> bool:
        """`def resnet18(): return ResNet(…)`, or several: `return model, criterion`."""
        made = self.values.result(function)
        parts: list[Value] = [made]
        if isinstance(made, Sequence):
            parts = [made.element] if made.items is None else list(made.items)
            called = (self.values.of(c.function) for c in everywhere(function, Call))
            if made.items and any(isinstance(v, Module) for v in called):
                parts = []
        if not any(isinstance(p, Module) and not p.is_self and p.classes for p in parts):
            return False
        return not self._takes_module(function) and not self._takes_tensors(function)

    def _takes_module(self, function: Function) -> bool:
        """Whether it is a method with the self of a module."""
        owner = self.project.owner(function)
        if owner is None or not self.project.is_module(owner):
            return False
        return not (self.project.is_static(function) or self.project.is_classmethod(function))

    def _takes_tensors(self, function: Function) -> bool:
        return bool(used_as_tensors(self.values.facts, function))

    def _hands_on_classes(self, function: Function) -> bool:
        """`return build_model(ResNet, variant, **kwargs)`"""
        if self.project.owner(function) is not None or self._takes_tensors(function):
            return False
        for call in everywhere(function, Call):
            if dotted(call.function) not in _QUESTIONS:
                for value in map(self.values.of, call.arguments):
                    if isinstance(value, lattice.Class) and isinstance(value.ref, Class):
                        if self.project.is_module(value.ref):
                            return True
        return False

    def _applied(self) -> set[Function]:
        """What a script applies to a model that it has made: `net.apply(fill)`."""
        found = set()
        for file in self.project.ordered:
            for call in file.nodes(Call):
                function = call.function
                if isinstance(function, Attribute) and function.name == "apply":
                    given = [self.values.of(a) for a in call.arguments]
                    of_module = isinstance(self.values.of(function.object), Module)
                    if of_module and len(given) == 1 and isinstance(given[0], lattice.Function):
                        found.add(given[0].function)
        return found

    def _fills(self, function: Function) -> bool:
        """Whether it is called with tensors, and no modules: `self._init_pos(self.pos.data)`."""
        given = self.values.parameters(function)
        modules = any(isinstance(v, (Module, lattice.Class)) for v in given.values())
        if function.name == "__init__" or modules or self.hands_out_parameter(function):
            return False
        evidence = used_as_tensors(self.values.facts, function)
        for name, value in given.items():
            if isinstance(value, Tensor) and not value.assumed:
                return True
            if name in evidence and (value == UNKNOWN or isinstance(value, Tensor)):
                return True
        return False

    def hands_out_parameter(self, function: Function) -> bool:
        """Whether a function gives a new parameter on all ways: `return nn.Parameter(w)`."""
        made = {
            target.id
            for node in function.nodes(Assign)
            if self.is_parameter(node.expression)
            for target in node.targets
            if isinstance(target, Name)
        }
        returned = [r.expression for r in function.nodes(Return)]
        named = [self.is_parameter(r) or isinstance(r, Name) and r.id in made for r in returned]
        return bool(named) and all(named)

    def is_parameter(self, node: Node | None) -> bool:
        """`nn.Parameter(w)`"""
        value = self.values.of(node.function) if isinstance(node, Call) else None
        return isinstance(value, Torch) and value.name in PARAMETER

    # --- scripts ---------------------------------------------------------------------------------

    def _is_script(self, file: File) -> bool:
        """Whether a file runs models, or what trains them, beside defining them."""
        for call in file.nodes(Call):
            value = self.values.of(call.function)
            if isinstance(value, Module):
                return True
            if isinstance(value, lattice.Function) and value.function in self.outside:
                return True
        return False
