"""What a class makes of the initialiser of the layer that it extends: torch's constructor calls it, and so does `init`.

    class Scaled(nn.Linear):                          class Scaled(nn.Linear):
        def reset_parameters(self):                       def reset_parameters(self, params):
            super().reset_parameters()        ->              params["bias"] = jnp.zeros_like(params["bias"])
            nn.init.zeros_(self.bias)
                                                          def init(self, key):
                                                              params = super().init(key)
                                                              self.reset_parameters(params)
                                                              return params
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from ... import tree
from ...callgraph import reachable
from ...context import Context
from ...project import ClassInfo, FunctionInfo
from ...values import Function, Method, Module
from .constructors import Constructor

_OTHER = {"MultiheadAttention": "_reset_parameters", "Transformer": "_reset_parameters", "TransformerEncoder": "", "TransformerDecoder": ""}
_INITIALISERS = ("reset_parameters", "_reset_parameters", "reset_running_stats")
_ASKING = ("device", "dtype", "new_empty", "new_ones", "new_zeros", "requires_grad", "shape", "size")  # what leaves an array as it is
_NOT_RUN = "torch's constructor calls this, and init does not: call it where the model is made"


def override(context: Context, cls: ClassInfo) -> FunctionInfo | None:
    """The method that the constructor of a torch layer calls in place of its own, where no class above already sees to that."""
    layer, init = context.facts.layer_of(cls), cls.methods.get("__init__")
    if layer is None or not context.rulebook.arrays(layer.name):
        return None
    name = _OTHER.get(layer.name, "reset_parameters")
    found = cls.find(name)
    above = [c for c in cls.ancestors() if c is not cls and c.torch_base() is not None]
    if found is None or any(c.find(name) is not None for c in above) or init is not None and found in reachable(context.facts.calls, [init]):
        return None
    return found


def made_again(context: Context, cls: ClassInfo) -> FunctionInfo | None:
    """The initialiser of a class that extends a layer, where its own constructor calls it after the layer's, and nothing else does."""
    layer, init = context.facts.layer_of(cls), cls.methods.get("__init__")
    method = cls.methods.get(_OTHER.get(layer.name, "reset_parameters")) if layer is not None else None
    if layer is None or init is None or method is None or {f for f, called in context.facts.calls.items() if method in called} != {init}:
        return None
    nodes = list(tree.walk(init.node.body))
    at = next((i for i, n in enumerate(nodes) if isinstance(n, cst.Call) and context.value(n.func) == Function(method, cls)), 0)
    arrays = {f"{init.self_name}.{name}" for name in context.rulebook.arrays(layer.name)}
    named = [n for n in nodes[:at] if isinstance(n, cst.Attribute) and tree.dotted(n) in arrays]
    asked = [n for n in nodes[:at] if isinstance(n, cst.Attribute) and tree.dotted(n.value) in arrays and n.attr.value in _ASKING]
    return method if len(named) == len(asked) else None  # else they may have other values by then


def without_layers_own(context: Context, method: FunctionInfo) -> cst.FunctionDef:
    """The method without `super().reset_parameters()`, where only the constructor calls it: `init` of the layer has given these values."""

    def before(node: Any) -> Any:
        small = tree.only_small(node)
        return cst.RemoveFromParent() if isinstance(small, cst.Expr) and _is_layers_own(context, small.value) else None

    new: cst.FunctionDef = tree.rewrite(method.node, before, only={cst.SimpleStatementLine})
    return new if tree.body_statements(new) else method.node


def _is_layers_own(context: Context, node: Any) -> bool:
    """Whether a call is of an initialiser of torch's: `super().reset_parameters()`, `self.reset_running_stats()`."""
    value = context.value(node.func) if isinstance(node, cst.Call) else None
    return isinstance(value, Method) and isinstance(value.receiver, Module) and value.name in _INITIALISERS


def call(context: Context, cls: ClassInfo, method: FunctionInfo, made: Constructor, initialising: Set[FunctionInfo]) -> None:
    """Let `init` begin with the method; what does something else than fill own params is reported."""
    layers_own = any(_is_layers_own(context, n) for n in tree.nodes(method.node.body, cst.Call))
    if method not in initialising or method.owner is None or method.owner.torch_base() is None or layers_own or _writes_state(context, cls, method):
        context.report("unsupported", method.node.name, _NOT_RUN)
        return
    self_name = cls.methods["__init__"].self_name if "__init__" in cls.methods else None
    line = tree.statement(f"{self_name or 'self'}.{method.name}()")
    func = line.body[0].value.func
    context.facts.tell(func.value, Module(frozenset([cls]), is_self=True))
    context.facts.tell(func, Function(method, cls))
    made.params.insert(0, line)


def _writes_state(context: Context, cls: ClassInfo, method: FunctionInfo) -> bool:
    """Whether a method names a buffer of the layer: `self.running_var.fill_(2)`."""
    layer = context.facts.layer_of(cls)
    arrays = context.rulebook.arrays(layer.name) if layer is not None else {}
    return any(arrays.get(n.attr.value) == "state" for n in tree.nodes(method.node.body, cst.Attribute))
