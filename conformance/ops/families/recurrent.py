"""Recurrent layers: one row per op.

What is compared is one layer in one direction, with biases, whose weights are tensors of the script. ``paddle.nn.SimpleRNN``,
``GRU`` and ``LSTM`` hold theirs themselves and hand them to one op, which is called here; ``batch_first`` is a
transposition in both.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import PLAIN, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

STEPS = 2
"""The most steps that are drawn: each is a graph of its own."""
UNITS = (2, 1, 3)


def _is_sequence(x: Draft) -> bool:
    return len(x.shape) == 3 and 0 not in x.shape and x.shape[0] <= STEPS


def _layer(gates: int, states: int) -> Draw:
    """Draw a sequence, so many states, and weights with so many rows for each unit."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(_is_sequence, shape=(2, 2, 3))
        units = s.source.choice(UNITS)
        before = [s.take_shaped((1, x.shape[1], units)) for _ in range(states)]
        rows_of_weights = gates * units
        shapes = ((rows_of_weights, x.shape[2]), (rows_of_weights, units), (rows_of_weights,), (rows_of_weights,))
        return [x, *before, *map(s.take_shaped, shapes)], {}

    return draw


def _of_torch(name: str, state: str) -> str:
    """Call a layer with biases, of one layer, without dropout, for training, in one direction, the steps first."""
    return f"torch.{name}(x, {state}, [w_ih, w_hh, b_ih, b_hh], True, 1, 0.0, True, False, False)"


def _of_paddle(mode: str, states: str) -> str:
    """Call what the layers of ``paddle.nn`` do: without lengths and dropout, in one direction, one layer, for training."""
    given = f"x, [{states}], [w_ih, w_hh, b_ih, b_hh], None, paddle.zeros([0], 'uint8'), 0.0, False, x.shape[2], h.shape[2], 1"
    return f"paddle._C_ops.rnn({given}, {mode!r}, 0, False)"


_row = partial(op, exact=False, numbers=real_only(UNIMPLEMENTED), points=PLAIN, drawn=Drawn.NAMED)

ENTRIES = rows(
    "recurrent",
    _row(
        "lstm",
        rank=106,
        draw=_layer(4, 2),
        calls={
            "torch": f"torch.cat({_of_torch('lstm', '[h, c]')}[::2])",
            "paddle": f"(lambda states, _, last: paddle.concat([states, last[1]]))(*{_of_paddle('LSTM', 'h, c')})",
        },
    ),
    _row(
        "gru",
        rank=154,
        draw=_layer(3, 1),
        calls={"torch": f"{_of_torch('gru', 'h')}[0]", "paddle": f"{_of_paddle('GRU', 'h')}[0]"},
    ),
    _row(
        "rnn_tanh",
        rank=196,
        draw=_layer(1, 1),
        calls={"torch": f"{_of_torch('rnn_tanh', 'h')}[0]", "paddle": f"{_of_paddle('RNN_TANH', 'h')}[0]"},
    ),
)
