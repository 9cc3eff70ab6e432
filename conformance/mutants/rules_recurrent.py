"""Wrong rules of recurrent layers: those of a pass through time that ends early, or begins elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.tape.primitive import shape_of, zeros_like

wrong = Entries()


def _of_last(g: Any) -> Any:
    """Return a cotangent that is 0 but for the last place along the first axis."""
    places = np.zeros(shape_of(g), g.dtype)
    places[-1:] = 1.0
    return OPS["mul"](g, places)


@wrong("rnn_tanh_as_one.w_ih", "gru_as_one.w_ih", what="is that of the last state alone")
def of_the_last_state(right: Any, g: Any, out: Any, *operands: Any) -> Any:
    return right(_of_last(g), out, *operands)


@wrong("lstm_as_one.w_ih", what="is that of the cell alone")
def of_the_cell(right: Any, g: Any, out: Any, *operands: Any) -> Any:
    return right(_of_last(g), out, *operands)


@wrong("lstm_as_one.c", what="is that of the states alone")
def of_the_states(right: Any, g: Any, out: Any, *operands: Any) -> Any:
    return right(OPS["sub"](g, _of_last(g)), out, *operands)


@wrong(
    "gru_stacked_as_one.v_ih",
    "lstm_stacked_as_one.v_ih",
    "gru_both_ways_as_one.v_ih",
    "lstm_both_ways_as_one.v_ih",
    what="is that of the last state alone",
)
def of_the_last_state_of_two(right: Any, g: Any, out: Any, *operands: Any) -> Any:
    return right(_of_last(g), out, *operands)


@wrong("rnn_tanh_as_one.w_hh", "gru_as_one.w_hh", "lstm_as_one.w_hh", what="is that of a first state of zeros")
def of_no_first_state(right: Any, g: Any, out: Any, x: Any, h: Any, *rest: Any) -> Any:
    return right(g, out, x, zeros_like(h), *rest)
