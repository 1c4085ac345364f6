"""What operations make of selections: the same of the wholes, or a reduction that takes the mask."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import libcst as cst

from ... import tree
from ...emit import bare, call, keyword
from ...values import External, Method, Module, Static, Tensor, Torch
from . import masks
from .ranks import moved
from .rows import is_by_rows
from .scope import Scope
from .wholes import FINITE, RAW, Chosen, Info, Mixed, Number, origins

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.Lambda, cst.NamedExpr)
_FIRST = (Static(0, "int"), Static(-1, "int"))
_COUNTS = frozenset({"numel", "nelement"})


class Part(NamedTuple):
    """An operand as it stood, what it becomes, and what is known of that."""

    old: Any
    node: Any
    info: Info


def converted(scope: Scope, node: Any) -> tuple[Any, Info]:
    """An expression whose selections stay whole, and whether its value is one."""
    if not scope.concerns(node):
        return node, None
    handler = _HANDLERS.get(node.__class__, _generic)
    return handler(scope, node)


def settled(scope: Scope, node: Any, counts: bool = False) -> Any:
    """An expression that may be no selection, and no count of one unless such are allowed."""
    new, info = converted(scope, node)
    if info is not None and not (isinstance(info, Number) and (counts or not info.counted)):
        scope.refuse(info)
    return new


def _part(scope: Scope, node: Any) -> Part:
    return Part(node, *converted(scope, node))


def _generic(scope: Scope, node: Any) -> tuple[Any, Info]:
    """Anything else: what is below it goes its own way."""

    def before(n: Any) -> Any:
        if n is node:
            return None
        if isinstance(n, cst.Arg):
            value = settled(scope, n.value)
            return n if value is n.value else tree.replace(n, value=tree.fit(n, "value", value))
        return settled(scope, n) if isinstance(n, cst.BaseExpression) else None

    return tree.rewrite(node, before), None


def _closed(scope: Scope, node: Any) -> tuple[Any, Info]:
    """A lambda or comprehension: what it reads must be no selection."""
    scope.refuse_reads(node)
    return node, None


def _name(scope: Scope, node: cst.Name) -> tuple[Any, Info]:
    entry = scope.env.names.get(node.value)
    info = entry.info if entry is not None else None
    if isinstance(info, Mixed):
        scope.refuse(info)
        return node, None
    if isinstance(info, Number) and info.counted:
        return scope.told(tree.replace(node), Tensor(kind="i", number=True)), info
    return node, info


def _attribute(scope: Scope, node: cst.Attribute) -> tuple[Any, Info]:
    """`d.data`, `d.dtype`"""
    value, info = converted(scope, node.value)
    if isinstance(info, Chosen) and node.attr.value not in ("data", "dtype", "device"):
        scope.refuse(info)
    return _with(scope, node, value=value), info if node.attr.value == "data" else None


def _subscript(scope: Scope, node: cst.Subscript) -> tuple[Any, Info]:
    """`x[mask]`, and the length in `d.shape[0]`."""
    if scope.selects(node):
        index: Any = node.slice[0].slice
        mask = masks.made(scope, index.value, flat=False)
        return _selection(scope, node, node.value, mask)
    inner: Any = node.value
    if isinstance(inner, cst.Attribute) and inner.attr.value == "shape" and tree.code(node.slice[0]).strip() == "0" and len(node.slice) == 1:
        _, info = converted(scope, inner.value)
        if isinstance(info, Chosen):
            return _length(scope, inner.value, info)
    if len(node.slice) == 2 and tree.code(node.slice[1].slice) == "None" and scope.concerns(inner):  # `w[mask][:, None]`
        value, info = converted(scope, inner)
        first = tree.code(node.slice[0].slice)
        if isinstance(info, Chosen) and (first == "..." or first == ":" and not scope.env.is_loose(info)) and not info.mask.flat:
            return scope.told(_with(scope, tree.expression("x[..., None]"), value=value), Tensor()), _with_last_dim(info)
        scope.refuse(info)
        return node, None
    return _generic(scope, node)


def _selection(scope: Scope, node: Any, subject: Any, mask: Any) -> tuple[Any, Info]:
    """The whole of what is selected from."""
    whole, info = converted(scope, subject)
    if isinstance(info, (Chosen, Mixed)) or mask is None:
        scope.refuse(info)
        scope.refused.add(id(node))
        return node, None
    entry = scope.env.names.get(subject.value) if isinstance(subject, cst.Name) else None
    held = scope.value(subject)
    named = (subject.value, entry.version) if entry is not None else None
    made = Chosen(mask, frozenset([id(node)]), scope.ranks(subject), RAW, named, None, held.kind if isinstance(held, Tensor) else None)
    return whole, made


def _unary(scope: Scope, node: cst.UnaryOperation) -> tuple[Any, Info]:
    value, info = converted(scope, node.expression)
    new = _with(scope, node, expression=value)
    if isinstance(node.operator, cst.Not):
        if isinstance(info, Chosen):
            scope.refuse(info)
        return (scope.told(new, Tensor(kind="b", number=True)), info) if isinstance(info, Number) and info.counted else (new, None)
    if isinstance(info, Chosen) and isinstance(node.operator, cst.BitInvert) and info.kind != "b":
        scope.refuse(info)
    return new, _linear(info) if isinstance(info, Chosen) else info


def _boolean(scope: Scope, node: cst.BooleanOperation) -> tuple[Any, Info]:
    """`n > 0 and flag`"""
    left, right = _part(scope, node.left), _part(scope, node.right)
    new = _with(scope, node, left=left.node, right=right.node)
    return _number(scope, new, [left, right], "b")


def _comparison(scope: Scope, node: cst.Comparison) -> tuple[Any, Info]:
    if len(node.comparisons) != 1 or isinstance(node.comparisons[0].operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)):
        return _generic(scope, node)
    target = node.comparisons[0]
    sides = [_part(scope, node.left), _part(scope, target.comparator)]
    new = _with(scope, node, left=sides[0].node, comparisons=[tree.replace(target, comparator=tree.fit(target, "comparator", sides[1].node))])
    return _compared(scope, new, sides)


def _compared(scope: Scope, new: Any, sides: Sequence[Part]) -> tuple[Any, Info]:
    """A comparison of selections: a selection of bools, which no gradient passes."""
    if not any(isinstance(s.info, Chosen) for s in sides):
        return _number(scope, new, sides, "b")
    found = _together(scope, sides)
    return new, dataclasses.replace(found, outside=FINITE, kind="b", binding=None) if found is not None else None


def _number(scope: Scope, new: Any, parts: Sequence[Part], kind: str) -> tuple[Any, Info]:
    """What is made of numbers; with a count among them it is a number of Python's to torch, which is an array here."""
    for part in parts:
        if isinstance(part.info, (Chosen, Mixed)):
            scope.refuse(part.info)
    found = [p.info for p in parts if isinstance(p.info, Number)]
    if not found:
        return new, None
    python = all(p.info.counted if isinstance(p.info, Number) else isinstance(scope.value(p.old), Static) for p in parts)
    counted = python and any(n.counted for n in found)
    if counted:
        new = scope.told(new, Tensor(kind=kind, number=True))
    return new, Number(frozenset[int]().union(*(n.origins for n in found)), counted)


