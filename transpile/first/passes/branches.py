"""`if` on a tensor's value becomes `lax.cond`, or `jnp.where` where both sides are plain arithmetic on one array.

Returns and jumps have been brought to the ends of the sides before. What a side reads and sets becomes the arguments and the
results of a function of its own; params, state that is only read, static values and modules are closed over.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..dataflow import certain, exposed, writes
from ..dict_order import is_sorted
from ..emit import bare, call, fresh_name, function, names, returning, spaced, unaugmented
from ..lowering import Lowering, Refused
from ..printing import printing, prints
from ..truth import alike
from ..values import NONE, UNKNOWN, Function, Mapping, Module, Static, Tensor, is_traced


def run(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Lower every branch on data of one function, inner ones first."""
    if not any(is_traced(context.value(n.test)) for n in tree.nodes(node.body, cst.If)):
        return node
    return _Branches(context, node).function()  # type: ignore[no-any-return]


class _Branches(Lowering):
    diagnostic = "traced-branch"
    where = "under a branch on a tensor's value"
    unharmed = (Tensor, Module)

    def __init__(self, context: Context, node: Any, outer: Set[str] = frozenset()) -> None:
        super().__init__(context, node, outer)
        self.used = tree.names_read(node)
        self.kinds: dict[str, Any] = {}
        self.dtypes: dict[str, set[str | None]] = {}
        for n in tree.nodes(node, cst.Name):
            if id(n) in context.facts.values:
                value = context.value(n)
                if isinstance(value, Tensor):
                    self.dtypes.setdefault(n.value, set()).add(value.kind)
                self.kinds[n.value] = value if n.value not in self.kinds or isinstance(value, Tensor) else self.kinds[n.value]

    def wants(self, node: Any) -> bool:
        return isinstance(node, cst.If) and is_traced(self.context.value(node.test))

    # ------------------------------------------------------------------ one branch

    def lower(self, old: cst.If, node: cst.If) -> list[Any]:
        then, other = ([printing(s, lambda name: is_traced(self.kinds.get(name, NONE))) for s in side if tree.code(s).strip() != "pass"] for side in (tree.body_statements(node), tree.else_statements(node)))
        test = bare(node.test)
        if tree.always_returns(then) and tree.always_returns(other):
            return self._returning(old, test, then, other)
        if tree.returns(node):
            if tree.always_returns(then) and not other:
                return self._returning(old, test, then, [tree.statement("return None")])
            raise Refused("a return under a branch on a tensor's value, on one side only")
        if self._sized_by_data(old):
            raise Refused("what is made under a branch on a tensor's value is as long as the data say", keep=True)
        live = self.liveness.after.get(id(old), frozenset())
        grown = _grown(then, other)
        after: list[Any] = []
        if grown is not None and not any(_objects(self.context.value(side[-1].body[0].value.args[0].value)) for side in (then, other)):
            item = fresh_name(self.used, "item")
            then, other = ([*side[:-1], tree.assignment(item, side[-1].body[0].value.args[0].value)] for side in (then, other))
            after = [tree.statement(f"{grown}.append({item})")]
            live |= {item}
        made = self._joined(old, test, then, other, live)
        return [*made, *after]

    def _sized_by_data(self, old: cst.If) -> bool:
        """`if n % period: x = torch.cat([x, torch.zeros(period - n % period)])`, which runs outside of jit, and never under `lax.cond`."""
        places = {(d.line, d.column) for d in self.context.diagnostics if d.id == "data-dependent-shape"}
        return any(self.context.place(n) in places for n in tree.nodes(old, cst.Call)) if places else False

    def _joined(self, old: cst.If, test: Any, then: list[Any], other: list[Any], live: frozenset[str]) -> list[Any]:
        """Both sides as functions, or as a choice, of what is read later."""
        self._check(then + other)
        self.refuse_functions(then + other, live)
        written = [n for n in dict.fromkeys([*writes(then), *writes(other)])]
        results = [n for n in written if n in live]
        self.refuse_dicts(results)
        if "state" in results and (begun := self._begun(then) ^ self._begun(other)) - self._begun(self.before):
            raise Refused(f"self.{min(begun)} is None until one side of a branch on a tensor's value sets it", keep=True)
        if not results and not any(map(prints, then + other)):
            return []
        for name in results:
            partly = [side for side in (then, other) if name not in certain(side) and name in tree.names_assigned(cst.IndentedBlock(side))]
            unset = name not in self.defined and any(name not in certain(side) for side in (then, other))
            if unset or name not in self.defined and partly:
                raise Refused(f"{name} is set on one side only of a branch on a tensor's value")
        chosen = self._choice(test, then, other, results)
        if chosen is not None:
            return chosen
        operands = self._operands(then, other, results)
        named = ((self.free("if_true"), then), (self.free("if_false"), other))
        made = [function(name, operands, returning(side, results)) for name, side in named if side]
        sides: list[Any] = [cst.Name(name) if side else self._unchanged(operands, results) for name, side in named]
        helper = self._differ(then, other, results)
        choice = self.context.name("choose") if helper or self._may_be_known(old) else "lax.cond"
        value = call(choice, [test, *sides, *map(cst.Name, operands)])
        line = tree.assignment(names(results), value) if results else cst.SimpleStatementLine([cst.Expr(value)])
        return [spaced(m) for m in [*made, line]]

    def _begun(self, statements: list[Any]) -> set[str]:
        """The state that statements set, themselves or by the methods that they call, and that is None before."""
        found: set[str] = set()
        if not self.context.absent:
            return found
        for node in (n for s in statements for n in [s, *tree.walk_scope(s)]):
            called = self.context.value(node.func) if isinstance(node, cst.Call) else None
            within = tree.walk(called.info.node.body) if isinstance(called, Function) and called.owner is not None else [node]
            found |= {name for n in within if isinstance(n, cst.Assign) for t in n.targets for name in self.context.absent if tree.code(t.target) in (f'state["{name}"]', f"self.{name}")}
        return found

    def _may_be_known(self, old: cst.If) -> bool:
        """Whether a test is a bool of Python's on some way, as that of arrays whose shapes differ is."""
        value = self.context.value(old.test)
        return isinstance(value, Tensor) and value.python

    def _returning(self, old: cst.If, test: Any, then: list[Any], other: list[Any]) -> list[Any]:
        self._check(then + other)
        operands = self._operands(then, other, [])
        returned = [self._returned(side) for side in (then, other)]
        sorting = next((r for r in returned if r is not None and not is_sorted(r) and isinstance(self.context.value(r), Mapping)), None)
        if sorting is not None:
            self.context.report("taken-for-granted", sorting, "lax.cond gives a dict back sorted by its keys: see that nothing goes by their order")
        if [_is_none(r) for r in returned] in ([True, False], [False, True]):
            raise Refused(f"nothing is returned on one side only {self.where}", keep=True)
        if len(then) == len(other) == 1 and all(r is not None for r in returned) and alike(self.context, *returned):
            return [cst.SimpleStatementLine([cst.Return(call("jnp.where", [test, *returned]))])]
        numbers = [isinstance(self.context.value(r), Static) for r in returned if r is not None]
        choice = self.context.name("choose") if any(numbers) and not all(numbers) or self._may_be_known(old) else "lax.cond"
        named = ((self.free("if_true"), then), (self.free("if_false"), other))
        made = [function(name, operands, side) for name, side in named]
        value = call(choice, [test, *(cst.Name(name) for name, _ in named), *map(cst.Name, operands)])
        return [spaced(m) for m in [*made, cst.SimpleStatementLine([cst.Return(value)])]]

    def _returned(self, statements: list[Any]) -> Any:
        last = statements[-1]
        small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else None
        return small.value if isinstance(small, cst.Return) else None

    def _check(self, statements: list[Any]) -> None:
        """What a side does beside setting names cannot be undone when the other side is taken."""
        block = cst.IndentedBlock(statements)
        for node in tree.walk_scope(block):
            if isinstance(node, cst.Raise):
                raise Refused(f"a raise {self.where}")
            if isinstance(node, (cst.Break, cst.Continue)) and tree.jumps(block):
                raise Refused(f"a break or continue {self.where}")
            if isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None:
                value = self.context.value(node.value)
                targets = [n for t in (node.targets if isinstance(node, cst.Assign) else []) for n in tree.target_names(t.target)]
                if targets and _objects(value) and set(targets) & self.defined:
                    raise Refused(f"{targets[0]} becomes something that is no array {self.where}")
        self.check(block, set(tree.names_assigned(block)))

    def _choice(self, test: Any, then: list[Any], other: list[Any], results: list[str]) -> list[Any] | None:
        """`if c: y = y * 2` is `y = jnp.where(c, y * 2, y)`."""
        if len(results) != 1:
            return None
        sides = []
        for side in (then, other):
            if not side:
                name: Any = cst.Name(results[0])
                self.context.facts.tell(name, self.kinds.get(results[0], Tensor()))
                sides.append(name)
                continue
            line = side[0]
            if len(side) != 1 or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
                return None
            small = line.body[0]
            if isinstance(small, cst.Assign) and len(small.targets) == 1 and tree.target_names(small.targets[0].target) == results and isinstance(small.targets[0].target, cst.Name):
                sides.append(small.value)
            elif isinstance(small, cst.AugAssign) and isinstance(small.target, cst.Name):
                sides.append(unaugmented(small))
            else:
                return None
        if not alike(self.context, *sides):
            return None
        return [tree.assignment(results[0], call("jnp.where", [test, *sides]))]

    def _operands(self, then: list[Any], other: list[Any], results: list[str]) -> list[str]:
        """Names that both functions take: what either sets itself and reads before, and the arrays that it reads."""
        local = set(writes(then)) | set(writes(other))
        wanted = [*exposed(then), *exposed(other)]
        for name in results:
            if any(name not in certain(side) for side in (then, other)):
                wanted.append(name)
        out = []
        for name in dict.fromkeys(wanted):
            given = name in ("self", "key", "keys") and name not in local
            if name not in self.defined or given or name == "params" and name not in results:
                continue
            if name in local or is_traced(self.kinds.get(name, NONE)):
                out.append(name)
        return out

    def _unchanged(self, operands: list[str], results: list[str]) -> Any:
        """The side that does nothing."""
        returned = results[0] if len(results) == 1 else f"({', '.join(results)})" if results else "None"
        return tree.expression(f"lambda {', '.join(operands)}: {returned}")

    def _differ(self, then: list[Any], other: list[Any], results: list[str]) -> bool:
        """Whether a side may leave a number, or nothing, where the other has an array: their types must be made one."""
        if not self.context.unset.isdisjoint(results):
            return True
        for name in [*results, *_entries(then + other, results)]:
            found = [self._set_to(name, side) for side in (then, other) if name in results or name in _entries(side, results)]
            kinds = {k for k in found if k != "array"}
            mixed = self.dtypes.get(name, set())
            if "number" in kinds or len(kinds) > 1 or (kinds or mixed) & {"b", "i"} and ("array" in found or len(mixed) > 1):
                return True
        return False

    def _set_to(self, name: str, statements: list[Any]) -> str:
        """What a side leaves a name as: a "number", or an array of a known kind, or just an "array"."""
        known = self.kinds.get(name, UNKNOWN)
        found = known.kind or "array" if isinstance(known, Tensor) else "array"
        for statement in statements:
            for node in [statement, *tree.walk_scope(statement)]:
                if isinstance(node, cst.Assign) and any(tree.code(t.target) == name for t in node.targets):
                    found = self._kind(node.value)
        return found

    def _kind(self, node: Any) -> str:
        """What an expression gives, as `_set_to` says it; of a tuple it is a number if one of its parts is."""
        value = self.context.value(node)
        if isinstance(node, cst.Tuple):
            return "number" if "number" in {self._kind(e.value) for e in node.elements} else "array"
        number = isinstance(value, Static) or isinstance(node, (cst.Integer, cst.Float))
        return "number" if number else value.kind or "array" if isinstance(value, Tensor) else "array"


