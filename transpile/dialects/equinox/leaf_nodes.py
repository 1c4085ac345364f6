"""Nodes of JAX with self as Equinox has them, where they stand.

Read of a buffer    state.get(self.hits), self.mask[...] for one that never changes
Mode                not self.inference
Detached            lax.stop_gradient(x)
Put                 x.at[i].set(v)
"""

from collections.abc import Callable
from functools import partial

from ...facts.values.attribute_names import PARAMETERS, WALKS
from ...facts.values.lattice import UNKNOWN, Method, Module
from ...model.constants import is_none
from ...model.effects import BUFFER, CONSTANT, Apply, Mode, New, Read, Support, Unconverted
from ...model.expressions import Attribute, Call, Constant, Lambda, Name, Subscript
from ...model.node import Expression, Node
from ...model.operators import Compare, Unary, asks_for_none
from ...model.program import Function
from ...model.statements import Assign
from ...source.lower_ast import expression
from .. import leaf_nodes
from ..faults import raising
from ..sharing.ties import Tied, below, run_by
from ..walk_order import adds_up_params
from .layers import own
from .plan import Plan


class Leaves:
    """The leaves of one function, those of functions inside included."""

    def __init__(self, function: Function, plan: Plan) -> None:
        self.function, self.plan = function, plan
        self.ties = plan.ties.of(function.owner)
        self.me = function.receiver or "self"
        self.building = plan.is_building(function)

    def write(self) -> None:
        for node in reversed(list(self.function.body.walk())):  # inner before outer
            self._node(node)

    def _node(self, node: Node) -> None:
        if plainly(node, Support):
            return
        if isinstance(node, Read):
            self._read(node)
        elif isinstance(node, Mode):
            self._mode(node)
        elif isinstance(node, Unconverted):
            node.replace(raising(node, Support))
        elif isinstance(node, New):
            made = own(node)
            if made is not None:
                node.replace(made)
            else:
                node.become(Call(node.function, node.arguments, node.keywords))
        elif isinstance(node, Apply):
            self._tied(node)
            self._in_mode(node)
            node.become(Call(node.function, node.arguments, node.keywords))
        elif type(node) is Call:
            self._walk(node)

    def _walk(self, call: Call) -> None:
        """`net.children()`: a function of the support file."""
        function = call.function
        unknown = isinstance(function, Attribute) and function.object.value in (None, UNKNOWN)
        own = isinstance(function, Attribute) and function.name in self.plan.methods
        if (made := going_over(call, self.building and unknown and not own)) is not None:
            call.replace(made)

    def _tied(self, node: Apply) -> None:
        """A layer that has an array of another one, or has such a layer below it, is given it: it
        holds None itself."""
        run = _run(node)
        holder = below(run, self.me)
        if not holder or self.building:
            return
        for tied in [*self.ties.of(holder), *self.ties.below(holder)]:
            run = run.wrap(partial(self._with_array, tied, holder))  # type: ignore[assignment]

    def _in_mode(self, node: Apply) -> None:
        """`eqx.nn.inference_mode(self.bn)(x, state)`"""
        if node.training is None:
            return
        value = [Constant(False)] if node.training else []
        _run(node).wrap(lambda module: Call(expression("eqx.nn.inference_mode"), [module, *value]))

    def _with_array(self, tied: Tied, holder: str, layer: Expression) -> Expression:
        """A layer with another's array in the place of its own."""
        owner = tied.owned(self.me)
        given = owner if tied.always else Lambda([], owner)
        name = Constant(tied.path.removeprefix(f"{holder}."))
        return Call(Support("with_array"), [layer, name, given])

    def _read(self, node: Read) -> None:
        holder = below(node.object, self.me)
        tied = self.ties.array(holder, node.name)
        if tied is not None and holder is not None:
            if tied.always:
                node.replace(tied.owned(self.me))
            else:
                node.object.wrap(partial(self._with_array, tied, holder))
                node.become(Attribute(node.object, node.name))
            return
        plain = Attribute(node.object, node.name)
        if node.kind == CONSTANT or node.kind == BUFFER and not self.plan.signatures.is_state(node):
            if is_tested(node) or is_base(node):
                node.become(plain)
            elif self._may_be_none(node):
                node.replace(Call(Support("value"), [plain]))
            else:
                node.replace(Subscript(plain, Constant(...)))
        elif self.plan.signatures.is_state(node) and not self._is_index(node):
            unset = self.plan.is_unset_at(node, self.function)
            if self.building:
                node.replace(Attribute(plain, "init"))
            elif self._may_be_none(node) and not unset:
                node.replace(Call(Support("get"), [Name("state"), plain]))
            else:
                node.replace(Call(Attribute(Name("state"), "get"), [plain]))
        else:
            node.become(plain)

    def _is_index(self, node: Read) -> bool:
        """Whether it is only asked whether there is a place for a value."""
        return is_tested(node) and not self.plan.is_unset_at(node, self.function)

    def _may_be_none(self, node: Read) -> bool:
        """Whether a buffer may be missing, and the function does not ask for any that may."""
        cls = self.function.owner
        if cls is None:
            return False
        array = self.plan.arrays(cls).get(node.name)
        if array is None or not array.optional:
            return False
        tests = (n for n in self.function.nodes(Compare) if len(n.operands) == 2)
        tested = (t.operands[0] for t in tests if is_none(t.operands[1]))
        return not any(isinstance(t, Attribute) and t.name in self._family(node) for t in tested)

    def _family(self, node: Read) -> set[str]:
        """The arrays of which one tells of all: statistics are all there, or none of them."""
        if not self.plan.signatures.is_state(node):
            return {node.name}
        cls = self.function.owner
        arrays = self.plan.arrays(cls).values() if cls is not None else ()
        return {a.name for a in arrays if a.kind == node.kind}

    def _mode(self, node: Mode) -> None:
        leaf_nodes.put(node, Unary("not", Attribute(node.object, "inference")))


