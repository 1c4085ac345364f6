"""Attributes of tensors, and torch's names where they are not called."""

from ...facts.values.attribute_names import PROPERTIES
from ...facts.values.lattice import (
    ARRAY_TYPE,
    INITIALISER,
    MISSING,
    External,
    Instance,
    Static,
    Tensor,
    Torch,
    Value,
    is_initialiser,
)
from ...facts.values.parameter_usage import used_as_objects
from ...model.effects import Support
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted, is_called, is_inplace, is_target
from ...model.node import Expression, Node
from ...model.operators import Conditional
from ...model.program import Function, Parameter
from ...model.rulebook import Definition
from ...rule import PLACEMENT
from ...source.lower_ast import expression
from ...source.splice import show
from . import foreign_libraries
from .bind import Argument, argument_of, bind
from .conversion import Conversion
from .inline import Use
from .literals import known
from .methods import asked
from .specialise import Refused
from .subscripts import picked

_PYTHONS = frozenset({"__doc__", "__name__", "__qualname__", "__module__"})
_OF_ARRAYS = frozenset(("shape", "dtype", "ndim", "device"))
_PARTIAL = External("functools.partial")
DTYPE = Static(MISSING, "dtype")


def name(c: Conversion, node: Node) -> bool:
    """A name that an import binds to something of torch's."""
    assert isinstance(node, Name)
    found = c.torch_name(node)
    if found is not None:
        reference(c, node, found)
    else:
        foreign_libraries.built_on_torch(c, node)
    return True


def attribute(c: Conversion, node: Node) -> bool:
    """A property of a tensor, a device or a dtype, or a torch name."""
    assert isinstance(node, Attribute)
    found = c.torch_name(node)
    if found is not None and node.name in _PYTHONS and c.rulebook.find(found.rpartition(".")[0]):
        return False  # of what stands for the class or function, whose name is seen to next
    if found is not None and node.name == "__doc__":
        c.put(node, Constant(None))  # what has no equivalent has no docs
        return True
    if found is not None:
        reference(c, node, found)
        return True
    if foreign_libraries.built_on_torch(c, node):
        return True
    if node.name in ("values", "indices") and picked(c, node, node.object, f".{node.name}"):
        return True
    base = known(node.object)
    if isinstance(base, Static):
        return _of_static(c, node, base)
    called = is_called(node)
    if isinstance(base, Instance) and not called:  # `draw = Normal(0, 1).sample`
        if any(c.rulebook.draws(name, node.name) for name in base.classes):
            why = f"{node.name} of a distribution draws random numbers: call it directly"
            c.unconverted("unsupported", node, why)
            return True
    return isinstance(base, Tensor) and node.name in PROPERTIES and _of_tensor(c, node, base)


def _of_static(c: Conversion, node: Attribute, base: Static) -> bool:
    """`device.type` and `dtype.is_floating_point`."""
    owner = "torch.device" if base.type == "device" else ""
    if node.name in ("is_floating_point", "is_complex") and base.type in ("dtype", ""):
        owner = "torch.dtype"
    rules = c.rulebook.find(f"{owner}.{node.name}") if owner else ()
    if rules:
        c.apply(node, rules, f"{owner}.{node.name}", [argument_of(node, "object")])
    return bool(rules)


def _of_tensor(c: Conversion, node: Attribute, base: Tensor) -> bool:
    if node.name == "H" and base.assumed:
        return False  # `cfg.H` is a height rather than a conjugate transpose
    if node.name == "requires_grad" and base.kind in ("b", "i", "u"):
        c.put(node, Constant(False))
        return True
    if node.name == "data" and base.assumed and _is_of_object(c, node.object):
        return False  # `batch.data` beside `batch.edge_index`
    if node.name == "data" and c.facts.stage(c.scope) == "building":
        c.changes.replace(node, lambda n: n.object)  # nobody asks for a gradient yet
        c.visit(node.object)
        return True
    full = f"torch.Tensor.{node.name}"
    rules = c.rulebook.find(full)
    if rules:
        c.apply(node, rules, full, [asked(node, node.name)])
    elif not base.assumed and not is_target(node):
        c.no_rule(node, full)
        return True
    return bool(rules)


def _is_of_object(c: Conversion, node: Expression) -> bool:
    """Whether a function asks a parameter for what no tensor has, and for nothing that only a
    tensor has; a tensor may be given an attribute: `w.decay = 0.1`.
    """
    if not isinstance(node, Name) or node.id not in c.given or not isinstance(c.scope, Function):
        return False
    if node.id not in used_as_objects(c.facts.values.facts, c.scope):
        return False
    found = [a for a in c.scope.nodes(Attribute) if dotted(a.object) == node.id]
    others = [a for a in found if a.name != "data"]
    return not any(
        is_target(a) or a.name in _OF_ARRAYS or c.rulebook.find(f"torch.Tensor.{a.name}")
        for a in others
    )


