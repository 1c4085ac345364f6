"""Nodes of JAX with self as the functional output has them, where they stand.

Read of an array    params["weight"], state["mean"], self.mask for a constant
    that may be missing: "bias" in params, params.get("bias")
Mode                training
Detached            lax.stop_gradient(x)
Put                 x.at[i].set(v)
"""

from ...facts.shapes.asked_shapes import is_measured
from ...facts.values.lattice import Module
from ...model.constants import is_none
from ...model.copy import clone
from ...model.effects import BUFFER, MIXED, PARAM, Apply, Mode, New, Read, Support, Unconverted
from ...model.equality import equal
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    ForClause,
    Name,
    Subscript,
)
from ...model.names import dotted, is_own, leaves, stored_by
from ...model.node import Expression, Node
from ...model.operators import Compare, Conditional, asks_for_none
from ...model.program import Function
from ...model.statements import Assign, Block, If
from ..faults import raising
from ..leaf_nodes import plainly, put
from ..reports import Reports
from ..sharing.ties import below
from ..threading.param_writers import listing
from . import number_params
from .computed_names import Computed
from .constants import constant
from .constructor.shape_only import measure
from .indirect_modules import is_listed
from .loop_containers import going_over_run, listed
from .optional_arrays import listed_entry, may_lack
from .path_resolution import Paths
from .plan import Plan, Words
from .presence import answer, kept
from .tied_params import TiedParams

UNKNOWN_PLACE = "it is not known where the params of this module are"
_OPEN = "it is not known which class this module has, and so where it has this"
_SHAPES = "which arrays these are is not known here: listed are their shapes and dtypes alone"
_NORMED = (
    "the layer computes this array from others, and where it may be the array of another layer, or "
    "of a spectral norm, it can only be called"
)
_DOUBTFUL = (
    "this may be an array, and neither params nor state say whether the module has it: set it to "
    "None in the constructor, and compare it with None"
)
_MIXED = (
    "which attribute this is is not known here, and it may be an array or something else: write "
    "the name, or keep what is looked up in a ModuleDict or ParameterDict"
)
_STORED = "these are params on one way and the module's own on another: set them in the constructor"
PARTS = ("keys", "values", "items")


