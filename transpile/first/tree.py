"""Walking and rewriting LibCST trees, faster than its visitors and keeping what is unchanged by identity."""

from __future__ import annotations

import ast
import collections
import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

import libcst as cst
from libcst._nodes.internal import CodegenState

Node = TypeVar("Node", bound=cst.CSTNode)

_LAYOUT = ("whitespace", "leading_lines", "lines_after", "header", "footer", "indent", "lpar", "rpar", "comma")
_LAYOUT_FIELDS = frozenset({"semicolon", "operator", "colon", "dot", "equal", "asynchronous", "lbracket", "rbracket", "lbrace", "rbrace", "first_line", "second_colon", "first_colon", "newline", "comment", "star", "trailing_whitespace"})


@functools.cache
def fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Names of the fields of a node class that can hold code, as against layout, punctuation and plain text."""
    keep_operator = not issubclass(kind, (cst.NameItem, cst.ImportAlias))
    return tuple(
        f.name
        for f in dataclasses.fields(kind)
        if f.type not in (str, bool)
        and not f.name.startswith(_LAYOUT)
        and (f.name not in _LAYOUT_FIELDS or f.name == "star" and kind is cst.Parameters and keep_operator)
    )


class _Kinds(dict[type, int]):
    """What the values of fields are: 1 a node, 2 a list, 0 anything else. `isinstance` is slow to ask of abstract classes."""

    def __missing__(self, kind: type) -> int:
        found = self[kind] = 1 if issubclass(kind, cst.CSTNode) else 2 if kind in (list, tuple) else 0
        return found


class _Readers(dict[type, Callable[[Any], tuple[Any, ...]]]):
    """For each node class, what reads all its fields that hold code at once."""

    def __missing__(self, kind: type) -> Callable[[Any], tuple[Any, ...]]:
        names = fields(kind)
        if len(names) == 1:
            one = operator.attrgetter(*names)
            found: Callable[[Any], tuple[Any, ...]] = lambda node: (one(node),)
        else:
            found = operator.attrgetter(*names) if names else lambda node: ()
        self[kind] = found
        return found


class _Leaves(dict[type, bool]):
    """Whether nodes of a class have nothing below them: names and literals, half of all nodes."""

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = not fields(kind)
        return found


_KIND = _Kinds()
_READ = _Readers()
_LEAF = _Leaves()


def is_node(value: Any) -> bool:
    """isinstance(value, cst.CSTNode), which is an abstract class and slow to ask."""
    return _KIND[value.__class__] == 1


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The direct children that hold code, in the order of the fields."""
    found = []
    for value in _READ[node.__class__](node):
        kind = _KIND[value.__class__]
        if kind == 1:
            found.append(value)
        elif kind == 2:
            for item in value:
                if _KIND[item.__class__] == 1:
                    found.append(item)
    return found


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything below it, outer before inner."""
    stack = [node]
    pop, extend = stack.pop, stack.extend
    while stack:
        current = pop()
        yield current
        if _LEAF[current.__class__]:
            continue
        below = children(current)
        below.reverse()
        extend(below)


class _Holding(dict[type, bool]):
    """Whether nodes of a class can have definitions below them: statements and blocks, not lines and expressions."""

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = issubclass(kind, (cst.Module, cst.BaseCompoundStatement, cst.BaseSuite, cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchCase))
        return found


_HOLDS = _Holding()


def holds_definitions(node: cst.CSTNode) -> bool:
    """Whether there can be a function or class in a node, or it is one."""
    return _HOLDS[node.__class__]


class _Units(dict[type, bool]):
    """Whether nodes of a class are such as `kinds` is remembered for: statements, blocks and branches."""

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = _HOLDS[kind] or kind is cst.SimpleStatementLine
        return found


_UNIT = _Units()
_remembered: dict[int, tuple[cst.CSTNode, frozenset[type]]] | None = None  # with the node, so that its identity stays its own


@contextmanager
def remembering() -> Iterator[None]:
    """While it is active, what `kinds` finds is kept: a pass concerns few statements, and skips the others by it."""
    global _remembered
    before = _remembered
    _remembered = {} if before is None else before
    try:
        yield
    finally:
        _remembered = before


def kinds(node: cst.CSTNode) -> frozenset[type]:
    """The classes of the nodes at and below one."""
    known = _remembered.get(id(node)) if _remembered is not None else None
    if known is not None:
        return known[1]
    found: set[type] = {node.__class__}
    stack = children(node)
    while stack:
        current = stack.pop()
        kind = current.__class__
        if _UNIT[kind]:
            found |= kinds(current)
            continue
        found.add(kind)
        if not _LEAF[kind]:
            stack.extend(children(current))
    result = _same_set(frozenset(found))
    if _remembered is not None and _UNIT[node.__class__]:
        _remembered[id(node)] = node, result
    return result


def _present(statement: cst.CSTNode, wanted: Set[type]) -> Set[type]:
    """Which of some classes occur in a statement or block: perhaps all, where nothing is remembered and it costs too much to know."""
    return wanted if _remembered is None else wanted & kinds(statement)


@functools.lru_cache(maxsize=4096)
def _same_set(found: frozenset[type]) -> frozenset[type]:
    """One object for equal sets: statements are many, and their sets few."""
    return found


def nodes(node: cst.CSTNode, *wanted: type[Node]) -> Iterator[Node]:
    """What `walk` finds of these classes."""
    only = frozenset(wanted)
    stack: list[Any] = [node]
    while stack:
        current = stack.pop()
        kind = current.__class__
        if _UNIT[kind] and not _present(current, only):
            continue
        if kind in only:
            yield current
        if _LEAF[kind]:
            continue
        below = children(current)
        below.reverse()
        stack.extend(below)


def definitions(node: cst.CSTNode) -> Iterator[cst.FunctionDef | cst.ClassDef]:
    """The functions and classes in a node, nested ones included, outer before inner; expressions are not looked at."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, (cst.FunctionDef, cst.ClassDef)):
            yield current
        stack.extend(n for n in reversed(children(current)) if _HOLDS[n.__class__])


