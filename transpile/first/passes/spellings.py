"""Other spellings of the same thing, made one before anything is analysed.

`map(self.block, xs)` is a comprehension; `self.__getattr__(name)` is `getattr(self, name)`, and `self.name` where the name is written out; `m.state_dict()["weight"]` is `m.weight.data`; a lambda that a constructor keeps on self, and that uses self, is a method;
`mask != None` is `mask is not None`; `weight = conv.weight; init.ones_(weight)` is `init.ones_(conv.weight)` (`filled_names.py`); `nn.Parameter(data=w)` is `nn.Parameter(w)`;
`nn.LayerNorm.forward(self, x)` is `super().forward(x)` (`base_calls.py`); `self.scale = v` of a property is `self.set_scale(v)` (`property_setters.py`); `x.new().resize_(n, m)` is `x.new_empty(n, m)` (`resized.py`); loops over listed submodules are their turns (`unrolled_layers.py`); what is a parameter on one way only has a line on each (`parameters_apart.py`); a constructor's short name for registering is written out (`registering.py`); checkpointing as guided-diffusion has it is torch's (`own_checkpoint.py`); `weight_norm(self.fc)` is `self.fc = weight_norm(self.fc)` (`kept_wrappers.py`); what `partial` makes of a function of torch's is called as that function (`partials.py`);
`init.ones_(nn.Parameter(w))` is `nn.Parameter(init.ones_(w))`; words of typing that torch's own files import, and others from them, come from typing; `try: from torch import f` with a
replacement for versions of torch that lack it takes what there is: torch's, if there is a rule for it, else the replacement;
several statements on a line are lines of their own; an attribute `self.init` has another name (`shadowing.py`); what stands between `torch.set_grad_enabled(False)` and `(True)` stands under `with torch.set_grad_enabled(False)`.
"""

from __future__ import annotations

import collections
import keyword
from typing import Any

import libcst as cst

from .. import tree
from ..base_calls import through_super
from ..computed_names import with_filled_parameters, with_listed_names
from ..counted_places import with_places_counted
from ..dataflow import reads
from ..filled_names import without_filled_names
from ..kept_wrappers import with_wrappers_kept
from ..listed_ranges import numbers_of_range
from ..mapped import without_map
from ..own_checkpoint import written_plainly
from ..parameters_apart import with_parameters_apart
from ..partials import with_partials_called
from ..property_setters import with_setters_called
from ..registering import written_out
from ..resized import made_at_once
from ..rulebook import Rulebook, erased
from ..shadowing import without_shadowing
from ..unrolled_layers import with_layers_apart

TYPING = frozenset("Any Callable Dict Iterable Iterator List Mapping NamedTuple Optional Sequence Set Tuple Type TypeVar Union".split())
LAYERS = {"relu": "ReLU", "relu6": "ReLU6", "leaky_relu": "LeakyReLU", "elu": "ELU", "selu": "SELU", "silu": "SiLU", "hardtanh": "Hardtanh"}
TABLES = {"_modules": {"items": "named_children", "values": "children"}, "_parameters": {}, "_buffers": {}}


def run(module: cst.Module, rulebook: Rulebook) -> cst.Module:
    """Rewrite the spellings of one file."""
    module = tree.rewrite(without_shadowing(written_plainly(module)), None, _apart, only={cst.SimpleStatementLine, cst.FunctionDef, cst.If, cst.Else, cst.For, cst.While, cst.With})
    module = _without_partials(tree.rewrite(module, lambda node: _guarded(node, rulebook), only={cst.Try}))
    module = with_partials_called(module, rulebook)
    module = tree.rewrite(module, lambda node: _from_state_dict(node, rulebook), only={cst.Subscript})
    module = with_wrappers_kept(module, rulebook)
    module = tree.rewrite(with_listed_names(module), None, with_filled_parameters, only={cst.For})  # type: ignore[arg-type]
    for of_class in (through_super, with_setters_called, with_places_counted):
        module = tree.rewrite(module, None, of_class, only={cst.ClassDef})  # type: ignore[arg-type]
    for of_function in (written_out, without_filled_names, with_parameters_apart):
        module = tree.rewrite(module, None, of_function, only={cst.FunctionDef})  # type: ignore[arg-type]
    module = tree.rewrite(module, None, with_layers_apart, only={cst.FunctionDef, cst.ClassDef})
    return tree.rewrite(module, _visit, only={cst.ImportFrom, cst.Assign, cst.AssignTarget, cst.Del, cst.ClassDef, cst.Call, cst.Comparison, cst.Subscript, cst.IndentedBlock, cst.Expr})  # type: ignore[no-any-return]


