"""Loops over submodules that are listed in the loop's head are written as their turns, and names that several get at once one by one.

    for conv, bn in [(self.conv1, self.bn1), (self.conv2, self.bn2)]:           x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(bn(conv(x)))                                          ->     x = F.relu(self.bn2(self.conv2(x)))

    encode, predict = self.encoder, self.predictor                       ->     encode = self.encoder
                                                                                predict = self.predictor
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import libcst as cst

from . import tree

_GROWING = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort"})
_LONGEST = 24  # statements that a loop may become


Lists = Mapping[str, Any]  # by "self.blocks", the submodules that an attribute lists


def with_layers_apart(node: Any) -> Any:
    """A class, or a function of none, in which each submodule that is called by a local name can be followed to where it is."""
    if isinstance(node, cst.FunctionDef):
        return _function(node, {})
    lists = _listed_once(node)
    body = [_function(s, lists) if isinstance(s, cst.FunctionDef) else s for s in tree.body_statements(node)]
    return node if tree.same(body, tree.body_statements(node)) else tree.with_body(node, body)


def _listed_once(node: cst.ClassDef) -> Lists:
    """The attributes that a constructor gives a list of submodules, `self.blocks = [self.b1, self.b2]`, where all is set once."""
    methods = [s for s in tree.body_statements(node) if isinstance(s, cst.FunctionDef)]
    times = collections.Counter(tree.dotted(t) for m in methods for t in _written(m))
    starts = [s for m in methods if m.name.value == "__init__" for s in tree.body_statements(m)]
    found: dict[str, Any] = {}
    for small in map(tree.only_small, starts):
        name = tree.dotted(small.targets[0].target) if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
        parts = _parts(small.value) if name is not None and name.startswith("self.") and times[name] == 1 else None
        if name is not None and parts and all((tree.dotted(p) or "").startswith("self.") and times[tree.dotted(p)] == 1 for p in parts):
            found[name] = small.value
    return found


def _written(function: cst.FunctionDef) -> Iterator[Any]:
    """What a function assigns to, deletes, stores into or calls a method of."""
    n: Any
    for n in tree.nodes(function.body, cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del, cst.Call):
        if isinstance(n, cst.Call):
            if isinstance(n.func, cst.Attribute) and n.func.attr.value in _GROWING:
                yield n.func.value
            continue
        target: Any = n.target
        yield from (e.value for e in target.elements) if isinstance(target, (cst.Tuple, cst.List)) else [target.value if isinstance(target, cst.Subscript) else target]


def _function(function: cst.FunctionDef, lists: Lists) -> Any:
    called = {n.func.value for n in tree.nodes(function.body, cst.Call) if isinstance(n.func, cst.Name)} | _filled(function)
    called |= {n.iter.value for n in tree.nodes(function.body, cst.For) if isinstance(n.iter, cst.Name) and called & set(tree.target_names(n.target))}
    outside = _outside_of_loops(function.body, frozenset())

    def after(node: Any) -> Any:
        if isinstance(node, cst.ListComp):
            return _listed(node, called, lists)
        body = [new for statement in node.body for new in _turns(statement, called, outside, lists) or _one_by_one(statement, called) or [statement]]
        return node if tree.same(body, node.body) else tree.replace(node, body=body)

    return tree.rewrite(function, None, after, only={cst.IndentedBlock, cst.ListComp})


def _filled(function: cst.FunctionDef) -> set[str]:
    """The names that a constructor gives to methods of objects which it makes: `scheme.apply(weight)`."""
    made = tree.times_bound(function.body) if function.name.value == "__init__" else {}
    calls = [n for n in tree.nodes(function.body, cst.Call) if isinstance(n.func, cst.Attribute) and isinstance(n.func.value, cst.Name) and n.func.value.value in made]
    return {n.args[0].value.value for n in calls if n.args and isinstance(n.args[0].value, cst.Name)}


def _one_by_one(statement: Any, called: set[str]) -> list[Any]:
    """`f = self.encoder` and `h = self.predictor` for `f, h = self.encoder, self.predictor`."""
    small = tree.only_small(statement)
    if not isinstance(small, cst.Assign) or len(small.targets) != 1:
        return []
    targets, values = _parts(small.targets[0].target), _parts(small.value)
    names = [t.value for t in targets or [] if isinstance(t, cst.Name)]
    if not targets or not values or len(names) != len(targets) != 0 or len(targets) != len(values) or not called & set(names):
        return []
    if not all(map(_is_of_self, values)) or set(names) & {n.value for v in values for n in tree.nodes(v, cst.Name)}:
        return []
    return one_each(statement, targets, values)


def one_each(statement: Any, targets: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """An assignment to several targets as one to each."""
    lines = [cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(t)], v)]) for t, v in zip(targets, values)]
    lines[0] = tree.replace(lines[0], leading_lines=statement.leading_lines)
    lines[-1] = tree.replace(lines[-1], trailing_whitespace=statement.trailing_whitespace)
    return lines


def _turns(statement: Any, called: set[str], outside: set[str], lists: Lists) -> list[Any]:
    """The turns of a loop over listed submodules, one after the other."""
    if not isinstance(statement, cst.For) or statement.orelse is not None or statement.asynchronous is not None:
        return []
    turns = _bindings(statement.target, statement.iter, called, lists)
    body = tree.body_statements(statement)
    names = tree.target_names(statement.target)
    if not turns or tree.jumps(statement.body) or len(turns) * sum(isinstance(n, cst.BaseSmallStatement) for n in tree.walk(statement.body)) > _LONGEST:
        return []
    if set(names) & outside or any(isinstance(n, (cst.Lambda, cst.FunctionDef)) for n in tree.walk(statement.body)):
        return []
    read = {n.value for turn in turns for value in turn.values() for n in tree.nodes(value, cst.Name)} - {"self"}
    kept = {tree.code(value) for turn in turns for value in turn.values()}
    if (read | set(names)) & set(tree.names_assigned(statement.body)) or any(tree.code(n.target) in kept for n in tree.nodes(statement.body, cst.AssignTarget)):
        return []
    made: list[Any] = []
    for i, turn in enumerate(turns):
        for j, line in enumerate(body):
            new = _with(line, turn, i > 0)
            lead = [*statement.leading_lines, *new.leading_lines] if i == j == 0 else new.leading_lines if i == 0 else []
            made.append(tree.replace(new, leading_lines=lead))
    return made


def _listed(node: cst.ListComp, called: set[str], lists: Lists) -> Any:
    """`[self.a(x), self.b(x)]` for `[f(x) for f in (self.a, self.b)]`."""
    loop = node.for_in
    turns = _bindings(loop.target, loop.iter, called, lists) if not loop.ifs and loop.inner_for_in is None and loop.asynchronous is None else []
    return tree.replace(cst.List([cst.Element(_with(node.elt, turn, i > 0)) for i, turn in enumerate(turns)]), lpar=node.lpar, rpar=node.rpar) if turns else node


def _with(node: Any, turn: dict[str, Any], again: bool) -> Any:
    """A statement or expression, or a copy of it, with what the loop's names stand for in a turn."""
    return tree.with_names(node.deep_clone() if again else node, lambda n: turn[n.value].deep_clone() if n.value in turn else None)


