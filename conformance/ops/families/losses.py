"""Losses: one row per op.

Targets and weights are attributes, as nested lists: PyTorch refuses weights that require a gradient, and Paddle's kernels give their
labels none. Where both differentiate in the target, it is an operand.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.ops.calls import both
from conformance.ops.corners import REDUCTIONS, each_reduction
from conformance.ops.draws import has_matrices, nested
from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import ELEMENTS, PLAIN, ROWS, Drawn, Growth, OpSpec, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.ops.sampler import Arguments, Draw, Sampler

    Choice = Callable[[Sampler, tuple[int, ...]], Any]
    """Chooses an attribute, for an operand of a shape."""

SIGNS = (1.0, -1.0)
SHARES = (1.0, 0.0, 0.5, 0.25)
"""Probabilities that targets are drawn from; 0 and 1 are those of a class."""
WEIGHTS = (1.0, 0.5, 2.0, 0.0)
NOTHING_IGNORED = -100
"""The default of both frameworks. In Paddle a negative number says that no target is ignored."""


def numbers_of(s: Sampler, shape: tuple[int, ...], numbers: Sequence[float]) -> Any:
    """Draw nested lists of a shape, of some numbers."""
    return nested(shape, lambda: s.source.choice(numbers))


def loss(
    more: Mapping[str, Choice] | None = None,
    *,
    second: bool = False,
    domain: Domain | None = None,
    target: Sequence[float] | None = None,
    reductions: Sequence[str] = REDUCTIONS,
    axes: int = 0,
) -> Draw:
    """Draw one operand that has an element, or two of one shape, a target of that shape, a reduction, and ``more`` attributes."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) >= axes and 0 not in d.shape, domain=domain)
        attrs = {name: choose(s, x.shape) for name, choose in (more or {}).items()}
        if target is not None:
            attrs["target"] = numbers_of(s, x.shape, target)
        return [x, s.take_shaped(x.shape)] if second else [x], {**attrs, "reduction": s.source.choice(reductions)}

    return draw


def _one_of(*values: Any) -> Choice:
    return lambda s, _: s.source.choice(values)


def weight_or_none(s: Sampler, shape: tuple[int, ...]) -> Any:
    """Draw a weight for each element, or none at all."""
    return numbers_of(s, shape, WEIGHTS) if s.source.chance(0.5) else None


def classes(s: Sampler, shape: tuple[int, ...]) -> Any:
    """Draw a class of the axis 1 for each of the rest, in nested lists."""
    return numbers_of(s, (shape[0], *shape[2:]), range(shape[1]))


def _ignored(s: Sampler, shape: tuple[int, ...], target: Any) -> int:
    """Choose a class that counts nothing, or none; it is not the first target's, so that some target counts."""
    others = [c for c in range(shape[1]) if c != np.ravel(target)[0]]
    return s.source.choice(others) if others and s.source.chance(0.4) else NOTHING_IGNORED


def _scores(s: Sampler) -> Arguments | None:
    """Draw scores of classes along the axis 1, targets, and perhaps a weight of each class."""
    x = s.take(has_matrices)
    target = classes(s, x.shape)
    weight = numbers_of(s, x.shape[1:2], WEIGHTS[:3]) if s.source.chance(0.5) else None
    ignored = _ignored(s, x.shape, target)
    return [x], {"target": target, "weight": weight, "ignore_index": ignored, "reduction": s.source.choice(REDUCTIONS)}


def _shares(s: Sampler) -> Arguments | None:
    """Draw scores of classes along the axis 1, and for each of the rest one class, or two of even probability."""
    x = s.take(has_matrices)
    one, other = (np.eye(x.shape[1])[np.array(classes(s, x.shape))] for _ in range(2))
    target = np.moveaxis((one + other) / 2.0, -1, 1).tolist()
    return [x], {"target": target, "reduction": s.source.choice(("mean", "sum"))}


_counts = loss({"log_input": _one_of(True), "epsilon": _one_of(1e-8)}, second=True)
_rates = loss({"log_input": _one_of(False), "epsilon": _one_of(1e-8)}, second=True, domain=Domain.POSITIVE)
_margin = {"margin": _one_of(1.0, 0.5, 0.0)}


_usual = partial(op, exact=False, numbers=real_only(UNIMPLEMENTED), growth=Growth.COMPOUNDS, points=PLAIN, drawn=Drawn.NAMED)


def loss_row(name: str, *, draw: Draw, **more: Any) -> OpSpec:
    """Make the row of a loss, with a corner for each reduction."""
    return _usual(name, draw=draw, **{"corners": each_reduction(draw), **more})


TARGET = "torch.tensor(target, dtype=x.dtype)"
TARGET_OF_PADDLE = "paddle.to_tensor(target, dtype=x.dtype)"
WEIGHT = "None if weight is None else torch.tensor(weight, dtype=x.dtype)"
WEIGHT_OF_PADDLE = "None if weight is None else paddle.to_tensor(weight, dtype=x.dtype)"
_REST = "ignore_index=ignore_index, reduction=reduction"

