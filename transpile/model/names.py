"""Names in a program: dotted ones, what a statement binds, what stands in a scope."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

from .expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    ForClause,
    Lambda,
    Name,
    NamedExpression,
    Starred,
    Subscript,
)
from .node import Expression, N, Node, Statement
from .program import Class, File, Function, Scope
from .statements import Assign, Block, ExpressionStatement, For, If, Import, Return, With

_SCOPES = frozenset({Function, Class, Lambda})
_SIMPLE = (Assign, ExpressionStatement, Return)  # the most frequent of those without a block
_BINDING: tuple[type[Node], ...] = (Assign, For, NamedExpression, With, Function, Class)


def dotted(node: Node | None) -> str | None:
    """`a.b.c` for a chain of names, else None."""
    if node.__class__ is Name:
        return node.id
    parts: list[str] = []
    current: Any = node
    while current.__class__ is Attribute:
        parts.append(current.name)
        current = current.object
    if current.__class__ is not Name:
        return None
    return ".".join([current.id, *reversed(parts)])


def last_word(node: Node | None) -> str:
    """`c` of `a.b.c`, or nothing."""
    return (dotted(node) or "").rpartition(".")[2]


def own_word(node: Node | None) -> str:
    """`c` of `c` and of `f(x).c`, or nothing."""
    return node.id if isinstance(node, Name) else node.name if isinstance(node, Attribute) else ""


def imported(scope: Scope, node: Node) -> str:
    """The dotted name that an import of a scope, or at the top of its file, gives to an expression,
    or nothing."""
    head, _, rest = (dotted(node) or "").partition(".")
    file = scope if isinstance(scope, File) else scope.file
    own = [] if scope is file else scope.nodes(Import)
    for statement in [*own, *file.nodes(Import)] if head and file is not None else ():
        for name in statement.names:
            if name.bound == head and (whole := statement.meaning(name)):
                return f"{whole}.{rest}" if rest else whole
    return ""


def text(node: Node) -> str:
    """The user's text of a node; a dotted name of one that a pass made, or nothing."""
    if node.start >= 0 and node.file is not None and not node.touched:
        return node.file.text[node.start : node.end]
    return dotted(node) or ""


def names_in(node: Node) -> set[str]:
    """All names at or below a node."""
    return {n.id for n in node.walk() if isinstance(n, Name)}


def is_name(node: Node | None, name: str | None) -> bool:
    """Whether it is this name, and nothing more."""
    return isinstance(node, Name) and node.id == name


def is_data(node: Node | None) -> TypeGuard[Attribute]:
    """`x.data`"""
    return isinstance(node, Attribute) and node.name == "data"


def is_own(node: Node | None, self_name: str | None) -> TypeGuard[Attribute]:
    """Whether something is an attribute of this `self` right away."""
    held = node.object if isinstance(node, Attribute) else None
    return isinstance(held, Name) and held.id == self_name


def root(node: Node) -> Name | None:
    """The name that a path begins with: `m` of `m.layers[0].weight`."""
    while isinstance(node, (Attribute, Subscript)):
        node = node.object
    return node if isinstance(node, Name) else None


def index_parts(index: Expression) -> list[Expression]:
    """The parts of an index: of `x[:, 0]` two."""
    if isinstance(index, Display) and index.kind == "tuple":
        return index.elements
    return [index]


def is_item(node: Node) -> TypeGuard[Subscript]:
    """`self.net[1]`"""
    return isinstance(node, Subscript) and isinstance(node.index, Constant)


def is_inplace(name: str) -> bool:
    """Whether a name ends in one underscore: `add_`, not `__add__`."""
    return name.endswith("_") and not name.endswith("__")


def leaves(target: Expression) -> list[Expression]:
    """The targets of an assignment one by one: `self.a, (b, c[0])` gives self.a, b, c[0]."""
    if isinstance(target, Display):
        return [leaf for element in target.elements for leaf in leaves(element)]
    return [target]


def target_names(target: Node) -> list[str]:
    """The names that an assignment target binds, in order: `a, (b, *c)` gives a, b, c."""
    if isinstance(target, Name):
        return [target.id]
    if isinstance(target, Display):
        return [name for element in target.elements for name in target_names(element)]
    return target_names(target.expression) if isinstance(target, Starred) else []


def below(node: Node, *kinds: type[N]) -> Iterator[N]:
    """The nodes of these classes at or below one, those of functions inside included."""
    wanted = frozenset(kinds)
    for inner in node.walk():
        if inner.__class__ in wanted:
            yield inner


