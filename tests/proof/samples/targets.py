"""What a rule's torch name stands for: the function that torch runs, by its path, its method, its
property, its part of a tuple."""

import functools
import importlib
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

# functions whose results are drawn or not set: compared in shape and dtype alone. Others are found
# to draw by two runs.
UNSET = frozenset(
    "empty empty_like new_empty new_empty_strided empty_strided empty_permuted".split()
)
FORM = re.compile(r"\[(\w+)\]$")
# `name[compared]` is the function itself where no gradient passes, `name[0]` a part of what it
# returns
SAME = {"compared": "the rule for comparisons, where no gradient passes"}


class NotATarget(ValueError):
    """A name that no function of torch's has."""


@dataclass(frozen=True)
class Target:
    """A torch name, the function that gives torch's answer, and how OpInfo calls it."""

    name: str
    function: Callable[..., Any]
    operation: str
    differentiable: bool = True

    @property
    def unset(self) -> bool:
        return self.operation in UNSET


def find(name: str) -> Target:
    """The function for a rule's name. Raises NotATarget where torch has none of it, or where only
    the engine asks by it."""
    form = FORM.search(name)
    if form is not None:
        return _of_form(name[: form.start()], form[1], name)
    value, attribute = _value(name), name.rpartition(".")[2]
    if value is None:
        return _part(name)
    if name.startswith("torch.Tensor.") and not callable(value):
        return Target(name, operator.attrgetter(attribute), attribute)
    if not callable(value):
        raise NotATarget(f"{name} is a value, not a function")
    return Target(name, value, operation(name))


def _of_form(plain: str, form: str, name: str) -> Target:
    """The function for `torch.abs[compared]` or `torch.max[0]`."""
    if form in SAME:
        found = find(plain)
        return Target(name, found.function, found.operation, differentiable=False)
    if form.isdigit():
        found = find(plain)
        return Target(name, _then(found.function, operator.itemgetter(int(form))), found.operation)
    raise NotATarget(
        f"{name}: only the engine asks for [{form}]; tests/test_lines.py is the place to check it"
    )


def _part(name: str) -> Target:
    """The function for `torch.max.values`."""
    plain, _, attribute = name.rpartition(".")
    if plain == "torch" or not plain or not callable(_value(plain)):
        raise NotATarget(f"torch {torch.__version__} has no {name}")
    found = find(plain)
    return Target(name, _then(found.function, operator.attrgetter(attribute)), found.operation)


def _then(function: Callable[..., Any], last: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def both(*args: Any, **kwargs: Any) -> Any:
        return last(function(*args, **kwargs))

    return both


def _value(name: str) -> Any:
    """What stands under a dotted name, whose first parts may have to be imported; None if nothing
    does."""
    first, *rest = name.split(".")
    try:
        value: Any = importlib.import_module(first)
    except ImportError:
        return None
    for number, part in enumerate(rest):
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                value = importlib.import_module(".".join([first, *rest[: number + 1]]))
            except ImportError:
                return None
    return value


def operation(name: str) -> str:
    """The name that OpInfo has for it: `add` for torch.Tensor.add, `nn.functional.relu` for
    torch.nn.functional.relu."""
    return name.removeprefix("torch.").removeprefix("Tensor.").removeprefix("functional.")
