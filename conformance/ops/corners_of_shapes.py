"""Corners of the ops that move elements: axes from either end, new axes, wide margins, many parts.

They stand beside the rows of their family, which would be too long with them.
"""

from __future__ import annotations

from conformance.ops.corners import MANY, count_of, on

RESHAPE = {
    "flat": on(lambda x: {"shape": [count_of(x)]}),
    "inferred": on(lambda _: {"shape": [-1, 1]}),
    "column": on(lambda x: {"shape": [count_of(x), 1, 1]}),
}

TILE = {
    "many": on(lambda x: {"repeats": [5] + [1] * (len(x.shape) - 1)} if x.shape else None),
    "more axes": on(lambda x: {"repeats": [2, 3] + [1] * len(x.shape)} if len(x.shape) <= 3 else None),
    "last axis": on(lambda x: {"repeats": [3]} if x.shape else None),
}

PERMUTE = {
    "reversed": on(lambda x: {"axes": list(range(len(x.shape)))[::-1]} if len(x.shape) > 1 else None),
    "turned": on(lambda x: {"axes": [*range(1, len(x.shape)), 0]} if len(x.shape) > 1 else None),
}

TRANSPOSE = {
    "negative axes": on(lambda x: {"axis0": -1, "axis1": -2} if len(x.shape) > 1 else None),
    "ends": on(lambda x: {"axis0": 0, "axis1": -1} if len(x.shape) > 1 else None),
}

UNSQUEEZE = {
    "last": on(lambda _: {"axis": -1}),
    "first": on(lambda _: {"axis": 0}),
    "axis -2": on(lambda x: {"axis": -2} if x.shape else None),
}

EXPAND = {
    "new axes": on(lambda x: {"shape": [2, 3, *x.shape]}),
    "ones": on(lambda x: {"shape": [5 if n == 1 else n for n in x.shape]} if 1 in x.shape else None),
}

UNBIND = {
    "last axis": on(lambda x: {"axis": -1} if x.shape and 0 < x.shape[-1] <= MANY else None),
    "axis 1": on(lambda x: {"axis": 1} if len(x.shape) > 1 and 0 < x.shape[1] <= MANY else None),
}

PAD_CONSTANT = {
    "wide": on(lambda x: {"before": [5] * len(x.shape), "after": [6] * len(x.shape), "value": 7.5} if 1 <= len(x.shape) <= 3 else None),
    "last axis": on(
        lambda x: {"before": [0] * (len(x.shape) - 1) + [1], "after": [0] * len(x.shape), "value": 0.0} if x.shape else None
    ),
}

FLIP = {
    "two axes": on(lambda x: {"axis": [0, -1]} if len(x.shape) > 1 else None),
    "every axis by name": on(lambda x: {"axis": list(range(len(x.shape)))} if len(x.shape) > 2 else None),
}

ROLL = {
    "far": on(lambda x: {"shift": 7, "axis": -1} if x.shape else None),
    "back": on(lambda x: {"shift": -5, "axis": 0} if x.shape else None),
}
