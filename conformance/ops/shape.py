"""Shape and view ops: how to draw their arguments, and their calls in each framework."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from conformance.ops.draws import along_axis, axis_of, reshaped
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _flatten(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 3)  # where there is nothing to flatten, a tensor comes back itself
    return [x], {"shape": [x.shape[0], math.prod(x.shape[1:])]}


def _permute(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 2)
    axes = s.source.shuffled(range(len(x.shape)))
    return [x], {"axes": axes}


def _transpose(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 2)
    axis0, axis1 = s.source.shuffled(range(len(x.shape)))[:2]
    return [x], {"axis0": axis0, "axis1": axis1}


def _t(s: Sketch) -> Drawn:
    return [s.take(lambda d: len(d.shape) == 2)], {}  # with fewer axes, Paddle returns the tensor itself


def _unsqueeze(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) < 4)
    return [x], {"axis": s.source.integer(0, len(x.shape))}


def _squeeze(s: Sketch) -> Drawn:
    x = s.take(lambda d: 1 in d.shape, shape=(2, 1))
    return [x], {"axis": x.shape.index(1)}


def _expand(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) < 4)
    shape = [s.length() if n == 1 else n for n in x.shape]
    return [x], {"shape": ([s.length()] if s.source.chance(0.5) else []) + shape}


def _cat(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 1)
    axis = s.source.integer(0, len(x.shape) - 1)
    others = [s.take_shaped(x.shape) for _ in range(s.source.integer(1, 2))]
    return [x, *others], {"axis": axis}


def _stack(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) < 3)
    return [x, s.take_shaped(x.shape)], {"axis": s.source.integer(0, len(x.shape))}


def _split(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 1 and d.shape[0] >= 2, shape=(3, 2))
    first = s.source.integer(1, x.shape[0] - 1)
    return [x], {"sections": [first, x.shape[0] - first], "axis": 0}


def _chunk(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 1 and d.shape[-1] in (2, 4), shape=(2, 4))
    return [x], {"sections": [x.shape[-1] // 2] * 2, "axis": -1}


def _unbind(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 1 and d.shape[0] >= 1, shape=(3, 2))
    return [x], {"axis": 0}


def _pad(s: Sketch) -> Drawn:
    x = s.take(lambda d: 1 <= len(d.shape) <= 3)
    before = [s.source.integer(0, 2) for _ in x.shape]
    after = [s.source.integer(0, 1) for _ in x.shape]
    return [x], {"before": before, "after": after, "value": s.number()}


def _tile(s: Sketch) -> Drawn:
    x = s.take(lambda d: 1 <= len(d.shape) <= 3)
    lead = [s.source.integer(1, 2)] if s.source.chance(0.3) else []
    return [x], {"repeats": lead + [s.source.integer(1, 2) for _ in x.shape]}


def _repeat_interleave(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 1)
    return [x], {"repeats": s.source.integer(1, 3), "axis": axis_of(s, x)}


def _roll(s: Sketch) -> Drawn:
    x = s.take(lambda d: len(d.shape) >= 1)
    return [x], {"shift": s.source.integer(-2, 2), "axis": axis_of(s, x)}


def _triangle(s: Sketch) -> Drawn:
    return [s.take(lambda d: len(d.shape) >= 2)], {"diagonal": s.source.integer(-1, 1)}


ENTRIES = rows(
    "shape",
    ("reshape", "reshape", 4, reshaped, "torch.reshape(x, shape)", "paddle.reshape(x, shape)"),
    ("view", "view", 7, reshaped, "x.contiguous().view(shape)", "x.contiguous().view(shape)"),
    ("flatten", "flatten", 16, _flatten, "torch.flatten(x, 1)", "paddle.flatten(x, 1)"),
    ("permute", "permute", 22, _permute, "torch.permute(x, axes)", "paddle.transpose(x, axes)"),
    (
        *("transpose", "transpose", 6, _transpose, "torch.transpose(x, axis0, axis1)"),
        "paddle.transpose(x, [axis1 if i == axis0 else axis0 if i == axis1 else i for i in range(x.ndim)])",
    ),
    ("t", "t", 74, _t, "torch.t(x)", "paddle.t(x)"),
    (
        *("contiguous", "contiguous", 9, _permute),  # of a transposed tensor: a contiguous one comes back itself
        "torch.permute(x, axes).contiguous()",
        "paddle.transpose(x, axes).contiguous()",
    ),
    ("unsqueeze", "unsqueeze", 20, _unsqueeze, "torch.unsqueeze(x, axis)", "paddle.unsqueeze(x, axis)"),
    ("squeeze", "squeeze", 44, _squeeze, "torch.squeeze(x, axis)", "paddle.squeeze(x, axis)"),
    ("expand", "expand", 30, _expand, "x.expand(shape)", "x.expand(shape)"),
    ("cat", "cat", 8, _cat, "torch.cat(xs, axis)", "paddle.concat(xs, axis)"),
    ("stack", "stack", 45, _stack, "torch.stack(xs, axis)", "paddle.stack(xs, axis)"),
    ("split", "split", 37, _split, "torch.split(x, sections, axis)", "paddle.split(x, sections, axis)"),
    ("chunk", "chunk", 35, _chunk, "torch.chunk(x, len(sections), axis)", "paddle.chunk(x, len(sections), axis)"),
    ("unbind", "unbind", 43, _unbind, "torch.unbind(x, axis)", "paddle.unbind(x, axis)"),
    (
        *("pad_constant", "pad", 38, _pad),
        "torch.nn.functional.pad(x, [n for p in zip(before[::-1], after[::-1]) for n in p], value=value)",
        "paddle.nn.functional.pad(x, [n for p in zip(before, after) for n in p], value=value)",
    ),
    ("tile", "tile", 73, _tile, "torch.tile(x, repeats)", "paddle.tile(x, repeats)"),
    ("repeat", "repeat", 66, _tile, "x.repeat(repeats)", "x.tile(repeats)"),
    (
        *("repeat_interleave", "repeat_interleave", 65, _repeat_interleave),
        "torch.repeat_interleave(x, repeats, axis)",
        "paddle.repeat_interleave(x, repeats, axis)",
    ),
    ("roll", "roll", 78, _roll, "torch.roll(x, shift, axis)", "paddle.roll(x, shift, axis)"),
    ("flip", "flip", 118, along_axis(nonempty=False), "torch.flip(x, [axis])", "paddle.flip(x, [axis])"),
    ("tril", "tril", 98, _triangle, "torch.tril(x, diagonal)", "paddle.tril(x, diagonal)"),
    ("triu", "triu", 85, _triangle, "torch.triu(x, diagonal)", "paddle.triu(x, diagonal)"),
)