def _binary(scope: Scope, node: cst.BinaryOperation) -> tuple[Any, Info]:
    left, right = _part(scope, node.left), _part(scope, node.right)
    return _operated(scope, left, right, type(node.operator), lambda a, b: _with(scope, node, left=a, right=b))


def _operated(scope: Scope, left: Part, right: Part, operator: type, build: Callable[[Any, Any], Any]) -> tuple[Any, Info]:
    """Arithmetic of selections by one mask, and numbers."""
    if not any(isinstance(p.info, Chosen) for p in (left, right)):
        kind = "f" if operator is cst.Divide else "i"
        return _number(scope, build(left.node, right.node), (left, right), kind)
    found = _together(scope, (left, right), traced=operator in (cst.Add, cst.Subtract))
    if found is None:
        return build(left.node, right.node), None
    both = isinstance(left.info, Chosen) and isinstance(right.info, Chosen)
    if operator in (cst.BitAnd, cst.BitOr, cst.BitXor):
        return build(left.node, right.node), dataclasses.replace(found, outside=FINITE)
    if operator in (cst.Add, cst.Subtract) or operator in (cst.Multiply, cst.Divide) and not both and isinstance(left.info, Chosen) or operator is cst.Multiply and not both:
        traced = any(isinstance(p.info, Number) for p in (left, right))
        outside = RAW if traced else _folded(operator, left, right)
        return build(left.node, right.node), dataclasses.replace(found, outside=outside, binding=None, kind=_kind(scope, left, right, operator))
    needs = _needs(left, right, operator)
    if needs is None:
        scope.refuse(found)
        return build(left.node, right.node), None
    a, b = (masks.made_safe(scope, p.node, p.info, at) if isinstance(p.info, Chosen) else p.node for p, at in zip((left, right), needs))
    return build(a, b), dataclasses.replace(found, outside=FINITE, binding=None, kind=_kind(scope, left, right, operator))


