"""Imports of the output: torch's go where nothing uses them, what is used comes in its group."""

from pathlib import PurePosixPath

import pytest

from transpile.dialects.imports import Words, fit
from transpile.model.edits import Edits
from transpile.model.expressions import Name
from transpile.model.project import Project
from transpile.source.lower import lower
from transpile.source.lower_ast import expression
from transpile.source.splice import write


def fitted(text):
    """A file whose names `JNP`, `NN`, … are made into what a pass would have made."""
    project = Project()
    file = project.add(PurePosixPath("a.py"), lower(text, PurePosixPath("a.py")))
    project.link()
    edits = Edits(file)
    for name in [
        n for n in file.walk() if isinstance(n, Name) and n.id.isupper() and len(n.id) > 1
    ]:
        name.replace(expression(name.id.lower()))
    edits.version = file.version
    fit(project, file, Words().adding({"math": "import math", "nnx": "from flax import nnx"}, {"nnx": "flax.nnx"}))
    return write(file)


CASES = {
    "replaced": (
        "import torch\nimport torch.nn as nn\nfrom torch import Tensor\n\n\nx = JNP.ones(3)\nNN.f(x)\n",
        "import jax.numpy as jnp\n\nimport jax_nn as nn\n\n\nx = jnp.ones(3)\nnn.f(x)\n",
    ),
    "in their group": (
        '"""Doc."""\n\nimport math\n\nimport torch\nimport numpy as np\nfrom einops import rearrange\n'
        "\n\nx = JNP.f(rearrange, math.pi, np, LAX, NNX)\n",
        '"""Doc."""\n\nimport math\n\nimport jax.numpy as jnp\nimport numpy as np\n'
        "from einops import rearrange\nfrom flax import nnx\nfrom jax import lax\n"
        "\n\nx = jnp.f(rearrange, math.pi, np, lax, nnx)\n",
    ),
    "in the places of two": (
        "import torch\nfrom torch import nn\n\n\nx = JNP.ones(3)\nNN.f(x)\n",
        "import jax.numpy as jnp\n\nimport jax_nn as nn\n\n\nx = jnp.ones(3)\nnn.f(x)\n",
    ),
    "beside Python's own": (
        "from dataclasses import dataclass\n\nimport torch\n\n\nx = JNP.ones(3)\nMATH.f(x)\n",
        "from dataclasses import dataclass\nimport math\n\nimport jax.numpy as jnp\n\n\n"
        "x = jnp.ones(3)\nmath.f(x)\n",
    ),
    "with comments": (
        "import torch  # the library\nimport os\n\ny = JAX.f(os)\n",
        "import jax  # the library\nimport os\n\ny = jax.f(os)\n",
    ),
    "narrowed": (
        "from torch import nn, optim\n\noptim.step()\n",
        "from torch import optim\n\noptim.step()\n",
    ),
    "from nothing": ("x = JNP.f()\n", "import jax.numpy as jnp\nx = jnp.f()\n"),
    "what the user has": (
        "import torch\n\n\ndef f(lax):\n    return LAX.exp(lax)\n",
        "import jax\n\n\ndef f(lax):\n    return jax.lax.exp(lax)\n",
    ),
    "inside": (
        "def f():\n    import torch\n    return 1\n\n\ndef g():\n    import torch\n",
        "def f():\n    return 1\n\n\ndef g():\n    pass\n",
    ),
    "annotations that are strings": (
        'import torch\nfrom torch import Tensor\n\n\ndef f(x: "Tensor"): ...\n',
        'from torch import Tensor\n\n\ndef f(x: "Tensor"): ...\n',
    ),
    "strings that are none": (
        'import math\nfrom torch.nn.utils import weight_norm\n\n\ndef f(norm="weight_norm"):\n    return norm == "weight_norm"\n',
        'import math\n\n\ndef f(norm="weight_norm"):\n    return norm == "weight_norm"\n',
    ),
    "what is exported": (
        'from torch.nn import Linear, Module\n\n__all__ = ["Module"]\n__all__ += ["Linear"]\n',
        'from torch.nn import Linear, Module\n\n__all__ = ["Module"]\n__all__ += ["Linear"]\n',
    ),
    "what is set alone": (
        "try:\n    from torch.optim import Muon\nexcept ImportError:\n    Muon = None\n",
        "try:\n    pass\nexcept ImportError:\n    Muon = None\n",
    ),
    "the support alone": (
        "import torch\nfrom torch import nn\n\n\nNN.f(x)\n",
        "import jax_nn as nn\n\n\nnn.f(x)\n",
    ),
    "the support alone, below a header": (
        "# Of whom.\n\nimport torch\nfrom torch import nn\n\n\nNN.f(x)\n",
        "# Of whom.\n\nimport jax_nn as nn\n\n\nnn.f(x)\n",
    ),
    "standard ones": (
        "import torch\n\nx = MATH.pi * JNP.f(NN.g)\n",
        "import math\n\nimport jax.numpy as jnp\n\nimport jax_nn as nn\n\nx = math.pi * jnp.f(nn.g)\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_imports(name):
    text, wanted = CASES[name]
    assert fitted(text) == wanted
