"""Apply a rule to a call: bind its arguments, decide its branches, and inline what remains or call it in jax_nn.py."""

from __future__ import annotations

import ast
from collections.abc import Mapping as MappingABC
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from ..rule import PLACEMENT
from . import identities, tree
from .context import Context, key_site
from .emit import keyword, unbracketed
from .rulebook import Definition, Parameter
from .values import (
    MISSING,
    NONE,
    UNKNOWN,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_anything,
    is_traced,
    least_dims,
)

ALIASES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input", "x2": "other", "self": "input", "a": "input"}


@dataclass(frozen=True)
class Argument:
    """One argument at the call: its converted expression, and what is known of its value."""

    node: Any
    value: Value
    keyword: str | None = None
    star: str = ""


@dataclass
class Binding:
    """The arguments of a call by the parameter of a rule that takes them."""

    definition: Definition
    given: dict[str, Argument] = field(default_factory=dict)
    sizes: list[Argument] = field(default_factory=list)
    rest: list[Argument] = field(default_factory=list)  # *args and **kwargs that are passed through
    score: int = 0

    def is_sized_by_data(self) -> bool:
        """Whether the shape of the result follows from values that jit does not know."""
        names = self.definition.by_data
        if isinstance(names, bool):
            return names
        sized = {p.name for p in self.definition.parameters if p.kind == "sizes"} & set(names)
        return any(_of_data(a.value) for a in [*(self.given[n] for n in names if n in self.given), *(self.sizes if sized else [])])


class Refused(Exception):
    """The rule says that this form is not supported."""


def _of_data(value: Value) -> bool:
    """Whether a size, or one of several, is computed from arrays."""
    if isinstance(value, Sequence):
        return any(map(_of_data, value.items)) if value.items is not None else _of_data(value.element)
    return is_traced(value)


def bind(definition: Definition, arguments: list[Argument]) -> Binding | None:
    """Match arguments with the parameters of a rule; None where they do not fit."""
    parameters = definition.parameters
    names = {p.name for p in parameters}
    sizes = next((p.name for p in parameters if p.kind == "sizes"), None)
    binding = Binding(definition)
    positional = [p for p in parameters if p.kind in ("positional", "sizes")]
    i = 0
    for argument in arguments:
        if argument.star == "**":
            binding.rest.append(argument)
        elif argument.keyword is not None:
            name = argument.keyword
            if f"{name}_" in names:
                name = f"{name}_"  # torch's `key` beside the key that a rule asks for
            if name not in names and name in PLACEMENT:
                continue
            if name not in names:
                name = ALIASES.get(name, name)
            if sizes is not None and (name == sizes or name not in names and name in ("size", "dims", "sizes", "shape", "repeats")):
                binding.sizes.append(argument)  # `torch.zeros(size=(2, 3))`
                continue
            if name not in names and any(p.kind == "rest" for p in parameters):
                binding.rest.append(argument)
                continue
            if name not in names or name in binding.given:
                return None
            binding.given[name] = argument
        else:
            if i >= len(positional):
                if isinstance(literal(argument.node), bool) and not argument.star:
                    continue  # torch has `inplace` last
                return None
            parameter = positional[i]
            if parameter.kind == "sizes":
                binding.sizes.append(argument)
            elif argument.star:
                binding.rest.append(argument)
                binding.score += 1
                i = len(positional)
            else:
                binding.given[parameter.name] = argument
                i += 1
    if not binding.rest:
        for parameter in parameters:
            if parameter.kind == "positional" and parameter.default is None and parameter.name not in binding.given:
                return None
            if parameter.kind == "keyword" and parameter.default is None and parameter.name != "key" and parameter.name not in binding.given:
                return None
    for parameter in parameters:
        found = binding.sizes if parameter.kind == "sizes" else [binding.given[parameter.name]] if parameter.name in binding.given else []
        for argument in found:
            fits = _fits(argument, parameter)
            if fits is False and argument.star:
                fits = None  # of `*tensors` the elements would have to fit
            if fits is False:
                return None
            binding.score += fits is None
    return binding


