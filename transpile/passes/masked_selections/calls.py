"""What calls make of selections: operations on each place, reductions that take the mask, losses,
layers that compute each row by itself."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...facts.memory.access_paths import of
from ...facts.memory.indices import number
from ...facts.values.lattice import External, Method, Module, Static, Tensor, Torch
from ...model.copy import clone
from ...model.effects import Declare
from ...model.expressions import Attribute, Call, Constant, Name, Starred
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Binary
from ...model.statements import Assign
from .domain import FINITE, Chosen, Info
from .expressions import length, part, regrouped, selection, settled, with_last_dim
from .frame import Frame, told
from .masks import filling, is_finite, mask_of, of_torch, safe, use
from .operands import Part, compared, counted, folded, linear, operated, together

_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
_COUNTS = frozenset({"numel", "nelement"})
Done = tuple[bool, Info]  # whether there is a form for a call, and what its value is then
_REDUCING = frozenset({"reduction", "size_average"})
_NUMERIC = frozenset({"max", "min", "float", "int", "bool"})


def call(frame: Frame, node: Call) -> Info:
    """A call by what is called."""
    value, function = of(node.function), node.function
    if frame.selects(node):
        if isinstance(value, Method) and isinstance(function, Attribute):
            subject, mask = function.object, node.arguments[0]
            return selection(frame, node, subject, mask, lambda n: n.function.object, flat=True)
        subject, mask = node.arguments
        return selection(frame, node, subject, mask, lambda n: n.arguments[0], flat=True)
    if any(isinstance(a, Starred) for a in node.arguments):
        return _other(frame, node)
    if isinstance(value, Method) and isinstance(function, Attribute):
        if function.name in ("view", "reshape"):
            rows = regrouped(frame, node, function)
            if rows is not None:
                return rows
        receiver = part(frame, function.object)
        parts = [receiver, *(part(frame, a) for a in node.arguments)]
        return _operation(frame, node, function.name, parts, lambda n: n.function.object)
    parts = [part(frame, a) for a in node.arguments]
    if isinstance(value, Torch):
        return _operation(frame, node, value.name.rpartition(".")[2], parts, _first)
    if isinstance(value, External) and value.name.startswith("builtins."):
        return _builtin(frame, node, value.name.removeprefix("builtins."), parts)
    if isinstance(value, Module) and any(isinstance(p.info, Chosen) for p in parts):
        return _module(frame, node, value, parts)
    settled(frame, function)
    frame.refuse(*(p.info for p in parts))
    return None


def _first(node: Any) -> Expression:
    return node.arguments[0]  # type: ignore[no-any-return]


def _other(frame: Frame, node: Call) -> Info:
    for child in (node.function, *node.arguments):
        settled(frame, child)
    return None


def _operation(
    frame: Frame, node: Call, name: str, parts: list[Part], subject: Callable[[Any], Expression]
) -> Info:
    """A function or method of torch's, of selections."""
    first = parts[0].info if parts else None
    if not any(isinstance(p.info, Chosen) for p in parts):
        frame.refuse(*(p.info for p in parts[1:]), first)
        return None
    tables = frame.tables
    if name == "masked_scatter_" and len(parts) == 3 and isinstance(of(node.function), Method):
        return _scattered(frame, node, *parts)
    if isinstance(first, Chosen):
        if name == "unsqueeze" and len(parts) == 2 and number(parts[1].node) == -1:
            return with_last_dim(first)
        done, info = _reduced(frame, node, name, parts, first, subject)
        if done:
            return info
    if name in _OPERATORS and len(parts) == 2 and not any(node.keywords):
        return operated(frame, node, parts[0], parts[1], _OPERATORS[name])
    if name in tables.compared:
        return compared(frame, node, parts)
    if isinstance(of(node.function), Torch):
        reduction = _reduction(node)
        done, info = _loss(frame, node, name, parts, reduction)
        if done:
            return info
    found = together(frame, parts, arrays=False) if name in tables.elementwise else None
    if found is None:
        frame.refuse(*(p.info for p in parts))
        return None
    if name in tables.linear:
        return replace(linear(found), kind=getattr(of(node), "kind", None))
    for one in parts:
        if isinstance(one.info, Chosen):
            safe(frame, one.node, one.info, tables.safe.get(name, FINITE))
    return replace(found, outside=FINITE)


