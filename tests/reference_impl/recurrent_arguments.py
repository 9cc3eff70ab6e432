"""Arguments of recurrent layers for the check of their rules: the shapes of small ones, of one layer and of two."""

from __future__ import annotations

import itertools
from typing import Any

GATES = (("rnn_tanh", 1), ("gru", 3), ("lstm", 4))

Shapes = tuple[tuple[int, ...], ...]


def _two_layers(gates: int, inputs: int) -> Shapes:
    """Return the shapes of what two layers take, of one unit each; ``inputs``: of the second one."""
    weights = (((gates, n), (gates, 1), (gates,), (gates,)) for n in (2, inputs))
    return ((2, 1, 2), *((2, 1, 1),) * (1 + (gates == 4)), *itertools.chain.from_iterable(weights))


RECURRENT: tuple[tuple[str, Shapes, dict[str, Any]], ...] = (
    ("rnn_tanh_as_one", ((2, 1, 2), (1, 1, 2), (2, 2), (2, 2), (2,), (2,)), {}),
    ("gru_as_one", ((2, 1, 2), (1, 1, 1), (3, 2), (3, 1), (3,), (3,)), {}),
    ("lstm_as_one", ((2, 1, 2), (1, 1, 1), (1, 1, 1), (4, 2), (4, 1), (4,), (4,)), {}),
    ("lstm_back_as_one", ((2, 1, 2), (1, 1, 1), (1, 1, 1), (4, 2), (4, 1), (4,), (4,)), {}),
    ("lstm_back", ((2, 1, 1), (1, 1, 1), (1, 1, 1), (4, 1), (4, 1), (4,), (4,)), {}),
    ("lstm_by_dtype", ((1, 1, 1), (1, 1, 1), (1, 1, 1), (4, 1), (4, 1), (4,), (4,)), {}),
    *((f"{op}_stacked_as_one", _two_layers(gates, 1), {}) for op, gates in GATES),
    *((f"{op}_both_ways_as_one", _two_layers(gates, 2), {}) for op, gates in GATES),
    ("lstm_stacked_by_dtype", _two_layers(4, 1), {}),
    ("lstm_both_ways_by_dtype", _two_layers(4, 2), {}),
)
