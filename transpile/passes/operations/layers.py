"""Layers that are built: `nn.Linear(3, 4, device=d)` is told nothing of placement."""

from ...facts.values.class_values import is_open, named_classes
from ...facts.values.lattice import (
    NONE,
    PLACED,
    Class,
    Instance,
    Mapping,
    Static,
    Torch,
    Value,
    is_anything,
)
from ...model.effects import New, Support
from ...model.expressions import Attribute, Call
from ...model.layers import layers
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Conditional
from ...model.positions import source_of
from ...model.program import Class as ModuleClass
from ...model.rulebook import Definition, Parameter
from ...rule import PLACEMENT
from .bind import Argument, arguments_of
from .conversion import Conversion, is_dropped
from .literals import literal
from .refusals import refuse
from .specialise import Refused

_HELD = (
    "of a layer that is held elsewhere: call it where the layer is made, and assign what it returns"
)


def _is_set(node: Call) -> bool:
    """Whether an array is set under a computed name: `setattr(self, name, Parameter(v))`."""
    around = node.parent
    while isinstance(around, Conditional):
        around = around.parent
    return isinstance(around, Call) and dotted(around.function) == "setattr"


def layer(c: Conversion, node: Call, name: str, rule: Definition) -> None:
    """A call of the constructor of a layer, by the name that its arguments make it."""
    if is_dropped(node) and c.rulebook.wraps(rule):
        c.unconverted("unsupported", node, f"{name} {_HELD}")
        return
    if rule.name == "Parameter" and node.arguments:
        if not _is_set(node):  # no module declares it: an array
            c.changes.replace(node, lambda call: call.arguments[0])
        c.visit(node.arguments[0])
        return
    _built(c, node, rule, 0)


def initialised(c: Conversion, node: Call, rule: Definition, through_super: bool) -> None:
    """`nn.Linear.__init__(self, 3, 4)`, or the same by super(): its arguments are the layer's."""
    _built(c, node, rule, 0 if through_super else 1, make=False)


def inherited(c: Conversion, node: Call, rule: Definition, cls: ModuleClass) -> None:
    """The call of a class that has the constructor of a layer."""
    project = c.facts.project
    order = [one for one in project.order(cls) if isinstance(one, ModuleClass)]
    methods = [m for one in order for m in project.methods(one).values()]
    read = (n for m in methods for n in m.nodes(Attribute) if n.name == "inplace")
    _built(c, node, rule, 0, make=False, asked=any(not _told_torch(n) for n in read))


def _told_torch(node: Attribute) -> bool:
    """Whether it is an argument of a function of torch's: `F.dropout(x, self.p, self.inplace)`"""
    return isinstance(node.parent, Call) and isinstance(node.parent.function.value, Torch)


def of_handed_class(c: Conversion, node: Call, value: Value) -> bool:
    """A layer of a class that is handed in, `norm(3, device=d)` of `norm=nn.LayerNorm`, is told
    nothing of placement either; of classes that may be the user's none is told of a device, which
    theirs have a default for: those of torch's that may stand there do not take it.
    """
    told = [a for a in arguments_of(node) if a.keyword in PLACED and not isinstance(a.value, Torch)]
    if not told:
        return False
    classes = named_classes(value) if isinstance(value, Class) else frozenset()
    if not classes or not all(isinstance(one, str) for one in classes):
        told = [a for a in told if _is_device(a) and _may_be_layer(c, value, classes)]
    dropped = {a.node for a in told}
    if dropped:
        c.changes.change(node, lambda call: _without(call, dropped))
        c.visit_all(part for part in node.children() if part not in dropped)
    return bool(dropped)


def _is_device(argument: Argument) -> bool:
    value = argument.value
    known = value == NONE or isinstance(value, Static) and value.type in ("", "device")
    named = (dotted(argument.node) or "").rpartition(".")[2] == "device"
    return argument.keyword == "device" and (known or named)


def _may_be_layer(c: Conversion, value: Value, classes: frozenset[object]) -> bool:
    """Whether what is called may be one of torch's layers, and none of the user's classes that it
    may be needs a device."""
    named = [one for one in classes if isinstance(one, ModuleClass)]
    if classes and len(named) == len(classes) and not is_open(value):
        return False
    if not classes and not is_anything(value):
        return False
    needing = c.facts.needing_devices
    return needing.isdisjoint(named) if named else not needing


