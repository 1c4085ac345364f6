"""The walk over the statements of a function: what each name holds, where ways part and meet."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import libcst as cst

from ... import dataflow, tree
from ...context import Context
from ...emit import unaugmented
from ...values import Static, Tensor
from . import masks
from .expressions import converted, settled
from .scope import Asserts, Scope, candidates
from .wholes import RAW, Chosen, Env, Info, Mixed, Number, Root, joined, origins
from .writes import Writes

_ROUNDS = 12


def run(context: Context, module: cst.Module) -> cst.Module:
    """Keep the selections of one file whole where all uses of them can be."""
    writes = Writes(context)
    return tree.rewrite(module, lambda node: _function(context, node, writes), only={cst.FunctionDef})  # type: ignore[no-any-return]


def _function(context: Context, node: Any, writes: Writes) -> Any:
    """A function, again and again until nothing more is found that must stay as it is."""
    if node.name.value == "__init__":
        return None
    node = _with_plain_stores(context, node)
    found = candidates(context, node)
    if not found:
        return None
    refused: set[int] = set()
    preferred: dict[Any, int] = {}
    asserted: Asserts = {}
    for _ in range(_ROUNDS + len(found)):
        scope = Scope(context, node, found, set(refused), preferred, asserted, writes)
        for name in tree.parameter_names(node):
            scope.bind(name)
        body = _block(scope, tree.body_statements(node))
        wanted = {binding: 1 for binding, needs in scope.needs.items() if needs == {1}}
        if (scope.refused, wanted, scope.asserts) == (refused, preferred, asserted):
            new = node if tree.same(body, tree.body_statements(node)) else tree.with_body(node, body)
            context.facts.carry(node, new)
            return new
        refused, preferred, asserted = scope.refused, *((wanted, scope.asserts) if scope.refused == refused else ({}, {}))
    return None


def _with_plain_stores(context: Context, function: Any) -> Any:
    """`x[m] = x[m] / y[m]` of `x[m] /= y[m]`, where outside of the mask there may be no slope; sums and products stay."""

    def before(node: Any) -> Any:
        target, text = node.target, tree.code(node.target.slice[0].slice) if isinstance(node.target, cst.Subscript) else ""
        if not isinstance(target, cst.Subscript) or len(target.slice) != 1 or not isinstance(target.slice[0].slice, cst.Index):
            return None
        mask, base = context.value(target.slice[0].slice.value), context.value(target.value)
        if not isinstance(mask, Tensor) or mask.kind != "b" or not isinstance(base, Tensor) or isinstance(context.value(node.value), Static):
            return None
        quotient = isinstance(node.operator, (cst.DivideAssign, cst.PowerAssign)) and _selects(node.value, text)
        if not quotient and not _is_curved(node.value, text) and not _reads_chosen(function, node.value, text):
            return None
        read = tree.replace(target)
        context.facts.carry(target, read)
        made = unaugmented(tree.replace(node, target=read))
        context.facts.tell(made, base)
        new = cst.Assign([cst.AssignTarget(target)], made)
        context.facts.carry(node, new)
        return new

    return tree.rewrite(function, before, only={cst.AugAssign})


def _selects(node: Any, text: str) -> bool:
    return any(tree.code(e.slice) == text for n in tree.nodes(node, cst.Subscript) for e in n.slice)


def _is_curved(value: Any, text: str) -> bool:
    """`y[m].sqrt()`, `2 / y[m]`"""
    operators = [n.operator for n in tree.nodes(value, cst.BinaryOperation)]
    return _selects(value, text) and (any(tree.nodes(value, cst.Call)) or any(isinstance(o, (cst.Divide, cst.Power)) for o in operators))


def _reads_chosen(function: Any, value: Any, text: str) -> bool:
    """`h`, of `h = layer(y[m])`"""
    read = tree.names_read(value)
    return any(read & set(tree.names_assigned(n)) and _selects(n.value, text) for n in tree.nodes(function.body, cst.Assign))


def _block(scope: Scope, statements: Sequence[Any]) -> list[Any]:
    out: list[Any] = []
    block, scope.block = scope.block, len(scope.started) + 1
    for statement in statements:
        out += _statement(scope, statement)
        scope.block = block if statement is statements[-1] else scope.block
    return out


def _statement(scope: Scope, node: Any) -> list[Any]:
    """What a statement becomes, after what must stand before it."""
    number = scope.begin()
    if isinstance(node, cst.SimpleStatementLine):
        new = tree.replace(node, body=[_small(scope, small) for small in node.body])
        return _led(scope, number, node, node if tree.same(new.body, node.body) else new)
    if isinstance(node, cst.If):
        return _led(scope, number, node, _if(scope, node))
    if isinstance(node, (cst.For, cst.While)):
        return [_loop(scope, node)]
    if isinstance(node, cst.With):
        items = [tree.replace(i, item=settled(scope, i.item)) for i in node.items]
        for name in (n for i in node.items if i.asname is not None for n in tree.target_names(i.asname.name)):
            scope.bind(name)
        same = all(a.item is b.item for a, b in zip(items, node.items))
        return _led(scope, number, node, _with_block(scope, node if same else tree.replace(node, items=items), _block(scope, tree.body_statements(node))))
    if isinstance(node, cst.FunctionDef):
        scope.refuse_reads(node)
        return [_function(scope.context, node, scope.writes) or node]
    scope.refuse_reads(node)
    for name in tree.names_assigned(node):
        scope.refuse(scope.entry(name).info)
        scope.bind(name)
    return [node]


def _with_block(scope: Scope, node: Any, body: list[Any]) -> Any:
    return node if tree.same(body, tree.body_statements(node)) else tree.with_body(node, body)


def _led(scope: Scope, number: int, old: Any, new: Any) -> list[Any]:
    """A statement with the masks that got names in it before, but for those that stand at one place alone."""
    lead: list[Any] = []
    for name, mask in scope.pending.items():
        kept = any(isinstance(e.info, Chosen) and e.info.mask.text == name for e in scope.env.names.values())
        if kept or scope.uses[name] > 1:
            lead.append(tree.assignment(name, mask))
        else:
            new = _inlined(new, name, mask)
            scope.env.hoisted = {k: m for k, m in scope.env.hoisted.items() if m.text != name}
    scope.pending = {}
    lead += [tree.statement(f"assert {_dims(one)} == {_dims(other)}") for one, other in dict.fromkeys(scope.asserted.get(number, ()))]
    if lead:
        lead[0] = tree.replace(lead[0], leading_lines=old.leading_lines)
        new = tree.replace(new, leading_lines=[])
    if new is not old:
        scope.context.facts.carry(old, new)
    return [*lead, new]


def _dims(asserted: str) -> str:
    """`x.ndim` of "x", `m.ndim + 1` of "m + 1"."""
    name, plus, more = asserted.partition(" + ")
    return f"{name}.ndim{plus}{more}"


def _inlined(node: Any, name: str, mask: Any) -> Any:
    """A statement with a mask for its name."""
    return tree.with_names(node, lambda n: mask if n.value == name else None)


def _small(scope: Scope, node: Any) -> Any:
    """A simple statement."""
    if isinstance(node, (cst.Assign, cst.AnnAssign)):
        return _assignment(scope, node)
    if isinstance(node, cst.AugAssign):
        _target(scope, node.target)
        new = _changed(scope, node, value=settled(scope, node.value, counts=True))
        if isinstance(node.target, cst.Name):
            scope.refuse(scope.entry(node.target.value).info)
            scope.bind(node.target.value, scope.entry(node.target.value).ranks | scope.ranks(node.value))
        return new
    if isinstance(node, cst.Assert):
        _asserted(scope, node.test)
        return _changed(scope, node, test=settled(scope, node.test, counts=True))
    if isinstance(node, (cst.Return, cst.Expr)):
        return node if node.value is None else _changed(scope, node, value=settled(scope, node.value))
    if isinstance(node, (cst.Pass, cst.Break, cst.Continue, cst.Raise, cst.Global, cst.Nonlocal, cst.Import, cst.ImportFrom)):
        scope.refuse_reads(node)
        return node
    scope.refuse_reads(node)
    return node


def _changed(scope: Scope, node: Any, **changes: Any) -> Any:
    """The statement with another expression; itself where that is the same."""
    ((field, value),) = changes.items()
    return node if value is getattr(node, field) else tree.replace(node, **changes)


def _assignment(scope: Scope, node: Any) -> Any:
    """`d = x[mask]`, `a, b = x[mask], y[mask]`, `x[mask] = y[mask] * 2`"""
    targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
    target, value = targets[0], node.value
    if value is None:
        return node
    if len(targets) == 1 and isinstance(target, cst.Name):
        ranks = scope.ranks(value)
        new, info = converted(scope, value)
        return _changed(scope, node, value=_bound(scope, target.value, new, info, ranks, id(node)))
    pairs = _pairs(target, value) if len(targets) == 1 else None
    if pairs is not None:
        found = [(name, *converted(scope, v), scope.ranks(v)) for name, v in pairs]
        made = [_bound(scope, name, new, info, ranks, (id(node), name)) for name, new, info, ranks in found]
        if all(new is v for new, (_, v) in zip(made, pairs)):
            return node
        elements = [tree.replace(e, value=new) for e, new in zip(value.elements, made)]
        return tree.replace(node, value=tree.replace(value, elements=elements))
    if isinstance(node, cst.Assign) and len(targets) == 1 and isinstance(target, cst.Subscript) and (stored := _stored(scope, node, target)) is not None:
        return stored
    for one in targets:
        _target(scope, one)
    several = scope.reader.of_results(value)
    new = settled(scope, value)
    for name in (n for one in targets for n in tree.target_names(one)):
        scope.bind(name, several)
    return _changed(scope, node, value=new)


def _pairs(target: Any, value: Any) -> list[tuple[str, Any]] | None:
    """The names and values of `a, b = x, y`."""
    if not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple) or len(target.elements) != len(value.elements):
        return None
    if not all(isinstance(t.value, cst.Name) and isinstance(v, cst.Element) for t, v in zip(target.elements, value.elements)):
        return None
    return [(str(t.value.value), v.value) for t, v in zip(target.elements, value.elements)]  # type: ignore[attr-defined]


def _bound(scope: Scope, name: str, new: Any, info: Info, ranks: Any, place: Any) -> Any:
    """What is assigned to a name, which is bound from then on; a selection gets numbers outside of its mask."""
    root = info.root if isinstance(info, Chosen) else None
    if isinstance(info, Chosen) and root is None and info.subject is not None and info.outside == RAW and isinstance(new, cst.Name):
        root = Root(scope.statement, scope.block, info.subject[0])
    if isinstance(new, cst.Name) and isinstance(info, Chosen) and info.binding is not None:
        scope.refuse(info)  # another name for one selection, which a write through either reaches
    if isinstance(info, Chosen) and info.outside == RAW:
        number = scope.preferred.get(place, 0)
        new = masks.filled(scope, new, info, number)
        info = dataclasses.replace(info, outside=number)
    if isinstance(info, Chosen):
        ranks = info.ranks
    version = scope.bind(name, ranks, info)
    if isinstance(info, Chosen):
        if name in scope.written:
            scope.refuse(info)
        entry = scope.env.names[name]
        scope.env.names[name] = dataclasses.replace(entry, info=dataclasses.replace(info, subject=(name, version), binding=place, root=root))
    return new


def _stored(scope: Scope, node: cst.Assign, target: cst.Subscript) -> Any:
    """`x[mask] = d.sqrt()`, where d is selected by that mask: the places of the mask from the whole. None for any other store."""
    value = node.value
    if id(target) not in scope.candidates or scope.concerns(target.value) or _is_sum(scope, value) or not isinstance(target.slice[0].slice, cst.Index):
        return None
    new, info = converted(scope, value)
    mask = masks.made(scope, target.slice[0].slice.value, flat=False)
    if not isinstance(info, Chosen) or mask is None or info.mask != mask:
        scope.refuse(info)
        scope.refuse_reads(value)
        return node
    element = tree.replace(target.slice[0], slice=cst.Index(masks.named(scope, info)))
    made = tree.expression("x[m]")
    whole = scope.told(tree.fit(made, "value", new), Tensor())
    made = tree.replace(made, value=whole, slice=[tree.replace(element, slice=cst.Index(masks.named(scope, info)))])
    scope.told(made, scope.value(target.value))
    stored = tree.replace(target, slice=[element])
    scope.context.facts.carry(target, stored)
    return tree.replace(node, targets=[tree.replace(node.targets[0], target=stored)], value=made)


def _is_sum(scope: Scope, value: Any) -> bool:
    """Whether what is stored is plain arithmetic of what is selected there, which `mutation` sees to; a quotient may have no slope outside of the mask."""
    curved = any(not isinstance(n.operator, (cst.Add, cst.Subtract)) and not isinstance(scope.value(n.right), Static) for n in tree.nodes(value, cst.BinaryOperation))
    powers = any(isinstance(n.operator, cst.Power) for n in tree.nodes(value, cst.BinaryOperation))
    held = any(isinstance(scope.entry(n).info, Chosen) for n in tree.names_read(value))
    return not (curved or powers or held or any(tree.nodes(value, cst.Call)))


def _target(scope: Scope, node: Any) -> None:
    """What is stored into may be no selection, and no selection tells the place."""
    for one in node.elements if isinstance(node, (cst.Tuple, cst.List)) else [node]:
        inner = one.value if isinstance(one, (cst.Element, cst.StarredElement)) else one
        if isinstance(inner, (cst.Subscript, cst.Attribute)):
            for name in tree.names_read(inner):
                scope.refuse(scope.entry(name).info)
        elif inner is not one or isinstance(inner, (cst.Tuple, cst.List)):
            if isinstance(inner, (cst.Tuple, cst.List)):
                _target(scope, inner)


def _asserted(scope: Scope, test: Any) -> None:
    """`assert pred.dim() == target.dim()`: they have one rank."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.comparisons[0].operator, cst.Equal):
        return
    sides = [_asked(test.left), _asked(test.comparisons[0].comparator)]
    if sides[0] is not None and sides[1] is not None and sides[0][1] == sides[1][1]:
        one, other = (scope.env.resolve(scope.ranks(s[0])) for s in sides if s is not None)
        if one != other:
            scope.env.same[one] = other


