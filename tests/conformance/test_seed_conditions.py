"""What conditions on seeds say of scripts that are not as they were drawn."""

from __future__ import annotations

import pytest

from conformance.case.case import Case, Input
from conformance.case.steps import Detach, Grad, Op, SetRequiresGrad
from conformance.deviations.conditions import holds
from conformance.deviations.conditions.complex import leaves_seeded_in_other_dtypes
from tests.conformance.engines import TOTAL


def test_a_leaf_that_was_never_made_is_not_seeded_in_another_dtype() -> None:
    """A counterfactual script may flag what is detached of a gradient, and that may be absent."""
    steps = (
        Op("sum", ("x",), ("y",), TOTAL),
        Grad(("y",), ("z",), ("absent",), allow_unused=True),
        Detach("absent", ("leaf",)),
        SetRequiresGrad("leaf", requires_grad=True),
        Grad(("leaf",), ("x",), ("g",), ("x",), allow_unused=True),
    )
    case = Case((Input("x", (2,), (1.0, 2.0)), Input("z", (2,), (1.0, 2.0))), steps)
    assert set() == leaves_seeded_in_other_dtypes(case, len(steps) - 1)


@pytest.mark.parametrize(("factor", "handed_on"), [(None, True), (2.0, False)])
def test_a_seed_with_nan_is_handed_on_where_its_elements_are(factor: float | None, handed_on: bool) -> None:
    made = Op("clone", ("x",), ("y",)) if factor is None else Op("mul_scalar", ("x",), ("y",), {"other": factor})
    case = Case((Input("x", (2,), (1.0, 2.0)), Input("s", (2,), ("nan", 3.0))), (made, Grad(("y",), ("x",), ("g",), ("s",))))
    assert holds("at: tracked_seed_handed_on", case, 1) is handed_on
