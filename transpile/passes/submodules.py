"""Calls of submodules and methods get the params, state, key and mode that they need; new state is kept.

`F.relu(self.bn(self.conv(x)))` becomes

    x = self.conv(params["conv"], x)
    x, state["bn"] = self.bn(params["bn"], state["bn"], x, training=training)

A call that returns new state is taken out of its expression into a statement before it. That is safe because what is
left behind is pure: nothing that it reads changes in between. Where an expression may not run at all (a conditional, a
comprehension) it is first written as the statement that it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence as SequenceABC
from typing import Any

import libcst as cst

from .. import tree
from ..arrays import Arrays, Tie
from ..context import KEY, Context, key_site
from ..effects import ALL, PARAMETERS, Effects, runs
from ..emit import add_keywords, fresh_name, keyword
from ..paths import SELF, Names, Path, Paths, below
from ..project import ClassInfo, FunctionInfo
from ..stacks import stack_of
from ..values import External, Function, Method, Module, Tensor

_PRESENT = re.compile(r'("\w+") in (params(?:\["\w+"\])*)')
_ARRAYS_OF = PARAMETERS | {"buffers", "named_buffers", "state_dict"}
RESERVED = {"params", "state", "key", "training"}


def run(context: Context, node: cst.FunctionDef, info: FunctionInfo, effects: Effects, arrays: Arrays, renames: dict[str, str]) -> cst.FunctionDef:
    """Thread the effects of one function through its body."""
    return _Submodules(context, node, info, effects, arrays, renames).function(node)


class _Submodules:
    def __init__(self, context: Context, node: cst.FunctionDef, info: FunctionInfo, effects: Effects, arrays: Arrays, renames: dict[str, str]) -> None:
        self.context, self.info, self.effects, self.arrays = context, info, effects, arrays
        self.facts = context.facts
        cls = info.owner
        outer: FunctionInfo | None = info
        while cls is None and outer is not None:
            outer = outer.outer
            cls = outer.owner if outer is not None else None
        self.cls = cls
        self.self_name = outer.self_name if outer is not None else info.self_name
        self.paths = Paths(context.facts, arrays, effects, cls, self.self_name, context.name)
        self.names: Names = {}
        self.needs = effects.functions.get(info, frozenset())
        self.stateful = "state" in self.needs
        self.prelude: list[Any] = []
        self.used = tree.names_read(node) | {"params", "state", "key", "training", "keys"}
        self.parameters = {p.name.value for p in info.parameters()}
        self.single = tree.bound_once(node.body)
        self.nested = 0
        self.writes: set[int] = set()  # depths of the state paths written: 1 for state["bn"]
        self.present: set[str] = set()  # optional params that a test has found
        self.hint: str | None = None  # the name that the current statement assigns
        self.renames = renames
        self.used |= set(renames.values())

    # ------------------------------------------------------------------ statements

    def function(self, node: cst.FunctionDef) -> cst.FunctionDef:
        statements = tree.body_statements(node)
        doc = [statements[0]] if statements and tree.is_docstring(statements[0]) else []
        body = self.block(statements[len(doc) :])
        if not self.stateful and _same(body, statements[len(doc) :]):
            return node
        if self.stateful:
            if self.writes:
                copy = "state = dict(state)" if self.writes == {1} else "state = jax.tree.map(lambda leaf: leaf, state)"
                body.insert(0, tree.statement(copy))
            if _falls_through(body):
                body.append(tree.statement("return None, state"))
        if not body and doc:
            return node
        return tree.with_body(node, [*doc, *body])

    def block(self, statements: SequenceABC[Any]) -> list[Any]:
        out: list[Any] = []
        for statement in statements:
            out.extend(self.statement(statement))
        return out

    def suite(self, node: Any) -> Any:
        statements = tree.body_statements(node)
        body = self.block(statements)
        return node if _same(body, statements) else tree.with_body(node, body)

    def statement(self, node: Any) -> list[Any]:
        before, self.prelude = self.prelude, []
        try:
            if isinstance(node, cst.SimpleStatementLine):
                new = self._line(node)
            elif isinstance(node, cst.If):
                new = [self._if(node)]
            elif isinstance(node, cst.For):
                new = [self._for(node)]
            elif isinstance(node, cst.FunctionDef):
                new = [self._nested(node)]
            elif isinstance(node, (cst.While, cst.With)):
                new = [self._compound(node)]
            elif isinstance(node, (cst.Try, cst.TryStar)):
                new = [self._try(node)]
            elif isinstance(node, cst.Match):
                new = [tree.replace(node, subject=self.expression(node.subject), cases=[self.suite(case) for case in node.cases])]
            else:
                new = [self.expression(node)]
            out = [*self.prelude, *new]
        finally:
            self.prelude = before
        if len(out) > 1 and hasattr(node, "leading_lines") and node.leading_lines:
            out[0] = tree.replace(out[0], leading_lines=node.leading_lines)
            out[-1] = tree.replace(out[-1], leading_lines=[])
        return out

    def _line(self, node: cst.SimpleStatementLine) -> list[Any]:
        smalls: list[Any] = []
        for small in node.body:
            start = len(self.prelude)
            new = self._small(small)
            if len(self.prelude) > start and smalls:
                # `a; b` where b needs statements before it: a goes first
                hoisted = self.prelude[start:]
                del self.prelude[start:]
                self.prelude.append(cst.SimpleStatementLine([tree.replace(s, semicolon=cst.MaybeSentinel.DEFAULT) for s in smalls]))
                self.prelude.extend(hoisted)
                smalls = []
            if new is not None:
                smalls.append(new)
        if not smalls:
            if self.prelude and self.prelude[-1] is not None and isinstance(self.prelude[-1], cst.SimpleStatementLine):
                last = self.prelude.pop()
                return [tree.replace(last, trailing_whitespace=node.trailing_whitespace)]
            return []
        return [node] if _same(smalls, node.body) else [tree.replace(node, body=smalls)]

    def _small(self, small: Any) -> Any:
        if isinstance(small, cst.Assign) and len(small.targets) == 1:
            return self._assign(small)
        if isinstance(small, cst.Return):
            return self._return(small)
        if isinstance(small, cst.AugAssign):
            value, target = self.expression(small.value), self.target(small.target)
            if isinstance(target, cst.Call):
                return cst.Expr(target)
            return small if value is small.value and target is small.target else tree.replace(small, target=target, value=value)
        if isinstance(small, cst.Expr):
            self.hint = "_"
            value = self.expression(small.value)
            self.hint = None
            if isinstance(value, cst.Name) and value is not small.value and self.prelude:
                return None  # only its effect counts
            return small if value is small.value else tree.replace(small, value=value)
        return self.expression(small)

    def _assign(self, node: cst.Assign) -> Any:
        target = node.targets[0].target
        value = self.facts.of(node.value)
        if isinstance(target, cst.Name) and isinstance(value, Module):
            path = self.paths.of(node.value, self.names)
            if path is not None:
                if target.value in self.single:
                    self.names[target.value] = path
                else:
                    holder = f"{target.value}_params"
                    self.prelude.append(tree.assignment(holder, tree.expression(path.params)))
                    self.names[target.value] = Path(holder, "None")
        name = self.renames.get(target.value, target.value) if isinstance(target, cst.Name) else ""
        if isinstance(target, cst.Name):
            self.hint = name if not self._read_outside_call(node.value, target.value) else None
        elif isinstance(target, (cst.Tuple, cst.List)):
            self.hint = None
            stateful = self._stateful_call(node.value)
            if stateful:
                call, state = self.call_parts(node.value)
                if state is not None:
                    left = tree.replace(target, lpar=[cst.LeftParen()], rpar=[cst.RightParen()]) if isinstance(target, cst.Tuple) else target
                    self._bind_state(self.target(left), state, call)
                    return None
                self.hint = None
                new = self.target(target)
                return tree.replace(node, targets=[tree.replace(node.targets[0], target=new)], value=call)
        taken = self._ties(target, node.value)
        if taken is not None:
            return cst.Expr(taken)
        new_value = self.expression(node.value)
        self.hint = None
        if isinstance(target, cst.Name) and isinstance(new_value, cst.Name) and new_value.value == name and self.prelude:
            return None  # the call taken out assigned it already
        new_target = self.target(target)
        if isinstance(new_target, cst.Subscript) and isinstance(new_value, cst.Call) and tree.dotted(new_value.func) == "nn.Parameter" and new_value.args:
            new_value = new_value.args[0].value  # what is among the params is one
        if new_value is node.value and new_target is target:
            return node
        if isinstance(new_target, cst.Call):
            return cst.Expr(new_target)  # where it would be stored is not known: it raises
        return tree.replace(node, targets=[tree.replace(node.targets[0], target=new_target)], value=new_value)

    storing = False  # what is converted is assigned to
    certain = False  # every param is there: in `init`, right after it was made

    def target(self, node: Any) -> Any:
        """What is assigned to."""
        self.storing = True
        new = self.expression(node)
        self.storing = False
        return new

    def _return(self, node: cst.Return) -> Any:
        if node.value is None:
            return cst.Return(tree.expression("None, state")) if self.stateful and not self.nested else node
        self.hint = self._returned_name(node.value)
        value = self.expression(node.value)
        self.hint = None
        if not self.stateful or self.nested:
            return node if value is node.value else tree.replace(node, value=value)
        if isinstance(value, cst.Tuple) and not value.lpar:
            value = tree.parenthesised(value)
        pair = cst.Tuple([cst.Element(value, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))), cst.Element(cst.Name("state"))], lpar=[], rpar=[])
        return tree.replace(node, value=pair, whitespace_after_return=cst.SimpleWhitespace(" "))

    def _returned_name(self, node: cst.BaseExpression) -> str | None:
        """In `return self.head(self.bn(x))` nothing reads x any more: its name can hold what is taken out."""
        calls = [n for n in tree.nodes(node, cst.Call) if self._stateful_call(n)]
        if not calls or not calls[-1].args or not isinstance(calls[-1].args[0].value, cst.Name):
            return None
        name = calls[-1].args[0].value.value
        return self.renames.get(name, name) if not self._read_outside_call(node, name) and not self.nested else None

    def _if(self, node: cst.If) -> Any:
        test = self.expression(node.test)
        found = {f"{m[1]}[{m[0]}]" for m in _PRESENT.findall(tree.code(test)) if " or " not in tree.code(test)}
        self.present |= found
        new = self.suite(node)
        new = new if test is node.test else tree.replace(new, test=test)
        self.present -= found
        if node.orelse is None:
            return new
        if isinstance(node.orelse, cst.If):
            inner = self.statement(node.orelse)
            if len(inner) == 1 and isinstance(inner[0], cst.If):
                return new if inner[0] is node.orelse else tree.replace(new, orelse=inner[0])
            return tree.replace(new, orelse=cst.Else(cst.IndentedBlock(inner)))
        orelse = self.suite(node.orelse)
        return new if orelse is node.orelse else tree.replace(new, orelse=orelse)

    def _stack(self, node: cst.For) -> Any:
        """A loop over layers that are equal, so far as can be seen: one `scan_layers`, which looks whether they are."""
        stack = stack_of(node)
        if stack is None or not self.paths.is_container(stack.container):
            return None
        value, path = self.facts.of(stack.container), self.paths.of(stack.container, self.names)
        if not isinstance(value, Module) or not isinstance(value.element, Module) or path is None or self._tied(path) != path.params:
            return None
        kinds = {r.rpartition(".")[2] for r in value.classes if isinstance(r, str)}
        needs = self.effects.module(value.element)
        if kinds != {"ModuleList"} or len(value.element.classes) != 1 or "state" in needs or "params" not in needs or value.element.open:
            return None
        if value.items is not None or stack.name in RESERVED:
            return None  # a list that was written out
        if any(a.keyword is not None and a.keyword.value in RESERVED for a in stack.rest):
            return None
        head = [tree.code(self._callee(stack.container)), path.params]
        call = tree.expression(f"{self.context.name('scan_layers')}({', '.join(head)})")
        passed = [cst.Arg(cst.Name(self.renames.get(stack.name, stack.name))), *(self.expression(a) for a in stack.rest)]
        args = [tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in [*call.args, *passed]]
        for name, text in self._keywords(needs):
            args.append(keyword(name, key_site() if text == KEY else tree.expression(text)))
        line = tree.assignment(passed[0].value, tree.replace(call, args=args))
        return tree.replace(line, leading_lines=node.leading_lines)

    def _for(self, node: cst.For) -> Any:
        stacked = self._stack(node)
        if stacked is not None:
            return stacked
        target, iterated = self.iterate(node.target, node.iter)
        new = self.suite(node)
        if target is not node.target or iterated is not node.iter:
            new = tree.replace(new, target=target, iter=iterated)
        if node.orelse is not None:
            new = tree.replace(new, orelse=self.suite(node.orelse))
        return new

    def _compound(self, node: Any) -> Any:
        changes: dict[str, Any] = {}
        if isinstance(node, cst.While):
            start = len(self.prelude)
            changes["test"] = self.expression(node.test)
            if len(self.prelude) > start:
                del self.prelude[start:]
                changes["test"] = self.context.unconverted("state-in-expression", node.test, "a module with state is called in the test of a loop")
            if node.orelse is not None:
                changes["orelse"] = self.suite(node.orelse)
        else:
            changes["items"] = [self.expression(item) for item in node.items]
        return _changed(node, self.suite(node), changes)

    def _try(self, node: Any) -> Any:
        handlers = [self.suite(h) for h in node.handlers]
        changes: dict[str, Any] = {"handlers": handlers}
        for part in ("orelse", "finalbody"):
            if getattr(node, part) is not None:
                changes[part] = self.suite(getattr(node, part))
        return _changed(node, self.suite(node), changes)

    def _nested(self, node: cst.FunctionDef) -> Any:
        self.nested += 1
        info = self.facts.by_node.get(id(node))
        before, self.parameters = self.parameters, self.parameters | ({p.name.value for p in info.parameters()} if info else set())
        new: Any = self.suite(node)
        self.parameters = before
        self.nested -= 1
        if info is not None and "key" in self.effects.functions.get(info, ()):
            new = add_keywords(new, ["key"])
        return new

    # ------------------------------------------------------------------ expressions

    def expression(self, node: Any) -> Any:
        return tree.rewrite(node, self.visit)

    def visit(self, node: Any) -> Any:
        kind = node.__class__  # isinstance is slow to ask where the answer is mostly no
        if kind in (cst.Import, cst.ImportFrom):
            return node
        if kind is cst.Call:
            return self._call(node)
        if kind is cst.Attribute:
            return self._attribute(node)
        if kind is cst.Comparison:
            return self._none_test(node)
        if kind is cst.Subscript:
            return self._subscript(node)
        if kind is cst.Arg and node.keyword is not None:
            value = self.expression(node.value)
            return node if value is node.value else tree.replace(node, value=tree.fit(node, "value", value))
        if kind in (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp):
            return self._comprehension(node)
        if kind is cst.IfExp and (self._has_state(node.body) or self._has_state(node.orelse)):
            return self._conditional(node)
        if kind is cst.BooleanOperation and self._has_state(node.right):
            return self._refuse_state(node)
        if kind is cst.Lambda and self._has_state(node.body):
            return self._refuse_state(node)
        if kind is cst.Name and self.renames and node.value in self.renames:
            new = tree.replace(node, value=self.renames[node.value])
            self.facts.carry(node, new)
            return new
        return None

    def _refuse_state(self, node: Any) -> Any:
        return self.context.unconverted("state-in-expression", node, "a module with state is called where its new state cannot be kept")

    def _has_state(self, node: cst.CSTNode) -> bool:
        if not self.stateful:
            return False
        return any(self._stateful_call(n) for n in tree.nodes(node, cst.Call))

    def _stateful_call(self, node: cst.BaseExpression) -> bool:
        if not isinstance(node, cst.Call) or not self.stateful:
            return False
        value = self.facts.of(node.func)
        if isinstance(value, Module):
            return "state" in self.effects.module(value) and not self._is_bound(node.func)
        if isinstance(value, Function):
            return "state" in self._function_needs(value)
        if isinstance(value, Method) and isinstance(value.receiver, Module):
            if value.name == "forward":
                return "state" in self.effects.module(value.receiver)
            if self._is_method_of_any(value):
                return bool(self.effects.method_of_any(value.name))
            return runs(self.facts, value) and not value.receiver.is_self
        return False

    def _is_bound(self, func: cst.BaseExpression) -> bool:
        """A module passed in as an argument comes with its params bound."""
        return isinstance(func, cst.Name) and func.value in self.parameters and func.value not in self.names and func.value != self.self_name

    def _function_needs(self, value: Function) -> frozenset[str]:
        if value.info not in self.effects.running:
            return frozenset()
        return self.effects.functions.get(value.info, frozenset())

    # ------------------------------------------------------------------ calls

    def _call(self, node: cst.Call) -> Any:
        call, state = self.call_parts(node)
        if state is None:
            return call
        if self.nested or not state.startswith("state"):
            return self._refuse_state(node)
        return self._hoist(node, call, state)

    def call_parts(self, node: Any) -> tuple[Any, str | None]:
        """The converted call, and the place of the state that it returns beside its result, if it does."""
        value = self.facts.of(node.func)
        if isinstance(value, Module) and not self._is_bound(node.func):
            return self._module(node, node.func, value)
        if isinstance(value, Function):
            return self._function(node, value)
        if isinstance(value, Method) and isinstance(value.receiver, Module) and isinstance(node.func, cst.Attribute):
            receiver = value.receiver
            if _is_super(node.func.value):
                return self._super(node, node.func, value, receiver)
            if value.name == "forward":
                return self._module(node, node.func.value, receiver)
            if value.name in _ARRAYS_OF:
                return self._arrays_of(node, node.func), None
            if self._is_method_of_any(value):
                return self._method_of_any(node, node.func) if self.effects.method_of_any(value.name) else (self._plain(node), None)
            if runs(self.facts, value) and not receiver.is_self:
                return self._module(node, node.func, Module(open=True))
        if isinstance(value, External) and value.name == "builtins.getattr" and len(node.args) >= 2:
            found = self.facts.of(node)
            path = self.paths.of(node, self.names)
            if isinstance(found, Tensor) and found.param and path is not None:
                return tree.expression(path.params), None
        return self._plain(node), None

    def _is_method_of_any(self, value: Method) -> bool:
        receiver = value.receiver
        return isinstance(receiver, Module) and not receiver.classes and runs(self.facts, value) and self.facts.is_method_of_modules(value.name)

    def _method_of_any(self, node: cst.Call, func: cst.Attribute) -> tuple[Any, str | None]:
        """`self.bias.get_bias()` of a submodule whose class is not known: called with every effect that it takes."""
        path = self.paths.of(func.value, self.names)
        if path is None:
            return self.context.unconverted("module-value", node, "the params of this module could not be followed to here"), None
        called = self._with_args(node, [self._tied(path), path.state], self._keywords(ALL))
        made = tree.expression(f"{self.context.name('call')}()")
        new = tree.replace(made, args=[cst.Arg(called.func, comma=cst.MaybeSentinel.DEFAULT), *called.args])
        self.facts.carry(node, new)
        return new, path.state

    def _arrays_of(self, node: cst.Call, func: cst.Attribute) -> Any:
        """`self.named_parameters()` gives what the params hold, in torch's order."""
        path = self.paths.of(func.value, self.names)
        name = func.attr.value
        if name not in PARAMETERS or path is None or node.args or self._tied(path) != path.params:
            return self.context.unconverted("module-value", node, f"which arrays {name}() means here is not known")
        self.context.support.add(name)
        return tree.expression(f"nn.{name}({tree.code(self._callee(func.value))}, {path.params})")

    def _plain(self, node: cst.Call) -> Any:
        """A call of something else; modules among its arguments go with their params bound."""
        func = self.facts.of(node.func)
        args, changed = [], False
        host = isinstance(func, External) and func.name.startswith("builtins.") or isinstance(func, Function) and _asks_for_none(func.info)
        for argument in node.args:
            value = self.facts.of(argument.value)
            if isinstance(value, Module) and not value.is_self and not host and not isinstance(func, Method) and not self._makes_module(argument.value):
                new = self._bound(argument.value, value)
            else:
                new = self.expression(argument.value)
            changed = changed or new is not argument.value
            args.append(argument if new is argument.value else tree.replace(argument, value=tree.fit(argument, "value", new)))
        new_func = self.expression(node.func)
        if not changed and new_func is node.func:
            return node
        new_node = tree.replace(node, args=args, func=tree.fit(node, "func", new_func))
        self.facts.carry(node, new_node)
        return new_node

    def _makes_module(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) and tree.dotted(node.func) != "getattr"

    def _bound(self, node: Any, value: Module) -> Any:
        """A submodule as a plain function: its params, key and mode bound."""
        needs = self.effects.module(value)
        if self._is_bound(node) or not needs:
            return self.expression(node)
        path = self.paths.of(node, self.names)
        if path is None or not self.effects.direct(value) or "state" in needs:
            why = "it has state" if "state" in needs else "its class is not known here"
            return self.context.unconverted("module-value", node, f"a submodule is passed on as a value, and {why}")
        parts = [tree.code(self.expression(node)), *([path.params] if "params" in needs else [])]
        keywords = [*(["key=" + KEY] if "key" in needs else []), *(["training=training"] if "training" in needs else [])]
        return tree.expression(f"functools.partial({', '.join(parts + keywords)})")

    def _module(self, node: cst.Call, callee: Any, value: Module) -> tuple[Any, str | None]:
        needs = self.effects.module(value)
        path = self.paths.of(callee, self.names)
        if not needs:
            plain = tree.replace(node, func=callee) if callee is not node.func else node
            self.facts.carry(node, plain)
            return self._with_args(plain, [], []), None
        if path is None and needs & {"params", "state"} or path is not None and "state" in needs and path.state.startswith("None"):
            return self.context.unconverted("module-value", node, "the params of this module could not be followed to here"), None
        assert path is not None or not needs & {"params", "state"}
        where = path or SELF
        params = self._tied(where)
        direct = self.effects.direct(value)
        head = ([params] if "params" in needs else []) + ([where.state] if "state" in needs else [])
        keywords = self._keywords(needs)
        if direct:
            new = self._with_args(tree.replace(node, func=callee), head, keywords)
            return new, where.state if "state" in needs else None
        apply_head = [params if path is not None else "{}", where.state if "state" in needs else "{}"]
        func = cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", callee), cst.Name("apply"))
        new = self._with_args(tree.replace(node, func=func), apply_head, keywords)
        if "state" in needs:
            return new, where.state
        return tree.replace(tree.expression("x[0]"), value=new), None

    def _keywords(self, needs: frozenset[str]) -> list[tuple[str, str]]:
        return [*([("key", KEY)] if "key" in needs else []), *([("training", "training")] if "training" in needs else [])]

    def _tied(self, path: Path) -> str:
        """The params of a submodule, with what it shares put in."""
        if self.cls is None or not path.params.startswith('params["'):
            return path.params
        parts = path.parts
        result = path.params
        for tied, tie in self.arrays.ties(self.cls).items():
            if len(tied) > len(parts) and tied[: len(parts)] == parts:
                inner = below(tie.source)
                for depth in range(len(tied) - 1, len(parts) - 1, -1):
                    holder = below(tied[:depth])
                    own_first = not tie.certain and depth == len(tied) - 1  # where it is not tied its own value counts
                    inner = f'{{"{tied[depth]}": {inner}, **{holder}}}' if own_first else f'{{**{holder}, "{tied[depth]}": {inner}}}'
                result = inner
        return result

    def _function(self, node: cst.Call, value: Function) -> tuple[Any, str | None]:
        needs = self._function_needs(value)
        info = value.info
        if not needs or info.is_property:
            made = self._plain(node)
            if info.name == "forward" and info.owner is not None and info.owner.is_module and isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute):
                is_self = isinstance(made.func.value, cst.Name) and made.func.value.value == self.self_name
                made = tree.replace(made, func=made.func.value if is_self else tree.replace(made.func, attr=cst.Name("__call__")))
            return made, None
        if info.outer is not None or info.owner is None or info.is_static:
            keywords = self._keywords(needs)
            if "params" in needs or "state" in needs:
                if info.outer is None:
                    return self.context.unconverted("module-value", node, f"{info.name} needs params that it is not given"), None
            if info.outer is not None:
                keywords = [k for k in keywords if k[0] == "key"]
            return self._with_args(node, [], keywords, plain=True), None
        head: list[str] = []
        path: Path | None = SELF
        leading: list[Any] = []
        func = node.func
        if isinstance(func, cst.Attribute):
            receiver = self.facts.of(func.value)
            if _is_super(func.value):
                if info.name == "forward":
                    func = tree.replace(func, attr=cst.Name("__call__"))
            elif isinstance(receiver, Module):
                path = self.paths.of(func.value, self.names)
            elif isinstance(receiver, External):  # a method of a class that is no module
                if needs & {"params", "state"}:
                    return self.context.unconverted("module-value", node, f"{info.name} needs params that it is not given"), None
                path = None
            else:  # Base.method(self, …)
                leading = list(node.args[:1])
                node = tree.replace(node, args=node.args[1:])
                if info.name == "forward":
                    func = tree.replace(func, attr=cst.Name("__call__"))
        if path is None and needs & {"params", "state"}:
            return self.context.unconverted("module-value", node, "the params of this module could not be followed to here"), None
        path = path or SELF
        head = ([self._tied(path)] if "params" in needs else []) + ([path.state] if "state" in needs else [])
        new = self._with_args(tree.replace(node, func=func), head, self._keywords(needs))
        if leading:
            new = tree.replace(new, args=[*leading, *new.args])
        if isinstance(new.func, cst.Attribute) and new.func.attr.value == "forward":
            new = tree.replace(new, func=new.func.value)
        return new, path.state if "state" in needs else None

    def _super(self, node: cst.Call, func: cst.Attribute, value: Method, receiver: Module) -> tuple[Any, str | None]:
        """`super().forward(x)` of a class that extends a torch layer."""
        if value.name != "forward":
            return self._plain(node), None
        if not receiver.classes:
            func = tree.replace(func, attr=cst.Name("__call__"))
            call = self._with_args(tree.replace(node, func=func), ["params", "state"], self._keywords(ALL))
            made = tree.expression(f"{self.context.name('call')}()")
            return tree.replace(made, args=[cst.Arg(call.func, comma=cst.MaybeSentinel.DEFAULT), *call.args]), "state"
        name = receiver.refs[0]
        container = self.effects.is_container(name)
        needs = self.needs if container else self.effects.layer(name)
        if container and "state" in needs:
            func = tree.replace(func, attr=cst.Name("run"))
        else:
            func = tree.replace(func, attr=cst.Name("__call__"))
        head = (["params"] if "params" in needs else []) + (["state"] if "state" in needs else [])
        new = self._with_args(tree.replace(node, func=func), head, self._keywords(needs))
        return new, "state" if "state" in needs else None

    def _with_args(self, node: cst.Call, head: list[str], keywords: list[tuple[str, str]], plain: bool = False) -> Any:
        args: list[cst.Arg] = [cst.Arg(tree.expression(text)) for text in head]
        for argument in node.args:
            value = self.facts.of(argument.value)
            if isinstance(value, Module) and not value.is_self and not self._makes_module(argument.value):
                new = self._bound(argument.value, value)
            else:
                new = self.expression(argument.value)
            changed = tree.replace(argument, value=tree.fit(argument, "value", new), comma=cst.MaybeSentinel.DEFAULT)
            if argument.keyword is not None and argument.keyword.value in RESERVED and not plain:
                changed = tree.replace(changed, keyword=cst.Name(argument.keyword.value + "_"))
            args.append(changed)
        for name, text in keywords:
            if any(a.keyword is not None and a.keyword.value == name for a in args):
                continue
            args.append(keyword(name, key_site() if text == KEY else tree.expression(text)))
        func = node.func if isinstance(node.func, cst.Attribute) and _is_super(node.func.value) else self._callee(node.func)
        new_node = tree.replace(node, func=func, args=args, whitespace_before_args=cst.SimpleWhitespace(""))
        self.facts.carry(node, new_node)
        return new_node

    def _callee(self, func: Any) -> Any:
        """The expression of the callee: its own attributes stay, what it is indexed with is converted."""
        if isinstance(func, cst.Attribute):
            value = self._callee(func.value)
            return func if value is func.value else tree.replace(func, value=value)
        return self.expression(func)

    # ------------------------------------------------------------------ state

    def _hoist(self, node: cst.Call, call: Any, state: str) -> Any:
        name = self.hint or self._temporary(node)
        self._bind_state(cst.Name(name), state, call)
        return cst.Name(name)

    def _bind_state(self, target: Any, state: str, call: Any) -> None:
        self.writes.add(state.count("[")) if state != "state" else None
        left = cst.Tuple(
            [cst.Element(target, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))), cst.Element(tree.expression(state))], lpar=[], rpar=[]
        )
        self.prelude.append(tree.assignment(left, call))

    def _temporary(self, node: cst.Call) -> str:
        """A name for a result taken out of its expression: the argument's where it is not read again, else the module's."""
        func = node.func
        while isinstance(func, (cst.Subscript, cst.Call)):
            func = func.value if isinstance(func, cst.Subscript) else func.func
        stem = func.attr.value if isinstance(func, cst.Attribute) else func.value if isinstance(func, cst.Name) else "y"
        if stem in ("forward", "__call__"):
            stem = "y"
        return fresh_name(self.used, f"{stem}_" if stem in RESERVED else stem)

    def _read_outside_call(self, node: cst.BaseExpression, name: str) -> bool:
        """Whether a name is read outside the innermost stateful calls of an expression."""
        calls = [n for n in tree.nodes(node, cst.Call) if self._stateful_call(n)]
        if not calls:
            return True
        inside = sum(1 for n in tree.nodes(calls[-1], cst.Name) if n.value == name)
        total = sum(1 for n in tree.nodes(node, cst.Name) if n.value == name)
        return total > inside or len(calls) > 1 and not all(any(c is n for n in tree.walk(calls[0])) for c in calls)

    def _conditional(self, node: cst.IfExp) -> Any:
        """A conditional expression with a stateful call in it becomes an `if` statement."""
        name = self.hint if self.hint and self.hint != "_" else fresh_name(self.used, "y")
        self.hint = None
        test = self.expression(node.test)
        branches = []
        for part in (node.body, node.orelse):
            before, self.prelude = self.prelude, []
            value = self.expression(part)
            branches.append([*self.prelude, tree.assignment(name, value)])
            self.prelude = before
        self.prelude.append(cst.If(test, cst.IndentedBlock(branches[0]), cst.Else(cst.IndentedBlock(branches[1]))))
        return cst.Name(name)

    def _comprehension(self, node: Any) -> Any:
        if self._has_state(node):
            if isinstance(node, (cst.ListComp, cst.GeneratorExp)) and node.for_in.inner_for_in is None:
                return self._unrolled(node)
            return self._refuse_state(node)
        clauses = []
        clause = node.for_in
        while clause is not None:
            target, iterated = self.iterate(clause.target, clause.iter)
            ifs = [self.expression(i) for i in clause.ifs]
            clauses.append(tree.replace(clause, target=target, iter=iterated, ifs=ifs, inner_for_in=None))
            clause = clause.inner_for_in
        inner = None
        for clause in reversed(clauses):
            inner = tree.replace(clause, inner_for_in=inner)
        changes: dict[str, Any] = {"for_in": inner}
        if isinstance(node, cst.DictComp):
            changes |= {"key": self.expression(node.key), "value": self.expression(node.value)}
        else:
            changes["elt"] = self.expression(node.elt)
        new = tree.replace(node, **changes)
        self.facts.carry(node, new)
        return new

    def _unrolled(self, node: Any) -> Any:
        """A list of stateful calls becomes a loop that appends."""
        name = fresh_name(self.used, "outputs")
        self.hint = None
        target, iterated = self.iterate(node.for_in.target, node.for_in.iter)
        before, self.prelude = self.prelude, []
        value = self.expression(node.elt)
        append = tree.replace(tree.expression(f"{name}.append()"), args=[cst.Arg(value)])
        body = [*self.prelude, cst.SimpleStatementLine([cst.Expr(append)])]
        self.prelude = before
        for condition in reversed(node.for_in.ifs):
            body = [cst.If(self.expression(condition.test), cst.IndentedBlock(body))]
        self.prelude.append(tree.statement(f"{name} = []"))
        self.prelude.append(cst.For(target, iterated, cst.IndentedBlock(body)))
        return cst.Name(name)

    # ------------------------------------------------------------------ loops over submodules

    def iterate(self, target: Any, iterated: Any) -> tuple[Any, Any]:
        """Loops over submodules go over (name, layer), so that the params can be found."""
        found = self._iterate(target, iterated)
        if found is not None:
            return found
        return self.expression(target), self.expression(iterated)

    def _iterate(self, target: Any, node: Any) -> tuple[Any, Any] | None:
        base, suffix = node, ""
        if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Slice):
            base, suffix = node.value, tree.code(node)[len(tree.code(node.value)) :]
        value = self.facts.of(base)
        if isinstance(value, Module) and self.paths.is_container(base):
            path = self.paths.of(base, self.names)
            if path is None:
                return None
            kind = {r.rpartition(".")[2] for r in value.classes if isinstance(r, str)}
            if kind and kind <= {"ParameterList"}:
                text = f"[{path.params}[name] for name, _ in {tree.code(self.expression(base))}.layers(){suffix}]"
                return self.expression(target), tree.expression(text)
            if kind and kind <= {"ModuleDict", "ParameterDict"}:
                return None
            if isinstance(target, cst.Tuple) and all(isinstance(e.value, cst.Name) for e in target.elements):
                name = fresh_name(self.used, "name")  # a list of lists: `for attn, mlp in self.layers`
                parts: list[Any] = [e.value for e in target.elements]
                for i, part in enumerate(parts):
                    self.names[part.value] = path.child(name).child(f'"{i}"')
                return _pair(name, tree.parenthesised(target) if not target.lpar else target), tree.expression(f"{tree.code(self._callee(base))}.layers(){suffix}")
            if not isinstance(target, cst.Name):
                return None
            name = fresh_name(self.used, "name")
            self.names[target.value] = path.child(name)
            return _pair(name, target), tree.expression(f"{tree.code(self._callee(base))}.layers(){suffix}")
        if isinstance(node, cst.Attribute) and isinstance(target, cst.Name):
            held = self.paths.held(node, target.value, self.names)
            if held is not None:
                self.names[target.value] = held
                return target, node
        if not isinstance(node, cst.Call):
            return None
        function = tree.dotted(node.func)
        if function == "enumerate" and node.args and isinstance(target, cst.Tuple) and len(target.elements) == 2:
            inner = self._iterate(target.elements[1].value, node.args[0].value)
            if inner is None:
                return None
            second = tree.parenthesised(inner[0]) if isinstance(inner[0], cst.Tuple) and not inner[0].lpar else inner[0]
            elements = [target.elements[0], tree.replace(target.elements[1], value=second)]
            args = [tree.replace(node.args[0], value=inner[1]), *(self.expression(a) for a in node.args[1:])]
            return tree.replace(target, elements=elements), tree.replace(node, args=args)
        if function == "zip" and isinstance(target, cst.Tuple) and len(target.elements) == len(node.args):
            elements, args, any_found = [], [], False
            for element, argument in zip(target.elements, node.args):
                inner = self._iterate(element.value, argument.value)
                any_found = any_found or inner is not None
                new_target, new_iter = inner or (self.expression(element.value), self.expression(argument.value))
                if isinstance(new_target, cst.Tuple) and not new_target.lpar:
                    new_target = tree.parenthesised(new_target)
                elements.append(tree.replace(element, value=new_target))
                args.append(tree.replace(argument, value=new_iter))
            return (tree.replace(target, elements=elements), tree.replace(node, args=args)) if any_found else None
        if function in ("reversed", "list", "tuple", "iter") and len(node.args) == 1:
            inner = self._iterate(target, node.args[0].value)
            if inner is None:
                return None
            return inner[0], tree.replace(node, args=[tree.replace(node.args[0], value=inner[1])])
        if isinstance(node.func, cst.Attribute) and isinstance(self.facts.of(node.func.value), Module):
            return self._method_loop(target, node, node.func)
        return None

    def _method_loop(self, target: Any, node: cst.Call, func: cst.Attribute) -> tuple[Any, Any] | None:
        path = self.paths.of(func.value, self.names)
        if path is None:
            return None
        method, holder = func.attr.value, tree.code(self._callee(func.value))
        pair = isinstance(target, cst.Tuple) and len(target.elements) == 2 and isinstance(target.elements[0].value, cst.Name)
        if method in ("items", "named_children") and pair:
            key, module = target.elements[0].value.value, target.elements[1].value
            if isinstance(module, cst.Name):
                self.names[module.value] = path.child(key)
            return target, tree.expression(f"{holder}.items()" if method == "items" else f"{holder}.children()")
        if method in ("values", "children") and isinstance(target, cst.Name):
            name = fresh_name(self.used, "name")
            self.names[target.value] = path.child(name)
            return _pair(name, target), tree.expression(f"{holder}.layers()" if method == "values" or self.paths.is_container(func.value) else f"{holder}.children()")
        return None

    # ------------------------------------------------------------------ arrays

    def _attribute(self, node: cst.Attribute) -> Any:
        base = self.facts.of(node.value)
        name = node.attr.value
        if isinstance(base, Module):
            if name == "training":
                return tree.replace(tree.expression("training"))
            found = self._array(node, base, name)
            if found is not None:
                self.facts.carry(node, found)
                return found
            prop = self.facts.by_property(base, name)
            if isinstance(prop, Function) and self._function_needs(prop):
                return self._property_call(node, prop)
        value = self.expression(node.value)
        if value is node.value:
            return node
        new = tree.replace(node, value=tree.fit(node, "value", value))
        self.facts.carry(node, new)
        return new

    def _property_call(self, node: cst.Attribute, prop: Function) -> Any:
        """A property that needs params is a method in the output."""
        needs = self._function_needs(prop)
        path = self.paths.of(node.value, self.names)
        if path is None or "state" in needs:
            return self.context.unconverted("module-value", node, "a property whose params could not be followed")
        head = [path.params] if "params" in needs else []
        keywords = [f"{k}={v}" for k, v in self._keywords(needs)]
        call = tree.expression(f"x({', '.join(head + keywords)})")
        return tree.replace(call, func=tree.replace(node, value=self._callee(node.value)))

    def _tie(self, path: Path, name: str) -> Tie | None:
        """What a param under a path shares."""
        if self.cls is None or not path.params.startswith("params"):
            return None
        parts = path.parts
        return self.arrays.ties(self.cls).get((*parts, name))

    def _ties(self, target: Any, value: Any) -> Any:
        """`self.head.weight = self.embed.weight`: the head has no weight of its own from here on."""
        if not isinstance(target, cst.Attribute) or not isinstance(value, cst.Attribute):
            return None
        path, source = self.paths.of(target.value, self.names), self.paths.of(value.value, self.names)
        tie = self._tie(path, target.attr.value) if path is not None else None
        if path is None or source is None or tie is None:
            return None
        shared = below(tie.source)
        return tree.expression(f'{path.params}.pop("{target.attr.value}", None)') if f'{source.params}["{value.attr.value}"]' == shared else None

    def _array(self, node: cst.Attribute, base: Module, attribute: str) -> Any:
        where, optional, name = None, False, tree.mangled(attribute, self.cls.name if self.cls is not None else None)
        plain = False
        for ref in base.refs:
            if isinstance(ref, ClassInfo):
                array = self.arrays.find(ref, attribute)
                if array is not None:
                    where, optional, plain = array.where, array.optional, array.plain
                    if where == "constant":
                        return None
                elif self.effects.inherited_array(ref, name):
                    where = self.effects.inherited_array(ref, name)
                    layer = self.facts.layer_of(ref)
                    optional = layer is not None and name in self.facts.rulebook.optional(layer.name)
            elif isinstance(self.facts.of(node), Tensor):
                definition = self.facts.rulebook.layer(ref)
                if definition is not None:
                    if self.facts.rulebook.computed(definition.name, name):
                        return self.context.unconverted("module-value", node, f"{name} of this layer is computed from its other params in each call: compute it here too")
                    where = self.facts.rulebook.array(definition.name, name) or where
                    optional = name in self.facts.rulebook.optional(definition.name)
        if where is None and not base.classes:
            value = self.facts.of(node)
            if isinstance(value, Tensor) and value.param:
                where = "params"
        if where is None:
            return None
        path = self.paths.of(node.value, self.names)
        if path is None:
            return self.context.unconverted("module-value", node, "the params of this module could not be followed to here")
        tie = self._tie(path, name) if where == "params" else None
        if tie is not None:
            holder = below(tie.source[:-1])
            if tie.certain:
                return tree.expression(f'{holder}["{tie.source[-1]}"]')
            if not self.storing:
                return tree.expression(f'{path.params}.get("{name}", {holder}["{tie.source[-1]}"])')
            if name != tie.source[-1]:
                return self.context.unconverted("module-value", node, f"{name} is shared with {'.'.join(tie.source)} on some ways only: which of them changes is not known here")
            return tree.expression(f'({path.params} if "{name}" in {path.params} else {holder})["{name}"]')
        holder = path.params if where == "params" else path.state
        if where == "state" and self.storing:
            self.writes.add(holder.count("[") + 1)
        place = f'{holder}["{name}"]'
        if optional and where == "params" and not (self.storing or self.certain or place in self.present):
            return tree.expression(f'{holder}.get("{name}")')
        if plain and not self.storing:
            made = tree.expression(f'({place} if "{name}" in {holder} else x)')
            return tree.replace(made, orelse=node)
        return tree.expression(f'{holder}["{name}"]')

    def _none_test(self, node: cst.Comparison) -> Any:
        """`self.bias is not None` asks whether the params have it."""
        if len(node.comparisons) != 1 or not isinstance(node.left, cst.Attribute):
            return None
        target = node.comparisons[0]
        if not isinstance(target.comparator, cst.Name) or target.comparator.value != "None" or not isinstance(target.operator, (cst.Is, cst.IsNot)):
            return None
        base = self.facts.of(node.left.value)
        if not isinstance(base, Module):
            return None
        array = self._array(node.left, base, node.left.attr.value)
        if isinstance(array, cst.Call) and isinstance(array.func, cst.Attribute) and array.func.attr.value == "get":
            holder = tree.code(array.func.value)
        elif isinstance(array, cst.Subscript):
            holder = tree.code(array.value)
            if "state" in holder.split("[")[0]:
                return None
        else:
            return None
        return tree.expression(f'"{node.left.attr.value}" {"in" if isinstance(target.operator, cst.IsNot) else "not in"} {holder}')

    def _subscript(self, node: cst.Subscript) -> Any:
        """An entry of a ParameterList or ParameterDict."""
        holder = self.facts.of(node.value)
        if isinstance(holder, Module) and isinstance(self.facts.of(node), Tensor):
            path = self.paths.of(node, self.names)
            if path is not None:
                return tree.expression(path.params)
        return None


def _changed(old: Any, new: Any, changes: dict[str, Any]) -> Any:
    """The node with what really changed."""
    real = {k: v for k, v in changes.items() if not (v is getattr(old, k) or isinstance(v, list) and _same(v, getattr(old, k)))}
    return tree.replace(new, **real) if real else new


def _same(a: SequenceABC[Any], b: SequenceABC[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def _pair(name: str, target: Any) -> Any:
    return cst.Tuple([cst.Element(cst.Name(name), comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))), cst.Element(target)], lpar=[], rpar=[])


def _is_super(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"


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


def _asks_for_none(info: FunctionInfo) -> bool:
    """`def exists(value): return value is not None`: it takes a module for what it is, not for what it computes."""
    names = [p.name.value for p in info.parameters()]
    body = [s for s in tree.body_statements(info.node) if not tree.is_docstring(s)]
    return len(names) == 1 and len(body) == 1 and tree.code(body[0]).strip() in (f"return {names[0]} is not None", f"return {names[0]} is None")
