"""Tests of dtypes: one object with one name in torch, several that are equal in JAX.

x.dtype is torch.bool               ->  x.dtype == bool
x.type() == "torch.DoubleTensor"    ->  x.dtype == jnp.float64
str(x.dtype).startswith("torch.f")  ->  x.dtype in (jnp.float16, …)
"""

from dataclasses import dataclass

from ...facts.values.lattice import NONE, External, Static, Tensor, Torch, Value
from ...model.expressions import Attribute, Call, Constant, Display, Name
from ...model.node import Expression
from ...model.operators import Compare
from ...source.lower_ast import expression
from .conversion import Conversion
from .literals import known, literal
from .specialise import Refused

_IS = {"is": "==", "is not": "!="}
_SAME = {"==": "==", "!=": "!=", "in": "==", "not in": "!="}
_AMONG = {"==": "in", "!=": "not in", "in": "in", "not in": "not in"}
INT_DTYPE = "jnp.result_type(int)"  # `int` alone is int64 to NumPy, also where arrays have 32 bits


@dataclass(frozen=True)
class Subject:
    """What is compared: a dtype by itself, by `str(…)`, or by `.type()` of a tensor."""

    node: Expression
    form: str  # "dtype", "str" or "type"

    def now(self, operand: Expression) -> Expression:
        """The dtype in what an operand has become."""
        inner = self.form == "str" and isinstance(operand, Call)
        return operand.arguments[0] if inner and isinstance(operand, Call) else operand

    def may_be(self, texts: list[str]) -> bool:
        """Whether it is compared with names of torch's: `config.dtype == "torch.float16"` is the
        user's own string.
        """
        if self.form == "dtype":  # of an earlier `x.type()`
            types = all(t.startswith("torch.") and t.endswith("Tensor") for t in texts)
            return isinstance(self.node, Name) and types
        return any(t.startswith("torch.") for t in texts)

    def names(self, c: Conversion) -> list[str]:
        """All that torch may call it, on a CPU."""
        constants = c.rulebook.constants
        if self.form == "type":
            types = [n for n in constants if n.endswith("Tensor[dtype]") and ".cuda." not in n]
            return [name.removesuffix("[dtype]") for name in types]
        sized = [n for n in constants if c.rulebook.is_dtype(n) and n[-1:].isdigit()]
        return [*sized, "torch.bool"]


def subject_of(c: Conversion, node: Expression) -> Subject | None:
    """The dtype that an expression asks for."""
    if isinstance(node, Call) and len(node.arguments) == 1:
        if known(node.function) in (External("builtins.str"), External("builtins.repr")):
            inner = node.arguments[0]
            return Subject(inner, "str") if is_dtype(c, known(inner)) else None
    if is_type_call(node):
        return Subject(node, "type")
    return Subject(node, "dtype") if is_dtype(c, known(node)) else None


def is_type_call(node: Expression) -> bool:
    """`x.type()` of a tensor."""
    if not isinstance(node, Call) or node.arguments or not isinstance(node.function, Attribute):
        return False
    tensor = isinstance(known(node.function.object), Tensor)
    return node.function.name == "type" and tensor


def is_dtype(c: Conversion, value: Value) -> bool:
    """Whether a value is a dtype, torch's own or one that only the run tells."""
    if isinstance(value, Torch):
        return c.rulebook.is_dtype(value.name)
    return isinstance(value, Static) and value.type == "dtype"


# --- comparisons ----------------------------------------------------------------------------------


def compared(c: Conversion, node: Compare) -> bool:
    """A comparison by what holds of JAX's dtypes in the place of identity and of torch's names.
    Raises Refused.
    """
    words = _equal(c, node)
    if len(words) == 1 and words[0] in _SAME:
        if _by_name(c, node, words[0]) or _by_dtype(c, node, words[0]):
            return True
    if words != node.operators:
        c.changes.replace(node, lambda n: Compare(n.operands, words))
        c.visit_compared(node.children())
        return True
    return False


def _equal(c: Conversion, node: Compare) -> list[str]:
    """`==` for the `is` between dtypes."""
    words = []
    for before, word, after in zip(node.operands, node.operators, node.operands[1:]):
        values = [known(before), known(after)]
        dtypes = any(is_dtype(c, v) for v in values) and NONE not in values
        plain = dtypes and not any(isinstance(v, External) for v in values)
        words.append(_IS.get(word, word) if plain else word)
    return words


def _by_name(c: Conversion, node: Compare, word: str) -> bool:
    """The comparison of a dtype's name."""
    left, right = node.operands
    first, second = subject_of(c, left), subject_of(c, right)
    if first is not None and second is not None:
        return _of_two(c, node, word, first, second)
    subject, other, at = (first, right, 0) if first is not None else (second, left, 1)
    if subject is None:
        return False
    texts = _texts(other)
    if texts is not None and at == 1 and word in ("in", "not in"):  # `"cuda" in x.type()`
        if subject.form == "dtype" or subject.form == "str" and "torch" not in texts[0]:
            return False
        holding = [name for name in subject.names(c) if texts[0] in name]
        return put_one_of(c, node, subject, at, dtypes_named(c, holding), word)
    if texts is not None:
        found = dtypes_named(c, texts) if subject.may_be(texts) else None
        return found is not None and put_one_of(c, node, subject, at, found, word)
    if subject.form == "type" or subject.form == "str" and _of_tensor(subject.node):
        raise Refused("the name of a dtype is another here: compare dtypes")
    return False


