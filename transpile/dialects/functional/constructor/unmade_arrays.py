"""What a function knows of arrays that are not made yet: whether there is one, and its shape.

if m.bias is not None:       if nn.has(m, "bias"):
m.weight.shape[0]            nn.like(m, "weight").shape[0]
self.modules()               nn.modules(self)
"""

from typing import TypeGuard

from ....facts.shapes.asked_shapes import is_measured
from ....facts.values.attribute_names import PARAMETERS, WALKS
from ....facts.values.container_aliases import container_classes
from ....facts.values.lattice import Function as FunctionValue
from ....facts.values.lattice import Functions, Module
from ....model.constants import is_none
from ....model.effects import (
    CONSTANT,
    Apply,
    BoundMethod,
    Detached,
    Key,
    Mode,
    New,
    Read,
    Support,
    Tie,
    Unconverted,
    Walk,
    Write,
)
from ....model.expressions import Attribute, Call, Constant, Lambda, Name
from ....model.guards import asks_for_truth
from ....model.names import dotted
from ....model.node import Expression, Node
from ....model.operators import Boolean, Conditional, Unary, asks_for_none
from ....model.positions import source_of
from ....model.program import Function, Parameter
from ....model.statements import Assign, Block, ExpressionStatement, For
from ...faults import raising
from ...leaf_nodes import plainly
from ...reports import Reports
from ...threading.module_changes import is_applied
from ...threading.probes import dry_run, gives_shapes, is_dry
from ...threading.threaded import NOTHING
from ..callable_fields import keep, may_be_function
from ..constants import constant
from ..indirect_modules import is_given
from ..loop_containers import going_over
from ..plan import Plan
from .init_methods import draws
from .shape_only import measure

DRAWN = frozenset(("jax.random.normal", "jax.random.uniform"))
_KEPT = "a method that takes params, a key or the mode is kept, and has none of them"
_REPLACED = "what is called here takes its params, state and key as the module that stood there"


def _is_self(value: object) -> bool:
    return isinstance(value, Module) and value.is_self


