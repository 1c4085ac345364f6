"""The walk over statements: each comes out with what was taken out of its expressions before it, and returns give the state back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from ... import tree
from ...emit import add_keywords, display, fresh_name, unaugmented
from ...paths import Path
from ...values import Module
from .arguments import own_parameters, standing_in
from .attributes import found_by
from .calls import called, stored_by_name
from .containers import iterate, kinds, nested, parts, scanned
from .early_reads import early_reads
from .extraction import bind, read_outside
from .layer_lists import layer_lists
from .overwrites import overwriting
from .scope import Scope
from .ties import tying


def function(scope: Scope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with its body converted; where it has state it changes a copy of it, and returns that."""
    statements = tree.body_statements(node)
    doc = [statements[0]] if statements and tree.is_docstring(statements[0]) else []
    scope.lists = layer_lists(scope, node)
    body = block(scope, statements[len(doc) :])
    if not scope.stateful and tree.same(body, statements[len(doc) :]):
        return node
    if scope.stateful:
        for given in tree.scope_nodes(node.body, cst.Yield):
            scope.context.report("state-in-expression", given, f"{node.name.value} is a generator, and its new state cannot come back: return a list")
        body = _keeping_state(scope, body)
    if not body and doc:
        return node
    return tree.with_body(node, [*doc, *body])


def _keeping_state(scope: Scope, body: list[Any]) -> list[Any]:
    """The body of a function that changes a copy of its state and returns that."""
    copy = "state = dict(state)" if scope.writes == {1} else "state = jax.tree.map(lambda leaf: leaf, state)"
    first = [tree.statement(copy)] if scope.writes else []
    last = [tree.statement("return None, state")] if _falls_through(body) else []
    return [*first, *body, *last]


def block(scope: Scope, statements: Sequence[Any]) -> list[Any]:
    """The statements of a block, with those that are taken out of them."""
    return [new for statement in statements for new in _statement(scope, statement)]


def _suite(scope: Scope, node: Any) -> Any:
    """A node with its block converted."""
    statements = tree.body_statements(node)
    body = block(scope, statements)
    return node if tree.same(body, statements) else tree.with_body(node, body)


def _statement(scope: Scope, node: Any) -> list[Any]:
    scope.statement = node
    with scope.apart() as prelude:
        made = _converted(scope, node)
        out = [*prelude, *made]
    if len(out) > 1 and hasattr(node, "leading_lines") and node.leading_lines:
        out[0] = tree.replace(out[0], leading_lines=node.leading_lines)
        out[-1] = tree.replace(out[-1], leading_lines=[])
    return out


def _converted(scope: Scope, node: Any) -> list[Any]:
    """What stands for a statement, apart from what goes before it."""
    if isinstance(node, cst.SimpleStatementLine):
        return _line(scope, node)
    if isinstance(node, cst.If):
        return [_if(scope, node)]
    if isinstance(node, cst.For):
        return [_for(scope, node)]
    if isinstance(node, cst.FunctionDef):
        return [_inner_function(scope, node)]
    if isinstance(node, cst.While):
        return [_while(scope, node)]
    if isinstance(node, cst.With):
        items = [_header(scope, item) for item in node.items]
        return [_changed(node, _suite(scope, node), {"items": items})]
    if isinstance(node, (cst.Try, cst.TryStar)):
        return [_try(scope, node)]
    if isinstance(node, cst.Match):
        return [tree.replace(node, subject=_header(scope, node.subject), cases=[_suite(scope, case) for case in node.cases])]
    return [scope.expression(node)]


# --------------------------------------------------------------------------- lines


def _line(scope: Scope, node: cst.SimpleStatementLine) -> list[Any]:
    smalls: list[Any] = []
    for small in node.body:
        start = len(scope.prelude)
        new = _small(scope, small)
        if len(scope.prelude) > start and smalls:
            # `a; b` where b needs statements before it: a goes first
            first = cst.SimpleStatementLine([tree.replace(s, semicolon=cst.MaybeSentinel.DEFAULT) for s in smalls])
            scope.prelude.insert(start, first)
            smalls = []
        if new is not None:
            smalls.append(new)
    if smalls:
        return [node] if tree.same(smalls, node.body) else [tree.replace(node, body=smalls)]
    if scope.prelude and isinstance(scope.prelude[-1], cst.SimpleStatementLine):
        return [tree.replace(scope.prelude.pop(), trailing_whitespace=node.trailing_whitespace)]
    return []


