"""Losses: one row per op.

Targets and weights are attributes, as nested lists: PyTorch refuses weights that require a gradient, and Paddle's kernels give their
labels none. Where both differentiate in the target, it is an operand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.ops.corners import given
from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.ops.sampler import Arguments, Draw, Sampler

    Choice = Callable[[Sampler, tuple[int, ...]], Any]
    """Chooses an attribute, for an operand of a shape."""

REDUCTIONS = ("mean", "sum", "none")
SIGNS = (1.0, -1.0)
SHARES = (1.0, 0.0, 0.5, 0.25)
"""Probabilities that targets are drawn from; 0 and 1 are those of a class."""
WEIGHTS = (1.0, 0.5, 2.0, 0.0)
NO_INDEX = -100
"""The default of both frameworks. In Paddle a negative number says that no target is ignored."""

F = "torch.nn.functional"
P = "paddle.nn.functional"


def _numbers(s: Sampler, shape: tuple[int, ...], numbers: Sequence[float]) -> Any:
    """Draw nested lists of a shape, of some numbers."""
    return [_numbers(s, shape[1:], numbers) for _ in range(shape[0])] if shape else s.source.choice(numbers)


def _loss(
    more: Mapping[str, Choice] | None = None,
    *,
    second: bool = False,
    domain: str | None = None,
    target: Sequence[float] | None = None,
    reductions: Sequence[str] = REDUCTIONS,
    axes: int = 0,
) -> Draw:
    """Draw one operand that has an element, or two of one shape, a target of that shape, a reduction, and ``more`` attributes."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) >= axes and 0 not in d.shape, domain=domain)
        attrs = {name: choose(s, x.shape) for name, choose in (more or {}).items()}
        if target is not None:
            attrs["target"] = _numbers(s, x.shape, target)
        return [x, s.take_shaped(x.shape)] if second else [x], {**attrs, "reduction": s.source.choice(reductions)}

    return draw


def _one_of(*values: Any) -> Choice:
    return lambda s, _: s.source.choice(values)


def _weight(s: Sampler, shape: tuple[int, ...]) -> Any:
    return _numbers(s, shape, WEIGHTS) if s.source.chance(0.5) else None


def _reduced(draw: Draw, *reductions: str) -> dict[str, Draw]:
    """Return a corner for each reduction."""
    return {reduction: given(draw, reduction=reduction) for reduction in reductions or REDUCTIONS}


def _row(name: str, rank: int, draw: Draw, torch: str, paddle: str, *, growth: Growth = Growth.COMPOUNDS, **more: Any) -> OpSpec:
    """Make the row of a loss."""
    return op(
        name,
        rank=rank,
        draw=draw,
        torch=f"{F}.{torch}",
        paddle=f"{P}.{paddle}",
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=growth,
        points=PLAIN,
        drawn=Drawn.NAMED,
        **{"corners": _reduced(draw), **more},
    )


def _tensor(framework: str, name: str) -> str:
    """Write an attribute as a tensor of the dtype of ``x``."""
    make = {"torch": "torch.tensor", "paddle": "paddle.to_tensor"}[framework]
    return f"{make}({name}, dtype=x.dtype)"


def _perhaps(framework: str, name: str) -> str:
    return f"None if {name} is None else {_tensor(framework, name)}"


def _classes(s: Sampler, shape: tuple[int, ...]) -> Any:
    """Draw a class of the axis 1 for each of the rest, in nested lists."""
    return _numbers(s, (shape[0], *shape[2:]), range(shape[1]))


def _ignored(s: Sampler, shape: tuple[int, ...], target: Any) -> int:
    """Choose a class that counts nothing, or none; it is not the first target's, so that some target counts."""
    others = [c for c in range(shape[1]) if c != np.ravel(target)[0]]
    return s.source.choice(others) if others and s.source.chance(0.4) else NO_INDEX


