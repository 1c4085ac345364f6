"""What each function and class needs beside its arguments: params, state, a key, the mode."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import libcst as cst

from . import tree
from .arrays import Arrays
from .callables import is_unbound
from .computed_names import pattern
from .context import KEY
from .dataflow import called_once
from .infer import Inference
from .project import ClassInfo, FunctionInfo
from .values import Class, External, Function, Method, Module, Tensor, Value

ALL = frozenset({"params", "state", "key", "training"})
NOTHING: frozenset[str] = frozenset()


class Effects:
    """Effects of all functions, as a fixed point over calls, inheritance and files."""

    def __init__(self, facts: Inference, arrays: Arrays, nodes: dict[FunctionInfo, cst.FunctionDef], running: set[FunctionInfo]) -> None:
        self.facts, self.arrays, self.nodes, self.running = facts, arrays, nodes, running
        self.functions: dict[FunctionInfo, frozenset[str]] = {f: NOTHING for f in nodes}
        self._left_to_subclasses = [group for f in nodes for group in _left_to_subclasses(f, nodes[f])]
        uses = {f: list(_uses(facts, node, self._bound(f))) for f, node in nodes.items()}
        changed = True
        while changed:
            changed = False
            for function in nodes:
                found = self.functions[function] | self._of_uses(function, uses[function])
                if found != self.functions[function]:
                    self.functions[function] = found
                    changed = True
            changed = self._share_overrides() or changed

    def _bound(self, function: FunctionInfo) -> set[str]:
        """The modules that come to a function with their params bound: those that it is given, or the function around it."""
        node = self.nodes[function]
        own = _run_parameters(self.facts, node)
        if function.outer is None or function.outer not in self.nodes:
            return own
        return own | self._bound(function.outer) - tree.parameter_names(node) - set(tree.times_bound(node.body))

    def _share_overrides(self) -> bool:
        """A method and what overrides it are called by one name: they take the same."""
        changed = False
        for function in self.nodes:
            if function.owner is None or function.name in ("forward", "__init__"):
                continue
            for c in function.owner.family():
                other = c.methods.get(function.name)
                if other is not None and other in self.functions and self.functions[other] != self.functions[function]:
                    both = self.functions[other] | self.functions[function]
                    self.functions[other] = self.functions[function] = both
                    changed = True
        for methods in self._left_to_subclasses:
            known = [self.functions[m] for m in methods if m in self.functions]
            both = NOTHING.union(*known)
            if any(one != both for one in known):
                self.functions.update({m: both for m in methods if m in self.functions})
                changed = True
        return changed

    def _of_uses(self, function: FunctionInfo, uses: list[Any]) -> frozenset[str]:
        found: set[str] = set()
        for kind, subject in uses:
            if kind == "key":
                found.add("key")
            elif kind == "training":
                found.add("training")
            elif kind == "module":
                found |= self.module(subject)
            elif kind == "function":
                if subject.info in self.functions and subject.info in self.running:
                    found |= self.functions[subject.info]
            elif kind == "super":
                found |= self.layer(subject)
                if function.owner is not None and self.is_container(subject):
                    for cls in function.owner.ancestors():  # a base of the user's may be what fills the container
                        held = self.facts.held(cls)
                        found |= self._held(cls) | (self.module(held) if isinstance(held, Module) else NOTHING)
            elif kind == "array":
                owner, name = subject
                array = self.arrays.find(owner, name)
                if array is not None and array.where in ("params", "state"):
                    found.add(array.where)
                elif array is None:
                    where = self.inherited_array(owner, name)
                    if where:
                        found.add(where)
            elif kind == "named":
                found |= self.arrays.places(*subject)
            elif kind == "computed":
                value = self.facts.of(subject)
                array = self.arrays.asked(subject)
                if array is not None:
                    found |= {array.where} & ALL
                elif isinstance(value, Tensor) and value.param:
                    found.add("state" if value.buffer else "params")
            elif kind == "method":
                found |= self._method(subject)
            elif kind == "child":
                found.add(subject)
        return frozenset(found)

    def inherited_array(self, owner: ClassInfo, name: str) -> str | None:
        """Where an array lives that the torch layer a class extends has."""
        places = {self.facts.rulebook.array(layer.name, name) for layer in self.facts.layers_of(owner)} - {None}
        return places.pop() if len(places) == 1 else None

    def _method(self, value: Method) -> frozenset[str]:
        """Effects of a method that is not the user's: `self._conv_forward(x, weight, bias)` is that of the layer extended."""
        assert isinstance(value.receiver, Module)
        if self.of_any(value):
            return self.method_of_any(value.name)
        layer = next((ref.torch_base() for ref in value.receiver.refs if isinstance(ref, ClassInfo)), None)
        definition = self.facts.rulebook.layer(layer) if value.receiver.is_self and layer else None
        found = self.facts.rulebook.method(definition.name, value.name) if definition is not None else None
        return ALL if found is None else ALL & {a.arg for a in [*found.args.args, *found.args.kwonlyargs]}

    def of_any(self, value: Method) -> bool:
        """Whether this is a method that the user's modules have, of a module whose class is not known."""
        receiver = value.receiver
        return isinstance(receiver, Module) and not receiver.classes and runs(self.facts, value) and self.facts.is_method_of_modules(value.name, of_module=True)

    def method_of_any(self, name: str) -> frozenset[str]:
        """Effects of a method of a module whose class is not known: all, if the method of any class has one."""
        return ALL if any(self.functions.get(c.methods[name]) for c in self.facts.owners.get(name, ())) else NOTHING

    def layer(self, name: str) -> frozenset[str]:
        definition = self.facts.rulebook.layer(name)
        return self.facts.rulebook.effects(definition.name) if definition is not None else ALL

    def cls(self, ref: Any, element: Value | None = None) -> frozenset[str]:
        """Effects of calling an instance of a class."""
        if isinstance(ref, ClassInfo):
            forward = ref.find("forward")
            if forward is not None:
                return self.functions.get(forward, ALL)
            layer = ref.torch_base()
            if layer is None:
                return NOTHING
            held = None
            for c in ref.family():
                held = held or self.facts.held(c)
            if self.is_container(layer):
                own = self._held(ref)
                return (self.module(held) if isinstance(held, Module) else own) | own | {"params"}
            return self.layer(layer)
        definition = self.facts.rulebook.layer(ref)
        if definition is not None and self.is_container(ref):
            inner = self.module(element) if isinstance(element, Module) else NOTHING if element is None else ALL
            return inner | {"params"}
        return self.layer(ref)

    def _held(self, ref: ClassInfo) -> frozenset[str]:
        found: frozenset[str] = NOTHING
        for c in ref.family():
            for value in self.facts.attribute_values(c).values():
                if isinstance(value, Module) and not value.is_self:
                    found |= self.module(value)
        return found

    def is_container(self, name: str) -> bool:
        definition = self.facts.rulebook.layer(name)
        return definition is not None and any(d.name == "_Container" for d in self.facts.rulebook.bases(definition.name))

    _depth = 0

    def module(self, value: Value) -> frozenset[str]:
        """Effects of calling a submodule; everything where its class is not known."""
        if not isinstance(value, Module) or value.open or not value.classes:
            return ALL
        if self._depth > 20:
            return ALL
        self._depth += 1
        found: frozenset[str] = NOTHING
        for ref in value.refs:
            found |= self.cls(ref, value.element)
        self._depth -= 1
        return found

    def direct(self, value: Value) -> bool:
        """Whether a submodule can be called by its own signature, rather than by the uniform `apply`."""
        if not isinstance(value, Module) or value.open or not value.classes:
            return False
        if "state" in self.module(value) and any(self._is_sequential(ref) for ref in value.refs):
            return False
        signatures = {self.signature(ref) for ref in value.refs}
        return len(signatures) == 1

    def _is_sequential(self, ref: Any) -> bool:
        return not isinstance(ref, ClassInfo) and self.is_container(ref)

    def signature(self, ref: Any) -> frozenset[str]:
        """What the call of a class takes by its signature, which for a container is more than it may need."""
        if not isinstance(ref, ClassInfo):
            return self.layer(ref)
        forward = ref.find("forward")
        if forward is None and ref.torch_base() is not None and "state" not in self.cls(ref):
            return self.layer(ref.torch_base() or "")
        return self.cls(ref)


