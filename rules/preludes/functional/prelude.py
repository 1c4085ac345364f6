"""Layers in the place of others; keys for what is not counted before it runs."""

import copy
import functools
import inspect
import weakref

import jax


class Identity(Module):
    """Its input; it takes what another layer in its place would: ``params``, ``key``, ``training``."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *inputs, **effects):
        return inputs[-1]


def as_module(function, effects=None):
    """What can be called like a module: modules and None as they are, other functions wrapped.

    A module takes no more than these effects: the model that it is given to has no others for it. One that takes
    fewer is called with all of them as well.
    """
    if callable(function) and not isinstance(function, (Module, type)):
        function = Function(function)
    if effects is not None and isinstance(function, Module):
        _refuse_more(type(function), _all_effects(function), effects)
        return _with_effects(function, frozenset(effects))
    return function


_views = weakref.WeakKeyDictionary()  # so that one module that two others are given stays one


def _with_effects(module, effects):
    """A module as one that takes these effects, of which it may need fewer."""
    own = _effects(type(module).__call__) if callable(module) else effects
    if effects <= own and own - effects <= {"key", "training"}:
        return module
    views = _views.setdefault(module, {})
    if effects not in views:
        views[effects] = copy.copy(module)
        views[effects].__class__ = _taking(type(module), effects)
    return views[effects]


@functools.cache
def _taking(cls, effects):
    """A class whose modules take these effects, and hand on what those of ``cls`` need."""

    def run(self, *args, key=None, training=False, **kwargs):
        inner, args = copy.copy(self), list(args)
        inner.__class__ = cls
        params = args.pop(0) if "params" in effects else {}
        state = args.pop(0) if "state" in effects else {}
        output, state = inner.apply(params, state, *args, key=key, training=training, **kwargs)
        return (output, state) if "state" in effects else output

    run.__signature__ = inspect.Signature(
        [inspect.Parameter(e, inspect.Parameter.KEYWORD_ONLY) for e in sorted(effects)]
    )
    return type(cls.__name__, (cls,), {"__call__": run})


def _all_effects(module):
    """The effects that a module takes; a container has those of its items."""
    run = type(module).__call__ if callable(module) else None
    if hasattr(module, "places") and (run is None or run.__module__ == __name__):
        return frozenset().union(*(_all_effects(m) for m in module.values() if m is not None))
    return frozenset() if run is None else _effects(run)


def _refuse_more(cls, own, effects):
    extra = own - set(effects)
    if extra:
        raise TypeError(f"{cls.__name__} takes {', '.join(sorted(extra))}: this model does not give it that")


def taking(make, *effects):
    """A class of layers, or what makes one, as one of which each layer takes these effects, and needs no more."""
    cls = make
    while isinstance(cls, functools.partial):
        cls = cls.func
    if isinstance(cls, type) and issubclass(cls, Module):
        own = _effects(cls.__call__)
        _refuse_more(cls, own, effects)
        if own == set(effects) or cls is Identity:
            return make
    return (lambda *args, **kwargs: as_module(make(*args, **kwargs), effects)) if callable(make) else make


def split_rows(key, n):
    """``n`` keys as rows for a scan, or None where no key was given."""
    return None if key is None else jax.random.split(key, n)


def key_stream(key):
    """Keys without end, or Nones where no key was given."""
    i = 0
    while True:
        yield None if key is None else jax.random.fold_in(key, i)
        i += 1
