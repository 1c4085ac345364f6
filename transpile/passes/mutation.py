"""In-place operations become rebinding: `x.add_(y)` is `x = x.add(y)`, `x[i] = v` is `x = x.at[i].set(v)`.

A write reaches every name for the same memory. Which names may share memory is a may-alias analysis inside the function;
of those, the names that are read later must follow:

- the same object (`y = x`) is assigned again;
- a view of what was written is taken again;
- what the written view is a view of gets the new value put back;
- anything else is refused.

What the write does is decided before rules are applied: the output of this pass is still torch, without mutation.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..emit import call, display, fresh_name
from ..indices import index_expression, index_kind, may_overlap, only_index
from ..inplace import (
    inplace_argument,
    is_inplace_name,
    is_known_method,
    is_old_spelling,
    is_undecided,
    module_writes,
    out_argument,
    says_inplace,
)
from ..liveness import Liveness
from ..memory import Memory, merge
from ..ownership import is_owned
from ..project import FunctionInfo
from ..truth import moving, window
from ..values import UNKNOWN, Function, Method, Module, Sequence, Static, Tensor, Torch

OPERATORS = {
    cst.AddAssign: ("add", cst.Add), cst.SubtractAssign: ("subtract", cst.Subtract), cst.MultiplyAssign: ("multiply", cst.Multiply),
    cst.DivideAssign: ("divide", cst.Divide), cst.PowerAssign: ("power", cst.Power), cst.FloorDivideAssign: ("", cst.FloorDivide),
    cst.ModuloAssign: ("", cst.Modulo), cst.BitAndAssign: ("", cst.BitAnd), cst.BitOrAssign: ("", cst.BitOr),
    cst.BitXorAssign: ("", cst.BitXor), cst.MatrixMultiplyAssign: ("", cst.MatrixMultiply),
}  # fmt: skip


# views whose places in what they are views of are each there once
_PLACES = frozenset("narrow select diagonal permute movedim moveaxis".split())


_INT = Static(type="int")


@dataclass
class Mutations:
    """What is known of all functions: which parameters each writes in place."""

    running: Set[FunctionInfo] = frozenset()  # the functions that compute with tensors
    writes: dict[FunctionInfo, set[str]] = field(default_factory=dict)
    returned: frozenset[FunctionInfo] = frozenset()  # those that return what they write
    written: set[int] = field(default_factory=set)  # ids of assignments that take it back: they are writes
    passed: dict[FunctionInfo, frozenset[str]] = field(default_factory=dict)  # the parameters that a result may be, or be a view of
    owned: dict[str, bool] = field(default_factory=dict)  # for attributes of plain objects, whether their memory is theirs alone


def run(context: Context, node: cst.FunctionDef, info: FunctionInfo, mutations: Mutations, runs: bool) -> cst.FunctionDef:
    """Rewrite the in-place operations of one function."""
    if not _may_write(context, node, mutations):
        return node
    while True:
        try:
            return _Mutation(context, node, info, mutations, runs).function()
        except _Stale as stale:
            node = _picking(context, stale.loop, node)


class _Stale(Exception):
    """A loop over the rows of a tensor that its body writes: `for row in x: x.add_(1)` sees the new rows."""

    def __init__(self, loop: cst.For) -> None:
        self.loop = loop


def _picking(context: Context, loop: cst.For, function: cst.FunctionDef) -> cst.FunctionDef:
    """The function with one loop rewritten to go by index."""
    new = tree.rewrite(function, lambda n: _by_index(context, loop, function) if n is loop else None)
    context.facts.carry(function, new)
    return new  # type: ignore[no-any-return]


def _by_index(context: Context, loop: cst.For, function: cst.FunctionDef) -> Any:
    """The loop with each row picked by its number when its turn comes.

    Where the body gives the name of the tensor to another, the tensor looped over gets a name of its own.
    """
    name, over = fresh_name(tree.names_read(function), "i"), loop.iter
    first: list[Any] = []
    if tree.code(over) in tree.names_assigned(loop.body):
        over = cst.Name(fresh_name(tree.names_read(function), "rows"))
        context.facts.carry(loop.iter, over)
        first = [tree.replace(tree.assignment(over, loop.iter), leading_lines=loop.leading_lines)]
        loop = tree.replace(loop, leading_lines=[])
    index, row = cst.Name(name), tree.expression("x[i]")
    row = tree.replace(row, value=over, slice=[tree.replace(row.slice[0], slice=cst.Index(index))])
    shape = cst.Attribute(over, cst.Name("shape"))
    length = tree.replace(tree.expression("x[0]"), value=shape)
    turns = tree.replace(tree.expression("range()"), args=[cst.Arg(length)])
    for node, value in ((index, _INT), (length, _INT), (shape, Static(type="shape")), (turns, Static(type="range")), (row, Tensor())):
        context.facts.tell(node, value)
    body = [tree.assignment(loop.target, row), *tree.body_statements(loop)]
    new = tree.replace(tree.with_body(loop, body), target=cst.Name(name), iter=turns)
    context.facts.tell(new.target, _INT)
    context.facts.kept.append(new)
    return cst.FlattenSentinel([*first, new]) if first else new


def _common_test(values: list[Any]) -> Any:
    """The test of `a if test else None`, where all of several values have this form with the same one."""
    if not all(isinstance(v, cst.IfExp) and tree.code(v.orelse) == "None" for v in values):
        return None
    tests = {tree.code(v.test) for v in values}
    return values[0].test if len(tests) == 1 else None


def _may_write(context: Context, node: cst.FunctionDef, mutations: Mutations) -> bool:
    for n in tree.nodes(node.body, cst.AugAssign, cst.AssignTarget, cst.Call):
        if isinstance(n, cst.AugAssign):
            return True
        if isinstance(n, cst.AssignTarget) and not isinstance(n.target, cst.Name):
            return True
        if isinstance(n, cst.Call):
            name = n.func.attr.value if isinstance(n.func, cst.Attribute) else n.func.value if isinstance(n.func, cst.Name) else ""
            if is_inplace_name(name):
                return True
            if out_argument(n) is not None or inplace_argument(context, n) is not None:
                return True
            value = context.value(n.func)
            if isinstance(value, Function) and value.info in mutations.writes:
                return True
            if isinstance(value, Method) and any(f.name == value.name and f.owner is not None for f in mutations.writes):
                return True
            if isinstance(value, Torch) and (context.rulebook.find(value.name + "[updating]") or is_old_spelling(context, value.name)):
                return True
            if isinstance(value, Module):
                if value.inplace or value.items:
                    return True
                if any((forward := context.facts.forward_of(ref)) is not None and forward in mutations.writes for ref in value.refs):
                    return True
    return False


_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_VISITED = frozenset({cst.Call, cst.Lambda, cst.IfExp, cst.BooleanOperation, *_COMPREHENSIONS})  # nodes of expressions that concern the pass


class _Mutation:
    def __init__(self, context: Context, node: cst.FunctionDef, info: FunctionInfo, mutations: Mutations, runs: bool) -> None:
        self.context, self.node, self.info, self.mutations, self.runs = context, node, info, mutations, runs
        self.facts = context.facts
        self.views = context.rulebook.table("VIEWS")
        self.liveness = Liveness(node, info.self_name)
        self.live: frozenset[str] = frozenset()
        self.parameters = {p.name.value for p in info.parameters()}
        self.chosen = 0  # how many choices are around the current expression
        self.memory = Memory(context, info, self.views, mutations.passed)
        self.current: Any = None
        self.prelude: list[Any] = []
        self.after: list[Any] = []
        self.followers: set[int] = set()  # assignments that let an alias follow: dropped where it is overwritten unread
        self.kept: list[Any] = []
        self.rows: list[tuple[cst.For, str]] = []  # loops around the current statement that go over a tensor's rows

    def function(self) -> cst.FunctionDef:
        return tree.with_body(self.node, self.block(tree.body_statements(self.node)))

    def block(self, statements: list[Any]) -> list[Any]:
        out: list[Any] = []
        for statement in statements:
            out.extend(self.statement(statement))
        return self._without_overwritten(out)

    def _without_overwritten(self, statements: list[Any]) -> list[Any]:
        """Leave out followers that the same block assigns again before anything reads them."""
        out: list[Any] = []
        for i, statement in enumerate(statements):
            if id(statement) in self.followers:
                name = self.memory.name(statement.body[0].targets[0].target)
                if name is not None and self._overwritten(name, statements[i + 1 :]):
                    continue
            out.append(statement)
        return out

    def _overwritten(self, name: str, rest: list[Any]) -> bool:
        for statement in rest:
            if name in self.liveness.reads(statement):
                return False
            if not isinstance(statement, cst.SimpleStatementLine):
                return False
            if name in self.liveness.writes(statement):
                return True
        return False

    def suite(self, node: Any) -> Any:
        body = tree.body_statements(node)
        new = self.block(body)
        return node if len(new) == len(body) and all(a is b for a, b in zip(new, body)) else tree.with_body(node, new)

    def statement(self, node: Any) -> list[Any]:
        saved = self.live, self.prelude, self.after
        self.live, self.prelude, self.after = self.liveness.after.get(id(node), frozenset()), [], []
        if isinstance(node, cst.SimpleStatementLine):
            self.current = node
            smalls = [s for small in node.body if (s := self.small(small)) is not None]
            changed = any(a is not b for a, b in zip(smalls, node.body)) or len(smalls) != len(node.body)
            new: list[Any] = [tree.replace(node, body=smalls) if changed else node] if smalls else []
            if not any(id(small) in self.mutations.written for small in node.body):
                self.memory.transfer(node)
        else:
            new = [self.compound(node)]
        out = [*self.prelude, *new, *self.after]
        if out and out[0] is not node and hasattr(node, "leading_lines") and self.prelude:
            out[0] = tree.replace(out[0], leading_lines=node.leading_lines)
            if new:
                out[len(self.prelude)] = tree.replace(out[len(self.prelude)], leading_lines=[])
        self.live, self.prelude, self.after = saved
        return out

    def compound(self, node: Any) -> Any:
        if isinstance(node, cst.FunctionDef):
            info = self.facts.by_node.get(id(node))
            new = node if info is None else run(self.context, node, info, self.mutations, self.runs or info in self.mutations.running)
            outside = set(tree.names_assigned(new.body)) - set(tree.names_assigned(node.body)) - tree.parameter_names(node)
            for name in sorted(outside & set(self.memory.env)):
                self.context.report("aliased-write", node.name, f"{node.name.value} writes {name} of the function around it in place: pass {name} in and return it")
            return new
        if isinstance(node, cst.ClassDef):
            return node
        if isinstance(node, cst.Match):
            return tree.replace(node, cases=[self.suite(case) for case in node.cases])
        changes: dict[str, Any] = {}
        for name in ("test", "iter"):
            if hasattr(node, name):
                changes[name] = self.expression(getattr(node, name))
        before = dict(self.memory.env)
        if isinstance(node, (cst.For, cst.While)):
            self.memory.transfer(node)  # what holds at the head of any turn
            self.memory.env = merge(before, self.memory.env)
            if isinstance(node, cst.For):
                self.memory.loop_target(node)
        over = self.memory.name(node.iter) if isinstance(node, cst.For) and self._is_tensor(node.iter) and isinstance(node.target, cst.Name) else None
        if over is not None:
            self.rows.append((node, over))
        new_node = self.suite(node)
        if over is not None:
            self.rows.pop()
        after, ends = self.memory.env, []
        for name in ("orelse", "finalbody"):
            part = getattr(node, name, None)
            if part is not None:
                self.memory.env = dict(before) if isinstance(node, cst.If) else self.memory.env
                changes[name] = self.statement(part)[0] if isinstance(part, cst.If) else self.suite(part)
                ends.append(self.memory.env)
        if hasattr(node, "handlers"):
            changes["handlers"] = []
            for handler in node.handlers:
                self.memory.env = merge(before, after)
                changes["handlers"].append(self.suite(handler))
                ends.append(self.memory.env)
        if not isinstance(node, cst.With) and not (isinstance(node, cst.If) and node.orelse is not None):
            ends.append(before)
        self.memory.env = after
        for end in ends:
            self.memory.env = merge(self.memory.env, end)
        changes = {k: v for k, v in changes.items() if v is not getattr(new_node, k)}
        made = tree.replace(new_node, **changes) if changes else new_node
        self.facts.carry(node, made)
        return made

    # ------------------------------------------------------------------ statements

    rebound: frozenset[str] = frozenset()  # names that the current statement sets anew
    assigned: Any = None  # to this value

    def small(self, node: Any) -> Any:
        if isinstance(node, cst.Assign):
            self.rebound = frozenset(name for t in node.targets for name in tree.target_names(t.target))
            self.assigned = node.value
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            return self._call_statement(node, node.value)
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Tuple):
            return self._several(node.value)
        if isinstance(node, cst.Assign) and len(node.targets) == 1:
            return self._assign(node, node.targets[0].target)
        if isinstance(node, cst.Assign) and any(isinstance(t.target, cst.Subscript) and self._is_tensor(t.target.value) for t in node.targets):
            return self._chained_targets(node)
        if isinstance(node, cst.AugAssign):
            return self._augmented(node)
        return self.expression(node)

    def _several(self, node: cst.Tuple) -> Any:
        """`a.zero_(), b.zero_()` as a statement: one after another."""
        made = [self.small(cst.Expr(element.value)) for element in node.elements]
        self.prelude.extend(cst.SimpleStatementLine([m]) for m in made[:-1] if m is not None)
        return made[-1] if made else None

    def _assign(self, node: cst.Assign, target: Any) -> Any:
        if id(node) in self.mutations.written:
            return self._taken_back(node, target)
        if isinstance(target, cst.Subscript) and self._is_tensor(target.value) and not self._holds_objects(target, node.value):
            value = self.expression(node.value)
            return self._store(node, target, value)
        if isinstance(target, cst.Attribute) and target.attr.value == "data" and (self._is_tensor(target.value) or self._names_param(target.value)):
            return self._rebind(target.value, self.expression(node.value), node)
        if isinstance(target, cst.Tuple) and any(isinstance(e.value, cst.Subscript) and self._is_tensor(e.value.value) for e in target.elements):
            return self._unpacked(node, target)
        updated = self._updating(node.value, target.value) if isinstance(target, cst.Name) and isinstance(node.value, cst.Call) else None
        if updated is not None:
            return None  # what stands before has set the name
        inplace = self._inplace_call(node.value)
        if inplace is not None:
            subject, value = inplace
            return self._through(node, subject, value)
        return self.expression(node)

    def _chained_targets(self, node: cst.Assign) -> Any:
        """`x[0] = y[1] = v`: one after another, from the left."""
        value: Any = node.value
        if not isinstance(value, (cst.Name, cst.Integer, cst.Float)):
            name = cst.Name(fresh_name(tree.names_read(self.node), "value"))
            self.facts.carry(value, name)
            self.prelude.append(tree.assignment(name, self.expression(value)))
            value = name
        made: Any = None
        for target in node.targets:
            if made is not None:
                self.prelude.append(cst.SimpleStatementLine([made]))
            made = self._assign(cst.Assign([target], value), target.target)
        return made

    def _taken_back(self, node: cst.Assign, target: Any) -> Any:
        """`z = shifted(z, y)`, made of a call that changed z: other names for it follow, parts of others are put back."""
        targets = [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]
        value: Any = self.expression(node.value)
        plain: list[Any] = []
        stores: list[Any] = []
        for i, one in enumerate(targets):
            if isinstance(one, cst.Subscript) and self._is_tensor(one.value):
                name = cst.Name(fresh_name(tree.names_read(self.node), f"part_{i}" if i else "part"))
                self.facts.carry(one, name)
                stores.append((one, name))
                plain.append(name)
            else:
                plain.append(one)
        if isinstance(target, cst.Tuple):
            left: Any = tree.replace(target, elements=[tree.replace(e, value=p) for e, p in zip(target.elements, plain)])
        else:
            left = plain[0]
        for one in plain:
            if isinstance(one, (cst.Name, cst.Attribute)) and self._is_tensor(one):
                self._follow(one, node)
        made = cst.Assign([cst.AssignTarget(left)], value)
        if not stores:
            return made
        self.prelude.append(cst.SimpleStatementLine([made]))
        for one, name in stores[:-1]:
            stored = self._store(cst.Assign([cst.AssignTarget(one)], name), one, name)
            self.prelude.append(cst.SimpleStatementLine([stored]))
        one, name = stores[-1]
        return self._store(cst.Assign([cst.AssignTarget(one)], name), one, name)

    def _holds_objects(self, target: cst.Subscript, value: Any) -> bool:
        """Whether what is only assumed to be a tensor must be a list or dict: by what is stored, or under what."""
        base = self.context.value(target.value)
        if not (isinstance(base, Tensor) and base.assumed):
            return False
        index = target.slice[0].slice
        key = self.context.value(index.value) if isinstance(index, cst.Index) else UNKNOWN
        return isinstance(value, (cst.Tuple, cst.List, cst.Dict)) or isinstance(key, Static) and key.type == "str" or isinstance(self.context.value(value), (Sequence, Module))

    def _unpacked(self, node: cst.Assign, target: Any) -> Any:
        """`x[0], y[1] = a, b`: one after another, in order, from temporaries; `x[0], x[1] = x[1], x[0]` reads views, when their turn comes."""
        names = []
        if isinstance(node.value, cst.Tuple) and len(node.value.elements) == len(target.elements):
            written = {tree.code(e.value.value) for e in target.elements if isinstance(e.value, cst.Subscript)}
            values: list[Any] = [e.value for e in node.value.elements]
            late = [isinstance(v, cst.Subscript) and tree.code(v.value) in written and self._is_tensor(v.value) and index_kind(self.context, v.slice) == "basic" for v in values]
            if all(late) and all(isinstance(e.value, cst.Subscript) for e in target.elements):
                singles = [cst.Assign([cst.AssignTarget(e.value)], v) for e, v in zip(target.elements, values)]
                made = [self._assign(single, single.targets[0].target) for single in singles]
                self.prelude.extend(cst.SimpleStatementLine([m]) for m in made[:-1])
                return made[-1]
            if any(late):
                return self._expr(self.context.unconverted("aliased-write", node.value, "rows are given to rows of the same tensor, some of them views that the first stores change"))
        for i, element in enumerate(target.elements):
            names.append(f"value_{i}")
            del element
        temporaries = tree.replace(target, elements=[tree.replace(e, value=cst.Name(n)) for e, n in zip(target.elements, names)])
        self.prelude.append(tree.assignment(temporaries, self.expression(node.value)))
        last: Any = None
        for element, name in zip(target.elements, names):
            single = cst.Assign([cst.AssignTarget(element.value)], cst.Name(name))
            made = self._assign(single, element.value)
            if last is not None:
                self.prelude.append(cst.SimpleStatementLine([last]))
            last = made
        return last

    def _call_statement(self, node: cst.Expr, call: cst.Call) -> Any:
        inplace = self._inplace_call(call)
        if inplace is None:
            reached = self._mutating_call(node, call)
            if reached is not None:
                return reached
            return self.expression(node)
        subject, value = inplace
        return self._rebind(subject, value, node)

    def _through(self, node: cst.Assign, subject: Any, value: Any) -> Any:
        """`y = x.add_(1)`: x changes, and y is x."""
        root = self._lvalue(subject)
        target = node.targets[0].target
        if root is not None and is_undecided(self.context, node.value) and self._read_again(root, target):
            return tree.replace(node, value=self._undecided(node.value, root))
        if root is None or tree.code(target) == tree.code(subject):
            if root is None or tree.code(target) == tree.code(root):
                self._follow(root, node) if root is not None else None
                return tree.replace(node, value=value)
        name = self.memory.name(root)
        others = self.memory.sharing(name, self.live) if name is not None else []
        if name is not None and name not in self.live and not others:
            return tree.replace(node, value=value)
        made = self._rebind(subject, value, node)
        if made is None:
            return None
        self.prelude.append(cst.SimpleStatementLine([made]))
        return tree.replace(node, value=subject)

    def _augmented(self, node: cst.AugAssign) -> Any:
        target = node.target
        value = self.expression(node.value)
        if isinstance(target, cst.Subscript) and self._is_tensor(target.value):
            return self._augmented_store(node, target, value)
        if isinstance(target, cst.Subscript) and self._is_tensor(target) or isinstance(target, cst.Attribute) and self.memory.name(target) is None and self.context.value(target) == UNKNOWN:
            self._element_written(target, node)
        if isinstance(target, (cst.Name, cst.Attribute)) and (self._is_tensor(target) or self._held_by_object(target) and self._is_tensor(node.value)):
            root = self._lvalue(target)
            if root is None or (isinstance(target, cst.Attribute) and target.attr.value == "data"):
                operator = OPERATORS[type(node.operator)][1]
                return self._rebind(target, self._binary(target, operator, value), node)
            if isinstance(target, cst.Attribute) and not self._on_self(target):
                operator = OPERATORS[type(node.operator)][1]
                return self._rebind(target, self._binary(target, operator, value), node)
            self._follow(target, node)
        return node if value is node.value else tree.replace(node, value=value)

    def _on_self(self, target: cst.Attribute) -> bool:
        return isinstance(target.value, cst.Name) and target.value.value == self.info.self_name

    def _binary(self, left: Any, operator: Any, right: Any) -> Any:
        stand_in = cst.BinaryOperation(left, operator(), cst.Name("x"))
        made = cst.BinaryOperation(tree.fit(stand_in, "left", left), operator(), tree.fit(stand_in, "right", right))
        self.facts.carry(left, made)
        return made

    # ------------------------------------------------------------------ writes

    def _store(self, node: cst.Assign, target: cst.Subscript, value: Any) -> Any:
        base, index = target.value, target.slice
        kind = index_kind(self.context, index, base)
        if may_overlap(target, node.value):
            self.context.report("overlapping-copy", target, "source and target of this copy may overlap: it is converted as if the source were cloned first")
        scalar = isinstance(self.context.value(node.value), Static)
        selected = self._unselected(value, index)
        if moving(self.context, index):
            return self._store_window(node, target, value)
        if kind == "mask" and scalar:
            new = call("jnp.where", [only_index(index), value, base])
        elif selected is not None:
            new = call(self.context.name("assign_where"), [base, only_index(index), selected])
        elif kind == "basic":
            new = self._at(base, target, "set", value)
        else:
            new = call(self.context.name("store"), [base, index_expression(index), value])
        self._typed(new, base)
        return self._rebind(base, new, node)

    def _augmented_store(self, node: cst.AugAssign, target: cst.Subscript, value: Any) -> Any:
        method, operator = OPERATORS[type(node.operator)]
        base, index = target.value, target.slice
        kind = index_kind(self.context, index, base)
        scalar = isinstance(self.context.value(node.value), Static)
        if kind == "basic" and method:
            new = self._at(base, target, method, value)
        elif kind == "basic":
            new = self._at(base, target, "set", self._binary(target, operator, value))
        elif kind == "mask" and scalar:
            new = call("jnp.where", [only_index(index), self._binary(base, operator, value), base])
        elif scalar:
            function = tree.replace(tree.expression("lambda old: 0"), body=self._binary(cst.Name("old"), operator, value))
            new = call(self.context.name("update"), [base, index_expression(index), function])
        elif (selected := self._unselected(value, index)) is not None:
            new = call(self.context.name("assign_where"), [base, only_index(index), self._binary(base, operator, selected)])
        elif kind == "mask":
            return self._expr(self.context.unconverted("data-dependent-shape", target, "an update of the places of a mask by a value that may have their number"))
        else:
            new = call(self.context.name("store"), [base, index_expression(index), self._binary(target, operator, value)])
        self._typed(new, base)
        return self._rebind(base, new, node)

    def _unselected(self, value: Any, index: Any) -> Any:
        """In `x[m] = y[m] * 2` the right side for all places: `y * 2`. None where it is anything but arithmetic on what m selects."""
        mask = self.context.value(index[0].slice.value) if len(index) == 1 and isinstance(index[0].slice, cst.Index) else None
        if not (isinstance(mask, Tensor) and mask.kind == "b"):
            return None
        text, found = tree.code(index[0].slice.value), False

        def plain(node: Any) -> Any:
            nonlocal found
            if isinstance(node, cst.Subscript) and self._is_tensor(node.value) and len(node.slice) == 1 and tree.code(node.slice[0].slice) == text:
                found = True
                return node.value
            if isinstance(self.context.value(node), Static):
                return node
            if isinstance(node, cst.BinaryOperation) and not isinstance(node.operator, cst.MatrixMultiply):
                left, right = plain(node.left), plain(node.right)
                if left is None or right is None:
                    return None
                made = tree.replace(node, left=tree.fit(node, "left", left), right=tree.fit(node, "right", right))
                self.facts.carry(node, made)
                return made
            if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
                inner = plain(node.expression)
                return None if inner is None else tree.replace(node, expression=tree.fit(node, "expression", inner))
            return None

        made = plain(value)
        return made if found else None

    def _store_window(self, node: cst.Assign, target: cst.Subscript, value: Any) -> Any:
        """`queue[:, i : i + n] = keys` where only the data tells i."""
        places, base = moving(self.context, target.slice), target.value
        part = window(target.slice[places[0]].slice)
        whole = all(tree.code(e.slice) == ":" for i, e in enumerate(target.slice) if i != places[0])
        if len(places) != 1 or part is None or not whole or isinstance(self.context.value(node.value), Static):
            return self._expr(self.context.unconverted("data-dependent-shape", target, "a store into a slice whose length follows from data"))
        cast = tree.expression("x.astype(y.dtype)")
        cast = tree.replace(cast, func=tree.replace(cast.func, value=tree.fit(cast.func, "value", value)), args=[cst.Arg(cst.Attribute(base, cst.Name("dtype")))])
        new = call("lax.dynamic_update_slice_in_dim", [base, cast, part[0], cst.Integer(str(places[0]))])
        self._typed(new, base)
        return self._rebind(base, new, node)

    def _expr(self, value: Any) -> Any:
        return cst.Expr(value)

    def _typed(self, new: Any, like: Any) -> None:
        self.facts.carry(like, new)

    def _at(self, base: Any, target: cst.Subscript, method: str, value: Any) -> Any:
        at = cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", base), cst.Name("at"))
        place = tree.replace(target, value=at)
        call = cst.Call(cst.Attribute(place, cst.Name(method)), [cst.Arg(value if not isinstance(value, cst.Tuple) or value.lpar else tree.parenthesised(value))])
        self._typed(call, base)
        return call

    def _rebind(self, subject: Any, value: Any, node: Any) -> Any:
        """Assign a new value to what an in-place operation wrote, and let its aliases follow."""
        subject = self._strip(subject)
        if isinstance(subject, cst.Subscript):
            outer = subject.value
            if self._is_tensor(outer):
                kind = index_kind(self.context, subject.slice)
                if kind == "basic":
                    return self._rebind(outer, self._at(outer, subject, "set", value), node)
                if isinstance(node, cst.Expr):
                    return cst.Expr(value)  # a copy is written: nothing changes
                return self._refuse(node, subject)
            self._element_written(subject, node)
            return cst.Assign([cst.AssignTarget(subject)], value)
        if isinstance(subject, cst.Call) and isinstance(subject.func, cst.Attribute) and not isinstance(self.context.value(subject.func), Torch):
            back = self._put_back(subject, value)
            if back is not None:
                return self._rebind(subject.func.value, back, node)
            return self._refuse(node, subject)
        if not isinstance(subject, (cst.Name, cst.Attribute)):
            return self._refuse(node, subject)
        if isinstance(subject, cst.Attribute) and subject.attr.value in ("T", "mT"):
            swapped = cst.Attribute(tree.fit(subject, "value", value), subject.attr)
            self.facts.carry(subject, swapped)
            return self._rebind(subject.value, swapped, node)
        self._follow(subject, node)
        return cst.Assign([cst.AssignTarget(subject)], value)

    def _element_written(self, subject: Any, node: Any) -> None:
        """A write to an element of a list or dict, or to an attribute of an object: names for the same memory cannot follow."""
        root: Any = subject
        while isinstance(root, (cst.Subscript, cst.Attribute)) and self.memory.name(root) is None:
            root = root.value
        name = self.memory.name(root)
        if name is None or not self.runs:
            return
        for other in self.memory.sharing(name, self.live):
            poison = self.context.unconverted("aliased-write", node.value if hasattr(node, "value") else node, f"an element of {name} is written in place, and {other} may be the same memory")
            self.after.append(tree.assignment(self._target(other), poison))
        reached = self.memory.parameters(name)
        if reached - {name}:
            self.mutations.writes.setdefault(self.info, set()).update(reached)

    def _put_back(self, view: cst.Call, value: Any) -> Any:
        """The base after a view of it got a new value: `x.view(-1)[i] = v`."""
        assert isinstance(view.func, cst.Attribute)
        base, kind = view.func.value, self.views.get(view.func.attr.value)
        if kind == "same":
            return value
        if kind == "reshape":
            made = tree.expression("a.reshape(b.shape)")
            made = tree.replace(made, func=tree.replace(made.func, value=tree.fit(made.func, "value", value)), args=[cst.Arg(cst.Attribute(base, cst.Name("shape")))])
            self.facts.tell(made.func, Method(Tensor(), "reshape"))
            self.facts.tell(made.args[0].value, Static(type="shape"))
            self.facts.carry(base, made)
            return made
        if kind == "swap":
            made = tree.replace(view, func=tree.replace(view.func, value=tree.fit(view.func, "value", value)))
            self.facts.tell(made.func, Method(Tensor(), view.func.attr.value))
            self.facts.carry(base, made)
            return made
        if kind == "part" and view.func.attr.value in _PLACES and isinstance(self.context.value(view.func), Method):
            return self._put_through(view, base, value)
        return None

    def _put_through(self, view: Any, base: Any, value: Any) -> Any:
        """The base with new values at the places that a view of it has: `nn.write_view(z, lambda z: z.diagonal(), value)`."""
        name = base.value if isinstance(base, cst.Name) else "array"
        function = tree.expression(f"lambda {name}: 0")
        made = call(self.context.name("write_view"), [base, tree.replace(function, body=self._on(view, name)), value])
        self.facts.carry(base, made)
        return made

    def _strip(self, subject: Any) -> Any:
        """`x.data`, `x.detach()` and the like are x itself, as far as a write goes."""
        while True:
            if isinstance(subject, cst.Attribute) and subject.attr.value == "data" and (self._is_tensor(subject.value) or self._names_param(subject.value)):
                subject = subject.value
            elif isinstance(subject, cst.Call) and isinstance(subject.func, cst.Attribute) and self.views.get(subject.func.attr.value) == "same" and subject.func.attr.value in ("detach", "contiguous", "requires_grad_"):
                subject = subject.func.value
            else:
                return subject

    def _names_param(self, node: Any) -> bool:
        """Whether code that builds models gives an attribute a name that layers give their arrays: `linear.weight` of any linear."""
        return not self.runs and isinstance(node, cst.Attribute) and node.attr.value in self.context.rulebook.array_names

    def _lvalue(self, subject: Any) -> Any:
        """The name or attribute that an in-place operation on this expression writes."""
        subject = self._strip(subject)
        while isinstance(subject, cst.Subscript):
            subject = self._strip(subject.value)
        return subject if isinstance(subject, (cst.Name, cst.Attribute)) else None

    def _follow(self, subject: Any, node: Any) -> None:
        """Names for the same memory that are read later get the new value."""
        if not self.runs:
            return
        name = self.memory.name(subject)
        if name is None:
            return self._element_written(subject, node)
        if self._held_by_object(subject) and not self._owned(subject.attr.value):
            message = f"{name} is written in place, and what it was made from, or who was given it, may have the same memory"
            self.after.append(tree.assignment(subject, self.context.unconverted("aliased-write", node, message)))
        for loop, over in self.rows:
            if name == over or self.memory.sharing(name, frozenset([over])):
                raise _Stale(loop)
        others = [o for o in self.memory.sharing(name, self.live) if not self.memory.apart(name, o)]
        bases = self._bases(name, others)
        done: dict[Any, str] = {}
        for other in [*(o for o in others if o in bases), *(o for o in others if o not in bases)]:
            place = self.memory.only(other)
            relation = self._target(done[place]) if place in done else self._relation(name, other)
            if place is not None and relation is not None:
                done[place] = other
            if relation is None:
                relation = self._sibling(name, other, bases)
            if relation is None:
                message = f"{name} is written in place, and {other} may be the same memory"
                poison = self.context.unconverted("aliased-write", node.value if hasattr(node, "value") else node, message)
                self.after.append(tree.assignment(self._target(other), poison))
            else:
                follower = tree.assignment(self._target(other), relation)
                self.followers.add(id(follower))
                self.kept.append(follower)
                self.after.append(follower)
        reached = self.memory.parameters(name)
        if reached:
            self.mutations.writes.setdefault(self.info, set()).update(reached)

    def _held_by_object(self, node: Any) -> bool:
        """`self.t` in a method of a class that is no module."""
        return isinstance(node, cst.Attribute) and self.info.owner is not None and not self.info.owner.is_module and self._on_self(node)

    def _owned(self, name: str) -> bool:
        if name not in self.mutations.owned:
            self.mutations.owned[name] = is_owned(self.facts, name, self.views)
        return self.mutations.owned[name]

    def _bases(self, name: str, others: list[str]) -> list[str]:
        """Of these names, those that are what the written view is a view of."""
        mine = self.memory.only(name)
        if mine is None or mine.view is None:
            return []
        return [o for o in others if (its := self.memory.only(o)) is not None and mine.parents == frozenset([its])]

    def _sibling(self, name: str, other: str, bases: list[str]) -> Any:
        """Two views of one base: the base has been written back, and the other is taken from it again."""
        its = self.memory.only(other)
        if its is None or its.view is None or not bases or not self.memory.unchanged(its):
            return None
        return self._on(its.view, bases[0]) if its.parents == self.memory.places(bases[0]) else None

    def _target(self, name: str) -> Any:
        """A name of the alias analysis as an expression."""
        node = tree.expression(name.replace("self.", f"{self.info.self_name}.", 1) if name.startswith("self.") else name)
        if name.startswith("self.") and self.info.owner is not None:
            self.facts.tell(node.value, Module(frozenset([self.info.owner]), is_self=True))
        self.facts.tell(node, Tensor())
        return node

    def _relation(self, name: str, other: str) -> Any:
        """What the other name becomes when this one has its new value, or None where that is not known."""
        mine, its = self.memory.only(name), self.memory.only(other)
        if mine is None or its is None:
            return None
        if mine is its:
            return self._target(name)
        if its.view is not None and its.parents == frozenset([mine]) and self.memory.unchanged(its):
            return self._on(its.view, name)  # a view of what was written is taken again
        if mine.view is not None and mine.parents == frozenset([its]) and self.memory.unchanged(mine):
            return self._written_back(self._on(mine.view, other), self._target(name))
        return None

    def _on(self, view: Any, name: str) -> Any:
        """The expression of a view, of another base."""
        if isinstance(view, cst.Subscript) and isinstance(view.value, cst.Call):  # a part of several: `z.chunk(2)[0]`
            whole = self._on(view.value, name)
            self.facts.tell(whole, Sequence(Tensor()))
            part = tree.replace(view, value=whole)
            self.facts.tell(part, Tensor())
            return part
        base = self._target(name)
        if isinstance(view, cst.Call):
            new = tree.replace(view, func=tree.replace(view.func, value=base))
            self.facts.tell(new.func, Method(Tensor(), view.func.attr.value))  # type: ignore[attr-defined]
        else:
            new = tree.replace(view, value=base)
        self.facts.carry(view, new)
        return new

    def _written_back(self, view: Any, value: Any) -> Any:
        """The base after a view of it was written."""
        if isinstance(view, cst.Subscript) and isinstance(view.value, cst.Call):
            return self._put_through(view, view.value.func.value, value)  # type: ignore[attr-defined]
        if isinstance(view, cst.Subscript):
            return self._at(view.value, view, "set", value)
        if isinstance(view, cst.Call):
            return self._put_back(view, value)
        if isinstance(view, cst.Attribute) and view.attr.value in ("T", "mT"):
            return tree.replace(view, value=value)
        return value if isinstance(view, cst.Attribute) else None

    def _refuse(self, node: Any, subject: Any) -> Any:
        poison = self.context.unconverted("aliased-write", subject, "an in-place operation on an expression whose memory is not known")
        return cst.Expr(poison)

    # ------------------------------------------------------------------ calls that write

    def _is_tensor(self, node: Any) -> bool:
        value = self.context.value(node)
        if isinstance(value, Tensor):
            return True
        if isinstance(value, Method) and not isinstance(value.receiver, Sequence):
            return isinstance(node, cst.Attribute) and node.attr.value in self.context.rulebook.array_names
        return False

    def _inplace_call(self, node: Any) -> tuple[Any, Any] | None:
        """For a call that writes: what it writes, and the new value as an expression without mutation."""
        if not isinstance(node, cst.Call):
            return None
        value = self.context.value(node.func)
        if isinstance(value, Method) and isinstance(node.func, cst.Attribute):
            name = value.name
            if is_inplace_name(name) and (isinstance(value.receiver, Tensor) or value.receiver == UNKNOWN or isinstance(value.receiver, Method)):
                if self.views.get(name) == "same" or not is_known_method(self.context, name):
                    return None
                chained = self._inplace_call(node.func.value)
                if chained is not None:  # x.mul_(a).add_(b)
                    return chained[0], self._method_call(node, self._settled(node, *chained), name)
                receiver = self.expression(node.func.value)
                plain = self._strip(receiver)
                new = self._method_call(node, plain, name)
                return node.func.value, new
            return None
        if isinstance(value, Torch):
            last = value.name.rpartition(".")[2]
            out = out_argument(node)
            if out is not None and tree.code(out.value) != "None":
                return out.value, self._with_args(node, [a for a in node.args if a is not out])
            written = is_inplace_name(last) or says_inplace(self.context, node) or is_old_spelling(self.context, value.name)
            if written and node.args:
                first = next((a for a in node.args if a.keyword is None or a.keyword.value in ("tensor", "input")), None)
                if first is None:
                    return None
                stripped = self._strip(first.value)
                args = [tree.replace(a, value=self.expression(stripped)) if a is first else self.expression(a) for a in node.args]
                told = inplace_argument(self.context, node)
                made = self._with_args(node, [new for new, old in zip(args, node.args) if old is not told])
                if last.endswith("_") and not self.context.rulebook.find(value.name) and self.context.rulebook.find(value.name[:-1]):
                    func = tree.replace(node.func, attr=cst.Name(last[:-1])) if isinstance(node.func, cst.Attribute) else cst.Name(last[:-1])
                    self.facts.tell(func, Torch(value.name[:-1]))
                    made = tree.replace(made, func=func)
                    self.facts.carry(node, made)
                return first.value, made
            return None
        if isinstance(value, Module) and module_writes(self.views, value) and node.args and isinstance(node.args[0].value, (cst.Name, cst.Attribute, cst.Subscript)):
            subject: Any = node.args[0].value
            if self._is_tensor(subject) and self.runs:
                return subject, self.expression_inside(node)
        return None

    def _settled(self, node: cst.Call, subject: Any, value: Any) -> Any:
        """In `x.mul_(a).add_(x)` the second call reads what the first has written: it is written before."""
        root = self._lvalue(subject)
        name = self.memory.name(root) if root is not None else None
        read = {n for a in node.args for n in self.liveness.reads(a)}
        if name is None or not self.runs or not (name in read or self.memory.sharing(name, frozenset(read))):
            return value
        if self.chosen:
            return self.context.unconverted("aliased-write", node, f"{name} is written in place on one side of a choice, and read there: write the choice as an if statement")
        live, self.live = self.live, self.live | read
        made = self._rebind(subject, value, cst.Expr(node))
        self.live = live
        if made is not None:
            self.prelude.append(cst.SimpleStatementLine([made]))
        self.prelude.extend(self.after)
        self.after = []
        return subject

    def _read_again(self, root: Any, target: Any) -> bool:
        """Whether what a write of `root` reaches is read later under another name than the assignment's target."""
        name = self.memory.name(root)
        return name is not None and (name in self.live and tree.code(target) != name or bool(set(self.memory.sharing(name, self.live)) - {tree.code(target)}))

    def _undecided(self, node: Any, root: Any) -> Any:
        return self.context.unconverted("aliased-write", node, f"{tree.code(root)} is read later, and whether this writes it is not known here; write inplace=False or True")

    def _method_call(self, node: cst.Call, receiver: Any, name: str) -> Any:
        """The functional form: without the underscore where that exists."""
        find = self.context.rulebook.find
        plain = name if find("torch.Tensor." + name) else name[:-1]
        func = cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", receiver), cst.Name(plain))
        self.facts.tell(func, Method(Tensor(), plain))
        args = [self.expression(a) for a in node.args]
        new = tree.replace(node, func=func, args=args)
        self.facts.tell(new, Tensor())
        self.facts.origin[id(new)] = self.facts.origin.get(id(node), node)
        return new

    def _with_args(self, node: cst.Call, args: list[Any]) -> Any:
        if args:
            args = [*args[:-1], tree.replace(args[-1], comma=cst.MaybeSentinel.DEFAULT)]
        new = tree.replace(node, args=args)
        self.facts.carry(node, new)
        return new

    def _mutating_call(self, node: cst.Expr, call: cst.Call) -> Any:
        """`clip_(x, 2.0)` as a statement, of a function that returns the argument it writes."""
        value = self.context.value(call.func)
        if not isinstance(value, Function):
            return None
        written = self.mutations.writes.get(value.info)
        if not written:
            return None
        names = [p.name.value for p in value.info.parameters()]
        reached = [(n, a) for n, a in zip(names, call.args) if n in written and a.keyword is None]
        if len(reached) == 1 and value.info.given_back() == reached[0][0] and isinstance(reached[0][1].value, (cst.Name, cst.Attribute)):
            subject = reached[0][1].value
            self._follow(subject, node)
            return cst.Assign([cst.AssignTarget(subject)], call)
        return None

    # ------------------------------------------------------------------ expressions

    def expression(self, node: Any) -> Any:
        """In-place calls inside an expression: taken out before it where their subject is read again."""
        return tree.rewrite(node, self._visit, only=_VISITED)

    def expression_inside(self, node: cst.Call) -> Any:
        args = [self.expression(a) for a in node.args]
        if all(a is b for a, b in zip(args, node.args)):
            return node
        new = tree.replace(node, args=args)
        self.facts.carry(node, new)
        return new

    def _visit(self, node: cst.CSTNode) -> Any:
        if node.__class__ is cst.Lambda:
            for call_ in tree.nodes(node, cst.Call) if self.runs else ():
                if self._inplace_call(call_) is not None:
                    return self.context.unconverted("aliased-write", node, "a lambda that writes in place")
            return node
        if isinstance(node, (cst.IfExp, cst.BooleanOperation)):
            return self._chosen(node)
        if isinstance(node, _COMPREHENSIONS):
            return self._repeated(node)
        if not isinstance(node, cst.Call):
            return node
        poison = self._check_arguments(node)
        if poison is not None:
            return poison
        updated = self._updating(node)
        if updated is not None:
            return updated
        inplace = self._inplace_call(node)
        if inplace is None:
            return None
        subject, value = inplace
        root = self._lvalue(subject)
        if root is None:
            return value
        name = self.memory.name(root)
        if name is None:
            return value
        elsewhere = self._elsewhere(node, name)
        if elsewhere == "before":
            return self.context.unconverted("aliased-write", node, f"{name} is read and then written in place in one expression")
        read_again = elsewhere == "after" or name in self.live or bool(self.memory.sharing(name, self.live)) or name.startswith("self.")
        if not read_again:
            if self.memory.parameters(name) and self.runs:
                self.mutations.writes.setdefault(self.info, set()).update(self.memory.parameters(name))
            return value
        if not self.runs:
            return value
        if is_undecided(self.context, node):
            return self._undecided(node, root)
        if self.chosen:
            return self.context.unconverted("aliased-write", node, f"{name} is written in place on one side of a choice, and read later: write the choice as an if statement")
        made = self._rebind(subject, value, cst.Expr(node))
        if made is not None:
            self.prelude.append(cst.SimpleStatementLine([made]))
        self.prelude.extend(self.after)
        self.after = []
        return subject

    def _chosen(self, node: Any) -> Any:
        """`x.relu_() if inplace else x.relu()`, `ready and x.zero_()`: what is not evaluated for certain writes nothing before the statement."""
        first, others = ("test", ("body", "orelse")) if isinstance(node, cst.IfExp) else ("left", ("right",))
        changes = {first: self.expression(getattr(node, first))}
        self.chosen += 1
        changes.update({side: self.expression(getattr(node, side)) for side in others})
        self.chosen -= 1
        if all(new is getattr(node, side) for side, new in changes.items()):
            return node
        new = tree.replace(node, **{side: tree.fit(node, side, value) for side, value in changes.items()})
        self.facts.carry(node, new)
        return new

    def _repeated(self, node: Any) -> Any:
        """`[t.mul_(2) for t in ts]` makes new tensors, where nobody reads those that it writes."""
        bound = set(tree.target_names(node.for_in.target))
        for call_ in tree.nodes(node, cst.Call) if self.runs else ():
            inplace = self._inplace_call(call_)
            root = self._lvalue(inplace[0]) if inplace is not None else None
            name = self.memory.name(root) if root is not None else None
            if name is None:
                continue
            read = {n for n in tree.names_read(node.for_in.iter) if n in self.live or self.memory.parameters(n) or self.memory.sharing(n, self.live)}
            if name not in bound or read:
                return self.context.unconverted("aliased-write", node, f"a comprehension that writes {name} in place: write it as a loop")
        return None

    def _updating(self, node: cst.Call, name: str | None = None) -> Any:
        """`F.batch_norm(x, self.mean, self.var, …)` returns its result and what it has written, which is stored."""
        value = self.context.value(node.func)
        rules = self.context.rulebook.find(value.name + "[updating]") if isinstance(value, Torch) and self.runs else ()
        if not rules or not isinstance(value, Torch):
            return None
        parameters = [p.name for p in rules[0].parameters]
        given = {a.keyword.value if a.keyword is not None else parameters[i]: a.value for i, a in enumerate(node.args) if i < len(parameters) and not a.star}
        words = self.context.rulebook.table("UPDATES")[value.name]
        passed = [given.get(word) for word in words]
        test = _common_test(passed)
        written: list[Any] = passed if test is None else [choice.body for choice in passed]  # type: ignore[union-attr]
        if self.chosen or tree.code(given.get("training", cst.Name("False"))) == "False" or not all(self._is_tensor(w) and (isinstance(w, cst.Attribute) or self._made_here(w)) for w in written):
            return None
        func = tree.replace(node.func)
        self.facts.tell(func, Torch(value.name + "[updating]"))
        call = tree.replace(self.expression_inside(node), func=func)
        if name is None:
            name = fresh_name(tree.names_read(self.node), "output")
        if test is None:
            self.prelude.append(tree.assignment(display([cst.Name(name), *written]), call))
        else:  # `self.mean if track else None`: only then there is something to keep
            new = [cst.Name(fresh_name(tree.names_read(self.node), word)) for word in words]
            self.prelude.append(tree.assignment(display([cst.Name(name), *new]), call))
            keep = tree.assignment(display(written), display(new))
            self.prelude.append(cst.If(test, cst.IndentedBlock([keep])))
        result = cst.Name(name)
        self.facts.tell(result, Tensor())
        return result

    def _made_here(self, node: Any) -> bool:
        """Whether a local name stands for memory that only such calls see: `mean = torch.zeros(3)`, of no other tensor."""
        if not isinstance(node, cst.Name) or node.value not in tree.bound_once(self.node.body):
            return False
        made = [n.value for n in tree.nodes(self.node.body, cst.Assign) if [tree.code(t.target) for t in n.targets] == [node.value]]
        value = made[0] if len(made) == 1 else None
        if not isinstance(value, cst.Call) or not isinstance(self.context.value(value.func), Torch):
            return False
        calls = [n for n in tree.nodes(self.node.body, cst.Call) if isinstance(f := self.context.value(n.func), Torch) and f.name in self.context.rulebook.table("UPDATES")]
        uses = sum(isinstance(a.value, cst.Name) and a.value.value == node.value for n in calls for a in n.args)
        words = {id(n.attr) for n in tree.nodes(self.node.body, cst.Attribute)}  # `torch.zeros` is no name
        seen = sum(n.value == node.value and id(n) not in words for n in tree.nodes(self.node.body, cst.Name)) - 1
        return uses == seen and not any(isinstance(self.context.value(a.value), Tensor) for a in value.args)

    def _elsewhere(self, call: Any, name: str) -> str:
        """Whether the statement reads the name outside an in-place call: "after" it (or as the object itself), "before", or "".

        `z * z.add_(y)` multiplies the new z by itself, since both operands are the object; `(z + 1) * z.add_(y)` computed
        with the old z first.
        """
        found = ""
        inside = {id(n) for n in tree.walk(call)}
        passed = False

        def look(node: Any, around: bool) -> None:
            nonlocal found, passed
            if node is call:
                passed = True
                return
            holds = any(id(n) == id(call) for n in tree.walk(node))
            if self.memory.name(node) == name and id(node) not in inside:
                if passed or around:
                    found = found or "after"
                else:
                    found = "before"
                return
            transparent = isinstance(node, (cst.Arg, cst.Element, cst.Tuple, cst.List))
            below = tree.children(node)
            if isinstance(node, cst.IfExp) and holds:  # the other side is not evaluated, and the test only decides
                below = [side for side in (node.body, node.orelse) if any(n is call for n in tree.walk(side))]
            for child in below:
                look(child, holds or around and transparent)

        if self.current is not None:
            for small in self.current.body if isinstance(self.current, cst.SimpleStatementLine) else [self.current]:
                if any(n is call for n in tree.walk(small)):
                    targets = [t.target for t in small.targets] if isinstance(small, cst.Assign) else []
                    for child in tree.children(small):
                        if not (isinstance(child, cst.AssignTarget) and child.target in targets):
                            look(child, True)
        return found

    def _is_taken_back(self, call: cst.Call) -> bool:
        small = self.current.body[0] if isinstance(self.current, cst.SimpleStatementLine) else None
        return isinstance(small, cst.Assign) and id(small) in self.mutations.written and small.value is call

    def _check_arguments(self, node: cst.Call) -> Any:
        """A callee that writes its argument, where the caller reads it afterwards: what stands for the call, if that is in the same expression."""
        value = self.context.value(node.func)
        infos: list[FunctionInfo] = []
        if isinstance(value, Function):
            infos = [value.info]
        elif isinstance(value, Module):
            infos = [f for ref in value.refs if (f := self.facts.forward_of(ref)) is not None]
        elif isinstance(value, Method) and not isinstance(value.receiver, (Tensor, Sequence, Static, Module)) and self.runs:
            infos = [f for f in self.mutations.writes if f.name == value.name and f.owner is not None]  # of an object of some class
        for info in infos:
            written = self.mutations.writes.get(info)
            if not written or not self.runs or info in self.mutations.returned and self._is_taken_back(node):
                continue
            names = [p.name.value for p in info.parameters()]
            for i, argument in enumerate(node.args):
                name = argument.keyword.value if argument.keyword is not None else names[i] if i < len(names) else ""
                if name not in written:
                    continue
                root = self._lvalue(argument.value)
                if root is None:
                    continue
                own = self.memory.name(root)
                if own is None:
                    continue
                message = f"{info.qualname} changes {name} in place, and {own} is read afterwards"
                if self._elsewhere(node, own) == "after" and node is not self.assigned:
                    return self.context.unconverted("mutated-argument", node, message)
                live = self.live - self.rebound if node is self.assigned else self.live
                if own in live or own.startswith("self."):
                    poison = self.context.unconverted("mutated-argument", node, message)
                    if not own.startswith("self."):
                        self.after.append(tree.assignment(own, poison))
                for other in self.memory.sharing(own, live):
                    poison = self.context.unconverted("mutated-argument", node, message)
                    if not other.startswith("self."):
                        self.after.append(tree.assignment(other, poison))
                reached = self.memory.parameters(own)
                if reached:
                    self.mutations.writes.setdefault(self.info, set()).update(reached)
        return None
