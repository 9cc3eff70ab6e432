"""Complex tensors, from the case file to the verdict; and engines that get the convention wrong."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from conformance.backends.repro.python_text import array_text
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input, data_of
from conformance.case.files import CaseError, check, decode, encode
from conformance.case.steps import Backward, Grad, Op
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import describe
from conformance.compare.promise import Promise
from conformance.compare.rounding import agrees_cheaply
from conformance.deviations.conditions import holds
from conformance.generate.scripts import DrawOptions
from conformance.mutants.mutant import WrongEngine
from conformance.mutants.registry import mutant
from conformance.ops import catalogue
from reference_impl import TORCH
from tests.conformance.drawn import USUAL, Drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Z = Input("z", (2,), ((1.0, 2.0), (3.0, -1.0)), "complex64")
S = Input("s", (2,), ((1.0, 1.0), (0.0, 2.0)), "complex64", differentiable=False)
SQUARE = Case((Z, S), (Op("mul", ("z", "z"), ("y",)), Grad(("y",), ("z",), ("g",), ("s",))), "exact")
CASES = Drawn(3, 250, DrawOptions(complexes=1.0))
INFO = BackendInfo("torch", "2.13.0", TORCH, TORCH.not_offered)


def test_elements_are_pairs_and_come_back_exactly() -> None:
    array = np.array([0.1 + 1e-300j, complex(-0.0, np.inf), complex(np.nan, -5.0)])
    made = decode(encode(Case((Input("z", (3,), data_of(array), "complex128"),), ()))).inputs[0]
    assert array.tobytes() == made.array().tobytes()


@pytest.mark.parametrize(("data", "dtype"), [((1.0, 2.0), "complex64"), (((1.0, 0.0), (2.0, 0.0)), "float32")])
def test_elements_of_the_other_kind_are_refused(data: Any, dtype: str) -> None:
    with pytest.raises(CaseError, match=r"inputs\[0\].data: holds .* the elements of a .* tensor are"):
        check(Case((Input("z", (2,), data, dtype),), ()))


def test_a_script_spells_the_elements_that_the_case_has() -> None:
    assert np.array_equal(Z.array(), eval(array_text(Z), {"np": np}))  # noqa: S307 - our own text


def test_every_op_takes_complex_numbers_or_says_why_not() -> None:
    numbers = {name: row.numbers for name, row in catalogue().items()}
    assert {name for name, n in numbers.items() if n.taken == "real"} == {name for name, n in numbers.items() if n.reason}


def test_ops_of_complex_operands_alone_are_in_three_families() -> None:
    assert {"complex", "fourier", "signals"} == {row.family for row in catalogue().values() if row.numbers.taken == "complex"}


def test_the_default_campaign_draws_complex_tensors_in_both_lanes() -> None:
    drawn = [case for case in USUAL[:1000] if any(i.dtype.startswith("complex") for i in case.inputs)]
    assert 80 <= len(drawn) <= 160
    assert {"exact", "numeric"} == {case.lane for case in drawn}


def test_seeds_have_imaginary_parts_and_now_and_then_the_wrong_kind() -> None:
    seeds = [i for case in CASES for i in case.inputs if i.name[0] == "s"]
    kinds = Counter(i.dtype.startswith("complex") for i in seeds)
    assert kinds[True]
    assert kinds[False]
    assert any(i.array().imag.any() for i in seeds)


def test_the_gradient_is_the_conjugate_of_the_derivative_times_the_seed() -> None:
    seen = reference(TORCH, TORCH.not_offered).run(SQUARE).observations[1]
    assert np.array_equal(S.array() * np.conj(2 * Z.array()), seen.values[0].array)  # type: ignore[union-attr]


def test_exact_complex_cases_are_compared_bitwise() -> None:
    assert Promise(SQUARE, INFO).bounds.exact


def answers_with(change: Callable[[Any], Any], lane: str) -> Any:
    case = Case(SQUARE.inputs, SQUARE.steps, lane)  # type: ignore[arg-type]
    expected, actual = (reference(TORCH, TORCH.not_offered).run(case) for _ in range(2))
    value = actual.observations[1].values[0]  # type: ignore[union-attr]
    value.array = change(value.array).astype(np.complex64)
    return Comparer(Promise(case, INFO, expected)).run(actual).mismatch


def test_a_last_bit_in_the_imaginary_part_differs_in_the_exact_lane() -> None:
    assert answers_with(lambda z: z + 1j * np.spacing(z.imag), "exact") is not None


def test_a_last_bit_in_the_imaginary_part_is_rounding_in_the_numeric_lane() -> None:
    assert answers_with(lambda z: z + 1j * np.spacing(z.imag), "numeric") is None


@pytest.mark.parametrize("change", [np.conj, lambda z: z * (1 + 1e-4j), lambda z: z.real], ids=["conjugate", "turned", "real part"])
def test_a_wrong_complex_gradient_differs_in_the_numeric_lane(change: Callable[[Any], Any]) -> None:
    assert answers_with(change, "numeric").kind == "value"


def test_the_cheap_test_is_about_the_modulus() -> None:
    z = np.array([1e4 + 1e-4j], np.complex64)
    assert agrees_cheaply(z, z + np.complex64(1e-4j))
    assert not agrees_cheaply(z, z + np.complex64(1j))


def test_the_worst_complex_element_is_described() -> None:
    assert describe("g", np.array([1j, 2.0]), np.array([1j, 2 + 3j])) == (
        "g: 1 of 2 elements differ; worst at (1,): got 2+3j, expected 2+0j, off by 3"
    )


FAULTS = {
    "mul-x-not_conjugated": ("grad", "value", "wrong"),
    "other_convention": ("grad", "value", "wrong"),
    "complex_for_real": ("grad", "dtype", "complex64"),
    "torch_seed_kind": ("grad", "convention", "computed"),
}


def differences(engine: WrongEngine) -> Iterator[tuple[str, str, str]]:
    verdicts = (run_case(case, [engine]).verdicts[engine.info.name] for case in CASES)
    found = (v.mismatch for v in verdicts if v.bucket == "diverged")
    return ((m.at, m.kind, m.actual) for m in found)


@pytest.mark.parametrize("name", FAULTS)
def test_an_engine_with_a_wrong_convention_is_found_out(name: str) -> None:
    assert FAULTS[name] in differences(mutant(name).open())


def test_a_right_engine_agrees_on_complex_cases() -> None:
    assert not list(differences(WrongEngine("correct")))


def test_backward_without_a_seed_is_refused_for_one_complex_number() -> None:
    case = Case((Input("z", (), ((1.0, 2.0),), "complex64"),), (Op("mul", ("z", "z"), ("y",)), Backward(("y",))), "exact")
    seen = reference(TORCH, TORCH.not_offered).run(case).observations[1]
    assert str(seen.category) == "seed_required"  # type: ignore[union-attr]


def test_no_power_of_complex_numbers_is_taken_for_one_of_minus_zero() -> None:
    case = Case((Input("x", (2,), ((-0.0, 0.0), ("-inf", 1.0)), "complex64"),), (Op("pow_scalar", ("x",), ("y",), {"exponent": 0.5}),))
    assert not holds("until: half_power_of_minus_zero_or_infinity", case, 0)
