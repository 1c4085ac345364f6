"""What the lowering of branches and of loops on data share: the walk over a function, and what no function can do."""

from __future__ import annotations

import functools
from collections.abc import Set
from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .dataflow import exposed, given, writes
from .dict_order import ordered_reads
from .emit import fresh_name
from .host_effects import GROWING, effect
from .liveness import Liveness
from .values import FUNCTION, Class, External, Function, Tensor, Torch, Value


class Refused(Exception):
    """Why a statement cannot be lowered; `keep` where it stays as Python's, which runs outside jit."""

    def __init__(self, why: str, keep: bool = False) -> None:
        super().__init__(why)
        self.keep = keep


class Lowering:
    """Goes through one function, inner blocks first, and replaces the statements that `wants` by what `lower` makes of them."""

    diagnostic: str  # the id under which a refusal is reported
    where: str  # how messages call the place
    unharmed: tuple[type[Value], ...]  # what has methods like a list's that do not change it

    def __init__(self, context: Context, node: Any, outer: Set[str] = frozenset()) -> None:
        self.context, self.node = context, node
        self.liveness = Liveness(node, None)
        self.defined = set(outer) | given(node)
        self.outer = outer
        self.before: list[Any] = []  # the statements of the block before the current one

    def free(self, stem: str) -> str:
        """The name of a function that is made: the stem, unless the code around it means something else by that."""
        return fresh_name(set(self._taken), stem)

    @functools.cached_property
    def _taken(self) -> set[str]:
        return tree.names_read(self.node) | tree.parameter_names(self.node) | self.outer

    @functools.cached_property
    def _in_order(self) -> list[str]:
        """The names of dicts that the function goes through in their order."""
        return [read.value for read, _ in ordered_reads(self.context, self.node.body) if isinstance(read, cst.Name)]

    def wants(self, node: Any) -> bool:
        """Whether a statement is to be replaced."""
        raise NotImplementedError

    def lower(self, old: Any, new: Any) -> list[Any]:
        """What stands for a statement; `new` has its inner blocks lowered. Raises Refused."""
        raise NotImplementedError

    def function(self) -> Any:
        return tree.with_body(self.node, self.block(tree.body_statements(self.node)))

    def block(self, statements: list[Any]) -> list[Any]:
        out: list[Any] = []
        for statement in statements:
            self.before = out
            out.extend(self.statement(statement))
            self.defined |= set(tree.names_assigned(statement))
        return out

    def statement(self, node: Any) -> list[Any]:
        if isinstance(node, cst.FunctionDef):
            return [type(self)(self.context, node, set(self.defined)).function()]
        if not isinstance(node, (cst.If, cst.For, cst.While, cst.With, cst.Try)):
            return [node]
        new = self._inside(node)
        if not self.wants(node):
            return [new]
        try:
            self._refuse_changed(node)
            made = self.lower(node, new)
        except Refused as why:
            what: Any = node.iter if isinstance(node, cst.For) else node.test  # type: ignore[union-attr]
            if why.keep:
                self.context.report(self.diagnostic, what, f"{why}: it is left to Python, and cannot be under jax.jit")
                return [new]
            return [self._raising(node, self.context.unconverted(self.diagnostic, what, str(why)))]
        lines = node.leading_lines
        if made and (any(line.comment is not None for line in lines) or len(made) == 1):
            apart = [] if len(made) == 1 or not lines[0].comment else [cst.EmptyLine(indent=False)]
            made[0] = tree.replace(made[0], leading_lines=[*apart, *lines])
        return made

    def _raising(self, node: Any, poison: Any) -> cst.SimpleStatementLine:
        """The statement that stands for one that is refused: it raises, and the names that are read later are not without a value."""
        lost = [name for name in tree.names_assigned(node) if name in self.liveness.after.get(id(node), ()) and name not in self.defined]
        made = cst.Assign([cst.AssignTarget(cst.Name(name)) for name in lost], poison) if lost else cst.Expr(poison)
        return cst.SimpleStatementLine([made])

    def _inside(self, node: Any) -> Any:
        defined, before = set(self.defined), self.before
        if isinstance(node, cst.For):
            self.defined |= set(tree.target_names(node.target))
        new: Any = tree.with_body(node, self.block(tree.body_statements(node)))
        orelse = getattr(node, "orelse", None)
        self.defined = set(defined)
        if isinstance(orelse, cst.If):
            inner = self.statement(orelse)
            new = tree.replace(new, orelse=inner[0] if len(inner) == 1 and isinstance(inner[0], cst.If) else cst.Else(cst.IndentedBlock(inner)))
        elif orelse is not None:
            new = tree.replace(new, orelse=tree.with_body(orelse, self.block(tree.body_statements(orelse))))
        self.defined, self.before = defined, before
        return new

    def check(self, block: cst.IndentedBlock, own: Set[str]) -> None:
        """Refuse what cannot be undone or carried: attributes set, lists of others that change, statements no function has.

        `own` are the names that the block makes itself.
        """
        done = effect(self.context, block)
        if done is not None:
            raise Refused(f"{done} {self.where}", keep=True)
        for node in tree.walk_scope(block):
            if isinstance(node, (cst.Yield, cst.Global, cst.Nonlocal, cst.Await, cst.Del)):
                raise Refused(f"a statement {self.where} that has no counterpart in a function")
            targets = _targets(node)
            if any(isinstance(t, cst.Attribute) for t in targets):
                raise Refused(f"an attribute is set {self.where}")
            for kept in filter(None, (self._kept_outside(t, own) for t in targets)):
                raise Refused(f"the list or dict {kept} changes {self.where}", keep=True)
            if isinstance(node, cst.Expr) and (grown := self._grown_outside(node.value)) is not None:
                raise Refused(f"the list or dict {grown} changes {self.where}", keep=True)
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in GROWING:
                holder = node.func.value
                if isinstance(holder, cst.Name) and holder.value not in own and not isinstance(self.context.value(holder), self.unharmed):
                    raise Refused(f"the list or dict {holder.value} changes {self.where}")

    def refuse_functions(self, statements: list[Any], live: Set[str]) -> None:
        """Refuse functions and classes that are made in a block and used after it: they are no arrays, that it could give back."""
        for node in [*statements, *tree.walk_scope(cst.IndentedBlock(statements))]:
            if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.name.value in live:
                raise Refused(f"{node.name.value} is defined {self.where}")
            value = self.context.value(node.value) if isinstance(node, cst.Assign) else None
            if isinstance(node, cst.Assign) and (isinstance(value, (Function, Class, Torch)) or value in (FUNCTION, External("lambda"))):
                names = [n for t in node.targets for n in tree.target_names(t.target) if n in live]
                if names:
                    raise Refused(f"{names[0]} becomes another function {self.where}")

    def _refuse_changed(self, node: Any) -> None:
        """Refuse a statement that uses a function of the one around it which reads what the statement sets: that becomes its own."""
        changed = set(writes([node])) if self.liveness.through else set()
        for name in exposed([node]) if changed else ():
            for read in sorted(changed.intersection(self.liveness.through.get(name, ()))):
                raise Refused(f"{name} reads {read}, and is used {self.where}, where {read} changes")

    def refuse_dicts(self, names: list[str]) -> None:
        """Refuse to give back a dict whose order counts: jax sorts it by its keys."""
        for name in self._in_order:
            if name in names:
                raise Refused(f"{name} is a dict whose order counts, and would come back sorted by its keys")

    def _kept_outside(self, target: Any, own: Set[str]) -> str | None:
        """What a store goes into, where others see it beside those that get the function's result: `found["loss"] = None` of an argument."""
        if not isinstance(target, cst.Subscript):
            return None
        while isinstance(target, cst.Subscript):
            target = target.value
        if isinstance(target, cst.Attribute):
            return tree.code(target)
        seen = isinstance(target, cst.Name) and target.value in (tree.parameter_names(self.node) | self.outer) - own - {"params", "state"}
        return target.value if seen and not self._is_returned(target.value) else None

    def _is_returned(self, name: str) -> bool:
        returns = [n.value for n in tree.walk_scope(self.node.body) if isinstance(n, cst.Return) and n.value is not None]
        return any(name in tree.names_read(value) for value in returns)

    def _grown_outside(self, call: Any) -> str | None:
        """What a statement changes that an attribute holds, or that is only taken for a tensor: those have no `append`."""
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or call.func.attr.value not in GROWING - {"add"}:
            return None
        holder = call.func.value
        value = self.context.value(holder)
        seen = isinstance(holder, cst.Attribute) and not isinstance(value, self.unharmed) or isinstance(value, Tensor) and value.assumed
        return tree.code(holder) if seen else None


def _targets(node: Any) -> list[Any]:
    """What a statement assigns to, parts of tuples one by one."""
    todo: list[Any] = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target] if isinstance(node, (cst.AugAssign, cst.AnnAssign)) else []
    found = []
    while todo:
        target = todo.pop()
        if isinstance(target, (cst.Tuple, cst.List)):
            todo.extend(e.value for e in target.elements)
        else:
            found.append(target)
    return found
