"""Recurrent layers: one layer in one direction, two of them, or both directions, with given weights, along the first axis.

A step adds what it makes of the element of the sequence and of what was left of the step before. The rows of the weights are those of
the gates, one below the other: reset, update and candidate of a `gru`; input, forget, candidate and output of an `lstm`. Sources: the
pages of ``torch.nn.RNN``, ``GRU`` and ``LSTM`` and of ``paddle.nn.SimpleRNN``, ``GRU`` and ``LSTM``, whose formulas are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import add, mul, rsub_scalar
from reference_impl.primitives.elementary import sigmoid, tanh
from reference_impl.primitives.fused import as_one
from reference_impl.primitives.linalg import linear
from reference_impl.primitives.shape import cat, narrow, reshape, split, stack, unbind
from reference_impl.tape.primitive import OPS, composite, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _gates(x: Any, count: int) -> Sequence[Any]:
    last = len(shape_of(x)) - 1
    parts: Sequence[Any] = split(x, sections=[shape_of(x)[last] // count] * count, axis=last)
    return parts


def _of_inputs(x: Any, weight: Any, bias: Any) -> Sequence[Any]:
    """Return what each step makes of its element of the sequence."""
    steps, batch, inputs = shape_of(x)
    rows = linear(reshape(x, shape=(steps * batch, inputs)), weight, bias)
    parts: Sequence[Any] = unbind(reshape(rows, shape=(steps, batch, shape_of(bias)[0])), axis=0)
    return parts


def _in_turn(steps: Sequence[Any], back: bool) -> Sequence[Any]:
    """Return steps as a layer takes them, or what it made of them as they were: one that goes ``back`` begins at the end."""
    return steps[::-1] if back else steps


def _first(h: Any) -> Any:
    """Return the state of the only layer."""
    return reshape(h, shape=shape_of(h)[1:])


def _rnn_tanh(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, *, back: bool = False) -> Any:
    state, states = _first(h), []
    for given in _in_turn(_of_inputs(x, w_ih, b_ih), back):
        state = tanh(add(linear(state, w_hh, b_hh), given))
        states.append(state)
    return stack(*_in_turn(states, back), axis=0)


@composite
def rnn_tanh(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """Return the states ``tanh(W_ih x + b_ih + W_hh h + b_hh)``, one for each element of ``x``.

    Shapes: ``x`` (steps, batch, inputs), ``h`` (1, batch, units), ``w_ih`` (units, inputs), ``w_hh`` (units, units), biases (units,);
    the result (steps, batch, units).
    """
    return _rnn_tanh(x, h, w_ih, w_hh, b_ih, b_hh)


rnn_tanh_as_one = as_one(rnn_tanh)


def _gru(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, *, back: bool = False) -> Any:
    state, states = _first(h), []
    for given in _in_turn(_of_inputs(x, w_ih, b_ih), back):
        (reset, update, new), (reset_h, update_h, new_h) = _gates(given, 3), _gates(linear(state, w_hh, b_hh), 3)
        kept = sigmoid(add(update, update_h))
        candidate = tanh(add(new, mul(sigmoid(add(reset, reset_h)), new_h)))
        state = add(mul(rsub_scalar(kept, other=1.0), candidate), mul(kept, state))
        states.append(state)
    return stack(*_in_turn(states, back), axis=0)


@composite
def gru(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """Return the states ``(1 - z) n + z h`` of gated units; shapes as of `rnn_tanh`, with three rows of weights for each unit.

    ``n = tanh(W_in x + b_in + r (W_hn h + b_hn))``; ``r`` and ``z`` are sigmoids of sums like that of `rnn_tanh`.
    """
    return _gru(x, h, w_ih, w_hh, b_ih, b_hh)


gru_as_one = as_one(gru)


def _lstm(x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, *, back: bool = False) -> Any:
    state, cell, states = _first(h), _first(c), []
    for given in _in_turn(_of_inputs(x, w_ih, b_ih), back):
        taken, kept, new, shown = _gates(add(linear(state, w_hh, b_hh), given), 4)
        cell = add(mul(sigmoid(kept), cell), mul(sigmoid(taken), tanh(new)))
        state = mul(sigmoid(shown), tanh(cell))
        states.append(state)
    return cat(stack(*_in_turn(states, back), axis=0), stack(cell, axis=0), axis=0)


@composite
def lstm(x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """Return the states ``o tanh(c)`` of cells ``f c + i g``, and behind them the last cell, along the first axis.

    Shapes as of `rnn_tanh`, with four rows of weights for each cell, and ``c`` like ``h``; the result (steps + 1, batch, units).
    ``i``, ``f`` and ``o`` are sigmoids of sums like that of `rnn_tanh`, and ``g`` is a tanh of one.
    """
    return _lstm(x, h, c, w_ih, w_hh, b_ih, b_hh)


lstm_as_one = as_one(lstm)


@composite
def lstm_back(x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """Return the same as `lstm` of a layer that begins at the end; the states are in the order of ``x``."""
    return _lstm(x, h, c, w_ih, w_hh, b_ih, b_hh, back=True)


lstm_back_as_one = as_one(lstm_back)


def _lstm_by_dtype(x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, *, back: bool = False) -> Any:
    one, several = (lstm_back_as_one, lstm_back) if back else (lstm_as_one, lstm)
    return (one if x.dtype == np.float32 else several)(x, h, c, w_ih, w_hh, b_ih, b_hh)


@composite
def lstm_by_dtype(x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """Return the same as `lstm`, which is one node in PyTorch for float32, by a kernel of oneDNN, and several for float64."""
    return _lstm_by_dtype(x, h, c, w_ih, w_hh, b_ih, b_hh)


def _of_steps(layer: Callable[..., Any]) -> Callable[..., Any]:
    """Return the layer without what an `lstm` has behind its states."""
    return lambda x, *rest, **way: narrow(layer(x, *rest, **way), axis=0, start=0, length=shape_of(x)[0])


def _each(states: Any) -> list[Any]:
    """Return the first states of two layers or directions, as each of them takes it."""
    return [narrow(states, axis=0, start=k, length=1) for k in range(2)]


def _stacked(layer: Callable[..., Any], x: Any, states: Sequence[Any], below: Sequence[Any], above: Sequence[Any]) -> Any:
    """Return the states of a layer whose sequence is the states of another one; ``states``: the first ones of both in each."""
    lower, upper = zip(*map(_each, states), strict=True)
    return layer(layer(x, *lower, *below), *upper, *above)


def _both_ways(layer: Callable[..., Any], x: Any, states: Sequence[Any], ahead: Sequence[Any], back: Sequence[Any]) -> Any:
    """Return the states of a layer that goes ahead, and beside them those of one that begins at the end."""
    first, last = zip(*map(_each, states), strict=True)
    return cat(layer(x, *first, *ahead), layer(x, *last, *back, back=True), axis=len(shape_of(x)) - 1)


def _two(name: str, layer: Callable[..., Any], joined: Callable[..., Any]) -> Callable[..., Any]:
    """Register a composite of two layers with one state; their weights and biases come one after the other."""

    def two(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, v_ih: Any, v_hh: Any, c_ih: Any, c_hh: Any) -> Any:
        return joined(layer, x, [h], (w_ih, w_hh, b_ih, b_hh), (v_ih, v_hh, c_ih, c_hh))

    two.__name__ = name
    return composite(two)


def _two_of_cells(name: str, layer: Callable[..., Any], joined: Callable[..., Any]) -> Callable[..., Any]:
    """Register the same of two layers that keep cells, too."""

    def two(x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, v_ih: Any, v_hh: Any, c_ih: Any, c_hh: Any) -> Any:
        return joined(_of_steps(layer), x, [h, c], (w_ih, w_hh, b_ih, b_hh), (v_ih, v_hh, c_ih, c_hh))

    two.__name__ = name
    return composite(two)


def _biases_last(states: int) -> tuple[int, ...]:
    """Return the operands of two layers as Paddle's kernel takes them: the biases of both are behind all weights."""
    first = 1 + states
    return (*range(first), *(first + at for at in (0, 1, 4, 5, 2, 3, 6, 7)))


for _suffix, _joined in (("stacked", _stacked), ("both_ways", _both_ways)):
    as_one(_two(f"rnn_tanh_{_suffix}", _rnn_tanh, _joined), handing=_biases_last(1))
    as_one(_two(f"gru_{_suffix}", _gru, _joined), handing=_biases_last(1))
    as_one(_two_of_cells(f"lstm_{_suffix}", _lstm, _joined), handing=_biases_last(2))
    _two_of_cells(f"lstm_{_suffix}_by_dtype", _lstm_by_dtype, _joined)

OF_TWO_LAYERS = frozenset(name for name in OPS if name.endswith(("_stacked_as_one", "_both_ways_as_one", "_back_as_one")))
"""The primitives of two layers, one upon the other or one from either end, and of the one that begins at the end."""