def going_over(call: Call, of_any: bool = False) -> Call | None:
    """`nn.children(net)` of `net.children()`, where that is known to be a module, or `of_any`; None
    for another call."""
    function = call.function
    kept = isinstance(call.parent, Assign)
    walks = WALKS if kept else WALKS | PARAMETERS  # else what is kept would be another array soon
    if not isinstance(function, Attribute) or function.name not in walks:
        return None
    value = function.value
    if not of_any and not (isinstance(value, Method) and isinstance(value.receiver, Module)):
        return None
    word = "trained_leaves" if adds_up_params(call) else function.name
    return Call(Support(word), [function.object, *call.arguments], [None, *call.keywords])


def plainly(node: Node, support: Callable[[str], Expression]) -> bool:
    """Write what is the same wherever it stands; whether it is."""
    if type(node) is Attribute and _is_item(node):
        node.replace(Subscript(node.object, Constant(node.name)))
        return True
    return leaf_nodes.plainly(node, support)


def _is_item(node: Attribute) -> bool:
    """`self.parts.embed` of a ModuleDict, which is a dict here."""
    value = node.object.value
    if not isinstance(value, Module) or value.open or value.refs != ["torch.nn.ModuleDict"]:
        return False
    return not hasattr(dict, node.name) and node.name not in PARAMETERS | WALKS


def place(read: Read) -> Expression:
    """Where an array stands."""
    return Attribute(read.object, read.name)


def is_tested(node: Expression) -> bool:
    """Whether it is only asked whether it is there: `self.running_mean is None`."""
    return asks_for_none(node.parent)


def is_base(node: Expression) -> bool:
    return isinstance(node.parent, Subscript) and node.parent.object is node


def _run(node: Apply) -> Expression:
    """The module that a call runs, also by `nn.call(self.bn, x)`."""
    function = node.function
    if not isinstance(function, Support) or function.name not in ("call", "scan_layers"):
        return run_by(node)
    given = node.arguments[0]
    is_method = isinstance(given, Attribute) and not isinstance(given.value, Module)
    return given.object if is_method else given  # type: ignore[attr-defined]
