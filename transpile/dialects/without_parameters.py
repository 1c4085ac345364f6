"""A definition of a support file without parameters that are constants, and without what only they
reach.

What holds nothing that is known stays as it is written.
"""

import ast
import copy
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence

from ..source.fragments import below
from .constant_expressions import Constants, Fold, Gone, decided

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
Edit = tuple[int, int, str]  # from, to, what stands there instead: in bytes


def without(
    text: str, function: ast.FunctionDef | None, own: Constants, gone: Gone, fixed: Constants
) -> str:
    """The text of a definition; `function`: what a call of it runs, which loses its parameters
    `own`; `gone`: what the calls in it give no more; `fixed`: the attributes that it loses."""
    node = ast.parse(text).body[0]
    inside = range(function.lineno, (function.end_lineno or 0) + 1) if function is not None else ()
    bound = set(own) & _bound(function) if own and function is not None else set()
    known = {n: value for n, value in own.items() if n not in bound}

    def changed(part: ast.AST, line: int) -> ast.AST:
        return Fold(known if line in inside else {}, gone, fixed).folded(part)

    edits = _rewritten(text, node, changed, {*known, *gone}, fixed)
    if function is not None and own:
        edits.append(_header(text, function, own, bound))
    text = _applied(text, edits)
    while edits := _structure(text):
        text = _applied(text, edits)
    return text


def set_on_self(statement: ast.stmt) -> str | None:
    """`self.a = …`, or the field `a: int`: the name."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if len(targets) != 1 or not isinstance(target := targets[0], ast.Attribute):
        return None
    return target.attr if getattr(target.value, "id", "") == "self" else None


def _applied(text: str, edits: Sequence[Edit]) -> str:
    whole = text.encode()
    for start, end, new in sorted(edits, reverse=True):
        whole = whole[:start] + new.encode() + whole[end:]
    return whole.decode()


# --- expressions ----------------------------------------------------------------------------------


def _rewritten(
    text: str,
    node: ast.stmt,
    changed: Callable[[ast.AST, int], ast.AST],
    names: Collection[str],
    fixed: Constants,
) -> list[Edit]:
    """The edits of the expressions in which something is known: `names`, or fixed attributes."""
    edits = []
    at = _offsets(text)
    for part in _whole(node):
        if isinstance(part, ast.stmt) and set_on_self(part) in fixed:
            edits.append((at(part.lineno, 0), at((part.end_lineno or 0) + 1, 0), ""))
            continue
        if not any(_is_named(n, names, fixed) for n in ast.walk(part)):
            continue
        new = changed(copy.deepcopy(part), part.lineno)
        new = decided(new) if isinstance(new, ast.BoolOp) and _is_test(part, node) else new
        if ast.dump(new) != ast.dump(part):
            start, end = at(part.lineno, part.col_offset), at(part.end_lineno, part.end_col_offset)
            said = _said(ast.fix_missing_locations(new))
            edits.append((start, end, said if '"' in said else said.replace("'", '"')))
    return edits


def _is_test(part: ast.AST, inside: ast.AST) -> bool:
    tests = (n.test for n in ast.walk(inside) if isinstance(n, (ast.If, ast.While)))
    return any(test is part for test in tests)


def _is_named(node: ast.AST, names: Collection[str], attributes: Collection[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Attribute) and node.attr in attributes


def _said(node: ast.AST) -> str:
    """The text of a node, of a tuple of several without parentheses."""
    if isinstance(node, ast.Assign):
        return " = ".join(map(_plain, [*node.targets, node.value]))
    if isinstance(node, ast.Return) and node.value is not None:
        return f"return {_plain(node.value)}"
    return ast.unparse(node)


def _plain(node: ast.expr) -> str:
    several = isinstance(node, ast.Tuple) and len(node.elts) > 1
    return ", ".join(map(ast.unparse, node.elts)) if several else ast.unparse(node)  # type: ignore[attr-defined]


def _whole(statement: ast.stmt) -> Iterator[ast.stmt | ast.expr]:
    """The plain statements in a definition, and the expressions that others have of their own."""
    if not hasattr(statement, "body"):
        yield statement
        return
    for name, value in ast.iter_fields(statement):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.stmt):
                yield from _whole(part)
            elif isinstance(part, ast.ExceptHandler):
                for inner in part.body:
                    yield from _whole(inner)
            elif isinstance(part, ast.expr) and name not in ("decorator_list", "bases"):
                yield part
            elif isinstance(part, ast.withitem):
                yield part.context_expr


def _offsets(text: str) -> Callable[[int | None, int | None], int]:
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return lambda line, column: starts[(line or 1) - 1] + (column or 0)


# --- statements -----------------------------------------------------------------------------------


def _bound(function: ast.FunctionDef) -> set[str]:
    """The names that get a value in a function, and the parameters of those inside."""
    found, own = set[str](), _arguments(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg) and node not in own:
            found.add(node.arg)
    return found


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    a = function.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs]


def _header(text: str, function: ast.FunctionDef, own: Constants, bound: set[str]) -> Edit:
    """A function without parameters; those that are `bound` anew are so from the beginning."""
    arguments = copy.deepcopy(function.args)
    both = [*arguments.posonlyargs, *arguments.args]
    kept = [a.arg not in own for a in both][len(both) - len(arguments.defaults) :]
    arguments.defaults = [d for d, stays in zip(arguments.defaults, kept) if stays]
    arguments.args = [a for a in arguments.args if a.arg not in own]
    words = zip(arguments.kwonlyargs, arguments.kw_defaults)
    pairs = [(a, d) for a, d in words if a.arg not in own]
    arguments.kwonlyargs, arguments.kw_defaults = [a for a, _ in pairs], [d for _, d in pairs]
    at, lines, body = _offsets(text), text.splitlines(keepends=True), function.body
    end = body[0].lineno - 1
    while not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#"):
        end -= 1
    result = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    made = f"def {function.name}({ast.unparse(arguments)}){result}:\n"
    texts = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    if texts and bound:
        made += "".join(lines[end : body[0].end_lineno])
        end = body[0].end_lineno or 0
    indent = " " * body[0].col_offset
    made += "".join(f"{indent}{name} = {ast.unparse(own[name])}\n" for name in sorted(bound))
    return at(function.lineno, function.col_offset), at(end + 1, 0), made


def _structure(text: str) -> list[Edit]:
    """The edit of one statement that never runs, or one branch that always does."""
    lines = text.splitlines(keepends=True)
    for block in _blocks(ast.parse(text).body[0]):
        for i, statement in enumerate(block):
            if (test := _asked_of(statement, block[i + 1 :])) is not None:
                at, gone = _offsets(text), statement
                start = at(test.lineno, test.col_offset)
                asked = start, at(test.end_lineno, test.end_col_offset), "True"
                return [asked, *_lines(text, gone.lineno - 1, gone.end_lineno or 0, [])]
            if isinstance(statement, _ENDS) and i + 1 < len(block):
                return _lines(text, statement.end_lineno or 0, block[-1].end_lineno or 0, [])
            if isinstance(statement, ast.If) and isinstance(statement.test, ast.Constant):
                taken = statement.body if statement.test.value else statement.orelse
                return _branch(text, lines, statement, taken, len(block) == 1)
    return []


def _asked_of(statement: ast.stmt, after: Sequence[ast.stmt]) -> ast.expr | None:
    """`w is None` of `if w is None: w = …` after `w = None`, and nothing with `w` in between."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or statement.value.value is not None:
        return None
    named = (s for s in after if any(getattr(n, "id", "") == target.id for n in ast.walk(s)))
    first = next(named, None)
    if not isinstance(first, ast.If) or ast.unparse(first.test) != f"{target.id} is None":
        return None
    binds = any(
        isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == target.id for s in first.body
    )
    return first.test if binds and len(statement.targets) == 1 else None


