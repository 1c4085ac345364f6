"""What code says on a side of a branch on data: it says so when it runs, and not when it is traced.

print("small")                  jax.debug.print("small")
logger.warning(f"{x}")          jax.debug.callback(lambda x: logger.warning(f"{x}"), x)
"""

from collections.abc import Callable

from ...facts.bindings import read
from ...model.expressions import Attribute, Call, Constant, Lambda, Name, Starred
from ...model.names import dotted
from ...model.node import Expression
from ...model.program import Parameter

_LEVELS = frozenset("debug info warning warn error critical log exception warning_once".split())


def waiting(call: Call, traced: Callable[[str], bool]) -> Callable[[Call], Expression] | None:
    """What a call becomes that prints or warns; None for others, and what prints elsewhere."""
    word = dotted(call.function) or ""
    if word == "print" and call.arguments:
        plain = all(k is None for k in call.keywords)
        plain = plain and not any(isinstance(a, Starred) for a in call.arguments)
        return _printed if plain else None
    if not _logs(word):
        return None
    names = [name for name in dict.fromkeys(read(call)) if traced(name)]
    return lambda call: _called_back(call, names)


def _logs(word: str) -> bool:
    """`logger.warning("…")`, `warnings.warn("…")`"""
    head, _, last = word.rpartition(".")
    logging = last in _LEVELS and any(w in head.lower() for w in ("log", "warnings"))
    return logging or word == "warn"


def _printed(call: Call) -> Expression:
    words: list[str] = []
    values: list[Expression] = []
    for argument in call.arguments:
        if isinstance(argument, Constant) and isinstance(argument.constant, str):
            words.append(argument.constant.replace("{", "{{").replace("}", "}}"))
        else:
            words.append("{}")
            values.append(argument)
    return Call(_debug("print"), [Constant(" ".join(words)), *values])


def _called_back(call: Call, names: list[str]) -> Expression:
    parameters = [Parameter(name) for name in names]
    given = [Name(name) for name in names]
    return Call(_debug("callback"), [Lambda(parameters, call), *given])


def _debug(word: str) -> Expression:
    return Attribute(Attribute(Name("jax"), "debug"), word)