def _left_to_subclasses(function: FunctionInfo, node: cst.FunctionDef) -> list[list[FunctionInfo]]:
    """The methods of the classes below that a method calls by one name, `self.density(x)`, of which its own class has none."""
    owner = function.owner
    if owner is None or function.self_name is None:
        return []
    called = {call.func.attr.value for call in tree.nodes(node.body, cst.Call) if isinstance(call.func, cst.Attribute) and tree.dotted(call.func.value) == function.self_name}
    return [owner.overriding(name) for name in sorted(called) if owner.find(name) is None]


def _uses(facts: Inference, function: cst.FunctionDef, bound: Set[str] = frozenset()) -> Iterator[tuple[str, Any]]:
    """What in a function can have an effect; calls of the names that are bound have none."""
    for node in tree.nodes(function.body, cst.Name, cst.Attribute, cst.Call, cst.Subscript):
        if isinstance(node, cst.Name):
            if node.value == KEY:
                yield "key", None
            elif isinstance(value := facts.of(node), Function) and not value.info.is_property:
                yield "function", value
        elif isinstance(node, cst.Subscript):
            value = facts.of(node)
            if isinstance(facts.of(node.value), Module) and isinstance(value, Tensor) and value.param:
                yield "child", "params"  # an entry of a ParameterList
        elif isinstance(node, cst.Attribute):
            base = facts.of(node.value)
            name = node.attr.value
            if isinstance(held := facts.of(node), Module) and held.classes and held.classes <= PARAMETER_CONTAINERS:
                yield "child", "params"  # `for w in self.weights`
            if isinstance(base, Module):
                if name == "training":
                    yield "training", None
                    continue
                value = facts.of(node)
                for ref in base.refs:
                    if isinstance(ref, ClassInfo):
                        yield "array", (ref, name)
                    elif isinstance(value, Tensor) and value.param:
                        definition = facts.rulebook.layer(ref)
                        if definition is not None:
                            yield "child", facts.rulebook.array(definition.name, name) or "params"
                if (base.is_bare or not base.classes) and isinstance(value, Tensor) and value.param:
                    yield "child", "state" if value.buffer else "params"
                if isinstance(value, Function):
                    yield "function", value
                elif isinstance(facts.by_property(base, name), Function):
                    yield "function", facts.by_property(base, name)
        elif isinstance(node, cst.Call) and not (isinstance(node.func, cst.Name) and node.func.value in bound):
            yield from _call_uses(facts, node, bound)  # a module that is passed in comes with its params bound