# --- torch's names --------------------------------------------------------------------------------


def reference(c: Conversion, node: Expression, name: str) -> None:
    """A torch name that is not called."""
    dtype = c.rulebook.dtype_of(name)
    if dtype is not None and _may_be_called(node):
        made_type = Call(Support("ArrayType"), [expression(dtype)])
        made_type.value = ARRAY_TYPE
        c.put(node, made_type)
        return
    text = c.rulebook.constant(name)
    if text is not None:
        made = expression(text)
        made.value = _value_of_constant(c, name, made)
        c.put(node, made)
        return
    rules = c.rulebook.find(name)
    if not rules:
        c.no_rule(node, name)
        return
    fitting = _fitting(c, node, rules)
    if fitting is None:
        message = f"{name} goes by its arguments: call it directly, in a lambda or a function"
        c.unconverted("unsupported", node, message)
        return
    rule = fitting[0]
    if any(is_initialiser(Torch(known)) for known in rule.torch_names):
        made = Support(rule.name)
        made.value = INITIALISER
        c.put(node, made)
        return
    if is_inplace(name) or f"{name}_" in rule.torch_names:
        message = f"{name} writes its argument: call it directly, {name}(x), so that x gets it"
        c.unconverted("unsupported", node, message)
        return
    if not rule.is_class and rule.asks_for_key:
        message = f"{name} draws random numbers: call it directly"
        c.unconverted("unsupported", node, message)
        return
    direct = None if rule.is_class or rule.asks_for_key else _direct(c, rule)
    referred: Expression = Support(rule.name) if direct is None else direct
    referred.value = External(rule.name if direct is None else dotted(direct) or "")
    c.put(node, referred)


def _may_be_called(node: Expression) -> bool:
    """Whether a type of tensors is handed on to make some: `tensor=torch.FloatTensor` in a header,
    a side of a choice of types.
    """
    if isinstance(node.parent, Parameter):
        return node is node.parent.default and known(node) != Torch("torch.Tensor")
    return isinstance(node.parent, Conditional) and known(node.parent) == ARRAY_TYPE


def _fitting(
    c: Conversion, node: Expression, rules: tuple[Definition, ...]
) -> tuple[Definition, ...] | None:
    """The rules of a name that is not called; of `partial(torch.max, dim=1)` that which takes these
    arguments, or None where it takes others, or the values decide, as for `arange(0.5, 6)`.
    """
    call = node.parent
    if not isinstance(call, Call) or known(call.function) != _PARTIAL:
        return rules
    if not call.arguments or call.arguments[0] is not node or rules[0].is_class:
        return rules
    if (words := {word for word in call.keywords if word}) & PLACEMENT:
        c.changes.change(call, _placed_nowhere)
    left = words - PLACEMENT
    given = dict(zip(call.keywords, call.arguments))
    if "inplace" in given and known(given["inplace"]) != Static(False, "bool"):
        return None
    if is_inplace(getattr(node, "name", "")):
        return None  # a start: it writes what it is given
    fitting = tuple(r for r in rules if left <= {p.name for p in r.parameters})
    names = [[p.name for p in r.parameters] for r in fitting]
    by_value = [r for r, own in zip(fitting, names) if own == names[0]]
    spread = any(
        p.kind in ("rest", "sizes") for r in fitting for p in r.parameters
    )  # `zeros((2, 3))`
    return fitting if len(by_value) == 1 and not spread else None


def _placed_nowhere(call: Call) -> None:
    for argument, word in list(zip(call.arguments, call.keywords)):
        if word in PLACEMENT:
            call.remove(argument)


def _value_of_constant(c: Conversion, name: str, made: Expression) -> Value:
    """What is known of what stands for a constant: no name of torch's any more."""
    if c.rulebook.is_dtype(name):
        return DTYPE
    return known(made) if isinstance(made, Constant) else External(show(made))


def _direct(c: Conversion, rule: Definition) -> Expression | None:
    """`jax.nn.relu` for a rule that only calls it with its own parameters."""
    names = [p.name for p in rule.parameters if p.name not in rule.unused]
    if len(names) != 1:
        return None
    subject = Name(names[0])
    try:
        binding = bind(rule, [Argument(subject, Tensor())])
        result = Use.of(c.rulebook, [rule], [Argument(subject, Tensor())]).result
    except Refused:
        return None
    if binding is None or not isinstance(result, Call) or result.keywords != [None]:
        return None
    argument = result.arguments[0]
    plain = isinstance(argument, Name) and argument.id == names[0] and dotted(result.function)
    return expression(plain) if plain else None
