"""Recurrent layers against what their documents say, number by number, and what makes a sequence of steps one layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from reference_impl import OPS

RANDOM = np.random.default_rng(7)
GATES = {"rnn_tanh": 1, "gru": 3, "lstm": 4}
STEPS, BATCH, INPUTS, UNITS = 3, 2, 3, 2


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def dot(row: Any, x: Any) -> float:
    return math.fsum(float(a) * float(b) for a, b in zip(row, x, strict=True))


def stepped(op: str, x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[list[float], list[float]]:
    """Make one step of one sample; a cell is kept by an `lstm` alone."""
    of_x = [dot(w, x) + float(b) for w, b in zip(w_ih, b_ih, strict=True)]
    of_h = [dot(w, h) + float(b) for w, b in zip(w_hh, b_hh, strict=True)]
    states, cells = [], []
    for k in range(len(h)):
        a, b = of_x[k :: len(h)], of_h[k :: len(h)]
        if op == "rnn_tanh":
            states.append(math.tanh(a[0] + b[0]))
        elif op == "gru":
            r, z = logistic(a[0] + b[0]), logistic(a[1] + b[1])
            states.append((1 - z) * math.tanh(a[2] + r * b[2]) + z * h[k])
        else:
            i, f, o = (logistic(a[gate] + b[gate]) for gate in (0, 1, 3))
            cells.append(f * c[k] + i * math.tanh(a[2] + b[2]))
            states.append(o * math.tanh(cells[k]))
    return states, cells or list(c)


def drawn(op: str) -> tuple[Any, Any, Any, list[Any]]:
    """Draw a sequence, a state, a cell, and weights and biases."""
    rows = GATES[op] * UNITS
    x, h, c = (RANDOM.normal(size=shape) for shape in ((STEPS, BATCH, INPUTS), (1, BATCH, UNITS), (1, BATCH, UNITS)))
    return x, h, c, [RANDOM.normal(size=shape) for shape in ((rows, INPUTS), (rows, UNITS), (rows,), (rows,))]


def applied(op: str, x: Any, h: Any, c: Any, weights: list[Any]) -> Any:
    return OPS[op](x, h, *([c] if op.startswith("lstm") else []), *weights)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("spelling", ["", "_as_one"])
def test_a_layer_is_what_its_document_says_number_by_number(op: str, spelling: str) -> None:
    x, h, c, weights = drawn(op)
    states, cells, wanted = h[0].tolist(), c[0].tolist(), []
    for given in x:
        made = [stepped(op, *sample, *weights) for sample in zip(given, states, cells, strict=True)]
        states, cells = [state for state, _ in made], [cell for _, cell in made]
        wanted.append(states)
    if op == "lstm":
        wanted.append(cells)
    assert np.allclose(wanted, applied(op + spelling, x, h, c, weights), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("op", GATES)
def test_a_layer_goes_on_from_where_it_was(op: str) -> None:
    x, h, c, weights = drawn(op)
    whole, half = applied(op, x, h, c, weights), applied(op, x[:1], h, c, weights)
    rest = applied(op, x[1:], half[:1], half[1:], weights)
    assert np.allclose(whole[1:], rest, rtol=1e-13, atol=1e-14)


def test_a_gate_that_is_open_keeps_the_state() -> None:
    x, h, c, weights = drawn("gru")
    weights[2][UNITS : 2 * UNITS] = 800.0
    assert np.array_equal(np.repeat(h, STEPS, axis=0), applied("gru", x, h, c, weights))


def test_a_cell_that_forgets_all_and_takes_nothing_is_empty() -> None:
    x, h, c, weights = drawn("lstm")
    weights[2][: 2 * UNITS] = -800.0
    assert np.array_equal(np.zeros((STEPS + 1, BATCH, UNITS)), applied("lstm", x, h, c, weights))


def run(op: str, x: Any, h: Any, c: Any, weights: list[Any]) -> list[Any]:
    """Return the states of a layer, number by number."""
    states, cells, made = h.tolist(), c.tolist(), []
    for given in x:
        both = [stepped(op, *sample, *weights) for sample in zip(given, states, cells, strict=True)]
        states, cells = [state for state, _ in both], [cell for _, cell in both]
        made.append(states)
    return made


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("spelling", ["", "_as_one"])
@pytest.mark.parametrize("form", ["stacked", "both_ways"])
def test_two_layers_are_one_upon_the_other_or_one_from_either_end(op: str, form: str, spelling: str) -> None:
    x, h, c, weights = drawn(op)
    others = drawn(op)[3]
    if form == "stacked":
        others[0] = RANDOM.normal(size=(GATES[op] * UNITS, UNITS))
    (_, h_2, c_2, _), (h, c) = drawn(op), (h[0], c[0])
    if form == "stacked":
        wanted = run(op, np.array(run(op, x, h, c, weights)), h_2[0], c_2[0], others)
    else:
        turned = run(op, x[::-1], h_2[0], c_2[0], others)[::-1]
        wanted = np.concatenate([run(op, x, h, c, weights), turned], -1).tolist()
    given = (x, np.stack([h, h_2[0]]), np.stack([c, c_2[0]]), [*weights, *others])
    assert np.allclose(wanted, applied(f"{op}_{form}{spelling}", *given), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("form", ["stacked", "both_ways"])
def test_one_node_of_two_layers_hands_on_what_is_for_its_biases_behind_all_that_is_for_its_weights(form: str) -> None:
    names = OPS[f"lstm_{form}_as_one"].operands
    handed = [names[position] for position in OPS[f"lstm_{form}_as_one"].handing]
    assert [*"xhc", "w_ih", "w_hh", "v_ih", "v_hh", "b_ih", "b_hh", "c_ih", "c_hh"] == handed