def _call_uses(facts: Inference, node: cst.Call, bound: Set[str]) -> Iterator[tuple[str, Any]]:
    value = facts.of(node.func)
    if isinstance(value, Module):
        yield "module", value
    elif isinstance(value, Function):
        yield "function", value
    elif isinstance(value, Method):
        receiver = value.receiver
        yield from (("function", Function(method)) for method in applied(value))
        if isinstance(receiver, Module) and value.name == "forward":
            if isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Call):
                for ref in receiver.refs:
                    yield "super", ref
                if not receiver.classes:  # of a mixin: what comes next is another thing in each class
                    yield "module", Module(open=True)
            else:
                yield "module", receiver
        elif isinstance(receiver, Module) and value.name in PARAMETERS:
            yield "child", "params"
        elif isinstance(receiver, Module) and runs(facts, value):
            yield "method", value
    elif isinstance(value, External) and value.name in ("builtins.getattr", "builtins.setattr", "builtins.hasattr") and len(node.args) > 1:
        holder = facts.of(node.args[0].value)
        if isinstance(holder, Module) and (value.name == "builtins.hasattr" or isinstance(node.args[1].value, cst.SimpleString)):
            yield from (("named", (ref, pattern(node.args[1].value))) for ref in holder.refs if isinstance(ref, ClassInfo))
        if value.name != "builtins.hasattr":
            yield "computed", node
    if _is_builtin(value):
        return
    modules = [a.value for a in node.args if isinstance(passed := facts.of(a.value), Module) and not passed.is_self]
    modules = [m for m in modules if not isinstance(m, cst.Name) or m.value not in bound]
    function = run_by(value) if modules else None
    if function is not None:
        called = _run_parameters(facts, function.node)
        given = [argument for name, argument in function.given(node).items() if name in called]
        modules = [m for m in modules if any(m is argument for argument in given)]
    for module in modules:
        yield "module", facts.of(module)


