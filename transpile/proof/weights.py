"""Carry weights between a torch module and its converted counterpart."""

import re
from collections.abc import Callable, Mapping
from typing import Any


def from_torch(source: Any, module: Any) -> tuple[Any, Any]:
    """(params, state) for a converted module, from a torch module or a state_dict.

    The shape of the result is that of the module's own tree of submodules; names are torch's.
    """
    tensors = _tensors(source)
    params: dict[str, Any] = {}
    state: dict[str, Any] = {}
    begun = _begun(module, "init"), _begun(module, "init_state")
    original = source if hasattr(source, "named_modules") else None
    _fill(module, "", tensors, original, params, state, *begun)
    _without_ties(params, begun[0])
    return params, state


def _without_ties(params: dict[str, Any], made: Any) -> None:
    """Drop what a submodule would have of its own but `init` has taken from it: it shares the array
    of another, or all of those of a module."""
    for name in list(params) if isinstance(made, dict) else ():
        if name not in made:
            del params[name]
        elif isinstance(params[name], dict):
            _without_ties(params[name], made[name])


def _tensors(source: Any) -> dict[str, tuple[str, Any]]:
    """Dotted name -> ("params" or "state", array)."""
    if isinstance(source, Mapping):
        return {_ours(name): ("", to_array(value)) for name, value in source.items()}
    found: dict[str, tuple[str, Any]] = {}
    for name, value in source.named_buffers(remove_duplicate=False):
        found[_ours(name)] = ("state", to_array(value))
    for name, value in source.named_parameters(remove_duplicate=False):
        found[_ours(name)] = ("params", to_array(value))
    return found


def _ours(path: str) -> str:
    """A dotted name with `init_` for an `init` of torch's, which is a method here."""
    return re.sub(r"\b(init|init_state)(?=\.|$)", r"\1_", path)


def _theirs(path: str) -> str:
    """The dotted name that torch has for it: `shadowing` gives the others."""
    return re.sub(r"\b(init|init_state)_(?=\.|$)", r"\1", path)


def to_array(tensor: Any) -> Any:
    """A jax array with a tensor's dtype and values, dense where the tensor is sparse."""
    import jax.numpy as jnp

    if not hasattr(tensor, "detach"):
        return jnp.asarray(tensor)
    found = jnp.asarray(to_numpy(tensor))
    return found.astype(jnp.bfloat16) if str(tensor.dtype) == "torch.bfloat16" else found


def to_numpy(tensor: Any) -> Any:
    """A NumPy array with a tensor's values; in float32 where they are bfloat16."""
    tensor = tensor.detach().cpu().to_dense().resolve_conj().resolve_neg()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def _fill(
    module: Any,
    prefix: str,
    tensors: dict[str, tuple[str, Any]],
    original: Any,
    params: Any,
    state: Any,
    own_params: dict[str, Any] | None,
    own_state: dict[str, Any] | None,
) -> None:
    """Put what belongs to a module and below it into params and state; what `init` and `init_state`
    give for it says where each is, and None that nothing is known."""
    children = dict(module.children())
    tail = prefix + "." if prefix else ""
    direct = {
        name[len(tail) :]: where_value
        for name, where_value in tensors.items()
        if name.startswith(tail) and "." not in name[len(tail) :]
    }
    for name, (where, value) in direct.items():
        if name in children:
            continue
        if own_state is not None and name in own_state or own_state is None and where == "state":
            state[name] = value
        elif (
            own_params is not None and name in own_params or own_params is None and where != "state"
        ):
            params[name] = value
        else:
            _check_constant(module, f"{tail}{name}", value)
    for name, child in children.items():
        if _declares(child):
            is_buffer = type(child).__name__ == "Buffer"
            if name in direct:
                (state if is_buffer else params)[name] = direct[name][1]
            other, own = (params, own_params) if is_buffer else (state, own_state)
            if own is None or name in own:  # not of a layer with an `init` of its own
                other.setdefault(name, {})
            continue
        inner = getattr(original, _theirs(name), None) if original is not None else None
        if inner is None and original is not None and hasattr(original, "_modules"):
            inner = original._modules.get(_theirs(name))
        params[name], state[name] = {}, {}
        below = (
            _below(own_params, name, child, "init"),
            _below(own_state, name, child, "init_state"),
        )
        _fill(child, f"{tail}{name}", tensors, inner, params[name], state[name], *below)
    for made, own in ((params, own_params), (state, own_state)):
        if own is not None and "parametrizations" in own:
            path = f"{tail}parametrizations"
            made["parametrizations"] = _nested(own["parametrizations"], path, tensors)
    for name in own_params or ():
        value = getattr(original, _theirs(name), None) if original is not None else None
        if name not in params and name not in children and hasattr(value, "detach"):
            params[name] = to_array(
                value
            )  # a parameter under one configuration, a plain tensor under another
    for name in own_state or ():
        if name not in state:
            value = getattr(original, _theirs(name), None) if original is not None else None
            state[name] = in_each(lambda v: to_array(v) if hasattr(v, "detach") else v, value)


