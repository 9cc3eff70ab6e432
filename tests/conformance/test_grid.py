"""The grid: every op at every order, every pair of values that is possible, the same everywhere; and faults that it alone meets."""

from __future__ import annotations

import functools
import math
from collections import Counter
from contextlib import contextmanager
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.backends.reference import ReferenceEngine, reference
from conformance.campaign.options import Options
from conformance.campaign.records import CaseRecord, Footer, Header
from conformance.campaign.records.files import read
from conformance.campaign.records.grid import cell_of
from conformance.campaign.run import nowhere_taken, run_campaign
from conformance.campaign.workers.trial import run_case
from conformance.case.needs import AGAIN
from conformance.case.outcome import Raised
from conformance.case.steps import Grad, Op, SetRequiresGrad
from conformance.generate.grid import CALLED_BY, DIMENSIONS, TRIPLES, VALUES, WANTED, combinations_of, grid
from conformance.generate.grid.alone import FOURTH, LATER, SMOOTH, UNWRITTEN, WRITTEN, alone
from conformance.generate.grid.covering import cover, possible
from conformance.generate.grid.places import BLOCKS, SQUARE, shapes
from conformance.generate.grid.script import FACTORS
from conformance.generate.layouts import LAYOUTS, laid
from conformance.generate.scripts import DrawOptions
from conformance.mutants.mutant import WrongEngine, patch
from conformance.ops import catalogue
from reference_impl import OPS, PADDLE_STATIC, TORCH, Category
from reference_impl.tape.rules import replaced_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.campaign.records import Record
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.generate.grid import Point

SOME = ("mul", "sum", "pow_scalar", "t", "cat", "topk")
"""Ops of all kinds: two operands, axes, numbers beyond 4, one rank alone, many operands, distinct elements."""


@functools.cache
def points(op: str) -> tuple[Point, ...]:
    """Return the points of an op, which take a moment to find."""
    return tuple(grid([op]))


@pytest.mark.parametrize("op", catalogue())
def test_every_op_is_there_at_every_order_with_every_argument(op: str) -> None:
    rows = [point.row for point in grid([op])]
    assert {"1", "2", "3"} == {row["order"] for row in rows} - {FOURTH}
    assert {"drawn", *catalogue()[op].corners} == {row["argument"] for row in rows}


@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_long_rows_of_matrices_are_asked_for_by_a_negative_axis_in_each_dtype_and_at_each_order(op: str) -> None:
    rows = [point.row for point in points(op) if point.row["argument"] == "long last axis"]
    cases = [point.case() for point in points(op) if point.row["argument"] == "long last axis"]
    assert {-1} == {step.attrs["axis"] for case in cases for step in case.steps if isinstance(step, Op) and step.op == op}
    assert {"float32", "float64"} == {row["dtype"] for row in rows}
    assert {"1", "2", "3"} == {row["order"] for row in rows}


@pytest.mark.parametrize("op", SOME)
def test_every_combination_that_is_possible_stands_in_some_case(op: str) -> None:
    met = {
        tuple((d, point.row[d]) for d in dimensions) for point in points(op) for dimensions in (*combinations(DIMENSIONS, 2), *TRIPLES)
    }
    assert not set(combinations_of(op)) - met


IMPOSSIBLE = {
    ("mul", "rank", "0", "layout", "transposed"): "a number has no axes",
    ("t", "size", "empty", "layout", "strided"): "nothing lies anywhere where there is nothing",
    ("t", "rank", "3", "layout", "contiguous"): "it takes matrices alone",
    ("topk", "layout", "expanded", "order", "1"): "elements that repeat are not distinct",
    ("sum", "call", "unseeded", "argument", "two axes, kept"): "",
    ("mul", "beside", "itself", "asked", "first"): "there is but one operand",
}
"""Pairs of values that no case can have, and why; without a reason: such as there are, so that the list is no list of gaps."""


