"""What is left of a condition once there is no torch: True, False, or the part that the user's own
words decide.
"""

import re
from typing import Any

from ...facts.program import ProgramFacts
from ...facts.values.attributes import is_differentiable
from ...facts.values.lattice import MISSING, External, Module, Static, Tensor, Torch
from ...facts.values.operators import asks_torch
from ...model.constants import is_constant
from ...model.expressions import Attribute, Call, Constant, NamedExpression, OpaqueExpression
from ...model.names import dotted, everywhere, last_word
from ...model.node import Expression, Node
from ...model.operators import COMPARISONS, Boolean, Compare, Unary
from ...model.program import Class
from ...model.statements import Assign
from ..pass_ import Changes
from ..requires_grad import FLAG, asked

_VERSION = re.compile(r"(\d+(?:\.\d+)*)")
_VERSIONS = ("parse", "Version", "LooseVersion", "StrictVersion", "parse_version", "digit_version")
PARAMETER = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


class Conditions:
    """Decides the conditions of one scope."""

    def __init__(self, changes: Changes, facts: ProgramFacts) -> None:
        self.changes, self.facts = changes, facts

    def left(self, node: Expression) -> bool | Expression:
        """True, False, or what is left: the node itself where nothing is decided, or a part. Parts
        of it that are decided are put in its place.
        """
        if isinstance(node, (Call, Attribute)):
            found = self._constant(node)
            return found if isinstance(found, bool) else node
        if isinstance(node, Unary) and node.operator == "not":
            inner = self.left(node.operand)
            if isinstance(inner, bool):
                return not inner
            self._put(node.operand, inner)
            return node
        if isinstance(node, Boolean):
            return self._junction(node)
        if isinstance(node, Compare) and len(node.operators) == 1:
            return self._comparison(node)
        return node

    def decided(self, node: Expression) -> bool | None:
        """True or False where all of a condition is decided."""
        found = Conditions(Changes(self.changes.scope), self.facts).left(node)
        return found if isinstance(found, bool) else None

    def _put(self, node: Expression, left: Expression) -> None:
        if left is not node:
            self.changes.replace(node, left)

    def _junction(self, node: Boolean) -> bool | Expression:
        ends = node.operator == "or"  # the value of one side that decides the whole
        if (one := self.decided(node.left)) is not None:
            return ends if one is ends else self.left(node.right)
        if (other := self.decided(node.right)) is not None:
            if other is not ends:
                return self.left(node.left)
            acts = (Call, NamedExpression, OpaqueExpression)
            return node if any(isinstance(n, acts) for n in node.left.walk()) else ends
        for side in (node.left, node.right):
            left = self.left(side)
            assert not isinstance(left, bool)
            self._put(side, left)
        return node

    def _comparison(self, node: Compare) -> bool | Expression:
        """`x.device.type == "cuda"`, `torch.__version__ >= "1.5.0"`"""
        (one, other), (word,) = node.operands, node.operators
        first, second = self._version(one), self._version(other)
        named = any(isinstance(n, Attribute) and n.name == "__version__" for n in node.walk())
        if first is not None and second is not None and named and word in COMPARISONS:
            return bool(COMPARISONS[word](first, second))
        if _is_device(one) and _is_device(other) and word in ("==", "!=", "is", "is not"):
            return word in ("==", "is")  # all arrays are where JAX puts them
        left, right = self._constant(one), self._constant(other)
        known = isinstance(left, (str, int)) and isinstance(right, (str, int))
        asked = any(isinstance(side, (Call, Attribute)) for side in (one, other))
        if not known or not asked or word not in ("==", "!=", ">"):
            return node
        if word == ">":
            return left > right if isinstance(left, int) and isinstance(right, int) else node
        return (left == right) is (word == "==")

    def _version(self, node: Expression) -> tuple[int, ...] | None:
        """`"1.5.0"`, `torch.__version__`, or `version.parse(…)` of one of these, without the zeros
        at its end.
        """
        if isinstance(node, Call) and len(node.arguments) == 1:
            if last_word(node.function) in _VERSIONS:
                return self._version(node.arguments[0])
        text = node.constant if isinstance(node, Constant) else None
        if isinstance(node, Attribute) and node.name == "__version__":
            if self.facts.activity.torch_name(node) == "torch.__version__":
                text = (self.facts.rulebook.constant("torch.__version__") or "").strip("'\"")
        found = _VERSION.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            return None
        return tuple(int(part) for part in re.sub(r"(\.0)+$", "", found[1]).split("."))

    def _constant(self, node: Expression) -> Any:
        """What an expression about torch or a tensor is known to be; MISSING for the user's own
        constants.
        """
        if isinstance(node, Constant):
            return node.constant
        if isinstance(node, Call) and _is_parameter_test(node):
            return self._is_parameter(node.arguments[0])
        if isinstance(node, Call) and _is_last_stride(node):
            return 1
        value = node.value
        if not isinstance(value, Static) or not isinstance(node, (Call, Attribute)):
            return MISSING
        asked = asks_torch(lambda n: n.value, node)
        return value.const if asked else MISSING

    def _is_parameter(self, node: Expression) -> Any:
        """`isinstance(self.weight, nn.Parameter)`: by where the array lives. MISSING where a
        constructor makes it on some ways only.
        """
        owner = node.object.value if isinstance(node, Attribute) else None
        known = node.value
        if not isinstance(owner, Module) or owner.open or not isinstance(known, Tensor):
            return MISSING
        if known.none or known.assumed:
            return MISSING
        if known.buffer:
            return False
        if not any(isinstance(cls, Class) for cls in owner.classes):  # one of torch's layers
            return True if known.param else MISSING
        if not owner.is_self or not known.param:
            return MISSING
        assert isinstance(node, Attribute)
        made = [self._makes_parameter(cls, node.name) for cls in owner.classes]
        return made[0] if len(set(made)) == 1 and made[0] is not None else MISSING

    def _makes_parameter(self, cls: Any, name: str) -> bool | None:
        """Whether a constructor always makes an attribute a parameter."""
        found = self.facts.project.find(cls, "__init__") if isinstance(cls, Class) else None
        kinds = set()
        for statement in found.body.body if found is not None else ():
            target = getattr(statement, "targets", [None])[0]
            made = getattr(statement, "expression", None)
            if not isinstance(made, Call):
                continue
            if isinstance(target, Attribute) and target.name == name:
                kinds.add(self.facts.activity.torch_name(made) in PARAMETER)
            elif (dotted(made.function) or "").endswith(".register_buffer"):
                if made.arguments and made.arguments[0].value == Static(name):
                    kinds.add(False)
        return kinds.pop() if len(kinds) == 1 else None

    def freezes(self) -> bool:
        """Whether anything of the project says of a param that it is not trained."""
        files = self.facts.project.ordered
        said = (asked(n) for f in files for n in everywhere(f, Assign, Call))
        if any(p is not None and not is_constant(given, True) and given for p, given in said):
            return True
        calls = (n.keyword(FLAG) for f in files for n in everywhere(f, Call))
        return any(given is not None and not is_constant(given, True) for given in calls)

    def asks_for_gradients(self, test: Expression) -> bool:
        """Whether a condition asks if a tensor, and no param, requires a gradient, or whether
        gradients are on at all.
        """
        for node in test.walk():
            if isinstance(node, Call) and node.function.value == Torch("torch.is_grad_enabled"):
                return True
            if isinstance(node, Attribute) and node.name == "requires_grad":
                value = node.object.value
                if isinstance(value, Tensor) and not value.param and is_differentiable(value):
                    return True
        return False


def _is_parameter_test(node: Call) -> bool:
    if node.function.value != External("builtins.isinstance") or len(node.arguments) != 2:
        return False
    kind = node.arguments[1].value
    return isinstance(kind, Torch) and kind.name in PARAMETER


def _is_last_stride(node: Call) -> bool:
    """`x.stride(-1)`, as kernels ask whether x is contiguous."""
    function = node.function
    if not isinstance(function, Attribute) or function.name != "stride":
        return False
    last = [argument.value for argument in node.arguments] == [Static(-1, "int")]
    return last and isinstance(function.object.value, Tensor)


def _is_device(node: Node) -> bool:
    """`x.device`, `str(x.device)`"""
    if isinstance(node, Call) and dotted(node.function) == "str" and len(node.arguments) == 1:
        node = node.arguments[0]
    named = isinstance(node, Attribute) and node.name == "device"
    return named and isinstance(node.object.value, Tensor)  # type: ignore[attr-defined]