def _small(scope: Scope, small: Any) -> Any:
    """What stands for a small statement; None for nothing."""
    scope.early = early_reads(scope, small)
    if isinstance(small, cst.AugAssign) and any(id(small.target) in reads for reads in scope.early):
        small = cst.Assign([cst.AssignTarget(small.target)], unaugmented(small))
    if isinstance(small, cst.Assign):
        places = [pair for t in small.targets for pair in _places(scope, t.target, small.value)] if len(small.targets) > 1 or isinstance(small.targets[0].target, (cst.Tuple, cst.List)) else []
        made = _assign(scope, small) if len(small.targets) == 1 else scope.expression(small)
        for name, path in places:
            _stand_for(scope, name, path)
        return made
    if isinstance(small, cst.Return):
        return _return(scope, small)
    if isinstance(small, cst.AugAssign):
        value, target = scope.expression(small.value), scope.target(small.target)
        if isinstance(target, cst.Call):
            return cst.Expr(target)
        written = overwriting(scope, small.target, target, unaugmented(tree.replace(small, target=target, value=value)))
        if written is not None:
            return written
        return small if value is small.value and target is small.target else tree.replace(small, target=target, value=value)
    if isinstance(small, cst.Expr) and (stored := stored_by_name(scope, small.value)) is not None:
        return stored
    if isinstance(small, cst.Expr):
        scope.hint = "_" if scope.stateful_call(small.value) else None
        value = scope.expression(small.value)
        scope.hint = None
        if isinstance(value, cst.Name) and value is not small.value and scope.prelude:
            return None  # only its effect counts
        return small if value is small.value else tree.replace(small, value=value)
    return scope.expression(small)


def _assign(scope: Scope, node: cst.Assign) -> Any:
    target = node.targets[0].target
    name = ""
    if isinstance(target, cst.Name):
        if target.value in scope.given and isinstance(scope.facts.of(node.value), Module):
            return tree.replace(node, value=standing_in(scope, node.value))
        _follow(scope, target, node.value)
        name = scope.renames.get(target.value, target.value)
        scope.hint = name if not read_outside(scope, node.value, target.value) else None
    elif isinstance(target, (cst.Tuple, cst.List)):
        scope.hint = None
        if scope.stateful_call(node.value):
            return _unpack(scope, node, target)
    tied = tying(scope, target, node.value)
    if tied is not None:
        return cst.Expr(tied)
    value = scope.callee(node.value) if name in scope.aliases else scope.expression(node.value)
    scope.hint = None
    if name and isinstance(value, cst.Name) and value.value == name and scope.prelude:
        return None  # the call taken out assigned it already
    new_target = scope.target(target)
    if isinstance(new_target, cst.Subscript) and isinstance(value, cst.Call) and tree.dotted(value.func) == "nn.Parameter" and value.args:
        value = value.args[0].value  # what is among the params is one
    written = overwriting(scope, target, new_target, value, id(node) not in scope.facts.in_place)
    if written is not None:
        return written
    if value is node.value and new_target is target:
        return node
    if isinstance(new_target, cst.Call):
        return cst.Expr(new_target)  # where it would be stored is not known: it raises
    return tree.replace(node, targets=[tree.replace(node.targets[0], target=new_target)], value=value)


def _follow(scope: Scope, target: cst.Name, value: cst.BaseExpression) -> None:
    """Remember where the module is that a local name stands for."""
    path = scope.path(value) if isinstance(scope.facts.of(value), Module) and target.value not in scope.lists.names else None
    _stand_for(scope, target.value, path)


def _stand_for(scope: Scope, name: str, path: Path | None) -> None:
    scope.names.pop(name, None)
    if path is None:
        return
    if scope.is_certain(name) or not scope.needs & {"params", "state"}:
        scope.names[name] = path  # or nothing is called here that has any
    elif "params" in scope.needs:
        holder = f"{name}_params"
        scope.prelude.append(tree.assignment(holder, tree.expression(path.params)))
        scope.names[name] = Path(holder, "None")