def _outside_of_loops(node: Any, bound: frozenset[str]) -> set[str]:
    """The names at or below a node that stand in no loop or comprehension over them."""
    if isinstance(node, cst.Name):
        return set() if node.value in bound else {node.value}
    if isinstance(node, cst.For):
        inner = bound | set(tree.target_names(node.target))
        parts = [(node.target, inner), (node.body, inner), (node.iter, bound), *([(node.orelse, bound)] if node.orelse is not None else [])]
        return set().union(*(_outside_of_loops(part, names) for part, names in parts))
    if isinstance(node, cst.BaseComp):
        bound |= {name for loop in tree.nodes(node, cst.CompFor) for name in tree.target_names(loop.target)}
    return set().union(*(_outside_of_loops(child, bound) for child in tree.children(node)))


def _bindings(target: Any, iterated: Any, called: set[str], lists: Lists) -> list[dict[str, Any]]:
    """What the names of a loop stand for in each turn, where its head lists submodules, one of which is called by its name; else nothing."""
    if isinstance(iterated, cst.Call) and tree.dotted(iterated.func) == "enumerate" and len(iterated.args) == 1:
        parts = _parts(target)
        if parts is None or len(parts) != 2 or not isinstance(parts[0], cst.Name):
            return []
        inner = _bindings(parts[1], iterated.args[0].value, called, lists)
        return [{parts[0].value: cst.Integer(str(i)), **turn} for i, turn in enumerate(inner)]
    if isinstance(iterated, cst.Call) and tree.dotted(iterated.func) == "reversed" and len(iterated.args) == 1:
        return _bindings(target, iterated.args[0].value, called, lists)[::-1]
    listed = _elements(iterated, lists)
    if isinstance(iterated, cst.Call) and tree.dotted(iterated.func) == "zip" and iterated.args and all(a.keyword is None and not a.star for a in iterated.args):
        columns = [_elements(a.value, lists) for a in iterated.args]
        if any(c is None or len(c) != len(columns[0] or []) for c in columns):
            return []
        listed = [cst.Tuple([cst.Element(part) for part in row]) for row in zip(*columns)]
    turns = [_matched(target, element) for element in listed or []]
    names = {name for turn in turns for name, value in (turn or {}).items() if _is_of_self(value)}
    return turns if turns and None not in turns and names & called else []  # type: ignore[return-value]


def _matched(target: Any, element: Any) -> dict[str, Any] | None:
    """The names of a target with the parts of an element, all of which can be written more than once."""
    if isinstance(target, cst.Name):
        return {target.value: element} if _is_of_self(element) or isinstance(element, (cst.Name, cst.SimpleString, cst.Integer, cst.Float)) else None
    names, parts = _parts(target), _parts(element)
    if names is None or parts is None or len(names) != len(parts):
        return None
    found: dict[str, Any] = {}
    for name, part in zip(names, parts):
        matched = _matched(name, part)
        if matched is None:
            return None
        found |= matched
    return found


def _elements(node: Any, lists: Lists) -> Sequence[Any] | None:
    """What a loop's head lists, or an attribute that it goes over."""
    return _parts(lists.get(tree.dotted(node) or "", node))


def _parts(node: Any) -> Sequence[Any] | None:
    """The elements of a tuple or list that is written out."""
    plain = isinstance(node, (cst.Tuple, cst.List)) and not any(isinstance(e, cst.StarredElement) for e in node.elements)
    return [e.value for e in node.elements] if plain else None


def _is_of_self(node: Any) -> bool:
    """`self.conv`, `self.block.conv`, `self.layers[0]`, `self.layers[1:]`"""
    if isinstance(node, cst.Subscript):
        return _is_of_self(node.value) and not any(isinstance(n, (cst.Call, cst.NamedExpr)) for e in node.slice for n in tree.walk(e))
    return isinstance(node, cst.Attribute) and (tree.dotted(node) or "").startswith("self.")
