"""The rule files as data: which function or class stands for each torch name, and what it takes."""

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .libraries import spellings


@dataclass(frozen=True)
class Parameter:
    """One parameter of a rule: `kind` is "positional", "sizes" (loose sizes), "keyword", "rest"."""

    name: str
    kind: str
    default: ast.expr | None
    accepts: frozenset[str]  # annotation words; empty takes anything


@dataclass(frozen=True, eq=False)
class Definition:
    """A function, class or constant of the rule files.

    It is kept from run to run, and a run asks for few of them: its syntax is read when it is asked
    for.
    """

    name: str
    is_class: bool
    lines: tuple[int, int]  # the first, with decorators, and the last, counted from 1
    file: Path
    text: str  # the whole file
    torch_names: tuple[str, ...] = ()
    imports: dict[str, str] = field(default_factory=dict)
    note: str = ""  # what the rule takes for granted
    deprecated: bool = False  # a signature of old: only what is surely a tensor is called by it
    # whether the shape of the result follows from values: of all arguments, or of these
    by_data: bool | tuple[str, ...] = False

    @functools.cached_property
    def node(self) -> ast.stmt:
        """It as syntax, with the lines that it has in its file."""
        first, last = self.lines
        (node,) = ast.parse("\n".join(_lines(self.text)[first - 1 : last])).body
        ast.increment_lineno(node, first - 1)
        return node

    def __getstate__(self) -> dict[str, Any]:
        """What is kept: its fields, and not what has been read of its syntax."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of a function, or of a class's own constructor."""
        node = self.method("__init__") if self.is_class else self.node
        if node is None:
            return ()
        assert isinstance(node, ast.FunctionDef)
        return tuple(parameters(node.args))[int(self.is_class) :]

    @property
    def asks_for_key(self) -> bool:
        """Whether a rule may draw."""
        return any(p.name == "key" and p.kind == "keyword" for p in self.parameters)

    @functools.cached_property
    def body(self) -> list[ast.stmt]:
        """The statements after the docstring."""
        assert isinstance(self.node, (ast.FunctionDef, ast.ClassDef))
        statements = self.node.body
        first = statements[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        return statements[1:] if documented else statements

    @functools.cached_property
    def unused(self) -> frozenset[str]:
        """Parameters of a rule that are listed and not used: knowingly dropped. A helper keeps its
        own.
        """
        if self.is_class or not self.torch_names:
            return frozenset()
        names = (n for statement in self.body for n in ast.walk(statement))
        used = {n.id for n in names if isinstance(n, ast.Name)} | {"key"}
        return frozenset(p.name for p in self.parameters if p.name not in used)

    def method(self, name: str) -> ast.FunctionDef | None:
        """A class's own method."""
        body = getattr(self.node, "body", ())
        return next((n for n in body if isinstance(n, ast.FunctionDef) and n.name == name), None)


@functools.lru_cache(maxsize=256)
def _lines(text: str) -> list[str]:
    return text.splitlines()


def parameters(args: ast.arguments) -> Iterator[Parameter]:
    """The parameters of a function of a rule file, `self` included."""
    positional = [*args.posonlyargs, *args.args]
    missing = len(positional) - len(args.defaults)
    defaults: list[ast.expr | None] = [*[None] * missing, *args.defaults]
    for arg, default in zip(positional, defaults):
        # torch's layers have `inplace` last, for callers that do not know which layer they make
        kind = "keyword" if arg.arg == "inplace" else "positional"
        yield Parameter(arg.arg, kind, default, _words(arg.annotation))
    if args.vararg:
        yield Parameter(args.vararg.arg, "sizes", None, _words(args.vararg.annotation))
    for arg, keyword_default in zip(args.kwonlyargs, args.kw_defaults):
        yield Parameter(arg.arg, "keyword", keyword_default, _words(arg.annotation))
    if args.kwarg:
        yield Parameter(args.kwarg.arg, "rest", None, frozenset())


def _words(annotation: ast.expr | None) -> frozenset[str]:
    if annotation is None:
        return frozenset()
    nodes = list(ast.walk(annotation))
    names = {n.id for n in nodes if isinstance(n, ast.Name)}
    none = any(isinstance(n, ast.Constant) and n.value is None for n in nodes)
    return frozenset(names | {"None"} if none else names)


@dataclass(frozen=True, eq=False)
class Rulebook:
    """All definitions by name, and the overloads of each torch name in order."""

    definitions: dict[str, Definition]
    by_torch: dict[str, tuple[Definition, ...]]
    constants: dict[str, str]  # torch name -> JAX expression
    # statements of rule files, and the names they use
    registrations: tuple[tuple[str, frozenset[str]], ...] = ()
    # by what they complete, definitions that are decorated by a part of it: `@f.defjvp`
    completions: dict[str, list[str]] = field(default_factory=dict)

    # --- torch names -----------------------------------------------------------------------------

    def find(self, name: str) -> tuple[Definition, ...]:
        """The overloads of a torch name, under any of the paths that torch exports it by."""
        for candidate in spellings(name):
            if candidate in self.by_torch:
                return self.by_torch[candidate]
        return ()

    def constant(self, name: str) -> str | None:
        """The JAX expression for a constant of torch's: `jnp.float32`, `math.pi`."""
        return next((self.constants[n] for n in spellings(name) if n in self.constants), None)

    def dtype_of(self, name: str) -> str | None:
        """The dtype of a type of tensors: int for torch.LongTensor; None for no such type."""
        return "float" if name == "torch.Tensor" else self.constant(f"{name}[dtype]")

    def is_dtype(self, name: str) -> bool:
        """Whether a constant of torch's is a dtype."""
        found = self.constant(name) or ""
        return found in ("int", "bool") or found.startswith("jnp.") and found != "jnp.dtype"

    def knows(self, name: str) -> bool:
        """Whether there is a rule for a torch name, or for something in it: torch.nn,
        torch.nn.init.
        """
        return bool(self.find(name)) or self.constant(name) is not None or name in self._namespaces

    def within(self, namespace: str) -> frozenset[str]:
        """The names of a module of torch's that have a rule, or have something in them that has."""
        return self._within.get(namespace, frozenset())

    @functools.cached_property
    def _within(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for name in (*self.by_torch, *self.constants, *self._namespaces):
            head, _, last = name.rpartition(".")
            found.setdefault(head, set()).add(last)
        return {head: frozenset(names) for head, names in found.items()}

    @functools.cached_property
    def _namespaces(self) -> frozenset[str]:
        """The modules and classes of torch that hold something with a rule."""
        paths = (name.split(".")[:-1] for name in (*self.by_torch, *self.constants))
        return frozenset(".".join(path[: i + 1]) for path in paths for i in range(len(path)))

    def layer(self, name: str) -> Definition | None:
        """The class that stands for a torch.nn class, if there is one."""
        found = self.find(name)
        return found[0] if found and found[0].is_class else None

    @functools.cached_property
    def variants(self) -> dict[str, list[tuple[str, str]]]:
        """By its name, what a layer is where a parameter is given another value than its default:
        ("track_running_stats", "torch.nn.InstanceNorm1d[track_running_stats]"). So a class without
        state stays without one."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name in (n for n, rules in self.by_torch.items() if "[" in n and rules[0].is_class):
            plain, _, parameter = name[:-1].partition("[")
            found.setdefault(plain, []).append((parameter, name))
        return found

    def is_function(self, name: str) -> bool:
        """Whether a name of torch's is a function of arrays that draws nothing."""
        if self.layer(name) is not None or self.dtype_of(name) is not None:
            return False
        rules = self.find(name)
        return bool(rules) and not any(p.name == "key" for rule in rules for p in rule.parameters)

    def table(self, name: str) -> Any:
        """A dict or set of constants that a rule file holds for the engine: VIEWS; empty where
        there is none.
        """
        return _table(self.definitions.get(name))

    # --- classes ---------------------------------------------------------------------------------

    def bases(self, name: str) -> tuple[Definition, ...]:
        """A class and those it inherits from, in the order in which attributes are looked up."""
        if name not in self._bases:
            found = list(self._all_bases(name))
            last = {d: i for i, d in enumerate(found)}  # of a base of two the later place
            self._bases[name] = tuple(d for i, d in enumerate(found) if last[d] == i)
        return self._bases[name]

    @functools.cached_property
    def _bases(self) -> dict[str, tuple[Definition, ...]]:
        return {}

    def _all_bases(self, name: str) -> Iterator[Definition]:
        definition = self.definitions.get(name)
        if definition is None or not isinstance(definition.node, ast.ClassDef):
            return
        yield definition
        for base in definition.node.bases:
            if isinstance(base, ast.Name):
                yield from self._all_bases(base.id)

    def is_module(self, definition: Definition) -> bool:
        """Whether a class is a layer, rather than what else torch has: a distribution."""
        return any(base.name == "Module" for base in self.bases(definition.name))

    def method(self, name: str, method: str, after: str = "") -> ast.FunctionDef | None:
        """A method of a class, own or inherited; `after`: as super() finds it in that class."""
        found = self.inherited(name, method, after)
        return found[0] if found is not None else None

    def inherited(
        self, name: str, method: str, after: str = ""
    ) -> tuple[ast.FunctionDef, str] | None:
        """A method of a class, and the class that has it."""
        bases = self.bases(name)
        if after:
            bases = bases[[d.name for d in bases].index(after) + 1 :]
        found = ((node, d.name) for d in bases if (node := d.method(method)) is not None)
        return next(found, None)

    def methods(self, name: str) -> frozenset[str]:
        """The names of a class's methods and properties, own or inherited."""
        bodies = (getattr(d.node, "body", ()) for d in self.bases(name))
        return frozenset(n.name for body in bodies for n in body if isinstance(n, ast.FunctionDef))

    def constructor(self, definition: Definition) -> tuple[Parameter, ...]:
        """The parameters of a class's constructor, own or inherited."""
        found = self.method(definition.name, "__init__")
        return tuple(parameters(found.args))[1:] if found is not None else ()

    def wraps(self, definition: Definition) -> bool:
        """Whether a layer is made of one that it is given, as weight_norm's is."""
        return any(p.name == "module" for p in self.constructor(definition))

    def draws(self, name: str, method: str) -> bool:
        """Whether a method of a class takes a key: `Normal.rsample`."""
        found = self.method(name, method)
        return found is not None and any(a.arg == "key" for a in found.args.kwonlyargs)

    @functools.cached_property
    def drawing(self) -> frozenset[str]:
        """The classes beside layers that have a method which draws: distributions."""
        named = (d for found in self.by_torch.values() for d in found if d.is_class)
        others = {d.name for d in named if not self.is_module(d)}
        return frozenset(n for n in others if any(self.draws(n, m) for m in self.methods(n)))

    @functools.cached_property
    def drawing_methods(self) -> frozenset[str]:
        """The names of the methods that draw, of classes beside layers: sample, rsample."""
        return frozenset(m for n in self.drawing for m in self.methods(n) if self.draws(n, m))

    @functools.cached_property
    def tuple_fields(self) -> frozenset[str]:
        """The names that parts of torch's tuples have: `values`, `indices`, `Q`."""
        made = [d.node for d in self.definitions.values() if isinstance(d.node, ast.ClassDef)]
        tuples = [n for n in made if "NamedTuple" in {ast.unparse(b) for b in n.bases}]
        fields = (s.target for n in tuples for s in n.body if isinstance(s, ast.AnnAssign))
        return frozenset(target.id for target in fields if isinstance(target, ast.Name))


@functools.cache
def _table(definition: Definition | None) -> Any:
    node = definition.node if definition is not None else None
    found = ast.literal_eval(node.value) if isinstance(node, ast.Assign) else {}
    return frozenset(found) if isinstance(found, set) else found