def of_partial(c: Conversion, node: Call, name: str) -> bool:
    """`partial(nn.LayerNorm, eps=1e-6, device=d)` is told no more than the layer itself."""
    made = node.arguments[0].value if name == "functools.partial" and node.arguments else None
    rules = c.rulebook.find(made.name) if isinstance(made, Torch) else ()
    if not rules or not rules[0].is_class:
        return False
    _built(c, node, rules[0], 1, make=False)
    return True


def _built(
    c: Conversion, node: Call, rule: Definition, own: int, make: bool = True, asked: bool = False
) -> None:
    """Take away what a constructor is told of placement, behind some arguments of its own; `asked`:
    but for `inplace`, which is read."""
    try:
        left = left_out(c, rule, arguments_of(node)[own:])
        if asked:
            surplus = next((a for a in left if a.keyword is None), None)
            left = [a for a in left if a.keyword != "inplace" and a is not surplus]
        if (layer := c.facts.layer(rule.name)) is not None:
            refuse(layer, arguments_of(node)[own:])
    except Refused as refused:
        c.unconverted("unsupported", node, f"{rule.name}: {refused}")
        return
    known = layers(c.rulebook).named(rule.name)
    if known is not None and known.lazy:
        why = "its first input makes its arrays: give the layer its size"
        c.unconverted("unsupported", node, f"{rule.name}: {why}")
        return
    note = next((d.note for d in c.rulebook.bases(rule.name) if d.note), "")
    if note and make:
        c.changes.report("taken-for-granted", node, note)
    dropped = {argument.node for argument in left}
    if make and c.torch_name(node.function) is not None:
        c.put(node.function, Support(rule.name))
    elif make:
        c.visit(node.function)  # an alias of the user's
    if dropped:
        c.changes.change(node, lambda call: _without(call, dropped))
    if make and not isinstance(node, New):
        draws = known.first_values if known is not None else None
        if isinstance(node.value, Instance):  # torch.distributions.Normal(0, 1)
            draws = False
        c.changes.become(node, lambda n: New(n.function, n.arguments, n.keywords, draws))
    for argument in arguments_of(node)[own:]:
        if argument.star == "**" and isinstance(argument.value, Mapping) and argument.value.placed:
            c.changes.wrap(argument.node, lambda kept: Call(Support("unplaced"), [kept]))
    c.visit_all(argument for argument in node.arguments if argument not in dropped)


def _without(call: Call, dropped: set[Expression]) -> None:
    for argument in [a for a in call.arguments if a in dropped]:
        call.remove(argument)


def left_out(c: Conversion, rule: Definition, arguments: list[Argument]) -> list[Argument]:
    """The arguments of a layer's constructor that say where its arrays are. Raises Refused."""
    known = {p.name: p for p in c.rulebook.constructor(rule)}
    open_ended = any(p.kind == "rest" for p in known.values())
    found = []
    for argument in arguments:
        name = argument.keyword
        if name is None:
            continue
        if name == "dtype" and argument.value == NONE:
            found.append(argument)
        elif name in PLACEMENT and (name not in known or known[name].kind == "keyword"):
            found.append(argument)
        elif name not in known:
            if name == "dtype":
                if argument.value != NONE and isinstance(argument.value, Torch):
                    raise Refused("a dtype for one layer; cast its params instead")
                found.append(argument)
            elif argument.value == NONE and not open_ended:
                found.append(argument)  # `max_norm=None`
            elif not open_ended:
                raise Refused(f"the argument {name!r} of {rule.name}")
    return [*found, *_surplus(rule, known, arguments)]


def _surplus(
    rule: Definition, known: dict[str, Parameter], arguments: list[Argument]
) -> list[Argument]:
    """Placement by position, behind all others: `nn.ReLU(True)` is one in place."""
    kinds = [p.kind for p in known.values()]
    loose = [a for a in arguments if a.keyword is None and not a.star]
    surplus = [] if "sizes" in kinds else loose[kinds.count("positional") :]
    placed = all(name.startswith("torch.") for name in rule.torch_names)  # others take none
    for argument in surplus:
        constant = literal(argument.node)
        if not placed or type(constant) in (int, float, str):  # `nn.Embedding(6, 3, 0, 1.0)`
            what = source_of(argument.node)
            raise Refused(f"the argument {what} of {rule.name}: spell it by keyword")
    return surplus
