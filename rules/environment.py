"""What torch answers about devices, autograd and compilers: constants, as seen from a JAX program."""

import typing

import jax.numpy as jnp

from transpile.rule import rule


@rule("torch.device")
def device(type=None, index=None):
    return None


@rule("torch.device.type")
def device_type(input):
    return "cpu"  # code asks in order to choose a kernel of its own: the plain way is meant


@rule("torch.device.index")
def device_index(input):
    return None


@rule("torch.Tensor.device", "torch.Tensor.layout", "torch.Tensor.grad_fn")
def no_device(input):
    return None


@rule("torch.Tensor.is_cuda", "torch.Tensor.is_mps", "torch.Tensor.is_xpu", "torch.Tensor.is_sparse")
def is_cuda(input):
    return False


@rule("torch.Tensor.is_quantized", "torch.Tensor.is_mkldnn", "torch.Tensor.is_meta", "torch.Tensor.is_nested")
def is_quantized(input):
    return False


@rule(
    "torch.Tensor.requires_grad",
    note="every param counts as trained here, and every tensor as differentiated: leave out those that are not",
)
def requires_grad(input):
    return True


@rule("torch.Tensor.is_contiguous", "torch.Tensor.is_cpu")
def is_contiguous(input):
    return True


@rule("torch.Tensor.is_pinned", "torch.Tensor.is_shared", "torch.Tensor.is_inference")
def is_pinned(input):
    return False


@rule("torch.Tensor.get_device", "torch.get_device")
def get_device(input):
    return -1


@rule(
    "torch.cuda.is_available",
    "torch.cuda.is_initialized",
    "torch.cuda.is_bf16_supported",
    "torch.backends.mps.is_available",
    "torch.backends.mps.is_built",
    "torch.xpu.is_available",
    "torch.distributed.is_available",
    "torch.distributed.is_initialized",
    "flashy.distrib.is_distributed",
)
def is_available():
    return False


@rule("torch.cuda.device_count", "torch.cuda.current_device", "torch.distributed.get_rank", "flashy.distrib.rank")
def device_count():
    return 0


@rule("torch.distributed.get_world_size", "flashy.distrib.world_size")
def get_world_size(group=None):
    return 1


@rule("flashy.distrib.is_rank_zero")
def is_rank_zero():
    return True


@rule(
    "torch.cuda.synchronize",
    "torch.cuda.empty_cache",
    "torch.cuda.reset_peak_memory_stats",
    "torch.cuda.set_device",
    "torch._C._log_api_usage_once",
)
def synchronize(device=None):
    return None


@rule(
    "torch.manual_seed",
    "torch.random.manual_seed",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.mps.manual_seed",
    "torch.xpu.manual_seed_all",
    note="random numbers follow from the keys that functions are given: begin with jax.random.key(seed)",
)
def manual_seed(seed):
    return None


@rule("torch.is_grad_enabled")
def is_grad_enabled():
    return True


@rule(
    "torch.jit.is_scripting",
    "torch.jit.is_tracing",
    "torch._C._get_tracing_state",
    "torch._C._is_tracing",
    "torch.onnx.is_in_onnx_export",
    "torch.compiler.is_compiling",
    "torch.compiler.is_dynamo_compiling",
    "torch.compiler.is_exporting",
    "torch._dynamo.is_compiling",
    "torch.is_inference_mode_enabled",
    "torch.are_deterministic_algorithms_enabled",
    "torch.is_autocast_cpu_enabled",
    "torch.is_autocast_cache_enabled",
)
def is_scripting():
    return False


@rule("torch.is_autocast_enabled")
def is_autocast_enabled(device_type=None):
    return False


@rule("torch.get_autocast_gpu_dtype")
def get_autocast_gpu_dtype():
    return jnp.float16


@rule("torch.get_autocast_cpu_dtype")
def get_autocast_cpu_dtype():
    return jnp.bfloat16


@rule("torch.is_storage")
def is_storage(obj):
    return False


@rule("torch.set_default_device")
def set_default_device(device):
    return None


@rule("torch.overrides.has_torch_function", "torch.overrides.has_torch_function_unary")
def has_torch_function(relevant_args):
    return False


@rule("torch.overrides.has_torch_function_variadic")
def has_torch_function_variadic(*args):
    return False


@rule("torch.jit.annotate")
def annotate(the_type, the_value):
    return the_value


@rule("torch.jit._unwrap_optional")
def unwrap_optional(x):
    return x


@rule("torch.jit.isinstance")
def jit_isinstance(obj, target_type):
    """``isinstance`` that looks into containers: ``List[jax.Array]`` asks every element."""
    if isinstance(target_type, tuple):
        return any(jit_isinstance(obj, one) for one in target_type)
    origin, parts = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None:
        return isinstance(obj, target_type)
    if origin is list:
        return isinstance(obj, list) and all(jit_isinstance(item, parts[0]) for item in obj)
    if origin is tuple:
        return isinstance(obj, tuple) and len(obj) == len(parts) and all(map(jit_isinstance, obj, parts))
    if origin is dict:
        return isinstance(obj, dict) and all(all(map(jit_isinstance, item, parts)) for item in obj.items())
    return obj is None or any(jit_isinstance(obj, part) for part in parts)  # Optional, Union


@rule("torch.cuda.get_device_capability")
def get_device_capability(device=None):
    return (0, 0)  # of no CUDA device that torch's kernels know


@rule("torch.onnx.operators.shape_as_tensor")
def shape_as_tensor(x):
    return jnp.array(x.shape)


@rule("torch.set_num_threads", "torch.set_num_interop_threads", "torch.set_printoptions", "torch.set_warn_always")
def set_num_threads(value=None):
    return None


@rule("torch.use_deterministic_algorithms", "torch.autograd.set_detect_anomaly")
def use_deterministic_algorithms(mode, warn_only=False):
    return None


@rule("torch.set_float32_matmul_precision")
def set_float32_matmul_precision(precision):
    return None