class Building:
    """The leaves of one function that builds."""

    def __init__(self, function: Function, plan: Plan, reports: Reports) -> None:
        self.function, self.plan, self.reports = function, plan, reports
        self._shapes: set[Apply] = set()  # the calls of which only a shape is asked

    def write(self) -> None:
        for walk in self.function.nodes(Walk):
            walk.become(For(walk.target, walk.iterable, walk.body, walk.orelse))
        for tie in self.function.nodes(Tie):
            why = "an array that is tied in a loop, or by no plain path: tie it by hand"
            self.reports.refuse("tied-weight", tie, why)
        nodes = list(self.plan.conventions.own_nodes(self.function))
        calls = [n for n in nodes if isinstance(n, Apply)]
        self._shapes = {c for c in calls if is_dry(c, self.function, self.plan.conventions)}
        undrawn = {n for n in nodes if isinstance(n, Key) and self._is_undrawn(n)}
        for node in reversed(nodes):  # inner before outer
            if node not in undrawn:
                self._node(node)

    def _is_undrawn(self, key: Key) -> bool:
        """`torch.randn(1, 3, 8, 8)` that a module is run on for its shapes is of zeros."""
        call = key.parent
        if not isinstance(call, Call) or dotted(call.function) not in DRAWN:
            return False
        if call.arguments[0] is not key or not gives_shapes(call, self.function):
            return False
        zeros = Attribute(Name("jnp"), "zeros")
        call.replace(Call(zeros, call.arguments[1:], call.keywords[1:]))
        return True

    def _write(self, write: Write) -> None:
        """A constant that is changed before it is used."""
        if not isinstance(write.target, Attribute):  # which raises, and what is stored goes with it
            write.replace(ExpressionStatement(write.target))
            return
        block = write.parent
        assert isinstance(block, Block)
        target = Attribute(write.target.object, write.target.name)
        value = Call(Attribute(Name("np"), "asarray"), [write.value])
        block.substitute(write, [Assign([target], value)])

    def _node(self, node: Node) -> None:
        if isinstance(node, Write):
            self._write(node)
        elif isinstance(node, Read):
            self._read(node)
        elif isinstance(node, Mode):
            node.replace(Constant(True))  # a module that is built is in training
        elif isinstance(node, Detached):
            node.replace(node.expression)
        elif isinstance(node, Key) or self._lacks_key(node):
            why = "the constructor draws what is no param: it has no key"
            self.reports.raises("random-in-init", node, why)
        elif isinstance(node, Unconverted):
            node.replace(raising(node, Support))
        elif isinstance(node, BoundMethod):
            self._method(node)
        elif not plainly(node, Support) and isinstance(node, Call):
            self._call(node)

    def _method(self, node: BoundMethod) -> None:
        """What is kept has no params yet: `self.act = {"up": self.up}`; a method of self under a
        name of its own is called with them, as the method is."""
        around = node.parent
        named = _is_self(node.object.value) and isinstance(around, (Assign, Conditional))
        if named or self.plan.conventions.of_value(node) == NOTHING:
            node.become(Attribute(node.object, node.name))
            return
        self.reports.report("module-value", node, _KEPT)  # where it is called it raises
        says = raising(Unconverted("module-value", source_of(node)), Support)
        given = [Parameter("inputs", "*"), Parameter("named", "**")]
        node.replace(Lambda(given, says))

    def _wraps(self, call: Call) -> None:
        """`self.f = twice(self.fc)`: a function made of a module calls it without params."""
        if isinstance(call.value, (FunctionValue, Functions)):
            for given in [a for a in call.arguments if isinstance(a.value, Module)]:
                if self.plan.conventions.of_value(given) != NOTHING:
                    self.reports.raises("module-value", given, _KEPT)

    def _lacks_key(self, node: Node) -> bool:
        """Whether a call draws, and is given no key, as in `lambda w, key: f(w, key=key)`."""
        if not isinstance(node, Apply) or node in self._shapes and self._runs(node):
            return False
        return "key" not in node.keywords and draws(node, self.plan)

    def _call(self, node: Call) -> None:
        function = node.function
        gone_over = going_over(
            node, WALKS | PARAMETERS | ({"apply"} if is_applied(node) else set())
        )
        if gone_over is not None:
            node.replace(gone_over)
            return
        if isinstance(function, Name) and function.id == "setattr" and len(node.arguments) == 3:
            own, name, made = node.arguments
            if isinstance(made, Call) and may_be_function(made):
                keep(made, self.plan)
            elif isinstance(made.value, Module):  # which must be one: children() has no other
                listed = container_classes(self.plan.project, own.value)
                named = isinstance(name, Constant) or listed
                if not _is_self(own.value) and not named:
                    self.reports.report("taken-for-granted", node, _REPLACED)
                node.replace(Call(Attribute(own, "add_module"), [name, made]))
                return
        if self._asks(node):
            return
        if not isinstance(node, New) and self._runs(node):
            self._probe(node)
        elif isinstance(node, (New, Apply)):
            self._wraps(node)
            node.become(Call(node.function, node.arguments, node.keywords))

    def _asks(self, node: Call) -> bool:
        """`hasattr(m, "bias")`, `getattr(m, "bias", None) is not None`, of a module's params."""
        word = dotted(node.function)
        if word not in ("hasattr", "getattr") or len(node.arguments) < 2:
            return False
        module, name = node.arguments[:2]
        named = (
            isinstance(name, Constant) and name.constant in self.plan.conventions.presence.params
        )
        if not named or not isinstance(module.value, Module):
            return False
        around = node.parent
        if word == "hasattr":
            _has(node, module, name)
            return True
        if len(node.arguments) < 3 or not is_none(node.arguments[2]):
            return False
        if not asks_for_none(around):
            return False
        _has(around, module, name, missing=around.operators[0] in ("is", "=="))
        return True

    def _runs(self, call: Call) -> bool:
        """Whether a call asks for arrays, which there are none of yet."""
        conventions = self.plan.conventions  # what a builder is given is bound to nothing; what a
        # constructor is given, and calls, is a class, whatever an annotation says
        given = is_given(call) and self.function.name != "__init__"
        called = _usual(call) or call.function
        of_value = (given or called is not call.function) and isinstance(called.value, Module)
        threads = conventions.of_value(called) if of_value else conventions.of_call(call)
        return threads.params or threads.takes

    def _probe(self, call: Call) -> None:
        if call not in self._shapes:
            why = "a module is run while the model is built, before its params are made"
            self.reports.raises("module-value", call, why)
            return
        call.replace(dry_run(call))

    def _read(self, node: Read) -> None:
        around = node.parent
        fixed = node.kind == "buffer" and not self.plan.conventions.is_state(node)
        if node.kind == CONSTANT or fixed:
            constant(node, self.plan, self.function)
        elif asks_for_none(around):
            missing = around.operators[0] in ("is", "==")
            _has(around, node.object, Constant(node.name), missing)
        elif asks_for_truth(node):  # if there is one: several numbers have no truth
            _has(node, node.object, Constant(node.name))
        elif _is_array(around):
            _has(around, node.object, Constant(node.name))
        elif is_measured(node):
            measure(node)
        else:
            why = "the value of an array is asked for before it is made"
            self.reports.raises("array-while-building", node, why)


def _usual(call: Call) -> Expression | None:
    """The `self.fc` that is called where nothing else is given: `lambda x, fc=self.fc: fc(x)`"""
    for around in call.ancestors():
        if isinstance(around, (Lambda, Function)) and isinstance(call.function, Name):
            for parameter in around.parameters:
                if parameter.name == call.function.id:
                    return parameter.default
    return None


def _has(test: Expression, module: Expression, name: Expression, missing: bool = False) -> None:
    """Ask for a param in the place of a test: `hasattr(m, "w") and m.w is not None` asks once."""
    has = Call(Support("has"), [module, name])
    around = test.parent
    test.replace(Unary("not", has) if missing else has)
    while isinstance(around, Boolean) and around.operator == "and" and not missing:
        left, outer = around.left, around.parent  # of `m and has and has`, the left is `m and has`
        before = left.right if isinstance(left, Boolean) and left.operator == "and" else left
        if _asked(before) == _asked(around.right) is not None:
            around.replace(left)
        around = outer


def _asked(node: Expression) -> tuple[str | None, object] | None:
    """The module and the name that `nn.has(m, "weight")` asks for."""
    if not isinstance(node, Call) or not isinstance(node.function, Support):
        return None
    if node.function.name != "has":
        return None
    module, name = node.arguments
    return (dotted(module), name.constant) if isinstance(name, Constant) else None


def _is_array(test: Node | None) -> TypeGuard[Call]:
    """`isinstance(m.bias, jax.Array)`"""
    asks = isinstance(test, Call) and dotted(test.function) == "isinstance"
    return asks and dotted(test.arguments[1]) == "jax.Array"  # type: ignore[union-attr]
