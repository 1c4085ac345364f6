"""Calls at the edges, made from calls that torch takes: other shapes, dtypes, dims, options, and
numbers that are special.

Each way of making them is a function from a call to calls. Most of what they make torch refuses,
and then it does not count.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from ..arrays import is_differentiable
from .arguments import Argument, values
from .calls import Call

WIDE = (torch.complex128, torch.int64)
NARROW = (
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.int64,
    torch.bool,
    torch.uint8,
    torch.complex64,
    torch.int32,
)
# the places where functions of one variable have corners
CORNERS = (-6.0, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 20.0, 25.0, -20.0)


# ------------------------------------------------------------------ other structure, which jit
# compiles anew


def structures(
    call: Call, signature: list[Argument], words: list[str]
) -> Iterator[tuple[str, Call]]:
    """Calls of other shapes, dims, options and dtypes, each with the way in which it was made."""
    ways: dict[str, Iterable[Call]] = {
        "shape": shapes(call),
        "dim": dims(call),
        "option": options(call, signature, words),
        "pair": pairs(call),
        "dtype": dtypes(call),
    }
    for way, made in ways.items():
        for other in made:
            other.origin = "edges"
            yield way, other


def shapes(call: Call) -> Iterator[Call]:
    """0-dim tensors, dims of size 0 and 1, a dim more, a dim less: of all tensors at once, and of
    the first alone."""
    sizes = dict.fromkeys(n for t in call.tensors() for n in t.shape if n > 1)
    for size, new in itertools.product(sizes, (0, 1)):
        yield call.mapped(lambda t, size=size, new=new: _resized(t, size, new))
    for change in (_without_dims, _less, _more):
        yield call.mapped(change)
        places = [i for i, x in enumerate(call.flat()[0]) if isinstance(x, torch.Tensor)]
        if len(places) > 1:
            for place in places[:3]:
                yield call.replaced(place, change(call.flat()[0][place]))


def _resized(tensor: Any, size: int, new: int) -> Any:
    for axis, n in enumerate(tensor.shape):
        if n == size:
            tensor = tensor.narrow(axis, 0, new)
    return tensor.clone()


def _without_dims(tensor: Any) -> Any:
    return tensor.reshape(-1)[0].clone() if tensor.numel() else tensor


def _less(tensor: Any) -> Any:
    return tensor[0].clone() if tensor.ndim and tensor.shape[0] else tensor


def _more(tensor: Any) -> Any:
    return torch.stack([tensor, tensor.flip(0) if tensor.ndim else tensor])


def dims(call: Call) -> Iterator[Call]:
    """Every whole number counted from the end, as torch takes dims, and others in its place."""
    tensors = call.tensors()
    rank = tensors[0].ndim if tensors else 1
    for place, value in enumerate(call.flat()[0]):
        if type(value) is int:
            for other in dict.fromkeys((value - rank, 0, 1, -1, 2)):
                if other != value:
                    yield call.replaced(place, other)
    for place, value in enumerate(call.flat()[0]):
        if type(value) is bool:
            yield call.replaced(place, not value)


def options(call: Call, signature: list[Argument], words: list[str]) -> Iterator[Call]:
    """Optional arguments that the call does not give: each at some values, then two together."""
    tensors = call.tensors()
    if not tensors:
        return
    positions = [a for a in signature if not a.keyword]
    given = {a.name for a in positions[: len(call.args)]} | set(call.kwargs)
    free = [a for a in signature if not a.required and a.name not in given]
    if not all(t.numel() for t in tensors):
        free = [a for a in free if a.kind != "dtype"]  # as in `dtypes`
    offers = {a.name: values(a, words, tensors[0]) for a in free}
    for name, offered in offers.items():
        for value in offered:
            yield _with(call, {name: value})
    for first, second in itertools.combinations(offers, 2):
        for pair in itertools.product(offers[first][:2], offers[second][:2]):
            yield _with(call, dict(zip((first, second), pair)))


def _with(call: Call, more: dict[str, Any]) -> Call:
    return Call(call.args, {**call.kwargs, **more}, call.origin, call.wide, call.settled)


def pairs(call: Call) -> Iterator[Call]:
    """Two tensors whose shapes broadcast; a Python number in the place of one; a 0-dim one of
    another dtype."""
    flat = call.flat()[0]
    places = [i for i, x in enumerate(flat) if isinstance(x, torch.Tensor)]
    if len(places) < 2:
        return
    first, second = places[:2]
    for one, other in (((2, 1), (3,)), ((3,), (2, 1)), ((1,), (2, 3)), ((), (2, 3)), ((2, 3), ())):
        yield call.replaced(first, _like(flat[first], one)).replaced(
            second, _like(flat[second], other)
        )
    for number in (2, 0.5, True, -1):
        yield call.replaced(second, number)
    if is_differentiable(flat[first]) and is_differentiable(flat[second]):
        whole = (flat[second] * 4).real.to(torch.int64)
        yield call.replaced(second, whole)
        yield call.replaced(first, (flat[first] * 4).real.to(torch.int64))


def _like(tensor: Any, shape: tuple[int, ...]) -> Any:
    count = torch.Size(shape).numel()
    numbers = tensor.reshape(-1)
    if not numbers.numel():
        return torch.zeros(shape, dtype=tensor.dtype)
    return numbers.repeat(count // numbers.numel() + 1)[:count].reshape(shape).clone()


def dtypes(call: Call) -> Iterator[Call]:
    """All tensors of floats in other dtypes; whole numbers and bools are made of their signs and
    sizes."""
    if not all(t.numel() for t in call.tensors()):
        return  # torch takes empty tensors of dtypes that it otherwise refuses
    if not any(is_differentiable(t) for t in call.tensors()):
        for dtype in (torch.int32, torch.uint8, torch.bool):
            yield _narrow(call.mapped(lambda t, dtype=dtype: t.to(dtype)))
        return
    for dtype in NARROW:
        yield _narrow(call.mapped(lambda t, dtype=dtype: _cast(t, dtype)))
    for dtype in WIDE:
        yield call.mapped(lambda t, dtype=dtype: _cast(t, dtype))


def _narrow(call: Call) -> Call:
    call.wide = False
    return call


def _cast(tensor: Any, dtype: Any) -> Any:
    if not is_differentiable(tensor):
        return tensor
    if dtype == torch.bool:
        return (tensor.real if tensor.is_complex() else tensor) > 0
    if not dtype.is_floating_point and not dtype.is_complex:
        whole = ((tensor.real if tensor.is_complex() else tensor) * 4).round().clamp(-50, 50)
        return (whole.abs() if dtype == torch.uint8 else whole).to(dtype)
    if dtype.is_complex and not tensor.is_complex():
        return torch.complex(tensor, tensor.flip(0) if tensor.ndim else tensor).to(dtype)
    return (tensor.real if tensor.is_complex() and not dtype.is_complex else tensor).to(dtype)


# ------------------------------------------------------------------ other numbers, which cost no
# compilation


def numbers(call: Call) -> Iterator[Call]:
    """The same shapes and dtypes with special numbers, in all tensors of floats at once and in the
    first alone."""
    places = [i for i, x in enumerate(call.flat()[0]) if _is_filled(x)]
    for fill in (*FILLS, strided):
        for some in dict.fromkeys((tuple(places), tuple(places[:1]), tuple(places[1:2]))):
            made = call
            for place in some:
                made = made.replaced(place, fill(made.flat()[0][place]))
            if some:
                made.origin = "edges"
                yield made


def _is_filled(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() > 0 and value.layout == torch.strided


def strided(tensor: Any) -> Any:
    """The same numbers, every second one in memory."""
    return torch.stack([tensor, tensor], -1)[..., 0]


def _put(*numbers: float) -> Callable[[Any], Any]:
    """These numbers in the first places, the others as they were; no infinite ones in complex
    arrays.

    `(inf+0j) + (inf+0j)` is `inf+nanj` in torch, whose addition multiplies by alpha: nothing there
    is anybody's to rely on.
    """

    def fill(tensor: Any) -> Any:
        if (
            not is_differentiable(tensor)
            or tensor.is_complex()
            and not all(map(math.isfinite, numbers))
        ):
            return tensor
        flat = tensor.clone().reshape(-1)
        count = min(len(numbers), flat.numel())
        flat[:count] = torch.tensor(numbers[:count], dtype=torch.float64).to(flat.dtype)
        return flat.reshape(tensor.shape)

    return fill


def _tiled(*numbers: float) -> Callable[[Any], Any]:
    """These numbers over and over."""

    def fill(tensor: Any) -> Any:
        if not is_differentiable(tensor):
            return tensor
        return _like(torch.tensor(numbers, dtype=torch.float64), tuple(tensor.shape)).to(
            tensor.dtype
        )

    return fill


def _scaled(scale: float) -> Callable[[Any], Any]:
    return lambda t: t * scale if is_differentiable(t) else t


FILLS = (
    _tiled(0.0),
    _tiled(1.0, 0.0, -1.0),
    _tiled(0.5),
    _tiled(*CORNERS),
    _put(-0.0),
    _put(float("nan")),
    _put(float("inf"), -float("inf")),
    _put(-float("inf")),
    _scaled(1e6),
    _scaled(1e-12),
)
