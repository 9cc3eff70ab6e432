"""Lengths, distances and angles of vectors, the losses that are made of them, attention, and forms of two vectors: one row per op."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.ops.corners import given
from conformance.ops.draws import axis_of
from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

REDUCTIONS = ("mean", "sum", "none")
F = "torch.nn.functional"
P = "paddle.nn.functional"
TARGET = {"torch": "torch.tensor(target, dtype=x.dtype)", "paddle": "paddle.to_tensor(target, dtype=x.dtype)"}


def _has_rows(x: Draft) -> bool:
    return len(x.shape) >= 1 and 0 not in x.shape


def _vectors(count: int) -> Draw:
    """Draw so many tensors of one shape, and an axis."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(_has_rows)
        return [x, *(s.take_shaped(x.shape) for _ in range(count - 1))], {"axis": axis_of(s, x), "eps": s.source.choice((1e-8, 1e-3))}

    return draw


def _pairs(s: Sampler) -> Arguments | None:
    x = s.take(_has_rows)
    return [x, s.take_shaped(x.shape)], {"eps": s.source.choice((1e-6, 0.125)), "keepdims": s.source.chance(0.3)}


def _triplets(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: _has_rows(d) and len(d.shape) > 1)
    operands = [x, s.take_shaped(x.shape), s.take_shaped(x.shape)]
    return operands, {"margin": s.source.choice((1.0, 0.5)), "eps": 1e-6, "reduction": s.source.choice(REDUCTIONS)}


def _targets(s: Sampler, shape: tuple[int, ...], numbers: tuple[float, ...]) -> Any:
    return [_targets(s, shape[1:], numbers) for _ in range(shape[0])] if shape else s.source.choice(numbers)


def _angles(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 2 and 0 not in d.shape)
    attrs = {"target": _targets(s, x.shape[:1], (1.0, -1.0)), "margin": s.source.choice((0.0, 0.25))}
    return [x, s.take_shaped(x.shape)], {**attrs, "reduction": s.source.choice(REDUCTIONS)}


def _normals(s: Sampler) -> Arguments | None:
    x = s.take(_has_rows)
    operands = [x, s.take_shaped(x.shape), s.take_shaped(x.shape)]
    return operands, {"eps": s.source.choice((1e-6, 0.5)), "reduction": s.source.choice(REDUCTIONS)}


def _labels(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: _has_rows(d) and len(d.shape) > 1)
    return [x], {"target": _targets(s, x.shape, (1.0, 0.0)), "reduction": s.source.choice(REDUCTIONS)}


def _attended(s: Sampler) -> Arguments | None:
    """Draw queries, keys, and values of another length than these have: of one length PyTorch takes a kernel by layout."""
    query = s.take(lambda d: len(d.shape) == 4 and 0 not in d.shape, shape=(1, 2, 3, 2))
    *batch, _, length = query.shape
    keys = s.source.integer(1, 3)
    return [query, s.take_shaped((*batch, keys, length)), s.take_shaped((*batch, keys, length + s.source.integer(1, 2)))], {}


def _forms(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 2 and 0 not in d.shape)
    j, o = s.source.integer(1, 3), s.source.integer(1, 3)
    return [x, s.take_shaped((x.shape[0], j)), s.take_shaped((o, x.shape[1], j)), s.take_shaped((o,))], {}


def _reduced(draw: Draw) -> dict[str, Draw]:
    return {reduction: given(draw, reduction=reduction) for reduction in REDUCTIONS}


def _row(name: str, rank: int, draw: Draw, torch: str, paddle: str, **more: Any) -> OpSpec:
    usual: dict[str, Any] = {"exact": False, "numbers": real_only(UNIMPLEMENTED), "points": PLAIN, "drawn": Drawn.NAMED}
    return op(name, rank=rank, draw=draw, torch=torch, paddle=paddle, **{**usual, **more})


def _turned(operands: str, rest: str = "") -> str:
    """Write attention in Paddle's layout, in which the heads stand behind the positions."""
    turn = "paddle.transpose({}, [0, 2, 1, 3])"
    given = ", ".join(turn.format(name) for name in operands.split(", "))
    return turn.format(f"{P}.scaled_dot_product_attention({given}{rest})")


_Q = "query, key, value"
ATTENTION = _row(
    "scaled_dot_product_attention", 12, _attended, f"{F}.scaled_dot_product_attention({_Q})", _turned(_Q), growth=Growth.BOUNDED
)

ENTRIES = rows(
    "distances",
    ATTENTION,
    replace(
        ATTENTION,
        name="scaled_dot_product_attention_causal",
        calls={
            "torch": f"{F}.scaled_dot_product_attention({_Q}, is_causal=True)",
            "paddle": _turned(_Q, ", is_causal=True"),
        },
    ),
    _row("normalize", 77, _vectors(1), f"{F}.normalize(x, 2.0, axis, eps)", f"{P}.normalize(x, 2.0, axis, eps)"),
    _row(
        "cosine_similarity",
        176,
        _vectors(2),
        f"{F}.cosine_similarity(x, y, axis, eps)",
        f"{P}.cosine_similarity(x, y, axis, eps)",
    ),
    _row(
        "cosine_embedding_loss",
        243,
        _angles,
        f"{F}.cosine_embedding_loss(x, y, {TARGET['torch']}, margin, reduction=reduction)",
        f"{P}.cosine_embedding_loss(x, y, {TARGET['paddle']}, margin, reduction)",
        corners=_reduced(_angles),
    ),
    _row(
        "triplet_margin_loss",
        244,
        _triplets,
        f"{F}.triplet_margin_loss(x, y, z, margin, eps=eps, reduction=reduction)",
        f"{P}.triplet_margin_loss(x, y, z, margin, 2.0, eps, False, reduction)",
        corners=_reduced(_triplets),
    ),
    _row(
        "multilabel_soft_margin_loss",
        247,
        _labels,
        f"{F}.multilabel_soft_margin_loss(x, {TARGET['torch']}, reduction=reduction)",
        f"{P}.multi_label_soft_margin_loss(x, {TARGET['paddle']}, reduction=reduction)",
        corners=_reduced(_labels),
    ),
    _row(
        "gaussian_nll_loss",
        251,
        _normals,
        f"{F}.gaussian_nll_loss(x, y, deviation * deviation, eps=eps, reduction=reduction)",
        f"{P}.gaussian_nll_loss(x, y, deviation * deviation, epsilon=eps, reduction=reduction)",
        corners=_reduced(_normals),
        growth=Growth.UNBOUNDED,
    ),
    _row(
        "bilinear",
        278,
        _forms,
        f"{F}.bilinear(x, y, weight, bias)",
        f"{P}.bilinear(x, y, weight, bias.reshape([1, -1]))",
        exact=True,
        growth=Growth.COMPOUNDS,
    ),
    _row(
        "pairwise_distance",
        288,
        _pairs,
        f"{F}.pairwise_distance(x, y, 2.0, eps, keepdims)",
        f"{P}.pairwise_distance(x, y, 2.0, eps, keepdims)",
    ),
)
