"""What a difference at a kink, near one, or where nothing is defined is taken for; with engines that try to hide there."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Hook, Op
from conformance.compare import kinks
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.deviations import explain as known_module
from conformance.deviations.entries import Deviation
from conformance.judge.verdict import Bucket, Verdict, judge
from reference_impl import OPS
from reference_impl.primitives.arithmetic import mul
from tests.conformance.engines import INFO, TOTAL, answer
from tests.wrong_engines import WrongEngine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.case.outcome import Outcome


@contextmanager
def rule_replaced(op: str, rule: Callable[..., Any]) -> Iterator[None]:
    rules = OPS[op].rules  # type: ignore[attr-defined]
    before, rules[0] = rules[0], rule
    try:
        yield
    finally:
        rules[0] = before


def judged(case: Case, op: str, rule: Callable[..., Any]) -> Verdict:
    engine = WrongEngine("other", lambda: rule_replaced(op, rule))
    with np.errstate(all="ignore"):
        return judge(Promise(case, INFO), engine.run(case))


def slope_case(op: str, data: tuple[float | str, ...], attrs: dict[str, Any], seed: tuple[float | str, ...], lane: Any) -> Case:
    inputs = (Input("x", (len(data),), data), Input("s", (len(seed),), seed, differentiable=False))
    return Case(inputs, (Op(op, ("x",), ("y",), attrs), Grad(("y",), ("x",), ("g",), ("s",))), lane)


def step_at_zero(share: float) -> Callable[..., Any]:
    def rule(g: Any, _: Any, x: Any) -> Any:
        array = getattr(x, "array", x)
        return mul(g, np.where(array == 0, share, array > 0).astype(array.dtype))

    return rule


@pytest.mark.parametrize("lane", ["exact", "numeric"])
@pytest.mark.parametrize(("share", "word"), [(1.0, kinks.SUBGRADIENT), (0.5, kinks.SUBGRADIENT), (2.0, "wrong"), (-0.5, "wrong")])
def test_another_slope_at_a_kink_diverges_and_is_named_a_subgradient_if_it_is_one(share: float, word: str, lane: str) -> None:
    verdict = judged(slope_case("relu", (-1.0, 0.0, 2.0), {}, (2.0, 3.0, -1.0), lane), "relu", step_at_zero(share))
    assert verdict.mismatch is not None
    assert (Bucket.DIVERGED, word) == (verdict.bucket, verdict.mismatch.actual)


def test_a_tie_that_goes_to_the_last_is_another_subgradient() -> None:
    def last(g: Any, _: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
        array = getattr(x, "array", x)
        hit = array == array.max(axis=axis, keepdims=True)
        alone = hit & (np.flip(np.cumsum(np.flip(hit, axis), axis), axis) == 1)
        return mul(OPS["unsqueeze"](g, axis=axis), alone.astype(array.dtype))

    inputs = (Input("x", (1, 3), (7.0, 1.0, 7.0)), Input("s", (1,), (3.0,), differentiable=False))
    steps = (Op("max", ("x",), ("y",), {"axis": 1, "keepdims": False}), Grad(("y",), ("x",), ("g",), ("s",)))
    verdict = judged(Case(inputs, steps, "exact"), "max", last)
    assert verdict.mismatch is not None
    assert (Bucket.DIVERGED, kinks.SUBGRADIENT) == (verdict.bucket, verdict.mismatch.actual)


NEAR = Case(
    (Input("x", (2,), (0.7, 1.9)), Input("c", (2,), (1.0, 1.0)), Input("u", (2,), (0.3, -1.1))),
    (
        Op("sin", ("x",), ("a",)),
        Op("square", ("a",), ("aa",)),
        Op("cos", ("x",), ("b",)),
        Op("square", ("b",), ("bb",)),
        Op("add", ("aa", "bb"), ("one",)),
        Op("maximum", ("one", "c"), ("m",)),
        Op("exp", ("u",), ("e",)),
        Op("add", ("m", "e"), ("y",)),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("c", "u"), ("gc", "gu")),
    ),
)
"""The maximum of 1 and of what is 1 but for rounding, beside an exponential that has nothing to do with it."""


def on_another_branch() -> Outcome:
    runs = [kinks.watched(Promise(NEAR, INFO), kinks.noise(seed)) for seed in range(kinks.ROUNDED_RUNS)]
    plain = answer(NEAR)
    outcomes = [Promise(NEAR, INFO).on(run.answers).outcome for run in runs]
    return next(o for o in outcomes if not np.array_equal(kinked(o), kinked(plain)))


def kinked(outcome: Outcome) -> Any:
    return outcome.observations[-1].values[0].array  # type: ignore[union-attr]


def test_an_engine_on_another_branch_that_rounding_reaches_is_near_a_kink() -> None:
    assert judge(Promise(NEAR, INFO), on_another_branch()).bucket is Bucket.NEAR_KINK


@pytest.mark.parametrize("op", ["neg", "abs"])
@pytest.mark.parametrize(("element", "made", "bucket"), [(2, 0.0, "near_kink"), (0, 0.0, "diverged"), (2, 0.5, "diverged")])
def test_a_sign_that_rounding_decides_may_be_that_of_nothing(element: int, made: float, bucket: str, op: str) -> None:
    """``solve(a, a)`` is the identity, and beside its diagonal there are roundings, or none; of one sign, if made absolute."""
    a = Input("a", (2, 2), (1.0, 2.0, 3.0, 4.0), "float64")
    case = Case((a,), (Op("solve", ("a", "a"), ("i",)), Op(op, ("i",), ("j",)), Op("sign", ("j",), ("s",))), "numeric")
    right = answer(case)
    signs = right.observations[-1].values[0].array.copy()  # type: ignore[union-attr]
    signs.reshape(-1)[element] = made
    value = replace(right.observations[-1].values[0], array=signs)  # type: ignore[union-attr]
    wrong = replace(right, observations=(*right.observations[:-1], replace(right.observations[-1], values=(value,))))
    assert bucket == judge(Promise(case, INFO), wrong).bucket


@pytest.mark.parametrize("slot", [0, 1])
def test_an_engine_does_not_hide_behind_a_near_kink(slot: int) -> None:
    actual = on_another_branch()
    value = actual.observations[-1].values[slot]  # type: ignore[union-attr]
    value.array[...] = value.array * 1.01 + 0.01  # type: ignore[union-attr]
    assert judge(Promise(NEAR, INFO), actual).bucket is Bucket.DIVERGED


CANCELLING = Case(
    (Input("x", (8,), (0.1, 0.3, 0.7, 0.9, 1.1, 1.3, 1.9, 2.3)), Input("c", (8,), (*(7 * (1.0,)), 0.5), differentiable=False)),
    (*NEAR.steps[:5], Op("sub", ("one", "c"), ("d",)), Op("sign", ("d",), ("s",))),
)
"""The signs of eight numbers, of which all but the last are 0 but for rounding."""


@pytest.mark.parametrize(
    ("signs", "bucket"),
    [
        ((0, 0, 0, 0, 0, 0, 0, 1), Bucket.NEAR_KINK),
        ((0, -1, 1, 0, 0, 1, -1, 1), Bucket.NEAR_KINK),
        ((0, 0, 0, 0, 0, 0, 0, 0), Bucket.DIVERGED),
        ((0, 0, 0, 0.5, 0, 0, 0, 1), Bucket.DIVERGED),
        ((0, 7, 0, 0, 0, 0, 0, 1), Bucket.DIVERGED),
    ],
)
def test_what_may_have_either_sign_may_be_zero_and_nothing_else(signs: tuple[float, ...], bucket: Bucket) -> None:
    actual = answer(CANCELLING)
    actual.observations[-1].values[0].array[...] = signs  # type: ignore[union-attr]
    assert judge(Promise(CANCELLING, INFO), actual).bucket is bucket


LARGEST = Case(
    (Input("x", (2,), (0.7, 1.9)),),
    (
        *NEAR.steps[:5],
        Op("vector_norm", ("one",), ("y",), {"p": "inf", "axis": 0, "keepdims": False}),
        Grad(("y",), ("one",), ("g",)),
    ),
)
"""The larger of two numbers that are 1 but for rounding, as a norm."""


@pytest.mark.parametrize(
    ("shares", "buckets"),
    [
        ((1, 0), (Bucket.AGREED, Bucket.NEAR_KINK)),
        ((0, 1), (Bucket.AGREED, Bucket.NEAR_KINK)),
        ((1, 1), (Bucket.DIVERGED,)),
        ((0, 0), (Bucket.DIVERGED,)),
    ],
)
def test_a_norm_that_is_the_largest_is_one_of_the_numbers_on_every_branch(
    shares: tuple[float, ...], buckets: tuple[Bucket, ...]
) -> None:
    actual = answer(LARGEST)
    actual.observations[-1].values[0].array[...] = shares  # type: ignore[union-attr]
    assert judge(Promise(LARGEST, INFO), actual).bucket in buckets


def test_whether_a_slope_of_zero_lets_infinity_through_is_undefined() -> None:
    def selecting(g: Any, _: Any, x: Any) -> Any:
        return np.where(getattr(x, "array", x) > 0, getattr(g, "array", g), 0.0).astype(x.dtype)

    verdict = judged(slope_case("relu", (-1.0, 2.0), {}, ("inf", 1.0), "numeric"), "relu", selecting)
    assert verdict.bucket is Bucket.UNDEFINED


def test_a_slope_of_zero_may_select_where_numbers_do_not_round_as_well() -> None:
    def selecting(g: Any, _: Any, x: Any) -> Any:
        return np.where(getattr(x, "array", x) > 0, getattr(g, "array", g), 0.0).astype(x.dtype)

    verdict = judged(slope_case("relu", (-1.0, 2.0), {}, ("inf", 1.0), "exact"), "relu", selecting)
    assert verdict.bucket is Bucket.UNDEFINED


def test_a_zero_of_the_script_is_a_factor_like_any_other_where_numbers_do_not_round() -> None:
    def left_out(g: Any, _: Any, x: Any) -> Any:
        factor = getattr(x, "array", x)
        return np.where(factor == 0, 0.0, 2 * factor * np.nan_to_num(getattr(g, "array", g))).astype(x.dtype)

    verdict = judged(slope_case("square", (0.0, 2.0), {}, ("inf", 1.0), "exact"), "square", left_out)
    assert verdict.bucket is Bucket.DIVERGED


def test_what_a_hook_is_given_may_be_undefined() -> None:
    def selecting(g: Any, _: Any, x: Any) -> Any:
        return np.where(getattr(x, "array", x) > 0, getattr(g, "array", g), 0.0).astype(x.dtype)

    case = slope_case("relu", (-1.0, 2.0), {}, ("inf", 1.0), "exact")
    hooked = Case(case.inputs, (Hook("x", ("h",), "nothing"), *case.steps), case.lane)
    assert judged(hooked, "relu", selecting).bucket is Bucket.UNDEFINED


def test_nothing_is_undefined_where_numbers_do_not_round() -> None:
    def nearly(g: Any, _: Any, x: Any) -> Any:
        return np.nextafter(np.where(getattr(x, "array", x) > 0, getattr(g, "array", g), 0.0).astype(x.dtype), np.float32(9))

    verdict = judged(slope_case("relu", (1.0, 2.0), {}, (2.0, 1.0), "exact"), "relu", nearly)
    assert verdict.bucket is Bucket.DIVERGED


def test_a_number_that_no_policy_changes_is_not_undefined() -> None:
    case = slope_case("relu", (1.0, 2.0), {}, (2.0, 1.0), "numeric")
    right = answer(case).observations[-1].values[0].array  # type: ignore[union-attr]
    nearly = Mismatch(len(case.steps) - 1, "value", "result", "right", "wrong", "g", "g", 0, right, right + np.spacing(right))
    assert not kinks.SecondLook(Promise(case, INFO), nearly).is_undefined


def test_a_divergence_beside_an_undefined_number_is_none_the_less_one() -> None:
    def selecting(g: Any, _: Any, x: Any) -> Any:
        array = getattr(x, "array", x)
        return np.where(array > 0, getattr(g, "array", g), 7.0 if array.shape == (3,) else 0.0).astype(x.dtype)

    undefined = slope_case("relu", (-1.0, 2.0), {}, ("inf", 1.0), "numeric")
    inputs = (*undefined.inputs, Input("u", (3,), (-1.0, 1.0, 2.0)))
    steps = (*undefined.steps, Op("relu", ("u",), ("v",)), Op("sum", ("v",), ("w",), TOTAL), Grad(("w",), ("u",), ("h",)))
    verdict = judged(Case(inputs, steps, "numeric"), "relu", selecting)
    assert verdict.mismatch is not None
    assert (Bucket.DIVERGED, "h") == (verdict.bucket, verdict.mismatch.name)


def test_an_entry_may_ask_for_another_subgradient(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Deviation(
        "slope",
        INFO.name,
        "==1.*",
        ("grad",),
        ("value",),
        "the slope of relu at 0 is another one",
        "slope",
        actual=(kinks.SUBGRADIENT,),
        unpredictable="any slope",
    )
    monkeypatch.setattr(known_module, "about", lambda *_: (entry,))
    case = slope_case("relu", (-1.0, 0.0, 2.0), {}, (2.0, 3.0, -1.0), "exact")
    buckets = [judged(case, "relu", step_at_zero(share)).bucket for share in (0.5, 2.0)]
    assert [Bucket.KNOWN_DEVIATION, Bucket.DIVERGED] == buckets


SHRUNK = Case(
    CANCELLING.inputs,
    (*CANCELLING.steps[:-1], Op("ceil", ("d",), ("s",)), Op("hardshrink", ("s",), ("h",), {"bound": 1.0})),
)
"""The whole numbers above eight, of which all but the last are 0 but for rounding; that of the last is the bound."""


@pytest.mark.parametrize(
    ("first", "last", "bucket"), [(0.0, 1.0, "near_kink"), (1.0, 1.0, "diverged"), (0.5, 1.0, "diverged"), (0.0, 0.5, "diverged")]
)
def test_what_is_known_is_asked_on_the_branch_that_rounding_reached(
    monkeypatch: pytest.MonkeyPatch, first: float, last: float, bucket: str
) -> None:
    """An engine rounds up to 0 what the reference rounds up to 1, and its `hardshrink` keeps what is at a bound, as is known."""
    about = ("bound", INFO.name, "==1.*", ("op:hardshrink",), ("value",), "keeps what is at a bound", "bound")
    entry = Deviation(*about, above=("hardshrink",), signature=("as if a bound were nearer",))
    monkeypatch.setattr(known_module, "about", lambda *_: (entry,))
    right = answer(SHRUNK)
    above = right.observations[-2].values[0].array  # type: ignore[union-attr]
    assert 1.0 in above[:-1]
    shrunk = right.observations[-1].values[0].array  # type: ignore[union-attr]
    above[:-1], shrunk[:-1], shrunk[-1] = 0.0, 0.0, last
    shrunk[0] = first
    assert bucket == judge(Promise(SHRUNK, INFO), right).bucket


@pytest.mark.parametrize("made", [5.0, np.inf])
def test_a_number_that_no_policy_gives_is_not_excused_by_infinity(made: float) -> None:
    def rule(g: Any, _: Any, x: Any) -> Any:
        return np.where(getattr(x, "array", x) > 0, getattr(g, "array", g), made).astype(x.dtype)

    verdict = judged(slope_case("relu", (-1.0, 2.0), {}, ("inf", 1.0), "numeric"), "relu", rule)
    assert verdict.bucket is Bucket.DIVERGED


def test_a_cotangent_that_leaks_through_a_mask_is_caught() -> None:
    def leaking(g: Any, _: Any, x: Any, *, mask: Any, value: float) -> Any:
        return mul(g, np.logical_not(mask).astype(x.dtype))

    case = slope_case("masked_fill", (1.0, 2.0), {"mask": [True, False], "value": 0.0}, ("nan", 1.0), "numeric")
    assert judged(case, "masked_fill", leaking).bucket is Bucket.DIVERGED


def test_a_product_that_is_differentiated_by_division_is_caught_at_a_zero() -> None:
    def dividing(g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
        return OPS["div"](OPS["mul"](g, out), x)

    case = slope_case("prod", (0.0, 2.0, 3.0), {"axis": 0, "keepdims": True}, (2.0,), "exact")
    assert judged(case, "prod", dividing).bucket is Bucket.DIVERGED


def test_a_tail_that_overflows_is_caught() -> None:
    def overflowing(g: Any, _: Any, x: Any) -> Any:
        e = np.exp(-getattr(x, "array", x))
        return mul(g, (e / (1 + e) ** 2).astype(x.dtype))

    assert judged(slope_case("sigmoid", (-200.0, 1.0), {}, (2.0, 1.0), "numeric"), "sigmoid", overflowing).bucket is Bucket.DIVERGED