def _entries(statements: list[Any], results: list[str]) -> list[str]:
    """The entries of dicts that statements set, as they are written: `state["loss"]`, where state is a result."""
    targets = [t.target for s in statements for n in [s, *tree.walk_scope(s)] if isinstance(n, cst.Assign) for t in n.targets]
    found = [t for t in targets if isinstance(t, cst.Subscript) and isinstance(t.value, cst.Name) and t.value.value in results]
    return list(dict.fromkeys(map(tree.code, found)))


def _is_none(node: Any) -> bool:
    return node is None or isinstance(node, cst.Name) and node.value == "None"


def _objects(value: Any) -> bool:
    """Whether a value is certain to be no array."""
    return value == NONE or isinstance(value, Static) and value.type in ("str", "dtype", "device")


def _grown(then: list[Any], other: list[Any]) -> str | None:
    """The list that both sides append to as their last step."""
    found = set()
    for side in (then, other):
        last = side[-1].body[0] if side and isinstance(side[-1], cst.SimpleStatementLine) and len(side[-1].body) == 1 else None
        value = last.value if isinstance(last, cst.Expr) else None
        if not (isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and value.func.attr.value == "append" and len(value.args) == 1):
            return None
        found.add(value.func.value.value if isinstance(value.func.value, cst.Name) else "")
    return found.pop() if len(found) == 1 and "" not in found else None
