"""The rule files read as syntax: which function or class stands for each torch name, and what it needs."""

from __future__ import annotations

import ast
import functools
import re
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..rule import PLACEMENT

MARKS = {"rule", "layer"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a rule: `kind` is "positional", "sizes" (loose sizes), "keyword" or "rest"."""

    name: str
    kind: str
    default: ast.expr | None
    accepts: frozenset[str]  # annotation words; empty takes anything


@dataclass(frozen=True, eq=False)
class Definition:
    """A function, class or constant of the rule files.

    It is kept from run to run (`command/cache.py`), and a run asks for few of them: what their
    syntax says is read when it is asked for.
    """

    name: str
    is_class: bool
    lines: tuple[int, int]  # the first, with decorators, and the last, counted from 1
    file: Path
    text: str  # the whole file
    torch_names: tuple[str, ...] = ()
    imports: dict[str, str] = field(default_factory=dict)
    note: str = ""  # what the rule takes for granted
    deprecated: bool = False  # a signature of old: only what is known to be a tensor is called by it
    by_data: bool | tuple[str, ...] = False  # the shape of its result follows from values: of all arguments, or of these

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
    def source(self) -> str:
        """Its text without decorators."""
        return "\n".join(_lines(self.text)[self.node.lineno - 1 : self.node.end_lineno])

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        node = self.node
        if isinstance(node, ast.ClassDef):
            found = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
            if not found:
                return ()
            return tuple(_parameters(found[0].args))[1:]
        assert isinstance(node, ast.FunctionDef)
        return tuple(_parameters(node.args))

    def asks_shape(self, parameter: str) -> bool:
        """Whether a rule reads nothing of an argument but its shape and type."""
        nodes = [n for statement in self.body for n in ast.walk(statement)]
        asked = [n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr in ("shape", "ndim", "dtype", "size")]
        return all(n in asked for n in nodes if isinstance(n, ast.Name) and n.id == parameter)

    @functools.cached_property
    def body(self) -> list[ast.stmt]:
        """The statements after the docstring."""
        assert isinstance(self.node, (ast.FunctionDef, ast.ClassDef))
        statements = self.node.body
        first = statements[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            return statements[1:]
        return statements

    @functools.cached_property
    def names_used(self) -> frozenset[str]:
        """Global names that the definition refers to: those of its parameters and locals are not meant."""
        found: set[str] = set()
        todo = [symtable.symtable(ast.unparse(self.node), self.name, "exec")]
        while todo:
            scope = todo.pop()
            todo.extend(scope.get_children())
            outermost = scope.get_type() == "module"
            found |= {s.get_name() for s in scope.get_symbols() if s.is_referenced() and (outermost or s.is_global())}
        return frozenset(found)

    @functools.cached_property
    def unused(self) -> frozenset[str]:
        """Parameters of a rule that are listed but not used: knowingly dropped. A helper keeps its own."""
        if self.is_class or not self.torch_names:
            return frozenset()
        used = {n.id for statement in self.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
        return frozenset(p.name for p in self.parameters if p.name not in used and p.name != "key")

    def method(self, name: str) -> ast.FunctionDef | None:
        assert isinstance(self.node, ast.ClassDef)
        return next((n for n in self.node.body if isinstance(n, ast.FunctionDef) and n.name == name), None)


@functools.lru_cache(maxsize=256)
def _lines(text: str) -> list[str]:
    return text.splitlines()


def _parameters(args: ast.arguments) -> Iterator[Parameter]:
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    for arg, default in zip(positional, defaults):
        # torch's layers have `inplace` last, here for callers that do not know which layer they make: `act_layer(True)`
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
    names = {n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)}
    if any(isinstance(n, ast.Constant) and n.value is None for n in ast.walk(annotation)):
        names.add("None")
    return frozenset(names)


@dataclass(frozen=True)
class Rulebook:
    """All definitions by name, and the overloads of each torch name in order."""

    definitions: dict[str, Definition]
    by_torch: dict[str, tuple[Definition, ...]]
    constants: dict[str, str]  # torch name -> JAX expression
    registrations: tuple[tuple[str, frozenset[str]], ...] = ()  # statements of rule files, and the names they use

    def ask_all(self) -> None:
        """Find what takes a look at every definition, so that it is there where the book is kept."""
        for name in ("tuple_fields", "_namespaces", "_completions", "_variants", "drawing_methods"):
            getattr(self, name)
        self.is_array_name("")

    def find(self, name: str) -> tuple[Definition, ...]:
        """The overloads of a torch name, under any of the paths that torch exports it by."""
        for candidate in spellings(name):
            if candidate in self.by_torch:
                return self.by_torch[candidate]
        return ()

    def knows(self, name: str) -> bool:
        """Whether there is a rule for a torch name, or for something in it: torch.nn, torch.nn.init."""
        return bool(self.find(name)) or self.constant(name) is not None or name in self._namespaces

    @functools.cached_property
    def tuple_fields(self) -> frozenset[str]:
        """The names that parts of torch's tuples have: `values`, `indices`, `Q`."""
        made = [d.node for d in self.definitions.values() if isinstance(d.node, ast.ClassDef)]
        tuples = [n for n in made if any(isinstance(b, ast.Name) and b.id == "NamedTuple" for b in n.bases)]
        return frozenset(s.target.id for n in tuples for s in n.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name))

    @functools.cached_property
    def _namespaces(self) -> frozenset[str]:
        """The modules and classes of torch that hold something with a rule."""
        parts = (name.split(".")[:-1] for name in (*self.by_torch, *self.constants))
        return frozenset(".".join(path[: i + 1]) for path in parts for i in range(len(path)))

    def layer(self, name: str) -> Definition | None:
        """The class that stands for a torch.nn class, if there is one."""
        found = self.find(name)
        return found[0] if found and found[0].is_class else None

    def is_function(self, name: str) -> bool:
        """Whether a name of torch's is a function of arrays that draws nothing."""
        rules = self.find(name) if self.layer(name) is None and self.dtype_of(name) is None else ()
        return bool(rules) and not any(p.name == "key" for rule in rules for p in rule.parameters)

    def constant(self, name: str) -> str | None:
        for candidate in spellings(name):
            if candidate in self.constants:
                return self.constants[candidate]
        return None

    def dtype_of(self, name: str) -> str | None:
        """The dtype of a type of tensors: int for torch.LongTensor; None for what is no such type."""
        return "float" if name == "torch.Tensor" else self.constant(f"{name}[dtype]")

    def needs(self, name: str) -> frozenset[str]:
        """The definitions that one needs, itself included, transitively."""
        return self._needs(name)

    @functools.cached_property
    def _cache(self) -> dict[str, frozenset[str]]:
        return {}

    @functools.cached_property
    def _completions(self) -> dict[str, frozenset[str]]:
        """Definitions that complete another by decoration: `@f.defjvp` on f_jvp."""
        found: dict[str, frozenset[str]] = {}
        for name, definition in self.definitions.items():
            for decorator in getattr(definition.node, "decorator_list", ()):
                if isinstance(decorator, ast.Attribute) and isinstance(decorator.value, ast.Name) and decorator.value.id in self.definitions:
                    completed = decorator.value.id
                    found[completed] = found.get(completed, frozenset()) | {name}
        return found

    def _needs(self, name: str) -> frozenset[str]:
        if name not in self._cache:
            found, todo = {name}, [name]
            while todo:
                current = todo.pop()
                for other in self.definitions[current].names_used | self._completions.get(current, frozenset()):
                    if other in self.definitions and other not in found:
                        found.add(other)
                        todo.append(other)
            self._cache[name] = frozenset(found)
        return self._cache[name]

    def variant(self, name: str, given: Iterable[tuple[str | None, object]]) -> str:
        """The name of a layer as its constructor is called: `InstanceNorm2d[track_running_stats]` where that is a literal True.

        `given` are the arguments as (keyword or None, Python value or anything else).
        """
        if not any(other.startswith(name + "[") for other in self._variants):
            return name
        definition = self.layer(name)
        names = [p.name for p in self.constructor(definition) if p.kind == "positional"] if definition is not None else []
        for i, (keyword, value) in enumerate(given):
            word = keyword if keyword is not None else names[i] if i < len(names) else ""
            if value is True and f"{name}[{word}]" in self._variants:
                return f"{name}[{word}]"
        return name

    @functools.cached_property
    def _variants(self) -> frozenset[str]:
        return frozenset(n for n, d in self.by_torch.items() if n.endswith("]") and d[0].is_class)

    def table(self, name: str) -> Any:
        """A dict or set of constants that a rule file holds for the engine: VIEWS; empty where there is none."""
        return _table(self.definitions.get(name))

    def bases(self, name: str) -> Iterator[Definition]:
        """A class and those it inherits from, nearest first."""
        definition = self.definitions.get(name)
        if definition is None or not isinstance(definition.node, ast.ClassDef):
            return
        yield definition
        for base in definition.node.bases:
            if isinstance(base, ast.Name):
                yield from self.bases(base.id)

    def method(self, name: str, method: str) -> ast.FunctionDef | None:
        """A method of a layer, own or inherited."""
        for definition in self.bases(name):
            found = definition.method(method)
            if found is not None:
                return found
        return None

    def is_module(self, definition: Definition) -> bool:
        """Whether a class is a layer, rather than what else torch has: a distribution."""
        return self.method(definition.name, "init") is not None

    def draws(self, name: str, method: str) -> bool:
        """Whether a method of a class takes a key: `Normal.rsample`."""
        found = self.method(name, method)
        return found is not None and any(a.arg == "key" for a in found.args.kwonlyargs)

    @functools.cached_property
    def drawing(self) -> frozenset[str]:
        """The classes beside layers that have a method which draws."""
        classes = {d.name: d for found in self.by_torch.values() for d in found if d.is_class and not self.is_module(d)}
        return frozenset(name for name in classes if any(self.draws(name, m) for m in self.methods(name)))

    def methods(self, name: str) -> frozenset[str]:
        """The names of a class's methods and properties, own or inherited."""
        return frozenset(n.name for d in self.bases(name) for n in getattr(d.node, "body", ()) if isinstance(n, ast.FunctionDef))

    @functools.cached_property
    def drawing_methods(self) -> frozenset[str]:
        """The names of the methods that draw, of classes beside layers: sample, rsample."""
        return frozenset(m for name in self.drawing for m in self.methods(name) if self.draws(name, m))

    def constructor(self, definition: Definition) -> tuple[Parameter, ...]:
        """The parameters of a layer's constructor, own or inherited."""
        found = self.method(definition.name, "__init__")
        return tuple(_parameters(found.args))[1:] if found is not None else ()

    def call_parameters(self, definition: Definition) -> tuple[Parameter, ...]:
        """The parameters of a layer's call that torch's has too."""
        found = self.method(definition.name, "__call__")
        return tuple(p for p in tuple(_parameters(found.args))[1:] if p.name not in ("params", "state")) if found is not None else ()

    def fields(self, name: str) -> dict[str, str | None]:
        """What the methods of a layer set on self, each with the parameter that its constructor keeps there as it is."""
        found: dict[str, str | None] = {}
        init = self.method(name, "__init__")
        for function in (n for d in self.bases(name) for n in getattr(d.node, "body", ()) if isinstance(n, ast.FunctionDef)):
            for node in (n for n in ast.walk(function) if isinstance(n, ast.Assign)):
                for target, value in _pairs(node):
                    if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                        found[target.attr] = value.id if function is init and isinstance(value, ast.Name) and target.attr not in found else None
        return found

    def effects(self, name: str) -> frozenset[str]:
        """Which of params, state, key, training a layer's call takes."""
        found = self.method(name, "__call__")
        if found is None:
            return frozenset()
        args = found.args
        names = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
        return frozenset(names & {"params", "state", "key", "training"})

    @functools.cached_property
    def array_names(self) -> frozenset[str]:
        """The names that layers give their parameters and buffers."""
        classes = {d.name for found in self.by_torch.values() for d in found if d.is_class}
        return frozenset(name for c in classes for name in self.arrays(c) if not name.endswith("_"))

    def optional(self, name: str) -> frozenset[str]:
        """The parameters of a layer that are absent under some configuration: those its call tests for."""
        found = set()
        for definition in self.bases(name):
            for n in ast.walk(definition.node):
                if isinstance(n, ast.Compare) and isinstance(n.ops[0], (ast.In, ast.NotIn)) and isinstance(n.left, ast.Constant):
                    found.add(str(n.left.value))
                elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "get" and n.args:
                    if isinstance(n.args[0], ast.Constant):
                        found.add(str(n.args[0].value))
        return frozenset(found)

    def arrays(self, name: str) -> dict[str, str]:
        """The names of a layer's parameters and buffers, each with where it lives: "params" or "state"."""
        if name not in self._arrays:
            self._arrays[name] = {array: where for array, where in self._find_arrays(name).items() if self.part(name, array) is None}
        return self._arrays[name]

    def part(self, name: str, attribute: str) -> str | None:
        """The torch name of a layer that another one holds: the out_proj of MultiheadAttention."""
        init = self.method(name, "__init__")
        for node in ast.walk(init) if init is not None else ():
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == f"self.{attribute}" and isinstance(node.value, ast.Call):
                for base in self.bases(ast.unparse(node.value.func)):
                    if base.is_class and base.torch_names and self.is_module(base):
                        return base.torch_names[0]
        return None

    def array(self, name: str, attribute: str) -> str | None:
        """Where a layer has an array: "params" or "state", also under a name that it makes: `weight_ih_l0`, `weight_g`.

        What a layer computes from its params counts as one of them, `weight` of a weight norm: see `computed`.
        """
        found = self.arrays(name).get(attribute)
        if found is None and (any(p.fullmatch(attribute) for p in self._made_names(name)) or self._wrapped(name) and attribute in self.array_names):
            return "params"
        return found

    def is_array_name(self, attribute: str) -> bool:
        """Whether some layer has an array of this name."""
        classes = {d.name for found in self.by_torch.values() for d in found if d.is_class}
        return attribute in self.array_names or any(p.fullmatch(attribute) for c in classes for p in self._made_names(c))

    def computed(self, name: str, attribute: str) -> bool:
        """Whether a layer stands for another one, this array of which it computes from its own params."""
        return attribute == self._wrapped(name)

    def wraps(self, torch_name: str) -> bool:
        """Whether a function of torch's changes a layer where it is, and here makes what stands for it: `weight_norm`."""
        found = self.find(torch_name)
        return bool(found) and found[0].is_class and self._wrapped(found[0].name) is not None

    def filled(self, name: str, attribute: str) -> str | None:
        """The param that shares its memory with a computed one while models are built: spectral norm's `weight_orig`."""
        original = f"{attribute}_orig"
        return original if any(p.fullmatch(original) and "orig" in p.pattern for p in self._made_names(name)) else None

    def _wrapped(self, name: str) -> str | None:
        """Of a layer made of another, `weight_norm(module, name="weight")`, the array that it computes."""
        definition = self.definitions.get(name)
        parameters = {p.name: p.default for p in self.constructor(definition)} if definition is not None else {}
        default = parameters.get("name") if "module" in parameters else None
        return str(default.value) if isinstance(default, ast.Constant) else None

    def _made_names(self, name: str) -> tuple[re.Pattern[str], ...]:
        """The names of params that a layer puts together: `f"weight_ih_{suffix}"`."""
        if name not in self._patterns:
            nodes = [node for definition in self.bases(name) if (node := definition.method("init")) is not None]
            keys = [k for node in nodes for n in ast.walk(node) if isinstance(n, ast.Dict) for k in n.keys]
            keys += [n.slice for node in nodes for n in ast.walk(node) if isinstance(n, ast.Subscript)]
            self._patterns[name] = tuple(_pattern(key) for key in keys if isinstance(key, ast.JoinedStr))
        return self._patterns[name]

    @functools.cached_property
    def _patterns(self) -> dict[str, tuple[re.Pattern[str], ...]]:
        return {}

    @functools.cached_property
    def _arrays(self) -> dict[str, dict[str, str]]:
        return {}

    def _find_arrays(self, name: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for definition in self.bases(name):
            for method, where in (("init", "params"), ("init_state", "state"), ("__call__", "")):
                node = definition.method(method)
                for n in ast.walk(node) if node is not None else ():
                    if isinstance(n, ast.Dict) and where:
                        for key in n.keys:
                            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                                found.setdefault(key.value, where)
                    elif isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name):
                        holder = n.value.id
                        if holder in ("params", "state") and isinstance(n.slice, ast.Constant):
                            found.setdefault(str(n.slice.value), holder)
                    elif isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.In) and isinstance(n.left, ast.Constant):
                        if isinstance(n.comparators[0], ast.Name) and n.comparators[0].id in ("params", "state"):
                            found.setdefault(str(n.left.value), n.comparators[0].id)
                    elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "get":
                        if isinstance(n.func.value, ast.Name) and n.func.value.id in ("params", "state") and n.args:
                            if isinstance(n.args[0], ast.Constant):
                                found.setdefault(str(n.args[0].value), n.func.value.id)
        return found


