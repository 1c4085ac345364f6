"""Where arrays are is JAX's affair: moves to a device, `device=` of torch's functions, and the
locals that only these read.

    device = x.device
    if mask is None:                                        if mask is None:
        mask = torch.ones(3, device=device)     ->              mask = torch.ones(3)
    return x.to(device) * mask                              return x * mask
"""

from collections.abc import Callable, Iterable

from ...facts.bindings import Definitions
from ...facts.values.attribute_names import MOVES
from ...facts.values.lattice import NONE, Method, Static, Tensor, Torch
from ...model.expressions import Attribute, Call, Constant, Display, Name, Starred
from ...model.node import Expression, Node
from ...model.operators import Conditional, only_chooses
from ...model.program import Function, Parameter
from ...model.statements import Assign, Block, If
from ..pass_ import Changes


class Devices:
    """The devices of one scope."""

    def __init__(
        self, changes: Changes, is_gone: Callable[[Node], bool], spare: Iterable[Node] = ()
    ) -> None:
        self.changes, self.scope, self.is_gone = changes, changes.scope, is_gone
        self.spare = set(spare)  # expressions that go, and what is below them

    def run(self) -> None:
        for call in self.scope.nodes(Call):
            if self.is_gone(call):
                continue
            if self._moves(call):
                self.spare.update(call.arguments)
                self.changes.replace(call, lambda c: c.function.object)
            elif self._is_torchs(call):
                device = call.keyword("device")
                if device is not None and _is_pure(device):
                    self.spare.add(device)
                    self.changes.change(call, _without_device)
        if self.spare and isinstance(self.scope, Function):
            self._locals(self.scope)

    def _moves(self, call: Call) -> bool:
        """`x.to(device)`, `x.cuda()`: the tensor itself."""
        func = call.function
        if not isinstance(func, Attribute) or func.name not in MOVES:
            return False
        value, owner = func.value, func.object.value
        if not isinstance(value, Method) or not isinstance(owner, Tensor) or owner.host:
            return False
        pairs = list(zip(call.keywords, call.arguments))
        told = [a for w, a in pairs if w in (None, "device")]
        others = all(w in (None, "device", "non_blocking") for w in call.keywords)
        placed = all(_is_device(a) and _is_pure(a) for a in told)
        return others and placed and (bool(told) or func.name != "to")

    def _is_torchs(self, call: Call) -> bool:
        value = call.function.value
        tensor = isinstance(value, Method) and isinstance(value.receiver, Tensor)
        layer = isinstance(value, Torch) and value.name.startswith("torch.nn.")
        return tensor or isinstance(value, Torch) and not layer

    # --- locals ----------------------------------------------------------------------------------

    def _locals(self, function: Function) -> None:
        """Names of devices that nothing reads any more; those of other functions stay."""
        definitions = Definitions(function)
        names = {n for n, d in definitions.everywhere.items() if _are_devices(d)}
        while True:
            kept = {n for n in names if self._is_read(n, names, definitions)}
            if not kept:
                break
            names -= kept
        for name in names:
            for target in definitions.everywhere[name]:
                if not isinstance(target, Parameter):
                    self._remove(target, names)

    def _is_read(self, name: str, names: set[str], definitions: Definitions) -> bool:
        """Whether a name is read by what stays."""
        own = definitions.everywhere[name]
        return any(
            not self._goes(reader, names)
            for reader, found in definitions.of.items()
            if any(d is other for d in found for other in own)
        )

    def _goes(self, reader: Node, names: set[str]) -> bool:
        """Whether a read goes: in an argument that is left out, the value of a name that goes, or a
        test of nothing else.
        """
        if not isinstance(reader, Name):
            return False
        inside: Node = reader
        for around in [reader, *reader.ancestors()]:
            if around in self.spare or self.is_gone(around):
                return True
            if isinstance(around, Assign):
                targets = _paired(around, inside)
                return bool(targets) and all(t.id in names for t in targets)
            if isinstance(around, If):
                return inside is around.test and _only_binds(around, names)
            if isinstance(around, Block):
                return False
            inside = around
        return False

    def _remove(self, target: Node, names: set[str]) -> None:
        assign = next(n for n in target.ancestors() if isinstance(n, Assign))
        around = assign.parent.parent if assign.parent is not None else None
        if isinstance(around, If) and _only_binds(around, names):
            if around.body.body[0] is assign:
                self.changes.remove(around)
        elif isinstance(assign.targets[0], Name):
            self.changes.remove(assign)
        else:
            value = _given(target)
            assert isinstance(target, Name) and value is not None
            self.changes.change(assign, lambda a: _shorten(a, target, value))