def statements(node: Node) -> Iterator[Statement]:
    """The statements at or below a node, outer before inner, those of functions inside included:
    as `walk`, but for expressions, which hold none and are most of a program."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, Statement):
            yield current
            if isinstance(current, _SIMPLE):
                continue
        inside = current.children()
        inside.reverse()
        stack.extend(n for n in inside if not isinstance(n, Expression))


def in_scope(node: Node, *kinds: type[N]) -> Iterator[N]:
    """The nodes of these classes below one; functions, classes and lambdas are not entered."""
    wanted = frozenset(kinds)
    stack = node.children()
    stack.reverse()
    while stack:
        current = stack.pop()
        kind = current.__class__
        if kind in wanted:
            yield current  # type: ignore[misc]
        if kind not in _SCOPES and current.parts:
            inside = current.children()
            inside.reverse()
            stack.extend(inside)


def everywhere(scope: Scope, *kinds: type[N]) -> list[N]:
    """The nodes of these classes in a function and in all functions inside it."""
    found = scope.nodes(*kinds)
    inner: list[Scope] = [*scope.nodes(Function), *scope.nodes(Class)]
    if inner:
        found = [*found, *(n for other in inner for n in everywhere(other, *kinds))]
    return found


def binds(node: Node) -> list[str]:
    """The names that one node binds itself, apart from what is below it."""
    if isinstance(node, Assign):
        targets: Iterable[Any] = node.targets if node.expression is not None else ()
    elif isinstance(node, (For, NamedExpression, ForClause)):
        targets = (node.target,)
    elif isinstance(node, With):
        targets = [t for t in node.items[1::2] if t is not None]
    elif isinstance(node, (Function, Class)):
        return [node.name]
    else:
        return []
    return [name for target in targets for name in target_names(target)]


def is_docstring(node: Node) -> bool:
    """Whether a statement is a constant alone, which does nothing: a docstring, `...`."""
    return isinstance(node, ExpressionStatement) and isinstance(node.expression, Constant)


def is_field(node: Node | None) -> bool:
    """Whether this is a field that a dialect has declared: no method sees it as a name."""
    if not isinstance(node, Assign) or node.annotation is None or node.start >= 0:
        return False
    return isinstance(node.parent, Block) and isinstance(node.parent.parent, Class)


def names_assigned(node: Node) -> list[str]:
    """Names that the statements at or below a node bind, in order; not in functions inside."""
    found: dict[str, None] = {}
    if not isinstance(node, (Function, Class)):
        found.update(dict.fromkeys(binds(node)))
    current: Node
    for current in in_scope(node, *_BINDING):
        found.update(dict.fromkeys(binds(current)))
    return list(found)


def reads_of(scope: Scope, name: str | None) -> list[Name]:
    """Where a function, and what is inside it, reads a name."""
    return [n for n in everywhere(scope, Name) if n.id == name and not is_target(n)]


def bound_once(scope: Scope) -> set[str]:
    """The names that are bound in one place of a function and what is inside it."""
    return {name for name, times in _bindings(scope).items() if times == 1}


def own_names(function: Function) -> set[str]:
    """The names that a function, and what is inside it, binds: its parameters too."""
    return {*_bindings(function), *(p.name for p in function.parameters)}


def rebound(function: Function) -> set[str]:
    """The names of a function, and of what is inside it, that are bound more than once: a
    parameter is bound by each call."""
    found = _bindings(function)
    found.update(p.name for p in function.parameters)
    return {name for name, times in found.items() if times > 1}


def _bindings(scope: Scope) -> Counter[str]:
    kinds = (Assign, For, ForClause, NamedExpression, With)
    found = Counter(name for node in everywhere(scope, *kinds) for name in binds(node))
    found.update(inner.name for inner in everywhere(scope, Function))
    return found


def bound_around(node: Node, name: str) -> tuple[Node, list[Node]]:
    """The nearest function around a node that binds a name, and what does: parameters, classes,
    statements."""
    for function in (a for a in node.ancestors() if isinstance(a, Function)):
        found: list[Node] = [p for p in function.parameters if p.name == name]
        found += [c for c in in_scope(function, Class) if c.name == name and c is not node]
        kinds = (Assign, For, With)
        found += [n for n in in_scope(function.body, *kinds) if name in binds(n)]
        if found:
            return function, found
    return node, []


def is_chosen(file: File, name: str) -> bool:
    """Whether sides of an `if` of a file bind a name to one thing or another."""
    sides = [a for a in file.nodes(Assign) if a.nearest(If) and name in binds(a)]
    return len({text(a.expression) for a in sides if a.expression is not None}) > 1


def calls_of(nodes: Iterable[Node]) -> list[Call]:
    """The calls that call one of these."""
    return [c for n in nodes if isinstance(c := n.parent, Call) and c.function is n]


def is_called(node: Node) -> bool:
    """Whether a node is what a call calls."""
    return isinstance(node.parent, Call) and node.parent.function is node


def bound_name(statement: Node) -> str | None:
    """The one name that an assignment binds, and does nothing else: `x = …`."""
    if not isinstance(statement, Assign) or statement.operator or statement.annotation is not None:
        return None
    target = statement.targets[0]
    return target.id if len(statement.targets) == 1 and isinstance(target, Name) else None


def is_augmented(node: Node) -> bool:
    """`x += y`"""
    return isinstance(node, Assign) and bool(node.operator)


def is_target(node: Node) -> bool:
    """Whether an assignment stores into a node, and not into a part of it."""
    return isinstance(node.parent, Assign) and any(node is t for t in node.parent.targets)


def stored_by(node: Node) -> Assign | None:
    """The assignment that stores into a node, alone or among others: `self.f, self.g = pair`."""
    while isinstance(node.parent, (Display, Starred)):
        node = node.parent
    return node.parent if is_target(node) and isinstance(node.parent, Assign) else None
