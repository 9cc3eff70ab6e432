"""Recurrent layers: one row per op.

What is compared is one layer in one direction, two of them one upon the other, or one in each direction, with biases, whose weights
are tensors of the script. ``paddle.nn.SimpleRNN``, ``GRU`` and ``LSTM`` hold theirs themselves and hand them to one op, which is
called here; ``batch_first`` is a transposition in both.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import PLAIN, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler
    from conformance.ops.spec import OpSpec


@dataclass(frozen=True, slots=True)
class Form:
    """How many layers or directions there are, and whether one stands upon the other."""

    count: int
    stacked: bool = False

    @property
    def layers(self) -> int:
        """How many of them stand upon each other."""
        return self.count if self.stacked else 1

    @property
    def weights(self) -> tuple[tuple[str, ...], ...]:
        """The names of the weights and biases of each."""
        return (("w_ih", "w_hh", "b_ih", "b_hh"), ("v_ih", "v_hh", "c_ih", "c_hh"))[: self.count]


ALONE = Form(1)
STEPS = 2
"""The most steps that are drawn: each is a graph of its own."""
UNITS = (2, 1, 3)


def _is_sequence(x: Draft) -> bool:
    return len(x.shape) == 3 and 0 not in x.shape and x.shape[0] <= STEPS


def _layer(gates: int, states: int, form: Form = ALONE) -> Draw:
    """Draw a sequence, so many states, and weights with so many rows for each unit; of two layers, those of both."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(_is_sequence, shape=(2, 2, 3))
        units = s.source.choice(UNITS)
        before = [s.take_shaped((form.count, x.shape[1], units)) for _ in range(states)]
        rows_of_weights = gates * units
        shapes = [
            shape
            for inputs in (x.shape[2], *[units if form.stacked else x.shape[2]] * (form.count - 1))
            for shape in ((rows_of_weights, inputs), (rows_of_weights, units), (rows_of_weights,), (rows_of_weights,))
        ]
        return [x, *before, *map(s.take_shaped, shapes)], {}

    return draw


def _of_torch(name: str, state: str, form: Form = ALONE) -> str:
    """Call a layer with biases, without dropout, for training, the steps first."""
    given = ", ".join(itertools.chain.from_iterable(form.weights))
    return f"torch.{name}(x, {state}, [{given}], True, {form.layers}, 0.0, True, {not form.stacked and form.count > 1}, False)"


def _of_paddle(mode: str, states: str, form: Form = ALONE) -> str:
    """Call what the layers of ``paddle.nn`` do: without lengths and dropout, for training; all biases are behind all weights."""
    given = ", ".join([name for group in form.weights for name in group[:2]] + [name for group in form.weights for name in group[2:]])
    both = not form.stacked and form.count > 1
    sizes = f"{both}, x.shape[2], h.shape[2], {form.layers}"
    return f"paddle._C_ops.rnn(x, [{states}], [{given}], None, paddle.zeros([0], 'uint8'), 0.0, {sizes}, {mode!r}, 0, False)"


_row = partial(op, exact=False, numbers=real_only(UNIMPLEMENTED), points=PLAIN, drawn=Drawn.NAMED)


def _of_two(row: OpSpec, mode: str, gates: int, suffix: str, form: Form) -> OpSpec:
    """Make the row of two layers of a row of one; what is compared is their states."""
    state, states = ("[h, c]", "h, c") if mode == "LSTM" else ("h", "h")
    calls = {"torch": f"{_of_torch(row.name, state, form)}[0]", "paddle": f"{_of_paddle(mode, states, form)}[0]"}
    return replace(row, name=f"{row.name}_{suffix}", draw=_layer(gates, len(states.split(", ")), form), calls=calls)


LSTM = _row(
    "lstm",
    rank=106,
    draw=_layer(4, 2),
    calls={
        "torch": f"torch.cat({_of_torch('lstm', '[h, c]')}[::2])",
        "paddle": f"(lambda states, _, last: paddle.concat([states, last[1]]))(*{_of_paddle('LSTM', 'h, c')})",
    },
)
GRU = _row(
    "gru",
    rank=154,
    draw=_layer(3, 1),
    calls={"torch": f"{_of_torch('gru', 'h')}[0]", "paddle": f"{_of_paddle('GRU', 'h')}[0]"},
)
RNN = _row(
    "rnn_tanh",
    rank=196,
    draw=_layer(1, 1),
    calls={"torch": f"{_of_torch('rnn_tanh', 'h')}[0]", "paddle": f"{_of_paddle('RNN_TANH', 'h')}[0]"},
)
FORMS = {"stacked": Form(2, stacked=True), "both_ways": Form(2, stacked=False)}

ENTRIES = rows(
    "recurrent",
    LSTM,
    GRU,
    RNN,
    *(_of_two(LSTM, "LSTM", 4, suffix, form) for suffix, form in FORMS.items()),
    *(_of_two(GRU, "GRU", 3, suffix, form) for suffix, form in FORMS.items()),
    *(_of_two(RNN, "RNN_TANH", 1, suffix, form) for suffix, form in FORMS.items()),
)
