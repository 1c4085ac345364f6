"""A loop that carries arrays from turn to turn becomes a scan: compiled once, however many turns it has.

    outputs = []                                      def step(h, x_t):
    for t in range(T):                                    h = jnp.tanh(x_t @ w + h)
        h = jnp.tanh(x[:, t] @ w + h)         ->          return h, h
        outputs.append(h)
    y = jnp.stack(outputs, axis=1)                    h, outputs = nn.scan(step, h, x.swapaxes(0, 1))
                                                      y = outputs.swapaxes(0, 1)

Left as it is, and unrolled by jit: a loop whose index is used in another way than to pick from arrays (`x[:t]`, `self.cells[t]`),
that carries anything but arrays, calls what may be another in each turn (`next(it)`), grows a list whose later use is another than `jnp.stack`, or has few turns, written out.
`nn.scan` itself falls back to a loop where a turn changes the type of what it carries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..dataflow import exposed, reads, writes
from ..emit import call, display, enclosed, fresh_name, function, keyword, names, spaced
from ..host_effects import effect
from ..liveness import Liveness
from ..values import Tensor, is_traced

FEW = 8  # turns that are written out in the source: `range(3)`


def run(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Rewrite every such loop of one function, inner ones first."""
    if not any(tree.nodes(node.body, cst.For)):
        return node
    return _Scans(context, node).function()  # type: ignore[no-any-return]


@dataclass
class _Loop:
    """What a loop goes over: its index (a number), and the arrays whose rows its targets are."""

    index: str | None
    count: Any  # the number of turns as an expression, or None where arrays tell
    rows: list[tuple[Any, Any]] = field(default_factory=list)  # a target, and the array along whose first axis it runs
    reverse: bool = False


