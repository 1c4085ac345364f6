"""Every random draw gets a key of its own.

One draw takes `key` itself. Several share one `keys = nn.split(key, n)`, made once a call, or `subkeys` where attention has keys. In a loop each turn folds its
number in: `nn.fold_in(keys[0], i)`.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from .. import tree
from ..context import KEY, Context
from ..dataflow import writes
from ..emit import display, enclosed, fresh_name


def run(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Replace the placeholders in a function that has a parameter `key`."""
    return _Keys(context, node).function()


def has_sites(node: cst.CSTNode) -> bool:
    return any(n.value == KEY for n in tree.nodes(node, cst.Name))


class _Keys:
    def __init__(self, context: Context, node: cst.FunctionDef) -> None:
        self.context, self.node = context, node
        names = tree.names_read(node) | tree.parameter_names(node)
        self.used = names | {"key", "keys"}
        self.keys = "keys" if "keys" not in names else fresh_name(self.used, "subkeys")
        self.sites = 0
        self.loops: list[str] = []
        self.looped = False
        self.count = self._count(node.body)
        self.single = self.count == 1

    def _count(self, node: cst.CSTNode) -> int:
        total = 0
        for child in tree.children(node):
            if isinstance(child, cst.Name) and child.value == KEY:
                total += 1
            elif not _own_scope(child):
                total += self._count(child)
        return total

    def function(self) -> cst.FunctionDef:
        body = [self._statement(s) for s in tree.body_statements(self.node)]
        flat = [s for group in body for s in group]
        if self.count > 1:
            at = 1 if flat and tree.is_docstring(flat[0]) else 0
            if at < len(flat) and tree.code(flat[at]).strip().startswith(("state = dict(", "state = jax.tree.map(")):
                at += 1
            split = tree.statement(f"{self.keys} = {self.context.name('split')}(key, {self.count})")
            flat.insert(at, split)
        return tree.with_body(self.node, flat)

    def _site(self) -> Any:
        text = "key" if self.single else f"{self.keys}[{self.sites}]"
        self.sites += 1
        for index in self.loops:
            text = f"{self.context.name('fold_in')}({text}, {index})"
        return tree.expression(text)

    def _statement(self, node: Any) -> list[Any]:
        if not has_sites(node):
            return [node]
        if isinstance(node, cst.For) and has_sites(node.body):
            return [self._for(node)]
        if isinstance(node, cst.While):
            return self._while(node)
        return [self._rewrite(node)]

    def _block(self, node: Any) -> Any:
        return tree.with_body(node, [n for s in tree.body_statements(node) for n in self._statement(s)])

    def _rewrite(self, node: Any) -> Any:
        return tree.rewrite(node, self._visit)

    def _visit(self, node: cst.CSTNode) -> Any:
        if isinstance(node, cst.Name) and node.value == KEY:
            return self._site()
        if isinstance(node, cst.FunctionDef) and _own_scope(node):
            return run(self.context, node)
        if isinstance(node, cst.Lambda) and _own_scope(node):
            return _in_lambda(node)
        if isinstance(node, cst.Lambda) and has_sites(node):
            return None
        if isinstance(node, cst.BaseComp) and _draws_in_turns(node):
            return self._comprehension(node)
        if isinstance(node, cst.For) and has_sites(node.body):
            return self._for(node)
        if isinstance(node, (cst.IndentedBlock,)) and has_sites(node):
            return tree.replace(node, body=[n for s in node.body for n in self._statement(s)])
        return None

    def _for(self, node: cst.For) -> Any:
        target, iterated, index = self._indexed(node.target, self._rewrite(node.iter), set(writes(tree.body_statements(node))))
        self.loops.append(index)
        new = self._block(node)
        self.loops.pop()
        if node.orelse is not None:
            new = tree.replace(new, orelse=self._block(node.orelse))
        return tree.replace(new, target=target, iter=iterated)

    def _while(self, node: cst.While) -> list[Any]:
        turn = fresh_name(self.used, "turn")
        self.loops.append(turn)
        test = self._rewrite(node.test)  # it draws anew each time it is asked
        new = tree.replace(self._block(node), test=test)
        self.loops.pop()
        new = tree.with_body(new, [tree.statement(f"{turn} += 1"), *tree.body_statements(new)])
        return [tree.statement(f"{turn} = 0"), new]

    def _comprehension(self, node: Any) -> Any:
        depth = len(self.loops)
        for_in = self._clause(node.for_in)
        parts = {field: self._rewrite(getattr(node, field)) for field in ("key", "value", "elt") if hasattr(node, field)}
        del self.loops[depth:]
        return tree.replace(node, for_in=for_in, **parts)

    def _clause(self, clause: cst.CompFor) -> cst.CompFor:
        """`for … in … if …` and those inside it; their numbers stay in `loops`."""
        target, iterated, index = self._indexed(clause.target, self._rewrite(clause.iter))
        self.loops.append(index)
        ifs = [self._rewrite(test) for test in clause.ifs]
        inner = self._clause(clause.inner_for_in) if clause.inner_for_in is not None else None
        return tree.replace(clause, target=target, iter=iterated, ifs=ifs, inner_for_in=inner)

    def _indexed(self, target: Any, iterated: Any, assigned: Set[str] = frozenset()) -> tuple[Any, Any, str]:
        """A loop with a number for each turn: its own where it counts and stays what it is, else one from enumerate."""
        if isinstance(iterated, cst.Call):
            function = tree.dotted(iterated.func)
            counter = target.elements[0].value if function == "enumerate" and isinstance(target, cst.Tuple) else target if function == "range" else None
            if isinstance(counter, cst.Name) and counter.value != "_" and counter.value not in assigned:
                return target, iterated, counter.value
            if function == "range" and tree.dotted(target) == "_":
                index = fresh_name(self.used, "i")
                return cst.Name(index), iterated, index
        index = fresh_name(self.used, "i")
        return display([cst.Name(index), enclosed(target)]), tree.replace(tree.expression("enumerate()"), args=[cst.Arg(iterated)]), index

    def _fresh(self, stem: str) -> str:
        name, n = stem, 1
        while name in self.used:
            n += 1
            name = f"{stem}_{n}"
        self.used.add(name)
        return name


