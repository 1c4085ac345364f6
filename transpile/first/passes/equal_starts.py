"""A module that a constructor gives the weights of another, made by the same call, is a copy of it.

    self.encoder_q = encoder(dim)                                        self.encoder_q = encoder(dim)
    self.encoder_k = encoder(dim)                                  ->    self.encoder_k = copy.deepcopy(self.encoder_q)
    for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
        k.data.copy_(q.data)

So does `self.target.load_state_dict(self.online.state_dict())`. What the constructor changes in both alike is changed once.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree


def run(module: cst.Module) -> cst.Module:
    """Rewrite the constructors of one file."""
    new = tree.rewrite(module, None, lambda n: _constructor(n) if n.__class__ is cst.FunctionDef and n.name.value == "__init__" else n, only={cst.FunctionDef})
    if new is module or any(tree.code(a.name) == "copy" and a.asname is None for n in tree.nodes(new, cst.Import) for a in n.names):
        return new  # type: ignore[no-any-return]
    at = next((i for i, s in enumerate(new.body) if not tree.is_docstring(s) and "__future__" not in tree.code(s)), 0)
    return tree.replace(new, body=[*new.body[:at], tree.statement("import copy"), *new.body[at:]])  # type: ignore[no-any-return]


def _constructor(node: cst.FunctionDef) -> cst.FunctionDef:
    body = tree.body_statements(node)
    for i, statement in enumerate(body):
        pair = _given_weights(statement)
        made = _made_alike(body[:i], *pair) if pair is not None else None
        if pair is None or made is None:
            continue
        source, copied = pair
        line = tree.statement(f"{copied} = copy.deepcopy({source})")
        line = tree.replace(line, leading_lines=statement.leading_lines)
        return _constructor(tree.with_body(node, [*made, line, *_frozen(statement, copied), *body[i + 1 :]]))
    return node


def _given_weights(statement: Any) -> tuple[str, str] | None:
    """The module that gives its weights, and the one that takes them: "self.encoder_q", "self.encoder_k"."""
    small = tree.only_small(statement)
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) and len(small.value.args) == 1:
        target, _, function = (tree.dotted(small.value.func) or "").rpartition(".")
        given = small.value.args[0].value
        source, _, asked = (tree.dotted(given.func) or "").rpartition(".") if isinstance(given, cst.Call) else ("", "", "")
        return (source, target) if function == "load_state_dict" and asked == "state_dict" and _is_own(source, target) else None
    return _copied_in_turns(statement) if isinstance(statement, cst.For) else None


def _copied_in_turns(loop: cst.For) -> tuple[str, str] | None:
    """The modules of a loop over the parameters of both, that copies those of one."""
    iterated: Any = loop.iter
    if not isinstance(iterated, cst.Call) or tree.dotted(iterated.func) != "zip" or len(iterated.args) != 2 or not isinstance(loop.target, cst.Tuple):
        return None
    calls: list[Any] = [a.value for a in iterated.args]
    owners = [(tree.dotted(c.func) or "").removesuffix(".parameters") if isinstance(c, cst.Call) and not c.args and (tree.dotted(c.func) or "").endswith(".parameters") else "" for c in calls]
    names = [tree.code(e.value) for e in loop.target.elements]
    lines = [_text(s) for s in tree.body_statements(loop)]
    for (a, b), (source, target) in (((0, 1), owners), ((1, 0), owners[::-1])):
        q, k = names[a], names[b]
        copies = {f"{k}.data.copy_({q}.data)", f"{k}.data.copy_({q})", f"{k}.copy_({q})", f"{k}.data = {q}.data", f"{k}.data = {q}.data.clone()"}
        if copies & set(lines) and set(lines) <= copies | {f"{k}.requires_grad = False"} and _is_own(source, target):
            return source, target
    return None


def _is_own(source: str, target: str) -> bool:
    return source.count(".") == 1 == target.count(".") and source.partition(".")[0] == target.partition(".")[0] and source != target


def _frozen(statement: Any, copied: str) -> list[Any]:
    """The loop that says that the copy is not trained."""
    if not isinstance(statement, cst.For) or ".requires_grad = False" not in tree.code(statement):
        return []
    return [tree.statement(f"for param in {copied}.parameters():\n    param.requires_grad = False\n")]


def _made_alike(statements: list[Any], source: str, copied: str) -> list[Any] | None:
    """The statements before, without what makes and changes the copy as the other is made and changed; None where there is more."""
    alike = {_text(s) for s in statements}
    kept: list[Any] = []
    dropped = False
    for statement in statements:
        if copied not in _read(statement):
            kept.append(statement)
        elif _text(statement).replace(copied, source) in alike:
            dropped = True
        else:
            inner = _made_alike(tree.body_statements(statement), source, copied) if isinstance(statement, cst.If) and statement.orelse is None else None
            if inner is None:
                return None
            kept.append(tree.with_body(statement, inner))
    return kept if dropped else None


def _text(statement: Any) -> str:
    """A statement without its comments."""
    return tree.code(tree.only_small(statement) or statement).strip()


def _read(statement: Any) -> set[str]:
    return {name for n in tree.nodes(statement, cst.Attribute) if (name := tree.dotted(n)) is not None}
