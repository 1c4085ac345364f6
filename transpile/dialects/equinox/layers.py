"""Layers of torch that Equinox has itself, with the same numbers, or writes as plain Python."""

from ...facts.values.lattice import Class as ClassValue
from ...model.effects import New, Support
from ...model.expressions import Call, Comprehension, Display, Name
from ...model.names import dotted, is_called
from ...model.node import Expression, Node
from ...model.program import Class
from ...source.lower_ast import expression

# By the name of the layer: how it is written, and what it is as a type.
# JAX sorts the keys of a dict whenever a model is taken apart, those of this one it leaves.
ORDERED = "OrderedDict"
NAMESPACE = "Namespace"  # a module of no class: `self.mid = nn.Module()`
# What stands for a class of torch's where it is named: in tests, as a value.
NAMED = {"Module": "eqx.Module", "ModuleList": "list", "ModuleDict": ORDERED}
UNWRITTEN = {"Parametrized": "torch.nn.utils.parametrize.register_parametrization"}
OWN = {"Dropout": "eqx.nn.Dropout", "ModuleList": "list", "ModuleDict": "dict"}


def own(call: New) -> Expression | None:
    """What stands in the place of building a layer, where that is not a class of the support
    file."""
    name = built_name(call)
    if name == "Dropout":
        kept = [(k, a) for k, a in zip(call.keywords, call.arguments) if k != "inplace"]
        if kept and kept[0][0] is None:
            kept = [kept[0], *(pair for pair in kept[1:] if pair[0] is not None)]
        words = [k for k, _ in kept]
        function = expression("eqx.nn.Dropout")
        return Call(function, [a for _, a in kept], words)
    if name == "Module" and not call.arguments:
        return Call(Support(NAMESPACE), [])
    if name in ("ModuleList", "ModuleDict"):
        if not call.arguments:
            return Display("list", []) if name == "ModuleList" else Call(Name(ORDERED), [])
        given = call.arguments[0]
        if name == "ModuleDict":
            return Call(Name(ORDERED), [given])
        if isinstance(given, Comprehension) and given.kind == "generator":
            return Comprehension("list", None, given.element, given.clauses)
        plain = isinstance(given, Display) or getattr(given, "kind", "") == "list"
        return given if plain else Call(Name("list"), [given])
    return None


def named(node: Support) -> Expression | None:
    """What stands for a class of the support file that is neither called nor a base here."""
    called = is_called(node)
    if called or isinstance(node.parent, Class):
        return None
    if node.name == "Dropout" and any(_is_type_test(n) for n in node.ancestors()):
        return expression(OWN["Dropout"])
    return expression(NAMED[node.name]) if node.name in NAMED else None


def _is_type_test(node: Node) -> bool:
    return isinstance(node, Call) and dotted(node.function) == "isinstance"


def built_name(call: New) -> str | None:
    """The name of the layer in the support file; None for a class of the user's."""
    if isinstance(call.function, Support):
        return call.function.name
    value = call.function.value
    ref = value.ref if isinstance(value, ClassValue) else None
    return ref.name if isinstance(ref, Class) and _is_layer(ref) else None


def _is_layer(cls: Class) -> bool:
    """Whether it is one of the layers that stand for torch's: `@layer("torch.nn.Dropout")`."""
    marks = (mark.function for mark in cls.decorators if isinstance(mark, Call))
    return any(isinstance(mark, Name) and mark.id == "layer" for mark in marks)