def _apart(node: Any) -> Any:
    """`init.zeros_(m.weight); init.ones_(m.bias)` as two lines."""
    if isinstance(node, cst.SimpleStatementLine) and len(node.body) > 1:
        lines = [cst.SimpleStatementLine([tree.replace(small, semicolon=cst.MaybeSentinel.DEFAULT)]) for small in node.body]
        lines[0] = tree.replace(lines[0], leading_lines=node.leading_lines)
        lines[-1] = tree.replace(lines[-1], trailing_whitespace=node.trailing_whitespace)
        return cst.FlattenSentinel(lines)
    if isinstance(getattr(node, "body", None), cst.SimpleStatementSuite) and len(node.body.body) > 1:
        return tree.with_body(node, [tree.replace(s, body=[tree.replace(s.body[0], semicolon=cst.MaybeSentinel.DEFAULT)]) for s in tree.body_statements(node)])
    return node


def _visit(node: Any) -> Any:
    kind = node.__class__
    if kind in (cst.AssignTarget, cst.Del):
        return node
    if kind is cst.Assign:
        made = _placed(node)
        return None if made is None else tree.rewrite(made, _visit)
    if kind is cst.ImportFrom:
        return _from_typing(node)
    if kind is cst.Expr:
        made = _without_array(node.value) or _set(node.value)
        return None if made is None else tree.rewrite(made, _visit)
    if kind is cst.IndentedBlock:
        body = list(node.body)
        made = _plain_sizes(_without_gradient(body) or body)
        return None if tree.same(made, body) else tree.rewrite(tree.replace(node, body=made), _visit)
    if kind is cst.ClassDef:
        new = _with_methods(node)
        return None if new is node else tree.rewrite(new, lambda n: None if n is new else _visit(n))
    if kind is cst.Call and isinstance(node.func, cst.Name):
        if node.func.value == "getattr" and len(node.args) == 2 and tree.code(node.args[0].value) == "self":
            return _written_out(node.args[0].value, node.args[1].value, node)
        return without_map(node, _visit)
    if kind is cst.Call and isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        if name == "Parameter" and node.args and node.args[0].keyword is not None and node.args[0].keyword.value == "data":
            first = tree.replace(node.args[0], keyword=None, equal=cst.MaybeSentinel.DEFAULT)
            return tree.rewrite(tree.replace(node, args=[first, *node.args[1:]]), _visit)
        if (made := made_at_once(node) or numbers_of_range(node)) is not None:
            return tree.rewrite(made, _visit)
        if name == "__getattr__" and len(node.args) == 1:
            return _getattr(node.func.value, node.args[0].value)
        if name.endswith("_") and (tree.dotted(node.func.value) or "").rpartition(".")[2] == "init":
            return _initialised(node)
        holder = node.func.value
        if isinstance(holder, cst.Attribute) and holder.attr.value in TABLES and not node.args:
            method = TABLES[holder.attr.value].get(name)
            if method is not None:
                return tree.replace(node, func=tree.replace(node.func, value=holder.value, attr=cst.Name(method)))
    if kind is cst.Comparison:
        return _none_test(node) or _type_of(node)
    if kind is cst.Subscript and isinstance(node.value, cst.Attribute) and node.value.attr.value in TABLES:
        if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
            return _getattr(node.value.value, node.slice[0].slice.value)
    return None


