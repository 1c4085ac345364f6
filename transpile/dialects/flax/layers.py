"""The layers that are Flax's own in the output, with torch's numbers, and what has to be told them
otherwise."""

# In the support file's name: in nnx. An nnx.Dropout scales what it keeps, as torch's does.
REPLACED = {"ModuleList": "List", "Dropout": "Dropout", "Module": "Module"}
ORDERED = "OrderedModule"  # that knows in which order its parts were set
HANDED = {"Dropout": "HandedDropout"}  # what takes torch's arguments: who calls it is not known
DRAWING = frozenset({"Dropout", "SpectralNorm", "ParametrizedSpectralNorm"})  # that take `rngs`
# Layers around a layer: functions of the prelude, which give the layer's class a property.
FUNCTIONS = {
    "WeightNorm": "weight_norm",
    "SpectralNorm": "spectral_norm",
    "Parametrized": "register_parametrization",
    "ParametrizedWeightNorm": "parametrized_weight_norm",
    "ParametrizedSpectralNorm": "parametrized_spectral_norm",
}
RENAMED: dict[str, dict[str | None, str | None]] = {
    "Dropout": {"p": "rate"},
    "ModuleList": {"modules": None},
    "ModuleDict": {"modules": None},
}
LEFT_OUT = {"Dropout": ("inplace",)}  # parameters that there are none for, after those kept
KEPT = {"Dropout": 1}  # how many arguments by position it takes
DEFAULTS = {"Dropout": "0.5"}  # the first argument, where it is not given

# The draws of jax.random that a stream has as methods: `rngs.params.normal(shape)`.
METHODS = frozenset(
    "ball bernoulli beta binomial bits categorical cauchy chisquare choice dirichlet"
    " double_sided_maxwell exponential f gamma generalized_normal geometric gumbel laplace loggamma"
    " logistic lognormal maxwell multinomial multivariate_normal normal orthogonal pareto"
    " permutation poisson rademacher randint rayleigh t triangular truncated_normal uniform wald"
    " weibull_min".split()
)

# Layers of which no class is written yet, with the reason.
UNWRITTEN = {
    **dict.fromkeys(
        ["LazyLinear"]
        + [
            f"Lazy{kind}{n}d"
            for kind in ("Conv", "ConvTranspose", "BatchNorm", "InstanceNorm")
            for n in (1, 2, 3)
        ],
        "arrays that the first input makes: give the layer its size",
    )
}