def _pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr | None]]:
    """Each target with its value: `self.a, self.b = a, b`."""
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Tuple):
        return [(target, value)]
    values = value.elts if isinstance(value, ast.Tuple) else [None] * len(target.elts)
    return list(zip(target.elts, values))


def _pattern(name: ast.JoinedStr) -> re.Pattern[str]:
    """What an f-string may come to."""
    return re.compile("".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+" for part in name.values))


# What torch needs and JAX does not, by the last part of its name: blocks and decorators that are taken away.
BLOCKS = frozenset({"no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "autocast", "device", "profile", "record_function", "flags", "annotate", "set_detect_anomaly", "detect_anomaly", "sdpa_kernel", "sdp_kernel", "device_of"})
BLOCKS_BY_PATH = frozenset({"torch.cuda.stream", "torch.cuda.nvtx.range"})  # whose last names others have
DECORATORS = frozenset({"no_grad", "enable_grad", "inference_mode", "autocast", "script", "unused", "ignore", "export", "compile", "script_method", "once_differentiable", "custom_fwd", "custom_bwd", "disable", "allow_in_graph", "is_tracing", "script_if_tracing", "_overload_method", "_overload", "amp", "interface", "half_function", "float_function", "jit", "wrap"})
CHECKS = frozenset({"torch._assert", "torch._check"})  # assert statements, spelt for torch's tracer


def is_block(name: str) -> bool:
    """Whether a torch name makes a context manager that no block of the output has."""
    return name.rpartition(".")[2] in BLOCKS or name in BLOCKS_BY_PATH


def erased(name: str) -> bool:
    """Whether a pass takes every use of a torch name away."""
    return name in CHECKS or name.rpartition(".")[2] in BLOCKS | DECORATORS


def spellings(name: str) -> Iterator[str]:
    """The names under which torch may export the same object, the given one first."""
    yield name
    parts = name.split(".")
    if parts[:3] == ["torch", "nn", "modules"]:
        yield "torch.nn." + parts[-1]
    if parts[:3] in (["torch", "nn", "parameter"], ["torch", "nn", "parallel"]) or parts[:2] == ["torch", "autograd"]:
        yield "torch.nn." + parts[-1]
    if parts[:2] == ["torch", "functional"]:
        yield "torch." + parts[-1]
        yield "torch.nn.functional." + parts[-1]
    if parts[:3] == ["torch", "nn", "functional"]:
        yield "torch." + parts[-1]
    if len(parts) > 2 and parts[-1] == parts[-2]:  # torch.nn.utils.weight_norm is a function, and the module that it is from
        yield name.rpartition(".")[0]
    if parts[:2] == ["torch", "_C"] or parts[:2] == ["torch", "cuda"]:
        yield "torch." + parts[-1]


def directory() -> Path:
    """Where the rule files are: beside the package in a checkout, inside it when installed."""
    here = Path(__file__).parent.parent
    return here / "rules" if (here / "rules").is_dir() else here.parent / "rules"


def files() -> list[Path]:
    """The rule files, in order; the layers that are written once, for all outputs, are not this engine's."""
    return sorted(p for p in directory().rglob("*.py") if p.parent.name != "layers")


@functools.cache
def load(*extra: Path) -> Rulebook:
    """Read the rule files; the user's own (`extra`) come first and so take precedence.

    Raises ValueError where two of our own definitions have one name: jax_nn.py could hold only one of them.
    """
    definitions: dict[str, Definition] = {}
    by_torch: dict[str, list[Definition]] = {}
    constants: dict[str, str] = {}
    registrations: list[tuple[str, frozenset[str]]] = []
    for path in [*extra, *files()]:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        imports = _imports(tree)
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                if node.name in definitions and definitions[node.name].file not in extra:
                    raise ValueError(f"{path.name} and {definitions[node.name].file.name} both define {node.name}")
                names = tuple(_torch_names(node))
                marks = _note(node), _is_marked(node, "deprecated"), _by_data(node)
                definition = _definition(node.name, node, path, text, names, imports, *marks)
                definitions.setdefault(node.name, definition)
                for name in names:
                    by_torch.setdefault(name, []).append(definition)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name == "CONSTANTS" and isinstance(node.value, ast.Dict):
                    for key, value in zip(node.value.keys, node.value.values):
                        if isinstance(key, ast.Constant):
                            constants[str(key.value)] = ast.unparse(value)
                else:
                    definitions.setdefault(name, _definition(name, node, path, text, (), imports))
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                # a call at module level registers something: jax.tree_util.register_pytree_node(Cls, ...)
                uses = frozenset(n.id for n in ast.walk(node.value) if isinstance(n, ast.Name))
                registrations.append((ast.unparse(node), uses))
    return Rulebook(definitions, {k: tuple(v) for k, v in by_torch.items()}, constants, tuple(registrations))


def _definition(name: str, node: ast.stmt, file: Path, text: str, *rest: Any) -> Definition:
    """A definition whose syntax is there already."""
    decorators = getattr(node, "decorator_list", ())
    lines = min([node.lineno, *(d.lineno for d in decorators)]), node.end_lineno or node.lineno
    made = Definition(name, isinstance(node, ast.ClassDef), lines, file, text, *rest)
    made.__dict__["node"] = node  # as `cached_property` keeps it
    return made


def _imports(tree: ast.Module) -> dict[str, str]:
    """Import statements by the name they bind, those of other rule files and of the rule form left out."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.split(".")[0]
                found[bound] = "import " + alias.name + (f" as {alias.asname}" if alias.asname else "")
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and not node.module.startswith("transpile"):
            for alias in node.names:
                suffix = f" as {alias.asname}" if alias.asname else ""
                found[alias.asname or alias.name] = f"from {node.module} import {alias.name}{suffix}"
    return found


def _torch_names(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id in MARKS:
            for argument in decorator.args:
                if isinstance(argument, ast.Constant):
                    yield str(argument.value)


def _is_marked(node: ast.FunctionDef | ast.ClassDef, flag: str) -> bool:
    """Whether the mark of a rule says `deprecated=True`, or another such flag."""
    return any(k.arg == flag for d in node.decorator_list if isinstance(d, ast.Call) for k in d.keywords)


def _by_data(node: ast.FunctionDef | ast.ClassDef) -> bool | tuple[str, ...]:
    """What the mark of a rule says of the shape: `by_data=True`, `by_data="size"`."""
    found = next((ast.literal_eval(k.value) for d in node.decorator_list if isinstance(d, ast.Call) for k in d.keywords if k.arg == "by_data"), False)
    return (found,) if isinstance(found, str) else found


def _note(node: ast.FunctionDef | ast.ClassDef) -> str:
    """The `note` of a rule's mark."""
    marks = [d for d in node.decorator_list if isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id in MARKS]
    return next((str(k.value.value) for d in marks for k in d.keywords if k.arg == "note" and isinstance(k.value, ast.Constant)), "")


def dropped(name: str) -> bool:
    """Whether an argument of this name is placement, which no rule takes."""
    return name in PLACEMENT


@functools.cache
def _table(definition: Definition | None) -> Any:
    found = ast.literal_eval(definition.node.value) if definition is not None and isinstance(definition.node, ast.Assign) else {}
    return frozenset(found) if isinstance(found, set) else found