def _are_devices(definitions: list[Node]) -> bool:
    """Whether all that binds a name gives it a device, by plain assignments."""
    given = [_given(d) for d in definitions if not isinstance(d, Parameter)]
    return bool(given) and all(g is not None and _is_device(g) and _is_pure(g) for g in given)


def _given(target: Node) -> Expression | None:
    """What a name is given by its assignment, alone or in a tuple."""
    assign = target.nearest(Assign)
    if assign is None or len(assign.targets) != 1 or assign.operator or assign.expression is None:
        return None
    whole, value = assign.targets[0], assign.expression
    if whole is target:
        return value
    if not isinstance(whole, Display) or not isinstance(value, Display):
        return None
    at = next((i for i, e in enumerate(whole.elements) if e is target), None)
    if at is None or any(isinstance(e, Starred) for e in whole.elements):
        return None
    stars = [i for i, e in enumerate(value.elements) if isinstance(e, Starred)]
    if len(stars) > 1 or not stars and len(whole.elements) != len(value.elements):
        return None
    if stars and at >= stars[0]:
        at -= len(whole.elements)  # counted from the end
        if -at >= len(value.elements) - stars[0]:
            return None
    return value.elements[at]


def _paired(assign: Assign, inside: Node) -> list[Name]:
    """The names that an expression in an assignment is given to."""
    names = [n for t in assign.targets for n in t.walk() if isinstance(n, Name)]
    if inside is not assign.expression:
        return []
    return names if isinstance(assign.targets[0], Name) else []


def _shorten(assign: Assign, target: Name, value: Expression) -> None:
    """`b, n = x.shape` of `b, n, device = *x.shape, x.device`."""
    whole, given = assign.targets[0], assign.expression
    assert isinstance(whole, Display) and isinstance(given, Display)
    left = [e for e in whole.elements if e is not target]
    values = [e for e in given.elements if e is not value]
    one = len(values) == 1 and isinstance(values[0], Starred)
    new: Expression = values[0].expression if one else Display("tuple", values)  # type: ignore[attr-defined]
    if len(values) == 1 and not one and len(left) == 1:
        new = values[0]
        whole.replace(left[0])
    else:
        whole.replace(Display("tuple", left))
    given.replace(new)


def _only_binds(node: If, names: set[str]) -> bool:
    """`if device is None: device = x.device`"""
    if node.orelse is not None or not _is_pure(node.test):
        return False
    return all(
        isinstance(s, Assign) and all(isinstance(t, Name) and t.id in names for t in s.targets)
        for s in node.body.body
    )


def _without_device(call: Call) -> None:
    device = call.keyword("device")
    if device is not None:
        call.remove(device)


def _is_device(node: Expression) -> bool:
    value = node.value
    if isinstance(node, Conditional):
        return _is_device(node.body) or _is_device(node.orelse)
    if isinstance(value, Static) and value.type == "device":
        return True
    places = ("cpu", "cuda", "mps")
    return isinstance(node, Constant) and str(node.constant).partition(":")[0] in places


def _is_pure(node: Expression) -> bool:
    """Whether an expression only chooses, or makes a device of what does."""
    return only_chooses(node, _makes_device)


def _makes_device(node: Expression) -> bool:
    if not isinstance(node, Call) or node.value == NONE:
        return False
    return node.function.value == Torch("torch.device") and all(map(_is_pure, node.arguments))