def _fits(argument: Argument, parameter: Parameter) -> bool | None:
    """Whether an argument fits an annotation: yes, no, or not known."""
    accepts, value = parameter.accepts, argument.value
    if not accepts:
        return True
    if "Unsure" in accepts:
        return is_anything(value) and literal(argument.node) is UNDECIDED
    if value == NONE:
        return "None" in accepts or "Device" in accepts or (isinstance(parameter.default, ast.Constant) and parameter.default.value is None)
    if isinstance(value, Tensor):
        if "Tensor" in accepts:
            return True if not value.assumed else None
        if value.assumed:
            placed = by_name(argument.node)
            if placed is not None:
                return placed in accepts
            name = argument.node.value if isinstance(argument.node, cst.Name) else ""
            like = name == parameter.name or name in ("dim", "axis", "dims", "size", "sizes", "n", "dtype", "device", "shape")
            return True if like else False if not accepts <= {"Dtype", "Device"} else None
        return False
    if isinstance(value, Sequence):
        return True if accepts & {"tuple", "list"} else False
    if isinstance(value, Static):
        kinds = {"int": {"int", "float", "Number"}, "float": {"float", "Number"}, "bool": {"bool", "Number"}, "str": {"str", "Device"}}
        if value.type in kinds:
            return bool(accepts & kinds[value.type])
        if value.type == "dtype":
            return "Dtype" in accepts
        if value.type == "device":
            return "Device" in accepts
        if value.type == "shape":
            return bool(accepts & {"tuple", "list", "Size"})
        if value.type == "range":
            return bool(accepts & {"tuple", "list"})
        return None if accepts - {"Tensor"} else False
    if isinstance(value, Torch):
        last = value.name.rpartition(".")[2]
        if last.startswith(("float", "int", "uint", "bool", "bfloat", "long", "double", "half", "complex", "short")) or last.endswith("Tensor"):
            return "Dtype" in accepts
        return None
    if isinstance(value, Module):
        return False
    node = argument.node
    placed = by_name(node)
    if placed is not None:
        return placed in accepts
    if isinstance(node, (cst.Name, cst.Attribute)) and parameter.name == (node.value if isinstance(node, cst.Name) else node.attr.value):
        return True
    return None


def by_name(node: Any) -> str | None:
    """What a name says of an argument that nothing else is known of: `self.device` is a Device, `mask_dtype` a Dtype."""
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    last = node.value if isinstance(node, cst.Name) else node.attr.value
    if "device" in last.lower() or last in ("gpu", "cuda", "rank", "gpu_id", "cuda_id"):
        return "Device"
    return "Dtype" if "dtype" in last.lower() else None


def choose(definitions: tuple[Definition, ...], arguments: list[Argument]) -> Binding | None:
    """The first overload that fits for certain, else the first that may fit."""
    best: Binding | None = None
    for definition in definitions:
        binding = bind(definition, arguments)
        if binding is not None and (best is None or binding.score < best.score):
            best = binding
    return best


# --------------------------------------------------------------------------- partial evaluation

UNDECIDED = object()


