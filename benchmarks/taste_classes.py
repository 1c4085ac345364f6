"""A converted file beside its source, and which classes of a repository hold state: what taste_counts.py asks, by syntax alone."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Pair:
    """A file before and after."""

    path: str
    target: str
    source: str
    output: str

    @cached_property
    def before(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def after(self) -> ast.Module:
        return ast.parse(self.output)

    @cached_property
    def functions_before(self) -> dict[str, Function]:
        return dict(functions(self.before))


def functions(tree: ast.AST, path: str = "") -> Iterator[tuple[str, Function]]:
    """All functions below a node, by their dotted names."""
    for child in ast.iter_child_nodes(tree):
        named = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        name = f"{path}.{child.name}" if named else path
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield name, child
        yield from functions(child, name)


def parameters(function: Function) -> list[str]:
    a = function.args
    return [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]


def reads(node: ast.AST) -> set[str]:
    """The names read anywhere below a node, in functions inside too."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


class Classes:
    """The classes and functions of a repository by file and name, in the output, with those of its jax_nn.py."""

    def __init__(self, pairs: list[Pair], support: str = ""):
        self.files: dict[str, dict[str, ast.AST]] = {"jax_nn.py": definitions(ast.parse(support))}
        self.imported: dict[str, dict[str, tuple[str, str]]] = {}
        self.given: dict[str, set[tuple[str, str]]] = {}
        for pair in pairs:
            self.files[pair.path] = definitions(pair.after)
        for pair in pairs:
            self.imported[pair.path] = dict(self._imports(pair))
        for pair in pairs:
            for call in ast.walk(pair.after):
                if isinstance(call, ast.Call):
                    handed = {n for a in (*call.args, *call.keywords) for n in self.named(pair.path, a)}
                    for callee in self.named(pair.path, call.func):
                        self.given.setdefault(callee[1], set()).update(handed)

    def _imports(self, pair: Pair) -> Iterator[tuple[str, tuple[str, str]]]:
        for node in ast.walk(pair.after):
            if isinstance(node, ast.ImportFrom):
                tail = (node.module or "").replace(".", "/")
                for path in self.files:
                    stem = path.removesuffix(".py").removesuffix("/__init__")
                    if tail and (stem == tail or stem.endswith("/" + tail)):
                        names = {a.name: a.asname or a.name for a in node.names}
                        every = dict.fromkeys(self.files[path]) if "*" in names else names
                        yield from ((names.get(name, name), (path, name)) for name in every)

    def named(self, path: str, node: ast.AST) -> Iterator[tuple[str, str]]:
        """The classes and functions that stand below a node by name."""
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and n.id in self.files[path]:
                yield path, n.id
            elif isinstance(n, ast.Name) and n.id in self.imported.get(path, ()):
                yield self.imported[path][n.id]
            elif isinstance(n, ast.Attribute):
                home = path if n.attr in self.files[path] else "jax_nn.py"
                if n.attr in self.files[home]:
                    yield home, n.attr

    def holds(self, path: str, name: str) -> bool:
        """Whether a class, or anything it names or is given at a call, makes state."""
        todo, seen = [(path, name)], set()
        while todo:
            at = todo.pop()
            node = self.files.get(at[0], {}).get(at[1])
            if at in seen or node is None:
                continue
            seen.add(at)
            if makes_state(node, at[1]):
                return True
            below = getattr(node, "bases", []) if at[0] == "jax_nn.py" else [node]
            todo += [n for part in below for n in self.named(at[0], part)]
            todo += self.given.get(at[1], ()) if at[0] != "jax_nn.py" else ()
        return False

    def kin_reads(self, owner: str, method: str) -> set[str]:
        """What the methods of that name read in the classes above and below one, and in those below the same of the
        repository's: what one call may run takes the same."""
        classes = [n for file in self.files.values() for n in file.values() if isinstance(n, ast.ClassDef)]
        bases = {n.name: {ast.unparse(b).rpartition(".")[2] for b in n.bases} for n in classes}
        of_layers, kin, todo = self.files["jax_nn.py"], set[str](), [owner]
        while todo:
            at = todo.pop()
            if at not in kin:
                kin.add(at)
                below = [name for name, above in bases.items() if at in above]
                todo += [name for name in (*bases.get(at, ()), *below) if name in bases and name not in of_layers]
        kin = kin - {owner} | bases.get(owner, set())
        methods = [
            f for n in classes if n.name in kin for f in n.body if isinstance(f, ast.FunctionDef) and f.name == method
        ]
        return set().union(*map(reads, methods))


def definitions(tree: ast.Module) -> dict[str, ast.AST]:
    return {n.name: n for n in ast.walk(tree) if isinstance(n, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))}


def makes_state(node: ast.AST, name: str) -> bool:
    """Containers hand on what they hold: `init_state` of a base class in jax_nn.py makes none itself."""
    if name in ("Module", "_Container", "Sequential", "ModuleList", "ModuleDict", "StateIndex"):
        return False
    return any(
        (isinstance(n, ast.FunctionDef) and n.name == "init_state")
        or (isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "unsaved")  # kept from call to call
        or (isinstance(n, ast.Attribute) and n.attr == "StateIndex")
        for n in ast.walk(node)
    )