def _asked(node: Any) -> tuple[Any, bool] | None:
    """The array whose rank or shape is asked for, and whether it is the shape."""
    func: Any = node.func if isinstance(node, cst.Call) and not node.args else node
    if not isinstance(func, cst.Attribute) or not isinstance(func.value, cst.Name):
        return None
    words = {"dim": False, "ndimension": False, "size": True} if func is not node else {"ndim": False, "shape": True}
    return (func.value, words[func.attr.value]) if func.attr.value in words else None


def _if(scope: Scope, node: cst.If, first: bool = True) -> Any:
    """Both sides, and what holds where they meet; names that one side gives to masks are its own."""
    test = settled(scope, node.test, counts=True) if first else _plain(scope, node.test)
    pending, scope.pending = scope.pending, {}
    before = scope.env
    scope.env = before.copy()
    body = _block(scope, tree.body_statements(node))
    then, scope.env = scope.env, before.copy()
    orelse: Any = node.orelse
    if isinstance(orelse, cst.If):
        orelse = _if(scope, orelse, first=False)
    elif orelse is not None:
        orelse = _with_block(scope, orelse, _block(scope, tree.body_statements(orelse)))
    left = tree.always_returns(tree.body_statements(node))
    gone = orelse is not None and not isinstance(orelse, cst.If) and tree.always_returns(tree.body_statements(node.orelse))
    scope.env = scope.env if left else then if gone else _meet(scope, then, scope.env, before)
    scope.pending = pending
    new = _with_block(scope, node, body)
    return new if test is node.test and orelse is node.orelse else tree.replace(new, test=test, orelse=orelse)


