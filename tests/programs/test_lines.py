"""The look of single operations: one line of torch, one line of JAX."""

import pytest

from transpile import convert_source

# x and y are tensors, i is an index tensor, n a number, self a module in forward
LINES = [
    ("x.view(n, -1)", "x.reshape(n, -1)"),
    ("x.view(x.size(0), -1)", "x.reshape(x.shape[0], -1)"),
    ("x.size(0)", "x.shape[0]"),
    ("x.size()", "x.shape"),
    ("x.dim()", "x.ndim"),
    ("x.numel()", "x.size"),
    ("x.new(x.size())", "jnp.zeros(x.shape, dtype=x.dtype)"),
    ("x.permute(0, 2, 1)", "x.transpose(0, 2, 1)"),
    ("x.transpose(1, 2)", "x.swapaxes(1, 2)"),
    ("x.transpose(n, 2)", "x.swapaxes(n, 2)"),
    ("x.transpose(*self.axes)", "x.swapaxes(*self.axes)"),
    ("torch.transpose(x, 0, 0)", "x"),
    ("x.t()", "x.T"),
    ("x.unsqueeze(1)", "x[:, None]"),
    ("x.index_select(0, y)", "jnp.take(x, jnp.atleast_1d(y), axis=0)"),
    ("x.index_select(1, y.view(-1))", "jnp.take(x, y.reshape(-1), axis=1)"),
    ("x.sum([0, 1])", "x.sum(axis=(0, 1))"),
    ("x.mean([-1], keepdim=True)", "x.mean(axis=-1, keepdims=True)"),
    ("torch.roll(x, (-1,), dims=(n,))", "jnp.roll(x, (-1,), axis=(n,))"),
    ("x.flip([1])", "jnp.flip(x, axis=1)"),
    ("x.unsqueeze(1).unsqueeze(2)", "x[:, None, None]"),
    ("x.unsqueeze(-1).unsqueeze(-1)", "x[..., None, None]"),
    ("torch.hann_window(n)", "nn.hann(n, sym=False)"),
    ("(x + y).gather(1, i)", "nn.gather(x + y, 1, i)"),
    ("(-x).std(0)", "nn.std(-x, 0)"),
    ("x.contiguous()", "x"),
    ("x.mean(1)", "x.mean(axis=1)"),
    ("x.mean(dim=tuple(range(1, x.ndim)))", "x.mean(axis=tuple(range(1, x.ndim)) or None)"),
    ("x.mean(dim=(2, 3), keepdim=True)", "x.mean(axis=(2, 3), keepdims=True)"),
    ("x.sum()", "x.sum()"),
    ("torch.cat([x, y], dim=1)", "jnp.concatenate([x, y], axis=1)"),
    ("torch.stack([x, y])", "jnp.stack([x, y])"),
    ("torch.matmul(x, y)", "x @ y"),
    ("torch.exp(x)", "jnp.exp(x)"),
    ("torch.sigmoid(x)", "jax.nn.sigmoid(x)"),
    ("x.tanh()", "jnp.tanh(x)"),
    ("F.relu(x)", "jax.nn.relu(x)"),
    ("F.relu(x, inplace=True)", "jax.nn.relu(x)"),
    ("F.gelu(x)", "jax.nn.gelu(x, approximate=False)"),
    ("F.softmax(x, dim=-1)", "jax.nn.softmax(x, axis=-1)"),
    ("x.softmax(-1)", "jax.nn.softmax(x, axis=-1)"),
    ("torch._softmax_backward_data(x, y, 1, x.dtype)", "nn.softmax_backward_data(x, y, 1, x.dtype)"),
    ("F.log_softmax(x, dim=1)", "jax.nn.log_softmax(x, axis=1)"),
    ("torch.zeros(2, 3)", "jnp.zeros((2, 3))"),
    ("torch.zeros(2, 3, device=x.device)", "jnp.zeros((2, 3))"),
    ("torch.zeros_like(x)", "jnp.zeros_like(x)"),
    ("torch.ones(n, n)", "jnp.ones((n, n))"),
    ("torch.arange(n)", "jnp.arange(n)"),
    ("torch.eye(3)", "jnp.eye(3)"),
    ("x.to(y.device)", "x"),
    ("x.float()", "x.astype(jnp.float32)"),
    ("x.detach()", "lax.stop_gradient(x)"),
    ("x.abs()", "jnp.where(x == 0, 0, jnp.abs(x))"),
    ("x.detach().abs() > 1", "jnp.abs(x) > 1"),
    ("x.norm(dim=1) < 3", "jnp.linalg.norm(x, axis=1) < 3"),
    ("x.norm(1) < 3", "jnp.linalg.norm(x.ravel(), ord=1) < 3"),
    ("x.norm(1, keepdim=True) < 3", "nn.vector_norm(x, 1, keepdim=True) < 3"),
    ("x / x.norm(1)", "x / nn.vector_norm(x, 1)"),
    ("x.std(0) < 3", "x.std(axis=0, ddof=1) < 3"),
    ("x / x.norm(dim=-1, keepdim=True)", "x / jnp.linalg.norm(x, axis=-1, keepdims=True)"),
    ("x / torch.linalg.norm(x, dim=-1, keepdim=True)", "x / jnp.linalg.norm(x, axis=-1, keepdims=True)"),
    ("x / x.norm()", "x / jnp.linalg.norm(x)"),
    ("x / torch.norm(x)", "x / jnp.linalg.norm(x)"),
    ("x / x.norm(dim=0)", "x / nn.vector_norm(x, dim=0)"),
    ("y / x.norm(dim=0, keepdim=True)", "y / nn.vector_norm(x, dim=0, keepdim=True)"),
    ("x / (x.norm() + 1e-6)", "x / (nn.vector_norm(x) + 1e-6)"),
    ("x.clone()", "x"),
    ("torch.max(x, y)", "jnp.maximum(x, y)"),
    ("x.argmax(dim=1)", "x.argmax(axis=1)"),
    ("x.masked_fill(x == 0, float('-inf'))", "jnp.where(x == 0, -jnp.inf, x)"),
    ("x.argmax(1).masked_fill(y, 7.5)", "nn.masked_fill(x.argmax(axis=1), y, 7.5)"),
    ("torch.empty(3, 3).fill_(-float('inf')).triu_(1)", "jnp.triu(jnp.full((3, 3), -jnp.inf), k=1)"),
    ("torch.zeros(3).fill_(-1)", "jnp.full((3,), -1.0)"),
    ("torch.zeros(3, dtype=x.dtype).fill_(-1)", "jnp.full((3,), -1, dtype=x.dtype)"),
    ("torch.zeros(3, dtype=torch.long).fill_(-1)", "jnp.full((3,), -1, dtype=int)"),
    ("F.scaled_dot_product_attention(x, x, y, is_causal=n > 1)", "nn.scaled_dot_product_attention(x, x, y, is_causal=n > 1)"),
    ("F.scaled_dot_product_attention(x, x, y, None, 0.0)", "nn.scaled_dot_product_attention(x, x, y, None, 0.0)"),
    ("torch.zeros(3, dtype=torch.long).masked_fill(y, 7.5)", "nn.masked_fill(jnp.zeros((3,), dtype=int), y, 7.5)"),
    ("x.to(torch.int64).masked_fill(y, 7.5)", "nn.masked_fill(x.astype(int), y, 7.5)"),
    ("torch.FloatTensor((2, 3))", "jnp.array((2, 3), dtype=jnp.float32)"),
    ("torch.FloatTensor(x.shape[:2] + (3,))", "jnp.zeros(x.shape[:2] + (3,), dtype=jnp.float32)"),
    ("torch.Tensor(list(x.shape))", "jnp.array(list(x.shape), dtype=float)"),
    ("torch.where(x > 0, x, y)", "jnp.where(x > 0, x, y)"),
    ("torch.bmm(x, y)", "x @ y"),
    ("torch.flatten(x, 1)", "x.reshape(x.shape[0], -1)"),
    ("x[:, [0, 2]]", "x[:, jnp.array([0, 2])]"),
    ("x.type(dtype)", "x.astype(dtype)"),
    ("x[:, [-1]] + x[[1]]", "x[:, -1:] + x[1:2]"),
    ("(x + y).mean(1)", "(x + y).mean(axis=1)"),
    ("-x.mean()", "-x.mean()"),
    ("x.add(y, alpha=2)", "x + 2 * y"),
    ("torch.triu(x, diagonal=1)", "jnp.triu(x, k=1)"),
    ("x.std(dim=0)", "nn.std(x, dim=0)"),
    ("torch.jit.annotate(torch.Tensor, x)", "x"),
    ("torch.jit._unwrap_optional(x)", "x"),
    ("torch.tensor([1.0, 2.0])", "jnp.array([1.0, 2.0])"),
]


def test_what_takes_nothing_is_divided():
    """A call without arguments is no norm of what it divides."""
    made = convert_source("import torch\n\n\ndef f(n):\n    return torch.get_num_threads() / n, 1 / torch.get_num_threads()\n")
    assert [d.id for d in made.diagnostics] == ["no-rule", "no-rule"]


@pytest.mark.parametrize(("torch_line", "jax_line"), LINES, ids=[line for line, _ in LINES])
def test_line(torch_line, jax_line):
    source = f"import torch\nimport torch.nn.functional as F\n\n\ndef f(x: torch.Tensor, y: torch.Tensor, n: int):\n    return {torch_line}\n"
    result = convert_source(source)
    assert not result.diagnostics
    assert result.code.strip().splitlines()[-1].strip() == f"return {jax_line}"