def walk_scope(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Like `walk`, but does not enter nested functions, classes and lambdas below the node."""
    stack = children(node)
    stack.reverse()
    while stack:
        current = stack.pop()
        yield current
        if current.__class__ not in _SCOPES:
            below = children(current)
            below.reverse()
            stack.extend(below)


def scope_nodes(node: cst.CSTNode, *wanted: type[Node]) -> Iterator[Node]:
    """What `walk_scope` finds of these classes."""
    only = frozenset(wanted)
    stack: list[Any] = children(node)
    stack.reverse()
    while stack:
        current = stack.pop()
        kind = current.__class__
        if _UNIT[kind] and not _present(current, only):
            continue
        if kind in only:
            yield current
        if kind in _SCOPES or _LEAF[kind]:
            continue
        below = children(current)
        below.reverse()
        stack.extend(below)


_SCOPES = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


def replace(node: Node, **changes: Any) -> Node:
    """`node.with_changes` without LibCST's validation of every field."""
    new = object.__new__(type(node))
    for name in _all_fields(type(node)):
        object.__setattr__(new, name, changes[name] if name in changes else getattr(node, name))
    return new


@functools.cache
def _all_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(f.name for f in dataclasses.fields(kind))


def same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two lists hold the same nodes, not only equal ones."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


Rewriter = Callable[[cst.CSTNode], Any]


def rewrite(node: Node, before: Rewriter | None = None, after: Rewriter | None = None, only: Set[type] | None = None) -> Any:
    """Rebuild a tree.

    `before(node)` may return a replacement, which is not entered, or None to go on below. `after(node)` gets a node whose
    children are done and returns it or a replacement. Either may return `cst.RemoveFromParent()` or, in a list of
    statements, a `cst.FlattenSentinel`. With `only` they are asked about nodes of these classes alone, and statements
    without any are not entered.
    """
    kind: type = node.__class__
    asked = only is None or kind in only
    inside = True
    if only is not None and _UNIT[kind]:
        present = _present(node, only)
        if not present:
            return node
        inside = not asked or kind is not cst.SimpleStatementLine or len(present) > 1  # no line is in a line
    if asked and before is not None:
        replacement = before(node)
        if replacement is not None:
            return replacement
    if not inside:
        return node if after is None else after(node)
    changes: dict[str, Any] = {}
    for i, value in enumerate(_READ[kind](node)):
        form = _KIND[value.__class__]
        if form == 1:
            new = rewrite(value, before, after, only)
            if new is not value:
                name = fields(kind)[i]
                changes[name] = None if isinstance(new, cst.RemovalSentinel) else _fit(node, name, new)
        elif form == 2 and value:
            items = _rewrite_items(value, before, after, only)
            if items is not None:
                changes[fields(kind)[i]] = items
    if changes:
        new_node = replace(node, **changes)
        if _carry is not None:
            _carry(node, new_node)
        node = new_node
    return after(node) if asked and after is not None else node


def _rewrite_items(items: Sequence[Any], before: Rewriter | None, after: Rewriter | None, only: Set[type] | None) -> Any:
    """The rewritten items of a list, or None where all stay."""
    out: list[Any] = []
    changed = False
    for item in items:  # in a loop: a comprehension would be one more frame at each level of a deep expression
        new = rewrite(item, before, after, only) if _KIND[item.__class__] == 1 else item
        if new is item:
            out.append(item)
            continue
        changed = True
        if isinstance(new, cst.FlattenSentinel):
            out.extend(new)
        elif not isinstance(new, cst.RemovalSentinel):
            out.append(new)
    return out if changed else None


def with_names(node: Node, made: Callable[[cst.Name], Any]) -> Any:
    """The tree with what `made` gives for the names that it reads, or None for a name that stays: those of attributes and keywords do."""

    def before(n: Any) -> Any:
        if isinstance(n, cst.Name):
            return made(n)
        if not isinstance(n, cst.Attribute) and not (isinstance(n, cst.Arg) and n.keyword is not None):
            return None
        value = rewrite(n.value, before)
        if value is n.value:
            return n
        new = replace(n, value=_fit(n, "value", value))
        if _carry is not None:
            _carry(n, new)
        return new

    return rewrite(node, before)


_carry: Callable[[cst.CSTNode, cst.CSTNode], None] | None = None


class carrying:
    """While it is active, `rewrite` tells `carry(old, new)` of every node that it rebuilds."""

    def __init__(self, carry: Callable[[cst.CSTNode, cst.CSTNode], None]) -> None:
        self.carry = carry

    def __enter__(self) -> None:
        global _carry
        self.before, _carry = _carry, self.carry

    def __exit__(self, *_: object) -> None:
        global _carry
        _carry = self.before


# --------------------------------------------------------------------------- precedence

_BINARY = {
    cst.BitOr: 6, cst.BitXor: 7, cst.BitAnd: 8, cst.LeftShift: 9, cst.RightShift: 9, cst.Add: 10, cst.Subtract: 10,
    cst.Multiply: 11, cst.MatrixMultiply: 11, cst.Divide: 11, cst.FloorDivide: 11, cst.Modulo: 11, cst.Power: 13,
}  # fmt: skip
ATOM = 16


def precedence(node: cst.BaseExpression) -> int:
    """How tightly an expression binds; ATOM where it never needs parentheses."""
    if getattr(node, "lpar", ()):
        return ATOM
    if isinstance(node, cst.BinaryOperation):
        return _BINARY[type(node.operator)]
    if isinstance(node, cst.UnaryOperation):
        return 4 if isinstance(node.operator, cst.Not) else 12
    if isinstance(node, cst.BooleanOperation):
        return 3 if isinstance(node.operator, cst.And) else 2
    if isinstance(node, cst.Comparison):
        return 5
    if isinstance(node, cst.IfExp):
        return 1
    if isinstance(node, cst.Lambda):
        return 1
    if isinstance(node, (cst.NamedExpr, cst.Yield, cst.StarredElement)):
        return 0
    if isinstance(node, cst.Tuple):
        return 0
    if isinstance(node, (cst.GeneratorExp, cst.Await)):
        return 14
    if isinstance(node, (cst.Integer, cst.Float)):
        return 15  # `1 .real` needs care
    return ATOM


def parenthesised(node: Any) -> Any:
    """The expression in parentheses."""
    return replace(node, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def needed(parent: cst.CSTNode, field: str) -> int:
    """The least precedence that a child in this field may have without parentheses."""
    if isinstance(parent, cst.Attribute) and field == "value":
        return ATOM
    if isinstance(parent, (cst.Subscript, cst.Call)) and field in ("value", "func"):
        return 15
    if isinstance(parent, cst.BinaryOperation):
        level = _BINARY[type(parent.operator)]
        if isinstance(parent.operator, cst.Power):
            return level + 1 if field == "left" else 12
        return level if field == "left" else level + 1
    if isinstance(parent, cst.UnaryOperation):
        return 4 if isinstance(parent.operator, cst.Not) else 12
    if isinstance(parent, cst.BooleanOperation):
        level = 3 if isinstance(parent.operator, cst.And) else 2
        return level if field == "left" else level + 1
    if isinstance(parent, (cst.Comparison, cst.ComparisonTarget)):
        return 6
    if isinstance(parent, cst.IfExp):
        return 1 if field == "orelse" else 2
    if isinstance(parent, (cst.Arg, cst.Element, cst.DictElement, cst.AssignEqual, cst.Lambda, cst.StarredElement)):
        return 1 if field in ("value", "body", "key") else 0
    if isinstance(parent, (cst.CompFor, cst.CompIf)):
        return 2
    if isinstance(parent, cst.FormattedStringExpression):
        return 2
    return 0


def _fit(parent: cst.CSTNode, field: str, child: cst.CSTNode) -> cst.CSTNode:
    if isinstance(child, cst.BaseExpression) and precedence(child) < needed(parent, field):
        return parenthesised(child)  # type: ignore[no-any-return]
    return child


def fit(parent: cst.CSTNode, field: str, child: Any) -> Any:
    """The child, in parentheses where the field of this parent needs them."""
    return _fit(parent, field, child)


# --------------------------------------------------------------------------- building


@functools.lru_cache(maxsize=4096)
def _parsed(source: str) -> cst.BaseExpression:
    return cst.parse_expression(source)


def _fresh(node: Any) -> Any:
    """A copy that shares no node which holds code."""
    kind = _KIND[node.__class__]
    if kind == 2:
        return [_fresh(item) for item in node]
    if kind != 1:
        return node
    return replace(node, **{name: _fresh(getattr(node, name)) for name in fields(node.__class__)})


def expression(source: str) -> Any:
    """An expression from text; its nodes are new each time, since facts are kept by identity."""
    return _fresh(_parsed(source))


@functools.lru_cache(maxsize=1024)
def _parsed_statement(source: str) -> Any:
    return cst.parse_statement(source)


def statement(source: str) -> Any:
    """A statement from text, of new nodes."""
    return _fresh(_parsed_statement(source))


def assignment(target: str | cst.BaseExpression, value: cst.BaseExpression) -> cst.SimpleStatementLine:
    """`target = value` as a statement."""
    left: Any = expression(target) if isinstance(target, str) else target
    if isinstance(left, cst.Tuple) and left.lpar and len(left.elements) > 0:
        left = replace(left, lpar=[], rpar=[])
    return cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(left)], value)])