def _scattered(frame: Frame, node: Call, whole: Part, index: Part, source: Part) -> Info:
    """`x.masked_scatter_(mask, y.masked_select(mask))`: y where the mask is, in the order of x."""
    info, made = source.info, mask_of(frame, index.node) if index.info is None else None
    alone = isinstance(whole.node, Name) and whole.info is None
    if not isinstance(info, Chosen) or not info.flat or made is None or not alone:
        frame.refuse(*(p.info for p in (whole, index, source)))
    elif made.key != info.mask.key:
        frame.refuse(info)
    else:
        frame.edit(node, _copied)
    return None


def _copied(node: Call) -> Expression:
    function, (mask, source) = node.function, node.arguments
    assert isinstance(function, Attribute)
    whole, value = function.object, of(function.object)
    kept = value if isinstance(value, Tensor) else Tensor()
    chosen = of_torch("where", [mask, source, clone(whole)], "", kept)
    method = told(Attribute(clone(whole), "copy_"), Method(kept, "copy_"))
    return told(Call(method, [chosen]), kept)


# --- reductions -----------------------------------------------------------------------------------


def _reduced(
    frame: Frame,
    node: Call,
    name: str,
    parts: list[Part],
    first: Chosen,
    subject: Callable[[Any], Expression],
) -> Done:
    """A reduction of all that is selected, or a question for its size."""
    dims, tables = [number(p.node) for p in parts[1:]], frame.tables
    if name == "size" and dims == [0]:
        return True, length(frame, node, first, subject)
    one_dim = len(dims) == 1 and dims[0] in (0, -1) and name in tables.one_dim
    if dims and not (one_dim and not frame.env.is_loose(first)):
        return False, None
    if name in _COUNTS:
        return True, length(frame, node, first, subject, elements=True)
    if name in tables.filled and not dims:
        safe(frame, parts[0].node, first, 0)
        return True, None
    if not frame.facts.rulebook.find(f"torch.Tensor.{name}[mask]"):
        return False, None
    if name in tables.curved:
        safe(frame, parts[0].node, first, FINITE)
    _by_rule(frame, node, name, first, subject)
    return True, None


def _by_rule(
    frame: Frame, node: Call, name: str, chosen: Chosen, subject: Callable[[Any], Expression]
) -> None:
    """A reduction with the mask, by the rule of its own."""
    mask, value = use(frame, chosen), of(node)
    mark = "[rows]" if frame.env.is_loose(chosen) else "[mask]"
    kept = value if isinstance(value, Tensor) else Tensor()
    frame.edit(node, lambda n: of_torch(f"Tensor.{name}", [subject(n), mask()], mark, kept))


def _builtin(frame: Frame, node: Call, name: str, parts: list[Part]) -> Info:
    """`len(d)`, `max(n, 1)`, `float(n)`"""
    if name == "len" and len(parts) == 1 and isinstance(parts[0].info, Chosen):
        return length(frame, node, parts[0].info, _first)
    if name in _NUMERIC and parts:
        return counted(frame, node, parts, {"float": "f", "bool": "b"}.get(name, "i"))
    frame.refuse(*(p.info for p in parts))
    return None


# --- losses and layers ----------------------------------------------------------------------------


def _loss(frame: Frame, node: Call, name: str, parts: list[Part], reduction: str) -> Done:
    """`F.l1_loss(pred[mask], target[mask])`: what it computes of each place, reduced with the
    mask."""
    words = node.keywords
    plain = [p for w, p in zip(words, parts) if w is None]
    chosen = [p.info for p in parts if isinstance(p.info, Chosen)]
    if len(plain) != 2 or words[:2] != [None, None] or reduction not in ("mean", "sum", "none"):
        return False, None
    by_rows = frame.facts.rulebook.find(f"torch.nn.functional.{name}[rows]")
    if by_rows and len(chosen) == 2 and all(isinstance(p.info, Chosen) for p in plain):
        one, other = chosen
        if one.mask.key == other.mask.key and not one.flat and not other.flat:
            _of_rows(frame, node, name, one, reduction)
            return True, None
    if not set(words) <= {None, *_REDUCING} or name not in frame.tables.losses:
        return False, None
    found = together(frame, plain, arrays=False)
    if found is None:
        return True, None
    each, chosen_each = _of_each(frame, name, plain, found)
    if reduction == "none":
        frame.edit(node, each)
        return True, chosen_each
    _by_rule(frame, node, reduction, chosen_each, each)
    return True, None


