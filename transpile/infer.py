"""Abstract interpretation of the user's functions: the value of every expression, attribute, parameter and result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import libcst as cst

from . import tree
from .project import PLAIN_MODULE, ClassInfo, FunctionInfo, ModuleInfo, Project, is_own_module
from .results import Results
from .rulebook import Definition, Rulebook
from .values import (
    ARRAY_TYPE,
    FUNCTION,
    MISSING,
    NONE,
    PLACED,
    UNKNOWN,
    Class,
    External,
    Function,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    element_of,
    is_traced,
    join,
    sequence,
)

Env = dict[str, Value]
_ROUNDS = 3

# Methods of lists, dicts, sets, strings and modules: on an unknown object they do not tell that it is a tensor.
ORDINARY = frozenset(
    "append extend insert pop remove index count sort reverse copy clear get keys values items update setdefault split join"
    " format strip replace add discard union lower upper startswith endswith find encode decode eval train apply parameters"
    " named_parameters modules children named_modules named_children state_dict load_state_dict register_buffer forward sample"
    " rsample log_prob entropy cdf step zero_grad backward intersection difference isdigit title rstrip lstrip".split()
)
NUMPY_METHODS = frozenset({"astype", "copy"})  # and JAX's arrays have them: an array that was numpy's keeps them
# Methods that numpy arrays and modules have too: they tell a tensor only where nothing else is likely.
SHARED = frozenset(
    "type repeat to cuda cpu numpy tolist item size shape dtype device data float int bool half double mean sum std var min"
    " max all any round dot argmax argmin reshape transpose squeeze flatten cumsum prod clip conj diagonal fill put ravel"
    " resize swapaxes take trace view T ndim real imag detach".split()
)

_ANNOTATIONS = {"int": "int", "float": "float", "bool": "bool", "str": "str"}


class Inference:
    """Values of everything in a project, computed to a fixed point (at most a few rounds)."""

    def __init__(self, project: Project, rulebook: Rulebook) -> None:
        self.project = project
        self.rulebook = rulebook
        self.results = Results(rulebook)
        self.values: dict[int, Value] = {}
        self.kept: list[cst.CSTNode] = []
        self.attributes: dict[ClassInfo, dict[str, Value]] = {}
        self.parameters: dict[FunctionInfo, dict[str, Value]] = {}  # joined over call sites
        self.returns: dict[FunctionInfo, Value] = {}
        self.returns_for: dict[Any, Value] = {}  # by function and the modules and classes that it gets
        self.calls: dict[FunctionInfo, set[FunctionInfo]] = {}
        self.evidence: dict[FunctionInfo, frozenset[str]] = {}
        self.module_env: dict[ModuleInfo, Env] = {}
        self.by_node: dict[int, FunctionInfo] = {}
        self.class_by_node: dict[int, ClassInfo] = {}
        self.contents: dict[ClassInfo, Value] = {}  # what a user's container class holds
        self.dynamic: dict[ClassInfo, Value] = {}  # attributes set under computed names
        self.earlier: tuple[Any, ...] = ({}, {}, {}, {})
        self.running: set[FunctionInfo] = set()
        self.wrapped: set[tuple[ClassInfo, str]] = set()  # attributes of unknown make that are called
        self.makers: set[tuple[ClassInfo, str]] = set()  # attributes that may hold a class of modules
        self.origin: dict[int, cst.CSTNode] = {}
        for module in project.modules.values():
            for function in module.all_functions:
                self.by_node[id(function.node)] = function
            for cls in module.all_classes:
                self.class_by_node[id(cls.node)] = cls

    # ------------------------------------------------------------------ driving

    def run(self) -> Inference:
        for _ in range(_ROUNDS):
            # each round starts afresh, with what the last one found for what is not known yet
            self.values, self.kept, self.returns, self.returns_for = {}, [], {}, {}
            self.earlier = (self.attributes, self.parameters, self.contents, self.dynamic)
            self.attributes, self.parameters, self.contents, self.dynamic = {}, {}, {}, {}
            for module in self.project.modules.values():
                self.module_env[module] = {}
                Frame(self, module, None).block(module.tree.body, self.module_env[module])
            functions = [f for m in self.project.modules.values() for f in m.all_functions if f.outer is None]
            for info in sorted(functions, key=lambda f: f.name != "__init__"):
                self.running.add(info)
                self.function(info)
                self.running.discard(info)
            if self.earlier == (self.attributes, self.parameters, self.contents, self.dynamic):
                break
        return self

    def function(self, info: FunctionInfo, closure: Env | None = None) -> None:
        """Interpret one function with what is known of its parameters now."""
        self.note(self.returns, info, self._interpreted(info, closure))

    def _interpreted(self, info: FunctionInfo, closure: Env | None = None, given: Env | None = None) -> Value:
        frame = Frame(self, info.module, info, closure)
        env = frame.parameters() | (given or {})
        frame.block(tree.body_statements(info.node), env)
        result = frame.result if frame.result is not None else NONE
        if frame.yields is not None:
            result = Sequence(frame.yields)
        return result

    def result(self, info: FunctionInfo) -> Value:
        """What a function returns; it is interpreted on demand, so that a first look does not count as unknown."""
        if info not in self.returns and info not in self.running and info.outer is None:
            self.running.add(info)
            self.function(info)
            self.running.discard(info)
        return self.returns.get(info, Tensor(assumed=True) if info.name != "__init__" else NONE)

    def result_for(self, info: FunctionInfo, given: Env) -> Value:
        """What a function returns that gets these modules and classes: `clones(nn.BatchNorm1d(n), 3)` holds no other layer."""
        seen = {**self.earlier[1].get(info, {}), **self.parameters.get(info, {})}
        others = tuple((name, given[name]) for name in sorted(given) if seen.get(name) != given[name])
        if not others or info in self.running or info.outer is not None:
            return self.result(info)
        key = (info, others)
        if key not in self.returns_for:
            self.running.add(info)
            self.returns_for[key] = self._interpreted(info, given=given)
            self.running.discard(info)
        return self.returns_for[key]

    def is_method_of_modules(self, name: str) -> bool:
        """Whether modules of the project have a method of this name, and no other class, tensor or container has one."""
        if name in ORDINARY or self.rulebook.find("torch.Tensor." + name) or name.startswith("__"):
            return False
        owners = [cls for module in self.project.modules.values() for cls in module.all_classes if name in cls.methods]
        return bool(owners) and all(cls.is_module and not cls.methods[name].is_property for cls in owners)

    def used_as_tensors(self, info: FunctionInfo) -> frozenset[str]:
        """The parameters that a function, or what it passes them on to, uses in a way that only a tensor allows."""
        if info not in self.evidence:
            self.evidence[info] = frozenset()  # what a function finds of itself by way of others
            self.evidence[info] = frozenset(_tensor_evidence(self, info))
        return self.evidence[info]

    def numpy_on_arrays(self, name: str, values: list[Value]) -> bool:
        """Whether a call of numpy's computes with what is traced, by a function that jax.numpy has too."""
        if not name.startswith("numpy.") or name.removeprefix("numpy.") not in self.rulebook.table("TRACEABLE"):
            return False
        spread = [element_of(v) if isinstance(v, Sequence) else v for v in values]
        if name in ("numpy.array", "numpy.asarray"):  # of a list or of an array: jax.numpy makes the same of both
            return isinstance(spread[0], Tensor) if spread else False
        return any(is_traced(v) for v in spread)

    def note(self, table: dict[Any, Value], key: Any, value: Value) -> None:
        """Join a value into a table."""
        table[key] = join(table.get(key), value)

    def set(self, node: cst.CSTNode, value: Value) -> Value:
        """Record the value of an expression, joined with what an earlier visit found."""
        key = id(node)
        old = self.values.get(key)
        if old is None:
            self.kept.append(node)
            self.values[key] = value
        elif old != value:
            self.values[key] = join(old, value)
        return value

    def tell(self, node: cst.CSTNode, value: Value) -> None:
        """Give the value of an expression that a pass made; the node is kept, so that its id stays its own."""
        self.kept.append(node)
        self.values[id(node)] = value

    def of(self, node: cst.CSTNode) -> Value:
        """The value of an expression, also of one that a pass rebuilt."""
        return self.values.get(id(node), UNKNOWN)

    def carry(self, old: cst.CSTNode, new: cst.CSTNode) -> None:
        """A rebuilt expression has the value of the one it comes from."""
        if new is old:
            return
        value = self.values.get(id(old))
        if value is not None and id(new) not in self.values:
            self.values[id(new)] = value
        self.kept.append(new)
        self.origin[id(new)] = self.origin.get(id(old), old)
        if id(old) in self.by_node:
            self.by_node[id(new)] = self.by_node[id(old)]
        if id(old) in self.class_by_node:
            self.class_by_node[id(new)] = self.class_by_node[id(old)]

    # ------------------------------------------------------------------ attributes

    def layer_of(self, cls: ClassInfo) -> Definition | None:
        """The definition that stands for the torch layer which a class extends, if it extends one."""
        base = cls.torch_base()
        return self.rulebook.layer(base) if base is not None else None

    def attribute(self, cls: ClassInfo, name: str) -> Value | None:
        """What `self.name` may be in a method of this class: over the class, its ancestors and its descendants."""
        found: Value | None = None
        for c in cls.family():
            value, before = self.attributes.get(c, {}).get(name), self.earlier[0].get(c, {}).get(name)
            if value is None or value == NONE:  # `self.pe = None` in the constructor: what comes later is not seen yet
                value = join(value, before) if before is not None else value
            if value is not None:
                found = join(found, value)
        if found is not None:
            return found
        for c in cls.ancestors():
            if name in c.methods:
                return Function(c.methods[name], cls)
            if name in c.assigned:
                return self.values.get(id(c.assigned[name]), UNKNOWN)
        for c in cls.descendants():
            if name in c.methods:
                return Function(c.methods[name], cls)
            if name in c.assigned:
                return self.values.get(id(c.assigned[name]), UNKNOWN)
        if not torch_method(name):  # `self.stage2` after `setattr(self, f"stage{i}", …)`
            return next((found for c in cls.family() if (found := self.dynamic.get(c) or self.earlier[3].get(c)) is not None), None)
        return None

    def held(self, cls: ClassInfo) -> Value | None:
        """What a user's container class holds."""
        return self.contents.get(cls) or self.earlier[2].get(cls)

    def set_attribute(self, cls: ClassInfo, name: str, value: Value) -> None:
        self.note(self.attributes.setdefault(cls, {}), name, value)

    def by_property(self, base: Module, name: str) -> Value | None:
        """The property of a user's class that an attribute calls, if it is one."""
        for ref in base.refs:
            found = ref.find(name) if isinstance(ref, ClassInfo) else None
            if found is not None and found.is_property:
                return Function(found, ref)
        return None

    def counts_on_data(self, node: cst.BaseExpression) -> bool:
        """`range(n)` of a number that only the data tells."""
        return isinstance(node, cst.Call) and tree.dotted(node.func) == "range" and any(is_traced(self.of(a.value)) for a in node.args)

    def forward_of(self, ref: Any) -> FunctionInfo | None:
        return ref.find("forward") if isinstance(ref, ClassInfo) else None


