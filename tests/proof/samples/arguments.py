"""What arguments a torch function takes, by its schema or by the signature of its rule, and what
may be given for them."""

import ast
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .calls import Call
from .targets import Target

TRIES = 3000  # calls that are tried for a function of which there is none to begin with
KINDS = {
    "Tensor": "tensor",
    "List[Tensor]": "tensors",
    "int": "int",
    "SymInt": "int",
    "List[int]": "ints",
    "List[SymInt]": "ints",
    "float": "number",
    "number": "number",
    "bool": "bool",
    "str": "string",
    "ScalarType": "dtype",
}
IGNORED = frozenset("out generator device layout pin_memory memory_format non_blocking".split())


@dataclass(frozen=True)
class Argument:
    """One argument: its name for torch, a kind of KINDS or "other", and whether it must be
    given."""

    name: str
    kind: str
    required: bool
    default: Any
    keyword: bool  # only by its name


def of(target: Target, rules: Iterable[Callable[..., Any]]) -> list[list[Argument]]:
    """The arguments of each overload of torch's; those of the rules where torch has no schema
    under this name."""
    path = target.operation.replace("nn.functional.", "").replace(".", "_")
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{path}")
    found = [_of_schema(schema) for schema in schemas]
    written = [] if target.name.startswith("torch.Tensor.") else _annotations(target.function)
    return [some for some in found if some] or [_of_rule(rule, dict(written)) for rule in rules]


def _annotations(function: Any) -> list[tuple[str, str]]:
    """The annotations of a function that torch has in Python, as words."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [(p.name, str(p.annotation)) for p in parameters if p.annotation is not p.empty]


def _of_schema(schema: Any) -> list[Argument]:
    """Nothing for the overloads that write into `out`, and for those of TorchScript's lists."""
    if any(a.is_out for a in schema.arguments) or not any(
        "Tensor" in str(a.type) for a in schema.arguments
    ):
        return []
    made = []
    for a in schema.arguments:
        kind = str(a.real_type).removeprefix("Optional[")
        kind = (
            kind[:-1]
            if kind.endswith("]") and not kind.startswith("List")
            else kind.replace("]]", "]")
        )
        given = a.has_default_value()
        nullable = str(a.real_type).startswith("Optional[")
        named = KINDS.get(kind, "other")
        made.append(
            Argument(a.name, named, not given and not nullable, a.default_value, a.kwarg_only)
        )
    return [a for a in made if a.name not in IGNORED]


def _of_rule(rule: Callable[..., Any], written: Mapping[str, str]) -> list[Argument]:
    """By the defaults and annotations of a rule, or by those `written` in torch: else a tensor."""
    made = []
    for p in inspect.signature(rule).parameters.values():
        if p.name in IGNORED or p.name == "key" or p.kind == p.VAR_KEYWORD:
            continue
        loose = p.kind == p.VAR_POSITIONAL
        default = None if p.default is p.empty else p.default
        required = p.default is p.empty and not loose
        kind = "ints" if loose else _kind(p.name, written.get(p.name, p.annotation), default)
        made.append(Argument(p.name, kind, required, default, p.kind == p.KEYWORD_ONLY))
    return made


def _kind(name: str, annotation: Any, default: Any) -> str:
    word = str(getattr(annotation, "__name__", annotation))
    word = word.removeprefix("<class '").removeprefix("typing.Optional[")
    for wanted, kind in (("bool", "bool"), ("int", "int"), ("float", "number"), ("str", "string")):
        if word.startswith(wanted) or type(default).__name__ == wanted:
            return kind
    if "dtype" in name:
        return "dtype"
    if name in ("dim", "axis", "dim0", "dim1", "k", "n", "num_classes"):
        return "int"
    return "tensors" if name in ("tensors", "sequences") else "tensor"


def strings(rules: Iterable[Callable[..., Any]]) -> list[str]:
    """The strings that rules compare their arguments with: "mean", "sum", "none"."""
    found: dict[str, None] = {}
    for rule in rules:
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(rule)))
        except (OSError, TypeError, SyntaxError):
            continue
        for compared in (n for n in ast.walk(tree) if isinstance(n, ast.Compare)):
            constants = (n.value for n in ast.walk(compared) if isinstance(n, ast.Constant))
            found |= {value: None for value in constants if isinstance(value, str)}
    return [*found] or ["mean", "sum", "none"]


def values(argument: Argument, words: list[str], like: Any) -> list[Any]:
    """What may be given for an argument, beside a tensor `like` which another argument is."""
    options: dict[str, list[Any]] = {
        "tensor": _tensors(like),
        "tensors": [[like, like], [like]],
        "int": [0, 1, -1, 2, 3],
        "ints": [(1,), (0, 1), (2, 2), 1, (2,), (-1,), (2, 3), ()],
        "number": [0.5, 2.0, 0.0, 2, 1],
        "bool": [True, False],
        "string": [*words],
        "dtype": [torch.float64, torch.float32, torch.int64],
    }
    found = options.get(argument.kind, [])
    return [v for v in found if argument.required or not _same(v, argument.default)]


def _same(value: Any, default: Any) -> bool:
    return (
        type(value) is type(default)
        and not isinstance(value, torch.Tensor)
        and bool(value == default)
    )


def _tensors(like: Any) -> list[Any]:
    """Tensors of shapes and dtypes that an argument beside another may have."""
    half = torch.tensor(0.5, dtype=like.dtype)
    made = [like.flip(0) if like.ndim else like + 1, half, torch.ones_like(like)]
    for axis in dict.fromkeys((-1, 1, 0)):
        if like.ndim > abs(axis):
            made.append(
                torch.linspace(0.5, 2, like.shape[axis], dtype=torch.float64).to(like.dtype)
            )
    return [
        *made,
        torch.zeros_like(like, dtype=torch.int64),
        like > 0 if not like.is_complex() else half,
    ]


FIRST = ((2, 3), (3,), (3, 3), (2, 3, 4), (1, 2, 6, 6), ())


def first_calls(
    target: Target, signatures: list[list[Argument]], words: list[str]
) -> Iterator[Call]:
    """Calls that torch may take, found by trying, for a function of which there are no samples."""
    for signature in signatures:
        required = [a for a in signature if a.required]
        if not any(a.kind in ("tensor", "tensors") for a in required):
            continue
        for shape in FIRST:
            like = filled(shape)
            choices = [[like] if i == 0 else values(a, words, like) for i, a in enumerate(required)]
            if required[0].kind == "tensors":
                choices[0] = [[like, like.flip(0) if like.ndim else like]]
            accepted = (given for given in _tried(choices) if _takes(target, required, given))
            for given in itertools.islice(accepted, 2):
                yield _call(required, given)


def _tried(choices: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    return itertools.islice(itertools.product(*choices), TRIES // len(FIRST))


def _call(required: list[Argument], given: tuple[Any, ...]) -> Call:
    args = [v for a, v in zip(required, given) if not a.keyword]
    return Call(tuple(args), {a.name: v for a, v in zip(required, given) if a.keyword})


def _takes(target: Target, required: list[Argument], given: tuple[Any, ...]) -> bool:
    call = _call(required, given).mapped(lambda t: t.clone())
    try:
        target.function(*call.args, **call.kwargs)
    except Exception:
        return False
    return True


def filled(shape: tuple[int, ...]) -> Any:
    """A tensor in float64 of numbers between -2 and 2, none of them 0 and no two the same."""
    generator = torch.Generator().manual_seed(len(shape))
    numbers = torch.rand(shape, generator=generator, dtype=torch.float64)
    return numbers * 4 - 2