def _places(scope: Scope, target: Any, value: Any) -> list[tuple[str, Path | None]]:
    """Where the modules are that the names of a target stand for: `attn, mlp = layer`, `a, b = self.a, self.b`."""
    if isinstance(target, cst.Name):
        known = isinstance(scope.facts.of(value), Module) and target.value not in scope.lists.names
        return [(target.value, scope.path(value) if known else None)]
    nowhere: list[tuple[str, Path | None]] = [(name, None) for name in tree.target_names(target)]
    if isinstance(target, (cst.Tuple, cst.List)) and isinstance(value, (cst.Tuple, cst.List)) and len(target.elements) == len(value.elements):
        if any(isinstance(e, cst.StarredElement) for e in (*target.elements, *value.elements)) or tree.names_read(value) & {n for n, _ in nowhere}:
            return nowhere  # `a, b = b, a`
        return [pair for t, v in zip(target.elements, value.elements) for pair in _places(scope, t.value, v.value)]
    held = scope.facts.of(value)
    if not nested(target) or not isinstance(held, Module) or not kinds(held) or not kinds(held) <= {"ModuleList", "Sequential"}:
        return nowhere
    path = scope.path(value)
    if path is None:
        return nowhere
    plain = isinstance(value, cst.Attribute) or isinstance(value, cst.Name) and value.value in scope.looped
    return list(parts(target, path, "" if plain and kinds(held) == {"ModuleList"} else tree.code(scope.callee(value))))


def _unpack(scope: Scope, node: cst.Assign, target: cst.Tuple | cst.List) -> Any:
    """`a, b = self.cell(x)` of a call that returns state: `(a, b), state["cell"] = …`."""
    made = called(scope, node.value)
    if made.state is None:
        return tree.replace(node, targets=[tree.replace(node.targets[0], target=scope.target(target))], value=made.node)
    left = tree.replace(target, lpar=[cst.LeftParen()], rpar=[cst.RightParen()]) if isinstance(target, cst.Tuple) else target
    left, late = _apart(scope, scope.target(left), made.state)
    bind(scope, left, made.state, made.node)
    if not late:
        return None
    targets, values = (display(part) if len(late) > 1 else part[0] for part in zip(*late))
    return cst.Assign([cst.AssignTarget(targets)], values)


def _apart(scope: Scope, target: Any, state: str) -> tuple[Any, list[tuple[Any, Any]]]:
    """Targets without the entries of a state that the same statement gives back whole; those, each with the name that has its value."""
    late: list[tuple[Any, Any]] = []

    def named(node: Any) -> Any:
        if not tree.code(node).startswith(f"{state}["):
            return None
        key = tree.code(node).removesuffix('"]').rpartition('"')[2]
        late.append((node, cst.Name(fresh_name(scope.used, key if key.isidentifier() else "y"))))
        return late[-1][1]

    return tree.rewrite(target, named, only={cst.Subscript}), late


def _return(scope: Scope, node: cst.Return) -> Any:
    stateful = scope.stateful and not scope.nested
    if node.value is None:
        return cst.Return(tree.expression("None, state")) if stateful else node
    scope.hint = _returned_name(scope, node.value)
    value = scope.expression(node.value)
    scope.hint = None
    if not stateful:
        return node if value is node.value else tree.replace(node, value=value)
    if isinstance(value, cst.Tuple) and not value.lpar:
        value = tree.parenthesised(value)
    return tree.replace(node, value=display([value, cst.Name("state")]), whitespace_after_return=cst.SimpleWhitespace(" "))


def _returned_name(scope: Scope, node: cst.BaseExpression) -> str | None:
    """In `return self.head(self.bn(x))` nothing reads x any more: its name can hold what is taken out."""
    calls = scope.stateful_calls(node)
    if not calls or not calls[-1].args or calls[-1].args[0].star or not isinstance(calls[-1].args[0].value, cst.Name):
        return None
    name = calls[-1].args[0].value.value
    return scope.renames.get(name, name) if not read_outside(scope, node, name) and not scope.nested else None


# --------------------------------------------------------------------------- blocks


def _header(scope: Scope, node: Any) -> Any:
    """What a block begins with, converted."""
    scope.early = early_reads(scope, node)
    return scope.expression(node)