def _meet(scope: Scope, a: Env, b: Env, before: Env) -> Env:
    """What holds after both of two ways."""
    names = {}
    for name in {**a.names, **b.names}:
        one, other = a.names.get(name), b.names.get(name)
        if one is None or other is None:  # bound on one way only: read on that alone, or an error
            one = other = one or other
        assert one is not None and other is not None
        names[name] = joined(one, other, scope.version()) if one != other else one
    return Env(names, dict(before.same), {k: m for k, m in a.hoisted.items() if b.hoisted.get(k) == m})


def _loop(scope: Scope, node: Any) -> Any:
    """A loop: names that a turn binds hold no selection where it begins."""
    is_for = isinstance(node, cst.For)
    assigned = set(tree.names_assigned(node.body)) | (set(tree.target_names(node.target)) if is_for else set())
    if is_for:
        iterated = settled(scope, node.iter)
    for name in assigned:
        info = scope.entry(name).info
        scope.bind(name, None, Mixed(origins(info)) if info is not None and not (isinstance(info, Number) and not info.counted) else None)
    scope.env.hoisted = {k: m for k, m in scope.env.hoisted.items() if not any(n in assigned for n, _ in k[1])}
    test = iterated if is_for else _plain(scope, node.test)
    before = scope.env.copy()
    body = _block(scope, tree.body_statements(node))
    early = set(dataflow.exposed(tree.body_statements(node))) | (set() if is_for else tree.names_read(node.test))
    for name in assigned & early:
        info = scope.entry(name).info
        if not (isinstance(info, Number) and not info.counted):
            scope.refuse(info)
    scope.env = _meet(scope, scope.env, before, before)
    new = _with_block(scope, node, body)
    if node.orelse is not None:
        scope.refuse_reads(node.orelse)
        for name in tree.names_assigned(node.orelse):
            scope.bind(name)
    field = "iter" if is_for else "test"
    return new if test is getattr(node, field) else tree.replace(new, **{field: test})


def _plain(scope: Scope, node: Any) -> Any:
    """An expression of a header, before which no statement can stand."""
    is_open, scope.open = scope.open, False
    new = settled(scope, node, counts=True)
    scope.open = is_open
    return new
