"""Names that mean the same in every function: what the user has under them gets another one.

    def forward(self, query, key):    →    def __call__(self, params, query, key_, *, key=None):

Whoever calls a model sees by these words what it takes: no parameter of the user's has one there.
"""

from collections.abc import Set

from ...facts.bindings.activity import bound
from ...model.effects import Apply, New
from ...model.expressions import Call, Name
from ...model.fresh_names import taken
from ...model.program import Function
from ...model.renaming import rename_locals
from ..fresh_names import fresh
from ..reports import Reports
from .signatures import Signatures
from .threaded import Threads


def rename_parameters(signatures: Signatures, words: Set[str], of_plain: Set[str]) -> None:
    """Give other names to the user's parameters and locals that are called as what a function
    takes; `words`: those of a dialect, `of_plain`: those that tell whoever calls a module of the
    user's alone, without a state, what it takes."""
    renamed: dict[Function, dict[str, str]] = {}
    for function in signatures.functions:
        parameters = {p.name for p in function.parameters}
        own = (parameters | set(bound(function.body))) & _taken_by(signatures.of(function))
        if _is_call(function, signatures):
            own |= parameters & of_plain if _is_plain(function, signatures) else parameters
        if own := own & words:
            known = taken(function)
            names = {name: fresh(f"{name}_", known) for name in sorted(own)}
            rename_locals(function, names)
            renamed[function] = names
    for function in signatures.functions:
        for call in function.nodes(Call, Apply, New):
            _respell(call, signatures, renamed, words)


def refuse_taken(signatures: Signatures, words: Set[str], reports: Reports) -> None:
    """Refuse the calls that have one of these words for something of the user's yet:
    `self.attn(query=x, key=x)`, of a class that is not known."""
    for function in signatures.functions:
        for call in list(function.nodes(Call, Apply, New)):
            if taken := _colliding(call, signatures, words):
                why = (
                    f"{min(taken)} is what a call gives here itself: give this one by its position"
                )
                reports.unconverted("unsupported", call, why)


def _is_call(function: Function, signatures: Signatures) -> bool:
    """Whether a function is the call of a model."""
    owner = function.owner
    return function.name == "__call__" and owner is not None and signatures.modules.is_module(owner)


def _is_plain(function: Function, signatures: Signatures) -> bool:
    """Whether a call has no state, and its class none of torch's layers above it."""
    assert function.owner is not None
    lineage = signatures.modules.lineage(function.owner)
    return not signatures.of(function).takes and not any(
        map(signatures.modules.is_library, lineage)
    )


def _is_ignored(word: str, function: Function) -> bool:
    """Whether a function takes a keyword among `**kwargs` that it does not read."""
    rest = {p.name for p in function.parameters if p.kind == "**"}
    named = word in {p.name for p in function.parameters}
    return bool(rest) and not named and not any(n.id in rest for n in function.nodes(Name))


def _taken_by(threads: Threads) -> set[str]:
    given = {"params": threads.params, "state": threads.takes}
    given |= {"key": threads.draws, "training": threads.mode}
    return {word for word, takes in given.items() if takes}


def _colliding(call: Call, signatures: Signatures, words: Set[str]) -> set[str]:
    """The keywords of a call that it also has for what is threaded."""
    given = {word for word in call.keywords if word is not None and word in words}
    return given & _taken_by(signatures.of_call(call)) if given else set()


def _name_of_all(
    word: str, signatures: Signatures, renamed: dict[Function, dict[str, str]]
) -> str | None:
    """What all modules that have a parameter of this name call it now: `module(x, params=given)` of
    a class that is not known."""
    modules = signatures.modules
    own = (f for f in signatures.functions if f.owner is not None and modules.is_module(f.owner))
    if any(word in {p.name for p in f.parameters} for f in own):
        return None
    names = {new[word] for new in renamed.values() if word in new}
    return names.pop() if len(names) == 1 else None


def _respell(
    call: Call, signatures: Signatures, renamed: dict[Function, dict[str, str]], words: Set[str]
) -> None:
    """Keywords of a call of one of these functions, and those that `**kwargs` takes unread."""
    if not any(call.keywords):
        return
    targets = signatures.targets(call) or []
    for word in sorted(_colliding(call, signatures, words)):
        if targets and all(_is_ignored(word, target) for target in targets):
            call.respell(call.arguments[call.keywords.index(word)], f"{word}_")
        elif not targets and (name := _name_of_all(word, signatures, renamed)) is not None:
            call.respell(call.arguments[call.keywords.index(word)], name)
    for target in targets:
        names = renamed.get(target, {})
        for argument, name in list(zip(call.arguments, call.keywords)):
            if name in names:
                call.respell(argument, names[name])