def _reduction(node: Call) -> str:
    """What is done with the losses; `size_average` is the older word."""
    older = getattr(node.keyword("size_average"), "constant", None)
    default = "mean" if older is None else "mean" if older else "sum"
    return str(getattr(node.keyword("reduction") or Constant(default), "constant", ""))


def _of_rows(frame: Frame, node: Call, name: str, chosen: Chosen, reduction: str) -> None:
    """`F.cross_entropy(logits[mask], y[mask])`, where one has a dim more than the other."""
    mask = use(frame, chosen)

    def make(n: Call) -> Expression:
        rest = [(w, a) for w, a in list(zip(n.keywords, n.arguments))[2:] if w != "size_average"]
        if reduction == "sum" and n.keyword("reduction") is None:  # a layer was told
            rest.append(("reduction", told(Constant("sum"), Static("sum", "str"))))
        made = of_torch(f"nn.functional.{name}", [*n.arguments[:2], mask()], "[rows]")
        for word, argument in rest:
            made.append(argument, word)
        return made

    frame.edit(node, make)


def _of_each(
    frame: Frame, name: str, parts: list[Part], found: Chosen
) -> tuple[Callable[[Any], Expression], Chosen]:
    """A loss of each place, that follows from the difference or from both operands."""
    form, kind = frame.tables.losses[name], Tensor(kind="f")
    result = replace(found, outside=FINITE, kind="f")
    if not isinstance(form, str):
        for one, at in zip(parts, form):
            if isinstance(one.info, Chosen):
                safe(frame, one.node, one.info, at)

        def each(n: Call) -> Expression:
            made = of_torch(f"nn.functional.{name}", n.arguments[:2], "", kind)
            made.append(told(Constant("none"), Static("none", "str")), "reduction")
            return made

        return each, result
    difference = replace(found, outside=folded("-", *parts), kind=None)
    filled = None if is_finite(difference) else filling(frame, difference, 0)

    def of_difference(n: Call) -> Expression:
        made = told(Binary(n.arguments[0], "-", n.arguments[1]), kind)
        return of_torch(form, [filled(made) if filled is not None else made], "", kind)

    return of_difference, result


def _module(frame: Frame, node: Call, value: Module, parts: list[Part]) -> Info:
    """A layer that is a loss, or one that computes each row by itself."""
    loss = _loss_of(frame, node.function, value)
    done, info = _loss(frame, node, *loss[:1], parts, loss[1]) if loss else (False, None)
    if done:
        return info
    only = parts[0].info if len(parts) == 1 and node.keywords == [None] else None
    if isinstance(only, Chosen) and not only.flat and frame.rowwise.module(value):
        safe(frame, parts[0].node, only, FINITE)
        return replace(only, outside=FINITE, binding=None, kind="f")
    frame.refuse(*(p.info for p in parts))
    return None


def _loss_of(frame: Frame, function: Expression, value: Module) -> tuple[str, str] | None:
    """The function that a layer stands for, and what it does with the losses, where the
    constructor makes it once: `self.loss = nn.L1Loss()`."""
    project, path = frame.facts.project, dotted(function)
    owner = project.owner(frame.scope)
    if value.open or len(value.classes) != 1 or owner is None or path is None:
        return None
    name = frame.tables.loss_layers.get(str(value.refs[0]).rpartition(".")[2])
    stored = [
        assign.expression
        for method in project.methods(owner).values()
        for assign in method.nodes(Assign, Declare)
        if any(dotted(target) == path for target in assign.targets)
    ]
    made = stored[0] if len(stored) == 1 else None
    if name is None or not isinstance(made, Call):
        return None
    if not made.arguments:
        return name, "mean"
    told_ = _reduction(made) if set(made.keywords) <= _REDUCING else None
    return (name, told_) if told_ and len(made.arguments) == 1 else None