def _of_two(c: Conversion, node: Compare, word: str, first: Subject, second: Subject) -> bool:
    """`x.type() == y.type()`: the dtypes themselves."""
    if first.form != second.form or first.form == "dtype":
        return False

    def make(n: Compare) -> Compare:
        return Compare([first.now(n.operands[0]), second.now(n.operands[1])], [word])

    c.changes.replace(node, make)
    c.visit_compared(node.children())
    return True


def put_one_of(
    c: Conversion, node: Expression, subject: Subject, at: int, dtypes: list[str], word: str
) -> bool:
    """Put `subject == dtype`, or `subject in (…)`, in the place of a test; False for no dtypes."""

    def make(n: Expression) -> Expression:
        operands = n.operands if isinstance(n, Compare) else _receiver(n)
        return one_of(subject.now(operands[at]), dtypes, word)

    c.changes.replace(node, make)
    c.visit(subject.node)
    return True


def _receiver(node: Expression) -> list[Expression]:
    """The x.type() of `x.type().startswith("torch.cuda")`."""
    assert isinstance(node, Call) and isinstance(node.function, Attribute)
    return [node.function.object]


def one_of(subject: Expression, dtypes: list[str], word: str) -> Expression:
    if not dtypes:
        return Constant(word not in ("in", "=="))
    made = [expression(dtype) for dtype in dtypes]
    if len(made) == 1:
        return Compare([subject, made[0]], [_SAME[word]])
    return Compare([subject, Display("tuple", made)], [_AMONG[word]])


def dtypes_named(c: Conversion, names: list[str]) -> list[str]:
    """The dtypes by these names of torch's, each once. Raises Refused."""
    found = []
    for name in names:
        text = c.rulebook.constant(f"{name}[dtype]")
        if text is None and c.rulebook.is_dtype(name):
            text = c.rulebook.constant(name)
        if text is None:
            raise Refused(f"no dtype here is called {name}")
        found.append(INT_DTYPE if text == "int" else text)
    return list(dict.fromkeys(found))


def _texts(node: Expression) -> list[str] | None:
    """The strings that are written out in a literal or a display of such."""
    parts = node.elements if isinstance(node, Display) else [node]
    texts = [literal(part) for part in parts]
    return texts if texts and all(isinstance(text, str) for text in texts) else None


# --- dtypes of tensors ----------------------------------------------------------------------------


def _by_dtype(c: Conversion, node: Compare, word: str) -> bool:
    """`x.dtype == torch.long` and `x.dtype in {torch.half, torch.float}`, whose hashes are not
    equal where they are.
    """
    if not _of_tensor(node.operands[0]):
        return False
    right = node.operands[1]
    parts = right.elements if isinstance(right, Display) else [right]
    is_set = isinstance(right, Display) and right.kind == "set"
    whole = [part for part in parts if _follows(c, part)]
    if not whole and not is_set:
        return False
    for part in parts:
        c.put(part, expression(INT_DTYPE)) if part in whole else c.visit(part)
    if is_set:
        c.changes.replace(right, lambda n: Display("list", n.elements))
    if word != node.operators[0]:
        c.changes.replace(node, lambda n: Compare(n.operands, [word]))
    c.visit(node.operands[0])
    return True


def _follows(c: Conversion, node: Expression) -> bool:
    """torch.int64 is what arrays of it are: of 32 bits where jax_enable_x64 is off."""
    value = known(node)
    dtype = isinstance(value, Torch) and c.rulebook.is_dtype(value.name)
    return dtype and isinstance(value, Torch) and c.rulebook.constant(value.name) == "int"


def _of_tensor(node: Expression) -> bool:
    """`x.dtype` of a tensor, or its `x.type()`."""
    if is_type_call(node):
        return True
    dtype = isinstance(node, Attribute) and node.name == "dtype"
    return dtype and isinstance(node, Attribute) and isinstance(known(node.object), Tensor)


def asked(c: Conversion, node: Call) -> bool:
    """`x.type().startswith("torch.cuda")`. Raises Refused."""
    function = node.function
    if not isinstance(function, Attribute) or function.name not in ("startswith", "endswith"):
        return False
    subject = subject_of(c, function.object)
    text = literal(node.arguments[0]) if len(node.arguments) == 1 else None
    if subject is None or subject.form == "dtype" or not isinstance(text, str):
        return False
    if subject.form == "str" and "torch" not in text:
        return False  # torch.float32 and float32 end alike
    names = [name for name in subject.names(c) if getattr(name, function.name)(text)]
    return put_one_of(c, node, subject, 0, dtypes_named(c, names), "in")
