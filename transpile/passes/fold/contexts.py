"""Blocks and decorators that change no value here: autocast, profilers, kernels, compilers; and the
choice of one before it is entered.

    context = torch.no_grad if frozen else nullcontext  ->  with torch.set_grad_enabled(not frozen):
    with context():                                             …
"""

import functools
from collections.abc import Callable

from ...facts.bindings import Definitions, bound, read
from ...facts.values.lattice import External, Torch, element_of, is_traced
from ...model.constants import is_constant
from ...model.copy import clone
from ...model.expressions import Attribute, Call, Name, NamedExpression
from ...model.names import dotted, imported
from ...model.node import Expression, Node
from ...model.operators import Conditional, Unary
from ...model.program import Class, Function
from ...model.statements import Assign, Block, Return, With
from .conditions import Conditions

BLOCKS = frozenset(
    "autocast device profile record_function flags annotate set_detect_anomaly detect_anomaly"
    " sdpa_kernel sdp_kernel device_of".split()
)
BLOCKS_BY_PATH = frozenset({"torch.cuda.stream", "torch.cuda.nvtx.range"})  # others have the names
DECORATORS = frozenset(
    "autocast script unused ignore export compile script_method once_differentiable custom_fwd"
    " custom_bwd disable allow_in_graph is_tracing script_if_tracing _overload_method _overload amp"
    " interface half_function float_function jit wrap".split()
)
_CACHES = frozenset({"functools.cache", "functools.lru_cache"})
_CACHED_PROPERTY = "functools.cached_property"
_AUTOCAST = (
    "autocast is left out: what torch computes in half precision here is computed in the dtype of"
    " its arrays; cast them where the speed is wanted"
)
_OFF, _ON, _NEUTRAL = "off", "on", "neutral"
_KINDS = {"no_grad": _OFF, "inference_mode": _OFF, "enable_grad": _ON}