def _needs(left: Part, right: Part, operator: type) -> tuple[Any, Any] | None:
    """What must be outside of the mask in both operands: FINITE, or a number; None where nothing helps."""
    if operator is cst.Multiply:
        return FINITE, FINITE
    if operator is cst.Divide:
        return FINITE, 1
    if operator is cst.Power and not isinstance(right.info, Chosen):
        whole = isinstance(right.old, (cst.Integer, cst.Float)) and tree.literal(right.old) in (1, 2, 3, 4)
        return (FINITE if whole else 1), FINITE
    return None


def _folded(operator: type, left: Part, right: Part) -> Any:
    """What is outside of the mask after arithmetic with numbers, or of two selections."""
    sides = [p.info.outside if isinstance(p.info, Chosen) else tree.literal(p.old) if isinstance(p.old, (cst.Integer, cst.Float)) else None for p in (left, right)]
    if RAW in sides:
        return RAW
    if operator in (cst.Multiply, cst.Divide) and sides[0] == 0:
        return 0
    if FINITE in sides or None in sides:
        return FINITE
    a, b = (float(side) for side in sides if side is not None)
    return a + b if operator is cst.Add else a - b if operator is cst.Subtract else a * b if operator is cst.Multiply else FINITE


def _kind(scope: Scope, left: Part, right: Part, operator: type) -> str | None:
    kinds = [p.info.kind if isinstance(p.info, Chosen) else "i" if isinstance(p.old, cst.Integer) else "f" for p in (left, right)]
    return None if None in kinds else "f" if "f" in kinds or operator is cst.Divide else kinds[0] if kinds[0] == kinds[1] else None


def _together(scope: Scope, parts: Sequence[Part], traced: bool = True) -> Chosen | None:
    """One selection for several by the same mask; whatever else there is must be numbers. None where that is not so."""
    chosen = [p.info for p in parts if isinstance(p.info, Chosen)]
    rest = [p for p in parts if not isinstance(p.info, Chosen)]
    fits = all(isinstance(p.info, Number) and traced and not p.info.counted or p.info is None and _is_number(scope, p.old) for p in rest)
    found: Chosen | None = chosen[0]
    for other in chosen[1:]:
        found = masks.aligned(scope, found, other) if found is not None else None
    if found is None or not fits:
        for part in parts:
            scope.refuse(part.info)
        return None
    return dataclasses.replace(found, origins=frozenset[int]().union(*(origins(p.info) for p in parts)))


def _is_number(scope: Scope, node: Any) -> bool:
    """Whether an operand is a number, or a dtype: known when the function is traced."""
    value = scope.value(node)
    return isinstance(node, (cst.Integer, cst.Float)) or isinstance(value, Static) and value.type in ("int", "float", "bool", "", "dtype", "device") or isinstance(value, Torch)


def _linear(info: Chosen) -> Chosen:
    return dataclasses.replace(info, outside=RAW if info.outside == RAW else FINITE, binding=None)