class _Writer(CodegenState):
    """What LibCST writes code to, without the generator that it makes for every node to note a position, which nobody asks for."""

    def record_syntactic_position(self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None) -> Any:
        return _UNNOTED


_UNNOTED = nullcontext()
_EMPTY = cst.Module([])


def code(node: cst.CSTNode) -> str:
    """The source text of a node."""
    if node.__class__ is cst.Name and not node.lpar:
        return node.value
    module = node if isinstance(node, cst.Module) else _EMPTY
    writer = _Writer(module.default_indent, module.default_newline)
    node._codegen(writer)
    return "".join(writer.tokens)


def literal(node: Any) -> Any:
    """The value of a number or string, which LibCST compiles anew each time that it is asked."""
    return _literal(node.value) if node.__class__ is not cst.ConcatenatedString else node.evaluated_value


@functools.lru_cache(maxsize=16384)
def _literal(text: str) -> Any:
    return ast.literal_eval(text)


def dotted(node: cst.CSTNode) -> str | None:
    """`a.b.c` for a chain of names, else None."""
    parts: list[str] = []
    current: Any = node
    while current.__class__ is cst.Attribute:
        parts.append(current.attr.value)
        current = current.value
    if current.__class__ is not cst.Name:
        return None
    return ".".join([current.value, *reversed(parts)])