class Decide:
    """Evaluate the tests of a rule's body with what is known at the call."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.parameters = {p.name: p for p in binding.definition.parameters}

    def constant(self, node: ast.expr) -> Any:
        """The Python value of an expression in the rule, or UNDECIDED."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.constant(node.operand)
            return -inner if isinstance(inner, (int, float)) else UNDECIDED
        if isinstance(node, (ast.Tuple, ast.List)):
            items = [self.constant(e) for e in node.elts]
            return UNDECIDED if any(i is UNDECIDED for i in items) else tuple(items)
        if isinstance(node, ast.Name) and node.id in self.parameters:
            return self.parameter(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            argument = node.args[0]
            if isinstance(argument, ast.Name) and argument.id in self.parameters:
                if self.parameters[argument.id].kind == "sizes":
                    loose = loose_sizes(self.binding)
                    return len(loose) if loose is not None else UNDECIDED
        if isinstance(node, (ast.BoolOp, ast.Compare)) or isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.test(node)
        return UNDECIDED

    def parameter(self, name: str) -> Any:
        parameter = self.parameters[name]
        if parameter.kind == "sizes":
            return UNDECIDED if self.binding.sizes else ()
        if name not in self.binding.given:
            if parameter.default is None or self.binding.rest:
                return UNDECIDED
            return self.constant(parameter.default)
        return literal(self.binding.given[name].node)

    def test(self, node: ast.expr) -> Any:
        """True, False or UNDECIDED."""
        if isinstance(node, ast.BoolOp):
            is_and = isinstance(node.op, ast.And)
            results = [self.test(v) for v in node.values]
            if any(r is (False if is_and else True) for r in results):
                return not is_and
            return UNDECIDED if any(r is UNDECIDED for r in results) else is_and
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            result = self.test(node.operand)
            return UNDECIDED if result is UNDECIDED else not result
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compare(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            return self._isinstance(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "jnp.issubdtype":
            return self._holds(*node.args)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "known":
            return self.test(node.args[0]) is True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "all":
            return self._all_have_dims(node.args[0])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "certain":
            subject: Any = node.args[0]
            given = self.binding.given.get(subject.args[0].id)
            return UNDECIDED if given is not None and isinstance(given.value, Static) and given.value.loose else self.test(subject)
        if isinstance(node, ast.Name) and node.id in self.parameters and self.parameters[node.id].kind == "sizes":
            return bool(self.binding.sizes)  # whether any were given
        value = self.constant(node)
        return UNDECIDED if value is UNDECIDED else bool(value)

    def _compare(self, node: ast.Compare) -> Any:
        op, right = node.ops[0], node.comparators[0]
        if isinstance(op, (ast.Is, ast.IsNot)):
            found = self._is_none(node.left) if isinstance(right, ast.Constant) and right.value is None else UNDECIDED
            if found is UNDECIDED:
                a, b = self.constant(node.left), self.constant(right)
                found = UNDECIDED if UNDECIDED in (a, b) else a is b
            return found if found is UNDECIDED or isinstance(op, ast.Is) else not found
        if isinstance(op, ast.Gt) and isinstance(node.left, ast.Attribute) and node.left.attr == "ndim":
            return self._has_dims(node.left.value) if self.constant(right) == 0 else UNDECIDED
        a, b = self.constant(node.left), self.constant(right)
        if a is UNDECIDED and isinstance(op, (ast.In, ast.NotIn)):
            a = self._named(node.left)
        if a is UNDECIDED or b is UNDECIDED:
            return UNDECIDED
        try:
            if isinstance(op, ast.Eq):
                return a == b
            if isinstance(op, ast.NotEq):
                return a != b
            if isinstance(op, ast.In):
                return a in b
            if isinstance(op, ast.NotIn):
                return a not in b
            if isinstance(op, ast.Lt):
                return a < b
            if isinstance(op, ast.LtE):
                return a <= b
            if isinstance(op, ast.Gt):
                return a > b
            if isinstance(op, ast.GtE):
                return a >= b
        except TypeError:
            return UNDECIDED
        return UNDECIDED

    def _has_dims(self, node: ast.expr) -> Any:
        """`input.ndim > 0`, where that is known of the argument."""
        given = self.binding.given.get(node.id) if isinstance(node, ast.Name) else None
        return True if given is not None and least_dims(given.value) else UNDECIDED

    def _all_have_dims(self, node: Any) -> Any:
        """`tensor.ndim > 0 for tensor in tensors`, where that is known of the argument, or of every loose one."""
        name = node.generators[0].iter.id
        given = self.binding.sizes if self.parameters[name].kind == "sizes" else [self.binding.given[name]]
        return True if all(least_dims(argument.value) for argument in given) else UNDECIDED

    def _named(self, node: ast.expr) -> Any:
        """The torch name that an argument is, which rules find among others: `x.type(torch.FloatTensor)`."""
        argument = self.binding.given.get(node.id) if isinstance(node, ast.Name) else None
        if argument is not None and isinstance(argument.value, Torch):
            return argument.value.name
        return "" if argument is not None and isinstance(argument.value, Static) and argument.value.type == "dtype" else UNDECIDED

    def _is_none(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id in self.parameters and node.id in self.binding.given:
            argument = self.binding.given[node.id]
            value = argument.value
            if value == NONE or literal(argument.node) is None:
                return True
            if literal(argument.node) is not UNDECIDED:
                return False
            if isinstance(value, Tensor) and not value.none and not value.assumed:
                return False
            if isinstance(value, Static) and value.type in ("int", "float", "bool", "str", "shape", "dtype", "range"):
                return False
            if isinstance(value, (Sequence, Torch)):
                return False
            return UNDECIDED
        value = self.constant(node)
        return UNDECIDED if value is UNDECIDED else value is None

    def _holds(self, dtype: ast.expr, kind: ast.expr) -> Any:
        """`jnp.issubdtype(input.dtype, jnp.integer)`, where the kind of the argument is known."""
        if not (isinstance(dtype, ast.Attribute) and dtype.attr == "dtype" and isinstance(dtype.value, ast.Name)):
            return UNDECIDED
        argument = self.binding.given.get(dtype.value.id)
        wanted = {"jnp.integer": "i", "jnp.floating": "f"}.get(ast.unparse(kind))
        if argument is None or wanted is None or not isinstance(argument.value, Tensor) or argument.value.kind is None:
            return UNDECIDED
        return argument.value.kind == wanted

    def _isinstance(self, node: ast.Call) -> Any:
        subject, kinds = node.args
        words = {ast.unparse(n) for n in (kinds.elts if isinstance(kinds, ast.Tuple) else [kinds])}
        if not isinstance(subject, ast.Name) or subject.id not in self.parameters:
            return UNDECIDED
        if self.parameters[subject.id].kind == "sizes":
            return bool(words & {"tuple", "list"}) if words <= {"tuple", "list"} else UNDECIDED
        if subject.id not in self.binding.given:
            value = self.constant(ast.Name(subject.id))
            return UNDECIDED if value is UNDECIDED else type(value).__name__ in words
        argument = self.binding.given[subject.id]
        known = literal(argument.node)
        if known is not UNDECIDED:
            return bool({t.__name__ for t in type(known).__mro__} & words)
        value = argument.value
        if isinstance(value, Tensor) and not value.assumed:
            return bool(words & {"jax.Array", "jnp.ndarray"}) or (UNDECIDED if "jax.core.Tracer" in words else False)
        if isinstance(value, Sequence):
            return UNDECIDED if value.loose else ("tuple" if value.tuple else "list") in words
        if isinstance(value, Static) and value.type in ("int", "float", "bool", "str"):
            return UNDECIDED if value.loose else value.type in words or value.type == "bool" and "int" in words
        if isinstance(value, Static) and value.type in ("shape",):
            return "tuple" in words
        return UNDECIDED

    def outcome(self, body: list[ast.stmt]) -> ast.expr | None:
        """The single expression that the body returns, or None where that is not decided. Raises Refused."""
        result = self._walk(body)
        return result if isinstance(result, ast.expr) else None

    def _walk(self, body: list[ast.stmt]) -> ast.expr | str:
        """The expression returned, "falls" past the end, or "unknown": an undecided test, or anything but a return."""
        for statement in body:
            if isinstance(statement, ast.Return):
                return statement.value if statement.value is not None else "unknown"
            if isinstance(statement, ast.Raise):
                raise Refused(self._message(statement))
            if not isinstance(statement, ast.If):
                return "unknown"
            decided = self.test(statement.test)
            if decided is UNDECIDED:
                return "unknown"
            result = self._walk(statement.body if decided else statement.orelse)
            if result != "falls":
                return result
        return "falls"

    @staticmethod
    def _message(statement: ast.Raise) -> str:
        call = statement.exc
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
            return str(call.args[0].value)
        return "this form is not supported"


def literal(node: Any) -> Any:
    """The value of a literal at the call, or UNDECIDED."""
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        return node.evaluated_value
    if isinstance(node, cst.Name) and node.value in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[node.value]
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = literal(node.expression)
        return -inner if isinstance(inner, (int, float)) else UNDECIDED
    if isinstance(node, (cst.Tuple, cst.List)):
        items = [literal(e.value) if isinstance(e, cst.Element) else UNDECIDED for e in node.elements]
        if any(i is UNDECIDED for i in items):
            return UNDECIDED
        return tuple(items) if isinstance(node, cst.Tuple) else items
    return UNDECIDED


def loose_sizes(binding: Binding) -> list[Any] | None:
    """The elements of loose sizes or of one display; None where one expression stands for all of them."""
    sizes = binding.sizes
    if len(sizes) == 1 and not sizes[0].star:
        node = sizes[0].node
        if isinstance(node, (cst.Tuple, cst.List)):
            return [e if isinstance(e, cst.StarredElement) else e.value for e in node.elements]
        value = sizes[0].value
        if isinstance(literal(node), int) or isinstance(value, Static) and value.type == "int":
            return [node]
        if any(p.kind == "sizes" and "Tensor" in p.accepts for p in binding.definition.parameters):
            return [node]  # `*tensors: Tensor` takes no list
        return None
    if len(sizes) == 1:
        return None
    return [cst.StarredElement(s.node) if s.star else s.node for s in sizes]


# --------------------------------------------------------------------------- inlining


class Inline(ast.NodeTransformer):
    """Simplify the returned expression: decided conditionals, keywords left at JAX's default."""

    def __init__(self, decide: Decide) -> None:
        self.decide = decide
        self.undecided = False

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        decided = self.decide.test(node.test)
        if decided is UNDECIDED:
            return self.generic_visit(node)
        return self.visit(node.body if decided else node.orelse)

    def visit_Call(self, node: ast.Call) -> Any:
        binding = self.decide.binding
        kept = []
        for part in node.keywords:
            if isinstance(part.value, ast.Name) and part.value.id in self.decide.parameters:
                parameter = self.decide.parameters[part.value.id]
                given = binding.given.get(parameter.name)
                default = parameter.default
                if isinstance(default, ast.Constant) and (default.value is None or default.value is False):
                    if given is None or literal(given.node) is default.value:
                        continue
            kept.append(part)
        node = ast.Call(node.func, node.args, kept)
        return self.generic_visit(node)


def inline(context: Context, binding: Binding) -> Any:
    """The expression that replaces the call, or None where the rule must be called. Raises Refused."""
    definition = binding.definition
    decide = Decide(binding)
    if binding.rest:
        return None
    result = decide.outcome(definition.body)
    if result is None:
        return None
    simplified = Inline(decide).visit(_copy(result))
    counts: dict[str, int] = {}
    for node in ast.walk(simplified):
        if isinstance(node, ast.Name) and node.id in decide.parameters:
            counts[node.id] = counts.get(node.id, 0) + 1
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.Lambda, ast.DictComp)):
            return None
    for name, count in counts.items():
        given = binding.given.get(name)
        if count > 1 and given is not None and not simple(given.node):
            return None
    for name, argument in binding.given.items():
        if name not in counts and not _harmless(argument.node):
            return None  # its evaluation must not be lost: a call or a draw
    for node in ast.walk(simplified):
        if isinstance(node, ast.Name) and node.id in context.rulebook.definitions and node.id.startswith("_"):
            return None
    if _constant_gradient(simplified, binding):
        simplified = simplified.args[0]
    return _substitute(context, simplified, binding)


def _constant_gradient(result: ast.expr, binding: Binding) -> bool:
    """`lax.stop_gradient(jnp.array([1, 2]))`: nothing here has a gradient to stop."""
    if not isinstance(result, ast.Call) or ast.unparse(result.func) != "lax.stop_gradient" or not binding.given:
        return False
    return all(_is_plain(argument.value) for argument in binding.given.values())


def _is_plain(value: Value) -> bool:
    if isinstance(value, Sequence):
        return _is_plain(value.element) if value.items is None else all(_is_plain(v) for v in value.items)
    return isinstance(value, (Static, Torch))


def _copy(node: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(node), mode="eval").body


def simple(node: Any) -> bool:
    """Whether an expression may be written twice: a name, attribute, literal or constant index."""
    if isinstance(node, (cst.Name, cst.Integer, cst.Float, cst.SimpleString)):
        return True
    if isinstance(node, cst.UnaryOperation):
        return literal(node) is not UNDECIDED
    if isinstance(node, cst.Attribute):
        return simple(node.value)
    if isinstance(node, cst.Subscript):
        indices = [e.slice for e in node.slice]
        return simple(node.value) and all(isinstance(i, cst.Index) and isinstance(i.value, (cst.Integer, cst.SimpleString)) for i in indices)
    if isinstance(node, (cst.Tuple, cst.List)):
        return all(simple(e.value) for e in node.elements)
    return False


_OPPOSITE = {"True": "False", "False": "True"}


def _harmless(node: Any) -> bool:
    return not any(isinstance(n, (cst.Call, cst.Await, cst.NamedExpr, cst.Yield)) for n in tree.walk(node))


def _substitute(context: Context, expression: ast.expr, binding: Binding) -> Any:
    template = tree.expression(ast.unparse(expression))
    parameters = {p.name: p for p in binding.definition.parameters}
    loose = loose_sizes(binding)

    def before(node: cst.CSTNode) -> Any:
        if isinstance(node, cst.Arg) and node.star == "*" and isinstance(node.value, cst.Name) and _is_sizes(node.value):
            if loose is not None:
                return cst.FlattenSentinel([cst.Arg(v.value, star="*") if isinstance(v, cst.StarredElement) else cst.Arg(v) for v in loose])
            only = binding.sizes[0]
            return cst.Arg(only.node, star="*") if only.star else cst.Arg(only.node)
        if isinstance(node, cst.StarredElement) and isinstance(node.value, cst.Name) and _is_sizes(node.value):
            if loose is not None:
                return cst.FlattenSentinel([v if isinstance(v, cst.StarredElement) else cst.Element(v) for v in loose])
            return cst.StarredElement(binding.sizes[0].node)
        if isinstance(node, cst.Arg) and node.keyword is None and isinstance(node.value, cst.Name):
            argument = _named(context, node.value, binding, parameters, loose)
            if node.star == "*" and isinstance(argument, (cst.List, cst.Tuple)):  # `torch.meshgrid([x, y])`
                return cst.FlattenSentinel([cst.Arg(e.value, star="*" if isinstance(e, cst.StarredElement) else "") for e in argument.elements])
            return None if argument is None else tree.replace(node, value=unbracketed(argument))
        if isinstance(node, cst.Arg) and node.keyword is not None:
            return tree.rewrite(node.value, before) and tree.replace(node, value=tree.fit(node, "value", tree.rewrite(node.value, before)))
        if isinstance(node, cst.Attribute):
            value = tree.rewrite(node.value, before)
            return node if value is node.value else tree.replace(node, value=tree.fit(node, "value", identities.described(value, node.attr.value)))
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            flag = tree.rewrite(node.expression, before)
            return tree.replace(node, expression=tree.fit(node, "expression", flag)) if tree.code(flag) not in _OPPOSITE else cst.Name(_OPPOSITE[tree.code(flag)])
        if isinstance(node, cst.Name):
            return _named(context, node, binding, parameters, loose)
        return None

    def _is_sizes(name: cst.Name) -> bool:
        return name.value in parameters and parameters[name.value].kind == "sizes"

    return identities.simplified(tree.rewrite(template, before))


def _named(context: Context, node: cst.Name, binding: Binding, parameters: MappingABC[str, Parameter], loose: list[Any] | None) -> Any:
    name = node.value
    parameter = parameters.get(name)
    if parameter is None:
        if name in context.rulebook.definitions:
            return tree.expression(context.name(name))
        return None
    if parameter.kind == "sizes":
        if loose is not None:
            elements = [v if isinstance(v, cst.StarredElement) else cst.Element(v) for v in loose]
            return _tuple(elements)
        only = binding.sizes[0]
        return only.node
    if name in binding.given:
        given = binding.given[name].node
        return given if not isinstance(given, (cst.Tuple, cst.GeneratorExp)) or given.lpar else tree.parenthesised(given)
    if name == "key":
        return key_site()
    if parameter.default is not None:
        return tree.expression(ast.unparse(parameter.default))
    return None


def _tuple(elements: list[Any]) -> Any:
    if len(elements) == 1 and isinstance(elements[0], cst.Element):
        elements = [tree.replace(elements[0], comma=cst.Comma())]
    else:
        last = len(elements) - 1
        elements = [tree.replace(e, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")) if i < last else cst.MaybeSentinel.DEFAULT) for i, e in enumerate(elements)]
    return cst.Tuple(elements, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def call(context: Context, binding: Binding) -> Any:
    """A call of the rule in jax_nn.py, with the arguments in the order in which the user wrote them."""
    definition = binding.definition
    args: list[cst.Arg] = []
    in_order = True
    for parameter in definition.parameters:
        if parameter.kind == "sizes":
            loose = loose_sizes(binding)
            if loose is not None:
                args.extend(cst.Arg(v.value, star="*") if isinstance(v, cst.StarredElement) else cst.Arg(v) for v in loose)
            elif binding.sizes:
                args.append(cst.Arg(binding.sizes[0].node, star="*"))
            continue
        if parameter.name in definition.unused:
            continue  # the emitted function has no such parameter
        if parameter.name not in binding.given:
            if parameter.name == "key" and draws(context, binding):
                args.append(keyword("key", key_site()))
            else:
                in_order = False
            continue
        argument = binding.given[parameter.name]
        if argument.keyword is None and in_order and parameter.kind == "positional":
            args.append(cst.Arg(unbracketed(argument.node)))
        else:
            args.append(keyword(parameter.name, unbracketed(argument.node)))
            in_order = False
    for argument in binding.rest:
        if argument.star == "*":
            at = next((i for i, a in enumerate(args) if a.keyword is not None), len(args))
            args.insert(at, cst.Arg(argument.node, star="*"))
        elif argument.star:
            args.append(cst.Arg(argument.node, star="**"))
        else:
            args.append(keyword(argument.keyword or "", argument.node))
    return cst.Call(tree.expression(context.name(definition.name)), args)


def draws(context: Context, binding: Binding) -> bool:
    """Whether a rule uses its key with these arguments: `F.scaled_dot_product_attention` has no dropout where none is asked for."""
    definitions = context.rulebook.definitions
    decide = Decide(binding)
    body = decide.outcome(binding.definition.body) or ast.Module(binding.definition.body, [])
    uses = [n for n in ast.walk(body) if isinstance(n, ast.Name) and n.id == "key"]
    for node in ast.walk(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in definitions:
            passed = [k for k in node.keywords if k.arg == "key" and k.value in uses]
            inner = bind(definitions[node.func.id], [_passed(decide, v, None) for v in node.args] + [_passed(decide, k.value, k.arg) for k in node.keywords if k not in passed])
            if passed and inner is not None and not draws(context, inner):
                uses.remove(passed[0].value)  # type: ignore[arg-type]
    return bool(uses)


def _passed(decide: Decide, node: ast.expr, name: str | None) -> Argument:
    """What a rule hands to another: a constant where it is one at this call."""
    constant = decide.constant(node)
    if constant is UNDECIDED:
        return Argument(cst.Name("_"), UNKNOWN, name)
    return Argument(tree.expression(repr(constant)), UNKNOWN, name)


def _positional(argument: Argument) -> cst.Arg:
    if argument.star == "**":
        return cst.Arg(argument.node, star="**")
    return cst.Arg(argument.node, star="*") if argument.star else cst.Arg(argument.node)


def apply(context: Context, definitions: tuple[Definition, ...], arguments: list[Argument]) -> Any:
    """What replaces a call of a torch operation. Raises Refused with the reason where nothing can."""
    binding = choose(definitions, arguments)
    if binding is None:
        raise Refused("")
    if binding.definition.is_class:
        return call_class(context, binding.definition, arguments)
    for name, argument in binding.given.items():
        if argument.value == Static(MISSING, "device") and name == "dtype":
            raise Refused("")
    made = inline(context, binding)
    made = call(context, binding) if made is None else made
    if binding.definition.note:
        placed = made if context.place(made) is not None or not arguments else arguments[0].node  # a constant stands nowhere
        context.report("taken-for-granted", placed, binding.definition.note)
    return made


def call_class(context: Context, definition: Definition, arguments: list[Argument], original: cst.Call | None = None) -> Any:
    """A call of a layer's constructor: the user's own (`original`, whose layout is kept), without placement."""
    parameters = {p.name: p for p in context.rulebook.constructor(definition)}
    open_ended = any(p.kind == "rest" for p in parameters.values())
    args = []
    for argument in arguments:
        name = argument.keyword
        if name in PLACEMENT and (name not in parameters or parameters[name].kind == "keyword"):
            continue  # a layer whose class is a variable takes `inplace`, and makes nothing of it
        if name is not None and name not in parameters:
            if name == "dtype":
                if argument.value == NONE or not isinstance(argument.value, Torch):
                    continue
                raise Refused("a dtype for one layer; cast its params instead")
            if argument.value == NONE and not open_ended:
                continue  # `max_norm=None`
            if not open_ended:
                raise Refused(f"the argument {name!r} of {definition.name}")
        args.append(keyword(name, argument.node) if name is not None else _positional(argument))
    limit = sum(1 for p in parameters.values() if p.kind == "positional")
    if not any(p.kind == "sizes" for p in parameters.values()):
        loose = [a for a in args if a.keyword is None and not a.star]
        # trailing positional placement: nn.ReLU(True) is inplace
        while len(loose) > limit:
            if type(literal(loose[-1].value)) in (int, float, str):  # `nn.Embedding(6, 3, 0, 1.0)` has a max_norm
                raise Refused(f"the argument {tree.code(loose[-1].value)} of {definition.name}: spell it by keyword")
            args.remove(loose.pop())
    func = tree.expression(context.name(definition.name))
    note = next((d.note for d in context.rulebook.bases(definition.name) if d.note), "")
    if note and original is not None:
        context.report("taken-for-granted", original, note)
    if original is not None and len(original.args) == len(args):
        kept = [tree.replace(old, value=tree.fit(old, "value", new.value)) for old, new in zip(original.args, args)]
        return tree.replace(original, func=func, args=kept)
    return cst.Call(func, args)