@pytest.mark.parametrize(("pair", "why"), IMPOSSIBLE.items(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_what_is_left_out_has_a_reason(pair: tuple[str, ...], why: str) -> None:
    op, *named = pair
    asked = {(named[0], named[1]), (named[2], named[3])}
    assert bool(why) is (asked not in [set(combination) for combination in combinations_of(op)])


@pytest.mark.parametrize("word", CALLED_BY)
def test_what_no_engine_offers_is_left_out_and_all_other_pairs_are_covered(word: str) -> None:
    points = [*grid(["add"], [word])]
    needs = CALLED_BY[word]
    assert not {(name, point.row[name]) for point in points for name in needs} & {(n, v) for n, values in needs.items() for v in values}
    left = {value for point in grid(["add"]) for value in point.row.items() if value[1] not in needs.get(value[0], ())}
    assert left == {value for point in points for value in point.row.items()}


@pytest.mark.parametrize("op", ["add", "where", "conv2d", "exp"])
def test_every_value_stands_in_a_case_of_a_slow_engine_which_are_a_third_at_most(op: str) -> None:
    every, few = ([point.row for point in found] for found in (grid([op]), grid([op], wanted=VALUES)))
    assert {*every[0]} == {*few[0]}
    assert [{row[name] for row in every} for name in DIMENSIONS] == [{row[name] for row in few} for name in DIMENSIONS]
    assert 3 * len(few) <= len(every)


@pytest.mark.parametrize(("backends", "wanted"), [(("examples.engines.jax",), VALUES), (("examples.engines.hips",), WANTED)])
def test_a_slow_engine_is_asked_for_values_and_others_for_pairs(backends: tuple[str, ...], wanted: Any) -> None:
    asked = Options(backends, grid=True, draw=DrawOptions(ops=("add",))).points
    assert tuple(grid(("add",), wanted=wanted)) == asked


def test_programs_are_asked_what_they_can_say() -> None:
    words = set(nowhere_taken([BackendInfo("one", "1", PADDLE_STATIC, PADDLE_STATIC.not_offered)]))  # type: ignore[list-item]
    steps = {type(step) for point in grid(["mul"], words) for step in point.case().steps}
    assert ({Op, Grad, SetRequiresGrad}, False) == (steps, AGAIN in words)


def test_every_op_has_a_result_that_is_written_to_or_a_reason() -> None:
    written = {op for op in catalogue() if any(row["call"] == WRITTEN for row in alone(op))}
    assert written.isdisjoint(UNWRITTEN)
    assert set(catalogue()) == written | set(UNWRITTEN)


def test_what_stands_alone_is_a_tenth_of_the_grid_at_most() -> None:
    every = [points(op) for op in SOME]
    single = [[*alone(op)] for op in SOME]
    assert sum(map(len, single)) * 10 <= sum(map(len, every))


def test_smooth_ops_are_differentiated_four_times() -> None:
    calls = [
        [step for step in p.case().steps if isinstance(step, Grad)] for op in SMOOTH for p in grid([op]) if p.row["order"] == FOURTH
    ]
    assert [4] * len(SMOOTH) == [*map(len, calls)]


def test_of_the_hooks_of_a_point_one_is_removed_and_what_is_left_tells_which() -> None:
    kept = FACTORS[0] * FACTORS[2]
    others = {math.prod(some) for count in range(4) for some in combinations(FACTORS, count) if some != (FACTORS[0], FACTORS[2])}
    assert kept not in others


def test_the_same_points_come_every_time() -> None:
    assert [point.case().id for point in points("mul")] == [point.case().id for point in grid(["mul"])]


@pytest.mark.parametrize("op", SOME)
def test_the_reference_can_run_every_case(op: str) -> None:
    run = reference(TORCH, TORCH.not_offered).run
    with np.errstate(all="ignore"):
        seen = [(point.row, o) for point in points(op) for o in run(point.case()).observations if isinstance(o, Raised)]
    assert not [(row, o.message) for row, o in seen if o.category is Category.UNMAPPED]


def test_a_third_derivative_is_asked_for_in_its_seeds() -> None:
    case = next(p.case() for p in points("mul") if p.row["order"] == "3" and p.row["call"] == "grad")
    last = [step for step in case.steps if isinstance(step, Grad)][-1]
    assert {"s0", "t0"} <= set(last.inputs)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_changes_no_element(layout: str) -> None:
    array = np.broadcast_to(np.arange(3.0), (2, 3)) if layout == "expanded" else np.arange(6.0).reshape(2, 3)
    entry, steps = laid(array, layout, "x", differentiable=True)
    known_values = {entry.name: entry.array()}
    for step in steps:
        if isinstance(step, Op):
            known_values[step.results[0]] = OPS[step.op](*(known_values[n] for n in step.operands), **step.attrs)
    assert np.array_equal(array, known_values["x"])


STRIDES = {
    "contiguous": (24, 8),
    "transposed": (8, 16),
    "strided": (48, 16),
    "expanded": (0, 8),
    "negative step": (-24, 8),
    "view of a view": (8, 24),
    "offset": (24, 8),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_lies_in_memory_as_it_says(layout: str) -> None:
    entry, steps = laid(np.arange(6.0).reshape(2, 3), layout, "x", differentiable=True)
    value: Any = entry.array()
    for step in steps:
        if isinstance(step, Op):
            value = OPS[step.op](value, **step.attrs)
    assert STRIDES[layout] == value.strides


# Covering.


def test_a_cover_leaves_no_pair_out_and_is_smaller_than_the_product() -> None:
    frames = [{"a": str(i)} for i in range(5)]
    free = [{"b": tuple("12345"), "c": tuple("12345"), "d": tuple("12345")}] * 5
    wanted = list(combinations("abcd", 2))
    rows = list(cover(frames, free, wanted))
    met = {tuple((d, row[d]) for d in pair) for row in rows for pair in wanted}
    assert (True, True) == (set(possible(frames, free, wanted)) <= met, len(rows) <= 45)


def test_a_value_that_a_frame_forbids_never_stands_with_it() -> None:
    frames = [{"a": "scalar"}, {"a": "matrix"}]
    free = [{"b": ("plain",)}, {"b": ("plain", "turned")}]
    assert {"a": "scalar", "b": "turned"} not in list(cover(frames, free, [("a", "b")]))


# Faults that the grid alone meets.


def _wrong_rule(op: str, position: int, wrong: Callable[..., Any]) -> WrongEngine:
    def make(right: Callable[..., Any]) -> Callable[..., Any]:
        return lambda g, out, *operands, **attrs: wrong(right(g, out, *operands, **attrs), g, *operands, **attrs)

    return WrongEngine("wrong", lambda: replaced_rule(OPS[op], position, make))


def _array(value: Any) -> Any:
    return getattr(value, "array", value)


def _doubled_if(test: Callable[..., bool]) -> Callable[..., Any]:
    def wrong(made: Any, g: Any, *operands: Any, **attrs: Any) -> Any:
        return OPS["mul_scalar"](made, other=2.0) if test(_array(g), *map(_array, operands), **attrs) else made

    return wrong


def _turned(array: Any) -> bool:
    return array.ndim > 1 and array.size > 1 and array.flags.f_contiguous and not array.flags.c_contiguous


FAULTS = {
    "a last block that is not full, of more than 256": ("sin", 0, _doubled_if(lambda _, x: x.size > 256 and x.size % 8 > 0)),
    "an axis counted from the back": ("cumsum", 0, _doubled_if(lambda _, x, axis: axis == -2)),
    "a seed that lies transposed": ("exp", 0, _doubled_if(lambda g, x: _turned(g))),
    "rows with one element behind their blocks": (
        "cumsum",
        0,
        _doubled_if(lambda _, x, axis: x.shape[-1] in (9, 17, 33, 65, 129, 257)),
    ),
    "operands of two dtypes": ("mul", 1, _doubled_if(lambda _, x, y: x.dtype != y.dtype and x.dtype == np.float64)),
    "a tensor that is both operands": ("sub", 1, _doubled_if(lambda _, x, y: x is y and x.ndim == 4)),
    "an axis that is read backwards": ("abs", 0, _doubled_if(lambda _, x: min(x.strides, default=0) < 0)),
    "a fifth power": ("pow_scalar", 0, _doubled_if(lambda _, x, exponent: exponent == 5.0)),
}


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("size", [size for size in BLOCKS if size != SQUARE])
def test_the_first_rows_of_a_size_leave_one_element_behind_a_power_of_two(rank: int, size: str) -> None:
    row = shapes(rank, size)[0][-1]
    assert (True, True) == ((row - 1).bit_count() == 1, math.prod(shapes(rank, size)[0]) > BLOCKS[size])


def diverging(engine: WrongEngine, op: str) -> Iterator[Point]:
    return (p for p in grid([op]) if run_case(p.case(), [engine]).verdicts["wrong"].bucket == "diverged")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_at_a_combination_is_met(name: str) -> None:
    op, position, wrong = FAULTS[name]
    assert any(diverging(_wrong_rule(op, position, wrong), op))


class WrongThird(WrongEngine):
    """The rule of exp is wrong once two graphs of derivatives were made, so in third derivatives alone."""

    def __init__(self) -> None:
        self.made = 0
        right = ReferenceEngine.grad

        def counted(adapter: ReferenceEngine, step: Grad, values: Any) -> Any:
            found = right(adapter, step, values)
            self.made += step.create_graph
            return found

        def turned(rule: Callable[..., Any]) -> Callable[..., Any]:
            return lambda g, out, x: OPS["mul_scalar"](rule(g, out, x), other=self.sign)

        counting = patch((ReferenceEngine, "grad", counted))
        super().__init__("wrong", lambda: _both(counting(), replaced_rule(OPS["exp"], 0, turned)))

    @property
    def sign(self) -> float:
        """By what the rule multiplies."""
        return -1.0 if self.made >= 2 else 1.0

    def run(self, case: Case) -> Outcome:
        """Run a case; the graphs are counted anew."""
        self.made = 0
        return super().run(case)


@contextmanager
def _both(one: Any, other: Any) -> Iterator[None]:
    with one, other:
        yield


def test_a_third_derivative_that_is_wrong_alone_is_met_at_no_order_below() -> None:
    assert {"3", FOURTH} == {point.row["order"] for point in diverging(WrongThird(), "exp") if point.row["call"] != LATER}


def test_a_right_engine_agrees_on_the_grid() -> None:
    buckets = {run_case(p.case(), [WrongEngine("wrong")]).verdicts["wrong"].bucket for p in (*points("mul"), *points("sum"))}
    assert {"agreed", "same_error"} == buckets


# A run of the grid.


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """Run the grid of one op on an engine that is right, and read the record."""
    options = Options(
        ("tests.wrong_engines:correct",), 7, draw=DrawOptions(ops=("square",)), out=tmp_path_factory.mktemp("grid"), grid=True
    )
    run_campaign(options)
    return list(read(options.record))


def test_the_cases_of_the_grid_come_behind_those_that_are_drawn(ran: list[Record]) -> None:
    header = ran[0]
    cases = [record for record in ran if isinstance(record, CaseRecord)]
    assert isinstance(header, Header)
    assert [False] * 7 + [True] * header.grid == [record.grid is not None for record in cases]
    assert header.cases == len(cases) == 7 + len(list(grid(["square"])))


def test_the_record_sums_up_what_was_met_in_each_cell(ran: list[Record]) -> None:
    footer, points = ran[-1], list(grid(["square"]))
    assert isinstance(footer, Footer)
    (cells,) = footer.grid.values()
    counted = Counter(cell_of(point.row["order"], point.row["layout"]) for point in points)
    assert counted == {cell: sum(found.values()) for cell, found in cells["square"].items()}


def test_a_grid_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    options = Options(("tests.wrong_engines:correct",), 0, draw=DrawOptions(ops=("sqrt",)), out=tmp_path, grid=True)
    whole = run_campaign(options)
    lines = options.record.read_bytes().splitlines(keepends=True)
    options.record.write_bytes(b"".join(lines[:20]))
    assert whole.ledger == run_campaign(options, resume=True).ledger


@pytest.mark.parametrize("rank", [2, 3, 4, 5])
def test_axes_of_one_length_come_first_where_blocks_are_of_16(rank: int) -> None:
    shape = shapes(rank, SQUARE)[0]
    assert (shape[-1], True, True) == (shape[-2], math.prod(shape) > BLOCKS[SQUARE], math.prod(shape) % 8 > 0)