ENTRIES = rows(
    "losses",
    loss_row(
        "cross_entropy",
        rank=19,
        draw=_scores,
        points=ROWS,
        calls={
            "torch": f"torch.nn.functional.cross_entropy(x, torch.tensor(target), {WEIGHT}, {_REST})",
            "paddle": f"paddle.nn.functional.cross_entropy(x, paddle.to_tensor(target), {WEIGHT_OF_PADDLE}, {_REST}, axis=1)",
        },
    ),
    loss_row(
        "cross_entropy_soft",
        base="cross_entropy",
        rank=19,
        draw=_shares,
        calls={
            "torch": f"torch.nn.functional.cross_entropy(x, {TARGET}, reduction=reduction)",
            "paddle": f"paddle.nn.functional.cross_entropy(x, {TARGET_OF_PADDLE}, soft_label=True, axis=1, reduction=reduction)",
        },
        corners=each_reduction(_shares, "mean", "sum"),
    ),
    loss_row(
        "binary_cross_entropy_with_logits",
        rank=42,
        draw=loss({"weight": weight_or_none, "pos_weight": weight_or_none}, target=SHARES),
        points=ELEMENTS,
        calls=both(
            f"torch.nn.functional.binary_cross_entropy_with_logits(x, {TARGET}, {WEIGHT}, "
            "pos_weight=None if pos_weight is None else torch.tensor(pos_weight, dtype=x.dtype), reduction=reduction)"
        ),
    ),
    loss_row(
        "nll_loss",
        rank=52,
        draw=_scores,
        points=ROWS,
        calls=both(f"torch.nn.functional.nll_loss(x, torch.tensor(target), {WEIGHT}, {_REST})"),
    ),
    loss_row(
        "l1_loss",
        rank=58,
        draw=loss(second=True),
        points=ELEMENTS,
        calls=both("torch.nn.functional.l1_loss(x, y, reduction=reduction)"),
        growth=Growth.BOUNDED,
    ),
    loss_row(
        "kl_div",
        rank=60,
        draw=loss(target=SHARES, reductions=(*REDUCTIONS, "batchmean"), axes=1),
        points=ELEMENTS,
        calls=both(f"torch.nn.functional.kl_div(x, {TARGET}, reduction=reduction)"),
    ),
    loss_row(
        "smooth_l1_loss",
        rank=70,
        draw=loss({"beta": _one_of(1.0, 0.5, 2.0)}, second=True),
        points=ELEMENTS,
        calls={
            "torch": "torch.nn.functional.smooth_l1_loss(x, y, reduction=reduction, beta=beta)",
            "paddle": "paddle.nn.functional.smooth_l1_loss(x, y, reduction=reduction, delta=beta, is_huber=False)",
        },
    ),
    loss_row(
        "huber_loss",
        rank=240,
        draw=loss({"delta": _one_of(1.0, 0.5, 1.5)}, second=True),
        points=ELEMENTS,
        calls={
            "torch": "torch.nn.functional.huber_loss(x, y, reduction=reduction, delta=delta)",
            "paddle": "paddle.nn.functional.smooth_l1_loss(x, y, reduction=reduction, delta=delta)",
        },
    ),
    loss_row(
        "hinge_embedding_loss",
        rank=241,
        draw=loss(_margin, target=SIGNS),
        points=ELEMENTS,
        calls=both(f"torch.nn.functional.hinge_embedding_loss(x, {TARGET}, margin, reduction=reduction)"),
    ),
    loss_row(
        "margin_ranking_loss",
        rank=242,
        draw=loss(_margin, second=True, target=SIGNS),
        points=ELEMENTS,
        calls=both(f"torch.nn.functional.margin_ranking_loss(x, y, {TARGET}, margin, reduction=reduction)"),
    ),
    loss_row(
        "soft_margin_loss",
        rank=246,
        draw=loss(target=SIGNS),
        points=ELEMENTS,
        calls=both(f"torch.nn.functional.soft_margin_loss(x, {TARGET}, reduction=reduction)"),
    ),
    loss_row(
        "poisson_nll_loss",
        rank=250,
        draw=_counts,
        points=ELEMENTS,
        calls={
            "torch": "torch.nn.functional.poisson_nll_loss(x, y, log_input=log_input, eps=epsilon, reduction=reduction)",
            "paddle": "paddle.nn.functional.poisson_nll_loss(x, y, log_input=log_input, epsilon=epsilon, reduction=reduction)",
        },
        growth=Growth.UNBOUNDED,
        corners={**each_reduction(_counts), **{f"rates, {name}": draw for name, draw in each_reduction(_rates).items()}},
    ),
)