def _draws_in_turns(node: cst.BaseComp) -> bool:
    """Whether more than what is gone over first has draws."""
    clause = node.for_in
    inner = [clause.inner_for_in] if clause.inner_for_in is not None else []
    return any(map(has_sites, [*(c for c in tree.children(node) if c is not clause), *clause.ifs, *inner]))


def _own_scope(node: cst.CSTNode) -> bool:
    """A nested function or lambda with a parameter `key` of its own."""
    if isinstance(node, (cst.FunctionDef, cst.Lambda)):
        parameters = node.params
        return any(p.name.value == "key" for p in [*parameters.params, *parameters.kwonly_params])
    return False


def _in_lambda(node: cst.Lambda) -> Any:
    count = sum(1 for n in tree.walk(node.body) if isinstance(n, cst.Name) and n.value == KEY)
    taken = 0

    def before(n: cst.CSTNode) -> Any:
        nonlocal taken
        if isinstance(n, cst.Name) and n.value == KEY:
            taken += 1
            return tree.expression("key" if count == 1 else f"jax.random.fold_in(key, {taken - 1})")
        return None

    return tree.replace(node, body=tree.rewrite(node.body, before))


def in_lambdas(context: Context, node: Any) -> Any:
    """Resolve the placeholders in lambdas and inner functions that take a key, wherever they stand."""

    def before(n: cst.CSTNode) -> Any:
        if isinstance(n, cst.Lambda) and _own_scope(n) and has_sites(n):
            return _in_lambda(n)
        if isinstance(n, cst.FunctionDef) and n is not node and _own_scope(n) and has_sites(n):
            return run(context, n)
        return None

    return tree.rewrite(node, before, only={cst.Lambda, cst.FunctionDef})