def _call(scope: Scope, node: cst.Call) -> tuple[Any, Info]:
    """A call by what is called."""
    value = scope.value(node.func)
    if id(node) in scope.candidates and scope.selects(node):
        subject, mask = masks.of_call(node)
        return _selection(scope, node, subject, masks.made(scope, mask, flat=True))
    if any(a.star for a in node.args):
        return _generic(scope, node)
    parts = [_part(scope, a.value) for a in node.args]
    if isinstance(value, Method) and isinstance(node.func, cst.Attribute):
        receiver = _part(scope, node.func.value)
        func = _with(scope, node.func, value=receiver.node)
        return _operation(scope, node, node.func.attr.value, [receiver, *parts], lambda new: _rebuilt(scope, node, func, new[0], new[1:]))
    if isinstance(value, Torch):
        return _operation(scope, node, value.name.rpartition(".")[2], parts, lambda new: _rebuilt(scope, node, node.func, None, new))
    if isinstance(value, External) and value.name.startswith("builtins."):
        return _builtin(scope, node, value.name.removeprefix("builtins."), parts)
    if isinstance(value, Module) and any(isinstance(p.info, Chosen) for p in parts) and (loss := scope.loss_of(node.func)) is not None:
        made = _loss(scope, node, loss[0], parts, loss[1])
        if made is not None:
            return made
    if isinstance(value, Module) and len(node.args) == 1 and node.args[0].keyword is None and isinstance(chosen := parts[0].info, Chosen) and is_by_rows(scope.context, value) and not chosen.mask.flat:
        new = _rebuilt(scope, node, node.func, None, [masks.made_safe(scope, parts[0].node, chosen, FINITE)])
        return new, dataclasses.replace(chosen, outside=FINITE, subject=None, binding=None, kind="f")
    return _generic(scope, node)


def _rebuilt(scope: Scope, node: cst.Call, func: Any, receiver: Any, args: Sequence[Any]) -> Any:
    """The call with other operands."""
    if receiver is not None:
        func = _with(scope, func, value=receiver)
    return _with(scope, node, func=func, args=[a if new is a.value else tree.replace(a, value=tree.fit(a, "value", new)) for a, new in zip(node.args, args)])


def _operation(scope: Scope, node: cst.Call, name: str, parts: list[Part], build: Callable[[Sequence[Any]], Any]) -> tuple[Any, Info]:
    """A function or method of torch's, of selections."""
    first = parts[0].info if parts else None
    nodes = [p.node for p in parts]
    if not any(isinstance(p.info, Chosen) for p in parts):
        for part in parts[1:]:
            if isinstance(part.info, Mixed) or isinstance(part.info, Number) and part.info.counted:
                scope.refuse(part.info)
        return build(nodes), first if isinstance(first, Number) and len(parts) == 1 else None
    if isinstance(first, Chosen) and name == "unsqueeze" and len(parts) == 2 and tree.code(parts[1].old) == "-1":
        return build(nodes), _with_last_dim(first)
    tables, keywords = scope.tables, {a.keyword.value for a in node.args if a.keyword is not None}
    if isinstance(first, Chosen) and (made := _reduced(scope, node, name, parts, first, build)) is not None:
        return made
    if name in _OPERATORS and len(parts) == 2 and not keywords:
        return _operated(scope, parts[0], parts[1], _OPERATORS[name], lambda a, b: build([a, b]))
    if name in tables.compared:
        return _compared(scope, build(nodes), parts)
    value = scope.value(node.func)
    if isinstance(value, Torch) and (made := _loss(scope, node, name, parts, None)) is not None:
        return made
    found = _together(scope, parts, traced=False) if name in tables.elementwise else None
    if found is None:
        for part in parts:
            scope.refuse(part.info)
        return build(nodes), None
    if name in tables.linear:
        kind = scope.value(node)
        return build(nodes), dataclasses.replace(_linear(found), kind=kind.kind if isinstance(kind, Tensor) else None)
    at = tables.safe.get(name, FINITE)
    safe = [masks.made_safe(scope, p.node, p.info, at) if isinstance(p.info, Chosen) else p.node for p in parts]
    return build(safe), dataclasses.replace(found, outside=FINITE, binding=None)


