"""Calls: of torch's functions and layers, of methods, and of what torch gives a name to."""

from ...facts.values.calls import CHECKPOINT
from ...facts.values.lattice import (
    ARRAY_TYPE,
    INITIALISER,
    SHAPE,
    Class,
    External,
    Instance,
    Method,
    Sequence,
    Tensor,
    Torch,
    is_anything,
)
from ...model.effects import Apply, Key, Support
from ...model.expressions import Attribute, Call, Constant, Starred
from ...model.names import dotted
from ...model.node import Node
from ...model.program import Class as ModuleClass
from ...model.program import Function
from ...source.lower_ast import expression
from . import foreign_libraries, promotion, tests
from .bind import arguments_of
from .checkpoints import is_run_again, run_again
from .conversion import Conversion
from .element_indices import element_index
from .layers import inherited, initialised, layer, of_handed_class, of_partial
from .literals import known, literal
from .methods import method, method_of
from .names import reference
from .windows import counted


def called(c: Conversion, node: Node) -> bool:
    """A call by what is called; False for calls of anything else."""
    assert isinstance(node, Call)
    if tests.asked(c, node):
        return True
    value = known(node.function)
    if value == INITIALISER:
        c.changes.replace(node, _initial)
        c.visit_all(node.children())
        return True
    if isinstance(value, Torch):
        _torch(c, node, value.name)
        return True
    if value == ARRAY_TYPE:
        _of_type(c, node)
        return True
    made = value.ref if isinstance(value, Class) else None
    if isinstance(made, ModuleClass) and (rule := c.constructed_by(made)) is not None:
        c.visit(node.function)
        inherited(c, node, rule, made)
        return True
    if of_handed_class(c, node, value):
        return True
    found = method_of(node)
    if found is not None:
        return _drawn(c, node, found) or method(c, node, found)
    if isinstance(value, External):
        if (
            element_index(c, node)
            or promotion.of_numpy(c, node, value.name)
            or _builtin(c, node, value.name)
            or of_partial(c, node, value.name)
            or foreign_libraries.given_layers(c, node, value.name)
            or foreign_libraries.of_text(c, node, value.name)
            or foreign_libraries.of_bases(c, node, value.name)
        ):
            return True
        foreign_libraries.host(c, node, value.name)
    return False


def _of_type(c: Conversion, node: Call) -> None:
    """`tensor(x.size())`: the sizes of a shape one by one, since JAX's shapes are tuples like any
    other.
    """
    for argument, word in zip(node.arguments, node.keywords):
        if word is None and known(argument) == SHAPE:
            c.changes.wrap(argument, Starred)
    c.visit_all(node.children())


def _initial(node: Node) -> Call:
    """A call of an initialiser that was handed in: `nn.initial(init, weight, key=key)`."""
    assert isinstance(node, Call)
    made = Call(
        Support("initial"), [node.function, *node.arguments, Key()], [None, *node.keywords, "key"]
    )
    made.value = node.value
    return made


def _torch(c: Conversion, node: Call, name: str) -> None:
    """A call of a torch name."""
    rules = c.rules(name, node)
    if node in c.beside:
        rules = c.rulebook.find(f"{name}[beside]")
    if _joins_empty(node) and (found := c.rulebook.find(f"{name}[empty]")):
        rules = found
    exact = c.rulebook.find(f"{name}[whole]")
    if exact and promotion.becomes_whole(c, node):
        rules = (*exact, *rules)
    if c.traced:
        rules = c.rulebook.find(f"{name}[traced]") or rules
    sizes = promotion.static_sizes(node, name)
    if sizes:
        _of_sizes(c, node, name)
    elif not rules:
        _without_rule(c, node, name)
    elif name == CHECKPOINT and is_run_again(node):
        run_again(c, node)
    elif rules[0].is_class:
        layer(c, node, name, rules[0])
    elif name != "torch.arange" or not counted(c, node, rules):
        c.apply(node, rules, name, arguments_of(node))


def _joins_empty(node: Call) -> bool:
    """Whether a call is given tensors of which one may be of shape (0,): `torch.cat([mem, x])`."""
    given = known(node.arguments[0]) if node.arguments else None
    element = given.element if isinstance(given, Sequence) else None
    return isinstance(element, Tensor) and element.empty


