"""Lengths, distances and angles of vectors, the losses that are made of them, attention, and forms of two vectors: one row per op."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import REDUCTIONS, each_reduction
from conformance.ops.draws import axis_of, has_matrices, has_rows, is_matrix, nested
from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import ELEMENTS, PLAIN, ROWS, Drawn, Growth, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draw, Sampler


def _vectors(count: int) -> Draw:
    """Draw so many tensors of one shape, and an axis."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(has_rows)
        return [x, *(s.take_shaped(x.shape) for _ in range(count - 1))], {"axis": axis_of(s, x), "eps": s.source.choice((1e-8, 1e-3))}

    return draw


def _pairs(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    return [x, s.take_shaped(x.shape)], {"eps": s.source.choice((1e-6, 0.125)), "keepdims": s.source.chance(0.3)}


def _triplets(s: Sampler) -> Arguments | None:
    x = s.take(has_matrices)
    operands = [x, s.take_shaped(x.shape), s.take_shaped(x.shape)]
    return operands, {"margin": s.source.choice((1.0, 0.5)), "eps": 1e-6, "reduction": s.source.choice(REDUCTIONS)}


def _sizes(s: Sampler) -> Arguments | None:
    x = s.take(has_matrices)
    attrs = {"margin": s.source.choice((1.0, 0.5)), "swap": s.source.chance(0.5), "reduction": s.source.choice(REDUCTIONS)}
    return [x, s.take_shaped(x.shape), s.take_shaped(x.shape)], attrs


def _angles(s: Sampler) -> Arguments | None:
    x = s.take(is_matrix)
    attrs = {"target": nested(x.shape[:1], lambda: s.source.choice((1.0, -1.0))), "margin": s.source.choice((0.0, 0.25))}
    return [x, s.take_shaped(x.shape)], {**attrs, "reduction": s.source.choice(REDUCTIONS)}


def _normals(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    operands = [x, s.take_shaped(x.shape), s.take_shaped(x.shape)]
    return operands, {"eps": s.source.choice((1e-6, 0.5)), "reduction": s.source.choice(REDUCTIONS)}


def _labels(s: Sampler) -> Arguments | None:
    x = s.take(has_matrices)
    return [x], {"target": nested(x.shape, lambda: s.source.choice((1.0, 0.0))), "reduction": s.source.choice(REDUCTIONS)}


def _attended(s: Sampler) -> Arguments | None:
    """Draw queries, keys, and values of another length than these have: of one length PyTorch takes a kernel by layout."""
    query = s.take(lambda d: len(d.shape) == 4 and 0 not in d.shape, shape=(1, 2, 3, 2))
    *batch, _, length = query.shape
    keys = s.source.integer(1, 3)
    return [query, s.take_shaped((*batch, keys, length)), s.take_shaped((*batch, keys, length + s.source.integer(1, 2)))], {}


def _forms(s: Sampler) -> Arguments | None:
    x = s.take(is_matrix)
    j, o = s.source.integer(1, 3), s.source.integer(1, 3)
    return [x, s.take_shaped((x.shape[0], j)), s.take_shaped((o, x.shape[1], j)), s.take_shaped((o,))], {}


def _attention(rest: str = "") -> dict[str, str]:
    """Write attention: PyTorch takes ``(batch, heads, positions, features)``, Paddle ``(batch, positions, heads, features)``."""
    call = "nn.functional.scaled_dot_product_attention"
    swapped = "paddle.transpose({}, [0, 2, 1, 3])"
    operands = ", ".join(map(swapped.format, ("query", "key", "value")))
    return {
        "torch": f"torch.{call}(query, key, value{rest})",
        "paddle": swapped.format(f"paddle.{call}({operands}{rest})"),
    }


_row = partial(op, exact=False, numbers=real_only(UNIMPLEMENTED), points=PLAIN, drawn=Drawn.NAMED)
ATTENTION = _row("scaled_dot_product_attention", rank=12, draw=_attended, calls=_attention())

ENTRIES = rows(
    "distances",
    ATTENTION,
    replace(ATTENTION, name="scaled_dot_product_attention_causal", calls=_attention(", is_causal=True")),
    _row("normalize", rank=77, draw=_vectors(1), points=ROWS, calls=both("torch.nn.functional.normalize(x, 2.0, axis, eps)")),
    _row(
        "cosine_similarity",
        rank=176,
        draw=_vectors(2),
        calls=both("torch.nn.functional.cosine_similarity(x, y, axis, eps)"),
    ),
    _row(
        "cosine_embedding_loss",
        rank=243,
        draw=_angles,
        calls={
            "torch": "torch.nn.functional.cosine_embedding_loss("
            "x, y, torch.tensor(target, dtype=x.dtype), margin, reduction=reduction)",
            "paddle": "paddle.nn.functional.cosine_embedding_loss(x, y, paddle.to_tensor(target, dtype=x.dtype), margin, reduction)",
        },
        corners=each_reduction(_angles),
    ),
    _row(
        "triplet_margin_loss",
        rank=244,
        draw=_triplets,
        calls={
            "torch": "torch.nn.functional.triplet_margin_loss(x, y, z, margin, eps=eps, reduction=reduction)",
            "paddle": "paddle.nn.functional.triplet_margin_loss(x, y, z, margin, 2.0, eps, False, reduction)",
        },
        corners=each_reduction(_triplets),
    ),
    _row(
        "triplet_margin_with_distance_loss",
        rank=245,
        draw=_sizes,
        calls=both(
            "torch.nn.functional.triplet_margin_with_distance_loss("
            "x, y, z, distance_function=lambda a, b: (a - b).abs().sum(-1), margin=margin, swap=swap, reduction=reduction)"
        ),
        corners=each_reduction(_sizes),
    ),
    _row(
        "multilabel_soft_margin_loss",
        rank=247,
        draw=_labels,
        calls={
            "torch": "torch.nn.functional.multilabel_soft_margin_loss(x, torch.tensor(target, dtype=x.dtype), reduction=reduction)",
            "paddle": "paddle.nn.functional.multi_label_soft_margin_loss("
            "x, paddle.to_tensor(target, dtype=x.dtype), reduction=reduction)",
        },
        corners=each_reduction(_labels),
    ),
    _row(
        "gaussian_nll_loss",
        rank=251,
        draw=_normals,
        calls={
            "torch": "torch.nn.functional.gaussian_nll_loss(x, y, deviation * deviation, eps=eps, reduction=reduction)",
            "paddle": "paddle.nn.functional.gaussian_nll_loss(x, y, deviation * deviation, epsilon=eps, reduction=reduction)",
        },
        corners=each_reduction(_normals),
        points=ELEMENTS,
        growth=Growth.UNBOUNDED,
    ),
    _row(
        "bilinear",
        rank=278,
        draw=_forms,
        calls={
            "torch": "torch.nn.functional.bilinear(x, y, weight, bias)",
            "paddle": "paddle.nn.functional.bilinear(x, y, weight, bias.reshape([1, -1]))",
        },
        exact=True,
        growth=Growth.COMPOUNDS,
    ),
    _row(
        "pairwise_distance",
        rank=288,
        draw=_pairs,
        points=ROWS,
        calls=both("torch.nn.functional.pairwise_distance(x, y, 2.0, eps, keepdims)"),
    ),
)
