"""Normalizations: one row per op."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import given
from conformance.ops.draws import has_elements
from conformance.ops.numbers import UNEXAMINED, UNIMPLEMENTED, real_only
from conformance.ops.spec import PLAIN, ROWS, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

ADDED = [1e-5, 1e-3]
"""Paddle refuses more than 0.001."""


def _layers(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) > 1 and d.shape[-1] > 0)
    return [x, s.take_shaped(x.shape[-1:]), s.take_shaped(x.shape[-1:])], {"eps": s.source.choice(ADDED)}


def _without_weight(axes: int) -> Draw:
    """Draw a tensor to be normalized over its last axes."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) > axes and 0 not in d.shape[-axes:])
        return [x], {"axes": axes, "eps": s.source.choice(ADDED)}

    return draw


def _weighted(axes: int) -> Draw:
    """Draw a tensor to be divided by its size over its last axes, and a weight for each element of them."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) > axes and 0 not in d.shape[-axes:])
        return [x, s.take_shaped(x.shape[-axes:])], {"eps": s.source.choice(ADDED)}

    return draw


def _responses(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 3 <= len(d.shape) <= 5 and has_elements(d), shape=(2, 3, 2))
    attrs = {
        "alpha": s.source.choice([1e-4, 0.5, 2.0]),
        "beta": s.source.choice([0.75, 0.5, 1.0, 2.0]),
        "k": s.source.choice([1.0, 2.0]),
    }
    return [x], {"size": s.source.integer(1, 4), **attrs}


def _has_channels(x: Draft) -> bool:
    return 2 <= len(x.shape) <= 5 and 0 not in x.shape


def _several_places(x: Draft) -> bool:
    """Whether a channel of a batch is more than one number: otherwise it is refused."""
    return _has_channels(x) and x.shape[0] * _places(x) > 1


def _places(x: Draft) -> int:
    return math.prod(x.shape[2:])


def _with_parameters(s: Sampler, x: Draft) -> list[Draft]:
    """Return a tensor, and a weight and a bias for each of its channels."""
    return [x, s.take_shaped((x.shape[1],)), s.take_shaped((x.shape[1],))]


def _batch(s: Sampler) -> Arguments | None:
    x = s.take(_several_places, shape=(3, 2, 2))
    return _with_parameters(s, x), {"eps": s.source.choice(ADDED)}


def _batch_with_statistics(s: Sampler) -> Arguments | None:
    x = s.take(_has_channels)
    means = [s.number() for _ in range(x.shape[1])]
    variances = [abs(s.number()) for _ in means]
    return _with_parameters(s, x), {"means": means, "variances": variances, "eps": s.source.choice(ADDED)}


def _instances(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 3 <= len(d.shape) <= 5 and 0 not in d.shape and _places(d) > 1, shape=(2, 2, 3))
    return _with_parameters(s, x), {"eps": s.source.choice(ADDED)}


def _groups_alone(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: _has_channels(d) and math.prod(d.shape[1:]) > 1)
    groups = s.source.choice([n for n in range(1, x.shape[1] + 1) if x.shape[1] % n == 0 and math.prod(x.shape[1:]) > n])
    return [x], {"groups": groups, "eps": s.source.choice(ADDED)}


def _groups(s: Sampler) -> Arguments | None:
    if (drawn := _groups_alone(s)) is None:
        return None
    (x,), attrs = drawn
    return _with_parameters(s, x), attrs


_row = partial(op, exact=False, numbers=real_only(UNIMPLEMENTED), points=ROWS, drawn=Drawn.NAMED)

LAYER_NORM = _row(
    "layer_norm",
    rank=13,
    draw=_layers,
    calls=both("torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)"),
)

BATCH_NORM = _row(
    "batch_norm_train",
    base="batch_norm",
    rank=33,
    draw=_batch,
    points=PLAIN,  # its places are channels, and share the batch
    calls={
        "torch": "torch.nn.functional.batch_norm(x, None, None, weight, bias, True, 0.1, eps)",
        "paddle": "paddle.nn.functional.batch_norm(x, paddle.zeros([x.shape[1]], x.dtype), paddle.ones([x.shape[1]], x.dtype), "
        "weight, bias, True, 0.9, eps)",
    },
)

GROUP_NORM = _row(
    "group_norm",
    rank=69,
    draw=_groups,
    calls={
        "torch": "torch.nn.functional.group_norm(x, groups, weight, bias, eps)",
        "paddle": "paddle.nn.functional.group_norm(x, groups, eps, weight, bias)",
    },
)

ENTRIES = rows(
    "nn",
    LAYER_NORM,
    replace(
        LAYER_NORM,
        name="layer_norm_noaffine",
        base_op="layer_norm",
        draw=_without_weight(1),
        corners={"two axes": _without_weight(2), "three axes": _without_weight(3)},
        calls=both("torch.nn.functional.layer_norm(x, x.shape[-axes:], None, None, eps)"),
    ),
    BATCH_NORM,
    replace(
        BATCH_NORM,
        name="batch_norm_eval",
        draw=_batch_with_statistics,
        points=ROWS,
        calls={
            "torch": "torch.nn.functional.batch_norm(x, torch.tensor(means, dtype=x.dtype), torch.tensor(variances, dtype=x.dtype), "
            "weight, bias, False, 0.1, eps)",
            "paddle": "paddle.nn.functional.batch_norm(x, paddle.to_tensor(means, x.dtype), paddle.to_tensor(variances, x.dtype), "
            "weight, bias, False, 0.9, eps)",
        },
    ),
    _row(
        "instance_norm",
        rank=143,
        draw=_instances,
        calls={
            "torch": "torch.nn.functional.instance_norm(x, None, None, weight, bias, True, 0.1, eps)",
            "paddle": "paddle.nn.functional.instance_norm(x, None, None, weight, bias, True, 0.9, eps)",
        },
    ),
    GROUP_NORM,
    replace(
        GROUP_NORM,
        name="group_norm_noaffine",
        base_op="group_norm",
        draw=_groups_alone,
        calls={
            "torch": "torch.nn.functional.group_norm(x, groups, None, None, eps)",
            "paddle": "paddle.nn.functional.group_norm(x, groups, eps)",
        },
    ),
    _row(
        "rms_norm",
        rank=13,
        draw=_weighted(1),
        corners={"two axes": _weighted(2)},
        calls={"torch": "torch.nn.functional.rms_norm(x, weight.shape, weight, eps)"},  # Paddle has no kernel of it for the CPU
        numbers=real_only(UNEXAMINED),
    ),
    _row(
        "local_response_norm",
        rank=287,
        draw=_responses,
        points=PLAIN,
        # Paddle's document has the sum of the squares, over a channel more where the size is even; its code has the mean, as PyTorch:
        # https://www.paddlepaddle.org.cn/documentation/docs/en/api/paddle/nn/functional/local_response_norm_en.html
        calls=both("torch.nn.functional.local_response_norm(x, size, alpha, beta, k)"),
        numbers=real_only(UNEXAMINED),
        corners={f"size {size}": given(_responses, size=size) for size in (1, 2, 3, 5)},
    ),
)
