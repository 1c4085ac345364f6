"""Calls of torch's functions and layers, of types of tensors, and of what torch gives a class to."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...apply import Argument, Binding, Refused, bind, call_class, literal
from ...context import key_site
from ...emit import call, keyword, method_name
from ...infer import draws, of_no_class, static_size
from ...inplace import inplace_argument, is_handed
from ...project import ClassInfo
from ...rulebook import Definition
from ...values import ARRAY_TYPE, UNKNOWN, Class, External, Method, Sequence, Torch
from . import (
    copied_lists,
    dtype_tests,
    foreign_arrays,
    host_arrays,
    legacy_sizes,
    methods,
    references,
    type_tests,
    whole_numbers,
)
from .definitions import typing_call
from .walk import Walk


def called(walk: Walk, node: cst.Call) -> Any:
    """A call by what is called; None for calls of anything else."""
    if (foreign := foreign_arrays.called(walk, node)) is not None:
        return foreign
    foreign_arrays.report_replaced(walk, node)
    test = dtype_tests.asked(walk.context, node)
    if test is not None:
        return walk.done(node, walk.children(test))
    try:
        test = type_tests.asked(walk, node)
    except Refused as refused:
        return walk.unconverted("unsupported", node, f"{tree.code(node)}: {refused}")
    if test is not None:
        return walk.done(node, walk.children(test))
    value = walk.context.value(node.func)
    torch_name = value.name if isinstance(value, Torch) else walk.torch_name(node.func)
    if torch_name is not None:
        return _torch(walk, node, torch_name)
    if draws(walk.context.facts, value, node):
        return _drawn(walk, node)
    if (missing := of_no_class(walk.context.facts, value)) is not None:
        return walk.no_rule(node, missing)
    if isinstance(value, Method) and isinstance(node.func, cst.Attribute):
        return methods.method(walk, node, node.func, value)
    if isinstance(value, External) and walk.context.facts.numpy_on_arrays(value.name, [walk.context.value(a.value) for a in node.args]):
        return _of_numpy(walk, node, value.name.removeprefix("numpy."))
    if node is not walk.dropped and _is_initialiser(walk, node.func):  # as a statement it is for a param, and moves to init
        new = walk.children(node)
        args = [cst.Arg(new.func), *(tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in new.args), keyword("key", key_site())]
        return walk.done(node, cst.Call(tree.expression(walk.context.name("initial")), args))
    if is_handed(walk.context, node):
        plain = [a for a in node.args if a is not inplace_argument(walk.context, node)]
        return walk.children(tree.replace(node, args=[*plain[:-1], tree.replace(plain[-1], comma=cst.MaybeSentinel.DEFAULT)]))
    if isinstance(value, External):
        host_arrays.told(walk, node, value.name)
        if (typed := typing_call(walk, node, value.name)) is not None:
            return typed
    copied_lists.told(walk, node)
    if value == External("functools.partial") and (made := _partial(walk, node)) is not None:
        return made
    if value == ARRAY_TYPE:
        return walk.children(_of_sizes(walk, node))
    if isinstance(value, Class) and isinstance(value.ref, ClassInfo) and value.ref.is_module and value.ref.find("__init__") is None:
        layer = walk.context.facts.layer_of(value.ref)
        return _built(walk, node, layer, 0, walk.convert(node.func)) if layer is not None else None
    if isinstance(node.func, cst.Name):
        return _by_name(walk, node) if node.func.value == "getattr" else _builtin(walk, node, node.func.value)
    return None


def _is_initialiser(walk: Walk, func: Any) -> bool:
    """Whether a function is the parameter of one that is made for an initialiser: `def icnr(x, init=nn.init.kaiming_normal_)`."""
    function = walk.functions[-1] if walk.functions and isinstance(func, cst.Name) else None
    defaults = {p.name.value: p.default for p in (*function.params.params, *function.params.kwonly_params)} if function is not None else {}
    default = defaults.get(func.value) if function is not None else None
    return default is not None and (walk.context.torch_name(default) or "").startswith("torch.nn.init.")


def _of_numpy(walk: Walk, node: cst.Call, name: str) -> Any:
    """`jnp.mean(jnp.array(losses))`: of lists jax.numpy takes those alone that are to be joined."""
    made = tree.replace(walk.children(node), func=tree.expression(f"jnp.{name}"))
    if not node.args or not isinstance(walk.context.value(node.args[0].value), Sequence) or name in ("array", "asarray", "concatenate", "stack", "hstack", "vstack"):
        return made
    first = tree.replace(made.args[0], value=call("jnp.array", [made.args[0].value]))
    return tree.replace(made, args=[first, *made.args[1:]])


def _partial(walk: Walk, node: cst.Call) -> Any:
    """`functools.partial(nn.InstanceNorm2d, track_running_stats=True)`: of the layer or rule that such arguments make; None where that is none of its own."""
    name = walk.torch_name(node.args[0].value) if node.args else None
    if name is None or not (definitions := walk.rules(name)):
        return None
    if not definitions[0].is_class:
        return _partial_of_function(walk, node, name, definitions)
    if (variant := _variant(walk, name, node.args[1:])) == name:
        return None
    layer = walk.context.rulebook.find(variant)[0]
    made = walk.children(node)
    return walk.done(node, tree.replace(made, args=[tree.replace(made.args[0], value=tree.expression(walk.context.name(layer.name))), *made.args[1:]]))


def _partial_of_function(walk: Walk, node: cst.Call, name: str, definitions: tuple[Definition, ...]) -> Any:
    """`partial(nn.arange_end)` of `partial(torch.arange, device=device)`: of the first rule that takes such arguments."""
    if any(p.name == "key" and p.kind == "keyword" for p in definitions[0].parameters):
        return None  # refused as a reference to what draws
    given = walk.arguments(tree.replace(node, args=node.args[1:]))
    bound = [b for d in definitions if (b := bind(d, [*given, Argument(cst.Name("kwargs"), UNKNOWN, star="**")])) is not None]
    if not bound or any(a.keyword is not None for a in bound[0].sizes):
        return walk.unconverted("arguments", node, f"these arguments of {name} have no JAX equivalent here")
    binding = next((b for b in bound if not _is_for_bools(b)), bound[0])
    keywords = {id(a): word for word, a in binding.given.items()}
    if binding.definition is definitions[0] and all(a.keyword == keywords.get(id(a)) for a in given if a.keyword is not None):
        return None
    kept: list[Any] = [a for a in given if a.keyword is None or id(a) in keywords]
    function = tree.expression(walk.context.name(binding.definition.name))
    args = [cst.Arg(a.node, star=a.star) if a.keyword is None else keyword(keywords[id(a)], a.node) for a in kept]
    return walk.done(node, tree.replace(node, args=[cst.Arg(function), *args]) if args else function)


def _is_for_bools(binding: Binding) -> bool:
    """Whether a rule is for bools alone in what it has not been given yet: `torch.arange(True)`."""
    return any(p.accepts and p.accepts <= {"bool"} and p.name not in binding.given for p in binding.definition.parameters)


def _variant(walk: Walk, name: str, args: Any) -> str:
    return walk.context.rulebook.variant(name, [(a.keyword.value if a.keyword is not None else None, literal(a.value)) for a in args])


def _drawn(walk: Walk, node: cst.Call) -> Any:
    """`p.sample((3,), key=key)`."""
    args = [tree.replace(a, value=tree.fit(a, "value", walk.convert(a.value)), comma=cst.MaybeSentinel.DEFAULT) for a in node.args]
    func = walk.only(node.func, "value")
    return walk.done(node, tree.replace(node, func=func, args=[*args, keyword("key", key_site())]))


def _by_name(walk: Walk, node: cst.Call) -> Any:
    """`getattr(F, "relu")` is F.relu; under a name that only the run tells there may be a rule for any."""
    found = walk.context.value(node)
    if isinstance(found, Torch):
        return references.reference(walk, node, found.name)
    if len(node.args) == 3 and isinstance(walk.context.value(node.args[0].value), Torch):
        return walk.convert(node.args[2].value)  # `getattr(torch, "compiler", None)`: there is no such thing here
    holder = walk.context.value(node.args[0].value) if len(node.args) == 2 else None
    rules = walk.context.rulebook.find(f"{holder.name}[name]") if isinstance(holder, Torch) else ()
    if not rules or not isinstance(holder, Torch):
        return None
    name = node.args[1].value
    return walk.apply(node, rules, holder.name, [Argument(walk.convert(name), walk.context.value(name))])


def _builtin(walk: Walk, node: cst.Call, name: str) -> Any:
    """`float("-inf")` beside arrays reads `-jnp.inf`."""
    if name == "float" and len(node.args) == 1 and isinstance(node.args[0].value, cst.SimpleString):
        text = str(node.args[0].value.evaluated_value).lower()
        if text in ("inf", "-inf") and not walk.foreign() and not any(f.name.value == "__init__" for f in walk.functions):
            return tree.expression(text.replace("inf", "jnp.inf"))
    return None


def _torch(walk: Walk, node: cst.Call, name: str) -> Any:
    definitions = walk.rules(name)
    if id(node) in walk.beside:
        definitions = walk.context.rulebook.find(f"{name}[beside]")
    if (exact := walk.context.rulebook.find(f"{name}[whole]")) and whole_numbers.are_made(walk, node):
        definitions = (*exact, *definitions)
    if walk.runs and (traced := walk.context.rulebook.find(f"{name}[traced]")):
        if not _is_kept(walk, node):
            definitions = traced
        elif walk.info in walk.forward:
            walk.context.report("taken-for-granted", node, "what is made while the model runs is state here, and not trained: make it in the constructor")
    sizes = static_size(walk.context.facts.of, name, node)
    if sizes:
        return call("math.prod" if len(sizes) == 1 else name[6:9], list(map(walk.convert, sizes)))
    if not definitions:
        owner, _, method = name.rpartition(".")
        holder = walk.context.rulebook.find(owner)
        if holder and holder[0].is_class:
            return _of_layer(walk, node, holder[0], method)
        constant = walk.context.rulebook.constant(name)
        if constant is not None:
            func = tree.expression(constant)
            return tree.replace(walk.children(node), func=func)
        return walk.no_rule(node, name)
    if definitions[0].is_class:
        if (made := copied_lists.made(walk, node, name)) is not None:
            return made
        if node is walk.dropped and walk.context.rulebook.wraps(name):
            return walk.unconverted("unsupported", node, f"{name} of a layer that is held elsewhere: call it where the layer is made, and assign what it returns")
        definitions = walk.context.rulebook.find(_variant(walk, name, node.args))
        try:
            made = call_class(walk.context, definitions[0], walk.arguments(node), node)
            if walk.torch_name(node.func) is None:
                made = tree.replace(made, func=walk.convert(node.func))  # an alias of the user's
            return walk.done(node, made)
        except Refused as refused:
            return walk.unconverted("unsupported", node, f"{name}: {refused}")
    return walk.apply(node, definitions, name, legacy_sizes.told(walk.context, walk.functions, definitions, node, walk.arguments(node)))


def _is_kept(walk: Walk, node: cst.Call) -> bool:
    """Whether a call makes what an attribute holds from then on: `self.weight = nn.Parameter(w)`."""
    assignments = tree.nodes(walk.functions[-1].body, cst.Assign) if walk.functions else ()
    return any(n.value is node and any(isinstance(t.target, cst.Attribute) for t in n.targets) for n in assignments)


def _of_layer(walk: Walk, node: cst.Call, layer: Definition, method: str) -> Any:
    """`nn.Linear.__init__(self, 3, 4)`, or the same by super(): its arguments are those of the layer."""
    through_super = isinstance(node.func, cst.Attribute) and tree.dotted(node.func) is None
    func = node.func if through_super else tree.expression(f"{walk.context.name(layer.name)}.{method_name(method)}")
    if method != "__init__" or not through_super and not node.args:
        return tree.replace(walk.children(node), func=func)
    return _built(walk, node, layer, 0 if through_super else 1, func)


def _built(walk: Walk, node: cst.Call, layer: Definition, own: int, func: Any) -> Any:
    """A call with the arguments of a layer's constructor after some of its own."""
    try:
        made = call_class(walk.context, layer, walk.arguments(node)[own:])
    except Refused as refused:
        return walk.unconverted("unsupported", node, f"{layer.name}: {refused}")
    args = [*(tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in node.args[:own]), *made.args]
    if len(args) == len(node.args):  # the layout that it had
        args = [tree.replace(old, value=tree.fit(old, "value", new.value)) for old, new in zip(node.args, args)]
    return walk.done(node, tree.replace(node, func=func, args=args))


def _of_sizes(walk: Walk, node: cst.Call) -> cst.Call:
    """`walk.Tensor(x.size())`: the sizes of a shape one by one, since JAX's shapes are tuples like any other."""
    args = [tree.replace(a, star="*") if not a.star and a.keyword is None and legacy_sizes.is_size(walk.context, walk.functions, a.value) else a for a in node.args]
    return node if tree.same(args, node.args) else tree.replace(node, args=args)