def _with_last_dim(chosen: Chosen) -> Chosen:
    """`w[mask].unsqueeze(-1)`, of which the whole has one dim more as well."""
    return dataclasses.replace(chosen, ranks=moved(chosen.ranks, 1), subject=None, binding=None, root=None)


def _reduced(scope: Scope, node: cst.Call, name: str, parts: list[Part], first: Chosen, build: Callable[[Sequence[Any]], Any]) -> tuple[Any, Info] | None:
    """A reduction of all that is selected, or a question for its size; None for anything else."""
    dims = [scope.value(p.old) if not isinstance(p.old, cst.UnaryOperation) else _FIRST[tree.code(p.old) == "-1"] if tree.code(p.old) == "-1" else None for p in parts[1:]]
    whole = not dims or len(dims) == 1 and dims[0] in _FIRST and not scope.env.is_loose(first) and name in scope.tables.one_dim
    if name == "size" and len(dims) == 1 and dims[0] == _FIRST[0]:
        return _length(scope, parts[0].old, first)
    if not whole:
        return None
    if name in _COUNTS:
        return _length(scope, parts[0].old, first, all_of_it=True)
    if name in scope.tables.filled and not dims:
        return build([masks.made_safe(scope, parts[0].node, first, 0), *(p.node for p in parts[1:])]), Number(first.origins)
    if not scope.context.rulebook.find(f"torch.Tensor.{name}[mask]"):
        return None
    subject = masks.made_safe(scope, parts[0].node, first, FINITE) if name in scope.tables.curved else parts[0].node
    kind = scope.value(node)
    return _by_rule(scope, name, first, [subject], kind if isinstance(kind, Tensor) else Tensor()), Number(first.origins)


def _by_rule(scope: Scope, name: str, chosen: Chosen, operands: Sequence[Any], value: Any) -> Any:
    """A reduction with the mask, by the rule of its own."""
    made = call(f"torch.{name}", [*map(bare, operands), masks.named(scope, chosen)])
    scope.told(made.func, Torch(f"torch.Tensor.{name}[{'rows' if scope.env.is_loose(chosen) else 'mask'}]"))
    return scope.told(made, value)


def _length(scope: Scope, subject: Any, chosen: Chosen, all_of_it: bool = False) -> tuple[Any, Info]:
    """How many places a mask selects, or how many elements."""
    number = Tensor(kind="i", number=True)
    if chosen.mask.flat or all_of_it and scope.env.is_loose(chosen):
        made = call("torch.numel", [converted(scope, subject)[0], masks.named(scope, chosen)])
        scope.told(made.func, Torch(f"torch.Tensor.numel[{'flat' if chosen.mask.flat else 'rows'}]"))
    else:
        made = call("torch.sum", [masks.named(scope, chosen)])
        scope.told(made.func, Torch("torch.sum"))
    return scope.told(made, number), Number(chosen.origins, counted=True)


def _builtin(scope: Scope, node: cst.Call, name: str, parts: list[Part]) -> tuple[Any, Info]:
    """`len(d)`, `max(n, 1)`, `float(n)`"""
    if name == "len" and len(parts) == 1 and isinstance(parts[0].info, Chosen):
        return _length(scope, node.args[0].value, parts[0].info)
    new = _rebuilt(scope, node, node.func, None, [p.node for p in parts])
    if name in ("max", "min", "float", "int", "bool") and parts:
        return _number(scope, new, parts, {"float": "f", "bool": "b"}.get(name, "i" if all(p.info is not None or isinstance(p.old, cst.Integer) for p in parts) else "f"))
    for part in parts:
        scope.refuse(part.info)
    return new, None


