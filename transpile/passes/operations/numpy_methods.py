"""Methods that NumPy and torch call alike but compute otherwise, of what may be an array of either:
`data.std(0)` of a scaler, which is fitted to what it is given."""

from ...facts.values.attribute_names import ORDINARY, SHARED
from ...facts.values.lattice import Method, Tensor, is_anything
from ...model.expressions import Attribute, Call, Display, Name
from ...model.names import dotted
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.statements import Assign
from ...source.splice import show
from .conversion import Conversion

_PAIRS = "gives the values alone, torch's the values and the indices"
_OTHERWISE = {
    "std": "divides by n, torch's by n - 1",
    "var": "divides by n, torch's by n - 1",
    "max": _PAIRS,
    "min": _PAIRS,
    "sort": "sorts in place and gives None, torch's gives the values and the indices",
    "repeat": "repeats each element, torch's the whole",
    "nonzero": "gives a tuple of arrays, torch's one array",
}
# Which tell of arrays of both kinds.
_QUESTIONS = frozenset({"torch.is_tensor", "torch.from_numpy", "torch.Tensor"})
_OF_TORCH = frozenset("dim keepdim unbiased correction descending stable as_tuple".split())


def told(c: Conversion, node: Call, function: Attribute, found: Method) -> None:
    """Report a method of what is taken for a tensor, outside of forward passes, where NumPy's would
    compute something else.
    """
    name = found.name
    if name not in _OTHERWISE or _OF_TORCH.intersection(w for w in node.keywords if w):
        return
    if _OTHERWISE[name] is _PAIRS and (not node.arguments or _is_unpacked(node)):
        return
    if _is_open(c, function.object, found) and _may_be_given_numpy(c, node):
        message = f"{show(function.object)} is taken for a tensor: NumPy's {name} "
        c.changes.report("taken-for-granted", node, message + _OTHERWISE[name])


def _is_unpacked(node: Call) -> bool:
    """`_, predicted = outputs.max(1)`"""
    assign = node.parent
    return isinstance(assign, Assign) and isinstance(assign.targets[0], Display)


def _may_be_given_numpy(c: Conversion, node: Call) -> bool:
    """Whether code is run by no forward pass, and knows arrays of NumPy's; what a module has may
    be, but for what trains it.
    """
    stage, project = c.facts.stage(c.scope), c.facts.project
    if stage in ("traced", "building") or c.scope.file is None:
        return False
    outermost = project.outermost(c.scope) if isinstance(c.scope, Function) else None
    owner = project.owner(outermost) if outermost is not None else None
    if owner is not None and stage != "host":
        if project.is_module(owner) or project.is_autograd_function(owner):
            return False
    imported = project.names[c.scope.file].imports.values()
    if {"numpy", "pandas"} & {name.partition(".")[0] for name in imported}:
        return True
    return "axis" in node.keywords or owner is not None and _is_of_any_library(c, owner)


def _is_of_any_library(c: Conversion, owner: Class) -> bool:
    """Whether a class asks nothing that only torch has: a scaler that fits what it is given."""
    project, find = c.facts.project, c.rulebook.find
    if project.is_module(owner) or project.is_autograd_function(owner) or owner.file is None:
        return False
    for node in owner.walk():
        if isinstance(node, (Name, Attribute)):
            name = project.resolve(owner.file, dotted(node) or "?")
            if isinstance(name, str) and name.startswith("torch.") and name not in _QUESTIONS:
                return False
        if isinstance(node, Attribute) and node.name not in SHARED | ORDINARY:
            if find(f"torch.Tensor.{node.name}"):
                return False
    return True


def _is_open(c: Conversion, subject: Expression, found: Method) -> bool:
    """Whether nothing says that a receiver is a tensor: of a parameter, its shape may be asked
    for.
    """
    receiver = found.receiver
    if is_anything(receiver) or isinstance(receiver, Method):
        return True
    named = isinstance(subject, Name) and subject.id in c.given and isinstance(receiver, Tensor)
    if not named or not isinstance(c.scope, Function):
        return False
    assert isinstance(subject, Name)
    return c.facts.values.may_be_numpy(c.scope, subject.id)