def written_first(node: Any, names: Set[str]) -> str | None:
    """Which of these names an in-place call writes and gives back: x of `x.normal_().mul_(2)` and of `init.normal_(x)`."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        name, receiver = node.func.attr.value, node.func.value
        if not name.endswith("_") or name.startswith("_"):
            return None
        if dotted(receiver) is not None and dotted(receiver) not in names and node.args:
            receiver = node.args[0].value  # of a function, after the name of its module
        if isinstance(receiver, cst.Name):
            return receiver.value if receiver.value in names else None
        node = receiver
    return None


def mangled(name: str, class_name: str | None) -> str:
    """The name under which Python keeps `self.__name` where it stands in a class."""
    if class_name is None or not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{class_name.lstrip('_')}{name}"


def names_read(node: cst.CSTNode) -> set[str]:
    """Every identifier that occurs as a Name expression below the node (attribute and keyword names not counted)."""
    found: set[str] = set()
    stack = [node]
    while stack:
        current: Any = stack.pop()
        kind = current.__class__  # isinstance is slow to ask where the answer is mostly no
        if kind is cst.Name:
            found.add(current.value)
        elif kind is cst.Attribute or kind is cst.Arg:
            stack.append(current.value)
        elif kind is cst.Param:
            stack.extend(n for n in (current.default, current.annotation) if n is not None)
        else:
            stack.extend(children(current))
    return found


def target_names(target: cst.CSTNode) -> list[str]:
    """The names that an assignment target binds, in order: `a, (b, *c)` gives a, b, c."""
    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in target_names(element.value)]
    if isinstance(target, cst.StarredElement):
        return target_names(target.value)
    return []


def names_assigned(node: cst.CSTNode) -> list[str]:
    """Names that the statements at or below a node bind, in order, those of inner functions and comprehensions left out."""
    found: dict[str, None] = {}
    current: Any
    for current in itertools.chain([node], scope_nodes(node, *_BINDING)):
        targets: list[Any] = []
        if isinstance(current, cst.Assign):
            targets = [t.target for t in current.targets]
        elif isinstance(current, cst.AnnAssign):
            targets = [current.target] if current.value is not None else []
        elif isinstance(current, (cst.For, cst.AugAssign, cst.NamedExpr)):
            targets = [current.target]
        elif isinstance(current, cst.WithItem):
            targets = [current.asname.name] if current.asname is not None else []
        elif isinstance(current, (cst.FunctionDef, cst.ClassDef)) and current is not node:
            targets = [current.name]
        for target in targets:
            found.update(dict.fromkeys(target_names(target)))
    return list(found)


_BINDING = (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr, cst.WithItem, cst.FunctionDef, cst.ClassDef)


def parameter_names(function: cst.FunctionDef | cst.Lambda) -> set[str]:
    """The names of all parameters of a function, starred ones and self included."""
    return {p.name.value for p in walk(function.params) if isinstance(p, cst.Param)}


def bound_by(alias: cst.ImportAlias) -> str:
    """The name that an import binds: `np` of `import numpy as np`, `a` of `import a.b`."""
    return code(alias.asname.name) if alias.asname is not None else code(alias.name).split(".")[0]


def local_names(function: cst.FunctionDef) -> set[str]:
    """The names that are a function's own: its parameters, and what its statements bind."""
    outer = {item.name.value for n in scope_nodes(function.body, cst.Global, cst.Nonlocal) for item in n.names}  # type: ignore[attr-defined]
    return (parameter_names(function) | set(names_assigned(function.body))) - outer