def _without_rule(c: Conversion, node: Call, name: str) -> None:
    """`nn.Linear.__init__(self, …)`, a constant that is called, or what has no equivalent."""
    owner, _, last = name.rpartition(".")
    rule, text = c.rulebook.layer(owner), c.rulebook.constant(name)
    if c.is_module_too(owner, c.scope.owner if isinstance(c.scope, Function) else None):
        c.no_rule(node, name)
    elif rule is not None:
        through_super = dotted(node.function) is None
        if last == "__init__":
            initialised(c, node, rule, through_super)
            if not through_super:
                c.changes.become(node, lambda n: Apply(n.function, n.arguments, n.keywords))
        else:
            c.visit_all(node.arguments)
        if not through_super:
            word = "__call__" if last == "forward" else last
            c.put(node.function, Attribute(Support(rule.name), word))
    elif text is not None:
        c.put(node.function, expression(text))
        c.visit_all(node.arguments)
    else:
        c.no_rule(node, name)


def _of_sizes(c: Conversion, node: Call, name: str) -> None:
    """`min(n, x.shape[0])` for what torch's tracer wants as `torch.min(torch.as_tensor(n), …)`."""
    function = "math.prod" if len(node.arguments) == 1 else name.removeprefix("torch.")[:3]

    def make(call: Call) -> Call:
        inner = [a.arguments[0] for a in call.arguments if isinstance(a, Call)]
        return Call(expression(function), inner)

    c.changes.replace(node, make)
    c.visit_all(a.arguments[0] for a in node.arguments if isinstance(a, Call))


def _drawn(c: Conversion, node: Call, found: Method) -> bool:
    """`p.sample((3,), key=key)` of a distribution, also of one that nothing else is known of."""
    receiver, name = found.receiver, found.name
    if isinstance(receiver, Instance):
        lacking = [x for x in sorted(receiver.classes) if name not in c.rulebook.methods(x)]
        if lacking and not name.startswith("_"):
            c.no_rule(node, f"{lacking[0]}.{name}")
            return True
        draws = all(c.rulebook.draws(x, name) for x in receiver.classes)
    else:
        draws = name == "rsample" and is_anything(receiver)
    if draws:
        c.changes.change(node, lambda call: call.append(Key(), "key"))
        c.visit_all(node.children())
    return draws


def _builtin(c: Conversion, node: Call, name: str) -> bool:
    """`float("-inf")` beside arrays reads `-jnp.inf`; `getattr(F, "relu")` is F.relu."""
    name = name.removeprefix("builtins.")
    if name == "float" and len(node.arguments) == 1:
        text = str(literal(node.arguments[0])).lower()
        if text in ("inf", "-inf") and c.facts.stage(c.scope) != "building":
            c.put(node, expression(text.replace("inf", "jnp.inf")))
            return True
    return name in ("getattr", "hasattr") and _by_name(c, node)


def _method_by_name(c: Conversion, node: Call) -> bool:
    """`getattr(x, reduction)(dim=1)` of a tensor: JAX's own methods take and mean other things."""
    if known(node.function) != External("builtins.getattr") or len(node.arguments) != 2:
        return False
    if isinstance(getattr(known(node.arguments[1]), "const", None), str):
        return False
    c.apply(node, c.rulebook.find("torch.Tensor[name]"), "torch.Tensor", arguments_of(node))
    return True


def _by_name(c: Conversion, node: Call) -> bool:
    """Under a name that the run tells there may be a rule for any: `getattr(F, activation)`; what
    `hasattr(F, "relu")` is is known."""
    found, holder = known(node), known(node.arguments[0]) if node.arguments else None
    if isinstance(holder, Torch) and isinstance(asked := getattr(found, "const", None), bool):
        c.put(node, Constant(asked))
        return True
    if isinstance(found, Torch):
        reference(c, node, found.name)
        return True
    if isinstance(holder, Tensor) and not holder.assumed:
        return _method_by_name(c, node)
    if not isinstance(holder, Torch):
        return False
    three = len(node.arguments) == 3
    if three and isinstance(getattr(known(node.arguments[1]), "const", None), str):
        # `getattr(torch, "compiler", None)`: it is not there
        c.changes.replace(node, lambda call: call.arguments[2])
        c.visit(node.arguments[2])
        return True
    rules = c.rulebook.find(f"{holder.name}[name]")
    if rules:  # which raises for what it lacks: `getattr(F, activation, None)` has no None
        c.apply(node, rules, holder.name, arguments_of(node)[1:2])
    return bool(rules)