class Leaves:
    """The leaves of one function, those of functions that were made in it included."""

    def __init__(
        self,
        function: Function,
        plan: Plan,
        paths: Paths,
        words: Words,
        reports: Reports,
        tied: TiedParams,
    ) -> None:
        self.function, self.plan, self.paths = function, plan, paths
        self.words, self.reports, self.tied = words, reports, tied

    def write(self) -> None:
        for call in [n for n in self.plan.conventions.own_nodes(self.function) if _may_ask(n)]:
            self._asked(call)  # type: ignore[arg-type]
        for call, read in list(self.plan.conventions.computed(self.function)):
            self._computed(call, read)
        nodes = list(self.plan.conventions.own_nodes(self.function))
        for node in reversed(nodes):  # inner before outer
            self._node(node)

    def _computed(self, call: Call, read: Computed) -> None:
        """`getattr(self, f"weight_{i}")`"""
        path = self.paths.of(read.module)
        if path is None or len(read.kinds) > 1:
            self.reports.raises("dynamic-attribute", call, _MIXED)
            return
        entries = path.of(self.words.params if PARAM in read.kinds else self.words.state)
        if read.default is None:
            call.replace(Subscript(entries, read.name))
            return
        missing = [] if is_none(read.default) else [read.default]
        call.replace(Call(Attribute(entries, "get"), [read.name, *missing]))

    def _node(self, node: Node) -> None:
        listed = self.plan.conventions.listed_at_times
        if isinstance(node, Read):
            self._read(node)
        elif isinstance(node, Mode):
            node.replace(Name(self.words.training))
        elif isinstance(node, Unconverted):
            node.replace(raising(node, Support))
        elif plainly(node, Support):
            return
        elif isinstance(node, Call) and (module := listing(node)) is not None:
            self._list(node, module)
        elif isinstance(node, Call) and (new := going_over_run(node)) is not None:
            node.replace(new)
        elif isinstance(node, (New, Apply)):
            node.become(Call(node.function, node.arguments, node.keywords))
        elif isinstance(node, Expression) and is_listed(node):
            self._listed(node)
        elif isinstance(node, Attribute) and listed.reads(node, self.function):
            self._at_times_listed(node)

    # --- is there an array ------------------------------------------------------------------------

    def _asked(self, call: Call) -> None:
        """`hasattr(self, "w")`, `getattr(self, "w", None)`"""
        presence = self.plan.conventions.presence
        asked = presence.asked(call, self.function)
        if asked is None:
            if presence.is_open(call):
                self.reports.raises("dynamic-attribute", call, _OPEN)
            return
        if asked.default is None and presence.is_certain(asked):
            put(call, Constant(True))
            return
        path = self.paths.of(asked.module)
        if path is None or presence.is_doubtful(asked):
            self.reports.raises("dynamic-attribute", call, _DOUBTFUL)
            return
        words = {PARAM: self.words.params, BUFFER: self.words.state}
        entries = {kind: path.of(word) for kind, word in words.items()}
        write = answer if asked.default is None else kept
        put(call, write(asked, entries))

    def _list(self, node: Call, module: Expression) -> None:
        """`self.net.parameters()`; of a module whose params are not known here the shapes alone, by
        which they are counted."""
        path = self.paths.of(module)
        if not isinstance(node.function, Attribute):
            return
        whole, given = self.paths.whole, [module]
        if path is not None and self.plan.threads(whole).params:
            given.append(path.of(self.words.params))
        elif path is None or not self.plan.is_building(whole):  # which has none yet
            self.reports.report("taken-for-granted", node, _SHAPES)
        node.replace(listed(node, given))

    # --- lists of params --------------------------------------------------------------------------

    def _at_times_listed(self, node: Attribute) -> None:
        """A list of params on one way, which params have, and the module's own on another."""
        path = self.paths.of(node)
        if path is None:
            return
        part = node.parent if isinstance(node.parent, Subscript) else node  # `self.scales[i] = w`
        stored = stored_by(part)
        if stored is not None and stored.expression is not None:
            self.reports.raises("module-value", stored.expression, _STORED)
            return
        entries, name = path.of(self.words.params), Constant(node.name)
        asked = Compare([name, Name(self.words.params)], ["in"])
        node.replace(Conditional(self._parts(node, entries, "values"), asked, clone(node)))

    def _listed(self, node: Expression) -> None:
        """`self.scales[i]` of a ParameterList, and loops over one."""
        path, around = self.paths.of(node), node.parent
        if path is None or isinstance(around, Attribute) and around.name not in PARTS:
            return
        entries = path.of(self.words.params)
        if isinstance(around, Subscript) and around.object is node:
            key = self.paths.key(around)
            if key is not None:
                around.replace(listed_entry(self.plan, self.function.owner, node, entries, key))
            return
        if isinstance(around, Call) and not isinstance(around.function, Name):
            return
        if isinstance(around, Attribute):
            if isinstance(around.parent, Call):
                around.parent.replace(self._parts(node, entries, around.name))
        elif not (isinstance(around, Call) and dotted(around.function) == "len"):
            keyed = _has_keys(node)
            node.replace(self._parts(node, entries, "keys" if keyed else "values"))

    def _parts(self, node: Expression, entries: Expression, word: str) -> Expression:
        """All arrays of a list, by their names in its order: a dict of JAX's is sorted."""
        name = "name"
        entry = listed_entry(self.plan, self.function.owner, node, entries, Name(name))
        if word == "keys":
            return Call(Attribute(clone(node), "keys"), [])
        if word == "items":
            entry = Display("tuple", [Name(name), entry])
        target = Display("tuple", [Name(name), Name("_")])
        layers = Call(Attribute(clone(node), "layers"), [])
        return Comprehension("list", None, entry, [ForClause(target, layers, [])])

    # --- arrays -----------------------------------------------------------------------------------

    def _read(self, node: Read) -> None:
        whole = self._whole(node)
        if whole is None:
            constant(node, self.plan, self.function)
            return
        path = self.paths.of(node.object)
        tied = self.tied.ties.array(below(node.object, self.paths.self_name), node.name)
        if tied is not None and path is not None:
            node.replace(self.tied.read(tied, path))
            return
        if path is None and is_measured(node):  # which the module knows
            measure(node)
            return
        if path is None:
            self.reports.raises("module-value", node, UNKNOWN_PLACE)
            return
        entries = path.of(whole)
        around = node.parent
        normed = self.plan.modules.is_normed(node)
        if normed is False:
            self.reports.raises("unsupported", node, _NORMED)
        elif normed:  # what the layer itself has as params, with the array that is computed
            params = Call(Attribute(clone(node.object), "layer_params"), [entries])
            node.replace(Subscript(params, Constant(node.name)))
        elif asks_for_none(around):
            words = {"is": "not in", "is not": "in", "==": "not in", "!=": "in"}
            if self.plan.conventions.presence.is_unset(node):
                node.replace(Call(Attribute(entries, "get"), [Constant(node.name)]))
                return
            around.replace(Compare([Constant(node.name), entries], [words[around.operators[0]]]))
        elif node.kind == MIXED and node.name in self.plan.numbers | self.plan.plain_numbers:
            node.replace(number_params.read(node.name, entries, node.object))
        elif self._may_be_missing(node) and not _is_set(node, entries):
            node.replace(Call(Attribute(entries, "get"), [Constant(node.name)]))
        else:
            node.replace(Subscript(entries, Constant(node.name)))

    def _whole(self, node: Read) -> str | None:
        """Where an array is kept; None for a constant, which the module has itself."""
        if self.plan.conventions.is_state(node):
            return self.words.state
        return self.words.params if node.kind in (PARAM, "mixed") else None

    def _may_be_missing(self, node: Read) -> bool:
        """Whether an array is not there under some configuration, and nothing around asks."""
        cls = self.function.owner
        if is_own(node, self.paths.self_name):
            missing = cls is not None and self.plan.is_optional(cls, node.name)
        else:
            missing = may_lack(self.plan, cls, node.object, node.name)
        return missing and not any(_asks(around, node) for around in node.ancestors())


