"""Functions and classes: what stands in their headers runs when the file is imported, and annotations never do."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import KEY
from ...project import ClassInfo
from ...values import Torch
from .walk import Walk


def function(walk: Walk, node: cst.FunctionDef) -> Any:
    """A function with its header and its body converted."""
    decorators = [walk.in_header(d) for d in node.decorators]
    params = walk.in_header(node.params)
    returns = _in_header_annotation(walk, node.returns) if node.returns is not None else None
    before, info = walk.runs, walk.context.facts.by_node.get(id(node))
    walk.runs = info is not None and (info in walk.running or info.outer is not None and walk.runs)
    walk.functions.append(node)
    body = walk.children(node.body)
    walk.functions.pop()
    walk.runs = before
    same = body is node.body and params is node.params and returns is node.returns and all(a is b for a, b in zip(decorators, node.decorators))
    if same:
        return node
    new = tree.replace(node, decorators=decorators, params=params, returns=returns, body=body)
    walk.context.facts.carry(node, new)
    return new


def class_(walk: Walk, node: cst.ClassDef) -> Any:
    """A base class of torch's that has no counterpart is left out: what needs it is reported where it is used."""
    if walk.functions and any(_is_module(walk, base.value) for base in node.bases):
        return _made_inside(walk, node)
    bases = []
    for base in node.bases:
        generic = base.value.value if isinstance(base.value, cst.Subscript) else base.value  # `Dataset[int]`
        name = walk.torch_name(generic)
        if name is not None and not walk.context.rulebook.find(name) and walk.context.rulebook.constant(name) is None:
            walk.context.report("no-rule", base.value, f"the base class {name} has no JAX equivalent here")
            continue
        bases.append(walk.in_header(base))
    if bases:
        bases[-1] = tree.replace(bases[-1], comma=cst.MaybeSentinel.DEFAULT) if len(bases) != len(node.bases) else bases[-1]
    keywords = [walk.in_header(k) for k in node.keywords]
    decorators = [walk.in_header(d) for d in node.decorators]
    functions, walk.functions = walk.functions, []
    body = walk.children(node.body)
    walk.functions = functions
    changes: dict[str, Any] = {"bases": bases, "body": body, "decorators": decorators, "keywords": keywords}
    if not bases and not keywords:
        changes |= {"lpar": cst.MaybeSentinel.DEFAULT, "rpar": cst.MaybeSentinel.DEFAULT}
    new = tree.replace(node, **changes)
    walk.context.facts.carry(node, new)
    return new


def _is_module(walk: Walk, base: Any) -> bool:
    """Whether a base is a module of torch's or the user's."""
    found = walk.context.facts.project.resolve(walk.context.module, tree.dotted(base) or "?")
    return found.is_module if isinstance(found, ClassInfo) else isinstance(found, str) and found.startswith("torch.nn.")


def _made_inside(walk: Walk, node: cst.ClassDef) -> Any:
    """A class of modules in a function, which may use all that is known there: its forward would not be called."""
    message = f"the class {node.name.value} is made in a function: define it in the file itself, and give its constructor what it uses of the function"
    made = tree.assignment(node.name.value, walk.unconverted("unsupported", node.name, message))
    return tree.replace(made, leading_lines=node.leading_lines)


def annotation(walk: Walk, node: cst.Annotation) -> Any:
    """The annotation of a variable; one that names what has no equivalent is quoted."""
    new = _in_header_annotation(walk, node)
    if new is not None:
        return new
    quoted = tree.code(node.annotation).replace('"', "'")
    return tree.replace(node, annotation=cst.SimpleString(f'"{quoted}"'))


def variable(walk: Walk, node: cst.AnnAssign) -> Any:
    """`data: Dataset = rows` of a local name is `data = rows` where the annotation names what has no equivalent; None elsewhere."""
    if not walk.functions or node.value is None or _in_header_annotation(walk, node.annotation) is not None:
        return None
    made = cst.Assign([cst.AssignTarget(node.target)], walk.convert(node.value))
    return walk.done(node, made)


