"""What an adapter says of its engine: which dtypes it has, and which framework it is a variant of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.backends import BackendError, open_backend
from conformance.backends.contract import offerable
from conformance.campaign.findings.explain import explain_case
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.outcome import Blocked, Computed, NotOffered
from conformance.case.steps import Op
from conformance.deviations.findings import evidence
from conformance.generate.grid import grid
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import Bucket
from conformance.ops.dtypes import COMPLEX, DTYPES
from tests.conformance.door import conformance
from tests.engines_of_a_kind import REFUSED, single_precision

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT = ("float64", *COMPLEX)
DOUBLED = Op("mul", ("x", "x"), ("y",))


def test_every_dtype_may_be_not_offered() -> None:
    assert {f"dtype:{name}" for name in DTYPES} <= set(offerable())


def test_a_step_that_needs_a_dtype_that_is_not_offered_is_not_offered_and_blocks_what_needs_it() -> None:
    case = Case((Input("x", (2,), (1.0, 2.0), "float64"),), (DOUBLED, Op("exp", ("y",), ("z",))))
    seen, blocked = single_precision().run(case).observations
    assert (NotOffered(REFUSED["dtype:float64"]), Blocked("y")) == (seen, blocked)


def test_a_cast_to_a_dtype_that_is_not_offered_is_not_offered() -> None:
    case = Case((Input("x", (2,), (1.0, 2.0)),), (Op("cast", ("x",), ("y",), {"dtype": "float64"}), DOUBLED))
    kinds = [type(seen) for seen in single_precision().run(case).observations]
    assert [NotOffered, Computed] == kinds


def test_where_no_backend_takes_a_dtype_no_script_is_over_it() -> None:
    usual, fewer = ([case_of(3, i, DrawOptions(without=without)).inputs[0].dtype for i in range(200)] for without in ((), WITHOUT))
    assert ({"float32", "float64", *COMPLEX}, {"float32"}) == (set(usual), set(fewer))


def test_the_grid_leaves_out_what_has_such_a_dtype_and_nothing_else() -> None:
    every, some = [*grid(["mul"])], [*grid(["mul"], WITHOUT)]
    assert some == [point for point in every if point.row["dtype"] == "float32"]


def test_an_engine_that_says_what_it_has_not_conforms_and_really_is_compared(tmp_path: Path) -> None:
    done = conformance("run", "--backends", "tests.engines_of_a_kind:single_precision", "--cases", 60, "--jobs", 1, "--out", tmp_path)
    assert (0, True) == (done.returncode, "conforms" in done.stdout), done.stdout


def test_one_that_does_not_say_it_breaks_the_run(tmp_path: Path) -> None:
    backend = "tests.engines_of_a_kind:silent_single_precision"
    assert conformance("run", "--backends", backend, "--cases", 60, "--jobs", 1, "--out", tmp_path).returncode != 0


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("name", "bucket"),
    [("variant_of_torch", Bucket.KNOWN_DEVIATION), ("copy_of_torch", Bucket.KNOWN_DEVIATION), ("stranger", Bucket.DIVERGED)],
)
def test_what_is_known_of_a_framework_is_known_of_its_variants_alone(name: str, bucket: Bucket) -> None:
    case = read(evidence("torch-shared-grad"))
    assert bucket == explain_case(case, f"tests.engines_of_a_kind:{name}").verdict.bucket


@pytest.mark.frameworks
def test_a_variant_starts_from_the_conventions_of_its_framework() -> None:
    variant, torch = (open_backend(name).info.dialect.conventions for name in ("tests.engines_of_a_kind:variant_of_torch", "torch"))
    assert torch == variant


def test_a_variant_of_what_nobody_knows_is_refused() -> None:
    with pytest.raises(BackendError, match="'torhc' as its variant_of, which is one of reference, torch"):
        open_backend("tests.engines_of_a_kind:variant_of_nothing")
