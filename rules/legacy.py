"""Signatures that torch has deprecated and still takes: a scale comes before the tensors that it scales."""

from transpile.rule import known, rule


@rule("torch.add", "torch.Tensor.add")
def add_scaled(input, alpha, other):
    return input + alpha * other


@rule("torch.sub", "torch.Tensor.sub")
def sub_scaled(input, alpha, other):
    return input - alpha * other


@rule("torch.addcmul", "torch.Tensor.addcmul")
def addcmul_scaled(input, value, tensor1, tensor2):
    return input + value * tensor1 * tensor2


@rule("torch.addcdiv", "torch.Tensor.addcdiv")
def addcdiv_scaled(input, value, tensor1, tensor2):
    return input + value * tensor1 / tensor2


@rule("torch.Tensor.addmm", "torch.Tensor.baddbmm", "torch.Tensor.addmv")
def addmm_scaled(input, beta, alpha, mat1, mat2):
    if known(beta == 1):
        return input + alpha * (mat1 @ mat2)
    if known(beta == 0):
        return alpha * (mat1 @ mat2)
    return beta * input + alpha * (mat1 @ mat2)


@rule("torch.addmm", "torch.baddbmm", "torch.addmv")
def addmm_between(beta, input, alpha, mat1, mat2):
    if known(beta == 1):
        return input + alpha * (mat1 @ mat2)
    if known(beta == 0):
        return alpha * (mat1 @ mat2)
    return beta * input + alpha * (mat1 @ mat2)


@rule("torch.Tensor.addmm", "torch.Tensor.baddbmm", "torch.Tensor.addmv")
def addmm_beta(input, beta, mat1, mat2):
    if known(beta == 0):
        return mat1 @ mat2
    return beta * input + mat1 @ mat2