def only_small(statement_: Any) -> Any:
    """The simple statement that is alone on a line; None for anything else."""
    return statement_.body[0] if isinstance(statement_, cst.SimpleStatementLine) and len(statement_.body) == 1 else None


def times_bound(node: cst.CSTNode) -> collections.Counter[str]:
    """How often statements and comprehensions at or below a node bind each name."""
    found: collections.Counter[str] = collections.Counter()
    current: Any
    for current in nodes(node, cst.Assign, cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr, cst.WithItem, cst.FunctionDef):
        targets: list[Any] = []
        if isinstance(current, cst.Assign):
            targets = [t.target for t in current.targets]
        elif isinstance(current, cst.FunctionDef):
            targets = [current.name]
        elif isinstance(current, cst.WithItem):
            targets = [current.asname.name] if current.asname is not None else []
        else:
            targets = [current.target]
        found.update(name for target in targets for name in target_names(target))
    return found


def bound_once(node: cst.CSTNode) -> set[str]:
    """The names that are bound in one place at or below a node."""
    return {name for name, times in times_bound(node).items() if times == 1}


def jumps(node: cst.CSTNode) -> bool:
    """Whether a `break` or `continue` below a node leaves a loop around it."""
    if isinstance(node, (cst.Break, cst.Continue)):
        return True
    if isinstance(node, (cst.For, cst.While)):
        return node.orelse is not None and jumps(node.orelse)
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.BaseExpression)):
        return False
    return any(jumps(child) for child in children(node))


