"""Libraries that are built on torch: what torch, or a rule, calls a name of theirs.

    timm.models.layers.trunc_normal_    torch.nn.init.trunc_normal_
    timm.models.layers.DropPath         timm.layers.DropPath, which has a rule
    pytorch_lightning.LightningModule   torch.nn.Module

The rest of such a library is torch modules and torch tensors: it has no equivalent.
"""

import re
from collections.abc import Iterator

OF_HOST = ("torch.optim.", "torch.amp.", "torch.cuda.amp.", "torch.utils.data.")  # no arrays
_LIGHTNING = re.compile(
    r"(?:pytorch_lightning|lightning(?:\.pytorch)?)(?:\.core)?(?:\.\w+)?\.LightningModule"
)
_LAYERS = re.compile(r"timm(?:\.models)?\.layers(?:\.\w+)?\.(\w+)")  # they moved between versions
_REGISTERS = re.compile(r"timm(?:\.models)?(?:\.\w+)?\.register_model")
TIMMS = {
    "trunc_normal_": "torch.nn.init.trunc_normal_",
    "to_1tuple": "torch.nn.modules.utils._single",
    "to_2tuple": "torch.nn.modules.utils._pair",
    "to_3tuple": "torch.nn.modules.utils._triple",
    "to_4tuple": "torch.nn.modules.utils._quadruple",
    "to_ntuple": "torch.nn.modules.utils._ntuple",
    "Linear": "torch.nn.Linear",
    "_assert": "torch._assert",
    "DropPath": "timm.layers.DropPath",
    "drop_path": "timm.layers.drop_path",
    "LayerNorm": "timm.layers.LayerNorm",
    "LayerScale": "timm.layers.LayerScale",
    "Mlp": "timm.layers.Mlp",
    "Attention": "timm.layers.Attention",
    "PatchEmbed": "timm.layers.PatchEmbed",
}
_VISION = "timm.models.vision_transformer."  # which hands on what it is made of
_BUILT_ON_TORCH = frozenset(
    "accelerate apex assoc_scan axial_attention axial_positional_embedding bitsandbytes "
    "causal_conv1d colt5_attention deepspeed detectron2 dgl diffusers fairscale fairseq fastai "
    "flash_attn gateloop_transformer hyper_connections ignite inplace_abn kornia lambda_networks "
    "lightning linear_attention_transformer local_attention mamba_ssm MinkowskiEngine mmcls mmcv "
    "mmdet mmengine mmseg monai natten nystrom_attention open_clip peft pointnet2_ops "
    "pretrainedmodels product_key_memory pytorch3d pytorch_lightning pytorch_metric_learning "
    "routing_transformer selective_scan_cuda sentence_transformers sinkhorn_transformer spconv "
    "taylor_series_linear_attention tensordict timm torch_cluster torch_geometric torch_scatter "
    "torch_sparse torchaudio torchcde torchdiffeq torchdyn torchmetrics torchsde torchtext "
    "torchvision transformers tutel x_transformers xformers".split()
)
_SUFFIXES = ("_pytorch", "_torch")  # of their packages: `reformer_pytorch`
_WITHOUT_TORCH = re.compile(
    r".*\.[A-Z0-9_]+|.*\.__\w+__.*|transformers\..*(Tokenizer|Config|Processor).*"
)


def canonical(name: str) -> str:
    """What torch, or a rule, calls a dotted name of such a library; any other as it is."""
    if name.startswith("timm"):
        return of_timm(name) or name
    return "torch.nn.Module" if is_lightning(name) else name


def is_lightning(name: str) -> bool:
    """Whether a dotted name is that of Lightning's class for modules."""
    return "Lightning" in name and _LIGHTNING.fullmatch(name) is not None


def of_timm(name: str) -> str | None:
    """What torch, or a rule, calls a dotted name of timm's; None of any other."""
    if name.startswith(_VISION):
        own = name.removeprefix(_VISION)
        return TIMMS.get(own)
    layer = _LAYERS.fullmatch(name)
    return TIMMS.get(layer[1]) if layer is not None else None


def is_built_on_torch(name: str) -> bool:
    """Whether a dotted name is one of such a library."""
    package = name.partition(".")[0]
    return package in _BUILT_ON_TORCH or package.endswith(_SUFFIXES)


def computes_with_torch(name: str) -> bool:
    """Whether what such a library has under a dotted name makes or takes torch's tensors."""
    return "." in name and is_built_on_torch(name) and not is_without_torch(name)


def is_without_torch(name: str) -> bool:
    """Whether a dotted name of such a library is a constant, or reads text or settings alone."""
    return _WITHOUT_TORCH.fullmatch(name) is not None


def registers(name: str) -> bool:
    """Whether it is a decorator that only notes a function in a library's table of models."""
    return _REGISTERS.fullmatch(name) is not None


def spellings(name: str) -> Iterator[str]:
    """The names under which torch may export the same object, the given one first."""
    yield name
    parts = name.split(".")
    if parts[:3] == ["torch", "nn", "modules"]:
        yield "torch.nn." + parts[-1]
    below_nn = parts[:3] in (["torch", "nn", "parameter"], ["torch", "nn", "parallel"])
    if below_nn or parts[:2] == ["torch", "autograd"]:
        yield "torch.nn." + parts[-1]
    if parts[:2] == ["torch", "functional"]:
        yield "torch." + parts[-1]
        yield "torch.nn.functional." + parts[-1]
    if parts[:3] == ["torch", "nn", "functional"]:
        yield "torch." + parts[-1]
    # torch.nn.utils.weight_norm is a function, and the module that it is from
    if len(parts) > 2 and parts[-1] == parts[-2]:
        yield name.rpartition(".")[0]
    if parts[:2] == ["torch", "_C"] or parts[:2] == ["torch", "cuda"]:
        yield "torch." + parts[-1]
