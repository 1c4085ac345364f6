"""The forms of torch's calls that return the new value instead of writing it."""

from ...facts.memory.access_paths import of
from ...facts.memory.inplace_names import Written
from ...facts.memory.views import view_of
from ...facts.values.lattice import Method, Module, Tensor, Torch
from ...model.expressions import Attribute, Call, Name
from ...model.names import below, is_inplace
from ...model.node import Expression, Node
from ...model.statements import ExpressionStatement
from .frame import Frame


def out_of_place(frame: Frame, node: Call, write: Written) -> None:
    """`x.add(y)` for `x.add_(y)`, `F.relu(x)` for `F.relu_(x)` and `F.relu(x, inplace=True)`."""
    find, function, value = frame.spellings.rulebook.find, node.function, of(node.function)
    if write.form == "module":
        return
    if write.form == "out":
        given = node.keyword("out")
        if given is not None:
            node.remove(given)
    elif write.form == "method" and isinstance(function, Attribute):
        if is_inplace(function.name) and not find(f"torch.Tensor.{function.name}"):
            function.rename(function.name[:-1])
            function.value = Method(Tensor(), function.name)
        node.value = node.value if isinstance(of(node), Tensor) else Tensor()
    else:
        told = frame.spellings.flag_argument(node)
        if told is not None:
            node.remove(told)
        if isinstance(value, Torch) and value.name.endswith("_"):
            if not find(value.name) and find(value.name[:-1]):
                if isinstance(function, Attribute):
                    function.rename(function.name[:-1])
                elif isinstance(function, Name):
                    function.rename(value.name.rpartition(".")[2][:-1])
                function.value = Torch(value.name[:-1])


def without_flag(frame: Frame, node: Call) -> None:
    """`act(x)` for `act(x, inplace=False)` of a function that only the run tells, maybe one of
    torch's, which take none here; a layer takes it."""
    told = frame.spellings.flag_argument(node)
    if told is not None and not isinstance(of(node.function), Module):
        if frame.spellings.is_handed(node):
            node.remove(told)


def plain_views(frame: Frame, node: Node) -> None:
    """What gives a tensor without a name another shape in place gives it to nothing else:
    `x[0].unsqueeze_(0)` is `x[0].unsqueeze(0)`."""
    for call in reversed(list(below(node, Call))):
        function = call.function
        if not isinstance(function, Attribute) or not isinstance(of(function), Method):
            continue
        shape = frame.spellings.reshaping.get(function.name) == "shape"
        if shape and _is_unnamed_view(frame, function.object):
            function.rename(function.name[:-1])
            function.value = Method(of(function.object), function.name)


def _is_unnamed_view(frame: Frame, node: Expression) -> bool:
    view = view_of(node, frame.views)
    if view is None or view.kind in ("copy", "cast"):
        return False
    detach = isinstance(node, Call) and isinstance(node.function, Attribute)
    detach = detach and node.function.name == "detach"  # type: ignore[attr-defined]
    return view.kind != "same" or isinstance(node, Attribute) or detach


def _only_computes(call: Call) -> bool:
    """Whether all calls in a call are of methods of tensors."""
    values = [of(c.function) for c in below(call, Call)]
    return all(isinstance(v, Method) and isinstance(v.receiver, Tensor) for v in values)


def is_dropped(frame: Frame, node: Call) -> bool:
    """Whether the current statement does nothing with what a call in it gives:
    `z.view(-1).copy_(x).view_as(y)`."""
    statement = frame.current
    if not isinstance(statement, ExpressionStatement):
        return False
    call = statement.expression
    return isinstance(call, Call) and _only_computes(call)