class Contexts:
    """The blocks and decorators of one scope."""

    def __init__(self, conditions: Conditions, is_gone: Callable[[Node], bool]) -> None:
        self.is_gone = is_gone  # whether a node stands on a way that is not taken
        self.facts, self.changes = conditions.facts, conditions.changes
        self.scope = self.changes.scope
        self.spare: set[Assign] = set()  # what only blocks entered

    def run(self) -> None:
        if isinstance(self.scope, (Function, Class)):
            for decorator in list(self.scope.decorators):
                name = self._name(decorator)
                if name is not None and name.rpartition(".")[2] in DECORATORS:
                    self._report_autocast(decorator, name)
                    self.changes.change(decorator, self.scope.undecorate)
                elif self._keeps_arrays(decorator):
                    if imported(self.scope, decorator) == _CACHED_PROPERTY:
                        self.changes.replace(decorator, Name("property"))
                    else:
                        self.changes.change(decorator, self.scope.undecorate)
        for block in self.scope.nodes(With):
            if not self.is_gone(block):
                self._block(block)
        for assign in self.spare:
            self.changes.remove(assign)

    def _name(self, node: Expression) -> str | None:
        return self.facts.activity.torch_name(node)

    def _keeps_arrays(self, decorator: Expression) -> bool:
        """Whether a cache keeps arrays that a function makes, none of them drawn: those of one
        trace are nothing in another.
        """
        function = decorator.function if isinstance(decorator, Call) else decorator
        if imported(self.scope, function) not in (*_CACHES, _CACHED_PROPERTY):
            return False
        made = [r.expression.value for r in self.scope.nodes(Return) if r.expression is not None]
        torch = {c.function.value for c in self.scope.nodes(Call)}
        rules = (self.facts.rulebook.find(t.name) for t in torch if isinstance(t, Torch))
        drawn = any(rule.asks_for_key for found in rules for rule in found)
        return not drawn and any(is_traced(element_of(v)) or is_traced(v) for v in made if v)

    def _block(self, block: With) -> None:
        going: list[Expression] = []
        for context, target in block.pairs:
            name = self._name(context)
            if name is not None and target is None:
                self._report_autocast(context, name)
            if target is not None:
                continue
            if self.kind(context) == _NEUTRAL:
                going.append(context)
                continue
            chosen = self._chosen(context)
            if chosen is None:
                continue
            new = self._entered(chosen)
            if new is None:
                going.append(context)
            elif new is not context:
                self.changes.replace(context, new)
        if len(going) == len(block.pairs):
            self.changes.change(block, With.unwrap)
        else:
            for context in going:
                self.changes.change(block, functools.partial(With.remove, context=context))

    def _report_autocast(self, node: Expression, name: str) -> None:
        """Report `with torch.autocast("cuda", dtype=torch.bfloat16)`, but not where it is written
        out that it is off.
        """
        if not isinstance(node, Call) or name.rpartition(".")[2] != "autocast":
            return
        pairs = zip(node.keywords, node.arguments)
        off = any(is_constant(a, False) and w in (None, "enabled") for w, a in pairs)
        if not off:
            self.changes.report("taken-for-granted", node, _AUTOCAST)

    # --- what a context manager does -------------------------------------------------------------

    def kind(self, node: Expression) -> str | None:
        """What a context manager, or a call that makes one, does; None where that is not known."""
        if isinstance(node, Conditional):
            kinds = {self.kind(node.body), self.kind(node.orelse)}
            return _NEUTRAL if kinds == {_NEUTRAL} else None
        made = node.function if isinstance(node, Call) else node
        value = made.value
        name = value.name if isinstance(value, (Torch, External)) else None
        if name is None and made.file is not None and (path := dotted(made)) is not None:
            found = self.facts.project.resolve(made.file, path)
            name = found if isinstance(found, str) else None
        if name == "contextlib.nullcontext":
            return _NEUTRAL
        if name == "functools.partial" and isinstance(node, Call) and node.arguments:
            return _NEUTRAL if self.kind(node.arguments[0]) == _NEUTRAL else None
        last = (name or "").rpartition(".")[2]
        if name is None or not name.startswith("torch."):
            return None
        if last in _KINDS:
            return None if isinstance(node, Call) and node.arguments else _KINDS[last]
        return _NEUTRAL if last in BLOCKS or name in BLOCKS_BY_PATH else None

    # --- what was chosen before ------------------------------------------------------------------

    def _chosen(self, context: Expression) -> Expression | None:
        """What is entered: `torch.no_grad() if frozen else nullcontext()` itself, or what a name
        stands for here; None where that is not known.
        """
        if isinstance(context, Conditional):
            return context if _is_plain(context.test) else None
        made = context.function if isinstance(context, Call) else context
        if not isinstance(made, Name) or isinstance(context, Call) and context.arguments:
            return None
        if not isinstance(self.scope, Function):
            return None
        definitions = Definitions(self.scope)
        target = definitions.definition(made)
        if target is None or definitions.unique(made.id) is not target:
            return None
        assign = target.parent
        if not isinstance(assign, Assign) or len(assign.targets) != 1 or assign.operator:
            return None
        value = assign.expression
        if value is None or not self._holds_until(value, assign, isinstance(context, Call)):
            return None
        uses = definitions.uses.get(target, [])
        if all(_enters(use) for use in uses):
            self.spare.add(assign)
        return value

    def _holds_until(self, value: Expression, assign: Assign, called: bool) -> bool:
        """Whether the choice is the same where it is entered: nothing in it changes until then."""
        sides = [value.body, value.orelse] if isinstance(value, Conditional) else [value]
        for side in sides:
            partial = isinstance(side, Call) and (dotted(side.function) or "").endswith("partial")
            if isinstance(side, Call) == called and not partial or self.kind(side) is None:
                return False
        if not isinstance(value, Conditional) or self.kind(value) == _NEUTRAL:
            return True
        block = assign.parent
        assert isinstance(block, Block)
        at = block.body.index(assign)
        changed = {name for s in block.body[at + 1 :] for name in bound(s)}
        attributes = any(isinstance(n, Attribute) for n in value.test.walk())
        return _is_plain(value.test) and not attributes and not changed & set(read(value.test))

    def _entered(self, value: Expression) -> Expression | None:
        """What a block is to enter for a choice; None where that changes no value."""
        if not isinstance(value, Conditional):
            if self.kind(value) == _NEUTRAL:
                return None
            made = clone(value)
            return made if isinstance(made, Call) else Call(made)
        kinds = [self.kind(side) for side in (value.body, value.orelse)]
        if kinds == [_NEUTRAL, _NEUTRAL]:
            return None
        if kinds in ([_OFF, _NEUTRAL], [_OFF, _ON]):
            return _enabled(value.test, True)
        if kinds in ([_NEUTRAL, _OFF], [_ON, _OFF]):
            return _enabled(value.test, False)
        return value


def _enabled(test: Expression, negated: bool) -> Expression:
    """`torch.set_grad_enabled(not frozen)`"""
    test = clone(test)
    if negated and isinstance(test, Unary) and test.operator == "not":
        test, negated = test.operand, False
    torch = Name("torch")
    torch.value = Torch("torch")
    function = Attribute(torch, "set_grad_enabled")
    function.value = Torch("torch.set_grad_enabled")
    return Call(function, [Unary("not", test) if negated else test])


def _is_plain(test: Expression) -> bool:
    """Whether a condition can be asked later, and more than once."""
    return not any(isinstance(n, (Call, NamedExpression)) for n in test.walk())


def _enters(use: object) -> bool:
    """Whether a name is read to enter a block: `with context():`"""
    parent = getattr(use, "parent", None)
    if isinstance(parent, Call) and parent.function is use:
        parent = parent.parent
    return isinstance(parent, With)