def returns(node: cst.CSTNode) -> bool:
    """Whether a `return` of this scope is at or below a node."""
    return isinstance(node, cst.Return) or any(True for _ in scope_nodes(node, cst.Return))


def always_returns(statements: Sequence[Any]) -> bool:
    """Whether control never passes the end of these statements: all of its ways return or raise."""
    for current in statements:
        if isinstance(current, cst.SimpleStatementLine) and isinstance(current.body[-1], (cst.Return, cst.Raise)):
            return True
        if isinstance(current, cst.If) and current.orelse is not None:
            if always_returns(body_statements(current)) and always_returns(else_statements(current)):
                return True
        if isinstance(current, cst.With) and always_returns(body_statements(current)):
            return True
    return False


def is_docstring(statement_: cst.CSTNode) -> bool:
    """Whether a statement is a bare string."""
    return (
        isinstance(statement_, cst.SimpleStatementLine)
        and len(statement_.body) == 1
        and isinstance(statement_.body[0], cst.Expr)
        and isinstance(statement_.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )


def body_statements(node: Any) -> list[Any]:
    """The statements of a function, class or other block, one-line suites made into ordinary ones."""
    block = node.body
    if isinstance(block, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine([s]) for s in block.body]
    return list(block.body)


def else_statements(node: Any) -> list[Any]:
    """The statements of the other side of an `if`, or of the `else` of a loop; an `elif` is one statement."""
    orelse = getattr(node, "orelse", None)
    return [] if orelse is None else [orelse] if isinstance(orelse, cst.If) else body_statements(orelse)


def without(statements: Sequence[Any], goes: Callable[[Any], bool]) -> list[Any]:
    """The statements but for some, whose comments stand before the next."""
    made: list[Any] = []
    lead: list[Any] = []
    for statement in statements:
        if goes(statement):
            lead += [line for line in statement.leading_lines if line.comment is not None] if lead else statement.leading_lines
            continue
        commented = any(line.comment is not None for line in lead)
        made.append(replace(statement, leading_lines=[*lead, *statement.leading_lines]) if commented else statement)
        lead = []
    return made


def with_body(node: Node, statements: Sequence[Any]) -> Node:
    """The node with another body; an empty one becomes `pass`."""
    statements = list(statements) or [statement("pass")]
    block = node.body  # type: ignore[attr-defined]
    if isinstance(block, cst.IndentedBlock):
        return replace(node, body=replace(block, body=statements))
    return replace(node, body=cst.IndentedBlock(statements))