class _Scans:
    def __init__(self, context: Context, node: Any) -> None:
        self.context, self.node = context, node
        self.liveness = Liveness(node, None)
        self.used = tree.names_read(node)
        self.kinds: dict[str, list[Any]] = {}
        for n in tree.nodes(node, cst.Name):
            if id(n) in context.facts.values:
                self.kinds.setdefault(n.value, []).append(context.value(n))

    def function(self) -> Any:
        body = tree.body_statements(self.node)
        new = self.block(body)
        return self.node if tree.same(new, body) else tree.with_body(self.node, new)

    def block(self, statements: list[Any]) -> list[Any]:
        out = list(statements)
        i = 0
        while i < len(out):
            node = out[i]
            if isinstance(node, cst.FunctionDef):
                out[i] = run(self.context, node)
            elif isinstance(node, (cst.If, cst.For, cst.While, cst.With)):
                new = self._inside(node)
                made = self._scan(node, new, out[:i], out[i + 1 :]) if isinstance(node, cst.For) else None
                if made is None:
                    out[i] = new
                else:
                    out[:] = made
                    i = next(j for j, s in enumerate(out) if s is self.last)
            i += 1
        return out

    last: Any = None  # the scan made last

    def _inside(self, node: Any) -> Any:
        body = tree.body_statements(node)
        made = self.block(body)
        new = node if tree.same(made, body) else tree.with_body(node, made)
        orelse = getattr(node, "orelse", None)
        if isinstance(orelse, cst.If):
            inner = self._inside(orelse)
            new = new if inner is orelse else tree.replace(new, orelse=inner)
        elif orelse is not None:
            inner = self._inside(orelse)
            new = new if inner is orelse else tree.replace(new, orelse=inner)
        return new

    # ------------------------------------------------------------------ one loop

    def _scan(self, old: cst.For, node: cst.For, before: list[Any], after: list[Any]) -> list[Any] | None:
        """The statements of the block with the loop replaced, or None where it stays."""
        loop = self._loop(node)
        body = tree.body_statements(node)
        if loop is None or node.orelse is not None or not self._plain(body):
            return None
        if any(set(self.liveness.through.get(name, ())).intersection(writes(body)) for name in exposed(body)):
            return None  # a function that reads what the loop carries would not see it
        live = self.liveness.after.get(id(old), frozenset())
        targets = set(tree.target_names(node.target))
        if targets & live or targets & set(writes(body)):
            return None
        appended = self._appended(body, before, after)
        if appended is None:
            return None
        lists = [name for name, _ in appended.values()]
        body = [s for s in body if id(s) not in appended]
        set_before = {n for s in before for n in tree.names_assigned(s)} | tree.parameter_names(self.node)
        carried = [n for n in writes(body) if (n in exposed(body) or n in live) and n not in lists]
        if not carried or not all(n == "state" or self._is_array(n) for n in carried) or not set(carried) <= set_before:
            return None
        if set(lists) & set(reads(cst.IndentedBlock(body))) or set(lists) & set(carried):
            return None
        rows, body = self._rows(loop, body, carried)
        if rows is None:
            return None
        return self._emit(node, loop, rows, body, carried, appended, before, after)

    def _loop(self, node: cst.For) -> _Loop | None:
        target, iterated = node.target, node.iter
        if isinstance(iterated, cst.Call):
            function = tree.dotted(iterated.func)
            if function == "reversed" and len(iterated.args) == 1 and isinstance(iterated.args[0].value, cst.Call):
                inner = self._loop(tree.replace(node, iter=iterated.args[0].value))
                return None if inner is None or inner.rows else _Loop(inner.index, inner.count, [], True)
            if function == "range" and len(iterated.args) == 1 and isinstance(target, cst.Name):
                count = iterated.args[0].value
                if isinstance(count, cst.Integer) and int(count.value) <= FEW or is_traced(self.context.value(count)):
                    return None
                return _Loop(target.value, count)
            if function == "enumerate" and len(iterated.args) == 1 and isinstance(target, cst.Tuple) and len(target.elements) == 2:
                index, row = target.elements[0].value, target.elements[1].value
                if isinstance(index, cst.Name) and self._is_rows(iterated.args[0].value, row):
                    return _Loop(index.value, None, [(row, iterated.args[0].value)])
            if function == "zip" and isinstance(target, cst.Tuple) and len(target.elements) == len(iterated.args):
                pairs = [(e.value, a.value) for e, a in zip(target.elements, iterated.args)]
                return _Loop(None, None, pairs) if all(self._is_rows(a, e) for e, a in pairs) else None
            return None
        return _Loop(None, None, [(target, iterated)]) if self._is_rows(iterated, target) else None

    def _is_rows(self, array: Any, target: Any) -> bool:
        return isinstance(target, cst.Name) and isinstance(array, (cst.Name, cst.Attribute)) and is_traced(self.context.value(array))

    def _plain(self, body: list[Any]) -> bool:
        """Whether a body only computes: no jumps, no checks, no loops that are left to Python with an index from outside."""
        if tree.returns(cst.IndentedBlock(body)):
            return False
        for node in tree.walk(cst.IndentedBlock(body)):
            if isinstance(node, (cst.Raise, cst.Break, cst.Continue, cst.Yield, cst.Await, cst.Global, cst.Nonlocal, cst.Del, cst.Assert, cst.Try, cst.With, cst.Import, cst.ImportFrom)):
                return False
            if isinstance(node, (cst.Assign, cst.AugAssign)):
                targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
                if any(isinstance(t, cst.Attribute) or isinstance(t, cst.Subscript) and not tree.code(t).startswith("state[") for t in targets):
                    return False
            if isinstance(node, cst.Call) and (tree.dotted(node.func) in ("print", "jax.debug.print") or self.context.moving.may_move(node)):
                return False
        return effect(self.context, cst.IndentedBlock(body)) is None

    def _is_array(self, name: str) -> bool:
        found = self.kinds.get(name, [])
        return bool(found) and all(isinstance(v, Tensor) and not v.none for v in found) and any(is_traced(v) for v in found)

    # ------------------------------------------------------------------ lists that grow

    def _appended(self, body: list[Any], before: list[Any], after: list[Any]) -> dict[int, tuple[str, Any]] | None:
        """Lists that each turn appends to once: statement -> (list, value). None where the loop must stay for them."""
        found: dict[int, tuple[str, Any]] = {}
        for node in tree.walk(cst.IndentedBlock(body)):
            if isinstance(node, cst.Attribute) and node.attr.value in ("append", "extend", "insert", "pop", "setdefault", "update", "add"):
                if not isinstance(self.context.value(node.value), Tensor):
                    line = next((s for s in body if isinstance(s, cst.SimpleStatementLine) and any(n is node for n in tree.walk(s))), None)
                    grown = _append_of(line) if line is not None else None
                    if grown is None:
                        return None
                    name, value = grown
                    if any(n == name for n, _ in found.values()) or not is_traced(self.context.value(value)):
                        return None
                    found[id(line)] = (name, value)
        for name, _ in found.values():
            if not self._starts_empty(name, before) or not self._only_stacked(name, after):
                return None
        return found

    def _starts_empty(self, name: str, before: list[Any]) -> bool:
        for statement in reversed(before):
            if name in tree.names_assigned(statement):
                values = _values(statement)
                return values is not None and values.get(name, "") in ("[]", "list()")
            if name in tree.names_read(statement):
                return False
        return False

    def _only_stacked(self, name: str, after: list[Any]) -> bool:
        """Whether all that reads a list afterwards is `jnp.stack(name, axis=0 or 1)`, or it is not read in this block's rest alone."""
        first = next((s for s in after if name in tree.names_read(s)), None)
        restacked = _values(first) if first is not None else None
        if restacked is not None and list(restacked) == [name] and _stack_of(first.body[0].value, name) is not None:  # type: ignore[union-attr]
            return True  # `outputs = torch.stack(outputs)`: the list is gone
        total = sum(1 for s in tree.walk(self.node.body) if isinstance(s, cst.Name) and s.value == name)
        here = sum(1 for s in after for n in tree.walk(s) if isinstance(n, cst.Name) and n.value == name)
        stacked = sum(1 for s in after for n in tree.walk(s) if _stack_of(n, name) is not None)
        return stacked > 0 and here == stacked and total == here + 2

    # ------------------------------------------------------------------ the index

    def _rows(self, loop: _Loop, body: list[Any], carried: list[str]) -> tuple[list[tuple[str, Any]] | None, list[Any]]:
        """What the scan runs over: (name in a turn, array). Uses of the index become rows of the arrays that it picks from."""
        rows: list[tuple[str, Any]] = [(t.value, a) for t, a in loop.rows]
        if loop.index is None:
            return rows, body
        picked: dict[str, tuple[str, Any]] = {}
        changed = set(writes(body))

        def before(node: cst.CSTNode) -> Any:
            if isinstance(node, cst.Subscript):
                axis = _picks(node, loop.index or "")
                array: Any = node.value
                if axis is not None and isinstance(array, (cst.Name, cst.Attribute)) and is_traced(self.context.value(array)) and not changed & set(reads(array)):
                    text = tree.code(node)
                    if text not in picked:
                        whole = array if axis == 0 else _swapped(array)
                        picked[text] = (fresh_name(self.used, f"{_stem(array)}_{loop.index}"), whole)
                    return cst.Name(picked[text][0])
            return None

        new = [tree.rewrite(s, before) for s in body]
        if not self._only_arrays(loop.index, new):
            return None, body
        if picked and loop.count is not None and not self._whole(loop.count, list(picked.values())):
            new, picked = body, {}  # not all of the rows: each turn picks its own
        rows += picked.values()
        if any(loop.index in reads(s) for s in new) or not rows:
            if loop.count is None:
                return None, body
            rows.append((loop.index, call("jnp.arange", [loop.count])))
        return rows, new

    def _whole(self, count: Any, rows: list[tuple[str, Any]]) -> bool:
        """Whether the number of turns is the length of the arrays: `range(x.size(1))`, or T of `B, T, D = x.shape`."""
        if isinstance(count, cst.Name):
            return self._length_of(count.value) is not None and all(self._length_of(count.value) == (tree.code(_base(a)), _axis(a)) for _, a in rows)
        text = tree.code(count)
        return all(text == f"{tree.code(_base(a))}.shape[{_axis(a)}]" for _, a in rows)

    def _length_of(self, name: str) -> tuple[str, int] | None:
        """The array and axis whose length a name is, where it is assigned once."""
        found = None
        for node in tree.walk(self.node.body):
            if isinstance(node, cst.Assign) and name in [n for t in node.targets for n in tree.target_names(t.target)]:
                if found is not None or len(node.targets) != 1:
                    return None
                target, value = node.targets[0].target, tree.code(node.value)
                if isinstance(target, cst.Tuple) and value.endswith(".shape"):
                    found = value.removesuffix(".shape"), tree.target_names(target).index(name)
                elif value.endswith("]") and ".shape[" in value:
                    head, _, index = value[:-1].rpartition(".shape[")
                    found = (head, int(index)) if index.isdigit() else ("", 0)
                else:
                    return None
        if found is None or any(found[0] in tree.names_assigned(s) for s in self.node.body.body if not isinstance(s, cst.FunctionDef)):
            return None
        return found

    def _only_arrays(self, index: str, body: list[Any]) -> bool:
        """Whether what is left of the index is the number of a turn for a key: it may be traced."""
        good = 0
        total = sum(1 for s in body for n in tree.walk(s) if isinstance(n, cst.Name) and n.value == index)
        for s in body:
            for node in tree.walk(s):
                if isinstance(node, cst.Call) and (tree.dotted(node.func) or "").endswith("fold_in") and tree.code(node.args[-1].value) == index:
                    good += 1
                elif isinstance(node, cst.Subscript):
                    base: Any = node.value
                    base = base.value if isinstance(base, cst.Attribute) and base.attr.value == "at" else base
                    indices = [e.slice for e in node.slice]
                    if is_traced(self.context.value(base)):
                        good += sum(1 for i in indices if isinstance(i, cst.Index) and tree.code(i.value) == index)
        return good == total

    # ------------------------------------------------------------------ emit

    def _emit(self, node: Any, loop: _Loop, rows: list[tuple[str, Any]], body: list[Any], carried: list[str], appended: Any, before: list[Any], after: list[Any]) -> list[Any]:
        single = len(carried) == 1
        carry = carried[0] if single else fresh_name(self.used, "carry")
        row = rows[0][0] if len(rows) == 1 else fresh_name(self.used, "row")
        opened = [] if single else [tree.assignment(names(carried), cst.Name(carry))]
        if len(rows) > 1:
            opened.append(tree.assignment(names([n for n, _ in rows]), cst.Name(row)))
        outputs = [value for _, value in appended.values()]
        lists = [name for name, _ in appended.values()]
        left = enclosed(names(carried))
        right = enclosed(_several(outputs)) if outputs else cst.Name("None")
        name = fresh_name(self.used | tree.parameter_names(self.node), "step")
        step = function(name, [carry, row], [*opened, *body, cst.SimpleStatementLine([cst.Return(display([left, right]))])])
        value = call(self.context.name("scan"), [cst.Name(name), left, _several([a for _, a in rows])])
        if loop.reverse:
            value = tree.replace(value, args=[*value.args, keyword("reverse", cst.Name("True"))])
        collected = enclosed(names(lists)) if lists else cst.Name("_")
        line = spaced(tree.assignment(display([left, collected]), value))
        self.last = line
        step = tree.replace(step, leading_lines=[cst.EmptyLine(indent=False), *[ln for ln in node.leading_lines if ln.comment is not None]])
        kept = [s for s in before if not (lists and (values := _values(s)) and set(values) <= set(lists))]
        rest = [tree.rewrite(s, lambda n: self._unstacked(n, lists, loop.reverse)) for s in after]
        rest = [s for s in rest if (values := _values(s)) is None or any(values.get(name) != name for name in values)]
        return [*kept, step, line, *rest]

    def _unstacked(self, node: Any, lists: list[str], reverse: bool) -> Any:
        """What `jnp.stack` made of the list; a scan backwards leaves its outputs in the order of the rows."""
        for name in lists:
            axis = _stack_of(node, name)
            if axis is not None:
                array = tree.expression(f"{name}[::-1]" if reverse else name)
                return array if axis == 0 else _swapped(array) if axis == 1 else call("jnp.moveaxis", [array, cst.Integer("0"), tree.expression(str(axis))])
        return None