def _branch(
    text: str, lines: list[str], statement: ast.If, taken: list[ast.stmt], alone: bool
) -> list[Edit]:
    """The branch that is taken in the place of an `if`."""
    first, last = statement.lineno - 1, statement.end_lineno or 0
    is_elif = lines[first].lstrip().startswith("elif")
    indent = " " * statement.col_offset
    if not taken:
        while lines[first - 1].lstrip().startswith("#") and not is_elif:
            first -= 1
        return _lines(text, first, last, [f"{indent}pass\n"] if alone and not is_elif else [])
    start, end = taken[0].lineno - 1, taken[-1].end_lineno or 0
    if lines[start].lstrip().startswith("elif"):  # what is left begins with the other test
        word = "elif" if is_elif else "if"
        own = lines[start].lstrip().removeprefix("elif")
        return _lines(text, first, end, [f"{indent}{word}{own}", *lines[start + 1 : end]])
    while lines[start - 1].lstrip().startswith("#"):
        start -= 1
    deeper = len(lines[start]) - len(lines[start].lstrip()) - statement.col_offset
    inner = [line[deeper:] if line.strip() else line for line in lines[start:end]]
    if is_elif:
        inner = [f"{indent}else:\n", *lines[start:end]]
    return _lines(text, first, last, inner)


def _lines(text: str, first: int, last: int, new: list[str]) -> list[Edit]:
    at = _offsets(text)
    return [(at(first + 1, 0), at(last + 1, 0) if last else 0, "".join(new))]


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    todo = deque([node])
    while todo:
        part = todo.popleft()
        for name in ("body", "orelse", "finalbody"):
            if block := getattr(part, name, None):
                yield block
        todo.extend(below(part))
