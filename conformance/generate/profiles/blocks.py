"""The blocks of small models: linear layers, attention, convolutions, norms, pooling, embeddings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from conformance.generate.sketch import Sketch
from conformance.ops import catalogue
from conformance.ops.draws import indices
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.generate.odds import Odds
    from conformance.generate.profiles.odds import ModelOdds
    from conformance.ops.sampler import Draft, Source

    Block = Callable[["Model", Draft], Draft]
    """Computes with a value; `TooLargeError` where the result would not stay of moderate size."""

NONE = "none"
"""What stands for leaving a part of a block out."""


class TooLargeError(Exception):
    """A block whose results would be too large, or in the exact lane too fine, to be built upon."""


class Model(Sketch):
    """A sketch of a model: its parameters, and the data that go through it.

    ``small``: the domain of the elements of both, such that results of products stay small; ``words``: the embedding, if there is one.
    """

    small = Domain.UNIT

    def __init__(self, source: Source, odds: Odds, model: ModelOdds, *, exact: bool, dtype: str) -> None:
        super().__init__(source, odds, exact=exact, dtype=dtype)
        self.model = model
        self.parameters: list[Draft] = []
        self.data: list[Draft] = []
        self.words: Draft | None = None

    def made(self, op: str, *operands: Draft, **attrs: Any) -> Draft:
        """Apply an op.

        Raises:
            TooLargeError: if the result would not stay of moderate size.
        """
        if not self.on(op, *operands, **attrs):
            raise TooLargeError
        return self.values[-1]

    def tried(self, block: Block, x: Draft) -> Draft:
        """Return what a block makes of a value; the value itself, and no trace of the block, where that would be too large."""
        mark, parameters = self.mark(), len(self.parameters)
        try:
            return block(self, x)
        except TooLargeError:
            self.undo(mark)
            del self.parameters[parameters:]
            return x

    def offered(self, names: Sequence[str], ops: Mapping[str, str] | None = None) -> list[str]:
        """Return which parts of a block the lane takes: those that are no op, and ops that are exact where it is."""
        return [n for n in names if not self.exact or (op := catalogue().get((ops or {}).get(n, n))) is None or op.exact]

    def parameter(self, *shape: int) -> Draft:
        """Add a parameter, or take one that another block has."""
        fitting = [p for p in self.parameters if p.shape == shape]
        if fitting and self.source.chance(self.model.shared):
            return self.source.choice(fitting)
        trained = not self.parameters or not self.source.chance(self.model.frozen)
        self.parameters.append(self.fresh(shape, domain=self.small, differentiable=trained))
        return self.parameters[-1]

    def constant(self, shape: tuple[int, ...]) -> Draft:
        """Add what nothing is differentiated by."""
        return self.fresh(shape, domain=self.small, differentiable=False)

    def fed(self, *shape: int) -> Draft:
        """Add data."""
        self.data.append(self.fresh(shape, domain=self.small, differentiable=self.source.chance(self.model.of_data)))
        return self.data[-1]


def draw_sequences(m: Model) -> Draft:
    """Draw a model of sequences; return its scores, ``(positions, classes)``. The positions of all samples lie in one axis."""
    source, odds = m.source, m.model
    batch, positions, width = source.choice(odds.batch), source.choice(odds.positions), source.choice(odds.width)
    if source.chance(odds.embedded):
        count = source.choice(odds.words)
        m.words = m.parameter(count, width)
        x = m.made("embedding", m.words, index=indices(m, (batch, positions), count))
        x = m.made("reshape", m.made("add", x, m.parameter(positions, width)), shape=[batch * positions, width])
    else:
        x = m.fed(batch * positions, width)
    for _ in range(source.integer(*odds.blocks)):
        block = perceptron if source.choice(odds.block) == "perceptron" or m.exact else _attention_over(batch, positions)
        x = m.tried(lambda m, x, block=block: _connected(m, x, block), x)  # type: ignore[misc]
    if m.words is not None and source.chance(odds.tied):
        return m.tried(lambda m, x: m.made("matmul", x, m.made("transpose", _embedding(m), axis0=0, axis1=1)), x)
    return m.tried(lambda m, x: linear(m, x, source.choice(odds.classes)), x)


def _embedding(m: Model) -> Draft:
    assert m.words is not None  # noqa: S101 - for the type checker
    return m.words


def _connected(m: Model, x: Draft, block: Block) -> Draft:
    """Put a block into a residual connection, with a norm before it or behind the sum."""
    before, residual = m.source.chance(m.model.before), m.source.chance(m.model.residual)
    y = block(m, _normalized(m, x) if before else x)
    if m.source.chance(m.model.dropout):
        y = m.made("dropout_eval", y, p=m.model.share)
    y = m.made("add", x, y) if residual else y
    return y if before else _normalized(m, y)


def _normalized(m: Model, x: Draft) -> Draft:
    added = m.source.choice(m.model.added)
    match m.source.choice(m.offered(m.model.norm)):
        case "layer_norm":
            return m.made("layer_norm", x, m.parameter(x.shape[-1]), m.parameter(x.shape[-1]), eps=added)
        case "layer_norm_noaffine":
            return m.made("layer_norm_noaffine", x, axes=1, eps=added)
        case _:
            return x


def linear(m: Model, x: Draft, width: int) -> Draft:
    """Return ``(n, width)`` for ``(n, k)``."""
    return m.made("linear", x, m.parameter(width, x.shape[1]), m.parameter(width))


def activated(m: Model, x: Draft) -> Draft:
    """Apply an activation."""
    match m.source.choice(m.offered(m.model.activation)):
        case "leaky_relu":
            return m.made("leaky_relu", x, slope=0.25)
        case "elu":
            return m.made("elu", x, alpha=1.0)
        case "softplus":
            return m.made("softplus", x, beta=1.0)
        case name:
            return m.made(name, x)


def perceptron(m: Model, x: Draft) -> Draft:
    """Two linear layers with an activation between them."""
    return linear(m, activated(m, linear(m, x, m.source.choice(m.model.width))), x.shape[1])


def _attention_over(batch: int, positions: int) -> Block:
    def attention(m: Model, x: Draft) -> Draft:
        """Attend to the positions of the same sample."""
        heads = m.source.choice(m.model.heads)
        by_op = m.source.choice(m.model.attention) == "op"
        length = x.shape[1] // heads
        wide = length + by_op  # of values as long as queries PyTorch takes another kernel, which is not modelled

        def projected(width: int) -> Draft:
            apart = m.made("reshape", linear(m, x, heads * width), shape=[batch, positions, heads, width])
            return m.made("permute", apart, axes=[0, 2, 1, 3])

        query, key, value = projected(length), projected(length), projected(wide)
        causal = m.source.chance(m.model.causal)
        if by_op:
            y = m.made(f"scaled_dot_product_attention{'_causal' if causal else ''}", query, key, value)
        else:
            scores = m.made("matmul", query, m.made("transpose", key, axis0=-2, axis1=-1))
            scores = m.made("mul_scalar", scores, other=1.0 / math.sqrt(length))
            if causal:
                unseen = [[later > earlier for later in range(positions)] for earlier in range(positions)]
                scores = m.made("masked_fill", scores, mask=[[unseen] * heads] * batch, value=m.model.masked)
            y = m.made("matmul", m.made("softmax", scores, axis=-1), value)
        together = m.made("permute", y, axes=[0, 2, 1, 3])
        return linear(m, m.made("reshape", together, shape=[batch * positions, heads * wide]), x.shape[1])

    return attention


def draw_images(m: Model) -> Draft:
    """Draw a model of images; return its scores, ``(samples, classes)``."""
    source, odds = m.source, m.model
    x = m.fed(source.choice(odds.batch), source.choice(odds.channels), source.choice(odds.sides), source.choice(odds.sides))
    for _ in range(source.integer(*odds.blocks)):
        x = m.tried(_convolved, x)
    x = m.made("reshape", x, shape=[x.shape[0], math.prod(x.shape[1:])])
    return m.tried(lambda m, x: linear(m, x, source.choice(odds.classes)), x)


def _convolved(m: Model, x: Draft) -> Draft:
    """Convolve, normalize, activate and pool; what keeps the shape may be added to what it was given."""
    odds, source = m.model, m.source
    kernel = min(source.choice(odds.kernels), *x.shape[2:])
    stride = source.choice(odds.strides)
    depthwise = source.chance(odds.depthwise) and x.shape[1] > 1
    outer = x.shape[1] if depthwise else source.choice(odds.channels)
    slid: dict[str, Any] = {"stride": [stride] * 2, "padding": [kernel // 2] * 2, "dilation": [1, 1]}
    if depthwise:
        y = m.made("conv2d_depthwise", x, m.parameter(outer, 1, kernel, kernel), **slid, groups=outer)
    else:
        y = m.made("conv2d_biased", x, m.parameter(outer, x.shape[1], kernel, kernel), m.parameter(outer), **slid, groups=1)
    y = activated(m, _normalized_channels(m, y))
    if y.shape == x.shape and source.chance(odds.residual):
        y = m.made("add", x, y)
    return _pooled(m, y)


def _normalized_channels(m: Model, x: Draft) -> Draft:
    source, added, channels = m.source, m.source.choice(m.model.added), x.shape[1]
    places = math.prod(x.shape[2:])
    name = source.choice(m.offered(m.model.image_norm))
    several = {"batch_norm_train": x.shape[0] * places > 1, "instance_norm": places > 1, "group_norm": places > 1}.get(name, True)
    if name == NONE or not several:
        return x
    attrs: dict[str, Any] = {"eps": added}
    if name == "batch_norm_eval":
        attrs |= {"means": [m.number() for _ in range(channels)], "variances": [abs(m.number()) for _ in range(channels)]}
    elif name == "group_norm":
        divisors = [n for n in range(1, channels + 1) if channels % n == 0]
        attrs["groups"] = source.choice(divisors)
    return m.made(name, x, m.parameter(channels), m.parameter(channels), **attrs)


def _pooled(m: Model, x: Draft) -> Draft:
    kernel = [min(2, n) for n in x.shape[2:]]
    match m.source.choice(m.offered(m.model.pool)):
        case "adaptive_avg_pool2d":
            return m.made("adaptive_avg_pool2d", x, size=[1, 1])
        case "none":
            return x
        case name:
            return m.made(name, x, kernel=kernel, stride=kernel, padding=[0, 0])