def _loss(scope: Scope, node: cst.Call, name: str, parts: list[Part], reduction: str | None) -> tuple[Any, Info] | None:
    """`F.l1_loss(pred[mask], target[mask])`: what it computes of each place, reduced with the mask; None where there is no such form."""
    given = {a.keyword.value: p for a, p in zip(node.args, parts) if a.keyword is not None}
    positional = [p for a, p in zip(node.args, parts) if a.keyword is None]
    if reduction is None:
        reduction = str(given["reduction"].old.evaluated_value) if "reduction" in given and isinstance(given["reduction"].old, cst.SimpleString) else "mean" if "reduction" not in given else ""
    rows = scope.context.rulebook.find(f"torch.nn.functional.{name}[rows]")
    chosen = [p.info for p in positional if isinstance(p.info, Chosen)]
    if len(positional) == 2 == len(chosen) and rows and chosen[0].mask == chosen[1].mask and not chosen[0].mask.flat and len(chosen) == sum(isinstance(p.info, Chosen) for p in parts):
        return _of_rows(scope, node, name, positional, given, chosen, reduction)
    if len(positional) != 2 or not given.keys() <= {"reduction"} or reduction not in ("mean", "sum", "none") or name not in scope.tables.losses:
        return None
    found = _together(scope, positional, traced=False)
    if found is None:
        return node, None
    new, info = _of_each(scope, node, name, positional, found)
    if reduction == "none":
        return new, info
    return _by_rule(scope, reduction, info, [new], Tensor(kind="f")), Number(info.origins)


def _of_rows(scope: Scope, node: cst.Call, name: str, positional: list[Part], given: dict[str, Part], chosen: list[Chosen], reduction: str) -> tuple[Any, Info]:
    """`F.cross_entropy(logits[mask], y[mask])`, where one has a dim more than the other."""
    made = call(f"F.{name}", [*(p.node for p in positional), masks.named(scope, chosen[0])])
    told = [keyword("reduction", tree.expression(f'"{reduction}"'))] if reduction == "sum" and "reduction" not in given else []
    made = tree.replace(made, args=[*made.args, *(tree.replace(a, value=given[a.keyword.value].node) for a in node.args if a.keyword is not None), *told])
    scope.told(made.func, Torch(f"torch.nn.functional.{name}[rows]"))
    return scope.told(made, Tensor(kind="f")), Number(chosen[0].origins | chosen[1].origins)


def _of_each(scope: Scope, node: cst.Call, name: str, parts: list[Part], found: Chosen) -> tuple[Any, Chosen]:
    """A loss of each place, that follows from the difference or from both operands."""
    form = scope.tables.losses[name]
    if isinstance(form, str):
        minus = tree.expression("a - b")
        difference = scope.told(tree.replace(minus, left=tree.fit(minus, "left", parts[0].node), right=tree.fit(minus, "right", parts[1].node)), Tensor(kind="f"))
        outside = _folded(cst.Subtract, *parts)
        safe = masks.made_safe(scope, difference, dataclasses.replace(found, outside=outside, binding=None), FINITE)
        made = call(f"torch.{form}", [bare(safe)])
        scope.told(made.func, Torch(f"torch.{form}"))
    else:
        operands = [masks.made_safe(scope, p.node, p.info, at) if isinstance(p.info, Chosen) else p.node for p, at in zip(parts, form)]
        made = tree.expression(f"F.{name}(a, b, reduction='none')")
        made = tree.replace(made, args=[*(cst.Arg(o) for o in operands), made.args[2]])
        scope.told(made.func, Torch(f"torch.nn.functional.{name}"))
        scope.told(made.args[2].value, Static("none", "str"))
    return scope.told(made, Tensor(kind="f")), dataclasses.replace(found, outside=FINITE, binding=None, kind="f")


def _with(scope: Scope, node: Any, **changes: Any) -> Any:
    """The node with other parts, in parentheses where they need them; the node itself where nothing changes."""
    changes = {k: v for k, v in changes.items() if v is not getattr(node, k)}
    if not changes:
        return node
    new = tree.replace(node, **{k: v if isinstance(v, list) else tree.fit(node, k, v) for k, v in changes.items()})
    scope.context.facts.carry(node, new)
    return new


_OPERATORS: dict[str, type] = {"add": cst.Add, "sub": cst.Subtract, "mul": cst.Multiply, "div": cst.Divide, "pow": cst.Power}
_HANDLERS: dict[type, Callable[[Scope, Any], tuple[Any, Info]]] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Subscript: _subscript,
    cst.UnaryOperation: _unary,
    cst.BinaryOperation: _binary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.Call: _call,
    **dict.fromkeys(_COMPREHENSIONS, _closed),
}