def applied(value: Value) -> list[FunctionInfo]:
    """The methods that `Round.apply(x)` of a torch.autograd.Function runs, when it is called or in the backward pass."""
    owner = value.receiver if isinstance(value, Method) and value.name == "apply" else None
    if not isinstance(owner, Class) or not isinstance(owner.ref, ClassInfo) or not owner.ref.is_autograd_function:
        return []
    return [method for name in ("forward", "backward") if (method := owner.ref.find(name)) is not None]


def is_set_by_name(facts: Inference, node: cst.Call) -> bool:
    """`setattr(self, f"u{i}", u)`"""
    return len(node.args) == 3 and facts.of(node.func) == External("builtins.setattr") and isinstance(facts.of(node.args[0].value), Module)


def run_by(value: Value) -> FunctionInfo | None:
    """The one function of the user's that a call of a value runs: a function, or what a module computes."""
    if isinstance(value, Function):
        return value.info
    refs = value.refs if isinstance(value, Module) and not value.open else ()
    found = {ref.find("forward") if isinstance(ref, ClassInfo) else None for ref in refs}
    return found.pop() if len(found) == 1 else None


def calls_once(value: Value, call: cst.Call, argument: cst.Arg) -> bool:
    """Whether a call of a value is known to call one of its arguments at one place, outside of loops."""
    function = run_by(value)
    if function is None or argument.star or isinstance(value, Function) and is_unbound(value, call.func):
        return False
    names = [p.name.value for p in function.parameters()]
    place = list(call.args).index(argument)
    name = argument.keyword.value if argument.keyword is not None else names[place] if place < len(names) else None
    return name is not None and called_once(function.node.body, name)


def _run_parameters(facts: Inference, function: cst.FunctionDef) -> set[str]:
    """The parameters of a function that it calls as they come, or hands on to be called: `p = dropout(p)`, `attend(q, v, dropout)`."""
    names = tree.parameter_names(function)
    found: set[str] = set()
    for call in tree.nodes(function.body, cst.Call):
        if isinstance(call.func, cst.Name) and call.func.value in names and not (isinstance(value := facts.of(call.func), Module) and value.is_self):
            found.add(call.func.value)
        handed = [a.value.value for a in call.args if isinstance(a.value, cst.Name) and a.value.value in names and isinstance(facts.of(a.value), Module)]
        if handed and not _is_builtin(facts.of(call.func)):
            found.update(handed)
    return found - set(tree.times_bound(function.body)) if found else found


def _is_builtin(value: Value) -> bool:
    return isinstance(value, External) and value.name.startswith("builtins.")


def runs(facts: Inference, value: Method) -> bool:
    """Whether a method of a module, of unknown make, may compute with its params."""
    if value.name in HOST_METHODS or not isinstance(value.receiver, Module):
        return False
    layers = [facts.rulebook.layer(ref) if isinstance(ref, str) else None for ref in value.receiver.refs]
    methods = [facts.rulebook.method(layer.name, value.name) if layer is not None else None for layer in layers]
    return not methods or any(m is None or {"params", "state"} & {a.arg for a in m.args.args} for m in methods)


PARAMETER_CONTAINERS = frozenset({"torch.nn.ParameterList", "torch.nn.ParameterDict"})
PARAMETERS = frozenset(("parameters", "named_parameters"))
MODULE_CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})

HOST_METHODS = frozenset(
    "children named_children modules named_modules parameters named_parameters buffers append extend insert add_module"
    " register_buffer register_parameter eval train to cuda cpu apply state_dict load_state_dict items keys values update"
    " layers name requires_grad_ zero_grad float double half type __init__ size pop".split()
)