def _in_header_annotation(walk: Walk, node: cst.Annotation) -> Any:
    """The annotation of a parameter or result; None where it names what has no equivalent: nobody needs it."""
    count = len(walk.context.diagnostics)
    quoted = isinstance(node.annotation, cst.SimpleString)
    new = _in_string(walk, node.annotation) if quoted else walk.convert(node.annotation)
    if len(walk.context.diagnostics) > count:
        return None
    return node if new is node.annotation else tree.replace(node, annotation=new)


def _in_string(walk: Walk, node: Any) -> Any:
    """An annotation in quotes, `"Optional[torch.Tensor]"`, with what its names are here."""
    text = node.evaluated_value
    try:
        parsed: Any = cst.parse_expression(text) if isinstance(text, str) else node
    except cst.ParserSyntaxError:
        return node
    project, facts = walk.context.facts.project, walk.context.facts
    for name in tree.nodes(parsed, cst.Attribute, cst.Name) if parsed is not node else ():
        found = project.resolve(walk.context.module, tree.dotted(name) or "?")
        if isinstance(found, str) and found.startswith("torch."):
            facts.tell(name, Torch(found))
            facts.origin[id(name)] = node
    new = walk.convert(parsed)
    return node if new is parsed else tree.replace(node, value=node.quote + tree.code(new) + node.quote)


def typing_call(walk: Walk, node: cst.Call, name: str) -> Any:
    """`TypeVar("T", bound="nn.Module")`, `cast("torch.Tensor", x)`: annotations in quotes. None of other functions of typing's."""
    if name not in ("typing.TypeVar", "typing.cast"):
        return None
    quoted = node.args[1:] if name == "typing.TypeVar" else node.args[:1]
    ids = {id(a) for a in quoted if isinstance(a.value, cst.SimpleString)}
    args = [tree.replace(a, value=_in_string(walk, a.value)) if id(a) in ids else walk.convert(a) for a in node.args]
    return walk.done(node, tree.replace(node, args=args))


def parameter(walk: Walk, node: cst.Param) -> Any:
    """A parameter with its annotation and its default."""
    changes: dict[str, Any] = {}
    if node.annotation is not None and (new := _in_header_annotation(walk, node.annotation)) is not node.annotation:
        changes["annotation"] = new
    if node.default is not None:
        default = _array_type(walk, node.default) if walk.context.value(node.default) != Torch("torch.Tensor") else None
        default = walk.convert(node.default) if default is None else default
        if default is not node.default:
            changes["default"] = default
    return tree.replace(node, **changes) if changes else node


def _array_type(walk: Walk, node: cst.BaseExpression) -> Any:
    """`tensor=torch.FloatTensor` in a header, or one side of a choice."""
    value = walk.context.value(node)
    dtype = walk.context.rulebook.dtype_of(value.name) if isinstance(value, Torch) else None
    return tree.expression(f"{walk.context.name('ArrayType')}({dtype})") if dtype is not None else None


def chosen_type(walk: Walk, node: cst.IfExp) -> Any:
    """`torch.HalfTensor if half else torch.FloatTensor`"""
    sides = {field: _array_type(walk, getattr(node, field)) or walk.convert(getattr(node, field)) for field in ("body", "orelse")}
    return walk.done(node, tree.replace(node, test=walk.convert(node.test), **sides))


def initialiser(walk: Walk, node: cst.Lambda) -> Any:
    """`lambda w: nn.init.normal_(w, std=0.02)`: one that draws takes a key, which `nn.initial` gives it."""
    new = walk.children(node)
    if not any(n.value == KEY for n in tree.nodes(new.body, cst.Name)):
        return new
    params = [*(tree.replace(p, comma=cst.MaybeSentinel.DEFAULT) for p in new.params.params), cst.Param(cst.Name("key"))]
    return walk.done(node, tree.replace(new, params=tree.replace(new.params, params=params)))