def _of_classes() -> Draw:
    """Draw scores of classes along the axis 1, targets, and perhaps a weight of each class."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) >= 2 and 0 not in d.shape)
        target = _classes(s, x.shape)
        weight = _numbers(s, x.shape[1:2], WEIGHTS[:3]) if s.source.chance(0.5) else None
        return [x], {
            "target": target,
            "weight": weight,
            "ignore_index": _ignored(s, x.shape, target),
            "reduction": s.source.choice(REDUCTIONS),
        }

    return draw


def _shares(s: Sampler) -> Arguments | None:
    """Draw scores of classes along the axis 1, and for each of the rest one class, or two of even probability."""
    x = s.take(lambda d: len(d.shape) >= 2 and 0 not in d.shape)
    one, other = (np.eye(x.shape[1])[np.array(_classes(s, x.shape))] for _ in range(2))
    target = np.moveaxis((one + other) / 2.0, -1, 1).tolist()
    return [x], {"target": target, "reduction": s.source.choice(("mean", "sum"))}


_scores = _of_classes()
_l1 = _loss(second=True)
_counts = _loss({"log_input": _one_of(True), "epsilon": _one_of(1e-8)}, second=True)
_rates = _loss({"log_input": _one_of(False), "epsilon": _one_of(1e-8)}, second=True, domain="positive")
_margin = {"margin": _one_of(1.0, 0.5, 0.0)}

_LOGITS = "binary_cross_entropy_with_logits"
_WEIGHED = {name: f"x, {_tensor(name, 'target')}, {_perhaps(name, 'weight')}" for name in ("torch", "paddle")}
_INDEX = {"torch": "torch.tensor(target)", "paddle": "paddle.to_tensor(target)"}
_REST = "ignore_index=ignore_index, reduction=reduction"

ENTRIES = rows(
    "losses",
    _row(
        "cross_entropy",
        19,
        _scores,
        f"cross_entropy(x, {_INDEX['torch']}, {_perhaps('torch', 'weight')}, {_REST})",
        f"cross_entropy(x, {_INDEX['paddle']}, {_perhaps('paddle', 'weight')}, {_REST}, axis=1)",
    ),
    _row(
        "cross_entropy_soft",
        19,
        _shares,
        f"cross_entropy(x, {_tensor('torch', 'target')}, reduction=reduction)",
        f"cross_entropy(x, {_tensor('paddle', 'target')}, soft_label=True, axis=1, reduction=reduction)",
        base="cross_entropy",
        corners=_reduced(_shares, "mean", "sum"),
    ),
    _row(
        "binary_cross_entropy_with_logits",
        42,
        _loss({"weight": _weight, "pos_weight": _weight}, target=SHARES),
        f"{_LOGITS}({_WEIGHED['torch']}, pos_weight={_perhaps('torch', 'pos_weight')}, reduction=reduction)",
        f"{_LOGITS}({_WEIGHED['paddle']}, pos_weight={_perhaps('paddle', 'pos_weight')}, reduction=reduction)",
    ),
    _row(
        "nll_loss",
        52,
        _scores,
        f"nll_loss(x, {_INDEX['torch']}, {_perhaps('torch', 'weight')}, {_REST})",
        f"nll_loss(x, {_INDEX['paddle']}, {_perhaps('paddle', 'weight')}, {_REST})",
    ),
    _row("l1_loss", 58, _l1, "l1_loss(x, y, reduction=reduction)", "l1_loss(x, y, reduction=reduction)", growth=Growth.BOUNDED),
    _row(
        "kl_div",
        60,
        _loss(target=SHARES, reductions=(*REDUCTIONS, "batchmean"), axes=1),
        f"kl_div(x, {_tensor('torch', 'target')}, reduction=reduction)",
        f"kl_div(x, {_tensor('paddle', 'target')}, reduction=reduction)",
    ),
    _row(
        "smooth_l1_loss",
        70,
        _loss({"beta": _one_of(1.0, 0.5, 2.0)}, second=True),
        "smooth_l1_loss(x, y, reduction=reduction, beta=beta)",
        "smooth_l1_loss(x, y, reduction=reduction, delta=beta, is_huber=False)",
    ),
    _row(
        "huber_loss",
        240,
        _loss({"delta": _one_of(1.0, 0.5, 1.5)}, second=True),
        "huber_loss(x, y, reduction=reduction, delta=delta)",
        "smooth_l1_loss(x, y, reduction=reduction, delta=delta)",
    ),
    _row(
        "hinge_embedding_loss",
        241,
        _loss(_margin, target=SIGNS, axes=1),
        f"hinge_embedding_loss(x, {_tensor('torch', 'target')}, margin, reduction=reduction)",
        f"hinge_embedding_loss(x, {_tensor('paddle', 'target')}, margin, reduction=reduction)",
    ),
    _row(
        "margin_ranking_loss",
        242,
        _loss(_margin, second=True, target=SIGNS, axes=1),
        f"margin_ranking_loss(x, y, {_tensor('torch', 'target')}, margin, reduction=reduction)",
        f"margin_ranking_loss(x, y, {_tensor('paddle', 'target')}, margin, reduction=reduction)",
    ),
    _row(
        "soft_margin_loss",
        246,
        _loss(target=SIGNS),
        f"soft_margin_loss(x, {_tensor('torch', 'target')}, reduction=reduction)",
        f"soft_margin_loss(x, {_tensor('paddle', 'target')}, reduction=reduction)",
    ),
    _row(
        "poisson_nll_loss",
        250,
        _counts,
        "poisson_nll_loss(x, y, log_input=log_input, eps=epsilon, reduction=reduction)",
        "poisson_nll_loss(x, y, log_input=log_input, epsilon=epsilon, reduction=reduction)",
        growth=Growth.UNBOUNDED,
        corners={**_reduced(_counts), **{f"rates, {name}": draw for name, draw in _reduced(_rates).items()}},
    ),
)
