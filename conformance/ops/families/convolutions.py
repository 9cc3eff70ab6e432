"""Convolutions with strides, borders, dilations and groups, their transposes, unfold and fold: one row per op."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.numbers import UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, OpSpec, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

SHAPE = (1, 2, 4, 3, 2)
"""Of what is convolved, where no other fits: a sample, channels and places."""


def _taken(s: Sampler, rank: int, channels: int = 1) -> Draft:
    """Take a tensor of so many axes of places, and at least so many channels."""
    return s.take(lambda d: len(d.shape) == 2 + rank and 0 not in d.shape and d.shape[1] >= channels, shape=SHAPE[: 2 + rank])


def _slid(s: Sampler, rank: int) -> tuple[list[int], list[int], list[int]]:
    """Choose a stride, a border and a dilation along each axis of places."""
    padding, stride, dilation = ([s.source.integer(low, low + 1) for _ in range(rank)] for low in (0, 1, 1))
    return stride, padding, dilation


def _kernel(s: Sampler, places: tuple[int, ...], padding: list[int], dilation: list[int]) -> list[int]:
    """Choose a kernel that fits between the borders, of one or two elements along each axis, seldom of three."""
    longest = 2 if s.source.chance(0.8) else 3
    along = zip(places, padding, dilation, strict=True)
    return [s.source.integer(1, max(1, min(longest, (n + 2 * p - 1) // d + 1))) for n, p, d in along]


def _groups(s: Sampler, channels: int) -> int:
    return s.source.choice([n for n in range(1, channels + 1) if channels % n == 0 and (n == 1 or n < channels)])


def _convolved(rank: int) -> Draw:
    """Draw a tensor, a weight that fits, and a bias; not one group for each channel, which Paddle has another kernel for."""

    def draw(s: Sampler) -> Arguments | None:
        x = _taken(s, rank)
        stride, padding, dilation = _slid(s, rank)
        kernel, groups = _kernel(s, x.shape[2:], padding, dilation), _groups(s, x.shape[1])
        outer = groups * s.source.integer(1, 2)
        operands = [x, s.take_shaped((outer, x.shape[1] // groups, *kernel)), s.take_shaped((outer,))]
        return operands, {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}

    return draw


def _depthwise(s: Sampler) -> Arguments | None:
    x = _taken(s, 2, channels=2)
    stride, padding, dilation = _slid(s, 2)
    weight = s.take_shaped((x.shape[1] * s.source.integer(1, 2), 1, *_kernel(s, x.shape[2:], padding, dilation)))
    return [x, weight], {"stride": stride, "padding": padding, "dilation": dilation, "groups": x.shape[1]}


def _transposed(rank: int) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        x = _taken(s, rank)
        stride, dilation = ([s.source.integer(1, 2) for _ in range(rank)] for _ in range(2))
        kernel = [s.source.integer(1, 2) for _ in range(rank)]
        added = [s.source.integer(0, n - 1) for n in stride]
        wide = [(n - 1) * t + (k - 1) * d + 1 for n, t, k, d in zip(x.shape[2:], stride, kernel, dilation, strict=True)]
        padding = [s.source.integer(0, min(1, (n + a - 1) // 2)) for n, a in zip(wide, added, strict=True)]
        groups, each = _groups(s, x.shape[1]), s.source.integer(1, 2)
        operands = [x, s.take_shaped((x.shape[1], each, *kernel)), s.take_shaped((groups * each,))]
        return operands, {"stride": stride, "padding": padding, "added": added, "dilation": dilation, "groups": groups}

    return draw


def _unfolded(s: Sampler) -> Arguments | None:
    x = _taken(s, 2)
    stride, padding, dilation = _slid(s, 2)
    kernel = _kernel(s, x.shape[2:], padding, dilation)
    return [x], {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}


def _folded(s: Sampler) -> Arguments | None:
    """Draw columns, and an image of which a kernel has as many positions and elements as there are columns and rows."""
    x = s.take(lambda d: len(d.shape) == 3 and 0 not in d.shape, shape=(1, 4, 4))
    _, elements, count = x.shape
    kernel = s.source.choice([[p, q] for p in (1, 2, 3) for q in (1, 2, 3) if elements % (p * q) == 0])
    high = s.source.choice([n for n in (1, 2, 3, count) if count % n == 0])
    stride, padding, dilation = _slid(s, 2)
    along = zip((high, count // high), kernel, stride, dilation, strict=True)
    wide = [(n - 1) * t + (k - 1) * d + 1 for n, k, t, d in along]
    padding = [p if n > 2 * p else 0 for n, p in zip(wide, padding, strict=True)]
    size = [n - 2 * p for n, p in zip(wide, padding, strict=True)]
    return [x], {"size": size, "kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}


_row = partial(op, exact=True, numbers=real_only(UNREGISTERED), points=PLAIN, drawn=Drawn.NAMED)
_SLID = "stride=stride, padding=padding, dilation=dilation, groups=groups"


def _convolution(name: str, rank: int, axes: int, base: str | None = None) -> OpSpec:
    calls = both(f"torch.nn.functional.conv{axes}d(x, weight, bias, {_SLID})")
    return _row(name, base=base, rank=rank, draw=_convolved(axes), calls=calls)


def _transpose(rank: int, axes: int) -> OpSpec:
    given = "x, weight, bias, stride=stride, padding=padding, output_padding=added, dilation=dilation, groups=groups"
    calls = {
        "torch": f"torch.nn.functional.conv_transpose{axes}d({given})",
        "paddle": f"paddle.nn.functional.conv{axes}d_transpose({given})",
    }
    return _row(f"conv_transpose{axes}d", rank=rank, draw=_transposed(axes), calls=calls)


ENTRIES = rows(
    "convolutions",
    _convolution("conv2d_biased", 15, 2, base="conv2d"),
    _row(
        "conv2d_depthwise",
        base="conv2d",
        rank=15,
        draw=_depthwise,
        calls=both(f"torch.nn.functional.conv2d(x, weight, None, {_SLID})"),
    ),
    _convolution("conv1d", 47, 1),
    _convolution("conv3d", 81, 3),
    _transpose(95, 2),
    _transpose(99, 1),
    _transpose(187, 3),
    _row(
        "nn_unfold",
        rank=105,
        draw=_unfolded,
        calls={
            "torch": "torch.nn.functional.unfold(x, kernel, dilation, padding, stride)",
            "paddle": "paddle.nn.functional.unfold(x, kernel, stride, padding, dilation)",
        },
    ),
    _row(
        "nn_fold",
        rank=126,
        draw=_folded,
        calls={
            "torch": "torch.nn.functional.fold(x, size, kernel, dilation, padding, stride)",
            "paddle": "paddle.nn.functional.fold(x, size, kernel, stride, padding, dilation)",
        },
    ),
)