def _values(statement: Any) -> dict[str, str] | None:
    """The names that a plain assignment sets, each with the text of its value; also `a, b = [], []`."""
    small = tree.only_small(statement)
    if not isinstance(small, cst.Assign) or len(small.targets) != 1:
        return None
    target: Any = small.targets[0].target
    value: Any = small.value
    if isinstance(target, cst.Name):
        return {target.value: tree.code(value)}
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple) and len(target.elements) == len(value.elements):
        return {tree.code(t.value): tree.code(v.value) for t, v in zip(target.elements, value.elements)}
    return None


def _append_of(line: Any) -> tuple[str, Any] | None:
    """`name.append(value)` as a statement."""
    small = line.body[0] if len(line.body) == 1 else None
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) and isinstance(small.value.func, cst.Attribute):
        func = small.value.func
        if func.attr.value == "append" and isinstance(func.value, cst.Name) and len(small.value.args) == 1:
            return func.value.value, small.value.args[0].value
    return None


def _stack_of(node: Any, name: str) -> int | None:
    """The axis of `jnp.stack(name, axis)`."""
    if not isinstance(node, cst.Call) or tree.dotted(node.func) != "jnp.stack" or not node.args or tree.code(node.args[0].value) != name:
        return None
    if len(node.args) == 1:
        return 0
    text = tree.code(node.args[1].value).replace(" ", "")
    return int(text) if text.lstrip("-").isdigit() else None


def _picks(node: cst.Subscript, index: str) -> int | None:
    """The axis along which a subscript picks by the index: 0 for `x[t]`, 1 for `x[:, t]` and `x[:, t, :]`."""
    found = None
    for axis, element in enumerate(node.slice):
        part: Any = element.slice
        if isinstance(part, cst.Index):
            if tree.code(part.value) != index or found is not None:
                return None
            found = axis
        elif part.lower is not None or part.upper is not None or part.step is not None:
            return None
    return found if found in (0, 1) else None


def _swapped(array: Any) -> Any:
    func = cst.Attribute(array, cst.Name("swapaxes"))
    return cst.Call(func, [cst.Arg(cst.Integer("0")), cst.Arg(cst.Integer("1"))])


def _base(array: Any) -> Any:
    """The array under a `swapaxes(0, 1)`."""
    func: Any = array.func if isinstance(array, cst.Call) else None
    return array if func is None else func.value


def _axis(array: Any) -> int:
    return 1 if isinstance(array, cst.Call) else 0


def _stem(array: Any) -> str:
    return str(array.attr.value if isinstance(array, cst.Attribute) else array.value)


def _several(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else display(values)
