"""The form of a layer: a class with `self`, written once for all dialects, and run by the tests.

    @layer("torch.nn.Embedding")
    class Embedding(Module):
        def __init__(self, num_embeddings, embedding_dim):
            self.weight = Parameter(jax.random.normal(draw_key(), (num_embeddings, embedding_dim)))

        def __call__(self, input):
            return self.weight[input]

The engine reads such a class as syntax and writes it in a dialect. Run here, it is a module much
like torch's: `self.weight` is the array itself, assigning to it gives it another value, and keys
come from `with keys(key):`. This file needs neither torch nor jax to be imported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

Array = Any  # of jax, which is not imported here


class Parameter:
    """An array that is trained. None holds the place of one that the first input will make."""

    def __init__(self, value: Array, requires_grad: bool = True) -> None:
        self.value, self.requires_grad = value, requires_grad


class Buffer:
    """An array that is not trained; `persistent`: whether it is saved with the model."""

    def __init__(self, value: Array, persistent: bool = True) -> None:
        self.value, self.persistent = value, persistent


class Flat:
    """A submodule whose arrays are named as if they were its owner's: `bias`, not `module.bias`."""

    def __init__(self, module: Module) -> None:
        self.module = module


class Module:
    """What the layers are: arrays and submodules in torch's order of registration, and a mode."""

    training = True

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        module = super().__new__(cls)
        module.__dict__.update(_parameters={}, _buffers={}, _modules={}, _flat=set())
        return module

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        module = (Module, Flat)
        kinds: dict[str, Any] = {"_parameters": Parameter, "_buffers": Buffer, "_modules": module}
        for kind, wanted in kinds.items():
            if isinstance(value, wanted):
                for other in kinds.keys() - {kind}:
                    own[other].pop(name, None)
                own.pop(name, None)
                if isinstance(value, Flat):
                    own["_flat"].add(name)
                    value = value.module
                own[kind][name] = value
                return
        for kind in kinds:
            if name in own[kind]:
                if value is None:
                    own[kind][name] = None
                elif kind == "_modules" or own[kind][name] is None:
                    raise TypeError(f"{name} holds a {kind[1:-1]}: {type(value)} has to be one")
                else:
                    own[kind][name].value = value
                return
        for flat in own["_flat"]:
            holder = own["_modules"][flat]._holder(name)
            if holder is not None:
                setattr(holder, name, value)
                return
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """What is no plain attribute: the value of an array, or a submodule."""
        own = self.__dict__
        for kind in ("_parameters", "_buffers"):
            if name in own.get(kind, ()):
                return None if own[kind][name] is None else own[kind][name].value
        if name in own.get("_modules", ()):
            return own["_modules"][name]
        for flat in own.get("_flat", ()):
            holder = own["_modules"][flat]._holder(name)
            if holder is not None:
                return getattr(holder, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def _holder(self, name: str) -> Module | None:
        """Where an array of this name stands: here, or in what is flat here."""
        own = self.__dict__
        if name in own["_parameters"] or name in own["_buffers"]:
            return self
        found = (own["_modules"][flat]._holder(name) for flat in own["_flat"])
        return next((module for module in found if module is not None), None)

    def __delattr__(self, name: str) -> None:
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    # --- what is in it ----------------------------------------------------------------------------

    def add_module(self, name: str, module: Module | None) -> None:
        """A submodule under any name, or None in the place of one."""
        if not name or "." in name or not isinstance(module, Module | None):
            raise TypeError(f"{module!r} cannot be the submodule {name!r}")
        self.__dict__["_modules"][name] = module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        return _once((name, child) for name, child in self.places() if child is not None)

    def children(self) -> Iterator[Module]:
        return (child for _, child in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, outer before inner, each once."""
        yield from _once(_walk(self, prefix))

    def modules(self) -> Iterator[Module]:
        return (module for _, module in self.named_modules())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Array]]:
        """The trained arrays by their dotted names, each once."""
        return ((name, box.value) for name, box in self.boxes("_parameters", prefix, recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Array]]:
        return ((name, box.value) for name, box in self.boxes("_buffers", prefix, recurse))

    def parameters(self, recurse: bool = True) -> Iterator[Array]:
        return (value for _, value in self.named_parameters(recurse=recurse))

    def boxes(self, kind: str, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        """Every `Parameter` or `Buffer` with its dotted name, each once."""
        return _once(self._boxes(kind, prefix, recurse))

    def _boxes(self, kind: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        for path, module in _once(_walk(self, prefix)) if recurse else [(prefix, self)]:
            for name, box in module._own(kind):
                if box is not None:
                    yield f"{path}.{name}" if path else name, box

    def _own(self, kind: str) -> Iterator[tuple[str, Any]]:
        for name in self.__dict__["_flat"]:
            yield from self.__dict__["_modules"][name]._own(kind)
        yield from self.__dict__[kind].items()

    def places(self) -> Iterator[tuple[str, Module | None]]:
        """The submodules by name, and None where there is a place for one."""
        for name, child in self.__dict__["_modules"].items():
            if name in self.__dict__["_flat"]:
                yield from child.places()
            else:
                yield name, child

    # --- saving, the mode, the rest of torch's words ----------------------------------------------

    def state_dict(self, prefix: str = "") -> dict[str, Array]:
        """What torch would save: what stands under two names twice, what is not persistent not at
        all."""
        return {name: box.value for name, box in self._saved(prefix).items()}

    def load_state_dict(self, arrays: Mapping[str, Array]) -> None:
        """Give every array that is saved the value of this name."""
        found = self._saved()
        if found.keys() != arrays.keys():
            raise KeyError(f"arrays that only one side has: {sorted(found.keys() ^ arrays.keys())}")
        for name, box in found.items():
            box.value = arrays[name]

    def _saved(self, prefix: str = "") -> dict[str, Any]:
        boxes = [pair for kind in ("_parameters", "_buffers") for pair in self._own(kind)]
        found = {
            prefix + n: b for n, b in boxes if b is not None and getattr(b, "persistent", True)
        }
        for name, child in self.places():
            if child is not None:
                found |= child._saved(f"{prefix}{name}.")
        return found

    def train(self, mode: bool = True) -> Module:
        self.training = mode
        for child in self.__dict__["_modules"].values():
            if child is not None:
                child.train(mode)
        return self

    def eval(self) -> Module:
        return self.train(False)

    def apply(self, function: Callable[[Module], Any]) -> Module:
        """Call a function on everything below the module, then on the module itself."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self


def _walk(module: Module, prefix: str) -> Iterator[tuple[str, Module]]:
    yield prefix, module
    for name, child in module.places():
        if child is not None:
            yield from _walk(child, f"{prefix}.{name}" if prefix else name)


def _once(named: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Without what has been seen under another name."""
    seen = set()
    for name, value in named:
        if value not in seen:
            seen.add(value)
            yield name, value


# --- words ----------------------------------------------------------------------------------------

_keys: list[Iterator[Array]] = []


def draw_key() -> Array:
    """A key that was not drawn before, from the innermost `with keys(key):`."""
    if not _keys:
        raise RuntimeError("nothing can be drawn outside of `with keys(key):`")
    return next(_keys[-1])


@contextlib.contextmanager
def keys(key: Array) -> Iterator[None]:
    """What is drawn inside comes from this key."""
    _keys.append(_split(key))
    try:
        yield
    finally:
        _keys.pop()


def _split(key: Array) -> Iterator[Array]:
    import jax

    count = 0
    while True:
        yield jax.random.fold_in(key, count)
        count += 1


def tie(module: Module, name: str, owner: Module, source: str) -> None:
    """The array is its owner's from here on: torch's `self.head.weight = self.tokens.weight`."""
    setattr(module, name, owner.__dict__["_parameters"][source])


def assign(module: Module, name: str, value: Array) -> None:
    """Another value for the array of this dotted name, in a loop over `self.named_parameters()`."""
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    setattr(module, last, value)


def with_array(module: Module, name: str, value: Array) -> Any:
    """The module with another value for one array; all its other arrays are the module's own."""
    other = object.__new__(type(module))
    other.__dict__.update(module.__dict__)
    for flat in module.__dict__["_flat"]:
        below = module.__dict__["_modules"][flat]
        if below._holder(name) is not None:
            changed = {flat: with_array(below, name, value)}
            other.__dict__["_modules"] = module.__dict__["_modules"] | changed
            return other
    kind = "_buffers" if name in module.__dict__["_buffers"] else "_parameters"
    box = Buffer(value) if kind == "_buffers" else Parameter(value)
    other.__dict__[kind] = {**module.__dict__[kind], name: box}
    return other


Class = TypeVar("Class", bound=type)


def layer(*names: str) -> Callable[[Class], Class]:
    """Mark a class as the equivalent of these torch classes, or of functions that wrap a module."""

    def mark(cls: Class) -> Class:
        cls.torch_layers = names  # type: ignore[attr-defined]
        return cls

    return mark