def _is_set(node: Read, entries: Expression) -> bool:
    """Whether a statement on every way here gives an entry: `state["h"] = h`."""
    entry = Subscript(clone(entries), Constant(node.name))
    inner: Node = node
    for around in node.ancestors():
        if isinstance(around, Function):
            break
        if isinstance(around, Block):
            before = around.body[: around.body.index(inner)]  # type: ignore[arg-type]
            given = [t for s in before if isinstance(s, Assign) for t in s.targets]
            if any(equal(leaf, entry) for target in given for leaf in leaves(target)):
                return True
        inner = around
    return False


def _may_ask(node: Node) -> bool:
    return isinstance(node, Call) and dotted(node.function) in ("hasattr", "getattr")


def _asks(around: Node, node: Read) -> bool:
    """Whether a branch asks whether an array is there."""
    if not isinstance(around, (If, Conditional)):
        return False
    for test in around.test.walk():
        if isinstance(test, Compare) and len(test.operands) == 2:
            one, other = test.operands
            if isinstance(one, Read) and one.name == node.name and is_none(other):
                return True
            if isinstance(one, Constant) and one.constant == node.name:
                return True
    return False


def _has_keys(node: Expression) -> bool:
    """Whether a loop over a list of params goes over their names: `for k in self.scales`."""
    value = node.value
    return isinstance(value, Module) and any("ParameterDict" in str(ref) for ref in value.refs)