def _without_array(node: Any) -> Any:
    """`conv.bias = None` of `conv.register_parameter("bias", None)`."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.func.attr.value != "register_parameter" or len(node.args) != 2:
        return None
    name, value = (a.value for a in node.args)
    text = tree.literal(name) if isinstance(name, cst.SimpleString) else None
    if tree.code(value) != "None" or not isinstance(text, str) or not _is_plain_name(text) or tree.code(node.func.value) in ("self", "super()"):
        return None
    return cst.Assign([cst.AssignTarget(cst.Attribute(node.func.value, cst.Name(text)))], value)


def _set(node: Any) -> Any:
    """`lin.bias = value` of `setattr(lin, "bias", value)`; None of other calls."""
    if not isinstance(node, cst.Call) or tree.dotted(node.func) != "setattr" or len(node.args) != 3 or any(a.star or a.keyword for a in node.args):
        return None
    holder, name, value = (a.value for a in node.args)
    text = tree.literal(name) if isinstance(name, cst.SimpleString) else None
    if not isinstance(text, str) or not _is_plain_name(text) or text.startswith("__"):  # in a class, `lin.__bias` is another name
        return None
    return cst.Assign([cst.AssignTarget(cst.Attribute(holder, cst.Name(text)))], value)


def _placed(node: cst.Assign) -> Any:
    """`setattr(model, name, layer)` of `model._modules[name] = layer`; None for other assignments."""
    target: Any = node.targets[0].target
    if len(node.targets) != 1 or not isinstance(target, cst.Subscript) or not isinstance(target.value, cst.Attribute) or target.value.attr.value != "_modules":
        return None
    if len(target.slice) != 1 or not isinstance(target.slice[0].slice, cst.Index):
        return None
    holder, name = target.value.value, target.slice[0].slice.value
    text = tree.literal(name) if isinstance(name, cst.SimpleString) else None
    if isinstance(text, str) and _is_plain_name(text):
        return cst.Assign([cst.AssignTarget(cst.Attribute(holder, cst.Name(text)))], node.value)
    return cst.Expr(cst.Call(cst.Name("setattr"), [cst.Arg(holder), cst.Arg(name), cst.Arg(node.value)]))


def _is_plain_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _initialised(node: cst.Call) -> Any:
    """The parameter made of what `init.kaiming_uniform_(nn.Parameter(w), a=1)` fills."""
    made: Any = node.args[0].value if node.args and node.args[0].keyword is None else None
    if not isinstance(made, cst.Call) or (tree.dotted(made.func) or "").rpartition(".")[2] != "Parameter" or not made.args or made.args[0].keyword is not None:
        return None
    filled = tree.replace(node, args=[tree.replace(node.args[0], value=made.args[0].value), *node.args[1:]])
    return tree.replace(made, args=[tree.replace(made.args[0], value=filled), *made.args[1:]])


def _without_gradient(body: list[Any]) -> list[Any] | None:
    """The statements of a block with a stretch between two switches as a `with`; None where there is none."""
    switches = [(i, found) for i, s in enumerate(body) if (found := _switch(s)) is not None]
    for (i, (test, flag)), (j, (again, other)) in zip(switches, switches[1:]):
        if (flag, other) == ("False", "True") and test == again and j > i + 1:
            made: Any = tree.statement(f"with torch.set_grad_enabled({f'not {test}' if test.replace('.', '').isidentifier() else f'not ({test})' if test else flag}):\n    pass\n")
            made = tree.replace(tree.with_body(made, body[i + 1 : j]), leading_lines=body[i].leading_lines)
            rest = [*body[:i], made, *body[j + 1 :]]
            return _without_gradient(rest) or rest
    return None


def _plain_sizes(body: list[Any]) -> list[Any]:
    """`d = torch.tensor([h - x.shape[2]])` as `d = h - x.shape[2]`, where d is used for `F.pad(x, [d // 2, d - d // 2])` alone."""
    kept = {s.body[0].targets[0].target.value: size for s in body if (size := _size_in_tensor(s)) is not None}
    if not kept:
        return body
    block = cst.IndentedBlock(body)
    once = tree.bound_once(block)
    pads = [a for c in tree.nodes(block, cst.Call) if (tree.dotted(c.func) or "").endswith(".pad") for a in c.args[1:2]]
    in_pads = collections.Counter(n.value for a in pads for n in tree.nodes(a, cst.Name))
    used = collections.Counter(n.value for n in tree.nodes(block, cst.Name))
    plain = {n for n in kept if n in once and used[n] == in_pads[n] + 1}

    def after(line: Any) -> Any:
        name = line.body[0].targets[0].target.value if _size_in_tensor(line) is not None else None
        return tree.replace(line, body=[tree.replace(line.body[0], value=kept[name])]) if name in plain else line

    return [after(s) for s in body]


def _size_in_tensor(statement: Any) -> Any:
    """The size of `d = torch.tensor([h - x.size(2)])`."""
    small = tree.only_small(statement)
    call = small.value if isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Name) else None
    if not isinstance(call, cst.Call) or tree.dotted(call.func) != "torch.tensor" or len(call.args) != 1 or not isinstance(call.args[0].value, cst.List):
        return None
    elements = call.args[0].value.elements
    asks = [n for e in elements for n in tree.nodes(e, cst.Attribute) if n.attr.value in ("size", "shape")]
    return elements[0].value if len(elements) == 1 and asks else None


def _switch(statement: Any) -> tuple[str, str] | None:
    """The condition, if any, and the flag of `if c: torch.set_grad_enabled(False)`."""
    if isinstance(statement, cst.If) and statement.orelse is None and len(tree.body_statements(statement)) == 1:
        found = _switch(tree.body_statements(statement)[0])
        return (tree.code(statement.test), found[1]) if found is not None and not found[0] else None
    small = tree.only_small(statement)
    call = small.value if isinstance(small, cst.Expr) else None
    if isinstance(call, cst.Call) and tree.dotted(call.func) == "torch.set_grad_enabled" and len(call.args) == 1:
        return "", tree.code(call.args[0].value)
    return None


def _from_state_dict(node: Any, rulebook: Rulebook) -> Any:
    """`self.z.state_dict()["weight"]`, one array by its path."""
    call, index = node.value, node.slice[0].slice
    if not (isinstance(call, cst.Call) and not call.args and isinstance(call.func, cst.Attribute) and call.func.attr.value == "state_dict"):
        return None
    if len(node.slice) != 1 or not isinstance(index, cst.Index) or not isinstance(index.value, cst.SimpleString):
        return None
    path = str(index.value.evaluated_value).split(".")
    if not all(part.isidentifier() for part in path) or not rulebook.is_array_name(path[-1]):
        return None
    made = call.func.value
    for part in [*path, "data"]:
        made = cst.Attribute(made, cst.Name(part))
    return made


def _from_typing(node: cst.ImportFrom) -> Any:
    """`from torch._jit_internal import List, Optional`"""
    module = tree.dotted(node.module) if node.module is not None and not node.relative else None
    if module is None or module.split(".")[0] != "torch" or isinstance(node.names, cst.ImportStar):
        return None
    words = [n for n in node.names if n.name.value in TYPING]
    rest = [n for n in node.names if n not in words]
    if not words:
        return None
    made = [tree.replace(node, module=cst.Name("typing"), names=_listed(words), lpar=None, rpar=None)]
    if rest:
        made.append(tree.replace(node, names=_listed(rest), lpar=None, rpar=None))
    return cst.FlattenSentinel(made)


def _without_partials(module: cst.Module) -> cst.Module:
    """`relu = partial(F.relu, inplace=True)` at the top of a file: `relu(x)` is `F.relu(x, inplace=True)`, which writes x."""
    lines: list[Any] = [s for s in module.body if _partial_in_place(s)]
    once = tree.bound_once(module) if lines else set()
    held = {name: s.body[0].value for s in lines if (name := _partial_in_place(s)) in once}
    if not held:
        return module

    def after(node: Any) -> Any:
        if isinstance(node, cst.Assign):  # `self.act = relu` is a layer
            layer = _layer_of(held[node.value.value]) if isinstance(node.value, cst.Name) and node.value.value in held else None
            return node if layer is None or not isinstance(node.targets[0].target, cst.Attribute) else tree.replace(node, value=layer)
        found = held.get(node.func.value) if isinstance(node.func, cst.Name) else None
        if found is None:
            return node
        args = [*node.args, *found.args[1:]]
        return tree.replace(node, func=found.args[0].value, args=[tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in args])

    new = tree.rewrite(module, None, after, only={cst.Call, cst.Assign})
    read = collections.Counter(n.value for n in tree.nodes(new, cst.Name))
    return tree.replace(module, body=[s for s in new.body if (n := _partial_in_place(s)) not in held or read[n] > 1])


def _layer_of(partial: cst.Call) -> Any:
    """`torch.nn.ReLU(inplace=True)` of `partial(F.relu, inplace=True)`."""
    layer = LAYERS.get((tree.dotted(partial.args[0].value) or "").rpartition(".")[2])
    return tree.replace(partial, func=tree.expression(f"torch.nn.{layer}"), args=list(partial.args[1:])) if layer is not None else None


def _partial_in_place(statement: Any) -> str:
    """The name that such a line binds."""
    small = tree.only_small(statement)
    if not isinstance(small, cst.Assign) or len(small.targets) != 1 or not isinstance(small.targets[0].target, cst.Name):
        return ""
    call = small.value
    if not isinstance(call, cst.Call) or tree.dotted(call.func) not in ("partial", "functools.partial") or not any(a.keyword and a.keyword.value == "inplace" for a in call.args):
        return ""
    plain = tree.dotted(call.args[0].value) is not None and all(a.keyword is not None for a in call.args[1:])
    return small.targets[0].target.value if plain else ""


def _guarded(node: Any, rulebook: Rulebook) -> Any:
    """`try: from torch import _assert` with `except ImportError: def _assert(…): …`"""
    body = tree.body_statements(node)
    handler = node.handlers[0] if len(node.handlers) == 1 else None
    names = [name for s in body for name in _imported(s)]
    if handler is None or node.finalbody is not None or not names or not all(n.split(".")[0] == "torch" for n in names):
        return None
    caught = tree.code(handler.type) if handler.type is not None else ""
    plain = all(_imported(s) or isinstance(s, cst.SimpleStatementLine) and isinstance(s.body[0], cst.Assign) for s in body)
    if not plain or not ("ImportError" in caught or caught in ("", "Exception", "ModuleNotFoundError")):
        return None
    if all(rulebook.knows(name) or erased(name) for name in names):
        taken = [*body, *(tree.body_statements(node.orelse) if node.orelse is not None else [])]
    else:
        taken = tree.body_statements(handler)
        if any(tree.nodes(cst.Module(taken), cst.Raise)) or not any(isinstance(s, (cst.FunctionDef, cst.ClassDef)) or _binds(s) for s in taken):
            return None
    first = taken[0]
    return cst.FlattenSentinel([tree.replace(first, leading_lines=[*node.leading_lines, *first.leading_lines]), *taken[1:]])


def _binds(statement: Any) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], (cst.Assign, cst.AnnAssign, cst.Import, cst.ImportFrom))


def _imported(statement: Any) -> list[str]:
    """The dotted names that a line of one absolute import brings; none for anything else."""
    small = tree.only_small(statement)
    if isinstance(small, cst.Import):
        return [tree.dotted(a.name) or "" for a in small.names]
    if isinstance(small, cst.ImportFrom) and small.module is not None and not small.relative and not isinstance(small.names, cst.ImportStar):
        return [f"{tree.dotted(small.module)}.{tree.code(a.name)}" for a in small.names]
    return []


def _listed(names: list[cst.ImportAlias]) -> list[cst.ImportAlias]:
    return [tree.replace(n, comma=cst.MaybeSentinel.DEFAULT) for n in names]


def _none_test(node: cst.Comparison) -> Any:
    """`mask != None`, which compares no elements in torch, is `mask is not None`."""
    target = node.comparisons[0]
    operator = {cst.Equal: cst.Is, cst.NotEqual: cst.IsNot}.get(type(target.operator))
    if operator is None or len(node.comparisons) != 1 or not isinstance(target.comparator, cst.Name) or target.comparator.value != "None":
        return None
    made = tree.replace(node, comparisons=[tree.replace(target, operator=operator())])
    return tree.rewrite(made, lambda n: None if n is made else _visit(n))


def _type_of(node: cst.Comparison) -> Any:
    """`type(x) is torch.Tensor` is `isinstance(x, torch.Tensor)`: the types of JAX's arrays are not jax.Array itself."""
    left, target = node.left, node.comparisons[0]
    if not (isinstance(left, cst.Call) and tree.dotted(left.func) == "type" and len(left.args) == 1 and len(node.comparisons) == 1):
        return None
    if tree.dotted(target.comparator) not in ("torch.Tensor", "Tensor") or not isinstance(target.operator, (cst.Is, cst.Equal, cst.IsNot, cst.NotEqual)):
        return None
    made = tree.expression("isinstance(x, y)")
    asked = tree.replace(made, args=[tree.replace(a, value=v) for a, v in zip(made.args, (left.args[0].value, target.comparator))])
    if isinstance(target.operator, (cst.IsNot, cst.NotEqual)):
        return cst.UnaryOperation(cst.Not(), asked, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return tree.replace(asked, lpar=node.lpar, rpar=node.rpar)


def _written_out(subject: Any, name: Any, node: Any) -> Any:
    """`self.mask` of `getattr(self, "mask")`; None of names that are computed, that a class would mangle, or that are words of Python's."""
    text = tree.literal(name) if isinstance(name, cst.SimpleString) else None
    if not isinstance(text, str) or not _is_plain_name(text) or text.startswith("__"):
        return None
    return cst.Attribute(subject, cst.Name(text), lpar=node.lpar, rpar=node.rpar)


def _getattr(subject: Any, name: Any) -> Any:
    if tree.code(subject) == "self" and (plain := _written_out(subject, name, cst.Name("_"))) is not None:
        return plain
    call = tree.expression("getattr(x, y)")
    first, second = call.args
    return tree.replace(call, args=[tree.replace(first, value=tree.rewrite(subject, _visit)), tree.replace(second, value=tree.rewrite(name, _visit))])


def _with_methods(node: cst.ClassDef) -> cst.ClassDef:
    """The class with `self.f = lambda x: self.a(x)` of its constructor as methods."""
    body = tree.body_statements(node)
    init = next((s for s in body if isinstance(s, cst.FunctionDef) and s.name.value == "__init__" and s.params.params), None)
    if init is None or not any(tree.nodes(init.body, cst.Lambda)):
        return node
    self_name = init.params.params[0].name.value
    statements = tree.body_statements(init)
    stores = [tree.code(t.target) for s in body for n in tree.nodes(s, cst.Assign) for t in n.targets]
    taken = {s.name.value for s in body if isinstance(s, cst.FunctionDef)}
    methods: list[Any] = []
    kept: list[Any] = []
    for statement in statements:
        name = _kept_lambda(statement, self_name)
        made = None
        if name is not None and stores.count(f"{self_name}.{name}") == 1 and name not in taken:
            made = _method(statement, name, self_name, init, statements)
        (methods if made is not None else kept).append(made if made is not None else statement)
    if not methods:
        return node
    read = {n for s in [*kept] for n in reads(s)}
    kept = [s for s in kept if not (_alias(s, self_name) and set(tree.names_assigned(s)).isdisjoint(read))]
    at = body.index(init) + 1
    return tree.with_body(node, [*body[: at - 1], tree.with_body(init, kept), *methods, *body[at:]])


def _kept_lambda(statement: Any, self_name: str) -> str | None:
    """The attribute that `self.f = lambda …` as a statement sets."""
    small = tree.only_small(statement)
    if isinstance(small, cst.Assign) and isinstance(small.value, cst.Lambda) and len(small.targets) == 1:
        target = small.targets[0].target
        if isinstance(target, cst.Attribute) and tree.code(target.value) == self_name:
            return target.attr.value
    return None


def _alias(statement: Any, self_name: str) -> bool:
    """`m = self.mlp`"""
    small = tree.only_small(statement)
    dotted = tree.dotted(small.value) if isinstance(small, cst.Assign) else None
    return dotted is not None and dotted.startswith(f"{self_name}.") and all(isinstance(t.target, cst.Name) for t in small.targets)


def _method(statement: Any, name: str, self_name: str, init: cst.FunctionDef, statements: list[Any]) -> Any:
    function = statement.body[0].value
    free = reads(function)
    assigned = [n for s in statements for n in tree.names_assigned(s)]
    parameters = tree.parameter_names(init) - {self_name}
    aliases = {n: s.body[0].value for s in statements if _alias(s, self_name) for n in tree.names_assigned(s) if assigned.count(n) == 1}
    if set(free) & parameters or any(n in assigned and n not in aliases for n in free) or not (self_name in free or set(free) & set(aliases)):
        return None

    def named(node: Any) -> Any:
        if isinstance(node, cst.Attribute):
            value = tree.rewrite(node.value, named)
            return node if value is node.value else tree.replace(node, value=value)
        if isinstance(node, cst.Arg) and node.keyword is not None:
            return tree.replace(node, value=tree.rewrite(node.value, named))
        return aliases.get(node.value) if isinstance(node, cst.Name) else None

    made = tree.statement(f"def {name}({self_name}):\n    return 0\n")
    line = tree.replace(made.body.body[0], body=[cst.Return(tree.rewrite(function.body, named))], trailing_whitespace=statement.trailing_whitespace)
    parameters_ = tree.replace(function.params, params=[made.params.params[0], *function.params.params])
    return tree.replace(tree.with_body(made, [line]), params=parameters_, leading_lines=[cst.EmptyLine(indent=False)])
