"""Python's functions of values that data tell: `bool(x)`, `float(x)`, `max(a, b)`, `any(x)`."""

from ...facts.values.lattice import External, Sequence, Static, Tensor
from ...facts.values.python_calls import CHECKS
from ...model.copy import clone
from ...model.effects import Support
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    Lambda,
    Name,
    Starred,
)
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Binary, Compare
from ...source.lower_ast import expression
from ..truth import told, traced, truth
from .choices import switch
from .operators import Operators, value
from .printing import printed, shown

_REDUCTIONS = frozenset("sum mean max min prod any all argmax argmin".split())

# Functions of math as jnp has them; what they make of a number that is whole is one, too.
_SAME = "sqrt exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh hypot fmod copysign degrees"
_MATH = {
    **{name: name for name in f"{_SAME} radians floor ceil trunc".split()},
    **{"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"},
    **{"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "fabs": "abs"},
}
_BY_DATA = "goes by values that jax.jit does not know: take jnp.stack, jnp.argsort or jnp.argmax"
_WHOLE = frozenset(("floor", "ceil", "trunc"))


def called(o: Operators, node: Call) -> None:
    """A call of a list's element that data choose, or of a function of Python's."""
    if switch(o, node):
        return
    function = value(node.function)
    if not isinstance(function, External):
        return
    if function.name in CHECKS and traced(node):
        _checked(o, node, function.name.removeprefix("math."))
    elif function.name.startswith("math.") and any(map(traced, node.arguments)):
        _of_math(o, node, function.name.removeprefix("math."))
    elif function.name.startswith("builtins.") and isinstance(node.function, Name):
        _builtin(o, node, node.function.id)


def _builtin(o: Operators, node: Call, name: str) -> None:
    arguments = node.arguments
    if name == "print":
        if any(traced(part) for argument in arguments for part in shown(argument)):
            printed(o, node)
        return
    if name in ("sorted", "min", "max") and _by_data(node, name):
        o.changes.unconverted("unsupported", node, f"{name}() {_BY_DATA}")
        return
    starred = any(isinstance(a, Starred) for a in arguments)
    if starred or not arguments or any(word is not None for word in node.keywords):
        return
    count, data = len(arguments), [traced(argument) for argument in arguments]
    if name in ("bool", "int", "float") and count == 1 and data[0]:
        if not isinstance(value(node), Static):
            o.changes.replace(node, lambda n: _cast(name, n.arguments[0]))
    elif name in ("min", "max") and count > 1 and any(data):
        o.changes.replace(node, lambda n: _extremum(name, n.arguments))
    elif name in ("any", "all", "min", "max") and count == 1:
        _reduced(o, node, name)


def _by_data(node: Call, name: str) -> bool:
    """`max(boxes, key=lambda b: b.sum())`, `sorted([x.mean(), y.mean()])`"""
    key = node.keyword("key")
    if isinstance(key, Lambda) and not isinstance(key.body, Name):
        return traced(key.body)
    if key is None and name != "sorted" or not node.arguments:
        return False
    of, known = node.arguments[0], value(node.arguments[0])
    listed = of.elements if isinstance(of, Display) else [of]
    element = known.element if isinstance(known, Sequence) else None
    held = isinstance(element, Tensor) and not element.assumed and not element.none
    return held or any(map(traced, listed))


def _checked(o: Operators, node: Call, name: str) -> None:
    """`math.isnan(loss)`, and `math.isclose(a, b)` with the tolerance that it has."""
    close = name == "isclose"
    if len(node.arguments) != 1 + close or any(word is not None for word in node.keywords):
        return

    def make(node: Call) -> Expression:
        words: list[str | None] = ["rtol", "atol"] if close else []
        more = [Constant(1e-9, "1e-9"), Constant(0)] if close else []
        keywords = [*node.keywords, *words]
        return Call(expression(f"jnp.{name}"), [*node.arguments, *more], keywords)

    o.changes.replace(node, make)


def _of_math(o: Operators, node: Call, name: str) -> None:
    """`math.sqrt(1 - 0.99 ** self.step.item())`: a number of Python's, which has no gradient."""
    based = name == "log" and len(node.arguments) == 2
    if name not in _MATH or any(isinstance(a, Starred) for a in node.arguments):
        message = f"math.{name} of a tensor's value, which jax.jit does not know"
        o.changes.unconverted("unsupported", node, f"{message}: write it with jax.numpy")
        return

    def make(node: Call) -> Expression:
        numbers = [_number(argument) for argument in node.arguments]
        if based:
            logs = [Call(expression("jnp.log"), [number]) for number in numbers]
            return Binary(logs[0], "/", logs[1])
        made = Call(expression(f"jnp.{_MATH[name]}"), numbers)
        return Call(Attribute(made, "astype"), [Name("int")]) if name in _WHOLE else made

    o.changes.replace(node, make)


def _number(node: Expression) -> Expression:
    """An argument as the number that Python makes of it."""
    known = node.value
    if not isinstance(known, Tensor) or known.number is True or known.kind in ("i", "b", "u"):
        return node
    return Call(expression("lax.stop_gradient"), [_scalar(node)])


# --- casts ----------------------------------------------------------------------------------------


def _cast(name: str, node: Expression) -> Expression:
    """Python's numbers carry no gradient: `float(loss)`."""
    known, number = node.value, _scalar(node)
    if name == "bool":
        return truth(number)
    kind = known.kind if isinstance(known, Tensor) else None
    if name == "float" and kind not in ("i", "b", "u"):
        number = Call(expression("lax.stop_gradient"), [number])
    if kind == name[0]:
        return number
    return Call(Attribute(number, "astype"), [Name(name)])


def _scalar(node: Expression) -> Expression:
    """An array of one element without dimensions: `x.sum()` has none."""
    if isinstance(node, Call) and isinstance(node.function, Attribute):
        reduced = node.function.name in _REDUCTIONS and not node.arguments
        first = node.arguments[0] if node.arguments else None
        empty = isinstance(first, Display) and not first.elements
        if reduced or node.function.name == "reshape" and empty:
            return node
    if isinstance(node, (Binary, Name, Compare)):
        return node
    made = Call(Attribute(node, "reshape"), [Display("tuple", [])])
    made.value = node.value
    return made


# --- extrema and reductions -----------------------------------------------------------------------


def _extremum(name: str, arguments: list[Expression]) -> Expression:
    """Python keeps the first of two that do not compare: `min(1.0, nan)` is 1.0."""
    if len(arguments) > 2 or not all(_is_simple(argument) for argument in arguments):
        return Call(Support(f"python_{name}"), arguments)
    a, b = arguments
    test = told(Compare([clone(b), clone(a)], ["<" if name == "min" else ">"]))
    return Call(expression("jnp.where"), [test, b, a])


def _is_simple(node: Expression) -> bool:
    return isinstance(node, Constant) or dotted(node) is not None


def _reduced(o: Operators, node: Call, name: str) -> None:
    """`any(x)`, `max(losses)` of an array, or of a list of arrays without dimensions."""
    of, known = node.arguments[0], value(node.arguments[0])
    if isinstance(of, Comprehension):
        whole = of.kind in ("list", "generator") and traced(of.element)
    elif isinstance(of, Display):
        whole = any(traced(element) for element in of.elements)
    else:
        element = known.element if isinstance(known, Sequence) else None
        whole = isinstance(element, Tensor) and not element.assumed and not element.none
    if not whole and not traced(of):
        return

    def make(node: Call) -> Expression:
        of = node.arguments[0]
        if whole and name in ("min", "max"):
            # Python compares them in turn: of equal ones it keeps the first
            stars = [Starred(of)]
            listed = isinstance(of, Display) and not any(
                isinstance(e, Starred) for e in of.elements
            )
            return Call(Support(f"python_{name}"), of.elements if listed else stars)  # type: ignore[attr-defined]
        return Call(Attribute(_array(of) if whole else of, name))

    o.changes.replace(node, make)


def _array(of: Expression) -> Expression:
    """What a list or generator holds as one array."""
    if isinstance(of, Comprehension) and of.kind == "generator":
        of = Comprehension("list", None, of.element, of.clauses)
    return Call(expression("jnp.array"), [of])
