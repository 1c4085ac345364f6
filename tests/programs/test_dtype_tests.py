"""What is asked of dtypes, by identity and by torch's names for them, is answered as torch answers."""

import jax
import jax.numpy as jnp
import pytest

from tests.small_programs import both, compare, reported, three

PROGRAMS = {
    "is": "m = x > 0\nif m.dtype is torch.bool:\n    x = x * 2\nif x.dtype is not torch.float64:\n    x = x * 3\nreturn x * y if x.dtype is y.dtype else y",
    "the name of a dtype": "if str(x.dtype) == 'torch.float64':\n    x = x * 2\nif repr(y.dtype) not in ('torch.float32', 'torch.float64'):\n    y = y * 3\nreturn x * y",
    "the name of a type": "if x.type() == 'torch.DoubleTensor':\n    x = x * 2\nif 'torch.LongTensor' != x.type():\n    x = x * 3\nif x.type() in ('torch.FloatTensor', 'torch.cuda.FloatTensor'):\n    x = x * 5\nreturn x * y",
    "part of a name": "if 'cuda' in x.type() or x.type().startswith('torch.cuda'):\n    x = x * 2\nif str(x.dtype).startswith('torch.float'):\n    y = y * 3\nif 'Double' in y.type():\n    x = x * 5\nreturn x * y",
    "a name that is kept": "t = x.type()\nif t == 'torch.DoubleTensor':\n    x = x * 2\nreturn x * y",
    "a set of dtypes": "if x.dtype in {torch.float16, torch.float64}:\n    x = x * 2\nif x.argmax().dtype not in {torch.int64}:\n    x = x * 3\nreturn x * y",
    "names of two": "return x * y if str(x.dtype) == str(y.dtype) else y",
    "a string of the user's": "class C:\n    dtype = 'torch.float16'\n\n\ndef f(x, y):\n    c = C()\n    return x * y if c.dtype == 'torch.float16' else y",
}  # fmt: skip


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name], three())


@pytest.mark.parametrize("test", ["x.type() == y", "str(x.dtype) == y", "x.type() == 'torch.NoSuchTensor'"])
def test_a_name_that_is_not_known_is_reported(test):
    assert reported(f"def f(x: torch.Tensor, y: str):\n    return {test}") == {"unsupported"}


@pytest.mark.parametrize("test", ["x.dtype == torch.long", "x.dtype in (torch.int64, torch.uint8)", "x.type() == 'torch.LongTensor'"])
def test_integers_of_the_default_width(test):
    _, converted, code = both(f"def f(x: torch.Tensor):\n    return {test}")
    with jax.enable_x64(False):
        assert converted(jnp.arange(3)), code
        assert not converted(jnp.arange(3.0)), code