def _if(scope: Scope, node: cst.If) -> Any:
    test = _header(scope, node.test)
    found = found_by(test)
    scope.present |= found
    new = _suite(scope, node)
    new = new if test is node.test else tree.replace(new, test=test)
    scope.present -= found
    if node.orelse is None:
        return new
    if isinstance(node.orelse, cst.If):
        inner = _statement(scope, node.orelse)
        if len(inner) == 1 and isinstance(inner[0], cst.If):
            return new if inner[0] is node.orelse else tree.replace(new, orelse=inner[0])
        return tree.replace(new, orelse=cst.Else(cst.IndentedBlock(inner)))
    orelse = _suite(scope, node.orelse)
    return new if orelse is node.orelse else tree.replace(new, orelse=orelse)


def _for(scope: Scope, node: cst.For) -> Any:
    stacked = scanned(scope, node)
    if stacked is not None:
        return stacked
    scope.early = early_reads(scope, node.iter)
    target, iterated = iterate(scope, node.target, node.iter)
    new = _suite(scope, node)
    if target is not node.target or iterated is not node.iter:
        new = tree.replace(new, target=target, iter=iterated)
    if node.orelse is not None:
        new = tree.replace(new, orelse=_suite(scope, node.orelse))
    return new


def _while(scope: Scope, node: cst.While) -> Any:
    start = len(scope.prelude)
    changes = {"test": scope.expression(node.test)}
    if len(scope.prelude) > start:
        del scope.prelude[start:]
        changes["test"] = scope.context.unconverted("state-in-expression", node.test, "a module with state is called in the test of a loop")
    if node.orelse is not None:
        changes["orelse"] = _suite(scope, node.orelse)
    return _changed(node, _suite(scope, node), changes)


def _try(scope: Scope, node: cst.Try | cst.TryStar) -> Any:
    changes: dict[str, Any] = {"handlers": [_suite(scope, h) for h in node.handlers]}
    for part in ("orelse", "finalbody"):
        if getattr(node, part) is not None:
            changes[part] = _suite(scope, getattr(node, part))
    return _changed(node, _suite(scope, node), changes)


def _inner_function(scope: Scope, node: cst.FunctionDef) -> Any:
    """A function inside the function: its effects are those around it, but for a key, and a state where that can come back."""
    info = scope.facts.by_node.get(id(node))
    named = tree.replace(node, params=own_parameters(scope, node.params))
    with scope.inside(node):
        new: Any = _threaded(scope, named) if info in scope.threaded else _closed(scope, named)
    if info is not None and "key" in scope.effects.functions.get(info, ()):
        new = add_keywords(new, ["key"])
    return new


def _closed(scope: Scope, node: cst.FunctionDef) -> Any:
    """A function inside that returns what it returned."""
    scope.nested += 1
    new = _suite(scope, node)
    scope.nested -= 1
    return new


def _threaded(scope: Scope, node: cst.FunctionDef) -> cst.FunctionDef:
    """A function inside that takes the state first and returns it beside its result, as methods do."""
    writes, scope.writes = scope.writes, set()
    body = _keeping_state(scope, block(scope, tree.body_statements(node)))
    scope.writes = writes
    parameters = [cst.Param(cst.Name("state")), *node.params.params]
    new = tree.replace(node, params=tree.replace(node.params, params=parameters), returns=None)
    return tree.with_body(new, body)


def _changed(old: Any, new: Any, changes: dict[str, Any]) -> Any:
    """The node with what really changed."""
    real = {k: v for k, v in changes.items() if not (v is getattr(old, k) or isinstance(v, list) and tree.same(v, getattr(old, k)))}
    return tree.replace(new, **real) if real else new


def _falls_through(body: list[Any]) -> bool:
    """Whether control can reach the end of a block."""
    if not body:
        return True
    last = body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        return not isinstance(last.body[-1], (cst.Return, cst.Raise))
    if isinstance(last, cst.If) and last.orelse is not None:
        other = _falls_through([last.orelse]) if isinstance(last.orelse, cst.If) else _falls_through(tree.body_statements(last.orelse))
        return _falls_through(tree.body_statements(last)) or other
    if isinstance(last, cst.With):
        return _falls_through(tree.body_statements(last))
    return True
