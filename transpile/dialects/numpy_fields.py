"""Arrays of NumPy's that a model keeps: a static field must be hashable, any other is trained in
Equinox, and an array of JAX's while a model of Flax's is traced.

self.ratios = np.array([0.5, 1, 2])      self.ratios = nn.Static(np.array([0.5, 1, 2]))
x * self.ratios[0]                       x * self.ratios.value[0]
self.sizes = {}                          self.sizes = nn.Static({})
self.sizes[i] = np.arange(i)             self.sizes.value[i] = np.arange(i)
"""

from ..facts.modules import FIELD, Field, Modules
from ..facts.values.annotations import holds_numpy
from ..facts.values.lattice import External, Mapping, Module, Sequence, Tensor, Torch
from ..model.constants import is_none
from ..model.effects import Support
from ..model.expressions import Attribute, Call, Constant, Dictionary, Display, Subscript
from ..model.names import dotted, is_own
from ..model.node import Expression, Node
from ..model.operators import sides
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign
from .support.definitions import PRELUDES

HOLDER = "Static"
PRELUDE = PRELUDES / "host.py"


def hold(project: Project, modules: Modules) -> None:
    """Write the fields of all classes that hold such arrays, and what reads them; those of which
    all reads are known."""
    classes = [cls for cls in project.classes() if modules.is_module(cls)]
    fields = [(cls, n, own) for cls in classes for n, own in modules.own_fields(cls).items()]
    fields = [(cls, name, own) for cls, name, own in fields if _may_hold(own, name)]
    names = {name for _, name, _ in fields}
    nodes = [n for file in project.ordered for n in file.walk()] if names else []
    reads = {n: _classes(n, modules) for n in nodes if isinstance(n, Attribute) and n.name in names}
    put: dict[tuple[Class, str], list[Expression]] = {}
    for node, found in reads.items():
        for cls in found:
            for one in modules.lineage(cls):
                put.setdefault((one, node.name), []).extend(_put(node))
    held = {(cls, name) for cls, name, own in fields if _is_held(own, put.get((cls, name), []))}
    unknown = {n for n, classes in reads.items() if not classes and not _is_package(n.object)}
    left = {n.name for n in unknown} | _asked(nodes)
    for node, classes in reads.items():
        holding = {(one, node.name) in held for cls in classes for one in modules.lineage(cls)}
        if node.name in left or True not in holding:
            continue
        around = node.parent
        if isinstance(around, Assign) and node in around.targets and not around.operator:
            assert around.expression is not None
            around.expression.wrap(lambda value: Call(Support(HOLDER), [value]))
        else:
            node.wrap(lambda read: Attribute(read, "value"))


def _put(held: Attribute) -> list[Expression]:
    """What is put into a list or dict: `self.sizes[i] = v`, `self.sizes.append(v)`."""
    around = held.parent
    if isinstance(around, Subscript) and isinstance(around.parent, Assign):
        return sides(around.parent.expression) if around in around.parent.targets else []
    if not isinstance(around, Attribute) or around.name not in _GROWING:
        return []
    call = around.parent
    return call.arguments[-1:] if isinstance(call, Call) and call.function is around else []


def _may_hold(own: Field, name: str) -> bool:
    kept = [v for v in own.values if not is_none(v)]
    whole = all(_is_whole(value.parent, name) for value in own.values)
    known = all(holds_numpy(v.value) or isinstance(v.value, (Mapping, Sequence)) for v in kept)
    return own.kind == FIELD and whole and bool(kept) and known


def _is_held(own: Field, put: list[Expression]) -> bool:
    kept = [v for v in own.values if not is_none(v)]
    if all(holds_numpy(v.value) for v in kept):
        return True
    parts = [part for value in [*kept, *put] for part in _parts(value)]
    known = [p.value for p in parts if not (isinstance(p.value, Tensor) and p.value.assumed)]
    other = any(isinstance(value, (Tensor, Module)) for value in known)
    return not other and any(holds_numpy(part.value) for part in parts)


def _parts(value: Expression) -> list[Expression]:
    if isinstance(value, Display):
        return value.elements
    if isinstance(value, Dictionary):
        return [v for _, v in value.pairs]
    return [value]


def _is_whole(statement: Node | None, name: str) -> bool:
    """`self.ratios = …`, not `self.ratios, self.scales = …`"""
    targets = statement.targets if isinstance(statement, Assign) else []
    return len(targets) == 1 and isinstance(targets[0], Attribute) and targets[0].name == name


def _classes(node: Attribute, modules: Modules) -> list[Class]:
    """The classes of what an attribute is read of, or set on."""
    value = node.object.value
    if isinstance(value, Module) and not value.open:
        return modules.classes_of(value.refs)
    function = next((n for n in node.ancestors() if isinstance(n, Function) and n.owner), None)
    me = function.receiver if function is not None else ""
    own = is_own(node, me)
    return [function.owner] if own and function is not None and function.owner else []


def _is_package(node: Expression) -> bool:
    """`np` of `np.ones`, which is no module's."""
    return isinstance(node.value, (External, Torch))


def _asked(nodes: list[Node]) -> set[str]:
    """The attributes that are asked for by name: `hasattr(self, "ratios")`."""
    calls = (n for n in nodes if isinstance(n, Call) and dotted(n.function) in _ASKING)
    given = (a.constant for call in calls for a in call.arguments if isinstance(a, Constant))
    return {name for name in given if isinstance(name, str)}


_ASKING = ("hasattr", "getattr", "setattr")
_GROWING = ("append", "insert", "add")
