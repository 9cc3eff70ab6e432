"""What a small model is trained with: a loss of its result, and how that reduces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops.draws import nested

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.generate.profiles.blocks import Model
    from conformance.ops.sampler import Draft

NOTHING_IGNORED = -100


def draw_loss(m: Model, x: Draft) -> Draft:
    """Draw a loss of the scores, or numbers, ``x`` (``(samples, classes)``)."""
    loss = m.tried(LOSSES[m.source.choice(m.offered(m.model.loss, LOSS_OPS))], x)
    if m.source.chance(m.model.scaled):
        loss = m.tried(lambda m, x: m.made("mul_scalar", x, other=m.model.scale), loss)
    return loss


def _square(m: Model, x: Draft) -> Draft:
    return m.made("sum", m.made("square", x), axis=None, keepdims=False)


def _classes(m: Model, x: Draft) -> dict[str, Any]:
    samples, count = x.shape
    target = [m.source.choice(range(count)) for _ in range(samples)]
    return {"target": target, "weight": None, "ignore_index": NOTHING_IGNORED, "reduction": m.source.choice(m.model.reductions)}


def _cross_entropy(m: Model, x: Draft) -> Draft:
    return m.made("cross_entropy", x, **_classes(m, x))


def _nll(m: Model, x: Draft) -> Draft:
    return m.made("nll_loss", m.made("log_softmax", x, axis=-1), **_classes(m, x))


def _mse(m: Model, x: Draft) -> Draft:
    return m.made("mse_loss", x, m.constant(x.shape))


def _smooth(m: Model, x: Draft) -> Draft:
    return m.made("smooth_l1_loss", x, m.constant(x.shape), beta=1.0, reduction=m.source.choice(m.model.reductions))


def _numbers(m: Model, x: Draft) -> Any:
    return nested(x.shape, lambda: m.source.choice(m.model.targets))


def _bce(m: Model, x: Draft) -> Draft:
    attrs = {"target": _numbers(m, x), "weight": None, "pos_weight": None, "reduction": m.source.choice(m.model.reductions)}
    return m.made("binary_cross_entropy_with_logits", x, **attrs)


def _kl_div(m: Model, x: Draft) -> Draft:
    scores = m.made("log_softmax", x, axis=-1)
    return m.made("kl_div", scores, target=_numbers(m, x), reduction=m.source.choice(m.model.reductions))


LOSSES: dict[str, Callable[[Model, Draft], Draft]] = {
    "square": _square,
    "cross_entropy": _cross_entropy,
    "nll_loss": _nll,
    "mse_loss": _mse,
    "smooth_l1_loss": _smooth,
    "bce": _bce,
    "kl_div": _kl_div,
}
LOSS_OPS = {"bce": "binary_cross_entropy_with_logits"}
"""The op of a loss, where it has another name."""