def in_each(function: Callable[[Any], Any], value: Any) -> Any:
    """A value with what a function makes of each thing in its dicts and lists:
    `self.grid = [torch.zeros(1)] * 3`."""
    if isinstance(value, dict):
        return {key: in_each(function, inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        made = [in_each(function, inner) for inner in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return function(value)


def _nested(tree: Any, path: str, tensors: dict[str, tuple[str, Any]]) -> Any:
    """The arrays below a path that is no module here: the parametrizations of a layer."""
    if not isinstance(tree, dict):
        return tensors[path][1]
    return {name: _nested(inner, f"{path}.{name}", tensors) for name, inner in tree.items()}


def _check_constant(module: Any, path: str, value: Any) -> None:
    """What the module was built with, as the class weights of a loss, or computes when it is asked
    for, must be what the source holds."""
    name = path.rpartition(".")[2]
    computed = isinstance(getattr(type(module), name, None), property)
    try:
        own = getattr(module, name) if computed else vars(module).get(name)
    except Exception:  # it needs params
        return
    if hasattr(own, "shape") and not agree(own, value):
        how = "computes" if computed else "was built with"
        raise ValueError(
            f"{path} is a constant of {type(module).__name__}, which {how} another "
            "value than the source holds"
        )


def agree(own: Any, value: Any) -> bool:
    """Whether two arrays are the same but for how `sin` is computed here and there: within 1e-3 of
    the largest element."""
    import numpy as np

    own = np.asarray(own)
    if own.dtype.kind not in "biuf":
        return True
    held, own = np.asarray(value, np.float64), own.astype(np.float64)
    largest = np.abs(own[np.isfinite(own)]).max(initial=0)
    return own.shape == held.shape and np.allclose(own, held, 1e-3, 1e-3 * largest, equal_nan=True)


def _declares(module: Any) -> bool:
    """A Parameter or Buffer: one array, not a module with arrays."""
    return type(module).__name__ in ("Parameter", "Buffer") and hasattr(module, "initial")


def _begun(module: Any, method: str) -> dict[str, Any] | None:
    """What `init` or `init_state` returns, by name: shapes, or None for each name where the method
    can be run or read alone; None where not even that."""
    tree = shapes(module, method)
    if tree is None:
        names = _by_running(module, method)
        return None if names is None else dict.fromkeys(names)
    return tree if isinstance(tree, dict) else {}


def _below(own: dict[str, Any] | None, name: str, child: Any, method: str) -> dict[str, Any] | None:
    """The same for a submodule, out of what is known of the module above it."""
    known = own.get(name) if own is not None else None
    return known if isinstance(known, dict) else _begun(child, method)


def shapes(module: Any, method: str) -> Any:
    """The names, shapes and dtypes that `init` or `init_state` returns, without computing them;
    None where it fails."""
    import jax

    try:
        with jax.numpy_dtype_promotion("standard"):
            return jax.eval_shape(
                getattr(module, method), jax.ShapeDtypeStruct((), jax.random.key(0).dtype)
            )
    except Exception:
        return None


def _by_running(module: Any, method: str) -> set[str] | None:
    import jax

    try:
        tree = getattr(module, method)(jax.random.key(0))
    except Exception:
        return _by_reading(module, method)
    return set(tree) if isinstance(tree, dict) else set()


def _by_reading(module: Any, method: str) -> set[str] | None:
    """The names that the source of the method sets, for one that cannot be run: part of it was not
    converted."""
    import inspect

    what = "state" if method == "init_state" else "params"
    found = set()
    for cls in type(module).__mro__:
        if method in vars(cls):
            try:
                source = inspect.getsource(vars(cls)[method])
            except (OSError, TypeError):
                return None
            found |= set(re.findall(rf'\b{what}\["(\w+)"\] = ', source)) | set(
                re.findall(r'"(\w+)": ', source)
            )
    return found | {name for name, _ in module.children()}


def to_torch(params: Any, state: Any = None) -> dict[str, Any]:
    """A state_dict of torch tensors from params and state."""
    import numpy as np
    import torch

    found: dict[str, Any] = {}

    def walk(tree: Any, prefix: str) -> None:
        for name, value in tree.items():
            if isinstance(value, dict):
                walk(value, f"{prefix}{name}.")
            elif value is not None:
                array, path = np.asarray(value), _theirs(prefix + name)
                if array.dtype.name == "bfloat16":
                    found[path] = torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
                else:
                    found[path] = torch.from_numpy(array.copy())

    walk(params, "")
    walk(state or {}, "")
    return found


def flatten(tree: Any, prefix: str = "") -> dict[str, Any]:
    """The arrays of nested dicts, by torch's names."""
    import jax.numpy as jnp

    found: dict[str, Any] = {}
    for name, value in tree.items() if isinstance(tree, dict) else ():
        if isinstance(value, dict):
            found |= flatten(value, f"{prefix}{name}.")
            continue
        dtype = getattr(value, "dtype", None)  # float0, of an integer's gradient, is no number
        if dtype is not None and any(jnp.issubdtype(dtype, k) for k in (jnp.number, bool)):
            found[_theirs(prefix + name)] = value
    return found
