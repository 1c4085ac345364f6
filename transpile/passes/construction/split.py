"""The split of `__init__`, statement by statement."""

from __future__ import annotations

import functools
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Arrays, registered_value
from ...context import KEY, Context
from ...emit import unaugmented
from ...paths import below
from ...project import PLAIN_MODULE, ClassInfo, FunctionInfo
from ...values import NONE, Module, Static, Tensor
from .bindings import assigned, changed_attributes, has_key, only_computes, surely_assigned, unsteady
from .declarations import declaration, declare_parameters
from .failures import fails
from .initial_values import parameter_call
from .questions import NO_ARRAYS, Asked, ask, fact, presence
from .statements import Mark, branch, one_by_one, returned, without_dead, without_marks


@dataclass
class Constructor:
    """What becomes of a class's `__init__`."""

    kept: list[Any] = field(default_factory=list)
    params: list[Any] = field(default_factory=list)
    state: list[Any] = field(default_factory=list)
    properties: dict[str, Any] = field(default_factory=dict)
    stored: dict[str, str] = field(default_factory=dict)  # local name -> attribute that holds it


def _is_row(node: cst.Subscript) -> bool:
    """`w[0]`"""
    return len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index) and isinstance(node.slice[0].slice.value, cst.Integer)


def _size_of_row(context: Context, array: Asked) -> Any:
    """`self.weight[0].numel()`"""
    like, shape = (tree.code(ask(context, function, array)) for function in ("like", "shape"))
    return cst.BinaryOperation(tree.expression(f"{like}.size"), cst.FloorDivide(), tree.expression(f"{shape}[0]"), lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


class Split:
    """Split the `__init__` of one class."""

    def __init__(self, context: Context, cls: ClassInfo, node: cst.FunctionDef, arrays: Arrays, initialising: set[FunctionInfo], failing: Set[FunctionInfo]) -> None:
        self.context, self.cls, self.node, self.arrays = context, cls, node, arrays
        self.initialising, self.failing = initialising, failing
        self.self_name = cls.methods["__init__"].self_name or "self"
        self.result = Constructor()
        self.unsteady = unsteady(node)
        self.times = tree.times_bound(node.body)
        self.parameters = {p.name.value for p in cls.methods["__init__"].parameters()}
        p = node.params
        for star in (p.star_arg, p.star_kwarg):
            if isinstance(star, cst.Param):
                self.parameters.add(star.name.value)
        self.locals = self.parameters | assigned(node.body)
        self.definitions: dict[str, list[Any]] = {}  # assignments of locals so far
        self.compounds: dict[str, list[Any]] = {}  # branches and loops so far that only compute, by the locals that they bind
        self.blocks: list[list[Any]] = []  # the statements around the current one, outermost first
        self.moved_locals: set[str] = set()
        self.changed = changed_attributes(node, self.self_name)

    def run(self) -> Constructor:
        statements = tree.body_statements(self.node)
        self.statements = statements
        self._all(statements)
        self._resolve()
        self.result.kept = without_dead(self.result.kept, self.locals - self.parameters, self.moved_locals)
        self.result.kept = [self._without_arrays(s) for s in self.result.kept]
        self.result.properties = {name: [self._without_arrays(s) for s in body] for name, body in self.result.properties.items()}
        return self.result

    def _all(self, statements: list[Any]) -> None:
        self.blocks.append(statements)
        for statement in statements:
            self._top(statement)
        self.blocks.pop()

    def _without_arrays(self, statement: Any) -> Any:
        """What stays asks for the shape of a param, or whether there is one: the module itself has none of them."""

        def before(node: Any) -> Any:
            if isinstance(node, cst.AssignTarget):
                return node
            if (there := presence(self.context, node, self._asked)) is not None:
                return there
            if isinstance(node, cst.Attribute):
                certain = node.attr.value == "shape"
                known = fact(self.context, node, lambda n: found if (found := self._asked(n)) is not None and (certain or found.name in self.inherited) else None)
                if known is not None:
                    return known
                if node.attr.value == "size" and isinstance(node.value, cst.Subscript) and _is_row(node.value) and (array := self._asked(node.value.value)) is not None:
                    return _size_of_row(self.context, array)
            if isinstance(node, cst.Attribute) and self._own_array(node) in self.inherited:
                return self.context.unconverted("module-value", node, NO_ARRAYS)
            return None

        return tree.rewrite(statement, before, only={cst.AssignTarget, cst.Comparison, cst.Attribute})

    def _asked(self, node: Any) -> Asked | None:
        name = self._own_array(node)
        return Asked(self._holder(name), name) if name is not None else None

    def _own_array(self, node: Any) -> str | None:
        """The name in `self.weight`, if that is in the params or the state."""
        if not isinstance(node, cst.Attribute) or tree.dotted(node.value) != self.self_name:
            return None
        name = node.attr.value
        array = self.arrays.find(self.cls, name)
        return name if name in self.inherited or array is not None and array.where != "constant" else None

    def _holder(self, name: str) -> str:
        """What has an array of self: of a torch layer's it is known before everything here is set."""
        return "super()" if name in self.inherited else self.self_name

    @functools.cached_property
    def inherited(self) -> Set[str]:
        """The arrays of the torch layer that the class extends."""
        layer = self.context.facts.layer_of(self.cls)
        names = self.context.rulebook.arrays(layer.name) if layer is not None else ()
        return frozenset(names)

    # ------------------------------------------------------------------ classification

    def _top(self, statement: Any) -> None:
        result = self.result
        if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
            if self._is_plain_super(statement.body[0]):
                return
            apart = one_by_one(statement)
            if any(self._moved(line, line.body[0])[0] for line in apart):
                for line in apart:
                    self._top(line)
                return
            where, moved = self._moved(statement, statement.body[0])
            if where == "property":
                name, value = moved
                if self._resolvable(value) and self._set_once(name, value):
                    result.properties[name] = (statement, value)
                    self._mark(statement)
                    return
                result.kept.append(self._eager(statement, name, value))
                return
            if where == "dropped":
                return
            if where == "replaced":
                result.kept.append(moved)
                return
            if where in ("params", "state"):
                if all(self._resolvable(s) for s in moved):
                    getattr(result, where).extend(moved)
                    self._mark(statement)
                    return
                result.kept.extend(self._declared(statement))
                return
            small = statement.body[0]
            if isinstance(small, cst.Assign) and len(small.targets) == 1 or isinstance(small, cst.AugAssign):
                for name in assigned(small):
                    self.definitions.setdefault(name, []).append(statement)
            (result.params if self._defers(statement) else result.kept).append(statement)
        elif isinstance(statement, cst.If) and self._touches_arrays(statement):
            self._if(statement)
        elif isinstance(statement, cst.With) and self._touches_arrays(statement):
            for inner in tree.body_statements(statement):
                self._top(inner)
        elif isinstance(statement, (cst.For, cst.While, cst.Try)) and self._touches_arrays(statement):
            if self._only_writes(statement) and self._resolvable(statement):
                result.params.append(statement)
                self._mark(statement)
            else:
                result.kept.extend(self._declare_below(statement))
        elif self._defers(statement):
            result.params.append(statement)
        else:
            if isinstance(statement, (cst.If, cst.For, cst.While)) and only_computes(statement):
                for name in sorted(assigned(statement)):
                    self.compounds.setdefault(name, []).append(statement)
            result.kept.append(statement)

    def _defers(self, statement: Any) -> bool:
        """Whether a statement that could not be converted only gives initial values: it raises where those are made.

        A module whose initialisers are beyond us can still be built, and take its params from a checkpoint.
        """
        if not fails(self.context, statement, self.failing):
            return False
        if isinstance(statement, cst.SimpleStatementLine) and not all(isinstance(s, cst.Expr) for s in statement.body):
            return False
        set_here = assigned(statement)
        elsewhere = {n for s in self.statements if s is not statement for n in tree.names_read(s)}
        own = any(isinstance(n.target, cst.Attribute) and tree.dotted(n.target.value) == self.self_name for n in tree.nodes(statement, cst.AssignTarget))
        leaves = any(isinstance(n, (cst.Return, cst.Raise)) for n in tree.walk_scope(statement))
        return not own and not leaves and not set_here & elsewhere and self._resolvable(statement, set_here)

    def _set_once(self, name: str, value: Any) -> bool:
        """Whether a constant, and what it is made of, keeps its first value: a property computes it when it is asked for."""
        read = {n.attr.value for n in tree.walk(value) if isinstance(n, cst.Attribute) and tree.code(n.value) == self.self_name}
        return not ({name} | read) & self.changed

    def _mark(self, statement: Any) -> None:
        """Remember where a moved statement stood: what it needs is stored there."""
        self.result.kept.append(Mark(statement))

    def _is_plain_super(self, small: Any) -> bool:
        """`super().__init__()` where that reaches nn.Module itself."""
        if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
            return False
        func = small.value.func
        if not isinstance(func, cst.Attribute) or func.attr.value != "__init__":
            return False
        if isinstance(func.value, cst.Call) and isinstance(func.value.func, cst.Name) and func.value.func.value == "super":
            return self.cls.above("__init__") is None
        text = tree.code(func.value)
        return text == "nn.Module" or self.context.facts.project.resolve(self.cls.module, text) in PLAIN_MODULE

    def _moved(self, statement: Any, small: Any) -> tuple[str, Any]:
        """Where a statement goes: ("params" | "state" | "property" | "dropped" | "", what moves)."""
        if isinstance(small, cst.AnnAssign) and small.value is not None:
            small = cst.Assign([cst.AssignTarget(small.target)], small.value)
        if isinstance(small, cst.AugAssign) and isinstance(small.target, cst.Attribute) and self._own_array(small.target) is not None:
            value = unaugmented(small)
            small = cst.Assign([cst.AssignTarget(small.target)], value) if value is not None else small
        if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Attribute):
            return self._moved_assignment(statement, small, small.targets[0].target)
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
            return self._moved_call(statement, small.value)
        return "", None

    def _moved_assignment(self, statement: Any, small: cst.Assign, target: cst.Attribute) -> tuple[str, Any]:
        dotted = tree.dotted(target)
        if dotted is None or not dotted.startswith(self.self_name + "."):
            return "", None
        if dotted.count(".") > 1:  # a param of a submodule
            base = self.context.value(target.value)
            known = self.context.value(target)
            path = self.arrays.canonical(self.cls, tuple(dotted.split(".")[1:]))
            if path in self.arrays.ties(self.cls):
                holder = below(path[:-1])
                source = ".".join(self.arrays.ties(self.cls)[path].source)
                deletion = tree.statement(f'{holder}.pop("{path[-1]}")  # tied to {source}\n')
                return "params", [tree.replace(deletion, leading_lines=statement.leading_lines)]
            if isinstance(base, Module) and isinstance(known, Tensor) and known.param:
                new = parameter_call(small.value)
                return "params", [tree.replace(statement, body=[tree.replace(small, value=new if new is not None else small.value)])]
            if isinstance(base, Module) and target.attr.value == "requires_grad" or target.attr.value == "requires_grad":
                return "dropped", None
            return "", None
        name = target.attr.value
        path1 = (name,)
        if path1 in self.arrays.ties(self.cls):
            return "dropped", None
        array = self.arrays.own[self.cls].arrays.get(name)
        if array is None:
            return "", None
        if isinstance(small.value, cst.Name) and small.value.value == "None" and array.where == "params":
            return "dropped", None
        if array.where == "params" and isinstance(small.value, cst.IfExp):
            return "params", [self._conditional_parameter(statement, small, target)]
        initial = parameter_call(small.value)
        value = initial if initial is not None else small.value
        if array.where == "constant":
            if self.context.value(small.value) == NONE or isinstance(value, cst.Name) and value.value == "None":
                return "", None
            if isinstance(value, cst.Name) and value.value in self.parameters:
                return "", None  # given to the constructor: there is nothing to compute
            return self._constant(statement, name, value)
        return array.where, [tree.replace(statement, body=[tree.replace(small, value=value)])]

    def _constant(self, statement: Any, name: str, value: Any) -> tuple[str, Any]:
        if self._draws(value):
            self.arrays.own[self.cls].arrays[name].where = "state"
            return "state", [self._assignment(statement, name, value)]
        return "property", (name, value)

    def _draws(self, value: Any) -> bool:
        """Whether a value is made of random numbers or of buffers, itself or by way of local names."""
        buffers = {name for name, array in self.arrays.own[self.cls].arrays.items() if array.where == "state"}
        seen: set[str] = set()
        todo = [value]
        while todo:
            for n in tree.walk(todo.pop()):
                if isinstance(n, cst.Attribute) and n.attr.value in buffers and tree.dotted(n.value) == self.self_name:
                    return True
                if isinstance(n, cst.Name) and n.value == KEY:
                    return True
                if isinstance(n, cst.Name) and n.value not in seen:
                    seen.add(n.value)
                    todo.extend(self._moved_definitions(n.value))
        return False

    def _moved_definitions(self, name: str) -> list[Any]:
        """The assignments of a local name that would move with what reads it."""
        definitions = self.definitions.get(name, []) if name in self.locals - self.parameters else []
        if name in self.compounds and name not in self.parameters:
            whole = [*definitions, *self.compounds[name]]
            return sorted(whole, key=self._place) if any(has_key(d) for d in whole) else []
        return definitions if self._belongs_to_moved(definitions) else []

    def _assignment(self, statement: Any, name: str, value: Any) -> Any:
        target = tree.expression(f"{self.self_name}.{name}")
        self.context.facts.tell(target.value, Module(frozenset([self.cls]), is_self=True))
        return tree.replace(statement, body=[cst.Assign([cst.AssignTarget(target)], value)])

    def _conditional_parameter(self, statement: Any, small: cst.Assign, target: cst.Attribute) -> Any:
        """`self.bias = nn.Parameter(…) if bias else None`"""
        choice = small.value
        assert isinstance(choice, cst.IfExp)
        then, other = parameter_call(choice.body), parameter_call(choice.orelse)
        if other is None and then is not None:
            line = cst.SimpleStatementLine([tree.replace(small, value=then)])
            return cst.If(choice.test, cst.IndentedBlock([line]), leading_lines=statement.leading_lines)
        if then is None and other is not None:
            line = cst.SimpleStatementLine([tree.replace(small, value=other)])
            test = cst.UnaryOperation(cst.Not(), tree.fit(cst.UnaryOperation(cst.Not(), cst.Name("x")), "expression", choice.test))
            return cst.If(test, cst.IndentedBlock([line]), leading_lines=statement.leading_lines)
        return tree.replace(statement, body=[tree.replace(small, value=tree.replace(choice, body=then, orelse=other))])

    def _moved_call(self, statement: Any, call: cst.Call) -> tuple[str, Any]:
        func = call.func
        value = self.context.value(func)
        info = getattr(value, "info", None)
        if info is not None and tree.dotted(func) == f"{self.self_name}.{info.name}" and self._sets_state(info):
            return "state", [statement]
        if info is not None and info in self.initialising and tree.dotted(func) == f"{self.self_name}.{info.name}":
            return "params", [statement]
        if not isinstance(func, cst.Attribute) or tree.dotted(func.value) != self.self_name:
            return "", None
        if func.attr.value in ("register_buffer", "register_parameter") and call.args:
            literal = call.args[0].value
            if not isinstance(literal, cst.SimpleString) or not isinstance(literal.evaluated_value, str):
                return "", None
            name = literal.evaluated_value
            initial = registered_value(call)
            array = self.arrays.own[self.cls].arrays.get(name)
            if array is None or initial is None:
                return "dropped", None
            if isinstance(initial, cst.Name) and initial.value == "None":
                if array.where == "params":
                    return "dropped", None
                kept = self._assignment(statement, name, initial)
                return ("state", [kept]) if array.where == "state" else ("replaced", kept)
            inner = parameter_call(initial)
            if array.where == "constant":
                return self._constant(statement, name, inner if inner is not None else initial)
            if isinstance(initial, cst.IfExp) and array.where == "params":
                stand_in = self._assignment(statement, name, initial)
                return "params", [self._conditional_parameter(statement, stand_in.body[0], stand_in.body[0].targets[0].target)]
            return array.where, [self._assignment(statement, name, inner if inner is not None else initial)]
        return "", None

    def _sets_state(self, info: FunctionInfo) -> bool:
        """Whether a method that runs later too, `self.extend_pe(x)`, gives buffers their first values; all else it sets is set here too."""
        written = self.arrays.written_by(self.cls, info)
        here = {t.target.attr.value for t in tree.nodes(self.node, cst.AssignTarget) if isinstance(t.target, cst.Attribute)}
        return "state" in written.values() and all(where == "state" or not where and name in here for name, where in written.items())

    def _touches_arrays(self, statement: Any) -> bool:
        for node in tree.walk(statement):
            if isinstance(node, cst.SimpleStatementLine):
                for small in node.body:
                    if self._moved(node, small)[0]:
                        return True
            elif isinstance(node, cst.Call) and tree.dotted(node.func) == "nn.Parameter":
                return True
        return False

    def _only_writes(self, statement: Any) -> bool:
        """Whether a loop does nothing but give params values."""
        for node in tree.walk(statement):
            if isinstance(node, cst.SimpleStatementLine):
                for small in node.body:
                    where, _ = self._moved(node, small)
                    if where != "params" and not isinstance(small, cst.Pass):
                        return False
                    if any(isinstance(n, cst.Call) and tree.dotted(n.func) == "nn.Parameter" for n in tree.walk(small)):
                        return False
        return True

    def _if(self, statement: cst.If) -> None:
        """A branch is split in two: one for what stays, one for what moves, under the same test."""

        def split(node: Any) -> Constructor:
            saved, self.result = self.result, Constructor()
            statements = tree.body_statements(node)
            self._all(statements)
            found, self.result = self.result, saved
            for kind in ("params", "state"):
                setattr(found, kind, self._with_definitions(getattr(found, kind), self.moved_locals, statements))
            return found

        then = split(statement)
        other: Constructor | None = None
        orelse = statement.orelse
        if isinstance(orelse, cst.If):
            saved, self.result = self.result, Constructor()
            self._if(orelse)
            other, self.result = self.result, saved
        elif orelse is not None:
            other = split(orelse)
        if not self._resolvable(statement.test):
            self.result.kept.extend(self._declare_below(statement))
            return
        for part in (then, other):
            if part is None:
                continue
            for name, (line, value) in part.properties.items():
                part.kept = [self._eager(line, name, value) if isinstance(k, Mark) and k.statement is line else k for k in part.kept]
        for kind in ("params", "state", "kept"):
            a = [s for s in getattr(then, kind)]
            b = [s for s in getattr(other, kind)] if other is not None else []
            real_a, real_b = without_marks(a), without_marks(b)
            marks = [m for m in [*a, *b] if isinstance(m, Mark)]
            if kind == "kept":
                if real_a or real_b:
                    self.result.kept.append(branch(statement, real_a, real_b))
                if then.params or then.state or other is not None and (other.params or other.state):
                    self._mark(statement)
                else:
                    self.result.kept.extend(marks)
            elif real_a or real_b:
                getattr(self.result, kind).append(branch(statement, real_a, real_b))

    # ------------------------------------------------------------------ declarations in place

    def _eager(self, statement: Any, name: str, value: Any) -> Any:
        """A constant that cannot be a property: computed once, where it stood."""
        return tree.replace(statement, body=[cst.Assign([cst.AssignTarget(tree.expression(f"{self.self_name}.{name}"))], value)])

    def _declared(self, statement: Any) -> list[Any]:
        small = statement.body[0]
        new = self._declare(small)
        return [tree.replace(statement, body=[new])] if new is not None else []

    def _declare_below(self, statement: Any) -> list[Any]:
        """Turn every array made below into a declaration; for loops and the like."""

        def before(node: cst.CSTNode) -> Any:
            if isinstance(node, (cst.Assign, cst.Expr)):
                new = self._declare(node)
                return new if new is not None else node
            return None

        return [tree.rewrite(statement, before)]

    def _declare(self, small: Any) -> Any:
        arrays = self.arrays.own[self.cls].arrays
        if isinstance(small, cst.Assign) and len(small.targets) == 1:
            target = small.targets[0].target
            dotted = tree.dotted(target) or ""
            name = target.attr.value if isinstance(target, cst.Attribute) and dotted.count(".") == 1 and dotted.startswith(self.self_name + ".") else None
            array = arrays.get(name) if name is not None else None
            if array is not None and array.where in ("params", "state") and not (isinstance(small.value, cst.Name) and small.value.value == "None"):
                inner = parameter_call(small.value)
                kind = "Parameter" if array.where == "params" else "Buffer"
                if inner is None and array.where == "params" and any(isinstance(n, cst.Call) and tree.dotted(n.func) == "nn.Parameter" for n in tree.walk(small.value)):
                    return tree.replace(small, value=self._lambdas(small.value))
                if array.where == "state" and isinstance(self.context.value(small.value), Static):
                    return None
                return tree.replace(small, value=self._lambda(kind, inner if inner is not None else small.value))
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
            call = small.value
            func = tree.dotted(call.func) or ""
            if func in (f"{self.self_name}.register_buffer", f"{self.self_name}.register_parameter") and call.args:
                initial = registered_value(call)
                if initial is None:
                    return None
                literal = call.args[0].value
                is_none = isinstance(initial, cst.Name) and initial.value == "None"
                kind = "Parameter" if func.endswith("parameter") else "Buffer"
                inner = parameter_call(initial)
                value = initial if is_none else self._lambda(kind, inner if inner is not None else initial)
                if isinstance(literal, cst.SimpleString) and isinstance(literal.evaluated_value, str):
                    array = arrays.get(literal.evaluated_value)
                    if array is not None and array.where == "constant" and not is_none:
                        if any(isinstance(n, cst.Name) and n.value == KEY for n in tree.walk(initial)):
                            array.where = "state"
                        else:
                            value = initial
                    return cst.Assign([cst.AssignTarget(tree.expression(f"{self.self_name}.{literal.evaluated_value}"))], value)
                set_ = tree.expression(f"setattr({self.self_name}, {tree.code(literal)}, 0)")
                return cst.Expr(tree.replace(set_, args=[*set_.args[:2], cst.Arg(value)]))
        return tree.replace(small, value=self._lambdas(small.value)) if isinstance(small, (cst.Assign, cst.Expr)) else None

    def _lambdas(self, node: Any) -> Any:
        return declare_parameters(self.context, node, self.node)

    def _lambda(self, kind: str, value: Any) -> Any:
        return declaration(self.context, kind, value, self.node)

    # ------------------------------------------------------------------ what moved code needs

    def _resolvable(self, node: Any, own: Set[str] = frozenset()) -> bool:
        """Whether everything that moved code reads, beside names of its own, can be had from `self` later."""
        seen = set(own)
        todo = [node]
        while todo:
            for name in tree.names_read(todo.pop()) & self.locals - seen - {self.self_name}:
                seen.add(name)
                moved = self._moved_definitions(name)
                times = sum(tree.times_bound(d)[name] for d in moved)
                if moved and times == self.times[name] and (len(moved) == 1 or any(all(d in block for d in moved) for block in self.blocks)):
                    todo.extend(moved)  # all of them, in order
                elif name in self.unsteady and (len(self.definitions.get(name, [])) != 1 if name not in self.parameters else not self._settled(name)):
                    return False
        return True

    def _settled(self, name: str) -> bool:
        """A parameter that is given its final value before anything is built: `if hidden is None: hidden = dim`."""
        seen_use = False
        for statement in self.statements:
            if name in assigned(statement):
                if seen_use:
                    return False
            elif name in tree.names_read(statement):
                seen_use = True
        return True

    def _resolve(self) -> None:
        """Store what moved code reads, and rewrite it to read from `self`."""
        result = self.result
        moved_locals = self.moved_locals
        for kind in ("params", "state"):
            statements = getattr(result, kind)
            statements = self._with_definitions(statements, moved_locals)
            setattr(result, kind, statements)
        properties: dict[str, list[Any]] = {}
        for name, (line, value) in result.properties.items():
            body = self._with_definitions([returned(line, value)], moved_locals)
            properties[name] = body
        result.properties = properties
        needed: dict[str, None] = {}
        for statements in (result.params, result.state, *properties.values()):
            bound: set[str] = set()
            for s in statements:
                bound |= assigned(s)
                for name in sorted(tree.names_read(s) & self.locals - {self.self_name} - bound):
                    needed[name] = None
        mapping = {name: self._attribute_for(name) for name in needed}
        result.params = self._from_self(result.params, mapping)
        result.state = self._from_self(result.state, mapping)
        result.properties = {n: self._from_self(body, mapping) for n, body in properties.items()}
        self._store(mapping)

    def _with_definitions(self, statements: list[Any], moved_locals: set[str], among: list[Any] | None = None) -> list[Any]:
        """Put the definitions of array-valued locals before the code that needs them; `among`: only these."""
        out: list[Any] = []
        done: set[str] = set()
        for s in statements:
            inside = {id(n) for n in tree.walk(s)}
            needed: list[Any] = []
            todo: list[Any] = [s]
            while todo:
                for name in sorted(tree.names_read(todo.pop()) - done):
                    definitions: list[Any] = [d for d in self._moved_definitions(name) if id(d) not in inside and (among is None or d in among)]
                    if definitions:
                        done.add(name)
                        needed += [d for d in definitions if d not in needed]
                        todo += [d if isinstance(d, (cst.If, cst.For, cst.While)) else d.body[0].value for d in definitions]
            moved_locals |= done
            out += sorted((d for d in needed if d not in out), key=self._place)
            out.append(s)
        return out

    def _place(self, line: Any) -> int:
        """Where a line stands in the constructor."""
        return next(i for i, n in enumerate(tree.walk(self.node.body)) if n is line)

    def _belongs_to_moved(self, definitions: list[Any]) -> bool:
        """A local that holds an array, draws, or is computed from arrays cannot be kept on self."""
        for definition in definitions:
            value = self.context.value(definition.body[0].value)
            if isinstance(value, Tensor):
                return True
            for n in tree.walk(definition.body[0].value):
                if isinstance(n, cst.Name) and n.value == KEY:
                    return True
                if isinstance(n, cst.Attribute) and isinstance(n.value, cst.Name) and n.value.value == self.self_name:
                    if n.attr.value in self.arrays.own[self.cls].arrays:
                        return True
        return False

    def _attribute_for(self, name: str) -> str:
        """The attribute of self that holds a local: one that the user made, or a new one."""
        assigned_attributes: dict[str, int] = {}
        holder = None
        for statement in self.statements:
            for node in tree.nodes(statement, cst.Assign):
                for target in node.targets:
                    dotted = tree.dotted(target.target) if isinstance(target.target, cst.Attribute) else None
                    if dotted and dotted.startswith(self.self_name + ".") and dotted.count(".") == 1:
                        attribute = dotted.split(".")[1]
                        assigned_attributes[attribute] = assigned_attributes.get(attribute, 0) + 1
                        if isinstance(node.value, cst.Name) and node.value.value == name and statement in self.result.kept:
                            holder = attribute
        if holder is not None and assigned_attributes[holder] == 1 and name not in self.unsteady and holder not in self.arrays.own[self.cls].arrays:
            return holder
        attribute = name
        taken = {a for a in assigned_attributes if a not in self.arrays.own[self.cls].arrays or self.arrays.own[self.cls].arrays[a].where == "constant"}
        while attribute in taken or self.cls.find(attribute) is not None or attribute in self.result.properties:
            attribute += "_"
        self.result.stored[name] = attribute
        return attribute

    def _from_self(self, statements: list[Any], mapping: dict[str, str]) -> list[Any]:
        local = {n for s in statements for n in assigned(s)}

        def before(node: cst.CSTNode) -> Any:
            if isinstance(node, cst.Arg) and node.keyword is not None:
                value = tree.rewrite(node.value, before)
                return tree.replace(node, value=value)
            if isinstance(node, cst.Attribute):
                value = tree.rewrite(node.value, before)
                if value is node.value:
                    return node
                new = tree.replace(node, value=value)
                self.context.facts.carry(node, new)
                return new
            if isinstance(node, cst.Name) and node.value in mapping and node.value not in local:
                new = tree.expression(f"{self.self_name}.{mapping[node.value]}")
                self.context.facts.carry(node, new)
                return new
            return None

        return [tree.rewrite(s, before) for s in statements]

    def _store(self, mapping: dict[str, str]) -> None:
        """Insert `self.name = name` where the code that needs it stood."""
        pending = {name: attribute for name, attribute in self.result.stored.items() if not self._stored_inside(name)}
        out: list[Any] = []
        for item in self.result.kept:
            if not isinstance(item, Mark) and self._asks_for_params(item):  # `init` must be able to run
                for name in sorted(pending.keys() & self.parameters - self.unsteady, key=self._order):
                    out.append(tree.statement(f"{self.self_name}.{pending.pop(name)} = {name}"))
            if isinstance(item, Mark):
                for name in sorted(tree.names_read(item.statement) | self._indirect(item.statement), key=lambda n: (self._order(n), n)):
                    if name in pending:
                        out.append(tree.statement(f"{self.self_name}.{pending.pop(name)} = {name}"))
            else:
                out.append(item)
        for name, attribute in pending.items():
            out.append(tree.statement(f"{self.self_name}.{attribute} = {name}"))
        self.result.kept = out

    def _asks_for_params(self, statement: Any) -> bool:
        """Whether a statement may ask which params there are: it does so itself, or calls a method."""
        for node in tree.nodes(statement, cst.Call):
            if tree.dotted(node.func) in ("nn.has", "nn.like", "nn.shape") or self.arrays.method_called(node, self.self_name) is not None:
                return True
        return False

    def _stored_inside(self, name: str) -> bool:
        """Store a local that only a branch sets in that branch: elsewhere there is no such name."""
        kept = [s for s in self.result.kept if not isinstance(s, Mark) and name in assigned(s)]
        if name in self.parameters or not kept or any(name in surely_assigned(s) for s in kept):
            return False
        line = tree.statement(f"{self.self_name}.{self.result.stored[name]} = {name}")

        def after(node: Any) -> Any:
            places = [i for i, s in enumerate(node.body) if isinstance(s, cst.SimpleStatementLine) and name in assigned(s)]
            return tree.replace(node, body=[*node.body[: places[-1] + 1], line, *node.body[places[-1] + 1 :]]) if places else node

        self.result.kept = [tree.rewrite(s, None, after, only={cst.IndentedBlock}) if isinstance(s, cst.If) else s for s in self.result.kept]
        return True

    def _indirect(self, statement: Any) -> set[str]:
        found: set[str] = set()
        todo = list(tree.names_read(statement))
        while todo:
            name = todo.pop()
            for definition in [*self.definitions.get(name, []), *self.compounds.get(name, [])]:
                for name in tree.names_read(definition):
                    if name not in found:
                        found.add(name)
                        todo.append(name)
        return found

    def _order(self, name: str) -> int:
        names = [p.name.value for p in self.cls.methods["__init__"].parameters()]
        return names.index(name) if name in names else len(names)
