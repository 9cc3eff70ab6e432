"""Convolutions with strides, borders, dilations and groups, their transposes, unfold and fold: one row per op."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.ops.numbers import UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

SHAPE = (1, 2, 4, 3, 2)
"""Of what is convolved, where no other fits: a sample, channels and places."""


def _taken(s: Sampler, rank: int, channels: int = 1) -> Draft:
    """Take a tensor of so many axes of places, and at least so many channels."""
    return s.take(lambda d: len(d.shape) == 2 + rank and 0 not in d.shape and d.shape[1] >= channels, shape=SHAPE[: 2 + rank])


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
        padding, stride, dilation = ([s.source.integer(low, low + 1) for _ in range(rank)] for low in (0, 1, 1))
        kernel, groups = _kernel(s, x.shape[2:], padding, dilation), _groups(s, x.shape[1])
        outer = groups * s.source.integer(1, 2)
        operands = [x, s.take_shaped((outer, x.shape[1] // groups, *kernel)), s.take_shaped((outer,))]
        return operands, {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}

    return draw


def _depthwise(s: Sampler) -> Arguments | None:
    x = _taken(s, 2, channels=2)
    padding, stride, dilation = ([s.source.integer(low, low + 1) for _ in range(2)] for low in (0, 1, 1))
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
    padding, stride, dilation = ([s.source.integer(low, low + 1) for _ in range(2)] for low in (0, 1, 1))
    kernel = _kernel(s, x.shape[2:], padding, dilation)
    return [x], {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}


def _folded(s: Sampler) -> Arguments | None:
    """Draw columns, and an image of which a kernel has as many positions and elements as there are columns and rows."""
    x = s.take(lambda d: len(d.shape) == 3 and 0 not in d.shape, shape=(1, 4, 4))
    _, elements, count = x.shape
    kernel = s.source.choice([[p, q] for p in (1, 2, 3) for q in (1, 2, 3) if elements % (p * q) == 0])
    high = s.source.choice([n for n in (1, 2, 3, count) if count % n == 0])
    padding, stride, dilation = ([s.source.integer(low, low + 1) for _ in range(2)] for low in (0, 1, 1))
    along = zip((high, count // high), kernel, stride, dilation, strict=True)
    wide = [(n - 1) * t + (k - 1) * d + 1 for n, k, t, d in along]
    padding = [p if n > 2 * p else 0 for n, p in zip(wide, padding, strict=True)]
    size = [n - 2 * p for n, p in zip(wide, padding, strict=True)]
    return [x], {"size": size, "kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}


F = "torch.nn.functional"
P = "paddle.nn.functional"
_REST = "x, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups"


def _calls(torch: str, paddle: str, rest: str = _REST) -> dict[str, Any]:
    return {"torch": f"{F}.{torch}({rest})", "paddle": f"{P}.{paddle}({rest})"}


def _transposed_calls(rank: int) -> dict[str, Any]:
    return _calls(f"conv_transpose{rank}d", f"conv{rank}d_transpose", _REST.replace("dilation=", "output_padding=added, dilation="))


REAL: dict[str, Any] = {"exact": True, "numbers": real_only(UNREGISTERED), "points": PLAIN, "drawn": Drawn.NAMED}

CONV = op("conv2d_biased", base="conv2d", rank=15, draw=_convolved(2), **_calls("conv2d", "conv2d"), **REAL)
TRANSPOSED = op("conv_transpose2d", rank=95, draw=_transposed(2), **_transposed_calls(2), **REAL)

ENTRIES = rows(
    "convolutions",
    CONV,
    replace(
        CONV,
        name="conv2d_depthwise",
        draw=_depthwise,
        calls=_calls("conv2d", "conv2d", _REST.replace("bias", "None")),
    ),
    replace(CONV, name="conv1d", base_op="conv1d", rank=47, draw=_convolved(1), calls=_calls("conv1d", "conv1d")),
    replace(CONV, name="conv3d", base_op="conv3d", rank=81, draw=_convolved(3), calls=_calls("conv3d", "conv3d")),
    TRANSPOSED,
    replace(TRANSPOSED, name="conv_transpose1d", base_op="conv_transpose1d", rank=99, draw=_transposed(1), calls=_transposed_calls(1)),
    replace(TRANSPOSED, name="conv_transpose3d", base_op="conv_transpose3d", rank=187, draw=_transposed(3), calls=_transposed_calls(3)),
    op(
        "nn_unfold",
        rank=105,
        draw=_unfolded,
        torch=f"{F}.unfold(x, kernel, dilation, padding, stride)",
        paddle=f"{P}.unfold(x, kernel, stride, padding, dilation)",
        **REAL,
    ),
    op(
        "nn_fold",
        rank=126,
        draw=_folded,
        torch=f"{F}.fold(x, size, kernel, dilation, padding, stride)",
        paddle=f"{P}.fold(x, size, kernel, stride, padding, dilation)",
        **REAL,
    ),
)