class Frame:
    """The interpretation of one function body."""

    def __init__(self, facts: Inference, module: ModuleInfo, info: FunctionInfo | None, closure: Env | None = None) -> None:
        self.facts, self.module, self.info = facts, module, info
        self.closure = closure or {}
        self.result: Value | None = None
        self.yields: Value | None = None
        self.cls = info.owner if info is not None else None
        outer = info
        while outer is not None and self.cls is None:
            outer = outer.outer
            self.cls = outer.owner if outer is not None else None

    # ------------------------------------------------------------------ parameters

    def parameters(self) -> Env:
        info = self.info
        assert info is not None
        env: Env = {}
        if info.takes_self and info.owner is not None and info.self_name:
            if info.is_classmethod:
                env[info.self_name] = Class(info.owner)
            elif info.owner.is_module:
                env[info.self_name] = Module(frozenset([info.owner]), is_self=True)
            else:
                env[info.self_name] = External(f"self:{info.owner.name}")
        known = {**self.facts.earlier[1].get(info, {}), **self.facts.parameters.get(info, {})}
        evidence = self.facts.used_as_tensors(info)
        for parameter in info.parameters():
            name = parameter.name.value
            default = self.expression(parameter.default, {}) if parameter.default is not None else None
            env[name] = self._parameter(name, parameter, default, known.get(name), evidence)
        p = info.node.params
        if isinstance(p.star_arg, cst.Param):
            env[p.star_arg.name.value] = Sequence(known.get("*") or (UNKNOWN if self._constructs() else Tensor(assumed=True)), None, True)
        if p.star_kwarg is not None:
            env[p.star_kwarg.name.value] = Mapping(placed=any(f"**{word}" in known for word in PLACED))
        return env

    def _constructs(self) -> bool:
        assert self.info is not None
        return self.info.name in ("__init__", "__new__")

    def _parameter(self, name: str, parameter: cst.Param, default: Value | None, seen: Value | None, evidence: frozenset[str]) -> Value:
        annotated = self._annotation(parameter.annotation.annotation) if parameter.annotation is not None else None
        if annotated is not None:
            return join(annotated, NONE) if default == NONE else annotated
        constructs = self._constructs()
        if default is not None and default != NONE:
            value: Value = default
            if isinstance(default, Static):
                value = Static(MISSING, default.type) if seen is None or isinstance(seen, Static) else Static()
            if isinstance(default, Torch) and self.facts.rulebook.constant(f"{default.name}[dtype]"):
                return ARRAY_TYPE
            if isinstance(default, (Class, Torch)):
                return Class(("open", default.ref if isinstance(default, Class) else default.name)) if not isinstance(default, Torch) or self.facts.rulebook.layer(default.name) else UNKNOWN
            if isinstance(default, Module):
                return dataclasses.replace(default, open=True, items=None, element=None)
            if isinstance(default, Function):
                return UNKNOWN
            if seen is not None and not isinstance(seen, Static):
                value = join(value, seen)
            if isinstance(value, Static) and name in evidence and not constructs:
                return Tensor()
            return value
        if constructs:
            if isinstance(seen, (Static, Module)) and not (isinstance(seen, Module) and not seen.classes):
                return dataclasses.replace(seen, open=True, items=None) if isinstance(seen, Module) else Static(MISSING, seen.type)
            return UNKNOWN
        if name in evidence:
            seen = join(seen, Tensor()) if seen is not None and seen != UNKNOWN and not (isinstance(seen, Static) and seen.type != "None") else Tensor()
        if seen is not None and seen != NONE:
            value = seen
            if isinstance(value, Static):
                value = Static(MISSING, value.type)
            return join(value, NONE) if default == NONE else value
        value = Tensor(assumed=True)
        return join(value, NONE) if default == NONE else value

    def _annotation(self, node: cst.BaseExpression) -> Value | None:
        text = tree.code(node).strip("\"'")
        if isinstance(node, (cst.Name, cst.Attribute)):
            name = tree.dotted(node) or ""
            if name in _ANNOTATIONS:
                return Static(MISSING, _ANNOTATIONS[name])
            resolved = self.facts.project.resolve(self.module, name)
            if isinstance(resolved, str):
                if resolved in ("torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.BoolTensor", "torch.tensor"):
                    return Tensor()
                if resolved in ("torch.dtype", "torch.device"):
                    return Static(MISSING, resolved.removeprefix("torch."))
                if resolved in PLAIN_MODULE:
                    return Module(open=True)
            if isinstance(resolved, ClassInfo) and resolved.is_module:
                return Module(frozenset([resolved]), open=True)
            return None
        if isinstance(node, cst.Subscript):
            head = (tree.dotted(node.value) or "").rpartition(".")[2]
            inner = node.slice[0].slice
            if isinstance(inner, cst.Index):
                element = self._annotation(inner.value)
                if head == "Optional":
                    return join(element, NONE) if isinstance(element, (Tensor, Module)) else Static() if isinstance(element, Static) else None
                if head in ("List", "list", "Sequence", "Iterable", "Tuple", "tuple") and element is not None:
                    if head.lower() == "tuple" and len(node.slice) > 1:
                        items = [self._annotation(s.slice.value) or UNKNOWN for s in node.slice if isinstance(s.slice, cst.Index)]
                        return sequence(items, True)
                    return Sequence(element, None, head.lower() == "tuple")
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            left, right = self._annotation(node.left), self._annotation(node.right)
            if tree.code(node.right) == "None" and isinstance(left, (Tensor, Module)):
                return join(left, NONE)
            if isinstance(left, Static) and (isinstance(right, Static) or tree.code(node.right) == "None"):
                return Static()
        if text.endswith("Tensor") and isinstance(node, cst.SimpleString):
            return Tensor()
        return None

    # ------------------------------------------------------------------ statements

    def block(self, statements: Iterable[Any], env: Env) -> None:
        for statement in statements:
            self.statement(statement, env)

    def suite(self, node: Any, env: Env) -> None:
        self.block(tree.body_statements(node), env)

    def statement(self, node: Any, env: Env) -> None:
        if isinstance(node, cst.SimpleStatementLine):
            for small in node.body:
                self.small(small, env)
        elif isinstance(node, cst.If):
            traced = is_traced(self.expression(node.test, env))
            then, other = dict(env), dict(env)
            self._narrow(node.test, then, other)
            self.suite(node, then)
            if isinstance(node.orelse, cst.If):
                self.statement(node.orelse, other)
            elif node.orelse is not None:
                self.suite(node.orelse, other)
            _merge(env, _live(node.body, then), _live(node.orelse, other))
            if traced:
                _trace_numbers(env, node)
        elif isinstance(node, cst.For):
            iterated = self.expression(node.iter, env)
            counted = self.facts.counts_on_data(node.iter)
            before = dict(env)
            for _ in range(2):
                self.bind(node.target, Tensor(kind="i") if counted else element_of(iterated), env)
                self.suite(node, env)
                _merge(env, dict(env), before)
                if counted or self._leaves_on_data(node):
                    _trace_numbers(env, node)
            if node.orelse is not None:
                self.suite(node.orelse, env)
        elif isinstance(node, cst.While):
            before = dict(env)
            for _ in range(2):
                traced = is_traced(self.expression(node.test, env))
                self.suite(node, env)
                _merge(env, dict(env), before)
                if traced or self._leaves_on_data(node):
                    _trace_numbers(env, node)
            if node.orelse is not None:
                self.suite(node.orelse, env)
        elif isinstance(node, cst.With):
            for item in node.items:
                value = self.expression(item.item, env)
                if item.asname is not None:
                    self.bind(item.asname.name, value, env)
            self.suite(node, env)
        elif isinstance(node, (cst.Try, cst.TryStar)):
            self.suite(node, env)
            for handler in node.handlers:
                inner = dict(env)
                self.suite(handler, inner)
                _merge(env, dict(env), inner)
            for part in (node.orelse, node.finalbody):
                if part is not None:
                    self.suite(part, env)
        elif isinstance(node, cst.FunctionDef):
            info = self.facts.by_node.get(id(node))
            if info is not None and (info.outer is not None):
                self.facts.function(info, {**self.closure, **env})
                env[info.name] = Function(info)
            elif info is not None:
                env[info.name] = Function(info)
                for parameter in info.parameters():
                    if parameter.default is not None:
                        self.expression(parameter.default, env)
        elif isinstance(node, cst.ClassDef):
            for base in node.bases:
                self.expression(base.value, env)
            cls = self.facts.class_by_node.get(id(node))
            if cls is not None:
                env[cls.name] = Class(cls)
                scope: Env = dict(env)
                for statement in tree.body_statements(node):
                    if not isinstance(statement, cst.FunctionDef):
                        self.statement(statement, scope)
        elif isinstance(node, cst.Match):
            self.expression(node.subject, env)
            for case in node.cases:
                self.suite(case, env)

    def _leaves_on_data(self, loop: Any) -> bool:
        """Whether a loop has a `break` or `continue` under a branch on data."""
        return cst.If in tree.kinds(loop.body) and any(isinstance(n, cst.If) and is_traced(self.facts.of(n.test)) and tree.jumps(n) for n in tree.walk_scope(loop.body))

    def _narrow(self, test: cst.BaseExpression, then: Env, other: Env) -> None:
        """`if x is None` and `isinstance(x, …)` say what x is on either side."""
        if isinstance(test, cst.Comparison) and len(test.comparisons) == 1 and isinstance(test.left, cst.Name):
            target = test.comparisons[0]
            name = test.left.value
            if isinstance(target.comparator, cst.Name) and target.comparator.value == "None" and name in then:
                value = then[name]
                if isinstance(value, (Tensor, Module)):
                    some = dataclasses.replace(value, none=False)
                    if isinstance(target.operator, cst.Is):
                        other[name] = some
                    elif isinstance(target.operator, cst.IsNot):
                        then[name] = some
        elif isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            self._narrow(test.expression, other, then)
        elif isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
            self._narrow(test.left, then, dict(other))
            self._narrow(test.right, then, dict(other))

    def small(self, node: cst.CSTNode, env: Env) -> None:
        if isinstance(node, cst.Assign):
            value = self.expression(node.value, env)
            for target in node.targets:
                self.bind(target.target, value, env)
        elif isinstance(node, cst.AnnAssign):
            value = self.expression(node.value, env) if node.value is not None else UNKNOWN
            annotated = self._annotation(node.annotation.annotation)
            self.bind(node.target, annotated if annotated is not None and node.value is None else value, env)
        elif isinstance(node, cst.AugAssign):
            old = self.expression(node.target, env)
            value = self._binary(old, self.expression(node.value, env), node.operator)
            self.bind(node.target, value, env, augmented=True)
        elif isinstance(node, cst.Return):
            value = self.expression(node.value, env) if node.value is not None else NONE
            self.result = join(self.result, value)
        elif isinstance(node, cst.Expr):
            self.expression(node.value, env)
        elif isinstance(node, (cst.Import, cst.ImportFrom)):
            for name in _bound_by_import(node):
                env.pop(name, None)
        elif isinstance(node, cst.Del):
            self.expression(node.target, env)
        elif isinstance(node, (cst.Assert, cst.Raise)):
            for child in tree.children(node):
                if isinstance(child, cst.BaseExpression):
                    self.expression(child, env)

    def bind(self, target: cst.CSTNode, value: Value, env: Env, augmented: bool = False) -> None:
        facts = self.facts
        if isinstance(target, cst.Name):
            env[target.value] = value
            facts.set(target, value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            items = value.items if isinstance(value, Sequence) else None
            starred = any(isinstance(e, cst.StarredElement) for e in target.elements)
            for i, element in enumerate(target.elements):
                if isinstance(element, cst.StarredElement):
                    self.bind(element.value, Sequence(element_of(value)), env)
                elif items is not None and not starred and i < len(items):
                    self.bind(element.value, items[i], env)
                elif isinstance(value, Module):
                    held = value.items[i][1] if value.items is not None and i < len(value.items) else value.element
                    self.bind(element.value, held or Module(open=True), env)
                else:
                    self.bind(element.value, element_of(value), env)
        elif isinstance(target, cst.Attribute):
            receiver = self.expression(target.value, env)
            plain = isinstance(receiver, External) and receiver.name.startswith("self:")  # of a class that is no module
            if (plain or isinstance(receiver, Module) and receiver.is_self) and self.cls is not None:
                if self.info is not None and id(target) in self.info.superseded:
                    env[_local(target)] = value
                else:
                    env.pop(_local(target), None)
                    if self._makes_modules(value):
                        facts.makers.add((self.cls, target.attr.value))
                    facts.set_attribute(self.cls, target.attr.value, value)
            facts.set(target, value)
        elif isinstance(target, cst.Subscript):
            base = self.expression(target, env, store=True)
            del base
            if isinstance(target.value, cst.Attribute) and self.cls is not None and isinstance(value, Module):
                held = self.facts.of(target.value)
                if isinstance(held, Mapping):
                    self._store(target.value, dataclasses.replace(held, element=join(held.element if held.element != UNKNOWN else None, value)), env)
            if isinstance(target.value, cst.Name) and target.value.value in env:
                old = env[target.value.value]
                if isinstance(old, Sequence):
                    env[target.value.value] = Sequence(join(old.element, value) if old.items != () else value, None, old.tuple)
                elif isinstance(old, Mapping):
                    env[target.value.value] = dataclasses.replace(old, element=join(old.element if old.element != UNKNOWN else None, value))
        elif isinstance(target, cst.StarredElement):
            self.bind(target.value, Sequence(element_of(value)), env)

    def _makes_modules(self, value: Value) -> bool:
        """Whether a value is a class of modules."""
        if isinstance(value, Class):
            return isinstance(value.ref, ClassInfo) and value.ref.is_module
        return isinstance(value, Torch) and self.facts.rulebook.layer(value.name) is not None

    # ------------------------------------------------------------------ expressions

    def expression(self, node: cst.BaseExpression | None, env: Env, store: bool = False) -> Value:
        if node is None:
            return NONE
        handler = _HANDLERS.get(type(node))
        value = handler(self, node, env) if handler is not None else self._other(node, env)
        return self.facts.set(node, value)

    def _other(self, node: cst.BaseExpression, env: Env) -> Value:
        for child in tree.children(node):
            if isinstance(child, cst.BaseExpression):
                self.expression(child, env)
            else:
                for inner in tree.children(child):
                    if isinstance(inner, cst.BaseExpression):
                        self.expression(inner, env)
        return UNKNOWN

    def _name(self, node: cst.Name, env: Env) -> Value:
        name = node.value
        if name in env:
            return env[name]
        if name in self.closure:
            return self.closure[name]
        if name in ("None", "True", "False"):
            return NONE if name == "None" else Static(name == "True", "bool")
        return self.global_name(name)

    def global_name(self, name: str) -> Value:
        project, imported = self.facts.project, self.module.imports.get(name)
        if self.info is None and imported is not None:  # the file is being run: what it defines below is not there yet
            found = project.lookup(imported) or imported
        else:
            found = project.definition(self.module, name)
        if isinstance(found, ClassInfo):
            return Class(found)
        if isinstance(found, FunctionInfo):
            return Function(found)
        if isinstance(found, str):
            known = found == "torch" or found.startswith("torch.") or found in self.facts.rulebook.by_torch
            return Torch(found) if known else External(found)
        if isinstance(found, ModuleInfo):
            return External("module:" + found.dotted)
        if isinstance(found, cst.BaseExpression):
            return self.facts.values.get(id(found), UNKNOWN)
        if name in self.facts.module_env.get(self.module, {}):
            return self.facts.module_env[self.module][name]
        for star in self.module.stars:
            if star.startswith("torch") and self.facts.rulebook.find(f"{star}.{name}"):
                return Torch(f"{star}.{name}")
        return External("builtins." + name)

    def _attribute(self, node: cst.Attribute, env: Env) -> Value:
        base = self.expression(node.value, env)
        name = node.attr.value
        if isinstance(base, Torch):
            text = self.facts.rulebook.constant(base.name)
            return Method(Static(MISSING, "str"), name) if text is not None and text[:1] in "'\"" else Torch(f"{base.name}.{name}")
        if isinstance(base, External):
            return self._external_attribute(base, name)
        if isinstance(base, Module):
            return env[_local(node)] if base.is_self and _local(node) in env else self._module_attribute(base, name)
        if isinstance(base, Tensor) and name == "device":
            return Static(MISSING, "device")
        if isinstance(base, Tensor):
            rules = self.facts.rulebook.find("torch.Tensor." + name)
            if rules and len(rules[0].parameters) == 1 and _is_property(name, rules[0]):
                return self.facts.results.of(rules[0])
            return Method(base, name)
        if isinstance(base, Class):
            ref = base.ref
            if isinstance(ref, ClassInfo):
                method = ref.find(name)
                if method is not None:
                    return Function(method, ref, base=not method.is_classmethod and not method.is_static)
                for c in ref.ancestors():
                    if name in c.assigned:
                        return self.facts.values.get(id(c.assigned[name]), UNKNOWN)
            return UNKNOWN
        if isinstance(base, Static):
            if base.type == "shape":
                return Method(base, name)
            if base.type == "device" and name == "type":
                return self.facts.results.plain(self.facts.rulebook.find("torch.device.type")[0])
            if name in ("is_floating_point", "is_complex") and base.type in ("dtype", ""):
                return Static(MISSING, "bool")
            if name in ("shape", "ndim", "dtype", "device"):
                return Static(MISSING, name if name == "shape" else "int" if name == "ndim" else name)
            return Method(base, name) if base.type in ("str", "range") or base.type == "int" and name == "item" else UNKNOWN
        if name in ("shape",):
            return Static(MISSING, "shape")
        if name in ("dtype", "device"):
            return Static(MISSING, name)
        if base == UNKNOWN and isinstance(node.value, cst.Attribute) and self.facts.is_method_of_modules(name):
            return Method(Module(open=True), name)  # `self.bias.get_bias()`, where self.bias is of one of several classes
        return Method(base, name)

    def _external_attribute(self, base: External, name: str) -> Value:
        if base.name.startswith("module:"):
            found = self.facts.project.lookup(base.name[7:] + "." + name)
            if isinstance(found, ClassInfo):
                return Class(found)
            if isinstance(found, FunctionInfo):
                return Function(found)
            if isinstance(found, ModuleInfo):
                return External("module:" + found.dotted)
            if isinstance(found, cst.BaseExpression):
                return self.facts.values.get(id(found), UNKNOWN)
            if isinstance(found, str):
                return Torch(found) if found.startswith("torch") else External(found)
            return UNKNOWN
        if base.name.startswith("self:") and self.cls is not None:
            found = self.facts.attribute(self.cls, name)
            if isinstance(found, Function) and found.info.is_property:
                return self.facts.result(found.info)
            return found if found is not None else UNKNOWN
        return External(f"{base.name}.{name}")

    def _module_attribute(self, base: Module, name: str) -> Value:
        facts = self.facts
        found: Value | None = None
        if name == "forward" and base.classes and all(isinstance(ref, str) for ref in base.classes):
            return Method(base, name)
        if base.items is not None and name in dict(base.items):
            return dict(base.items)[name]
        if base.element is not None and not (base.open and name in facts.rulebook.array_names) and all(isinstance(r, str) and self._has_no_method(r, name) for r in base.classes):
            return base.element  # `self.layers.conv` of a ModuleDict
        for ref in base.refs:
            value: Value | None = None
            if isinstance(ref, ClassInfo):
                value = facts.attribute(ref, name)
                if isinstance(value, Function) and value.info.is_property:
                    self._called(value.info)
                    value = facts.result(value.info)
                if value is None:
                    definition = facts.layer_of(ref)
                    if definition is not None and facts.rulebook.array(definition.name, name):
                        value = Tensor(param=True, none=name in facts.rulebook.optional(definition.name))
            else:
                definition = facts.rulebook.layer(ref)
                if definition is not None and facts.rulebook.array(definition.name, name):
                    value = Tensor(param=True)
                elif definition is not None and facts.rulebook.method(definition.name, name) is None and not torch_method(name):
                    value = Static()
            if value is not None and not (name in facts.rulebook.array_names and value == Static() and found is not None):
                found = value if found == Static() and name in facts.rulebook.array_names else join(found, value)  # nn.Identity has no weight: it is another's
        if name == "training":
            return Static(MISSING, "bool")
        if found is not None and not (base.open and found == Static() and name in facts.rulebook.array_names):
            return found
        if base.open and name in self.facts.rulebook.array_names:
            return Tensor(param=True)
        return Method(base, name)

    def _has_no_method(self, layer: str, name: str) -> bool:
        definition = self.facts.rulebook.layer(layer)
        return definition is not None and name != "training" and self.facts.rulebook.method(definition.name, name) is None and not torch_method(name)

    def _call(self, node: cst.Call, env: Env) -> Value:
        function = self.expression(node.func, env) if not _is_super(node) else UNKNOWN
        args = [(a.keyword.value if a.keyword else None, a.star, self.expression(a.value, env), a.value) for a in node.args]
        if _is_super(node):
            return External("super")
        if isinstance(node.func, ast_attribute) and isinstance(node.func.value, cst.Call) and _is_super(node.func.value):
            return self._super_call(node, node.func.attr.value, args)
        if isinstance(node.func, cst.Attribute) and (function == UNKNOWN or isinstance(function, Method) and function.receiver == UNKNOWN):
            owner = self.facts.of(node.func.value)
            name = node.func.attr.value
            if isinstance(owner, Module) and owner.is_self and self.cls is not None and any((c, name) in self.facts.makers for c in self.cls.family()):
                return Module(open=True)
            if isinstance(owner, Module) and owner.is_self and self.cls is not None and self.facts.attribute(self.cls, name) is not None:
                # an attribute of unknown make that is called: a module, or a function to be wrapped in one
                function = Module(open=True)
                self.facts.values[id(node.func)] = function
                self.facts.wrapped.add((self.cls, name))
        elif isinstance(node.func, cst.Name) and function == UNKNOWN and self._names_attributes(node.func):
            function = Module(open=True)
            self.facts.values[id(node.func)] = function
        return self.apply(node, function, args, env)

    def _names_attributes(self, name: cst.Name) -> bool:
        """Whether a name that is called stands for attributes of unknown make: `rnn = self.back if reverse else self.front`."""
        if self.info is None or self.cls is None or self.info.name == "__init__" or not self.info.self_name:
            return False
        found = set()
        for assignment in tree.scope_nodes(self.info.node.body, cst.Assign):
            if name.value in tree.names_assigned(assignment):
                sides = [assignment.value]
                while sides:
                    side = sides.pop()
                    if isinstance(side, cst.IfExp):
                        sides += [side.body, side.orelse]
                    elif tree.dotted(side) is not None and isinstance(side, cst.Attribute) and tree.dotted(side.value) == self.info.self_name:
                        found.add(side.attr.value)
                    else:
                        return False
        if not all(self.facts.attribute(self.cls, n) == UNKNOWN for n in found) or self._runs_while_built():
            return False
        self.facts.wrapped |= {(self.cls, n) for n in found}
        return bool(found)

    def _runs_while_built(self) -> bool:
        """Whether a constructor calls this method, itself or through others."""
        assert self.cls is not None
        todo = [c.methods["__init__"] for c in self.cls.family() if "__init__" in c.methods]
        seen = set(todo)
        while todo:
            called = self.facts.calls.get(todo.pop(), set()) - seen
            seen |= called
            todo.extend(called)
        return self.info in seen

    def _super_call(self, node: cst.Call, method: str, args: list[Any]) -> Value:
        info = self.info
        while info is not None and info.owner is None:
            info = info.outer
        if info is None or info.owner is None:
            return UNKNOWN
        target = info.owner.above(method)
        if isinstance(target, FunctionInfo):
            self.facts.values[id(node.func)] = Function(target, info.owner, base=True)
            self._bind_arguments(target, args)
            self._called(target)
            return self.facts.result(target)
        if not info.owner.is_module:
            self.facts.values[id(node.func)] = UNKNOWN
            return UNKNOWN
        layer = target if isinstance(target, str) else info.owner.torch_base()
        if method == "__init__" and layer is not None:
            self.facts.values[id(node.func)] = Torch(f"{layer}.__init__")
            self._container_contents(info.owner, args)
            return NONE
        self.facts.values[id(node.func)] = Method(Module(frozenset([layer] if layer else [])), method)
        if method == "forward" and layer is not None:
            definition = self.facts.rulebook.layer(layer)
            return self.facts.results.call(definition) if definition is not None else Tensor()
        return NONE if method.startswith("__") else UNKNOWN

    def _container_contents(self, cls: ClassInfo, args: list[Any]) -> None:
        element: Value | None = None
        for _, star, value, _node in args:
            held = element_of(value) if star or isinstance(value, (Sequence, Mapping)) else value
            if isinstance(value, Mapping):
                held = value.element
            if isinstance(held, Module):
                element = join(element, held)
            elif isinstance(held, Sequence) and held.items and isinstance(held.items[-1], Module):
                element = join(element, held.items[-1])
            else:
                element = join(element, Module(open=True))
        if element is not None:
            self.facts.note(self.facts.contents, cls, element)

    def apply(self, node: cst.Call, function: Value, args: list[Any], env: Env) -> Value:
        facts = self.facts
        if isinstance(function, Torch):
            return self._torch_call(function.name, args, node)
        if isinstance(function, Class):
            return self._construct(function.ref, args)
        if isinstance(function, Module):
            return self.call_module(function, args)
        if isinstance(function, Function):
            info = function.info
            bound = args
            if function.base and info.owner is not None and not _through_super(node):
                bound = args[1:]  # Base.method(self, …)
            result: Value | None = None
            for target in self._overrides(function):
                given = self._bind_arguments(target, bound)
                self._called(target)
                result = join(result, facts.result_for(target, given))
            return result or UNKNOWN
        if isinstance(function, Method):
            return self._method_call(function, args, node, env)
        if isinstance(function, External):
            return self._external_call(function.name, args, node, env)
        if isinstance(function, Tensor):
            return UNKNOWN
        if function in (ARRAY_TYPE, FUNCTION):
            return Tensor()
        if self.info is not None and self.info.name == "__init__" or any(isinstance(v, Module) for _, _, v, _ in args):
            return UNKNOWN
        return Tensor(assumed=True) if any(isinstance(v, Tensor) for _, _, v, _ in args) else UNKNOWN

    def _overrides(self, function: Function) -> list[FunctionInfo]:
        """The method, and those of subclasses that may be meant by the same call on self."""
        info = function.info
        if function.base or function.owner is None or info.owner is None or info.is_static:
            return [info]
        others = [d.methods[info.name] for d in function.owner.descendants() if info.name in d.methods]
        return [info, *(o for o in others if o is not info)]

    def _called(self, info: FunctionInfo) -> None:
        if self.info is not None:
            self.facts.calls.setdefault(self.info, set()).add(info)

    def _bind_arguments(self, info: FunctionInfo, args: list[Any]) -> Env:
        """Note what the parameters of a function get in a call. Returns the modules and classes among it, by parameter."""
        parameters = self.facts.parameters.setdefault(info, {})
        given: Env = {}
        names = [p.name.value for p in info.parameters()]
        positional = names[: len(names) - len(info.node.params.kwonly_params)]
        i = 0
        for keyword, star, value, _ in [*args, *self._handed_on(args)]:
            if star == "*":
                for name in positional[i:]:
                    self._note_parameter(parameters, name, element_of(value))
                i = len(positional)
            elif star == "**":
                if isinstance(value, Mapping) and value.placed and info.node.params.star_kwarg is not None:
                    for word in PLACED - set(names):
                        self._note_parameter(parameters, f"**{word}", Static())
            elif keyword is not None:
                if keyword in names:
                    given[keyword] = value
                    self._note_parameter(parameters, keyword, value)
                elif info.node.params.star_kwarg is not None:
                    self._note_parameter(parameters, f"**{keyword}", value)
            elif i < len(positional):
                given[positional[i]] = value
                self._note_parameter(parameters, positional[i], value)
                i += 1
            elif isinstance(info.node.params.star_arg, cst.Param):
                self._note_parameter(parameters, "*", value)
        return {name: value for name, value in given.items() if self._makes_modules(value) or isinstance(value, Module) and not value.is_self}

    def _handed_on(self, args: list[Any]) -> list[Any]:
        """What is known of the keywords in `**kwargs`, where a function passes its own on."""
        if self.info is None or (mine := self.info.node.params.star_kwarg) is None or not any(star == "**" and isinstance(node, cst.Name) and node.value == mine.name.value for _, star, _, node in args):
            return []
        known = {**self.facts.earlier[1].get(self.info, {}), **self.facts.parameters.get(self.info, {})}
        return [(name[2:], "", value, None) for name, value in known.items() if name.startswith("**")]

    def _note_parameter(self, table: dict[str, Value], name: str, value: Value) -> None:
        if isinstance(value, Static) and value.const is not None:
            value = Static(MISSING, value.type)
        if isinstance(value, Module):
            value = dataclasses.replace(value, is_self=False)
        if isinstance(value, Tensor):
            value = Tensor(value.assumed, value.none)
        self.facts.note(table, name, value)

    def _torch_call(self, name: str, args: list[Any], node: cst.Call) -> Value:
        facts = self.facts
        if name == "torch.Size":
            return Static(MISSING, "shape")
        if name in ("torch.div", "torch.floor_divide") and len(args) > 1 and all(isinstance(a[2], Static) and a[2].type == "int" for a in args[:2]):
            return Static(MISSING, "int" if len(args) > 2 or name == "torch.floor_divide" else "float")  # of sizes it is a number
        if static_size(facts.of, name, node):
            return Static(MISSING, "int")
        definition = facts.rulebook.layer(name)
        if definition is not None and facts.rulebook.method(definition.name, "init") is not None:
            if definition.name in ("Parameter",):
                return Tensor(param=True)
            limit = sum(1 for p in facts.rulebook.constructor(definition) if p.kind == "positional")
            name = facts.rulebook.variant(name, [(a[0], a[2].const if isinstance(a[2], Static) else None) for a in args])
            module = Module(frozenset([name]), inplace=_inplace(args, limit))
            return self._with_contents(module, args, definition.name)
        if definition is not None:
            return facts.results.of(definition)
        rules = facts.rulebook.find(name) or facts.rulebook.find(name.removesuffix("_"))
        if rules:
            first = args[0][2] if args else None
            chosen = choose_roughly(rules, len(args), {a[0] for a in args})
            result = facts.results.of(chosen)
            if args and not any(_holds_tensor(a[2]) for a in args):
                plain = facts.results.plain(chosen)
                if not _holds_tensor(plain):
                    return plain if all(isinstance(a[2], Static) for a in args) else _vague(plain)
            if isinstance(first, Module) and result == Tensor() or isinstance(first, Module):
                return first  # weight_norm(conv) and the like keep what they are given
            return facts.results.cast(result, args)
        return UNKNOWN

    def _with_contents(self, module: Module, args: list[Any], name: str) -> Value:
        if "Container" not in {d.name.lstrip("_") for d in self.facts.rulebook.bases(name)}:
            return module
        element: Value | None = None
        items: list[tuple[str, Value]] | None = []
        for _, star, value, _node in args:
            held = [value]
            if isinstance(value, Sequence):
                if value.items is not None and not any(isinstance(v, Sequence) for v in value.items):
                    held = list(value.items)
                else:
                    held = [value.element]
                    items = None
            elif isinstance(value, Mapping) and (named := self._named_items(_node)) is not None:
                return dataclasses.replace(module, element=self._joined([v for _, v in named]), items=named)
            elif star or not isinstance(value, Module):
                held = [element_of(value)] if isinstance(value, (Mapping, Sequence)) or star else [value]
                if isinstance(value, Mapping):
                    held = [value.element]
                items = None
            for v in held:
                if isinstance(v, Sequence) and v.items and len(v.items) == 2:
                    v, items = v.items[1], None
                if name.startswith("Parameter"):
                    v = Tensor(param=True)
                elif not isinstance(v, Module):
                    v = Module(open=True)
                element = join(element, v)
                if items is not None:
                    items.append((str(len(items)), v))
        return dataclasses.replace(module, element=element, items=tuple(items) if items else None)

    def _named_items(self, node: Any) -> tuple[tuple[str, Value], ...] | None:
        """The modules of `dict(a=…, b=…)` or `{"a": …}` by name, where it is written out."""
        found: list[tuple[str, Value]] = []
        if isinstance(node, cst.Call) and tree.dotted(node.func) == "dict" and all(a.keyword is not None for a in node.args):
            found = [(a.keyword.value, self.facts.of(a.value)) for a in node.args if a.keyword is not None]
        elif isinstance(node, cst.Dict) and all(isinstance(e, cst.DictElement) and isinstance(e.key, cst.SimpleString) for e in node.elements):
            pairs: list[Any] = list(node.elements)
            found = [(str(e.key.evaluated_value), self.facts.of(e.value)) for e in pairs]
        return tuple(found) if found and all(isinstance(v, Module) for _, v in found) else None

    @staticmethod
    def _joined(values: list[Value]) -> Value | None:
        found: Value | None = None
        for value in values:
            found = join(found, value)
        return found

    def _construct(self, ref: Any, args: list[Any]) -> Value:
        if isinstance(ref, tuple) and ref and ref[0] == "open":
            inner = self._construct(ref[1], args) if not isinstance(ref[1], str) else Module(frozenset([ref[1]]))
            return dataclasses.replace(inner, open=True, items=None) if isinstance(inner, Module) else inner
        if isinstance(ref, tuple) and ref and ref[0] == "one of":
            made: Value | None = None
            for one in sorted(ref[1], key=str):
                # their arguments are not noted: a call in a branch for one class says nothing of the others
                is_module = self.facts.rulebook.layer(one) is not None if isinstance(one, str) else one.is_module
                made = join(made, Module(frozenset([one])) if is_module else UNKNOWN)
            return made or UNKNOWN
        if isinstance(ref, ClassInfo):
            constructor = ref.find("__init__")
            if constructor is not None:
                self._bind_arguments(constructor, args)
                self._called(constructor)
            if ref.is_module:
                element = None
                if constructor is None and ref.torch_base() is not None:
                    self._container_contents(ref, args)
                for c in ref.family():
                    if self.facts.held(c) is not None:
                        element = join(element, self.facts.held(c))
                return Module(frozenset([ref]), element=element)
            return UNKNOWN
        return UNKNOWN

    def call_module(self, module: Module, args: list[Any]) -> Value:
        """The result of calling a submodule."""
        result: Value | None = None
        for ref in module.refs:
            forward = self.facts.forward_of(ref)
            if forward is not None:
                self._bind_arguments(forward, args)
                self._called(forward)
                result = join(result, self.facts.result(forward))
            elif isinstance(ref, ClassInfo):
                result = join(result, Tensor())
            else:
                definition = self.facts.rulebook.layer(ref)
                container = module.items[-1][1] if module.items else module.element
                if container is not None and isinstance(container, Module):
                    if module.items:
                        flowing = args
                        for _, item in module.items:
                            if isinstance(item, Module):
                                value = self.call_module(item, flowing)
                                flowing = [(None, "", value, None)]
                        result = join(result, value)
                    else:
                        result = join(result, self.call_module(container, args))
                elif definition is not None and definition.name != "Identity":
                    result = join(result, self.facts.results.call(definition))
                else:
                    result = join(result, args[0][2] if args else Tensor())
        if result is None or module.open:
            return result if isinstance(result, Tensor) else Tensor(assumed=True)
        return result

    def _method_call(self, function: Method, args: list[Any], node: cst.Call, env: Env) -> Value:
        receiver, name = function.receiver, function.name
        if isinstance(receiver, Module):
            if name in ("append", "extend", "add_module", "insert", "update", "register_module"):
                self._grow(node, receiver, name, args, env)
                return receiver
            if name == "apply" and args and isinstance(args[0][2], Function):
                self._called(args[0][2].info)
                self._bind_arguments(args[0][2].info, [(None, "", Module(open=True), None)])
            if name in ("to", "cuda", "cpu", "eval", "train", "apply", "double", "float", "half", "requires_grad_"):
                return receiver
            if name == "forward":
                return self.call_module(receiver, args)
            if name in ("modules", "named_modules"):
                anything = Module(open=True)
                return Sequence(anything if name == "modules" else sequence([Static(MISSING, "str"), anything], True))
            if name == "children":
                return Sequence(receiver.element or Module(open=True))
            if name in ("named_children", "items"):
                return Sequence(sequence([Static(MISSING, "str"), receiver.element or Module(open=True)], True))
            if name in ("parameters", "buffers"):
                return Sequence(Tensor(param=True))
            if name in ("named_parameters", "named_buffers"):
                return Sequence(sequence([Static(MISSING, "str"), Tensor(param=True)], True))
            if name == "values":
                return Sequence(receiver.element or Module(open=True))
            if name == "keys":
                return Sequence(Static(MISSING, "str"))
            if name in ("register_buffer", "register_parameter") and receiver.is_self and self.cls is not None and args:
                literal = args[0][2]
                value = args[1][2] if len(args) > 1 else NONE
                value = Tensor(param=True) if isinstance(value, Tensor) or value == UNKNOWN else value
                if isinstance(literal, Static) and isinstance(literal.const, str):
                    self.facts.set_attribute(self.cls, literal.const, value)
                else:
                    self.facts.note(self.facts.dynamic, self.cls, value)
                return NONE
            return UNKNOWN
        if isinstance(receiver, Sequence):
            return self._sequence_method(receiver, name, args, node, env)
        if isinstance(receiver, Mapping):
            if name == "get":
                return join(receiver.element, args[1][2] if len(args) > 1 else NONE)
            if name in ("values", "pop"):
                return Sequence(receiver.element) if name == "values" else receiver.element
            if name == "items":
                return Sequence(sequence([Static(MISSING, "str"), receiver.element], True))
            if name == "keys":
                return Sequence(Static(MISSING, "str"))
            if name == "copy":
                return receiver
            return UNKNOWN
        if isinstance(receiver, Static):
            if receiver.type == "shape" and name == "numel" or receiver.type == "int" and name == "item":
                return Static(MISSING, "int")
            return Static() if receiver.type else UNKNOWN
        if receiver == UNKNOWN and name in ("modules", "named_modules") and not args:  # nothing else has these
            anything = Module(open=True)
            return Sequence(anything if name == "modules" else sequence([Static(MISSING, "str"), anything], True))
        rules = self.facts.rulebook.find("torch.Tensor." + name)
        if not rules and name.endswith("_"):
            rules = self.facts.rulebook.find("torch.Tensor." + name[:-1])
        certain = isinstance(receiver, Tensor)
        if name == "numpy" and certain and self.cls is not None and self.cls.is_module:
            return receiver  # what goes on with it goes through jax.numpy
        if rules and (certain or self.may_be_tensor(name, args)):
            result = self.facts.results.of(choose_roughly(rules, len(args) + 1, {a[0] for a in args}))
            if not certain and name in SHARED and isinstance(result, Tensor):
                return dataclasses.replace(result, assumed=True)  # a numpy array has it too
            return self.facts.results.cast(result, args)
        if certain:
            return Tensor()
        if name == "size":
            return Static(MISSING, "int" if args else "shape")
        return UNKNOWN

    def may_be_tensor(self, name: str, args: list[Any]) -> bool:
        """Whether a method of this name tells that an unknown receiver is a tensor."""
        if name in ("split", "sort", "index", "repeat"):
            return any(k == "dim" for k, *_ in args) or bool(args) and isinstance(args[0][2], Static) and args[0][2].type == "int"
        return name not in ORDINARY and not (name in SHARED and self._constructs_now())

    def _constructs_now(self) -> bool:
        return self.info is None or self.info.name == "__init__"

    def _grow(self, node: cst.Call, receiver: Module, name: str, args: list[Any], env: Env) -> None:
        added: Value | None = None
        for _keyword, _star, value, _ in args:
            held = element_of(value) if isinstance(value, (Sequence, Mapping)) else value
            if isinstance(value, Static):
                continue
            added = join(added, held if isinstance(held, Module) else Tensor(param=True) if isinstance(held, Tensor) else Module(open=True))
        if added is None:
            return
        if receiver.is_self and self.cls is not None:
            literal = args[0][2]
            if name in ("add_module", "register_module") and isinstance(literal, Static) and isinstance(literal.const, str):
                self.facts.set_attribute(self.cls, literal.const, added)
            elif name in ("add_module", "register_module"):
                self.facts.note(self.facts.dynamic, self.cls, added)
            base = self.cls.torch_base()
            if base:
                self.facts.note(self.facts.contents, self.cls, added)
            return
        grown = dataclasses.replace(receiver, element=join(receiver.element, added), items=None)
        target = node.func.value if isinstance(node.func, cst.Attribute) else None
        if target is not None:
            self._store(target, grown, env)

    def _store(self, target: cst.BaseExpression, value: Value, env: Env) -> None:
        if isinstance(target, cst.Name):
            env[target.value] = value
        elif isinstance(target, cst.Attribute) and self.cls is not None:
            owner = self.facts.of(target.value)
            if isinstance(owner, Module) and owner.is_self and _local(target) in env:
                env[_local(target)] = value
            elif isinstance(owner, Module) and owner.is_self:
                self.facts.set_attribute(self.cls, target.attr.value, value)
        elif isinstance(target, cst.Subscript) and isinstance(value, Module):
            holder = self.facts.of(target.value)
            if isinstance(holder, Module):
                self._store(target.value, dataclasses.replace(holder, element=join(holder.element, value), items=None), env)

    def _sequence_method(self, receiver: Sequence, name: str, args: list[Any], node: cst.Call, env: Env) -> Value:
        target = node.func.value if isinstance(node.func, cst.Attribute) else None
        if name in ("append", "insert", "extend", "appendleft") and args:
            added = args[-1][2]
            element = element_of(added) if name == "extend" else added
            old = None if receiver.items == () or (receiver.element == UNKNOWN and receiver.items is None) else receiver.element
            items = None
            if name == "append" and receiver.items is not None and len(receiver.items) < 64:
                items = (*receiver.items, element)
            if target is not None:
                self._store(target, Sequence(join(old, element), items), env)
            return NONE
        if name in ("pop", "popleft"):
            if target is not None and receiver.items is not None:
                self._store(target, Sequence(receiver.element), env)
            return receiver.element
        if name in ("index", "count"):
            return Static(MISSING, "int")
        return receiver if name in ("copy",) else UNKNOWN

    def _external_call(self, name: str, args: list[Any], node: cst.Call, env: Env) -> Value:
        values = [a[2] for a in args]
        short = name.removeprefix("builtins.")
        first = values[0] if values else UNKNOWN
        if name.startswith("builtins."):
            if short == "hasattr" and isinstance(first, Torch) and len(values) == 2 and isinstance(values[1], Static) and isinstance(values[1].const, str):
                return Static(self.facts.rulebook.knows(f"{first.name}.{values[1].const}"), "bool")
            if short in ("len", "isinstance", "hasattr", "callable", "issubclass", "id", "type", "str", "repr"):
                return Static(MISSING, {"len": "int", "str": "str", "repr": "str", "type": "", "id": "int"}.get(short, "bool"))
            if short in ("int", "float", "bool"):
                return Tensor(kind={"int": "i", "float": "f", "bool": "b"}[short]) if isinstance(first, Tensor) and not first.assumed else Static(MISSING, short)
            if short == "range":
                return Static(MISSING, "range")
            if short in ("list", "tuple", "sorted", "reversed", "iter", "set"):
                if not values:
                    return Sequence(UNKNOWN, ())
                if isinstance(first, Sequence):
                    return dataclasses.replace(first, tuple=short == "tuple", items=first.items if short in ("list", "tuple") else None)
                if isinstance(first, Static) and first.type in ("shape", "range"):
                    return Sequence(Static(MISSING, "int"), None, short == "tuple")
                if isinstance(first, Static):
                    return Static(MISSING, "")
                return Sequence(element_of(first), None, short == "tuple") if first != UNKNOWN else UNKNOWN
            if short == "zip":
                return Sequence(sequence([element_of(v) for v in values], True))
            if short == "enumerate":
                return Sequence(sequence([Static(MISSING, "int"), element_of(first)], True))
            if short == "map":
                return Sequence(UNKNOWN)
            if short in ("abs", "min", "max", "sum", "round", "pow", "divmod", "any", "all", "next"):
                spread = [element_of(v) if isinstance(v, Sequence) else v for v in values]
                tensors = [v for v in spread if isinstance(v, Tensor)]
                if tensors:
                    return Tensor(assumed=all(v.assumed for v in tensors), kind="b" if short in ("any", "all") else None)
                if spread and all(isinstance(v, Static) for v in spread):
                    return Static()
                return spread[0] if short == "next" and spread else UNKNOWN
            if short == "getattr" and len(args) > 1:
                literal = values[1]
                if isinstance(first, Module):
                    if isinstance(literal, Static) and isinstance(literal.const, str):
                        return self._module_attribute(first, literal.const)
                    return self._computed_attribute(first)
                if isinstance(first, Torch) and isinstance(literal, Static) and isinstance(literal.const, str):
                    name = f"{first.name}.{literal.const}"
                    return values[2] if len(args) > 2 and not self.facts.rulebook.knows(name) else Torch(name)
                return UNKNOWN
            if short == "setattr" and len(args) > 2 and isinstance(first, Module) and first.is_self and self.cls is not None:
                literal, value = values[1], values[2]
                if isinstance(literal, Static) and isinstance(literal.const, str):
                    self.facts.set_attribute(self.cls, literal.const, value)
                else:
                    self.facts.note(self.facts.dynamic, self.cls, value if isinstance(value, (Module, Tensor)) else Module(open=True))
                return NONE
            if short == "dict":
                held: Value | None = values[0].element if values and isinstance(values[0], Mapping) else None
                placed = any(isinstance(v, Mapping) and v.placed for v in values)
                for keyword, star, value, _ in args:
                    if keyword is not None and not star:
                        held = join(held, value)
                        placed = placed or keyword in PLACED
                return Mapping(held or UNKNOWN, placed)
            if short in ("print",):
                return NONE
            if short in ("slice",):
                return Static()
            return UNKNOWN
        if name.endswith("OrderedDict") or name.endswith("defaultdict"):
            if values and isinstance(first, Sequence) and isinstance(first.element, Sequence) and first.element.items:
                return Mapping(first.element.items[-1])
            return Mapping(first.element if isinstance(first, Mapping) else UNKNOWN)
        if name.endswith("deepcopy") or name == "copy.copy":
            return first
        if name == "functools.partial":
            if isinstance(first, Class):
                return first
            if isinstance(first, Torch) and self.facts.rulebook.layer(first.name):
                return Class(first.name)
            rules = self.facts.rulebook.find(first.name) if isinstance(first, Torch) else ()
            return FUNCTION if rules and not any(p.name == "key" for p in rules[0].parameters) else UNKNOWN
        if name.startswith("math."):
            return Tensor() if any(isinstance(v, Tensor) and not v.assumed for v in values) else Static(MISSING, "float")
        if name.startswith("itertools.") and values:
            return Sequence(UNKNOWN)
        if name.startswith("einops."):
            return Tensor() if "Rearrange" not in name and "Reduce" not in name else Module(frozenset(), open=True)
        if self.facts.numpy_on_arrays(name, values):
            return Tensor()
        if any(isinstance(v, Tensor) for v in values):
            return Tensor(assumed=True)
        if name.split(".")[0] == "numpy" and not name.startswith("numpy.random"):
            return Static(MISSING, "numpy")  # an array that is known when the function is traced
        return UNKNOWN

    def _computed_attribute(self, base: Module) -> Value:
        found: Value | None = None
        for ref in base.refs:
            if isinstance(ref, ClassInfo):
                for c in ref.family():
                    computed = self.facts.dynamic.get(c) or self.facts.earlier[3].get(c)
                    if computed is not None:
                        found = join(found, computed)
                    if found is None:
                        for value in {**self.facts.earlier[0].get(c, {}), **self.facts.attributes.get(c, {})}.values():
                            if isinstance(value, Module) or isinstance(value, Tensor) and value.param:
                                found = join(found, value)
        return found or UNKNOWN

    def _binary(self, left: Value, right: Value, operator: cst.CSTNode) -> Value:
        if isinstance(left, Module) and not left.is_self and isinstance(right, (Module, Sequence)):  # `self.layers += [nn.Linear(3, 3)]`
            held = right.element if isinstance(right.element, Module) else Module(open=True)
            return dataclasses.replace(left, element=join(left.element, held), items=None)
        for a, b in ((left, right), (right, left)):
            if isinstance(a, Tensor) and not isinstance(b, (Module,)):
                kind = _kind_of(a, b, operator)
                if isinstance(b, Tensor):
                    return Tensor(assumed=a.assumed and b.assumed, kind=kind)
                return Tensor(assumed=a.assumed, kind=kind)
        if isinstance(left, Static) and isinstance(right, Static):
            if "shape" in (left.type, right.type):
                return Static(MISSING, "shape")
            return Static(MISSING, left.type if left.type == right.type else "")
        if any(isinstance(v, Static) and v.type == "shape" for v in (left, right)) and isinstance(operator, (cst.Add, cst.AddAssign)):
            return Static(MISSING, "shape")  # a torch.Size and a tuple
        if isinstance(left, Sequence) and isinstance(right, Sequence):
            items = (*left.items, *right.items) if left.items is not None and right.items is not None else None
            if left.items == () or right.items == ():
                return Sequence((right if left.items == () else left).element, items, left.tuple)
            return Sequence(join(left.element, right.element), items, left.tuple)
        if isinstance(left, Sequence):
            return Sequence(left.element, None, left.tuple)
        if isinstance(right, Sequence):
            return Sequence(right.element, None, right.tuple)
        return UNKNOWN

    def _binary_operation(self, node: cst.BinaryOperation, env: Env) -> Value:
        return self._binary(self.expression(node.left, env), self.expression(node.right, env), node.operator)

    def _comparison(self, node: cst.Comparison, env: Env) -> Value:
        sides = [self.expression(node.left, env), *(self.expression(t.comparator, env) for t in node.comparisons)]
        if any(isinstance(t.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for t in node.comparisons):
            member = isinstance(node.comparisons[0].operator, (cst.In, cst.NotIn)) and isinstance(node.comparisons[0].comparator, (cst.Tuple, cst.List))
            return Tensor(kind="b") if member and is_traced(sides[0]) else Static(MISSING, "bool")
        tensors = [s for s in sides if isinstance(s, Tensor)]
        if any(isinstance(s, Static) and s.type in ("str", "dtype", "device") or isinstance(s, (Sequence, Mapping, Module, Class, Torch)) for s in sides):
            return Static(MISSING, "bool")  # an array is never compared with these
        if tensors:
            return Tensor(kind="b", assumed=all(t.assumed for t in tensors))
        return Static(MISSING, "bool")

    def _boolean(self, node: cst.BooleanOperation, env: Env) -> Value:
        left, right = self.expression(node.left, env), self.expression(node.right, env)
        for side, other in ((left, right), (right, left)):
            if isinstance(side, Static) and isinstance(other, Tensor) and other.kind == "b":
                return Tensor(kind="b", assumed=other.assumed)  # `k is None or k >= n` where nothing says that k is a tensor
        if left == NONE:
            return right
        return join(left, right)

    def _unary(self, node: cst.UnaryOperation, env: Env) -> Value:
        value = self.expression(node.expression, env)
        if isinstance(node.operator, cst.Not):
            return Tensor(kind="b", assumed=value.assumed) if isinstance(value, Tensor) and not value.none else Static(MISSING, "bool")
        if isinstance(node.operator, cst.Minus) and isinstance(value, Static) and isinstance(value.const, (int, float)):
            return Static(-value.const, value.type)
        return value

    def _conditional(self, node: cst.IfExp, env: Env) -> Value:
        test = self.expression(node.test, env)
        if isinstance(test, Static) and isinstance(test.const, bool) and asks_torch(self.facts.of, node.test):
            return self.expression(node.body if test.const else node.orelse, env)
        then, other = dict(env), dict(env)
        self._narrow(node.test, then, other)
        return join(self.expression(node.body, then), self.expression(node.orelse, other))

    def _display(self, node: cst.Tuple | cst.List, env: Env) -> Value:
        items: list[Value] = []
        exact = True
        for element in node.elements:
            value = self.expression(element.value, env)
            if isinstance(element, cst.StarredElement):
                if isinstance(value, Sequence) and value.items is not None:
                    items.extend(value.items)
                else:
                    items.append(element_of(value))
                    exact = False
            else:
                items.append(value)
        found = sequence(items, isinstance(node, cst.Tuple))
        return found if exact else dataclasses.replace(found, items=None)

    def _set(self, node: cst.Set, env: Env) -> Value:
        for element in node.elements:
            self.expression(element.value, env)
        return UNKNOWN

    def _dict(self, node: cst.Dict, env: Env) -> Value:
        element: Value | None = None
        placed = False
        for item in node.elements:
            if isinstance(item, cst.DictElement):
                key = self.expression(item.key, env)
                placed = placed or isinstance(key, Static) and isinstance(key.const, str) and key.const in PLACED
                element = join(element, self.expression(item.value, env))
            else:
                value = self.expression(item.value, env)
                placed = placed or isinstance(value, Mapping) and value.placed
                element = join(element, value.element if isinstance(value, Mapping) else UNKNOWN)
        return Mapping(element or UNKNOWN, placed)

    def _subscript(self, node: cst.Subscript, env: Env) -> Value:
        base = self.expression(node.value, env)
        if is_own_module(node):
            return External("module:" + self.module.dotted)
        is_slice, index = False, UNKNOWN
        for element in node.slice:
            part: Any = element.slice
            if isinstance(part, cst.Index):
                index = self.expression(part.value, env)
            else:
                is_slice = True
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        self.expression(bound, env)
        if isinstance(base, Tensor):
            return Tensor(base.assumed, kind=base.kind)
        if isinstance(base, Sequence):
            if is_slice:
                return Sequence(base.element, None, base.tuple)
            if base.items is not None and isinstance(index, Static) and isinstance(index.const, int) and not isinstance(index.const, bool):
                if -len(base.items) <= index.const < len(base.items):
                    return base.items[index.const]
            return base.element
        if isinstance(base, Static):
            if base.type in ("shape", "range"):
                return Static(MISSING, "shape" if is_slice else "int")
            return Static() if base.type in ("str",) else UNKNOWN if base.type == "" else Static()
        if isinstance(base, Module):
            if is_slice:
                return dataclasses.replace(base, items=None, is_self=False)
            if base.items is not None and isinstance(index, Static) and isinstance(index.const, str) and index.const in dict(base.items):
                return dict(base.items)[index.const]
            if base.items is not None and isinstance(index, Static) and isinstance(index.const, int):
                values = [v for _, v in base.items]
                if -len(values) <= index.const < len(values):
                    return values[index.const]
            if base.element is not None:
                return base.element
            for ref in base.refs:
                held = self.facts.held(ref) if isinstance(ref, ClassInfo) else None
                if held is not None:
                    return held
            return Module(open=True)
        if isinstance(base, Mapping):
            return base.element
        return UNKNOWN

    def _comprehension(self, node: Any, env: Env) -> Value:
        inner = dict(env)
        clause = node.for_in
        while clause is not None:
            self.bind(clause.target, element_of(self.expression(clause.iter, inner)), inner)
            for condition in clause.ifs:
                self.expression(condition.test, inner)
            clause = clause.inner_for_in
        if isinstance(node, cst.DictComp):
            self.expression(node.key, inner)
            return Mapping(self.expression(node.value, inner))
        return Sequence(self.expression(node.elt, inner))

    def _lambda(self, node: cst.Lambda, env: Env) -> Value:
        inner = dict(env)
        for parameter in [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]:
            inner[parameter.name.value] = self.expression(parameter.default, env) if parameter.default is not None else Tensor(assumed=True)
        if isinstance(node.params.star_arg, cst.Param):
            inner[node.params.star_arg.name.value] = Sequence(Tensor(assumed=True))
        self.expression(node.body, inner)
        return External("lambda")

    def _named(self, node: cst.NamedExpr, env: Env) -> Value:
        value = self.expression(node.value, env)
        self.bind(node.target, value, env)
        return value

    def _yield(self, node: cst.Yield, env: Env) -> Value:
        if isinstance(node.value, cst.BaseExpression):
            self.yields = join(self.yields, self.expression(node.value, env))
        elif isinstance(node.value, cst.From):
            self.yields = join(self.yields, element_of(self.expression(node.value.item, env)))
        return UNKNOWN

    def _string(self, node: Any, env: Env) -> Value:
        return Static(tree.literal(node), "str")

    def _formatted(self, node: cst.FormattedString, env: Env) -> Value:
        for part in node.parts:
            if isinstance(part, cst.FormattedStringExpression):
                self.expression(part.expression, env)
        return Static(MISSING, "str")

    def _integer(self, node: cst.Integer, env: Env) -> Value:
        return Static(tree.literal(node), "int")

    def _float(self, node: cst.Float, env: Env) -> Value:
        return Static(tree.literal(node), "float")


def _local(attribute: cst.Attribute) -> str:
    """How an attribute of self that is still to be replaced stands among the local names of a constructor."""
    return f"self.{attribute.attr.value}"


ast_attribute = cst.Attribute

_HANDLERS: dict[type, Any] = {
    cst.Name: Frame._name,
    cst.Attribute: Frame._attribute,
    cst.Call: Frame._call,
    cst.BinaryOperation: Frame._binary_operation,
    cst.Comparison: Frame._comparison,
    cst.BooleanOperation: Frame._boolean,
    cst.UnaryOperation: Frame._unary,
    cst.IfExp: Frame._conditional,
    cst.Tuple: Frame._display,
    cst.List: Frame._display,
    cst.Set: Frame._set,
    cst.Dict: Frame._dict,
    cst.Subscript: Frame._subscript,
    cst.ListComp: Frame._comprehension,
    cst.GeneratorExp: Frame._comprehension,
    cst.SetComp: Frame._comprehension,
    cst.DictComp: Frame._comprehension,
    cst.Lambda: Frame._lambda,
    cst.NamedExpr: Frame._named,
    cst.Yield: Frame._yield,
    cst.SimpleString: Frame._string,
    cst.ConcatenatedString: Frame._string,
    cst.FormattedString: Frame._formatted,
    cst.Integer: Frame._integer,
    cst.Float: Frame._float,
}


def asks_torch(of: Callable[[Any], Value], node: Any) -> bool:
    """Whether an expression asks torch, or a tensor: `torch.cuda.is_available()`, `x.is_cuda`, `hasattr(F, "gelu")`."""
    if isinstance(node, cst.Attribute):
        base = of(node.value)
        return isinstance(base, (Tensor, Torch)) or isinstance(base, Static) and base.type == "device"
    if not isinstance(node, cst.Call):
        return False
    function = of(node.func)
    if isinstance(function, External) and function.name == "builtins.hasattr" and node.args:
        function = of(node.args[0].value)
    return isinstance(function, Torch) or isinstance(function, Method) and isinstance(function.receiver, Tensor)


def static_size(of: Callable[[Any], Value], name: str, node: cst.Call) -> list[Any]:
    """The sizes that a reduction over nothing else is of, or nothing.

    Torch's tracer wants `torch.min(torch.as_tensor(n), torch.as_tensor(x.shape[0]))`; others write
    `torch.prod(torch.tensor(x.shape[1:])).item()`.
    """
    wanted = {"min": 2, "max": 2, "minimum": 2, "maximum": 2, "prod": 1}.get(name.removeprefix("torch."))
    inner = [a.value for a in node.args if isinstance(a.value, cst.Call) and a.keyword is None and len(a.value.args) == 1]
    if wanted != len(inner) or wanted != len(node.args) or not all(of(call.func) in (Torch("torch.as_tensor"), Torch("torch.tensor")) for call in inner):
        return []
    sizes = [call.args[0].value for call in inner]
    expected = Static(MISSING, "int" if wanted == 2 else "shape")
    return sizes if any(of(s) == expected for s in sizes) and not any(isinstance(of(s), Tensor) for s in sizes) else []


def torch_method(name: str) -> bool:
    """Whether modules have a method of this name in torch, so that it is no submodule's."""
    return name.startswith("_") or name in ORDINARY or name in (
        "add_module", "buffers", "named_buffers", "cuda", "cpu", "to", "double", "float", "half", "register_parameter", "get_submodule", "requires_grad_",
    )  # fmt: skip


def _is_super(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"


def _through_super(node: cst.Call) -> bool:
    return isinstance(node.func, cst.Attribute) and _is_super(node.func.value)


def _inplace(args: list[Any], limit: int) -> bool:
    """Whether a layer is made to write its argument: `inplace=True`, or True where torch's constructor has inplace last."""
    for i, (keyword, _, value, _) in enumerate(args):
        if keyword == "inplace" or keyword is None and i >= limit and isinstance(value, Static) and value.type == "bool":
            return not (isinstance(value, Static) and value.const is False)
    return False


def _is_property(name: str, definition: Any) -> bool:
    """Whether a one-parameter rule of Tensor is an attribute rather than a method."""
    return name in PROPERTIES


PROPERTIES = frozenset("T mT H mH real imag shape ndim dtype device data grad is_cuda requires_grad itemsize layout is_sparse is_leaf grad_fn is_quantized is_mps is_meta nbytes names output_nr".split())


def choose_roughly(rules: tuple[Any, ...], count: int, keywords: set[Any]) -> Any:
    """The first overload whose parameters are enough in number and have these keywords."""
    for definition in rules:
        names = {p.name for p in definition.parameters}
        sizes = any(p.kind in ("sizes", "rest") for p in definition.parameters)
        wanted = {k for k in keywords if k is not None}
        required = sum(1 for p in definition.parameters if p.default is None and p.kind == "positional")
        if (sizes or required <= count <= len(definition.parameters) + 2) and (wanted - {"axis", "keepdims", "out", "inplace", "device"}) <= names:
            return definition
    return rules[0]


def _bound_by_import(node: cst.CSTNode) -> Iterable[str]:
    if isinstance(node, cst.Import):
        for alias in node.names:
            yield tree.code(alias.asname.name) if alias.asname else (tree.dotted(alias.name) or "").split(".")[0]
    elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
        for alias in node.names:
            yield tree.code(alias.asname.name) if alias.asname else tree.code(alias.name)


def _live(block: Any, env: Env) -> Env | None:
    """The environment after a block, or None where the block always leaves."""
    node = block
    if isinstance(node, cst.Else):
        node = node.body
    if isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite)) and node.body:
        last = node.body[-1]
        if isinstance(last, cst.SimpleStatementLine):
            last = last.body[-1]
        if isinstance(last, (cst.Return, cst.Raise, cst.Continue, cst.Break)):
            return None
    return env


def _holds_tensor(value: Value) -> bool:
    if isinstance(value, Sequence):
        return any(map(_holds_tensor, value.items)) if value.items is not None else _holds_tensor(value.element)
    return isinstance(value, (Tensor, Module)) or isinstance(value, Mapping) and _holds_tensor(value.element)


def _vague(value: Value) -> Value:
    """What is known of a result where nothing is known of what it is made from."""
    if isinstance(value, Sequence):
        return Sequence(UNKNOWN, tuple(UNKNOWN for _ in value.items) if value.items is not None else None, value.tuple)
    return UNKNOWN


def _kind_of(a: Tensor, b: Value, operator: cst.CSTNode) -> str | None:
    """The dtype kind of an operation on a tensor and something else, by torch's promotion; None where it does not follow."""
    other = b.kind if isinstance(b, Tensor) else _NUMBERS.get(b.type) if isinstance(b, Static) else None
    if a.kind is None or other is None or isinstance(operator, (cst.Power, cst.PowerAssign)):
        return None
    if isinstance(b, Static) and (a.kind, other) in (("u", "i"), ("u", "b")):
        return "u"
    kind = max(a.kind, other, key="buifc".index)
    return "f" if isinstance(operator, (cst.Divide, cst.DivideAssign)) and kind in "bui" else kind


def _trace_numbers(env: Env, node: cst.CSTNode) -> None:
    """Numbers that are set under control of data are data themselves: `if x.sum() > 0: n = n + 1`."""
    for name in tree.names_assigned(node):
        value = env.get(name)
        if isinstance(value, Static) and value.type in _NUMBERS:
            env[name] = Tensor(kind=_NUMBERS[value.type])


_NUMBERS = {"int": "i", "float": "f", "bool": "b"}


def _merge(into: Env, a: Env | None, b: Env | None) -> None:
    if a is None or b is None:
        into.update(a or b or {})
        return
    for name in {*a, *b}:
        if name in a and name in b:
            into[name] = join(a[name], b[name])
        else:
            into[name] = a.get(name) or b[name]


def _tensor_evidence(facts: Inference, info: FunctionInfo) -> Iterable[str]:
    """Parameters used in a way that only a tensor allows: a torch method on it, or passed first to a torch function."""
    names = {p.name.value for p in info.parameters()}
    for node in tree.nodes(info.node.body, cst.Call, cst.Attribute):
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Name) and node.func.value.value in names:
                method = node.func.attr.value
                rules = facts.rulebook.find("torch.Tensor." + method) or method.endswith("_") and facts.rulebook.find("torch.Tensor." + method[:-1])
                if method in ("size", "dim") or method not in ORDINARY and method not in SHARED and rules:
                    yield node.func.value.value
            elif node.args and isinstance(node.args[0].value, cst.Name) and node.args[0].value.value in names:
                name = tree.dotted(node.func)
                if name is None:
                    continue
                resolved = facts.project.resolve(info.module, name)
                if isinstance(resolved, str) and resolved.startswith("torch.") and not node.args[0].star:
                    rules = facts.rulebook.find(resolved)
                    if rules and not rules[0].is_class and rules[0].parameters and rules[0].parameters[0].name in ("input", "tensor"):
                        yield node.args[0].value.value
                elif isinstance(resolved, FunctionInfo) and not any(a.star for a in node.args):
                    given = resolved.given(node)
                    yield from (given[n].value for n in facts.used_as_tensors(resolved) if isinstance(given.get(n), cst.Name) and given[n].value in names)
                elif name.startswith("self.") and isinstance(facts.attributes.get(info.owner, {}).get(name[5:]) if info.owner else None, Module):
                    yield node.args[0].value.value
        elif isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value in names:
            if node.attr.value in ("shape", "device", "dtype", "ndim"):
                yield node.value.value
        elif isinstance(node, cst.Attribute) and node.attr.value in ("size", "dim", "shape") and tree.dotted(node.value) in {f"{n}.data" for n in names}:
            yield (tree.dotted(node.value) or "").removesuffix(".data")
